//! The data of a page's images, in the blocks that `assets/data.js` reads.
//!
//! Every block is JSON. Images, systems, measures and metrics are numbered in the order of the report; `S` is the
//! number of a system and `C` the number of a chunk of [`CHUNK`] images.
//!
//! | block | content |
//! |---|---|
//! | `meta` | [`Meta`]; `null` on a page without images |
//! | `ids` | the id of each image |
//! | `scores-S` | for each measure, a list of the score of each image; `null` where the system has no caption |
//! | `captions-S` | the caption of each image; `null` where the system has none |
//! | `groups-S` | for each of [`Meta::groups`], a list of the numbers of each image's groups; only if there are any |
//! | `references-C` | the list of references of each image of the chunk |
//! | `pictures` | the path of each image's picture, or `null`; only if [`Meta::pictures`] is `"listed"` |
//! | `pictures-C` | the data of the picture of each image of the chunk, or `null`; only if it is `"embedded"` |
//! | `evidence-C` | for each image of the chunk, the evidence for its scores, as [`push_image`] writes it |
//! | `shapes` | `all`: the [`Shapes`] of all explanations; `of`: for each chunk, the numbers in `all` of its own |

use std::fmt::{self, Write as _};
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use capeval_metric::Direction;
use capeval_report::{Evidence, Gallery, GroupScores, Report, RoundedNumber, Shapes};
use rayon::prelude::*;
use serde::Serialize;

use crate::block::Blocks;
use crate::figures::headlines;
use crate::page::{Page, Pictures, data_url};

/// The number of images whose evidence shares a block.
const CHUNK: usize = 128;

/// The number of chunks that are made together, in parallel, and then written: so few that the memory they take does
/// not grow with the page, and so many that threads seldom wait for the last of them.
const TOGETHER: usize = 64;

/// All blocks of a page.
pub(crate) struct Data<'r> {
    /// The report.
    pub report: &'r Report,
    /// The settings of the page.
    pub page: &'r Page,
    /// The system and the baseline whose differences are shown at first.
    pub difference: Option<(usize, usize)>,
    /// Called with the number of images after some are written.
    pub advance: Advance<'r>,
    /// The reason why a picture could not be read.
    pub failure: OnceLock<io::Error>,
}

/// Receives the progress of writing a page.
pub type Advance<'r> = &'r (dyn Fn(usize) + Sync);

/// The block that the script reads first.
#[derive(Serialize)]
struct Meta<'r> {
    /// The number of images.
    n: usize,
    /// The number of images that share a block of evidence.
    chunk: usize,
    measures: Vec<Measure<'r>>,
    /// The keys of the metrics.
    metrics: Vec<&'r str>,
    /// The names of the systems.
    systems: Vec<&'r str>,
    /// The properties that group images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Property<'r>>,
    /// The measure by which images are sorted at first.
    headline: usize,
    pictures: Option<Place<'r>>,
    /// True if there are captions or references, and not only given scores.
    texts: bool,
    /// True if there are references; without them, no words match.
    references: bool,
    /// The system and the baseline whose differences are shown at first.
    difference: Option<(usize, usize)>,
}

#[derive(Serialize)]
struct Measure<'r> {
    key: &'r str,
    label: &'r str,
    /// True if higher is better.
    higher: bool,
    /// The number of its metric.
    metric: usize,
    /// The highest possible score; `null` if there is no upper bound.
    max: Option<f64>,
}

#[derive(Serialize)]
struct Property<'r> {
    by: &'r str,
    /// The names of its groups.
    names: Vec<&'r str>,
}

/// The location of pictures: a pattern with `{id}`, the block `pictures`, or the blocks `pictures-C`.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Place<'r> {
    Pattern(&'r str),
    Listed,
    Embedded,
}

impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, page, .. } = *self;
        let Some(gallery) = &report.gallery else {
            return f.write_str(&self.block("meta", &())?);
        };
        let places: Vec<Vec<Option<usize>>> =
            gallery.systems.iter().map(|captions| places(gallery, &captions.images)).collect();
        let systems = gallery.systems.par_iter().zip(&places).enumerate().map(|(s, (captions, places))| {
            let texts = places.iter().map(|k| captions.texts.get((*k)?).map(String::as_str));
            let (scores, captions) = rayon::join(
                || self.block(&format!("scores-{s}"), &scores(report, s, places)),
                || self.block(&format!("captions-{s}"), &texts.collect::<Vec<_>>()),
            );
            let groups = groups(report, gallery, s);
            let groups = (!groups.is_empty()).then(|| self.block(&format!("groups-{s}"), &groups));
            Ok(scores? + &captions? + &groups.transpose()?.unwrap_or_default())
        });
        let systems: Vec<Result<String, fmt::Error>> = systems.collect();
        f.write_str(&self.block("meta", &Meta::new(self, gallery))?)?;
        f.write_str(&self.block("ids", &gallery.ids)?)?;
        systems.into_iter().try_for_each(|block| f.write_str(&block?))?;
        match &page.pictures {
            Some(Pictures::Files(files)) => f.write_str(&self.block("pictures", files)?)?,
            Some(Pictures::Embedded(pictures)) => {
                for (chunk, files) in pictures.chunks(CHUNK).enumerate() {
                    let pictures = self.pictures(files)?;
                    // Pictures are compressed already.
                    f.write_str(&Blocks::new(false).of(&format!("pictures-{chunk}"), &pictures)?)?;
                }
            }
            Some(Pictures::Pattern(_)) | None => {}
        }
        let (mut shapes, mut of_chunks) = (Shapes::default(), Vec::new());
        let chunks: Vec<usize> = (0..gallery.ids.len().div_ceil(CHUNK)).collect();
        for together in chunks.chunks(TOGETHER) {
            let chunks = together.par_iter().map_init(
                || Blocks::new(page.compress),
                |blocks, chunk| self.chunk(*chunk, gallery, &places, blocks),
            );
            for chunk in chunks.collect::<Result<Vec<_>, _>>()? {
                f.write_str(&chunk.blocks)?;
                let numbers = chunk.shapes.iter().map(|shape| shapes.number(shape));
                of_chunks.push(numbers.collect::<Vec<_>>());
            }
        }
        let (all, of) = (shapes.into_list().join(","), serde_json::to_string(&of_chunks));
        let of = of.map_err(|_| fmt::Error)?;
        f.write_str(
            &Blocks::new(page.compress).of_json("shapes", &format!(r#"{{"all":[{all}],"of":{of}}}"#))?,
        )
    }
}

/// The part of a page about a chunk of images.
struct Chunk {
    blocks: String,
    /// The shapes to which the evidence refers.
    shapes: Vec<Box<str>>,
}

impl Data<'_> {
    /// The evidence and the references of a chunk of images.
    fn chunk(
        &self,
        chunk: usize,
        gallery: &Gallery,
        places: &[Vec<Option<usize>>],
        blocks: &mut Blocks,
    ) -> Result<Chunk, fmt::Error> {
        let images = chunk * CHUNK..((chunk + 1) * CHUNK).min(gallery.ids.len());
        let mut shapes = Shapes::default();
        let evidence = gallery.explainer.evidence(images.clone(), &mut shapes);
        let mut done = vec![0; gallery.systems.len()];
        let mut json = String::new();
        for image in images.clone() {
            let systems =
                gallery.systems.iter().zip(places).zip(&mut done).map(|((captions, places), done)| {
                    places.get(image).copied().flatten()?;
                    let metrics = evidence.get(captions.system)?.iter();
                    let metrics = metrics.filter_map(|images| images.get(*done)).collect();
                    *done += 1;
                    Some(metrics)
                });
            json.push(if json.is_empty() { '[' } else { ',' });
            push_image(&mut json, &systems.collect::<Vec<_>>())?;
        }
        json.push(']');
        let mut both = blocks.of_json(&format!("evidence-{chunk}"), &json)?;
        let references = gallery.references.get(images.clone()).unwrap_or_default();
        both.push_str(&blocks.of(&format!("references-{chunk}"), &references)?);
        (self.advance)(images.len());
        Ok(Chunk { blocks: both, shapes: shapes.into_list() })
    }

    /// The pictures in some files, as URLs.
    fn pictures(&self, files: &[Option<PathBuf>]) -> Result<Vec<Option<String>>, fmt::Error> {
        let urls = files.iter().map(|file| file.as_deref().map(data_url).transpose());
        urls.collect::<io::Result<_>>().map_err(|error| {
            let _ = self.failure.set(error);
            fmt::Error
        })
    }

    fn block(&self, name: &str, data: &impl Serialize) -> Result<String, fmt::Error> {
        Blocks::new(self.page.compress).of(name, data)
    }
}

impl<'r> Meta<'r> {
    fn new(Data { report, page, difference, .. }: &Data<'r>, gallery: &Gallery) -> Self {
        let metrics = report.head.metrics.iter().enumerate();
        let metric_of = metrics.flat_map(|(m, metric)| std::iter::repeat_n(m, metric.n_measures));
        let measures = report.head.measures.iter().zip(metric_of).map(|(measure, metric)| Measure {
            key: &measure.key,
            label: measure.short_label(),
            higher: measure.direction == Direction::HigherIsBetter,
            metric,
            max: measure.max.is_finite().then_some(measure.max),
        });
        Self {
            n: gallery.ids.len(),
            chunk: CHUNK,
            measures: measures.collect(),
            metrics: report.head.metrics.iter().map(|metric| metric.key.as_str()).collect(),
            systems: report
                .systems
                .iter()
                .zip(&gallery.systems)
                .map(|(system, _)| system.name.as_str())
                .collect(),
            groups: listed(report).map(|groups| Property { by: &groups.by, names: groups.names() }).collect(),
            headline: headlines(report).last().copied().unwrap_or(0),
            pictures: page.pictures.as_ref().map(|pictures| match pictures {
                Pictures::Pattern(pattern) => Place::Pattern(pattern),
                Pictures::Files(_) => Place::Listed,
                Pictures::Embedded(_) => Place::Embedded,
            }),
            texts: gallery.has_texts(),
            references: gallery.references.iter().any(|texts| !texts.is_empty()),
            difference: *difference,
        }
    }
}

/// For each image of the gallery, the index of the system's caption of it.
fn places(gallery: &Gallery, images: &[u32]) -> Vec<Option<usize>> {
    let mut places = vec![None; gallery.ids.len()];
    for (k, image) in images.iter().enumerate() {
        if let Some(place) = places.get_mut(*image as usize) {
            *place = Some(k);
        }
    }
    places
}

/// The properties whose groups are known for each image.
fn listed(report: &Report) -> impl Iterator<Item = &GroupScores> {
    report.groups.iter().filter(|groups| !groups.members.is_empty())
}

fn groups<'r>(report: &'r Report, gallery: &'r Gallery, system: usize) -> Vec<Vec<&'r [usize]>> {
    let name = report.systems.get(system).map_or("", |system| system.name.as_str());
    let of = |groups: &'r GroupScores| gallery.ids.iter().map(|id| groups.numbers_of(name, id)).collect();
    listed(report).map(of).collect()
}

fn scores(report: &Report, system: usize, places: &[Option<usize>]) -> Vec<Vec<Option<RoundedNumber>>> {
    let n = report.head.measures.len();
    let segments = report.systems.get(system).and_then(|system| system.segments.as_ref());
    let score =
        |k: Option<usize>, measure: usize| segments?.values.get(k? * n + measure).copied().map(RoundedNumber);
    (0..n).map(|measure| places.iter().map(|k| score(*k, measure)).collect()).collect()
}

/// Adds the evidence for the scores of an image, given that of each system by metric, if it has a caption:
///
/// - `references`: the references as metrics read them;
/// - `systems`: for each system, `null` if it has no caption, or else the `candidate` as metrics read it and `trees`:
///   for each metric, the number of the shape in its chunk and the [`numbers`](Evidence::numbers) to fill it with.
///
/// Metrics that split a text into the same words share a reading: `known` holds the words of each reading, and `of` the
/// index in it for each metric.
fn push_image(json: &mut String, systems: &[Option<Vec<&Evidence>>]) -> fmt::Result {
    let none = Vec::new();
    let first = systems.iter().flatten().next().unwrap_or(&none);
    json.push_str(r#"{"references":"#);
    push_readings(json, first.iter().map(|evidence| evidence.references.as_str()))?;
    json.push_str(r#","systems":["#);
    for (s, metrics) in systems.iter().enumerate() {
        json.push_str(if s > 0 { "," } else { "" });
        let Some(metrics) = metrics else {
            json.push_str("null");
            continue;
        };
        json.push_str(r#"{"candidate":"#);
        push_readings(json, metrics.iter().map(|evidence| evidence.candidate.as_str()))?;
        json.push_str(r#","trees":["#);
        for (m, evidence) in metrics.iter().enumerate() {
            let comma = if m > 0 { "," } else { "" };
            write!(json, "{comma}[{},", evidence.shape)?;
            json.push_str(&evidence.numbers);
            json.push(']');
        }
        json.push_str("]}");
    }
    json.push_str("]}");
    Ok(())
}

/// Adds readings of a text, which are JSON.
fn push_readings<'e>(json: &mut String, readings: impl Iterator<Item = &'e str>) -> fmt::Result {
    let (mut known, mut of) = (Vec::new(), Vec::new());
    for reading in readings {
        of.push(known.iter().position(|other| *other == reading).unwrap_or_else(|| {
            known.push(reading);
            known.len() - 1
        }));
    }
    write!(json, r#"{{"known":[{}],"of":["#, known.join(","))?;
    for (m, index) in of.into_iter().enumerate() {
        write!(json, "{}{index}", if m > 0 { "," } else { "" })?;
    }
    json.push_str("]}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_that_read_the_same_words_share_them() {
        let evidence = |shape, candidate: &str| Evidence {
            shape,
            numbers: "[1,2]".into(),
            candidate: candidate.into(),
            references: r#"["b"]"#.into(),
        };
        let (a, b, c) = (evidence(3, r#""a""#), evidence(0, r#""a""#), evidence(1, r#""A""#));
        let mut json = String::new();
        push_image(&mut json, &[None, Some(vec![&a, &b, &c])]).unwrap();
        let references = r#"{"known":[["b"]],"of":[0,0,0]}"#;
        let candidate = r#"{"known":["a","A"],"of":[0,0,1]}"#;
        let trees = "[[3,[1,2]],[0,[1,2]],[1,[1,2]]]";
        assert_eq!(
            json,
            format!(
                r#"{{"references":{references},"systems":[null,{{"candidate":{candidate},"trees":{trees}}}]}}"#
            )
        );
        json.clear();
        push_image(&mut json, &[None]).unwrap();
        assert_eq!(json, r#"{"references":{"known":[],"of":[]},"systems":[null]}"#);
    }
}
