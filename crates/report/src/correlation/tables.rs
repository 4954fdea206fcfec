//! Agreement with human ratings as tables.

use capeval_choice::counted;

use super::Correlation;
use crate::ByGroup;
use crate::comparison::p_value;
use crate::grid::{Align, Cell, Grid, Labels, Table};
use crate::number::{self, fixed, significant};

/// The rated things, and the computation of the coefficients, in sentences.
pub(super) fn about(correlation: &Correlation) -> Vec<String> {
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
    lines.extend(correlation.groups.iter().map(ByGroup::legend));
    lines.extend(correlation.head.about_intervals());
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

/// The coefficients of each measure.
fn coefficients(correlation: &Correlation, digits: usize, labels: Labels) -> Grid {
    let label =
        |m: usize| -> Cell { correlation.head.measures.get(m).map_or("", |m| m.named(labels)).into() };
    let fixed = |value: f64| fixed(correlation.head.factor() * value, digits);
    let rows = correlation.agreements.iter().enumerate().map(|(m, agreement)| {
        let cells = agreement.coefficients().map(|(_, coefficient)| {
            Cell::estimate(coefficient.value.unwrap_or(f64::NAN), coefficient.interval, fixed)
        });
        let mut cells: Vec<Cell> = std::iter::once(label(m)).chain(cells).collect();
        cells.insert(3, strength(agreement.spearman.value).into());
        cells
    });
    let names = ["", "Pearson r", "Spearman ρ", "strength", "Kendall τ-b", "Kendall τ-c", "accuracy"];
    let mut grid = Grid::of_numbers(names, rows);
    grid.columns[3].1 = Align::Left;
    grid
}

/// The coefficients of each measure, also in groups, those at system level, and Williams' tests.
pub(super) fn tables(correlation: &Correlation, digits: usize, labels: Labels) -> Vec<Table> {
    let label =
        |m: usize| -> Cell { correlation.head.measures.get(m).map_or("", |m| m.named(labels)).into() };
    let fixed = |value: f64| fixed(correlation.head.factor() * value, digits);
    let shown = |value: Option<f64>| Cell::from(fixed(value.unwrap_or(f64::NAN)));
    let mut tables = vec![Table { title: None, grid: coefficients(correlation, digits, labels) }];
    let short = |one: &Correlation| coefficients(one, digits, Labels::Short);
    let of_groups = correlation.groups.iter();
    tables.extend(of_groups.map(|by| by.table(correlation, "Points", |one| one.human.n_points, short)));
    if let Some(systems) = &correlation.systems {
        let rows = systems.iter().enumerate().map(|(m, s)| {
            let cells = [s.pearson, s.spearman, s.tau_b, s.accuracy].map(shown);
            std::iter::once(label(m)).chain(cells).collect()
        });
        let n = systems.first().map_or(0, |s| s.n_systems);
        let grid = Grid::of_numbers(["", "Pearson r", "Spearman ρ", "Kendall τ-b", "accuracy"], rows);
        tables.push(Table { title: Some(format!("system level ({})", counted(n, "system"))), grid });
    }
    if !correlation.differences.is_empty() {
        let rows = correlation.differences.iter().map(|d| {
            let r = [d.r_a, d.r_b, d.r_ab].map(|r| shown(Some(r)));
            let test = [number::fixed(d.test.t, 2), p_value(d.test.p)].map(Cell::from);
            [label(d.a), label(d.b)].into_iter().chain(r).chain(test).collect()
        });
        let mut grid = Grid::of_numbers(["a", "b", "r(a)", "r(b)", "r(a, b)", "t", "p"], rows);
        grid.columns[1].1 = Align::Left;
        let title = "Williams' test of Pearson's r with the mean rating of each item";
        tables.push(Table { title: Some(title.to_owned()), grid });
    }
    tables
}
