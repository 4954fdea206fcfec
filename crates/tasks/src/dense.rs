//! Dense captions: phases whose metrics are forms of them, where the events of a video stand in the place of a caption,
//! as JSON.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use capeval::choice::{Refusal, Remedy, SegmentId, counted};
use capeval::corpus::unpack;
use capeval::metric::Direction;
use capeval::report::{Measure, Report};
use capeval::stats::Resampling;
use capeval_dense::read::{ReadOptions, read_references, read_results};
use capeval_dense::{DenseOptions, DenseReport, Event, EventFile, Form, Program, WordMetric, WordMetrics};
use capeval_files::Home;
use serde::Deserialize;

use crate::input::open;
use crate::metrics::{Metrics, OfferedMeasure, OfferedMetric, absence, described, missing_data};
use crate::references::{Prepare, ReferenceSummary};
use crate::scoring::Set;
use crate::submission::in_words;

/// The beginning of the names of metrics that are forms of dense captions.
pub(crate) const FAMILY: &str = "dense:";

/// The most characters of a caption of an event.
const LONGEST: usize = 2_000;

/// The events of a video as they are stored: start and end in seconds, caption.
type Events = Vec<(f64, f64, String)>;

/// A file of references as it is prepared: each video with its duration, if that is known, and its events.
type PreparedFile = Vec<(String, Option<f64>, Events)>;

/// A video of a submission as it is stored.
#[derive(Deserialize)]
struct Line {
    image_id: SegmentId,
    caption: String,
}

/// Returns true if metrics are forms of dense captions.
pub fn is_dense(names: &[String]) -> bool {
    names.iter().any(|name| name.starts_with(FAMILY))
}

/// The forms that metrics are; none for metrics of captions of images.
///
/// # Errors
/// If there is no such form, or forms and others are named together.
pub(crate) fn forms(names: &[String]) -> anyhow::Result<Vec<Form>> {
    let (dense, others): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| name.starts_with(FAMILY));
    let of_family = dense.iter().filter_map(|name| name.strip_prefix(FAMILY));
    let forms =
        of_family.map(|name| name.parse::<Form>().map_err(told)).collect::<anyhow::Result<Vec<_>>>()?;
    if let (Some(one), Some(other)) = (dense.first(), others.first()) {
        bail!("{one} scores events of videos and {other} captions of images: give each a phase of its own");
    }
    ensure!(
        forms.iter().all(|form| form.is_text() == forms[0].is_text()),
        "some of these forms compare events and others whole texts: give each a phase of its own"
    );
    Ok(forms)
}

/// The metrics whose data these metrics need: those of captions that a form is made of, and others as they are.
pub(crate) fn of_words(names: &[String]) -> Vec<String> {
    let of_name = |name: &String| match name.strip_prefix(FAMILY).map(str::parse::<Form>) {
        Some(Ok(form)) => wanted(&[form]).iter().map(|metric| metric.name().to_owned()).collect(),
        _ => vec![name.clone()],
    };
    names.iter().flat_map(of_name).collect()
}

/// The measures of forms.
pub(crate) fn measures(forms: &[Form]) -> anyhow::Result<Vec<Measure>> {
    capeval_dense::measures(forms).map_err(told)
}

/// The form that is recommended, as a metric that a phase may have; hosts name others themselves.
pub(crate) fn offered(home: Option<&Home>) -> anyhow::Result<OfferedMetric> {
    let form = Form::from(Program::Capeval);
    let name = format!("{FAMILY}{form}");
    let missing = missing_data(std::slice::from_ref(&name), home);
    let measure = |measure: Measure| OfferedMeasure {
        lower_is_better: measure.direction == Direction::LowerIsBetter,
        key: measure.key,
        label: measure.label,
        min: measure.min,
        max: measure.max,
    };
    Ok(OfferedMetric {
        summary: "dense video captions: SODA_c, and captions, precision and recall by overlap in time",
        measures: measures(&[form])?.into_iter().map(measure).collect(),
        data: Some("meteor"),
        absence: (!missing.is_empty()).then(|| absence(&missing)),
        seconds: 0.1,
        name,
    })
}

/// The metrics of captions that forms are made of.
fn wanted(forms: &[Form]) -> Vec<WordMetric> {
    let has_meteor = forms.iter().any(|form| form.has_meteor());
    let all = WordMetric::ALL.iter().copied();
    all.filter(|metric| has_meteor || *metric != WordMetric::Meteor).collect()
}

fn told(refusal: Refusal) -> anyhow::Error {
    in_words(&refusal, refusal.remedy())
}

fn text(path: &Path, name: &str) -> anyhow::Result<String> {
    let bytes = open(path, "it cannot be opened")?;
    let bytes = unpack(&bytes, name, false).map_err(|error| in_words(&error, error.remedy()))?;
    let text = std::str::from_utf8(&bytes);
    Ok(text
        .map_err(|_| in_words(&format!("{name}: not UTF-8"), Some(&Remedy::say("save the file as UTF-8"))))?
        .to_owned())
}

fn reading(forms: &[Form]) -> ReadOptions {
    ReadOptions {
        takes_texts: forms.iter().all(|form| form.is_text()),
        after_thoughts: Some(capeval::after_thoughts),
        ..ReadOptions::default()
    }
}

/// Reads references of one file, or of several whose JSON stands one after the other, as ActivityNet's two may.
fn read_files(text: &str, options: &ReadOptions) -> anyhow::Result<Vec<EventFile>> {
    let whole = read_references(text, "references", options);
    let documents = || -> Option<Vec<EventFile>> {
        let mut places = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
        let (mut files, mut start) = (Vec::new(), 0);
        while places.next().transpose().ok()?.is_some() {
            files.extend(read_references(&text[start..places.byte_offset()], "references", options).ok()?);
            start = places.byte_offset();
        }
        Some(files)
    };
    whole.or_else(|refusal| documents().filter(|files| !files.is_empty()).ok_or(refusal)).map_err(told)
}

fn stored(events: &[Event]) -> Events {
    events.iter().map(|event| (event.start, event.end, event.caption.clone())).collect()
}

fn events(stored: Events) -> Vec<Event> {
    stored.into_iter().map(|(start, end, caption)| Event { start, end, caption }).collect()
}

/// Prepares references of dense captions.
pub(crate) fn prepare(task: Prepare, forms: &[Form]) -> anyhow::Result<ReferenceSummary> {
    let Prepare { source, images, half, metrics, prepared, ids } = task;
    ensure!(
        metrics.tokenizer.is_none(),
        "each form of dense captions has a tokenizer of its own: leave out that of these references"
    );
    let mut files = read_files(&text(&source, "references")?, &reading(forms))?;
    if let Some(images) = images {
        let listed: HashSet<String> = images.iter().map(ToString::to_string).collect();
        let unknown = listed.iter().find(|id| files.iter().all(|file| !file.videos.contains_key(*id)));
        if let Some(unknown) = unknown {
            bail!("the listed video {unknown} has no reference");
        }
        files.iter_mut().for_each(|file| file.videos.retain(|id, _| listed.contains(id)));
    }
    let mut notices = Vec::new();
    if let Some(half) = half {
        let kept = half.of(files.iter().flat_map(|file| file.videos.keys().cloned()).collect())?;
        files.iter_mut().for_each(|file| file.videos.retain(|id, _| kept.ids.contains(id)));
        notices.extend(kept.notice);
    }
    let mut known = HashSet::new();
    let videos = files.iter().flat_map(|file| file.videos.keys()).filter(|id| known.insert(*id));
    let videos: Vec<&String> = videos.collect();
    // Its data are there.
    metrics.resources()?;
    let of = |id: &str| files.iter().filter_map(|file| file.videos.get(id)).collect::<Vec<_>>();
    let without = videos.iter().filter(|id| of(id).iter().all(|events| events.is_empty())).count();
    ensure!(without < videos.len(), "none of the references has an event");
    notices.extend(
        (without > 0).then(|| format!("{} without an event in the references", counted(without, "video"))),
    );
    let summary = ReferenceSummary {
        n_images: videos.len(),
        n_references: files.iter().map(|file| file.videos.len()).sum(),
        fewest: videos.iter().map(|id| of(id).len()).min().unwrap_or(0),
        measures: described(&measures(forms)?),
        notices,
    };
    let of_file = |file: &EventFile| -> PreparedFile {
        let video = |(id, events): (&String, &Vec<Event>)| {
            (id.clone(), file.durations.get(id).copied(), stored(events))
        };
        file.videos.iter().map(video).collect()
    };
    serde_json::to_writer(File::create(prepared)?, &files.iter().map(of_file).collect::<Vec<_>>())?;
    let videos: Vec<SegmentId> = videos.iter().map(|id| SegmentId::from(id.as_str())).collect();
    serde_json::to_writer(File::create(ids)?, &videos)?;
    Ok(summary)
}

fn prepared(path: &Path) -> anyhow::Result<Vec<EventFile>> {
    let file = BufReader::new(File::open(path).ok().context("the references cannot be opened")?);
    let files: Vec<PreparedFile> = serde_json::from_reader(file)?;
    let of_file = |videos: PreparedFile| {
        let mut file = EventFile { name: "references".to_owned(), ..EventFile::default() };
        for (id, duration, stored) in videos {
            file.durations.extend(duration.map(|seconds| (id.clone(), seconds)));
            file.videos.insert(id, events(stored));
        }
        file
    };
    Ok(files.into_iter().map(of_file).collect())
}

/// Reads the events of a file that someone submits, by the prepared references of the phase.
pub(crate) fn submitted(
    file: &Path,
    name: &str,
    sets: &[PathBuf],
    metrics: &[String],
) -> anyhow::Result<Vec<(SegmentId, String)>> {
    let mut references = Vec::new();
    for set in sets {
        references.extend(prepared(set)?);
    }
    let mut read = results(&text(file, name)?, name, &references, &forms(metrics)?)?;
    let n_videos = read.videos.len();
    read.match_ids(&references);
    ensure!(
        read.videos.len() == n_videos,
        "{name}: some videos are there with and without v_: keep one of them"
    );
    let mut all = Vec::new();
    for (id, events) in &read.videos {
        if let Some(event) = events.iter().find(|event| event.caption.chars().count() > LONGEST) {
            bail!(
                "{name}: {id} has a caption of more than {LONGEST} characters, at {} s: shorten it",
                event.start
            );
        }
        all.push((SegmentId::from(id.as_str()), serde_json::to_string(&stored(events))?));
    }
    Ok(all)
}

fn results(text: &str, name: &str, references: &[EventFile], forms: &[Form]) -> anyhow::Result<EventFile> {
    let durations = references.iter().flat_map(|file| file.durations.clone()).collect();
    read_results(text, name, &ReadOptions { durations, ..reading(forms) }).map_err(told)
}

/// A reference set of dense captions.
pub(crate) struct DenseSet {
    forms: Vec<Form>,
    references: Vec<EventFile>,
    metrics: WordMetrics,
}

impl DenseSet {
    /// Opens a reference set; `None` for captions of images.
    pub fn open(set: &Set) -> anyhow::Result<Option<Self>> {
        let Metrics { names, .. } = &set.metrics;
        let forms = forms(names)?;
        if forms.is_empty() {
            return Ok(None);
        }
        let metrics = WordMetrics::new(&set.metrics.resources()?, &wanted(&forms)).map_err(told)?;
        Ok(Some(Self { references: prepared(&set.prepared)?, forms, metrics }))
    }

    /// The events of a file that was checked, or of one in any form that is read.
    pub fn events(&self, path: &Path) -> anyhow::Result<EventFile> {
        let text = text(path, "submission")?;
        let checked = || -> Option<EventFile> {
            let mut file = EventFile { name: "submission".to_owned(), ..EventFile::default() };
            for Line { image_id, caption } in serde_json::from_str::<Vec<Line>>(&text).ok()? {
                file.videos.insert(image_id.to_string(), events(serde_json::from_str(&caption).ok()?));
            }
            Some(file)
        };
        checked().map_or_else(|| results(&text, "submission", &self.references, &self.forms), Ok)
    }

    /// Scores files, or what people wrote if there are none.
    ///
    /// # Errors
    /// If the program of a form stops on one of them, so that scores would be missing.
    pub fn score(
        &self,
        files: &[(&str, &Path)],
        intervals: Option<Resampling>,
        timelines: bool,
    ) -> anyhow::Result<DenseReport> {
        let systems = files.iter().map(|(name, path)| Ok(((*name).to_owned(), self.events(path)?)));
        let systems = systems.collect::<anyhow::Result<Vec<_>>>()?;
        let options = DenseOptions {
            segments: true,
            timelines,
            human: files.is_empty(),
            intervals,
            ..DenseOptions::new(self.forms.clone())
        };
        let mut found =
            capeval_dense::score(&self.references, systems, &options, &self.metrics).map_err(told)?;
        for system in &mut found.systems {
            let mut stops =
                system.forms.iter().flat_map(|form| form.stops.iter().map(|stop| (&form.form, stop)));
            if let Some((form, stop)) = stops.next() {
                bail!("{FAMILY}{form}: {stop}");
            }
            // Here people are a system like the others.
            system.is_human = false;
        }
        Ok(found)
    }

    /// The scores as a report with videos in the place of images.
    pub fn report(&self, files: &[(&str, &Path)], intervals: Option<Resampling>) -> anyhow::Result<Report> {
        self.score(files, intervals, false)?.to_report().map_err(told)
    }
}

/// The events of a video in words.
pub(crate) fn in_text(events: &[Event]) -> String {
    let one = |event: &Event| format!("{}–{} s: {}", event.start, event.end, event.caption);
    events.iter().map(one).collect::<Vec<_>>().join("; ")
}
