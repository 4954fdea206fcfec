//! Scores all systems by all metrics.

use capeval_metric::{AnyMetric, Fitted, Notice, Signature};
use capeval_stats::Table;
use capeval_text::Texts;
use rayon::prelude::*;

use crate::progress::{Progress, Stage};
use crate::read_once::ReadSystems;
use crate::references::ReferenceSet;
use crate::session::{Keeps, Scene, Sessions, visit};

/// The largest number of segments per chunk of work.
const CHUNK: usize = 256;

/// The number of chunks for each thread, unless they would be larger.
const CHUNKS_PER_THREAD: usize = 8;

/// The captions of one system.
pub struct System {
    /// The name of the system.
    pub name: String,
    /// The images that it describes, as ascending indices into the references.
    pub images: Vec<u32>,
    /// One caption per image.
    pub texts: Texts,
}

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
    scores(references, &ReadSystems::unread(systems), metrics, Keeps::Nothing, progress).0
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
    scores(references, &ReadSystems::unread(systems), metrics, Keeps::Sessions, progress)
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
    captions: &ReadSystems<'_>,
    metrics: &[AnyMetric],
    keeps: Keeps,
    progress: &dyn Progress,
) -> (Vec<SystemScores>, Sessions) {
    let systems = captions.systems;
    let mut scores: Vec<Vec<Option<MetricScores>>> =
        systems.iter().map(|_| metrics.iter().map(|_| None).collect()).collect();
    let sessions = Sessions::open(references, captions, metrics, keeps, progress, |scene, s| {
        let Scene { session, .. } = scene;
        let members = session.members.iter().map(|m| &metrics[*m]);
        progress.system(&systems[s].name, s + 1, systems.len());
        let tables = measure(&scene, members.clone(), progress);
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
    (systems.iter().zip(scores).map(of_system).collect(), sessions)
}

fn summarise(metric: &AnyMetric, fitted: &Fitted, table: Table) -> MetricScores {
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

/// The statistics of every segment by every metric of the session.
fn measure<'m>(
    scene: &Scene<'_>,
    metrics: impl Iterator<Item = &'m AnyMetric> + Clone,
    progress: &dyn Progress,
) -> Vec<Table> {
    let is_slow = metrics.clone().any(|metric| metric.about().is_slow);
    let columns: Vec<_> = metrics.map(|metric| metric.about().columns.clone()).collect();
    let images = scene.references.images;
    progress.begin(Stage::Measuring, images.len());
    let share = images.len().div_ceil(CHUNKS_PER_THREAD * rayon::current_num_threads());
    // What is slow of a list of references is done for the first image that has it.
    let images_per_list = images.len() / scene.references.n_lists().max(1);
    let chunk_size = share.clamp(1, if is_slow { images_per_list.clamp(1, CHUNK) } else { CHUNK });
    let mut tables: Vec<Vec<f64>> =
        columns.iter().map(|columns| vec![0.0; columns.len() * images.len()]).collect();
    let mut rows: Vec<_> = tables
        .iter_mut()
        .zip(&columns)
        .map(|(table, columns)| table.chunks_mut((columns.len() * chunk_size).max(1)))
        .collect();
    let of_chunk = |images| (images, rows.iter_mut().map(|rows| rows.next().unwrap_or_default()).collect());
    let chunks: Vec<(&[u32], Vec<&mut [f64]>)> = images.chunks(chunk_size).map(of_chunk).collect();
    chunks.into_par_iter().enumerate().with_max_len(if is_slow { 1 } else { usize::MAX }).for_each_init(
        || scene.session.fitted.iter().map(Fitted::worker).collect::<Vec<_>>(),
        |workers, (chunk, (images, mut rows))| {
            progress.advance(0);
            let place = |at: usize| chunk * chunk_size + at;
            visit(&scene.references, scene.session.input, scene.candidates, images, place, |at, segment| {
                for ((worker, rows), columns) in workers.iter_mut().zip(&mut rows).zip(&columns) {
                    worker.measure(segment, &mut rows[at * columns.len()..(at + 1) * columns.len()]);
                }
            });
            progress.advance(images.len());
        },
    );
    columns.into_iter().zip(tables).map(|(columns, table)| Table::new(columns, table)).collect()
}
