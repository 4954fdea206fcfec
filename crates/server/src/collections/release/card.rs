//! The data card of a release: what is in it, in figures, as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write;

use capeval::stats::agreement::krippendorff_ordinal;
use capeval::text::Tokenizer;

use super::content::{Caption, Content};
use super::split::Split;
use crate::clock;

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

/// The data card.
pub fn card(content: &Content) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(content, &mut text);
    text
}

fn write(content: &Content, out: &mut String) -> std::fmt::Result {
    let Content { title, number, summary, licence, created_at, .. } = content;
    let day = clock::day(*created_at);
    writeln!(
        out,
        "# {title}, release {number}\n\n{summary}\n\nMade on {day}. Captions and ratings: {licence}.\n"
    )?;
    writeln!(
        out,
        "## What is in it\n\n| split | pictures | captions | captions per picture |\n|---|--:|--:|--:|"
    )?;
    for split in Split::ALL {
        let counts: Vec<usize> = content.of(*split).map(|picture| picture.captions.len()).collect();
        let Some((fewest, most)) = counts.iter().min().zip(counts.iter().max()) else { continue };
        let each = if fewest == most { most.to_string() } else { format!("{fewest}–{most}") };
        let n: usize = counts.iter().sum();
        let note = if content.withheld == Some(*split) { " (captions withheld)" } else { "" };
        writeln!(out, "| {split}{note} | {} | {n} | {each} |", counts.len())?;
    }
    writeln!(
        out,
        "\nPictures of one contributor and one game are in one split, and so are pictures that look nearly alike. \
         Ids are never reused; `withdrawn.json` lists what earlier releases had ({}).",
        content.withdrawn.len()
    )?;
    lengths(content, out)?;
    ratings(content, out)?;
    counts(out, ("Games", "game"), content.pictures.iter().map(|picture| picture.game.as_str()))?;
    counts(out, ("Platforms", "platform"), content.pictures.iter().map(|picture| picture.platform.as_str()))?;
    counts(
        out,
        ("Licences of pictures", "licence"),
        content.pictures.iter().map(|picture| picture.licence.as_str()),
    )?;
    uses(content, out)
}

fn lengths(content: &Content, out: &mut String) -> std::fmt::Result {
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
    writeln!(
        out,
        "\n## Languages and lengths\n\n\
         | language | captions | characters: median (5 %–95 %) | words: median (5 %–95 %) | tokenizer |\n\
         |---|--:|--:|--:|---|"
    )?;
    for (language, Lengths { n, characters, words }) in by_language {
        let [characters, words] = [characters, words].map(range);
        writeln!(out, "| {language} | {n} | {characters} | {words} | {} |", tokenizer(language).name())?;
    }
    if !scripts.is_empty() {
        let name = |script: &str| match script {
            "hans" => "simplified",
            "hant" => "traditional",
            _ => "mixed",
        };
        let scripts: Vec<String> =
            scripts.iter().map(|(script, n)| format!("{} {n}", name(script))).collect();
        writeln!(out, "\nChinese characters, kept as they were written: {}.", scripts.join(", "))?;
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

fn ratings(content: &Content, out: &mut String) -> std::fmt::Result {
    let captions = || content.pictures.iter().flat_map(|picture| &picture.captions);
    let mut grades = [0_usize; 5];
    for rating in captions().flat_map(|caption| &caption.ratings) {
        if let Some(n) = usize::try_from(rating.grade).ok().and_then(|grade| grades.get_mut(grade)) {
            *n += 1;
        }
    }
    let n: usize = grades.iter().sum();
    writeln!(out, "\n## Ratings\n\n| grade | meaning | ratings |\n|--:|---|--:|")?;
    let meanings = [
        (4, "describes the picture without errors"),
        (3, "with minor errors"),
        (2, "somewhat related"),
        (1, "unrelated"),
    ];
    for (grade, meaning) in meanings {
        writeln!(out, "| {grade} | {meaning} | {} |", grades[grade])?;
    }
    match alpha(captions()) {
        Some(alpha) => {
            writeln!(
                out,
                "\n{n} ratings; agreement between raters (Krippendorff's α for ordered grades): {alpha:.3}."
            )
        }
        None => writeln!(out, "\n{n} ratings; too few, or too alike, for a figure of agreement."),
    }
}

fn counts<'c>(
    out: &mut String,
    (title, one): (&str, &str),
    values: impl Iterator<Item = &'c str>,
) -> std::fmt::Result {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values.filter(|value| !value.is_empty()) {
        *counts.entry(value).or_default() += 1;
    }
    if counts.is_empty() {
        return Ok(());
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    writeln!(out, "\n## {title}\n\n| {one} | pictures |\n|---|--:|")?;
    for (value, n) in counts {
        writeln!(out, "| {} | {n} |", value.replace('|', "\\|").replace(['\r', '\n'], " "))?;
    }
    Ok(())
}

fn uses(content: &Content, out: &mut String) -> std::fmt::Result {
    let Some(split) = Split::ALL
        .iter()
        .rev()
        .find(|split| content.withheld != Some(**split) && content.of(**split).next().is_some())
    else {
        return Ok(());
    };
    let languages = content.languages();
    let language = languages.last().copied().unwrap_or("en");
    let suffix = if languages.len() > 1 { format!("_{language}") } else { String::new() };
    let file = format!("annotations/captions_{split}{suffix}.json");
    let tokenizer = if language.starts_with("zh") { " --tokenizer zh" } else { "" };
    writeln!(
        out,
        "\n## How to use it\n\n```\nsha256sum --check SHA256SUMS\n\
         capeval score -r {file} results.json{tokenizer}\n\
         capeval correlate ratings{suffix}.json -r {file} --surplus ignore --own-reference hold-out{tokenizer}\n```"
    )
}

#[cfg(test)]
mod tests {
    use super::super::content::tests::example;
    use super::*;

    #[test]
    fn words_are_counted_by_the_tokenizer_of_the_language() {
        assert_eq!(n_words("zh", "骑士站在城堡门前，等待 3 位同伴。"), 14);
        assert_eq!(n_words("en", "A knight's horse, at 3.5 km/h."), 7);
        assert_eq!(n_words("zh-Hant", "騎士。"), 2);
    }

    #[test]
    fn the_card_has_the_figures() {
        let card = card(&example());
        for line in [
            "# Screens, release 2",
            "| test (captions withheld) | 1 | 5 | 5 |",
            "| zh | 12 | 16 (14–16) | 16 (14–16) | zh |",
            "Chinese characters, kept as they were written: simplified 12.",
            "| 空洞骑士 | 3 |",
            "capeval score -r annotations/captions_val_zh.json results.json --tokenizer zh",
        ] {
            assert!(card.contains(line), "{line}\n{card}");
        }
        let alpha = alpha(example().pictures.iter().flat_map(|picture| &picture.captions)).unwrap();
        assert!(card.contains(&format!("ordered grades): {alpha:.3}.")));
        assert!(!card.contains("Number 4"));
    }
}
