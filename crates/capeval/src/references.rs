//! References from captions or from a file of prepared references.

use std::borrow::Cow;
use std::collections::HashMap;

use capeval_choice::{Argument, Remedy, Task};
use capeval_corpus::{Aligned, Captions, GroupedCaptions, Ids, ImageIndex, SegmentId};
use capeval_evaluate::prepared::Source;
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Prepared, Progress, ReferenceSet, Stage};
use capeval_metric::AnyMetric;
use capeval_text::Texts;

use crate::restrict::Subset;
use crate::{Error, PrepareOptions, select_metrics};

/// The references of a [`ScoreRequest`](crate::ScoreRequest).
#[derive(Clone)]
pub enum ReferenceSource {
    /// Captions.
    Captions(Captions),
    /// Prepared references.
    Prepared {
        /// The references.
        prepared: Box<Prepared>,
        /// The display name of their source, for errors.
        source: String,
    },
}

impl From<Captions> for ReferenceSource {
    fn from(captions: Captions) -> Self {
        Self::Captions(captions)
    }
}

impl ReferenceSource {
    /// The display name of their source.
    pub fn source(&self) -> &str {
        match self {
            Self::Captions(captions) => captions.source(),
            Self::Prepared { source, .. } => source,
        }
    }

    /// The captions; `None` if they are prepared.
    pub(crate) fn captions(&self) -> Option<&Captions> {
        match self {
            Self::Captions(captions) => Some(captions),
            Self::Prepared { .. } => None,
        }
    }

    /// All references as captions.
    pub(crate) fn to_captions(&self) -> Result<Cow<'_, Captions>, Error> {
        let (prepared, source) = match self {
            Self::Captions(captions) => return Ok(Cow::Borrowed(captions)),
            Self::Prepared { prepared, source } => (prepared, source),
        };
        let mut captions = Captions::new(source.as_str());
        let (ids, references) = (&prepared.ids, all(prepared, source)?);
        for image in references.order() {
            captions.declare(ids[image as usize].clone());
        }
        for (image, id) in ids.iter().enumerate() {
            references.of(image).for_each(|text| captions.push(id.clone(), text));
        }
        Ok(Cow::Owned(captions))
    }

    /// The ids of their images; for captions, one id per caption.
    pub(crate) fn ids(&self) -> &[SegmentId] {
        match self {
            Self::Captions(captions) => captions.ids(),
            Self::Prepared { prepared, .. } => &prepared.ids,
        }
    }
}

/// References by the id of their image, for rows that come one by one.
pub struct ReferenceLookup {
    places: HashMap<SegmentId, u32>,
    set: ReferenceSet,
}

impl ReferenceLookup {
    /// Reads references.
    pub fn new(references: ReferenceSource) -> Result<Self, Error> {
        let (ids, set) = match references {
            ReferenceSource::Captions(captions) => whole(captions, Ids::AsGiven)?,
            ReferenceSource::Prepared { prepared, source } => {
                let set = all(&prepared, &source)?;
                (prepared.ids, set)
            }
        };
        Ok(Self { places: ids.into_iter().zip(0..).collect(), set })
    }

    /// The references of an image; none if it is unknown.
    pub fn of(&self, id: &SegmentId) -> impl Iterator<Item = &str> {
        let place = self.places.get(id);
        place.into_iter().flat_map(|place| self.set.of(*place as usize))
    }
}

/// References to prepare, and the metrics to prepare them for.
pub struct PrepareRequest<'p> {
    /// The references.
    pub references: Captions,
    /// The files that the references come from; the result is out of date if one of them changes.
    pub sources: Vec<Source>,
    /// The options.
    pub options: PrepareOptions,
    /// Tables and third-party data for metrics that use them.
    pub resources: Resources,
    /// Receives progress reports for each reading of the references.
    pub progress: &'p dyn Progress,
}

/// Reads and tokenizes references once, for many runs.
///
/// [`Prepared::write`] stores the result, and [`Prepared::open`] opens it without a copy.
pub fn prepare(request: PrepareRequest<'_>) -> Result<Prepared, Error> {
    let PrepareRequest { references, sources, options, resources, progress } = request;
    let metrics = select_metrics(&options.metrics, &resources)?.metrics;
    let (ids, mut references) = whole(references, options.ids)?;
    let n = references.n_references();
    progress.begin(Stage::Reading, n * metrics.len());
    for metric in &metrics {
        references.prepare([metric.input()]);
        progress.advance(n);
    }
    references.remember(&metrics, progress);
    Ok(Prepared::new(ids, references, sources))
}

/// All prepared references; `source` is their display name.
pub(crate) fn all(prepared: &Prepared, source: &str) -> Result<ReferenceSet, Error> {
    prepared.references().map_err(|error| damaged(source, &error))
}

fn damaged(source: &str, error: &dyn std::fmt::Display) -> Error {
    Error::with_remedy(format!("{source}: {error}"), Remedy::run(Task::Prepare))
}

/// All references with the ids of their images.
pub(crate) fn whole(references: Captions, ids: Ids) -> Result<(Vec<SegmentId>, ReferenceSet), Error> {
    let grouped = GroupedCaptions::new(references, ids)?;
    let all: Vec<u32> = (0..grouped.len() as u32).collect();
    let set = gather(&grouped, &all);
    Ok((grouped.index().ids().to_vec(), set))
}

/// References that candidates can be aligned with.
pub(crate) enum ReferenceIndex {
    Captions(GroupedCaptions),
    Prepared {
        /// The images to align with.
        index: ImageIndex,
        /// The index of each of these images in the prepared references.
        place: Vec<u32>,
        prepared: Prepared,
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
    pub fn gather(self, aligned: &[Aligned], metrics: &[AnyMetric]) -> Result<AlignedReferences, Error> {
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
                (gather(&grouped, &images), grouped.into_index(), n_references)
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

/// The references of `images`, which must be ascending.
fn gather(grouped: &GroupedCaptions, images: &[u32]) -> ReferenceSet {
    let mut end = 0;
    let ends = images.iter().map(|image| {
        end += grouped.rows(*image as usize).len() as u64;
        end
    });
    let ends = ends.collect();
    let texts = images.iter().flat_map(|image| grouped.texts(*image as usize));
    let set = ReferenceSet::new(Texts::of(texts), ends);
    let places = grouped.order().into_iter().filter_map(|image| images.binary_search(&image).ok());
    set.in_order(places.map(|place| place as u32).collect())
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

    /// The entry of `set` with this id; `None` if there is none.
    pub fn find(&self, id: &SegmentId) -> Option<u32> {
        self.place.get(self.index.find(id)?).copied().filter(|place| *place != u32::MAX)
    }

    /// How ids are compared.
    pub fn ids(&self) -> Ids {
        self.index.comparison()
    }

    /// The id of an entry of `set`.
    pub fn id(&self, image: u32) -> Option<&SegmentId> {
        self.images.get(image as usize).and_then(|image| self.index.id(*image as usize))
    }
}
