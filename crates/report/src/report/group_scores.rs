//! The scores of groups of images, beside those of all.

use std::borrow::Cow;
use std::collections::HashMap;

use capeval_corpus::SegmentId;
use capeval_metric::Signature;
use capeval_stats::Interval;
use serde::{Deserialize, Serialize};

use super::Report;
use super::saved::in_order;
use crate::grid::{Align, Cell, Grid, Table};
use crate::json_float::{Floats, JsonFloat};
use crate::number::fixed;
use crate::render::programs::{Ends, Map, by_metric, ends};
use crate::study::{Fields, fields};
use crate::{ByGroup, Head, Measure};

capeval_choice::named! {
    /// The images that metrics learn from for the scores of a group.
    #[derive(Default)]
    pub enum GroupFrequencies ("choice for groups") {
        #[default]
        Own = "own", "those of the group, as if it were evaluated alone; what nocaps and COCO's `image_id` do";
        All = "all", "all images, so that scores are sums or means over the images of the group";
    }
}

impl GroupFrequencies {
    /// What a table of groups by a property means, in one line; `without` is the number of units, such as images, in no
    /// group.
    pub(crate) fn legend(self, by: &str, without: usize, unit: &str) -> String {
        let learns = match self {
            Self::Own => "each group as if it were evaluated alone (group-df:own)",
            Self::All => "statistics of the whole run (group-df:all)",
        };
        let without = match without {
            0 => String::new(),
            1 => format!("; 1 {unit} is in no group"),
            n => format!("; {n} {unit}s are in no group"),
        };
        format!("by {by}: {learns}{without}")
    }
}

/// The scores of groups of images by one property.
#[derive(Clone, Debug, Default)]
pub struct GroupScores {
    /// The property: `domain`.
    pub by: String,
    /// The images that metrics learn from.
    pub frequencies: GroupFrequencies,
    /// The scores, group by group, and system by system within each.
    pub rows: Vec<GroupRow>,
    /// The number of scored images in no group.
    pub without: usize,
    /// The groups of each image by system, as indices of [`names`](Self::names); only where images are listed.
    pub members: HashMap<String, HashMap<SegmentId, Vec<usize>>>,
}

impl From<ByGroup<Vec<GroupRow>>> for GroupScores {
    fn from(ByGroup { by, frequencies, without, groups }: ByGroup<Vec<GroupRow>>) -> Self {
        let named = |(group, rows): (String, Vec<GroupRow>)| {
            rows.into_iter().map(move |row| GroupRow { group: group.clone(), ..row })
        };
        let rows = groups.into_iter().flat_map(named).collect();
        Self { by, frequencies, without, rows, members: HashMap::new() }
    }
}

/// The scores of a system on the images of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupRow {
    /// The group.
    pub group: String,
    /// The system.
    pub system: String,
    /// The number of images.
    pub n_images: usize,
    /// One score per measure.
    pub scores: Vec<f64>,
    /// One confidence interval per measure, from resamples of the images of the group.
    pub intervals: Option<Vec<Interval>>,
    /// One difference from the other images per measure, both with the statistics of the whole run; empty if there is
    /// no test.
    pub rest: Vec<GroupDifference>,
    /// One difference from the first system on the same images per measure; empty for the first.
    pub baseline: Vec<GroupDifference>,
}

/// A difference of scores with a test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDifference {
    /// The score less that of the other images, or of the first system.
    #[serde(with = "crate::json_float")]
    pub difference: f64,
    /// The p-value of a t-test with jackknife errors, corrected for the number of groups; NaN if there is no test.
    #[serde(with = "crate::json_float")]
    pub p: f64,
}

/// The p-value below which a group differs from the rest.
const LEVEL: f64 = 0.05;

impl GroupDifference {
    /// Returns true if chance would seldom make such a difference.
    pub fn is_significant(&self) -> bool {
        self.p < LEVEL
    }
}

impl GroupScores {
    /// The groups, in their order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if names.last() != Some(&row.group.as_str()) {
                names.push(&row.group);
            }
        }
        names
    }

    /// Adds the rows of other systems by the same property, each below those of its group.
    pub fn join(&mut self, others: Self) {
        for row in others.rows {
            let last = self.rows.iter().rposition(|known| known.group == row.group);
            self.rows.insert(last.map_or(self.rows.len(), |last| last + 1), row);
        }
    }

    /// The mean of the scores of all groups that a system has images of, whatever their size.
    pub fn macro_mean(&self, system: &str) -> Vec<f64> {
        let rows: Vec<&GroupRow> =
            self.rows.iter().filter(|row| row.system == system && row.n_images > 0).collect();
        let n = rows.first().map_or(0, |row| row.scores.len());
        let mean =
            |m: usize| rows.iter().filter_map(|row| row.scores.get(m)).sum::<f64>() / rows.len() as f64;
        (0..n).map(mean).collect()
    }

    /// The groups of an image of a system; none where images are not listed.
    pub fn of<'g>(&'g self, names: &[&'g str], system: &str, id: &SegmentId) -> Vec<&'g str> {
        self.numbers_of(system, id).iter().filter_map(|at| names.get(*at).copied()).collect()
    }

    /// The groups of an image of a system, as indices of [`names`](Self::names).
    pub fn numbers_of(&self, system: &str, id: &SegmentId) -> &[usize] {
        self.members.get(system).and_then(|images| images.get(id)).map_or(&[], Vec::as_slice)
    }

    /// The signature of a score of a group.
    pub fn signature(&self, of_whole: &Signature) -> Signature {
        of_whole.clone().with("group", &self.by).with("group-df", self.frequencies.name())
    }

    /// The table: groups as rows, and measures as columns.
    pub(super) fn table(&self, report: &Report, digits: usize) -> Table {
        let measures = &report.head.measures;
        let has_systems = report.systems.len() > 1;
        let mut columns = vec![(self.by.clone(), Align::Left)];
        columns.extend(has_systems.then(|| ("System".to_owned(), Align::Left)));
        columns.push((report.units(), Align::Right));
        columns.extend(measures.iter().map(|m| (m.short_label().to_owned(), Align::Right)));
        let line = |name: &str, system: &str, images: String, cells: Vec<Cell>| -> Vec<Cell> {
            let names = [Some(name), has_systems.then_some(system)].into_iter().flatten().map(Cell::from);
            names.chain([Cell::from(images)]).chain(cells).collect()
        };
        let cell = |(k, measure): (usize, &Measure), scores: &[f64], intervals: Option<&Vec<Interval>>| {
            let interval =
                intervals.and_then(|all| all.get(k)).copied().filter(|interval| !interval.low.is_nan());
            let score = scores.get(k).copied().unwrap_or(f64::NAN);
            Cell::estimate(score, interval, |value| fixed(value, measure.digits(digits)))
        };
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for row in &self.rows {
            let cells = measures.iter().enumerate().map(|(k, measure)| {
                let differs = row.rest.get(k).is_some_and(GroupDifference::is_significant);
                Cell { best: differs, ..cell((k, measure), &row.scores, row.intervals.as_ref()) }
            });
            rows.push(line(&row.group, &row.system, row.n_images.to_string(), cells.collect()));
        }
        let has_groups =
            |system: &&super::SystemReport| self.rows.iter().any(|row| row.system == system.name);
        for system in report.systems.iter().filter(has_groups) {
            let means = self.macro_mean(&system.name);
            let cells = measures.iter().enumerate().map(|measure| cell(measure, &means, None));
            rows.push(line("mean of groups", &system.name, String::new(), cells.collect()));
        }
        for system in report.systems.iter().filter(has_groups) {
            let cells =
                measures.iter().enumerate().map(|m| cell(m, &system.scores, system.intervals.as_ref()));
            rows.push(line(
                &format!("all {}s", report.unit()),
                &system.name,
                system.n_images.to_string(),
                cells.collect(),
            ));
        }
        Table { title: Some(format!("by {}", self.by)), grid: Grid { columns, rows } }
    }

    /// The table of differences from the system that was given first; `None` without other systems.
    pub(super) fn differences(&self, report: &Report, digits: usize) -> Option<Table> {
        let first = &self.rows.first()?.system;
        let mut columns = vec![(self.by.clone(), Align::Left), ("System".to_owned(), Align::Left)];
        let measures = &report.head.measures;
        columns.extend(measures.iter().map(|m| (m.short_label().to_owned(), Align::Right)));
        let row = |row: &GroupRow| {
            let cells = row.baseline.iter().zip(measures).map(|(difference, measure)| {
                let shown = fixed(difference.difference, measure.digits(digits));
                let sign = if difference.difference > 0.0 { "+" } else { "" };
                Cell { best: difference.is_significant(), ..Cell::from(format!("{sign}{shown}")) }
            });
            [Cell::from(&*row.group), Cell::from(&*row.system)].into_iter().chain(cells).collect()
        };
        let rows: Vec<Vec<Cell>> = self.rows.iter().filter(|row| !row.baseline.is_empty()).map(row).collect();
        let title = Some(format!("less {first}, by {}", self.by));
        (!rows.is_empty()).then_some(Table { title, grid: Grid { columns, rows } })
    }

    /// An object for each group and system, for JSON Lines.
    pub(super) fn lines(&self, report: &Report) -> Vec<Fields> {
        let line = |row: &RowFields<'_>| {
            let mut line = Fields::new();
            line.insert("group_by".to_owned(), self.by.clone().into());
            line.extend(fields(row));
            line
        };
        GroupFields::new(report, self).groups.iter().map(line).collect()
    }

    /// What the table of groups means, in one line.
    pub(super) fn legend(&self, unit: &str) -> String {
        self.frequencies.legend(&self.by, self.without, unit)
    }
}

/// The meaning of marks in tables of groups.
pub(super) fn mark(unit: &str) -> String {
    format!("differs from the other {unit}s (Welch's test, p < 0.05 by Holm over groups)")
}

/// The meaning of marks in tables of differences from the first system.
pub(super) const MARK_OF_DIFFERENCE: &str =
    "differs from the first system (paired t-test, p < 0.05 by Holm over groups)";

impl Report {
    /// The tables of groups, and of the differences between systems by group.
    pub fn tables_of_groups(&self, digits: usize) -> Vec<Table> {
        let tables = self.groups.iter().flat_map(|groups| {
            [Some(groups.table(self, digits)), groups.differences(self, digits)].into_iter().flatten()
        });
        tables.collect()
    }

    /// What these tables mean, where `sign` marks a cell.
    pub fn legend_of_groups(&self, sign: &str) -> Vec<String> {
        let mut lines: Vec<String> = self.groups.iter().map(|groups| groups.legend(self.unit())).collect();
        let is_marked = |of: fn(&GroupRow) -> &[GroupDifference]| {
            let mut rows = self.groups.iter().flat_map(|groups| &groups.rows);
            rows.any(|row| of(row).iter().any(GroupDifference::is_significant))
        };
        if is_marked(|row| &row.rest) {
            lines.push(format!("{sign} by group: {}", mark(self.unit())));
        }
        if is_marked(|row| &row.baseline) {
            lines.push(format!("{sign} in differences by group: {MARK_OF_DIFFERENCE}"));
        }
        lines
    }
}

/// The scores of groups in JSON.
#[derive(Serialize, Deserialize)]
pub(crate) struct GroupFields<'r> {
    by: Cow<'r, str>,
    df: GroupFrequencies,
    without: usize,
    groups: Vec<RowFields<'r>>,
    mean: Map<Cow<'r, str>, Map<Cow<'r, str>, JsonFloat>>,
    signatures: Map<Cow<'r, str>, String>,
}

#[derive(Serialize, Deserialize)]
struct RowFields<'r> {
    group: Cow<'r, str>,
    system: Cow<'r, str>,
    images: usize,
    scores: Map<Cow<'r, str>, JsonFloat>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    intervals: Option<Map<Cow<'r, str>, Ends>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rest: Option<Map<Cow<'r, str>, GroupDifference>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    baseline: Option<Map<Cow<'r, str>, GroupDifference>>,
}

impl<'r> GroupFields<'r> {
    pub fn new(report: &'r Report, scores: &'r GroupScores) -> Self {
        let head = &report.head;
        let keys = || head.keys().map(Cow::Borrowed);
        let floats = |values: &[f64]| Map(keys().zip(values.iter().copied().map(JsonFloat)).collect());
        let differences = |all: &'r [GroupDifference]| {
            (!all.is_empty()).then(|| Map(keys().zip(all.iter().copied()).collect()))
        };
        let row = |row: &'r GroupRow| RowFields {
            group: Cow::Borrowed(&row.group),
            system: Cow::Borrowed(&row.system),
            images: row.n_images,
            scores: floats(&row.scores),
            intervals: row.intervals.as_ref().map(|i| Map(keys().zip(i.iter().copied().map(ends)).collect())),
            rest: differences(&row.rest),
            baseline: differences(&row.baseline),
        };
        let mean = |system: &'r super::SystemReport| {
            (Cow::Borrowed(&*system.name), floats(&scores.macro_mean(&system.name)))
        };
        let signatures: Vec<Signature> =
            report.shared_signatures().iter().map(|signature| scores.signature(signature)).collect();
        Self {
            by: Cow::Borrowed(&scores.by),
            df: scores.frequencies,
            without: scores.without,
            groups: scores.rows.iter().map(row).collect(),
            mean: Map(report
                .systems
                .iter()
                .filter(|s| scores.rows.iter().any(|row| row.system == s.name))
                .map(mean)
                .collect()),
            signatures: by_metric(head, &signatures),
        }
    }

    /// The scores again; `None` if a row has other measures.
    pub fn scores(self, head: &Head) -> Option<GroupScores> {
        let row = |row: RowFields<'_>| {
            let scores = in_order(row.scores, head.keys())?;
            let intervals = match row.intervals {
                Some(ends) => Some(in_order(ends, head.keys())?),
                None => None,
            };
            let differences = |all: Option<Map<Cow<'_, str>, GroupDifference>>| match all {
                Some(all) => in_order(all, head.keys()),
                None => Some(Vec::new()),
            };
            Some(GroupRow {
                group: row.group.into_owned(),
                system: row.system.into_owned(),
                n_images: row.images,
                scores: scores.into_iter().map(|JsonFloat(score)| score).collect(),
                intervals: intervals.map(|all| all.into_iter().map(Interval::of_json).collect()),
                rest: differences(row.rest)?,
                baseline: differences(row.baseline)?,
            })
        };
        Some(GroupScores {
            by: self.by.into_owned(),
            frequencies: self.df,
            rows: self.groups.into_iter().map(row).collect::<Option<_>>()?,
            without: self.without,
            members: HashMap::new(),
        })
    }
}
