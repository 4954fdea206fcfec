//! Turns a result into a report with videos in place of images, which comparisons and conditions read.

use capeval_choice::{Refusal, Remedy, SegmentId};
use capeval_metric::{Direction, Number, Signature};
use capeval_report::json_float::JsonFloat;
use capeval_report::{Head, Measure as Column, MetricEntry, Provenance, Report, Segments, SystemReport};
use capeval_stats::Interval;
use indexmap::{IndexMap, IndexSet};
use twox_hash::XxHash3_64;

use crate::scores::{ROUNDING, mean};
use crate::study::{FormResult, MeasureResult, score};
use crate::{DenseOptions, DenseReport, DenseSystem, Event, EventFile, Form, WordMetrics};

/// The measures that forms give of results on which no program stops, as [`DenseReport::to_report`] calls them.
///
/// # Errors
/// As [`DenseReport::to_report`].
pub fn measures(forms: &[Form]) -> Result<Vec<Column>, Refusal> {
    let event = |start: f64| Event { start, end: start + 1.0, caption: "a dog".to_owned() };
    let videos = IndexMap::from([("a".to_owned(), vec![event(0.0), event(1.0)])]);
    let file = EventFile { name: "a file".to_owned(), videos, ..EventFile::default() };
    let options = DenseOptions { segments: true, ..DenseOptions::new(forms.to_vec()) };
    let systems = vec![("a system".to_owned(), file.clone())];
    Ok(score(&[file], systems, &options, &WordMetrics::unmeasured())?.to_report()?.head.measures)
}

/// The hash of reference files: of the ids, times and captions of each, in this order.
pub(crate) fn reference_hash(references: &[EventFile]) -> String {
    let mut all: u64 = 0;
    for (k, file) in references.iter().enumerate() {
        for (id, events) in &file.videos {
            let mut seed = XxHash3_64::oneshot_with_seed(k as u64, id.as_bytes());
            for event in events {
                for time in [event.start, event.end] {
                    seed = XxHash3_64::oneshot_with_seed(seed, &time.to_bits().to_le_bytes());
                }
                seed = XxHash3_64::oneshot_with_seed(seed, event.caption.as_bytes());
            }
            all = all.wrapping_add(seed);
        }
    }
    format!("{all:016x}").chars().take(12).collect()
}

/// A measure of a form, which all systems have.
struct Place<'r> {
    form: &'r str,
    measure: &'r str,
}

impl DenseReport {
    /// The systems by the measures that all of them have, with the scores of each video; without what people wrote,
    /// whose videos are others.
    ///
    /// A measure is called such as `meteor`, or `densevid-2019:meteor` beside other forms.
    ///
    /// # Errors
    /// When the scores of videos were not kept, or the systems have no measure in common.
    pub fn to_report(&self) -> Result<Report, Refusal> {
        let systems: Vec<&DenseSystem> = self.systems.iter().filter(|system| !system.is_human).collect();
        let measures = || systems.iter().flat_map(|system| &system.forms).flat_map(|form| &form.measures);
        if measures().all(|measure| measure.videos.is_empty()) {
            return Err(Refusal::new("the result has no scores of videos").with_remedy(Remedy::say(
                "score the files again, and keep the scores of videos in what is saved",
            )));
        }
        let places = places(&systems);
        if places.is_empty() {
            return Err(Refusal::new("the systems have no measure in common")
                .with_remedy(Remedy::say("choose a form whose program does not stop on one of the files")));
        }
        let forms = systems.iter().flat_map(|system| &system.forms);
        let ids: IndexSet<&str> = forms.flat_map(|form| &form.videos).map(String::as_str).collect();
        let columns: Vec<Vec<Vec<f64>>> = systems
            .iter()
            .map(|system| places.iter().map(|place| place.of_videos(system, &ids)).collect())
            .collect();
        let is_mean = |m: usize| {
            systems.iter().zip(&columns).all(|(system, columns)| {
                let mean = mean(columns[m].iter().copied());
                (mean - places[m].value(system)).abs() <= ROUNDING
            })
        };
        let has_one_form = systems.iter().all(|system| system.forms.len() < 2);
        let key = |place: &Place<'_>| match has_one_form {
            true => place.measure.to_owned(),
            false => format!("{}:{}", place.form, place.measure),
        };
        let entries = places.iter().enumerate();
        let entries =
            entries.map(|(m, place)| MetricEntry { key: key(place), n_measures: 1, is_mean: is_mean(m) });
        let head = Head {
            version: self.head.version.clone(),
            metrics: entries.collect(),
            measures: places.iter().map(|place| place.column(key(place))).collect(),
            run: self.head.run.clone(),
            resampling: self.head.resampling,
            ..Head::default()
        };
        let of_system = |(system, columns): (&&DenseSystem, &Vec<Vec<f64>>)| SystemReport {
            name: system.name.clone(),
            source: system.name.clone(),
            n_images: ids.len(),
            n_references: self.n_videos,
            scores: places.iter().map(|place| place.value(system)).collect(),
            intervals: self
                .head
                .resampling
                .map(|_| places.iter().map(|place| place.interval(system)).collect()),
            signatures: places.iter().map(|place| self.signature(place)).collect(),
            reference_hash: self.reference_hash.clone(),
            segments: Some(Segments {
                ids: ids.iter().map(|id| SegmentId::from(*id)).collect(),
                values: (0..ids.len()).flat_map(|v| columns.iter().map(move |column| column[v])).collect(),
            }),
            ..SystemReport::default()
        };
        Ok(Report {
            head,
            systems: systems.iter().zip(&columns).map(of_system).collect(),
            same_images: true,
            provenance: Provenance {
                files: self.references.clone(),
                n_images: self.n_videos,
                n_references: self.n_videos,
                ..Provenance::default()
            },
            ..Report::default()
        })
    }

    fn signature(&self, place: &Place<'_>) -> Signature {
        Signature::new(place.measure)
            .with("form", place.form)
            .with("unit", &self.unit)
            .with("capeval", &self.head.version)
    }
}

/// The measures that all systems have, in the order of the first.
fn places<'r>(systems: &[&'r DenseSystem]) -> Vec<Place<'r>> {
    let Some(first) = systems.first() else { return Vec::new() };
    let measures = |form: &'r FormResult| form.measures.iter().map(|measure| (&*form.form, &*measure.name));
    let all = first.forms.iter().flat_map(measures).map(|(form, measure)| Place { form, measure });
    all.filter(|place| systems.iter().all(|system| place.find(system).is_some())).collect()
}

impl Place<'_> {
    fn find<'s>(&self, system: &'s DenseSystem) -> Option<(&'s FormResult, &'s MeasureResult)> {
        let form = system.forms.iter().find(|form| form.form == self.form)?;
        Some((form, form.measure(self.measure)?))
    }

    fn value(&self, system: &DenseSystem) -> f64 {
        self.find(system).map_or(f64::NAN, |(_, measure)| measure.value.0)
    }

    /// The interval; from NaN to NaN for a value that is no mean over videos.
    fn interval(&self, system: &DenseSystem) -> Interval {
        let found = self.find(system).and_then(|(_, measure)| measure.interval());
        found.unwrap_or(Interval { low: f64::NAN, high: f64::NAN })
    }

    /// The value of each video, the mean over thresholds; NaN where the form has none.
    fn of_videos(&self, system: &DenseSystem, ids: &IndexSet<&str>) -> Vec<f64> {
        let Some((form, measure)) = self.find(system) else { return vec![f64::NAN; ids.len()] };
        let of_video = |values: &Vec<JsonFloat>| mean(values.iter().map(|value| value.0));
        let known: IndexMap<&str, f64> =
            form.videos.iter().map(String::as_str).zip(measure.videos.iter().map(of_video)).collect();
        ids.iter().map(|id| known.get(*id).copied().unwrap_or(f64::NAN)).collect()
    }

    fn column(&self, key: String) -> Column {
        let is_repetition = ["re1", "re2", "re3", "re4"].contains(&self.measure);
        let max = if self.measure.starts_with("cider") { 10.0 } else { 1.0 };
        Column {
            label: key.clone(),
            key,
            direction: if is_repetition { Direction::LowerIsBetter } else { Direction::HigherIsBetter },
            number: Number::Real,
            min: 0.0,
            max,
        }
    }
}
