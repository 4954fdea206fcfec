//! Agreement with human ratings as tables.

use std::io::{self, Write};

use capeval_choice::counted;

use super::{Coefficient, Correlation};
use crate::Form;
use crate::comparison::p_value;
use crate::export::points;
use crate::grid::{Align, Cell, Grid, Labels, Table};
use crate::number::{self, fixed, intervals_in_words, significant};
use crate::render::{Tabulated, in_percent};

impl Tabulated for Correlation {
    fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        self.tables(digits, labels)
    }

    fn legend(&self, _form: Form, _tables: &[Table]) -> Vec<String> {
        self.about()
    }

    fn scale_to_percent(&mut self) {
        self.in_percent = true;
        self.head.notices.push(in_percent("coefficients and accuracies"));
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        points(self, out)
    }
}

impl Correlation {
    /// The coefficients of each measure, those at system level, and Williams' tests.
    pub fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        grids(self, digits, labels).into_iter().map(|(title, grid)| Table { title, grid }).collect()
    }

    /// The rated things, and the computation of the coefficients, in sentences.
    pub fn about(&self) -> Vec<String> {
        about(self)
    }
}

/// The rated things, and the computation of the coefficients, in sentences.
fn about(correlation: &Correlation) -> Vec<String> {
    let human = &correlation.human;
    let agreement =
        [("Krippendorff's α (ordinal)", human.krippendorff_alpha), ("Fleiss' κ", human.fleiss_kappa)];
    let agreement =
        agreement.iter().filter_map(|(name, value)| Some(format!("; {name} {}", fixed((*value)?, 3))));
    let mut lines = vec![format!(
        "{} (from {} to {}) of {} for {}; {}, one per {}{} (capeval {})",
        counted(human.n_ratings, "rating"),
        significant(human.scale.low, 5),
        significant(human.scale.high, 5),
        counted(human.n_items, "item"),
        counted(human.n_images, "image"),
        counted(human.n_points, "point"),
        human.unit.name(),
        agreement.collect::<String>(),
        correlation.head.version
    )];
    lines.push(STRENGTHS.to_owned());
    lines.extend(
        correlation
            .head
            .resampling
            .map(|resampling| format!("[low, high]: {}", intervals_in_words(&resampling))),
    );
    lines
}

const STRENGTHS: &str = "strength: Spearman's ρ in the words of Elliott and Keller (2014): none to 0.10, weak to 0.40, \
                         moderate to 0.70, strong to 0.90";

/// The strength of a correlation in the words of [`STRENGTHS`], in either direction.
fn strength(rho: Option<f64>) -> &'static str {
    match rho.map(f64::abs) {
        None => "",
        Some(rho) if rho.is_nan() => "",
        Some(rho) if rho < 0.1 => "none",
        Some(rho) if rho < 0.4 => "weak",
        Some(rho) if rho < 0.7 => "moderate",
        Some(rho) if rho < 0.9 => "strong",
        Some(_) => "very strong",
    }
}

/// The tables with their titles.
fn grids(correlation: &Correlation, digits: usize, labels: Labels) -> Vec<(Option<String>, Grid)> {
    let label = |m: usize| correlation.head.measures.get(m).map_or("", |m| m.named(labels));
    let columns = |names: &[&str]| -> Vec<(String, Align)> {
        let align = |k: usize| if k == 0 { Align::Left } else { Align::Right };
        names.iter().enumerate().map(|(k, name)| ((*name).to_owned(), align(k))).collect()
    };
    let factor = if correlation.in_percent { 100.0 } else { 1.0 };
    let fixed = |value: f64| fixed(factor * value, digits);
    let shown = |value: Option<f64>| Cell::from(fixed(value.unwrap_or(f64::NAN)));
    let cell = |coefficient: Coefficient| {
        let ends = |i: &capeval_stats::Interval| format!("[{}, {}]", fixed(i.low), fixed(i.high));
        Cell {
            note: coefficient.interval.as_ref().map_or_else(String::new, ends),
            ..shown(coefficient.value)
        }
    };
    let rows = correlation.agreements.iter().enumerate().map(|(m, agreement)| {
        let cells = agreement.coefficients().map(|(_, coefficient)| cell(coefficient));
        let mut cells: Vec<Cell> = std::iter::once(label(m).into()).chain(cells).collect();
        cells.insert(3, strength(agreement.spearman.value).into());
        cells
    });
    let names = ["", "Pearson r", "Spearman ρ", "strength", "Kendall τ-b", "Kendall τ-c", "accuracy"];
    let mut columns_of_coefficients = columns(&names);
    columns_of_coefficients[3].1 = Align::Left;
    let mut grids = vec![(None, Grid { columns: columns_of_coefficients, rows: rows.collect() })];
    if let Some(systems) = &correlation.systems {
        let rows = systems.iter().enumerate().map(|(m, s)| {
            let cells = [s.pearson, s.spearman, s.tau_b, s.accuracy].map(shown);
            std::iter::once(label(m).into()).chain(cells).collect()
        });
        let names = ["", "Pearson r", "Spearman ρ", "Kendall τ-b", "accuracy"];
        let n = systems.first().map_or(0, |s| s.n_systems);
        let title = format!("system level ({})", counted(n, "system"));
        grids.push((Some(title), Grid { columns: columns(&names), rows: rows.collect() }));
    }
    if !correlation.differences.is_empty() {
        let rows = correlation.differences.iter().map(|d| {
            let head = [label(d.a).into(), label(d.b).into()];
            let r = [d.r_a, d.r_b, d.r_ab].map(|r| shown(Some(r)));
            let test = [Cell::from(number::fixed(d.test.t, 2)), p_value(d.test.p).into()];
            head.into_iter().chain(r).chain(test).collect()
        });
        let mut columns = columns(&["a", "b", "r(a)", "r(b)", "r(a, b)", "t", "p"]);
        columns[1].1 = Align::Left;
        let title = "Williams' test of Pearson's r with the mean rating of each item";
        grids.push((Some(title.to_owned()), Grid { columns, rows: rows.collect() }));
    }
    grids
}
