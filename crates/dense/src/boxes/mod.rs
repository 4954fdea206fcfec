//! Scores captions of boxes in scenes and images: m@kIoU of Scan2Cap, its benchmark, and mean average precision.

mod assign;
mod benchmark;
mod chosen;
mod corners;
mod read;

use capeval_choice::{Refusal, counted, named};
use capeval_report::Head;
use capeval_stats::Resampling;
use indexmap::IndexMap;

pub use chosen::{ChosenForm, RegionSetting};
pub use corners::Corners;
pub use read::{Object, Predictions, References, SceneBox, predictions, references};

use crate::counts::Counts;
use crate::regions::{Region, regions};
use crate::scores::mean;
use crate::study::FormResult;
use crate::texts::{SceneObject, TextScores, objects};
use crate::{DenseReport, DenseSystem, Measure, WordMetrics};

named! {
    /// A program that scores captions of boxes.
    pub enum BoxForm ("form of boxes") {
        Scan2Cap = "scan2cap", "m@kIoU of daveredrum/Scan2Cap: captions of 3D objects at overlaps above .25 and .5";
        Scan2CapBenchmark = "scan2cap-benchmark", "Scan2Cap's benchmark, whose F1 UniT3D prints: precision, recall and F1 of each metric";
        Scan2CapAp = "scan2cap-ap", "Scan2Cap's benchmark: mean average precision over overlap and METEOR; by reading, with METEOR 1.5 for NLTK's";
        DenseCapScenic = "densecap-scenic", "DenseCap's mean average precision of image regions as google-research/scenic computes it";
        DenseCapLua = "densecap-lua", "the same as jcjohnson/densecap computes it in Lua; by reading, as the program was not run";
    }
}

impl BoxForm {
    /// The papers and programs that print this form.
    pub const fn users(self) -> &'static str {
        match self {
            Self::Scan2Cap => {
                "Scan2Cap, 3DJCG, D3Net, SpaCap3D, Vote2Cap-DETR, and most papers on 3D dense captions"
            }
            Self::Scan2CapBenchmark | Self::Scan2CapAp => "the Scan2Cap benchmark, UniT3D",
            Self::DenseCapScenic => "PixelLLM, DenseVOC, and papers that use scenic's evaluator",
            Self::DenseCapLua => "DenseCap, and papers of its time on region captions",
        }
    }

    /// The properties that make its numbers differ from those of the others.
    pub const fn differences(self) -> &'static str {
        match self {
            Self::Scan2Cap => {
                "an object without a box of enough overlap has the caption `sos eos`, which still earns points, and counts; \
                 references are cut to 30 words; an overlap must exceed the threshold"
            }
            Self::Scan2CapBenchmark => {
                "boxes are assigned one to one; scores below the threshold count 0; the sum is divided by the numbers of \
                 boxes and of objects; BLEU is that of sentences; an object without an assigned box gets the first of its scene"
            }
            Self::Scan2CapAp => {
                "a box takes an object only if overlap and METEOR both rise; thresholds .1 to .5 and .15 to .75"
            }
            Self::DenseCapScenic => {
                "references that overlap by .7 are one box with several captions; a prediction uses its box up at any overlap; \
                 thresholds .3 to .7 and 0 to .25; settings as in densecap-scenic:keep-empty:in-720:numpy-1"
            }
            Self::DenseCapLua => {
                "as densecap-scenic, but empty captions are compared as they are, and a prediction that meets no box uses up \
                 the last one of its image"
            }
        }
    }

    fn needs_scenes(self) -> bool {
        matches!(self, Self::Scan2Cap | Self::Scan2CapBenchmark | Self::Scan2CapAp)
    }
}

/// The forms by their names, `all` for those that fit the references.
///
/// # Errors
/// When there is no such form.
pub fn forms(names: &[String], references: &References) -> Result<Vec<ChosenForm>, Refusal> {
    let is_scenes = matches!(references, References::Objects(_));
    if names.is_empty() {
        return Ok(vec![if is_scenes { BoxForm::Scan2Cap } else { BoxForm::DenseCapScenic }.into()]);
    }
    let mut found = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => {
                let fitting = BoxForm::ALL.iter().filter(|form| form.needs_scenes() == is_scenes);
                found.extend(fitting.map(|form| ChosenForm::from(*form)));
            }
            name => found.push(name.parse()?),
        }
    }
    Ok(found)
}

/// The thresholds of overlap that papers print, and 0, which the benchmark computes as well.
const OVERLAPS: [f64; 3] = [0.0, 0.25, 0.5];

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct BoxOptions {
    /// The forms.
    pub forms: Vec<ChosenForm>,
    /// Keep the values of each object.
    pub segments: bool,
    /// The computation of intervals, with objects as units.
    pub intervals: Option<Resampling>,
}

/// The scores of a form: the ids of what has values of its own, the measures, and why a program stops.
type BoxScores = (Vec<String>, Vec<Measure>, Vec<String>);

/// Scores the predictions of systems, given by name, against references from the file `name`.
///
/// # Errors
/// When the references are empty, a form does not fit the files, or METEOR cannot be built.
pub fn score(
    (name, references): (&str, &References),
    systems: Vec<(String, Predictions)>,
    options: &BoxOptions,
    metrics: &WordMetrics,
) -> Result<DenseReport, Refusal> {
    let BoxOptions { forms, segments, intervals } = options;
    if let Some(resampling) = intervals {
        resampling.check()?;
    }
    let (unit, n) = match references {
        References::Objects(objects) => ("object", objects.len()),
        References::Regions(images, _) => ("image", images.len()),
    };
    if n == 0 {
        return Err(Refusal::new(format!("{name} has no {unit}s")).with_remedy("give references"));
    }
    let of_system = |(system, mut predictions): (String, Predictions)| {
        let remarks = prepare(&mut predictions, references, &system);
        let of_form = |chosen: &ChosenForm| {
            let found = match (chosen.form, references, &predictions) {
                (BoxForm::Scan2Cap, References::Objects(objects), _) => {
                    scan2cap(objects, &predictions, metrics)?
                }
                (BoxForm::Scan2CapBenchmark, References::Objects(objects), Predictions::Scenes(scenes)) => {
                    benchmark::captions(objects, scenes, metrics)?
                }
                (BoxForm::Scan2CapAp, References::Objects(objects), Predictions::Scenes(scenes)) => {
                    benchmark::average_precision(objects, scenes, metrics)?
                }
                (
                    BoxForm::DenseCapScenic | BoxForm::DenseCapLua,
                    References::Regions(images, given),
                    Predictions::Regions(predicted),
                ) => {
                    let options = chosen.region_options();
                    if let Some(image) =
                        images.iter().find(|image| options.in_720 && image.longer_side.is_nan())
                    {
                        return Err(Refusal::new(format!("{name}: image {} has no size", image.id))
                            .with_remedy("give width and height of each image, or leave out in-720"));
                    }
                    region_measures(&regions(images, given, predicted, options, &metrics.resources)?)
                }
                _ => return Err(misfit(chosen.form, &system)),
            };
            Ok(FormResult::of(chosen.to_string(), found, *segments, *intervals))
        };
        let forms = forms.iter().map(of_form).collect::<Result<Vec<_>, Refusal>>()?;
        Ok(DenseSystem { name: system, counts: Counts::default(), remarks, forms, is_human: false })
    };
    let systems = systems.into_iter().map(of_system).collect::<Result<_, Refusal>>()?;
    let head =
        Head { version: env!("CARGO_PKG_VERSION").to_owned(), resampling: *intervals, ..Head::default() };
    Ok(DenseReport {
        head,
        references: vec![name.to_owned()],
        unit: unit.to_owned(),
        n_videos: n,
        reference_hash: None,
        systems,
        timelines: None,
        is_silent: false,
    })
}

fn misfit(form: BoxForm, system: &str) -> Refusal {
    let remedy = match form {
        BoxForm::Scan2Cap => "give ScanRefer's list of objects, and captions by object or boxes by scene",
        BoxForm::Scan2CapBenchmark | BoxForm::Scan2CapAp => {
            "give ScanRefer's list of objects with bbox, and boxes by scene; matched captions do not say how many boxes there were"
        }
        BoxForm::DenseCapScenic | BoxForm::DenseCapLua => "give regions of images on both sides",
    };
    Refusal::new(format!("{system}: the form {form} cannot compare these files")).with_remedy(remedy)
}

/// Adds `sos` and `eos` to captions if none has them, and says what the files lack.
fn prepare(predictions: &mut Predictions, references: &References, system: &str) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut say = |n: usize, one: &str, what: &str| {
        if n > 0 {
            remarks.push(format!("{system}: {} {what}", counted(n, one)));
        }
    };
    let known = |wanted: &str| match references {
        References::Objects(objects) => objects.iter().any(|object| object.scene == wanted),
        References::Regions(..) => true,
    };
    let captions: Vec<&mut String> = match (predictions, references) {
        (Predictions::Matched(matched), References::Objects(objects)) => {
            let is_known = |key: &str| objects.iter().any(|object| is_key(key, object));
            say(
                matched.keys().filter(|key| !is_known(key)).count(),
                "caption",
                "of objects that the references lack, left out",
            );
            let lacks = |object: &&Object| !matched.keys().any(|key| is_key(key, object));
            let n_missing = objects.iter().filter(lacks).count();
            say(n_missing, "object", "without a caption, which count as `sos eos`");
            matched.values_mut().map(|(caption, _)| caption).collect()
        }
        (Predictions::Scenes(scenes), References::Objects(objects)) => {
            let unknown = scenes.keys().filter(|scene| !known(scene)).count();
            say(unknown, "scene", "that the references lack, left out");
            let mut missing: Vec<&str> = objects.iter().map(|object| object.scene.as_str()).collect();
            missing.dedup();
            let n_missing = missing.iter().filter(|scene| !scenes.contains_key(**scene)).count();
            say(n_missing, "scene", "of the references without boxes");
            scenes.values_mut().flatten().map(|one| &mut one.caption).collect()
        }
        (Predictions::Regions(predicted), References::Regions(_, given)) => {
            remarks.extend(fractions(predicted, given).map(|what| format!("{system}: {what}")));
            return remarks;
        }
        _ => return remarks,
    };
    if !captions.is_empty() && !captions.iter().any(|caption| caption.starts_with("sos")) {
        remarks.push(format!(
            "{system}: no caption begins with sos, so sos and eos were added, as the programs have them"
        ));
        captions.into_iter().for_each(|caption| *caption = format!("sos {caption} eos"));
    }
    remarks
}

/// A remark on boxes that are fractions of the images, where references have pixels.
fn fractions(predicted: &[Region], given: &[Region]) -> Option<String> {
    const FEWEST: usize = 3;
    let largest = |regions: &[Region]| regions.iter().flat_map(|region| region.bbox).fold(0.0, f64::max);
    let is_fraction = |region: &Region| region.bbox.iter().all(|side| (0.0..=1.0).contains(side));
    let (mine, theirs) = (predicted.iter().filter(|region| is_fraction(region)).count(), largest(given));
    (predicted.len() >= FEWEST && mine == predicted.len() && theirs > 2.0).then(|| {
        format!(
            "all boxes are between 0 and 1, and those of the references go up to {theirs}: boxes are in pixels, so \
             multiply fractions by the width and the height of each image"
        )
    })
}

/// Returns true if `key` names the object, with or without its name.
fn is_key(key: &str, object: &Object) -> bool {
    let rest = key.strip_prefix(object.scene.as_str()).and_then(|rest| rest.strip_prefix('|'));
    let rest = rest.and_then(|rest| rest.strip_prefix(object.id.as_str()));
    rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('|') == Some(object.name.as_str()))
}

/// The scores m@kIoU.
fn scan2cap(
    references: &[Object],
    predictions: &Predictions,
    metrics: &WordMetrics,
) -> Result<BoxScores, Refusal> {
    let nearest;
    let matched: IndexMap<&str, &(String, f64)> = match predictions {
        Predictions::Matched(matched) => matched.iter().map(|(key, found)| (key.as_str(), found)).collect(),
        Predictions::Scenes(scenes) => {
            if let Some(object) = references.iter().find(|object| object.corners.is_none()) {
                return Err(Refusal::new(format!("the object {} has no box", object.key()))
                    .with_remedy("add bbox to each object, or give captions that are matched already"));
            }
            nearest = nearest_objects(references, scenes);
            nearest.iter().map(|(key, found)| (key.as_str(), found)).collect()
        }
        Predictions::Regions(_) => return Err(misfit(BoxForm::Scan2Cap, "these predictions")),
    };
    let object = |object: &Object| {
        let key = object.key();
        let short = format!("{}|{}", object.scene, object.id);
        let found = matched.get(key.as_str()).or_else(|| matched.get(short.as_str()));
        let found = found.map(|(caption, overlap)| (caption.clone(), *overlap));
        SceneObject { id: key, descriptions: object.descriptions.clone(), found }
    };
    let all: Vec<SceneObject> = references.iter().map(object).collect();
    let (mut ids, mut measures) = (Vec::new(), Vec::new());
    for threshold in &OVERLAPS[1..] {
        let TextScores { ids: own, measures: found } = objects(&all, *threshold, metrics)?;
        ids = own;
        measures.extend(
            found
                .into_iter()
                .map(|measure| Measure { name: format!("{}@{threshold}", measure.name), ..measure }),
        );
    }
    Ok((ids, measures, Vec::new()))
}

/// For each object that is the nearest one of some box, the box of greatest overlap, as Vote2Cap-DETR takes it.
fn nearest_objects(
    references: &[Object],
    scenes: &IndexMap<String, Vec<SceneBox>>,
) -> IndexMap<String, (String, f64)> {
    let mut by_scene: IndexMap<&str, Vec<&Object>> = IndexMap::new();
    references.iter().for_each(|object| by_scene.entry(&object.scene).or_default().push(object));
    let mut found: IndexMap<String, (String, f64)> = IndexMap::new();
    for (scene, boxes) in scenes {
        let Some(objects) = by_scene.get(scene.as_str()) else { continue };
        for one in boxes {
            let mut best = (0.0, None);
            for object in objects {
                let Some(corners) = &object.corners else { continue };
                let overlap = corners::overlap(&one.corners, corners);
                if overlap > best.0 {
                    best = (overlap, Some(object));
                }
            }
            let (overlap, Some(object)) = best else { continue };
            let key = object.key();
            if found.get(&key).is_none_or(|known| overlap > known.1) {
                found.insert(key, (one.caption.clone(), overlap));
            }
        }
    }
    found
}

/// The mean average precisions of regions as measures.
fn region_measures(named: &[(String, f64)]) -> BoxScores {
    let value =
        |name: &str| named.iter().find(|(known, _)| known == name).map_or(f64::NAN, |(_, value)| *value);
    let at = |prefix: &str| {
        let all = named.iter().filter_map(|(name, value)| Some((name.strip_prefix(prefix)?, *value)));
        all.map(|(label, value)| (label.replace('_', " "), value)).collect()
    };
    let measure = |name: &str, value: f64, at: Vec<(String, f64)>| Measure {
        name: name.to_owned(),
        value,
        at,
        videos: Vec::new(),
    };
    let measures = vec![
        measure("map", value("mAP"), at("mAP_iou")),
        measure("map-detection", value("mAP_detection"), at("mAP_detection_iou")),
    ];
    (Vec::new(), measures, Vec::new())
}
