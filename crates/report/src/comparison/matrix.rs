//! A comparison of many systems in one table: a row per system, a column per measure.

use capeval_metric::Direction;

use super::{Comparison, Verdict};
use crate::grid::{Align, Cell, Grid, Labels, Table};
use crate::number::{fixed, percent};
use crate::significance_letters::letters;

/// Returns true if each pair of systems was compared, so that groups exist, not only each system with the first.
fn is_complete(comparison: &Comparison) -> bool {
    let n = comparison.report.systems.len();
    comparison.pairs.len() == n * n.saturating_sub(1) / 2
}

impl Comparison {
    /// The scores of all systems in one table. After each score are the letters of its groups if all pairs were
    /// compared, and otherwise `+`, `-` or `=` if the system is better than the baseline, worse, or neither.
    pub fn matrix(&self, digits: usize, labels: Labels) -> Table {
        let report = &self.report;
        let mut columns = vec![("System".to_owned(), Align::Left)];
        // Each system was compared with the first only, unless all pairs were.
        let ranks = report.sorted_by.filter(|_| is_complete(self)).map(|measure| self.ranks(measure));
        columns.extend(ranks.iter().map(|_| ("Rank".to_owned(), Align::Right)));
        let measures = &report.head.measures;
        columns.extend(measures.iter().map(|m| (m.named(labels).to_owned(), Align::Right)));
        let marks: Vec<Vec<String>> = (0..measures.len()).map(|measure| self.marks(measure)).collect();
        let row = |system: usize| {
            let scores = report.systems[system].scores.iter().zip(measures).zip(&marks);
            let scores = scores.map(|((score, measure), marks)| Cell {
                note: marks[system].clone(),
                ..Cell::from(fixed(*score, measure.digits(digits)))
            });
            let rank = ranks.iter().map(|ranks| ranks[system].to_string().into());
            std::iter::once(report.systems[system].name.as_str().into()).chain(rank).chain(scores).collect()
        };
        Table { title: None, grid: Grid { columns, rows: (0..report.systems.len()).map(row).collect() } }
    }

    /// How to read [`Self::matrix`].
    pub(super) fn about_matrix(&self) -> String {
        let is_exact = self.pairs.iter().flat_map(|pair| &pair.contrasts).any(|c| c.permutation.is_some());
        let tests = format!(
            "at {} by paired randomisation tests{} ({} correction over all pairs and measures)",
            percent(self.resampling.level),
            if is_exact { ", exact ones where the score is a mean" } else { "" },
            self.correction.name()
        );
        if is_complete(self) {
            let ranks = match self.report.sorted_by {
                Some(_) => "; rank: 1 + the number of systems that are significantly better",
                None => "",
            };
            return format!(
                "a, b, …: systems that share a letter do not differ significantly {tests}{ranks}"
            );
        }
        let baseline = self.pairs.first().and_then(|pair| self.report.systems.get(pair.baseline));
        let baseline = baseline.map_or("", |system| &system.name);
        format!("+ better than {baseline}, - worse, = neither, {tests}")
    }

    /// The mark of each system by one measure.
    fn marks(&self, measure: usize) -> Vec<String> {
        let n = self.report.systems.len();
        let is_tested = self.pairs.iter().all(|pair| {
            pair.contrasts.get(measure).is_some_and(|c| c.has_test && !c.randomisation.value.is_nan())
        });
        let mut marks = vec![String::new(); n];
        if !is_tested {
            return marks;
        }
        if !is_complete(self) {
            for pair in &self.pairs {
                let mark = match pair.contrasts[measure].verdict {
                    Verdict::Better => "+",
                    Verdict::Worse => "-",
                    Verdict::Undecided => "=",
                };
                marks[pair.system] = mark.to_owned();
            }
            return marks;
        }
        self.letters(measure)
    }

    /// The rank of each system by one measure: 1 plus the number of systems that are significantly better.
    fn ranks(&self, measure: usize) -> Vec<usize> {
        let mut ranks = vec![1; self.report.systems.len()];
        for pair in &self.pairs {
            match pair.contrasts.get(measure).map(|contrast| contrast.verdict) {
                Some(Verdict::Better) => ranks[pair.baseline] += 1,
                Some(Verdict::Worse) => ranks[pair.system] += 1,
                _ => {}
            }
        }
        ranks
    }

    /// The letters of each system by one measure.
    fn letters(&self, measure: usize) -> Vec<String> {
        let mut best_first: Vec<usize> = (0..self.report.systems.len()).collect();
        let score = |system: usize| self.report.systems[system].scores[measure];
        best_first.sort_by(|a, b| match self.report.head.measures[measure].direction {
            Direction::HigherIsBetter | Direction::Neither => score(*b).total_cmp(&score(*a)),
            Direction::LowerIsBetter => score(*a).total_cmp(&score(*b)),
        });
        let differ = self.pairs.iter().filter(|pair| pair.contrasts[measure].verdict != Verdict::Undecided);
        letters(&best_first, differ.map(|pair| (pair.baseline, pair.system)))
    }
}
