//! Scores all systems by all metrics.

use std::cmp::Reverse;

use capeval_metric::{AnyMetric, FittedMetric, Notice, Signature, Worker};
use capeval_stats::Table;
use capeval_text::Texts;
use rayon::prelude::*;

use crate::progress::{Progress, Stage};
use crate::read_once::ReadSystems;
use crate::references::ReferenceSet;
use crate::session::{Keeps, Scene, Sessions, visit};
use crate::system::System;

/// The largest number of segments per chunk of work.
const CHUNK: usize = 256;

/// The number of chunks for each thread, unless they would be larger.
const CHUNKS_PER_THREAD: usize = 8;

/// The scores of a system.
pub struct SystemScores {
    /// The name of the system.
    pub name: String,
    /// The images that were scored, ascending.
    pub images: Vec<u32>,
    /// One entry per metric, in the requested order.
    pub metrics: Vec<MetricScores>,
}

/// The scores of a system by one metric.
pub struct MetricScores {
    /// The metric.
    pub metric: AnyMetric,
    /// Its signature, including what its model adds.
    pub signature: Signature,
    /// Remarks for readers of the scores.
    pub notices: Vec<Notice>,
    /// The statistics of every segment.
    pub table: Table,
    /// The corpus score: one value per part of the metric.
    pub corpus: Vec<f64>,
}

impl MetricScores {
    /// The scores of every segment: one value per part of the metric for each segment.
    pub fn segments(&self) -> Vec<f64> {
        let n_parts = self.corpus.len();
        let mut values = vec![0.0; self.table.len() * n_parts];
        values
            .chunks_exact_mut(n_parts)
            .zip(self.table.rows())
            .for_each(|(values, row)| self.metric.score_segment(row, values));
        values
    }
}

/// Scores `systems` against `references` by `metrics`.
///
/// No digit depends on the number of threads or on the other systems, and only the tokenizer `ptb` depends on the order
/// of images, see [`ReferenceSet::in_order`].
///
/// # Panics
/// When a system's images are not ascending indices of `references`, one per caption.
pub fn evaluate(
    references: &mut ReferenceSet,
    systems: &[System],
    metrics: &[AnyMetric],
    progress: &dyn Progress,
) -> Vec<SystemScores> {
    scores(references, &mut ReadSystems::unread(systems), metrics, Keeps::Texts, progress).0
}

/// As [`evaluate`], for texts that no one needs any more: those that no metric reads are freed once they are split into
/// words, also of `references`, whose number of texts stays.
///
/// # Panics
/// As [`evaluate`].
pub fn evaluate_and_forget(
    references: &mut ReferenceSet,
    systems: Vec<System>,
    metrics: &[AnyMetric],
    progress: &dyn Progress,
) -> Vec<SystemScores> {
    scores(references, &mut ReadSystems::unread(systems), metrics, Keeps::Scores, progress).0
}

impl ReadSystems<'_> {
    /// As [`evaluate`], without reading the captions again.
    ///
    /// # Panics
    /// As [`evaluate`], and when the reference program reads the images in another order than that
    /// of their numbers.
    pub fn evaluate(
        &self,
        references: &mut ReferenceSet,
        metrics: &[AnyMetric],
        progress: &dyn Progress,
    ) -> Vec<SystemScores> {
        self.evaluate_and_keep(references, metrics, false, progress).0
    }

    /// The same; `keeps` keeps what the scores were computed from, so that some of the images can be scored alone.
    ///
    /// # Panics
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_and_keep(
        &self,
        references: &mut ReferenceSet,
        metrics: &[AnyMetric],
        keeps: bool,
        progress: &dyn Progress,
    ) -> (Vec<SystemScores>, Sessions) {
        assert!(references.order.is_empty(), "captions were read in the order of the images");
        let keeps = if keeps { Keeps::Sessions } else { Keeps::Texts };
        scores(references, &mut self.borrowed(), metrics, keeps, progress)
    }
}

/// As [`evaluate`], and keeps what the scores were computed from, so that they can be explained.
///
/// # Panics
/// As [`evaluate`].
pub fn evaluate_and_keep(
    references: &mut ReferenceSet,
    systems: &[System],
    metrics: &[AnyMetric],
    progress: &dyn Progress,
) -> (Vec<SystemScores>, Sessions) {
    scores(references, &mut ReadSystems::unread(systems), metrics, Keeps::Sessions, progress)
}

/// Scores texts without references, each by itself, by metrics that need none.
pub fn evaluate_texts(name: &str, texts: Texts, metrics: &[AnyMetric]) -> Vec<MetricScores> {
    let n = texts.len();
    let mut nothing = ReferenceSet::new(Texts::default(), vec![0; n]);
    let system = System { name: name.to_owned(), images: (0..n as u32).collect(), texts };
    let scores = evaluate(&mut nothing, &[system], metrics, &());
    scores.into_iter().flat_map(|system| system.metrics).collect()
}

pub(crate) fn scores(
    references: &mut ReferenceSet,
    captions: &mut ReadSystems<'_>,
    metrics: &[AnyMetric],
    keeps: Keeps,
    progress: &dyn Progress,
) -> (Vec<SystemScores>, Sessions) {
    let n_systems = captions.systems.len();
    let mut scores: Vec<Vec<Option<MetricScores>>> =
        (0..n_systems).map(|_| metrics.iter().map(|_| None).collect()).collect();
    let sessions = Sessions::open(references, captions, metrics, keeps, progress, |scene, system, s| {
        let Scene { session, .. } = scene;
        let members = session.members.iter().map(|m| &metrics[*m]);
        progress.system(&system.name, s + 1, n_systems);
        let tables = measure(&scene, members.clone(), (scene.references.images, None), progress);
        for (((m, metric), fitted), table) in
            session.members.iter().zip(members).zip(&session.fitted).zip(tables)
        {
            scores[s][*m] = Some(summarise(metric, fitted, table));
        }
    });
    let of_system = |(system, metrics): (&System, Vec<Option<MetricScores>>)| SystemScores {
        name: system.name.clone(),
        images: system.images.clone(),
        metrics: metrics.into_iter().flatten().collect(),
    };
    (captions.systems.iter().zip(scores).map(of_system).collect(), sessions)
}

pub(crate) fn summarise(metric: &AnyMetric, fitted: &FittedMetric, table: Table) -> MetricScores {
    let mut corpus = vec![0.0; metric.parts().len()];
    metric.score_table(&table, &mut corpus);
    MetricScores {
        metric: metric.clone(),
        signature: fitted.signature(),
        notices: fitted.notices(),
        table,
        corpus,
    }
}

/// Neighbouring images.
struct Chunk<'t> {
    /// The number of images before them.
    first: usize,
    images: &'t [u32],
    /// Their part of each metric's table.
    rows: Vec<&'t mut [f64]>,
}

impl Chunk<'_> {
    /// The bytes of the longest text among the captions of these images.
    fn longest(&self, scene: &Scene<'_>, places: Option<&[usize]>) -> usize {
        let Scene { references, candidates, .. } = scene;
        let texts = self.images.iter().zip(self.first..).flat_map(|(image, at)| {
            let own = references.of(*image as usize).map(|r| references.texts.get(r));
            own.chain([candidates.texts.get(places.map_or(at, |places| places[at]))])
        });
        texts.map(str::len).max().unwrap_or(0)
    }
}

/// The statistics of each of `images` by every metric of the session. The candidates are at the given places, or as
/// many as there are images, in their order.
pub(crate) fn measure<'m>(
    scene: &Scene<'_>,
    metrics: impl Iterator<Item = &'m AnyMetric> + Clone,
    (images, places): (&[u32], Option<&[usize]>),
    progress: &dyn Progress,
) -> Vec<Table> {
    let is_slow = metrics.clone().any(|metric| metric.about().is_slow);
    let columns: Vec<_> = metrics.map(|metric| metric.about().columns.clone()).collect();
    progress.begin(Stage::Measuring, images.len());
    let share = images.len().div_ceil(CHUNKS_PER_THREAD * rayon::current_num_threads()).clamp(1, CHUNK);
    let pieces: Vec<&[u32]> = if is_slow {
        // What is slow of a list of references is done once, for the first image that has it.
        let list = |image: &u32| scene.references.list(*image as usize);
        images.chunk_by(|a, b| list(a) == list(b)).flat_map(|images| images.chunks(CHUNK)).collect()
    } else {
        images.chunks(share).collect()
    };
    let mut tables: Vec<Vec<f64>> =
        columns.iter().map(|columns| vec![0.0; columns.len() * images.len()]).collect();
    let mut rests: Vec<&mut [f64]> = tables.iter_mut().map(Vec::as_mut_slice).collect();
    let (mut chunks, mut first) = (Vec::with_capacity(pieces.len()), 0);
    for images in pieces {
        let mut rows = Vec::with_capacity(columns.len());
        for (rest, columns) in rests.iter_mut().zip(&columns) {
            rows.push(rest.split_off_mut(..columns.len() * images.len()).unwrap_or_default());
        }
        chunks.push(Chunk { first, images, rows });
        first += images.len();
    }
    let work = |workers: &mut Vec<Worker<'_>>, Chunk { first, images, mut rows }: Chunk<'_>| {
        progress.advance(0);
        let place = |at: usize| places.map_or(first + at, |places| places[first + at]);
        visit(&scene.references, scene.session.input, scene.candidates, images, place, |at, segment| {
            for ((worker, rows), columns) in workers.iter_mut().zip(&mut rows).zip(&columns) {
                worker.measure(segment, &mut rows[at * columns.len()..(at + 1) * columns.len()]);
            }
        });
        progress.advance(images.len());
    };
    let workers = || scene.session.fitted.iter().map(FittedMetric::worker).collect();
    if is_slow {
        // Threads take the longest captions first, so that none is left with a long one when all others are done.
        chunks.sort_by_cached_key(|chunk| Reverse(chunk.longest(scene, places)));
        chunks.into_iter().par_bridge().for_each_init(workers, work);
    } else {
        chunks.into_par_iter().for_each_init(workers, work);
    }
    columns.into_iter().zip(tables).map(|(columns, table)| Table::new(columns, table)).collect()
}
