//! mBLEU: how well captions of one image predict each other; lower is more diverse.
//!
//! The first captions of all images are scored by the COCO evaluation's BLEU with the other captions of the same images
//! as references, then the second captions, and so on; the scores are averaged.
//!
//! Paper: Shetty et al., *Speaking the Same Language: Matching Machine to Human Captions by Adversarial
//! Training* (2017). Reference program: ruotianluo/self-critical.pytorch, `eval_multi.py`, which requires the same
//! number of captions for all images. Here, an image with at least two captions contributes to one score per caption.

use std::sync::Arc;

use capeval_metric::setting::{ORDER, TOK};
use capeval_metric::{
    CaptionSets, CorpusKind, CorpusMetric, CorpusNeed, Input, Metric, Notice, Part, Reading, References,
    Signature,
};
use capeval_text::Tokenizer;

use crate::bleu::{Bleu, Counts};

/// The entry of mBLEU in the registry.
pub const KIND: CorpusKind = CorpusKind {
    name: "mbleu",
    summary: "how well captions of an image predict each other; lower is more diverse",
    paper: super::SHETTY,
    program: super::SELF_CRITICAL,
    settings: &[TOK, ORDER],
    needs: CorpusNeed::Nothing,
    compares: true,
    build: |settings| {
        let mbleu = settings.order(MutualBleu::new(settings.tokenizer()?), MutualBleu::with_order)?;
        Ok(Arc::new(mbleu))
    },
};

/// mBLEU-1 to mBLEU-n.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutualBleu {
    bleu: Bleu,
    order: usize,
}

impl MutualBleu {
    /// mBLEU-1 to mBLEU-4.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { bleu: Bleu::coco(tokenizer), order: 4 }
    }

    /// Sets the highest order; `None` unless it is 1 to 9.
    pub fn with_order(self, order: usize) -> Option<Self> {
        Some(Self { bleu: self.bleu.with_order(order)?, order })
    }
}

/// The counts of BLEU for the first captions of all images, for the second ones, and so on.
#[derive(Default)]
struct BySlot(Vec<Counts>);

impl BySlot {
    fn add(&mut self, slot: usize, counts: &Counts) {
        if self.0.len() <= slot {
            self.0.resize(slot + 1, Counts::default());
        }
        let sum = &mut self.0[slot];
        sum.candidate_length += counts.candidate_length;
        sum.reference_length += counts.reference_length;
        for (sum, count) in sum.matches.iter_mut().zip(counts.matches) {
            *sum += count;
        }
        for (sum, count) in sum.totals.iter_mut().zip(counts.totals) {
            *sum += count;
        }
    }
}

impl CorpusMetric for MutualBleu {
    fn signature(&self) -> Signature {
        let Self { bleu: Bleu { tokenizer, .. }, order } = self;
        Signature::new("mbleu").with("n", order).with("tok", tokenizer)
    }

    fn input(&self) -> Input {
        Input::new(Reading::Tokens(self.bleu.tokenizer)).with_ngrams(self.order)
    }

    fn parts(&self) -> Vec<Part> {
        (1..=self.order)
            .map(|n| Part::score(format!("mbleu-{n}"), format!("mBLEU-{n}"), 0.0..=1.0).lower())
            .collect()
    }

    fn score(
        &self,
        _references: &References<'_>,
        captions: &CaptionSets<'_>,
        _notices: &mut Vec<Notice>,
    ) -> Vec<f64> {
        let mut by_slot = BySlot::default();
        let mut uses: Vec<u32> = Vec::new();
        for image in 0..captions.ends.len() {
            let ngrams = captions.ngrams_of(image);
            let lengths: Vec<usize> = captions.words(image).map(<[_]>::len).collect();
            if lengths.len() < 2 {
                continue;
            }
            // By caption and n-gram, the number of occurrences.
            uses.clear();
            uses.resize(lengths.len() * ngrams.len(), 0);
            for (k, uses) in uses.chunks_exact_mut(ngrams.len().max(1)).enumerate() {
                ngrams.uses(k).iter().for_each(|entry| uses[*entry as usize] += 1);
            }
            for (slot, length) in lengths.iter().enumerate() {
                let others = || (0..lengths.len()).filter(move |other| *other != slot);
                let closest = others().map(|k| lengths[k]).min_by_key(|l| (l.abs_diff(*length), *l));
                let mut counts = Counts {
                    candidate_length: *length as f64,
                    reference_length: closest.unwrap_or(0) as f64,
                    ..Counts::default()
                };
                for n in 0..self.order {
                    counts.totals[n] = length.saturating_sub(n) as f64;
                    for entry in ngrams.entries(n) {
                        let uses_of = |k: usize| uses[k * ngrams.len() + entry];
                        let mine = uses_of(slot);
                        if mine > 0 {
                            let most = others().map(uses_of).max().unwrap_or(0);
                            counts.matches[n] += f64::from(mine.min(most));
                        }
                    }
                }
                by_slot.add(slot, &counts);
            }
        }
        let mut scores = vec![0.0; by_slot.0.len() * self.order];
        for (counts, scores) in by_slot.0.iter().zip(scores.chunks_exact_mut(self.order)) {
            Metric::score(&self.bleu, counts, scores);
        }
        super::means(&scores, self.order)
    }
}
