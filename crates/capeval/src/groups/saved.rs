//! Groups the images of a saved report. It contains no captions, so the scores of groups are means of image scores.

use std::collections::{BTreeMap, HashMap};

use capeval_choice::{Argument, Code, Remedy};
use capeval_corpus::SegmentId;
use capeval_report::{
    GroupDifference, GroupFrequencies, GroupRow, GroupScores, Notice, Report, Segments, SystemReport,
};
use capeval_stats::{ExactSum, JackknifeEstimate};

use super::GroupBy;
use super::differences::{correct, ungrouped_notice};
use super::membership::{GroupName, GroupableImages, Membership};
use crate::Error;

/// Adds the scores of groups to a report that has the scores of every image. Measures that are no means of these have
/// none, and a notice names them.
///
/// # Errors
/// When there are no scores of images, or a property needs captions.
pub fn group_saved(report: &mut Report, by: &[GroupBy]) -> Result<(), Error> {
    let segments: Vec<(&SystemReport, &Segments)> =
        report.systems.iter().filter_map(|system| Some((system, system.segments.as_ref()?))).collect();
    if segments.is_empty() && !by.is_empty() {
        return Err(Error::with_remedy(
            "the report has no scores of images that could be grouped",
            "score the captions again, and save the report",
        ));
    }
    let mut places: HashMap<SegmentId, u32> = HashMap::new();
    for id in segments.iter().flat_map(|(_, segments)| &segments.ids) {
        let next = places.len() as u32;
        places.entry(id.clone()).or_insert(next);
    }
    let find = |id: &SegmentId| places.get(id).copied().into_iter().collect();
    let (none, n) = ("a saved report has no captions", places.len() as u32);
    let images = GroupableImages { references: Err(none), systems: Err(none), n, find: &find, known: None };
    let is_mean: Vec<bool> =
        report.head.metrics.iter().flat_map(|m| std::iter::repeat_n(m.is_mean, m.n_measures)).collect();
    let mut all = Vec::new();
    for by in by {
        let membership = Membership::new(by, &images)?;
        all.push(scores(&membership, &segments, &places, &is_mean));
    }
    let no_means: Vec<&str> =
        report.head.keys().zip(&is_mean).filter(|(_, is_mean)| !**is_mean).map(|(key, _)| key).collect();
    let mut notices: Vec<Notice> =
        all.iter().filter_map(|one| ungrouped_notice(&one.by, one.without, report.unit())).collect();
    if !no_means.is_empty() && !all.is_empty() {
        let message = format!(
            "{}: no values by group, since groups of a saved report have only means of {} scores",
            no_means.join(", "),
            report.unit()
        );
        let remedy = Remedy::give(Argument::GroupBy).to("have them when captions are scored");
        notices.push(Notice::new(Code::NoMeanOfGroups, message).remedy(remedy));
    }
    report.groups.extend(all);
    report.head.notices.extend(notices);
    Ok(())
}

/// The scores of groups of each system.
fn scores(
    membership: &Membership,
    systems: &[(&SystemReport, &Segments)],
    places: &HashMap<SegmentId, u32>,
    is_mean: &[bool],
) -> GroupScores {
    let mut groups: BTreeMap<GroupName, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    let mut found = GroupScores {
        by: membership.name().to_owned(),
        frequencies: GroupFrequencies::All,
        ..GroupScores::default()
    };
    for (k, (_, segments)) in systems.iter().enumerate() {
        for (row, id) in segments.ids.iter().enumerate() {
            let of_image = places.get(id).map_or(&[][..], |image| membership.of(k, *image));
            found.without += usize::from(of_image.is_empty() && k == 0);
            for label in of_image {
                groups.entry(label.clone()).or_default().entry(k).or_default().push(row);
            }
        }
    }
    for (label, of_systems) in &groups {
        for (k, rows) in of_systems {
            let Some((system, segments)) = systems.get(*k) else { continue };
            let parts = is_mean.iter().enumerate().map(|(m, has_mean)| match has_mean {
                true => mean_and_difference(segments, (m, is_mean.len()), rows),
                false => (f64::NAN, NO_TEST),
            });
            let (scores, rest) = parts.unzip();
            found.rows.push(GroupRow {
                group: label.name(),
                system: system.name.clone(),
                n_images: rows.len(),
                scores,
                rest,
                ..GroupRow::default()
            });
        }
    }
    correct(&mut found, is_mean.len(), |row| &mut row.rest);
    found
}

/// The difference of a measure without a test.
const NO_TEST: GroupDifference = GroupDifference { difference: f64::NAN, p: f64::NAN };

/// The mean of a measure over some rows, and its difference from that over all others; the measure is given by its
/// number and the number of all.
fn mean_and_difference(
    segments: &Segments,
    (m, n_measures): (usize, usize),
    rows: &[usize],
) -> (f64, GroupDifference) {
    let column: Vec<f64> = segments.values.iter().skip(m).step_by(n_measures.max(1)).copied().collect();
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (row, value) in column.iter().enumerate() {
        let side = if rows.binary_search(&row).is_ok() { &mut inside } else { &mut outside };
        side.push(*value);
    }
    let mean = |values: &[f64]| values.iter().copied().collect::<ExactSum>().value() / values.len() as f64;
    let estimate = |values: &[f64]| {
        let (sum, n) = (values.iter().sum::<f64>(), values.len() as f64);
        JackknifeEstimate::new(mean(values), values.iter().map(|value| (sum - value) / (n - 1.0)))
    };
    let (group, others) = (estimate(&inside), estimate(&outside));
    let p = group.welch(others).unwrap_or(f64::NAN);
    (group.value, GroupDifference { difference: group.value - others.value, p })
}
