//! Rows of a file of scores that stand for all images, such as the mean below a table: they are no images.

use std::collections::HashMap;

use capeval_choice::Remedy;

use super::SegmentScores;
use crate::{Error, ErrorKind, SegmentId};

/// The most words among ids whose scores are compared with the mean and the sum of the others.
const MOST: usize = 4;

/// The fewest images that say how ids look.
const FEW: usize = 3;

/// Refuses rows whose id is a word among ids of another form, or whose scores are the mean or the sum of the others.
pub(super) fn check(scores: &SegmentScores) -> Result<(), Error> {
    let word = |id: &SegmentId| match id {
        SegmentId::Text(text) => {
            let is_word = |c: char| c.is_alphabetic() || matches!(c, ' ' | '_' | '-');
            let text = text.trim_matches(|c: char| !c.is_alphanumeric());
            (!text.is_empty() && text.chars().all(is_word)).then(|| text.to_lowercase())
        }
        SegmentId::Integer(_) => None,
    };
    let mut words: HashMap<&SegmentId, String> = HashMap::new();
    for row in &scores.rows {
        if let Some(word) = word(&row.image) {
            words.insert(&row.image, word);
        }
    }
    let others: Vec<&SegmentId> =
        scores.rows.iter().map(|row| &row.image).filter(|id| !words.contains_key(id)).collect();
    // Where most ids are words, they are images.
    if words.is_empty() || others.len() < FEW.max(words.len()) {
        return Ok(());
    }
    let has_form = |id: &SegmentId| match id {
        SegmentId::Integer(_) => true,
        SegmentId::Text(text) => text.contains(['.', '/']) || text.bytes().all(|byte| byte.is_ascii_digit()),
    };
    let are_of_form = others.iter().all(|id| has_form(id));
    let names_all = |word: &str| {
        let names = "mean average avg total overall all sum macro micro median std summary corpus";
        names.split(' ').any(|name| word.split([' ', '_', '-']).any(|part| part == name))
    };
    for row in &scores.rows {
        let Some(word) = words.get(&row.image) else { continue };
        let is_total = || {
            words.len() <= MOST
                && (0..scores.keys.len()).all(|column| {
                    let same = scores.rows.iter().filter(|other| other.system == row.system);
                    let of_images = same.filter(|other| !words.contains_key(&other.image));
                    let numbers: Vec<f64> =
                        of_images.filter_map(|other| other.scores.get(column)).copied().collect();
                    let (sum, own) = (numbers.iter().sum::<f64>(), row.scores.get(column).copied());
                    let is = |value: f64| {
                        own.is_some_and(|own| (own - value).abs() <= 1e-6 * value.abs().max(1e-9))
                    };
                    is(sum) || is(sum / numbers.len() as f64)
                })
        };
        if are_of_form || names_all(word) || is_total() {
            let message = format!(
                "{} is no image like {}, but seems to stand for all of them",
                row.image.quoted(),
                others.first().map(|id| id.quoted().to_string()).unwrap_or_default()
            );
            return Err(Error::new(ErrorKind::Id, &scores.source, message)
                .at(row.place)
                .with_remedy(Remedy::say("remove this row: means are computed from the images")));
        }
    }
    Ok(())
}
