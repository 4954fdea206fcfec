//! Reads boxes with captions: ScanRefer's objects, boxes of scenes, matched captions, and regions of images.

use capeval_choice::Refusal;
use indexmap::IndexMap;

use super::corners::Corners;
use crate::read::{Json, json};
use crate::regions::{Region, SizedImage};

/// An object of a scene with its descriptions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    /// The scene.
    pub scene: String,
    /// The id within the scene.
    pub id: String,
    /// The name, such as `chair`.
    pub name: String,
    /// The corners, if the file has them.
    pub corners: Option<Corners>,
    /// The words of each description.
    pub descriptions: Vec<Vec<String>>,
}

impl Object {
    /// The key of Scan2Cap, `scene|object|name`.
    pub fn key(&self) -> String {
        format!("{}|{}|{}", self.scene, self.id, self.name)
    }
}

/// Reference objects or regions.
#[derive(Clone, Debug)]
pub enum References {
    /// Objects of scenes.
    Objects(Vec<Object>),
    /// Regions of images.
    Regions(Vec<SizedImage>, Vec<Region>),
}

/// A predicted box of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneBox {
    /// The corners.
    pub corners: Corners,
    /// The caption.
    pub caption: String,
    /// The confidence, if the file has it.
    pub score: Option<f64>,
}

/// Predictions of one system.
#[derive(Clone, Debug)]
pub enum Predictions {
    /// Captions of objects by key, each with the overlap of its box.
    Matched(IndexMap<String, (String, f64)>),
    /// Boxes by scene.
    Scenes(IndexMap<String, Vec<SceneBox>>),
    /// Regions of images.
    Regions(Vec<Region>),
}

const OBJECTS: &str = "give ScanRefer's list, [{\"scene_id\": \"scene0011_00\", \"object_id\": \"1\", \"object_name\": \
    \"chair\", \"token\": [\"a\", \"chair\"], \"bbox\": [8 corners]}], or regions, {\"images\": [{\"id\": 1, \"width\": 640, \
    \"height\": 480}], \"annotations\": [{\"image_id\": 1, \"bbox\": [left, top, width, height], \"caption\": \"a dog\"}]}";
const PREDICTIONS: &str = "give captions by object, {\"scene|object|name\": {\"caption\": \"sos a chair eos\", \"iou\": 0.6}}, \
    boxes by scene, {\"scene\": [{\"caption\": \"sos a chair eos\", \"box\": [8 corners]}]}, or regions, [{\"image_id\": 1, \
    \"bbox\": [left, top, width, height], \"caption\": \"a dog\", \"score\": 0.9}]";

fn refuse(name: &str, what: impl std::fmt::Display, remedy: &'static str) -> Refusal {
    Refusal::new(format!("{name}: {what}")).with_remedy(remedy)
}

/// Reads reference objects or regions.
///
/// # Errors
/// When the text is neither, or an entry lacks a field; with its place.
pub fn references(text: &str, name: &str) -> Result<References, Refusal> {
    let whole = json(text, name)?;
    if let Some(list) = whole.get("annotations").and_then(Json::list) {
        let sized = whole.get("images").and_then(Json::list).unwrap_or_default();
        return regions_with_images(sized, list, name);
    }
    let Some(list) = whole.list() else { return Err(refuse(name, "no list of objects or regions", OBJECTS)) };
    if list.is_empty() {
        return Err(refuse(name, "an empty list", OBJECTS));
    }
    if list.iter().any(|entry| entry.get("regions").is_some()) {
        let entries = list.iter().flat_map(|entry| entry.get("regions").and_then(Json::list)).flatten();
        let all: Vec<Json> = entries.cloned().collect();
        return regions_with_images(list, &all, name);
    }
    if list.iter().all(|entry| entry.get("image_id").is_some()) {
        return regions_with_images(&[], list, name);
    }
    let mut objects: IndexMap<(String, String, String), Object> = IndexMap::new();
    for (k, entry) in list.iter().enumerate() {
        let at = |what: &str| refuse(name, format_args!("entry {} {what}", k + 1), OBJECTS);
        let field = |key: &str| entry.get(key).and_then(id);
        let (scene, object) = match (field("scene_id"), field("object_id")) {
            (Some(scene), Some(object)) => (scene, object),
            _ => return Err(at("has no scene_id and object_id")),
        };
        let called = field("object_name").unwrap_or_default();
        let words: Vec<String> = match entry.get("token").or_else(|| entry.get("tokens")) {
            Some(Json::List(words)) => {
                let words = words.iter().map(|word| word.text().map(str::to_owned)).collect::<Option<_>>();
                words.ok_or_else(|| at("has a word in token that is no text"))?
            }
            Some(Json::Text(text)) => text.split(' ').map(str::to_owned).collect(),
            _ => return Err(at("has no token, the words of its description")),
        };
        let corners = match entry.get("bbox").or_else(|| entry.get("box")) {
            Some(value) => Some(corners(value).ok_or_else(|| at("has a box that is not eight corners"))?),
            None => None,
        };
        let found = objects
            .entry((scene.clone(), object.clone(), called.clone()))
            .or_insert_with(|| Object { scene, id: object, name: called, corners, descriptions: Vec::new() });
        found.descriptions.push(words);
    }
    Ok(References::Objects(objects.into_values().collect()))
}

/// Reads predictions; regions are of the images of `references`.
///
/// # Errors
/// When the text is none, or an entry lacks a field; with its place.
pub fn predictions(text: &str, name: &str) -> Result<Predictions, Refusal> {
    let whole = json(text, name)?;
    let whole = whole.get("results").or_else(|| whole.get("predictions")).unwrap_or(&whole);
    if let Some(list) = whole.list() {
        let regions = list.iter().enumerate().map(|(k, entry)| region(entry, k, true, name));
        return Ok(Predictions::Regions(regions.collect::<Result<_, _>>()?));
    }
    let Some(fields) = whole.fields() else { return Err(refuse(name, "no predictions", PREDICTIONS)) };
    let is_boxes =
        |value: &Json| value.list().is_some_and(|list| list.iter().all(|one| one.fields().is_some()));
    if !fields.is_empty() && fields.iter().all(|(_, value)| is_boxes(value)) {
        let scene = |(scene, list): &(String, Json)| {
            let boxes = list.list().unwrap_or_default().iter().enumerate();
            let boxes = boxes.map(|(k, one)| scene_box(one, format_args!("{scene}, box {}", k + 1), name));
            Ok((scene.clone(), boxes.collect::<Result<_, Refusal>>()?))
        };
        return Ok(Predictions::Scenes(fields.iter().map(scene).collect::<Result<_, Refusal>>()?));
    }
    let matched = |(key, value): &(String, Json)| {
        let at = |what: &str| refuse(name, format_args!("{key} {what}"), PREDICTIONS);
        if !key.contains('|') {
            return Err(at("is no key such as scene|object|name"));
        }
        let caption = value.get("caption").unwrap_or(value);
        let caption = match caption.list() {
            Some([one]) => one,
            _ => caption,
        };
        let caption = caption.text().ok_or_else(|| at("has no caption"))?.to_owned();
        let overlap = match value.get("iou") {
            Some(Json::Number(overlap)) if (0.0..=1.0).contains(overlap) => *overlap,
            Some(_) => return Err(at("has an iou that is no number from 0 to 1")),
            // The candidates that the programs save have passed their threshold.
            None if value.get("caption").is_none() => 1.0,
            None => return Err(at("has no iou, the overlap of its box")),
        };
        Ok((key.clone(), (caption, overlap)))
    };
    Ok(Predictions::Matched(fields.iter().map(matched).collect::<Result<_, _>>()?))
}

fn scene_box(json: &Json, place: std::fmt::Arguments<'_>, name: &str) -> Result<SceneBox, Refusal> {
    let at = |what: &str| refuse(name, format_args!("{place} {what}"), PREDICTIONS);
    let given = json.get("box").or_else(|| json.get("bbox")).and_then(corners);
    let score = match (json.get("score").or_else(|| json.get("confidence")), json.get("obj_prob")) {
        (Some(Json::Number(score)), _) => Some(*score),
        (None, Some(Json::List(both))) => match both[..] {
            [_, Json::Number(score)] => Some(score),
            _ => return Err(at("has an obj_prob that is not two numbers")),
        },
        (None, None) => None,
        _ => return Err(at("has a score that is no number")),
    };
    Ok(SceneBox {
        corners: given.ok_or_else(|| at("has no box of eight corners"))?,
        caption: json.get("caption").and_then(Json::text).ok_or_else(|| at("has no caption"))?.to_owned(),
        score,
    })
}

/// The corners of a box: eight points, or the least and greatest of each axis as `min` and `max`, or `center` and
/// `size`.
fn corners(json: &Json) -> Option<Corners> {
    if let Some(points) = json.list() {
        let points: Vec<[f64; 3]> = points.iter().map(point).collect::<Option<_>>()?;
        return points.try_into().ok();
    }
    let ends = match (json.get("min"), json.get("max"), json.get("center"), json.get("size")) {
        (Some(low), Some(high), ..) => (point(low)?, point(high)?),
        (_, _, Some(center), Some(size)) => {
            let (center, size) = (point(center)?, point(size)?);
            let end = |sign: f64| [0, 1, 2].map(|k| center[k] + sign * size[k] / 2.0);
            (end(-1.0), end(1.0))
        }
        _ => return None,
    };
    // The order of Scan2Cap's `construct_bbox_corners`.
    let (low, high) = ends;
    let at = |x: bool, y: bool, z: bool| {
        let pick = |k: usize, is_high: bool| if is_high { high[k] } else { low[k] };
        [pick(0, x), pick(1, y), pick(2, z)]
    };
    let face = |z: bool| [at(true, true, z), at(true, false, z), at(false, false, z), at(false, true, z)];
    let (top, bottom) = (face(true), face(false));
    Some([top[0], top[1], top[2], top[3], bottom[0], bottom[1], bottom[2], bottom[3]])
}

fn point(json: &Json) -> Option<[f64; 3]> {
    let list = json.list()?;
    let numbers: Vec<f64> = list.iter().map(number).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn number(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => Some(*number),
        _ => None,
    }
}

/// A name or number of a scene, an object or an image.
fn id(json: &Json) -> Option<String> {
    match json {
        Json::Text(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn regions_with_images(sized: &[Json], list: &[Json], name: &str) -> Result<References, Refusal> {
    let regions = list.iter().enumerate().map(|(k, entry)| region(entry, k, false, name));
    let regions: Vec<Region> = regions.collect::<Result<_, _>>()?;
    let mut images: IndexMap<i64, SizedImage> = IndexMap::new();
    for (k, entry) in sized.iter().enumerate() {
        let image = entry.get("id").or_else(|| entry.get("image_id")).and_then(whole).ok_or_else(|| {
            refuse(name, format_args!("image {} has no id that is a whole number", k + 1), OBJECTS)
        })?;
        let side = |key: &str| entry.get(key).and_then(number).unwrap_or(f64::NAN);
        images.insert(image, SizedImage { id: image, longer_side: side("width").max(side("height")) });
    }
    for region in &regions {
        let unsized_image = SizedImage { id: region.image, longer_side: f64::NAN };
        images.entry(region.image).or_insert(unsized_image);
    }
    Ok(References::Regions(images.into_values().collect(), regions))
}

fn whole(json: &Json) -> Option<i64> {
    match json {
        Json::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
        Json::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// A region of an image: `bbox`, or `x`, `y`, `width` and `height`, with `caption` or `phrase`.
fn region(json: &Json, k: usize, has_score: bool, name: &str) -> Result<Region, Refusal> {
    let remedy = if has_score { PREDICTIONS } else { OBJECTS };
    let at = |what: &str| refuse(name, format_args!("entry {} {what}", k + 1), remedy);
    let bbox = match json.get("bbox") {
        Some(list) => list.list().map(|list| list.iter().map(number).collect::<Option<Vec<f64>>>()),
        None => {
            Some(["x", "y", "width", "height"].iter().map(|key| json.get(key).and_then(number)).collect())
        }
    };
    let bbox = bbox.flatten().and_then(|sides| <[f64; 4]>::try_from(sides).ok());
    let caption = json.get("caption").or_else(|| json.get("phrase")).and_then(Json::text);
    let score = match json.get("score") {
        Some(score) => Some(number(score).ok_or_else(|| at("has a score that is no number"))?),
        None if has_score => return Err(at("has no score, by which predictions are ranked")),
        None => None,
    };
    let image = json.get("image_id").and_then(whole);
    Ok(Region {
        image: image.ok_or_else(|| at("has no image_id that is a whole number"))?,
        bbox: bbox.ok_or_else(|| at("has no bbox of left, top, width and height"))?,
        caption: caption.ok_or_else(|| at("has no caption"))?.to_owned(),
        score: score.unwrap_or(0.0),
    })
}
