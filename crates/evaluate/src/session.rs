//! What every driver does: metrics that read text alike are fitted together, and candidates are visited beside their
//! references.

use std::cell::Cell;
use std::sync::Arc;

use capeval_metric::{AnyMetric, Candidates, Fitted, Input, References, Segment};
use capeval_text::ngrams::Segments;
use capeval_text::{Sentences, Vocabulary};

use crate::progress::{Progress, Stage};
use crate::references::{ReferenceSet, View, read};
use crate::run::System;

thread_local! {
    /// A thread's buffers between two visits, no larger than one chunk needs: fresh memory takes the system longer
    /// to map than a small batch takes to measure.
    static IDLE: Cell<Segments> = Cell::default();
}

/// Metrics that read text alike.
pub(crate) struct Group<'v> {
    pub view: &'v View,
    /// What they need to see together.
    pub input: Input,
    /// Which of the metrics they are.
    pub members: Vec<usize>,
}

/// The metrics by how they read text, each given by its number and what it needs to see, which must be prepared.
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

/// Metrics that read text alike, fitted to the references of the images that one system describes.
pub(crate) struct Session<'s> {
    pub references: References<'s>,
    /// What the metrics need to see together.
    pub input: Input,
    /// Which of the metrics they are.
    pub members: &'s [usize],
    /// As they are fitted.
    pub fitted: Vec<Fitted>,
}

/// Calls `work` for each system in each reading that `metrics` need, with the system's number and its captions.
///
/// Systems that describe the same images share what metrics learn from them.
///
/// # Panics
/// When a system's images are not ascending indices of `references`, one for each caption.
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
        let read_all: Vec<Sentences> =
            systems.iter().map(|system| read(input.reading, &system.texts, None, &mut vocabulary)).collect();
        let mut done = vec![false; systems.len()];
        for first in 0..systems.len() {
            if done[first] {
                continue;
            }
            let images = &systems[first].images;
            progress.begin(Stage::Fitting, images.len());
            let frequencies = if input.frequencies { view.frequencies(set, images) } else { None };
            let references = view.references(set, &vocabulary, images, frequencies.as_ref());
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

/// Visits candidates beside their references: `place(at)` is the number of the candidate that describes `images[at]`.
///
/// They are compared with their references before the first is visited, since many look-ups at once take less time
/// than one after the other; give a chunk at a time.
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
        segments.look_up(counts, |at| {
            let image = images[at] as usize;
            let (nodes, frequencies) = counts.entries(references.ngrams().shard_of(image));
            let first = references.ngrams_of(image).first_entry();
            (&nodes[first..], &frequencies[first..])
        });
    }
    for (at, image) in images.iter().enumerate() {
        let ngrams = (input.ngrams > 0).then(|| segments.get(at));
        each(at, &Segment::new(*references, candidates, *image as usize, place(at), ngrams));
    }
    IDLE.set(segments);
}
