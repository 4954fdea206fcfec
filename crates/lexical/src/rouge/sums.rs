//! The statistics of the ROUGE programs.

use capeval_metric::Statistics;

/// The sums of three numbers per measure, and the number of segments.
///
/// The three are recall, precision and F in the order in which a program prints them; or, if the unit of ROUGE-1.5.5 is
/// words, the counts of references and candidates, and the hits.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    pub(crate) segments: f64,
    pub(crate) sums: Vec<[f64; 3]>,
}

impl Statistics for Sums {
    fn store(&self, row: &mut [f64]) {
        row[0] = self.segments;
        row[1..].copy_from_slice(self.sums.as_flattened());
    }

    fn load(row: &[f64]) -> Self {
        Self { segments: row[0], sums: row[1..].as_chunks().0.to_vec() }
    }
}
