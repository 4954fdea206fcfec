//! Scan2Cap's benchmark: boxes assigned one to one, and average precision over overlap and METEOR.
//!
//! Quirks kept on purpose:
//! - an object without an assigned box gets the first box of its scene;
//! - captions below the threshold stay in the corpus, and their scores count as 0;
//! - for average precision, a box takes another object only if its overlap and its METEOR both rise.

use capeval_choice::Refusal;
use indexmap::IndexMap;

use super::assign::assign;
use super::corners::{generalized_overlap, overlap};
use super::{BoxScores, Corners, OVERLAPS, Object, SceneBox, mean};
use crate::proposals::f1;
use crate::texts::{Item, TextScores, USUAL_METEOR, score};
use crate::{Measure, WordMetric, WordMetrics};

type Scenes = IndexMap<String, Vec<SceneBox>>;

/// An object of the benchmark, whose key is without a name.
struct Target<'a> {
    key: String,
    corners: &'a Corners,
    references: Vec<String>,
}

/// The objects of each scene, in the order of the file.
fn targets(objects: &[Object]) -> Result<IndexMap<&str, Vec<Target<'_>>>, Refusal> {
    let mut scenes: IndexMap<&str, IndexMap<&str, Target<'_>>> = IndexMap::new();
    for object in objects {
        let Some(corners) = &object.corners else {
            return Err(Refusal::new(format!("the object {} has no box", object.key()))
                .with_remedy("add bbox, eight corners, to each object"));
        };
        let key = format!("{}|{}", object.scene, object.id);
        let scene = scenes.entry(&object.scene).or_default();
        let target =
            scene.entry(&object.id).or_insert_with(|| Target { key, corners, references: Vec::new() });
        let described = object.descriptions.iter().map(|words| format!("sos {} eos", words.join(" ")));
        target.references.extend(described);
    }
    Ok(scenes.into_iter().map(|(scene, objects)| (scene, objects.into_values().collect())).collect())
}

/// The first scene without boxes, at which the program stops.
fn missing(targets: &IndexMap<&str, Vec<Target<'_>>>, scenes: &Scenes) -> Option<BoxScores> {
    let scene = targets.keys().find(|scene| scenes.get(**scene).is_none_or(Vec::is_empty))?;
    let stop =
        format!("the scene {scene} has no boxes, with which this program stops (ValueError, KeyError)");
    Some((Vec::new(), Vec::new(), vec![stop]))
}

/// Precision, recall and F1 of each metric at each overlap.
pub(super) fn captions(
    objects: &[Object],
    scenes: &Scenes,
    metrics: &WordMetrics,
) -> Result<BoxScores, Refusal> {
    let targets = targets(objects)?;
    if let Some(found) = missing(&targets, scenes) {
        return Ok(found);
    }
    let (mut items, mut overlaps, mut n_boxes) = (Vec::new(), Vec::new(), 0);
    for (scene, targets) in &targets {
        let boxes = scenes.get(*scene).map(Vec::as_slice).unwrap_or_default();
        n_boxes += boxes.len();
        let cost = |one: &SceneBox| {
            targets.iter().map(|target| -generalized_overlap(&one.corners, target.corners)).collect()
        };
        let cost: Vec<Vec<f64>> = boxes.iter().map(cost).collect();
        let mut of_target = vec![0; targets.len()];
        for (one, target) in assign(&cost).into_iter().enumerate() {
            if let Some(target) = target {
                of_target[target] = one;
            }
        }
        for (target, one) in targets.iter().zip(of_target) {
            overlaps.push(overlap(&boxes[one].corners, target.corners));
            items.push(Item {
                id: target.key.clone(),
                candidate: boxes[one].caption.clone(),
                references: target.references.clone(),
            });
        }
    }
    let TextScores { ids, measures } = score(items, USUAL_METEOR, metrics)?;
    let mut all = Vec::new();
    for threshold in OVERLAPS {
        for Measure { name, videos, .. } in &measures {
            let values: Vec<f64> = videos
                .iter()
                .zip(&overlaps)
                .map(|(value, overlap)| if *overlap >= threshold { value[0] } else { 0.0 })
                .collect();
            let sum: f64 = values.iter().sum();
            let (precision, recall) = (sum / n_boxes as f64, sum / values.len() as f64);
            let harmonic = if precision + recall == 0.0 { f64::NAN } else { f1(precision, recall) };
            let named = |part: &str, value: f64, videos: Vec<Vec<f64>>| Measure {
                name: format!("{name}-{part}@{threshold}"),
                value,
                at: Vec::new(),
                videos,
            };
            all.push(named("f1", harmonic, Vec::new()));
            all.push(named("precision", precision, Vec::new()));
            all.push(named("recall", recall, values.into_iter().map(|value| vec![value]).collect()));
        }
    }
    Ok((ids, all, Vec::new()))
}

/// The overlaps and scores of METEOR at which a box is right.
const AP_OVERLAPS: [f64; 5] = [0.1, 0.2, 0.3, 0.4, 0.5];
const AP_METEORS: [f64; 5] = [0.15, 0.3, 0.45, 0.6, 0.75];

/// A box with the object that it takes.
struct Detection {
    scene: usize,
    score: f64,
    overlap: f64,
    meteor: f64,
    target: usize,
}

/// The mean average precision over overlap and METEOR.
pub(super) fn average_precision(
    objects: &[Object],
    scenes: &Scenes,
    metrics: &WordMetrics,
) -> Result<BoxScores, Refusal> {
    if !metrics.has(WordMetric::Meteor) {
        return Ok((
            Vec::new(),
            Vec::new(),
            vec!["it needs METEOR, which is not among the metrics".to_owned()],
        ));
    }
    let targets = targets(objects)?;
    if let Some(found) = missing(&targets, scenes) {
        return Ok(found);
    }
    let pairs = || {
        targets.iter().enumerate().flat_map(|(s, (scene, targets))| {
            let boxes = scenes.get(*scene).map(Vec::as_slice).unwrap_or_default();
            boxes
                .iter()
                .flat_map(move |one| targets.iter().enumerate().map(move |(t, target)| (s, one, t, target)))
        })
    };
    let item = |(_, one, _, target): (usize, &SceneBox, usize, &Target<'_>)| Item {
        id: String::new(),
        candidate: one.caption.clone(),
        references: target.references.clone(),
    };
    let meteor = WordMetrics::new(&metrics.resources, &[WordMetric::Meteor])?;
    let scores = score(pairs().map(item).collect(), USUAL_METEOR, &meteor)?;
    let meteors = scores.measures.iter().flat_map(|measure| measure.videos.iter().map(|value| value[0]));
    let mut detections: Vec<Detection> = Vec::new();
    for ((scene, one, t, target), meteor) in pairs().zip(meteors) {
        let Some(score) = one.score else {
            return Err(Refusal::new("a box has no score, by which average precision ranks them")
                .with_remedy("add score, or obj_prob of two numbers, to each box"));
        };
        if t == 0 {
            detections.push(Detection { scene, score, overlap: f64::MIN, meteor: f64::MIN, target: 0 });
        }
        let Some(last) = detections.last_mut() else { continue };
        let overlap = overlap(&one.corners, target.corners);
        if overlap > last.overlap && meteor > last.meteor {
            (last.overlap, last.meteor, last.target) = (overlap, meteor, t);
        }
    }
    detections.sort_by(|a, b| b.score.total_cmp(&a.score));
    let n_targets: usize = targets.values().map(Vec::len).sum();
    let mut at = Vec::new();
    for least in AP_OVERLAPS {
        for meteor in AP_METEORS {
            let mut used: Vec<Vec<bool>> =
                targets.values().map(|targets| vec![false; targets.len()]).collect();
            let hits = detections.iter().map(|one| {
                let is_right = one.overlap > least && one.meteor > meteor;
                is_right && !std::mem::replace(&mut used[one.scene][one.target], true)
            });
            let hits: Vec<bool> = hits.collect();
            at.push((format!("{least} meteor {meteor}"), area(&hits, n_targets)));
        }
    }
    let value = mean(at.iter().map(|(_, value)| *value));
    Ok((Vec::new(), vec![Measure { name: "map".to_owned(), value, at, videos: Vec::new() }], Vec::new()))
}

/// The area below precision by recall, each precision raised to the greatest one behind it.
fn area(hits: &[bool], n_positive: usize) -> f64 {
    let mut met = 0.0;
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(hits.len());
    for (k, hit) in hits.iter().enumerate() {
        met += f64::from(u8::from(*hit));
        points.push((met / (n_positive as f64 + 1e-8), met / (k + 1) as f64));
    }
    for k in (1..points.len()).rev() {
        points[k - 1].1 = points[k - 1].1.max(points[k].1);
    }
    let mut before = 0.0;
    let mut sum = 0.0;
    for (recall, precision) in points {
        sum += (recall - before) * precision;
        before = recall;
    }
    sum
}
