//! Lemmas of tagged words, as CoreNLP 3.6.0 forms them.
//!
//! Plural nouns (`NNS`) and verbs (`VB…`) are looked up among the irregular forms and otherwise follow the first
//! regular rule that fits; a few pronouns, adverbs and auxiliary verbs have lemmas of their own; every other word is
//! only put in lower case, and proper names not even that. The parts of a word between hyphens inflect one by one, in
//! order; a word that ends in a hyphen takes its tag along (`-rrb-` as a verb is `-rrb-_VB`), as in the reference
//! program.

mod regular;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use regular::Rule;

/// Words with particular lemmas under tags that begin as stated.
const FIXED: &[(&str, &[(&str, &str)])] = &[
    ("VBD", &[("were", "be"), ("was", "be"), ("'d", "have")]),
    ("VBP", &[("am", "be"), ("are", "be")]),
    ("VBZ", &[("is", "be"), ("'s", "be"), ("s", "be")]),
    ("VB", &[("ai", "be")]),
    ("MD", &[("'d", "would"), ("d", "would"), ("ca", "can"), ("sha", "shall"), ("wo", "will")]),
    ("MD", &[("'ll", "will"), ("ll", "will"), ("wilt", "will")]),
    ("RB", &[("n't", "not"), ("n", "not")]),
    ("P", &[("him", "he"), ("his", "he"), ("her", "she"), ("them", "they"), ("their", "they")]),
    ("P", &[("me", "I"), ("us", "we"), ("our", "we"), ("your", "you")]),
    ("A", &[("an", "a")]),
    ("D", &[("an", "a")]),
];

/// Particles that may follow a verb after an underscore.
const PARTICLES: &[&str] = &[
    "abroad", "across", "after", "ahead", "along", "aside", "away", "around", "back", "down", "forward",
    "in", "off", "on", "over", "out", "round", "together", "through", "up",
];

/// The kinds of words that inflect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Noun,
    Verb,
}

/// The lemma of `word` under `tag`.
pub fn lemma(word: &str, tag: &str) -> String {
    match word.split_once('_') {
        Some((verb, particle))
            if tag.starts_with("VB") && PARTICLES.contains(&particle.trim_end_matches('_')) =>
        {
            format!("{}_{}", of_word(verb, tag), particle.trim_end_matches('_'))
        }
        _ => of_word(word, tag),
    }
}

fn of_word(word: &str, tag: &str) -> String {
    if word.is_empty() {
        return format!("_{tag}");
    }
    // The reference program skips what stands before white space other than a space, and returns that.
    if let Some(white) = word.chars().find(|c| ends_word(*c)) {
        return white.to_string();
    }
    let fixed = FIXED.iter().filter(|(start, _)| tag.starts_with(start)).flat_map(|(_, words)| *words);
    if let Some((_, lemma)) = fixed.into_iter().find(|(form, _)| word.eq_ignore_ascii_case(form)) {
        return (*lemma).to_owned();
    }
    let is_me = tag.starts_with('P') && word.eq_ignore_ascii_case("i");
    match tag.strip_prefix("NN") {
        Some(rest) if rest.starts_with('P') => word.to_owned(),
        Some(rest) if !rest.is_empty() => inflected(word, tag, Kind::Noun),
        None if tag.starts_with('V') => inflected(word, tag, Kind::Verb),
        _ if is_me => word.to_owned(),
        _ => word.to_lowercase(),
    }
}

fn ends_word(c: char) -> bool {
    matches!(c, '\t' | '\r' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The lemma of a plural noun or of a verb, part by part between hyphens.
fn inflected(word: &str, tag: &str, kind: Kind) -> String {
    let forms = Forms::get();
    let mut lemma = String::new();
    let mut rest = word;
    loop {
        let Some(hyphen) = rest.find('-') else {
            lemma.push_str(&forms.part(rest, kind));
            return lemma;
        };
        if let Some(whole) = forms.hyphenated(rest, hyphen, kind) {
            lemma.push_str(&whole);
            return lemma;
        }
        let (part, after) = rest.split_at(hyphen + 1);
        lemma.push_str(&part.to_lowercase());
        rest = after;
        if rest.is_empty() {
            lemma.push('_');
            lemma.push_str(tag);
            return lemma;
        }
    }
}

/// The known forms of a kind of word.
#[derive(Debug)]
struct Forms {
    nouns: KindOfForms,
    verbs: KindOfForms,
    /// Verbs that double their last consonant.
    doubling: HashSet<&'static str>,
}

#[derive(Debug, Default)]
struct KindOfForms {
    irregular: HashMap<String, String>,
    /// Irregular forms with hyphens and their lemmas, longer ones first.
    hyphenated: Vec<(String, String)>,
    rules: Vec<Rule>,
}

impl Forms {
    fn get() -> &'static Self {
        static FORMS: OnceLock<Forms> = OnceLock::new();
        FORMS.get_or_init(Self::read)
    }

    /// Reads the tables of this module. A test checks that every line of them is understood.
    fn read() -> Self {
        let lines = |text: &'static str| text.lines().filter(|line| !line.starts_with('#'));
        let mut forms = Self {
            nouns: KindOfForms::default(),
            verbs: KindOfForms::default(),
            doubling: lines(include_str!("doubling.txt")).flat_map(str::split_ascii_whitespace).collect(),
        };
        let or_nothing = |column: &'static str| if column == "-" { "" } else { column };
        let (mut kind, mut ending, mut replacement) = (Kind::Noun, "", "");
        for line in lines(include_str!("exceptions.txt")) {
            let mut words = line.split_ascii_whitespace().map(or_nothing);
            if !line.starts_with(' ') {
                kind = if words.next() == Some("v") { Kind::Verb } else { Kind::Noun };
                ending = words.next().unwrap_or_default();
                replacement = words.next().unwrap_or_default();
            }
            let forms = forms.of_mut(kind);
            for start in words {
                let (form, lemma) = (format!("{start}{ending}"), format!("{start}{replacement}"));
                if form.contains('-') {
                    forms.hyphenated.push((form, lemma));
                } else {
                    forms.irregular.insert(form, lemma);
                }
            }
        }
        for line in lines(include_str!("rules.txt")) {
            let Some((kinds, rule)) = Rule::read(line) else { continue };
            if kinds.contains('n') {
                forms.nouns.rules.push(rule.clone());
            }
            if kinds.contains('v') {
                forms.verbs.rules.push(rule);
            }
        }
        for forms in [&mut forms.nouns, &mut forms.verbs] {
            forms.hyphenated.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
        }
        forms
    }

    fn of(&self, kind: Kind) -> &KindOfForms {
        match kind {
            Kind::Noun => &self.nouns,
            Kind::Verb => &self.verbs,
        }
    }

    fn of_mut(&mut self, kind: Kind) -> &mut KindOfForms {
        match kind {
            Kind::Noun => &mut self.nouns,
            Kind::Verb => &mut self.verbs,
        }
    }

    /// The lemma of the irregular form with hyphens that `text` begins with, if any; `hyphen` is the first one.
    fn hyphenated(&self, text: &str, hyphen: usize, kind: Kind) -> Option<String> {
        const WORKS: &str = "-works";
        let begins = |form: &str| text.get(..form.len()).is_some_and(|head| head.eq_ignore_ascii_case(form));
        if let Some((_, lemma)) = self.of(kind).hyphenated.iter().find(|(form, _)| begins(form)) {
            return Some(lemma.clone());
        }
        let (first, rest) = text.split_at(hyphen);
        let works = rest.get(..WORKS.len()).is_some_and(|rest| rest.eq_ignore_ascii_case(WORKS));
        let is_noun = kind == Kind::Noun && !first.is_empty() && first.bytes().all(regular::is_word);
        (works && is_noun).then(|| format!("{first}{WORKS}").to_lowercase())
    }

    /// The lemma of a part without hyphens.
    fn part(&self, part: &str, kind: Kind) -> String {
        let mut lower = part.to_lowercase();
        if !part.is_ascii() {
            return lower;
        }
        let forms = self.of(kind);
        if let Some(lemma) = forms.irregular.get(&lower) {
            return lemma.clone();
        }
        if let Some(rule) = forms.rules.iter().find(|rule| rule.fits(&lower)) {
            rule.apply(&mut lower, &self.doubling);
        }
        lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_and_verbs_inflect_under_their_tags_only() {
        for (word, tag, expected) in [
            ("dogs", "NNS", "dog"),
            ("dogs", "NN", "dogs"),
            ("Dogs", "NNP", "Dogs"),
            ("Dogs", "NN", "dogs"),
            ("men", "NNS", "man"),
            ("has", "NNS", "ha"),
            ("has", "VBZ", "have"),
            ("women", "NNS", "woman"),
            ("knives", "NNS", "knife"),
            ("buses", "NNS", "bus"),
            ("scissors", "NNS", "scissors"),
            ("sitting", "VBG", "sit"),
            ("putting", "VBG", "put"),
            ("filled", "VBN", "fill"),
            ("riding", "VBG", "ride"),
            ("rode", "VBD", "ride"),
            ("lying", "VBG", "lie"),
            ("was", "VBD", "be"),
            ("created", "VBN", "create"),
            ("1980s", "NNS", "1980"),
        ] {
            assert_eq!(lemma(word, tag), expected, "{word} {tag}");
        }
    }

    #[test]
    fn pronouns_adverbs_and_modal_verbs_have_lemmas_of_their_own() {
        for (word, tag, expected) in [
            ("his", "PRP$", "he"),
            ("her", "PRP", "she"),
            ("I", "PRP", "I"),
            ("me", "PRP", "I"),
            ("my", "PRP$", "my"),
            ("n't", "RB", "not"),
            ("ca", "MD", "can"),
            ("An", "DT", "a"),
            ("'s", "POS", "'s"),
        ] {
            assert_eq!(lemma(word, tag), expected, "{word} {tag}");
        }
    }

    #[test]
    fn parts_between_hyphens_inflect_in_order() {
        for (word, tag, expected) in [
            ("T-Shirts", "NNS", "t-shirt"),
            ("brothers-in-law", "NNS", "brother-in-law"),
            ("water-works", "NNS", "water-works"),
            ("-RRB-", "VBZ", "-rrb-_VBZ"),
            ("--", "NNS", "--_NNS"),
            ("picked_up", "VBD", "pick_up"),
            ("picked_apples", "VBD", "picked_apples"),
        ] {
            assert_eq!(lemma(word, tag), expected, "{word} {tag}");
        }
    }

    #[test]
    fn every_line_of_the_tables_is_understood() {
        let rules = include_str!("rules.txt").lines().filter(|line| !line.starts_with('#'));
        assert!(rules.clone().all(|line| Rule::read(line).is_some()));
        let forms = Forms::get();
        assert_eq!((forms.nouns.rules.len(), forms.verbs.rules.len()), (44, 102));
        assert_eq!((forms.nouns.irregular.len(), forms.verbs.irregular.len()), (1305, 1457));
        assert_eq!((forms.nouns.hyphenated.len(), forms.verbs.hyphenated.len()), (42, 13));
    }
}
