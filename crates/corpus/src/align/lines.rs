//! Captions without ids, whose lines or items are paired by their numbers.

use std::collections::HashSet;

use capeval_choice::{Code, Notice, counted};

use super::check::Check;
use super::index::ImageIndex;
use crate::error::{Error, ErrorKind, Position};
use crate::keys::Standing;
use crate::notice::list_ids;
use crate::{Format, Remedy, SegmentId};

impl Check<'_> {
    /// An error that says which empty lines of one side stand in the way of lines that are paired by their numbers, if
    /// both sides have as many lines without these.
    pub(super) fn empty_lines(
        &self,
        kind: ErrorKind,
        (source, other): (&str, &str),
        lines: &[SegmentId],
        n: usize,
    ) -> Option<Error> {
        if lines.is_empty() || lines.len() != n {
            return None;
        }
        let [Some(SegmentId::Integer(first)), Some(SegmentId::Integer(last))] = [lines.first(), lines.last()]
        else {
            return None;
        };
        let place = match *last - *first + 1 == n as i64 {
            true if n == 1 => format!("line {first}"),
            true => format!("lines {first} to {last}"),
            false => format!("lines {}", list_ids(lines, n)),
        };
        let (are, them) = if n == 1 { ("is", "it") } else { ("are", "them") };
        let message = format!(
            "{}, {place}, {are} no caption: without {them}, {other} has as many",
            counted(n, "empty line")
        );
        let position = Position { line: u64::try_from(*first).ok(), ..Position::default() };
        let error = Error::new(kind, source, message).at(position);
        Some(error.with_remedy(Remedy::say(format!("delete {them}"))))
    }

    /// An error about empty lines of references, if so many images have no candidate for that reason.
    pub(super) fn lost_lines(&self, count: usize) -> Option<Error> {
        if self.candidates.keys().standing() != Standing::InOrder {
            return None;
        }
        let (here, there) = (self.candidates.source(), self.references_name());
        self.empty_lines(ErrorKind::Missing, (there, here), self.images.empty_lines(), count)
    }

    /// The numbering of the lines of a text file, if the ids of the other file count them from 0; readers number them
    /// from 1.
    pub(super) fn lines(&self) -> Option<Lines> {
        let is_text = |format| format == Some(Format::Lines);
        let (images, candidates) = (self.images, self.candidates);
        match (is_text(candidates.format()), is_text(images.format())) {
            (true, false) => {
                count(images.ids(), images.format(), candidates.len()).then_some(Lines::OfCandidates)
            }
            (false, true) => {
                count(candidates.ids(), candidates.format(), images.len()).then_some(Lines::OfReferences)
            }
            _ => None,
        }
    }

    /// A notice if one file has no ids, so that its lines are numbered, and the ids of the other do not count its lines
    /// from 1.
    pub(super) fn numbered(&self) -> Option<Notice> {
        if let Some(lines) = self.lines() {
            let (numbered, other) = match lines {
                Lines::OfCandidates => (self.candidates.source(), self.images.source()),
                Lines::OfReferences => (self.images.source(), self.candidates.source()),
            };
            let message =
                format!("{numbered} has no ids, so its lines are counted from 0, as the ids of {other} are");
            return Some(Notice::new(Code::LineNumbers, message));
        }
        let of_candidates = self.candidates.keys().standing() == Standing::InOrder;
        let (list, numbers, other, ids) = match (of_candidates, self.images.is_in_order()) {
            (true, false) => {
                (self.candidates.source(), self.candidates.ids(), self.images.source(), self.images.ids())
            }
            (false, true) => {
                (self.images.source(), self.images.ids(), self.candidates.source(), self.candidates.ids())
            }
            _ => return None,
        };
        let Some(SegmentId::Integer(first)) = numbers.first() else { return None };
        let message = format!(
            "{list} has no ids, so its captions are numbered from {first}, and {other} has other ids than {first}, {}, {} \
             and so on in this order: captions went to the images with these numbers",
            first + 1,
            first + 2,
        );
        let remedy = Remedy::say("check the order, or give a file with ids");
        (!counts(ids, *first, ids.len())).then(|| Notice::new(Code::LineNumbers, message).remedy(remedy))
    }
}

/// The text file whose lines are counted from 0, because the ids of the other file are.
#[derive(Clone, Copy)]
pub(super) enum Lines {
    OfCandidates,
    OfReferences,
}

impl Lines {
    /// The image of a candidate; readers number the lines of text files from 1.
    pub(super) fn find(self, images: &ImageIndex, id: &SegmentId) -> Option<usize> {
        let SegmentId::Integer(number) = id else { return None };
        let shifted = match self {
            Self::OfCandidates => number - 1,
            Self::OfReferences => number + 1,
        };
        images.find(&SegmentId::Integer(shifted))
    }
}

/// Returns true if there are `n` ids, which count from 0. The lines of a log say their numbers in any order.
fn count(ids: &[SegmentId], format: Option<Format>, n: usize) -> bool {
    let all = || {
        let numbers: HashSet<&SegmentId> = ids.iter().collect();
        ids.len() == n && (0..).take(n).all(|number| numbers.contains(&SegmentId::Integer(number)))
    };
    counts(ids, 0, n) || format == Some(Format::Tsv) && all()
}

/// Returns true if there are `n` ids, which count from `first`.
fn counts(ids: &[SegmentId], first: i64, n: usize) -> bool {
    ids.len() == n && (first..).zip(ids).all(|(number, id)| *id == SegmentId::Integer(number))
}
