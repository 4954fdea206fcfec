//! Collects all images with their texts, for a page, and explains their scores when it is written.

use std::ops::Range;
use std::sync::Arc;

use capeval_evaluate::{Sessions, System};
use capeval_report::{Captions, Evidence, Explain, Gallery, Shapes};

use crate::aligned::AlignedReferences;

/// The sessions that systems were scored with.
pub(crate) struct Scene {
    pub references: Arc<AlignedReferences>,
    pub systems: Vec<System>,
    pub sessions: Sessions,
}

/// The images of a gallery, and what they were scored with.
struct Explainer {
    images: Vec<u32>,
    scene: Scene,
}

impl Explain for Explainer {
    fn evidence(&self, images: Range<usize>, shapes: &mut Shapes) -> Vec<Vec<Vec<Evidence>>> {
        let Scene { references, systems, sessions } = &self.scene;
        let chosen = self.images.get(images).unwrap_or_default();
        sessions.explain(&references.set, systems, chosen, |explanation| Evidence::of(&explanation, shapes))
    }
}

/// The data that a page shows for every image on which one of the systems was scored.
pub(crate) fn gallery(scene: Scene) -> Gallery {
    let Scene { references, systems, .. } = &scene;
    let mut images: Vec<u32> = systems.iter().flat_map(|system| system.images.iter().copied()).collect();
    images.sort_unstable();
    images.dedup();
    let place = |image: &u32| images.binary_search(image).ok().and_then(|at| u32::try_from(at).ok());
    let captions = systems.iter().enumerate().map(|(number, system)| Captions {
        system: number,
        images: system.images.iter().filter_map(place).collect(),
        texts: (0..system.texts.len()).map(|k| system.texts.get(k).to_owned()).collect(),
    });
    Gallery {
        ids: images.iter().filter_map(|image| references.id(*image)).cloned().collect(),
        references: images
            .iter()
            .map(|image| references.set.of(*image as usize).map(str::to_owned).collect())
            .collect(),
        systems: captions.collect(),
        held_out: Vec::new(),
        explainer: Arc::new(Explainer { images, scene }),
    }
}
