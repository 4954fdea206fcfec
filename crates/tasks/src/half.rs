//! Halves of the images of a phase: scores of the public one are shown while it runs, and those of the private one
//! decide. An image is in the same half of every reference set.

use std::collections::HashSet;

use capeval::choice::SegmentId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A half of the images.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImageHalf {
    pub draw: Draw,
    pub is_public: bool,
}

/// What decides which images are public.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Draw {
    /// A seed draws this share of them.
    Share { share: f64, seed: String },
    /// They are listed.
    Listed(Vec<SegmentId>),
}

/// The images of a half.
#[derive(Debug)]
pub(crate) struct KeptImages {
    pub ids: HashSet<String>,
    /// What hosts should know about the list.
    pub notice: Option<String>,
}

impl ImageHalf {
    /// Those of some images that are in this half.
    ///
    /// # Errors
    /// If there are none.
    pub(crate) fn of(&self, images: HashSet<String>) -> anyhow::Result<KeptImages> {
        let mut unknown = 0;
        let n = images.len();
        let ids: HashSet<String> = match &self.draw {
            Draw::Share { share, seed } => {
                let is_public = |id: &String| drawn(seed, id) < *share;
                images.into_iter().filter(|id| is_public(id) == self.is_public).collect()
            }
            Draw::Listed(listed) => {
                let listed: HashSet<String> = listed.iter().map(ToString::to_string).collect();
                unknown = listed.difference(&images).count();
                images.into_iter().filter(|id| listed.contains(id) == self.is_public).collect()
            }
        };
        let half = if self.is_public { "public" } else { "private" };
        anyhow::ensure!(!ids.is_empty(), "none of the {n} images is in the {half} half");
        let notice = (unknown > 0 && self.is_public)
            .then(|| format!("{unknown} of the listed public images have no reference here"));
        Ok(KeptImages { ids, notice })
    }
}

/// The number from 0 to 1 that a seed draws for an image: the first 53 bits of the SHA-256 of `SEED/ID`, as a fraction.
fn drawn(seed: &str, id: &str) -> f64 {
    let digest = Sha256::digest(format!("{seed}/{id}"));
    let bits = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte)) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(n: usize) -> HashSet<String> {
        (0..n).map(|id| id.to_string()).collect()
    }

    fn half(draw: &Draw, is_public: bool, images: HashSet<String>) -> anyhow::Result<KeptImages> {
        ImageHalf { draw: draw.clone(), is_public }.of(images)
    }

    /// By Python: `int.from_bytes(hashlib.sha256(f"{seed}/{id}".encode()).digest()[:8], "big") >> 11) / 2**53`.
    #[test]
    fn the_draw_is_that_of_the_guide() {
        assert_eq!(drawn("a seed of a phase", "391895"), 0.775_099_552_416_690_3);
        assert_eq!(drawn("", ""), 0.540_509_861_546_877_1);
    }

    #[test]
    fn each_image_is_in_one_half_whatever_others_there_are() {
        let draw = Draw::Share { share: 0.3, seed: "seed".to_owned() };
        let [public, private] =
            [true, false].map(|is_public| half(&draw, is_public, images(1000)).unwrap().ids);
        assert!(public.is_disjoint(&private) && public.len() + private.len() == 1000);
        assert!((250..350).contains(&public.len()), "{}", public.len());
        let fewer = half(&draw, true, images(500)).unwrap().ids;
        assert!(fewer.is_subset(&public) && public.iter().all(|id| id.len() > 2 || fewer.contains(id)));
    }

    #[test]
    fn a_list_is_taken_as_it_is_and_no_half_is_empty() {
        let draw = Draw::Listed(vec![SegmentId::Integer(1), "2".into(), SegmentId::Integer(77)]);
        let public = half(&draw, true, images(4)).unwrap();
        assert_eq!(public.ids, HashSet::from(["1".to_owned(), "2".to_owned()]));
        assert_eq!(public.notice.unwrap(), "1 of the listed public images have no reference here");
        let private = half(&draw, false, images(4)).unwrap();
        assert_eq!((private.ids.len(), private.notice), (2, None));
        let empty =
            half(&Draw::Listed(vec![SegmentId::Integer(77)]), true, images(4)).unwrap_err().to_string();
        assert_eq!(empty, "none of the 4 images is in the public half");
        assert!(half(&Draw::Listed((0..4).map(SegmentId::Integer).collect()), false, images(4)).is_err());
    }
}
