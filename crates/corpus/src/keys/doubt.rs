//! Refuses rows that would be matched by their numbers, although columns could identify them, and says which.

use std::collections::HashSet;

use capeval_choice::Argument;

use super::agree::{Column, Parties, Side, count_rows, forms};
use super::{KeyName, Standing};
use crate::error::Error;
use crate::notice::list_ids;
use crate::policy::{Ids, is_extension};
use crate::{Remedy, Role, SegmentId};

/// The longest text that looks like an id, in bytes.
const ID_BYTES: usize = 256;

/// The most references that an image usually has.
const MOST_REFERENCES: usize = 20;

impl Parties<'_> {
    /// Refuses rows that would be matched by their numbers although a side has ids, or columns that could be.
    pub(super) fn refuse_numbers(&self) -> Result<(), Error> {
        if self.all().all(|side| self.forms(side.ids).len() <= 1) {
            return Ok(());
        }
        for side in self.all().filter(|side| side.keys.standing == Standing::Numbered) {
            let others: Vec<&Side<'_>> = match side.role {
                Role::Candidates => vec![&self.ground],
                _ => self.sides.iter().collect(),
            };
            if others.iter().any(|other| other.keys.standing != Standing::InOrder) {
                self.refuse_number_of(side, &others)?;
            }
        }
        Ok(())
    }

    fn refuse_number_of(&self, side: &Side<'_>, others: &[&Side<'_>]) -> Result<(), Error> {
        let argument = Argument::IdColumn(side.role);
        let other = if side.role == Role::Candidates { "the references" } else { "the candidates" };
        let possible = self.possible(side);
        if let Some((name, message, way)) = self.differing(others, &possible) {
            let say = match self.joined() {
                Some(template) => Remedy::set(argument, template).to("make ids of both columns"),
                None => Remedy::give(argument).to("say which column holds the ids"),
            };
            let remedy = match way {
                Some(way) => {
                    Remedy::set(Argument::Ids, way.name()).to(format!("compare {name:?} in another way"))
                }
                None => say,
            };
            return Err(side.error(message, remedy));
        }
        if !possible.is_empty() {
            let are_there = |column: &&Column<'_>| {
                let values = self.forms(column.values);
                others.iter().any(|other| self.forms(other.ids).iter().any(|id| values.contains(id)))
            };
            let remedy = match possible.iter().find(are_there).map(|column| &column.name) {
                Some(KeyName::Column(name)) => {
                    let use_it = format!("use {name:?}, whose values are ids of {other}");
                    Remedy::set(argument, name.clone()).to(use_it)
                }
                _ => Remedy::give(argument).to("say which column holds the ids"),
            };
            let message = format!(
                "no column is known to hold image ids; {} could, and {other} have no such column",
                list_names(&possible),
            );
            return Err(side.error(message, remedy));
        }
        let counts_alike =
            |other: &Side<'_>| count_rows(other.ids, other.role) && other.ids.first() == side.ids.first();
        let named = others.iter().find(|other| other.has_ids() && !counts_alike(other));
        let Some(named) = named else { return Ok(()) };
        let message = format!(
            "no column is known to hold image ids, but {other} have ids: {}",
            list_ids(named.ids, named.ids.len()),
        );
        Err(side.error(message, Remedy::give(argument).to("say which column does")))
    }

    /// A template of two columns that all sides have, which together tell the rows of each system apart.
    fn joined(&self) -> Option<String> {
        let columns: Vec<Column<'_>> = self.ground.columns().collect();
        let tell = |first: &Column<'_>, second: &Column<'_>| {
            self.sides.iter().all(|side| {
                let (Some(a), Some(b)) = (side.column(&first.name), side.column(&second.name)) else {
                    return false;
                };
                let pairs: HashSet<_> = a.values.iter().zip(b.values).collect();
                pairs.len() == side.ids.len()
            })
        };
        let pairs = columns.iter().enumerate();
        let mut pairs =
            pairs.flat_map(|(k, first)| columns.iter().skip(k + 1).map(move |second| (first, second)));
        let (first, second) = pairs.find(|(first, second)| tell(first, second))?;
        match (&first.name, &second.name) {
            (KeyName::Column(first), KeyName::Column(second)) => Some(format!("{{{first}}}|{{{second}}}")),
            _ => None,
        }
    }

    /// The first of the `possible` columns that is on another side, too, with other values; what is wrong with it; and
    /// the way to compare ids in which the values would be the same.
    fn differing(
        &self,
        others: &[&Side<'_>],
        possible: &[Column<'_>],
    ) -> Option<(String, String, Option<Ids>)> {
        let theirs = |column: &Column<'_>| others.iter().find_map(|other| other.column(&column.name));
        let (column, theirs) = possible.iter().find_map(|column| Some((column, theirs(column)?)))?;
        let KeyName::Column(name) = &column.name else { return None };
        let is_same = |ids: &Ids| {
            let (here, there) = (forms(column.values, *ids), forms(theirs.values, *ids));
            here.is_subset(&there) || there.is_subset(&here)
        };
        let way = [Ids::Text, Ids::FileName, Ids::Loose].into_iter().find(is_same);
        let shown = |values: &[SegmentId]| list_ids(values, values.len());
        let message = if is_same(&self.ids) {
            format!(
                "the column {name:?} is on both sides, but rows share its values: {}",
                shown(theirs.values)
            )
        } else {
            let (here, there) = (shown(column.values), shown(theirs.values));
            format!(
                "the column {name:?} is on both sides, but with other values: {here} here, and {there} there"
            )
        };
        Some((name.clone(), message, way.filter(|_| !is_same(&self.ids))))
    }

    /// The columns of a side that could hold ids.
    pub(super) fn possible<'s>(&self, side: &'s Side<'_>) -> Vec<Column<'s>> {
        side.columns().filter(|column| self.may_be_ids(side, column)).collect()
    }

    /// Returns true if a column of a side could hold ids: all values look like some, and they tell the rows apart.
    /// References may repeat them.
    fn may_be_ids(&self, side: &Side<'_>, column: &Column<'_>) -> bool {
        let most = self.sides.iter().map(|side| side.ids.len()).max();
        let most = most.unwrap_or(side.ids.len() / MOST_REFERENCES);
        let n_values = || self.forms(column.values).len();
        let tells = self.tells_apart(side, column.values)
            || side.role == Role::References && n_values() >= 2 && 2 * n_values() >= most;
        column.name != KeyName::Labels && tells && looks_like_ids(column.values) && n_values() >= 2
    }
}

/// Returns true if all values look like ids: numbers, words, or names of files.
pub(super) fn looks_like_ids(values: &[SegmentId]) -> bool {
    values.iter().all(|value| match value {
        SegmentId::Integer(_) => true,
        SegmentId::Text(text) => {
            let is_word = !text.is_empty() && !text.contains(char::is_whitespace);
            let is_file = || text.rsplit_once('.').is_some_and(|(_, part)| is_extension(part));
            text.len() <= ID_BYTES && (is_word || is_file())
        }
    })
}

/// The names of columns, as in `"question_id", "url"`.
pub(super) fn list_names(columns: &[Column<'_>]) -> String {
    let name = |column: &Column<'_>| match &column.name {
        KeyName::Column(name) => Some(SegmentId::from(&**name)),
        KeyName::Labels => None,
    };
    let names: Vec<SegmentId> = columns.iter().filter_map(name).collect();
    list_ids(&names, names.len())
}
