//! The data card of a release: what is in it, in figures, as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write;

use capeval_site::prelude::*;
use capeval_stats::agreement::krippendorff_ordinal;
use capeval_text::Tokenizer;

use super::content::{Caption, Content, Origin, Source};
use super::split::Split;
use crate::rules::acceptance::GRADES;

/// Lengths of captions.
struct Lengths {
    n: usize,
    characters: Vec<usize>,
    words: Vec<usize>,
}

/// The tokenizer that counts the words of a language.
pub fn tokenizer(language: &str) -> Tokenizer {
    if language.starts_with("zh") { Tokenizer::Zh } else { Tokenizer::V13a }
}

/// The number of words of a caption, for statistics: in Chinese, each character is one.
pub fn n_words(language: &str, text: &str) -> usize {
    tokenizer(language).pieces(text).iter().filter(|piece| piece.chars().any(char::is_alphanumeric)).count()
}

/// The agreement between raters: Krippendorff's α for ordered grades.
pub fn alpha<'c>(captions: impl Iterator<Item = &'c Caption>) -> Option<f64> {
    let grades: Vec<Vec<f64>> =
        captions.map(|caption| caption.ratings.iter().map(|rating| rating.grade as f64).collect()).collect();
    krippendorff_ordinal(grades.iter().map(Vec::as_slice))
}

/// The data card in a language.
pub fn card(content: &Content, language: Language) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(content, language, &mut text);
    text
}

fn write(content: &Content, language: Language, out: &mut String) -> std::fmt::Result {
    let Content { title, number, summary, created_at, .. } = content;
    let heading = language.fill("Release {}", &[number]);
    let day = clock::day(*created_at);
    let licences = content.caption_licences();
    let made = language.fill("Created on {}. Captions and ratings: {}.", &[day.as_str(), &licences]);
    writeln!(out, "# {title} · {heading}\n\n{summary}\n\n{made}")?;
    heading_of(out, language.t("Contents"))?;
    let columns = [
        language.t("Split"),
        language.t("Pictures"),
        language.t("Captions"),
        language.t("Captions of each picture"),
    ];
    table(out, &columns, "|---|--:|--:|--:|")?;
    for split in Split::ALL {
        let is_withheld = content.withheld == Some(*split);
        let note =
            if is_withheld { format!(" ({})", language.t("captions withheld")) } else { String::new() };
        let counts = content.of(*split).map(|picture| picture.captions.len()).collect();
        row(out, &format!("{split}{note}"), counts)?;
    }
    let languages = content.languages();
    if languages.len() > 1 {
        let columns = [language.t("Language"), columns[0], columns[1], columns[2], columns[3]];
        writeln!(out)?;
        table(out, &columns, "|---|---|--:|--:|--:|")?;
        for of in &languages {
            let name = Language::of(of).map_or(*of, |known| known.name());
            for split in Split::ALL {
                row(out, &format!("{name} | {split}"), content.counts(*split, of))?;
            }
        }
    }
    let splits = language.fill(
        "Pictures of one contributor that show the same are in the same split, and so are near-duplicates. IDs are never reused; `withdrawn.json` lists the items of earlier releases that were withdrawn ({}).",
        &[content.withdrawn.len()],
    );
    writeln!(out, "\n{splits}")?;
    let sizes: Vec<_> = Split::ALL.iter().map(|split| (*split, content.of(*split).count())).collect();
    for (split, pictures, wanted) in content.shares.missed(&sizes) {
        let warning = language.fill(
            "**Warning:** the split {} has {} pictures, where {} were asked for. Pictures that are alike are never parted, so a release is divided better when it has more pictures, by more people.",
            &[split.to_string(), pictures.to_string(), wanted.to_string()],
        );
        writeln!(out, "\n{warning}")?;
    }
    // Each language is scored by itself.
    for of in languages.iter().filter(|_| languages.len() > 1) {
        let sizes: Vec<_> =
            Split::ALL.iter().map(|split| (*split, content.counts(*split, of).len())).collect();
        let name = Language::of(of).map_or(*of, |known| known.name());
        for (split, pictures, wanted) in content.shares.missed(&sizes) {
            let warning = language.fill(
                "**Warning:** the split {} has {} pictures with captions in {}, where {} were asked for.",
                &[split.to_string(), pictures.to_string(), name.to_owned(), wanted.to_string()],
            );
            writeln!(out, "\n{warning}")?;
        }
    }
    lengths(content, language, out)?;
    ratings(content, language, out)?;
    let pictures = &content.pictures;
    let counted = |out: &mut String, title, values: Vec<&str>| counts(out, language, title, &values);
    let games = pictures.iter().map(|one| one.game.as_str()).collect();
    let platforms = pictures.iter().map(|one| one.platform.as_str()).collect();
    for (detail, values) in content.details.iter().zip([games, platforms]) {
        counted(out, language.t(detail), values)?;
    }
    counted(
        out,
        language.t("Licences of pictures"),
        pictures.iter().map(|one| one.licence.as_str()).collect(),
    )?;
    sources(content, language, out)?;
    uses(content, language, out)
}

/// The sources of imported pictures and captions.
fn sources(content: &Content, language: Language, out: &mut String) -> std::fmt::Result {
    if content.sources.is_empty() {
        return Ok(());
    }
    heading_of(out, language.t("Imported from"))?;
    let columns = [
        language.t("Source"),
        language.t("Pictures"),
        language.t("Captions"),
        language.t("Licence"),
        language.t("Attribution"),
    ];
    table(out, &columns, "|---|--:|--:|---|---|")?;
    for Source { name, licence, attribution } in &content.sources {
        let is_own = |origin: &Origin| origin.source == *name;
        let pictures = content.pictures.iter().filter(|picture| picture.origin.as_ref().is_some_and(is_own));
        let captions = content.pictures.iter().flat_map(|picture| &picture.captions);
        let captions = captions.filter(|caption| caption.source.as_ref() == Some(name));
        let [name, licence, attribution] = [name, licence, attribution].map(|text| cell(text));
        let (pictures, captions) = (pictures.count(), captions.count());
        writeln!(out, "| {name} | {pictures} | {captions} | {licence} | {attribution} |")?;
    }
    Ok(())
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\r', '\n'], " ")
}

/// A row of pictures, by the number of captions of each; none if there are no pictures.
fn row(out: &mut String, name: &str, counts: Vec<usize>) -> std::fmt::Result {
    let Some((fewest, most)) = counts.iter().min().zip(counts.iter().max()) else { return Ok(()) };
    let each = if fewest == most { most.to_string() } else { format!("{fewest}–{most}") };
    let n: usize = counts.iter().sum();
    writeln!(out, "| {name} | {} | {n} | {each} |", counts.len())
}

fn heading_of(out: &mut String, title: &str) -> std::fmt::Result {
    writeln!(out, "\n## {title}\n")
}

/// The head of a table.
fn table(out: &mut String, columns: &[&str], rule: &str) -> std::fmt::Result {
    writeln!(out, "| {} |\n{rule}", columns.join(" | "))
}

fn lengths(content: &Content, language: Language, out: &mut String) -> std::fmt::Result {
    let mut by_language: BTreeMap<&str, Lengths> = BTreeMap::new();
    let mut scripts: BTreeMap<&str, usize> = BTreeMap::new();
    for caption in content.pictures.iter().flat_map(|picture| &picture.captions) {
        let empty = || Lengths { n: 0, characters: Vec::new(), words: Vec::new() };
        let lengths = by_language.entry(&caption.language).or_insert_with(empty);
        lengths.n += 1;
        lengths.characters.push(caption.text.chars().filter(|c| !c.is_whitespace()).count());
        lengths.words.push(n_words(&caption.language, &caption.text));
        if !caption.script.is_empty() {
            *scripts.entry(&caption.script).or_default() += 1;
        }
    }
    heading_of(out, language.t("Languages and lengths"))?;
    let columns = [
        language.t("Language"),
        language.t("Captions"),
        language.t("Characters: median (5 %–95 %)"),
        language.t("Words: median (5 %–95 %)"),
        language.t("Tokenizer"),
    ];
    table(out, &columns, "|---|--:|--:|--:|---|")?;
    for (of, Lengths { n, characters, words }) in by_language {
        let [characters, words] = [characters, words].map(range);
        let name = Language::of(of).map_or(of, |known| known.name());
        writeln!(out, "| {name} | {n} | {characters} | {words} | {} |", tokenizer(of).name())?;
    }
    if !scripts.is_empty() {
        let name = |script: &str| match script {
            "hans" => language.t("simplified"),
            "hant" => language.t("traditional"),
            _ => language.t("mixed"),
        };
        let scripts: Vec<String> =
            scripts.iter().map(|(script, n)| format!("{} {n}", name(script))).collect();
        let kept = language.fill("Chinese characters, kept as written: {}.", &[scripts.join(", ")]);
        writeln!(out, "\n{kept}")?;
    }
    Ok(())
}

/// The median with the 5th and 95th percentile.
fn range(mut values: Vec<usize>) -> String {
    values.sort_unstable();
    let at =
        |percent: usize| values.get((values.len().saturating_sub(1)) * percent / 100).copied().unwrap_or(0);
    format!("{} ({}–{})", at(50), at(5), at(95))
}

fn ratings(content: &Content, language: Language, out: &mut String) -> std::fmt::Result {
    let captions = || content.pictures.iter().flat_map(|picture| &picture.captions);
    let mut grades = [0_usize; 5];
    for rating in captions().flat_map(|caption| &caption.ratings) {
        if let Some(n) = usize::try_from(rating.grade).ok().and_then(|grade| grades.get_mut(grade)) {
            *n += 1;
        }
    }
    let n: usize = grades.iter().sum();
    heading_of(out, language.t("Ratings"))?;
    table(out, &[language.t("Grade"), language.t("Meaning"), language.t("Ratings")], "|--:|---|--:|")?;
    for (grade, meaning) in GRADES {
        let n = usize::try_from(grade).ok().and_then(|grade| grades.get(grade)).copied().unwrap_or(0);
        writeln!(out, "| {grade} | {} | {n} |", language.t(meaning))?;
    }
    let agreement = match alpha(captions()) {
        Some(alpha) => language.fill(
            "{} ratings; agreement between raters (Krippendorff's α for ordered grades): {}.",
            &[n.to_string(), format!("{alpha:.3}")],
        ),
        None => language.fill("{} ratings; too few or too uniform to measure agreement.", &[n]),
    };
    writeln!(out, "\n{agreement}")
}

fn counts(out: &mut String, language: Language, title: &str, values: &[&str]) -> std::fmt::Result {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values.iter().filter(|value| !value.is_empty()) {
        *counts.entry(value).or_default() += 1;
    }
    if counts.is_empty() {
        return Ok(());
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    heading_of(out, title)?;
    table(out, &[title, language.t("Pictures")], "|---|--:|")?;
    for (value, n) in counts {
        writeln!(out, "| {} | {n} |", cell(value))?;
    }
    Ok(())
}

fn uses(content: &Content, language: Language, out: &mut String) -> std::fmt::Result {
    let Some(split) = Split::ALL
        .iter()
        .rev()
        .find(|split| content.withheld != Some(**split) && content.of(**split).next().is_some())
    else {
        return Ok(());
    };
    let languages = content.languages();
    let of = languages.last().copied().unwrap_or("en");
    let suffix = if languages.len() > 1 { format!("_{of}") } else { String::new() };
    let file = format!("annotations/captions_{split}{suffix}.json");
    let tokenizer = if of.starts_with("zh") { " --tokenizer zh" } else { "" };
    heading_of(out, language.t("How to use it"))?;
    writeln!(
        out,
        "```\nsha256sum --check SHA256SUMS\n\
         capeval score -r {file} results.json{tokenizer}\n\
         capeval correlate ratings{suffix}.json -r {file} --surplus ignore --own-reference hold-out{tokenizer}\n```"
    )
}

#[cfg(test)]
mod tests {
    use super::super::content::tests::example;
    use super::*;
    use capeval_site::web::markdown::as_html;

    #[test]
    fn words_are_counted_by_the_tokenizer_of_the_language() {
        assert_eq!(n_words("zh", "骑士站在城堡门前，等待 3 位同伴。"), 14);
        assert_eq!(n_words("en", "A knight's horse, at 3.5 km/h."), 7);
        assert_eq!(n_words("zh-Hant", "騎士。"), 2);
    }

    #[test]
    fn the_card_has_the_figures() {
        let card = card(&example(), Language::English);
        for line in [
            "# Screens · Release 2",
            "| test (captions withheld) | 1 | 5 | 5 |",
            "| Language | Split | Pictures | Captions | Captions of each picture |",
            "| 中文 | test | 1 | 4 | 4 |",
            "| English | train | 1 | 1 | 1 |",
            "| 中文 | 12 | 16 (14–16) | 16 (14–16) | zh |",
            "Chinese characters, kept as written: simplified 12.",
            "| 空洞骑士 | 3 |",
            "capeval score -r annotations/captions_val_zh.json results.json --tokenizer zh",
        ] {
            assert!(card.contains(line), "{line}\n{card}");
        }
        let alpha = alpha(example().pictures.iter().flat_map(|picture| &picture.captions)).unwrap();
        assert!(card.contains(&format!("ordered grades): {alpha:.3}.")));
        assert!(!card.contains("Number 4") && !card.contains("**Warning:**"));
        let mut lacking = example();
        for picture in lacking.pictures.iter_mut().filter(|picture| picture.split == Split::Val) {
            picture.captions.retain(|caption| caption.language == "zh");
        }
        let warned = super::card(&lacking, Language::English);
        assert!(
            warned.contains("the split val has 0 pictures with captions in English, where 1 were asked for.")
        );
        assert_eq!(warned.matches("**Warning:**").count(), 1, "{warned}");
        for language in [Language::English, Language::Chinese] {
            let html = as_html(&super::card(&lacking, language));
            assert!(html.contains("<strong>") && !html.contains("**"), "{html}");
        }
        let chinese = super::card(&example(), Language::Chinese);
        for line in
            ["# Screens · 发布版 2", "## 语言与长度", "| 4 | 准确描述了图片，没有错误 |", "capeval score -r"]
        {
            assert!(chinese.contains(line), "{line}\n{chinese}");
        }
    }
}
