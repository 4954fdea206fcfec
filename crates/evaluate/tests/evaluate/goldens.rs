//! Every case of `testdata/*.toml` through the engine: one test for each name, so that each quirk has its own.

use std::sync::Arc;

use capeval_evaluate::ReferenceSet;
use capeval_evaluate::diversity::{CaptionSystem, evaluate_sets};
use capeval_evaluate::registry::{self, Resources, build_corpus};
use capeval_testkit::{Case, Scores, Segment, cases, files};
use capeval_text::{Exceptions, StopWords, Texts};

use crate::support::{build_from, meteor_resources, score, spice_data};

/// Runs the cases of a file that have this name.
fn check(file: &str, name: &str) {
    let differences: Vec<String> = cases(file)
        .iter()
        .filter(|case| case.name == name)
        .filter_map(|case| case.check(&scores(case)?).err())
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The engine's scores for a case; `None` where data are missing.
fn scores(case: &Case) -> Option<Scores> {
    let metric = case.metric.split(':').next().unwrap();
    if !registry::kinds().any(|kind| kind.name == metric) {
        return Some(scores_of_sets(case));
    }
    let mut resources = Resources::default();
    if case.needs_meteor() {
        resources.insert(meteor_resources()?);
    }
    if case.needs_spice() {
        resources.insert(spice_data()?);
    }
    if !case.exceptions.is_empty() {
        let mut exceptions = Exceptions::default();
        exceptions.read(case.exceptions.join("\n").as_bytes()).unwrap();
        resources.insert(Arc::new(exceptions));
    }
    if !case.stop_words.is_empty() {
        let stop_words = StopWords::read(case.stop_words.join("\n").as_bytes()).unwrap();
        resources.insert(Arc::new(stop_words));
    }
    let pair = |segment: Segment| (segment.captions.into_iter().next().unwrap(), segment.references);
    let segments: Vec<_> = case.segments().into_iter().map(pair).collect();
    let found = score(&build_from(&[&case.metric], &resources), &segments).swap_remove(0);
    let parts = found.metric.parts();
    let values = found.segments();
    let mut scores = Scores::default();
    for (p, part) in parts.iter().enumerate() {
        let values = values.iter().skip(p).step_by(parts.len()).copied().collect();
        scores.insert(&part.key, found.corpus[p], values);
    }
    Some(scores)
}

/// The same for metrics of all captions of a system.
fn scores_of_sets(case: &Case) -> Scores {
    let texts = |of: fn(&Segment) -> &Vec<String>| {
        let segments = case.segments();
        // An image without captions comes last, and its references are those of other images.
        let segments: Vec<_> = segments.iter().filter(|segment| !of(segment).is_empty()).collect();
        let ends = segments.iter().scan(0, |end, segment| {
            *end += of(segment).len() as u64;
            Some(*end)
        });
        let ends: Vec<u64> = ends.collect();
        (segments.iter().flat_map(|segment| of(segment)).map(String::as_str).collect::<Texts>(), ends)
    };
    let (references, ends) = texts(|segment| &segment.references);
    let mut references = ReferenceSet::new(references, ends);
    let (texts, ends) = texts(|segment| &segment.captions);
    let system = CaptionSystem { name: "system".into(), texts, ends };
    let metric = build_corpus(&case.metric, &[]).unwrap();
    let mut scores = Scores::default();
    for found in evaluate_sets(&mut references, &system, &[metric]) {
        for (part, value) in found.parts.iter().zip(found.values) {
            scores.insert(&part.key, value, Vec::new());
        }
    }
    scores
}

macro_rules! goldens {
    ($($file:literal $module:ident { $($name:ident)* })*) => {
        $(mod $module {
            $(#[test]
            fn $name() {
                super::check($file, stringify!($name));
            })*
        })*

        #[test]
        fn every_case_is_a_test() {
            let tests: &[(&str, &[&str])] = &[$(($file, &[$(stringify!($name)),*])),*];
            let listed: Vec<&str> = tests.iter().map(|(file, _)| *file).collect();
            assert_eq!(listed, files());
            for (file, tests) in tests {
                let names: Vec<String> = cases(file).into_iter().map(|case| case.name).collect();
                for name in &names {
                    assert!(tests.contains(&name.as_str()), "testdata/{file}.toml: {name} should be listed here");
                }
                for test in *tests {
                    assert!(names.iter().any(|name| name == test), "testdata/{file}.toml has no case {test}");
                }
            }
        }
    };
}

goldens! {
    "bleu" bleu {
        tokenized_scenes
        captions
    }
    "cider" cider {
        tokenized_scenes
        captions
        plain_cider_of_tokenized_scenes
        cider_r
    }
    "diversity" diversity {
        sets
    }
    "meteor" meteor {
        captions
    }
    "meteor-2005" meteor_2005 {
        sentences
        captions
    }
    "perplexity" perplexity {
        a_model_of_all_references
    }
    "rouge-l" rouge_l {
        tokenized_scenes
        captions
    }
    "rouge-score" rouge_score {
        summaries
        captions
        union_subsequence_of_two_sentences_covers_four_of_five_words
        the_reference_with_the_best_f_counts_for_each_measure
        rouge_l_takes_line_breaks_for_blanks_and_rouge_lsum_does_not
        short_words_are_not_stemmed
        other_scripts_score_0
    }
    "rouge155" rouge155 {
        summaries
        captions
        one_changed_word_of_four_leaves_three_of_six_skip_bigrams
        four_words_have_six_skip_bigrams
        union_subsequence_of_two_sentences_covers_four_of_five_words
        rouge_w_sees_runs_that_rouge_l_does_not
        f_is_computed_from_rounded_recall_and_precision
        references_are_pooled_or_the_one_with_the_best_recall_counts
        words_are_counted_at_most_as_often_as_both_texts_have_them
        rouge_w_weighs_the_reference_twice
        rouge_w_sees_runs_in_the_reference_only
        a_word_between_ends_a_run
        a_run_before_a_word_counted_too_often_is_lost_at_the_end_of_a_sentence
        skip_bigrams_with_words_leave_out_the_last_word
        n_grams_reach_across_sentences
        short_words_are_not_stemmed
        what_the_exception_list_gives_is_not_stemmed
        other_scripts_score_0
    }
    "sacrebleu" sacrebleu {
        captions
        bleu_counts_an_n_gram_as_often_as_one_reference_holds_it
        an_empty_reference_counts_as_a_reference_of_length_zero
        orders_that_one_side_lacks_are_left_out_of_chrf
        epsilon_stands_for_precisions_of_empty_orders
        chrf_takes_the_best_reference_of_each_segment
        white_space_is_dropped_or_kept_as_it_stands
        one_mark_is_split_off_each_word_at_its_end_first
        lower_casing_knows_final_sigma
        a_shift_is_one_edit
        a_shifted_run_has_at_most_ten_words
        a_shift_goes_at_most_fifty_words_far
        the_beam_misses_matches_far_from_the_diagonal
        after_a_thousand_tried_shifts_the_search_stops
        a_target_within_the_run_is_counted_from_its_start
        a_word_is_deleted_before_one_is_inserted
        case_counts_in_ter_only_when_asked_for
        empty_texts_have_a_translation_edit_rate_too
        the_fewest_edits_are_divided_by_the_mean_reference_length
        references_are_normalised_twice_and_candidates_once
        punctuation_and_chinese_are_handled_when_asked_for
    }
    "sentence-bleu" sentence_bleu {
        sentences
        captions
        candidates_without_a_common_word_score_0_whatever_the_smoothing
        method_2_takes_missing_n_grams_for_one
        a_word_repeated_seven_times_is_right_twice
    }
    "spice" spice {
        scenes
        words_without_their_synonyms
        they_are_the_plural_noun_before
        several_facts_may_match_the_same_one_so_recall_may_exceed_1
        a_subset_without_references_has_no_score
        an_attribute_into_which_another_was_merged_is_no_colour
        a_pronoun_stands_for_the_noun_before_it
        a_group_of_people_is_people
        conjunctions_share_their_relations
    }
}
