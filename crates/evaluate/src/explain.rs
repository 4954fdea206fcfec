//! Explains the scores of single images.

use capeval_metric::{Explanation, FittedMetric};

use crate::references::ReferenceSet;
use crate::session::{ReadingSessions, Session, Sessions, visit};
use crate::system::System;

impl Sessions {
    /// Explains the scores of the images `chosen`, which must be ascending.
    ///
    /// `references` and `systems` must be those that were scored. Explanations are large, so each one is passed to
    /// `keep`, which returns what to keep of it. The result contains, system by system and metric by metric, these
    /// values for the chosen images that the system describes, in order. Everything is done on the calling thread, so
    /// that callers may explain parts of the images in parallel.
    pub fn explain<T>(
        &self,
        references: &ReferenceSet,
        systems: &[System],
        chosen: &[u32],
        mut keep: impl FnMut(Explanation) -> T,
    ) -> Vec<Vec<Vec<T>>> {
        let n_metrics = self.0.iter().map(ReadingSessions::n_metrics).sum();
        let mut kept: Vec<Vec<Vec<T>>> =
            systems.iter().map(|_| (0..n_metrics).map(|_| Vec::new()).collect()).collect();
        for read in &self.0 {
            for (s, (system, kept)) in systems.iter().zip(&mut kept).enumerate() {
                let (places, images): (Vec<usize>, Vec<u32>) = chosen
                    .iter()
                    .filter_map(|image| Some((system.images.binary_search(image).ok()?, image)))
                    .unzip();
                let scene = read.scene(references, systems, s);
                let Session { input, members, fitted, .. } = scene.session;
                let mut workers: Vec<_> = fitted.iter().map(FittedMetric::worker).collect();
                visit(
                    &scene.references,
                    *input,
                    scene.candidates,
                    &images,
                    |at| places[at],
                    |_, segment| {
                        for (worker, m) in workers.iter_mut().zip(members) {
                            kept[*m].push(keep(worker.explain(segment)));
                        }
                    },
                );
            }
        }
        kept
    }
}
