//! The kinds of results that are saved and read again.

use std::any::Any;

use capeval::choice::Refusal;
use capeval::report::{self, Kind, Report, Study};
use capeval_dense::DenseReport;

/// The kinds of results of all crates.
pub fn kinds() -> impl Iterator<Item = &'static &'static Kind> {
    const OTHERS: [&Kind; 3] = [&capeval_meta::KIND, &capeval_outside::judges::KIND, &capeval_dense::KIND];
    report::KINDS.iter().chain(&OTHERS)
}

/// The scores of systems in a result, with videos in the place of images if it is of dense captions; `None` if it has
/// none.
///
/// # Errors
/// When it lacks the scores of videos.
pub fn report_of(study: &dyn Study) -> Result<Option<Report>, Refusal> {
    let any: &dyn Any = study;
    match any.downcast_ref::<DenseReport>() {
        Some(dense) => dense.to_report().map(Some),
        None => Ok(study.details().report().cloned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use capeval::choice::Plain;
    use capeval::corpus::ratings::{Item, RatedCaption, Ratings, read_pairs};
    use capeval::corpus::{Captions, SegmentId};
    use capeval::metric::Resources;
    use capeval::report::json_float::JsonFloat;
    use capeval::report::{
        EventLink, EventLinks, Form, Head, PredictedEvents, Style, TimedCaption, Timeline, Timelines, read,
        save, write,
    };
    use capeval::stats::Resampling;
    use capeval::{
        CompareOptions, CompareRequest, CorrelateOptions, CorrelateRequest, DiversityOptions,
        DiversityRequest, MetricOptions, PreferOptions, PreferRequest, ScoreOptions,
    };
    use capeval_dense::{Counts, DenseSystem, FormResult, MeasureResult};
    use capeval_meta::{MetaOptions, MetaRequest};
    use capeval_outside::judges::{Agreement, JudgeAgreement};
    use capeval_pages::Page;
    use serde_json::{Value, json};

    use super::*;

    const FEW: Resampling = Resampling { resamples: 20, seed: 1, level: 0.9 };
    const METRICS: [&str; 3] = ["bleu", "rouge-l", "ter"];

    fn captions(name: &str, texts: [&str; 3]) -> Captions {
        let mut captions = Captions::new(name);
        (0..).zip(texts).for_each(|(image, text)| captions.push(SegmentId::from(image), text));
        captions
    }

    fn references() -> Captions {
        captions("references", ["a dog runs here", "two cats sleep", "a red bus stops"])
    }

    const ONE: [&str; 3] = ["a dog runs", "two cats", "a red bus"];
    const OTHER: [&str; 3] = ["a dog", "two cats sleep", "a bus stops"];

    /// A result of each kind, and reports of two kinds.
    fn examples() -> Vec<Box<dyn Study>> {
        let systems = [("a", captions("a", ONE)), ("b", captions("b", OTHER))];
        let score =
            ScoreOptions { metrics: MetricOptions::new(METRICS), segments: true, ..ScoreOptions::default() };
        let options = CompareOptions { score, resampling: FEW, ..CompareOptions::default() };
        let request = CompareRequest::new(references(), systems.clone());
        let comparison = capeval::compare(CompareRequest { options, ..request }).unwrap();
        let report = comparison.report.clone();
        let options = DiversityOptions { profiles: true, ..DiversityOptions::default() };
        let request = DiversityRequest::new(systems);
        let diversity = capeval::diversity(DiversityRequest { options, ..request }).unwrap();
        let rated =
            [("a", ONE, [3.0, 1.0, 2.0]), ("b", OTHER, [2.0, 4.0, 4.0]), ("c", OTHER, [2.0, 3.0, 4.0])];
        let item = |(system, texts, ratings): (&str, [&'static str; 3], [f64; 3])| {
            let system = Some(system.to_owned());
            (0..3).map(move |k| Item {
                image: SegmentId::from(k as i64),
                caption: Some(RatedCaption::Text(texts[k].to_owned())),
                system: system.clone(),
                ratings: vec![ratings[k], 3.0],
            })
        };
        let ratings = Ratings {
            source: "ratings".to_owned(),
            items: rated.into_iter().flat_map(item).collect(),
            ..Ratings::default()
        };
        let correlation = capeval::correlate(CorrelateRequest {
            references: Some(references()),
            options: CorrelateOptions {
                metrics: MetricOptions::new(METRICS),
                intervals: Some(FEW),
                ..CorrelateOptions::default()
            },
            ..CorrelateRequest::new(ratings)
        });
        let pairs = (0..3).map(|k| json!({"image_id": k, "captions": [ONE[k], OTHER[k]], "votes": [k, 2], "category": format!("c{k}")}));
        let pairs = Value::from_iter(pairs).to_string();
        let preference = capeval::prefer(PreferRequest {
            references: Some(references()),
            options: PreferOptions {
                metrics: MetricOptions::new(METRICS),
                intervals: Some(FEW),
                ..PreferOptions::default()
            },
            ..PreferRequest::new(read_pairs(pairs.as_bytes(), "pairs").unwrap())
        });
        vec![
            Box::new(report),
            Box::new(comparison),
            Box::new(diversity),
            Box::new(correlation.unwrap()),
            Box::new(preference.unwrap()),
            Box::new(benchmarks()),
            Box::new(judges()),
            Box::new(dense()),
        ]
    }

    fn benchmarks() -> capeval_meta::MetaReport {
        let folder = tempfile::tempdir().unwrap();
        let rows = [("1", "a dog runs", 5), ("1", "a cat", 1), ("2", "two kites", 4), ("2", "a man", 2)];
        let rows = rows.map(|(id, text, rating)| {
            json!({"SYS": "x", "seg_id": id, "hyp": text, "human_score": rating}).to_string() + "\n"
        });
        let references = "{\"seg_id\": \"1\", \"refs\": [\"a dog\", \"the dog\"]}\n{\"seg_id\": \"2\", \"refs\": [\"kites\"]}\n";
        let pairs = r#"{"HC": [{"image": "a", "captions": ["a dog runs", "a cat"], "label": 0, "references": ["a dog"]}]}"#;
        for (name, content) in [
            ("mscoco_THumB-1.0.jsonl", rows.concat()),
            ("mscoco_references.json", references.to_owned()),
            ("pascal_50s.json", pairs.to_owned()),
        ] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let benchmarks = ["thumb", "pascal-50s"].map(|name| capeval_meta::benchmark(name).unwrap());
        let metrics = MetricOptions::new(["rouge-l", "cider-d"]);
        let found = capeval_meta::run(MetaRequest {
            benchmarks: benchmarks.into(),
            data: folder.path().display().to_string(),
            scores: Vec::new(),
            options: MetaOptions {
                metrics,
                intervals: FEW,
                subset: true,
                differences: true,
                ..MetaOptions::default()
            },
            resources: Resources::default(),
            progress: &(),
        });
        found.unwrap()
    }

    fn dense() -> DenseReport {
        let measure = MeasureResult {
            name: "meteor".to_owned(),
            value: JsonFloat(0.25),
            interval: Some([JsonFloat(0.0), JsonFloat(0.5)]),
            at: vec![("0.3".to_owned(), JsonFloat(0.5)), ("0.5".to_owned(), JsonFloat(0.0))],
            videos: vec![vec![JsonFloat(1.0), JsonFloat(0.0)], vec![JsonFloat(0.0), JsonFloat(0.0)]],
        };
        let form = FormResult {
            form: "densevid-2019".to_owned(),
            videos: ["v_1", "v_2"].map(str::to_owned).into(),
            measures: vec![measure],
            stops: vec!["v_1 has one prediction".to_owned()],
        };
        let system = DenseSystem {
            name: "a".to_owned(),
            counts: Counts::default(),
            remarks: Vec::new(),
            forms: vec![form],
            is_human: false,
        };
        let head = Head { version: "0.1.0".to_owned(), resampling: Some(FEW), ..Head::default() };
        let caption = |start, end| TimedCaption(start, end, "a dog runs".to_owned());
        let links = EventLinks {
            links: vec![Some(EventLink { reference: 0, overlap: 0.5, score: 0.25, is_match: true }), None],
            missed: vec![1],
        };
        let predicted =
            PredictedEvents { events: vec![caption(0.0, 5.0), caption(6.0, 7.0)], files: vec![Some(links)] };
        let video = Timeline {
            id: "v_1".to_owned(),
            duration: Some(30.0),
            references: vec![Some(vec![caption(0.0, 10.0), caption(20.0, 30.0)])],
            systems: vec![Some(predicted)],
        };
        let timelines = Timelines {
            references: vec!["val_1.json".to_owned()],
            systems: vec!["a".to_owned()],
            videos: vec![video],
        };
        DenseReport {
            head,
            references: vec!["val_1.json".to_owned()],
            unit: "video".to_owned(),
            n_videos: 2,
            reference_hash: None,
            systems: vec![system],
            timelines: Some(timelines),
            is_silent: false,
        }
    }

    fn judges() -> JudgeAgreement {
        let judge = Agreement {
            judge: "judge 1".to_owned(),
            models: ["a", "b"].map(str::to_owned),
            questions: 3,
            only: [0, 1],
            unreadable: 0,
            exact: 2.0 / 3.0,
            difference: -0.5,
            absolute_difference: 0.5,
            alpha: None,
        };
        JudgeAgreement { head: Head::default(), files: ["x", "y"].map(str::to_owned), judges: vec![judge] }
    }

    /// All that is written of a result.
    fn written(study: &mut dyn Study) -> Vec<u8> {
        let mut out = Vec::new();
        for form in Form::ALL {
            write(study, *form, &Style::default(), &Plain, &mut out).unwrap();
        }
        study.write_items(&mut out).unwrap();
        capeval_pages::write(study, &Page::default(), &Plain, &|_| (), &mut out).unwrap();
        study.scale_to_percent();
        write(study, Form::Table, &Style::default(), &Plain, &mut out).unwrap();
        out
    }

    fn saved(study: &dyn Study) -> Vec<u8> {
        let mut out = Vec::new();
        save(study, &mut out).unwrap();
        out
    }

    #[test]
    fn every_kind_is_read_as_it_was_saved_and_written_the_same_in_every_format() {
        let mut found = BTreeSet::new();
        for mut study in examples() {
            let name = study.kind().name;
            let bytes = saved(&*study);
            let mut again = read(&bytes, kinds()).unwrap();
            assert_eq!((again.kind().name, saved(&*again) == bytes), (name, true));
            assert!(written(&mut *again) == written(&mut *study), "{name}");
            found.insert(name);
        }
        assert_eq!(found, kinds().map(|kind| kind.name).collect(), "this test has an example of every kind");
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
                let first = items.iter().enumerate().take(2);
                first.for_each(|(k, item)| places(item, format!("{place}/{k}"), found));
            }
            _ => {}
        }
        found.push(place);
    }

    #[test]
    fn a_result_with_anything_in_the_place_of_a_value_is_read_or_refused() {
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
        for study in examples() {
            let (mut n_read, mut n_refused) = (0, 0);
            let whole: Value = serde_json::from_slice(&saved(&*study)).unwrap();
            let mut found = Vec::new();
            places(&whole, String::new(), &mut found);
            for place in found {
                for value in &values {
                    let mut changed = whole.clone();
                    *changed.pointer_mut(&place).unwrap() = value.clone();
                    match read(changed.to_string().as_bytes(), kinds()) {
                        Err(error) => {
                            assert!(error.remedy().is_some(), "{place}: {error}");
                            n_refused += 1;
                        }
                        Ok(mut study) => {
                            assert!(!written(&mut *study).is_empty());
                            n_read += 1;
                        }
                    }
                }
            }
            assert!(n_read > 30 && n_refused > 100, "{}: {n_read} {n_refused}", study.kind().name);
        }
    }
}
