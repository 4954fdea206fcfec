//! Metrics that are computed outside of the engine, in all tasks that take them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use capeval::choice::Refusal;
use capeval::corpus::ratings::{RatingOptions, read_pairs, read_ratings};
use capeval::corpus::{Captions, Missing, SegmentId};
use capeval::evaluate::{Progress, ReferenceSet, System, evaluate};
use capeval::metric::{Part, Resources, Signature};
use capeval::stats::Resampling;
use capeval::{
    CompareOptions, CompareRequest, CorrelateOptions, CorrelateRequest, GivenScores, MetricOptions, Outside,
    OutsideMetrics, OutsideRow, PreferOptions, PreferRequest, PrepareOptions, PrepareRequest,
    ReferenceSource, ScoreOptions, ScoreRequest,
};

/// The share of words of a caption that are in one of its references, and the number of its words.
struct Share {
    name: &'static str,
    together: bool,
    /// The number of rows of each call.
    calls: Arc<Mutex<Vec<usize>>>,
}

impl Outside for Share {
    fn name(&self) -> &str {
        self.name
    }

    fn parts(&self) -> &[Part] {
        static PARTS: std::sync::LazyLock<Vec<Part>> = std::sync::LazyLock::new(|| {
            vec![
                Part::score("share", "Share", 0.0..=1.0),
                Part::score("words", "Words", 0.0..=f64::INFINITY).lower(),
            ]
        });
        &PARTS
    }

    fn signature(&self) -> Signature {
        Signature::new("share").with("version", 1)
    }

    fn needs_references(&self) -> bool {
        true
    }

    fn takes_all_together(&self) -> bool {
        self.together
    }

    fn score(&self, rows: &[OutsideRow<'_>], progress: &dyn Progress) -> Result<Vec<Vec<f64>>, Refusal> {
        self.calls.lock().unwrap().push(rows.len());
        progress.advance(rows.len());
        Ok(vec![rows.iter().map(share).collect(), rows.iter().map(words).collect()])
    }
}

fn share(row: &OutsideRow<'_>) -> f64 {
    if row.candidate == "nan" {
        return f64::NAN;
    }
    let known = |word: &&str| row.references.iter().any(|text| text.split(' ').any(|other| other == *word));
    row.candidate.split(' ').filter(known).count() as f64 / words(row)
}

fn words(row: &OutsideRow<'_>) -> f64 {
    row.candidate.split(' ').count() as f64
}

fn with_share() -> (Resources, Arc<Mutex<Vec<usize>>>) {
    share_that_takes(false)
}

fn share_that_takes(together: bool) -> (Resources, Arc<Mutex<Vec<usize>>>) {
    let calls = Arc::default();
    let share = Share { name: "my.share", together, calls: Arc::clone(&calls) };
    let metrics = OutsideMetrics(vec![Arc::new(share)]);
    (Resources::default().with(Some(Arc::new(metrics))), calls)
}

fn captions(source: &str, rows: &[(i64, &str)]) -> Captions {
    let mut captions = Captions::new(source);
    for (id, caption) in rows {
        captions.push(SegmentId::from(*id), caption);
    }
    captions
}

/// References of 12 images, and captions of two systems, the second of which lacks one.
fn scene() -> (Captions, [Captions; 2]) {
    let words = ["a", "dog", "runs", "on", "the", "beach", "with", "two", "cats", "and", "sand", "again"];
    let text = |from: usize, n: usize| (from..from + n).map(|k| words[k % 12]).collect::<Vec<_>>().join(" ");
    let mut rows: Vec<(i64, String)> = Vec::new();
    for id in 0..12 {
        rows.push((id, text(id as usize, 5)));
        rows.push((id, text(id as usize + 1, 4)));
    }
    let system = |shift: usize| {
        let mut all = Captions::new("captions");
        for id in (0..12_usize).rev() {
            if shift == 3 && id == 7 {
                continue;
            }
            all.push(SegmentId::from(id as i64), &text(id + shift, 3 + id % 3));
        }
        all
    };
    let rows: Vec<(i64, &str)> = rows.iter().map(|(id, text)| (*id, text.as_str())).collect();
    (captions("references", &rows), [system(1), system(3)])
}

fn options(missing: Missing) -> ScoreOptions {
    ScoreOptions {
        metrics: MetricOptions::new(["rouge-l", "my.share"]),
        missing,
        segments: true,
        intervals: Some(Resampling { resamples: 300, ..Resampling::default() }),
        ..ScoreOptions::default()
    }
}

#[test]
fn scores_equal_those_that_are_given() {
    let (references, [first, second]) = scene();
    let (resources, calls) = with_share();
    let systems = || [("first", first.clone()), ("second", second.clone())];
    let request = ScoreRequest {
        resources,
        options: options(Missing::Skip),
        ..ScoreRequest::new(references.clone(), systems())
    };
    let report = capeval::score(request).unwrap();
    assert_eq!(*calls.lock().unwrap(), [23]);
    let keys: Vec<&str> = report.head.measures.iter().map(|measure| measure.key.as_str()).collect();
    assert_eq!(keys, ["rouge-l", "share", "words"]);
    assert_eq!(report.systems[1].n_images, 11);
    let signature = report.systems[1].signatures[1].to_string();
    assert!(signature.starts_with("share|version:1|nrefs:2|missing:skip(1)|capeval:"), "{signature}");

    // What was computed, written as it is saved, and given to another run.
    let mut lines = String::new();
    for system in &report.systems {
        let segments = system.segments.as_ref().unwrap();
        for (id, values) in segments.ids.iter().zip(segments.values.chunks(3)) {
            lines += &format!(
                "{{\"image_id\": {id}, \"system\": \"{}\", \"share\": {:?}, \"words\": {:?}}}\n",
                system.name, values[1], values[2]
            );
        }
    }
    let scores = capeval::corpus::scores::read_scores(lines.as_bytes(), "saved", None).unwrap();
    let request = ScoreRequest {
        scores: vec![GivenScores::new(scores, None, "saved").unwrap()],
        options: ScoreOptions {
            metrics: MetricOptions::new(["rouge-l"]),
            lower_is_better: vec!["words".into()],
            ..options(Missing::Skip)
        },
        ..ScoreRequest::new(references, systems())
    };
    let given = capeval::score(request).unwrap();
    for (computed, given) in report.systems.iter().zip(&given.systems) {
        assert_eq!(computed.scores, given.scores);
        assert_eq!(computed.intervals, given.intervals);
        assert_eq!(computed.segments.as_ref().unwrap().values, given.segments.as_ref().unwrap().values);
    }
}

#[test]
fn systems_are_compared_by_them() {
    let (references, [first, second]) = scene();
    let (resources, calls) = with_share();
    let request = CompareRequest {
        resources,
        options: CompareOptions { score: options(Missing::Skip), ..CompareOptions::default() },
        ..CompareRequest::new(references, [("first", first), ("second", second)])
    };
    let comparison = capeval::compare(request).unwrap();
    assert_eq!(comparison.report.systems[0].n_images, 11, "the images that both describe");
    assert_eq!(*calls.lock().unwrap(), [22]);
}

fn refusal(references: Captions, candidates: Captions, change: impl FnOnce(&mut ScoreOptions)) -> String {
    let mut options = options(Missing::Error);
    change(&mut options);
    let request = ScoreRequest {
        resources: with_share().0,
        options,
        ..ScoreRequest::new(references, [("mine", candidates)])
    };
    capeval::score(request).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_refused() {
    let (references, [first, _]) = scene();
    let mut bad = captions("bad", &[]);
    for k in 0..first.len() {
        let text = if first.ids()[k] == SegmentId::from(5) { "nan" } else { first.text(k) };
        bad.push(first.ids()[k].clone(), text);
    }
    let said = refusal(references.clone(), bad, |_| {});
    assert_eq!(said, "the score by share of image 5 is not a number (NaN)");
    let said = refusal(references.clone(), first.clone(), |options| options.human = true);
    assert_eq!(said, "my.share is computed outside of capeval, and people's captions are scored one by one");
    let error = capeval::select_metrics(&MetricOptions::new(["my.other"]), &with_share().0).err().unwrap();
    assert!(error.to_string().contains("my.other"), "{error}");
    let error = capeval::select_metrics(&MetricOptions::new(["my.toml"]), &with_share().0).err().unwrap();
    assert!(error.to_string().starts_with("my.toml: no program is run here"), "{error}");
}

#[test]
fn all_captions_of_a_system_are_given_together_if_scores_depend_on_them() {
    let (references, [first, second]) = scene();
    let scored = |together: bool| {
        let (resources, calls) = share_that_takes(together);
        let systems = [("first", first.clone()), ("same", first.clone()), ("second", second.clone())];
        let options = ScoreOptions { intervals: None, ..options(Missing::Skip) };
        let request = ScoreRequest { resources, options, ..ScoreRequest::new(references.clone(), systems) };
        let report = capeval::score(request).unwrap();
        let scores: Vec<Vec<f64>> = report.systems.iter().map(|system| system.scores.clone()).collect();
        (scores, std::mem::take(&mut *calls.lock().unwrap()))
    };
    let (expected, calls) = scored(false);
    assert_eq!(calls, [23]);
    assert_eq!(scored(true), (expected, vec![12, 12, 11]));
}

#[test]
fn prepared_references_serve_them() {
    let (references, [first, _]) = scene();
    let (resources, calls) = with_share();
    let prepare = PrepareRequest {
        references: references.clone(),
        sources: Vec::new(),
        options: PrepareOptions {
            metrics: MetricOptions::new(["rouge-l", "my.share"]),
            ..PrepareOptions::default()
        },
        resources: resources.clone(),
        progress: &(),
    };
    let prepared = Box::new(capeval::prepare(prepare).unwrap());
    assert!(calls.lock().unwrap().is_empty());
    let prepared = ReferenceSource::Prepared { prepared, source: "references".to_owned() };
    let scores = |references: ReferenceSource| {
        let options = ScoreOptions { intervals: None, ..options(Missing::Skip) };
        let resources = resources.clone();
        let systems = [("first", first.clone())];
        let report =
            capeval::score(ScoreRequest { resources, options, ..ScoreRequest::new(references, systems) });
        report.unwrap().systems[0].scores.clone()
    };
    assert_eq!(scores(prepared), scores(references.into()));
}

#[test]
fn rows_without_ids_are_scored_by_them() {
    let (resources, calls) = with_share();
    let metrics = capeval::select_metrics(&MetricOptions::new(["rouge-l", "my.share"]), &resources).unwrap();
    let system = |texts: &[&str]| System {
        name: String::new(),
        images: (0..texts.len() as u32).collect(),
        texts: texts.iter().copied().collect(),
    };
    let mut references =
        ReferenceSet::new(["a dog", "two cats", "a dog"].into_iter().collect(), vec![1, 2, 3]);
    let two = system(&["a dog", "a dog", "a dog"]);
    let ids = [None, Some(SegmentId::from(5)), None];
    let compute = |system: &System, references: &ReferenceSet| {
        capeval::compute_outside(&metrics.metrics, &resources, system, &ids, references, &())
    };
    let computed = compute(&two, &references).unwrap();
    let scored = evaluate(&mut references, &[two], &computed, &());
    let shares: Vec<&[f64]> = scored[0].metrics[1].table.rows().collect();
    assert_eq!(shares, [[1.0, 1.0, 2.0], [1.0, 0.0, 2.0], [1.0, 1.0, 2.0]]);
    // The first and the last are one question.
    assert_eq!(*calls.lock().unwrap(), [2]);
    let error = compute(&system(&["nan", "a", "a"]), &references).err().unwrap();
    assert_eq!(error.to_string(), "the score by share of a row without id is not a number (NaN)");
}

#[test]
fn ratings_and_preferences_are_compared_with_them() {
    let (references, _) = scene();
    let mut table = "image_id\tcaption\trating\n".to_owned();
    let mut pairs = String::new();
    for id in 0..12 {
        table += &format!("{id}\ta dog runs here\t{}\n{id}\tthe beach again\t{}\n", id % 4, id % 3);
        pairs += &format!(
            "{{\"image_id\": {id}, \"captions\": [\"a dog runs here\", \"the beach again\"], \"votes\": [{}, 2]}}\n",
            id % 4
        );
    }
    let (resources, calls) = with_share();
    let ratings = read_ratings(table.as_bytes(), "ratings.tsv", &RatingOptions::default()).unwrap();
    let request = CorrelateRequest {
        references: Some(references.clone()),
        resources,
        options: CorrelateOptions {
            metrics: MetricOptions::new(["my.share"]),
            ..CorrelateOptions::default()
        },
        ..CorrelateRequest::new(ratings)
    };
    let correlation = capeval::correlate(request).unwrap();
    assert_eq!(correlation.points.scores.len(), 2);
    assert_eq!(*calls.lock().unwrap(), [24]);

    let (resources, calls) = with_share();
    let choices = read_pairs(pairs.as_bytes(), "pairs.jsonl").unwrap();
    let request = PreferRequest {
        references: Some(references),
        resources,
        options: PreferOptions {
            metrics: MetricOptions::new(["my.share", "rouge-l"]),
            references_per_pair: Some(1),
            draws: 4,
            ..PreferOptions::default()
        },
        ..PreferRequest::new(choices)
    };
    let preference = capeval::prefer(request).unwrap();
    assert_eq!(preference.accuracies.len(), 3);
    // Once for all draws, and once for equal references.
    let calls = calls.lock().unwrap();
    assert!(calls.len() == 1 && calls[0] <= 48, "{calls:?}");
}
