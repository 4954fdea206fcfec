//! Computes the vectors of many texts or pictures, to be written to a file.

use std::path::Path;

use capeval::choice::SegmentId;
use capeval_choice::{Notice, Refusal};
use capeval_files::Error;
use capeval_picture::decode;
use rayon::prelude::*;

use crate::embeddings::cache::{self, VectorCache};
use crate::embeddings::models::OpenModel;
use crate::embeddings::role::Crop;

/// The number of pictures that are in memory at once.
const PICTURES_AT_ONCE: usize = 32;

/// The number of pictures after which their vectors are kept, so that a run that is interrupted can go on.
const KEPT_AT_ONCE: usize = 512;

/// A model's vectors of texts or pictures.
pub struct NamedVectors {
    /// Their ids; of texts, the texts.
    pub ids: Vec<SegmentId>,
    /// The length of a vector.
    pub dims: usize,
    /// The vectors, one after another.
    pub rows: Vec<f32>,
    /// Notices about vectors that could not be read from earlier runs, or kept for later ones.
    pub notices: Vec<Notice>,
}

fn notices(kept: Option<VectorCache>) -> Vec<Notice> {
    kept.map(|kept| kept.notices()).unwrap_or_default()
}

impl OpenModel {
    /// The vectors of texts. `begin` is called with their number and `advance` with those that are done.
    ///
    /// # Errors
    /// When there are none, or the model makes no vectors of texts.
    pub fn read(
        &self,
        texts: &[String],
        prefix: &str,
        begin: &dyn Fn(usize),
        advance: &(dyn Fn(usize) + Sync),
    ) -> Result<NamedVectors, Error> {
        if texts.is_empty() {
            return Err(Refusal::new("there are no texts").with_remedy("give a file with captions").into());
        }
        if !self.reads_texts() {
            let message = format!("{} is {}, which has no vector of a whole text", self.name(), self.told());
            return Err(Refusal::new(message).with_remedy("give a model of CLIP or of sentences").into());
        }
        begin(texts.len());
        let prefixed: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let prefixed: Vec<&str> = prefixed.iter().map(String::as_str).collect();
        let read = |texts: &[&str]| {
            advance(prefixed.len() - texts.len());
            self.model().text_vectors(texts, advance)
        };
        let kept = self.kept_texts();
        let rows = match &kept {
            None => read(&prefixed),
            Some(kept) => {
                let keys: Vec<_> = prefixed.iter().map(|text| cache::key(text.as_bytes())).collect();
                kept.fill(&keys, |places| {
                    Ok(read(&places.iter().map(|place| prefixed[*place]).collect::<Vec<_>>()))
                })?
            }
        };
        let ids = texts.iter().map(|text| SegmentId::Text(text.as_str().into())).collect();
        Ok(NamedVectors { ids, dims: self.dims(), rows, notices: notices(kept) })
    }

    /// The vectors of the pictures in a folder, by their names without ending.
    ///
    /// # Errors
    /// When a file is no picture, or the model sees none.
    pub fn look(
        &self,
        folder: &str,
        crop: Crop,
        begin: &dyn Fn(usize),
        advance: &(dyn Fn(usize) + Sync),
    ) -> Result<NamedVectors, Error> {
        let size = self.model().picture_size();
        if size == 0 {
            let message = format!("{} is {}, which sees no pictures", self.name(), self.told());
            return Err(Refusal::new(message).with_remedy("give a model of CLIP").into());
        }
        let files = capeval_files::files_in(folder)?;
        if files.is_empty() {
            return Err(Refusal::new("there are no files")
                .with_remedy("name a folder of pictures")
                .at(folder)
                .into());
        }
        begin(files.len());
        let (mut ids, mut rows) = (Vec::with_capacity(files.len()), Vec::new());
        let kept = self.kept_pictures(crop);
        for files in files.chunks(KEPT_AT_ONCE) {
            match &kept {
                None => rows.extend(self.look_at(&files.iter().collect::<Vec<_>>(), crop, advance)?),
                Some(kept) => {
                    let key = |path: &String| capeval_files::open(path).map(|bytes| cache::key(&bytes));
                    let keys: Vec<Result<_, Error>> = files.par_iter().map(key).collect();
                    let keys = keys.into_iter().collect::<Result<Vec<_>, Error>>()?;
                    rows.extend(kept.fill(&keys, |places| {
                        advance(files.len() - places.len());
                        let new: Vec<&String> = places.iter().map(|place| &files[*place]).collect();
                        self.look_at(&new, crop, advance)
                    })?);
                }
            }
            let stem = |path: &String| {
                SegmentId::from_untyped(&Path::new(path).file_stem().unwrap_or_default().to_string_lossy())
            };
            ids.extend(files.iter().map(stem));
        }
        Ok(NamedVectors { ids, dims: self.dims(), rows, notices: notices(kept) })
    }

    /// The vectors of pictures in files, one after another.
    fn look_at(
        &self,
        files: &[&String],
        crop: Crop,
        advance: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<f32>, Refusal> {
        let mut rows = Vec::new();
        for files in files.chunks(PICTURES_AT_ONCE) {
            let seen = |path: &&String| -> Result<Vec<u8>, Refusal> {
                let bytes = capeval_files::open(path).map_err(|error| Refusal::new(error.to_string()))?;
                let picture = decode(&bytes).map_err(|refusal| refusal.at(path))?;
                Ok(self.square(&picture, crop))
            };
            let pixels: Vec<Result<Vec<u8>, Refusal>> = files.par_iter().map(seen).collect();
            let pixels = pixels.into_iter().collect::<Result<Vec<Vec<u8>>, Refusal>>()?;
            let pixels: Vec<&[u8]> = pixels.iter().map(Vec::as_slice).collect();
            rows.extend(self.model().picture_vectors(&pixels, advance));
        }
        Ok(rows)
    }
}
