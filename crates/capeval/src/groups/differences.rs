//! Compares the scores of groups with those of other images and of other systems, and describes the differences.

use std::collections::BTreeSet;

use capeval_choice::{Argument, Code, Remedy, counted};
use capeval_evaluate::{MetricScores, SystemScores};
use capeval_metric::Learns;
use capeval_report::{GroupDifference, GroupFrequencies, GroupRow, GroupScores, Measure, Notice};
use capeval_stats::JackknifeEstimate;
use capeval_stats::correction::Correction;

use super::jackknife::without_each;
use super::scores::SystemImages;
use crate::measures::corpus_scores;

/// The share by which a score must differ with other document frequencies before a notice says so.
const MUCH: f64 = 0.1;

/// Corrects the p-values of each system and measure for the number of groups.
pub fn correct(
    scores: &mut GroupScores,
    n_measures: usize,
    of: impl Fn(&mut GroupRow) -> &mut Vec<GroupDifference>,
) {
    let systems: BTreeSet<String> = scores.rows.iter().map(|row| row.system.clone()).collect();
    for (system, m) in systems.iter().flat_map(|system| (0..n_measures).map(move |m| (system, m))) {
        let mut tests: Vec<&mut GroupDifference> = scores
            .rows
            .iter_mut()
            .filter(|row| row.system == *system)
            .filter_map(|row| of(row).get_mut(m))
            .collect();
        let raw: Vec<f64> = tests.iter().map(|test| test.p).collect();
        let adjusted = Correction::Holm.adjust(&raw);
        tests.iter_mut().zip(adjusted).for_each(|(test, p)| test.p = p);
    }
}

/// The difference between two systems on the same images by each measure, with uncorrected p-values; none if they
/// describe different images.
pub fn paired(first: &SystemScores, second: &SystemScores) -> Vec<GroupDifference> {
    if first.images != second.images {
        return Vec::new();
    }
    let of_metric = |(one, another): (&MetricScores, &MetricScores)| {
        let (n, has_test) = (one.corpus.len(), one.metric.about().adds_up);
        let without = |of: &MetricScores| without_each(of, &[], &of.table.total(), 0..of.table.len());
        let (without_one, without_another) = (without(one), without(another));
        let without: Vec<f64> =
            without_one.iter().zip(&without_another).map(|(one, another)| another - one).collect();
        let part = |part: usize| {
            let difference = another.corpus[part] - one.corpus[part];
            let without = without.iter().copied().skip(part).step_by(n.max(1));
            let estimate = JackknifeEstimate::new(difference, without);
            let has_test = has_test && one.metric.parts()[part].has_interval;
            let p = has_test.then(|| estimate.t_test()).flatten();
            GroupDifference { difference, p: p.unwrap_or(f64::NAN) }
        };
        (0..n).map(part).collect::<Vec<_>>()
    };
    first.metrics.iter().zip(&second.metrics).flat_map(of_metric).collect()
}

/// A notice about measures by which a system is better than the first in every group and worse on all images, or the
/// reverse (Simpson's paradox); none if some images are in no group, since these may decide.
pub fn reversal_notice(scores: &GroupScores, whole: &[SystemScores], measures: &[Measure]) -> Option<Notice> {
    let first = whole.first().filter(|_| scores.without == 0)?;
    let mut found = Vec::new();
    for system in whole.iter().skip(1) {
        let rows: Vec<&GroupRow> =
            scores.rows.iter().filter(|row| row.system == system.name && !row.baseline.is_empty()).collect();
        let of_whole = corpus_scores(&system.metrics)
            .into_iter()
            .zip(corpus_scores(&first.metrics))
            .map(|(own, base)| own - base);
        for (m, (difference, measure)) in of_whole.zip(measures).enumerate() {
            let signs =
                || rows.iter().filter_map(|row| row.baseline.get(m)).map(|one| one.difference * difference);
            if rows.len() > 1 && signs().all(|sign| sign < 0.0) {
                found.push(format!("{} by {}", system.name, measure.key));
            }
        }
    }
    let message = format!(
        "in every group by {}, the difference from {} has the opposite sign to that on all images: {}",
        scores.by,
        first.name,
        found.join(", ")
    );
    (!found.is_empty()).then(|| Notice::new(Code::ReversedInGroups, message).count(found.len()))
}

/// A notice about images, or other units, in no group.
pub fn ungrouped_notice(by: &str, n: usize, unit: &str) -> Option<Notice> {
    let (units, are) = (counted(n, unit), if n == 1 { "is" } else { "are" });
    let message = format!("{units} {are} in no group by {by}: only the scores of all {unit}s count them");
    (n > 0).then(|| Notice::new(Code::UngroupedImages, message).count(n))
}

/// A notice about the score that the document frequencies of all images would change most, if they change it by
/// [`MUCH`].
pub fn frequency_notice(
    scores: &GroupScores,
    images: &[SystemImages],
    whole: &[SystemScores],
    measures: &[Measure],
) -> Option<Notice> {
    let learns = |metric: &MetricScores| {
        let learns = matches!(metric.metric.about().learns, Learns::References | Learns::Everything);
        std::iter::repeat_n(learns, metric.corpus.len())
    };
    let mut found: Option<(f64, String)> = None;
    for (row, (k, images)) in scores.rows.iter().zip(images) {
        let Some(whole) =
            whole.get(*k).filter(|whole| whole.metrics.iter().flat_map(learns).any(|learns| learns))
        else {
            continue;
        };
        let all = corpus_scores(&whole.select(images).metrics);
        for (((own, all), learns), measure) in
            row.scores.iter().zip(&all).zip(whole.metrics.iter().flat_map(learns)).zip(measures)
        {
            let share = (own - all).abs() / all.abs();
            if learns && share > MUCH && found.as_ref().is_none_or(|(most, _)| share > *most) {
                let message = format!(
                    "{} of {} by '{}' is {own:.3} with the document frequencies of the group alone, and {all:.3} with \
                     those of all images",
                    measure.key, row.system, row.group
                );
                found = Some((share, message));
            }
        }
    }
    let remedy = Remedy::set(Argument::GroupFrequencies, GroupFrequencies::All.name())
        .to("score groups with those of all images");
    found.map(|(_, message)| Notice::new(Code::GroupFrequencies, message).remedy(remedy))
}
