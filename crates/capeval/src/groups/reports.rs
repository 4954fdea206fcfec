//! Turns the reports of groups that were scored separately into the scores of groups in the report of all rows.

use std::cmp::Ordering;

use capeval_report::{ByGroup, GroupRow, Report, SystemReport};

use super::differences::ungrouped_notice;

/// Adds the scores of groups to the report on all rows, from a report on the rows of each group. Groups are sorted by
/// their names, or by their numbers if all are numbers.
pub fn group_reports(whole: &mut Report, mut by: ByGroup<Report>) {
    let number = |name: &str| name.parse::<f64>().unwrap_or_default();
    let are_numbers = by.groups.iter().all(|(name, _)| name.parse::<f64>().is_ok());
    by.groups.sort_by(|(one, _), (other, _)| {
        let by_number = if are_numbers { number(one).total_cmp(&number(other)) } else { Ordering::Equal };
        by_number.then_with(|| one.cmp(other))
    });
    let rows = |(group, report): (String, Report)| {
        let row = |system: SystemReport| GroupRow {
            system: system.name,
            n_images: system.n_images,
            scores: system.scores,
            intervals: system.intervals,
            ..GroupRow::default()
        };
        (group, report.systems.into_iter().map(row).collect())
    };
    let notice = ungrouped_notice(&by.by, by.without, whole.unit());
    whole.head.notices.extend(notice);
    let ByGroup { by, frequencies, without, groups } = by;
    let groups = groups.into_iter().map(rows).collect();
    whole.groups.push(ByGroup { by, frequencies, without, groups }.into());
}
