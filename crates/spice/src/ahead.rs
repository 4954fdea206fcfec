//! The parses that a run has before it, and the time that they will take.

use std::collections::HashSet;
use std::time::Duration;

use capeval_text::Tokenizer;

use crate::ParseCache;

/// The time that a caption takes, whatever its length, in seconds of one thread.
const EACH: f64 = 5e-4;

/// The time that the power 2.5 of its number of tokens adds, as measured from 11 to 504 tokens: the parser fills a
/// chart of spans, split at each token that can end one.
const GROWING: f64 = 5e-6;

/// The captions that are not parsed yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParsesAhead {
    /// Their number, each counted once.
    pub captions: usize,
    /// An estimate of the time that they take one thread.
    pub time: Duration,
}

impl ParsesAhead {
    /// Those of `captions` that `known` has not stored. They are read by the usual tokenizer.
    pub fn of<'c>(captions: impl Iterator<Item = &'c str>, known: Option<&ParseCache>) -> Self {
        let distinct: HashSet<&str> = captions.collect();
        let new = distinct.into_iter().map(|caption| Tokenizer::Ptb.pieces(caption));
        let new = new.filter(|pieces| known.is_none_or(|known| !known.has(&pieces.join(" "))));
        let lengths: Vec<usize> = new.map(|pieces| pieces.len()).collect();
        let seconds = |n: &usize| EACH + GROWING * (*n as f64).powf(2.5);
        let time = Duration::from_secs_f64(lengths.iter().map(seconds).sum());
        Self { captions: lengths.len(), time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_captions_are_ahead_and_long_ones_take_longer() {
        let known = ParseCache::open(None, "sample");
        let ahead = |captions: &[&str]| ParsesAhead::of(captions.iter().copied(), Some(&known));
        let one = ahead(&["A dog runs.", "A dog runs."]);
        assert_eq!(one.captions, 1);
        let two = ahead(&["A dog runs.", "A cat sits."]).time;
        assert!(two.abs_diff(one.time * 2) <= Duration::from_nanos(1), "{two:?}");
        let long = "a dog and ".repeat(20);
        assert!(ahead(&[&long]).time > one.time * 10);
        known.keep("a dog runs", &[]);
        let mut file = Vec::new();
        known.write(&ParseCache::open(None, "sample"), &mut file).unwrap();
        let known = ParseCache::open(Some(crate::testing::mapped(&file)), "sample");
        let captions = ["A dog runs.", "A cat sits."];
        assert_eq!(ParsesAhead::of(captions.into_iter(), Some(&known)).captions, 1);
        assert_eq!(ParsesAhead::of(captions.into_iter(), None).captions, 2);
    }
}
