//! Reads answers as CLAIR's program does.
//!
//! Paper: Chan et al., *CLAIR: Evaluating Image Captions with Large Language Models* (EMNLP 2023). Reference program:
//! `clair.py` of DavidMChan/clair (429fa8b). The program asks for up to three answers, and scores 0 if none is
//! readable; a judge does the same with `tries = 3` and `unreadable = 0`.
//!
//! Quirks kept on purpose:
//! - the text that is read as JSON goes from the first `{` to the next `{` or `}`, so a brace in the reason truncates
//!   it, and a missing `}` is added;
//! - if this is not JSON or contains no score, the first number of the whole answer counts, and is multiplied by 100 if
//!   it is less than 1; so 10/10 is 10;
//! - a score in JSON is not multiplied: 0.85 is 0.85 of 100;
//! - `true` is 1, text such as `" 8_5 "` is 85, digits of any script are digits, and of several scores the last counts;
//! - no score is clipped to the range: 250 is 2.5.
//!
//! Decided otherwise: a score that is not a number (`null`, a list, `"85/100"`, a whole number beyond the range of
//! floats) stops the program, and is unreadable here; the program accepts NaN and infinity as scores, which are also
//! unreadable here.

use super::python::{Fault, Json, digit, float, loads, strip};
use super::{Reading, start};

/// Reads an answer.
pub fn read(text: &str) -> Reading {
    if let Some(found) = from_json(text) {
        return found;
    }
    match first_number(text) {
        Some(number) => {
            let score = if number < 1.0 { number * 100.0 } else { number };
            finite(score, Some(reason(text)), text)
        }
        None => Reading::unreadable(format!("no number in {}", start(text))),
    }
}

/// Reads the first object; `None` if the whole answer is to be searched for a number.
fn from_json(text: &str) -> Option<Reading> {
    let inner = text.split('{').nth(1)?.split('}').next()?;
    let object = match loads(&format!("{{{inner}}}")) {
        Ok(object) => object,
        Err(Fault::Decode) => return None,
        Err(Fault::Other) => {
            return Some(Reading::unreadable("its JSON is too deep or has too long a number"));
        }
    };
    let last = |key: &str| object.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value);
    let reason = match last("reason") {
        None => Some("Unknown".to_owned()),
        Some(Json::Text(reason)) => Some(reason.clone()),
        Some(_) => None,
    };
    Some(match last("score")? {
        Json::Number(score) => finite(*score, reason, text),
        Json::Text(score) => match float(score) {
            Some(score) => finite(score, reason, text),
            None => Reading::unreadable(format!("the score {score:?} is no number")),
        },
        Json::Huge | Json::Other => Reading::unreadable("the score is no number"),
    })
}

fn finite(score: f64, reason: Option<String>, text: &str) -> Reading {
    match score.is_finite() {
        true => Reading::grade(score / 100.0, reason),
        false => Reading::unreadable(format!("{score} in {} is no score", start(text))),
    }
}

/// The first match of `\d*\.?\d+`.
fn first_number(text: &str) -> Option<f64> {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| chars.get(at).is_some_and(|c| digit(*c).is_some());
    let first = (0..chars.len()).find(|at| is_digit(*at) || (chars[*at] == '.' && is_digit(at + 1)))?;
    let run = |from: usize| (from..).take_while(|at| is_digit(*at)).count();
    let mut end = first + run(first);
    if chars.get(end) == Some(&'.') && is_digit(end + 1) {
        end += 1 + run(end + 1);
    }
    float(&chars[first..end].iter().collect::<String>())
}

/// The text after the first "reason" on its line, without colons.
fn reason(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    // Without regard to case, which makes ſ an s.
    let is_same = |c: char, known: char| c.to_ascii_lowercase() == known || (c == 'ſ' && known == 's');
    let is_here = |at: &usize| {
        let here = &chars[*at..];
        here.len() >= 6 && here.iter().zip("reason".chars()).all(|(c, known)| is_same(*c, known))
    };
    match (0..chars.len()).find(is_here) {
        None => "Unknown".to_owned(),
        Some(at) => {
            let line: String = chars[at..].iter().take_while(|c| **c != '\n').collect();
            let rest: String = strip(&line).chars().skip(6).filter(|c| *c != ':').collect();
            strip(&rest).to_owned()
        }
    }
}
