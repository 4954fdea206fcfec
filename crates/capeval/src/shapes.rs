//! Notices about references and candidates that look like something else: like each other, or like lists of words.

use capeval_choice::{Argument, Code, Remedy};
use capeval_corpus::{Alignment, Captions, Fit, GroupedCaptions, Mispairing, Order, fit};
use capeval_report::Notice;
use capeval_text::Looks;
use twox_hash::XxHash3_64;

use crate::PairingCheck;

/// The fewest images on which captions that repeat each other say something.
const MANY_IMAGES: usize = 100;

/// A notice if every reference is a single word, and there are several per image: a list of words was probably meant as
/// one reference.
pub(crate) fn words_as_references(references: &GroupedCaptions) -> Option<Notice> {
    let captions = references.captions();
    // In a script without spaces, a text without them is several words.
    let is_long = |text: &str| Looks::of([text]).unsegmented();
    let is_word = |text: &str| {
        !text.is_empty() && !text.contains(char::is_whitespace) && (text.is_ascii() || !is_long(text))
    };
    let are_words = captions.len() >= 3 * references.len() && captions.iter().all(|(_, text)| is_word(text));
    let message =
        format!("every reference of {} is a single word, as if lists of words were given", captions.source());
    let remedy = Remedy::say("join the words of a reference by spaces");
    are_words.then(|| Notice::new(Code::WordsAsReferences, message).count(captions.len()).remedy(remedy))
}

/// A notice if single references repeat each other, as captions of systems do, and the candidates do not.
pub(crate) fn swapped(
    references: &GroupedCaptions,
    name: &str,
    candidates: &Captions,
    aligned: &Alignment,
) -> Option<Notice> {
    if aligned.len() < MANY_IMAGES || references.captions().len() != references.len() {
        return None;
    }
    let of_references = repeated(aligned.pairs.iter().flat_map(|pair| references.texts(pair.image as usize)));
    if 5 * of_references < aligned.len() {
        return None;
    }
    let rows = aligned.pairs.iter().filter_map(|pair| pair.candidate);
    let of_candidates = repeated(rows.map(|row| candidates.text(row as usize)));
    let looks_swapped = 4 * of_candidates <= of_references;
    let message = format!(
        "{of_references} of {} references repeat another one, as captions of systems do, and {of_candidates} candidates of \
         {name}: are the two swapped?",
        aligned.len(),
    );
    looks_swapped.then(|| Notice::new(Code::Swapped, message).system(name).count(of_references))
}

/// How well the captions of a system fit their own references, over a sample of the images.
pub(crate) fn fit_of(references: &GroupedCaptions, candidates: &Captions, aligned: &Alignment) -> Fit {
    fit_where(references, candidates, aligned, |_| true)
}

/// As [`fit_of`], with the references of some rows.
fn fit_where(
    references: &GroupedCaptions,
    candidates: &Captions,
    aligned: &Alignment,
    is_of: impl Fn(usize) -> bool,
) -> Fit {
    let pairs = &aligned.pairs;
    let caption = |row: usize| {
        let row = pairs.get(row).and_then(|pair| pair.candidate);
        row.map_or("", |row| candidates.text(row as usize))
    };
    let texts = |row: usize| {
        let rows = pairs.get(row).map(|pair| references.rows(pair.image as usize));
        let rows = rows.into_iter().flatten().map(|row| *row as usize).filter(|row| is_of(*row));
        rows.map(|row| references.captions().text(row)).collect()
    };
    fit(pairs.len(), caption, texts)
}

/// Notices of those of several files of references that the captions of a system do not fit, though they fit all
/// together.
pub(crate) fn mispaired_files(
    name: &str,
    references: &GroupedCaptions,
    candidates: &Captions,
    aligned: &Alignment,
) -> Vec<Notice> {
    /// The most files that are looked at.
    const MOST: usize = 10;
    let captions = references.captions();
    let files: Vec<&str> = captions.files().collect();
    let advice = "make sure that all files of references list the same images in the same order";
    let of_file = |file: &&str| {
        let fit = fit_where(references, candidates, aligned, |row| captions.source_of(row) == *file);
        Some(unfit_to(&format!("references of {file}"), name, &fit, advice)?.system(name))
    };
    files.iter().filter(|_| (2..=MOST).contains(&files.len())).filter_map(of_file).collect()
}

/// A notice if the captions of a system do not fit their own references, as after a shift of rows.
pub(crate) fn mispaired(name: &str, fit: &Fit) -> Option<Notice> {
    let advice = "make sure that both sides list the same images in the same order";
    Some(unfit(name, fit, advice)?.system(name))
}

/// As [`mispaired`], of captions by any name; `advice` says how to mend it.
pub(crate) fn unfit(name: &str, fit: &Fit, advice: &'static str) -> Option<Notice> {
    unfit_to("references", name, fit, advice)
}

fn unfit_to(references: &str, name: &str, fit: &Fit, advice: &'static str) -> Option<Notice> {
    let message = match fit.mispairing? {
        Mispairing::Shifted { rows, from } => {
            let place = match rows.unsigned_abs() {
                1 => "one row".to_owned(),
                rows => format!("{rows} rows"),
            };
            let way = if rows > 0 { "later" } else { "earlier" };
            let part = if from > 1 { format!(", from about image {from} on") } else { String::new() };
            format!("the captions of {name} fit the {references} {place} {way}{part}")
        }
        Mispairing::Unrelated { t } => format!(
            "the captions of {name} share no more words with their own {references} than with those of other images \
             (t = {t:.1}; 3 and more if they fit)"
        ),
        Mispairing::Partly { from, to } => format!(
            "the captions of {name} fit their {references}, but not between about image {from} and image {to}"
        ),
        Mispairing::Reordered(order) => {
            let order = match order {
                Order::Reversed => "the reverse order".to_owned(),
                Order::AsText => "the order of numbers that are sorted as text (1, 10, 11, 2)".to_owned(),
                Order::Other { row, image } => {
                    format!("another order: that of image {row} fits those of image {image}, for example")
                }
            };
            format!("the captions of {name} fit the {references} in {order}")
        }
    };
    let remedy = Remedy::say(advice)
        .or(Remedy::set(Argument::Pairing, PairingCheck::Off.name()).to("say nothing of it"));
    Some(Notice::new(Code::Pairing, message).count(fit.images).remedy(remedy))
}

/// The number of texts that are equal to one before them.
fn repeated<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    let mut hashes: Vec<u64> = texts.map(|text| XxHash3_64::oneshot(text.as_bytes())).collect();
    let n = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    n - hashes.len()
}
