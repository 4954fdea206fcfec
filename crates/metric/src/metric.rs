//! The typed contract that the author of a metric implements.

use capeval_choice::Notice;
use capeval_stats::{Column, Table};
use capeval_text::{Stemmer, Tokenizer};

use crate::average;
use crate::{Explanation, Figures, Memo, Part, References, Segment, Signature, Step};

/// The additive statistics of one segment: named fields for the metric, a row of numbers for the engine.
///
/// Statistics are merged by adding their rows, so metrics do not implement merging.
pub trait Statistics: Sized {
    /// Writes the fields into `row`, in the order of [`About::columns`].
    fn store(&self, row: &mut [f64]);
    /// Reads the fields back.
    fn load(row: &[f64]) -> Self;
}

/// The way in which a metric reads text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reading {
    /// As it was given; `words` and `pieces` are empty.
    Raw,
    /// Split by a tokenizer.
    Tokens(Tokenizer),
    /// Each line split by a tokenizer, for metrics that distinguish sentences: a piece `\n` marks each line break and
    /// is not a word.
    Lines(Tokenizer),
    /// Lower-cased, then split by a tokenizer.
    LowerTokens(Tokenizer),
    /// Split by a tokenizer, then each word reduced to its stem.
    Stems(Tokenizer, Stemmer),
}

impl Reading {
    /// The tokenizer, if there is one.
    pub fn tokenizer(self) -> Option<Tokenizer> {
        match self {
            Self::Raw => None,
            Self::Tokens(tokenizer)
            | Self::Lines(tokenizer)
            | Self::LowerTokens(tokenizer)
            | Self::Stems(tokenizer, _) => Some(tokenizer),
        }
    }

    /// The reading of captions whose neighbours in a file are unknown, see [`Tokenizer::each`].
    pub fn each(self) -> Self {
        match self {
            Self::Tokens(tokenizer) => Self::Tokens(tokenizer.each()),
            Self::LowerTokens(tokenizer) => Self::LowerTokens(tokenizer.each()),
            Self::Stems(tokenizer, stemmer) => Self::Stems(tokenizer.each(), stemmer),
            Self::Raw | Self::Lines(_) => self,
        }
    }
}

/// The input that a metric needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The reading of text; metrics with the same reading share the work.
    pub reading: Reading,
    /// The length of the longest n-grams to compare; 0 for none.
    pub ngrams: usize,
    /// Count the images in which each n-gram occurs, and look these counts up for candidates.
    pub frequencies: bool,
    /// Read the notes that the metric keeps of captions.
    pub memos: bool,
}

impl Input {
    /// Text in this reading, without n-grams.
    pub fn new(reading: Reading) -> Self {
        Self { reading, ngrams: 0, frequencies: false, memos: false }
    }

    /// Requests n-grams of up to `longest` words.
    pub fn with_ngrams(self, longest: usize) -> Self {
        Self { ngrams: longest, ..self }
    }

    /// Sets whether to count the images in which each n-gram occurs.
    pub fn with_frequencies(self, frequencies: bool) -> Self {
        Self { frequencies, ..self }
    }

    /// Sets whether the metric reads what it remembers of captions.
    pub fn with_memos(self, memos: bool) -> Self {
        Self { memos, ..self }
    }

    /// The combined input of two metrics with the same reading.
    pub fn and(self, other: Self) -> Self {
        Self {
            reading: self.reading,
            ngrams: self.ngrams.max(other.ngrams),
            frequencies: self.frequencies || other.frequencies,
            memos: self.memos || other.memos,
        }
    }
}

/// The data that a metric's model depends on, and so when it must be fitted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learns {
    /// No data.
    Nothing,
    /// The words of each segment: segments can be scored separately.
    Words,
    /// All references, but no words that are neither in them nor in a saved table.
    References,
    /// All references and all words.
    Everything,
}

/// The description of a metric with its settings; it does not depend on data.
#[derive(Clone, Debug)]
pub struct About {
    /// Everything that can change a score.
    pub signature: Signature,
    /// The input that the metric needs.
    pub input: Input,
    /// The names and kinds of its statistics.
    pub columns: Vec<Column>,
    /// The scores that it computes, the most important one first unless another order is customary.
    pub parts: Vec<Part>,
    /// The data that [`Metric::fit`] depends on. If the model is a type of size 0, this is ignored.
    pub learns: Learns,
    /// True if each part of the corpus score is the mean of that part of the segment scores, so that tests for means
    /// are valid.
    pub is_mean: bool,
    /// True if the corpus score is a function of summed statistics, so that [`Metric::score_table`] equals
    /// [`Metric::score`] of their sum.
    pub adds_up: bool,
    /// True if a segment takes milliseconds, so that threads should take one at a time.
    pub is_slow: bool,
    /// True if some captions may [be too long](Metric::excess).
    pub is_limited: bool,
    /// True if it reads captions as given besides their words. If no metric of a run does, texts are freed early.
    pub reads_texts: bool,
    /// The languages that it is made for, as codes such as `en`, so that its scores of other texts mean little; empty
    /// for all.
    pub languages: Vec<String>,
}

impl About {
    /// A metric whose model may depend on all data, and whose score is a mean if its statistics are [`Mean`].
    pub fn new(signature: Signature, input: Input, columns: Vec<Column>, parts: Vec<Part>) -> Self {
        let is_mean = columns == Mean::columns();
        Self {
            signature,
            input,
            columns,
            parts,
            learns: Learns::Everything,
            is_mean,
            adds_up: true,
            is_slow: false,
            is_limited: false,
            reads_texts: true,
            languages: Vec::new(),
        }
    }

    /// The description of the mean of the first scores of metrics, under the key, the label and the range of `part`;
    /// `None` if they do not read text in the same way.
    pub fn average(members: &[Self], part: Part) -> Option<Self> {
        average::about(members.iter(), part)
    }

    /// Sets the data that the model depends on.
    pub fn learns(self, learns: Learns) -> Self {
        Self { learns, ..self }
    }

    /// Sets whether the corpus score is a function of summed statistics.
    pub fn adding_up(self, adds_up: bool) -> Self {
        Self { adds_up, ..self }
    }

    /// Sets whether a segment takes milliseconds.
    pub fn slow(self, is_slow: bool) -> Self {
        Self { is_slow, ..self }
    }

    /// Sets whether there are captions that exceed a limit.
    pub fn limited(self, is_limited: bool) -> Self {
        Self { is_limited, ..self }
    }

    /// Sets whether it reads captions as given besides their words, which explanations may always do.
    pub fn reading_texts(self, reads_texts: bool) -> Self {
        Self { reads_texts, ..self }
    }

    /// Sets whether it knows English and no other language.
    pub fn english(self, is_english: bool) -> Self {
        let english = is_english.then(|| "en".to_owned());
        self.made_for(english.into_iter().collect())
    }

    /// Sets the languages that it is made for.
    pub fn made_for(self, languages: Vec<String>) -> Self {
        Self { languages, ..self }
    }

    /// Returns true if it supports English and no other language.
    pub fn knows_only_english(&self) -> bool {
        self.languages == ["en"]
    }

    /// Sets whether the corpus score is the mean of the segment scores.
    pub fn mean(self, is_mean: bool) -> Self {
        Self { is_mean, ..self }
    }
}

/// The end of a caption that is too long for a metric, which ignores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The longest that the metric reads, in words.
    pub limit: &'static str,
    /// The sentence beyond it, and what is scored instead.
    pub what: String,
}

/// A metric, implemented by its author.
pub trait Metric: Send + Sync {
    /// The data fitted to all references before any segment is measured; usually `()`.
    type Model: Send + Sync;
    /// The statistics of a segment.
    type Stats: Statistics;
    /// Buffers that are reused from one segment to the next; usually `()`.
    type Scratch: Default + Send;

    /// The description of the metric with its settings.
    fn about(&self) -> About;
    /// Fits a model to the references of the images in the evaluation.
    fn fit(&self, references: &References<'_>) -> Self::Model;
    /// Takes notes on the references that [`References::memo`] may give back in later runs, and calls `advance` with
    /// the number of references after some are done; `None` if they are as quickly read again.
    fn remember(&self, _references: &References<'_>, _advance: &(dyn Fn(usize) + Sync)) -> Option<Memo> {
        None
    }
    /// Numbers of each reference that [`fit`](Self::fit) computes, and that [`References::figures`] may give back to it
    /// in later runs on the same images.
    fn figures(&self, _references: &References<'_>) -> Option<Figures> {
        None
    }
    /// Adds properties of the model to the signature, such as the fingerprint of a table.
    fn sign_model(&self, _model: &Self::Model, _signature: &mut Signature) {}
    /// Remarks on the model for readers of the scores.
    fn notices(&self, _model: &Self::Model) -> Vec<Notice> {
        Vec::new()
    }
    /// The part of a caption that the metric ignores since it is too long; asked only if the metric
    /// [is limited](About::is_limited).
    fn excess(&self, _caption: &str) -> Option<Excess> {
        None
    }
    /// Computes the statistics of one segment; must return a value for any segment.
    fn measure(&self, model: &Self::Model, segment: &Segment<'_>, scratch: &mut Self::Scratch)
    -> Self::Stats;
    /// Turns the summed statistics of a corpus into one value per part.
    fn score(&self, stats: &Self::Stats, values: &mut [f64]);
    /// As [`score`](Self::score), but from the statistics of all segments, for metrics whose corpus score is not a
    /// function of their sums.
    ///
    /// ROUGE-1.5.5, for example, prints the mean of resamples. Significance tests use [`score`](Self::score).
    fn score_table(&self, table: &Table, values: &mut [f64]) {
        self.score(&Self::Stats::load(&table.total()), values);
    }
    /// As [`score`](Self::score), but for a single segment, for metrics that treat it differently.
    fn score_segment(&self, stats: &Self::Stats, values: &mut [f64]) {
        self.score(stats, values);
    }
    /// Explains how the scores of one segment are computed; the value of each step is the score that
    /// [`score_segment`](Self::score_segment) computes.
    ///
    /// The default lists the statistics by the names of their columns.
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
    /// The statistics of one segment with this score.
    pub fn of(score: f64) -> Self {
        Self { count: 1.0, sum: score }
    }

    /// The columns of these statistics.
    pub fn columns() -> Vec<Column> {
        vec![Column::count("segments"), Column::sum("sum")]
    }

    /// The mean score; 0 without segments.
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
