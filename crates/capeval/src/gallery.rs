//! Collects all images with their texts and evidence, for a page.

use capeval_evaluate::{Progress, System};
use capeval_metric::AnyMetric;
use capeval_report::{Captions, Evidence, Gallery, Shapes};

use crate::references::AlignedReferences;

/// The data that a page shows for every image on which one of `systems` was scored.
pub(crate) fn gallery(
    references: &mut AlignedReferences,
    systems: &[System],
    metrics: &[AnyMetric],
    progress: &dyn Progress,
) -> Gallery {
    let mut images: Vec<u32> = systems.iter().flat_map(|system| system.images.iter().copied()).collect();
    images.sort_unstable();
    images.dedup();
    let shapes = Shapes::default();
    let evidence = capeval_evaluate::explain(
        &mut references.set,
        systems,
        metrics,
        &images,
        progress,
        |_, explanation| Evidence::of(&explanation, &shapes),
    );
    let place = |image: &u32| images.binary_search(image).ok().and_then(|at| u32::try_from(at).ok());
    let captions = systems.iter().zip(evidence).map(|(system, evidence)| Captions {
        images: system.images.iter().filter_map(place).collect(),
        texts: (0..system.texts.len()).map(|k| system.texts.get(k).to_owned()).collect(),
        evidence,
    });
    let systems = captions.collect();
    Gallery {
        ids: images.iter().filter_map(|image| references.id(*image)).cloned().collect(),
        references: images
            .iter()
            .map(|image| references.set.of(*image as usize).map(str::to_owned).collect())
            .collect(),
        systems,
        held_out: Vec::new(),
    }
}
