//! A comparison of many systems in one table: a row per system, a column per measure.

use capeval_metric::Direction;

use super::{Comparison, Verdict};
use crate::grid::{Align, Cell, Grid, Labels, Table};
use crate::number::{fixed, percent};

/// More groups than this have no letters.
const MAX_GROUPS: usize = 52;

/// Whether each pair of systems was compared, so that groups exist, or only each system with the first.
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
        for (letter, group) in ('a'..='z').chain('A'..='Z').zip(self.groups(measure).unwrap_or_default()) {
            group.into_iter().for_each(|system| marks[system].push(letter));
        }
        marks
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

    /// The groups of systems of which no two differ significantly by one measure, each from the best system to the
    /// worst, and the groups in the same order; `None` if there are too many.
    fn groups(&self, measure: usize) -> Option<Vec<Vec<usize>>> {
        let mut best_first: Vec<usize> = (0..self.report.systems.len()).collect();
        let score = |system: usize| self.report.systems[system].scores[measure];
        best_first.sort_by(|a, b| match self.report.head.measures[measure].direction {
            Direction::HigherIsBetter | Direction::Neither => score(*b).total_cmp(&score(*a)),
            Direction::LowerIsBetter => score(*a).total_cmp(&score(*b)),
        });
        let mut place = vec![0; best_first.len()];
        best_first.iter().enumerate().for_each(|(k, system)| place[*system] = k);
        let differ = self.pairs.iter().filter(|pair| pair.contrasts[measure].verdict != Verdict::Undecided);
        let groups = alike(best_first.len(), differ.map(|pair| (place[pair.baseline], place[pair.system])))?;
        Some(groups.into_iter().map(|group| group.into_iter().map(|k| best_first[k]).collect()).collect())
    }
}

/// The largest groups of `n` items of which no two `differ`, in order; `None` if there are too many.
///
/// Each pair that differs splits the groups that hold both, and groups within others are dropped (Piepho, *An Algorithm
/// for a Letter-Based Representation of All-Pairwise Comparisons*, 2004).
fn alike(n: usize, differ: impl Iterator<Item = (usize, usize)>) -> Option<Vec<Vec<usize>>> {
    let mut groups: Vec<Vec<usize>> = vec![(0..n).collect()];
    for (a, b) in differ {
        let (both, mut kept): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.contains(&a) && group.contains(&b));
        let without = |group: &[usize], one: usize| group.iter().copied().filter(|k| *k != one).collect();
        let mut split: Vec<Vec<usize>> =
            both.iter().flat_map(|group| [without(group, a), without(group, b)]).collect();
        split.sort_by_key(|group| std::cmp::Reverse(group.len()));
        for group in split {
            if !kept.iter().any(|known| group.iter().all(|k| known.contains(k))) {
                kept.push(group);
            }
        }
        if kept.len() > MAX_GROUPS {
            return None;
        }
        groups = kept;
    }
    groups.sort_unstable();
    Some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(n: usize, differ: &[(usize, usize)]) -> Vec<Vec<usize>> {
        alike(n, differ.iter().copied()).unwrap()
    }

    #[test]
    fn items_that_do_not_differ_share_a_group_and_others_share_none() {
        assert_eq!(groups(3, &[]), [[0, 1, 2]]);
        assert_eq!(groups(3, &[(0, 2)]), [[0, 1], [1, 2]]);
        assert_eq!(groups(3, &[(0, 1), (2, 0)]), [vec![0], vec![1, 2]]);
        // The outer two are alike, and the one between them differs from the first.
        assert_eq!(groups(3, &[(0, 1)]), [[0, 2], [1, 2]]);
        assert_eq!(groups(4, &[(0, 2), (0, 3), (1, 3)]), [[0, 1], [1, 2], [2, 3]]);
    }

    #[test]
    fn every_pair_is_in_one_group_if_and_only_if_it_is_alike() {
        for drawn in 0..1_u32 << 10 {
            let pairs: Vec<(usize, usize)> = (0..5).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
            let differ: Vec<_> =
                pairs.iter().enumerate().filter(|(k, _)| drawn >> k & 1 == 1).map(|(_, p)| *p).collect();
            let groups = groups(5, &differ);
            for (a, b) in pairs {
                let are_together = groups.iter().any(|group| group.contains(&a) && group.contains(&b));
                assert_eq!(are_together, !differ.contains(&(a, b)), "{differ:?}: {groups:?}");
            }
        }
    }

    #[test]
    fn too_many_groups_are_given_up() {
        let matching = |n: usize| alike(2 * n, (0..n).map(|k| (2 * k, 2 * k + 1)));
        assert_eq!(matching(5).map(|groups| groups.len()), Some(32));
        assert_eq!(matching(40), None);
    }
}
