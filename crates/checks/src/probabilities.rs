//! The reader of probabilities does not panic on any bytes, and accepts nothing but probabilities and their logarithms.

use capeval_corpus::probabilities::{Scale, read_probabilities};

pub fn check(bytes: &[u8]) {
    let Ok(read) = read_probabilities(bytes, "f") else { return };
    for segment in &read.segments {
        for number in segment.tokens.iter().chain(&segment.end) {
            match segment.scale {
                Scale::Probability => assert!((0.0..=1.0).contains(number), "{number}"),
                Scale::Logarithm => assert!(*number <= 0.0, "{number}"),
            }
        }
    }
}
