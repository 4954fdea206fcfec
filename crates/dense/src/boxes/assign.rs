//! Assigns rows to columns at the least cost, by the method of scipy's `linear_sum_assignment` (Crouse 2016), so that
//! ties are broken as in the programs that call it. No Rust library promises that.

/// For each row, its column; `None` for rows left over. `cost[row][column]` must be finite.
pub fn assign(cost: &[Vec<f64>]) -> Vec<Option<usize>> {
    let (n_rows, n_columns) = (cost.len(), cost.first().map_or(0, Vec::len));
    if n_columns >= n_rows {
        return solve(n_rows, n_columns, |i, j| cost[i][j]).into_iter().map(Some).collect();
    }
    let mut of_row = vec![None; n_rows];
    for (column, row) in solve(n_columns, n_rows, |i, j| cost[j][i]).into_iter().enumerate() {
        of_row[row] = Some(column);
    }
    of_row
}

/// The column of each of `n_rows` rows, of which there are no more than columns.
fn solve(n_rows: usize, n_columns: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let (mut of_row, mut of_column) = (vec![0; n_rows], vec![None; n_columns]);
    let (mut u, mut v) = (vec![0.0; n_rows], vec![0.0; n_columns]);
    for first in 0..n_rows {
        let mut shortest = vec![f64::INFINITY; n_columns];
        let mut path = vec![first; n_columns];
        let mut remaining: Vec<usize> = (0..n_columns).rev().collect();
        let (mut rows, mut columns) = (vec![first], Vec::new());
        let (mut least, mut row) = (0.0, first);
        let mut sink = loop {
            let (mut lowest, mut index) = (f64::INFINITY, 0);
            for (k, j) in remaining.iter().copied().enumerate() {
                let reduced = least + cost(row, j) - u[row] - v[j];
                if reduced < shortest[j] {
                    (path[j], shortest[j]) = (row, reduced);
                }
                // Of equal costs, a free column ends the search.
                if shortest[j] < lowest || (shortest[j] == lowest && of_column[j].is_none()) {
                    (lowest, index) = (shortest[j], k);
                }
            }
            least = lowest;
            let column = remaining.swap_remove(index);
            columns.push(column);
            match of_column[column] {
                None => break column,
                Some(next) => row = next,
            }
            rows.push(row);
        };
        u[first] += least;
        for row in &rows[1..] {
            u[*row] += least - shortest[of_row[*row]];
        }
        columns.iter().for_each(|column| v[*column] -= least - shortest[*column]);
        loop {
            let row = path[sink];
            of_column[sink] = Some(row);
            std::mem::swap(&mut of_row[row], &mut sink);
            if row == first {
                break;
            }
        }
    }
    of_row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_costs_fall_as_in_scipy() {
        // Each from scipy 1.17.1.
        type Case<'c> = (&'c [&'c [f64]], &'c [Option<usize>]);
        let cases: [Case<'_>; 5] = [
            (&[&[0.0, 2.0, 0.0], &[1.0, 0.0, 1.0], &[1.0, 1.0, 2.0]], &[Some(2), Some(1), Some(0)]),
            (&[&[1.0, 0.0, 0.0, 1.0], &[0.0, 1.0, 1.0, 2.0]], &[Some(1), Some(0)]),
            (&[&[0.0, 2.0], &[1.0, 1.0], &[2.0, 0.0], &[2.0, 0.0]], &[Some(0), None, Some(1), None]),
            (&[&[1.0, 0.0, 0.0], &[0.0, 2.0, 2.0], &[0.0, 1.0, 2.0]], &[Some(2), Some(0), Some(1)]),
            (
                &[
                    &[0.0, 1.0, 2.0, 0.0, 2.0],
                    &[0.0, 1.0, 1.0, 2.0, 0.0],
                    &[1.0, 0.0, 2.0, 0.0, 1.0],
                    &[1.0, 0.0, 1.0, 2.0, 2.0],
                    &[0.0, 0.0, 2.0, 2.0, 1.0],
                ],
                &[Some(0), Some(4), Some(3), Some(2), Some(1)],
            ),
        ];
        for (cost, columns) in cases {
            let cost: Vec<Vec<f64>> = cost.iter().map(|row| row.to_vec()).collect();
            assert_eq!(assign(&cost), columns, "{cost:?}");
        }
        assert!(assign(&[]).is_empty());
        assert_eq!(assign(&[vec![], vec![]]), [None, None]);
    }
}
