//! Preferences as tables.

use std::io::{self, Write};

use capeval_choice::counted;

use super::Preference;
use crate::export::pairs;
use crate::grid::{Align, Cell, Grid, Labels, Table};
use crate::number::{fixed, intervals_in_words};
use crate::render::{Tabulated, in_percent};
use crate::{Coefficient, Form};

impl Tabulated for Preference {
    fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        self.tables(digits, labels)
    }

    fn legend(&self, _form: Form, _tables: &[Table]) -> Vec<String> {
        self.about()
    }

    fn scale_to_percent(&mut self) {
        self.in_percent = true;
        self.head.notices.push(in_percent("accuracies"));
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        pairs(self, out)
    }
}

impl Preference {
    /// The accuracies of each measure.
    pub fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        vec![Table { title: None, grid: grid(self, digits, labels) }]
    }

    /// The choices of people, and the computation of the accuracies, in sentences.
    pub fn about(&self) -> Vec<String> {
        about(self)
    }
}

/// A category's name in tables.
fn shown(name: &str) -> String {
    if name.is_empty() { "(none)".to_owned() } else { name.to_owned() }
}

/// The table with a row per measure.
fn grid(found: &Preference, digits: usize, labels: Labels) -> Grid {
    let mut columns = vec![(String::new(), Align::Left)];
    if found.is_categorised() {
        columns.extend(found.categories.iter().map(|category| (shown(&category.name), Align::Right)));
        columns.push(("mean".to_owned(), Align::Right));
    } else {
        columns.push(("accuracy".to_owned(), Align::Right));
    }
    let factor = if found.in_percent { 100.0 } else { 1.0 };
    let fixed = |value: f64| fixed(factor * value, digits);
    let cell = |coefficient: &Coefficient| Cell {
        note: coefficient
            .interval
            .filter(|interval| !interval.low.is_nan())
            .map_or_else(String::new, |interval| {
                format!("[{}, {}]", fixed(interval.low), fixed(interval.high))
            }),
        ..Cell::from(fixed(coefficient.value.unwrap_or(f64::NAN)))
    };
    let rows = found.head.measures.iter().zip(&found.accuracies).map(|(measure, accuracy)| {
        let by_category = accuracy.by_category.iter().filter(|_| found.is_categorised());
        let cells = by_category.chain([&accuracy.mean]).map(cell);
        std::iter::once(measure.named(labels).into()).chain(cells).collect()
    });
    Grid { columns, rows: rows.collect() }
}

/// The choices of people, and the computation of the accuracies, in sentences.
fn about(found: &Preference) -> Vec<String> {
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
    lines.extend(
        found.head.resampling.map(|resampling| format!("[low, high]: {}", intervals_in_words(&resampling))),
    );
    lines
}
