//! SODA: the best matching of predictions and references in the order of time (Fujita et al. 2020).
//!
//! Quirks kept on purpose:
//! - the matching value takes the first of (up, left, diagonal) on a tie, and the first row and column take the best
//!   single cell;
//! - the pairs that types a and b sum over are not those of the best matching: from each row, the trace takes the
//!   right-most cell that was reached diagonally, even where the optimum came from above, so there is always at least
//!   one pair.
//!
//! The program recurses once for each event and stops with `RecursionError` at about 990 events of a video; this code
//! has no limit, and keeps two rows of values in memory.

/// The value of the best matching of `n_rows` references and `n_columns` predictions that keeps their order.
pub(crate) fn best_matching((n_rows, n_columns): (usize, usize), value: impl Fn(usize, usize) -> f64) -> f64 {
    let mut last = 0.0;
    walk((n_rows, n_columns), value, |_, _, best, _| last = best);
    last
}

/// The pairs of the best matching, first row first, without those of no value; their sum is [`best_matching`]'s.
pub(crate) fn matched_pairs(
    (n_rows, n_columns): (usize, usize),
    value: impl Fn(usize, usize) -> f64,
) -> Vec<(usize, usize)> {
    // Where the best value of each cell came from.
    let mut from = vec![Step::Left; n_rows * n_columns];
    let mut last = vec![0.0; n_columns];
    walk((n_rows, n_columns), &value, |i, j, best, is_diagonal| {
        let is_up = i > 0 && last[j] == best;
        from[i * n_columns + j] = match (is_diagonal, is_up) {
            (true, _) => Step::Diagonal,
            (false, true) => Step::Up,
            (false, false) => Step::Left,
        };
        last[j] = best;
    });
    let (mut i, mut j, mut pairs) = (n_rows, n_columns, Vec::new());
    while i > 0 && j > 0 {
        match from[(i - 1) * n_columns + j - 1] {
            Step::Diagonal => {
                (i, j) = (i - 1, j - 1);
                if value(i, j) > 0.0 {
                    pairs.push((i, j));
                }
            }
            Step::Up => i -= 1,
            Step::Left => j -= 1,
        }
    }
    pairs.reverse();
    pairs
}

/// The cell before one of a matching.
#[derive(Clone, Copy)]
enum Step {
    Diagonal,
    Up,
    Left,
}

/// The pairs that the program traces back, last row first.
pub(crate) fn traced_pairs(
    (n_rows, n_columns): (usize, usize),
    value: impl Fn(usize, usize) -> f64,
) -> Vec<(usize, usize)> {
    // One bit for each cell that was reached diagonally.
    let width = n_columns.div_ceil(64);
    let mut bits = vec![0_u64; n_rows * width];
    walk((n_rows, n_columns), value, |i, j, _, is_diagonal| {
        bits[i * width + j / 64] |= u64::from(is_diagonal) << (j % 64);
    });
    let right_most = |i: usize, j: usize| {
        let mut word = j / 64;
        let mut bits_left = bits[i * width + word] & (u64::MAX >> (63 - j % 64));
        while bits_left == 0 {
            word = word.checked_sub(1)?;
            bits_left = bits[i * width + word];
        }
        Some(word * 64 + 63 - bits_left.leading_zeros() as usize)
    };
    let mut pairs = Vec::new();
    let (Some(mut i), Some(mut j)) = (n_rows.checked_sub(1), n_columns.checked_sub(1)) else { return pairs };
    loop {
        match right_most(i, j) {
            Some(column) => {
                pairs.push((i, column));
                if i == 0 || column == 0 {
                    return pairs;
                }
                j = column - 1;
            }
            None if i == 0 => return pairs,
            None => {}
        }
        i -= 1;
    }
}

/// Visits each cell with the best value up to it, and whether that came from the diagonal.
fn walk(
    (n_rows, n_columns): (usize, usize),
    value: impl Fn(usize, usize) -> f64,
    mut visit: impl FnMut(usize, usize, f64, bool),
) {
    let mut row = vec![0.0; n_columns];
    for i in 0..n_rows {
        let mut diagonal = 0.0;
        for j in 0..n_columns {
            let up = if i == 0 { -1.0 } else { row[j] };
            let left = if j == 0 { -1.0 } else { row[j - 1] };
            let before = if i == 0 || j == 0 { 0.0 } else { diagonal };
            let through = before + value(i, j);
            let other = f64::max(up, left);
            diagonal = row[j];
            row[j] = f64::max(other, through);
            visit(i, j, row[j], through > other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_is_not_the_matching() {
        let matrix = [[0.2, 0.6], [0.4, 0.0]];
        let value = |i: usize, j: usize| matrix[i][j];
        assert_eq!(best_matching((2, 2), value), 0.6);
        assert_eq!(traced_pairs((2, 2), value), [(1, 0)]);
    }

    #[test]
    fn a_score_that_is_no_number_is_no_panic() {
        let value = |i: usize, j: usize| if i == j { f64::NAN } else { 0.5 };
        assert!(best_matching((3, 3), value).is_finite());
        traced_pairs((3, 3), value);
    }

    #[test]
    fn there_is_always_at_least_one_pair() {
        assert_eq!(traced_pairs((3, 2), |_, _| 0.0), [(0, 0)]);
        assert!(traced_pairs((0, 2), |_, _| 0.0).is_empty());
    }

    #[test]
    fn many_events_take_no_recursion() {
        assert_eq!(best_matching((2_000, 2_000), |i, j| if i == j { 1.0 } else { 0.0 }), 2_000.0);
        assert_eq!(traced_pairs((2_000, 130), |i, j| if i == j { 1.0 } else { 0.0 }).len(), 130);
    }

    /// The program's own recursion, on all matrices of three by three with values of 0 to 2.
    #[test]
    fn values_and_traces_equal_those_of_the_recursion() {
        for code in 0..3_usize.pow(9) {
            let cell = |i: usize, j: usize| (code / 3_usize.pow((3 * i + j) as u32) % 3) as f64;
            let mut best = [[0.0_f64; 3]; 3];
            let mut path = [[0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    let up = if i == 0 { -1.0 } else { best[i - 1][j] };
                    let left = if j == 0 { -1.0 } else { best[i][j - 1] };
                    let through = cell(i, j) + if i > 0 && j > 0 { best[i - 1][j - 1] } else { 0.0 };
                    let states = [up, left, through];
                    best[i][j] = states.iter().copied().fold(f64::MIN, f64::max);
                    path[i][j] = states.iter().position(|state| *state == best[i][j]).unwrap();
                }
            }
            fn trace(path: &[[usize; 3]; 3], i: usize, j: usize) -> Vec<(usize, usize)> {
                match (0..=j).rev().find(|column| path[i][*column] == 2) {
                    None if i != 0 => trace(path, i - 1, j),
                    Some(column) if i != 0 && column != 0 => {
                        let mut pairs = vec![(i, column)];
                        pairs.extend(trace(path, i - 1, column - 1));
                        pairs
                    }
                    found => vec![(i, found.unwrap())],
                }
            }
            assert_eq!(best_matching((3, 3), cell), best[2][2]);
            let matched = matched_pairs((3, 3), cell);
            assert!(matched.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{code}");
            assert_eq!(matched.into_iter().map(|(i, j)| cell(i, j)).sum::<f64>(), best[2][2], "{code}");
            assert_eq!(traced_pairs((3, 3), cell), trace(&path, 2, 2), "{code}");
        }
    }
}
