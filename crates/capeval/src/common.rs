//! Restricts alignments to the images that all systems describe.

use capeval_choice::{Argument, Code, Remedy};
use capeval_corpus::{Alignment, Missing};
use capeval_metric::Signature;
use capeval_report::Notice;

use crate::Error;

/// The number of images that all systems describe, if some systems describe more.
pub(crate) struct Common {
    /// The number of common images.
    n: usize,
    /// The number of all images.
    of: usize,
}

impl Common {
    /// Restricts each alignment to the images that all have, out of `n_images`; `None` if that leaves out nothing.
    pub fn cut(aligned: &mut [Alignment], n_images: usize) -> Result<Option<Self>, Error> {
        let mut described = vec![0_usize; n_images];
        for pair in aligned.iter().flat_map(|aligned| &aligned.pairs) {
            if let Some(count) = described.get_mut(pair.image as usize) {
                *count += 1;
            }
        }
        let n_systems = aligned.len();
        let by_all = |image: u32| described.get(image as usize) == Some(&n_systems);
        let n = described.iter().filter(|count| **count == n_systems).count();
        if aligned.iter().all(|aligned| aligned.len() == n) {
            return Ok(None);
        }
        if n == 0 {
            return Err(Error::with_remedy(
                "no image is described by all systems, so nothing can be compared",
                Remedy::set(Argument::Missing, "empty").to("score missing captions as empty"),
            ));
        }
        aligned.iter_mut().for_each(|aligned| aligned.pairs.retain(|pair| by_all(pair.image)));
        Ok(Some(Self { n, of: n_images }))
    }

    /// A notice about the restriction.
    pub fn notice(&self) -> Notice {
        let (n, of) = (self.n, self.of);
        let message = format!("only the {n} images that all systems describe are compared, of {of}");
        Notice::new(Code::CommonImages, message).count(n)
    }

    /// Adds the number of images left out to a signature; it is the same for all systems and replaces the number of
    /// images that each of them lacks.
    pub fn sign(&self, signature: &mut Signature) {
        signature.push("missing", format_args!("{}({})", Missing::Skip.name(), self.of - self.n));
    }
}
