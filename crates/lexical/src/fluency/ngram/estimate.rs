//! Estimates models from captions by interpolated modified Kneser-Ney smoothing.
//!
//! The count of n-grams of the highest order, and of those that begin a caption, is the number of their occurrences;
//! for shorter n-grams, it is the number of different words before them. Each count is reduced by a discount, one for
//! counts of 1, of 2 and of 3 or more, and the discounted mass is given to shorter n-grams:
//!
//! `p(w | h) = (c(hw) − D(c(hw))) / Σ c(h·) + γ(h) · p(w | h')`, with `γ(h) = Σ D / Σ c(h·)` over the words
//! that follow h. For single words, it is given to the uniform distribution over all words, including `</s>` and
//! `<unk>`. With `n_k` n-grams of count k and `Y = n_1 / (n_1 + 2 n_2)`, the discounts are
//! `D_k = k − (k + 1) · Y · n_{k+1} / n_k`.
//!
//! Source: Chen and Goodman, *An Empirical Study of Smoothing Techniques for Language Modeling* (1999);
//! Heafield et al., *Scalable Modified Kneser-Ney Language Model Estimation* (2013), whose program `lmplz`
//! (KenLM) estimates the same model, except for its 32-bit numbers. N-grams are not pruned.
//!
//! The symbols `<s>`, `</s>` and `<unk>` in a caption are skipped, as with `lmplz --skip_symbols`.

use capeval_choice::{Argument, Refusal, Remedy};

use super::{MAX_ORDER, NONE, NgramModel};

/// The discounts that `lmplz --discount_fallback` uses if there are too few captions to estimate them.
pub const FALLBACK_DISCOUNTS: [f64; 3] = [0.5, 1.0, 1.5];

/// A model under construction.
pub struct Estimate {
    model: NgramModel,
    /// The number of occurrences of each n-gram.
    occurrences: Vec<u64>,
    /// For each n-gram, the n-gram without its first word, or [`NONE`].
    suffixes: Vec<u32>,
    n_captions: usize,
}

impl Estimate {
    /// Starts a model with n-grams of up to `order` words; `None` unless `order` is 1 to [`MAX_ORDER`].
    pub fn new(order: usize) -> Option<Self> {
        (1..=MAX_ORDER).contains(&order).then(|| {
            let mut estimate = Self {
                model: NgramModel::empty(order),
                occurrences: Vec::new(),
                suffixes: Vec::new(),
                n_captions: 0,
            };
            let NgramModel { unknown, start, end, .. } = estimate.model;
            for word in [unknown, start, end] {
                estimate.count(NONE, word.0, NONE, 0);
            }
            estimate
        })
    }

    /// Counts the n-grams of a caption, given as its words.
    pub fn add<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        self.n_captions += 1;
        let (start, end, order) = (self.model.start, self.model.end, self.model.order);
        // The n-grams that end with the previous word, by length.
        let mut before = [NONE; MAX_ORDER];
        before[0] = self.count(NONE, start.0, NONE, 0);
        let mut longest = 1;
        let marks = [self.model.unknown, start, end];
        let mut extend = |estimate: &mut Self, word: u32| {
            let mut now = [NONE; MAX_ORDER];
            for length in 0..order.min(longest + 1) {
                let prefix = if length == 0 { NONE } else { before[length - 1] };
                let suffix = if length == 0 { NONE } else { now[length - 1] };
                now[length] = estimate.count(prefix, word, suffix, 1);
            }
            before = now;
            longest += 1;
        };
        for word in words {
            let word = self.model.vocabulary.intern(word).number();
            if !marks.iter().any(|mark| mark.0 == word) {
                extend(self, word);
            }
        }
        extend(self, end.0);
    }

    fn count(&mut self, prefix: u32, word: u32, suffix: u32, times: u64) -> u32 {
        let ngram = self.model.intern(prefix, word);
        if ngram as usize == self.occurrences.len() {
            self.occurrences.push(0);
            self.suffixes.push(suffix);
        }
        self.occurrences[ngram as usize] += times;
        ngram
    }

    /// The model, and the orders that use `fallback` because their discounts cannot be estimated.
    ///
    /// # Errors
    /// When there are no captions, or, without a fallback, when an order has no n-grams of count 1, 2, 3 or 4, or its
    /// discounts are out of range, as with few or artificial captions.
    pub fn finish(mut self, fallback: Option<[f64; 3]>) -> Result<(NgramModel, Vec<usize>), Refusal> {
        if self.n_captions == 0 {
            return Err(Refusal::new("a language model cannot be estimated from no caption at all"));
        }
        let order = self.model.order;
        let counts = self.adjusted_counts();
        let mut discounts = Vec::new();
        let mut fallen_back = Vec::new();
        for length in 1..=order {
            discounts.push(match (self.discounts(length, &counts), fallback) {
                (Ok(discounts), _) => discounts,
                (Err(_), Some(fallback)) => {
                    fallen_back.push(length);
                    fallback
                }
                (Err(error), None) => return Err(error),
            });
        }
        let discount = |length: u32, count: u64| match count {
            0 => 0.0,
            _ => discounts[length as usize - 1][count.min(3) as usize - 1],
        };
        // By context: the sum of the counts of its continuations, and the numbers of those with a count of 1, 2, or
        // more, so that sums of discounts do not depend on the order of captions.
        let mut sums = vec![(0_u64, [0_u64; 3]); self.model.ngrams.len() + 1];
        let context = |prefix: u32| if prefix == NONE { 0 } else { prefix as usize + 1 };
        for (ngram, count) in self.model.ngrams.iter().zip(&counts) {
            let (total, of_count) = &mut sums[context(ngram.prefix)];
            *total += count;
            if *count > 0 {
                of_count[(*count).min(3) as usize - 1] += 1;
            }
        }
        // The discounted share of a context, for continuations of this length.
        let saved = |context: usize, length: u32| {
            let (total, of_count) = sums[context];
            let discounts = discounts.get(length as usize - 1).copied().unwrap_or_default();
            let sum: f64 = discounts.iter().zip(of_count).map(|(d, n)| d * n as f64).sum();
            if total == 0 { 1.0 } else { sum / total as f64 }
        };
        let n_words = self.model.ngrams.iter().filter(|ngram| ngram.length == 1).count() - 1;
        let mut probabilities = vec![0.0_f64; self.model.ngrams.len()];
        let mut by_length: Vec<usize> = (0..self.model.ngrams.len()).collect();
        by_length.sort_by_key(|k| self.model.ngrams[*k].length);
        for k in by_length {
            let ngram = self.model.ngrams[k];
            let context = context(ngram.prefix);
            let shorter = match self.suffixes[k] {
                NONE => 1.0 / n_words as f64,
                suffix => probabilities[suffix as usize],
            };
            let (total, count) = (sums[context].0.max(1) as f64, counts[k]);
            probabilities[k] = if ngram.prefix == NONE && ngram.word == self.model.start.0 {
                1.0
            } else {
                (count as f64 - discount(ngram.length, count)) / total
                    + saved(context, ngram.length) * shorter
            };
        }
        for (k, probability) in probabilities.into_iter().enumerate() {
            let ngram = &mut self.model.ngrams[k];
            ngram.log10 = probability.log10().min(0.0);
            ngram.backoff = saved(k + 1, ngram.length + 1).log10();
        }
        Ok((self.model, fallen_back))
    }

    /// The count of each n-gram.
    fn adjusted_counts(&self) -> Vec<u64> {
        let NgramModel { order, ngrams, start, .. } = &self.model;
        let mut extensions = vec![0_u64; ngrams.len()];
        // Whether an n-gram begins with <s>; prefixes precede the n-grams that extend them.
        let mut begins = vec![false; ngrams.len()];
        for (k, ngram) in ngrams.iter().enumerate() {
            begins[k] = match ngram.prefix {
                NONE => ngram.word == start.0,
                prefix => begins[prefix as usize],
            };
            if let Some(extensions) = extensions.get_mut(self.suffixes[k] as usize) {
                *extensions += 1;
            }
        }
        let count = |k: usize| {
            let raw = begins[k] || ngrams[k].length as usize == *order;
            if raw { self.occurrences[k] } else { extensions[k] }
        };
        (0..ngrams.len()).map(count).collect()
    }

    /// The discounts of n-grams of `length` words for counts of 1, 2, and 3 or more.
    fn discounts(&self, length: usize, counts: &[u64]) -> Result<[f64; 3], Refusal> {
        let mut of_count = [0_u64; 5];
        for (ngram, count) in self.model.ngrams.iter().zip(counts) {
            if ngram.length as usize == length
                && let Some(n) = of_count.get_mut(*count as usize)
            {
                *n += 1;
            }
        }
        let [_, n1, n2, ..] = of_count.map(|n| n as f64);
        let y = n1 / (n1 + 2.0 * n2);
        let mut discounts = [0.0; 3];
        for (k, discount) in (1_u32..).zip(&mut discounts) {
            let (of_this, of_next) = (of_count[k as usize] as f64, of_count[k as usize + 1] as f64);
            *discount = f64::from(k) - f64::from(k + 1) * y * of_next / of_this;
            if of_this == 0.0 || !(0.0..=f64::from(k)).contains(discount) {
                return Err(Refusal::new(format!(
                    "the discount of {length}-grams of count {k} cannot be estimated, for there are too few \
                     captions or too many alike"
                ))
                .with_remedy(
                    Remedy::omit(Argument::NoFallback)
                        .or(Remedy::give(Argument::Order).to("count shorter n-grams")),
                ));
            }
        }
        Ok(discounts)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn estimate(order: usize, captions: &[&str]) -> NgramModel {
        let mut estimate = Estimate::new(order).unwrap();
        captions.iter().for_each(|caption| estimate.add(caption.split(' ')));
        estimate.finish(Some(FALLBACK_DISCOUNTS)).unwrap().0
    }

    /// The output of KenLM's `lmplz -o 2 --discount_fallback` (commit 4cb443e, 2025) for these six captions.
    const LMPLZ: &str = "-1|<unk>|0;0|<s>|-0.30103;-0.6478175|</s>|0;-0.6478175|a|-0.21748397;\
        -0.6478175|b|-0.7861202;-0.6478175|c|-0.22847933;-0.7056006|a </s>|;-0.37816307|b </s>|;\
        -0.3456922|c </s>|;-0.30866393|<s> a|;-0.7056006|a a|;-0.9604056|b a|;-0.76168776|<s> b|;\
        -0.45781612|a b|;-0.6500164|c b|;-0.76168776|<s> c|;-0.7056006|a c|;-0.37816307|b c|";

    #[test]
    fn a_small_model_is_that_of_lmplz() {
        let mut written = Vec::new();
        let model = estimate(2, &["a b c", "a b", "a c b", "c", "b a", "a a b c"]);
        model.write_arpa(&mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        let ours: Vec<Vec<&str>> = written
            .lines()
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .filter(|fields| fields.len() > 1)
            .collect();
        assert_eq!(ours.len(), LMPLZ.split(';').count());
        for line in LMPLZ.split(';') {
            let theirs: Vec<&str> = line.split('|').collect();
            let ours = ours.iter().find(|fields| fields[1] == theirs[1]).unwrap();
            for column in [0, 2] {
                let number = |fields: &[&str]| {
                    fields.get(column).map_or(0.0, |field| field.parse::<f64>().unwrap_or(0.0))
                };
                assert!((number(ours) - number(&theirs)).abs() < 1e-6, "{ours:?} {theirs:?}");
            }
        }
    }

    #[test]
    fn marks_in_a_caption_are_passed_over() {
        let (a, b) = (estimate(3, &["a b", "b a"]), estimate(3, &["a </s> b", "<s> b <unk> a"]));
        assert_eq!(a.fingerprint(), b.fingerprint());
    }

    #[test]
    fn too_few_captions_are_an_error_without_fallback() {
        let mut few = Estimate::new(2).unwrap();
        few.add(["a"]);
        let error = few.finish(None).err();
        let remedy = error.as_ref().and_then(Refusal::remedy).map(ToString::to_string).unwrap_or_default();
        assert!(remedy.contains("fallback"), "{error:?}");
        assert!(Estimate::new(2).unwrap().finish(Some(FALLBACK_DISCOUNTS)).is_err());
        assert!(Estimate::new(0).is_none() && Estimate::new(MAX_ORDER + 1).is_none());
    }

    proptest! {
        #[test]
        fn probabilities_after_any_context_sum_to_one(
            captions in prop::collection::vec("[a-d]( [a-d]){0,6}", 1..12),
            context in "[a-e]( [a-e]){0,3}",
            order in 1_usize..5,
        ) {
            let captions: Vec<&str> = captions.iter().map(String::as_str).collect();
            let model = estimate(order, &captions);
            let mut after = model.start();
            for word in context.split(' ') {
                model.log10(&mut after, model.word(word));
            }
            let known = ["a", "b", "c", "d"].map(|word| model.word(word));
            let words = known.into_iter().filter(|word| *word != model.unknown());
            let sum: f64 = words
                .chain([model.unknown(), model.end()])
                .map(|word| 10_f64.powf(model.log10(&mut after.clone(), word)))
                .sum();
            prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}
