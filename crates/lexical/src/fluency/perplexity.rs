//! Perplexity: two to the power of the mean number of bits per token.
//!
//! `log2 PPL = −(1/L) Σ log2 P(token)`. For a corpus, it is the quotient of the sums of bits and of tokens, so long
//! segments have a higher weight. Lower is better; a token with probability 0 makes it infinite.

use capeval_metric::Statistics;
use capeval_stats::Column;

capeval_choice::named! {
    /// The choice to count the symbol that ends a segment as a token.
    pub enum EndSymbol ("end symbol") {
        Counted = "yes", "it does, as in KenLM: a segment that ends where none would is punished";
        Omitted = "no", "it does not";
    }
}

capeval_choice::named! {
    /// The base of logarithms.
    #[derive(Default)]
    pub enum Base ("base of logarithms") {
        #[default]
        E = "e", "natural logarithms, as most libraries give them";
        Two = "2", "bits";
        Ten = "10", "as in ARPA files and KenLM's output";
    }
}

impl Base {
    /// Converts a logarithm of this base to base 2.
    pub fn to_log2(self, log: f64) -> f64 {
        match self {
            Self::E => log * std::f64::consts::LOG2_E,
            Self::Two => log,
            Self::Ten => log * std::f64::consts::LOG2_10,
        }
    }
}

/// Bits and tokens of a segment, or their sums over many segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Perplexity {
    /// The information in the tokens, `−Σ log2 P`; infinite if one of them has probability 0.
    pub bits: f64,
    /// The number of tokens.
    pub tokens: f64,
    /// The number of tokens that the model does not know.
    pub unknown: f64,
}

impl Perplexity {
    /// The columns of these statistics.
    pub fn columns() -> Vec<Column> {
        vec![Column::sum("bits"), Column::count("tokens"), Column::count("unknown")]
    }

    /// Adds a token with this base-2 logarithm of its probability.
    pub fn add(&mut self, log2: f64) {
        self.bits -= log2;
        self.tokens += 1.0;
    }

    /// The mean information of a token; 0 without tokens.
    pub fn bits_per_token(&self) -> f64 {
        if self.tokens == 0.0 { 0.0 } else { self.bits / self.tokens }
    }

    /// The perplexity, from 1 (unless probabilities above 1 were given) to infinity; 1 without tokens.
    pub fn value(&self) -> f64 {
        self.bits_per_token().exp2()
    }
}

impl Statistics for Perplexity {
    fn store(&self, row: &mut [f64]) {
        row.copy_from_slice(&[self.bits, self.tokens, self.unknown]);
    }

    fn load(row: &[f64]) -> Self {
        Self { bits: row[0], tokens: row[1], unknown: row[2] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_has_perplexity_2_12() {
        let mut perplexity = Perplexity::default();
        for p in [0.6_f64, 0.8, 0.3, 0.4, 0.3, 0.5, 0.6] {
            perplexity.add(p.log2());
        }
        assert_eq!(format!("{:.4}", perplexity.bits_per_token()), "1.0845");
        assert_eq!(format!("{:.2}", perplexity.value()), "2.12");
    }

    #[test]
    fn an_impossible_token_makes_it_infinite_and_no_token_makes_it_one() {
        let mut perplexity = Perplexity::default();
        assert_eq!(perplexity.value(), 1.0);
        perplexity.add(0.0_f64.log2());
        assert_eq!(perplexity.value(), f64::INFINITY);
    }
}
