//! Reads answers as FLEUR's program does: a number from 0.0 to 1.0, smoothed by the probabilities of its digits.
//!
//! Paper: Lee et al., *FLEUR: An Explainable Reference-Free Evaluation Metric for Image Captioning Using a Large
//! Multimodal Model* (ACL 2024). Reference program: `fleur.py` of Yebin46/FLEUR (b9cd6c9), with LLaVA-1.5.
//!
//! At the first decimal, and at the second if there is one, the score is the sum over the ten digits of the digit times
//! its probability, times 0.1 or 0.01; of 1.0 it is 0.9 times the probability of `0` in the place of `1`, plus that of
//! `1`.
//!
//! Quirks kept on purpose:
//! - everything except digits and points is removed before the number is read, so `0.8 of 1` is 0.81;
//! - the place of a digit is that of the first token that is this digit, but of the second if the first decimal is 0,
//!   or if it is the second decimal;
//! - probabilities are those of all tokens, so those of the digits need not add up to 1;
//! - the zero before the point does not count, however improbable it is.
//!
//! Decided otherwise: where the program fails or skips a caption, and then counts the previous caption's score again,
//! the answer is unreadable. Servers give the probabilities of the twenty most probable tokens; all others count as 0.

use super::python::{digit, float};
use super::{Answer, Reading, start};

/// Reads an answer with the probabilities of its tokens.
pub fn read(answer: &Answer) -> Reading {
    let kept: String = answer.text.chars().filter(|c| *c == '.' || digit(*c).is_some()).collect();
    let Some(number) = float(kept.trim_matches('.')).filter(|number| (0.0..=1.0).contains(number)) else {
        return Reading::unreadable(format!("no number from 0.0 to 1.0 in {}", start(&answer.text)));
    };
    if answer.tokens.is_empty() {
        return Reading::unreadable("the server sent no probabilities of tokens");
    }
    let score = if number < 1.0 { below_one(answer, number) } else { one(answer) };
    match score {
        Some(score) if score.is_finite() => Reading::grade(score, None),
        _ => Reading::unreadable(format!("the digits of {} are no tokens of their own", start(&answer.text))),
    }
}

fn below_one(answer: &Answer, number: f64) -> Option<f64> {
    // Python writes smaller numbers with an exponent, whose letter the program takes for a digit.
    if number != 0.0 && number < 1e-4 {
        return None;
    }
    let written = format!("{number:?}");
    let decimals: Vec<char> = written.split_once('.')?.1.chars().collect();
    let first = decimals.first()?;
    let places = places(answer, *first);
    let place = match places[..] {
        [only] => only,
        [_, second, ..] if *first == '0' => second,
        [first, _, ..] => first,
        [] => return None,
    };
    let mut score = weighted(answer, place) * 0.1;
    if let Some(second) = decimals.get(1) {
        let places = self::places(answer, *second);
        let place = match places[..] {
            [only] => only,
            [_, second, ..] => second,
            [] => return None,
        };
        score += weighted(answer, place) * 0.01;
    }
    Some(score)
}

fn one(answer: &Answer) -> Option<f64> {
    match places(answer, '1')[..] {
        [place] => Some(0.9 * probability(answer, place, '0') + probability(answer, place, '1')),
        _ => None,
    }
}

/// The places of the tokens that are this digit.
fn places(answer: &Answer, digit: char) -> Vec<usize> {
    let tokens = answer.tokens.iter().enumerate();
    tokens.filter(|(_, token)| is_digit(&token.token, digit)).map(|(place, _)| place).collect()
}

fn is_digit(token: &str, digit: char) -> bool {
    let mut chars = token.chars();
    chars.next() == Some(digit) && chars.next().is_none()
}

/// The sum of the digits times their probabilities in a place.
fn weighted(answer: &Answer, place: usize) -> f64 {
    (0..10).map(|d| f64::from(d) * probability(answer, place, char::from_digit(d, 10).unwrap_or('0'))).sum()
}

fn probability(answer: &Answer, place: usize, digit: char) -> f64 {
    let top = answer.tokens[place].top.iter();
    top.filter(|(token, _)| is_digit(token, digit)).map(|(_, logarithm)| logarithm.exp()).sum()
}
