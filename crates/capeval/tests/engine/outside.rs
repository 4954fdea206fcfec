//! Metrics that are computed outside of the engine, in all tasks that take them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use capeval::choice::{Code, Refusal};
use capeval::corpus::ratings::{RatingOptions, read_pairs, read_ratings};
use capeval::corpus::{Captions, Missing, SegmentId};
use capeval::evaluate::{ReferenceSet, System, evaluate};
use capeval::metric::{Part, Resources, Signature};
use capeval::stats::Resampling;
use capeval::{
    Answers, CompareOptions, CompareRequest, CorrelateOptions, CorrelateRequest, GivenScores, Identity,
    KeptScores, MetricOptions, Outside, OutsideLabel, OutsideMetrics, OutsideRow, OutsideScores, Picture,
    PictureSource, Pictures, PreferOptions, PreferRequest, PrepareOptions, PrepareRequest, ReferenceSource,
    ScoreOptions, ScoreRequest, ScoreStore, Sight,
};

/// The share of words of a caption that are in one of its references, and the number of its words.
#[derive(Default)]
struct Share {
    together: bool,
    /// The number of rows of each call.
    calls: Arc<Mutex<Vec<usize>>>,
    sight: Sight,
    languages: Vec<String>,
    identity: Option<Identity>,
    /// After how many rows it fails, if it does.
    fails_after: Option<usize>,
    /// The pictures that it was given.
    seen: Arc<Mutex<Vec<Option<Picture>>>>,
    /// The metric that it multiplies.
    base: Option<&'static str>,
}

impl Outside for Share {
    fn label(&self) -> &OutsideLabel {
        static LABEL: LazyLock<OutsideLabel> = LazyLock::new(|| {
            let share = Part::score("share", "Share", 0.0..=1.0);
            let words = Part::score("words", "Words", 0.0..=f64::INFINITY).lower();
            OutsideLabel::new("my.share", vec![share, words])
        });
        &LABEL
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

    fn sight(&self) -> Sight {
        self.sight
    }

    fn languages(&self) -> &[String] {
        &self.languages
    }

    fn identity(&self) -> Option<Identity> {
        self.identity.clone()
    }

    fn multiplies(&self) -> Option<&str> {
        self.base
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        self.calls.lock().unwrap().push(rows.len());
        answers.wait();
        // In any order.
        for (number, row) in rows.iter().enumerate().rev() {
            self.seen.lock().unwrap().push(row.picture.cloned());
            answers.take(number, &[share(row), words(row)]);
            if self.fails_after.is_some_and(|n| rows.len() - number == n) {
                return Err(Refusal::new("it failed"));
            }
        }
        Ok(())
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
    with(|_| {})
}

fn with(change: impl FnOnce(&mut Share)) -> (Resources, Arc<Mutex<Vec<usize>>>) {
    let mut share = Share::default();
    change(&mut share);
    let calls = Arc::clone(&share.calls);
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
fn one_that_multiplies_a_metric_gives_the_product_of_each_segment() {
    let (references, [first, second]) = scene();
    let report = |names: [&str; 2], common: Option<&str>, base| {
        let (resources, _) = with(|share| share.base = base);
        let systems = [("first", first.clone()), ("second", second.clone())];
        let mut options = options(Missing::Skip);
        options.metrics = MetricOptions { tokenizer: common.map(str::to_owned), ..MetricOptions::new(names) };
        let request = ScoreRequest { resources, options, ..ScoreRequest::new(references.clone(), systems) };
        capeval::score(request).unwrap()
    };
    let plain = report(["cider-d:sigma=4", "my.share"], Some("13a"), None);
    let product = report(["rouge-l", "my.share"], Some("13a"), Some("cider-d:sigma=4"));
    for (plain, product) in plain.systems.iter().zip(&product.systems) {
        let (plain, found) = (plain.segments.as_ref().unwrap(), product.segments.as_ref().unwrap());
        let expected: Vec<f64> = plain.values.chunks(3).map(|row| row[0] * row[1]).collect();
        let found: Vec<f64> = found.values.chunks(2).map(|row| row[1]).collect();
        assert_eq!(found, expected);
        let mean = expected.iter().sum::<f64>() / expected.len() as f64;
        assert!((product.scores[1] - mean).abs() < 1e-15, "the mean of the segments");
        let signature = product.signatures[1].to_string();
        assert!(signature.starts_with("share|n:4|sigma:4|"), "{signature}");
        assert!(signature.contains("|tok:13a|version:1|"), "{signature}");
    }
    let (resources, _) = with(|share| share.base = Some("cider-d:sigma=zero"));
    let error = capeval::select_metrics(&MetricOptions::new(["my.share"]), &resources).err().unwrap();
    assert!(error.to_string().starts_with("my.share: cider-d: sigma takes a number"), "{error}");
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

#[test]
fn people_are_scored_by_them_reference_by_reference() {
    let (references, _) = scene();
    let (resources, calls) = with_share();
    let options = ScoreOptions { human: true, intervals: None, ..options(Missing::Error) };
    let request = ScoreRequest { resources, options, ..ScoreRequest::new::<String>(references.clone(), []) };
    let report = capeval::score(request).unwrap();
    assert_eq!(*calls.lock().unwrap(), [12, 12], "a call for each round");
    let texts: Vec<&str> = (0..references.len()).map(|k| references.text(k)).collect();
    let rows = texts.chunks(2).flat_map(|pair| [(pair[0], pair[1]), (pair[1], pair[0])]);
    let rows = rows.map(|(candidate, other)| OutsideRow {
        system: None,
        image: None,
        candidate,
        rival: None,
        references: vec![other],
        picture: None,
    });
    let mean = rows.map(|row| share(&row)).sum::<f64>() / 24.0;
    let row = &report.systems[0];
    assert!((row.scores[1] - mean).abs() < 1e-15, "{:?}, and the mean is {mean}", row.scores);
    let signature = row.signatures[1].to_string();
    assert!(signature.contains("|held-out:1(2)|"), "{signature}");
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
    let error = capeval::select_metrics(&MetricOptions::new(["my.other"]), &with_share().0).err().unwrap();
    assert!(error.to_string().contains("my.other"), "{error}");
    let error = capeval::select_metrics(&MetricOptions::new(["my.toml"]), &with_share().0).err().unwrap();
    assert!(error.to_string().starts_with("my.toml: no program is run here"), "{error}");
}

#[test]
fn all_captions_of_a_system_are_given_together_if_scores_depend_on_them() {
    let (references, [first, second]) = scene();
    let scored = |together: bool| {
        let (resources, calls) = with(|share| share.together = together);
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

/// Files in memory.
#[derive(Default)]
struct Store(Mutex<HashMap<String, Vec<u8>>>);

impl ScoreStore for Store {
    fn open(&self, name: &str, identity: &str, n_measures: usize) -> KeptScores {
        let bytes = self.0.lock().unwrap().get(identity).map(|bytes| aligned(bytes));
        KeptScores::open(bytes, name, identity, n_measures)
    }

    fn save(&self, scores: &KeptScores) {
        let mut files = self.0.lock().unwrap();
        let stored = scores.reopen(files.get(scores.identity()).map(|bytes| aligned(bytes)));
        let mut out = Vec::new();
        scores.write(&stored, &mut out).unwrap();
        files.insert(scores.identity().to_owned(), out);
    }
}

/// Bytes as they lie in a mapped file.
fn aligned(bytes: &[u8]) -> Arc<dyn AsRef<[u8]> + Send + Sync> {
    struct Aligned(Vec<u64>, usize);
    impl AsRef<[u8]> for Aligned {
        fn as_ref(&self) -> &[u8] {
            &bytemuck::cast_slice(&self.0)[..self.1]
        }
    }
    let mut words = vec![0_u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    Arc::new(Aligned(words, bytes.len()))
}

/// The result of a run of [`Share`] with kept scores.
struct Run {
    values: Result<Vec<f64>, String>,
    /// The rows that it was asked about.
    asked: usize,
    codes: Vec<String>,
}

fn run(store: &Arc<Store>, references: &Captions, change: impl FnOnce(&mut Share)) -> Run {
    let (resources, calls) = with(|share| {
        share.identity = Some(Identity { text: "share 1".to_owned(), knows_images: false });
        change(share);
    });
    let store: Arc<dyn ScoreStore> = Arc::clone(store) as _;
    let resources = resources.with(Some(Arc::new(OutsideScores(store))));
    let [first, second] = scene().1;
    let request = ScoreRequest {
        resources,
        options: ScoreOptions { intervals: None, ..options(Missing::Skip) },
        ..ScoreRequest::new(references.clone(), [("first", first), ("second", second)])
    };
    let report = capeval::score(request);
    let asked = calls.lock().unwrap().iter().sum();
    let Ok(report) = report else {
        return Run { values: Err(report.unwrap_err().to_string()), asked, codes: Vec::new() };
    };
    let values = report.systems.iter().flat_map(|system| system.segments.as_ref().unwrap().values.clone());
    let codes = report.head.notices.iter().map(|notice| notice.code.to_string());
    let codes = codes.filter(|code| code.contains("score")).collect();
    Run { values: Ok(values.collect()), asked, codes }
}

#[test]
fn scores_that_are_kept_are_not_asked_for_again() {
    let references = scene().0;
    let store = Arc::default();
    let plain = run(&store, &references, |share| share.identity = None);
    assert_eq!((plain.asked, store.0.lock().unwrap().len()), (23, 0), "nothing is kept without an identity");
    let cold = run(&store, &references, |_| {});
    assert_eq!((cold.asked, &cold.values, &cold.codes[..]), (23, &plain.values, &[][..]));
    let warm = run(&store, &references, |_| {});
    assert_eq!((warm.asked, &warm.values), (0, &plain.values));
    assert_eq!(warm.codes, ["kept-scores"]);

    let of_another = run(&store, &references, |share| {
        share.identity = Some(Identity { text: "share 2".to_owned(), knows_images: false });
    });
    assert_eq!(of_another.asked, 23, "another version");
    let by_image = |share: &mut Share| {
        share.identity = Some(Identity { text: "share 1".to_owned(), knows_images: true });
    };
    assert_eq!(run(&store, &references, by_image).asked, 23, "what knows images has scores for each");

    let mut changed = captions("references", &[]);
    for k in 0..references.len() {
        let more = if references.ids()[k] == SegmentId::from(3) { " there" } else { "" };
        changed.push(references.ids()[k].clone(), &format!("{}{more}", references.text(k)));
    }
    assert_eq!(run(&store, &changed, |_| {}).asked, 2, "both captions of the image with other references");
}

#[test]
fn scores_before_a_failure_are_kept() {
    let references = scene().0;
    let store = Arc::default();
    let failed = run(&store, &references, |share| share.fails_after = Some(9));
    assert_eq!((failed.values, failed.asked), (Err("it failed".to_owned()), 23));
    let rest = run(&store, &references, |_| {});
    assert_eq!(rest.asked, 14);
    assert_eq!(rest.values, run(&Arc::default(), &references, |_| {}).values);
}

#[test]
fn scores_that_depend_on_all_captions_are_kept_with_them() {
    let references = scene().0;
    let store = Arc::default();
    let together = |share: &mut Share| share.together = true;
    let cold = run(&store, &references, together);
    let warm = run(&store, &references, together);
    assert_eq!((cold.asked, warm.asked, &warm.values), (23, 0, &cold.values));
    let mut changed = captions("references", &[]);
    for k in 0..references.len() {
        // Of an image that the second system does not describe.
        let more = if references.ids()[k] == SegmentId::from(7) { " there" } else { "" };
        changed.push(references.ids()[k].clone(), &format!("{}{more}", references.text(k)));
    }
    assert_eq!(run(&store, &changed, together).asked, 12, "all captions of the first system");
}

#[test]
fn damaged_scores_are_told_and_computed_again() {
    let references = scene().0;
    let store: Arc<Store> = Arc::default();
    let cold = run(&store, &references, |_| {});
    let good = store.0.lock().unwrap().values().next().unwrap().clone();
    for at in (0..good.len()).step_by(37) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        store.0.lock().unwrap().values_mut().for_each(|file| file.clone_from(&bad));
        let again = run(&store, &references, |_| {});
        assert_eq!(
            (again.asked, again.values, again.codes),
            (23, cold.values.clone(), vec!["score-cache".to_owned()])
        );
        assert_eq!(store.0.lock().unwrap().values().next(), Some(&good), "byte {at}");
    }
}

/// A picture for each image whose id is even.
struct Even;

impl PictureSource for Even {
    fn of(&self, images: &[&SegmentId]) -> Result<Vec<Option<Picture>>, Refusal> {
        assert!(images.windows(2).all(|pair| pair[0] < pair[1]), "each image once");
        let picture = |id: &&SegmentId| match id {
            SegmentId::Integer(id) if id % 2 == 0 => {
                Some(Picture::File { path: format!("/{id}.jpg"), state: String::new() })
            }
            _ => None,
        };
        Ok(images.iter().map(picture).collect())
    }

    fn name(&self) -> String {
        "the folder".to_owned()
    }
}

#[test]
fn a_metric_that_looks_at_pictures_gets_them() {
    let (references, [first, _]) = scene();
    let score = |sight: Sight, pictures: Option<Pictures>| {
        let seen = Arc::<Mutex<Vec<Option<Picture>>>>::default();
        let (resources, _) = with(|share| {
            share.sight = sight;
            share.seen = Arc::clone(&seen);
        });
        let resources = resources.with(pictures.map(Arc::new));
        let request = ScoreRequest {
            resources,
            options: options(Missing::Error),
            ..ScoreRequest::new(references.clone(), [("first", first.clone())])
        };
        let refused = capeval::score(request).err().map(|error| error.to_string());
        let seen = seen.lock().unwrap().iter().filter(|picture| picture.is_some()).count();
        (seen, refused.unwrap_or_default())
    };
    let even = || Some(Pictures(Arc::new(Even)));
    assert_eq!(score(Sight::None, even()), (0, String::new()));
    assert_eq!(score(Sight::Optional, even()), (6, String::new()));
    assert_eq!(score(Sight::Optional, None), (0, String::new()));
    assert_eq!(score(Sight::Needed, None), (0, "my.share needs pictures, and none are given".to_owned()));
    let missing = "images 1, 3, 5, 7, 9 and 1 more have no picture in the folder, and my.share needs one";
    assert_eq!(score(Sight::Needed, even()), (0, missing.to_owned()));
}

#[test]
fn captions_in_a_language_that_the_metric_is_not_made_for_are_noticed() {
    let references = captions("references", &[(1, "两只小狗在草地上玩"), (2, "一个人在海边")]);
    let english = captions("references", &[(1, "two dogs play"), (2, "a man at the sea")]);
    let told = |references: &Captions, languages: &[&str]| {
        let (resources, _) =
            with(|share| share.languages = languages.iter().map(|code| (*code).to_owned()).collect());
        let request = ScoreRequest {
            resources,
            options: ScoreOptions { metrics: MetricOptions::new(["my.share"]), ..ScoreOptions::default() },
            ..ScoreRequest::new(references.clone(), [("mine", references.clone())])
        };
        let notices = capeval::score(request).unwrap().head.notices;
        let about = notices
            .into_iter()
            .filter(|notice| notice.code == Code::EnglishOnly || notice.code == Code::OtherLanguage);
        about.map(|notice| notice.message).collect::<Vec<_>>()
    };
    let who = "the references and the candidates";
    for (references, languages, expected) in [
        (&references, &[][..], None),
        (&references, &["zh"], None),
        (&references, &["en", "zh"], None),
        (
            &references,
            &["en"],
            Some(format!("100% of the letters in {who} are not ASCII, and share knows only English")),
        ),
        (
            &references,
            &["de", "fr"],
            Some(format!(
                "{who} are written without spaces between words, and share knows only German and French"
            )),
        ),
        (&english, &["en"], None),
        (&english, &["de"], None),
        (
            &english,
            &["zh", "ja"],
            Some(format!(
                "{who} are written with spaces between words, and share knows only Chinese and Japanese"
            )),
        ),
    ] {
        let expected: Vec<String> =
            expected.into_iter().map(|told| format!("{told}, so the scores mean little")).collect();
        assert_eq!(told(references, languages), expected, "{languages:?}");
    }
}
