//! References that stand in one text, with a sign between them that no caption has.

use crate::captions::Captions;

/// Signs that separate texts: one bar, or two and more of the others.
const SIGNS: &str = "&|~^\\/+=*$%";

/// The texts that are looked at.
const SAMPLE: usize = 40;

/// With fewer texts, a sign may be chance.
const FEWEST: usize = 4;

/// The sign that stands in nearly all references and in no candidate; `None` if there is none.
pub(crate) fn separator(references: &Captions, candidates: &Captions) -> Option<String> {
    let step = references.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&str> = (0..references.len()).step_by(step).map(|row| references.text(row)).collect();
    let first = sample.first().filter(|_| sample.len() >= FEWEST)?;
    let sign = signs(first).into_iter().find(|sign| {
        let with = sample.iter().filter(|text| text.contains(sign)).count();
        with * 5 >= sample.len() * 4
    })?;
    let is_candidate = |row: usize| candidates.text(row).contains(sign);
    let is_in_captions = (0..candidates.len().min(SAMPLE)).any(is_candidate);
    (!is_in_captions).then(|| sign.to_owned())
}

/// The signs between words of a text.
fn signs(text: &str) -> Vec<&str> {
    let is_sign = |c: char| SIGNS.contains(c);
    let runs = text.split(|c: char| !is_sign(c)).filter(|run| *run == "|" || run.len() > 1);
    runs.filter(|run| !text.starts_with(run) && !text.ends_with(run)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captions(texts: &[&str]) -> Captions {
        let mut captions = Captions::new("x");
        texts.iter().zip(0..).for_each(|(text, id)| captions.push(i64::from(id).into(), text));
        captions
    }

    #[test]
    fn signs_between_references_are_found() {
        let plain = captions(&["a dog", "a cat", "a man", "a bird"]);
        let joined = captions(&["a dog&&one dog", "a cat && a kitten", "a man&&he", "a bird&&birds"]);
        assert_eq!(separator(&joined, &plain).as_deref(), Some("&&"));
        let bars = captions(&["play|start", "stop | end", "next|forward", "go|run"]);
        assert_eq!(separator(&bars, &plain).as_deref(), Some("|"));
        assert_eq!(separator(&bars, &bars), None);
        assert_eq!(separator(&plain, &plain), None);
        let prose = captions(&["a/b c", "see http://x y", "50% off", "A & B"]);
        assert_eq!(separator(&prose, &plain), None);
    }
}
