//! Finds the marks of records that their own data set calls unusable: marked records are left out if the name of the
//! mark is known, and otherwise reported.
//!
//! A mark is a column of truth values in any notation: `true`, `"False"`, `y`, `0`. The meaning of such a column with
//! another name is unknown; if it sets a few records apart, a notice names it.

use std::collections::HashMap;

use capeval_choice::{Argument, Code, counted};

use super::records::RecordList;
use super::{EvidentList, Kinds, Pick, kinds};
use crate::captions::Captions;
use crate::options::ReadOptions;
use crate::table::Cell;
use crate::table::known::plain;
use crate::{Notice, Remedy, Role};

/// Leaves out the records that their own data set marks as unusable, and says so.
pub(super) fn without_rejected(list: &mut RecordList, name: &str) -> Option<Notice> {
    let is_mark = |path: &str| is_mark(path.rsplit_once('.').map_or(path, |(_, leaf)| leaf));
    let marks: Vec<usize> =
        (0..list.sheet.columns.len()).filter(|column| is_mark(&list.sheet.columns[*column].path)).collect();
    let states: Vec<usize> =
        (0..list.sheet.columns.len()).filter(|column| is_state(&list.sheet.columns[*column].cells)).collect();
    let is_state_of_rejected = |cell: &Cell<'_>| is_rejection(&cell.to_string());
    let is_kept = |row: usize| {
        let cell = |column: &usize| list.sheet.columns.get(*column)?.cells.get(row);
        !marks.iter().any(|column| cell(column).is_some_and(is_true))
            && !states.iter().any(|column| cell(column).is_some_and(is_state_of_rejected))
    };
    let keep: Vec<bool> = (0..list.sheet.len()).map(is_kept).collect();
    let rejected = keep.iter().filter(|kept| !**kept).count();
    let names: Vec<String> =
        marks.iter().chain(&states).map(|column| list.sheet.columns[*column].path.clone()).collect();
    (rejected > 0).then(|| {
        list.sheet.retain(&keep);
        rejected_notice(name, rejected, &names)
    })
}

/// Returns true if cells say of each record which of a few states it has, and rejected is one of them.
fn is_state(cells: &[Cell<'_>]) -> bool {
    const FEW: usize = 6;
    let mut states: Vec<&str> = Vec::new();
    for cell in cells {
        let (Cell::Text(state) | Cell::Untyped(state)) = cell else { return false };
        if states.len() > FEW || state.contains(char::is_whitespace) {
            return false;
        }
        if !states.contains(&&**state) {
            states.push(state);
        }
    }
    (2..=FEW).contains(&states.len())
        && cells.len() > states.len()
        && states.iter().any(|state| is_rejection(state))
}

/// The words that mark a record of a data set as unusable, and as commands say it: `reject`, `exclude`.
const MARKS: &[&str] = &[
    "rejected",
    "precanned",
    "spam",
    "invalid",
    "corrupted",
    "unusable",
    "discarded",
    "excluded",
    "deleted",
    "cancelled",
];

/// The words that may mark a record as usable, if they are true.
const GOOD: &[&str] = &["valid", "accepted", "accept", "approved", "usable", "kept", "keep", "good", "ok"];

/// The words that may mark a record as unusable.
const BAD: &[&str] =
    &["hidden", "flagged", "removed", "dropped", "ignored", "skipped", "banned", "bad", "blocked"];

/// A key in lower case without what begins a question: `rejected` for `is_rejected`, `wasRejected` and `Rejected`.
fn asked(key: &str) -> String {
    let key = plain(key);
    let rest = ["is", "was"].iter().find_map(|word| key.strip_prefix(word).filter(|rest| rest.len() > 2));
    rest.map(str::to_owned).unwrap_or(key)
}

/// Returns true if a key marks a record of a data set as unusable: `is_rejected`, `is_precanned`, `was_cancelled`.
pub(crate) fn is_mark(key: &str) -> bool {
    is_rejection(&asked(key))
}

/// The truth that a text says, however it is written.
fn truth(text: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
    match () {
        () if is(&["true", "yes", "y", "t", "1", "1.0"]) => Some(true),
        () if is(&["false", "no", "n", "f", "0", "0.0"]) => Some(false),
        () => None,
    }
}

/// Returns true if a text says yes.
pub(crate) fn says_yes(text: &str) -> bool {
    truth(text) == Some(true)
}

/// The truth in a cell.
fn truth_of(cell: &Cell<'_>) -> Option<bool> {
    match cell {
        Cell::Bool(truth) => Some(*truth),
        Cell::Integer(0) => Some(false),
        Cell::Integer(1) => Some(true),
        Cell::Number(number) if *number == 0.0 || *number == 1.0 => Some(*number == 1.0),
        Cell::Text(text) | Cell::Untyped(text) => truth(text),
        _ => None,
    }
}

/// Returns true if a cell says yes.
pub(super) fn is_true(cell: &Cell<'_>) -> bool {
    truth_of(cell) == Some(true)
}

/// The truths under a key, and how they are written.
#[derive(Default)]
struct Tally {
    no: usize,
    yes: usize,
    /// True if another value was met.
    is_other: bool,
    written: [String; 2],
}

/// The truths under each key of the records beside captions.
#[derive(Default)]
pub(crate) struct Truths {
    tallies: HashMap<String, Tally>,
    order: Vec<String>,
}

impl Truths {
    /// Adds the value of a record under a key, as it is written.
    pub fn add(&mut self, key: &str, written: &str) {
        self.count(key, truth(written), || written.to_owned());
    }

    fn count(&mut self, key: &str, truth: Option<bool>, written: impl Fn() -> String) {
        if !self.tallies.contains_key(key) {
            self.order.push(key.to_owned());
            self.tallies.insert(key.to_owned(), Tally::default());
        }
        let Some(tally) = self.tallies.get_mut(key) else { return };
        let Some(truth) = truth else {
            tally.is_other = true;
            return;
        };
        let count = if truth { &mut tally.yes } else { &mut tally.no };
        *count += 1;
        if *count == 1 {
            tally.written[usize::from(truth)] = written();
        }
    }

    /// Notices of the keys by which a few of `n` records stand apart.
    pub fn notices(&self, n: usize, source: &str, role: Role) -> Vec<Notice> {
        let notice = |key: &String| {
            let tally = self.tallies.get(key).filter(|tally| !tally.is_other && tally.yes + tally.no == n)?;
            tally.notice(key, source, role)
        };
        self.order.iter().filter_map(notice).collect()
    }
}

impl Tally {
    /// A notice of a key that is no known mark, if a few records stand apart by it.
    fn notice(&self, key: &str, source: &str, role: Role) -> Option<Notice> {
        let asked = asked(key);
        let truth = match asked.as_str() {
            good if GOOD.contains(&good) => false,
            bad if BAD.contains(&bad) => true,
            _ => self.yes < self.no,
        };
        let is_known = GOOD.contains(&asked.as_str()) || BAD.contains(&asked.as_str());
        let n = if truth { self.yes } else { self.no };
        let total = self.yes + self.no;
        let are_few = if is_known { n < total } else { 3 * n <= total };
        if n == 0 || !are_few || is_mark(key) {
            return None;
        }
        let written = &self.written[usize::from(truth)];
        let (are, marks) = if n == 1 { ("is", "marks it") } else { ("are", "marks them") };
        let message = format!(
            "{key:?} is {written} for {n} of {} of {source}, which {are} used; if it {marks} as unusable, say so",
            counted(total, "record"),
        );
        let remedy = Remedy::set(Argument::Drop(role), format!("{key}={written}")).to("leave them out");
        Some(Notice::new(Code::Reading, message).count(n).remedy(remedy))
    }
}

/// Notices of columns of truths beside captions by which a few records stand apart.
pub(super) fn notes(list: &EvidentList, pick: &Pick, source: &str, options: &ReadOptions) -> Vec<Notice> {
    let sheet = &list.list.sheet;
    if options.role == Role::Candidates {
        return Vec::new();
    }
    let kinds = kinds(list, pick, source, options.role);
    if options.dropped().next().is_some() {
        return kinds;
    }
    let mut truths = Truths::default();
    let is_beside = |column: &usize| pick.id != Some(*column) && !pick.captions.contains(column);
    for column in (0..sheet.columns.len()).filter(is_beside) {
        let column = &sheet.columns[column];
        if column.cells.iter().all(|cell| truth_of(cell).is_some()) {
            let leaf = column.path.rsplit_once('.').map_or(&*column.path, |(_, leaf)| leaf);
            for cell in &column.cells {
                truths.count(leaf, truth_of(cell), || cell.to_string());
            }
        }
    }
    truths.notices(sheet.len(), source, options.role).into_iter().chain(kinds).collect()
}

/// Notices of columns of a few values that divide the references of images.
fn kinds(list: &EvidentList, pick: &Pick, source: &str, role: Role) -> Vec<Notice> {
    let sheet = &list.list.sheet;
    let cells = |column: usize| sheet.columns.get(column).map_or(&[][..], |column| &column.cells);
    let Some(ids) = pick.id.map(cells) else { return Vec::new() };
    let is_beside = |column: &usize| pick.id != Some(*column) && !pick.captions.contains(column);
    let has_values = |column: &usize| {
        let text = |cell: &_| matches!(cell, Cell::Text(_) | Cell::Untyped(_));
        let mut known: Vec<&Cell<'_>> = Vec::new();
        let is_one_of_few = |cell| {
            known.contains(&cell) || {
                known.push(cell);
                known.len() <= kinds::MOST
            }
        };
        cells(*column).iter().all(text) && cells(*column).iter().all(is_one_of_few)
    };
    let columns: Vec<usize> = (0..sheet.columns.len()).filter(is_beside).filter(has_values).collect();
    if role != Role::References || columns.is_empty() {
        return Vec::new();
    }
    let (mut captions, mut kinds) = (Captions::new(source), Kinds::default());
    for (row, id) in ids.iter().enumerate() {
        let texts =
            pick.captions.iter().filter_map(|column| cells(*column).get(row)).flat_map(super::column::texts);
        let (Some(id), texts) = (super::column::id(id), texts.collect::<Vec<_>>()) else { continue };
        for text in texts {
            for column in &columns {
                let path = &sheet.columns[*column].path;
                let leaf = path.rsplit_once('.').map_or(&**path, |(_, leaf)| leaf);
                if let Some(Cell::Text(value) | Cell::Untyped(value)) = cells(*column).get(row)
                    && truth(value).is_none()
                {
                    kinds.add(leaf, captions.len(), value);
                }
            }
            captions.push(id.clone(), &text);
        }
    }
    kinds.notices(&captions, role)
}

/// Returns true if a state means that a record is unusable: `rejected`, or `reject`, as a command says it.
fn is_rejection(state: &str) -> bool {
    let state = state.to_lowercase();
    let ends = ["", "d", "ed", "led"];
    MARKS.iter().any(|mark| ends.iter().any(|end| mark.strip_suffix(end) == Some(&state)))
}

/// Says that marked captions were left out.
pub(crate) fn rejected_notice(name: &str, count: usize, marks: &[String]) -> Notice {
    let message = format!(
        "{} of {name} {} marked as unusable by {} and left out",
        counted(count, "caption"),
        if count == 1 { "is" } else { "are" },
        marks.join(" or "),
    );
    Notice::new(Code::RejectedCaptions, message).count(count)
}
