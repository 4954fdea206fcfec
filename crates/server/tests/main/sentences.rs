//! Every sentence of the site has a translation, and the translations say what they should.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use capeval_collections as collections;
use capeval_server::FEATURES;
use capeval_site::feature;
use capeval_site::web::language::Language;
use capeval_site::web::markdown::as_html;
use regex_lite::Regex;

type Tables = HashMap<String, HashMap<String, String>>;

/// Sentences of `[reasons]` that are made elsewhere: by the contexts of errors, and by child processes.
const ELSEWHERE: &[&str] = &[
    "phase {}: {}",
    "baseline {}: {}",
    "the file {}: {}",
    "reference set",
    "each of them was killed",
    "the captions of the submission cannot be opened",
    "the references cannot be opened",
    "the file of references cannot be opened",
    "none of the references has a word",
    "{} of {} references have no word",
    "each image has one reference: make sure that this is no file of results, and that none are missing",
];

/// The sentences in the files of a folder, each with the file that says it.
fn collect_sentences(folder: &Path, found: &mut BTreeMap<String, String>) {
    // A mark, then a literal; the message of a fault follows its status and its code.
    let mark = r#"(?:\b(?:t[123]?|fill|say|reason!)\(|\bfault!(?:\(| \{)\s*\w+,\s*"[a-z0-9-]+",)\s*"((?:[^"\\]|\\.|\\\n)*)""#;
    let (mark, break_of_line) = (Regex::new(mark).unwrap(), Regex::new(r"\\\n\s*").unwrap());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_sentences(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for sentence in mark.captures_iter(text) {
            let sentence = break_of_line.replace_all(&sentence[1], "").replace("\\\"", "\"");
            found.insert(sentence, path.display().to_string());
        }
    }
}

/// The sentences of the files of `locales`: table, English and Chinese.
fn translations() -> Vec<(String, String, String)> {
    let tables = FEATURES.iter().flat_map(|feature| toml::from_str::<Tables>(feature.sentences).unwrap());
    let pairs = |(feature, pairs): (String, HashMap<_, _>)| {
        pairs.into_iter().map(move |(english, chinese)| (feature.clone(), english, chinese))
    };
    tables.flat_map(pairs).collect()
}

/// The crates whose sentences the features have, in their order.
const CRATES: [&str; 4] = ["site", "benchmarks", "collections", "server"];

#[test]
fn every_sentence_has_one_translation_and_none_is_left_over() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let choices = capeval_api::label_words().into_iter().chain(collections::label_words());
    let others = choices.chain(ELSEWHERE.iter().copied());
    let mut used: BTreeMap<String, String> =
        others.map(|sentence| (sentence.to_owned(), "a choice or a reason".to_owned())).collect();
    let mut known = BTreeMap::new();
    for (table, english, _) in translations() {
        let other = known.insert(english.clone(), table.clone());
        assert_eq!(
            other, None,
            "“{english}” is in [{table}], too; [shared] of the base has what several say"
        );
    }
    let missing: Vec<&String> = used.keys().filter(|sentence| !known.contains_key(*sentence)).collect();
    assert!(missing.is_empty(), "no locales/zh.toml has {missing:#?}");
    for (name, feature) in CRATES.iter().zip(FEATURES) {
        let mut own = BTreeMap::new();
        collect_sentences(&crates.join(name).join("src"), &mut own);
        collect_sentences(&crates.join(name).join("templates"), &mut own);
        let files = [feature.sentences, capeval_site::BASE.sentences];
        let tables: Vec<Tables> = files.iter().map(|file| toml::from_str(file).unwrap()).collect();
        let has = |sentence: &str| {
            tables.iter().flat_map(HashMap::values).any(|table| table.contains_key(sentence))
        };
        used.extend(own.clone());
        own.retain(|sentence, _| !has(sentence));
        assert!(own.is_empty(), "crates/{name}/locales/zh.toml does not have {own:#?}");
    }
    let surplus: BTreeMap<_, _> = known.iter().filter(|(told, _)| !used.contains_key(*told)).collect();
    assert!(surplus.is_empty(), "files of locales have sentences that no page says: {surplus:#?}");
}

#[test]
fn translations_have_the_places_of_their_sentences() {
    // The arguments that fill the places of a pattern.
    let places = |pattern: &str| -> BTreeSet<usize> {
        let number =
            |(index, place): (usize, regex_lite::Captures<'_>)| place[1].parse().unwrap_or(index + 1);
        Regex::new(r"\{(\d*)\}").unwrap().captures_iter(pattern).enumerate().map(number).collect()
    };
    assert_eq!(places("{2} 中的 {1}"), places("{} of {}"));
    for (feature, english, chinese) in translations() {
        assert!(!chinese.is_empty(), "[{feature}] “{english}” has no translation");
        assert_eq!(places(&english), places(&chinese), "[{feature}] “{english}”: “{chinese}”");
    }
}

#[test]
fn reasons_are_told_by_what_they_are_made_of() {
    feature::join(FEATURES);
    let reason = "phase dev: decimals are at most 12";
    assert_eq!(Language::English.reason(reason), reason);
    assert_eq!(Language::Chinese.reason(reason), "阶段 dev：decimals 不能超过 12");
    assert_eq!(Language::Chinese.reason("phase dev: line 3: no"), "阶段 dev：line 3: no");
    assert_eq!(Language::Chinese.reason("line 3: no"), "line 3: no");
    // Names that people choose may begin as reasons do, again and again.
    assert!(Language::Chinese.reason(&"phase ".repeat(100_000)).ends_with("phase "));
}

/// In Markdown, two stars between punctuation and a letter end nothing, as in `**注意：**划分`.
#[test]
fn no_sentence_shows_the_stars_of_bold_text() {
    let sentences = translations();
    let strings = sentences.iter().flat_map(|(_, english, chinese)| [english.as_str(), chinese.as_str()]);
    let bold: Vec<&str> = strings.filter(|text| text.contains("**")).collect();
    assert!(bold.len() >= 4, "{bold:?}");
    for text in bold {
        for argument in ["val", "划分", "“x”", "3"] {
            let html = as_html(&text.replace("{}", argument));
            assert!(!html.contains("**") && html.contains("<strong>"), "{html}");
        }
    }
}
