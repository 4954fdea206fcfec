//! Measures pairs of a candidate and one reference that are places among the same sentences, so that texts which occur
//! in many pairs are neither copied nor read again.

use capeval_metric::{AnyMetric, Candidates, References};
use capeval_text::{Sentences, Texts, Vocabulary};
use rayon::prelude::*;

use crate::session;

/// The number of pairs that a thread takes at once.
const CHUNK: usize = 1024;

/// The statistics of each pair, row after row, for metrics that learn nothing but words from references. A pair is the
/// place of a candidate and that of its only reference among `sentences`.
///
/// # Panics
/// When there is no such sentence.
pub fn measure_pairs(
    metric: &AnyMetric,
    sentences: &Sentences,
    vocabulary: &Vocabulary,
    pairs: &[(u32, u32)],
) -> Vec<f64> {
    let texts = Texts::blank(sentences.len());
    let ends: Vec<u64> = (1..=sentences.len() as u64).collect();
    let images: Vec<u32> = (0..sentences.len() as u32).collect();
    let input = metric.input().with_frequencies(false);
    let references = References {
        texts: &texts,
        sentences,
        ends: &ends,
        lists: &[],
        order: input.ngrams,
        vocabulary,
        images: &images,
        frequencies: None,
        memos: &[],
        figures: &[],
    };
    let candidates = Candidates { texts: &texts, sentences, system: 0 };
    let fitted = metric.fit(&references);
    let width = metric.about().columns.len();
    let mut rows = vec![0.0; pairs.len() * width];
    rows.par_chunks_mut(CHUNK * width).zip(pairs.par_chunks(CHUNK)).with_max_len(1).for_each(
        |(rows, pairs)| {
            let mut worker = fitted.worker();
            let compared: Vec<u32> = pairs.iter().map(|(_, reference)| *reference).collect();
            session::visit(
                &references,
                input,
                candidates,
                &compared,
                |at| pairs[at].0 as usize,
                |at, segment| worker.measure(segment, &mut rows[at * width..(at + 1) * width]),
            );
        },
    );
    rows
}
