//! NLTK's tokenizers of words in nltk 3.10: `NLTKWordTokenizer`, as `word_tokenize` applies it to each sentence, and
//! `TreebankWordTokenizer`, which knows fewer quotes and dashes.
//!
//! Each step replaces what it finds from left to right, and what one replacement has used is not looked at again in the
//! same step: `,,` becomes ` ,,`, since the first comma takes the second one with it.

use crate::classes::{begins, is_decimal, is_same, is_space, is_space_of_re, is_word, is_word_of_re};

/// The rules of one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Those of `NLTKWordTokenizer`.
    Nltk,
    /// Those of `TreebankWordTokenizer`.
    Treebank,
}

/// The words of a sentence.
pub fn tokenize(sentence: &str, rules: Rules) -> Vec<String> {
    let is_nltk = rules == Rules::Nltk;
    let mut text: Vec<char> = sentence.chars().collect();
    starting_quotes(&mut text, is_nltk);
    punctuation(&mut text, is_nltk);
    text = padded(&text, |c| "[](){}<>".contains(c));
    text = runs(&text, |rest| rest.starts_with(&['-', '-']).then_some(2));
    text.insert(0, ' ');
    text.push(' ');
    ending_quotes(&mut text, is_nltk);
    contractions(&mut text);
    let words: Vec<String> = text
        .split(|c| is_space_of_re(*c))
        .filter(|word| !word.is_empty())
        .map(|word| word.iter().collect())
        .collect();
    words
}

/// Puts a space before and after each of these characters.
fn padded(text: &[char], is_one: impl Fn(char) -> bool) -> Vec<char> {
    runs(text, |rest| is_one(rest[0]).then_some(1))
}

/// Puts a space before and after each run, whose length `run` tells where one begins.
fn runs(text: &[char], run: impl Fn(&[char]) -> Option<usize>) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut at = 0;
    while at < text.len() {
        match run(&text[at..]) {
            Some(n) => {
                out.push(' ');
                out.extend_from_slice(&text[at..at + n]);
                out.push(' ');
                at += n;
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

/// The length of the run of these characters at the beginning.
fn run_of(rest: &[char], is_one: impl Fn(char) -> bool) -> usize {
    rest.iter().take_while(|c| is_one(**c)).count()
}

fn starting_quotes(text: &mut Vec<char>, is_nltk: bool) {
    if is_nltk {
        *text = runs(text, |rest| match rest[0] {
            '«' | '“' | '‘' | '„' => Some(1),
            '`' => Some(run_of(rest, |c| c == '`')),
            _ => None,
        });
    }
    if text.first() == Some(&'"') {
        text.splice(..1, ['`', '`']);
    }
    *text = runs(text, |rest| rest.starts_with(&['`', '`']).then_some(2));
    // A double quote behind a space or an opening bracket begins a quotation.
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at + 1..];
        let quote = match rest {
            ['"', ..] => 1,
            ['\'', '\'', ..] => 2,
            _ => 0,
        };
        out.push(text[at]);
        at += 1;
        if quote > 0 && " ([{<".contains(out[out.len() - 1]) {
            out.extend([' ', '`', '`', ' ']);
            at += quote;
        }
    }
    *text = out;
    if !is_nltk {
        return;
    }
    // A single one before a word does, unless a clitic follows.
    let mut out = Vec::with_capacity(text.len() + 4);
    for (at, c) in text.iter().enumerate() {
        out.push(*c);
        let before = at.checked_sub(1).map(|at| text[at]);
        let rest = &text[at + 1..];
        let is_clitic = ["re", "ve", "ll", "m", "t", "s", "d", "n"]
            .iter()
            .any(|clitic| begins(rest, clitic) && !rest.get(clitic.len()).is_some_and(|c| is_word(*c)));
        if *c == '\''
            && !before.is_some_and(is_word)
            && rest.first().is_some_and(|c| is_word(*c))
            && !is_clitic
        {
            out.push(' ');
        }
    }
    *text = out;
}

fn punctuation(text: &mut Vec<char>, is_nltk: bool) {
    if is_nltk {
        final_period(text, "])}>\"'»”’ ", true);
    }
    // A colon or comma, unless a digit follows.
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut at = 0;
    while at < text.len() {
        let c = text[at];
        at += 1;
        if (c == ':' || c == ',') && text.get(at).is_some_and(|next| !is_decimal(*next)) {
            out.extend([' ', c, ' ', text[at]]);
            at += 1;
        } else {
            out.push(c);
        }
    }
    *text = out;
    // At the end, also before a last line break.
    let last = if text.last() == Some(&'\n') { text.len() - 1 } else { text.len() };
    for end in [last, text.len()] {
        if let Some(c) = end.checked_sub(1).map(|at| text[at]).filter(|c| *c == ':' || *c == ',') {
            text.splice(end - 1..end, [' ', c, ' ']);
            break;
        }
    }
    *text = runs(text, |rest| match run_of(rest, |c| c == '.') {
        n if is_nltk => Some(n).filter(|n| *n >= 2),
        n => (n >= 3).then_some(3),
    });
    *text = padded(text, |c| ";@#$%&".contains(c));
    if is_nltk {
        *text = padded(text, |c| ('\u{2012}'..='\u{2015}').contains(&c));
    }
    final_period(text, "])}>\"'", false);
    *text = padded(text, |c| c == '?' || c == '!');
    replace(text, |rest| match rest {
        [c, '\'', ' ', ..] if *c != '\'' => Some((3, vec![*c, ' ', '\'', ' '])),
        _ => None,
    });
    if is_nltk {
        *text = padded(text, |c| c == '*');
    }
}

/// Splits off a period at the end, behind which only characters of `closing` and white space may stand.
fn final_period(text: &mut Vec<char>, closing: &str, is_wide: bool) {
    let found = (1..text.len()).find(|at| {
        let end = at + 1 + run_of(&text[at + 1..], |c| closing.contains(c));
        text[*at] == '.' && text[at - 1] != '.' && text[end..].iter().all(|c| is_space(*c))
    });
    if let Some(at) = found {
        let end = at + 1 + run_of(&text[at + 1..], |c| closing.contains(c));
        let behind: Vec<char> = text[at + 1..end].to_vec();
        text.truncate(at);
        text.extend([' ', '.']);
        if is_wide {
            text.push(' ');
        }
        text.extend(behind);
        text.push(' ');
    }
}

/// Replaces from left to right: `found` gives the length of what is replaced, and what comes in its place.
fn replace(text: &mut Vec<char>, found: impl Fn(&[char]) -> Option<(usize, Vec<char>)>) {
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut at = 0;
    while at < text.len() {
        match found(&text[at..]) {
            Some((n, new)) => {
                out.extend(new);
                at += n;
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    *text = out;
}

fn ending_quotes(text: &mut Vec<char>, is_nltk: bool) {
    if is_nltk {
        *text = padded(text, |c| "»”’".contains(c));
    }
    *text = runs(text, |rest| rest.starts_with(&['\'', '\'']).then_some(2));
    replace(text, |rest| (rest[0] == '"').then(|| (1, vec![' ', '\'', '\'', ' '])));
    if is_nltk {
        replace(text, |rest| {
            let n = run_of(rest, is_space);
            (n > 0).then(|| (n, vec![' ']))
        });
    }
    // Clitics: `'s`, `'m`, `'d`, a lone apostrophe, then the longer ones, in small or in capital letters.
    replace(text, |rest| match rest {
        [c, '\'', 's' | 'S' | 'm' | 'M' | 'd' | 'D', ' ', ..] if *c != '\'' && *c != ' ' => {
            Some((4, vec![*c, ' ', '\'', rest[2], ' ']))
        }
        [c, '\'', ' ', ..] if *c != '\'' && *c != ' ' => Some((3, vec![*c, ' ', '\'', ' '])),
        _ => None,
    });
    const LONG: [&str; 8] = ["'ll", "'LL", "'re", "'RE", "'ve", "'VE", "n't", "N'T"];
    replace(text, |rest| {
        let (c, behind) = rest.split_first()?;
        let clitic = LONG.iter().find(|clitic| {
            behind.len() > 3
                && behind[3] == ' '
                && clitic.chars().zip(behind).all(|(one, other)| one == *other)
        })?;
        (*c != '\'' && *c != ' ').then(|| {
            let mut new = vec![*c, ' '];
            new.extend(clitic.chars());
            new.push(' ');
            (5, new)
        })
    });
}

fn contractions(text: &mut Vec<char>) {
    const TWO: [(&str, &str); 7] = [
        ("can", "not"),
        ("d", "'ye"),
        ("gim", "me"),
        ("gon", "na"),
        ("got", "ta"),
        ("lem", "me"),
        ("more", "'n"),
    ];
    for (first, second) in TWO {
        split(text, first, second, |next| !next.is_some_and(is_word_of_re));
    }
    split(text, "wan", "na", |next| next.is_some_and(is_space_of_re));
    for second in ["is", "was"] {
        replace(text, |rest| {
            let n = 3 + second.len();
            let is_found = begins(rest, " 't")
                && begins(&rest[3..], second)
                && !rest.get(n).is_some_and(|next| is_word_of_re(*next));
            is_found.then(|| {
                let mut new = vec![' ', '\'', rest[2], ' '];
                new.extend_from_slice(&rest[3..n]);
                new.push(' ');
                (n, new)
            })
        });
    }
}

/// Splits a word in two where it begins a word, and what follows fits.
fn split(text: &mut Vec<char>, first: &str, second: &str, fits: impl Fn(Option<char>) -> bool) {
    let (a, b) = (first.len(), second.len());
    let mut out = Vec::with_capacity(text.len() + 8);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let begins_word = is_same(rest[0], first.chars().next().unwrap_or(' '))
            && !at.checked_sub(1).is_some_and(|before| is_word_of_re(text[before]));
        if begins_word && begins(rest, first) && begins(&rest[a..], second) && fits(rest.get(a + b).copied())
        {
            out.push(' ');
            out.extend_from_slice(&rest[..a]);
            out.push(' ');
            out.extend_from_slice(&rest[a..a + b]);
            out.push(' ');
            at += a + b;
        } else {
            out.push(rest[0]);
            at += 1;
        }
    }
    *text = out;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What nltk 3.10.4 gives. The other rules are tested where CHAIR reads captions.
    #[test]
    fn words_are_those_of_treebank_word_tokenizer() {
        for (text, words) in [
            (
                "Good muffins cost $3.88 (roughly 3,36 euros)\nin New York.  Please buy me\ntwo of them.\nThanks.",
                "Good|muffins|cost|$|3.88|(|roughly|3,36|euros|)|in|New|York.|Please|buy|me|two|of|them.|Thanks|.",
            ),
            (
                "\"They'll\" say 'wanna', can't -- “don’t” ... or....? A:b, 3:4*",
                "``|They|'ll|''|say|'|wan|na|'|,|ca|n't|--|“don’t”|...|or|...|.|?|A|:|b|,|3:4*",
            ),
            (
                "''x'' ``y`` isn't; 'tis 'twas gonna [a]. )",
                "''|x|''|``|y|``|is|n't|;|'t|is|'t|was|gon|na|[|a|]|.|)",
            ),
            ("He's the dogs' U.S.A. end.\" ", "He|'s|the|dogs|'|U.S.A.|end|.|''"),
            (" : ", ":"),
            ("", ""),
        ] {
            assert_eq!(tokenize(text, Rules::Treebank).join("|"), words);
        }
    }
}
