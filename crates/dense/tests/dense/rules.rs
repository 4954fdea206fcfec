//! Rules of the forms that decide digits, each by a few events whose scores are known by hand; none needs data.

use capeval_dense::boxes::{self, BoxForm, BoxOptions, predictions, references};
use capeval_dense::texts::{paragraphs, repetition};
use capeval_dense::{Event, EventFile, Form, FormScores, WordMetric, WordMetrics, evaluate};
use capeval_evaluate::registry::Resources;
use indexmap::IndexMap;

/// The metrics that need no data.
fn light() -> WordMetrics {
    let wanted = [WordMetric::Bleu, WordMetric::Rouge, WordMetric::Cider];
    WordMetrics::new(&Resources::default(), &wanted).unwrap()
}

/// A file with these events of one video.
fn file(events: &[(f64, f64, &str)]) -> EventFile {
    let event = |(start, end, caption): &(f64, f64, &str)| Event {
        start: *start,
        end: *end,
        caption: (*caption).to_owned(),
    };
    let videos = [("v_1".to_owned(), events.iter().map(event).collect())].into_iter().collect();
    EventFile { videos, ..EventFile::default() }
}

fn form(references: &[EventFile], predictions: &EventFile, form: &str) -> FormScores {
    let form: Form = form.parse().unwrap();
    evaluate(references, predictions, &[form], &light()).remove(0)
}

fn value(scores: &FormScores, measure: &str) -> f64 {
    scores.measure(measure).unwrap().value
}

/// `densevid_eval` takes the best file for precision, and for recall the best one once more.
#[test]
fn precision_and_recall_may_come_from_different_files() {
    let predicted = file(&[(0.0, 10.0, "a"), (20.0, 30.0, "b")]);
    // One of two predictions, all of one event; both predictions, two of three events.
    let few = file(&[(0.0, 10.0, "a")]);
    let many = file(&[(0.0, 10.0, "a"), (20.0, 30.0, "b"), (40.0, 50.0, "c")]);
    for files in [[few.clone(), many.clone()], [many, few]] {
        let scores = form(&files, &predicted, "densevid-2019");
        assert_eq!((value(&scores, "precision"), value(&scores, "recall")), (1.0, 1.0));
    }
}

/// In the evaluation of late 2017, a prediction that has met an event of one file is not compared with the meaningless
/// text for the files behind it, only for those before.
#[test]
fn a_prediction_counts_as_unmatched_only_in_the_files_before_its_match() {
    let predicted = file(&[(0.0, 10.0, "a dog runs")]);
    let met = file(&[(0.0, 10.0, "a dog runs")]);
    let other = file(&[(50.0, 60.0, "a cat sits")]);
    let rouge = |files: [&EventFile; 2]| {
        value(&form(&files.map(Clone::clone), &predicted, "densevid-2017b"), "rouge-l")
    };
    assert_eq!(rouge([&met, &other]), 1.0);
    assert_eq!(rouge([&other, &met]), 0.5);
}

/// Of an event and a prediction that are equal, and another prediction: all of the references, half of the predictions.
#[test]
fn the_precision_of_soda_is_by_predictions_and_its_recall_by_references() {
    let predicted = file(&[(0.0, 8.0, "a man rides a horse"), (20.0, 28.0, "nothing of it")]);
    let scores = form(&[file(&[(0.0, 8.0, "a man rides a horse")])], &predicted, "soda-d");
    let (precision, recall) = (value(&scores, "precision"), value(&scores, "recall"));
    assert!((precision - 0.5).abs() < 1e-6 && (recall - 1.0).abs() < 1e-6, "{precision} {recall}");
}

/// Python's sort, by start alone, leaves events with one start in the order of their file.
#[test]
fn events_with_the_same_start_stay_in_the_order_of_their_file() {
    let events = file(&[(0.0, 20.0, "long"), (0.0, 10.0, "short")]);
    let same = value(&form(std::slice::from_ref(&events), &events, "soda-d"), "f1");
    assert!((same - 1.0).abs() < 1e-6, "{same}");
    let exchanged = file(&[(0.0, 10.0, "short"), (0.0, 20.0, "long")]);
    let other = value(&form(&[events], &exchanged, "soda-d"), "f1");
    // In order of time, only one of the two can be matched well.
    assert!(other < 0.51, "{other}");
}

#[test]
fn a_paragraph_without_predictions_is_empty_and_counts() {
    let references: IndexMap<String, String> = [("v_1", "a dog runs"), ("v_2", "a cat sits")]
        .map(|(id, text)| (id.to_owned(), text.to_owned()))
        .into_iter()
        .collect();
    let scores = paragraphs(&[references], &file(&[(0.0, 1.0, "a dog runs")]), &light()).unwrap();
    assert_eq!(scores.ids, ["v_1", "v_2"]);
    let rouge = scores.measures.iter().find(|measure| measure.name == "rouge-l").unwrap();
    assert_eq!((rouge.value, &rouge.videos[..]), (0.5, &[vec![1.0], vec![0.0]][..]));
}

/// Of three equal captions of two words, four of six words are there already, and two of three pairs.
#[test]
fn each_further_use_of_an_ngram_is_a_repetition() {
    let told = file(&[(0.0, 1.0, "a man"), (1.0, 2.0, "a man."), (2.0, 3.0, "a man")]);
    let scores = repetition(&file(&[]), &told).unwrap();
    let values: Vec<f64> = scores.measures.iter().map(|measure| measure.value).collect();
    assert_eq!(values, [4.0 / 6.0, 2.0 / 3.0, 0.0, 0.0]);
}

const CHAIR: &str = r#"[{"scene_id": "s", "object_id": "1", "object_name": "chair",
    "token": ["a", "red", "chair"], "bbox": {"min": [0, 0, 0], "max": [1, 1, 1]}}]"#;

/// ROUGE-L at an overlap of predictions for the chair, by Scan2Cap's form.
fn of_chair(predicted: &str, at: &str) -> f64 {
    let system = predictions(predicted, "p").unwrap();
    let options = BoxOptions { forms: vec![BoxForm::Scan2Cap.into()], segments: false, intervals: None };
    let systems = vec![("p".to_owned(), system)];
    let report = boxes::score(("r", &references(CHAIR, "r").unwrap()), systems, &options, &light()).unwrap();
    let measures = &report.systems[0].forms[0].measures;
    measures.iter().find(|measure| measure.name == format!("rouge-l@{at}")).unwrap().value.0
}

#[test]
fn an_overlap_must_exceed_the_threshold() {
    let with =
        |overlap: f64| format!(r#"{{"s|1|chair": {{"caption": "sos a red chair eos", "iou": {overlap}}}}}"#);
    assert_eq!([of_chair(&with(0.5), "0.25"), of_chair(&with(0.51), "0.5")], [1.0, 1.0]);
    assert!(of_chair(&with(0.5), "0.5") < 1.0 && of_chair(&with(0.25), "0.25") < 1.0);
}

/// As `argmax` of numpy has it.
#[test]
fn of_boxes_that_overlap_as_much_the_first_is_taken() {
    let place = r#""box": {"min": [0, 0, 0], "max": [1, 1, 0.8]}"#;
    let [right, wrong] =
        ["a red chair", "no"].map(|text| format!(r#"{{"caption": "sos {text} eos", {place}}}"#));
    assert_eq!(of_chair(&format!(r#"{{"s": [{right}, {wrong}]}}"#), "0.5"), 1.0);
    assert!(of_chair(&format!(r#"{{"s": [{wrong}, {right}]}}"#), "0.5") < 1.0);
}
