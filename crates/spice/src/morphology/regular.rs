//! Rules of regular inflection: patterns over kinds of letters, matched from the end of a word.

use std::collections::HashSet;

/// A rule for whole words in lower-case ASCII; `rules.txt` explains the notation.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    start: Start,
    /// The letters before the ending.
    before: Vec<Letter>,
    ending: &'static str,
    replacement: Replacement,
}

/// A condition on the start of a word.
#[derive(Clone, Copy, Debug)]
enum Start {
    Anything,
    Something,
    SomethingDotted,
    Consonants,
    PureConsonants,
    Roman,
    Prefix,
    Prefixes,
    PrefixesAndConsonants,
    AnythingAndPrefix,
}

#[derive(Clone, Debug)]
enum Letter {
    Vowel,
    VowelOrY,
    Consonant,
    PureConsonant,
    Doubled,
    Among(&'static [u8]),
}

#[derive(Clone, Debug)]
enum Replacement {
    Text(&'static str),
    /// Drops the second of two equal consonants unless the verb has both.
    Single,
}

const PREFIXES: [&[u8]; 7] = [b"be", b"ex", b"in", b"mis", b"pre", b"pro", b"re"];

/// Letters, digits, apostrophes and plus signs.
pub(super) fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'\'' | b'+')
}

fn is_vowel(c: u8) -> bool {
    matches!(c, b'a' | b'e' | b'i' | b'o' | b'u')
}

fn is_consonant(c: u8) -> bool {
    c.is_ascii_lowercase() && !is_vowel(c)
}

fn is_pure_consonant(c: u8) -> bool {
    is_consonant(c) && c != b'y'
}

impl Rule {
    /// The kinds of words of a line of `rules.txt`, and its rule.
    pub(super) fn read(line: &'static str) -> Option<(&'static str, Self)> {
        let mut columns = line.split_ascii_whitespace();
        let kinds = columns.next()?;
        let start = Start::read(columns.next()?)?;
        let mut next = || columns.next().map(|column| if column == "-" { "" } else { column });
        let (before, ending, replacement) = (next()?, next()?, next()?);
        let replacement =
            if replacement == "=" { Replacement::Single } else { Replacement::Text(replacement) };
        Some((kinds, Self { start, before: letters(before)?, ending, replacement }))
    }

    /// Returns true if the rule applies to `word`.
    pub(super) fn fits(&self, word: &str) -> bool {
        let Some(mut rest) = word.as_bytes().strip_suffix(self.ending.as_bytes()) else { return false };
        for letter in self.before.iter().rev() {
            match letter.before(rest) {
                Some(before) => rest = before,
                None => return false,
            }
        }
        self.start.fits(rest)
    }

    /// Turns `word`, which the rule fits, into its lemma.
    pub(super) fn apply(&self, word: &mut String, doubling: &HashSet<&str>) {
        word.truncate(word.len() - self.ending.len());
        match self.replacement {
            Replacement::Text(text) => word.push_str(text),
            Replacement::Single => {
                let single = word.len().saturating_sub(1);
                if doubling.contains(&word[..single]) {
                    word.truncate(single);
                }
            }
        }
    }
}

fn letters(text: &'static str) -> Option<Vec<Letter>> {
    let mut letters = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (letter, length) = match c {
            'V' => (Letter::Vowel, 1),
            'Y' => (Letter::VowelOrY, 1),
            'C' => (Letter::Consonant, 1),
            'X' => (Letter::PureConsonant, 1),
            'D' => (Letter::Doubled, 1),
            '[' => {
                let end = rest.find(']')?;
                (Letter::Among(&rest.as_bytes()[1..end]), end + 1)
            }
            _ => (Letter::Among(&rest.as_bytes()[..1]), 1),
        };
        letters.push(letter);
        rest = &rest[length..];
    }
    Some(letters)
}

impl Letter {
    /// The part of `text` before this letter at its end.
    fn before<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let (&last, rest) = text.split_last()?;
        let fits = match self {
            Self::Vowel => is_vowel(last),
            Self::VowelOrY => is_vowel(last) || last == b'y',
            Self::Consonant => is_consonant(last),
            Self::PureConsonant => is_pure_consonant(last),
            Self::Among(set) => set.contains(&last),
            Self::Doubled => {
                let (&first, rest) = rest.split_last()?;
                return (is_pure_consonant(last) && first == last).then_some(rest);
            }
        };
        fits.then_some(rest)
    }
}

impl Start {
    fn read(column: &str) -> Option<Self> {
        Some(match column {
            "*" => Self::Anything,
            "+" => Self::Something,
            ".+" => Self::SomethingDotted,
            "C+" => Self::Consonants,
            "X+" => Self::PureConsonants,
            "R+" => Self::Roman,
            "P" => Self::Prefix,
            "P*" => Self::Prefixes,
            "P*C+" => Self::PrefixesAndConsonants,
            "*P" => Self::AnythingAndPrefix,
            _ => return None,
        })
    }

    fn fits(self, text: &[u8]) -> bool {
        let are = |kind: fn(u8) -> bool| text.iter().all(|&c| kind(c));
        match self {
            Self::Anything => are(is_word),
            Self::Something => !text.is_empty() && are(is_word),
            Self::SomethingDotted => !text.is_empty() && are(|c| is_word(c) || c == b'.'),
            Self::Consonants => !text.is_empty() && are(is_consonant),
            Self::PureConsonants => !text.is_empty() && are(is_pure_consonant),
            Self::Roman => !text.is_empty() && are(|c| b"dmclxvi".contains(&c)),
            Self::Prefix => PREFIXES.contains(&text),
            Self::Prefixes => after_prefixes(text).is_empty(),
            Self::PrefixesAndConsonants => Self::Consonants.fits(after_prefixes(text)),
            Self::AnythingAndPrefix => are(is_word) && PREFIXES.iter().any(|prefix| text.ends_with(prefix)),
        }
    }
}

/// `text` without the prefixes at its start, none of which begins another one.
fn after_prefixes(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| text.strip_prefix(*prefix)) {
        text = rest;
    }
    text
}
