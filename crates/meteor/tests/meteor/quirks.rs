//! Differences between METEOR and its papers, each shown by an example that only the quirk explains.
//!
//! The examples and the answers of meteor-1.5.jar (from pycocoevalcap 1.2) are in `tests/tiny/quirks.tsv`;
//! `oracle/meteor.py` obtained them with the small made-up word lists there.

use capeval_meteor::{Options, Parameters, Stats, Task, TextForm, Workspace};

use crate::support::{meteor, tiny, tiny_text};

/// Settings written as the jar's options: two spaces separate options, a single space may be part of one.
fn options(text: &str) -> Options {
    let words: Vec<&str> = text.split("  ").collect();
    let value = |name: &str| words.iter().position(|word| *word == name).map(|at| words[at + 1]);
    let language = value("-l").unwrap().parse().unwrap();
    let mut options = Options::new(language, Task::default_for(language)).unwrap();
    options.text = if words.contains(&"-norm") { TextForm::Normalized } else { TextForm::Verbatim };
    if let Some(matchers) = value("-m") {
        options.matchers = matchers.split(' ').map(|name| name.parse().unwrap()).collect();
    }
    if let Some(weights) = value("-w") {
        options.weights = weights.split(' ').map(|weight| weight.parse().unwrap()).collect();
    }
    if let Some(beam) = value("-x") {
        options.beam = beam.parse().unwrap();
    }
    options
}

/// Compares the example `name` with the jar's answer.
fn compare_with_jar(name: &str) {
    let cases = tiny_text("quirks.tsv");
    let row = cases.lines().find(|line| line.split('\t').next() == Some(name)).unwrap();
    let [_, settings, hypothesis, references, stats, score] = row.split('\t').collect::<Vec<_>>()[..] else {
        panic!("{name}: six columns");
    };
    let meteor = meteor(options(settings), &tiny());
    let references = references.split("|||").map(str::trim);
    let segment = meteor.segment(&mut Workspace::default(), hypothesis, references);
    assert_eq!(segment.stats.to_string(), stats, "{name}");
    assert_eq!(segment.score.to_bits(), score.parse::<f64>().unwrap().to_bits(), "{name}");
}

macro_rules! quirks {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            compare_with_jar(stringify!($name));
        })*

        #[test]
        fn every_example_is_a_test() {
            let names = [$(stringify!($name)),*];
            let cases = tiny_text("quirks.tsv");
            let rows: Vec<&str> = cases.lines().filter_map(|line| line.split('\t').next()).collect();
            assert_eq!(rows, names);
        }
    };
}

quirks! {
    a_single_inexact_word_adds_nothing_to_the_search
    distances_are_charged_to_the_path_that_was_copied
    earlier_matchers_win_ties
    a_pair_listed_in_both_directions_is_never_definite
    identical_sentences_use_the_first_matcher_only
    words_with_equal_hashes_are_equal
    the_search_ignores_the_weights_of_the_score
    synonyms_only_share_a_synset_number
    irregular_forms_use_the_synsets_of_their_first_base
    irregular_forms_use_the_synsets_of_their_last_base
    the_first_of_equally_good_references_counts
    the_best_reference_counts_at_any_position
    prefixes_are_case_sensitive
    dots_inside_a_word_vanish_with_the_last_one
    replacements_do_not_overlap
    an_empty_hypothesis_scores_nothing
    the_beam_keeps_forty_paths
    a_wider_beam_finds_more
    definite_matches_are_chosen_before_the_search
    fewer_chunks_win_before_distance
    less_distance_wins_where_words_and_chunks_are_equal
    ties_go_to_the_path_that_was_made_first
    paraphrases_with_their_source_in_the_reference_come_first
    both_sides_count_in_the_search
    other_languages_use_english_function_words
    a_segment_of_two_chunks_is_not_perfect
    a_comma_between_a_digit_and_a_letter_stands_alone
    function_words_are_added_after_all_content_words
    a_single_stem_adds_nothing_to_the_search
}

/// The jar's answer to an `EVAL` line with both statistics: the corpus has one chunk, not two.
#[test]
fn a_perfect_segment_adds_no_chunk_to_the_corpus() {
    let parameters = Parameters { alpha: 0.85, beta: 0.2, gamma: 0.6, delta: 0.75 };
    let weights = [1.0, 0.6, 0.8, 0.6];
    let [perfect, half] = PERFECT_AND_HALF.map(|line| Stats::from_line(line).unwrap());
    let mut sum = perfect.to_row();
    sum.iter_mut().zip(half.to_row()).for_each(|(sum, value)| *sum += value);
    let score = |stats: &Stats| capeval_meteor::score(stats, &parameters, &weights).score;
    let scores = [score(&perfect), score(&half), score(&Stats::load(&sum))];
    assert_eq!(scores.map(f64::to_bits), PERFECT_AND_HALF_SCORES.map(f64::to_bits), "{scores:?}");
}

const PERFECT_AND_HALF: [&str; 2] = [
    "2.0 2.0 0.0 0.0 2.0 2.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1.0 2.0 2.0",
    "4.0 4.0 0.0 0.0 2.0 2.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1.0 2.0 2.0",
];
const PERFECT_AND_HALF_SCORES: [f64; 3] = [1.0, 0.238_834_831_011_162_76, 0.363_523_353_364_586_97];
