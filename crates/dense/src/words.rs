//! Scores captions: measures the pairs of all forms once, and sums them by video and threshold.

use capeval_choice::named;
use capeval_evaluate::measure_pairs;
use capeval_evaluate::registry::{self, Resources};
use capeval_lexical::cider::EventNgrams;
use capeval_metric::{AnyMetric, Refusal};
use indexmap::IndexSet;

use crate::reading::ReadTexts;

/// A metric whose scores come from the statistics of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairMetric {
    Bleu,
    Meteor,
    Rouge,
}

impl PairMetric {
    pub const ALL: [Self; 3] = [Self::Bleu, Self::Meteor, Self::Rouge];
}

named! {
    /// A metric of captions that forms are made of.
    pub enum WordMetric ("metric of captions") {
        Bleu = "bleu", "BLEU-1 to BLEU-4";
        Meteor = "meteor", "METEOR, and SODA with it";
        Rouge = "rouge-l", "ROUGE-L";
        Cider = "cider-d", "CIDEr-D";
    }
}

/// The metrics that forms are made of.
pub struct WordMetrics {
    pairs: [Option<AnyMetric>; 3],
    wanted: Vec<WordMetric>,
    pub(crate) resources: Resources,
}

impl WordMetrics {
    /// The metrics in `wanted`, METEOR from its installed data.
    ///
    /// # Errors
    /// When METEOR's data are wanted and not among `resources`.
    pub fn new(resources: &Resources, wanted: &[WordMetric]) -> Result<Self, Refusal> {
        let build = |metric: WordMetric| {
            let is_wanted = wanted.contains(&metric);
            is_wanted.then(|| registry::build(metric.name(), &[], resources)).transpose()
        };
        let pairs = [build(WordMetric::Bleu)?, build(WordMetric::Meteor)?, build(WordMetric::Rouge)?];
        Ok(Self { pairs, wanted: wanted.to_vec(), resources: resources.clone() })
    }

    /// All metrics without their data, of which each pair scores 0: for the names of measures.
    pub(crate) fn unmeasured() -> Self {
        let (wanted, resources) = (WordMetric::ALL.to_vec(), Resources::default());
        Self { pairs: [None, None, None], wanted, resources }
    }

    /// Returns true if the metric is wanted.
    pub fn has(&self, metric: WordMetric) -> bool {
        self.wanted.contains(&metric)
    }
}

/// The number of scores of a video: BLEU-1 to BLEU-4, METEOR, ROUGE-L and CIDEr-D.
pub(crate) const N_SCORES: usize = 7;
/// The places of METEOR, ROUGE-L and CIDEr-D among them.
pub(crate) const METEOR: usize = 4;
pub(crate) const ROUGE: usize = 5;
pub(crate) const CIDER: usize = 6;

/// The pairs that must be measured by each metric, each once.
#[derive(Default)]
pub(crate) struct WantedPairs([IndexSet<(u32, u32)>; 3]);

impl WantedPairs {
    pub fn add(&mut self, metric: PairMetric, pair: (u32, u32)) {
        self.0[metric as usize].insert(pair);
    }

    /// Measures all pairs.
    pub fn measure<'m>(self, metrics: &'m WordMetrics, read: &ReadTexts) -> MeasuredPairs<'m> {
        let rows = PairMetric::ALL.map(|metric| {
            let pairs: Vec<(u32, u32)> = self.0[metric as usize].iter().copied().collect();
            let measure = |metric| measure_pairs(metric, &read.sentences, &read.vocabulary, &pairs);
            metrics.pairs[metric as usize].as_ref().map(measure).unwrap_or_default()
        });
        MeasuredPairs { metrics, pairs: self.0, rows }
    }
}

/// The statistics of pairs.
pub(crate) struct MeasuredPairs<'m> {
    metrics: &'m WordMetrics,
    pairs: [IndexSet<(u32, u32)>; 3],
    rows: [Vec<f64>; 3],
}

impl MeasuredPairs<'_> {
    /// The statistics of a pair.
    fn row(&self, metric: PairMetric, width: usize, pair: (u32, u32)) -> &[f64] {
        let at = self.pairs[metric as usize].get_index_of(&pair).expect("wanted pairs are measured") * width;
        &self.rows[metric as usize][at..at + width]
    }

    /// The scores of one pair as a segment: BLEU has four, the others one; 0 for a metric that is not wanted.
    pub fn segment(&self, metric: PairMetric, pair: (u32, u32)) -> [f64; 4] {
        let mut values = [0.0; 4];
        if let Some(erased) = &self.metrics.pairs[metric as usize] {
            let width = erased.about().columns.len();
            erased.score_segment(self.row(metric, width, pair), &mut values[..erased.parts().len()]);
        }
        values
    }

    /// The scores of pairs as a corpus, those of CIDEr-D and of metrics that are not wanted left at 0.
    pub fn corpus(&self, pairs: &[(u32, u32)]) -> [f64; N_SCORES] {
        let mut scores = [0.0; N_SCORES];
        let places = [
            (PairMetric::Bleu, 0..METEOR),
            (PairMetric::Meteor, METEOR..METEOR + 1),
            (PairMetric::Rouge, ROUGE..ROUGE + 1),
        ];
        for (metric, place) in places {
            let Some(erased) = &self.metrics.pairs[metric as usize] else { continue };
            let mut total = vec![0.0; erased.about().columns.len()];
            let width = total.len();
            for pair in pairs {
                total.iter_mut().zip(self.row(metric, width, *pair)).for_each(|(sum, x)| *sum += x);
            }
            erased.score(&total, &mut scores[place]);
        }
        scores
    }
}

/// The n-grams of the texts of one video.
#[derive(Default)]
pub(crate) struct VideoNgrams {
    numbers: IndexSet<u32>,
    ngrams: EventNgrams,
}

impl VideoNgrams {
    /// The number of a text in this video.
    pub fn number(&mut self, read: &ReadTexts, reading: u32) -> usize {
        let (number, is_new) = self.numbers.insert_full(reading);
        if is_new {
            self.ngrams.push(read.sentences.words(reading as usize));
        }
        number
    }

    /// The mean CIDEr-D of pairs that are a corpus of their own; `None` if no reference has a word, where the program
    /// stops.
    pub fn cider(&mut self, read: &ReadTexts, pairs: &[(u32, u32)]) -> Option<f64> {
        let numbers: Vec<(usize, usize)> =
            pairs.iter().map(|(a, b)| (self.number(read, *a), self.number(read, *b))).collect();
        let references = || numbers.iter().map(|(_, reference)| *reference);
        let corpus = self.ngrams.corpus(references());
        let mut sum = 0.0;
        for (candidate, reference) in &numbers {
            sum += self.ngrams.score(&corpus, *candidate, *reference);
        }
        self.ngrams.have_words(references()).then(|| sum / numbers.len().max(1) as f64)
    }

    /// CIDEr-D of each reference event with each prediction, in a corpus whose documents are the predictions.
    pub fn ciders(&mut self, read: &ReadTexts, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        let rows: Vec<usize> = rows.iter().map(|text| self.number(read, *text)).collect();
        let columns: Vec<usize> = columns.iter().map(|text| self.number(read, *text)).collect();
        let corpus = self.ngrams.corpus(columns.iter().copied());
        let mut all = Vec::with_capacity(rows.len() * columns.len());
        for row in &rows {
            for column in &columns {
                all.push(self.ngrams.score(&corpus, *row, *column));
            }
        }
        all
    }
}
