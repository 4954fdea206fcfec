//! Preferences as tables.

use capeval_choice::counted;

use super::Preference;
use super::json::known;
use crate::grid::{Cell, Grid, Labels};
use crate::number::fixed;
use crate::{ByGroup, Coefficient};

/// A category's name in tables.
pub(super) fn shown(name: &str) -> String {
    if name.is_empty() { "(none)".to_owned() } else { name.to_owned() }
}

/// The table with a row per measure.
pub(super) fn grid(found: &Preference, digits: usize, labels: Labels) -> Grid {
    let is_categorised = found.is_categorised();
    let categories = found.categories.iter().filter(|_| is_categorised).map(|category| shown(&category.name));
    let mean = if is_categorised { "mean" } else { "accuracy" };
    let columns = std::iter::once(String::new()).chain(categories).chain([mean.to_owned()]);
    let fixed = |value: f64| fixed(found.head.factor() * value, digits);
    let cell = |coefficient: &Coefficient| {
        Cell::estimate(coefficient.value.unwrap_or(f64::NAN), known(coefficient), fixed)
    };
    let rows = found.head.measures.iter().zip(&found.accuracies).map(|(measure, accuracy)| {
        let by_category = accuracy.by_category.iter().filter(|_| is_categorised);
        let cells = by_category.chain([&accuracy.mean]).map(cell);
        std::iter::once(measure.named(labels).into()).chain(cells).collect()
    });
    Grid::of_numbers(columns, rows)
}

/// The choices of people, and the computation of the accuracies, in sentences.
pub(super) fn about(found: &Preference) -> Vec<String> {
    let (voters, protocol) = (&found.voters, &found.protocol);
    let categories = found.categories.iter().filter(|_| found.is_categorised());
    let categories: Vec<String> =
        categories.map(|c| format!("{} {}", shown(&c.name), counted(c.n_counted, "pair"))).collect();
    let mut lines = vec![format!(
        "accuracy: how often a metric prefers the caption that people prefer; {} of {}{}, {} votes; on average {}% of \
         a pair's votes go to the preferred caption (capeval {})",
        counted(voters.n_pairs, "pair"),
        counted(voters.n_images, "image"),
        if categories.is_empty() { String::new() } else { format!(" ({})", categories.join(", ")) },
        fixed(voters.n_votes, if voters.n_votes.fract() == 0.0 { 0 } else { 1 }),
        fixed(100.0 * voters.majority, 1),
        found.head.version
    )];
    if found.is_drawn() {
        let references = match protocol.references {
            Some(n) => format!("{} per pair", counted(n, "reference")),
            None => "all references of a pair".to_owned(),
        };
        lines.push(format!("{references}, {}, seed {}", counted(protocol.draws, "draw"), protocol.seed));
    }
    lines.push(format!(
        "human ties: {}, {}; metric ties: {}",
        counted(voters.n_tied, "pair"),
        match protocol.human_ties {
            super::HumanTies::Skip => "left out",
            super::HumanTies::Half => "counted as half right",
        },
        match protocol.metric_ties {
            super::MetricTies::Half => "counted as half right",
            super::MetricTies::Wrong => "counted as wrong",
            super::MetricTies::First => "the first caption counts as preferred",
        }
    ));
    lines.extend(found.groups.iter().map(ByGroup::legend));
    lines.extend(found.head.about_intervals());
    lines
}
