//! Correcting p-values for the number of tests.

capeval_choice::named! {
    /// The correction of p-values for the number of tests.
    #[derive(Default)]
    pub enum Correction ("correction") {
        None = "none", "none";
        Bonferroni = "bonferroni", "multiplied by the number of tests; bounds the chance of a false finding";
        #[default]
        Holm = "holm", "stepwise from the smallest (Holm 1979); bounds the same chance, finds more";
        BenjaminiHochberg = "bh", "stepwise from the largest (Benjamini, Hochberg 1995); bounds their share";
    }
}

impl Correction {
    /// The corrected p-values, in the order of `values`; a NaN is not a test and stays NaN.
    pub fn adjust(self, values: &[f64]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..values.len()).filter(|k| !values[*k].is_nan()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let n = order.len();
        let mut adjusted = values.to_vec();
        match self {
            Self::None => {}
            Self::Bonferroni => order.iter().for_each(|k| adjusted[*k] = (values[*k] * n as f64).min(1.0)),
            Self::Holm => {
                let mut largest = 0.0_f64;
                for (rank, k) in order.iter().enumerate() {
                    largest = largest.max((values[*k] * (n - rank) as f64).min(1.0));
                    adjusted[*k] = largest;
                }
            }
            Self::BenjaminiHochberg => {
                let mut least = 1.0_f64;
                for (rank, k) in order.iter().enumerate().rev() {
                    least = least.min(values[*k] * n as f64 / (rank + 1) as f64);
                    adjusted[*k] = least;
                }
            }
        }
        adjusted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R 4: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` and so on; by hand from the definitions.
    #[test]
    fn corrections_equal_their_definitions() {
        let raw = [0.01, 0.04, 0.03, 0.005];
        let close = |correction: Correction, expected: [f64; 4]| {
            let adjusted = correction.adjust(&raw);
            assert!(adjusted.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{adjusted:?}");
        };
        close(Correction::None, raw);
        close(Correction::Bonferroni, [0.04, 0.16, 0.12, 0.02]);
        close(Correction::Holm, [0.03, 0.06, 0.06, 0.02]);
        close(Correction::BenjaminiHochberg, [0.02, 0.04, 0.04, 0.02]);
    }

    #[test]
    fn a_nan_does_not_count_as_a_test() {
        let adjusted = Correction::Bonferroni.adjust(&[0.1, f64::NAN, 0.2]);
        assert!(adjusted[0] == 0.2 && adjusted[1].is_nan() && adjusted[2] == 0.4);
        assert_eq!(Correction::Holm.adjust(&[0.9, 0.8]), [1.0, 1.0]);
    }
}
