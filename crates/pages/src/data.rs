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
//! | `references-C` | the list of references of each image of the chunk |
//! | `pictures` | the path of each image's picture, or `null`; only if [`Meta::pictures`] is `"listed"` |
//! | `pictures-C` | the data of the picture of each image of the chunk, or `null`; only if it is `"embedded"` |
//! | `evidence-C` | an [`Image`] for each image of the chunk |
//! | `shapes` | the [`Shape`]s of all explanations, to which a [`Tree`] refers by number |

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use capeval_metric::Direction;
use capeval_report::{Evidence, Gallery, Report, Rounded, Shape};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::block;
use crate::figures::headlines;
use crate::{Page, Pictures};

/// The number of images whose evidence shares a block.
const CHUNK: usize = 128;

/// The least number of chunks that are made together, in parallel, and then written: few enough that the memory they
/// take does not grow with the page.
const TOGETHER: usize = 16;

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
    /// The measure by which images are sorted at first.
    headline: usize,
    pictures: Option<Place<'r>>,
    /// The system and the baseline whose differences are shown at first.
    difference: Option<(usize, usize)>,
}

#[derive(Serialize)]
struct Measure<'r> {
    key: &'r str,
    label: &'r str,
    /// Whether higher is better.
    higher: bool,
    /// The number of its metric.
    metric: usize,
    /// The highest possible score; `null` if there is no upper bound.
    max: Option<f64>,
}

/// The location of pictures: a pattern with `{id}`, the block `pictures`, or the blocks `pictures-C`.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Place<'r> {
    Pattern(&'r str),
    Listed,
    Embedded,
}

/// The evidence for one image's scores.
#[derive(Serialize)]
struct Image<'r> {
    references: Readings<&'r [Box<str>]>,
    /// For each system, how its caption was scored; `null` where it has no caption.
    systems: Vec<Option<Caption<'r>>>,
}

#[derive(Serialize)]
struct Caption<'r> {
    candidate: Readings<&'r str>,
    /// For each metric, how its scores were computed.
    trees: Vec<Tree<'r>>,
}

/// A text as metrics read it: its words, joined with spaces, or each preceded by U+001F if a word contains a space.
/// Metrics that split it into the same words share a reading.
#[derive(Serialize)]
struct Readings<T> {
    known: Vec<T>,
    /// For each metric, the index of its reading in `known`.
    of: Vec<usize>,
}

/// The number of a shape, and the numbers to fill it with.
#[derive(Serialize)]
struct Tree<'r>(usize, &'r RawValue);

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
            let scores = self.block(&format!("scores-{s}"), &scores(report, s, places))?;
            Ok(scores + &self.block(&format!("captions-{s}"), &texts.collect::<Vec<_>>())?)
        });
        let systems: Vec<Result<String, fmt::Error>> = systems.collect();
        f.write_str(&self.block("meta", &Meta::new(self, gallery))?)?;
        f.write_str(&self.block("ids", &gallery.ids)?)?;
        systems.into_iter().try_for_each(|block| f.write_str(&block?))?;
        match &page.pictures {
            Some(Pictures::Files(files)) => f.write_str(&self.block("pictures", files)?)?,
            Some(Pictures::Embedded(pictures)) => {
                for (chunk, pictures) in pictures.chunks(CHUNK).enumerate() {
                    // Pictures are compressed already.
                    f.write_str(&block::of(&format!("pictures-{chunk}"), &pictures, false)?)?;
                }
            }
            Some(Pictures::Pattern(_)) | None => {}
        }
        let (known, mut shapes) = (capeval_report::Shapes::default(), Numbered::default());
        let chunks: Vec<usize> = (0..gallery.ids.len().div_ceil(CHUNK)).collect();
        for together in chunks.chunks(TOGETHER.max(rayon::current_num_threads())) {
            let evidence =
                together.par_iter().map(|chunk| gallery.explainer.evidence(images(gallery, *chunk), &known));
            let evidence: Vec<_> = evidence.collect();
            // Shapes are numbered in the order of images, whatever the order in which threads meet them.
            let all = evidence.iter().flatten().flatten().flatten();
            all.for_each(|evidence| shapes.add(&evidence.shape));
            let blocks = together
                .par_iter()
                .zip(evidence)
                .map(|(chunk, evidence)| self.chunk(*chunk, gallery, &places, &evidence, &shapes));
            let blocks: Vec<Result<String, fmt::Error>> = blocks.collect();
            blocks.into_iter().try_for_each(|block| f.write_str(&block?))?;
        }
        f.write_str(
            &self.block("shapes", &shapes.list.iter().map(|shape| &**shape).collect::<Vec<&Shape>>())?,
        )
    }
}

/// The images of a chunk.
fn images(gallery: &Gallery, chunk: usize) -> Range<usize> {
    chunk * CHUNK..((chunk + 1) * CHUNK).min(gallery.ids.len())
}

impl Data<'_> {
    /// The evidence and the references of a chunk of images; `evidence` is that of each system and metric.
    fn chunk(
        &self,
        chunk: usize,
        gallery: &Gallery,
        places: &[Vec<Option<usize>>],
        evidence: &[Vec<Vec<Evidence>>],
        shapes: &Numbered,
    ) -> Result<String, fmt::Error> {
        let images = images(gallery, chunk);
        let mut done = vec![0; gallery.systems.len()];
        let of_image = |image: usize| {
            let systems =
                gallery.systems.iter().zip(places).zip(&mut done).map(|((captions, places), done)| {
                    places.get(image).copied().flatten()?;
                    let metrics = evidence.get(captions.system)?.iter();
                    let metrics = metrics.filter_map(|images| images.get(*done)).collect();
                    *done += 1;
                    Some(metrics)
                });
            Image::new(systems, shapes)
        };
        let of_images: Vec<Image<'_>> = images.clone().map(of_image).collect();
        let evidence = self.block(&format!("evidence-{chunk}"), &of_images)?;
        let references = gallery.references.get(images.clone()).unwrap_or_default();
        let references = self.block(&format!("references-{chunk}"), &references)?;
        (self.advance)(images.len());
        Ok(evidence + &references)
    }

    fn block(&self, name: &str, data: &impl Serialize) -> Result<String, fmt::Error> {
        block::of(name, data, self.page.compress)
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
            headline: headlines(report).last().copied().unwrap_or(0),
            pictures: page.pictures.as_ref().map(|pictures| match pictures {
                Pictures::Pattern(pattern) => Place::Pattern(pattern),
                Pictures::Files(_) => Place::Listed,
                Pictures::Embedded(_) => Place::Embedded,
            }),
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

fn scores(report: &Report, system: usize, places: &[Option<usize>]) -> Vec<Vec<Option<Rounded>>> {
    let n = report.head.measures.len();
    let segments = report.systems.get(system).and_then(|system| system.segments.as_ref());
    let score =
        |k: Option<usize>, measure: usize| segments?.values.get(k? * n + measure).copied().map(Rounded);
    (0..n).map(|measure| places.iter().map(|k| score(*k, measure)).collect()).collect()
}

/// Shapes, and the number of each by its address.
#[derive(Default)]
struct Numbered {
    numbers: HashMap<usize, usize>,
    list: Vec<Arc<Shape>>,
}

impl Numbered {
    fn add(&mut self, shape: &Arc<Shape>) {
        let Self { numbers, list } = self;
        numbers.entry(Arc::as_ptr(shape).addr()).or_insert_with(|| {
            list.push(Arc::clone(shape));
            list.len() - 1
        });
    }

    fn number(&self, shape: &Arc<Shape>) -> usize {
        self.numbers.get(&Arc::as_ptr(shape).addr()).copied().unwrap_or_default()
    }
}

impl<T: PartialEq> Readings<T> {
    fn of(readings: impl Iterator<Item = T>) -> Self {
        let (mut known, mut of) = (Vec::new(), Vec::new());
        for reading in readings {
            of.push(known.iter().position(|other| *other == reading).unwrap_or_else(|| {
                known.push(reading);
                known.len() - 1
            }));
        }
        Self { known, of }
    }
}

impl<'r> Image<'r> {
    /// An image with the evidence of each system, metric by metric.
    fn new(systems: impl Iterator<Item = Option<Vec<&'r Evidence>>>, shapes: &Numbered) -> Self {
        let mut references = None;
        let systems = systems.map(|metrics| {
            let metrics = metrics?;
            references
                .get_or_insert_with(|| Readings::of(metrics.iter().map(|evidence| &*evidence.references)));
            Some(Caption {
                candidate: Readings::of(metrics.iter().map(|evidence| &*evidence.candidate)),
                trees: metrics
                    .iter()
                    .map(|evidence| Tree(shapes.number(&evidence.shape), &evidence.numbers))
                    .collect(),
            })
        });
        let systems = systems.collect();
        Self { references: references.unwrap_or_else(|| Readings::of(std::iter::empty())), systems }
    }
}
