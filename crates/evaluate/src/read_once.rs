//! Captions that are read once, for scoring against several sets of references.

use std::borrow::Cow;
use std::sync::Arc;

use capeval_metric::{AnyMetric, Reading};
use capeval_text::{Sentences, Texts, Vocabulary};

use crate::references::{ReferenceSet, read};
use crate::sequence::Sequence;
use crate::system::System;

/// The captions of systems, which may have been read before the references.
pub struct ReadSystems<'s> {
    pub(crate) systems: Cow<'s, [System]>,
    readings: Vec<ReadCaptions>,
}

/// The captions of each system in one reading.
#[derive(Clone)]
struct ReadCaptions {
    reading: Reading,
    vocabulary: Arc<Vocabulary>,
    sentences: Arc<[Sentences]>,
}

impl<'s> ReadSystems<'s> {
    /// Captions that are yet to be read.
    pub(crate) fn unread(systems: impl Into<Cow<'s, [System]>>) -> Self {
        Self { systems: systems.into(), readings: Vec::new() }
    }

    /// The same captions, borrowed.
    pub(crate) fn borrowed(&self) -> ReadSystems<'_> {
        ReadSystems { systems: Cow::Borrowed(&self.systems), readings: self.readings.clone() }
    }

    /// Frees the texts of systems that no one else has.
    pub(crate) fn forget_texts(&mut self) {
        if let Cow::Owned(systems) = &mut self.systems {
            systems.iter_mut().for_each(|system| system.texts = Texts::blank(system.texts.len()));
        }
    }

    /// Reads captions as `metrics` need them, in the order of the images.
    pub fn new(systems: &'s [System], metrics: &[AnyMetric]) -> Self {
        let mut readings: Vec<ReadCaptions> = Vec::new();
        for reading in metrics.iter().map(|metric| metric.input().reading) {
            if readings.iter().all(|known| known.reading != reading) {
                let mut vocabulary = Vocabulary::default();
                let sentences = read_all(reading, systems, &[], &mut vocabulary);
                readings.push(ReadCaptions { reading, vocabulary: Arc::new(vocabulary), sentences });
            }
        }
        Self { systems: systems.into(), readings }
    }

    /// The vocabulary for references in `reading`, which has the words of captions that were read before.
    pub(crate) fn vocabulary(&self, reading: Reading) -> Vocabulary {
        let known = self.readings.iter().find(|known| known.reading == reading);
        known.map_or_else(Vocabulary::default, |known| Vocabulary::over(Arc::clone(&known.vocabulary)))
    }

    /// The captions of each system in `reading`; those that are read now add their words to `vocabulary`.
    pub(crate) fn sentences(
        &self,
        reading: Reading,
        references: &ReferenceSet,
        vocabulary: &mut Vocabulary,
    ) -> Arc<[Sentences]> {
        match self.readings.iter().find(|known| known.reading == reading) {
            Some(known) => Arc::clone(&known.sentences),
            None => read_all(reading, &self.systems, &references.order, vocabulary),
        }
    }
}

/// Reads the captions of each system in the order of the images.
fn read_all(
    reading: Reading,
    systems: &[System],
    order: &[u32],
    vocabulary: &mut Vocabulary,
) -> Arc<[Sentences]> {
    let of_system = |system: &System| {
        let sequence = Sequence::of_candidates(order, &system.images);
        read(reading, &system.texts, &sequence, vocabulary)
    };
    systems.iter().map(of_system).collect()
}
