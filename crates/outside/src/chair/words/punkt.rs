//! Splits text into sentences as NLTK does, by `PunktSentenceTokenizer` of nltk 3.10 with the parameters of
//! `punkt_tab`.
//!
//! Paper: Kiss and Strunk, *Unsupervised Multilingual Sentence Boundary Detection* (2006).

use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use capeval::text::classes::{is_decimal, is_space, is_space_of_re, is_word};

/// Bits of the contexts in which a type of word was seen.
const BEGINNING_UPPER: u32 = 1 << 1;
const MIDDLE_UPPER: u32 = 1 << 2;
const UNKNOWN_UPPER: u32 = 1 << 3;
const BEGINNING_LOWER: u32 = 1 << 4;
const MIDDLE_LOWER: u32 = 1 << 5;
const UNKNOWN_LOWER: u32 = 1 << 6;
const UPPER: u32 = BEGINNING_UPPER + MIDDLE_UPPER + UNKNOWN_UPPER;
const LOWER: u32 = BEGINNING_LOWER + MIDDLE_LOWER + UNKNOWN_LOWER;

/// The parameters that Punkt has learnt of a language.
#[derive(Debug, Default)]
pub struct Punkt {
    abbreviations: HashSet<String>,
    /// Pairs of types around a period that ends no sentence.
    collocations: HashSet<(String, String)>,
    starters: HashSet<String>,
    contexts: HashMap<String, u32>,
}

/// A word with what is decided about it.
struct Token {
    text: Vec<char>,
    /// The word in small letters, with numbers as one type.
    kind: String,
    ends_sentence: bool,
    is_abbreviation: bool,
    is_ellipsis: bool,
}

/// A character that may end a sentence, and what follows it.
struct Candidate {
    at: usize,
    /// The end of the text that follows.
    end: usize,
    /// The start of the next word, if white space lies between.
    next: Option<usize>,
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '?' | '!')
}

fn is_in_no_word(c: char) -> bool {
    matches!(
        c,
        ')' | '"'
            | ';'
            | '}'
            | ']'
            | '*'
            | ':'
            | '@'
            | '\''
            | '('
            | '{'
            | '['
            | '‘'
            | '’'
            | '“'
            | '”'
            | '«'
            | '»'
            | '?'
            | '!'
    )
}

impl Punkt {
    /// From the files of `punkt_tab`: abbreviations, pairs, words that begin sentences, contexts.
    pub fn new(abbreviations: &str, collocations: &str, starters: &str, contexts: &str) -> Self {
        let lines = |text: &str| text.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect();
        let pairs = |text: &str| {
            let pair = |line: &str| line.split_once('\t').map(|(a, b)| (a.to_owned(), b.to_owned()));
            text.lines().filter_map(pair).collect()
        };
        let numbers = |text: &str| {
            let number = |line: &str| {
                let (kind, bits) = line.split_once('\t')?;
                Some((kind.to_owned(), bits.trim().parse().ok()?))
            };
            text.lines().filter_map(number).collect()
        };
        Self {
            abbreviations: lines(abbreviations),
            collocations: pairs(collocations),
            starters: lines(starters),
            contexts: numbers(contexts),
        }
    }

    /// The sentences of a text.
    pub fn sentences(&self, text: &str) -> Vec<String> {
        let text: Vec<char> = text.chars().collect();
        let slices = self.slices(&text);
        let mut sentences = Vec::with_capacity(slices.len());
        let mut moved = 0;
        for (number, slice) in slices.iter().enumerate() {
            let start = slice.start + moved;
            let own = |range: Range<usize>| text.get(range).unwrap_or_default().iter().collect::<String>();
            moved = 0;
            // Closing quotes and brackets at the beginning of the next sentence belong to this one.
            let sentence = match slices.get(number + 1) {
                None => own(start..slice.end),
                Some(next) => match closing(&text[next.clone()]) {
                    Some((n_closing, n_all)) => {
                        moved = n_all;
                        sentences.push(own(start..next.start + n_closing));
                        continue;
                    }
                    None => own(start..slice.end),
                },
            };
            if !sentence.is_empty() {
                sentences.push(sentence);
            }
        }
        sentences
    }

    fn slices(&self, text: &[char]) -> Vec<Range<usize>> {
        let mut slices = Vec::new();
        let mut last = 0;
        for (candidate, context) in contexts(text) {
            if self.has_break(&context) {
                slices.push(last..candidate.at + 1);
                last = candidate.next.unwrap_or(candidate.at + 1);
            }
        }
        let end = text.iter().rposition(|c| !is_space_of_re(*c)).map_or(0, |at| at + 1);
        slices.push(last..end.max(last));
        slices
    }

    /// Returns true if a sentence ends in a text before its last word.
    fn has_break(&self, text: &[char]) -> bool {
        let mut tokens: Vec<Token> = text
            .split(|c| *c == '\n')
            .filter(|line| line.iter().any(|c| !is_space_of_re(*c)))
            .flat_map(words)
            .map(|word| self.token(word))
            .collect();
        for at in 1..tokens.len() {
            let (before, after) = tokens.split_at_mut(at);
            if let (Some(one), Some(next)) = (before.last_mut(), after.first()) {
                self.decide(one, next);
            }
            if tokens[at - 1].ends_sentence {
                return true;
            }
        }
        false
    }

    /// The token of a word by itself.
    fn token(&self, text: Vec<char>) -> Token {
        let word: String = text.iter().collect();
        let kind = kind(&word.to_lowercase());
        let mut token =
            Token { kind, ends_sentence: false, is_abbreviation: false, is_ellipsis: false, text };
        let is_all_dots = token.text.iter().all(|c| *c == '.');
        if word.chars().count() == 1 && ends_sentence(token.text[0]) {
            token.ends_sentence = true;
        } else if is_all_dots && token.text.len() >= 2 {
            token.is_ellipsis = true;
        } else if word.ends_with('.') && !word.ends_with("..") {
            let bare = word[..word.len() - 1].to_lowercase();
            let last = bare.rsplit('-').next().unwrap_or_default();
            if self.abbreviations.contains(&bare) || self.abbreviations.contains(last) {
                token.is_abbreviation = true;
            } else {
                token.ends_sentence = true;
            }
        }
        token
    }

    /// Decides about a word by the one that follows.
    fn decide(&self, one: &mut Token, next: &Token) {
        if one.text.last() != Some(&'.') {
            return;
        }
        let kind = without_period(&one.kind);
        let next_kind = next.kind_in_sentence();
        let is_initial = matches!(one.text[..], [letter, '.'] if is_word(letter) && !is_decimal(letter));
        if self.collocations.contains(&(kind.to_owned(), next_kind.to_owned())) {
            (one.ends_sentence, one.is_abbreviation) = (false, true);
            return;
        }
        let begins_upper = next.text.first().is_some_and(|c| c.is_uppercase());
        if (one.is_abbreviation || one.is_ellipsis) && !is_initial {
            let is_starter = self.begins_sentence(next) == Some(true)
                || (begins_upper && self.starters.contains(next_kind));
            if is_starter {
                one.ends_sentence = true;
                return;
            }
        }
        if is_initial || kind == NUMBER {
            let begins = self.begins_sentence(next);
            let is_name = begins.is_none()
                && is_initial
                && begins_upper
                && self.contexts.get(next_kind).copied().unwrap_or(0) & LOWER == 0;
            if begins == Some(false) || is_name {
                (one.ends_sentence, one.is_abbreviation) = (false, true);
            }
        }
    }

    /// Returns true if a word begins a sentence, by how it was seen; `None` if that is not known.
    fn begins_sentence(&self, token: &Token) -> Option<bool> {
        if matches!(token.text[..], [';' | ':' | ',' | '.' | '!' | '?']) {
            return Some(false);
        }
        let context = self.contexts.get(token.kind_in_sentence()).copied().unwrap_or(0);
        let first = token.text.first().copied().unwrap_or(' ');
        if first.is_uppercase() && context & LOWER != 0 && context & MIDDLE_UPPER == 0 {
            return Some(true);
        }
        if first.is_lowercase() && (context & UPPER != 0 || context & BEGINNING_LOWER == 0) {
            return Some(false);
        }
        None
    }
}

impl Token {
    /// Its type, without the period that ends the sentence.
    fn kind_in_sentence(&self) -> &str {
        if self.ends_sentence { without_period(&self.kind) } else { &self.kind }
    }
}

/// The type of numbers.
const NUMBER: &str = "##number##";

/// The type of a word in small letters: `-?[.,]?\d[\d,.-]*\.?` is a number.
fn kind(word: &str) -> String {
    let rest = word.strip_prefix('-').unwrap_or(word);
    let rest = rest.strip_prefix(['.', ',']).unwrap_or(rest);
    let mut chars = rest.chars();
    let is_number =
        chars.next().is_some_and(is_decimal) && chars.all(|c| is_decimal(c) || matches!(c, ',' | '.' | '-'));
    if is_number { NUMBER.to_owned() } else { word.to_owned() }
}

fn without_period(kind: &str) -> &str {
    match kind.strip_suffix('.') {
        Some(bare) if !bare.is_empty() => bare,
        _ => kind,
    }
}

/// The candidates for ends of sentences, each with the word before it and what follows. Of those that belong to one
/// word, only the last is one.
fn contexts(text: &[char]) -> Vec<(Candidate, Vec<char>)> {
    let mut found: Vec<(Candidate, Vec<char>)> = Vec::new();
    let mut word = 0..0;
    let mut last: Option<Candidate> = None;
    let context = |word: &Range<usize>, candidate: &Candidate| -> Vec<char> {
        let before = text.get(word.clone()).unwrap_or_default().iter();
        before.chain(&text[candidate.at..candidate.end]).copied().collect()
    };
    for at in (0..text.len()).filter(|at| ends_sentence(text[*at])) {
        let Some(candidate) = candidate(text, at) else { continue };
        let before = text.get(word.end..at).unwrap_or_default();
        let space = before.iter().rposition(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c'));
        let start = match space.unwrap_or(0) {
            0 => word.start,
            place => place + word.end + 1,
        };
        if let Some(last) = last.take()
            && word.end <= start
        {
            let text = context(&word, &last);
            found.push((last, text));
        }
        word = start..at;
        last = Some(candidate);
    }
    if let Some(last) = last {
        let text = context(&word, &last);
        found.push((last, text));
    }
    found
}

fn candidate(text: &[char], at: usize) -> Option<Candidate> {
    let next = *text.get(at + 1)?;
    if is_in_no_word(next) {
        return Some(Candidate { at, end: at + 2, next: None });
    }
    let spaces = text[at + 1..].iter().take_while(|c| is_space(**c)).count();
    let start = at + 1 + spaces;
    let letters = text[start..].iter().take_while(|c| !is_space(**c)).count();
    (spaces > 0 && letters > 0).then_some(Candidate { at, end: start + letters, next: Some(start) })
}

/// The number of closing quotes and brackets at the beginning, if white space, two hyphens or the end of a line follow,
/// and the number with the white space.
fn closing(text: &[char]) -> Option<(usize, usize)> {
    let n = text
        .iter()
        .take_while(|c| matches!(c, '"' | '\'' | ')' | ']' | '}' | '‘' | '’' | '“' | '”' | '«' | '»'))
        .count();
    let rest = &text[n..];
    let spaces = rest.iter().take_while(|c| is_space(**c)).count();
    (n > 0 && (spaces > 0 || rest.is_empty() || rest.starts_with(&['-', '-']))).then_some((n, n + spaces))
}

/// The words of a line, as Punkt divides them.
fn words(line: &[char]) -> Vec<Vec<char>> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if is_space(line[at]) {
            at += 1;
            continue;
        }
        let n = match several(&line[at..]) {
            Some(n) => n,
            None if begins_word(line[at]) => {
                let ends = |n: &usize| ends_word(&line[at + n..]);
                (1..=line.len() - at).find(ends).unwrap_or(line.len() - at)
            }
            None => 1,
        };
        words.push(line[at..at + n].to_vec());
        at += n;
    }
    words
}

fn begins_word(c: char) -> bool {
    !"(\"`{[:;&#*@)}]-,".contains(c)
}

/// Returns true if a word ends before these characters.
fn ends_word(rest: &[char]) -> bool {
    let is_end = |rest: &[char]| {
        rest.first().is_none_or(|c| is_space(*c) || is_in_no_word(*c)) || several(rest).is_some()
    };
    is_end(rest) || (rest[0] == ',' && is_end(&rest[1..]))
}

/// The length of two or more hyphens or periods, also with spaces between periods, at the beginning.
fn several(rest: &[char]) -> Option<usize> {
    for c in ['-', '.'] {
        let n = rest.iter().take_while(|next| **next == c).count();
        if n >= 2 {
            return Some(n);
        }
    }
    // `. . .`: two or more of a period and white space, then a period.
    let mut pairs = 0;
    while rest.get(2 * pairs) == Some(&'.') && rest.get(2 * pairs + 1).is_some_and(|c| is_space(*c)) {
        pairs += 1;
    }
    // If no period follows the last pair, the one before it ends the run.
    (2..=pairs).rev().find(|n| rest.get(2 * n) == Some(&'.')).map(|n| 2 * n + 1)
}
