//! Runs metrics on benchmarks: from a folder of files to a report.

use std::collections::{HashMap, HashSet};

use capeval::choice::{Argument, Code, Refusal, Remedy};
use capeval::corpus::{Ids, SegmentId};
use capeval::evaluate::Progress;
use capeval::evaluate::registry;
use capeval::metric::{AnyMetric, Direction, Resources, Signature};
use capeval::report::{Correlation, Head, Notice, Preference, intervals_in_words, letters};
use capeval::stats::{Interval, Resampling};
use capeval::{
    CorrelateOptions, CorrelateRequest, GivenScores, MetricOptions, PreferOptions, PreferRequest,
    select_metrics,
};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::coefficient::Coefficient;
use crate::error::possible;
use crate::find::{Folder, FoundFile, words_of};
use crate::read::{Data, Files, People, check, read};
use crate::registry::{Benchmark, PublishedValues, Reading, published_key};
use crate::resamples::{Resamples, clusters};
use crate::result::{MeasureResult, MetaReport, Outcome, PairTests, Value};
use crate::verdict::compare;

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetaOptions {
    /// The metrics; if scores are given, they are computed only if some are chosen.
    pub metrics: MetricOptions,
    /// The keys of given scores that are error rates; those of known metrics need not be listed.
    pub lower_is_better: Vec<String>,
    /// The resamples of the images, and the level of intervals and tests.
    pub intervals: Resampling,
    /// Accept files with other numbers of captions than the published ones.
    pub subset: bool,
    /// Show every pair of metrics in tables.
    pub differences: bool,
}

impl Default for MetaOptions {
    /// The COCO metrics, and 1,000 resamples.
    fn default() -> Self {
        Self {
            metrics: MetricOptions::default(),
            lower_is_better: Vec::new(),
            intervals: Resampling { resamples: 1_000, ..Resampling::default() },
            subset: false,
            differences: false,
        }
    }
}

/// Scores that someone else computed, of all benchmarks or of one.
#[derive(Clone)]
pub struct BenchmarkScores {
    /// The benchmark; `None` for all.
    pub benchmark: Option<String>,
    /// The scores.
    pub scores: GivenScores,
}

/// A request to [`run`].
pub struct MetaRequest<'p> {
    /// The benchmarks, in the order in which they are shown.
    pub benchmarks: Vec<&'static Benchmark>,
    /// The folder with the files.
    pub data: String,
    /// Scores that were computed before.
    pub scores: Vec<BenchmarkScores>,
    /// The options.
    pub options: MetaOptions,
    /// Tables and third-party data for metrics that use them.
    pub resources: Resources,
    /// Receives progress reports.
    pub progress: &'p dyn Progress,
}

/// Runs metrics on benchmarks.
///
/// # Errors
/// If a file is missing, is not the real one, or cannot be read, and as [`capeval::correlate`] and [`capeval::prefer`]
/// do.
pub fn run(request: MetaRequest<'_>) -> Result<MetaReport, Error> {
    let MetaRequest { benchmarks, data, scores, options, resources, progress } = request;
    options.intervals.check()?;
    let mut seen = HashSet::new();
    let benchmarks: Vec<&'static Benchmark> =
        benchmarks.into_iter().filter(|benchmark| seen.insert(&benchmark.name)).collect();
    if benchmarks.is_empty() {
        return Err(Error::new("no benchmark is named", "name some, or see the list of benchmarks"));
    }
    for other in scores.iter().filter_map(|one| one.benchmark.as_ref()) {
        if !benchmarks.iter().any(|benchmark| benchmark.name == *other) {
            return Err(Error::new(
                format!("scores are given for {other}, which is not among the benchmarks"),
                "run it as well, or leave its scores out",
            ));
        }
    }
    let folder = Folder::open(&data)?;
    // What is wrong with a file is said before anything is computed.
    let all = benchmarks.iter().map(|benchmark| open(benchmark, &folder, options.subset));
    let all = all.collect::<Result<Vec<BenchmarkData>, Error>>()?;
    let computes = scores.is_empty() || options.metrics.are_chosen();
    let metrics = match computes {
        true => select_metrics(&options.metrics, &resources).map_err(of_metrics)?.metrics,
        false => Vec::new(),
    };
    let asked = BenchmarkRun {
        options: &options,
        scores: &scores,
        resources: &resources,
        metrics: &metrics,
        progress,
    };
    let mut outcomes = Vec::with_capacity(all.len());
    for (benchmark, opened) in benchmarks.iter().zip(all) {
        outcomes.push(outcome(benchmark, opened, &asked)?);
    }
    Ok(MetaReport::new(head(&outcomes, options.intervals), outcomes, options.differences))
}

/// The request to all benchmarks.
struct BenchmarkRun<'r> {
    options: &'r MetaOptions,
    scores: &'r [BenchmarkScores],
    resources: &'r Resources,
    metrics: &'r [AnyMetric],
    progress: &'r dyn Progress,
}

/// The data of a benchmark.
struct BenchmarkData {
    reading: &'static Reading,
    data: Data,
    /// The files: their names, and whether they have the known checksum.
    files: Vec<(String, Option<bool>)>,
}

/// An error about the content of a file, with where the real one comes from.
fn with_origin(benchmark: &Benchmark, error: Error) -> Error {
    match error {
        Error::Files(capeval_files::Error::System { .. }) => error,
        error => Error::new(error.to_string(), format!("get the real file from {}", benchmark.origin)),
    }
}

/// An error of the chosen metrics.
fn of_metrics(error: capeval::Error) -> Error {
    let error = Error::from(error);
    match error.remedy() {
        Some(_) => error,
        None => Error::new(error.to_string(), Remedy::give(Argument::Metrics).to("choose others")),
    }
}

/// An error of metrics on a benchmark; where nothing that can be set helps, the files do not fit its rules.
fn with_remedy(benchmark: &Benchmark, error: capeval::Error) -> Error {
    let error = Error::from(error);
    if error.remedy().is_some() { error } else { with_origin(benchmark, error) }
}

/// Finds and reads the files of a benchmark in the first form in which they are there.
fn open(benchmark: &'static Benchmark, folder: &Folder, is_subset: bool) -> Result<BenchmarkData, Error> {
    let (mut missing, mut refused) = (Vec::new(), None);
    for reading in &benchmark.readings {
        let found: Vec<Vec<FoundFile>> = match folder.find(reading)? {
            Ok(found) => found,
            Err(_) => {
                missing.push((reading.name.clone(), words_of(reading)));
                continue;
            }
        };
        let files = Files::new(reading, &found);
        let read = read(&files).map_err(|error| with_origin(benchmark, error));
        let checked = read.and_then(|data| match is_subset {
            true => Ok(data),
            false => check(benchmark, &files, &data).map(|()| data),
        });
        match checked {
            Ok(data) => {
                let files = found.into_iter().flatten().map(|file| (file.name, file.is_known)).collect();
                return Ok(BenchmarkData { reading, data, files });
            }
            // Another form may fit better; if none does, the first complaint is about the likeliest form.
            Err(error) => {
                refused.get_or_insert(error);
            }
        }
    }
    Err(refused.unwrap_or_else(|| folder.refuse(benchmark, &missing)))
}

fn outcome(
    benchmark: &'static Benchmark,
    opened: BenchmarkData,
    asked: &BenchmarkRun<'_>,
) -> Result<Outcome, Error> {
    let BenchmarkData { reading, data, files } = opened;
    let mut notices: Vec<Notice> = Vec::new();
    let changed: Vec<&str> = files
        .iter()
        .filter(|(_, is_known)| *is_known == Some(false))
        .map(|(name, _)| name.as_str())
        .collect();
    if !changed.is_empty() {
        let message = format!("{} has another content than the file that was tried", changed.join(", "));
        notices.push(Notice::new(Code::OtherFile, message).count(changed.len()));
    }
    let Data { people, references, images } = data;
    let scores = given(benchmark, asked.scores, &images);
    let own_reference = reading.own_reference;
    let BenchmarkRun { options, resources, progress, .. } = *asked;
    let real = |id: &SegmentId| images.get(id).unwrap_or(id).clone();
    let mut outcome = match people {
        People::Ratings(ratings) => {
            let has_metrics = !asked.metrics.is_empty();
            let references = references.or_else(|| ratings.references.clone()).filter(|_| has_metrics);
            let found = capeval::correlate(CorrelateRequest {
                references,
                scores,
                options: CorrelateOptions {
                    metrics: options.metrics.clone(),
                    lower_is_better: options.lower_is_better.clone(),
                    unit: benchmark.unit,
                    own_reference,
                    ids: Ids::Text,
                    ..CorrelateOptions::default()
                },
                resources: resources.clone(),
                progress,
                ..CorrelateRequest::new(*ratings)
            })
            .map_err(|error| with_remedy(benchmark, error))?;
            of_correlation(benchmark, found, &real, asked)
        }
        People::Pairs(choices) => {
            let pairs = benchmark.pairs;
            let found = capeval::prefer(PreferRequest {
                scores,
                options: PreferOptions {
                    metrics: options.metrics.clone(),
                    lower_is_better: options.lower_is_better.clone(),
                    references_per_pair: pairs.references,
                    draws: pairs.draws,
                    human_ties: pairs.human_ties,
                    metric_ties: pairs.metric_ties,
                    own_reference,
                    ids: Ids::Text,
                    ..PreferOptions::default()
                },
                resources: resources.clone(),
                progress,
                ..PreferRequest::new(choices)
            })
            .map_err(|error| with_remedy(benchmark, error))?;
            of_preference(benchmark, found, &real, asked)
        }
    };
    outcome.reading = Some(reading.name.clone());
    outcome.files = files.into_iter().map(|(name, _)| name).collect();
    outcome.is_subset = options.subset;
    notices.extend(unusual(benchmark, &outcome));
    outcome.notices.retain(|notice| notice.code != Code::OneRater);
    for notice in &mut outcome.notices {
        notice.remedy = notice.remedy.as_ref().and_then(possible);
    }
    outcome.notices.splice(0..0, notices);
    Ok(outcome)
}

/// The scores of a benchmark, with a copy for each id of an image.
fn given(
    benchmark: &Benchmark,
    scores: &[BenchmarkScores],
    images: &HashMap<SegmentId, SegmentId>,
) -> Vec<GivenScores> {
    let mut copies: HashMap<String, Vec<SegmentId>> = HashMap::new();
    let mut all: Vec<(&SegmentId, &SegmentId)> = images.iter().collect();
    all.sort();
    for (copy, image) in all {
        copies.entry(image.to_string()).or_default().push(copy.clone());
    }
    let own = scores.iter().filter(|one| one.benchmark.as_ref().is_none_or(|name| *name == benchmark.name));
    own.map(|one| one.scores.with_copies(&copies)).collect()
}

/// The published values of a measure: those of metrics with the settings that were published.
struct Comparable<'r> {
    benchmark: &'static Benchmark,
    /// The signature of the metric that each measure belongs to; `None` for given scores.
    signatures: Vec<Option<&'r Signature>>,
    /// The usual signature of each, if the metric can be built.
    usual: Vec<Option<Signature>>,
    resources: &'r Resources,
}

impl<'r> Comparable<'r> {
    fn new(benchmark: &'static Benchmark, head: &Head, asked: &BenchmarkRun<'r>) -> Self {
        let metric = |measure: usize| head.metric_of(measure).and_then(|metric| asked.metrics.get(metric));
        let metrics: Vec<Option<&AnyMetric>> = (0..head.measures.len()).map(metric).collect();
        let usual = (0..head.measures.len()).map(|measure| {
            let key = &head.metrics.get(head.metric_of(measure)?)?.key;
            let kind = registry::kind(key).filter(|_| metrics.get(measure).is_some_and(Option::is_some))?;
            Some(registry::build(kind.name, &[], asked.resources).ok()?.signature().clone())
        });
        Self {
            benchmark,
            usual: usual.collect(),
            signatures: metrics.iter().map(|metric| metric.map(AnyMetric::signature)).collect(),
            resources: asked.resources,
        }
    }

    /// Returns true if a published value is of this measure with these settings.
    fn is_of(&self, published: &PublishedValues, metric: &str, measure: usize) -> bool {
        let Some(own) = self.signatures.get(measure).copied().flatten() else { return true };
        match published.settings.get(metric) {
            Some(spec) => {
                registry::build(spec, &[], self.resources).is_ok_and(|metric| metric.signature() == own)
            }
            None => self.usual.get(measure).and_then(Option::as_ref).is_none_or(|usual| usual == own),
        }
    }

    /// A value with all that was published of it.
    fn value(
        &self,
        (measure, key): (usize, &str),
        coefficient: Coefficient,
        category: Option<String>,
        value: Option<f64>,
        interval: Option<Interval>,
    ) -> Value {
        let metric = published_key(key);
        let is_of = |published: &&'static PublishedValues| {
            published.coefficient == coefficient
                && published.category == category
                && self.is_of(published, metric, measure)
        };
        let own = self.benchmark.published.iter().filter(is_of);
        let published =
            own.filter_map(|published| compare(self.benchmark, published, metric, value, interval)).collect();
        Value { coefficient, category, value, interval, published }
    }
}

fn of_correlation(
    benchmark: &'static Benchmark,
    found: Correlation,
    real: &dyn Fn(&SegmentId) -> SegmentId,
    asked: &BenchmarkRun<'_>,
) -> Outcome {
    let Correlation { head, human, signatures, agreements, differences, mut points, .. } = found;
    points.images.iter_mut().for_each(|image| *image = real(image));
    let (clusters, n_images) = clusters(points.images.iter());
    let wanted = benchmark.coefficients();
    let resampling = asked.options.intervals;
    let resampled = Resamples::of_ratings(
        &points.ratings,
        &points.scores,
        (&clusters, n_images),
        &wanted,
        resampling,
        asked.progress,
    );
    let comparable = Comparable::new(benchmark, &head, asked);
    let measured = head.measures.iter().zip(&agreements).enumerate().map(|(m, (measure, agreement))| {
        let values = wanted.iter().enumerate().map(|(k, coefficient)| {
            let value = coefficient.of(agreement);
            let interval = resampled.interval(m, k, resampling.level).filter(|_| value.is_some());
            comparable.value((m, &measure.key), *coefficient, None, value, interval)
        });
        MeasureResult { measure: measure.clone(), values: values.collect(), letters: String::new() }
    });
    let people = format!(
        "{} of {} for {}",
        capeval::choice::counted(human.n_ratings, "rating"),
        capeval::choice::counted(human.n_items, "caption"),
        capeval::choice::counted(n_images, "image")
    );
    let mut outcome = Outcome {
        people,
        n_points: human.n_points,
        n_images,
        signatures,
        notices: head.notices.clone(),
        points: Some(points),
        ..Outcome::new(benchmark, measured.collect(), head.metrics.clone())
    };
    outcome.contrast(&resampled, resampling, |a, b| {
        differences.iter().find(|d| (d.a, d.b) == (a, b)).map(|d| d.test)
    });
    outcome
}

fn of_preference(
    benchmark: &'static Benchmark,
    mut found: Preference,
    real: &dyn Fn(&SegmentId) -> SegmentId,
    asked: &BenchmarkRun<'_>,
) -> Outcome {
    found.pairs.iter_mut().for_each(|pair| pair.image = real(&pair.image));
    let (clusters, n_images) = clusters(found.pairs.iter().map(|pair| &pair.image));
    let resampling = asked.options.intervals;
    let resampled = Resamples::of_pairs(&found, (&clusters, n_images), resampling, asked.progress);
    let comparable = Comparable::new(benchmark, &found.head, asked);
    let names: Vec<Option<String>> = found
        .categories
        .iter()
        .map(|category| (!category.name.is_empty()).then(|| category.name.clone()))
        .collect();
    let has_categories = names.iter().any(Option::is_some);
    let measured =
        found.head.measures.iter().zip(&found.accuracies).enumerate().map(|(m, (measure, accuracy))| {
            let of = |category: Option<String>, k: usize, value: Option<f64>| {
                let interval = resampled.interval(m, k, resampling.level).filter(|_| value.is_some());
                comparable.value((m, &measure.key), Coefficient::Accuracy, category, value, interval)
            };
            let mut values = vec![of(None, 0, accuracy.mean.value)];
            if has_categories {
                let each = names.iter().zip(&accuracy.by_category).enumerate();
                values.extend(each.map(|(k, (name, found))| of(name.clone(), k + 1, found.value)));
            }
            MeasureResult { measure: measure.clone(), values, letters: String::new() }
        });
    let voters = &found.voters;
    let people = format!(
        "{} of {}",
        capeval::choice::counted(voters.n_pairs, "pair"),
        capeval::choice::counted(n_images, "image")
    );
    let mut outcome = Outcome {
        people,
        n_points: voters.n_pairs,
        n_images,
        signatures: found.signatures.clone(),
        notices: found.head.notices.clone(),
        ..Outcome::new(benchmark, measured.collect(), found.head.metrics.clone())
    };
    outcome.contrast(&resampled, resampling, |_, _| None);
    outcome.pairs = Some(found.pairs);
    outcome
}

impl Outcome {
    /// Tests all pairs of measures by the customary coefficient, and gives letters to those that do not differ.
    fn contrast(
        &mut self,
        resampled: &Resamples,
        resampling: Resampling,
        williams: impl Fn(usize, usize) -> Option<capeval::stats::correlation::Williams>,
    ) {
        let plain: Vec<Option<f64>> = self.measured.iter().map(|m| m.values.first()?.value).collect();
        let sign =
            |m: &MeasureResult| if m.measure.direction == Direction::LowerIsBetter { -1.0 } else { 1.0 };
        // An error rate disagrees where it is high; an accuracy counts what is right either way.
        let is_signed = self.benchmark.coefficient != Coefficient::Accuracy;
        let signs: Vec<f64> = self.measured.iter().map(|m| if is_signed { sign(m) } else { 1.0 }).collect();
        let contrasts = resampled.contrasts(&plain, &signs, resampling.level);
        let mut best_first: Vec<usize> = (0..plain.len()).collect();
        let turned = |m: usize| plain[m].map_or(f64::NEG_INFINITY, |value| signs[m] * value);
        best_first.sort_by(|a, b| turned(*b).total_cmp(&turned(*a)));
        let alpha = 1.0 - resampling.level;
        let differ = contrasts.iter().filter(|contrast| contrast.p_corrected < alpha).map(|c| (c.a, c.b));
        // A measure without a coefficient has no letter.
        let all_known = plain.iter().all(Option::is_some);
        if all_known && plain.len() > 1 {
            for (measured, letters) in self.measured.iter_mut().zip(letters(&best_first, differ)) {
                measured.letters = letters;
            }
        }
        self.contrasts = contrasts
            .into_iter()
            .map(|contrast| PairTests { williams: williams(contrast.a, contrast.b), contrast })
            .collect();
    }
}

/// A notice about metrics with other settings than the published ones.
fn unusual(benchmark: &Benchmark, outcome: &Outcome) -> Option<Notice> {
    let lacks = |measured: &&MeasureResult| {
        let key = published_key(&measured.measure.key);
        let is_published = benchmark.published.iter().any(|published| published.values.contains_key(key));
        is_published && measured.values.iter().all(|value| value.published.is_empty())
    };
    let keys: Vec<&str> = outcome.measured.iter().filter(lacks).map(|m| m.measure.key.as_str()).collect();
    let settings = benchmark.published.iter().flat_map(|published| published.settings.values());
    let settings: Vec<&str> = settings.map(String::as_str).collect();
    (!keys.is_empty()).then(|| {
        let message =
            format!("published values of {} are of other settings, and are not compared", keys.join(", "));
        let notice = Notice::new(Code::OtherSettings, message).count(keys.len());
        if settings.is_empty() {
            return notice;
        }
        let remedy = Remedy::set(Argument::Metrics, settings.join(",")).to("compare with them");
        Notice { remedy: Some(remedy), ..notice }
    })
}

/// The head of all results: the measures of all benchmarks, in order of first appearance.
fn head(outcomes: &[Outcome], resampling: Resampling) -> Head {
    let mut head =
        Head { version: capeval::VERSION.to_owned(), resampling: Some(resampling), ..Head::default() };
    for outcome in outcomes {
        for metric in &outcome.metrics {
            if !head.metrics.contains(metric) {
                head.metrics.push(metric.clone());
            }
        }
        for measured in &outcome.measured {
            if !head.measures.iter().any(|known| known.key == measured.measure.key) {
                head.measures.push(measured.measure.clone());
            }
        }
        let name = &outcome.benchmark.name;
        let said =
            |notice: &Notice| Notice { message: format!("{name}: {}", notice.message), ..notice.clone() };
        head.notices.extend(outcome.notices.iter().map(said));
    }
    head
}

/// The computation of intervals and tests, in words.
pub(crate) fn tests_in_words(resampling: &Resampling) -> Vec<String> {
    vec![
        format!("[low, high]: {}", intervals_in_words(resampling, "image")),
        "a, b, …: metrics that share a letter do not differ significantly on these ratings, by the standard error of their \
         difference over the same resamples (Holm correction over all pairs of a benchmark)"
            .to_owned(),
    ]
}

/// Refuses benchmarks that are not met.
pub fn unmet(report: &MetaReport) -> Option<Refusal> {
    let unmet = report.unmet();
    let (first, n) = (unmet.first()?, unmet.len());
    let others = if n > 1 { format!(", and {} more", n - 1) } else { String::new() };
    Some(Refusal::new(format!("a published value is not met: {first}{others}")))
}
