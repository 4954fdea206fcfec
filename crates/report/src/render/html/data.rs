//! The images of a page as data: scores, texts and evidence, in blocks that are unpacked when they are needed.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::json;

use super::figures::headlines;
use super::markup::block;
use crate::gallery::json_number;
use crate::grid::short;
use crate::{Evidence, Gallery, Page, Pictures, Report};

/// Images whose evidence shares a block.
const CHUNK: usize = 128;

/// Writes all blocks.
pub(super) fn data(report: &Report, gallery: &Gallery, page: &Page, out: &mut impl Write) -> io::Result<()> {
    let mut put = |name: &str, json: &str| block(out, name, json, page.compress);
    put("meta", &meta(report, gallery, page).to_string())?;
    put("ids", &serde_json::to_string(&gallery.ids)?)?;
    for (s, captions) in gallery.systems.iter().enumerate() {
        let place = places(gallery, &captions.images);
        put(&format!("scores-{s}"), &scores(report, s, &place))?;
        let texts: Vec<Option<&str>> =
            place.iter().map(|k| captions.texts.get((*k)?).map(String::as_str)).collect();
        put(&format!("captions-{s}"), &serde_json::to_string(&texts)?)?;
    }
    put("references", &serde_json::to_string(&gallery.references)?)?;
    if let Some(Pictures::Files(files)) = &page.pictures {
        put("pictures", &serde_json::to_string(files)?)?;
    }
    let mut shapes = Shapes::default();
    let places: Vec<Vec<Option<usize>>> =
        gallery.systems.iter().map(|captions| places(gallery, &captions.images)).collect();
    for (chunk, start) in (0..gallery.ids.len()).step_by(CHUNK).enumerate() {
        let images = start..(start + CHUNK).min(gallery.ids.len());
        let each: Vec<String> = images.map(|image| evidence(gallery, &places, image, &mut shapes)).collect();
        put(&format!("evidence-{chunk}"), &format!("[{}]", each.join(",")))?;
    }
    put("shapes", &format!("[{}]", shapes.list.join(",")))
}

/// What the script must know first.
fn meta(report: &Report, gallery: &Gallery, page: &Page) -> serde_json::Value {
    let mut metric_of = Vec::new();
    for (m, metric) in report.metrics.iter().enumerate() {
        metric_of.extend(std::iter::repeat_n(m, metric.n_measures));
    }
    let measures: Vec<_> = report
        .measures
        .iter()
        .zip(metric_of)
        .map(|(measure, metric)| {
            let higher = measure.direction == capeval_metric::Direction::HigherIsBetter;
            json!({ "key": measure.key, "label": short(&measure.label), "higher": higher, "metric": metric,
                    "max": measure.max.is_finite().then_some(measure.max) })
        })
        .collect();
    let systems: Vec<&str> = report.systems.iter().map(|system| system.name.as_str()).collect();
    let metrics: Vec<&str> = report.metrics.iter().map(|metric| metric.key.as_str()).collect();
    let pictures = match &page.pictures {
        None => json!(null),
        Some(Pictures::Pattern(pattern)) => json!(pattern),
        Some(Pictures::Files(_)) => json!(true),
    };
    json!({
        "n": gallery.ids.len(),
        "chunk": CHUNK,
        "measures": measures,
        "metrics": metrics,
        "systems": systems,
        "headline": headlines(report).last().copied().unwrap_or(0),
        "pictures": pictures,
    })
}

/// For each image of the gallery, which of a system's captions describes it.
fn places(gallery: &Gallery, images: &[u32]) -> Vec<Option<usize>> {
    let mut places = vec![None; gallery.ids.len()];
    for (k, image) in images.iter().enumerate() {
        if let Some(place) = places.get_mut(*image as usize) {
            *place = Some(k);
        }
    }
    places
}

/// One list per measure, image by image; `null` where the system has no caption.
fn scores(report: &Report, system: usize, place: &[Option<usize>]) -> String {
    let n = report.measures.len();
    let segments = report.systems.get(system).and_then(|system| system.segments.as_ref());
    let value = |k: usize, measure: usize| segments?.values.get(k * n + measure).copied();
    let lists = (0..n).map(|measure| {
        let each = place.iter().map(|k| {
            let value = k.and_then(|k| value(k, measure));
            value.map_or_else(|| "null".to_owned(), json_number)
        });
        format!("[{}]", each.collect::<Vec<_>>().join(","))
    });
    format!("[{}]", lists.collect::<Vec<_>>().join(","))
}

/// The shapes of all explanations, numbered in the order of images.
#[derive(Default)]
struct Shapes {
    numbers: HashMap<Arc<str>, usize>,
    list: Vec<String>,
}

impl Shapes {
    fn number(&mut self, shape: &Arc<str>) -> usize {
        if let Some(number) = self.numbers.get(shape) {
            return *number;
        }
        self.numbers.insert(Arc::clone(shape), self.list.len());
        self.list.push(shape.to_string());
        self.list.len() - 1
    }
}

/// Texts cut into words, each told once.
#[derive(Default)]
struct Readings<T> {
    known: Vec<T>,
    /// The reading of each metric.
    of: Vec<usize>,
}

impl<T: PartialEq> Readings<T> {
    fn push(&mut self, reading: T) {
        let at = self.known.iter().position(|known| *known == reading).unwrap_or_else(|| {
            self.known.push(reading);
            self.known.len() - 1
        });
        self.of.push(at);
    }
}

/// `[[readings of the references], [reading of each metric], [per system: null or [[readings of the
/// candidate], [reading of each metric], [[shape, numbers…] of each metric]]]]`.
fn evidence(gallery: &Gallery, places: &[Vec<Option<usize>>], image: usize, shapes: &mut Shapes) -> String {
    let mut references: Readings<&[Box<str>]> = Readings::default();
    let mut systems = Vec::with_capacity(gallery.systems.len());
    for (captions, places) in gallery.systems.iter().zip(places) {
        let Some(k) = places.get(image).copied().flatten() else {
            systems.push("null".to_owned());
            continue;
        };
        let mine: Vec<&Evidence> = captions.evidence.iter().filter_map(|metric| metric.get(k)).collect();
        let mut candidate: Readings<&str> = Readings::default();
        let mut trees = Vec::with_capacity(mine.len());
        let first = references.of.is_empty();
        for evidence in mine {
            candidate.push(&evidence.candidate);
            if first {
                references.push(&evidence.references);
            }
            let separator = if evidence.numbers.is_empty() { "" } else { "," };
            trees.push(format!("[{}{separator}{}]", shapes.number(&evidence.shape), evidence.numbers));
        }
        systems.push(format!("[{},{},[{}]]", json!(candidate.known), json!(candidate.of), trees.join(",")));
    }
    format!("[{},{},[{}]]", json!(references.known), json!(references.of), systems.join(","))
}
