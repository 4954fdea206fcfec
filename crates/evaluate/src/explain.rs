//! How scores of single images came to be.

use std::sync::{Arc, OnceLock};

use capeval_metric::{AnyMetric, Candidates, Explanation, Fitted, Segment};
use capeval_text::ngrams::Segments;
use capeval_text::{Sentences, Vocabulary};
use rayon::prelude::*;

use crate::progress::{Progress, Stage};
use crate::references::{ReferenceSet, View, read};
use crate::run::{System, check, compare};

/// Segments that a thread takes at a time.
const CHUNK: usize = 64;

/// An explanation, and what it is about.
pub struct About {
    /// The system, as an index into those given.
    pub system: usize,
    /// The metric, as an index into those given.
    pub metric: usize,
    /// The image, as an index into the references.
    pub image: u32,
}

/// Explains the scores that `systems` get by `metrics` for the images `chosen`, which ascend.
///
/// All images of a system take part in what metrics learn from the references, so the values are those of
/// [`evaluate`](crate::evaluate()). Explanations are large: `keep` is given each one as it is made, on any thread,
/// and says what is kept of it. The result holds, system by system and metric by metric, what was kept of the
/// chosen images that the system describes, in their order.
///
/// # Panics
/// When a system's images are not ascending indices of `references`, one for each caption.
pub fn explain<T: Send>(
    references: &mut ReferenceSet,
    systems: &[System],
    metrics: &[AnyMetric],
    chosen: &[u32],
    progress: &dyn Progress,
    keep: impl Fn(About, Explanation) -> T + Sync,
) -> Vec<Vec<Vec<T>>> {
    check(references, systems);
    references.prepare(metrics.iter().map(AnyMetric::input));
    let mut kept: Vec<Vec<Vec<T>>> =
        systems.iter().map(|_| metrics.iter().map(|_| Vec::new()).collect()).collect();
    for view in &references.views {
        let mine: Vec<usize> =
            (0..metrics.len()).filter(|m| metrics[*m].input().reading == view.reading).collect();
        if mine.is_empty() {
            continue;
        }
        let mut vocabulary = Vocabulary::over(Arc::clone(&view.vocabulary));
        let read_all: Vec<Sentences> =
            systems.iter().map(|system| read(view.reading, &system.texts, None, &mut vocabulary)).collect();
        for (s, (system, sentences)) in systems.iter().zip(&read_all).enumerate() {
            let job = Job { set: references, view, vocabulary: &vocabulary, system, sentences };
            let about = |metric: usize, image: u32| About { system: s, metric, image };
            let rows = job.explain(metrics, &mine, chosen, progress, |metric, image, explanation| {
                keep(about(metric, image), explanation)
            });
            for of_image in rows {
                for (m, value) in mine.iter().zip(of_image) {
                    kept[s][*m].push(value);
                }
            }
        }
    }
    kept
}

/// One system in one reading.
struct Job<'a> {
    set: &'a ReferenceSet,
    view: &'a View,
    vocabulary: &'a Vocabulary,
    system: &'a System,
    sentences: &'a Sentences,
}

impl Job<'_> {
    /// What is kept of each chosen image, metric by metric.
    fn explain<T: Send>(
        &self,
        metrics: &[AnyMetric],
        mine: &[usize],
        chosen: &[u32],
        progress: &dyn Progress,
        keep: impl Fn(usize, u32, Explanation) -> T + Sync,
    ) -> Vec<Vec<T>> {
        let Self { set, view, vocabulary, system, sentences } = self;
        let own_counts = OnceLock::new();
        let counts = if system.images.len() == set.n_images() { &view.counts } else { &own_counts };
        let references = view.references(set, vocabulary, &system.images, counts);
        let fitted: Vec<Fitted<'_>> = mine.iter().map(|m| metrics[*m].fit(&references)).collect();
        let order = mine.iter().map(|m| metrics[*m].input().ngrams).max().unwrap_or(0);
        let candidates = Candidates { texts: &system.texts, sentences };
        let places: Vec<usize> =
            chosen.iter().filter_map(|image| system.images.binary_search(image).ok()).collect();
        progress.begin(Stage::Measuring, places.len());
        let chunks: Vec<Vec<Vec<T>>> = places
            .par_chunks(CHUNK)
            .map_init(
                || (Segments::default(), fitted.iter().map(Fitted::worker).collect::<Vec<_>>()),
                |(segments, workers), places| {
                    let images: Vec<u32> = places.iter().map(|k| system.images[*k]).collect();
                    if order > 0 {
                        compare(&references, &images, |at| sentences.words(places[at]), order, segments);
                    }
                    progress.advance(places.len());
                    places
                        .iter()
                        .zip(&images)
                        .enumerate()
                        .map(|(at, (k, image))| {
                            let ngrams = (order > 0).then(|| segments.get(at));
                            let segment = Segment::new(references, candidates, *image as usize, *k, ngrams);
                            let each = workers.iter_mut().zip(mine);
                            each.map(|(worker, m)| keep(*m, *image, worker.explain(&segment))).collect()
                        })
                        .collect()
                },
            )
            .collect();
        chunks.into_iter().flatten().collect()
    }
}
