//! Pairs images with scores that someone else computed, under the policies of captions.

use super::check::Check;
use super::{ChosenRows, ImageIndex};
use crate::policy::{Missing, Policy};
use crate::{Captions, Error, Notice};

/// The scores of images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignedScores {
    /// The row of each image's score; `None` for images without one.
    pub rows: Vec<Option<u32>>,
    /// Notices about what was left out.
    pub notices: Vec<Notice>,
}

/// The score of each image. `scores` has a row for each, whose text is empty if there is no number; `noun` is what
/// messages call one, such as `score by METEOR`. Only images of `needed` must have one.
///
/// # Errors
/// As [`align()`](super::align()) for captions: a score is of another image, an image has several, or a needed image
/// has none, and `policy` does not allow it.
pub fn align_scores(
    images: &ImageIndex,
    scores: &Captions,
    noun: &str,
    needed: &[u32],
    policy: &Policy,
) -> Result<AlignedScores, Error> {
    let mut notices = Vec::new();
    let chosen = {
        let check = Check { images, candidates: scores, noun };
        ChosenRows::of(&check, policy.surplus, policy.duplicate, &mut notices)?
    };
    let is_number = |row: &u32| !scores.text(*row as usize).is_empty();
    let rows: Vec<Option<u32>> = chosen.iter().map(|row| row.filter(is_number)).collect();
    let row_of = |rows: &[Option<u32>], image: u32| rows.get(image as usize).copied().flatten();
    let missing: Vec<u32> = needed.iter().filter(|image| row_of(&rows, **image).is_none()).copied().collect();
    if !missing.is_empty() {
        let ids = missing.iter().filter_map(|image| images.id(*image as usize));
        let nan: Vec<u32> = missing.iter().filter_map(|image| row_of(&chosen, *image)).collect();
        let noun = match nan.len() {
            0 => noun.to_owned(),
            n if n == missing.len() => format!("{noun} but NaN"),
            n => format!("{noun}, or NaN ({n})"),
        };
        let check = Check { images, candidates: scores, noun: &noun };
        // No one knows the score of an empty caption.
        if policy.missing != Missing::Skip {
            let place = nan.first().map(|row| check.place(*row)).unwrap_or_default();
            return Err(check.missing_without(ids, missing.len()).at(place));
        }
        notices.push(check.missing_notice(Missing::Skip, ids, missing.len()));
    }
    Ok(AlignedScores { rows, notices })
}
