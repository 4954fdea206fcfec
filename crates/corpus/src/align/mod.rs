//! Groups captions by image, and pairs candidates with references under a policy.

mod check;
mod extra;
mod grouped_captions;
mod index;
mod lines;
mod otherwise;
mod proposals;
mod scores;

use capeval_choice::counted;

use self::check::Check;
pub use self::extra::{ExtraLines, titles};
pub use self::grouped_captions::GroupedCaptions;
pub use self::index::ImageIndex;
pub(crate) use self::index::Numbers;
pub use self::otherwise::OtherIds;
pub use self::scores::{AlignedScores, align_scores};
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::policy::{Duplicate, Empty, Missing, Policy, Surplus};
use crate::{Notice, Remedy};

/// An image to score, and its candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The number of the image in the [`ImageIndex`].
    pub image: u32,
    /// The row of its candidate; `None` for an empty caption, under [`Missing::Empty`].
    pub candidate: Option<u32>,
}

/// The images to score, in the order of the references, and notices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// One pair per image.
    pub pairs: Vec<Pair>,
    /// Notices about what was left out or replaced, and about oddities.
    pub notices: Vec<Notice>,
}

impl Alignment {
    /// The number of images to score.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns true if there are no images to score; always false, since [`align()`] refuses that.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

/// Pairs each image of the references with its candidate.
///
/// Each mismatch is an error unless `policy` allows it; a notice reports what was left out, with the policy as its
/// [`NoticeCode::Applied`](capeval_choice::NoticeCode::Applied), which belongs in the signature of every score.
///
/// # Errors
/// In this order: an id is a number in one file and a string in the other; a candidate has no reference; an image has
/// several candidates; an image has no candidate; a candidate is empty; no image is left.
pub fn align(images: &ImageIndex, candidates: &Captions, policy: &Policy) -> Result<Alignment, Error> {
    align_by(images, candidates, policy, |text| text.trim().is_empty())
}

/// As [`align()`]; `is_empty` decides which candidates are empty.
pub fn align_by(
    images: &ImageIndex,
    candidates: &Captions,
    policy: &Policy,
    is_empty: impl Fn(&str) -> bool,
) -> Result<Alignment, Error> {
    let Policy { missing, surplus, duplicate, empty } = *policy;
    if u32::try_from(candidates.len()).is_err() {
        let message = "holds more than 4294967295 captions, which is more than can be numbered";
        return Err(Error::new(ErrorKind::Shape, candidates.source(), message));
    }
    let mut aligned = Alignment::default();
    let check = Check { images, candidates, noun: "candidate" };
    let chosen = ChosenRows::of(&check, surplus, duplicate, &mut aligned.notices)?;
    let without = || chosen.iter().enumerate().filter(|(_, row)| row.is_none()).map(|(image, _)| image);
    let n_missing = without().count();
    let is_blank = |row: &u32| is_empty(candidates.text(*row as usize));
    if candidates.is_empty() && missing != Missing::Empty {
        let message = format!(
            "holds no captions of the {} of {} to be scored",
            counted(images.len(), "image"),
            images.source(),
        );
        return Err(Error::new(ErrorKind::Missing, candidates.source(), message)
            .with_remedy(Remedy::say("give a file that does")));
    }
    if n_missing > 0 {
        let ids = without().filter_map(|image| images.id(image));
        match missing {
            Missing::Error => return Err(check.missing_error(ids, n_missing)),
            Missing::Skip | Missing::Empty => {
                aligned.notices.push(check.missing_notice(missing, ids, n_missing));
            }
        }
    }
    let blank: Vec<u32> = chosen.iter().flatten().copied().filter(is_blank).collect();
    if !blank.is_empty() {
        match empty {
            Empty::Error => return Err(check.empty_error(&blank)),
            Empty::Keep | Empty::Skip => aligned.notices.push(check.empty_notice(&blank, empty)),
        }
    }
    let is_scored = |row: &Option<u32>| match row {
        Some(row) => empty != Empty::Skip || !is_blank(row),
        None => missing == Missing::Empty,
    };
    let pairs = (0_u32..).zip(chosen).filter(|(_, row)| is_scored(row));
    aligned.pairs = pairs.map(|(image, candidate)| Pair { image, candidate }).collect();
    if aligned.pairs.is_empty() {
        return Err(Error::new(
            ErrorKind::NothingLeft,
            candidates.source(),
            format!("no image of {} is left to score", images.source()),
        ));
    }
    check.oddities(&mut aligned.notices);
    Ok(aligned)
}

/// The row of each image's candidate.
type Rows = Vec<Option<u32>>;

/// The candidates of images, and those left over.
struct ChosenRows {
    rows: Rows,
    /// Each further row of an image, with the row taken before it.
    repeated: Vec<(u32, u32)>,
    /// The rows of other images.
    surplus: Vec<u32>,
}

impl ChosenRows {
    /// Chooses one of several candidates as `duplicate` says, and leaves out those of other images, if the policies
    /// allow it.
    fn of(
        check: &Check<'_>,
        surplus: Surplus,
        duplicate: Duplicate,
        notices: &mut Vec<Notice>,
    ) -> Result<Rows, Error> {
        let Self { rows, repeated, surplus: surplus_rows } = Self::all(check, duplicate);
        check.other_ids(&surplus_rows)?;
        if !surplus_rows.is_empty() {
            match surplus {
                Surplus::Error => return Err(check.surplus_error(&surplus_rows)),
                Surplus::Ignore => notices.push(check.surplus_notice(&surplus_rows)),
            }
        }
        if !repeated.is_empty() {
            match duplicate {
                Duplicate::Error => return Err(check.duplicate_error(&repeated)),
                Duplicate::First | Duplicate::Last => {
                    notices.push(check.duplicate_notice(&repeated, duplicate));
                }
            }
        }
        Ok(rows)
    }

    /// The first of several candidates, unless `duplicate` says that it is the last.
    fn all(check: &Check<'_>, duplicate: Duplicate) -> Self {
        let Check { images, candidates, .. } = check;
        let mut chosen = Self { rows: vec![None; images.len()], repeated: Vec::new(), surplus: Vec::new() };
        let lines = check.lines();
        // Candidates mostly come in the order of the references.
        let mut likely = 0;
        for (row, id) in (0_u32..).zip(candidates.ids()) {
            let image = lines.map_or_else(|| images.find_from(likely, id), |lines| lines.find(images, id));
            likely = image.map_or(likely, |image| image + 1);
            match image.and_then(|image| chosen.rows.get_mut(image)) {
                None => chosen.surplus.push(row),
                Some(slot @ None) => *slot = Some(row),
                Some(Some(taken)) => {
                    chosen.repeated.push((*taken, row));
                    if duplicate == Duplicate::Last {
                        *taken = row;
                    }
                }
            }
        }
        chosen
    }
}
