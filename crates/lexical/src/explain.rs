//! The common parts of explanations of n-gram metrics.

use capeval_metric::{Match, Segment, Step};
use capeval_text::Symbol;

/// The names of n-gram matchers, by order.
const MATCHERS: [&str; 9] =
    ["1-gram", "2-gram", "3-gram", "4-gram", "5-gram", "6-gram", "7-gram", "8-gram", "9-gram"];

/// An n-gram of the candidate as text.
pub(crate) fn spelt(segment: &Segment<'_>, ngram: &[Symbol]) -> String {
    let vocabulary = segment.references.vocabulary;
    ngram.iter().map(|word| vocabulary.word(*word)).collect::<Vec<_>>().join(" ")
}

/// The occurrences of an n-gram in candidate and references.
pub(crate) fn places(segment: &Segment<'_>, ngram: &[Symbol]) -> Match {
    let mut references = Vec::new();
    for (r, words) in segment.reference_words().enumerate() {
        let at = covered(words, ngram);
        if !at.is_empty() {
            references.push((r, at));
        }
    }
    let matcher = MATCHERS.get(ngram.len().wrapping_sub(1)).copied().unwrap_or("n-gram");
    Match { matcher, candidate: covered(segment.words, ngram), references }
}

/// The positions of the words of all occurrences of `ngram`.
fn covered(words: &[Symbol], ngram: &[Symbol]) -> Vec<usize> {
    let mut at: Vec<usize> = Vec::new();
    for (start, _) in words.windows(ngram.len()).enumerate().filter(|(_, window)| *window == ngram) {
        let first = at.last().map_or(start, |last| start.max(last + 1));
        at.extend(first..start + ngram.len());
    }
    at
}

/// For each of the candidate's n-grams of `order` (from 0) that occur in a reference, its clipped count: at most as
/// often as in the reference in which it is most frequent.
pub(crate) fn clipped(segment: &Segment<'_>, order: usize) -> Vec<Step> {
    let ngrams = segment.ngrams();
    let n_references = segment.references.of(segment.image).len();
    let mut steps = Vec::new();
    for k in ngrams.range(order) {
        let count = ngrams.all()[k].count;
        let most = (0..n_references).map(|r| ngrams.reference_counts(r)[k]).max().unwrap_or(0);
        if most == 0 {
            continue;
        }
        let ngram = ngrams.words(k);
        let step = Step::given(spelt(segment, &ngram), f64::from(count.min(most)));
        let step = if count > most {
            step.fact("in the candidate", f64::from(count)).fact("at most in a reference", f64::from(most))
        } else {
            step
        };
        steps.push(step.matched(places(segment, &ngram)));
    }
    steps
}
