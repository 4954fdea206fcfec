//! The results of groups of images beside that of all, where a result compares metrics with people. The scores of
//! groups in a report are in `report/group_scores.rs`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::grid::{Align, Cell, Grid, Table};
use crate::render::programs::by_metric;
use crate::report::GroupFrequencies;
use crate::study::{Estimates, Fields, Line, Study};

/// The results of groups of images by one property.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ByGroup<R> {
    /// The property: `domain`.
    pub by: String,
    /// The images that metrics learn from.
    pub frequencies: GroupFrequencies,
    /// The number of images in no group.
    pub without: usize,
    /// Each group with its result.
    pub groups: Vec<(String, R)>,
}

/// The most results of groups in one drawing.
pub(crate) const MOST_DRAWN: usize = 60;

impl<R: Study> ByGroup<R> {
    /// A table like that of all images, whose rows are those of each group and then of all; `grid` makes that of one
    /// result, and `count` the number below the heading `counted`.
    pub(crate) fn table(
        &self,
        whole: &R,
        counted: &str,
        count: impl Fn(&R) -> usize,
        grid: impl Fn(&R) -> Grid,
    ) -> Table {
        let mut columns = vec![(self.by.clone(), Align::Left), (counted.to_owned(), Align::Right)];
        columns.extend(grid(whole).columns);
        let results = self.groups.iter().map(|(name, result)| (name.as_str(), result));
        let rows = results.chain([("all images", whole)]).flat_map(|(name, result)| {
            let names = [Cell::from(name), Cell::from(count(result).to_string())];
            let prefixed = move |row: Vec<Cell>| names.iter().cloned().chain(row).collect();
            grid(result).rows.into_iter().map(prefixed)
        });
        let rows = rows.collect();
        Table { title: Some(format!("by {}", self.by)), grid: Grid { columns, rows } }
    }

    /// What the table means, in one line.
    pub(crate) fn legend(&self) -> String {
        self.frequencies.legend(&self.by, self.without, "image")
    }

    /// The JSON, with the first fields and the signatures of each group's result.
    pub(crate) fn json(&self) -> Value {
        let group = |(name, result): &(String, R)| {
            let mut fields = Fields::new();
            fields.insert("group".to_owned(), name.as_str().into());
            fields.extend(result.body());
            Value::Object(fields)
        };
        let groups: Vec<Value> = self.groups.iter().map(group).collect();
        let signatures =
            self.groups.first().map(|(_, result)| by_metric(result.head(), &result.signatures()));
        serde_json::json!({
            "by": self.by, "df": self.frequencies.name(), "without": self.without, "groups": groups,
            "signatures": signatures,
        })
    }

    /// The lines of JSON Lines of each group.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.groups.iter().flat_map(|(name, result)| {
            result.lines().into_iter().map(|line| {
                let mut body = Fields::new();
                body.insert("group_by".to_owned(), self.by.as_str().into());
                body.insert("group".to_owned(), name.as_str().into());
                body.extend(line.body.clone());
                Line { body, ..line }
            })
        })
    }

    /// The first kind of estimates of all groups; `None` if they are too many to be read.
    pub(crate) fn estimates(&self, digits: usize) -> Option<Estimates> {
        let all = self.groups.iter().filter_map(|(name, result)| {
            let mut first = result.estimates(digits).into_iter().next()?;
            first.rows.iter_mut().for_each(|row| row.name = format!("{name} · {}", row.name));
            Some(first)
        });
        let joined = all.reduce(|mut all, more| {
            all.rows.extend(more.rows);
            all
        })?;
        let title = format!("{} by {}", joined.title, self.by);
        (joined.rows.len() <= MOST_DRAWN).then_some(Estimates { title, ..joined })
    }
}

/// The rows of CSV with the columns `group_by` and `group` after the first: those of all images, and of each group.
pub(crate) fn csv_rows<R>(
    groups: &[ByGroup<R>],
    whole: &R,
    rows: impl Fn(&R) -> Vec<Vec<String>>,
) -> Vec<Vec<String>> {
    if groups.is_empty() {
        return rows(whole);
    }
    let of = |by: &str, group: &str, result: &R| {
        let mut rows = rows(result);
        for row in &mut rows {
            row.splice(1..1, [by.to_owned(), group.to_owned()]);
        }
        rows
    };
    let of_groups =
        groups.iter().flat_map(|by| by.groups.iter().map(|(name, result)| (&*by.by, name, result)));
    let of_groups = of_groups.flat_map(|(by, name, result)| of(by, name, result));
    of("", "", whole).into_iter().chain(of_groups).collect()
}

/// The columns of [`csv_rows`].
pub(crate) fn csv_columns<R>(groups: &[ByGroup<R>], mut columns: Vec<String>) -> Vec<String> {
    if !groups.is_empty() {
        columns.splice(1..1, ["group_by", "group"].map(str::to_owned));
    }
    columns
}

/// The field `groups` of the JSON object, if there are any.
pub(crate) fn tail<R: Study>(groups: &[ByGroup<R>]) -> Fields {
    let all: Vec<Value> = groups.iter().map(ByGroup::json).collect();
    let field = (!all.is_empty()).then(|| ("groups".to_owned(), Value::Array(all)));
    field.into_iter().collect()
}

/// Returns true if the results of groups belong to that of all images, and `is_last` holds for each.
pub(crate) fn are_like<R: Study>(groups: &[ByGroup<R>], whole: &R, is_last: impl Fn(&R) -> bool) -> bool {
    let keys = |one: &R| one.head().keys().map(str::to_owned).collect::<Vec<_>>();
    let all = groups.iter().flat_map(|by| &by.groups);
    all.into_iter().all(|(_, one)| is_last(one) && keys(one) == keys(whole) && one.check().is_ok())
}
