//! A comparison as tables.

use capeval_stats::Interval;
use capeval_stats::correction::Correction;

use super::{Comparison, Contrast, P, Pair, Verdict};
use crate::grid::{Align, Cell, Grid, Labels, Table};
use crate::number::{fixed, is_zero, percent};

impl Comparison {
    /// A table per pair.
    pub fn pair_tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        let grids = self.pairs.iter().map(|pair| grid(self, pair, digits, labels));
        grids.map(|grid| Table { title: None, grid }).collect()
    }

    /// A sentence on the draws and exchanges of images.
    pub(super) fn about_draws(&self) -> String {
        format!("{} resamples and random exchanges, seed {}", self.resampling.resamples, self.resampling.seed)
    }

    /// The legend of the tables, line by line; significant differences are bold.
    pub fn about(&self) -> Vec<String> {
        about(self, "bold:")
    }
}

/// The legend of a table, line by line; `mark` marks significant differences.
pub(super) fn about(comparison: &Comparison, mark: &str) -> Vec<String> {
    let (resampling, unit) = (&comparison.resampling, comparison.report.unit());
    let Columns { sign, exact } = Columns::of(comparison.pairs.iter().flat_map(|pair| &pair.contrasts));
    let optional = match (sign, exact) {
        (true, true) => "; sign and exact permutation tests where the score is a mean",
        (true, false) => "; sign test where the score is a mean",
        (false, true) => "; exact permutation test where the score is a mean",
        (false, false) => "",
    };
    vec![
        format!(
            "{mark} significant at {} by {} ({} correction over all pairs and measures)",
            percent(resampling.level),
            if exact { "p exact, otherwise by p rand." } else { "p rand." },
            comparison.correction.name()
        ),
        format!(
            "[low, high]: {} interval of the difference; {}",
            percent(resampling.level),
            comparison.about_draws()
        ),
        format!(
            "p: paired randomisation test, ≤ for bounds by tests in which no exchange gave so large a \
             difference{optional}; d of {unit}s: Cohen's d of the differences of {unit} scores, not of corpus scores; \
             better/equal/worse: numbers of {unit}s"
        ),
    ]
}

/// The optional columns: p-values that only some measures have.
struct Columns {
    sign: bool,
    exact: bool,
}

impl Columns {
    fn of<'c>(contrasts: impl Iterator<Item = &'c Contrast> + Clone) -> Self {
        let has = |test: fn(&Contrast) -> Option<P>| contrasts.clone().any(|c| test(c).is_some());
        Self { sign: has(|c| c.sign), exact: has(|c| c.permutation) }
    }
}

/// A table with a row per measure.
fn grid(comparison: &Comparison, pair: &Pair, digits: usize, labels: Labels) -> Grid {
    let report = &comparison.report;
    let bounds = Bounds::of(comparison);
    let name = |system: usize| report.systems.get(system).map_or("", |s| s.name.as_str()).to_owned();
    let mut names = vec![String::new(), name(pair.baseline), name(pair.system), "difference".to_owned()];
    let Columns { sign, exact } = Columns::of(pair.contrasts.iter());
    names.push("p rand.".to_owned());
    names.extend(sign.then(|| "p sign".to_owned()));
    names.extend(exact.then(|| "p exact".to_owned()));
    names.extend([format!("d of {}s", report.unit()), "better/equal/worse".to_owned()]);
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
            let optional = |p: Option<P>, shown: &dyn Fn(f64) -> String| {
                Cell::from(p.map_or_else(String::new, |p| shown(p.adjusted)))
            };
            cells.push(bounds.randomisation(contrast.randomisation).into());
            cells.extend(sign.then(|| optional(contrast.sign, &p_value)));
            cells.extend(exact.then(|| optional(contrast.permutation, &|p| bounds.exact(p))));
            let tally = contrast.tally;
            cells.push(signed(contrast.cohens_d, 2).into());
            cells.push(format!("{}/{}/{}", tally.wins, tally.ties, tally.losses).into());
            cells
        });
    Grid { columns: columns.collect(), rows: rows.collect() }
}

/// The p-values that are bounds only: those of randomisation tests in which no exchange gave as large a difference as
/// there is, and those that Holm's correction sets to the value of such a test.
struct Bounds {
    /// Randomisation gives no p-value between a bound and this.
    most: f64,
    adjusted: Vec<f64>,
}

impl Bounds {
    fn of(comparison: &Comparison) -> Self {
        let most = 1.5 / (comparison.resampling.resamples as f64 + 1.0);
        let tests = comparison.pairs.iter().flat_map(|pair| &pair.contrasts).map(|c| c.randomisation);
        let adjusted = match comparison.correction {
            Correction::Holm => {
                tests.filter(|p| p.value <= most && p.adjusted < 1.0).map(|p| p.adjusted).collect()
            }
            _ => Vec::new(),
        };
        Self { most, adjusted }
    }

    /// The corrected p-value of a randomisation test, rounded up: one that is too low claims too much.
    fn randomisation(&self, p: P) -> String {
        if p.adjusted.is_nan() || p.value > self.most && p.adjusted < 0.0001 {
            return p_value(p.adjusted);
        }
        let is_bound = p.value <= self.most || self.adjusted.contains(&p.adjusted);
        format!("{}{}", if is_bound { "≤" } else { "" }, rounded_up(p.adjusted))
    }

    /// The corrected p-value of an exact test, which is corrected together with those by randomisation.
    fn exact(&self, p: f64) -> String {
        if self.adjusted.contains(&p) { format!("≤{}", rounded_up(p)) } else { p_value(p) }
    }
}

/// A p-value, rounded up to four digits.
fn rounded_up(p: f64) -> String {
    fixed(((p * 1e4 - 1e-9).ceil() / 1e4).min(1.0), 4)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_rounded_up_and_holm_passes_bounds_on() {
        let least = 1.0 / 1001.0;
        let of = |value, adjusted| P { value, adjusted };
        let bounds = Bounds { most: 1.5 * least, adjusted: vec![3.0 * least] };
        assert_eq!(bounds.randomisation(of(least, 3.0 * least)), "≤0.0030");
        assert_eq!(bounds.randomisation(of(2.0 * least, 3.0 * least)), "≤0.0030");
        assert_eq!(bounds.exact(3.0 * least), "≤0.0030");
        assert_eq!(bounds.exact(0.05002), "0.0500");
        // The nearest number of four digits, 0.0500, would not tell that it is above 5 %.
        assert_eq!(bounds.randomisation(of(0.025, 0.05002)), "0.0501");
        assert_eq!(bounds.randomisation(of(0.05, 0.05)), "0.0500");
        assert_eq!(bounds.randomisation(of(least, 1.0)), "≤1.0000");
        assert_eq!(bounds.randomisation(of(0.9, 1.0)), "1.0000");
        assert_eq!(bounds.randomisation(of(0.00002, 0.00004)), "≤0.0001");
    }
}
