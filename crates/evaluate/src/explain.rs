//! Explains the scores of single images.

use capeval_metric::{AnyMetric, Explanation, Fitted, Worker};
use rayon::prelude::*;

use crate::progress::{Progress, Stage};
use crate::references::ReferenceSet;
use crate::run::System;
use crate::session::{for_each_system, visit};

/// The number of segments per chunk of work.
const CHUNK: usize = 64;

/// The score that an explanation explains.
pub struct ScoreOf {
    /// The index of the system.
    pub system: usize,
    /// The index of the metric.
    pub metric: usize,
    /// The index of the image among the references.
    pub image: u32,
}

/// Explains the scores of `systems` by `metrics` for the images `chosen`, which must be ascending.
///
/// Metrics are fitted to all images of a system, so the values are those of [`evaluate`](crate::evaluate()).
/// Explanations are large, so each one is passed to `keep`, on any thread, which returns what to keep of it. The result
/// contains, system by system and metric by metric, these values for the chosen images that the system describes, in
/// order.
///
/// # Panics
/// When a system's images are not ascending indices of `references`, one per caption.
pub fn explain<T: Send>(
    references: &mut ReferenceSet,
    systems: &[System],
    metrics: &[AnyMetric],
    chosen: &[u32],
    progress: &dyn Progress,
    keep: impl Fn(ScoreOf, Explanation) -> T + Sync,
) -> Vec<Vec<Vec<T>>> {
    let mut kept: Vec<Vec<Vec<T>>> =
        systems.iter().map(|_| metrics.iter().map(|_| Vec::new()).collect()).collect();
    for_each_system(references, systems, metrics, progress, |session, s, candidates| {
        let of_system = session.references.images;
        let (places, images): (Vec<usize>, Vec<u32>) =
            chosen.iter().filter_map(|image| Some((of_system.binary_search(image).ok()?, image))).unzip();
        progress.begin(Stage::Explaining, images.len());
        let chunks: Vec<Vec<Vec<T>>> = images
            .par_chunks(CHUNK)
            .zip(places.par_chunks(CHUNK))
            .map_init(
                || session.fitted.iter().map(Fitted::worker).collect::<Vec<_>>(),
                |workers, (images, places)| {
                    let mut rows = Vec::with_capacity(images.len());
                    let place = |at: usize| places[at];
                    visit(&session.references, session.input, candidates, images, place, |at, segment| {
                        let explain = |(worker, metric): (&mut Worker<'_>, &usize)| {
                            let score = ScoreOf { system: s, metric: *metric, image: images[at] };
                            keep(score, worker.explain(segment))
                        };
                        rows.push(workers.iter_mut().zip(session.members).map(explain).collect());
                    });
                    progress.advance(images.len());
                    rows
                },
            )
            .collect();
        for of_image in chunks.into_iter().flatten() {
            for (m, value) in session.members.iter().zip(of_image) {
                kept[s][*m].push(value);
            }
        }
    });
    kept
}
