//! Scores small batches against fixed references, by image ids.

use std::collections::HashMap;
use std::sync::Arc;

use capeval_corpus::{Ids, SegmentId, identify};
use capeval_evaluate::{BatchScorer, Progress};
use capeval_lexical::frequencies::DocumentFrequencies;
use capeval_metric::AnyMetric;
use capeval_report::{Measure, MetricEntry};

use crate::document_frequencies::refuse_other_words;
use crate::references::{ReferenceSource, all, whole};
use crate::restrict::normal;
use crate::{Error, measures};

/// Metrics fitted to references, for batches of captions in training loops.
///
/// ```
/// use capeval::corpus::{Captions, Ids, SegmentId};
/// use capeval::text::Texts;
///
/// let mut references = Captions::new("references");
/// for (id, caption) in [(7, "a dog runs"), (7, "the dog ran"), (8, "two cats"), (8, "cats sit")] {
///     references.push(SegmentId::from(id), caption);
/// }
/// let metrics = capeval::metrics(["cider-d", "rouge-l"], &[])?;
/// let scorer = capeval::Scorer::new(references.into(), Ids::default(), metrics, None, &())?;
/// let seven = scorer.image(&SegmentId::from(7)).expect("there is an image 7");
/// let captions: Texts = ["a dog", "a dog runs"].into_iter().collect();
/// let scores = scorer.engine().score(&[seven, seven], &captions);
/// assert!(scores.values[0] < scores.values[2], "CIDEr-D of the second is greater");
/// # Ok::<(), capeval::Error>(())
/// ```
pub struct Scorer {
    engine: BatchScorer,
    ids: Vec<SegmentId>,
    places: HashMap<SegmentId, u32>,
    compare: Ids,
    entries: Vec<MetricEntry>,
    measures: Vec<Measure>,
}

impl Scorer {
    /// Reads and counts `references`, and fits `metrics` to all of them. `table` is the table that the metrics were
    /// built with, if any. `progress` is notified for each metric.
    pub fn new(
        references: ReferenceSource,
        ids: Ids,
        metrics: Vec<AnyMetric>,
        table: Option<&Arc<DocumentFrequencies>>,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let (images, set) = match references {
            ReferenceSource::Captions(mut captions) => {
                identify(&mut captions)?;
                whole(captions, ids)?
            }
            ReferenceSource::Prepared { prepared, source } => {
                let set = all(&prepared, &source)?;
                (prepared.ids, set)
            }
        };
        if let Some(table) = table {
            let texts = (0..set.n_images()).flat_map(|image| set.of(image));
            refuse_other_words(table, &metrics, texts)?;
        }
        let (entries, measures) = measures::entries(&metrics);
        let n_words = table.map_or(0, |table| table.n_words() as u32);
        let words = (0..n_words).filter_map(|number| table.map(|table| table.word(number)));
        let engine = BatchScorer::new(set, metrics, words, progress);
        let places = images.iter().map(|id| normal(id, ids)).zip(0..).collect();
        Ok(Self { engine, ids: images, places, compare: ids, entries, measures })
    }

    /// The engine, which takes images by index.
    pub fn engine(&self) -> &BatchScorer {
        &self.engine
    }

    /// The ids of the images, in the order of their indices.
    pub fn ids(&self) -> &[SegmentId] {
        &self.ids
    }

    /// The index of an image; `None` if it has no references.
    pub fn image(&self, id: &SegmentId) -> Option<u32> {
        self.places.get(&*self.compare.form(id)).copied()
    }

    /// The metrics, with keys that are unique among them.
    pub fn metrics(&self) -> &[MetricEntry] {
        &self.entries
    }

    /// The measures of a caption, in order.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }
}
