//! The best common subsequence if runs of consecutive words have a higher weight.

/// The number of cells of the dynamic-programming table whose directions are kept, unless one row has more.
const KEPT_CELLS: usize = 1 << 20;

/// Finds common subsequences in which a run of k words is worth k^weight.
///
/// Paper: Lin, *ROUGE: A Package for Automatic Evaluation of Summaries* (2004), section 4. As in ROUGE-1.5.5, the
/// result is not always the best subsequence: the algorithm uses every pair of equal words, and stores only one run per
/// cell.
#[derive(Default)]
pub(crate) struct WeightedLcs {
    weight: f64,
    /// `powers[k]` is k^weight.
    powers: Vec<f64>,
    row: Row,
    checkpoints: Vec<Row>,
    directions: Vec<Direction>,
}

/// For each prefix of the candidate, the weight of the subsequence, and the length of the run at its end.
#[derive(Clone, Default)]
struct Row {
    worth: Vec<f64>,
    run: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Both,
    Reference,
    Candidate,
}

impl WeightedLcs {
    /// Sets the weight, and computes powers up to `longest`.
    pub(crate) fn prepare(&mut self, weight: f64, longest: usize) {
        if self.weight != weight {
            self.weight = weight;
            self.powers.clear();
        }
        let from = self.powers.len();
        self.powers.extend((from..=longest).map(|k| (k as f64).powf(weight)));
    }

    /// The weight of a run of `k` words.
    ///
    /// # Panics
    /// When `k` exceeds the `longest` of [`prepare`](Self::prepare).
    pub(crate) fn power(&self, k: usize) -> f64 {
        self.powers[k]
    }

    /// Marks the words of the common subsequence of a `reference` sentence and a `candidate` sentence.
    ///
    /// # Panics
    /// When `marks` is shorter than `reference`.
    pub(crate) fn mark(&mut self, reference: &[u32], candidate: &[u32], marks: &mut [bool]) {
        let width = candidate.len();
        if width == 0 || reference.is_empty() {
            return;
        }
        let stride =
            if reference.len() * width <= KEPT_CELLS { reference.len() } else { reference.len().isqrt() + 1 };
        self.row.worth.clear();
        self.row.worth.resize(width + 1, 0.0);
        self.row.run.clear();
        self.row.run.resize(width + 1, 0);
        self.checkpoints.clear();
        let n_chunks = reference.len().div_ceil(stride);
        for (k, chunk) in reference.chunks(stride).enumerate() {
            self.checkpoints.push(self.row.clone());
            if k + 1 < n_chunks {
                self.fill(chunk, candidate);
            }
        }
        let mut j = width;
        for (k, chunk) in reference.chunks(stride).enumerate().rev() {
            let Some(row) = self.checkpoints.pop() else { return };
            self.row = row;
            self.fill(chunk, candidate);
            let mut i = chunk.len();
            while i > 0 && j > 0 {
                match self.directions[(i - 1) * width + j - 1] {
                    Direction::Both => {
                        i -= 1;
                        j -= 1;
                        marks[k * stride + i] = true;
                    }
                    Direction::Reference => i -= 1,
                    Direction::Candidate => j -= 1,
                }
            }
        }
    }

    /// Computes the rows of `reference`, and stores the directions of their cells.
    fn fill(&mut self, reference: &[u32], candidate: &[u32]) {
        let Self { powers, row: Row { worth, run }, directions, .. } = self;
        directions.clear();
        directions.reserve(reference.len() * candidate.len());
        for word in reference {
            let (mut diagonal_worth, mut diagonal_run) = (worth[0], run[0]);
            for (j, other) in candidate.iter().enumerate() {
                let (above, left) = (worth[j + 1], worth[j]);
                let above_run = run[j + 1];
                let direction = if word == other {
                    let k = diagonal_run as usize;
                    worth[j + 1] = diagonal_worth + powers[k + 1] - powers[k];
                    run[j + 1] = diagonal_run + 1;
                    Direction::Both
                } else {
                    run[j + 1] = 0;
                    if above >= left {
                        Direction::Reference
                    } else {
                        worth[j + 1] = left;
                        Direction::Candidate
                    }
                };
                directions.push(direction);
                (diagonal_worth, diagonal_run) = (above, above_run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(reference: &[u32], candidate: &[u32], weight: f64) -> Vec<bool> {
        let mut weighted = WeightedLcs::default();
        weighted.prepare(weight, reference.len().max(candidate.len()));
        let mut marks = vec![false; reference.len()];
        weighted.mark(reference, candidate, &mut marks);
        marks
    }

    /// The example of Lin 2004, section 4: X has A B C D in common with both, Y1 in one run, Y2 scattered.
    #[test]
    fn a_run_is_worth_more_than_scattered_words() {
        let x = [1, 2, 3, 4, 5, 6, 7];
        let worth = |y: [u32; 7]| {
            let mut weighted = WeightedLcs::default();
            weighted.prepare(2.0, 7);
            weighted.mark(&x, &y, &mut [false; 7]);
            weighted.row.worth[7]
        };
        assert_eq!([worth([1, 2, 3, 4, 8, 9, 11]), worth([1, 8, 2, 11, 3, 9, 4])], [16.0, 4.0]);
    }

    #[test]
    fn one_run_is_preferred_to_two_halves() {
        assert_eq!(marks(&[1, 9, 1, 2], &[1, 2], 2.0), [false, false, true, true]);
    }

    #[test]
    fn equal_words_are_taken_even_where_that_breaks_a_better_run() {
        assert_eq!(marks(&[1, 2, 9, 1, 8, 2], &[1, 2], 2.0), [false, false, false, true, false, true]);
    }

    #[test]
    fn checkpoints_change_no_mark() {
        let text = |n: u32, step: u32| -> Vec<u32> { (0..n).map(|k| k * step % 97 * (k % 7) % 31).collect() };
        let (a, b) = (text(1_200, 13), text(1_000, 29));
        assert!(a.len() * b.len() > KEPT_CELLS);
        let long = marks(&a, &b, 1.0);
        // With weight 1, this is the plain subsequence.
        let mut lcs = crate::lcs::Lcs::default();
        lcs.prepare(a.iter().copied());
        let mut plain = vec![false; a.len()];
        lcs.mark(&b, &mut plain);
        assert_eq!(long, plain);
    }
}
