//! Properties that METEOR has on any text.

use std::sync::Arc;

use capeval_meteor::{
    Language, Meteor, Options, Parameters, Resources, Segment, Stats, Task, TextForm, Unit, Workspace,
};
use proptest::prelude::*;

use crate::support::{installed, meteor, tiny};

/// Words among which all matchers find matches, with the made-up lists as well as the real ones.
const WORDS: [&str; 26] = [
    "the",
    "a",
    "dog",
    "dogs",
    "hound",
    "big dog",
    "big",
    "large",
    "red",
    "crimson",
    "scarlet",
    "car",
    "cat",
    "animal",
    "in front of",
    "before",
    "go",
    "went",
    "walk",
    "walks",
    "man",
    "men",
    "Mr.",
    "U.S.",
    "it's",
    "well-known",
];

fn sentence(longest: usize) -> impl Strategy<Value = String> {
    let word = prop_oneof![
        12 => proptest::sample::select(WORDS.map(str::to_owned).to_vec()),
        1 => "\\PC{0,8}",
        1 => "[.,'`’ -]{1,4}",
    ];
    proptest::collection::vec(word, 0..longest).prop_map(|words| words.join(" "))
}

fn segment() -> impl Strategy<Value = (String, Vec<String>)> {
    (sentence(14), proptest::collection::vec(sentence(14), 1..6))
}

/// The made-up resources, and the real ones if they are installed.
fn all_resources() -> Vec<Arc<Resources>> {
    [Some(tiny()), installed()].into_iter().flatten().collect()
}

fn coco() -> Vec<Meteor> {
    all_resources().iter().map(|resources| meteor(Options::coco(), resources)).collect()
}

fn score(meteor: &Meteor, workspace: &mut Workspace, hypothesis: &str, references: &[String]) -> Segment {
    meteor.segment(workspace, hypothesis, references.iter().map(String::as_str))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Pairs are packed for beams of up to 1000 paths; neither beam loses a path of these.
    #[test]
    fn the_widest_beam_of_packed_pairs_scores_as_the_next_one(
        lengths in (1usize..7, 1usize..7),
        words in proptest::collection::vec(0usize..4, 12),
    ) {
        let [packed, general] = [1000, 1001].map(|beam| meteor(Options { beam, ..Options::coco() }, &tiny()));
        let spell = |words: &[usize]| words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
        let (hypothesis, reference) = (spell(&words[..lengths.0]), spell(&words[6..6 + lengths.1]));
        let score = |meteor| score(meteor, &mut Workspace::default(), &hypothesis, std::slice::from_ref(&reference));
        prop_assert_eq!(score(&packed), score(&general));
    }

    /// Only the search can establish this; with several references most searches are skipped.
    #[test]
    fn the_best_reference_scores_best_alone_too((hypothesis, references) in segment()) {
        for meteor in coco() {
            let mut workspace = Workspace::default();
            let all = score(&meteor, &mut workspace, &hypothesis, &references);
            let mut best: Option<(usize, Segment)> = None;
            for (index, reference) in references.iter().enumerate() {
                let alone = score(&meteor, &mut workspace, &hypothesis, std::slice::from_ref(reference));
                if best.is_none_or(|(_, best)| alone.score > best.score) {
                    best = Some((index, alone));
                }
            }
            let (index, best) = best.unwrap();
            prop_assert_eq!(all.reference, Some(index));
            prop_assert_eq!(all.stats, best.stats);
            prop_assert_eq!(all.score.to_bits(), best.score.to_bits());
        }
    }

    #[test]
    fn earlier_texts_in_a_workspace_change_nothing(segments in proptest::collection::vec(segment(), 1..6)) {
        for meteor in coco() {
            let mut kept = Workspace::default();
            for (hypothesis, references) in segments.iter().chain(&segments) {
                let fresh = score(&meteor, &mut Workspace::default(), hypothesis, references);
                prop_assert_eq!(score(&meteor, &mut kept, hypothesis, references), fresh);
            }
        }
    }

    #[test]
    fn scores_are_between_0_and_1_and_counts_are_consistent((hypothesis, references) in segment()) {
        for meteor in coco() {
            let Segment { stats, score, .. } =
                score(&meteor, &mut Workspace::default(), &hypothesis, &references);
            prop_assert!((0.0..=1.0 + 1e-12).contains(&score));
            prop_assert!(stats.hypothesis_matched <= stats.hypothesis_len);
            prop_assert!(stats.reference_matched <= stats.reference_len);
            prop_assert!(stats.chunks <= stats.hypothesis_matched.min(stats.reference_matched));
            prop_assert_eq!(stats, Stats::from_line(&stats.to_string()).unwrap());
        }
    }

    #[test]
    fn a_sentence_of_different_words_scores_1_against_itself(mut words in proptest::collection::vec("[b-z]{3,9}", 1..80)) {
        words.sort();
        words.dedup();
        let text = words.join(" ");
        for meteor in coco() {
            let same = score(&meteor, &mut Workspace::default(), &text, std::slice::from_ref(&text));
            prop_assert!((same.score - 1.0).abs() < 1e-12, "{}", same.score);
            prop_assert_eq!((same.stats.chunks, same.stats.penalized_chunks), (1.0, 0.0));
        }
    }

    /// For up to 64 words the aligner uses single machine words, for more it uses sets of them.
    #[test]
    fn words_that_match_nothing_change_no_match((hypothesis, reference) in (sentence(14), sentence(14))) {
        let tail: String = (0..70).map(|k| format!(" zq{k}x")).collect();
        for meteor in coco() {
            let short = score(&meteor, &mut Workspace::default(), &hypothesis, &[format!("{reference} |")]);
            let long = format!("{hypothesis}{tail}");
            let long = score(&meteor, &mut Workspace::default(), &long, &[format!("{reference} |")]);
            if !hypothesis.ends_with(['.', '\'', '-', ',', '`', '’']) {
                prop_assert_eq!(long.stats.matches, short.stats.matches);
                prop_assert_eq!(long.stats.chunks, short.stats.chunks);
            }
        }
    }

    /// Sentences of few different words, as long as the aligner's machine words or nearly so, have many ties.
    #[test]
    fn long_repetitive_sentences_are_aligned_as_longer_ones(
        (n, m) in (61usize..67, 61usize..67),
        words in proptest::collection::vec(0..WORDS.len(), 140),
        n_words in 2..WORDS.len(),
    ) {
        let single = |k: &usize| WORDS[k % n_words].split(' ').next().unwrap().trim_end_matches('.');
        let text = |words: &[usize]| words.iter().map(single).collect::<Vec<_>>().join(" ");
        let (hypothesis, reference) = (text(&words[..n]), format!("{} zq", text(&words[70..69 + m])));
        let tail: String = (0..70).map(|k| format!(" zq{k}x")).collect();
        for meteor in coco() {
            let short = score(&meteor, &mut Workspace::default(), &hypothesis, std::slice::from_ref(&reference));
            let long = format!("{hypothesis}{tail}");
            let long = score(&meteor, &mut Workspace::default(), &long, std::slice::from_ref(&reference));
            prop_assert_eq!(long.stats.matches, short.stats.matches);
            prop_assert_eq!(long.stats.chunks, short.stats.chunks);
        }
    }

    #[test]
    fn corpus_scores_come_from_sums_in_any_order(segments in proptest::collection::vec(segment(), 2..6)) {
        for meteor in coco() {
            let mut workspace = Workspace::default();
            let rows: Vec<_> = segments
                .iter()
                .map(|(hypothesis, references)| {
                    score(&meteor, &mut workspace, hypothesis, references).stats.to_row()
                })
                .collect();
            let total = |rows: &mut dyn Iterator<Item = &[f64; Stats::WIDTH]>| {
                let mut sum = [0.0; Stats::WIDTH];
                rows.for_each(|row| sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value));
                meteor.score(&Stats::load(&sum)).score
            };
            let forth = total(&mut rows.iter());
            let back = total(&mut rows.iter().rev());
            prop_assert_eq!(forth.to_bits(), back.to_bits());
        }
    }

    #[test]
    fn no_text_makes_any_language_panic(
        texts in proptest::collection::vec("(\\PC|[ \t\u{0}\u{85}\u{2028}.,'’-]|[a-zà-öβ-φа-яё0-9]){0,40}", 2..4),
        form in 0usize..4,
    ) {
        let forms = [
            TextForm::Verbatim, TextForm::Lowercase, TextForm::Normalized, TextForm::NormalizedWithoutPunctuation,
        ];
        for language in Language::all() {
            let mut options = Options::new(language, Task::LanguageIndependent).unwrap();
            options.text = if language.is_fully_supported() { forms[form] } else { forms[form % 2] };
            options.unit = if form == 3 { Unit::Characters } else { Unit::Words };
            let paraphrases = language == Language::English;
            let without: Vec<_> = options.matchers.iter().copied()
                .filter(|matcher| paraphrases || matcher.name() != "paraphrase").collect();
            options.weights.truncate(without.len());
            options.matchers = without;
            for resources in all_resources() {
                let Ok(meteor) = Meteor::new(options.clone(), resources) else { continue };
                let segment = score(&meteor, &mut Workspace::default(), &texts[0], &texts[1..]);
                prop_assert!((0.0..=1.0 + 1e-12).contains(&segment.score));
            }
        }
    }

    #[test]
    fn an_explanation_evaluates_to_the_score((hypothesis, references) in segment()) {
        for meteor in coco() {
            let mut workspace = Workspace::default();
            let plain = score(&meteor, &mut workspace, &hypothesis, &references);
            let texts = references.iter().map(String::as_str);
            let alignment = meteor.alignment(&mut workspace, &hypothesis, texts);
            prop_assert_eq!(alignment.segment, plain);
            prop_assert_eq!(alignment.scores.len(), references.len());
            let best = alignment.scores.iter().copied().fold(0.0, f64::max);
            prop_assert_eq!(best.to_bits(), plain.score.to_bits());
            let words: usize = alignment.matches.iter().map(|found| found.hypothesis.len()).sum();
            prop_assert_eq!(words as f64, plain.stats.hypothesis_matched);
            let chunks = alignment.matches.last().map_or(0, |found| found.chunk + 1);
            prop_assert_eq!(chunks as f64, plain.stats.chunks);
            let explanation = meteor.explain(alignment);
            prop_assert!(explanation.is_sound());
            prop_assert_eq!(explanation.scores[0].value.map(f64::to_bits), Some(plain.score.to_bits()));
            if let Err(error) = explanation.scores[0].check(1e-12) {
                prop_assert!(false, "{}", error);
            }
        }
    }

    /// The bound that saves searches must hold for all parameters and weights.
    #[test]
    fn the_best_reference_is_found_with_any_parameters(
        (hypothesis, references) in segment(),
        numbers in proptest::array::uniform8(0.0f64..1.0),
        beta in 0.0f64..4.0,
    ) {
        for resources in all_resources() {
            let mut options = Options::coco();
            let [alpha, gamma, delta, ..] = numbers;
            options.parameters = Parameters { alpha, beta, gamma, delta };
            options.weights = numbers[4..].to_vec();
            let meteor = meteor(options, &resources);
            let mut workspace = Workspace::default();
            let all = score(&meteor, &mut workspace, &hypothesis, &references);
            let alone = references
                .iter()
                .map(|reference| score(&meteor, &mut workspace, &hypothesis, std::slice::from_ref(reference)))
                .map(|segment| segment.score);
            prop_assert_eq!(all.score.to_bits(), alone.fold(0.0, f64::max).to_bits());
        }
    }
}
