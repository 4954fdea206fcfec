//! The common part of all drivers: fits metrics with the same reading together, and visits candidates with their
//! references.

use std::cell::Cell;
use std::sync::Arc;

use capeval_metric::{AnyMetric, Candidates, Fitted, Input, Reading, References, Segment};
use capeval_text::ngrams::Segments;
use capeval_text::{Sentences, Vocabulary};

use crate::progress::{Progress, Stage};
use crate::references::{ReferenceSet, View, read};
use crate::run::System;
use crate::sequence::Sequence;

thread_local! {
    /// The buffers of a thread between two visits, no larger than one chunk needs: mapping fresh memory takes longer
    /// than measuring a small batch.
    static IDLE: Cell<Segments> = Cell::default();
}

/// Metrics with the same reading.
pub(crate) struct Group<'v> {
    pub view: &'v View,
    /// The combined input that they need.
    pub input: Input,
    /// The indices of these metrics.
    pub members: Vec<usize>,
}

/// Groups metrics by reading. Each metric is given by its index and the input that it needs, which must be prepared.
pub(crate) fn groups(
    references: &ReferenceSet,
    inputs: impl Iterator<Item = (usize, Input)> + Clone,
) -> Vec<Group<'_>> {
    let views = references.views.iter().filter_map(|view| {
        let mine = inputs.clone().filter(|(_, input)| input.reading == view.reading);
        let members = mine.clone().map(|(m, _)| m).collect();
        let input = mine.map(|(_, input)| input).reduce(Input::and)?;
        Some(Group { view, input, members })
    });
    views.collect()
}

/// Metrics with the same reading, fitted to the references of the images that one system describes.
pub(crate) struct Session<'s> {
    pub references: References<'s>,
    /// The combined input that the metrics need.
    pub input: Input,
    /// The indices of these metrics.
    pub members: &'s [usize],
    /// The fitted metrics.
    pub fitted: Vec<Fitted>,
}

/// Calls `work` for each system in each reading that `metrics` need, with the index of the system and its captions.
///
/// Systems that describe the same images share fitted metrics.
///
/// # Panics
/// When a system's images are not ascending indices of `references`, one per caption.
pub(crate) fn for_each_system(
    references: &mut ReferenceSet,
    systems: &[System],
    metrics: &[AnyMetric],
    progress: &dyn Progress,
    mut work: impl FnMut(&Session<'_>, usize, Candidates<'_>),
) {
    for system in systems {
        assert!(system.images.is_sorted_by(|a, b| a < b) && system.images.len() == system.texts.len());
        assert!(system.images.last().is_none_or(|last| (*last as usize) < references.n_images()));
    }
    progress.begin(Stage::Reading, references.n_references());
    references.prepare(metrics.iter().map(AnyMetric::input));
    progress.advance(references.n_references());
    let set = &*references;
    for Group { view, input, members } in groups(set, metrics.iter().map(AnyMetric::input).enumerate()) {
        let mut vocabulary = Vocabulary::over(Arc::clone(&view.vocabulary));
        let read_all: Vec<Sentences> = systems
            .iter()
            .map(|system| read_candidates(input.reading, system, set, &mut vocabulary))
            .collect();
        let mut done = vec![false; systems.len()];
        for first in 0..systems.len() {
            if done[first] {
                continue;
            }
            let images = &systems[first].images;
            progress.begin(Stage::Fitting, images.len());
            let of_images = view.of_images(set, images, &mut vocabulary);
            let view = of_images.as_ref().unwrap_or(view);
            let counted = view.counted(set, images, input);
            let references = view.references(set, &vocabulary, images, &counted);
            let fitted = members.iter().map(|m| metrics[*m].fit(&references)).collect();
            progress.advance(images.len());
            let session = Session { references, input, members: &members, fitted };
            for (k, system) in systems.iter().enumerate().skip(first) {
                if system.images == *images {
                    done[k] = true;
                    let candidates = Candidates { texts: &system.texts, sentences: &read_all[k] };
                    work(&session, k, candidates);
                }
            }
        }
    }
}

/// Reads the captions of a system in the order of the images.
fn read_candidates(
    reading: Reading,
    system: &System,
    references: &ReferenceSet,
    vocabulary: &mut Vocabulary,
) -> Sentences {
    let sequence = Sequence::of_candidates(&references.order, &system.images);
    read(reading, &system.texts, &sequence, vocabulary)
}

/// Visits candidates with their references: `place(at)` is the index of the candidate that describes `images[at]`.
///
/// All candidates are compared with their references before the first one is visited, since many look-ups together take
/// less time than one by one; pass one chunk at a time.
pub(crate) fn visit(
    references: &References<'_>,
    input: Input,
    candidates: Candidates<'_>,
    images: &[u32],
    place: impl Fn(usize) -> usize,
    mut each: impl FnMut(usize, &Segment<'_>),
) {
    let mut segments = IDLE.take();
    segments.clear();
    if input.ngrams > 0 {
        for (at, image) in images.iter().enumerate() {
            let words = candidates.sentences.words(place(at));
            segments.push(words, &references.ngrams_of(*image as usize), input.ngrams);
        }
    }
    if let Some(counts) = references.frequencies {
        segments.look_up(counts, |at| references.ngrams_of(images[at] as usize).of_entries(counts.entries()));
    }
    for (at, image) in images.iter().enumerate() {
        let ngrams = (input.ngrams > 0).then(|| segments.get(at));
        each(at, &Segment::new(*references, candidates, *image as usize, place(at), ngrams));
    }
    IDLE.set(segments);
}
