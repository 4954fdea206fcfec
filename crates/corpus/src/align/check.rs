//! The messages about mismatches: errors, and notices about what a policy allowed.

use std::collections::HashSet;

use capeval_choice::{Argument, Code, Notice, NoticeCode, Task, counted};

use super::index::ImageIndex;
use super::{OtherIds, extra, proposals};
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::notice::{about, list_ids};
use crate::policy::{Duplicate, Empty, Ids, Missing, Surplus};
use crate::{Format, Remedy, Role, SegmentId};

/// Candidates and the images that they are aligned with, for composing messages.
pub(super) struct Check<'a> {
    pub(super) images: &'a ImageIndex,
    pub(super) candidates: &'a Captions,
    /// The noun for a candidate in messages: `candidate`, or `score by METEOR`.
    pub(super) noun: &'a str,
}

impl Check<'_> {
    /// The noun with the name of the file.
    fn of_source(&self) -> String {
        format!("{} of {}", self.noun, self.candidates.source())
    }

    /// Several candidates, or several scores by a measure.
    fn several(&self) -> String {
        let (head, rest) = head_of(self.noun);
        format!("several {head}s{rest}")
    }

    pub(super) fn references_name(&self) -> &str {
        self.images.source()
    }

    fn error(&self, kind: ErrorKind, message: String, first: Option<&SegmentId>) -> Error {
        let error = Error::new(kind, self.candidates.source(), message);
        match first {
            Some(id) => error.about(id.clone()),
            None => error,
        }
    }

    fn candidate_ids<'s>(&'s self, rows: &'s [u32]) -> impl Iterator<Item = &'s SegmentId> + Clone {
        rows.iter().filter_map(|row| self.candidates.id(*row as usize))
    }

    /// Returns true if captions are paired by their numbers, so that no policy can mend other numbers of them.
    fn are_counted(&self) -> bool {
        self.images.is_counted() || self.candidates.keys().are_counted()
    }

    /// The position of a row in the file.
    pub(super) fn place(&self, row: u32) -> crate::Position {
        self.candidates.position(row as usize)
    }

    /// Refuses candidates without references that would have them if ids were compared in another way.
    pub(super) fn other_ids(&self, surplus: &[u32]) -> Result<(), Error> {
        let ids = self.candidate_ids(surplus);
        let Some(other) = OtherIds::of(self.images.ids(), ids, self.images.comparison()) else {
            return Ok(());
        };
        let message = match other.way() {
            Ids::FileName | Ids::Loose => self.other_names(&other),
            _ => self.mixed_types(&other),
        };
        let first = other.found().first().map(|(id, _)| id);
        Err(self.error(ErrorKind::MixedIds, message, first).with_remedy(other.remedy()))
    }

    /// Ids that are numbers on one side and text on the other.
    fn mixed_types(&self, other: &OtherIds) -> String {
        let found = other.found();
        let (here, there) = match found.first() {
            Some((SegmentId::Integer(_), _)) => ("numbers", "strings"),
            _ => ("strings", "numbers"),
        };
        format!(
            "{} given as {here} here ({}) and as {there} in {}",
            counted_are(found.len(), "image id"),
            list_ids(found.iter().map(|(id, _)| id), found.len()),
            self.references_name(),
        )
    }

    /// Ids that name the same files in another way.
    fn other_names(&self, other: &OtherIds) -> String {
        format!(
            "{} written in another way in {}: {}",
            counted_are(other.found().len(), "image id"),
            self.references_name(),
            other.examples(),
        )
    }

    /// The first line of candidates that were read as plain text, which they may not be.
    fn first_line(&self) -> String {
        const SHOWN: usize = 60;
        if self.candidates.format() != Some(Format::Lines) {
            return String::new();
        }
        let lines = (0..self.candidates.len()).map(|row| self.candidates.text(row));
        let line: String = lines.filter(|line| !line.trim().is_empty()).take(1).collect();
        let shown: String = line.chars().take(SHOWN).collect();
        let more = if shown.len() < line.len() { "…" } else { "" };
        format!("; it was read as plain text, which begins with {:?}", shown + more)
    }

    pub(super) fn surplus_error(&self, rows: &[u32]) -> Error {
        let first = self.candidate_ids(rows).next();
        let count = rows.len();
        let listed = list_ids(self.candidate_ids(rows), count);
        let undescribed = |id: &SegmentId| self.images.without_captions().contains(id);
        if count == self.candidates.len() {
            let there = list_ids(self.images.ids(), self.images.len());
            let message = format!(
                "none of its image ids ({listed}) has a reference in {}, whose ids are {there}{}",
                self.references_name(),
                self.first_line(),
            );
            let remedy = proposals::of(self.images, self.candidates);
            let remedy = remedy.unwrap_or_else(|| Remedy::say("are these the right two files?"));
            return self.error(ErrorKind::Surplus, message, first).with_remedy(remedy);
        }
        let (here, there) = (self.candidates.source(), self.references_name());
        let lines = self.candidates.empty_lines();
        if let Some(error) = self.empty_lines(ErrorKind::Surplus, (here, there), &lines, count) {
            let are_last = rows.first().and_then(|row| self.candidates.id(*row as usize)) == lines.first();
            let ignore = Remedy::set(Argument::Surplus, Surplus::Ignore.name()).to(leave_out(count));
            return if are_last { error.with_remedy(ignore) } else { error };
        }
        let declared =
            first.is_some_and(undescribed).then_some(" (it lists the first one, without a caption)");
        let message = format!(
            "{} no reference in {}{}: {listed}{}",
            counted_have(count, self.noun),
            self.references_name(),
            declared.unwrap_or_default(),
            self.first_line(),
        );
        let remedy = match self.are_counted() {
            true if count * 2 > self.candidates.len() && !self.candidates.keys().are_counted() => {
                Remedy::say("are these the right two files?")
            }
            true => extra::remedy(self.candidates.len(), self.images.len(), false),
            false => Remedy::set(Argument::Surplus, Surplus::Ignore.name()).to(leave_out(count)),
        };
        let place = rows.first().map(|row| self.place(*row)).unwrap_or_default();
        self.error(ErrorKind::Surplus, message, first).at(place).with_remedy(remedy)
    }

    pub(super) fn surplus_notice(&self, rows: &[u32]) -> Notice {
        let message = format!(
            "{} no reference in {} and {} left out",
            counted_have(rows.len(), &self.of_source()),
            self.references_name(),
            if rows.len() == 1 { "was" } else { "were" },
        );
        let code = NoticeCode::Applied(Argument::Surplus, Surplus::Ignore.name());
        about(code, rows.len(), self.candidate_ids(rows), message)
    }

    /// The distinct ids of repeated rows, in order.
    fn repeated_ids(&self, repeated: &[(u32, u32)]) -> Vec<&SegmentId> {
        let mut images: Vec<usize> = Vec::new();
        let mut seen = vec![false; self.images.len()];
        for (_, row) in repeated {
            let image = self.candidates.id(*row as usize).and_then(|id| self.images.find(id));
            if let Some((image, seen)) = image.and_then(|image| Some((image, seen.get_mut(image)?)))
                && !std::mem::replace(seen, true)
            {
                images.push(image);
            }
        }
        images.into_iter().filter_map(|image| self.images.id(image)).collect()
    }

    pub(super) fn duplicate_error(&self, repeated: &[(u32, u32)]) -> Error {
        let ids = self.repeated_ids(repeated);
        let (first_row, second_row) = repeated.first().copied().unwrap_or_default();
        let [first, second] = [first_row, second_row].map(|row| {
            let place = self.place(row);
            place.line.map_or(("record", place.record.unwrap_or_default()), |line| ("line", line))
        });
        let places = match (first, second) {
            ((what, one), _) if first == second => format!("has several in {what} {one}"),
            (("record", one), (_, other)) => format!("at caption {one} and caption {other}"),
            ((what, one), (_, other)) => format!("at {what} {one} and {what} {other}"),
        };
        let mut message = format!(
            "{} {}: {} (the first one {places})",
            counted_have(ids.len(), "image"),
            self.several(),
            list_ids(ids.iter().copied(), ids.len()),
        );
        let is_same = |(first, other): &(u32, u32)| {
            self.candidates.text(*first as usize).trim() == self.candidates.text(*other as usize).trim()
        };
        let remedy = if self.noun == "candidate" && repeated.iter().all(is_same) {
            message.push_str("; each is the same caption again");
            Remedy::set(Argument::Several, Duplicate::First.name()).to("score it once")
        } else if self.are_letters(repeated.len()) {
            message.push_str("; every one is a single letter, as if the letters of one caption were given");
            Remedy::say("join the letters of a caption")
        } else if self.are_words(repeated.len()) {
            message.push_str("; every one is a single word, as if the words of one caption were given");
            Remedy::say("join the words of a caption by spaces")
        } else if self.candidates.systems().is_none() && self.looks_swapped(repeated.len()) {
            message.push_str("; ");
            message.push_str(self.references_name());
            message.push_str(" has one caption per image and this file several");
            Remedy::say("are references and candidates swapped?")
        } else {
            let take = |which: Duplicate| Remedy::set(Argument::Several, which.name());
            let one = take(Duplicate::First).or(take(Duplicate::Last)).to("take one of them");
            let all = || Remedy::set(Argument::Several, "each").to("score all of them");
            let take = if self.noun == "candidate" { one.or(all()) } else { one };
            let times: Vec<String> =
                self.candidates.times().iter().map(|column| format!("{column:?}")).collect();
            let take = match times.is_empty() {
                true => take,
                false => {
                    let of_moments = "; they stand beside times in";
                    message.push_str(&format!(
                        "{of_moments} {}, as captions of moments do",
                        times.join(" and ")
                    ));
                    Remedy::run(Task::ScoreMoments).to("match the moments").or(take)
                }
            };
            let take = match self.candidates.systems() {
                Some((column, names)) => {
                    let listed = list_ids(names, names.len());
                    message.push_str(&format!("; {column:?} seems to name their systems: {listed}"));
                    let other = names.last().map(ToString::to_string).unwrap_or_default();
                    Remedy::set(Argument::Drop(Role::Candidates), format!("{column}={other}"))
                        .to("leave out those of one of them")
                        .or(take)
                }
                None => take,
            };
            match self.candidates.joined() {
                Some(template) => Remedy::set(Argument::IdColumn(Role::Candidates), template.to_owned())
                    .to("make ids of both columns")
                    .or(take),
                None => take,
            }
        };
        self.error(ErrorKind::Duplicate, message, ids.first().copied())
            .at(self.place(second_row))
            .with_remedy(remedy)
    }

    /// Returns true if all candidates are single words, and most of them repeated.
    fn are_words(&self, n_repeated: usize) -> bool {
        let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
        2 * n_repeated > self.candidates.len() && self.candidates.iter().all(|(_, text)| is_word(text))
    }

    /// Returns true if all candidates are single letters, signs or spaces, and most of them repeated.
    fn are_letters(&self, n_repeated: usize) -> bool {
        let is_letter = |text: &str| text.chars().count() <= 1;
        2 * n_repeated > self.candidates.len() && self.candidates.iter().all(|(_, text)| is_letter(text))
    }

    /// Returns true if most images have several candidates and all have a single reference.
    fn looks_swapped(&self, n_repeated: usize) -> bool {
        self.images.n_captions() == Some(self.images.len()) && n_repeated * 2 > self.images.len()
    }

    pub(super) fn duplicate_notice(&self, repeated: &[(u32, u32)], policy: Duplicate) -> Notice {
        let ids = self.repeated_ids(repeated);
        let message = format!(
            "{} {}, of which the {policy} one was taken",
            counted_have(ids.len(), &format!("image of {}", self.candidates.source())),
            self.several(),
        );
        about(NoticeCode::Applied(Argument::Several, policy.name()), ids.len(), ids, message)
    }

    pub(super) fn missing_error<'s>(
        &self,
        ids: impl Iterator<Item = &'s SegmentId> + Clone,
        count: usize,
    ) -> Error {
        let empty = Remedy::set(Argument::Missing, Missing::Empty.name()).to("score empty captions");
        let lost = self.lost_lines(count);
        lost.unwrap_or_else(|| match self.other_images(ids.clone()) {
            None if self.are_counted() => self.missing_without(ids, count),
            Some(_) => self.missing_without(ids, count),
            None => self.missing_without(ids, count).with_remedy(empty),
        })
    }

    /// As [`missing_error`](Self::missing_error), if nothing can be scored as empty.
    pub(super) fn missing_without<'s>(
        &self,
        ids: impl Iterator<Item = &'s SegmentId> + Clone,
        count: usize,
    ) -> Error {
        let message = format!(
            "{} of {} in {} {} no {}: {}",
            count,
            counted(self.images.len(), "image"),
            self.references_name(),
            if count == 1 { "has" } else { "have" },
            self.noun,
            list_ids(ids.clone(), count),
        );
        if let Some(other) = self.other_images(ids.clone()) {
            let message = format!("{message}; {}", Self::of_other_images(&other));
            return self.error(ErrorKind::Missing, message, ids.clone().next()).with_remedy(other.remedy());
        }
        if self.are_counted() {
            let remedy = extra::remedy(self.images.len(), self.candidates.len(), self.images.is_counted());
            return self.error(ErrorKind::Missing, message, ids.clone().next()).with_remedy(remedy);
        }
        let skip = Remedy::set(Argument::Missing, Missing::Skip.name());
        let skip = skip.to(format!("{} (the score will say so)", leave_out(count)));
        let skip = match self.images.split_of(self.candidates.ids()) {
            Some(split) => {
                let of_split = Remedy::set(Argument::Split(Role::References), split.to_owned());
                of_split.to("read the images of these candidates alone").or(skip)
            }
            None => skip,
        };
        self.error(ErrorKind::Missing, message, ids.clone().next()).with_remedy(skip)
    }

    /// The other images of which those without a candidate are copies: several files of references may write their
    /// ids in several ways.
    fn other_images<'s>(&self, missing: impl Iterator<Item = &'s SegmentId> + Clone) -> Option<OtherIds> {
        let lost: HashSet<&SegmentId> = missing.clone().collect();
        let others: Vec<SegmentId> =
            self.images.ids().iter().filter(|id| !lost.contains(id)).cloned().collect();
        OtherIds::of(&others, missing, self.images.comparison())
    }

    fn of_other_images(other: &OtherIds) -> String {
        format!(
            "the references write ids in several ways: {}",
            other.examples().replace(" there", " elsewhere")
        )
    }

    pub(super) fn missing_notice<'s>(
        &self,
        policy: Missing,
        ids: impl Iterator<Item = &'s SegmentId> + Clone,
        count: usize,
    ) -> Notice {
        let what = match policy {
            Missing::Empty => "scored as if their caption were empty",
            _ => "left out of every metric",
        };
        let message = format!(
            "{count} of {} in {} {} no {} in {} and {} {what}",
            counted(self.images.len(), "image"),
            self.references_name(),
            if count == 1 { "has" } else { "have" },
            self.noun,
            self.candidates.source(),
            if count == 1 { "is" } else { "are" },
        );
        let other = self.other_images(ids.clone());
        let message = match &other {
            Some(other) => format!("{message}; {}", Self::of_other_images(other)),
            None => message,
        };
        let notice = about(NoticeCode::Applied(Argument::Missing, policy.name()), count, ids, message);
        other.map_or(notice.clone(), |other| notice.remedy(other.remedy()))
    }

    /// `1 candidate is empty`, or that it has no words if it has punctuation.
    fn counted_empty(&self, rows: &[u32], noun: &str) -> String {
        let are_blank = rows.iter().all(|row| self.candidates.text(*row as usize).trim().is_empty());
        let (one, many) =
            if are_blank { ("is empty", "are empty") } else { ("has no words", "have no words") };
        with_verb(rows.len(), noun, one, many)
    }

    pub(super) fn empty_error(&self, rows: &[u32]) -> Error {
        let count = rows.len();
        let listed = list_ids(self.candidate_ids(rows), count);
        let message = format!("{}: {listed}", self.counted_empty(rows, "candidate"));
        let (them, images) = if count == 1 { ("it", "its image") } else { ("them", "their images") };
        let keep = Remedy::set(Argument::Empty, Empty::Keep.name()).to(format!("score {them}"));
        let skip = Remedy::set(Argument::Empty, Empty::Skip.name()).to(format!("leave {images} out"));
        let place = rows.first().map(|row| self.place(*row)).unwrap_or_default();
        self.error(ErrorKind::EmptyCandidate, message, self.candidate_ids(rows).next())
            .at(place)
            .with_remedy(if count < self.candidates.len() { keep.or(skip) } else { keep })
    }

    pub(super) fn empty_notice(&self, rows: &[u32], policy: Empty) -> Notice {
        let count = rows.len();
        let what = match (policy, count) {
            (Empty::Keep, 1) => "is scored as it is",
            (Empty::Keep, _) => "are scored as they are",
            (_, 1) => "is left out of every metric",
            _ => "are left out of every metric",
        };
        let noun = format!("candidate of {}", self.candidates.source());
        let message = format!("{} and {what}", self.counted_empty(rows, &noun));
        about(NoticeCode::Applied(Argument::Empty, policy.name()), count, self.candidate_ids(rows), message)
    }

    /// Returns true if references and candidates have one caption per image, but the shape of the other.
    fn look_swapped(&self) -> bool {
        let (images, candidates) = (self.images, self.candidates);
        let is_results = |format| matches!(format, Some(Format::CocoResults | Format::ListJson));
        let is_annotations = candidates.format() == Some(Format::CocoAnnotations);
        let same_shape = images.format() == candidates.format();
        images.n_captions() == Some(images.len())
            && (is_results(images.format()) && is_annotations
                || same_shape && candidates.are_in_lists() && !images.are_in_lists())
    }

    /// Adds notices about things that do not prevent the alignment but are rarely intended.
    pub(super) fn oddities(&self, notices: &mut Vec<Notice>) {
        let images = self.images;
        if self.look_swapped() {
            let message = format!(
                "the references ({}) look like candidates, with one caption per image, and the candidates ({}) like \
                 references: are the two swapped?",
                images.source(),
                self.candidates.source(),
            );
            notices.push(Notice::new(Code::Swapped, message).count(self.images.len()));
        }
        notices.extend(self.numbered());
        let without = self.images.without_captions();
        if !without.is_empty() {
            let message = format!(
                "{} lists {} without any caption, which cannot be scored",
                images.source(),
                counted(without.len(), "image"),
            );
            notices.push(about(Code::ImagesWithoutReferences, without.len(), without, message));
        }
    }
}

fn leave_out(count: usize) -> &'static str {
    if count == 1 { "leave it out" } else { "leave them out" }
}

/// `1 candidate has`, `2 candidates have`, also for `candidate of FILE`.
fn counted_have(count: usize, noun: &str) -> String {
    with_verb(count, noun, "has", "have")
}

/// `1 candidate is`, `2 candidates are`.
fn counted_are(count: usize, noun: &str) -> String {
    with_verb(count, noun, "is", "are")
}

fn with_verb(count: usize, noun: &str, one: &str, many: &str) -> String {
    let (head, rest) = head_of(noun);
    format!("{}{rest} {}", counted(count, head), if count == 1 { one } else { many })
}

/// `candidate` and ` of FILE`, `score` and ` by METEOR of FILE`.
fn head_of(noun: &str) -> (&str, &str) {
    let end = [" of ", " by "].iter().filter_map(|word| noun.find(word)).min();
    noun.split_at(end.unwrap_or(noun.len()))
}
