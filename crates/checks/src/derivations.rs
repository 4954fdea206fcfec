//! No chain of derived numbers makes the parser panic or grow without end, and each value lies in the range that is

//! inferred for it.

use capeval_choice::Derivation;

use crate::words::text;

/// The measures, and one that has no upper end.
const MEASURES: [&str; 5] = ["bleu-4", "cider-d", "meteor", "rouge-l", "ter"];

/// The pieces of formulas, so that a few bytes make some that can be read.
const PIECES: [&str; 31] = [
    "bleu-4", "cider-d", "meteor", "rouge-l", "ter", "mean(", "hmean(", "gmean(", "sum(", "percent(", "min(",
    "max(", "a", "b", "c", "=", "+", "-", "*", "/", "(", ")", ",", "0.5", "2", "0", "; lower", "; higher",
    "×", "÷", "\n",
];

fn range(name: &str) -> (f64, f64) {
    match name {
        "cider-d" => (0.0, 10.0),
        "ter" => (0.0, f64::INFINITY),
        _ => (0.0, 1.0),
    }
}

pub fn check(bytes: &[u8]) {
    let mut before: Vec<Derivation> = Vec::new();
    for line in text(&PIECES, bytes).lines().take(64) {
        let Ok(derivation) = Derivation::parse(line, &MEASURES, &before) else { continue };
        let formula = &derivation.formula;
        let (low, high) = formula.range(&range);
        for share in [0.0, 0.25, 1.0] {
            let value = formula.value(&|_, name| share * range(name).1.min(100.0));
            let slack = 1e-9 * value.abs().max(1.0);
            assert!(
                !value.is_finite() || low - slack <= value && value <= high + slack,
                "{derivation:?}: {value} is not in {low} to {high}"
            );
        }
        let _ = (formula.is_linear(), formula.mixes(&range));
        assert!(formula.names().iter().all(|(system, name)| system.is_none() && MEASURES.contains(name)));
        before.push(derivation);
    }
}
