//! Saved reports and comparisons: what is read is what was written, and nothing that is read is a reason to panic.

use capeval::choice::Plain;
use capeval::corpus::{Captions, SegmentId};
use capeval::report::{Form, Saved, Style, Written};
use capeval::stats::Resampling;
use capeval::{CompareOptions, CompareRequest, MetricOptions, ScoreOptions, compare};
use serde_json::{Value, json};

fn captions(name: &str, texts: [&str; 3]) -> Captions {
    let mut captions = Captions::new(name);
    (0..).zip(texts).for_each(|(image, text)| captions.push(SegmentId::from(image), text));
    captions
}

/// A comparison, and the report in it.
fn saved() -> [Vec<u8>; 2] {
    let systems = [
        ("a", captions("a", ["a dog runs", "two cats", "a red bus"])),
        ("b", captions("b", ["a dog", "two cats sleep", "a bus stops"])),
    ];
    let references = captions("references", ["a dog runs here", "two cats sleep", "a red bus stops"]);
    let options = CompareOptions {
        score: ScoreOptions {
            metrics: MetricOptions::new(["bleu", "rouge-l", "ter"]),
            segments: true,
            ..ScoreOptions::default()
        },
        resampling: Resampling { resamples: 20, ..Resampling::default() },
        ..CompareOptions::default()
    };
    let request = CompareRequest::new(references, systems);
    let found = compare(CompareRequest { options, ..request }).unwrap();
    let (mut comparison, mut report) = (Vec::new(), Vec::new());
    found.save(&mut comparison).unwrap();
    found.report.save(&mut report).unwrap();
    [comparison, report]
}

/// All that is written of a result.
fn written(saved: &mut Saved) -> Vec<u8> {
    let mut out = Vec::new();
    let result: &mut dyn Written = match saved {
        Saved::Report(report) => report,
        Saved::Comparison(comparison) => comparison,
    };
    for form in Form::ALL {
        result.write(*form, &Style::default(), &Plain, &mut out).unwrap();
    }
    result.write_rows(&mut out).unwrap();
    result.scale_to_percent();
    out
}

fn save(saved: &Saved) -> Vec<u8> {
    let mut out = Vec::new();
    match saved {
        Saved::Report(report) => report.save(&mut out).unwrap(),
        Saved::Comparison(comparison) => comparison.save(&mut out).unwrap(),
    }
    out
}

#[test]
fn what_is_read_is_written_again_byte_for_byte() {
    let [comparison, report] = saved();
    for (bytes, is_report) in [(comparison, false), (report, true)] {
        let read = Saved::read(&bytes).unwrap();
        assert_eq!(matches!(read, Saved::Report(_)), is_report);
        assert_eq!(save(&read), bytes);
    }
}

/// The places of all values in `value`.
fn places(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(value, format!("{place}/{name}"), found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(k, item)| places(item, format!("{place}/{k}"), found));
        }
        _ => {}
    }
    found.push(place);
}

#[test]
fn a_report_with_anything_in_the_place_of_a_value_is_read_or_refused() {
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1.0),
        json!(u64::MAX),
        json!(1e300),
        json!("inf"),
        json!("bleu-1"),
        json!([]),
        json!({}),
        json!([1, 2]),
        json!(true),
    ];
    let (mut n_read, mut n_refused) = (0, 0);
    for bytes in saved() {
        let whole: Value = serde_json::from_slice(&bytes).unwrap();
        let mut found = Vec::new();
        places(&whole, String::new(), &mut found);
        for place in found {
            for value in &values {
                let mut changed = whole.clone();
                *changed.pointer_mut(&place).unwrap() = value.clone();
                match Saved::read(changed.to_string().as_bytes()) {
                    Err(error) => {
                        assert!(error.remedy().is_some(), "{place}: {error}");
                        n_refused += 1;
                    }
                    Ok(mut saved) => {
                        assert!(!written(&mut saved).is_empty());
                        n_read += 1;
                    }
                }
            }
        }
    }
    assert!(n_read > 100 && n_refused > 1000, "{n_read} {n_refused}");
}
