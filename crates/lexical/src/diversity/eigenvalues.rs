//! The eigenvalues of small symmetric matrices.

/// Diagonalises a symmetric matrix, `size` rows of `size` numbers, in place by Jacobi rotations; returns its
/// eigenvalues in no particular order.
///
/// Source: Golub and Van Loan, *Matrix Computations*, the cyclic Jacobi method.
pub(super) fn symmetric_eigenvalues(matrix: &mut [f64], size: usize) -> Vec<f64> {
    for _ in 0..64 {
        let off_diagonal: f64 = (0..size)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| matrix[i * size + j].powi(2))
            .sum();
        let diagonal: f64 = (0..size).map(|i| matrix[i * size + i].powi(2)).sum();
        if off_diagonal <= 1e-32 * diagonal || off_diagonal == 0.0 {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                let off = matrix[p * size + q];
                if off == 0.0 {
                    continue;
                }
                let theta = (matrix[q * size + q] - matrix[p * size + p]) / (2.0 * off);
                let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                let sine = tangent * cosine;
                for k in 0..size {
                    let (a, b) = (matrix[k * size + p], matrix[k * size + q]);
                    matrix[k * size + p] = cosine * a - sine * b;
                    matrix[k * size + q] = sine * a + cosine * b;
                }
                for k in 0..size {
                    let (a, b) = (matrix[p * size + k], matrix[q * size + k]);
                    matrix[p * size + k] = cosine * a - sine * b;
                    matrix[q * size + k] = sine * a + cosine * b;
                }
            }
        }
    }
    (0..size).map(|i| matrix[i * size + i]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_matrices_have_known_eigenvalues() {
        let mut values = symmetric_eigenvalues(&mut [2.0, 1.0, 1.0, 2.0], 2);
        values.sort_by(f64::total_cmp);
        assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15);
        let ones = symmetric_eigenvalues(&mut [1.0; 25], 5);
        assert!((ones.iter().copied().fold(0.0, f64::max) - 5.0).abs() < 1e-14);
        assert!(symmetric_eigenvalues(&mut [], 0).is_empty());
    }

    proptest! {
        #[test]
        fn trace_and_squares_are_kept(entries in prop::collection::vec(-1.0_f64..1.0, 36)) {
            let mut matrix = vec![0.0; 36];
            for i in 0..6 {
                for j in 0..6 {
                    matrix[i * 6 + j] = entries[i.min(j) * 6 + i.max(j)];
                }
            }
            let trace: f64 = (0..6).map(|i| matrix[i * 7]).sum();
            let squares: f64 = matrix.iter().map(|x| x * x).sum();
            let values = symmetric_eigenvalues(&mut matrix, 6);
            prop_assert!((values.iter().sum::<f64>() - trace).abs() < 1e-12);
            prop_assert!((values.iter().map(|x| x * x).sum::<f64>() - squares).abs() < 1e-12);
        }
    }
}
