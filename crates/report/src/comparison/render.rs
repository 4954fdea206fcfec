//! A comparison as tables.

use std::io::{self, Write};

use capeval_stats::Interval;

use super::{Comparison, Contrast, P, Pair, Verdict};
use crate::Form;
use crate::grid::{Align, Cell, Grid, Labels, Table};
use crate::number::{fixed, is_zero, percent};
use crate::render::Tabulated;
use crate::segments::segments;

impl Tabulated for Comparison {
    /// One table per pair: the scores, their difference with its interval, the corrected p-values, and the numbers of
    /// images on which the system is better, equal and worse.
    fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        self.tables(digits, labels)
    }

    fn legend(&self, form: Form, _tables: &[Table]) -> Vec<String> {
        let scored = if form == Form::Latex { self.report.scored() } else { self.report.footer() };
        let mark = if form == Form::Table { "*" } else { "bold:" };
        [scored].into_iter().chain(about(self, mark)).collect()
    }

    fn signature_lines(&self) -> Vec<String> {
        self.report.signature_lines()
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        segments(&self.report, out)
    }
}

impl Comparison {
    /// A table per pair.
    pub fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        let grids = self.pairs.iter().map(|pair| grid(self, pair, digits, labels));
        grids.map(|grid| Table { title: None, grid }).collect()
    }

    /// The legend of the tables, line by line; significant differences are bold.
    pub fn about(&self) -> Vec<String> {
        about(self, "bold:")
    }
}

/// The legend of a table, line by line; `mark` marks significant differences.
fn about(comparison: &Comparison, mark: &str) -> Vec<String> {
    let resampling = &comparison.resampling;
    vec![
        format!(
            "{mark} significant at {} by p exact, otherwise by p rand. ({} correction over all pairs and measures)",
            percent(resampling.level),
            comparison.correction.name()
        ),
        format!(
            "[low, high]: {} interval of the difference; {} resamples and random exchanges, seed {}",
            percent(resampling.level),
            resampling.resamples,
            resampling.seed
        ),
        "p: randomisation, bootstrap (as in sacreBLEU) and, where the score is a mean, sign and exact permutation \
         tests; d: Cohen's d of the differences per image; better/equal/worse: numbers of images"
            .to_owned(),
    ]
}

/// A table with a row per measure.
fn grid(comparison: &Comparison, pair: &Pair, digits: usize, labels: Labels) -> Grid {
    let report = &comparison.report;
    let name = |system: usize| report.systems.get(system).map_or("", |s| s.name.as_str()).to_owned();
    let mut names = vec![String::new(), name(pair.baseline), name(pair.system), "difference".to_owned()];
    let has = |test: fn(&Contrast) -> Option<P>| pair.contrasts.iter().any(|c| test(c).is_some());
    let (sign, exact) = (has(|c| c.sign), has(|c| c.permutation));
    names.extend(["p rand.", "p boot."].map(str::to_owned));
    names.extend(sign.then(|| "p sign".to_owned()));
    names.extend(exact.then(|| "p exact".to_owned()));
    names.extend(["d", "better/equal/worse"].map(str::to_owned));
    let columns = names.into_iter().enumerate();
    let columns = columns.map(|(k, name)| (name, if k == 0 { Align::Left } else { Align::Right }));
    let rows =
        pair.contrasts.iter().zip(&report.head.measures).enumerate().map(|(m, (contrast, measure))| {
            let score = |system: usize| {
                let score = report.systems.get(system).and_then(|s| s.scores.get(m));
                Cell::from(score.map_or_else(String::new, |score| fixed(*score, measure.digits(digits))))
            };
            let mut cells = vec![measure.named(labels).into(), score(pair.baseline), score(pair.system)];
            cells.push(Cell {
                text: signed(contrast.difference, digits),
                best: contrast.verdict != Verdict::Undecided,
                note: match contrast.interval {
                    Interval { low, .. } if low.is_nan() => String::new(),
                    Interval { low, high } => format!("[{}, {}]", signed(low, digits), signed(high, digits)),
                },
            });
            cells.extend(
                [contrast.randomisation, contrast.bootstrap].map(|p| Cell::from(p_value(p.adjusted))),
            );
            let optional = |p: Option<P>| Cell::from(p.map_or_else(String::new, |p| p_value(p.adjusted)));
            cells.extend(sign.then(|| optional(contrast.sign)));
            cells.extend(exact.then(|| optional(contrast.permutation)));
            let tally = contrast.tally;
            cells.push(signed(contrast.cohens_d, 2).into());
            cells.push(format!("{}/{}/{}", tally.wins, tally.ties, tally.losses).into());
            cells
        });
    Grid { columns: columns.collect(), rows: rows.collect() }
}

/// A number with its sign, unless it rounds to zero.
fn signed(value: f64, digits: usize) -> String {
    let text = fixed(value, digits);
    if value > 0.0 && !is_zero(&text) { format!("+{text}") } else { text }
}

/// A p-value as papers print it.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { fixed(p, 4) }
}
