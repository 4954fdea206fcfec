//! The search for the shifts that leave the fewest edits, as tercom does it.

use capeval_text::Symbol;

const MAX_SHIFT_LENGTH: usize = 10;
const MAX_SHIFT_DISTANCE: usize = 50;
const BEAM_WIDTH: usize = 25;
const MAX_SHIFTS_TRIED: usize = 1_000;

/// The cost of a cell outside the beam.
const FAR: u32 = u32::MAX / 2;

/// The step to a cell of the table from its cheapest neighbour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Keep,
    Replace,
    /// A word of the candidate is dropped.
    Delete,
    /// A word of the reference is added.
    Insert,
}

/// A run of words that moves to a place before another word.
#[derive(Clone, Copy)]
pub(super) struct Shift {
    start: usize,
    length: usize,
    to: usize,
}

impl Shift {
    /// Writes `words` after the shift to `shifted`; returns the range of words that may have changed.
    #[inline]
    pub(super) fn apply<T: Copy>(self, words: &[T], shifted: &mut Vec<T>) -> std::ops::Range<usize> {
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
    pub(super) alignment: Alignment,
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
pub(super) struct Alignment {
    pub(super) steps: Vec<Step>,
    /// For each word of the reference, one past the candidate's word that it is aligned with.
    after: Vec<usize>,
    /// For each prefix of the reference, the number of its edited words.
    reference_errors: Vec<usize>,
    /// For each prefix of the candidate, the number of its edited words.
    word_errors: Vec<usize>,
}

impl Scratch {
    /// The number of edits, including shifts, from `candidate` to `reference`.
    pub(super) fn edits(&mut self, candidate: &[Symbol], reference: &[Symbol]) -> usize {
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
    pub(super) fn shifts_and_distance(
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
    pub(super) fn align(&mut self, reference: &[Symbol]) {
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
