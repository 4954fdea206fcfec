//! Pictures that a call names: by their places, or one by one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use capeval::choice::Refusal;
use capeval::corpus::SegmentId;
use capeval::{Picture, PictureSource};
use capeval_files::picture_file;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::captions::id;

/// Python's object for each image: a path, or any other object.
pub struct OneByOne {
    by_id: HashMap<SegmentId, Py<PyAny>>,
    /// Ids as they are written, since a task may compare them as texts.
    by_text: HashMap<String, SegmentId>,
}

/// The pictures of a call: a list of places, or pairs of an id and a picture.
pub fn pictures(given: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, Option<Arc<OneByOne>>)> {
    if let Ok(places) = given.extract::<Vec<String>>() {
        return Ok((places, None));
    }
    let pairs: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = given.extract()?;
    let (mut by_id, mut by_text) = (HashMap::new(), HashMap::new());
    for (image, picture) in pairs.into_iter().filter(|(_, picture)| !picture.is_none()) {
        let image = id(&image)?;
        by_text.insert(image.to_string(), image.clone());
        by_id.insert(image, picture.unbind());
    }
    Ok((Vec::new(), Some(Arc::new(OneByOne { by_id, by_text }))))
}

impl OneByOne {
    /// Python's object for an image.
    pub fn get(&self, image: &SegmentId) -> Option<&Py<PyAny>> {
        let other = || self.by_id.get(self.by_text.get(&image.to_string())?);
        self.by_id.get(image).or_else(other)
    }
}

impl PictureSource for OneByOne {
    fn of(&self, images: &[&SegmentId]) -> Result<Vec<Option<Picture>>, Refusal> {
        Python::attach(|py| {
            let picture = |image: &&SegmentId| {
                let Some(object) = self.get(image) else { return Ok(None) };
                // The bytes of a picture are no path.
                let is_path = !object.bind(py).is_instance_of::<PyBytes>();
                match object.extract::<PathBuf>(py).ok().filter(|_| is_path) {
                    Some(path) => picture_file(&path)
                        .map(Some)
                        .map_err(|refusal| refusal.at(format!("image {}", image.quoted()))),
                    None => Ok(Some(Picture::Held)),
                }
            };
            images.iter().map(picture).collect()
        })
    }

    fn name(&self) -> String {
        "pictures".to_owned()
    }
}
