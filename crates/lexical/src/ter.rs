//! TER: the translation edit rate with shifts, as sacreBLEU computes it.
//!
//! Counts the edits that turn a candidate into its closest reference: words inserted, deleted or replaced, and runs of
//! words moved, each as one edit. The score is `100 · edits / words`, where `words` is the mean length of the
//! references; of several references, the one with the fewest edits counts. Lower is better, and scores above 100 are
//! possible. The corpus score is the quotient of the sums over all segments.
//!
//! Shifts are found by a greedy search: among all runs of words that candidate and reference share, the shift that
//! decreases the edit distance most is applied, until no shift decreases it.
//!
//! Paper: Snover et al., *A Study of Translation Edit Rate with Targeted Human Annotation* (2006).
//! Reference program: sacreBLEU 2.6.0, `metrics/ter.py` and `lib_ter.py`, after tercom.
//!
//! Quirks kept on purpose, most of them tercom's:
//! - a shifted run has at most 10 words, and its positions in candidate and reference differ by at most 50;
//! - the edit distance considers only cells within 25 of the diagonal, or more if the lengths differ greatly, so it may
//!   be too large for very different texts;
//! - the search stops after 1,000 tried shifts, and the last shift found is not applied;
//! - a shift is tried only if there are edits at both positions;
//! - of equally good shifts, the longest run is preferred, then the leftmost run, then the leftmost target;
//! - a shift that does not decrease the edit distance is not applied, even if it would make another one possible;
//! - references are tokenised twice, candidates once, so that with normalised text, of which a second pass may split
//!   more (`dog's's`), a candidate equal to its reference may need edits;
//! - with an empty reference, every word is an edit, and the score is 100, or 0 if the candidates are empty, too.

use capeval_metric::{
    About, AnyMetric, Column, Explanation, Input, Metric, MetricKind, Part, Reading, References, Segment,
    Setting, Signature, Statistics,
};
use capeval_text::tokenizers::tercom::Tercom;
use capeval_text::{Symbol, Tokenizer};

use crate::sacrebleu::Case;

mod explain;

const MAX_SHIFT_LENGTH: usize = 10;
const MAX_SHIFT_DISTANCE: usize = 50;
const BEAM_WIDTH: usize = 25;
const MAX_SHIFTS_TRIED: usize = 1_000;

capeval_choice::named! {
    /// The choice to normalise line breaks, entities and punctuation.
    pub enum Normalization ("normalization") {
        On = "yes", "they are";
        Off = "no", "they stay, as in the reference program unless told otherwise";
    }
}

capeval_choice::named! {
    /// The choice to keep punctuation.
    pub enum Punctuation ("punctuation") {
        Kept = "yes", "it stays, as in the reference program unless told otherwise";
        Removed = "no", "it is removed";
    }
}

capeval_choice::named! {
    /// The choice to apply normalization and removal of punctuation to East Asian text, too.
    pub enum EastAsian ("East Asian text") {
        Known = "yes", "they do";
        Unknown = "no", "they do not, as in the reference program unless told otherwise";
    }
}

/// The entry of TER in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "ter",
    summary: "edits and shifts per word that turn a candidate into its reference, times 100",
    paper: "Snover et al. 2006, A Study of Translation Edit Rate with Targeted Human Annotation",
    program: "sacreBLEU 2.6.0",
    settings: &[
        Setting { default: "lc", ..Case::SETTING },
        Setting::choice("norm", "no", "normalise punctuation and entities", Normalization::NAMES),
        Setting::choice("punct", "yes", "keep punctuation", Punctuation::NAMES),
        Setting::choice("asian", "no", "norm and punct also apply to East Asian text", EastAsian::NAMES),
    ],
    variants: &[],
    need: None,
    seconds: 0.01,
    build: |settings| {
        Ok(AnyMetric::new(Ter {
            case: settings.get("case")?,
            normalization: settings.get("norm")?,
            punctuation: settings.get("punct")?,
            east_asian: settings.get("asian")?,
        }))
    },
};

/// The translation edit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ter {
    /// The treatment of upper and lower case, which do not differ in the reference program.
    pub case: Case,
    /// The choice to normalise line breaks, entities and punctuation.
    pub normalization: Normalization,
    /// The choice to keep punctuation.
    pub punctuation: Punctuation,
    /// The choice to apply these two options to East Asian text, too.
    pub east_asian: EastAsian,
}

impl Ter {
    /// As in sacreBLEU: lower-cased, without other options.
    pub fn new() -> Self {
        Self {
            case: Case::Lower,
            normalization: Normalization::Off,
            punctuation: Punctuation::Kept,
            east_asian: EastAsian::Unknown,
        }
    }

    fn tokenizer(self) -> Tokenizer {
        use {EastAsian as A, Normalization as N, Punctuation as P};
        Tokenizer::Tercom(match (self.normalization, self.punctuation, self.east_asian) {
            (N::Off, P::Kept, _) => Tercom::Plain,
            (N::On, P::Kept, A::Unknown) => Tercom::Norm,
            (N::On, P::Kept, A::Known) => Tercom::NormAsian,
            (N::Off, P::Removed, A::Unknown) => Tercom::NoPunct,
            (N::Off, P::Removed, A::Known) => Tercom::NoPunctAsian,
            (N::On, P::Removed, A::Unknown) => Tercom::NormNoPunct,
            (N::On, P::Removed, A::Known) => Tercom::NormNoPunctAsian,
        })
    }
}

impl Default for Ter {
    fn default() -> Self {
        Self::new()
    }
}

/// The counts of TER.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Edits {
    /// The number of edits with the closest reference.
    pub edits: f64,
    /// The mean number of words in the references.
    pub words: f64,
}

impl Statistics for Edits {
    fn store(&self, row: &mut [f64]) {
        row.copy_from_slice(&[self.edits, self.words]);
    }

    fn load(row: &[f64]) -> Self {
        Self { edits: row[0], words: row[1] }
    }
}

/// The references that a second pass of the tokenizer changes.
#[derive(Debug, Default)]
pub struct Model {
    /// The indices of these sentences, ascending.
    changed: Vec<usize>,
    /// Their words after the second pass. Words that are in no text of this evaluation are [`Symbol::EMPTY`], which no
    /// candidate contains.
    words: Vec<Vec<Symbol>>,
}

impl Model {
    fn words<'w>(&'w self, reference: usize, once: &'w [Symbol]) -> &'w [Symbol] {
        if self.changed.is_empty() {
            return once;
        }
        self.changed.binary_search(&reference).map_or(once, |at| &self.words[at])
    }
}

impl Metric for Ter {
    type Model = Model;
    type Stats = Edits;
    type Scratch = Scratch;

    fn about(&self) -> About {
        let Self { case, normalization, punctuation, east_asian } = self;
        let signature = Signature::new("ter")
            .with("case", case)
            .with("norm", normalization)
            .with("punct", punctuation)
            .with("asian", east_asian)
            .with("tok", "tercom");
        let reading = match case {
            Case::Mixed => Reading::Tokens(self.tokenizer()),
            Case::Lower => Reading::LowerTokens(self.tokenizer()),
        };
        let input = Input::new(reading);
        let columns = vec![Column::count("edits"), Column::sum("words")];
        let parts = vec![Part::score("ter", "TER", 0.0..=f64::INFINITY).lower()];
        About::new(signature, input, columns, parts)
    }

    fn fit(&self, references: &References<'_>) -> Model {
        let mut model = Model::default();
        if self.normalization == Normalization::Off {
            return model;
        }
        let (tokenizer, vocabulary) = (self.tokenizer(), references.vocabulary);
        let (mut text, mut twice, mut scratch) = (String::new(), Vec::new(), Default::default());
        for reference in references.sentences_once() {
            let once = references.sentences.words(reference);
            text.clear();
            for word in once {
                text.push_str(vocabulary.word(*word));
                text.push(' ');
            }
            twice.clear();
            tokenizer.tokenize(&text, &mut scratch, |word| {
                twice.push(vocabulary.get(word).unwrap_or(Symbol::EMPTY));
            });
            if twice != once {
                model.changed.push(reference);
                model.words.push(twice.clone());
            }
        }
        model
    }

    fn measure(&self, model: &Model, segment: &Segment<'_>, scratch: &mut Scratch) -> Edits {
        let sentences = segment.references.of(segment.image);
        let references = sentences.zip(segment.reference_words()).map(|(r, once)| model.words(r, once));
        let n_references = references.len();
        let n_words: usize = references.clone().map(<[_]>::len).sum();
        let edits = references.map(|reference| scratch.edits(segment.words, reference)).min();
        Edits {
            edits: edits.unwrap_or(segment.words.len()) as f64,
            words: n_words as f64 / n_references.max(1) as f64,
        }
    }

    fn score(&self, stats: &Edits, values: &mut [f64]) {
        values[0] = if stats.words > 0.0 {
            100.0 * (stats.edits / stats.words)
        } else if stats.edits > 0.0 {
            100.0
        } else {
            0.0
        };
    }

    fn explain(&self, model: &Model, segment: &Segment<'_>, scratch: &mut Scratch) -> Explanation {
        self.explained(model, segment, scratch)
    }
}

/// The cost of a cell outside the beam.
const FAR: u32 = u32::MAX / 2;

/// The step to a cell of the table from its cheapest neighbour.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Keep,
    Replace,
    /// A word of the candidate is dropped.
    Delete,
    /// A word of the reference is added.
    Insert,
}

/// A run of words that moves to a place before another word.
#[derive(Clone, Copy)]
struct Shift {
    start: usize,
    length: usize,
    to: usize,
}

impl Shift {
    /// Writes `words` after the shift to `shifted`; returns the range of words that may have changed.
    #[inline]
    fn apply<T: Copy>(self, words: &[T], shifted: &mut Vec<T>) -> std::ops::Range<usize> {
        let Self { start, length, to } = self;
        let (run, end) = (&words[start..start + length], start + length);
        shifted.clear();
        if to < start {
            for part in [&words[..to], run, &words[to..start], &words[end..]] {
                shifted.extend_from_slice(part);
            }
            to..end
        } else {
            // A target within the run is counted from the start of the run, as in the reference program.
            let to = if to > end { to } else { (length + to).min(words.len()) };
            for part in [&words[..start], &words[end..to], run, &words[to..]] {
                shifted.extend_from_slice(part);
            }
            start..to
        }
    }
}

/// The cells of the table that the beam visits, and buffers.
#[derive(Default)]
pub struct Scratch {
    /// The candidate after the shifts so far.
    words: Vec<Symbol>,
    shifted: Vec<Symbol>,
    best: Vec<Symbol>,
    beam: Beam,
    /// The costs of inserting the first j words of the reference.
    first: Vec<u32>,
    /// Row after row, the costs of turning the first i words into the first j words of the reference.
    costs: Vec<u32>,
    /// The costs of a shifted candidate, from the first row that differs on.
    trial: Vec<u32>,
    alignment: Alignment,
}

/// The geometry of the table for two lengths: the columns of each row, and their storage.
#[derive(Clone, Copy, Default)]
struct Beam {
    n_words: usize,
    n_reference: usize,
    ratio: f64,
    width: usize,
}

impl Beam {
    fn new(n_words: usize, n_reference: usize) -> Self {
        let ratio = if n_words == 0 { 1.0 } else { n_reference as f64 / n_words as f64 };
        let half = ratio / 2.0;
        let width =
            if (BEAM_WIDTH as f64) < half { (half + BEAM_WIDTH as f64).ceil() as usize } else { BEAM_WIDTH };
        Self { n_words, n_reference, ratio, width }
    }

    /// The columns of row `i`, from 1.
    fn columns(&self, i: usize) -> std::ops::Range<usize> {
        let diagonal = (i as f64 * self.ratio).floor() as usize;
        let end =
            if i == self.n_words { usize::MAX } else { diagonal + self.width }.min(self.n_reference + 1);
        diagonal.saturating_sub(self.width).min(end)..end
    }

    /// The cells of row `i`, from 1, among the stored `rows`.
    fn cells<'r>(&self, i: usize, rows: &'r [u32]) -> &'r [u32] {
        let start = (i - 1) * self.stride();
        &rows[start..start + self.columns(i).len()]
    }

    /// The number of cells that are reserved for each row.
    fn stride(&self) -> usize {
        (2 * self.width + 2).min(self.n_reference + 1)
    }

    /// Computes row `i` for `word` from the stored rows before it; returns the row's cells.
    #[inline]
    fn fill<'r>(
        &self,
        i: usize,
        word: Symbol,
        reference: &[Symbol],
        above: &[u32],
        row: &'r mut [u32],
    ) -> &'r mut [u32] {
        let columns = self.columns(i);
        let above_start = if i == 1 { 0 } else { self.columns(i - 1).start };
        let cost_above = |j: usize| above.get(j - above_start).copied().unwrap_or(FAR);
        let mut left = FAR;
        let mut diagonal = if columns.start <= above_start { FAR } else { cost_above(columns.start - 1) };
        let cells = &mut row[..columns.len()];
        // There is one column more than words in the reference: the first column is for no word.
        let words = reference[columns.start.saturating_sub(1)..].iter().map(Some);
        let words = (columns.start == 0).then_some(None).into_iter().chain(words);
        for ((cell, j), expected) in cells.iter_mut().zip(columns).zip(words) {
            let up = cost_above(j);
            let kept = expected.map_or(FAR, |expected| diagonal + u32::from(*expected != word));
            left = kept.min(up + 1).min(left + 1).min(FAR);
            *cell = left;
            diagonal = up;
        }
        cells
    }
}

/// The alignment of words of candidate and reference on the cheapest path.
#[derive(Default)]
struct Alignment {
    steps: Vec<Step>,
    /// For each word of the reference, one past the candidate's word that it is aligned with.
    after: Vec<usize>,
    /// For each prefix of the reference, the number of its edited words.
    reference_errors: Vec<usize>,
    /// For each prefix of the candidate, the number of its edited words.
    word_errors: Vec<usize>,
}

impl Scratch {
    /// The number of edits, including shifts, from `candidate` to `reference`.
    fn edits(&mut self, candidate: &[Symbol], reference: &[Symbol]) -> usize {
        if reference.is_empty() || candidate.is_empty() {
            return candidate.len().max(reference.len());
        }
        if candidate == reference {
            return 0;
        }
        let (shifts, distance) = self.shifts_and_distance(candidate, reference, |_| {});
        shifts + distance
    }

    /// The number of shifts, and of edits that remain after them; `moved` is called for each shift. Leaves the words
    /// after the shifts in `words`, and their alignment with the reference in `alignment`.
    fn shifts_and_distance(
        &mut self,
        candidate: &[Symbol],
        reference: &[Symbol],
        mut moved: impl FnMut(Shift),
    ) -> (usize, usize) {
        self.words.clear();
        self.words.extend_from_slice(candidate);
        self.beam = Beam::new(candidate.len(), reference.len());
        self.first.clear();
        self.first.extend(0..=reference.len() as u32);
        self.costs.resize(candidate.len() * self.beam.stride(), FAR);
        let mut distance = self.fill(0, reference);
        let (mut n_shifts, mut n_tried) = (0, 0);
        loop {
            let best = self.best_shift(distance, reference, &mut n_tried);
            let Some(shift) = best.filter(|_| n_tried < MAX_SHIFTS_TRIED) else {
                return (n_shifts, distance as usize);
            };
            n_shifts += 1;
            moved(shift);
            let unchanged = self.words.iter().zip(&self.best).take_while(|(a, b)| a == b).count();
            std::mem::swap(&mut self.words, &mut self.best);
            distance = self.fill(unchanged, reference);
        }
    }

    /// Computes the rows of the table for all words from number `first` on; returns the edit distance.
    fn fill(&mut self, first: usize, reference: &[Symbol]) -> u32 {
        let stride = self.beam.stride();
        for (k, word) in self.words.iter().enumerate().skip(first) {
            let (before, row) = self.costs.split_at_mut(k * stride);
            let above = if k == 0 { &self.first[..] } else { self.beam.cells(k, before) };
            self.beam.fill(k + 1, *word, reference, above, row);
        }
        self.cost(self.words.len(), reference.len())
    }

    /// The cost at row `i`, column `j` of the table.
    fn cost(&self, i: usize, j: usize) -> u32 {
        let Some(above) = i.checked_sub(1) else { return j as u32 };
        let columns = self.beam.columns(i);
        if columns.contains(&j) { self.costs[above * self.beam.stride() + j - columns.start] } else { FAR }
    }

    /// Finds the shift that decreases the edit distance most, and leaves the words after it in `best`; `None` if no
    /// shift decreases it.
    fn best_shift(&mut self, distance: u32, reference: &[Symbol], n_tried: &mut usize) -> Option<Shift> {
        self.align(reference);
        let (n_words, n_reference) = (self.words.len(), reference.len());
        let mut best: Option<(u32, usize, usize, usize)> = None;
        'search: for start in 0..n_words {
            let nearby =
                start.saturating_sub(MAX_SHIFT_DISTANCE)..(start + MAX_SHIFT_DISTANCE + 1).min(n_reference);
            for target in nearby {
                let run = self.words[start..]
                    .iter()
                    .zip(&reference[target..])
                    .take(MAX_SHIFT_LENGTH)
                    .take_while(|(a, b)| a == b)
                    .count();
                for length in 1..=run {
                    let Alignment { after, reference_errors, word_errors, .. } = &self.alignment;
                    let errors = |sums: &[usize], from: usize| sums[from + length] - sums[from];
                    let aligned = after[target];
                    if errors(word_errors, start) == 0
                        || errors(reference_errors, target) == 0
                        || (start < aligned && aligned <= start + length)
                    {
                        continue;
                    }
                    let mut before = None;
                    for offset in 0..=length {
                        // Before the run's first word in the reference, then after each of its words.
                        let to = match (target + offset).checked_sub(1) {
                            None => 0,
                            Some(word) => self.alignment.after[word],
                        };
                        if before == Some(to) {
                            continue;
                        }
                        before = Some(to);
                        *n_tried += 1;
                        let cost = self.try_shift(start, length, to, reference);
                        let gain = distance.saturating_sub(cost);
                        let rank = (gain, length, n_words - start, n_words - to);
                        if gain > 0 && best.is_none_or(|best| rank > best) {
                            best = Some(rank);
                            std::mem::swap(&mut self.shifted, &mut self.best);
                        }
                    }
                    if *n_tried >= MAX_SHIFTS_TRIED {
                        break 'search;
                    }
                }
            }
        }
        let (_, length, start, to) = best?;
        Some(Shift { start: n_words - start, length, to: n_words - to })
    }

    /// The edit distance after moving `length` words from `start` to the place before word `to`; leaves the words in
    /// `shifted`.
    fn try_shift(&mut self, start: usize, length: usize, to: usize, reference: &[Symbol]) -> u32 {
        let words = &self.words;
        let changed = Shift { start, length, to }.apply(words, &mut self.shifted);
        let stride = self.beam.stride();
        self.trial.resize(words.len() * stride, FAR);
        let mut last = FAR;
        for k in changed.start..words.len() {
            let (before, row) = self.trial.split_at_mut(k * stride);
            let above = match k {
                0 => &self.first[..],
                _ if k == changed.start => self.beam.cells(k, &self.costs),
                _ => self.beam.cells(k, before),
            };
            let row = self.beam.fill(k + 1, self.shifted[k], reference, above, row);
            last = row.last().copied().unwrap_or(FAR);
            if k >= changed.end {
                // From here on, the words are the same as before, so rows that differ by a constant will always do so.
                if let Some(difference) = constant_difference(row, self.beam.cells(k + 1, &self.costs)) {
                    return self.cost(words.len(), reference.len()).wrapping_add_signed(difference);
                }
            }
        }
        last
    }

    /// Follows the cheapest path backwards.
    fn align(&mut self, reference: &[Symbol]) {
        let (mut i, mut j) = (self.words.len(), reference.len());
        self.alignment.steps.clear();
        while i > 0 || j > 0 {
            let step = self.step(i, j, reference);
            match step {
                Step::Keep | Step::Replace => (i, j) = (i - 1, j - 1),
                Step::Delete => i -= 1,
                Step::Insert => j -= 1,
            }
            self.alignment.steps.push(step);
        }
        let Alignment { steps, after, reference_errors, word_errors } = &mut self.alignment;
        after.clear();
        for errors in [&mut *reference_errors, &mut *word_errors] {
            errors.clear();
            errors.push(0);
        }
        let push = |errors: &mut Vec<usize>, error: usize| {
            errors.push(errors.last().copied().unwrap_or(0) + error);
        };
        let mut n_words = 0;
        for step in steps.iter().rev() {
            let error = usize::from(*step != Step::Keep);
            if *step != Step::Insert {
                n_words += 1;
                push(word_errors, error);
            }
            if *step != Step::Delete {
                after.push(n_words);
                push(reference_errors, error);
            }
        }
    }

    /// The step to the cell at row `i`, column `j`: keeping or replacing is preferred, then deleting.
    fn step(&self, i: usize, j: usize, reference: &[Symbol]) -> Step {
        if i == 0 {
            return Step::Insert;
        }
        if j == 0 {
            return Step::Delete;
        }
        let cost = self.cost(i, j);
        let differs = reference[j - 1] != self.words[i - 1];
        if self.cost(i - 1, j - 1) + u32::from(differs) == cost {
            if differs { Step::Replace } else { Step::Keep }
        } else if self.cost(i - 1, j) + 1 == cost {
            Step::Delete
        } else {
            Step::Insert
        }
    }
}

/// The difference between every cell of `new` and that of `old`; `None` if it is not constant.
fn constant_difference(new: &[u32], old: &[u32]) -> Option<i32> {
    let difference = |(new, old): (&u32, &u32)| new.wrapping_sub(*old) as i32;
    let first = new.iter().zip(old).map(difference).next()?;
    new.iter().zip(old).map(difference).all(|other| other == first).then_some(first)
}
