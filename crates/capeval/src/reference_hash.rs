//! The hash of a set of references: two scores are comparable only if their references are the same, too.

use capeval_corpus::SegmentId;
use rayon::prelude::*;
use twox_hash::XxHash3_64;

/// The digits of a hash. Forty-eight bits tell any two files that people compare apart.
const DIGITS: usize = 12;

/// The hash of the references of images, whatever the order of images and of the references of each: of their ids, of
/// which the number 1 and the text "1" are the same, and their texts, without white space around them.
pub(crate) fn reference_hash<'t, T: Iterator<Item = &'t str>>(
    images: impl ParallelIterator<Item = (&'t SegmentId, T)>,
) -> String {
    let of_image = |(id, texts): (&SegmentId, T)| {
        let seed = XxHash3_64::oneshot(id.to_string().as_bytes());
        let of_text = |text: &str| XxHash3_64::oneshot_with_seed(seed, text.trim().as_bytes());
        texts.map(of_text).fold(0, u64::wrapping_add)
    };
    let sum = images.map(of_image).reduce(|| 0, u64::wrapping_add);
    let whole = format!("{:016x}", XxHash3_64::oneshot(&sum.to_le_bytes()));
    whole.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(images: &[(SegmentId, &[&str])]) -> String {
        reference_hash(images.par_iter().map(|(id, texts)| (id, texts.iter().copied())))
    }

    #[test]
    fn only_ids_and_texts_count() {
        let one = hash(&[(1.into(), &["a dog", "a cat"]), (2.into(), &["a bird"])]);
        assert_eq!(one.len(), DIGITS);
        assert_eq!(one, hash(&[("2".into(), &["a bird "]), (1.into(), &["a cat", "a dog"])]));
        let others: [&[(SegmentId, &[&str])]; 5] = [
            &[(1.into(), &["a dog", "a cat"]), (2.into(), &["a Bird"])],
            &[(1.into(), &["a dog", "a cat"]), (3.into(), &["a bird"])],
            &[(1.into(), &["a dog"]), (2.into(), &["a bird", "a cat"])],
            &[(1.into(), &["a dog", "a cat", "a cat"]), (2.into(), &["a bird"])],
            &[(1.into(), &["a dog", "a cat"])],
        ];
        for other in others {
            assert_ne!(one, hash(other), "{other:?}");
        }
    }
}
