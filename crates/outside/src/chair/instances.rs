//! The objects of images: COCO's files of instances, or a list by image.

use std::collections::BTreeMap;

use capeval::corpus::SegmentId;
use capeval_choice::Refusal;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::Deserialize;
use twox_hash::XxHash3_64;

use crate::chair::objects::Objects;

/// The objects of images, each once.
#[derive(Debug, Default)]
pub struct Instances {
    of_images: HashMap<SegmentId, Vec<u16>, FixedState>,
    hashes: Vec<u64>,
}

/// COCO's `instances_*.json`; segments and boxes are passed over.
#[derive(Deserialize)]
struct Coco {
    annotations: Vec<Annotation>,
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Annotation {
    image_id: SegmentId,
    category_id: i64,
}

#[derive(Deserialize)]
struct Category {
    id: i64,
    name: String,
}

impl Instances {
    /// Adds the objects of a file: COCO's instances, or an object of JSON from ids of images to lists of objects.
    pub fn add(&mut self, bytes: &[u8], objects: &Objects) -> Result<(), Refusal> {
        let broken = |error: serde_json::Error| {
            Refusal::new(format!("these are no instances ({error})")).with_remedy(
                "give COCO's instances_val2014.json, or an object such as {\"42\": [\"dog\", \"person\"]}",
            )
        };
        let known = |name: &str, what: &str| {
            objects.find(name).ok_or_else(|| {
                Refusal::new(format!("{what} {name:?} is not in the list of objects"))
                    .with_remedy("add it to the list, or leave it out of this file")
            })
        };
        let text = std::str::from_utf8(bytes).map_err(|_| Refusal::new("it is not text in UTF-8"))?;
        match serde_json::from_str(text) {
            Ok(coco) => self.add_coco(coco, known)?,
            Err(error) => {
                // The error of the form that it is closer to.
                let lists: BTreeMap<String, Vec<String>> =
                    serde_json::from_str(text).map_err(|_| broken(error))?;
                for (image, names) in lists {
                    let id = SegmentId::from_untyped(&image);
                    self.of_images.entry(id.clone()).or_default();
                    for name in names {
                        let object = known(&name.to_lowercase(), &format!("image {image}: the object"))?;
                        self.put(id.clone(), object);
                    }
                }
            }
        }
        self.hashes.push(XxHash3_64::oneshot(bytes));
        Ok(())
    }

    fn add_coco(
        &mut self,
        coco: Coco,
        known: impl Fn(&str, &str) -> Result<u16, Refusal>,
    ) -> Result<(), Refusal> {
        let mut by_id: HashMap<i64, u16> = HashMap::new();
        for Category { id, name } in &coco.categories {
            by_id.insert(*id, known(name, "the category")?);
        }
        for Annotation { image_id, category_id } in coco.annotations {
            let object = *by_id.get(&category_id).ok_or_else(|| {
                Refusal::new(format!(
                    "an instance has the category {category_id}, which the file does not name"
                ))
            })?;
            self.put(image_id, object);
        }
        Ok(())
    }

    fn put(&mut self, image: SegmentId, object: u16) {
        let objects = self.of_images.entry(image).or_default();
        if !objects.contains(&object) {
            objects.push(object);
        }
    }

    /// The objects of an image.
    pub fn of(&self, image: &SegmentId) -> &[u16] {
        self.of_images.get(image).map_or(&[], Vec::as_slice)
    }

    /// Returns true if a file mentions an image.
    pub fn knows(&self, image: &SegmentId) -> bool {
        self.of_images.contains_key(image)
    }

    /// The number of images that have some.
    pub fn n_images(&self) -> usize {
        self.of_images.len()
    }

    /// A hash of the files, in whatever order; `None` without files.
    pub fn hash(&self) -> Option<u64> {
        let all = self.hashes.iter().fold(0_u64, |all, hash| all ^ hash);
        (!self.hashes.is_empty()).then_some(all)
    }
}
