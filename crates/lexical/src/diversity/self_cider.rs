//! Self-CIDEr: the diversity of an image's captions by the kernel of their CIDEr scores.
//!
//! Plain CIDEr compares every caption with every caption of the image, including itself; the matrix K of these scores,
//! from 0 to 1, has eigenvalues λ. If all captions are equal, one eigenvalue is as large as the sum of all; if they
//! have nothing in common, all eigenvalues are equal. The score of an image with m captions is
//! `−log(√λ_max / Σ √λ) / log m`, from 0 to 1, and the corpus score is the mean over images. Document frequencies are
//! those of the references.
//!
//! Paper: Wang and Chan, *Describing like Humans: on Diversity in Image Captioning* (2019). Reference
//! program: ruotianluo/self-critical.pytorch, `eval_multi.py`, with ruotianluo/cider; the authors' own program
//! (qingzwang/DiversityMetrics) fills K with CIDEr-D, which their paper does not mention.
//!
//! Equal captions give eigenvalues of 0, which rounding turns into about 1e-17; their roots would add noise of about
//! 1e-8 to the score, as they do in the reference program. Here, eigenvalues below 1e-13 of the largest one count as 0.
//!
//! An image has no score if it has only one caption, or if all n-grams of its captions have weight 0; the reference
//! program then returns NaN for the whole corpus. Here, such images are left out, and a notice gives their number.

use std::sync::Arc;

use capeval_choice::Code;
use capeval_metric::setting::{ORDER, TOK};
use capeval_metric::{
    CaptionSets, CorpusKind, CorpusMetric, CorpusNeed, Input, Notice, Part, Reading, References, Signature,
};
use capeval_text::Tokenizer;
use capeval_text::ngrams::{MAX_ORDER, Node};

use super::eigenvalues::symmetric_eigenvalues;

/// Eigenvalues below this share of the largest one are rounding noise.
const NEGLIGIBLE: f64 = 1e-13;

/// The entry of Self-CIDEr in the registry.
pub const KIND: CorpusKind = CorpusKind {
    name: "self-cider",
    summary: "how little the captions of an image have in common, by the kernel of their CIDEr scores",
    paper: "Wang and Chan 2019, Describing like Humans: on Diversity in Image Captioning",
    program: super::SELF_CRITICAL,
    settings: &[TOK, ORDER],
    needs: CorpusNeed::References,
    compares: true,
    build: |settings| {
        let cider = settings.order(SelfCider::new(settings.tokenizer()?), SelfCider::with_order)?;
        Ok(Arc::new(cider))
    },
};

/// Self-CIDEr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfCider {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
    order: usize,
}

impl SelfCider {
    /// With n-grams of up to four words.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, order: 4 }
    }

    /// Sets the length of the longest n-grams; `None` unless it is 1 to 9.
    pub fn with_order(self, order: usize) -> Option<Self> {
        (1..=MAX_ORDER).contains(&order).then_some(Self { order, ..self })
    }
}

impl CorpusMetric for SelfCider {
    fn signature(&self) -> Signature {
        let Self { tokenizer, order } = self;
        Signature::new("self-cider").with("n", order).with("idf", "corpus").with("tok", tokenizer)
    }

    fn input(&self) -> Input {
        Input::new(Reading::Tokens(self.tokenizer)).with_ngrams(self.order).with_frequencies(true)
    }

    fn parts(&self) -> Vec<Part> {
        vec![Part::score("self-cider", "Self-CIDEr", 0.0..=1.0)]
    }

    fn score(
        &self,
        references: &References<'_>,
        captions: &CaptionSets<'_>,
        notices: &mut Vec<Notice>,
    ) -> Vec<f64> {
        let counts = references.frequencies();
        let log_images = (counts.n_images() as f64).ln();
        let (mut weights, mut nodes) = (Vec::<f64>::new(), Vec::<Option<Node>>::new());
        let mut scores = Vec::new();
        let n_images = captions.ends.len();
        for image in 0..n_images {
            let ngrams = captions.ngrams_of(image);
            let n_captions = captions.of(image).len();
            if n_captions < 2 {
                continue;
            }
            weights.clear();
            nodes.clear();
            for n in 0..self.order {
                for entry in ngrams.entries(n) {
                    let symbol = ngrams.symbols[entry];
                    let found = if n == 0 {
                        counts.word(symbol)
                    } else {
                        nodes[ngrams.prefixes[entry] as usize]
                            .and_then(|prefix| counts.longer(n, prefix, symbol))
                    };
                    nodes.push(found.map(|(node, _)| node));
                    weights.push(log_images - f64::from(found.map_or(1, |(_, df)| df.max(1))).ln());
                }
            }
            // By caption and n-gram, the elements of the vectors.
            let n_entries = ngrams.len();
            let mut vectors = vec![0.0; n_captions * n_entries];
            for (k, vector) in vectors.chunks_exact_mut(n_entries.max(1)).enumerate() {
                ngrams.uses(k).iter().for_each(|entry| vector[*entry as usize] += 1.0);
                vector.iter_mut().zip(&weights).for_each(|(element, weight)| *element *= weight);
            }
            let mut kernel = vec![0.0; n_captions * n_captions];
            for n in 0..self.order {
                let vector = |k: usize| &vectors[k * n_entries..][ngrams.entries(n)];
                let product =
                    |a: usize, b: usize| vector(a).iter().zip(vector(b)).map(|(a, b)| a * b).sum::<f64>();
                let norms: Vec<f64> = (0..n_captions).map(|k| product(k, k).sqrt()).collect();
                for a in 0..n_captions {
                    for b in 0..n_captions {
                        if norms[a] != 0.0 && norms[b] != 0.0 {
                            kernel[a * n_captions + b] +=
                                product(a, b) / (norms[a] * norms[b]) / self.order as f64;
                        }
                    }
                }
            }
            let eigenvalues = symmetric_eigenvalues(&mut kernel, n_captions);
            let largest = eigenvalues.iter().copied().fold(0.0, f64::max);
            let roots = eigenvalues.iter().filter(|value| **value > NEGLIGIBLE * largest).map(|x| x.sqrt());
            let sum: f64 = roots.sum();
            if sum > 0.0 {
                scores.push((sum / largest.sqrt()).ln() / (n_captions as f64).ln());
            }
        }
        let left_out = n_images - scores.len();
        if left_out > 0 {
            notices.push(Notice::new(
                Code::NoSelfCider,
                format!(
                    "{left_out} of {n_images} images have no Self-CIDEr, for they have fewer than two captions or \
                     none with an n-gram of any weight; they are left out"
                ),
            ));
        }
        super::means(&scores, 1)
    }
}
