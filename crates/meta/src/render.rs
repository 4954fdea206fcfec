//! Metrics on benchmarks as tables: a row for each metric, and columns for each benchmark.

use capeval::choice::counted;
use capeval::report::{Align, Cell, Grid, Labels, Table, fixed, significant};

use crate::registry::label;
use crate::result::{MeasureResult, MetaReport, Outcome, Value};
use crate::verdict::{Comparison, Verdict};

/// The rated things of a benchmark, and the files in which they were found.
pub(crate) fn about(outcome: &Outcome) -> String {
    let reading = outcome.reading.as_deref().unwrap_or_default();
    let subset = if outcome.is_subset { ", which may be a part of it" } else { "" };
    format!(
        "{}: {} of {} ({}){subset}; read from {} as {reading}",
        outcome.benchmark.title,
        outcome.benchmark.coefficient.label(),
        outcome.people,
        counted(outcome.n_points, if outcome.pairs.is_some() { "pair" } else { "point" }),
        outcome.files.join(", ")
    )
}

impl MetaReport {
    fn number(&self, value: Option<f64>, digits: usize) -> String {
        fixed(self.head.factor() * value.unwrap_or(f64::NAN), digits)
    }

    fn interval(&self, value: &Value, digits: usize) -> String {
        value.interval.filter(|ends| !ends.low.is_nan()).map_or_else(String::new, |ends| {
            format!("[{}, {}]", self.number(Some(ends.low), digits), self.number(Some(ends.high), digits))
        })
    }

    /// A published value on the scale of the table, with the digits that it was printed with.
    fn printed(&self, comparison: &Comparison) -> String {
        let (shown, scale) = (self.head.factor(), f64::from(comparison.scale));
        if shown == scale {
            return comparison.printed.to_owned();
        }
        let digits = comparison.printed.split_once('.').map_or(0, |(_, digits)| digits.len());
        let digits = if shown > scale { digits.saturating_sub(2) } else { digits + 2 };
        let number: f64 = comparison.printed.parse().unwrap_or(f64::NAN);
        fixed(number / scale * shown, digits)
    }

    /// The verdict in a table.
    fn verdict(&self, comparison: &Comparison) -> String {
        let by = || {
            let by: f64 = comparison.verdict.difference().parse().unwrap_or(f64::NAN);
            let printed = self.printed(comparison);
            let digits = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
            let by = by / f64::from(comparison.scale) * self.head.factor();
            format!("{}{}", if by > 0.0 { "+" } else { "" }, fixed(by, digits))
        };
        match &comparison.verdict {
            Verdict::Equal => "=".to_owned(),
            Verdict::Within(_) => format!("≈ {}", by()),
            Verdict::Known(..) => format!("{} †", by()),
            Verdict::Differs(_) => by(),
            Verdict::None => String::new(),
        }
    }

    /// Metrics by benchmarks: the customary coefficient with its interval and letters, and the first published value.
    pub(crate) fn matrix(&self, digits: usize, labels: Labels) -> Grid {
        let mut columns = vec![(String::new(), Align::Left)];
        for outcome in &self.outcomes {
            let name = format!("{} {}", outcome.benchmark.title, outcome.benchmark.coefficient.label());
            columns.extend([(name, Align::Right), ("published".to_owned(), Align::Right)]);
        }
        let best: Vec<Option<String>> =
            self.outcomes.iter().map(|outcome| self.best(outcome, digits)).collect();
        let rows = self.head.measures.iter().map(|measure| {
            let name = match labels {
                Labels::Full => measure.label.as_str(),
                Labels::Short => measure.short_label(),
            };
            let name = if name == measure.key { label(crate::registry::published_key(name)) } else { name };
            let mut row = vec![Cell::from(name)];
            for (outcome, best) in self.outcomes.iter().zip(&best) {
                let measured = outcome.measured(&measure.key);
                row.extend(self.cells(measured, best.as_ref(), digits));
            }
            row
        });
        Grid { columns, rows: rows.collect() }
    }

    /// The best coefficient on a benchmark as it is printed, unless all look equal.
    fn best(&self, outcome: &Outcome, digits: usize) -> Option<String> {
        let sign = |m: &MeasureResult| m.measure.direction == capeval::metric::Direction::LowerIsBetter;
        let values = || {
            outcome.measured.iter().filter_map(|m| {
                let value = m.customary()?.value?;
                Some((if sign(m) { -value } else { value }, self.number(Some(value), digits)))
            })
        };
        let (_, best) = values().max_by(|a, b| a.0.total_cmp(&b.0))?;
        values().any(|(_, shown)| shown != best).then_some(best)
    }

    fn cells(&self, measured: Option<&MeasureResult>, best: Option<&String>, digits: usize) -> [Cell; 2] {
        let Some((measured, value)) = measured.and_then(|m| Some((m, m.customary()?))) else {
            return [Cell::default(), Cell::default()];
        };
        let text = self.number(value.value, digits);
        let mut note = self.interval(value, digits);
        if !measured.letters.is_empty() {
            note = format!("{note} {}", measured.letters).trim().to_owned();
        }
        let published = value.published.first().map_or_else(Cell::default, |comparison| Cell {
            note: self.verdict(comparison),
            ..Cell::from(self.printed(comparison))
        });
        [Cell { best: best == Some(&text), text, note }, published]
    }

    /// All published values but those in the first table.
    pub(crate) fn others(&self, digits: usize, labels: Labels) -> Option<Table> {
        let is_shown = |measured: &MeasureResult, value: &Value, comparison: &Comparison| {
            let first = measured.customary();
            first.is_some_and(|first| {
                std::ptr::eq(first, value)
                    && first.published.first().is_some_and(|known| std::ptr::eq(known, comparison))
            })
        };
        let rows: Vec<Vec<Cell>> = self
            .comparisons()
            .filter(|(_, measured, value, comparison)| !is_shown(measured, value, comparison))
            .map(|(outcome, measured, value, comparison)| {
                let of = value.category.as_ref().map_or_else(String::new, |category| format!(" {category}"));
                let name = match labels {
                    Labels::Full => measured.measure.label.as_str(),
                    Labels::Short => measured.measure.short_label(),
                };
                // More digits than the table has are shown where more were published.
                let printed = self.printed(comparison);
                let own = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
                vec![
                    outcome.benchmark.title.as_str().into(),
                    name.into(),
                    format!("{}{of}", value.coefficient.label()).into(),
                    self.number(value.value, own.max(digits)).into(),
                    Cell { note: self.verdict(comparison), ..Cell::from(printed) },
                    comparison.source.as_str().into(),
                ]
            })
            .collect();
        let columns = ["benchmark", "metric", "coefficient", "measured", "published", "source"];
        let align = |name: &&str| matches!(*name, "measured" | "published");
        let columns = columns
            .iter()
            .map(|name| ((*name).to_owned(), if align(name) { Align::Right } else { Align::Left }));
        let grid = Grid { columns: columns.collect(), rows };
        (!grid.rows.is_empty()).then(|| Table { title: Some("other published values".to_owned()), grid })
    }

    /// Every pair of metrics on each benchmark.
    pub(crate) fn differences(&self, digits: usize, labels: Labels) -> Vec<Table> {
        let table = |outcome: &Outcome| {
            let name = |m: usize| {
                outcome.measured.get(m).map_or("", |measured| match labels {
                    Labels::Full => measured.measure.label.as_str(),
                    Labels::Short => measured.measure.short_label(),
                })
            };
            let has_williams = outcome.contrasts.iter().any(|contrasted| contrasted.williams.is_some());
            let rows = outcome.contrasts.iter().map(|contrasted| {
                let contrast = contrasted.contrast;
                let ends = contrast.interval;
                let note = format!(
                    "[{}, {}]",
                    self.number(Some(ends.low), digits),
                    self.number(Some(ends.high), digits)
                );
                let mut row: Vec<Cell> = vec![
                    name(contrast.a).into(),
                    name(contrast.b).into(),
                    Cell { note, ..Cell::from(self.number(Some(contrast.difference), digits)) },
                    p_value(contrast.p).into(),
                    p_value(contrast.p_corrected).into(),
                ];
                if has_williams {
                    let williams = contrasted.williams;
                    row.push(williams.map_or_else(String::new, |test| fixed(test.t, 2)).into());
                    row.push(williams.map_or_else(String::new, |test| p_value(test.p)).into());
                }
                row
            });
            let mut columns: Vec<(String, Align)> =
                ["a", "b"].map(|name| (name.to_owned(), Align::Left)).into();
            columns.extend(["a − b", "p", "p (Holm)"].map(|name| (name.to_owned(), Align::Right)));
            if has_williams {
                columns.extend(["Williams t", "p"].map(|name| (name.to_owned(), Align::Right)));
            }
            let williams = if has_williams {
                "; Williams' test is of Pearson's r with the mean rating of each caption"
            } else {
                ""
            };
            Table {
                title: Some(format!(
                    "{}: differences in {}{williams}",
                    outcome.benchmark.title,
                    outcome.benchmark.coefficient.label()
                )),
                grid: Grid { columns, rows: rows.collect() },
            }
        };
        self.outcomes.iter().filter(|outcome| !outcome.contrasts.is_empty()).map(table).collect()
    }
}

/// A p-value in a table.
fn p_value(p: f64) -> String {
    if p < 1e-4 { "<0.0001".to_owned() } else { significant(p, 2) }
}
