//! The driver: every system, every metric, every segment.

use std::sync::{Arc, OnceLock};

use capeval_metric::{AnyMetric, Candidates, Fitted, References, Remark, Segment, Signature};
use capeval_stats::Table;
use capeval_text::ngrams::Segments;
use capeval_text::{Sentences, Symbol, Texts, Vocabulary};
use rayon::prelude::*;

use crate::progress::{Progress, Stage};
use crate::references::{ReferenceSet, View, read};

/// Segments that a thread takes at a time.
const CHUNK: usize = 256;

/// The captions of one system.
pub struct System {
    /// What the system is called.
    pub name: String,
    /// The images it describes, ascending, as indices into the references.
    pub images: Vec<u32>,
    /// One caption for each of them.
    pub texts: Texts,
}

/// What a system scores.
pub struct SystemScores {
    /// What the system is called.
    pub name: String,
    /// The images that take part, ascending.
    pub images: Vec<u32>,
    /// One entry per metric, in the order asked for.
    pub metrics: Vec<MetricScores>,
}

/// What a system scores by one metric.
pub struct MetricScores {
    /// The metric.
    pub metric: AnyMetric,
    /// Its signature, with what it learnt from the references.
    pub signature: Signature,
    /// What a reader should know.
    pub remarks: Vec<Remark>,
    /// The statistics of every segment.
    pub table: Table,
    /// The corpus score: one value per part of the metric.
    pub corpus: Vec<f64>,
}

impl MetricScores {
    /// The scores of every segment: as many values per segment as the metric has parts.
    #[must_use]
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
/// No digit depends on the number of threads, on the order of images or on the other systems.
///
/// # Panics
/// When a system's images are not ascending indices of `references`, one for each caption.
pub fn evaluate(
    references: &mut ReferenceSet,
    systems: &[System],
    metrics: &[AnyMetric],
    progress: &dyn Progress,
) -> Vec<SystemScores> {
    check(references, systems);
    progress.begin(Stage::Reading, references.n_references());
    references.prepare(metrics.iter().map(AnyMetric::input));
    progress.advance(references.n_references());

    let mut scores: Vec<SystemScores> = systems
        .iter()
        .map(|system| SystemScores {
            name: system.name.clone(),
            images: system.images.clone(),
            metrics: Vec::new(),
        })
        .collect();
    let mut slots: Vec<Vec<Option<MetricScores>>> =
        systems.iter().map(|_| metrics.iter().map(|_| None).collect()).collect();
    for view in &references.views {
        let mine: Vec<usize> =
            (0..metrics.len()).filter(|m| metrics[*m].input().reading == view.reading).collect();
        if mine.is_empty() {
            continue;
        }
        let chosen: Vec<&AnyMetric> = mine.iter().map(|m| &metrics[*m]).collect();
        let results = evaluate_view(references, view, systems, &chosen, progress);
        for (slots, results) in slots.iter_mut().zip(results) {
            for (m, result) in mine.iter().zip(results) {
                slots[*m] = Some(result);
            }
        }
    }
    for (scores, slots) in scores.iter_mut().zip(slots) {
        scores.metrics = slots.into_iter().flatten().collect();
    }
    scores
}

/// Panics unless every system's images are ascending indices of `references`, one for each caption.
pub(crate) fn check(references: &ReferenceSet, systems: &[System]) {
    for system in systems {
        assert!(system.images.is_sorted_by(|a, b| a < b) && system.images.len() == system.texts.len());
        assert!(system.images.last().is_none_or(|last| (*last as usize) < references.n_images()));
    }
}

/// All systems in one reading.
fn evaluate_view(
    set: &ReferenceSet,
    view: &View,
    systems: &[System],
    metrics: &[&AnyMetric],
    progress: &dyn Progress,
) -> Vec<Vec<MetricScores>> {
    let mut vocabulary = Vocabulary::over(Arc::clone(&view.vocabulary));
    let read_all: Vec<Sentences> =
        systems.iter().map(|system| read(view.reading, &system.texts, None, &mut vocabulary)).collect();
    let order = metrics.iter().map(|metric| metric.input().ngrams).max().unwrap_or(0);
    let mut done: Vec<Vec<MetricScores>> = systems.iter().map(|_| Vec::new()).collect();
    // Systems that describe the same images share what metrics learn from them.
    for first in 0..systems.len() {
        if !done[first].is_empty() {
            continue;
        }
        let images = &systems[first].images;
        let own_counts = OnceLock::new();
        let counts = if images.len() == set.n_images() { &view.counts } else { &own_counts };
        let references = view.references(set, &vocabulary, images, counts);
        progress.begin(Stage::Fitting, images.len());
        let fitted: Vec<Fitted<'_>> = metrics.iter().map(|metric| metric.fit(&references)).collect();
        progress.advance(images.len());
        for (k, system) in systems.iter().enumerate().skip(first) {
            if system.images != *images {
                continue;
            }
            let candidates = Candidates { texts: &system.texts, sentences: &read_all[k] };
            let inputs = (references, candidates);
            let tables = measure(inputs, order, metrics, &fitted, progress);
            done[k] = metrics.iter().zip(&fitted).zip(tables).map(summarise).collect();
        }
    }
    done
}

fn summarise(((metric, fitted), table): ((&&AnyMetric, &Fitted<'_>), Table)) -> MetricScores {
    let mut corpus = vec![0.0; metric.parts().len()];
    metric.score_table(&table, &mut corpus);
    MetricScores {
        metric: (*metric).clone(),
        signature: fitted.signature(),
        remarks: fitted.remarks(),
        table,
        corpus,
    }
}

/// The statistics of every segment by every metric.
fn measure(
    (references, candidates): (References<'_>, Candidates<'_>),
    order: usize,
    metrics: &[&AnyMetric],
    fitted: &[Fitted<'_>],
    progress: &dyn Progress,
) -> Vec<Table> {
    let columns: Vec<_> = metrics.iter().map(|metric| metric.about().columns.clone()).collect();
    let images = references.images;
    progress.begin(Stage::Measuring, images.len());
    let chunks: Vec<Vec<Vec<f64>>> = images
        .par_chunks(CHUNK)
        .enumerate()
        .map_init(
            || (Segments::default(), fitted.iter().map(Fitted::worker).collect::<Vec<_>>()),
            |(segments, workers), (chunk, images)| {
                let mut rows: Vec<Vec<f64>> =
                    columns.iter().map(|columns| vec![0.0; columns.len() * images.len()]).collect();
                if order > 0 {
                    let words = |at: usize| candidates.sentences.words(chunk * CHUNK + at);
                    compare(&references, images, words, order, segments);
                }
                for (at, image) in images.iter().enumerate() {
                    let ngrams = (order > 0).then(|| segments.get(at));
                    let (image, k) = (*image as usize, chunk * CHUNK + at);
                    let segment = Segment::new(references, candidates, image, k, ngrams);
                    for ((worker, rows), columns) in workers.iter_mut().zip(&mut rows).zip(&columns) {
                        worker.measure(&segment, &mut rows[at * columns.len()..(at + 1) * columns.len()]);
                    }
                }
                progress.advance(images.len());
                rows
            },
        )
        .collect();
    columns
        .into_iter()
        .enumerate()
        .map(|(m, columns)| {
            Table::new(columns, chunks.iter().flat_map(|rows| rows[m].iter().copied()).collect())
        })
        .collect()
}

/// Compares the candidates of `images` with their references, and looks up document frequencies if a metric
/// has counted them.
pub(crate) fn compare<'a>(
    references: &References<'_>,
    images: &[u32],
    words: impl Fn(usize) -> &'a [Symbol],
    order: usize,
    segments: &mut Segments,
) {
    segments.clear();
    for (at, image) in images.iter().enumerate() {
        segments.push(words(at), &references.ngrams_of(*image as usize), order);
    }
    if let Some(counts) = references.counts.get() {
        segments.look_up(counts, |at| {
            let image = images[at] as usize;
            let (nodes, frequencies) = counts.entries(references.ngrams().shard_of(image));
            let first = references.ngrams_of(image).first_entry();
            (&nodes[first..], &frequencies[first..])
        });
    }
}
