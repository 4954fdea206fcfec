//! Lines that have no like on the other side, such as a title, where captions are paired by their numbers: the words of
//! the others say which lines these are.

use capeval_choice::{Code, Notice, counted};

use super::GroupedCaptions;
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::keys::Standing;
use crate::reading::words::{Words, best_overlap, words};
use crate::{Format, Remedy};

/// More lines than this are not looked for.
const MOST: usize = 20;

/// With fewer captions, chance decides what they share.
const FEWEST: usize = 5;

/// The captions that are looked at.
const LOOKED_AT: usize = 20_000;

/// What captions gain, at least, if the lines are left out that are named.
const LEAST_GAIN: f64 = 0.02;

/// Words by which the first line of a file says what the others are.
const TITLES: &[&str] =
    &["caption", "reference", "candidate", "prediction", "hypothesis", "hypothese", "description"];

/// The lines of one side without which the two have as many captions, which then fit.
#[derive(Clone, Debug)]
pub struct ExtraLines {
    message: String,
}

impl ExtraLines {
    /// The lines that are too many on one side, if captions are paired by their numbers and words tell which ones.
    pub fn find(references: &GroupedCaptions, candidates: &Captions) -> Option<Self> {
        let are_counted = candidates.keys().are_counted() || references.captions().keys().are_counted();
        let (n_images, n_captions) = (references.len(), candidates.len());
        let (n, extra) = (n_images.min(n_captions), n_images.abs_diff(n_captions));
        if !are_counted || !(1..=MOST).contains(&extra) || !(FEWEST..=LOOKED_AT).contains(&n) {
            return None;
        }
        let captions: Vec<Words> = (0..n_captions).map(|row| words(candidates.text(row))).collect();
        let images: Vec<Vec<Words>> =
            (0..n_images).map(|image| references.texts(image).map(words).collect()).collect();
        let overlap = |caption: usize, image: usize| best_overlap(&captions[caption], &images[image]);
        let by_shift = |row: usize, shift: usize| match n_captions > n_images {
            true => overlap(row + shift, row),
            false => overlap(row, row + shift),
        };
        let rows = lines_to_leave_out(n, extra, by_shift)?;
        let text = |row: usize| match n_captions > n_images {
            true => candidates.text(row),
            false => references.texts(row).next().unwrap_or_default(),
        };
        let side = if n_captions > n_images { candidates } else { references.captions() };
        let noun = if side.format() == Some(Format::Lines) { "line" } else { "caption" };
        let shown: Vec<String> = rows.iter().take(3).map(|row| quoted(*row, text(*row))).collect();
        let more = if rows.len() > shown.len() { ", …" } else { "" };
        let nouns = if rows.len() == 1 { noun.to_owned() } else { format!("{noun}s") };
        let message =
            format!("without {nouns} {}{more} of {}, the others fit", shown.join(", "), side.source());
        Some(Self { message })
    }

    /// An error about numbers that differ, with the lines.
    pub fn explain(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::Surplus | ErrorKind::Missing => error.noting(&self.message),
            _ => error,
        }
    }

    /// A notice, where captions were paired all the same.
    pub fn notice(&self) -> Notice {
        let message = format!("captions are paired by their numbers, but {}", self.message);
        Notice::new(Code::Pairing, message).remedy("remove what is named there, and pair the files again")
    }
}

/// A row from 1, and the beginning of its text.
fn quoted(row: usize, text: &str) -> String {
    const SHOWN: usize = 40;
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{} ({:?})", row + 1, shown + more)
}

/// The rows of the longer side without which the other `n` fit best, as `overlap` says for a row of the shorter side
/// and the number of rows left out before its like; `None` if words do not tell.
fn lines_to_leave_out(n: usize, extra: usize, overlap: impl Fn(usize, usize) -> f64) -> Option<Vec<usize>> {
    let all = |shift: usize| (0..n).map(|row| overlap(row, shift)).collect::<Vec<f64>>();
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let sums: Vec<f64> = (0..=extra).map(|shift| sum(&all(shift))).collect();
    let shift = (0..=extra).max_by(|a, b| sums[*a].total_cmp(&sums[*b]))?;
    let others = (0..=extra).filter(|other| *other != shift).map(|other| sums[other]).fold(0.0, f64::max);
    // A block in the middle: rows before it stay, and those behind it move.
    let (before, behind) = (all(0), all(extra));
    let (mut total, mut middle, mut place) = (sum(&behind), f64::NEG_INFINITY, 0);
    for row in 0..n {
        total += before[row] - behind[row];
        if total > middle {
            (middle, place) = (total, row + 1);
        }
    }
    let least = LEAST_GAIN * n as f64;
    if (1..n).contains(&place) && middle - sums[shift] > least {
        return Some((place..place + extra).collect());
    }
    let is_clear = sums[shift] - others > least;
    is_clear.then(|| (0..shift).chain(n + shift..n + extra).collect())
}

/// A notice if the first lines of both sides are titles, which are paired as captions.
pub fn titles(references: &GroupedCaptions, candidates: &Captions) -> Option<Notice> {
    let is_text = |captions: &Captions| {
        captions.format() == Some(Format::Lines) && captions.keys().standing() == Standing::InOrder
    };
    let ground = references.captions();
    if !is_text(ground) || !is_text(candidates) || candidates.len() < FEWEST {
        return None;
    }
    let (here, there) = (title(candidates)?, title(ground)?);
    let message = format!(
        "the first lines of {} ({here:?}) and {} ({there:?}) look like titles, and are scored as captions of an image",
        candidates.source(),
        ground.source(),
    );
    Some(Notice::new(Code::Pairing, message).count(1).remedy("remove both if they are no captions"))
}

/// The first line, if it has a word for captions that no other line has.
fn title(captions: &Captions) -> Option<&str> {
    let names = |text: &str| {
        let is_name = |word: &str| {
            let word = word.to_lowercase();
            TITLES.iter().any(|title| word == *title || word.strip_suffix('s') == Some(title))
        };
        text.split(|c: char| !c.is_alphanumeric()).any(is_name)
    };
    let first = captions.text(0);
    (names(first) && !(1..captions.len()).any(|row| names(captions.text(row)))).then_some(first)
}

/// What to do about sides with other numbers of captions that are paired by these numbers: no policy can mend it.
pub(super) fn remedy(here: usize, there: usize, are_references: bool) -> Remedy {
    let (longer, shorter) = (here.max(there), here.min(there));
    let times = longer.checked_div(shorter).filter(|times| *times > 1 && longer % shorter == 0);
    match times {
        Some(times) if are_references => Remedy::say(format!(
            "if the references of an image stand one below the other, {times} of each, put a blank line between those of \
             one image and those of the next, or give a file with ids"
        )),
        Some(times) => {
            Remedy::say(format!("give one caption for each image, rather than {}", counted(times, "line")))
        }
        None => Remedy::say(
            "remove what has no like on the other side, such as a title or a header, or give files with ids: captions \
             without ids are paired by their numbers, and one too many or too few moves all behind it",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_which_lines_are_too_many() {
        // Row `k` of the shorter side fits row `like(k)` of the longer one alone.
        let found = |extra: usize, like: &dyn Fn(usize) -> usize| {
            lines_to_leave_out(10, extra, |row, shift| f64::from(u8::from(row + shift == like(row))))
        };
        assert_eq!(found(1, &|row| row + 1), Some(vec![0]));
        assert_eq!(found(1, &|row| row), Some(vec![10]));
        assert_eq!(found(4, &|row| row + 2), Some(vec![0, 1, 12, 13]));
        assert_eq!(found(2, &|row| if row < 4 { row } else { row + 2 }), Some(vec![4, 5]));
        assert_eq!(found(1, &|_| 99), None);
    }
}
