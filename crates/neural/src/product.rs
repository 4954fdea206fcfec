//! The product of matrices, and the dispatch of loops to the instructions that the processor has.
//!
//! This file alone of the crate has `unsafe` code: the product takes pointers, whose ranges are checked here.
#![expect(unsafe_code, reason = "the product takes pointers, and loops may use AVX2 where it was detected")]

/// A matrix of `rows` × `columns` numbers in a slice, whose neighbours in a column and in a row are these distances
/// apart.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'m> {
    pub numbers: &'m [f32],
    pub rows: usize,
    pub columns: usize,
    pub row_stride: usize,
    pub column_stride: usize,
}

impl<'m> Matrix<'m> {
    /// Rows one after another.
    pub fn new(numbers: &'m [f32], rows: usize, columns: usize) -> Self {
        Self { numbers, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// The same with rows and columns exchanged.
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// The number of elements of a slice up to the last one of the matrix.
    fn needs(&self) -> usize {
        match (self.rows, self.columns) {
            (0, _) | (_, 0) => 0,
            (rows, columns) => (rows - 1) * self.row_stride + (columns - 1) * self.column_stride + 1,
        }
    }
}

/// `out = factor · a · b`, where the rows of `out` are `stride` apart.
///
/// # Panics
/// When the shapes do not fit, or a slice is too short.
pub(crate) fn multiply(a: Matrix<'_>, b: Matrix<'_>, factor: f32, out: &mut [f32], stride: usize) {
    let (rows, inner, columns) = (a.rows, a.columns, b.columns);
    assert_eq!(inner, b.rows, "the columns of the first matrix are the rows of the second");
    assert!(a.needs() <= a.numbers.len() && b.needs() <= b.numbers.len(), "a matrix exceeds its slice");
    assert!(columns <= stride || rows <= 1, "rows overlap");
    let target = Matrix { numbers: &[], rows, columns, row_stride: stride, column_stride: 1 };
    assert!(target.needs() <= out.len(), "the product exceeds its slice");
    if rows == 0 || columns == 0 {
        return;
    }
    let strides = |matrix: &Matrix<'_>| (matrix.row_stride as isize, matrix.column_stride as isize);
    let ((a_row, a_column), (b_row, b_column)) = (strides(&a), strides(&b));
    // SAFETY: all elements that the strides reach lie within the slices, as was asserted, and no two elements of `out`
    // have one place.
    unsafe {
        matrixmultiply::sgemm(
            rows,
            inner,
            columns,
            factor,
            a.numbers.as_ptr(),
            a_row,
            a_column,
            b.numbers.as_ptr(),
            b_row,
            b_column,
            0.0,
            out.as_mut_ptr(),
            stride as isize,
            1,
        );
    }
}

/// Defines a function that is compiled twice, for any processor and for those with AVX2, and chooses at run time. No
/// operation is fused, so both give the same bits.
macro_rules! vectorized {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),*) $body:block) => {
        $(#[$meta])*
        $vis fn $name($($arg: $type),*) {
            #[inline(always)]
            fn plain($($arg: $type),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) {
                    plain($($arg),*);
                }
                if std::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has the instructions.
                    return unsafe { wide($($arg),*) };
                }
            }
            plain($($arg),*);
        }
    };
}

vectorized! {
    /// x · σ(1.702 x), in place.
    pub(crate) fn quick_gelu(numbers: &mut [f32]) {
        for x in numbers {
            *x /= 1.0 + crate::functions::exp(-1.702 * *x);
        }
    }
}

vectorized! {
    /// x · Φ(x), in place.
    pub(crate) fn gelu(numbers: &mut [f32]) {
        for x in numbers {
            *x = 0.5 * *x * (1.0 + crate::functions::erf(*x * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

vectorized! {
    /// e to the power of each number less `most`, in place.
    pub(crate) fn exp_below(numbers: &mut [f32], most: f32) {
        for x in numbers {
            *x = crate::functions::exp(*x - most);
        }
    }
}

vectorized! {
    /// Adds `other` to `numbers`.
    pub(crate) fn add(numbers: &mut [f32], other: &[f32]) {
        for (x, y) in numbers.iter_mut().zip(other) {
            *x += *y;
        }
    }
}

vectorized! {
    /// Each row of `to` becomes that of `from` with mean 0 and variance 1, scaled and shifted.
    pub(crate) fn normalize(from: &[f32], to: &mut [f32], weight: &[f32], bias: &[f32], eps: f32) {
        let n = weight.len();
        for (from, to) in from.chunks_exact(n.max(1)).zip(to.chunks_exact_mut(n.max(1))) {
            let mean = crate::functions::sum(from, |x| x) / n as f32;
            let variance = crate::functions::sum(from, |x| (x - mean) * (x - mean)) / n as f32;
            let scale = 1.0 / (variance + eps).sqrt();
            for (((to, x), weight), bias) in to.iter_mut().zip(from).zip(weight).zip(bias) {
                *to = (x - mean) * scale * weight + bias;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize) -> Vec<f32> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn a_row_does_not_depend_on_how_many_there_are() {
        let (k, n) = (67, 41);
        let (a, b) = (numbers(90 * k), numbers(k * n));
        let mut all = vec![0.0; 90 * n];
        multiply(Matrix::new(&a, 90, k), Matrix::new(&b, n, k).transposed(), 1.0, &mut all, n);
        for rows in [1, 2, 7, 8, 9, 33] {
            let mut some = vec![0.0; rows * n];
            multiply(Matrix::new(&a, rows, k), Matrix::new(&b, n, k).transposed(), 1.0, &mut some, n);
            assert_eq!(some, all[..rows * n], "{rows}");
        }
    }

    #[test]
    fn products_are_right_with_strides() {
        let a = [1.0, 2.0, 9.0, 3.0, 4.0, 9.0];
        let a = Matrix { numbers: &a, rows: 2, columns: 2, row_stride: 3, column_stride: 1 };
        let mut out = [0.0; 5];
        multiply(a, Matrix::new(&[5.0, 6.0, 7.0, 8.0], 2, 2), 2.0, &mut out, 3);
        assert_eq!(out, [38.0, 44.0, 0.0, 86.0, 100.0]);
    }
}
