//! Every value of the golden files, which the reference programs computed on synthetic and real videos.
//!
//! The files lie in the folder of real data, which CONTRIBUTING.md describes. A test whose files are missing prints
//! `skipped: …` and passes; `small.rs` has values that are committed.

use std::collections::BTreeMap;

use capeval_dense::read::{ReadOptions, read};
use capeval_dense::{EventFile, Form, FormScores, Stop, evaluate};
use capeval_testkit::{real, real_text};
use serde_json::Value;

use crate::support::{Run, events, metrics, runs};

/// The values compared, and those that differ.
#[derive(Default)]
pub struct Tally {
    pub n: usize,
    pub faults: Vec<String>,
    /// Lists of values that a program computed for itself before it stopped.
    pub n_before_stops: usize,
}

impl Tally {
    /// Compares one value to 1e-12.
    pub fn number(&mut self, place: &str, ours: Option<f64>, theirs: &Value) {
        self.n += 1;
        let golden = theirs.as_f64().unwrap_or(f64::NAN);
        let is_equal = ours.is_some_and(|ours| {
            (ours - golden).abs() <= 1e-12 * golden.abs().max(1.0) || ours.is_nan() && golden.is_nan()
        });
        if !is_equal {
            self.faults.push(format!("{place}: {ours:?} for {theirs}"));
        }
    }

    /// Compares a value or a list of values.
    pub fn values(&mut self, place: &str, ours: &[f64], theirs: &Value) {
        match theirs {
            Value::Array(theirs) => {
                for (k, golden) in theirs.iter().enumerate() {
                    self.number(&format!("{place}[{k}]"), ours.get(k).copied(), golden);
                }
                if ours.len() != theirs.len() {
                    self.faults.push(format!("{place}: {} values for {}", ours.len(), theirs.len()));
                }
            }
            theirs if ours.len() > 1 => {
                let mean = ours.iter().sum::<f64>() / ours.len() as f64;
                self.number(place, Some(mean), theirs);
            }
            theirs => self.number(place, ours.first().copied(), theirs),
        }
    }
}

/// Our name of a measure of the programs.
pub fn name(golden: &str) -> String {
    let lower = golden.to_ascii_lowercase().replace('_', "-");
    match lower.as_str() {
        "cider" => "cider-d".into(),
        "precision-mean" => "precision".into(),
        "recall-mean" => "recall".into(),
        "f1-score" | "f" => "f1".into(),
        "p" => "precision".into(),
        "r" => "recall".into(),
        _ => lower,
    }
}

/// Compares the scores of a form with a run.
fn compare(tally: &mut Tally, run: &Run, scores: &FormScores) {
    let place = &run.name;
    // This program exchanges the two names in its output, and we do not.
    let swapped = |golden: &str| match golden {
        "Recall" if run.value["program"] == "dv2017" => "Precision".to_owned(),
        "Precision" if run.value["program"] == "dv2017" => "Recall".to_owned(),
        golden => golden.to_owned(),
    };
    for (kind, list) in [("values", &run.value["values"]), ("average", &run.value["average"])] {
        for (golden, theirs) in list.as_object().into_iter().flatten() {
            if matches!(golden.as_str(), "n_preds" | "SODA_c_1_n" | "SODA_c_2_n") {
                continue;
            }
            let spot = format!("{place} {kind} {golden}");
            if theirs.as_array().is_some_and(Vec::is_empty) {
                tally.n += 1;
                if scores.measure(&name(golden)).is_some() {
                    tally.faults.push(format!("{spot}: the program stops"));
                }
                continue;
            }
            let (measure, label) = golden.split_once('@').unwrap_or((golden, ""));
            let (measure, label) = match measure.strip_prefix("SODA_c_") {
                Some(file) => ("SODA_c", format!("file {file}")),
                None => (measure, label.to_owned()),
            };
            let Some(ours) = scores.measure(&name(&swapped(measure))) else {
                tally.n += 1;
                tally.faults.push(format!("{spot}: missing, stops {:?}", scores.stops));
                continue;
            };
            if !label.is_empty() {
                let at = ours.at.iter().find(|(known, _)| *known == label).map(|(_, value)| *value);
                tally.number(&spot, at, theirs);
            } else if kind == "values" && theirs.is_array() {
                let at: Vec<f64> = ours.at.iter().map(|(_, value)| *value).collect();
                tally.values(
                    &spot,
                    if at.is_empty() { std::slice::from_ref(&ours.value) } else { &at },
                    theirs,
                );
            } else {
                tally.number(&spot, Some(ours.value), theirs);
            }
        }
    }
    let index: BTreeMap<&str, usize> =
        scores.videos.iter().enumerate().map(|(v, video)| (video.as_str(), v)).collect();
    for (video, metrics) in &run.videos {
        for (golden, theirs) in metrics {
            if golden == "n_preds" {
                continue;
            }
            let (golden, label) = golden.split_once('@').unwrap_or((golden, ""));
            let (golden, file) = match golden.strip_prefix("SODA_c_") {
                Some(file) => ("SODA_c", file.parse::<usize>().ok()),
                None => (golden, None),
            };
            let spot = format!("{place} {video} {golden}");
            let ours = scores.measure(&name(golden)).and_then(|measure| {
                let values = measure.videos.get(*index.get(video.as_str())?)?;
                let at = measure.at.iter().position(|(known, _)| known == label);
                Some(match (at, file) {
                    (Some(at), _) => vec![values[at]],
                    (_, Some(file)) => vec![*values.get(file - 1)?],
                    _ => values.clone(),
                })
            });
            match ours {
                Some(ours) if *theirs == -1 && file.is_some() => {
                    // The program's mark of a file that lacks the video.
                    tally.values(&spot, &ours, &Value::from(0));
                }
                Some(ours) => tally.values(&spot, &ours, theirs),
                // The program has no such file, or stopped before.
                None if theirs.is_null() || *theirs == -1 || theirs.as_array().is_some_and(Vec::is_empty) => {
                }
                // densevid-2017 computed these before it stopped at a video with one prediction, and prints none.
                None if matches!(scores.stops[..], [Stop::OnePrediction(_)]) => tally.n_before_stops += 1,
                None => tally.faults.push(format!("{spot}: missing")),
            }
        }
    }
}

/// The form of a golden run's program.
fn form(run: &Run) -> Option<Form> {
    let program = run.value["program"].as_str()?;
    let name = match program {
        "dv2017" => "densevid-2017",
        "dv2017b" => "densevid-2017b",
        "dv2018" => "densevid-2018",
        "dv2019" => "densevid-2019",
        "pdvc2018" => "pdvc-2018",
        "pdvc2021" => "pdvc-2021",
        "pdvcsoda" => "pdvc-soda",
        "vidchap" => "vidchapters",
        "scenic" => "scenic",
        _ => return None,
    };
    name.parse().ok()
}

/// The file of that name in the folder of real data, among the synthetic inputs and the real data.
pub fn input(name: &str) -> Option<String> {
    let path = match name.strip_prefix("data/") {
        Some(name) => format!("data/dense/{name}"),
        None => format!("golden/dense/{name}"),
    };
    let (folder, file) = path.rsplit_once('/')?;
    let is_packed = real(folder)?.join(format!("{file}.gz")).exists();
    real_text(&if is_packed { format!("{path}.gz") } else { path })
}

/// The predictions, the references, and the choice of videos of runs that are computed together.
type Key = (String, Vec<String>, String);

/// Compares all runs of one golden file that a form here computes.
fn check(file: &str) {
    let Some(golden) = real_text(&format!("golden/dense/{file}.json.gz")) else { return };
    check_runs(file, runs(&golden), |name| input(name).unwrap_or_else(|| panic!("{name}")));
}

/// Compares runs on the files that `input` returns.
pub fn check_runs(file: &str, all: Vec<Run>, input: impl Fn(&str) -> String) {
    let Some(metrics) = metrics() else { return };
    let mut tally = Tally::default();
    let mut groups: Vec<(Key, Vec<Run>)> = Vec::new();
    for run in all {
        let about = &run.value["run"];
        let (Some(predictions), Some(references)) =
            (about["predictions"].as_str(), about["references"].as_array())
        else {
            continue;
        };
        let references = references.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        let videos = about["videos"].as_str().unwrap_or_default().to_owned();
        let key = (predictions.to_owned(), references, videos);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, runs)) => runs.push(run),
            None => groups.push((key, vec![run])),
        }
    }
    let mut n_runs = 0;
    for ((predictions, references, videos), runs) in groups {
        let forms: Vec<(usize, String, Form)> =
            runs.iter().enumerate().flat_map(|(r, run)| forms(r, run)).collect();
        if forms.is_empty() {
            continue;
        }
        let read = |name: &str| events(name, &input(name));
        let predictions = read(&predictions);
        let mut references: Vec<EventFile> = references
            .iter()
            .map(|name| match name.split_once(" restricted to ") {
                Some((name, _)) => {
                    let mut file = read(&format!("data/pdvc/anet_{name}.json"));
                    file.videos.retain(|id, _| predictions.videos.contains_key(id));
                    file
                }
                None => read(name),
            })
            .collect();
        if !videos.is_empty() {
            for file in &mut references {
                file.videos.retain(|id, _| predictions.videos.contains_key(id));
            }
        }
        let wanted: Vec<Form> = forms.iter().map(|(_, _, form)| *form).collect();
        let all = evaluate(&references, &predictions, &wanted, &metrics);
        for ((r, kind, _), scores) in forms.iter().zip(all) {
            n_runs += 1;
            let before = (tally.n, tally.faults.len());
            if kind.is_empty() {
                compare(&mut tally, &runs[*r], &scores);
            } else {
                compare_soda(&mut tally, &runs[*r], kind, &scores);
            }
            let (n, faults) = (tally.n - before.0, tally.faults.len() - before.1);
            eprintln!("{file}: {} {kind}: {} of {n} values equal", runs[*r].name, n - faults.min(n));
        }
    }
    let (n, n_faults, n_before) = (tally.n, tally.faults.len(), tally.n_before_stops);
    eprintln!(
        "{file}: {n_runs} runs, {n} values compared, {n_faults} differ; {n_before} lists that a program computed before it \
         stopped are left out"
    );
    let first: Vec<&String> = tally.faults.iter().take(40).collect();
    assert!(tally.faults.is_empty(), "{first:#?}");
    assert!(tally.n > 0);
}

/// The forms of a run: SODA has one for each type.
fn forms(r: usize, run: &Run) -> Vec<(usize, String, Form)> {
    if run.value["program"] != "soda" {
        return form(run).map(|form| (r, String::new(), form)).into_iter().collect();
    }
    let metric = match run.value["metric"].as_str().unwrap() {
        "Meteor" => "meteor",
        "Cider" => "cider-d",
        "Rouge" => "rouge-l",
        "Bleu1" => "bleu-1",
        "Bleu4" => "bleu-4",
        other => panic!("{other}"),
    };
    let multi = if run.value["multi_reference"] == true { ":multi" } else { "" };
    let kinds = run.value["values"].as_object().unwrap().keys();
    kinds.map(|kind| (r, kind.clone(), format!("soda-{kind}:{metric}{multi}").parse().unwrap())).collect()
}

/// Compares a type of SODA with its part of a run.
fn compare_soda(tally: &mut Tally, run: &Run, kind: &str, scores: &FormScores) {
    let place = format!("{} {kind}", run.name);
    let values = ["precision", "recall", "f1"].map(|part| scores.measure(part).map_or(f64::NAN, |m| m.value));
    tally.values(&place, &values, &run.value["values"][kind]);
    let index: BTreeMap<&str, usize> =
        scores.videos.iter().enumerate().map(|(v, video)| (video.as_str(), v)).collect();
    for (video, metrics) in &run.videos {
        for (golden, part) in [("p", "precision"), ("r", "recall"), ("f", "f1")] {
            let Some(theirs) = metrics.get(&format!("{kind}/{golden}")) else { continue };
            let ours = index.get(video.as_str()).and_then(|v| scores.measure(part)?.videos.get(*v));
            tally.values(
                &format!("{place} {video} {golden}"),
                ours.map(Vec::as_slice).unwrap_or_default(),
                theirs,
            );
        }
    }
}

#[test]
fn the_worked_example_and_every_stop_equal_those_of_the_programs() {
    check("micro");
}

#[test]
fn synthetic_videos_equal_those_of_the_programs() {
    check("synthetic");
}

#[test]
fn the_outputs_of_mdvc_equal_what_is_published() {
    check("mdvc");
}

#[test]
fn the_official_example_equals_that_of_the_programs() {
    check("sample");
}

#[test]
fn the_output_of_timechat_equals_that_of_the_programs() {
    check("timechat");
}

/// Scores files as they lie in the folder, read by the readers of the crate.
fn read_and_score(references: &str, results: &str, form: &str) -> Option<FormScores> {
    let metrics = metrics()?;
    let mut options = ReadOptions::default();
    let references = [read(references, "references", &options).unwrap()];
    options.durations = references[0].durations.clone();
    let results = read(results, "results", &options).unwrap();
    evaluate(&references, &results, &[form.parse().unwrap()], &metrics).pop()
}

#[test]
fn the_log_of_vtimellm_is_read_as_its_evaluation_reads_it() {
    let cases = [
        ("sample", "vtimelog example", "data/vtimellm/data_example.json", "data/vtimellm/example_log.txt"),
        ("synthetic", "vtimelog syn_percent", "inputs/syn_ref_a.json", "inputs/syn_percent_log.txt"),
    ];
    for (file, name, references, log) in cases {
        let Some(golden) = real_text(&format!("golden/dense/{file}.json.gz")) else { return };
        let run = runs(&golden).into_iter().find(|run| run.name == name).unwrap();
        let Some(scores) = read_and_score(&input(references).unwrap(), &input(log).unwrap(), "vtimellm")
        else {
            return;
        };
        let mut tally = Tally::default();
        let whole = Run { value: serde_json::json!({ "values": run.value["all"] }), ..run };
        compare(&mut tally, &whole, &scores);
        eprintln!("{name}: {} values compared, {} differ", tally.n, tally.faults.len());
        assert!(tally.n > 20 && tally.faults.is_empty(), "{:#?}", tally.faults);
    }
}

#[test]
fn the_files_of_timechat_are_read_as_its_evaluation_reads_them() {
    let Some(golden) = real_text("golden/dense/timechat.json.gz") else { return };
    let run = runs(&golden).into_iter().find(|run| run.name == "timechat timechat").unwrap();
    let [references, results] =
        ["example_gt_file", "example_pred_file"].map(|name| format!("data/timechat/{name}.json"));
    let Some(scores) = read_and_score(&input(&references).unwrap(), &input(&results).unwrap(), "timechat")
    else {
        return;
    };
    let mut tally = Tally::default();
    let mut values = run.value["values"].clone();
    let of = values.as_object_mut().unwrap();
    // Its split of the name `val` is the second, and the first prints −100.
    let soda = of.remove("SODA_c_2_present").unwrap();
    of.remove("SODA_c_2");
    of.insert("SODA_c_1".to_owned(), soda);
    let videos = run.videos.into_iter().map(|(video, mut scores)| {
        let soda = scores.remove("SODA_c_2");
        scores.insert("SODA_c_1".to_owned(), soda.unwrap_or(Value::Null));
        (video, scores)
    });
    let run =
        Run { name: run.name, videos: videos.collect(), value: serde_json::json!({ "values": values }) };
    compare(&mut tally, &run, &scores);
    eprintln!("timechat: {} values compared, {} differ", tally.n, tally.faults.len());
    assert!(tally.faults.is_empty(), "{:#?}", &tally.faults[..tally.faults.len().min(20)]);
}

#[test]
fn half_games_equal_those_of_soccernet() {
    let Some(golden) = real_text("golden/dense/soccer.json.gz") else { return };
    let run = runs(&golden).into_iter().next().unwrap();
    let inputs: Value = serde_json::from_str(&input("inputs/soccer.json").unwrap()).unwrap();
    let [labels, results] = ["labels", "predictions"].map(|key| inputs[key].to_string());
    let Some(scores) = read_and_score(&labels, &results, "soccernet") else { return };
    let mut tally = Tally::default();
    for (golden, theirs) in run.value["values"].as_object().unwrap() {
        let ours = match golden.strip_prefix("SODA_") {
            Some(rest) => {
                let (metric, part) = rest.rsplit_once('_').unwrap();
                format!("soda-c:{}-{part}", name(metric))
            }
            None => name(golden),
        };
        tally.number(golden, scores.measure(&ours).map(|measure| measure.value), theirs);
    }
    for (video, metrics) in &run.videos {
        let v = scores.videos.iter().position(|known| known == video);
        for (golden, theirs) in metrics.iter().filter(|(key, _)| *key != "SODA") {
            let ours = scores.measure(&name(golden)).and_then(|measure| measure.videos.get(v?));
            tally.values(&format!("{video} {golden}"), ours.map(Vec::as_slice).unwrap_or_default(), theirs);
        }
        for (metric, theirs) in metrics["SODA"].as_object().unwrap() {
            let ours = ["precision", "recall", "f1"].map(|part| {
                let measure = scores.measure(&format!("soda-c:{}-{part}", name(metric)));
                measure.and_then(|measure| Some(measure.videos.get(v?)?[0])).unwrap_or(f64::NAN)
            });
            tally.values(&format!("{video} SODA {metric}"), &ours, theirs);
        }
    }
    eprintln!("soccernet: {} values compared, {} differ", tally.n, tally.faults.len());
    assert!(tally.faults.is_empty(), "{:#?}", &tally.faults[..tally.faults.len().min(20)]);
}
