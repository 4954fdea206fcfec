//! The hash of a set of references, and of given scores: two scores are comparable only if their references are the
//! same, too.

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
    digits(images.map(of_image).reduce(|| 0, u64::wrapping_add))
}

/// The hash of given scores, whatever their order: of their ids, of which the number 1 and the text "1" are the same,
/// of what else tells which caption each is of, and of their values.
pub(crate) fn score_hash<'t>(scores: impl Iterator<Item = (&'t SegmentId, &'t str, f64)>) -> String {
    let of_score = |(id, rest, score): (&SegmentId, &str, f64)| {
        let seed = XxHash3_64::oneshot_with_seed(
            XxHash3_64::oneshot(id.to_string().as_bytes()),
            rest.trim().as_bytes(),
        );
        // There is one zero, and one NaN.
        let bits = if score.is_nan() { f64::NAN.to_bits() } else { (score + 0.0).to_bits() };
        XxHash3_64::oneshot_with_seed(seed, &bits.to_le_bytes())
    };
    digits(scores.map(of_score).fold(0, u64::wrapping_add))
}

/// The first digits of the hash of a sum of hashes.
fn digits(sum: u64) -> String {
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
    fn of_given_scores_ids_and_values_count() {
        let hash =
            |scores: &[(SegmentId, f64)]| score_hash(scores.iter().map(|(id, score)| (id, "", *score)));
        let one = hash(&[(1.into(), 0.5), (2.into(), 0.0), (3.into(), f64::NAN)]);
        assert_eq!(one, hash(&[(3.into(), -f64::NAN), ("2".into(), -0.0), (1.into(), 0.5)]));
        for other in [
            [(1.into(), 0.5), (2.into(), 0.0), (3.into(), 0.0)],
            [(1.into(), 0.0), (2.into(), 0.5), (3.into(), f64::NAN)],
            [(1.into(), 0.5), (4.into(), 0.0), (3.into(), f64::NAN)],
        ] {
            assert_ne!(one, hash(&other), "{other:?}");
        }
        let captions = |rest| score_hash([(&SegmentId::from(1), rest, 0.5)].into_iter());
        assert_ne!(captions("a dog"), captions("a cat"));
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
