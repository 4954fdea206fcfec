//! Scores small batches against fixed references, for training loops, in which every millisecond counts.
//!
//! A [`BatchScorer`] reads its references, counts their n-grams and fits its metrics once. The cost of a batch depends
//! only on its own captions, except for metrics that learn from all words ([`Learns::Everything`]), and the digits are
//! those of [`evaluate`](crate::evaluate()) over all images. Candidates' words that are not in the references are
//! numbered for one batch only.

use std::collections::HashMap;
use std::sync::Arc;

use capeval_choice::Refusal;
use capeval_metric::{AnyMetric, Candidates, FittedMetric, Input, Learns, Reading};
use capeval_text::{Ends, Sentences, Symbol, Texts, Vocabulary};
use rayon::prelude::*;

use crate::progress::{Progress, Stage};
use crate::references::{ReferenceCounts, ReferenceSet, read};
use crate::run::evaluate;
use crate::sequence::Sequence;
use crate::session;
use crate::system::System;

/// The minimum and maximum number of captions per chunk of work; with slow metrics, each caption is one.
const CHUNK: (usize, usize) = (32, 512);

/// Metrics fitted to references, for any number of batches from any number of threads.
pub struct BatchScorer {
    set: ReferenceSet,
    /// All images.
    images: Vec<u32>,
    metrics: Vec<AnyMetric>,
    /// By metric: the number of columns of its statistics, and the number of its parts.
    sizes: Vec<(usize, usize)>,
    groups: Vec<Group>,
    /// Metrics whose models depend on words only, which are fitted to each batch.
    alone: Vec<usize>,
}

/// The metrics with the same reading.
struct Group {
    /// The combined input that they need.
    input: Input,
    /// The words of the references and of saved tables.
    vocabulary: Arc<Vocabulary>,
    counted: ReferenceCounts,
    members: Vec<Member>,
}

/// Tokenised captions, with their words.
struct Batch<'b> {
    vocabulary: &'b Vocabulary,
    texts: &'b Texts,
    sentences: &'b Sentences,
}

struct Member {
    /// The index of the metric.
    metric: usize,
    fitted: FittedMetric,
    /// True if the metric must be fitted again when a batch contains words that the vocabulary lacks.
    knows_words: bool,
}

/// The scores of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchScores {
    /// The number of values per caption.
    pub n_parts: usize,
    /// The values, one per part: caption after caption, and metric after metric within a caption.
    pub values: Vec<f64>,
}

/// A mapping from numbers to words, for captions that are given as numbers; see [`BatchScorer::codes`].
#[derive(Debug)]
pub struct Codes {
    /// The word for each number below the length of this list.
    symbols: Vec<Symbol>,
    /// The words for greater numbers.
    sparse: HashMap<u32, Symbol>,
    /// The offset that is added to other numbers to turn them into distinct words.
    beyond: u32,
}

/// The greatest number that a word may have.
pub const MAX_CODE: u32 = 1 << 30;

/// Numbers below this are stored in a list; greater ones in a hash map.
const MOST_LISTED: u32 = 1 << 22;

impl Codes {
    /// The word for `code`.
    ///
    /// Metrics keep lists with a place for each word, so great numbers that are not listed are renumbered in
    /// `great`, which all captions of a chunk share.
    #[inline]
    fn symbol(&self, code: u32, great: &mut HashMap<u32, u32>) -> Symbol {
        if let Some(symbol) = self.symbols.get(code as usize).or_else(|| self.sparse.get(&code)) {
            return *symbol;
        }
        let n_listed = MOST_LISTED.max(self.symbols.len() as u32);
        if code < n_listed {
            return unknown(self.beyond, code);
        }
        let next = n_listed + great.len() as u32;
        unknown(self.beyond, *great.entry(code).or_insert(next))
    }
}

/// The number whose canonical decimal digits are `word`; `None` if there is none.
fn number(word: &str) -> Option<u32> {
    let starts_plain = word == "0" || !word.starts_with(['0', '+']);
    word.parse().ok().filter(|code| starts_plain && *code <= MAX_CODE)
}

/// A word that is in no vocabulary; equal codes give equal words.
fn unknown(beyond: u32, code: u32) -> Symbol {
    bytemuck::cast(beyond.saturating_add(code))
}

impl BatchScorer {
    /// Reads and counts `references`, and fits `metrics` to all of them. `table_words` are the words of saved tables
    /// that the metrics use. `progress` is notified for each metric.
    ///
    /// No score depends on the rest of its batch, so a metric that reads all captions as one text reads each image's on
    /// their own instead, see [`AnyMetric::each`].
    pub fn new<'w>(
        references: ReferenceSet,
        metrics: Vec<AnyMetric>,
        table_words: impl Iterator<Item = &'w str> + Clone,
        progress: &dyn Progress,
    ) -> Self {
        let metrics: Vec<AnyMetric> = metrics.into_iter().map(AnyMetric::each).collect();
        let mut set = references;
        let n_references = set.n_references();
        progress.begin(Stage::Reading, n_references * metrics.len());
        for metric in &metrics {
            set.prepare([metric.input()]);
            progress.advance(n_references);
        }
        progress.begin(Stage::Fitting, n_references * metrics.len());
        let images: Vec<u32> = (0..set.n_images() as u32).collect();
        let sizes =
            metrics.iter().map(|metric| (metric.about().columns.len(), metric.parts().len())).collect();
        let learns = |m: usize| metrics[m].about().learns;
        let (alone, together): (Vec<usize>, Vec<usize>) =
            (0..metrics.len()).partition(|m| learns(*m) == Learns::Words);
        let inputs = together.into_iter().map(|m| (m, metrics[m].input()));
        let mut groups = Vec::new();
        for session::Group { view, input, members } in session::groups(&set, inputs) {
            let mut vocabulary = Vocabulary::over(Arc::clone(&view.vocabulary));
            for word in table_words.clone() {
                vocabulary.intern(word);
            }
            let is_more = vocabulary.len() > view.vocabulary.len();
            let vocabulary = if is_more { Arc::new(vocabulary) } else { Arc::clone(&view.vocabulary) };
            let counted = view.counted(&set, &images, input);
            let references = view.references(&set, &vocabulary, &images, &counted);
            let fit = |metric: usize| {
                let fitted = metrics[metric].fit(&references);
                progress.advance(n_references);
                Member { metric, fitted, knows_words: learns(metric) == Learns::Everything }
            };
            let members = members.into_iter().map(fit).collect();
            groups.push(Group { input, vocabulary, counted, members });
        }
        Self { set, images, metrics, sizes, groups, alone }
    }

    /// The metrics, in the order of the scores.
    pub fn metrics(&self) -> &[AnyMetric] {
        &self.metrics
    }

    /// The references of all images.
    pub fn references(&self) -> &ReferenceSet {
        &self.set
    }

    /// The number of images.
    pub fn n_images(&self) -> usize {
        self.images.len()
    }

    /// The number of values in the score of a caption.
    pub fn n_parts(&self) -> usize {
        self.sizes.iter().map(|(_, n_parts)| n_parts).sum()
    }

    /// The number of columns in the statistics of a caption.
    pub fn n_columns(&self) -> usize {
        self.sizes.iter().map(|(n_columns, _)| n_columns).sum()
    }

    /// The scores of captions given as texts: text `k` describes `images[k]`. Images may repeat.
    ///
    /// # Panics
    /// When the numbers of images and texts differ, or there is no such image.
    pub fn score(&self, images: &[u32], texts: &Texts) -> BatchScores {
        assert_eq!(images.len(), texts.len(), "an image for each caption");
        self.scores(&self.statistics(images, texts))
    }

    /// As [`score`](Self::score), but of captions given as numbers: `words` contains all captions, and `ends` the end
    /// of each.
    ///
    /// # Panics
    /// When the numbers of images and ends differ, or `ends` exceeds the length of `words`.
    pub fn score_codes(&self, codes: &Codes, images: &[u32], words: &[u32], ends: &[u64]) -> BatchScores {
        assert_eq!(images.len(), ends.len(), "an image for each caption");
        let mut rows = vec![0.0; images.len() * self.n_columns()];
        for group in &self.groups {
            self.in_chunks(group, images, &mut rows, |part, images, rows| {
                let (first, last) = (Ends(ends).start(part.start), Ends(ends).start(part.end));
                let mut great = HashMap::new();
                let symbols: Vec<Symbol> =
                    words[first..last].iter().map(|code| codes.symbol(*code, &mut great)).collect();
                let ends: Vec<u64> = ends[part].iter().map(|end| end - first as u64).collect();
                let sentences = Sentences::of_words(&symbols, &ends);
                let blank = Texts::blank(images.len());
                let batch = Batch { vocabulary: &group.vocabulary, texts: &blank, sentences: &sentences };
                self.measure(group, &[], &batch, 0, images, rows);
            });
        }
        self.scores(&rows)
    }

    /// A mapping in which `words[k]` is the word for `k`. Greater numbers, and words that the references lack, are
    /// distinct words.
    ///
    /// # Errors
    /// When the metrics have more than one reading, or use more than the equality of words.
    pub fn codes<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Result<Codes, Refusal> {
        let group = self.coded()?;
        let beyond = group.vocabulary.len() as u32;
        let mut others = HashMap::<&str, u32>::new();
        let symbols = (0..).zip(words).map(|(code, word)| match group.vocabulary.get(word) {
            Some(symbol) => symbol,
            None => unknown(beyond, *others.entry(word).or_insert(code)),
        });
        Ok(Codes { symbols: symbols.collect(), sparse: HashMap::new(), beyond })
    }

    /// A mapping in which the word for each number up to [`MAX_CODE`] is its decimal digits.
    pub fn digits(&self) -> Result<Codes, Refusal> {
        let group = self.coded()?;
        let beyond = group.vocabulary.len() as u32;
        let spelt = || {
            let words = group.vocabulary.iter();
            words.filter_map(|(symbol, word)| Some((number(word)?, symbol)))
        };
        let n = spelt().map(|(code, _)| code + 1).filter(|n| *n <= MOST_LISTED).max().unwrap_or(0);
        let mut symbols: Vec<Symbol> = (0..n).map(|code| unknown(beyond, code)).collect();
        let mut sparse = HashMap::new();
        for (code, symbol) in spelt() {
            match symbols.get_mut(code as usize) {
                Some(slot) => *slot = symbol,
                None => drop(sparse.insert(code, symbol)),
            }
        }
        Ok(Codes { symbols, sparse, beyond })
    }

    /// The only group of metrics, to which captions may be given as numbers.
    fn coded(&self) -> Result<&Group, Refusal> {
        let plain = |group: &Group| {
            matches!(group.input.reading, Reading::Tokens(_))
                && group.members.iter().all(|member| !member.knows_words)
        };
        match &self.groups[..] {
            [group] if self.alone.is_empty() && plain(group) => Ok(group),
            _ => Err(Refusal::new(
                "captions can be given as numbers only to metrics that ask no more of words than which are \
                 equal (BLEU, ROUGE-L, CIDEr, CIDEr-D), all with one tokenizer",
            )
            .with_remedy("give texts")),
        }
    }

    /// The statistics of captions, row after row; a row contains the columns of all metrics.
    ///
    /// # Panics
    /// As [`score`](Self::score).
    pub fn statistics(&self, images: &[u32], texts: &Texts) -> Vec<f64> {
        assert_eq!(images.len(), texts.len(), "an image for each caption");
        let mut rows = vec![0.0; images.len() * self.n_columns()];
        for group in &self.groups {
            if group.members.iter().any(|member| member.knows_words) {
                self.measure_whole(group, images, texts, &mut rows);
                continue;
            }
            self.in_chunks(group, images, &mut rows, |part, images, rows| {
                let texts: Texts = part.map(|k| texts.get(k)).collect();
                let mut vocabulary = Vocabulary::over(Arc::clone(&group.vocabulary));
                let sentences =
                    read(group.input.reading, &texts, &Sequence::single(texts.len()), &mut vocabulary);
                let batch = Batch { vocabulary: &vocabulary, texts: &texts, sentences: &sentences };
                self.measure(group, &[], &batch, 0, images, rows);
            });
        }
        if !self.alone.is_empty() {
            self.measure_alone(images, texts, &mut rows);
        }
        rows
    }

    /// Turns rows of statistics into scores.
    pub fn scores(&self, rows: &[f64]) -> BatchScores {
        let (n_columns, n_parts) = (self.n_columns(), self.n_parts());
        let mut values = vec![0.0; rows.len() / n_columns.max(1) * n_parts];
        for (row, values) in rows.chunks_exact(n_columns.max(1)).zip(values.chunks_exact_mut(n_parts.max(1)))
        {
            let (mut column, mut part) = (0, 0);
            for (metric, (columns, parts)) in self.metrics.iter().zip(&self.sizes) {
                metric.score_segment(&row[column..column + columns], &mut values[part..part + parts]);
                column += columns;
                part += parts;
            }
        }
        BatchScores { n_parts, values }
    }

    /// Distributes a batch to threads that measure it by the metrics of a group: `work` receives a range of captions,
    /// with their images and rows.
    fn in_chunks(
        &self,
        group: &Group,
        images: &[u32],
        rows: &mut [f64],
        work: impl Fn(std::ops::Range<usize>, &[u32], &mut [f64]) + Sync,
    ) {
        let share = images.len().div_ceil(2 * rayon::current_num_threads());
        let is_slow = group.members.iter().any(|member| self.metrics[member.metric].about().is_slow);
        let chunk = if is_slow { 1 } else { share.clamp(CHUNK.0, CHUNK.1) };
        let width = self.n_columns().max(1);
        let chunks = images.par_chunks(chunk).zip(rows.par_chunks_mut(chunk * width)).enumerate();
        chunks.with_max_len(1).for_each(|(c, (images, rows))| {
            work(c * chunk..c * chunk + images.len(), images, rows);
        });
    }

    /// Measures a batch by a group of metrics of which some must be fitted again to its new words, which is done once
    /// for the whole batch.
    fn measure_whole(&self, group: &Group, images: &[u32], texts: &Texts, rows: &mut [f64]) {
        let Some(view) = self.set.views.iter().find(|view| view.reading == group.input.reading) else {
            return;
        };
        let mut vocabulary = Vocabulary::over(Arc::clone(&group.vocabulary));
        let sentences = read(group.input.reading, texts, &Sequence::single(texts.len()), &mut vocabulary);
        let references = view.references(&self.set, &vocabulary, &self.images, &group.counted);
        let is_new = vocabulary.len() > group.vocabulary.len();
        let fit = |member: &Member| {
            (member.knows_words && is_new).then(|| self.metrics[member.metric].fit(&references))
        };
        let refitted: Vec<Option<FittedMetric>> = group.members.iter().map(fit).collect();
        let batch = Batch { vocabulary: &vocabulary, texts, sentences: &sentences };
        self.in_chunks(group, images, rows, |part, images, rows| {
            self.measure(group, &refitted, &batch, part.start, images, rows);
        });
    }

    /// Measures the captions of a batch from `first` on, one for each of `images`, by the metrics of a group;
    /// `refitted` contains those that were fitted to this batch.
    fn measure(
        &self,
        group: &Group,
        refitted: &[Option<FittedMetric>],
        batch: &Batch<'_>,
        first: usize,
        images: &[u32],
        rows: &mut [f64],
    ) {
        let Batch { vocabulary, texts, sentences } = *batch;
        let Some(view) = self.set.views.iter().find(|view| view.reading == group.input.reading) else {
            return;
        };
        let references = view.references(&self.set, vocabulary, &self.images, &group.counted);
        let mut workers: Vec<_> = group
            .members
            .iter()
            .enumerate()
            .map(|(m, member)| {
                let fitted = refitted.get(m).and_then(Option::as_ref);
                let before: usize = self.sizes.iter().take(member.metric).map(|(columns, _)| columns).sum();
                let columns = before..before + self.sizes[member.metric].0;
                match fitted {
                    Some(fitted) => (fitted.worker(), columns),
                    None => (member.fitted.worker(), columns),
                }
            })
            .collect();
        let candidates = Candidates { texts, sentences, system: 0 };
        let width = self.n_columns().max(1);
        session::visit(
            &references,
            group.input,
            candidates,
            images,
            |at| first + at,
            |at, segment| {
                let row = &mut rows[at * width..(at + 1) * width];
                for (worker, columns) in &mut workers {
                    worker.measure(segment, &mut row[columns.clone()]);
                }
            },
        );
    }

    /// Measures a batch by the metrics that depend only on its words and their references.
    fn measure_alone(&self, images: &[u32], texts: &Texts, rows: &mut [f64]) {
        let lists: Vec<Vec<&str>> =
            images.iter().map(|image| self.set.of(*image as usize).collect()).collect();
        let mut set = ReferenceSet::of_rows(&lists).with_memos_of(&self.set);
        let texts = (0..texts.len()).map(|k| texts.get(k)).collect();
        let system = System { name: String::new(), images: (0..images.len() as u32).collect(), texts };
        let metrics: Vec<AnyMetric> = self.alone.iter().map(|m| self.metrics[*m].clone()).collect();
        let width = self.n_columns().max(1);
        for scores in evaluate(&mut set, &[system], &metrics, &()) {
            for (m, metric) in self.alone.iter().zip(scores.metrics) {
                let first: usize = self.sizes.iter().take(*m).map(|(columns, _)| columns).sum();
                for (row, statistics) in rows.chunks_exact_mut(width).zip(metric.table.rows()) {
                    row[first..first + statistics.len()].copy_from_slice(statistics);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn great_codes_become_small_and_distinct_words() {
        let codes = Codes { symbols: vec![Symbol::EMPTY; 5], sparse: HashMap::new(), beyond: 100 };
        let mut great = HashMap::new();
        let mut word = |code| codes.symbol(code, &mut great).number();
        let words = [3, 5, MOST_LISTED - 1, MOST_LISTED, MAX_CODE, MAX_CODE - 1, MAX_CODE].map(&mut word);
        let first = 100 + MOST_LISTED;
        assert_eq!(words, [0, 105, first - 1, first, first + 1, first + 2, first + 1]);
    }
}
