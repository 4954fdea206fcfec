//! Metrics that are computed outside of the engine, by a function or by a program, before anything else is measured.

mod asking;
mod computed;
mod kept;
mod picture;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use capeval_choice::{Notice, Refusal};
use capeval_corpus::SegmentId;
use capeval_evaluate::registry::{self, Resources, SUITES};
use capeval_evaluate::{Progress, ReferenceSet, Stage, System};
use capeval_metric::{AnyMetric, Explanation, Part, Setting, Signature};
use capeval_stats::Column;

use crate::Error;

use asking::Asking;
use computed::{Computed, Place};
pub use kept::{KeptScores, OutsideScores, ScoreStore};
pub use picture::{Picture, PictureSource, Pictures, Sight};

/// A caption to score outside of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutsideRow<'r> {
    /// The name of the system, for a metric that distinguishes systems.
    pub system: Option<&'r str>,
    /// The id of its image, if it has one.
    pub image: Option<&'r SegmentId>,
    /// The caption.
    pub candidate: &'r str,
    /// The caption of the other system or of the other side of a pair, if the metric compares two.
    pub rival: Option<&'r str>,
    /// The captions that it is compared with; empty if the metric needs no references.
    pub references: Vec<&'r str>,
    /// The picture of its image, if the metric looks at it.
    pub picture: Option<&'r Picture>,
}

impl OutsideRow<'_> {
    /// Its name in errors.
    pub fn told(&self) -> String {
        self.image.map_or_else(|| "a row without id".to_owned(), |image| format!("image {}", image.quoted()))
    }
}

/// The identity of a metric, under which its scores are cached for later runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// All that its scores depend on beside rows: a name, a version, a hash of its code.
    pub text: String,
    /// True if it sees the ids of images.
    pub knows_images: bool,
}

/// How the score of a corpus comes from those of its captions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Summary {
    /// The mean.
    #[default]
    Mean,
    /// The median.
    Median,
}

/// A metric that is computed outside of the engine.
pub trait Outside: Send + Sync {
    /// Its name in lists of metrics.
    fn name(&self) -> &str;
    /// Its measures, of which there is at least one.
    fn parts(&self) -> &[Part];
    /// Everything that its scores depend on besides captions and references.
    fn signature(&self) -> Signature;
    /// Returns true if it compares captions with references.
    fn needs_references(&self) -> bool;
    /// Returns true if a caption's score depends on the others: then it scores all captions of a system at once.
    fn takes_all_together(&self) -> bool {
        false
    }
    /// Returns true if equal captions of two systems may have different scores.
    fn distinguishes_systems(&self) -> bool {
        false
    }
    /// Returns true if it compares two captions of an image, and not each with references.
    fn compares_pairs(&self) -> bool {
        false
    }
    /// How it uses pictures.
    fn sight(&self) -> Sight {
        Sight::None
    }
    /// The languages that it is made for, as codes such as `en`; empty for all.
    fn languages(&self) -> &[String] {
        &[]
    }
    /// Its identity, if its scores may be cached for later runs.
    fn identity(&self) -> Option<Identity> {
        None
    }
    /// The columns that it counts in each caption, if scores are computed from their sums, not averaged over captions.
    fn columns(&self) -> Option<Vec<Column>> {
        None
    }
    /// The scores of `n` captions from the sums of its [`columns`](Self::columns).
    fn combine(&self, _n: f64, _sums: &[f64], _scores: &mut [f64]) {}
    /// Scores all rows.
    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal>;
    /// How its corpus scores come from its scores of captions.
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    /// The metric of the engine, with settings, whose score of each segment its own one multiplies: then its measure is
    /// the product.
    fn multiplies(&self) -> Option<&str> {
        None
    }
    /// Further fields of the signature, found while scoring since the last call.
    fn sign(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Notices about the rows that it has scored.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }
    /// How the scores of a row came about, if it can tell.
    fn explain(&self, _row: &OutsideRow<'_>) -> Option<Explanation> {
        None
    }
}

/// Receives scores as they come, from any thread. All methods may unwind, which ends the work.
pub trait Answers: Sync {
    /// Takes the scores of row number `row`, one by each measure, or its [`columns`](Outside::columns).
    fn take(&self, row: usize, scores: &[f64]);
    /// Called while no scores come.
    fn wait(&self);
    /// Shows a person what the work has cost, or the like, beside its progress.
    fn remark(&self, _text: &str) {}
}

/// The number of values that a metric gives of each caption.
fn width(one: &dyn Outside) -> usize {
    one.columns().map_or_else(|| one.parts().len(), |columns| columns.len())
}

/// Metrics that are computed outside of the engine, for [`Resources`]: a name in a list of metrics means one of these
/// before any other.
#[derive(Clone, Default)]
pub struct OutsideMetrics(pub Vec<Arc<dyn Outside>>);

/// The settings of all metrics that are computed outside of the engine and come with capeval, by name, for
/// [`Resources`]: settings for all metrics may be theirs.
#[derive(Clone, Default)]
pub struct OutsideSettings(pub Vec<(&'static str, Vec<&'static Setting>)>);

impl fmt::Debug for OutsideMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|one| one.name())).finish()
    }
}

impl OutsideMetrics {
    /// Which of these a metric is, if it is one.
    fn of(&self, metric: &AnyMetric) -> Option<&Arc<dyn Outside>> {
        let own = metric.factor().unwrap_or(metric).signature();
        self.0.iter().find(|one| one.signature() == *own)
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

/// Checks the code of a language that such a metric is made for.
pub fn check_language(code: &str) -> Result<(), Refusal> {
    let is_code = (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase());
    match is_code {
        true => Ok(()),
        false => Err(Refusal::new(format!("language: {code:?} is not a code such as en"))
            .with_remedy("use the two or three letters of ISO 639: en, de, zh")),
    }
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

/// The metric of this name without scores, to describe it; `None` if there is none. Settings in `common` are those of
/// the metric that it multiplies.
pub(crate) fn described(
    name: &str,
    common: &[(&str, &str)],
    resources: &Resources,
) -> Option<Result<AnyMetric, Refusal>> {
    let all = resources.get::<OutsideMetrics>()?;
    let outside = all.0.iter().find(|one| one.name() == name)?;
    let own = AnyMetric::new(Computed::described(outside));
    Some(match (outside.multiplies(), outside.parts()) {
        (Some(base), [part, ..]) => registry::build(base, common, resources)
            .map(|base| AnyMetric::product(base, own, part.clone()))
            .map_err(|refusal| refusal.at(name)),
        _ => Ok(own),
    })
}

/// Refuses metrics that need pictures where none are given.
pub fn check_pictures(resources: &Resources) -> Result<(), Error> {
    let (all, pictures) = (resources.get::<OutsideMetrics>(), resources.get::<Pictures>());
    let mut all = all.iter().flat_map(|all| &all.0);
    all.try_for_each(|one| picture::check(one.name(), one.sight(), pictures.as_deref()))
}

/// The metrics that the engine computes itself.
pub(crate) fn inside(metrics: Vec<AnyMetric>, resources: &Resources) -> Vec<AnyMetric> {
    match resources.get::<OutsideMetrics>() {
        Some(all) => metrics.into_iter().filter(|metric| all.of(metric).is_none()).collect(),
        None => metrics,
    }
}

/// Captions that are scored together, with the references of each image.
pub(crate) struct Scene<'s> {
    pub systems: &'s [System],
    pub ids: Vec<Option<&'s SegmentId>>,
    pub references: Vec<Vec<&'s str>>,
}

impl<'s> Scene<'s> {
    /// The caption of an image by the other of two systems.
    fn rival(&self, system: &System, image: usize) -> Option<&'s str> {
        let [first, second] = self.systems else { return None };
        let other = if std::ptr::eq(first, system) { second } else { first };
        let place = other.images.binary_search(&u32::try_from(image).ok()?).ok()?;
        Some(other.texts.get(place))
    }

    /// The caption of each image by the other of two systems, for each system.
    fn rivals(&self) -> Vec<Vec<Option<String>>> {
        let of_system =
            |system| (0..self.ids.len()).map(move |image| self.rival(system, image).map(str::to_owned));
        self.systems.iter().map(|system| of_system(system).collect()).collect()
    }
}

/// The metrics with the scores of those that are computed outside of the engine, for each of `scenes`. Each of them is
/// asked once, for all scenes, and once about captions that have the same image and references; those that take all
/// captions together are asked about each system, and about all its captions. What earlier runs have kept is not asked.
pub(crate) fn compute(
    metrics: &[AnyMetric],
    resources: &Resources,
    scenes: &[Scene<'_>],
    progress: &dyn Progress,
) -> Result<Vec<Vec<AnyMetric>>, Error> {
    let mut all = vec![metrics.to_vec(); scenes.len()];
    let Some(outside) = resources.get::<OutsideMetrics>() else { return Ok(all) };
    let (pictures, store) = (resources.get::<Pictures>(), resources.get::<OutsideScores>());
    let found = metrics.iter().enumerate().filter_map(|(place, metric)| Some((place, outside.of(metric)?)));
    let found: Vec<(usize, &Arc<dyn Outside>)> = found.collect();
    for (number, (place, one)) in found.iter().enumerate() {
        let captions = || {
            let systems =
                scenes.iter().flat_map(|scene| scene.systems.iter().map(move |system| (scene, system)));
            systems.flat_map(|(scene, system)| {
                let texts =
                    system.images.iter().enumerate().map(|(k, image)| (*image as usize, system.texts.get(k)));
                texts.map(move |(image, text)| (scene, system, image, text))
            })
        };
        let images = captions().filter_map(|(scene, _, image, _)| scene.ids[image]);
        let pictures = picture::find(one.name(), one.sight(), pictures.as_deref(), images)?;
        let rows = captions().map(|(scene, system, image, candidate)| OutsideRow {
            system: one.distinguishes_systems().then_some(system.name.as_str()),
            image: scene.ids[image],
            candidate,
            rival: one.compares_pairs().then(|| scene.rival(system, image)).flatten(),
            references: match one.needs_references() {
                true => scene.references[image].clone(),
                false => Vec::new(),
            },
            picture: scene.ids[image].and_then(|image| pictures.get(image)),
        });
        let systems = scenes.iter().flat_map(|scene| scene.systems);
        let (rows, places, shares) = match one.takes_all_together() {
            true => {
                let rows: Vec<OutsideRow<'_>> = rows.collect();
                let places = (0..rows.len()).collect();
                (rows, places, systems.map(|system| system.images.len()).collect())
            }
            false => {
                let (rows, places) = unique(rows.collect());
                let all = vec![rows.len()];
                (rows, places, all)
            }
        };
        progress.begin(Stage::Measuring, rows.len());
        progress.system(one.name(), number + 1, found.len());
        let (scores, notices) =
            Asking::new(one.as_ref(), &rows, &shares, store.as_deref(), progress).ask()?;
        let (n, signed) = (width(one.as_ref()), one.sign());
        let mut places = places.into_iter();
        for (metrics, scene) in all.iter_mut().zip(scenes) {
            let mut values = Vec::with_capacity(scene.systems.len());
            for system in scene.systems {
                let mut of_system = vec![f64::NAN; scene.ids.len() * n];
                for (image, row) in system.images.iter().zip(&mut places) {
                    let first = *image as usize * n;
                    of_system[first..first + n].copy_from_slice(&scores[row * n..(row + 1) * n]);
                }
                values.push(of_system);
            }
            let owned = |image: &Option<&SegmentId>| {
                let id = (*image)?.clone();
                let picture = pictures.get(&id).cloned();
                Some(Place { id, picture })
            };
            let places = scene.ids.iter().map(owned).collect();
            let rivals = match one.compares_pairs() {
                true => scene.rivals(),
                false => Vec::new(),
            };
            let systems = scene.systems.iter().map(|system| system.name.clone()).collect();
            let computed = Computed {
                signed: signed.clone(),
                systems,
                places,
                rivals,
                values,
                notices: notices.clone(),
                ..Computed::described(one)
            };
            let computed = AnyMetric::new(computed);
            metrics[*place] = metrics[*place].with_factor(computed.clone()).unwrap_or(computed);
        }
    }
    Ok(all)
}

/// As [`compute`], for the one scene that `scene` describes if it is needed.
pub(crate) fn compute_one<'s>(
    metrics: &[AnyMetric],
    resources: &Resources,
    scene: impl FnOnce() -> Scene<'s>,
    progress: &dyn Progress,
) -> Result<Vec<AnyMetric>, Error> {
    if !resources.has::<OutsideMetrics>() {
        return Ok(metrics.to_vec());
    }
    let computed = compute(metrics, resources, &[scene()], progress)?;
    Ok(computed.into_iter().next().unwrap_or_default())
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
    let scene = || Scene {
        systems: std::slice::from_ref(system),
        ids: ids.iter().map(Option::as_ref).collect(),
        references: (0..references.n_images()).map(|image| references.of(image).collect()).collect(),
    };
    compute_one(metrics, resources, scene, progress)
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
