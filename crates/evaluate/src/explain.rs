//! How scores of single images came to be.

use capeval_metric::{AnyMetric, Explanation, Fitted, Worker};
use rayon::prelude::*;

use crate::progress::{Progress, Stage};
use crate::references::ReferenceSet;
use crate::run::System;
use crate::session::{for_each_system, visit};

/// Segments that a thread takes at a time.
const CHUNK: usize = 64;

/// Which score an explanation explains.
pub struct ScoreOf {
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
/// and returns what to keep of it. The result holds, system by system and metric by metric, what was kept of the
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
    keep: impl Fn(ScoreOf, Explanation) -> T + Sync,
) -> Vec<Vec<Vec<T>>> {
    let mut kept: Vec<Vec<Vec<T>>> =
        systems.iter().map(|_| metrics.iter().map(|_| Vec::new()).collect()).collect();
    for_each_system(references, systems, metrics, progress, |session, s, candidates| {
        let of_system = session.references.images;
        let (places, images): (Vec<usize>, Vec<u32>) =
            chosen.iter().filter_map(|image| Some((of_system.binary_search(image).ok()?, image))).unzip();
        progress.begin(Stage::Measuring, images.len());
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
