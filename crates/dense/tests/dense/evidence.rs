//! The evidence of SODA_c, what people score, and results as reports.

use capeval_dense::{DenseOptions, DenseReport, EventFile, Form, Program, score};
use capeval_report::{Study, Timelines};

use crate::support::{events, metrics};

const FIRST: &str = r#"{
  "a": {"duration": 60, "timestamps": [[0, 10], [12, 30], [31, 60]],
    "sentences": ["a man rides a brown horse", "the horse jumps over a fence", "the man waves to the crowd"]},
  "b": {"duration": 20, "timestamps": [[0, 20]], "sentences": ["a dog barks at a cat"]},
  "c": {"duration": 5, "timestamps": [[0, 5]], "sentences": ["a child laughs"]}}"#;
const SECOND: &str = r#"{
  "a": {"timestamps": [[0, 29], [30, 60]], "sentences": ["a man on a horse jumps a fence", "he waves"]},
  "b": {"timestamps": [[1, 9], [10, 20]], "sentences": ["a dog is barking", "a cat runs away"]}}"#;
const RESULTS: &str = r#"{"version": "1", "external_data": {}, "results": {
  "a": [{"sentence": "a man waves", "timestamp": [32, 58]}, {"sentence": "a man rides a horse", "timestamp": [0, 9]},
    {"sentence": "a horse jumps", "timestamp": [10, 31]}, {"sentence": "a horse is jumping", "timestamp": [13, 29]}],
  "b": [{"sentence": "a dog barks", "timestamp": [0, 19]}]}}"#;
const WEAKER: &str = r#"{"version": "1", "external_data": {}, "results": {
  "a": [{"sentence": "people stand in a kitchen", "timestamp": [0, 60]}],
  "b": [{"sentence": "a dog", "timestamp": [5, 19]}], "c": [{"sentence": "a child", "timestamp": [0, 5]}]}}"#;

fn references() -> Vec<EventFile> {
    vec![events("val_1.json", FIRST), events("val_2.json", SECOND)]
}

/// The result of two systems by the recommended form and another.
fn result(forms: &[Program]) -> Option<DenseReport> {
    let systems = [("better", RESULTS), ("weaker", WEAKER)];
    let systems = systems.map(|(name, text)| (name.to_owned(), events(name, text)));
    let forms: Vec<Form> = forms.iter().map(|program| Form::from(*program)).collect();
    let options = DenseOptions { segments: true, timelines: true, human: true, ..DenseOptions::new(forms) };
    Some(score(&references(), systems.into(), &options, &metrics()?).unwrap())
}

/// The mean over files of what the evidence of a video sums to.
fn summed(timelines: &Timelines, video: usize, system: usize) -> f64 {
    let timeline = &timelines.videos[video];
    let files: Vec<&Vec<_>> = timeline.references.iter().flatten().collect();
    let Some(predicted) = &timeline.systems[system] else { return 0.0 };
    let of_file = |(links, references): (&Option<capeval_report::EventLinks>, &Option<Vec<_>>)| {
        Some(links.as_ref()?.score(references.as_ref()?.len()))
    };
    let sum: f64 = predicted.files.iter().zip(&timeline.references).filter_map(of_file).sum();
    sum / files.len() as f64
}

#[test]
fn the_evidence_sums_to_the_score_of_every_video() {
    // Neither form asks for the matching of SODA_c in its second case.
    let Some(report) = result(&[Program::Capeval]) else { return };
    let timelines = report.timelines.as_ref().unwrap();
    report.check().unwrap();
    for (s, system) in report.systems[..2].iter().enumerate() {
        let soda = &system.forms[0].measures[0];
        assert_eq!((soda.name.as_str(), soda.videos.len()), ("soda-c", 3));
        for v in 0..3 {
            let found = summed(timelines, v, s);
            assert!((found - soda.videos[v][0].0).abs() < 1e-12, "{s} {v}: {found}");
        }
    }
    let other = result(&[Program::Densevid2019]).unwrap().timelines.unwrap();
    assert!((summed(&other, 0, 0) - summed(timelines, 0, 0)).abs() < 1e-15);
    let first = timelines.videos[0].systems[0].as_ref().unwrap();
    let links = first.files[0].as_ref().unwrap();
    assert_eq!(links.missed, [0_usize; 0]);
    let matched: Vec<usize> =
        links.links.iter().flatten().filter(|l| l.is_match).map(|l| l.reference).collect();
    assert_eq!(matched, [0, 1, 2], "one of two jumps is matched");
    assert!(timelines.videos[2].systems[0].is_none());
}

#[test]
fn people_are_scored_by_the_other_file_on_shared_videos() {
    let Some(report) = result(&[Program::Capeval]) else { return };
    let human = report.systems.last().unwrap();
    assert!(human.is_human && human.name == "human");
    assert_eq!(human.forms[0].videos, ["a", "b"]);
    assert_eq!(human.remarks, ["human: 1 video of one reference file alone, left out of this row"]);
    // The mean of the first file against the second, and of the second against the first.
    let alone = |references: &str, results: &str| {
        let mut results = events("results", results);
        results.videos.shift_remove("c");
        let mut references = events("references", references);
        references.videos.shift_remove("c");
        let forms = DenseOptions::new(vec![Program::Capeval.into()]);
        let systems = vec![("one".to_owned(), results)];
        let found = score(&[references], systems, &forms, &metrics().unwrap()).unwrap();
        found.systems[0].forms[0].measures[0].value.0
    };
    let mean = (alone(FIRST, SECOND) + alone(SECOND, FIRST)) / 2.0;
    assert!((human.forms[0].measures[0].value.0 - mean).abs() < 1e-12);
    let options = DenseOptions { human: true, ..DenseOptions::new(vec![Program::Capeval.into()]) };
    let refused = score(&references()[..1], Vec::new(), &options, &metrics().unwrap()).unwrap_err();
    assert!(refused.to_string().contains("needs two files of references"), "{refused}");
}

#[test]
fn a_result_is_a_report_of_videos() {
    let Some(result_) = result(&[Program::Capeval, Program::VidChapters]) else { return };
    let report = result_.to_report().unwrap();
    assert_eq!(report.systems.len(), 2, "people's videos are others");
    let soda = report.measure("capeval:soda-c").unwrap();
    assert!(report.head.metrics[soda].is_mean);
    assert_eq!(report.systems[0].segments.as_ref().unwrap().ids.len(), 3);
    assert!((report.systems[0].scores[soda] - result_.systems[0].forms[0].measures[0].value.0).abs() < 1e-15);
    // VidChapters leaves out a video of one of the systems, so they cannot be paired.
    let left_out = report.measure("vidchapters:meteor").unwrap();
    assert!(!report.head.metrics[left_out].is_mean);
    report.check().unwrap();
    let plain = DenseReport { systems: Vec::new(), ..result_ };
    assert!(plain.to_report().unwrap_err().to_string().contains("no scores of videos"));
}
