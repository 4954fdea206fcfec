//! Captions grouped by image.

use super::index::ImageIndex;
use crate::SegmentId;
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::policy::Ids;
use crate::reading::refuse_open;

/// Captions grouped by image, in order of first appearance; usually references.
///
/// Images are numbered from 0; the rows of an image are indices into [`GroupedCaptions::captions`], in file order.
#[derive(Clone, Debug)]
pub struct GroupedCaptions {
    captions: Captions,
    index: ImageIndex,
    /// The rows of all images, image by image.
    rows: Vec<u32>,
    /// The start of each image's rows in `rows`, and the end of the last one.
    starts: Vec<u32>,
}

impl GroupedCaptions {
    /// Groups captions by image. `ids` says whether the number 1 and the text "1" are the same image.
    ///
    /// # Errors
    /// If several columns could hold the captions, and no other side told which one does.
    pub fn new(captions: Captions, ids: Ids) -> Result<Self, Error> {
        refuse_open(&captions)?;
        if u32::try_from(captions.len()).is_err() {
            let message = "holds more than 4294967295 captions, which is more than can be numbered";
            return Err(Error::new(ErrorKind::Shape, captions.source(), message));
        }
        let (index, image_of_row) = ImageIndex::of_captions(&captions, ids)?;
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
        Ok(Self { captions, index, rows, starts })
    }

    /// All captions.
    pub fn captions(&self) -> &Captions {
        &self.captions
    }

    /// The images.
    pub fn index(&self) -> &ImageIndex {
        &self.index
    }

    /// The images, and all captions.
    pub fn into_parts(self) -> (ImageIndex, Captions) {
        (self.index, self.captions)
    }

    /// Returns true if the captions of each image follow those of the image before it.
    pub fn is_in_order(&self) -> bool {
        self.rows.is_sorted()
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns true if there are no images; always false, since [`GroupedCaptions::new`] refuses that.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The images in the order in which pycocoevalcap takes them: that of COCO's `images`, if the source has such a
    /// list, and images that it lacks last; otherwise that of their numbers.
    pub fn order(&self) -> Vec<u32> {
        let mut seen = vec![false; self.len()];
        let declared = self.captions.declared().iter().filter_map(|id| self.index.find(id));
        let mut order: Vec<u32> = Vec::with_capacity(self.len());
        for image in declared.chain(0..self.len()) {
            if let Some(seen) = seen.get_mut(image)
                && !std::mem::replace(seen, true)
            {
                order.push(image as u32);
            }
        }
        order
    }

    /// The id of an image, as first given; `None` if there is no such image.
    pub fn id(&self, image: usize) -> Option<&SegmentId> {
        self.index.id(image)
    }

    /// The rows of an image's captions, in file order; empty if there is no such image.
    pub fn rows(&self, image: usize) -> &[u32] {
        let range = self.starts.get(image).zip(self.starts.get(image + 1));
        range.and_then(|(start, end)| self.rows.get(*start as usize..*end as usize)).unwrap_or_default()
    }

    /// The captions of an image, in file order.
    pub fn texts(&self, image: usize) -> impl ExactSizeIterator<Item = &str> + Clone + '_ {
        self.rows(image).iter().map(|row| self.captions.text(*row as usize))
    }
}
