//! Asks metrics that are computed outside of the engine about all captions, and makes metrics of their answers.

use std::collections::HashMap;
use std::sync::Arc;

use capeval_corpus::SegmentId;
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, ReferenceSet, Stage, System};
use capeval_metric::AnyMetric;

use super::asking::Asking;
use super::lookup::{Lookup, Place};
use super::{Outside, OutsideMetrics, OutsideRow, OutsideScores, Picture, Pictures, picture, width};
use crate::Error;

/// The pictures of images by id.
type PicturesById<'s> = HashMap<&'s SegmentId, Picture>;

/// Captions that are scored together, with the references of each image.
pub(crate) struct CaptionBatch<'s> {
    pub systems: &'s [System],
    pub ids: Vec<Option<&'s SegmentId>>,
    pub references: Vec<Vec<&'s str>>,
}

impl<'s> CaptionBatch<'s> {
    /// What the other of two systems says of an image.
    fn rival(&self, system: &System, image: usize) -> Option<&'s str> {
        let [first, second] = self.systems else { return None };
        let other = if std::ptr::eq(first, system) { second } else { first };
        let place = other.images.binary_search(&u32::try_from(image).ok()?).ok()?;
        Some(other.texts.get(place))
    }

    /// What the other of two systems says of each image, for each system.
    fn rivals(&self) -> Vec<Vec<Option<String>>> {
        let of_system =
            |system| (0..self.ids.len()).map(move |image| self.rival(system, image).map(str::to_owned));
        self.systems.iter().map(|system| of_system(system).collect()).collect()
    }

    /// The metric without scores, with what it can look up of these captions.
    fn lookup(&self, one: &Arc<dyn Outside>, pictures: &PicturesById<'_>) -> Lookup {
        let place = |id: &Option<&SegmentId>| {
            let id = (*id)?.clone();
            let picture = pictures.get(&id).cloned();
            Some(Place { id, picture })
        };
        Lookup {
            systems: self.systems.iter().map(|system| system.name.clone()).collect(),
            places: self.ids.iter().map(place).collect(),
            rivals: if one.compares_pairs() { self.rivals() } else { Vec::new() },
            ..Lookup::described(one)
        }
    }
}

/// The metrics with the scores of those that are computed outside of the engine, for each of `batches`. Each of them is
/// asked once, for all batches, and once about captions that have the same image and references; those that take all
/// captions together are asked about each system, and about all its captions. What earlier runs have kept is not asked.
pub(crate) fn compute(
    metrics: &[AnyMetric],
    resources: &Resources,
    batches: &[CaptionBatch<'_>],
    progress: &dyn Progress,
) -> Result<Vec<Vec<AnyMetric>>, Error> {
    let mut all = vec![metrics.to_vec(); batches.len()];
    let Some(outside) = resources.get::<OutsideMetrics>() else { return Ok(all) };
    let (pictures, store) = (resources.get::<Pictures>(), resources.get::<OutsideScores>());
    let found = metrics.iter().enumerate().filter_map(|(place, metric)| Some((place, outside.of(metric)?)));
    let found: Vec<(usize, &Arc<dyn Outside>)> = found.collect();
    for (number, (place, one)) in found.iter().enumerate() {
        let images = captions(batches).filter_map(|(batch, _, image, _)| batch.ids[image]);
        let pictures = picture::find(one.name(), one.sight(), pictures.as_deref(), images)?;
        let questions = Questions::new(one.as_ref(), batches, rows(one.as_ref(), batches, &pictures));
        progress.begin(Stage::Measuring, questions.rows.len());
        progress.system(one.name(), number + 1, found.len());
        let (rows, shares) = (&questions.rows, &questions.shares);
        let (scores, notices) = Asking::new(one.as_ref(), rows, shares, store.as_deref(), progress).ask()?;
        let signed = one.sign();
        let values = spread(batches, &questions.places, &scores, width(one.as_ref()));
        for ((metrics, batch), values) in all.iter_mut().zip(batches).zip(values) {
            let lookup = batch.lookup(one, &pictures).with(values, &signed, &notices);
            metrics[*place] = metrics[*place].with_factor(lookup.clone()).unwrap_or(lookup);
        }
    }
    Ok(all)
}

/// All captions with their batch, their system and the number of their image.
fn captions<'s>(
    batches: &'s [CaptionBatch<'s>],
) -> impl Iterator<Item = (&'s CaptionBatch<'s>, &'s System, usize, &'s str)> {
    let systems = batches.iter().flat_map(|batch| batch.systems.iter().map(move |system| (batch, system)));
    systems.flat_map(|(batch, system)| {
        let texts = system.images.iter().enumerate();
        texts.map(move |(k, image)| (batch, system, *image as usize, system.texts.get(k)))
    })
}

/// A row for each caption, with what the metric wants to see.
fn rows<'r>(
    one: &dyn Outside,
    batches: &'r [CaptionBatch<'r>],
    pictures: &'r PicturesById<'r>,
) -> Vec<OutsideRow<'r>> {
    let row =
        |(batch, system, image, candidate): (&'r CaptionBatch<'r>, &'r System, usize, &'r str)| OutsideRow {
            system: one.distinguishes_systems().then_some(system.name.as_str()),
            image: batch.ids[image],
            candidate,
            rival: one.compares_pairs().then(|| batch.rival(system, image)).flatten(),
            references: match one.needs_references() {
                true => batch.references[image].clone(),
                false => Vec::new(),
            },
            picture: batch.ids[image].and_then(|image| pictures.get(image)),
        };
    captions(batches).map(row).collect()
}

/// The rows that a metric is asked about.
struct Questions<'r> {
    rows: Vec<OutsideRow<'r>>,
    /// The row of each caption.
    places: Vec<usize>,
    /// The numbers of consecutive rows that are asked about together.
    shares: Vec<usize>,
}

impl<'r> Questions<'r> {
    /// All rows, system by system, if the metric takes all together; otherwise those that differ.
    fn new(one: &dyn Outside, batches: &[CaptionBatch<'_>], rows: Vec<OutsideRow<'r>>) -> Self {
        if one.takes_all_together() {
            let systems = batches.iter().flat_map(|batch| batch.systems);
            let shares = systems.map(|system| system.images.len()).collect();
            return Self { places: (0..rows.len()).collect(), rows, shares };
        }
        let (rows, places) = unique(rows);
        let shares = vec![rows.len()];
        Self { rows, places, shares }
    }
}

/// The scores of each batch by system, image after image, from those of rows, of which each has `n`.
fn spread(batches: &[CaptionBatch<'_>], places: &[usize], scores: &[f64], n: usize) -> Vec<Vec<Vec<f64>>> {
    let mut places = places.iter();
    let mut of_system = |batch: &CaptionBatch<'_>, system: &System| {
        let mut values = vec![f64::NAN; batch.ids.len() * n];
        for (image, row) in system.images.iter().zip(&mut places) {
            let first = *image as usize * n;
            values[first..first + n].copy_from_slice(&scores[row * n..(row + 1) * n]);
        }
        values
    };
    let mut of_batch =
        |batch: &CaptionBatch<'_>| batch.systems.iter().map(|system| of_system(batch, system)).collect();
    batches.iter().map(&mut of_batch).collect()
}

/// As [`compute`], for the one batch that `batch` describes if it is needed.
pub(crate) fn compute_one<'s>(
    metrics: &[AnyMetric],
    resources: &Resources,
    batch: impl FnOnce() -> CaptionBatch<'s>,
    progress: &dyn Progress,
) -> Result<Vec<AnyMetric>, Error> {
    if !resources.has::<OutsideMetrics>() {
        return Ok(metrics.to_vec());
    }
    let computed = compute(metrics, resources, &[batch()], progress)?;
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
    let batch = || CaptionBatch {
        systems: std::slice::from_ref(system),
        ids: ids.iter().map(Option::as_ref).collect(),
        references: (0..references.n_images()).map(|image| references.of(image).collect()).collect(),
    };
    compute_one(metrics, resources, batch, progress)
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
