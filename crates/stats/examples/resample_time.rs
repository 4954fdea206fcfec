//! Times resampling: `resample_time ROWS COLUMNS RESAMPLES`.

#![expect(clippy::print_stdout, reason = "an example that prints")]

use std::time::Instant;

use capeval_stats::{Matrix, Resampling, resample};

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [rows, columns, resamples] = numbers[..] else {
        println!("usage: resample_time ROWS COLUMNS RESAMPLES");
        return;
    };
    let column = |c: usize| (0..rows).map(|r| ((r * 31 + c * 17) % 101) as f64).collect();
    let matrix = Matrix::from_columns(&(0..columns).map(column).collect::<Vec<Vec<f64>>>());
    let plan = Resampling { resamples, ..Resampling::default() };
    let first = |sums: &[f64], values: &mut [f64]| values[0] = sums[0];
    let start = Instant::now();
    let values = resample::bootstrap(&matrix, plan, 1, |_| {}, first);
    println!("bootstrap {:.3} s ({})", start.elapsed().as_secs_f64(), values[0]);
    let start = Instant::now();
    let values = resample::exchange(&matrix, plan, 1, |_| {}, first);
    println!("exchange  {:.3} s ({})", start.elapsed().as_secs_f64(), values[0]);
}
