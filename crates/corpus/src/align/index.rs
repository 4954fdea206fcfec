//! Images by their ids.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::SegmentId;
use crate::captions::Captions;
use crate::id::canonical_integer;
use crate::policy::Ids;

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

    /// The id of an image, as it was first given; `None` beyond the last image.
    pub fn id<'a>(&self, captions: &'a Captions, image: usize) -> Option<&'a SegmentId> {
        self.first_rows.get(image).and_then(|row| captions.id(*row as usize))
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
pub(super) fn other_type(id: &SegmentId) -> Option<SegmentId> {
    match id {
        SegmentId::Integer(integer) => Some(SegmentId::Text(integer.to_string().into())),
        SegmentId::Text(text) => canonical_integer(text).map(SegmentId::Integer),
    }
}
