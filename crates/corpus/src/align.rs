//! Which candidate belongs to which references? Grouping by image, and pairing under a policy.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::id::canonical_integer;
use crate::notice::{Notice, counted, list_ids};
use crate::policy::{Duplicate, Empty, Ids, Missing, Policy, Surplus};
use crate::{Format, SegmentId};

/// References gathered by image, in order of first appearance.
///
/// Images are numbered from 0; the rows of an image point into [`References::captions`], in file order.
#[derive(Clone, Debug)]
pub struct References {
    captions: Captions,
    ids: Ids,
    index: Index,
    /// Rows of all images, image by image.
    rows: Vec<u32>,
    /// Where each image's rows begin in `rows`, and one more entry for the end.
    starts: Vec<u32>,
    without_captions: Vec<SegmentId>,
}

impl References {
    /// Gathers captions by image. `ids` says whether the number 1 and the text "1" are one image.
    ///
    /// # Errors
    /// If there is no caption at all.
    pub fn group(captions: Captions, ids: Ids) -> Result<Self, Error> {
        if captions.is_empty() {
            let message = "holds no captions; give a file that does";
            return Err(Error::new(ErrorKind::NoReferences, captions.source(), message));
        }
        if u32::try_from(captions.len()).is_err() {
            let message = "holds more than 4294967295 captions, which is more than can be numbered";
            return Err(Error::new(ErrorKind::Shape, captions.source(), message));
        }
        let (index, image_of_row) = Index::of(&captions, ids);
        let mut starts = vec![0_u32; index.len() + 1];
        for image in &image_of_row {
            if let Some(count) = starts.get_mut(*image as usize + 1) {
                *count += 1;
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut next = starts.clone();
        let mut rows = vec![0_u32; captions.len()];
        for (row, image) in (0_u32..).zip(&image_of_row) {
            if let Some(place) = next.get_mut(*image as usize) {
                if let Some(slot) = rows.get_mut(*place as usize) {
                    *slot = row;
                }
                *place += 1;
            }
        }
        let undescribed = |id: &&SegmentId| index.find(&captions, id, ids).is_none();
        let without_captions = captions.declared().iter().filter(undescribed).cloned().collect();
        Ok(Self { captions, ids, index, rows, starts, without_captions })
    }

    /// All captions, of which rows are numbers.
    pub fn captions(&self) -> &Captions {
        &self.captions
    }

    /// How ids are compared.
    pub fn ids(&self) -> Ids {
        self.ids
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is no image; never so, since [`References::group`] refuses that.
    pub fn is_empty(&self) -> bool {
        self.index.first_rows.is_empty()
    }

    /// The id of an image, as it was first given; `None` beyond the last image.
    pub fn id(&self, image: usize) -> Option<&SegmentId> {
        self.index.first_rows.get(image).and_then(|row| self.captions.id(*row as usize))
    }

    /// The rows of an image's captions, in file order; nothing beyond the last image.
    pub fn rows(&self, image: usize) -> &[u32] {
        let range = self.starts.get(image).zip(self.starts.get(image + 1));
        range.and_then(|(start, end)| self.rows.get(*start as usize..*end as usize)).unwrap_or_default()
    }

    /// The captions of an image, in file order.
    pub fn texts(&self, image: usize) -> impl ExactSizeIterator<Item = &str> + Clone + '_ {
        self.rows(image).iter().map(|row| self.captions.text(*row as usize))
    }

    /// The image of that id.
    pub fn find(&self, id: &SegmentId) -> Option<usize> {
        self.index.find(&self.captions, id, self.ids).map(|image| image as usize)
    }

    /// The images that the source lists without giving them a caption.
    pub fn without_captions(&self) -> &[SegmentId] {
        &self.without_captions
    }
}

/// Images by id, in order of first appearance. The table is never walked, so its random seed changes no result.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    table: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
    /// The row in which each image appears first.
    first_rows: Vec<u32>,
}

impl Index {
    /// Numbers the images of `captions`, and tells the image of each row.
    pub fn of(captions: &Captions, ids: Ids) -> (Self, Vec<u32>) {
        let mut index = Self {
            table: HashTable::new(),
            hasher: foldhash::fast::RandomState::default(),
            first_rows: Vec::new(),
        };
        let mut image_of_row = Vec::with_capacity(captions.len());
        for (row, id) in (0_u32..).zip(captions.ids()) {
            let Self { table, hasher, first_rows } = &mut index;
            let hash = hash_id(hasher, id, ids);
            let id_of =
                |image: u32| first_rows.get(image as usize).and_then(|row| captions.id(*row as usize));
            let entry = table.entry(
                hash,
                |image| id_of(*image).is_some_and(|other| same_id(other, id, ids)),
                |image| id_of(*image).map_or(0, |id| hash_id(hasher, id, ids)),
            );
            let image = match entry {
                hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
                hashbrown::hash_table::Entry::Vacant(entry) => {
                    let image = u32::try_from(first_rows.len()).unwrap_or(u32::MAX);
                    entry.insert(image);
                    first_rows.push(row);
                    image
                }
            };
            image_of_row.push(image);
        }
        (index, image_of_row)
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.first_rows.len()
    }

    /// The id of each image, as it was first given.
    pub fn ids<'a>(&'a self, captions: &'a Captions) -> impl Iterator<Item = &'a SegmentId> {
        self.first_rows.iter().filter_map(|row| captions.id(*row as usize))
    }

    /// The number of the image of that id.
    pub fn find(&self, captions: &Captions, id: &SegmentId, ids: Ids) -> Option<u32> {
        let id_of =
            |image: u32| self.first_rows.get(image as usize).and_then(|row| captions.id(*row as usize));
        let hash = hash_id(&self.hasher, id, ids);
        self.table.find(hash, |image| id_of(*image).is_some_and(|other| same_id(other, id, ids))).copied()
    }
}

fn hash_id(hasher: &foldhash::fast::RandomState, id: &SegmentId, ids: Ids) -> u64 {
    match (id, ids) {
        (SegmentId::Integer(integer), _) => hasher.hash_one(integer),
        (SegmentId::Text(text), Ids::AsGiven) => hasher.hash_one(text),
        (SegmentId::Text(text), Ids::Text) => match canonical_integer(text) {
            Some(integer) => hasher.hash_one(integer),
            None => hasher.hash_one(text),
        },
    }
}

fn same_id(a: &SegmentId, b: &SegmentId, ids: Ids) -> bool {
    match (a, b, ids) {
        (SegmentId::Integer(integer), SegmentId::Text(text), Ids::Text)
        | (SegmentId::Text(text), SegmentId::Integer(integer), Ids::Text) => {
            canonical_integer(text) == Some(*integer)
        }
        _ => a == b,
    }
}

/// The id of the other type with the same characters.
fn other_type(id: &SegmentId) -> Option<SegmentId> {
    match id {
        SegmentId::Integer(integer) => Some(SegmentId::Text(integer.to_string().into())),
        SegmentId::Text(text) => canonical_integer(text).map(SegmentId::Integer),
    }
}

/// An image to be scored: a number into [`References`] and the row of its candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The image.
    pub image: u32,
    /// The row of its candidate; `None` stands for an empty caption, under [`Missing::Empty`].
    pub candidate: Option<u32>,
}

/// The images to be scored, in the references' order, and what was left out on request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aligned {
    /// One pair per image.
    pub pairs: Vec<Pair>,
    /// What was left out or stood in for, and what looks odd.
    pub notices: Vec<Notice>,
}

impl Aligned {
    /// How many images are to be scored.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether no image is to be scored; never so, since [`align()`] refuses that.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The images with their texts. `references` and `candidates` must be those that were aligned.
    pub fn segments<'a>(
        &'a self,
        references: &'a References,
        candidates: &'a Captions,
    ) -> impl ExactSizeIterator<Item = Segment<'a>> + 'a {
        self.pairs.iter().map(|pair| {
            let image = pair.image as usize;
            Segment {
                id: references.id(image).unwrap_or(&SegmentId::Integer(0)),
                image,
                candidate: pair.candidate.map_or("", |row| candidates.text(row as usize)),
                rows: references.rows(image),
                captions: references.captions(),
            }
        })
    }
}

/// One image with its candidate and its references.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The image's id, as the references give it.
    pub id: &'a SegmentId,
    /// The image's number in [`References`].
    pub image: usize,
    /// The candidate; empty under [`Missing::Empty`].
    pub candidate: &'a str,
    /// The rows of the references.
    pub rows: &'a [u32],
    captions: &'a Captions,
}

impl<'a> Segment<'a> {
    /// The references, in file order; at least one.
    pub fn references(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone + use<'a> {
        let captions = self.captions;
        self.rows.iter().map(move |row| captions.text(*row as usize))
    }
}

/// Pairs each image of the references with its candidate.
///
/// Each case in which the two do not meet is an error unless `policy` says otherwise; what it leaves out is a notice,
/// whose [`Notice::signature`] belongs to every score.
///
/// # Errors
/// In this order: an id is a number in one file and a string in the other; a candidate has no reference; an image has
/// several candidates; an image has no candidate; a candidate is empty; nothing is left.
pub fn align(references: &References, candidates: &Captions, policy: &Policy) -> Result<Aligned, Error> {
    let Policy { missing, surplus, duplicate, empty } = *policy;
    let mut aligned = Aligned::default();
    let mut chosen: Vec<Option<u32>> = vec![None; references.len()];
    let mut repeated: Vec<(u32, u32)> = Vec::new();
    let mut surplus_rows: Vec<u32> = Vec::new();
    if u32::try_from(candidates.len()).is_err() {
        let message = "holds more than 4294967295 captions, which is more than can be numbered";
        return Err(Error::new(ErrorKind::Shape, candidates.source(), message));
    }
    for (row, id) in (0_u32..).zip(candidates.ids()) {
        let Some(image) = references.find(id) else {
            surplus_rows.push(row);
            continue;
        };
        if let Some(slot) = chosen.get_mut(image) {
            match slot {
                None => *slot = Some(row),
                Some(earlier) => {
                    repeated.push((*earlier, row));
                    if duplicate == Duplicate::Last {
                        *slot = Some(row);
                    }
                }
            }
        }
    }
    let check = Check { references, candidates };
    check.mixed_ids(&surplus_rows)?;
    if !surplus_rows.is_empty() {
        match surplus {
            Surplus::Error => return Err(check.surplus_error(&surplus_rows)),
            Surplus::Ignore => aligned.notices.push(check.surplus_notice(&surplus_rows)),
        }
    }
    if !repeated.is_empty() {
        match duplicate {
            Duplicate::Error => return Err(check.duplicate_error(&repeated)),
            Duplicate::First => {
                aligned.notices.push(check.duplicate_notice(&repeated, "duplicate:first", "first"));
            }
            Duplicate::Last => {
                aligned.notices.push(check.duplicate_notice(&repeated, "duplicate:last", "last"));
            }
        }
    }
    let without = || chosen.iter().enumerate().filter(|(_, row)| row.is_none()).map(|(image, _)| image);
    let n_missing = without().count();
    let is_blank = |row: &u32| candidates.text(*row as usize).trim().is_empty();
    if candidates.is_empty() && missing != Missing::Empty {
        let message = format!(
            "holds no captions of the {} of {} to be scored; give a file that does",
            counted(references.len(), "image"),
            references.captions().source(),
        );
        return Err(Error::new(ErrorKind::Missing, candidates.source(), message));
    }
    if n_missing > 0 {
        let ids = without().filter_map(|image| references.id(image));
        match missing {
            Missing::Error => return Err(check.missing_error(ids, n_missing)),
            Missing::Skip => aligned.notices.push(check.missing_notice(
                "missing:skip",
                ids,
                n_missing,
                "left out of every metric, document frequencies included",
            )),
            Missing::Empty => aligned.notices.push(check.missing_notice(
                "missing:empty",
                ids,
                n_missing,
                "scored as if their caption were empty",
            )),
        }
    }
    let blank: Vec<u32> = chosen.iter().flatten().copied().filter(is_blank).collect();
    if !blank.is_empty() {
        match empty {
            Empty::Error => return Err(check.empty_error(&blank)),
            Empty::Keep => {
                aligned.notices.push(check.empty_notice(&blank, "empty:keep", "scored as they are"));
            }
            Empty::Skip => {
                aligned.notices.push(check.empty_notice(&blank, "empty:skip", "left out of every metric"));
            }
        }
    }
    aligned.pairs = (0_u32..)
        .zip(&chosen)
        .filter(|(_, row)| match row {
            Some(row) => empty != Empty::Skip || !is_blank(row),
            None => missing == Missing::Empty,
        })
        .map(|(image, candidate)| Pair { image, candidate: *candidate })
        .collect();
    if aligned.pairs.is_empty() {
        return Err(Error::new(
            ErrorKind::NothingLeft,
            candidates.source(),
            format!("no image of {} is left to score", references.captions().source()),
        ));
    }
    check.oddities(&mut aligned.notices);
    Ok(aligned)
}

/// The words for what does not meet.
struct Check<'a> {
    references: &'a References,
    candidates: &'a Captions,
}

impl Check<'_> {
    fn references_name(&self) -> &str {
        self.references.captions().source()
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

    /// The first row and its place in the file.
    fn place(&self, row: u32) -> crate::Position {
        self.candidates.position(row as usize)
    }

    fn mixed_ids(&self, surplus: &[u32]) -> Result<(), Error> {
        if self.references.ids() == Ids::Text {
            return Ok(());
        }
        let mixed =
            |id: &&SegmentId| other_type(id).is_some_and(|other| self.references.find(&other).is_some());
        let ids: Vec<&SegmentId> = self.candidate_ids(surplus).filter(mixed).collect();
        let Some(first) = ids.first() else {
            return Ok(());
        };
        let (here, there) = match first {
            SegmentId::Integer(_) => ("numbers", "strings"),
            SegmentId::Text(_) => ("strings", "numbers"),
        };
        let message = format!(
            "{} given as {here} here ({}) and as {there} in {}; pass --ids text to compare them as text",
            counted_are(ids.len(), "image id"),
            list_ids(ids.iter().copied(), ids.len()),
            self.references_name(),
        );
        Err(self.error(ErrorKind::MixedIds, message, Some(first)))
    }

    fn surplus_error(&self, rows: &[u32]) -> Error {
        let first = self.candidate_ids(rows).next();
        let count = rows.len();
        let listed = list_ids(self.candidate_ids(rows), count);
        let undescribed = |id: &SegmentId| self.references.without_captions().contains(id);
        if count == self.candidates.len() {
            let there = (0..self.references.len()).filter_map(|image| self.references.id(image));
            let there = list_ids(there, self.references.len());
            let message = format!(
                "none of its image ids ({listed}) has a reference in {}, whose ids are {there}; \
                 are these the right two files?",
                self.references_name(),
            );
            return self.error(ErrorKind::Surplus, message, first);
        }
        let declared =
            first.is_some_and(undescribed).then_some(" (it lists the first one, without a caption)");
        let message = format!(
            "{} no reference in {}{}: {listed}; pass --surplus ignore to leave {} out",
            counted_have(count, "candidate"),
            self.references_name(),
            declared.unwrap_or_default(),
            if count == 1 { "it" } else { "them" },
        );
        let place = rows.first().map(|row| self.place(*row)).unwrap_or_default();
        self.error(ErrorKind::Surplus, message, first).at(place)
    }

    fn surplus_notice(&self, rows: &[u32]) -> Notice {
        let message = format!(
            "{} no reference in {} and {} left out",
            counted_have(rows.len(), &format!("candidate of {}", self.candidates.source())),
            self.references_name(),
            if rows.len() == 1 { "was" } else { "were" },
        );
        Notice::new("surplus:ignore", rows.len(), self.candidate_ids(rows).cloned(), message)
    }

    /// The ids of repeated rows, each once, in order.
    fn repeated_ids(&self, repeated: &[(u32, u32)]) -> Vec<&SegmentId> {
        let mut images: Vec<usize> = Vec::new();
        let mut seen = vec![false; self.references.len()];
        for (_, row) in repeated {
            let image = self.candidates.id(*row as usize).and_then(|id| self.references.find(id));
            if let Some((image, seen)) = image.and_then(|image| Some((image, seen.get_mut(image)?)))
                && !std::mem::replace(seen, true)
            {
                images.push(image);
            }
        }
        images.into_iter().filter_map(|image| self.references.id(image)).collect()
    }

    fn duplicate_error(&self, repeated: &[(u32, u32)]) -> Error {
        let ids = self.repeated_ids(repeated);
        let (first_row, second_row) = repeated.first().copied().unwrap_or_default();
        let place = |row: u32| match self.place(row) {
            crate::Position { line: Some(line), .. } => format!("line {line}"),
            position => format!("caption {}", position.record.unwrap_or_default()),
        };
        let remedy = if self.looks_swapped(repeated.len()) {
            format!(
                "{} has one caption per image and this file several: are references and candidates swapped?",
                self.references_name()
            )
        } else {
            "pass --duplicate first or --duplicate last to take one of them".to_owned()
        };
        let message = format!(
            "{} several candidates: {} (the first one at {} and {}); {remedy}",
            counted_have(ids.len(), "image"),
            list_ids(ids.iter().copied(), ids.len()),
            place(first_row),
            place(second_row),
        );
        self.error(ErrorKind::Duplicate, message, ids.first().copied()).at(self.place(second_row))
    }

    /// Whether most images have several candidates and all have a single reference.
    fn looks_swapped(&self, n_repeated: usize) -> bool {
        self.references.len() == self.references.captions().len() && n_repeated * 2 > self.references.len()
    }

    fn duplicate_notice(&self, repeated: &[(u32, u32)], code: &'static str, taken: &str) -> Notice {
        let ids = self.repeated_ids(repeated);
        let message = format!(
            "{} several candidates, of which the {taken} one was taken",
            counted_have(ids.len(), &format!("image of {}", self.candidates.source())),
        );
        Notice::new(code, ids.len(), ids.into_iter().cloned(), message)
    }

    fn missing_error<'s>(&self, ids: impl Iterator<Item = &'s SegmentId> + Clone, count: usize) -> Error {
        let message = format!(
            "{} of {} in {} {} no candidate: {}; pass --missing skip to leave {} out (the score will say so), or \
             --missing empty to score empty captions",
            count,
            counted(self.references.len(), "image"),
            self.references_name(),
            if count == 1 { "has" } else { "have" },
            list_ids(ids.clone(), count),
            if count == 1 { "it" } else { "them" },
        );
        self.error(ErrorKind::Missing, message, ids.clone().next())
    }

    fn missing_notice<'s>(
        &self,
        code: &'static str,
        ids: impl Iterator<Item = &'s SegmentId>,
        count: usize,
        what: &str,
    ) -> Notice {
        let message = format!(
            "{count} of {} in {} {} no candidate in {} and {} {what}",
            counted(self.references.len(), "image"),
            self.references_name(),
            if count == 1 { "has" } else { "have" },
            self.candidates.source(),
            if count == 1 { "is" } else { "are" },
        );
        Notice::new(code, count, ids.cloned(), message)
    }

    fn empty_error(&self, rows: &[u32]) -> Error {
        let count = rows.len();
        let message = format!(
            "{} empty: {}; pass --empty keep to score {}, or --empty skip to leave {} out",
            counted_are(count, "candidate"),
            list_ids(self.candidate_ids(rows), count),
            if count == 1 { "it" } else { "them" },
            if count == 1 { "its image" } else { "their images" },
        );
        let place = rows.first().map(|row| self.place(*row)).unwrap_or_default();
        self.error(ErrorKind::EmptyCandidate, message, self.candidate_ids(rows).next()).at(place)
    }

    fn empty_notice(&self, rows: &[u32], code: &'static str, what: &str) -> Notice {
        let count = rows.len();
        let subject = counted_are(count, &format!("candidate of {}", self.candidates.source()));
        let message = format!("{subject} empty and {} {what}", if count == 1 { "is" } else { "are" });
        Notice::new(code, count, self.candidate_ids(rows).cloned(), message)
    }

    /// Notices what does not stop the alignment but is seldom meant.
    fn oddities(&self, notices: &mut Vec<Notice>) {
        let references = self.references.captions();
        let is_list = |format| matches!(format, Some(Format::CocoResults | Format::ListJson));
        let one_each = self.references.len() == references.len();
        if one_each
            && is_list(references.format())
            && self.candidates.format() == Some(Format::CocoAnnotations)
        {
            let message = format!(
                "the references ({}) are a results list with one caption per image and the candidates ({}) a COCO \
                 annotation file: are the two swapped?",
                references.source(),
                self.candidates.source(),
            );
            notices.push(Notice::new("swapped", self.references.len(), [], message));
        }
        let without = self.references.without_captions();
        if !without.is_empty() {
            let message = format!(
                "{} lists {} without any caption, which cannot be scored",
                references.source(),
                counted(without.len(), "image"),
            );
            notices.push(Notice::new(
                "images-without-references",
                without.len(),
                without.iter().cloned(),
                message,
            ));
        }
    }
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
    let (head, rest) = match noun.split_once(" of ") {
        Some((head, rest)) => (head, format!(" of {rest}")),
        None => (noun, String::new()),
    };
    format!("{}{rest} {}", counted(count, head), if count == 1 { one } else { many })
}
