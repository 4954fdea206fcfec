//! The typed contract, as a metric's author writes it.

use capeval_choice::Notice;
use capeval_stats::{Column, Table};
use capeval_text::{Stemmer, Tokenizer};

use crate::{Explanation, Part, References, Segment, Signature, Step};

/// The additive statistics of one segment: named fields inside, one row of numbers outside.
///
/// Merging two of them is adding their rows, so there is no `merge` to get wrong.
pub trait Statistics: Sized {
    /// Writes the fields into `row`, in the order of [`About::columns`].
    fn store(&self, row: &mut [f64]);
    /// Reads the fields back.
    fn load(row: &[f64]) -> Self;
}

/// How a metric wants its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reading {
    /// As it was given; `words` and `pieces` are empty.
    Raw,
    /// Cut by a tokenizer.
    Tokens(Tokenizer),
    /// Each line cut by a tokenizer, for metrics that tell sentences apart: a piece `\n` stands for each line
    /// break, and is not a word.
    Lines(Tokenizer),
    /// Lower-cased, then cut by a tokenizer.
    LowerTokens(Tokenizer),
    /// Cut by a tokenizer, each word reduced to its stem.
    Stems(Tokenizer, Stemmer),
}

/// What a metric needs to see of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// How the text is read; metrics of equal reading share the work.
    pub reading: Reading,
    /// The longest n-grams to compare; 0 for none.
    pub ngrams: usize,
    /// Whether to count in how many images each n-gram occurs, and to look that up for candidates.
    pub frequencies: bool,
}

impl Input {
    /// Text in this reading, without n-grams.
    pub fn new(reading: Reading) -> Self {
        Self { reading, ngrams: 0, frequencies: false }
    }

    /// The same with n-grams of up to `longest` words.
    pub fn with_ngrams(self, longest: usize) -> Self {
        Self { ngrams: longest, ..self }
    }

    /// The same; `frequencies` tells whether to count in how many images each n-gram occurs.
    pub fn with_frequencies(self, frequencies: bool) -> Self {
        Self { frequencies, ..self }
    }

    /// What two metrics of one reading need together.
    pub fn and(self, other: Self) -> Self {
        Self {
            reading: self.reading,
            ngrams: self.ngrams.max(other.ngrams),
            frequencies: self.frequencies || other.frequencies,
        }
    }
}

/// From what a metric learns before it judges, which tells when it must learn anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learns {
    /// From nothing.
    Nothing,
    /// From the words of each segment: any segments may be judged on their own.
    Words,
    /// From all references, but nothing of words that neither they nor a saved table hold.
    References,
    /// From all references and all words.
    Everything,
}

/// What a metric is with its settings: everything about it that no data change.
#[derive(Clone, Debug)]
pub struct About {
    /// Everything that can change a score.
    pub signature: Signature,
    /// What the metric needs to see.
    pub input: Input,
    /// The names and kinds of its statistics.
    pub columns: Vec<Column>,
    /// The numbers it yields, the most important one first unless the field's habit is another.
    pub parts: Vec<Part>,
    /// From what [`Metric::fit`] learns. A model of no size holds nothing, whatever is said here.
    pub learns: Learns,
    /// Whether each part of the corpus score is the mean of that part of the segment scores, so that tests for
    /// means apply.
    pub is_mean: bool,
}

impl About {
    /// A metric that may learn from everything, and whose score is a mean if its statistics are [`Mean`].
    pub fn new(signature: Signature, input: Input, columns: Vec<Column>, parts: Vec<Part>) -> Self {
        let is_mean = columns == Mean::columns();
        Self { signature, input, columns, parts, learns: Learns::Everything, is_mean }
    }

    /// The same, but it learns from less.
    pub fn learns(self, learns: Learns) -> Self {
        Self { learns, ..self }
    }

    /// The same; `is_mean` tells whether the corpus score is the mean of the segment scores.
    pub fn mean(self, is_mean: bool) -> Self {
        Self { is_mean, ..self }
    }
}

/// A metric.
pub trait Metric: Send + Sync {
    /// What is learnt from all references before any segment is measured; mostly `()`.
    type Model: Send + Sync;
    /// What is counted in a segment.
    type Stats: Statistics;
    /// Buffers that are kept from one segment to the next; mostly `()`.
    type Scratch: Default + Send;

    /// What the metric is with these settings.
    fn about(&self) -> About;
    /// Learns from the references of the images that take part.
    fn fit(&self, references: &References<'_>) -> Self::Model;
    /// Adds to the signature what the model says of the data, such as a table's fingerprint.
    fn sign_model(&self, _model: &Self::Model, _signature: &mut Signature) {}
    /// What a reader of the scores should know about the model, as sentences.
    fn notices(&self, _model: &Self::Model) -> Vec<Notice> {
        Vec::new()
    }
    /// Counts one segment; total, so it cannot fail.
    fn measure(&self, model: &Self::Model, segment: &Segment<'_>, scratch: &mut Self::Scratch)
    -> Self::Stats;
    /// Turns the summed statistics of a corpus into one value per part.
    fn score(&self, stats: &Self::Stats, values: &mut [f64]);
    /// As [`score`](Self::score), but from the statistics of all segments, for metrics whose corpus score is not a function of
    /// their sums.
    ///
    /// ROUGE-1.5.5 prints the mean of resamples, for one. Tests of significance go by
    /// [`score`](Self::score).
    fn score_table(&self, table: &Table, values: &mut [f64]) {
        self.score(&Self::Stats::load(&table.total()), values);
    }
    /// The same for the statistics of a single segment, where a metric treats it differently.
    fn score_segment(&self, stats: &Self::Stats, values: &mut [f64]) {
        self.score(stats, values);
    }
    /// Tells how the scores of one segment came to be; each step's value is the score that
    /// [`score_segment`](Self::score_segment) gives.
    ///
    /// Unless a metric knows better, the statistics are listed by the names of their columns.
    fn explain(
        &self,
        model: &Self::Model,
        segment: &Segment<'_>,
        scratch: &mut Self::Scratch,
    ) -> Explanation {
        let About { columns, parts, .. } = self.about();
        let stats = self.measure(model, segment, scratch);
        let mut row = vec![0.0; columns.len()];
        stats.store(&mut row);
        let mut values = vec![0.0; parts.len()];
        self.score_segment(&stats, &mut values);
        let steps = columns.into_iter().zip(row).map(|(column, value)| Step::given(column.name, value));
        let counted = Step::heading("statistics", steps.collect());
        let mut scores: Vec<Step> =
            parts.into_iter().zip(values).map(|(part, value)| Step::given(part.label, value)).collect();
        if let Some(last) = scores.last_mut() {
            last.parts.push(counted);
        }
        Explanation { scores, ..Explanation::over_words(segment) }
    }
}

/// The statistics of a metric whose corpus score is the mean of its segment scores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// The number of segments.
    pub count: f64,
    /// The sum of their scores.
    pub sum: f64,
}

impl Mean {
    /// One segment with this score.
    pub fn of(score: f64) -> Self {
        Self { count: 1.0, sum: score }
    }

    /// The columns of these statistics.
    pub fn columns() -> Vec<Column> {
        vec![Column::count("segments"), Column::sum("sum")]
    }

    /// The mean score; 0 for no segment at all.
    pub fn value(&self) -> f64 {
        if self.count == 0.0 { 0.0 } else { self.sum / self.count }
    }
}

impl Statistics for Mean {
    fn store(&self, row: &mut [f64]) {
        row.copy_from_slice(&[self.count, self.sum]);
    }

    fn load(row: &[f64]) -> Self {
        Self { count: row[0], sum: row[1] }
    }
}
