//! System-level agreement: corpus scores against mean ratings.

use capeval_choice::Code;
use capeval_evaluate::SystemScores;
use capeval_report::{Notice, SystemAgreement};
use capeval_stats::correlation::{self, Levels, Walk};
use capeval_stats::{ExactSum, Table};

use super::agreement::ordered_alike;
use super::points::Judgements;

/// The mean rating and the scores of each system.
pub(super) struct Systems {
    ratings: Vec<f64>,
    /// The scores, measure after measure.
    scores: Vec<Vec<f64>>,
}

/// The points of each system, in order of names; `None` unless there are at least two systems.
fn groups(judgements: &Judgements) -> Option<Vec<Vec<usize>>> {
    let mut named: std::collections::BTreeMap<&str, Vec<usize>> = std::collections::BTreeMap::new();
    for (k, point) in judgements.points.iter().enumerate() {
        named.entry(judgements.items[point.item].system.as_deref()?).or_default().push(k);
    }
    (named.len() >= 2).then(|| named.into_values().collect())
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.collect::<ExactSum>().value() / n
}

fn ratings(judgements: &Judgements, groups: &[Vec<usize>]) -> Vec<f64> {
    groups.iter().map(|group| mean(group.iter().map(|k| judgements.points[*k].rating))).collect()
}

/// Corpus scores of each system from the statistics of its points.
pub(super) fn of_tables(
    judgements: &Judgements,
    scores: &SystemScores,
    n_measures: usize,
) -> Option<Systems> {
    let groups = groups(judgements)?;
    let mut by_measure = vec![Vec::with_capacity(groups.len()); n_measures];
    for group in &groups {
        let mut first = 0;
        for metric in &scores.metrics {
            let rows = group.iter().flat_map(|k| metric.table.row(*k).iter().copied()).collect();
            let total = Table::new(metric.table.columns().to_vec(), rows).total();
            let mut values = vec![0.0; metric.corpus.len()];
            metric.metric.score(&total, &mut values);
            for (list, value) in by_measure.iter_mut().skip(first).zip(&values) {
                list.push(*value);
            }
            first += values.len();
        }
    }
    Some(Systems { ratings: ratings(judgements, &groups), scores: by_measure })
}

/// The agreement of each measure with people about systems.
pub(super) fn agreements(systems: &Systems, higher: &[bool]) -> Vec<SystemAgreement> {
    let ratings = &systems.ratings;
    let of_measure = |(scores, higher): (&Vec<f64>, &bool)| {
        let is_finite = scores.iter().all(|score| score.is_finite());
        let (x, y) = (Levels::new(scores), Levels::new(ratings));
        let turned = scores.iter().map(|score| if *higher { *score } else { -*score });
        let (won, n) = ordered_alike(ratings.iter().copied().zip(turned));
        let finite = |value: Option<f64>| value.filter(|_| is_finite);
        // A line goes through any two points.
        let correlated = |value: Option<f64>| finite(value).filter(|_| ratings.len() > 2);
        SystemAgreement {
            n_systems: ratings.len(),
            pearson: correlated(correlation::pearson(scores, ratings)),
            spearman: correlated(correlation::spearman(&x, &y, None)),
            tau_b: correlated(correlation::kendall(&x, &y, &Walk::new(&x), None).map(|k| k.tau_b)),
            accuracy: finite((n > 0.0).then(|| won / n)),
        }
    };
    systems.scores.iter().zip(higher).map(of_measure).collect()
}

/// A notice if there are too few systems for correlations.
pub(super) fn doubt(agreements: &[SystemAgreement]) -> Option<Notice> {
    agreements.iter().any(|agreement| agreement.n_systems == 2).then(|| {
        let message = "the correlation of two systems says nothing, as any two correlate by 1 or -1";
        Notice::new(Code::TwoSystems, message).remedy("rate three or more").count(2)
    })
}
