//! The quirks of the F1 of objects, each by a test that is named after it.

use crate::support::{build, score};

/// The F1 of a bus on segments, by the default lists.
fn bus(segments: &[(&str, Vec<&str>)]) -> f64 {
    score(&build(&["object-f1"]), segments)[0].corpus[1]
}

#[test]
fn an_image_counts_once_for_each_reference() {
    // Three true positives and a false negative; as images, it would be 2/3.
    let hit = ("a red bus", vec!["a bus", "the street", "a road"]);
    let missed = ("a street", vec!["the bus"]);
    assert_eq!(bus(&[hit.clone(), missed]), 2.0 * (1.0 * 0.75) / (1.0 + 0.75));
    let wrong = ("a bus", vec!["a car", "the car", "cars"]);
    assert_eq!(bus(&[hit, wrong]), 2.0 * (0.5 * 1.0) / (0.5 + 1.0));
}

#[test]
fn one_reference_is_enough_and_words_are_those_of_the_lists() {
    assert_eq!(bus(&[("BUSSES.", vec!["a street", "Bus!"])]), 1.0);
    assert_eq!(bus(&[("buses", vec!["a bus"])]), 0.0, "buses is in no list");
    assert_eq!(bus(&[("a bus", vec!["a bus-stop"])]), 0.0, "a bus-stop is a busstop");
}

#[test]
fn objects_without_a_true_positive_count_0_in_the_mean() {
    let scores =
        &score(&build(&["object-f1:objects=bus+dog/dogs+cat"]), &[("a bus", vec!["a bus and dogs"])])[0];
    let keys: Vec<&str> = scores.metric.parts().iter().map(|part| part.key.as_str()).collect();
    assert_eq!(keys, ["object-f1", "object-f1-bus", "object-f1-dog", "object-f1-cat"]);
    assert_eq!(scores.corpus, [1.0 / 3.0, 1.0, 0.0, 0.0]);
}

#[test]
fn a_notice_names_objects_that_no_reference_mentions() {
    let metrics = build(&["object-f1:objects=bus/busses+nocx+cat"]);
    let scores = &score(&metrics, &[("a bus", vec!["a bus"]), ("nocx", vec!["a street", "the cat"])])[0];
    let texts: Vec<&str> = scores.notices.iter().map(|notice| notice.message.as_str()).collect();
    assert_eq!(texts, ["no reference mentions nocx: F1 of such an object is 0 and lowers the mean"]);
    assert!(score(&metrics, &[("", vec!["a bus", "nocx"]), ("", vec!["cat"])])[0].notices.is_empty());
}
