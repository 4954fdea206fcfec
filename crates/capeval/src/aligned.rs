//! The references that systems are aligned with, and those that the engine takes.

use capeval_choice::{Argument, Remedy};
use capeval_corpus::{Alignment, GroupedCaptions, Ids, ImageIndex, SegmentId};
use capeval_evaluate::{PreparedReferences, ReferenceSet};
use capeval_metric::AnyMetric;
use capeval_text::Texts;

use crate::Error;
use crate::references::{ReferenceSource, damaged, gather};
use crate::restrict::Subset;

/// References that candidates can be aligned with.
pub(crate) enum ReferenceIndex {
    Captions(GroupedCaptions),
    Prepared {
        /// The images to align with.
        index: ImageIndex,
        /// The index of each of these images in the prepared references.
        place: Vec<u32>,
        prepared: PreparedReferences,
    },
}

impl ReferenceIndex {
    pub fn new(references: ReferenceSource, subset: Option<&Subset>, ids: Ids) -> Result<Self, Error> {
        match (references, subset) {
            (ReferenceSource::Captions(captions), None) => {
                Ok(Self::Captions(GroupedCaptions::new(captions, ids)?))
            }
            (ReferenceSource::Captions(captions), Some(subset)) => {
                Ok(Self::Captions(GroupedCaptions::new(subset.of(&captions), ids)?))
            }
            (ReferenceSource::Prepared { prepared, source }, subset) => {
                let mut prepared = *prepared;
                let mut taken = std::mem::take(&mut prepared.ids);
                let mut place: Vec<u32> = (0..taken.len() as u32).collect();
                if let Some(subset) = subset {
                    place.retain(|image| subset.has(&taken[*image as usize]));
                    taken.retain(|id| subset.has(id));
                }
                let index = ImageIndex::of(source, taken, ids)?;
                if index.len() != place.len() {
                    let source = index.source();
                    return Err(Error::with_remedy(
                        format!("{source}: some images have an id that is both a number and a string"),
                        Remedy::set(Argument::Ids, "as-given")
                            .or(Remedy::set(Argument::Ids, "text").to("prepare the references again")),
                    ));
                }
                Ok(Self::Prepared { index, place, prepared })
            }
        }
    }

    pub fn images(&self) -> &ImageIndex {
        match self {
            Self::Captions(grouped) => grouped.index(),
            Self::Prepared { index, .. } => index,
        }
    }

    /// The references as captions; `None` if they are prepared.
    pub fn grouped(&self) -> Option<&GroupedCaptions> {
        match self {
            Self::Captions(grouped) => Some(grouped),
            Self::Prepared { .. } => None,
        }
    }

    /// Collects the references that the aligned systems need, for `metrics`.
    pub fn gather(self, aligned: &[Alignment], metrics: &[AnyMetric]) -> Result<AlignedReferences, Error> {
        let n_images = self.images().len();
        let mut taken = vec![false; n_images];
        for pair in aligned.iter().flat_map(|aligned| &aligned.pairs) {
            if let Some(taken) = taken.get_mut(pair.image as usize) {
                *taken = true;
            }
        }
        let taken = (0_u32..).zip(&taken).filter(|(_, taken)| **taken).map(|(image, _)| image);
        let mut images: Vec<u32> = taken.collect();
        let (set, index, n_references) = match self {
            Self::Captions(grouped) => {
                let n_references = grouped.captions().len();
                let (set, index) = gather(grouped, &images);
                (set, index, n_references)
            }
            Self::Prepared { index, place, prepared } => {
                let stored: Vec<u32> = images.iter().map(|image| place[*image as usize]).collect();
                let inputs: Vec<_> = metrics.iter().map(AnyMetric::input).collect();
                let some = prepared.references_of(&stored, &inputs);
                let set = match some.map_err(|error| damaged(index.source(), &error))? {
                    Some(set) => set,
                    None => {
                        images = vec![u32::MAX; prepared.n_images()];
                        for (image, place) in (0_u32..).zip(&place) {
                            if let Some(slot) = images.get_mut(*place as usize) {
                                *slot = image;
                            }
                        }
                        let all = prepared.references_for(&inputs);
                        all.map_err(|error| damaged(index.source(), &error))?
                    }
                };
                let n_references = prepared.n_references(place);
                (set, index, n_references)
            }
        };
        let mut place = vec![u32::MAX; n_images];
        for (at, image) in (0_u32..).zip(&images) {
            if let Some(place) = place.get_mut(*image as usize) {
                *place = at;
            }
        }
        Ok(AlignedReferences { set, index, place, images, n_images, n_references })
    }
}

/// The references in the form that the engine takes, and the mapping of images.
pub(crate) struct AlignedReferences {
    pub set: ReferenceSet,
    index: ImageIndex,
    /// The position in `set` of each image of the index.
    pub place: Vec<u32>,
    /// The number in the index of the image of each entry of `set`.
    images: Vec<u32>,
    /// The number of images with references.
    pub n_images: usize,
    /// The number of references.
    pub n_references: usize,
}

impl AlignedReferences {
    /// References of all images of `index`, in its order.
    pub fn whole(set: ReferenceSet, index: ImageIndex) -> Self {
        let (n_images, n_references) = (set.n_images(), set.n_references());
        let images: Vec<u32> = (0..n_images as u32).collect();
        Self { set, index, place: images.clone(), images, n_images, n_references }
    }

    /// The same images, without the texts that stand for them.
    pub fn without_texts(self) -> Self {
        let ends = vec![0; self.set.n_images()];
        Self { set: ReferenceSet::new(Texts::default(), ends), n_references: 0, ..self }
    }

    /// The entry of `set` with this id; `None` if there is none.
    pub fn find(&self, id: &SegmentId) -> Option<u32> {
        self.place.get(self.index.find(id)?).copied().filter(|place| *place != u32::MAX)
    }

    /// Every `step`-th reference of these entries of `set`, with its id; the others are not looked at.
    pub fn every(&self, step: usize, images: &[u32]) -> Vec<(&SegmentId, &str)> {
        let (mut every, mut next) = (Vec::new(), 0);
        for image in images {
            let texts = self.set.of(*image as usize);
            let n = texts.len();
            if next < n
                && let Some(id) = self.id(*image)
            {
                let taken = texts.skip(next).step_by(step);
                next += taken.len() * step;
                every.extend(taken.map(|text| (id, text)));
            }
            next = next.saturating_sub(n);
        }
        every
    }

    /// The way to compare ids.
    pub fn ids(&self) -> Ids {
        self.index.comparison()
    }

    /// The ids of all entries of `set`, and the way to compare them.
    pub fn known(&self) -> (Vec<SegmentId>, Ids) {
        let ids = (0..self.images.len() as u32).filter_map(|image| self.id(image).cloned());
        (ids.collect(), self.ids())
    }

    /// The id of an entry of `set`.
    pub fn id(&self, image: u32) -> Option<&SegmentId> {
        self.images.get(image as usize).and_then(|image| self.index.id(*image as usize))
    }
}
