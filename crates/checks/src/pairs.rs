//! The reader of preference pairs does not panic on any bytes, and keeps only consistent captions and votes.

use capeval_corpus::ratings::read_pairs;

pub fn check(bytes: &[u8]) {
    let Ok(choices) = read_pairs(bytes, "f") else { return };
    assert!(!choices.items.is_empty());
    for choice in &choices.items {
        assert!(choice.captions.iter().all(|caption| !caption.is_empty()));
        assert!(choice.votes.iter().all(|votes| *votes >= 0.0) && choice.votes.iter().sum::<f64>() > 0.0);
        assert!(choice.votes.iter().all(|votes| votes.is_finite()));
        assert!(choice.references.iter().all(|reference| !reference.is_empty()));
    }
}
