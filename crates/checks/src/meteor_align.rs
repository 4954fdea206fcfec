//! METEOR on any text with any settings: the best reference is the same as if each were scored alone, and the
//! explanation evaluates to the score.

use std::sync::{Arc, OnceLock};

use capeval_meteor::{Meteor, Options, Parameters, Resources, TextForm, Unit, Workspace};

use crate::meteor::tiny_meteor;
use crate::words;

fn resources() -> Arc<Resources> {
    static TINY: OnceLock<Arc<Resources>> = OnceLock::new();
    let open = || Resources::open(Arc::new(tiny_meteor())).expect("a newly compiled file is valid");
    Arc::clone(TINY.get_or_init(|| Arc::new(open())))
}

/// The widest beam with which pairs are packed.
const PACKED: usize = 1000;

/// The words of the made-up lists, so that a few bytes produce sentences with matches; other bytes are text.
const WORDS: [&str; 32] = [
    "dog", "hound", "big", "large", "red", "crimson", "scarlet", "car", "cat", "animal", "in", "front", "of",
    "before", "go", "went", "walk", "walks", "man", "men", "the", "a", "huge", "vast", "big dog", "dogs",
    "walking", "colour", "for", "left", "run", "leave",
];

pub fn check(data: &[u8]) {
    let Some((settings, texts)) = data.split_first_chunk::<10>() else { return };
    let mut options = Options::coco();
    if settings[0] & 1 == 1 {
        options.beam = usize::from(settings[1]) + 1;
    }
    if settings[0] & 2 == 2 {
        let part = |k: usize| f64::from(settings[k]) / 255.0;
        options.parameters =
            Parameters { alpha: part(2), beta: 4.0 * part(3), gamma: part(4), delta: part(5) };
        options.weights = (6..10).map(part).collect();
    }
    if settings[0] & 4 == 4 {
        options.matchers.reverse();
    }
    if settings[0] & 8 == 8 {
        options.unit = Unit::Characters;
    }
    options.text = [
        TextForm::Normalized,
        TextForm::NormalizedWithoutPunctuation,
        TextForm::Lowercase,
        TextForm::Verbatim,
    ][usize::from(settings[0] >> 4) % 4];
    let Ok(meteor) = Meteor::new(options.clone(), resources()) else { return };
    let texts: Vec<String> =
        texts.split(|byte| *byte == 255).take(8).map(|bytes| words::text(&WORDS, bytes)).collect();
    let Some((hypothesis, references)) = texts.split_first() else { return };
    let mut workspace = Workspace::default();
    let all = meteor.segment(&mut workspace, hypothesis, references.iter().map(String::as_str));
    let alone = references.iter().map(|text| meteor.segment(&mut workspace, hypothesis, [text.as_str()]));
    let mut best = None;
    for (index, segment) in alone.enumerate() {
        if best.is_none_or(|(_, score)| segment.score > score) {
            best = Some((index, segment.score));
        }
    }
    assert_eq!(all.reference, best.map(|(index, _)| index));
    assert_eq!(all.score.to_bits(), best.map_or(0.0, |(_, score)| score).to_bits());
    assert!((0.0..=1.0 + 1e-9).contains(&all.score), "{}", all.score);
    let alignment = meteor.alignment(&mut workspace, hypothesis, references.iter().map(String::as_str));
    assert_eq!(alignment.segment, all);
    let explanation = meteor.explain(alignment);
    assert!(explanation.is_sound());
    explanation.scores[0].check(1e-9).expect("the parts evaluate to the score");
    agrees_with_exhaustive_search(&options, hypothesis, references);
}

/// Of short sentences, both searches keep all paths: the one that packs pairs, and that for wide beams.
fn agrees_with_exhaustive_search(options: &Options, hypothesis: &str, references: &[String]) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == ' ';
    let is_short = |text: &str| text.chars().all(is_plain) && text.split_whitespace().count() <= 4;
    if options.unit == Unit::Characters
        || !is_short(hypothesis)
        || !references.iter().all(|text| is_short(text))
    {
        return;
    }
    let [packed, wide] = [PACKED, PACKED + 1].map(|beam| {
        let meteor =
            Meteor::new(Options { beam, ..options.clone() }, resources()).expect("only the beam differs");
        meteor.segment(&mut Workspace::default(), hypothesis, references.iter().map(String::as_str))
    });
    assert_eq!(packed, wide);
}
