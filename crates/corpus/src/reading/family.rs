//! Reads references from several columns: all columns of one family are read, and a notice names the others.
//!
//! The columns of a family share a name and end in a counter; the plural of the name is a list of the others. No name
//! says for sure that further columns contain references: columns that describe the same images, or whose names contain
//! a word for more captions, are left out with a notice.

use capeval_choice::{Argument, Code};

use super::side::leaning;
use super::words::{Words, best_overlap, gain, sample, words};
use super::{EvidentList, Pick};
use crate::table::known::plain;
use crate::{Notice, Remedy, Role};

/// With fewer records, words say nothing.
const FEWEST: usize = 5;

/// Texts that describe the same images gain at least this.
const LEAST_GAIN: f64 = 0.03;

/// Texts that share this much are one, written in two ways.
const SAME: f64 = 0.99;

/// The leaning of columns of answers, which may be right ones.
pub(super) const ANSWERS: i32 = -1;

/// Words in the names of columns that hold more captions.
const MORE: &[&str] = &["caption", "reference", "sentence", "paraphrase", "alternative", "description"];

/// The columns with those that have their names in the singular or plural beside them. A column whose texts all stand
/// in the list beside it is left out, for they are the same references.
pub(super) fn with_plurals(list: &EvidentList, known: Vec<usize>) -> Vec<usize> {
    let parent = |column: usize| list.path(column).rsplit_once('.').map_or("", |(parent, _)| parent);
    let is_plural = |one: &str, other: &str| one.strip_suffix('s') == Some(other);
    let is_pair = |one: usize, other: usize| {
        let (a, b) = (plain(list.leaf(one)), plain(list.leaf(other)));
        parent(one) == parent(other) && (is_plural(&a, &b) || is_plural(&b, &a))
    };
    let is_of_family =
        |column: &usize| known.contains(column) || known.iter().any(|one| is_pair(*one, *column));
    let possible = list.caption_columns();
    let all: Vec<usize> = possible.into_iter().filter(is_of_family).collect();
    if all.len() <= known.len() {
        return known;
    }
    let is_copy =
        |column: &usize| all.iter().any(|other| other != column && is_within(list, *column, *other));
    let own: Vec<usize> = all.iter().copied().filter(|column| !is_copy(column)).collect();
    if own.is_empty() { known } else { own }
}

/// The columns without those whose texts all stand in the lists of another one, unless that is called like what models
/// answer.
pub(super) fn without_parts(list: &EvidentList, columns: Vec<usize>) -> Vec<usize> {
    let is_of_truth = |column: &usize| leaning(std::iter::once(list.path(*column))) >= ANSWERS;
    let is_part = |column: &usize| {
        let mut wholes = columns.iter().filter(|other| *other != column && is_of_truth(other));
        wholes.any(|other| is_within(list, *column, *other))
    };
    columns.iter().copied().filter(|column| !is_part(column)).collect()
}

/// Returns true if the texts of a column stand in the lists of another one.
fn is_within(list: &EvidentList, column: usize, other: usize) -> bool {
    let texts = |column: usize, row: usize| {
        let cell = list.list.sheet.columns.get(column).and_then(|column| column.cells.get(row));
        cell.map(super::column::texts).unwrap_or_default()
    };
    let is_known = |row: usize| {
        let there = texts(other, row);
        texts(column, row).iter().all(|text| there.contains(text))
    };
    let is_several = |row: usize| texts(other, row).len() > texts(column, row).len();
    let rows = || 0..list.list.sheet.len();
    rows().all(is_known) && rows().any(is_several)
}

/// A notice of the columns that could hold references beside those of `pick`.
pub(super) fn left_out(list: &EvidentList, pick: &Pick, source: &str, role: Role) -> Option<Notice> {
    left_out_beside(list, pick, &[], source, role)
}

/// As [`left_out`]; `candidates` are the columns of the other side, if it stands in the same file. There, answers are
/// the right ones.
pub(super) fn left_out_beside(
    list: &EvidentList,
    pick: &Pick,
    candidates: &[String],
    source: &str,
    role: Role,
) -> Option<Notice> {
    if role == Role::Candidates || pick.captions.is_empty() {
        return None;
    }
    let is_other = |column: &usize| {
        let is_read = pick.captions.contains(column) || pick.id == Some(*column);
        !is_read && !candidates.iter().any(|name| name == list.path(*column))
    };
    let others = list.caption_columns().into_iter().filter(is_other);
    let least = if candidates.is_empty() { 0 } else { ANSWERS };
    let others: Vec<String> = others
        .filter(|column| may_be_references(list, pick, *column, least))
        .map(|column| format!("{:?}", list.path(column)))
        .collect();
    if others.is_empty() {
        return None;
    }
    let read: Vec<String> = pick.captions.iter().map(|column| format!("{:?}", list.path(*column))).collect();
    let message = format!(
        "the references of {source} are those in {}; {} could hold references as well and {} left out",
        read.join(", "),
        others.join(", "),
        if others.len() == 1 { "is" } else { "are" },
    );
    let remedy = Remedy::give(Argument::CaptionColumns(role))
        .to("name all columns that hold references, one each time");
    Some(Notice::new(Code::Reading, message).count(others.len()).remedy(remedy))
}

/// Returns true if a column describes the images of the references of `pick`, by words of its own.
fn may_be_references(list: &EvidentList, pick: &Pick, column: usize, least: i32) -> bool {
    let is_free = list.evidence.get(column).is_some_and(|evidence| !evidence.is_constant);
    if !is_free || leaning(std::iter::once(list.path(column))) < least {
        return false;
    }
    let bags = |column: usize, row: usize| -> Vec<Words> {
        let cell = list.list.sheet.columns.get(column).and_then(|column| column.cells.get(row));
        cell.map(super::column::texts).unwrap_or_default().iter().map(|text| words(text)).collect()
    };
    let pair = |row: usize| {
        let own: Vec<Words> = pick.captions.iter().flat_map(|column| bags(*column, row)).collect();
        Some((bags(column, row).into_iter().next()?, own)).filter(|(_, own)| !own.is_empty())
    };
    let pairs: Vec<(Words, Vec<Words>)> = sample(list.list.sheet.len()).filter_map(pair).collect();
    let same = pairs.iter().filter(|(text, own)| best_overlap(text, own) >= SAME).count();
    if 2 * same > pairs.len() {
        return false;
    }
    let name = plain(list.leaf(column));
    let is_called = || MORE.iter().any(|word| name.contains(word));
    is_called() || pairs.len() >= FEWEST && gain(&pairs).mean > LEAST_GAIN
}
