//! Images by their ids.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use capeval_choice::Argument;
use hashbrown::HashTable;

use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::keys::Standing;
use crate::policy::Ids;
use crate::{Format, Remedy, SegmentId};

/// The images that candidates can be aligned with, in order of first appearance, and properties of their source.
///
/// Images are numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct ImageIndex {
    numbers: Numbers,
    source: String,
    format: Option<Format>,
    n_captions: Option<usize>,
    without_captions: Vec<SegmentId>,
    in_lists: bool,
    in_order: bool,
    is_counted: bool,
    /// The images of plain text whose lines are empty.
    empty_lines: Vec<SegmentId>,
    /// Other ids of the images, by the column that has them.
    other_ids: Vec<(String, Vec<SegmentId>)>,
    /// The ids of each split, if none was named.
    splits: Vec<(String, Vec<SegmentId>)>,
}

impl ImageIndex {
    /// The images of `ids`; ids that are equal under `comparison` are one image.
    pub fn of(
        source: impl Into<String>,
        ids: impl IntoIterator<Item = SegmentId>,
        comparison: Ids,
    ) -> Result<Self, Error> {
        let mut numbers = Numbers { comparison, ..Numbers::default() };
        let ids = ids.into_iter();
        numbers.reserve(ids.size_hint().0);
        let source = source.into();
        for id in ids {
            let number = numbers.add(&id);
            if let Some(first) = numbers.ids.get(number as usize)
                && matches!(comparison, Ids::FileName | Ids::Loose)
            {
                refuse_same_name(first, &id, &source)?;
            }
        }
        if numbers.ids.is_empty() {
            return Err(no_captions(&source));
        }
        Ok(Self { numbers, source, ..Self::default() })
    }

    /// The images of `captions`, and the image of each row.
    pub(super) fn of_captions(captions: &Captions, comparison: Ids) -> Result<(Self, Vec<u32>), Error> {
        if captions.is_empty() {
            return Err(no_captions(captions.source()));
        }
        let (numbers, image_of_row) = Numbers::of(captions.ids(), comparison);
        if matches!(comparison, Ids::FileName | Ids::Loose) {
            // Another file may write the ids of its images in another way.
            let mut firsts: HashMap<(u32, &str), &SegmentId> = HashMap::new();
            for (row, (id, number)) in captions.ids().iter().zip(&image_of_row).enumerate() {
                let file = captions.source_of(row);
                let first = firsts.entry((*number, file)).or_insert(id);
                refuse_same_name(first, id, file)?;
            }
        }
        let undescribed = |id: &&SegmentId| numbers.find(id).is_none();
        let without_captions = captions.declared().iter().filter(undescribed).cloned().collect();
        let index = Self {
            numbers,
            source: captions.source().to_owned(),
            format: captions.format(),
            n_captions: Some(captions.len()),
            without_captions,
            in_lists: captions.are_in_lists(),
            is_counted: captions.keys().are_counted(),
            in_order: captions.keys().standing() == Standing::InOrder,
            empty_lines: captions.empty_lines(),
            other_ids: captions.other_ids().to_vec(),
            splits: captions.splits().to_vec(),
        };
        Ok((index, image_of_row))
    }

    /// The display name of the source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The format of the source; `None` if the images do not come from a file of captions.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The number of captions of the images; `None` if they do not come from captions.
    pub fn n_captions(&self) -> Option<usize> {
        self.n_captions
    }

    /// Returns true if the source lists captions by image, as references mostly do.
    pub(super) fn are_in_lists(&self) -> bool {
        self.in_lists
    }

    /// Returns true if the source is a list of captions, which are numbered.
    pub(super) fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// Returns true if the source has no ids, so that its captions are numbered.
    pub(super) fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// The images of plain text whose lines are empty.
    pub(super) fn empty_lines(&self) -> &[SegmentId] {
        &self.empty_lines
    }

    /// Other ids of the images, by the column that has them.
    pub(super) fn other_ids(&self) -> &[(String, Vec<SegmentId>)] {
        &self.other_ids
    }

    /// The split whose images are those of these ids.
    pub(super) fn split_of(&self, ids: &[SegmentId]) -> Option<&str> {
        let here: HashSet<&SegmentId> = ids.iter().collect();
        let is_one = |(_, all): &&(String, Vec<SegmentId>)| {
            all.len() == here.len() && all.iter().all(|id| here.contains(id))
        };
        self.splits.iter().find(is_one).map(|(split, _)| split.as_str())
    }

    /// The images that the source lists without a caption.
    pub fn without_captions(&self) -> &[SegmentId] {
        &self.without_captions
    }

    /// The way to compare ids.
    pub fn comparison(&self) -> Ids {
        self.numbers.comparison
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        self.numbers.ids.len()
    }

    /// Returns true if there are no images; always false, since an empty index is refused.
    pub fn is_empty(&self) -> bool {
        self.numbers.ids.is_empty()
    }

    /// The id of each image, as first given.
    pub fn ids(&self) -> &[SegmentId] {
        &self.numbers.ids
    }

    /// The id of an image, as first given; `None` if there is no such image.
    pub fn id(&self, image: usize) -> Option<&SegmentId> {
        self.numbers.ids.get(image)
    }

    /// The image with this id; `None` if there is none.
    pub fn find(&self, id: &SegmentId) -> Option<usize> {
        self.numbers.find(id)
    }

    /// The same; `likely` is the image that it probably is, which is looked at first.
    pub(super) fn find_from(&self, likely: usize, id: &SegmentId) -> Option<usize> {
        if self.id(likely) == Some(id) { Some(likely) } else { self.find(id) }
    }
}

/// Refuses an id that is another one than the first as text, but has the same file name.
fn refuse_same_name(first: &SegmentId, id: &SegmentId, source: &str) -> Result<(), Error> {
    if same_id(first, id, Ids::Text) {
        return Ok(());
    }
    let message = format!("the ids {} and {} name the same file", first.quoted(), id.quoted());
    let remedy = Remedy::set(Argument::Ids, Ids::Text.name()).to("compare ids as they are");
    Err(Error::new(ErrorKind::Duplicate, source, message).about(id.clone()).with_remedy(remedy))
}

fn no_captions(source: &str) -> Error {
    Error::new(ErrorKind::NoReferences, source, "holds no captions")
        .with_remedy(Remedy::say("give a file that does"))
}

/// Numbers ids in order of first appearance. The table is never iterated over, so its random seed changes no result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    table: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
    ids: Vec<SegmentId>,
    comparison: Ids,
}

impl Numbers {
    /// Numbers `ids`, and returns the number of each.
    pub fn of(ids: &[SegmentId], comparison: Ids) -> (Self, Vec<u32>) {
        let mut numbers = Self { comparison, ..Self::default() };
        // Captions of one image mostly follow each other.
        numbers.reserve(ids.chunk_by(|a, b| a == b).count());
        let mut of_each = Vec::with_capacity(ids.len());
        for equal in ids.chunk_by(|a, b| a == b) {
            let number = equal.first().map(|id| numbers.add(id));
            of_each.extend(equal.iter().filter_map(|_| number));
        }
        (numbers, of_each)
    }

    /// Reserves memory for `n` more ids.
    fn reserve(&mut self, n: usize) {
        let Self { table, hasher, ids, comparison } = self;
        ids.reserve(n);
        table.reserve(n, |number| ids.get(*number as usize).map_or(0, |id| hash_id(hasher, id, *comparison)));
    }

    /// The number of an id, which is added if it is new.
    pub fn add(&mut self, id: &SegmentId) -> u32 {
        let Self { table, hasher, ids, comparison } = self;
        let hash = hash_id(hasher, id, *comparison);
        let entry = table.entry(
            hash,
            |number| ids.get(*number as usize).is_some_and(|other| same_id(other, id, *comparison)),
            |number| ids.get(*number as usize).map_or(0, |id| hash_id(hasher, id, *comparison)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let number = u32::try_from(ids.len()).unwrap_or(u32::MAX);
                entry.insert(number);
                ids.push(id.clone());
                number
            }
        }
    }

    /// The distinct ids, in order of their numbers.
    pub fn into_ids(self) -> Vec<SegmentId> {
        self.ids
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The number of an id; `None` if it is unknown.
    pub fn find(&self, id: &SegmentId) -> Option<usize> {
        let hash = hash_id(&self.hasher, id, self.comparison);
        let is_it = |number: &u32| {
            self.ids.get(*number as usize).is_some_and(|other| same_id(other, id, self.comparison))
        };
        self.table.find(hash, is_it).map(|number| *number as usize)
    }
}

fn hash_id(hasher: &foldhash::fast::RandomState, id: &SegmentId, ids: Ids) -> u64 {
    match &*ids.form(id) {
        SegmentId::Integer(integer) => hasher.hash_one(integer),
        SegmentId::Text(text) => hasher.hash_one(text),
    }
}

fn same_id(a: &SegmentId, b: &SegmentId, ids: Ids) -> bool {
    a == b || ids != Ids::AsGiven && ids.form(a) == ids.form(b)
}
