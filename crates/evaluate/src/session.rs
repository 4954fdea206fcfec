//! The common part of all drivers: fits metrics with the same reading together, and visits candidates with their
//! references.

use std::cell::Cell;
use std::sync::Arc;

use capeval_metric::{AnyMetric, Candidates, FittedMetric, Input, Reading, References, Segment};
use capeval_text::ngrams::Segments;
use capeval_text::{Sentences, Texts, Vocabulary};

use crate::progress::{Progress, Stage};
use crate::read_once::ReadSystems;
use crate::references::{ReferenceCounts, ReferenceSet, View};
use crate::system::System;

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

/// Metrics with the same reading, fitted to the references of the images that some systems describe.
pub(crate) struct Session {
    pub reading: Reading,
    /// The references, if some of them are read otherwise than among all images.
    pub view: Option<View>,
    images: Vec<u32>,
    counted: ReferenceCounts,
    /// The combined input that the metrics need.
    pub input: Input,
    /// The indices of these metrics.
    pub members: Vec<usize>,
    /// The fitted metrics.
    pub fitted: Vec<FittedMetric>,
}

impl Session {
    /// The references, whose words are in `vocabulary`.
    pub fn references<'s>(&'s self, set: &'s ReferenceSet, vocabulary: &'s Vocabulary) -> References<'s> {
        let Self { reading, view, images, counted, .. } = self;
        let of_all =
            || set.views.iter().find(|view| view.reading == *reading).expect("prepared for all metrics");
        view.as_ref().unwrap_or_else(of_all).references(set, vocabulary, images, counted)
    }
}

/// Everything in one reading.
pub(crate) struct ReadingSessions {
    pub(crate) vocabulary: Arc<Vocabulary>,
    /// The captions of each system.
    pub(crate) sentences: Arc<[Sentences]>,
    /// Systems that describe the same images share a session.
    sessions: Vec<Session>,
    /// The number of each system's session.
    session_of: Vec<usize>,
}

/// The references and captions as metrics read them, and the metrics fitted to them. Scores are computed from these,
/// and explained from them later.
#[derive(Default)]
pub struct Sessions(pub(crate) Vec<ReadingSessions>);

/// One system in one reading.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'s> {
    pub session: &'s Session,
    pub references: References<'s>,
    pub candidates: Candidates<'s>,
}

impl ReadingSessions {
    /// The number of metrics.
    pub fn n_metrics(&self) -> usize {
        self.sessions.first().map_or(0, |session| session.members.len())
    }

    /// The system number `s` of `systems`.
    pub fn scene<'s>(&'s self, set: &'s ReferenceSet, systems: &'s [System], s: usize) -> Scene<'s> {
        let session = &self.sessions[self.session_of[s]];
        Scene {
            session,
            references: session.references(set, &self.vocabulary),
            candidates: Candidates { texts: &systems[s].texts, sentences: &self.sentences[s], system: s },
        }
    }
}

impl Sessions {
    /// Calls `work` for each system in each reading that `metrics` need, with the system and its index. Texts that
    /// no metric reads are [forgotten](Keeps::Scores) as soon as they are split into words.
    ///
    /// # Panics
    /// When a system's images are not ascending indices of `references`, one per caption, or not all where some share
    /// lists.
    pub(crate) fn open(
        references: &mut ReferenceSet,
        captions: &mut ReadSystems<'_>,
        metrics: &[AnyMetric],
        keeps: Keeps,
        progress: &dyn Progress,
        mut work: impl FnMut(Scene<'_>, &System, usize),
    ) -> Self {
        for system in &*captions.systems {
            assert!(system.images.is_sorted_by(|a, b| a < b) && system.images.len() == system.texts.len());
            assert!(system.images.last().is_none_or(|last| (*last as usize) < references.n_images()));
            assert!(!references.are_shared() || system.images.len() == references.n_images());
        }
        progress.begin(Stage::Reading, references.n_references());
        references.prepare_over(metrics.iter().map(AnyMetric::input), |reading| captions.vocabulary(reading));
        progress.advance(references.n_references());
        let forgets = keeps == Keeps::Scores && !metrics.iter().any(|metric| metric.about().reads_texts);
        // Where an image takes no part, the references before it may be read again.
        let are_whole = |system: &System| system.images.len() == references.n_images();
        if forgets && captions.systems.iter().all(are_whole) {
            references.texts = Texts::blank(references.n_references());
        }
        let set = &*references;
        let mut all = Vec::new();
        let groups = groups(set, metrics.iter().map(AnyMetric::input).enumerate());
        for (later, group) in groups.iter().enumerate().map(|(g, group)| (groups.len() - 1 - g, group)) {
            let mut vocabulary = Vocabulary::over(Arc::clone(&group.view.vocabulary));
            let sentences = captions.sentences(group.input.reading, set, &mut vocabulary);
            if forgets && later == 0 {
                captions.forget_texts();
            }
            let systems = &*captions.systems;
            let mut read = ReadingSessions {
                vocabulary: Arc::new(vocabulary),
                sentences,
                sessions: Vec::new(),
                session_of: vec![usize::MAX; systems.len()],
            };
            for first in 0..systems.len() {
                if read.session_of[first] != usize::MAX {
                    continue;
                }
                let images = &systems[first].images;
                progress.begin(Stage::Fitting, images.len());
                let vocabulary = Arc::get_mut(&mut read.vocabulary).expect("no group of images reads it yet");
                let session = group.session(set, images, vocabulary, metrics);
                progress.advance(images.len());
                if keeps != Keeps::Sessions {
                    read.sessions.clear();
                }
                read.sessions.push(session);
                for (k, _) in
                    systems.iter().enumerate().skip(first).filter(|(_, system)| system.images == *images)
                {
                    read.session_of[k] = read.sessions.len() - 1;
                    work(read.scene(set, systems, k), &systems[k], k);
                }
            }
            if keeps == Keeps::Sessions {
                all.push(read);
            }
        }
        Self(all)
    }
}

/// The remains of a session after its systems were scored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    Texts,
    /// Not even texts: those of the references are freed, and those of systems that no one else has.
    Scores,
    Sessions,
}

impl ReferenceSet {
    /// The metrics, fitted to all references.
    pub fn fit(&mut self, metrics: &[AnyMetric]) -> Vec<FittedMetric> {
        self.prepare(metrics.iter().map(AnyMetric::input));
        let images: Vec<u32> = (0..self.n_images() as u32).collect();
        let mut all: Vec<Option<FittedMetric>> = metrics.iter().map(|_| None).collect();
        for group in groups(self, metrics.iter().map(AnyMetric::input).enumerate()) {
            let mut vocabulary = Vocabulary::over(Arc::clone(&group.view.vocabulary));
            let Session { members, fitted, .. } = group.session(self, &images, &mut vocabulary, metrics);
            for (m, fitted) in members.into_iter().zip(fitted) {
                all[m] = Some(fitted);
            }
        }
        all.into_iter().flatten().collect()
    }
}

impl Group<'_> {
    /// Fits the metrics to the references of `images`; new words are added to `vocabulary`.
    pub fn session(
        &self,
        set: &ReferenceSet,
        images: &[u32],
        vocabulary: &mut Vocabulary,
        metrics: &[AnyMetric],
    ) -> Session {
        let view = self.view.of_images(set, images, vocabulary);
        self.session_of(view, set, images, vocabulary, metrics)
    }

    /// The same, if the references of `images` are read as in `view`, whose words are in `vocabulary`.
    pub fn session_of(
        &self,
        view: Option<View>,
        set: &ReferenceSet,
        images: &[u32],
        vocabulary: &Vocabulary,
        metrics: &[AnyMetric],
    ) -> Session {
        let mut session = Session {
            reading: self.input.reading,
            counted: view.as_ref().unwrap_or(self.view).counted(set, images, self.input),
            view,
            images: images.to_vec(),
            input: self.input,
            members: self.members.clone(),
            fitted: Vec::new(),
        };
        let references = session.references(set, vocabulary);
        session.fitted = self.members.iter().map(|m| metrics[*m].fit(&references)).collect();
        session
    }
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
            let own = references.of(*image as usize).map(|r| references.sentences.words(r));
            segments.push(words, own, input.ngrams);
        }
    }
    if let Some(counts) = references.frequencies {
        segments.look_up(counts);
    }
    for (at, image) in images.iter().enumerate() {
        let ngrams = (input.ngrams > 0).then(|| segments.get(at));
        each(at, &Segment::new(*references, candidates, *image as usize, place(at), ngrams));
    }
    IDLE.set(segments);
}
