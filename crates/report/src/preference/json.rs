//! Preferences as JSON, and the pairs behind them.

use std::io::{self, Write};

use capeval_corpus::SegmentId;
use capeval_stats::Interval;
use serde::Serialize;

use super::{Accuracy, Preference, Voters};
use crate::Coefficient;
use crate::render::programs::{Ends, Map, ends, line};

/// The interval; `None` if it is missing or its ends are NaN.
pub(super) fn known(found: &Coefficient) -> Option<Interval> {
    found.interval.filter(|interval| !interval.low.is_nan())
}

/// Writes the pairs that the accuracies are computed from, one per line:
/// `{"image_id": …, "category": …, "captions": […], "votes": […], "scores": {"cider-d": […]}, "right": {…}}`.
pub(super) fn pairs(found: &Preference, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct PairItem<'r> {
        image_id: &'r SegmentId,
        #[serde(skip_serializing_if = "Option::is_none")]
        category: Option<&'r str>,
        captions: &'r [String; 2],
        votes: [f64; 2],
        scores: Map<&'r str, [f64; 2]>,
        right: Map<&'r str, Option<f64>>,
    }
    for pair in &found.pairs {
        let category = found.categories.get(pair.category).map_or("", |category| category.name.as_str());
        let item = PairItem {
            image_id: &pair.image,
            category: (!category.is_empty()).then_some(category),
            captions: &pair.captions,
            votes: pair.votes,
            scores: Map(found.head.keys().zip(pair.scores.iter().copied()).collect()),
            right: Map(found.head.keys().zip(pair.right.iter().copied()).collect()),
        };
        line(&item, out)?;
    }
    Ok(())
}

#[derive(Serialize)]
pub(super) struct PairCounts<'r> {
    #[serde(flatten)]
    voters: &'r Voters,
    categories: Map<&'r str, usize>,
}

impl<'r> PairCounts<'r> {
    pub fn new(found: &'r Preference) -> Self {
        let categories = found.categories.iter().map(|category| category.n_counted);
        Self { voters: &found.voters, categories: Map(names(found).zip(categories).collect()) }
    }
}

/// The names of the categories; empty if pairs have no categories.
fn names(found: &Preference) -> impl Iterator<Item = &str> {
    found.categories.iter().filter(|_| found.is_categorised()).map(|category| category.name.as_str())
}

/// The protocol as JSON.
#[derive(Serialize)]
pub(super) struct Terms {
    #[serde(flatten)]
    drawing: Option<Drawing>,
    human_ties: &'static str,
    metric_ties: &'static str,
}

/// The draws of references; left out if scores were given.
#[derive(Serialize)]
struct Drawing {
    references_per_pair: Option<usize>,
    draws: usize,
    draw_seed: u64,
}

impl Terms {
    pub fn new(found: &Preference) -> Self {
        let protocol = &found.protocol;
        Self {
            drawing: found.is_drawn().then_some(Drawing {
                references_per_pair: protocol.references,
                draws: protocol.draws,
                draw_seed: protocol.seed,
            }),
            human_ties: protocol.human_ties.name(),
            metric_ties: protocol.metric_ties.name(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Accuracies<'r> {
    accuracy: Map<&'r str, Option<f64>>,
    mean: Option<f64>,
    all: Option<f64>,
    by_draw: &'r [Option<f64>],
    tied: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Bounds<'r>>,
}

/// The intervals of [`Accuracies`].
#[derive(Serialize)]
struct Bounds<'r> {
    accuracy: Map<&'r str, Option<Ends>>,
    mean: Option<Ends>,
    all: Option<Ends>,
}

impl<'r> Accuracies<'r> {
    pub fn new(found: &'r Preference, accuracy: &'r Accuracy) -> Self {
        let of = |coefficient: &Coefficient| known(coefficient).map(ends);
        let by_category = || names(found).zip(&accuracy.by_category);
        Self {
            accuracy: Map(by_category().map(|(name, c)| (name, c.value)).collect()),
            mean: accuracy.mean.value,
            all: accuracy.all.value,
            by_draw: &accuracy.by_draw,
            tied: accuracy.tied,
            intervals: found.head.resampling.map(|_| Bounds {
                accuracy: Map(by_category().map(|(name, c)| (name, of(c))).collect()),
                mean: of(&accuracy.mean),
                all: of(&accuracy.all),
            }),
        }
    }
}
