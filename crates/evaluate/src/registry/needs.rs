//! Metrics that cannot be built without data of others.

use capeval_meteor::MeteorMetric;
use capeval_metric::{Part, Signature};
use capeval_text::Tokenizer;

use super::Resources;

/// Data of others that a metric cannot do without.
pub struct Need {
    /// The metric's name.
    pub(super) metric: &'static str,
    /// What they are.
    pub what: &'static str,
    /// How to get them.
    pub remedy: &'static str,
    pub(super) has: fn(&Resources) -> bool,
    pub(super) sample: fn() -> (Signature, Vec<Part>),
}

/// The metrics that cannot be built without data of others.
pub(super) const NEEDS: &[Need] = &[
    Need {
        metric: "meteor",
        what: "METEOR's resources",
        remedy: "run `capeval data install meteor`",
        has: |resources| resources.meteor.is_some(),
        sample: || MeteorMetric::sample(Tokenizer::Ptb),
    },
    Need {
        metric: "spider",
        what: "SPICE, which this version does not have",
        remedy: "take a later version",
        has: |_| false,
        sample: || {
            let part = Part::score("spider", "SPIDEr", 0.0..=5.5);
            (Signature::new("spider").with("of", "spice+cider-d"), vec![part])
        },
    },
];
