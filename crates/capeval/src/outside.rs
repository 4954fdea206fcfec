//! Metrics that are computed outside of the engine, by a function or by a program, before anything else is measured.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use capeval_choice::Refusal;
use capeval_corpus::SegmentId;
use capeval_evaluate::registry::{self, Resources, SUITES};
use capeval_evaluate::{Progress, ReferenceSet, Stage, System};
use capeval_metric::{
    About, AnyMetric, Column, Explanation, Input, Learns, Metric, Part, Reading, References, Segment,
    Signature, Statistics, Step,
};

use crate::Error;

/// A caption to score outside of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutsideRow<'r> {
    /// The id of its image, if it has one.
    pub image: Option<&'r SegmentId>,
    /// The caption.
    pub candidate: &'r str,
    /// What it is compared with; empty if the metric needs no references.
    pub references: Vec<&'r str>,
}

impl OutsideRow<'_> {
    /// What it is called where something is wrong with it.
    pub fn told(&self) -> String {
        self.image.map_or_else(|| "a row without id".to_owned(), |image| format!("image {}", image.quoted()))
    }
}

/// A metric that is computed outside of the engine. Its corpus scores are means of its scores of captions.
pub trait Outside: Send + Sync {
    /// What lists of metrics call it.
    fn name(&self) -> &str;
    /// Its measures, of which there is at least one.
    fn parts(&self) -> &[Part];
    /// Everything that its scores depend on besides captions and references.
    fn signature(&self) -> Signature;
    /// Whether it compares captions with references.
    fn needs_references(&self) -> bool;
    /// Whether the score of a caption depends on the others: then it is asked about all captions of a system at once.
    fn takes_all_together(&self) -> bool {
        false
    }
    /// The scores of all rows, measure after measure. Calls `progress` for rows that are done; that may unwind.
    fn score(&self, rows: &[OutsideRow<'_>], progress: &dyn Progress) -> Result<Vec<Vec<f64>>, Refusal>;
}

/// Metrics that are computed outside of the engine, for [`Resources`]: a name in a list of metrics means one of these
/// before any other.
#[derive(Clone, Default)]
pub struct OutsideMetrics(pub Vec<Arc<dyn Outside>>);

impl fmt::Debug for OutsideMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|one| one.name())).finish()
    }
}

impl OutsideMetrics {
    /// Which of these a metric is, if it is one.
    fn of(&self, metric: &AnyMetric) -> Option<&dyn Outside> {
        self.0.iter().find(|one| one.signature() == *metric.signature()).map(AsRef::as_ref)
    }
}

/// Checks the name of a metric that is computed outside of the engine: it can stand in lists, signatures and files, and
/// is not that of a metric or a suite of the engine, nor what signatures call given scores.
pub fn check_outside_name(name: &str) -> Result<(), Refusal> {
    check("name", name)?;
    let what = match name {
        _ if registry::kind(name).is_some() => "a metric",
        _ if SUITES.iter().any(|suite| suite.name == name) => "a suite",
        _ if Signature::new(name).is_given() => "a word",
        _ => return Ok(()),
    };
    Err(Refusal::new(format!("name: capeval has {what} {name} of its own"))
        .with_remedy("choose another name"))
}

/// Checks the key of a measure of such a metric.
pub fn check_outside_key(key: &str) -> Result<(), Refusal> {
    check("key", key)
}

fn check(what: &str, key: &str) -> Result<(), Refusal> {
    let is_good = key.starts_with(|first: char| first.is_ascii_lowercase())
        && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
        && key.len() <= 64;
    match is_good {
        true => Ok(()),
        false => Err(Refusal::new(format!("{what}: {key:?} is not a name such as length-ratio"))
            .with_remedy("use lower-case letters, digits, hyphens and underscores, a letter first")),
    }
}

/// The metric of this name without scores, to describe it; `None` if there is none.
pub(crate) fn described(name: &str, resources: &Resources) -> Option<AnyMetric> {
    let all = resources.get::<OutsideMetrics>()?;
    let outside = all.0.iter().find(|one| one.name() == name)?;
    Some(AnyMetric::new(Computed::new(outside.as_ref(), Vec::new())))
}

/// The metrics that the engine computes itself.
pub(crate) fn inside(metrics: Vec<AnyMetric>, resources: &Resources) -> Vec<AnyMetric> {
    match resources.get::<OutsideMetrics>() {
        Some(all) => metrics.into_iter().filter(|metric| all.of(metric).is_none()).collect(),
        None => metrics,
    }
}

/// Refuses metrics that are computed outside of the engine, where nothing computes them.
pub(crate) fn refuse(metrics: &[AnyMetric], resources: &Resources, why: &str) -> Result<(), Error> {
    let Some(all) = resources.get::<OutsideMetrics>() else { return Ok(()) };
    match metrics.iter().find_map(|metric| all.of(metric)) {
        Some(one) => Err(Error::with_remedy(
            format!("{} is computed outside of capeval, and {why}", one.name()),
            "leave it out of the metrics",
        )),
        None => Ok(()),
    }
}

/// Captions that are scored together, with the references of each image.
pub(crate) struct Scene<'s> {
    pub systems: &'s [System],
    pub ids: Vec<Option<&'s SegmentId>>,
    pub references: Vec<Vec<&'s str>>,
}

/// The metrics with the scores of those that are computed outside of the engine, for each of `scenes`. Each of them is
/// asked once, for all scenes, and once about captions that have the same image and references; those that take all
/// captions together are asked about each system, and about all its captions.
pub(crate) fn compute(
    metrics: &[AnyMetric],
    resources: &Resources,
    scenes: &[Scene<'_>],
    progress: &dyn Progress,
) -> Result<Vec<Vec<AnyMetric>>, Error> {
    let mut all = vec![metrics.to_vec(); scenes.len()];
    let Some(outside) = resources.get::<OutsideMetrics>() else { return Ok(all) };
    let found = metrics.iter().enumerate().filter_map(|(place, metric)| Some((place, outside.of(metric)?)));
    let found: Vec<(usize, &dyn Outside)> = found.collect();
    for (number, (place, one)) in found.iter().enumerate() {
        let rows: Vec<OutsideRow<'_>> = scenes
            .iter()
            .flat_map(|scene| scene.systems.iter().map(move |system| (scene, system)))
            .flat_map(|(scene, system)| {
                system
                    .images
                    .iter()
                    .enumerate()
                    .map(move |(k, image)| (scene, *image as usize, system.texts.get(k)))
            })
            .map(|(scene, image, candidate)| OutsideRow {
                image: scene.ids[image],
                candidate,
                references: match one.needs_references() {
                    true => scene.references[image].clone(),
                    false => Vec::new(),
                },
            })
            .collect();
        let systems = scenes.iter().flat_map(|scene| scene.systems);
        let (rows, places, shares) = match one.takes_all_together() {
            true => {
                let places = (0..rows.len()).collect();
                (rows, places, systems.map(|system| system.images.len()).collect())
            }
            false => {
                let (rows, places) = unique(rows);
                let all = vec![rows.len()];
                (rows, places, all)
            }
        };
        progress.begin(Stage::Measuring, rows.len());
        progress.system(one.name(), number + 1, found.len());
        let scores = ask(*one, &rows, &shares, progress)?;
        let mut places = places.into_iter();
        for (metrics, scene) in all.iter_mut().zip(scenes) {
            let mut values = Vec::with_capacity(scene.systems.len());
            for system in scene.systems {
                let mut of_system = vec![f64::NAN; scene.ids.len() * scores.len()];
                for (image, row) in system.images.iter().zip(&mut places) {
                    let first = *image as usize * scores.len();
                    for (slot, of_measure) in of_system[first..].iter_mut().zip(&scores) {
                        *slot = of_measure[row];
                    }
                }
                values.push(of_system);
            }
            metrics[*place] = AnyMetric::new(Computed::new(*one, values));
        }
    }
    Ok(all)
}

/// The metrics with the scores of those that are computed outside of the engine, for the captions of one system: its
/// image number `k` has the id `ids[k]`, if it has one, and the references number `k`.
pub fn compute_outside(
    metrics: &[AnyMetric],
    resources: &Resources,
    system: &System,
    ids: &[Option<SegmentId>],
    references: &ReferenceSet,
    progress: &dyn Progress,
) -> Result<Vec<AnyMetric>, Error> {
    if !resources.has::<OutsideMetrics>() {
        return Ok(metrics.to_vec());
    }
    let scene = Scene {
        systems: std::slice::from_ref(system),
        ids: ids.iter().map(Option::as_ref).collect(),
        references: (0..references.n_images()).map(|image| references.of(image).collect()).collect(),
    };
    let computed = compute(metrics, resources, &[scene], progress)?;
    Ok(computed.into_iter().next().unwrap_or_default())
}

/// The rows that differ, and which of them each row is.
fn unique<'r>(rows: Vec<OutsideRow<'r>>) -> (Vec<OutsideRow<'r>>, Vec<usize>) {
    let mut known: HashMap<OutsideRow<'r>, usize> = HashMap::with_capacity(rows.len());
    let mut different = Vec::new();
    let place = |row: OutsideRow<'r>| {
        *known.entry(row).or_insert_with_key(|row| {
            different.push(row.clone());
            different.len() - 1
        })
    };
    let places = rows.into_iter().map(place).collect();
    (different, places)
}

/// The scores of all rows, measure after measure, of which consecutive shares are asked about together.
fn ask(
    one: &dyn Outside,
    rows: &[OutsideRow<'_>],
    shares: &[usize],
    progress: &dyn Progress,
) -> Result<Vec<Vec<f64>>, Error> {
    let mut scores = vec![Vec::with_capacity(rows.len()); one.parts().len()];
    let mut rest = rows;
    for share in shares {
        let (mine, others) = rest.split_at((*share).min(rest.len()));
        rest = others;
        let found = one.score(mine, progress)?;
        check_scores(one, mine, &found)?;
        scores.iter_mut().zip(found).for_each(|(all, found)| all.extend(found));
    }
    Ok(scores)
}

/// Checks that there is a number for each row and measure.
fn check_scores(one: &dyn Outside, rows: &[OutsideRow<'_>], scores: &[Vec<f64>]) -> Result<(), Error> {
    let name = one.name();
    if scores.len() != one.parts().len() || scores.iter().any(|of_measure| of_measure.len() != rows.len()) {
        return Err(Error::request(format!("{name} has not scored each of {} captions", rows.len())));
    }
    for (part, of_measure) in one.parts().iter().zip(scores) {
        if let Some((_, row)) = of_measure.iter().zip(rows).find(|(score, _)| score.is_nan()) {
            return Err(Error::with_remedy(
                format!("the score by {} of {} is not a number (NaN)", part.key, row.told()),
                format!("make {name} give every caption a number, such as 0"),
            ));
        }
    }
    Ok(())
}

/// A metric whose scores were computed before.
struct Computed {
    signature: Signature,
    parts: Vec<Part>,
    /// The scores by system: image after image, measure after measure.
    values: Arc<Vec<Vec<f64>>>,
}

impl Computed {
    fn new(outside: &dyn Outside, values: Vec<Vec<f64>>) -> Self {
        Self { signature: outside.signature(), parts: outside.parts().to_vec(), values: Arc::new(values) }
    }

    /// The scores of a segment, by measure.
    fn of(&self, segment: &Segment<'_>) -> Vec<f64> {
        let n = self.parts.len();
        let of_system = self.values.get(segment.system);
        let own = of_system.and_then(|values| values.get(segment.image * n..(segment.image + 1) * n));
        own.map_or_else(|| vec![f64::NAN; n], <[f64]>::to_vec)
    }
}

/// The number of segments, and the sum of their scores by each measure.
struct Sums {
    count: f64,
    sums: Vec<f64>,
}

impl Statistics for Sums {
    fn store(&self, row: &mut [f64]) {
        if let Some((count, sums)) = row.split_first_mut() {
            *count = self.count;
            sums.copy_from_slice(&self.sums);
        }
    }

    fn load(row: &[f64]) -> Self {
        let (count, sums) = row.split_first().map_or((0.0, &[][..]), |(count, sums)| (*count, sums));
        Self { count, sums: sums.to_vec() }
    }
}

impl Metric for Computed {
    type Model = ();
    type Stats = Sums;
    type Scratch = ();

    fn about(&self) -> About {
        // Names of columns differ.
        let name = |part: &Part| if self.parts.len() == 1 { "sum".to_owned() } else { part.key.clone() };
        let sums = self.parts.iter().map(|part| Column::sum(name(part)));
        let columns = std::iter::once(Column::count("segments")).chain(sums).collect();
        About::new(self.signature.clone(), Input::new(Reading::Raw), columns, self.parts.clone())
            .learns(Learns::Nothing)
            .mean(true)
    }

    fn fit(&self, _: &References<'_>) {}

    fn measure(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Sums {
        Sums { count: 1.0, sums: self.of(segment) }
    }

    fn score(&self, Sums { count, sums }: &Sums, values: &mut [f64]) {
        for (value, sum) in values.iter_mut().zip(sums) {
            *value = if *count == 0.0 { 0.0 } else { sum / count };
        }
    }

    fn explain(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Explanation {
        let steps = self.parts.iter().zip(self.of(segment));
        let step = |(part, value): (&Part, f64)| {
            Step::given(part.label.clone(), value).noted("computed outside of capeval")
        };
        Explanation { scores: steps.map(step).collect(), ..Explanation::over_words(segment) }
    }
}
