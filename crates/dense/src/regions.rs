//! Scores captions of image regions: the mean average precision over overlap and METEOR, as scenic's `DensecapEval`
//! computes it.
//!
//! References with a large overlap are merged into one box first. Quirks kept on purpose:
//! - a prediction takes the reference with the greatest overlap even if that is already used, and a match with any
//!   overlap uses the box up for all thresholds;
//! - if a caption of a matched box is empty, both sides become the word `EMPTY`, which scores 1;
//! - recall and precision are numbers of 32 bits, in which numpy 2 sums the precisions as well, and numpy 1 does not.

use capeval_evaluate::registry::{self, Resources};
use capeval_evaluate::{ReferenceSet, System, evaluate};
use capeval_metric::Refusal;

/// A box with a caption: left, top, width and height.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// The image.
    pub image: i64,
    /// Left, top, width and height.
    pub bbox: [f64; 4],
    /// The caption.
    pub caption: String,
    /// The confidence, of predictions.
    pub score: f64,
}

/// An image with its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizedImage {
    /// The id.
    pub id: i64,
    /// The longer side in pixels.
    pub longer_side: f64,
}

/// The settings of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionOptions {
    /// Replace the captions of boxes with an empty caption by one word.
    pub ignores_empty: bool,
    /// Scale references to a longer side of 720.
    pub in_720: bool,
    /// Sum precisions in 32 bits, as numpy 2 does.
    pub is_numpy_2: bool,
    /// Compute as jcjohnson/densecap does in Lua, by reading: numbers of 64 bits, a box of no area stays, and a
    /// prediction that meets no box uses up the last one, at which its index of -1 points.
    pub is_lua: bool,
}

impl Default for RegionOptions {
    fn default() -> Self {
        Self { ignores_empty: true, in_720: false, is_numpy_2: true, is_lua: false }
    }
}

const OVERLAPS: [f64; 5] = [0.3, 0.4, 0.5, 0.6, 0.7];
const METEORS: [f64; 7] = [-1.0, 0.0, 0.05, 0.1, 0.15, 0.2, 0.25];
/// The overlap from which references of one image are one box.
const MERGED: f32 = 0.7;

/// A merged box with all its captions.
struct MergedBox {
    bbox: [f32; 4],
    captions: Vec<String>,
}

/// A prediction with the box that it met.
struct Record {
    is_matched: bool,
    overlap: f64,
    candidate: String,
    references: Vec<String>,
    score: f64,
}

/// Scores regions; the names are those of the program. METEOR reads the texts as they are.
///
/// # Errors
/// When METEOR's data are not installed, a prediction is of an unknown image, has no finite score, or has a line break,
/// which ends the program.
pub fn regions(
    images: &[SizedImage],
    references: &[Region],
    predictions: &[Region],
    options: RegionOptions,
    resources: &Resources,
) -> Result<Vec<(String, f64)>, Refusal> {
    let mut images = images.to_vec();
    images.sort_by_key(|image| image.id);
    check(&images, references, predictions)?;
    let (mut records, mut n_positive) = (Vec::new(), 0);
    for image in &images {
        let own: Vec<&Region> = references.iter().filter(|region| region.image == image.id).collect();
        let mut boxes = merged(&own, options.is_lua);
        if options.in_720 {
            let scale = |side: &mut f32| *side = *side * 720.0 / image.longer_side as f32;
            boxes.iter_mut().flat_map(|one| &mut one.bbox).for_each(scale);
        }
        let counts = |one: &&MergedBox| {
            options.ignores_empty || options.is_lua || !one.captions.iter().any(String::is_empty)
        };
        n_positive += boxes.iter().filter(counts).count();
        let predicted = predictions.iter().filter(|region| region.image == image.id).collect();
        match_regions(predicted, &boxes, options, &mut records);
    }
    if !options.ignores_empty && !options.is_lua {
        records.retain(|record| record.candidate != "EMPTY");
    }
    records.sort_by(|a, b| b.score.total_cmp(&a.score));
    let meteor = meteor(&records, resources)?;
    let mut all: Vec<(f64, f64, f64)> = Vec::new();
    for overlap in OVERLAPS {
        for threshold in METEORS {
            let hits = records.iter().zip(&meteor);
            let hits = hits
                .map(|(record, score)| record.is_matched && record.overlap >= overlap && *score > threshold);
            all.push((overlap, threshold, average_precision(hits, n_positive, options)));
        }
    }
    let mean = |is_detection: bool| {
        let values: Vec<f64> = all
            .iter()
            .filter(|(_, threshold, _)| (*threshold < 0.0) == is_detection)
            .map(|found| found.2)
            .collect();
        let n = values.len();
        match options.is_numpy_2 && !options.is_lua {
            true => f64::from(values.iter().fold(0.0_f32, |sum, value| sum + *value as f32) / n as f32),
            false => values.iter().sum::<f64>() / n as f64,
        }
    };
    let mut named = vec![("mAP".to_owned(), mean(false)), ("mAP_detection".to_owned(), mean(true))];
    named.extend(all.iter().map(|(overlap, threshold, value)| {
        let name = match *threshold < 0.0 {
            true => format!("mAP_detection_iou{overlap:.1}"),
            false => format!("mAP_iou{overlap:.1}_meteor{threshold:.2}"),
        };
        (name, *value)
    }));
    Ok(named)
}

fn check(images: &[SizedImage], references: &[Region], predictions: &[Region]) -> Result<(), Refusal> {
    for region in references.iter().chain(predictions) {
        let what = if !images.iter().any(|image| image.id == region.image) {
            "of an image that is not listed"
        } else if region.bbox.iter().any(|side| !side.is_finite()) || !region.score.is_finite() {
            "whose numbers are not finite"
        } else {
            continue;
        };
        return Err(Refusal::new(format!("image {} has a region {what}", region.image))
            .with_remedy("give left, top, width and height, and list each image"));
    }
    match predictions.iter().find(|region| region.caption.contains('\n')) {
        Some(region) => Err(Refusal::new(format!(
            "image {} has a prediction with a line break, which ends the METEOR of this program",
            region.image
        ))
        .with_remedy("write each caption on one line")),
        None => Ok(()),
    }
}

/// Merges references: as long as there are any, the one with most neighbours and these become their mean.
fn merged(regions: &[&Region], keeps_all: bool) -> Vec<MergedBox> {
    let boxes: Vec<[f32; 4]> = regions.iter().map(|region| region.bbox.map(|side| side as f32)).collect();
    let mut is_left = vec![true; boxes.len()];
    let mut all = Vec::new();
    loop {
        let near = |i: usize| -> Vec<usize> {
            let meets = |j: usize| keeps_all && i == j || overlap_32(boxes[i], boxes[j]) >= MERGED;
            let is_near = |j: &usize| is_left[i] && is_left[*j] && meets(*j);
            (0..boxes.len()).filter(is_near).collect()
        };
        let mut best: Vec<usize> = Vec::new();
        for i in 0..boxes.len() {
            let found = near(i);
            if found.len() > best.len() {
                best = found;
            }
        }
        if best.is_empty() {
            return all;
        }
        let mean =
            |side: usize| best.iter().fold(0.0_f32, |sum, k| sum + boxes[*k][side]) / best.len() as f32;
        let captions = best.iter().map(|k| regions[*k].caption.replace('\n', "")).collect();
        all.push(MergedBox { bbox: [0, 1, 2, 3].map(mean), captions });
        best.iter().for_each(|k| is_left[*k] = false);
    }
}

fn overlap_32(a: [f32; 4], b: [f32; 4]) -> f32 {
    let side = |k: usize| ((a[k + 2] + a[k]).min(b[k + 2] + b[k]) - a[k].max(b[k])).max(0.0);
    let intersection = side(0) * side(1);
    let union = a[2] * a[3] + b[2] * b[3] - intersection;
    if union > 0.0 { intersection / union } else { 0.0 }
}

fn overlap_64(a: [f64; 4], b: [f32; 4]) -> f64 {
    // The right and lower ends of a reference, and its area, are sums and products of 32 bits.
    let ends = [b[2] + b[0], b[3] + b[1]];
    let side = |k: usize| ((a[k + 2] + a[k]).min(f64::from(ends[k])) - a[k].max(f64::from(b[k]))).max(0.0);
    let intersection = side(0) * side(1);
    let union = a[2] * a[3] + f64::from(b[2] * b[3]) - intersection;
    if union > 0.0 { intersection / union } else { 0.0 }
}

/// Adds a record for each prediction of an image, by descending score.
fn match_regions(
    mut predictions: Vec<&Region>,
    boxes: &[MergedBox],
    RegionOptions { ignores_empty, is_lua, .. }: RegionOptions,
    records: &mut Vec<Record>,
) {
    predictions.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut is_used = vec![false; boxes.len()];
    for prediction in predictions {
        let mut best: Option<(f64, usize)> = None;
        for (k, one) in boxes.iter().enumerate() {
            let overlap = overlap_64(prediction.bbox, one.bbox);
            if best.is_none_or(|(known, _)| overlap > known) {
                best = Some((overlap, k));
            }
        }
        let mut record = Record {
            is_matched: false,
            overlap: best.map_or(-1.0, |(overlap, _)| overlap),
            candidate: prediction.caption.clone(),
            references: best.map_or_else(|| vec![String::new()], |(_, k)| boxes[k].captions.clone()),
            score: prediction.score,
        };
        if is_lua && best.is_none_or(|(overlap, _)| overlap <= 0.0) {
            is_used.last_mut().into_iter().for_each(|last| *last = true);
        } else if let Some((overlap, k)) = best.filter(|(_, k)| !is_used[*k])
            && overlap > 0.0
        {
            is_used[k] = true;
            record.is_matched = true;
            if ignores_empty && record.references.iter().any(String::is_empty) {
                record.candidate = "EMPTY".to_owned();
                record.references = vec!["EMPTY".to_owned()];
            }
        }
        records.push(record);
    }
}

/// METEOR of each record, on the texts as they are.
fn meteor(records: &[Record], resources: &Resources) -> Result<Vec<f64>, Refusal> {
    let metric = registry::build("meteor:tok=none", &[], resources)?;
    let mut set: ReferenceSet =
        records.iter().map(|record| record.references.iter().map(String::as_str)).collect();
    let system = System {
        name: String::new(),
        images: (0..records.len() as u32).collect(),
        texts: records.iter().map(|record| record.candidate.as_str()).collect(),
    };
    let scores = evaluate(&mut set, &[system], &[metric], &());
    let metrics = scores.into_iter().flat_map(|system| system.metrics);
    Ok(metrics.flat_map(|scores| scores.segments().to_vec()).collect())
}

/// The mean over 100 recalls of the greatest precision at that recall or a greater one.
fn average_precision(hits: impl Iterator<Item = bool>, n_positive: usize, options: RegionOptions) -> f64 {
    if options.is_lua {
        return lua_precision(hits, n_positive);
    }
    let (mut met, mut missed) = (0.0_f32, 0.0_f32);
    let points: Vec<(f32, f32)> = hits
        .map(|hit| {
            if hit {
                met += 1.0;
            } else {
                missed += 1.0;
            }
            (met / n_positive as f32, met / (met + missed))
        })
        .collect();
    let (mut sum_32, mut sum_64) = (0.0_f32, 0.0_f64);
    for t in 0..100 {
        let recall = (f64::from(t) / 100.0) as f32;
        let reached = points.iter().filter(|point| point.0 >= recall);
        let best = reached.map(|point| point.1).fold(0.0_f32, f32::max);
        sum_32 += best;
        sum_64 += f64::from(best);
    }
    if options.is_numpy_2 { f64::from(sum_32 / 100.0) } else { sum_64 / 100.0 }
}

/// The same in numbers of 64 bits; the loop of Lua adds up its recalls, and so ends before 1 as well.
fn lua_precision(hits: impl Iterator<Item = bool>, n_positive: usize) -> f64 {
    let mut met = 0.0;
    let point = |(k, hit): (usize, bool)| {
        met += f64::from(u8::from(hit));
        (met / n_positive as f64, met / (k + 1) as f64)
    };
    let points: Vec<(f64, f64)> = hits.enumerate().map(point).collect();
    let (mut recall, mut sum, mut n) = (0.0, 0.0, 0.0);
    while recall <= 1.0 {
        let reached = points.iter().filter(|point| point.0 >= recall);
        sum += reached.map(|point| point.1).fold(0.0, f64::max);
        n += 1.0;
        recall += 0.01;
    }
    sum / n
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of two boxes is found: the precision is 1 up to a recall of 0.5, which is 51 of the 100 recalls.
    #[test]
    fn a_recall_that_is_just_reached_counts() {
        let options = RegionOptions { is_numpy_2: false, ..RegionOptions::default() };
        assert_eq!(average_precision([true].into_iter(), 2, options), 0.51);
        assert_eq!(average_precision([false, true].into_iter(), 2, options), 0.51 / 2.0);
    }
}
