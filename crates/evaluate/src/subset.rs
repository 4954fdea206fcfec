//! Scores some of the images as if the others did not exist: what a reference program prints for them alone.
//!
//! Words, n-grams, alignments and scene graphs were made once. Statistics that depend on one image alone are selected;
//! only metrics whose model learns from references, such as CIDEr, are fitted and measured again. The few captions at
//! whose end the tokenizer `ptb` looks at the next one are read again where another now follows, and only images whose
//! tokens change are measured again.

use std::sync::Arc;

use capeval_metric::{AnyMetric, Candidates, Input, Learns};
use capeval_stats::Table;
use capeval_text::{Sentences, Vocabulary};

use crate::references::{ReferenceSet, View, read_some};
use crate::run::{MetricScores, SystemScores, measure, summarise};
use crate::sequence::{Sequence, reads_on};
use crate::session::{Group, ReadingSessions, Scene, Session, Sessions};
use crate::system::System;

impl SystemScores {
    /// The scores of those of `images` that the system describes, from the statistics of a run on all.
    pub fn select(&self, images: &[u32]) -> Self {
        let places = places(&self.images, images);
        let metrics = self.metrics.iter().map(|metric| metric.select(&places));
        Self { name: self.name.clone(), images: at(&self.images, &places), metrics: metrics.collect() }
    }
}

impl MetricScores {
    /// The scores of the segments at these places.
    pub fn select(&self, places: &[usize]) -> Self {
        self.with_table(self.table.select(places))
    }

    /// The scores by the same metric of other statistics.
    fn with_table(&self, table: Table) -> Self {
        let mut corpus = vec![0.0; self.corpus.len()];
        self.metric.score_table(&table, &mut corpus);
        let Self { metric, signature, notices, .. } = self;
        Self { metric: metric.clone(), signature: signature.clone(), notices: notices.clone(), table, corpus }
    }
}

impl Sessions {
    /// The scores of system number `s` on those of `images` that it describes, as if the others did not exist.
    /// `references`, `systems` and `metrics` must be those of the run behind `whole`, and `images` must ascend.
    pub fn evaluate_some(
        &self,
        references: &ReferenceSet,
        (systems, s): (&[System], usize),
        metrics: &[AnyMetric],
        whole: &SystemScores,
        images: &[u32],
    ) -> SystemScores {
        let places = places(&whole.images, images);
        if places.len() == whole.images.len() {
            return whole.select(images);
        }
        let mut scores: Vec<Option<MetricScores>> = metrics.iter().map(|_| None).collect();
        for read in &self.0 {
            let subset = Subset {
                references,
                systems,
                read,
                images: at(&whole.images, &places),
                places: &places,
                scene: read.scene(references, systems, s),
            };
            subset.evaluate(metrics, whole, &mut scores);
        }
        let images = at(&whole.images, &places);
        SystemScores { name: whole.name.clone(), images, metrics: scores.into_iter().flatten().collect() }
    }
}

/// The places in `all` of those of `images` that are there; both ascend.
fn places(all: &[u32], images: &[u32]) -> Vec<usize> {
    images.iter().filter_map(|image| all.binary_search(image).ok()).collect()
}

fn at(images: &[u32], places: &[usize]) -> Vec<u32> {
    places.iter().map(|place| images[*place]).collect()
}

/// Some of the images of a system, in one reading.
struct Subset<'s> {
    references: &'s ReferenceSet,
    systems: &'s [System],
    read: &'s ReadingSessions,
    images: Vec<u32>,
    /// The places of these images among those of the system.
    places: &'s [usize],
    /// The whole system.
    scene: Scene<'s>,
}

impl Subset<'_> {
    /// Sets the scores by the metrics of this reading.
    fn evaluate(&self, metrics: &[AnyMetric], whole: &SystemScores, scores: &mut [Option<MetricScores>]) {
        let Session { reading, members, .. } = self.scene.session;
        let view = self.references.views.iter().find(|view| view.reading == *reading);
        let base = view.expect("read for the whole run");
        let mut vocabulary = Vocabulary::over(Arc::clone(&self.read.vocabulary));
        let (sentences, mut changed) = self.candidates(&mut vocabulary);
        let candidates = Candidates {
            sentences: sentences.as_ref().unwrap_or(self.scene.candidates.sentences),
            ..self.scene.candidates
        };
        let view = base.of_images(self.references, &self.images, &mut vocabulary);
        changed.extend(self.other_references(base, view.as_ref()));
        changed.sort_unstable();
        changed.dedup();
        let learns =
            |m: &usize| matches!(metrics[*m].about().learns, Learns::References | Learns::Everything);
        let (learning, others): (Vec<usize>, Vec<usize>) = members.iter().copied().partition(learns);
        for m in &others {
            scores[*m] = whole.metrics.get(*m).map(|metric| metric.select(self.places));
        }
        let measured = |members: &[usize], among: &[usize]| {
            let Some(input) = combined(members, metrics) else { return Vec::new() };
            let (images, places) = (at(&self.images, among), among.iter().map(|at| self.places[*at]));
            let group = Group { view: base, input, members: members.to_vec() };
            let session = group.session_of(view.clone(), self.references, &images, &vocabulary, metrics);
            let references = session.references(self.references, &vocabulary);
            let scene = Scene { session: &session, references, candidates };
            let places: Vec<usize> = places.collect();
            let of_group = || session.members.iter().map(|m| &metrics[*m]);
            let tables = measure(&scene, of_group(), (&images, Some(&places)), &());
            let fitted = of_group().zip(&session.fitted).zip(tables);
            fitted.map(|((metric, fitted), table)| summarise(metric, fitted, table)).collect()
        };
        let all: Vec<usize> = (0..self.images.len()).collect();
        for (m, alone) in learning.iter().zip(measured(&learning, &all)) {
            scores[*m] = Some(alone);
        }
        if changed.is_empty() {
            return;
        }
        for (m, again) in others.iter().zip(measured(&others, &changed)) {
            if let Some(known) = &scores[*m] {
                let mut table = known.table.clone();
                table.replace(&changed, &again.table);
                scores[*m] = Some(known.with_table(table));
            }
        }
    }

    /// The candidates, if some are read otherwise than among all of the system, and the places of these among the
    /// images.
    fn candidates(&self, vocabulary: &mut Vocabulary) -> (Option<Sentences>, Vec<usize>) {
        let Scene { session: Session { reading, .. }, candidates, .. } = self.scene;
        let sentences = candidates.sentences;
        let open = sentences.open().iter().map(|k| *k as usize);
        let open: Vec<usize> = open.filter(|k| self.places.binary_search(k).is_ok()).collect();
        if open.is_empty() || !reads_on(*reading) {
            return (None, Vec::new());
        }
        let (order, images) = (&self.references.order, &self.systems[candidates.system].images);
        let all = Sequence::of_candidates(order, images);
        let some = Sequence::of_some_candidates(order, images, self.places);
        let is_followed_again = |k: &usize| {
            all.seen_after(*reading, *k, candidates.texts) != some.seen_after(*reading, *k, candidates.texts)
        };
        let places: Vec<usize> = open.into_iter().filter(is_followed_again).collect();
        let reread = read_some(*reading, candidates.texts, places.len(), |j| places[j], &some, vocabulary);
        let is_other = |(j, k): &(usize, &usize)| reread.pieces(*j) != sentences.pieces(**k);
        let other = places.iter().enumerate().filter(is_other);
        let changed: Vec<usize> = other.filter_map(|(_, k)| self.places.binary_search(k).ok()).collect();
        let sentences = (!changed.is_empty()).then(|| sentences.replaced(&places, &reread));
        (sentences, changed)
    }

    /// The places among the images of those with references that are read otherwise than among all of the system.
    fn other_references(&self, base: &View, view: Option<&View>) -> Vec<usize> {
        let (whole, here) = (self.scene.session.view.as_ref(), view);
        if whole.is_none() && here.is_none() {
            return Vec::new();
        }
        let (whole, here) = (whole.unwrap_or(base), here.unwrap_or(base));
        let differs = |image: u32| {
            let mut own = self.scene.references.of(image as usize);
            own.any(|r| whole.sentences.pieces(r) != here.sentences.pieces(r))
        };
        (0..self.images.len()).filter(|at| differs(self.images[*at])).collect()
    }
}

/// The combined input of some of `metrics`, which read text in the same way; `None` without any.
fn combined(members: &[usize], metrics: &[AnyMetric]) -> Option<Input> {
    members.iter().map(|m| metrics[*m].input()).reduce(Input::and)
}
