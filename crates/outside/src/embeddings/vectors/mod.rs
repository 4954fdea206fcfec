//! Reads a user's vectors: `.npy` files with ids beside them, `.safetensors`, tables, and matrices in memory.

mod ids;
mod npy;
mod tensors;
mod write;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use capeval::choice::SegmentId;
use capeval::corpus::{Ids, VectorTable, read_vectors};
use capeval_arrays::{Buffer, SharedBytes};
use capeval_choice::{Notice, Refusal};
use capeval_files::{Bytes, Error};

use crate::embeddings::space::dot;
use crate::embeddings::{hash, known_hashes};

pub use write::write;

/// Vectors by the ids of images, or by texts.
pub struct Vectors {
    /// Their name in errors.
    name: String,
    hash: String,
    dims: usize,
    rows: Buffer<f32>,
    /// The rows of each id, in their order.
    places: HashMap<SegmentId, Vec<u32>>,
    /// The ids that are the same if they are read as names of files, as in COCO; `None` where several are.
    by_name: HashMap<SegmentId, Option<SegmentId>>,
}

/// A matrix from a file, with an id for each row.
struct Read {
    ids: Vec<SegmentId>,
    dims: usize,
    rows: Buffer<f32>,
}

/// The vectors of `.safetensors`.
fn tensors_of(bytes: &SharedBytes) -> Result<Read, Refusal> {
    match is_tensors((**bytes).as_ref()) {
        true => tensors::read(bytes),
        false => Err(Refusal::new("this is no file of vectors")
            .with_remedy("give a file of NumPy (.npy), .safetensors, or a table such as Parquet")),
    }
}

/// Returns true if these bytes begin as `.safetensors` do: with the length of a header, and the header.
fn is_tensors(bytes: &[u8]) -> bool {
    bytes.get(8) == Some(&b'{') && bytes.get(7) == Some(&0)
}

/// The vectors of a table, if these bytes begin as one does.
fn table_of(path: &str, bytes: &[u8]) -> Option<Result<Read, Error>> {
    let is_table =
        bytes.starts_with(b"PAR1") || matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    let read = || -> Result<Read, Error> {
        let VectorTable { ids, dims, rows } = read_vectors(bytes, path)?;
        Ok(Read { ids, dims, rows: Buffer::from(rows) })
    };
    is_table.then(read)
}

impl Vectors {
    /// Reads a file: `.npy`, with the ids in a file beside it, `.safetensors`, or a table, in Parquet or JSON.
    ///
    /// # Errors
    /// When it cannot be read, or has no vectors, or one that is not a number or has no length.
    pub fn open(path: &str) -> Result<Self, Error> {
        let bytes = capeval_files::open(path)?;
        // What is no file on this machine has no state by which it is known again.
        let file = Path::new(&*capeval_files::expanded(path)).to_owned();
        let hash = if file.is_file() { known_hashes::of(&file)? } else { hash::of(&bytes) };
        let shared: SharedBytes = Arc::new(bytes);
        let at = |refusal: Refusal| Error::from(refusal.at(path));
        let is_npy = (*shared).as_ref().starts_with(npy::MAGIC);
        let (read, hash) = if is_npy {
            let (rows, dims, n) = npy::read(&shared).map_err(at)?;
            let (ids, of_ids) = ids::beside(path, n)?;
            (Read { ids, dims, rows }, hash::of(format!("{hash}{of_ids}").as_bytes()))
        } else {
            let bytes = (*shared).as_ref();
            match table_of(path, bytes).filter(|_| !is_tensors(bytes)) {
                Some(table) => (table?, hash),
                None => (tensors_of(&shared).map_err(at)?, hash),
            }
        };
        Self::new(path, hash, read).map_err(at)
    }

    /// Reads the bytes of a file of `.safetensors`, which errors call `name`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_tensors(name: &str, bytes: Bytes) -> Result<Self, Refusal> {
        let at = |refusal: Refusal| refusal.at(name);
        let hash = hash::of(&bytes);
        Self::new(name, hash, tensors_of(&(Arc::new(bytes) as SharedBytes)).map_err(at)?).map_err(at)
    }

    /// Rows of `dims` numbers, one after another, each with its id.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_rows(name: &str, ids: Vec<SegmentId>, dims: usize, rows: Vec<f32>) -> Result<Self, Refusal> {
        let mut all: Vec<u8> = rows.iter().flat_map(|x| x.to_le_bytes()).collect();
        all.extend(ids.iter().flat_map(|id| id.to_string().into_bytes()));
        let read = Read { ids, dims, rows: Buffer::from(rows) };
        Self::new(name, hash::of(&all), read).map_err(|refusal| refusal.at(name))
    }

    fn new(name: &str, hash: String, read: Read) -> Result<Self, Refusal> {
        let Read { ids, dims, rows } = read;
        if ids.is_empty() || dims == 0 {
            return Err(Refusal::new("there are no vectors").with_remedy("give at least one"));
        }
        if rows.len() != ids.len() * dims {
            let message = format!("there are {} ids and {} numbers", ids.len(), rows.len());
            return Err(Refusal::new(message).with_remedy("give an id for each row"));
        }
        for (id, row) in ids.iter().zip(rows.chunks_exact(dims)) {
            let length = dot(row, row);
            let why = match length {
                _ if !length.is_finite() => "has a number that is not finite",
                0.0 => "consists of zeros, so it is like nothing",
                _ => continue,
            };
            let message = format!("the vector of {} {why}", id.quoted());
            return Err(Refusal::new(message).with_remedy("make it again, or leave it out"));
        }
        let mut places: HashMap<SegmentId, Vec<u32>> = HashMap::with_capacity(ids.len());
        let mut by_name = HashMap::with_capacity(ids.len());
        for (id, row) in ids.into_iter().zip(0..) {
            by_name
                .entry(Ids::FileName.form(&id).into_owned())
                .and_modify(|known: &mut Option<SegmentId>| {
                    if known.as_ref() != Some(&id) {
                        *known = None;
                    }
                })
                .or_insert_with(|| Some(id.clone()));
            places.entry(id).or_default().push(row);
        }
        Ok(Self { name: name.to_owned(), hash, dims, rows, places, by_name })
    }

    /// Their name in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first digits of the hash of all that they are.
    pub fn short_hash(&self) -> &str {
        hash::short(&self.hash)
    }

    /// The length of a vector.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.rows.len() / self.dims
    }

    /// Returns true if there are none, which is refused before.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The vectors of an image, in their order. Names of files and numbers with zeros in front stand for the numbers in
    /// them, as in COCO.
    pub fn all(&self, id: &SegmentId) -> impl ExactSizeIterator<Item = &[f32]> {
        let other = || self.places.get(self.by_name.get(&*Ids::FileName.form(id))?.as_ref()?);
        let places = self.places.get(id).or_else(other).map_or(&[][..], Vec::as_slice);
        let rows: &[f32] = &self.rows;
        places.iter().map(move |row| self.row(rows, *row))
    }

    fn row<'r>(&self, rows: &'r [f32], row: u32) -> &'r [f32] {
        let first = row as usize * self.dims;
        rows.get(first..first + self.dims).unwrap_or_default()
    }

    /// The one vector of an image.
    ///
    /// # Errors
    /// When there is none, or when there are several.
    pub fn one(&self, id: &SegmentId) -> Result<&[f32], Refusal> {
        let mut found = self.all(id);
        match (found.next(), found.len()) {
            (Some(vector), 0) => Ok(vector),
            (Some(_), more) => {
                let message = format!("{} has {} vectors of image {}", self.name, more + 1, id.quoted());
                Err(Refusal::new(message).with_remedy("give one for each image"))
            }
            (None, _) => {
                let some: Vec<String> = {
                    let mut ids: Vec<&SegmentId> = self.places.keys().collect();
                    ids.sort_unstable();
                    ids.iter().take(Notice::MAX_IDS.min(3)).map(|id| id.quoted().to_string()).collect()
                };
                let message = format!(
                    "{} has no vector of image {}, but those of {} others, such as {}",
                    self.name,
                    id.quoted(),
                    self.places.len(),
                    some.join(", ")
                );
                Err(Refusal::new(message)
                    .with_remedy("make vectors of all images, with ids as in the references"))
            }
        }
    }

    /// The vector of a text.
    pub fn of_text(&self, text: &str) -> Option<&[f32]> {
        let id = SegmentId::from_untyped(text);
        let places = self.places.get(&id).or_else(|| self.places.get(&SegmentId::Text(text.into())))?;
        places.first().map(|row| self.row(&self.rows, *row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(ids: &[&str]) -> Vectors {
        let rows = (0..ids.len() * 2).map(|k| k as f32 + 1.0).collect();
        let ids = ids.iter().map(|id| SegmentId::from_untyped(id)).collect();
        Vectors::from_rows("v.npy", ids, 2, rows).unwrap()
    }

    #[test]
    fn images_are_found_by_coco_names_and_numbers_with_zeros() {
        let found = vectors(&["000000000042", "COCO_val2014_000000000007", "x"]);
        assert_eq!(found.one(&SegmentId::from(42)).unwrap(), [1.0, 2.0]);
        assert_eq!(found.one(&SegmentId::from(7)).unwrap(), [3.0, 4.0]);
        let why = found.one(&SegmentId::from(9)).unwrap_err().to_string();
        assert_eq!(
            why,
            "v.npy has no vector of image 9, but those of 3 others, such as \"000000000042\", \
             \"COCO_val2014_000000000007\", \"x\""
        );
    }

    #[test]
    fn names_that_stand_for_one_number_are_not_guessed_at() {
        let found = vectors(&["COCO_val2014_000000000007", "COCO_train2014_000000000007"]);
        assert!(found.one(&SegmentId::from(7)).is_err());
        assert_eq!(found.one(&"COCO_val2014_000000000007".into()).unwrap(), [1.0, 2.0]);
    }

    #[test]
    fn vectors_of_one_id_keep_their_order() {
        let found = vectors(&["1", "2", "1"]);
        assert_eq!(found.all(&SegmentId::from(1)).collect::<Vec<_>>(), [[1.0, 2.0], [5.0, 6.0]]);
        assert!(found.one(&SegmentId::from(1)).unwrap_err().to_string().contains("2 vectors of image 1"));
    }

    #[test]
    fn texts_are_found_as_they_are() {
        let found = vectors(&["a cat", "7", "007"]);
        assert_eq!(found.of_text("a cat"), Some(&[1.0, 2.0][..]));
        assert_eq!(found.of_text("7"), Some(&[3.0, 4.0][..]));
        assert_eq!(found.of_text("007"), Some(&[5.0, 6.0][..]));
        assert_eq!(found.of_text("A cat"), None);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let why = |rows: Vec<f32>, n: usize| {
            let ids = (0..n as i64).map(SegmentId::from).collect();
            Vectors::from_rows("v", ids, 2, rows).err().map(|refusal| refusal.to_string()).unwrap()
        };
        assert_eq!(
            why(vec![1.0, 2.0, f32::NAN, 1.0], 2),
            "v: the vector of 1 has a number that is not finite"
        );
        assert_eq!(why(vec![0.0, 0.0], 1), "v: the vector of 0 consists of zeros, so it is like nothing");
        assert_eq!(why(vec![0.0, 1.0, 2.0], 1), "v: there are 1 ids and 3 numbers");
        assert_eq!(why(Vec::new(), 0), "v: there are no vectors");
    }
}
