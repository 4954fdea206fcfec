//! References from captions or from a file of prepared references.

use std::borrow::Cow;
use std::collections::HashMap;

use capeval_choice::{Argument, Remedy, Task};
use capeval_corpus::{Captions, GroupedCaptions, Ids, ImageIndex, SegmentId, identify};
use capeval_evaluate::prepared::Source;
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{PreparedReferences, Progress, ReferenceSet, Stage};
use capeval_text::Texts;
use serde::{Deserialize, Serialize};

use crate::{Cleaning, Error, PrepareOptions, Removal, not_captions, outside, select_metrics};

/// The references of a [`ScoreRequest`](crate::ScoreRequest).
#[derive(Clone)]
pub enum ReferenceSource {
    /// Captions.
    Captions(Captions),
    /// Prepared references.
    Prepared {
        /// The references.
        prepared: Box<PreparedReferences>,
        /// The display name of their source, for errors.
        source: String,
    },
}

impl Default for ReferenceSource {
    fn default() -> Self {
        Self::Captions(Captions::new(""))
    }
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
    pub fn captions(&self) -> Option<&Captions> {
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
            ReferenceSource::Captions(mut captions) => {
                identify(&mut captions)?;
                whole(captions, Ids::AsGiven)?
            }
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
/// [`PreparedReferences::write`] stores the result, and [`PreparedReferences::open`] opens it without a copy. The
/// options are its note.
pub fn prepare(request: PrepareRequest<'_>) -> Result<PreparedReferences, Error> {
    let PrepareRequest { references, sources, options, resources, progress } = request;
    // The others read references as they are written.
    let metrics = outside::inside(select_metrics(&options.metrics, &resources)?.metrics, &resources);
    let mut references = references;
    identify(&mut references)?;
    let cleaned = not_captions::clean(&mut references, &options.clean, &[]);
    let (ids, mut references) = whole(references, options.ids)?;
    let n = references.n_references();
    progress.begin(Stage::Reading, n * metrics.len());
    for metric in &metrics {
        references.prepare([metric.input()]);
        progress.advance(n);
    }
    references.remember(&metrics, progress);
    let mut prepared = PreparedReferences::new(ids, references, sources);
    let note = Note { options, cleaned };
    prepared.note = serde_json::to_vec(&note).map_err(|error| Error::request(error.to_string()))?;
    Ok(prepared)
}

/// The note of prepared references.
#[derive(Serialize)]
struct Note {
    #[serde(flatten)]
    options: PrepareOptions,
    cleaned: Vec<Removal>,
}

/// What was removed from references when they were prepared, as their note says it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PreparedCleaning {
    /// The kinds of text.
    pub clean: Vec<Cleaning>,
    /// How many references had them.
    pub cleaned: Vec<Removal>,
}

impl PreparedCleaning {
    /// Reads the note of prepared references, whose first line is an object; others may have added to it.
    pub fn of(prepared: &PreparedReferences) -> Self {
        let line = prepared.note.split(|byte| *byte == b'\n').next().unwrap_or_default();
        serde_json::from_slice(line).unwrap_or_default()
    }

    /// The kinds to remove from captions that are compared with these references, the same ones.
    ///
    /// # Errors
    /// When `asked` are others.
    pub(crate) fn kinds(&self, asked: &[Cleaning], source: &str) -> Result<Vec<Cleaning>, Error> {
        let sorted = |kinds: &[Cleaning]| {
            let mut kinds = kinds.to_vec();
            kinds.sort_unstable();
            kinds.dedup();
            kinds
        };
        let (own, asked) = (sorted(&self.clean), sorted(asked));
        if asked.is_empty() || asked == own {
            return Ok(own);
        }
        let listed = |kinds: &[Cleaning]| {
            let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            names.join(",")
        };
        let of_file = match own.is_empty() {
            true => "nothing".to_owned(),
            false => listed(&own),
        };
        let again = Remedy::run(Task::PrepareCleaned(listed(&asked)));
        let remedy = match own.is_empty() {
            true => again.or(Remedy::omit(Argument::Clean)),
            false => {
                again.or(Remedy::set(Argument::Clean, listed(&own)).to("clean captions as the references"))
            }
        };
        let message =
            format!("{source}: {of_file} was removed from these references when they were prepared");
        Err(Error::with_remedy(message, remedy))
    }
}

/// All prepared references; `source` is their display name.
pub(crate) fn all(prepared: &PreparedReferences, source: &str) -> Result<ReferenceSet, Error> {
    prepared.references().map_err(|error| damaged(source, &error))
}

pub(crate) fn damaged(source: &str, error: &dyn std::fmt::Display) -> Error {
    Error::with_remedy(format!("{source}: {error}"), Remedy::run(Task::Prepare))
}

/// All references with the ids of their images.
pub(crate) fn whole(references: Captions, ids: Ids) -> Result<(Vec<SegmentId>, ReferenceSet), Error> {
    let grouped = GroupedCaptions::new(references, ids)?;
    let all: Vec<u32> = (0..grouped.len() as u32).collect();
    let (set, index) = gather(grouped, &all);
    Ok((index.ids().to_vec(), set))
}

/// The references of `images`, which must be ascending, and all images.
pub(crate) fn gather(grouped: GroupedCaptions, images: &[u32]) -> (ReferenceSet, ImageIndex) {
    let mut end = 0;
    let ends = images.iter().map(|image| {
        end += grouped.rows(*image as usize).len() as u64;
        end
    });
    let ends = ends.collect();
    let order = grouped.order().into_iter().filter_map(|image| images.binary_search(&image).ok());
    let order = order.map(|place| place as u32).collect();
    let (texts, index) = if images.len() == grouped.len() && grouped.is_in_order() {
        let (index, captions) = grouped.into_parts();
        (all_texts(captions), index)
    } else {
        let texts = images.iter().flat_map(|image| grouped.texts(*image as usize));
        (Texts::of(texts), grouped.into_parts().0)
    };
    (ReferenceSet::new(texts, ends).in_order(order), index)
}

/// The texts of all rows, which are not copied.
pub(crate) fn all_texts(captions: Captions) -> Texts {
    let (texts, ends) = captions.into_texts();
    Texts::from_parts(texts.into_bytes().into(), ends.into()).expect("captions end between characters")
}
