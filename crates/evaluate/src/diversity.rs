//! Diversity and coverage: the corpus metrics by name, and the driver for several captions per image.

use std::sync::{Arc, OnceLock};

use capeval_lexical::diversity::{Distinct, MutualBleu, Novelty, SelfCider, WordStock};
use capeval_metric::{AnyCorpusMetric, CaptionSets, CorpusScores, Part, Signature};
use capeval_text::ngrams::ReferenceNgrams;
use capeval_text::{Texts, Vocabulary};
use rayon::prelude::*;

use crate::references::{ReferenceSet, read};
use crate::registry::{ORDER, Resources, Setting, SettingError, Settings, TOK, parse};

/// A corpus metric in the registry.
pub struct CorpusKind {
    /// The name that users type.
    pub name: &'static str,
    /// One line on what it tells.
    pub summary: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// Whose program gives these digits.
    pub program: &'static str,
    /// What may be set.
    pub settings: &'static [Setting],
    /// What it must see beside the captions.
    pub learns: Learns,
    /// Whether it compares the captions of one image, so that there must be several.
    pub compares: bool,
    build: fn(&mut Settings<'_>) -> Result<AnyCorpusMetric, SettingError>,
}

impl CorpusKind {
    /// The signature and the numbers of the metric as it is without settings, for people to read.
    ///
    /// # Errors
    /// When the metric cannot be built.
    pub fn sample(&self) -> Result<(Signature, Vec<Part>), SettingError> {
        build_corpus(self.name, &[]).map(|metric| (metric.signature(), metric.parts()))
    }

    /// What the metric cannot do without beside the captions, and how it is given.
    #[must_use]
    pub fn need(&self) -> Option<&'static str> {
        match self.learns {
            Learns::Nothing => None,
            Learns::References => Some("references: -r FILE"),
            Learns::Training => Some("the captions of training: --train FILE"),
        }
    }
}

/// What a corpus metric must see beside the captions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learns {
    /// Nothing.
    Nothing,
    /// References, for document frequencies.
    References,
    /// The captions that the system was trained on.
    Training,
}

/// The corpus metric that `spec` names, such as `self-cider:n=3`.
#[must_use]
pub fn corpus_kind(spec: &str) -> Option<&'static CorpusKind> {
    let name = spec.split(':').next().unwrap_or_default();
    CORPUS_KINDS.iter().find(|kind| kind.name == name)
}

const SHETTY: &str = "Shetty et al. 2017, Speaking the Same Language: Matching Machine to Human Captions by Adversarial Training";
const SELF_CRITICAL: &str = "ruotianluo/self-critical.pytorch";

/// The corpus metrics, in the order in which they are listed.
pub const CORPUS_KINDS: &[CorpusKind] = &[
    CorpusKind {
        name: "div",
        summary: "share of different n-grams in the captions of an image",
        paper: SHETTY,
        program: SELF_CRITICAL,
        settings: &[TOK, Setting { default: "2", ..ORDER }],
        learns: Learns::Nothing,
        compares: true,
        build: |settings| {
            let div = settings.order(Distinct::new(settings.tokenizer()?), Distinct::with_order)?;
            Ok(AnyCorpusMetric::new(div))
        },
    },
    CorpusKind {
        name: "mbleu",
        summary: "how well captions of an image predict each other; lower is more diverse",
        paper: SHETTY,
        program: SELF_CRITICAL,
        settings: &[TOK, ORDER],
        learns: Learns::Nothing,
        compares: true,
        build: |settings| {
            let mbleu = settings.order(MutualBleu::new(settings.tokenizer()?), MutualBleu::with_order)?;
            Ok(AnyCorpusMetric::new(mbleu))
        },
    },
    CorpusKind {
        name: "self-cider",
        summary: "how little the captions of an image have in common, by the kernel of their CIDEr scores",
        paper: "Wang and Chan 2019, Describing like Humans: on Diversity in Image Captioning",
        program: SELF_CRITICAL,
        settings: &[TOK, ORDER],
        learns: Learns::References,
        compares: true,
        build: |settings| {
            let cider = settings.order(SelfCider::new(settings.tokenizer()?), SelfCider::with_order)?;
            Ok(AnyCorpusMetric::new(cider))
        },
    },
    CorpusKind {
        name: "vocabulary",
        summary: "number of different words, mean length, and share of different captions",
        paper: SHETTY,
        program: SELF_CRITICAL,
        settings: &[TOK],
        learns: Learns::Nothing,
        compares: false,
        build: |settings| Ok(AnyCorpusMetric::new(WordStock { tokenizer: settings.tokenizer()? })),
    },
    CorpusKind {
        name: "novelty",
        summary: "share of captions that no training caption, given as reference, equals",
        paper: SHETTY,
        program: SELF_CRITICAL,
        settings: &[TOK],
        learns: Learns::Training,
        compares: false,
        build: |settings| Ok(AnyCorpusMetric::new(Novelty { tokenizer: settings.tokenizer()? })),
    },
];

/// Builds a corpus metric from what a user typed: `div`, or `self-cider:tok=none`.
///
/// # Errors
/// When there is no such metric or setting, or a value is none that the setting takes.
pub fn build_corpus(spec: &str, common: &[(&str, &str)]) -> Result<AnyCorpusMetric, SettingError> {
    let kinds: Vec<_> = CORPUS_KINDS.iter().map(|kind| (kind.name, kind.settings)).collect();
    let (at, given) = parse(spec, common, &kinds)?;
    let kind = &CORPUS_KINDS[at];
    let resources = Resources::default();
    (kind.build)(&mut Settings { metric: kind.name, given: &given, table: None, resources: &resources })
}

/// All captions of one system, any number per image.
pub struct CaptionSystem {
    /// What the system is called.
    pub name: String,
    /// The captions, image by image.
    pub texts: Texts,
    /// Where the captions of each image stop.
    pub ends: Vec<u64>,
}

/// Scores all captions of `system` by `metrics`, one entry for each.
///
/// `references` are those of the images where document frequencies are learnt from them, and training
/// captions where captions are to be novel; they need not be as many as the system's images.
///
/// # Panics
/// When the system's `ends` fall, or do not stop at its last text.
pub fn evaluate_sets(
    references: &mut ReferenceSet,
    system: &CaptionSystem,
    metrics: &[AnyCorpusMetric],
) -> Vec<CorpusScores> {
    let CaptionSystem { name: _, texts, ends } = system;
    assert!(ends.is_sorted() && ends.last().copied().unwrap_or(0) == texts.len() as u64);
    references.prepare(metrics.iter().map(AnyCorpusMetric::input));
    let images: Vec<u32> = (0..references.n_images() as u32).collect();
    let mut scores: Vec<Option<CorpusScores>> = metrics.iter().map(|_| None).collect();
    for view in &references.views {
        let mine: Vec<usize> =
            (0..metrics.len()).filter(|m| metrics[*m].input().reading == view.reading).collect();
        if mine.is_empty() {
            continue;
        }
        let mut vocabulary = Vocabulary::over(Arc::clone(&view.vocabulary));
        let sentences = read(view.reading, texts, Some(ends), &mut vocabulary);
        let order = mine.iter().map(|m| metrics[*m].input().ngrams).max().unwrap_or(0);
        let ngrams = (order > 0).then(|| ReferenceNgrams::build(&sentences, ends, order));
        let own_counts = OnceLock::new();
        let counts = if view.counts.get().is_some() { &view.counts } else { &own_counts };
        let learnt_from = view.references(references, &vocabulary, &images, counts);
        let captions =
            CaptionSets { sentences: &sentences, ends, ngrams: ngrams.as_ref(), vocabulary: &vocabulary };
        let done: Vec<CorpusScores> =
            mine.par_iter().map(|m| metrics[*m].score(&learnt_from, &captions)).collect();
        for (m, done) in mine.iter().zip(done) {
            scores[*m] = Some(done);
        }
    }
    scores.into_iter().flatten().collect()
}
