//! Diversity and coverage: the driver for several captions per image.

use std::sync::Arc;

use capeval_metric::{AnyCorpusMetric, CaptionSets, CorpusScores, Input};
use capeval_text::ngrams::{ReferenceLists, ReferenceNgrams};
use capeval_text::{Sentences, Texts, Vocabulary};
use rayon::prelude::*;

use crate::references::{ReferenceSet, read};
use crate::sequence::Sequence;
use crate::session::{Group, groups};

/// All captions of one system, any number per image.
pub struct CaptionSystem {
    /// The name of the system.
    pub name: String,
    /// The captions, image by image.
    pub texts: Texts,
    /// The end of each image's captions among the texts.
    pub ends: Vec<u64>,
}

/// Scores all captions of `system` by `metrics`; returns one entry per metric.
///
/// `references` are the references of the images, for document frequencies, or training captions, for novelty; their
/// number of images may differ from that of the system.
///
/// # Panics
/// When the system's `ends` are not ascending, or do not end at its last text.
pub fn evaluate_sets(
    references: &mut ReferenceSet,
    system: &CaptionSystem,
    metrics: &[AnyCorpusMetric],
) -> Vec<CorpusScores> {
    let CaptionSystem { name: _, texts, ends } = system;
    assert!(ends.is_sorted() && ends.last().copied().unwrap_or(0) == texts.len() as u64);
    references.prepare(metrics.iter().map(|metric| metric.input()));
    let images: Vec<u32> = (0..references.n_images() as u32).collect();
    let mut scores: Vec<Option<CorpusScores>> = metrics.iter().map(|_| None).collect();
    let inputs = metrics.iter().map(|metric| metric.input()).enumerate();
    for Group { view, input, members } in groups(references, inputs) {
        let mut vocabulary = Vocabulary::over(Arc::clone(&view.vocabulary));
        let sentences = read(input.reading, texts, &Sequence::new(&[], ends), &mut vocabulary);
        let own: Vec<u32> = (0..ends.len() as u32).collect();
        let ngrams = (input.ngrams > 0)
            .then(|| ReferenceNgrams::build(&ReferenceLists::new(&sentences, ends, own, input.ngrams)));
        let counted = view.counted(references, &images, input);
        let learnt_from = view.references(references, &vocabulary, &images, &counted);
        let captions =
            CaptionSets { sentences: &sentences, ends, ngrams: ngrams.as_ref(), vocabulary: &vocabulary };
        let score = |m: &usize| {
            let (metric, mut notices) = (&metrics[*m], Vec::new());
            let values = metric.score(&learnt_from, &captions, &mut notices);
            CorpusScores { signature: metric.signature(), parts: metric.parts(), values, notices }
        };
        let done: Vec<CorpusScores> = members.par_iter().map(score).collect();
        for (m, done) in members.iter().zip(done) {
            scores[*m] = Some(done);
        }
    }
    scores.into_iter().flatten().collect()
}

/// Applies `look` to the words of `training`, which may be empty, and to those of the system's captions, read for a
/// metric with this input. Both take their symbols from one vocabulary.
///
/// # Panics
/// As [`evaluate_sets`].
pub fn read_with<T>(
    training: &mut ReferenceSet,
    system: &CaptionSystem,
    input: Input,
    look: impl FnOnce(&Sentences, &Sentences) -> T,
) -> T {
    let CaptionSystem { name: _, texts, ends } = system;
    training.prepare([input]);
    let groups = groups(training, [(0, input)].into_iter());
    let view = groups[0].view;
    let mut vocabulary = Vocabulary::over(Arc::clone(&view.vocabulary));
    look(&view.sentences, &read(input.reading, texts, &Sequence::new(&[], ends), &mut vocabulary))
}
