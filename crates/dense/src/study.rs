//! Presents the scores of systems as a result: tables, JSON, CSV, and a file that can be read again.

use std::io::{self, Write};

use capeval_choice::{Refusal, counted};
use capeval_metric::Signature;
use capeval_report::charts::{Colour, Estimate};
use capeval_report::json_float::JsonFloat;
use capeval_report::{
    Align, Cell, Details, Estimates, Fields, Form as Format, Grid, Head, Headings, Kind, Labels, Line, Study,
    Table, Timelines, damaged, fields, fixed, intervals_in_words, line, study_head,
};
use capeval_stats::{Interval, Matrix, Resampling, resample};
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::counts::Counts;
use crate::run::evaluate_with_evidence;
use crate::scores::{ROUNDING, SHOWN};
use crate::{EventFile, Form, FormScores, Measure, Program, WordMetrics, evaluate};

/// Scores of dense captions.
pub const KIND: Kind = Kind::of::<DenseReport>("dense-captions");

/// The scores of systems by forms.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DenseReport {
    /// The fields that all results share.
    pub head: Head,
    /// The reference files.
    pub references: Vec<String>,
    /// What is compared: a video, an object of a scene, an image.
    #[serde(default = "video")]
    pub unit: String,
    /// The number of videos, objects or images of the references.
    pub n_videos: usize,
    /// The hash of their ids, times and captions.
    #[serde(default)]
    pub reference_hash: Option<String>,
    /// The systems.
    pub systems: Vec<DenseSystem>,
    /// The events of all videos and what was matched, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timelines: Option<Timelines>,
    /// True if people want nothing below the tables but what was scored.
    #[serde(skip)]
    pub is_silent: bool,
}

/// One file of results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DenseSystem {
    /// The name.
    pub name: String,
    /// The numbers of events, of videos of the references without predictions, of videos with an empty list, and of
    /// videos that the references lack.
    pub counts: Counts,
    /// What was done to the file, and what readers of the scores should know.
    pub remarks: Vec<String>,
    /// The scores by each form.
    pub forms: Vec<FormResult>,
    /// True for what people wrote: each reference file against the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_human: bool,
}

/// The scores by one form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FormResult {
    /// The form.
    pub form: String,
    /// The videos that count.
    pub videos: Vec<String>,
    /// The measures.
    pub measures: Vec<MeasureResult>,
    /// Why the program stops, where it does.
    pub stops: Vec<String>,
}

/// A measure with its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasureResult {
    /// The name, such as `meteor`.
    pub name: String,
    /// The value; NaN where the program takes the mean of nothing.
    pub value: JsonFloat,
    /// The interval, if one was asked for and the value is a mean over videos.
    pub interval: Option<[JsonFloat; 2]>,
    /// The values at each threshold, distance or file.
    pub at: Vec<(String, JsonFloat)>,
    /// The values of each video, if they were asked for.
    pub videos: Vec<Vec<JsonFloat>>,
}

/// What a person sets.
#[derive(Clone, Debug)]
pub struct DenseOptions {
    /// The forms.
    pub forms: Vec<Form>,
    /// Keep the values of each video.
    pub segments: bool,
    /// Keep the events of each video, and what SODA_c matches.
    pub timelines: bool,
    /// Add what people wrote as a last system: each reference file, scored against the others.
    pub human: bool,
    /// The computation of intervals, with videos as units.
    pub intervals: Option<Resampling>,
}

impl DenseOptions {
    /// The scores of these forms and nothing more.
    pub fn new(forms: Vec<Form>) -> Self {
        Self { forms, segments: false, timelines: false, human: false, intervals: None }
    }
}

/// Scores systems, given by name, by all forms of `options`.
///
/// # Errors
/// When there are no references, no systems or no forms, or intervals cannot be computed.
pub fn score(
    references: &[EventFile],
    systems: Vec<(String, EventFile)>,
    options: &DenseOptions,
    metrics: &WordMetrics,
) -> Result<DenseReport, Refusal> {
    let DenseOptions { forms, segments, timelines, human, intervals } = options;
    let n_videos = crate::event::Video::all(references, &EventFile::default()).len();
    if n_videos == 0 {
        return Err(Refusal::new("the references have no video").with_remedy(crate::read::EXPECTED));
    }
    if let Some(resampling) = intervals {
        resampling.check()?;
    }
    let of_references = crate::checks::check(references, &systems)?;
    let mut timelines = timelines.then(|| EventFile::timelines(references));
    let of_system = |(name, mut file): (String, EventFile)| {
        let mut remarks = Vec::from_iter(file.match_ids(references));
        let counts = Counts::of(references, &file);
        remarks.extend(counts.remarks(&file));
        remarks.extend(crate::counts::fractions(references, &file));
        remarks.extend(of_references.iter().cloned());
        let scores = match &mut timelines {
            None => evaluate(references, &file, forms, metrics),
            Some(timelines) => {
                let (scores, evidence) = evaluate_with_evidence(references, &file, forms, metrics);
                file.add_to(timelines, &name, evidence);
                scores
            }
        };
        let forms = scores.into_iter().map(|scores| FormResult::new(scores, *segments, *intervals)).collect();
        DenseSystem { name, counts, remarks, forms, is_human: false }
    };
    let mut systems: Vec<DenseSystem> = systems.into_iter().map(of_system).collect();
    if *human {
        let (scores, remarks) = crate::human::scores(references, forms, metrics)?;
        let forms = scores.into_iter().map(|scores| FormResult::new(scores, *segments, *intervals)).collect();
        let counts = Counts::default();
        systems.push(DenseSystem { name: "human".to_owned(), counts, remarks, forms, is_human: true });
    }
    let head =
        Head { version: env!("CARGO_PKG_VERSION").to_owned(), resampling: *intervals, ..Head::default() };
    Ok(DenseReport {
        head,
        references: IndexSet::<String>::from_iter(references.iter().map(|file| file.name.clone()))
            .into_iter()
            .collect(),
        unit: video(),
        n_videos,
        reference_hash: Some(crate::as_report::reference_hash(references)),
        systems,
        timelines,
        is_silent: false,
    })
}

fn video() -> String {
    "video".to_owned()
}

impl FormResult {
    fn new(scores: FormScores, keeps_videos: bool, intervals: Option<Resampling>) -> Self {
        let FormScores { form, videos, measures, stops } = scores;
        let stops =
            IndexSet::<String>::from_iter(stops.iter().map(ToString::to_string)).into_iter().collect();
        Self::of(form.to_string(), (videos, measures, stops), keeps_videos, intervals)
    }

    /// The results of a form, with the values of each video if `keeps_videos`.
    pub(crate) fn of(
        form: String,
        (videos, measures, stops): (Vec<String>, Vec<Measure>, Vec<String>),
        keeps_videos: bool,
        intervals: Option<Resampling>,
    ) -> Self {
        let of_measure = |measure: Measure| {
            let interval = intervals.and_then(|resampling| interval(&measure, resampling));
            let Measure { name, value, at, videos } = measure;
            let floats = |values: Vec<f64>| values.into_iter().map(JsonFloat).collect();
            MeasureResult {
                name,
                value: JsonFloat(value),
                interval: interval.map(|ends| [JsonFloat(ends.low), JsonFloat(ends.high)]),
                at: at.into_iter().map(|(label, value)| (label, JsonFloat(value))).collect(),
                videos: if keeps_videos { videos.into_iter().map(floats).collect() } else { Vec::new() },
            }
        };
        Self { form, videos, measures: measures.into_iter().map(of_measure).collect(), stops }
    }

    /// The measure of this name.
    pub(crate) fn measure(&self, name: &str) -> Option<&MeasureResult> {
        self.measures.iter().find(|measure| measure.name == name)
    }
}

impl MeasureResult {
    /// The interval, if there is one.
    pub(crate) fn interval(&self) -> Option<Interval> {
        self.interval.map(|[low, high]| Interval { low: low.0, high: high.0 })
    }

    /// Returns true if the value is the mean of its parts, so that the value of a video is that of its own.
    fn is_mean(&self) -> bool {
        let mean = crate::scores::mean(self.at.iter().map(|(_, value)| value.0));
        (mean - self.value.0).abs() <= ROUNDING
    }
}

/// The interval of a measure that is the mean over videos.
fn interval(measure: &Measure, resampling: Resampling) -> Option<Interval> {
    let values: Vec<f64> = measure.of_videos().collect();
    let mean = crate::scores::mean(values.iter().copied());
    if values.is_empty() || (mean - measure.value).abs() > ROUNDING {
        return None;
    }
    let n = values.len() as f64;
    let matrix = Matrix::from_columns(&[values]);
    let means = resample::bootstrap(&matrix, resampling, 1, |_| {}, |sums, values| values[0] = sums[0] / n);
    Some(Interval::percentile(means, resampling.level))
}

impl DenseSystem {
    /// How a form differs from densevid-2019: by how much in METEOR, if both have it, and why.
    fn difference(&self, form: &FormResult) -> String {
        let usual = self.forms.iter().find(|form| form.form == Program::Densevid2019.name());
        let meteor = |form: &FormResult| form.measure("meteor").map(|measure| measure.value.0);
        let ratio = usual.and_then(meteor).zip(meteor(form)).map(|(usual, own)| 100.0 * (own / usual - 1.0));
        let by = ratio.filter(|by| by.is_finite() && by.abs() >= 0.05);
        let by = by.map_or_else(String::new, |by| format!("METEOR {by:+.1} %; "));
        let why = form.form.parse::<Form>().map_or("", |form| form.program.differences());
        format!("{}, {}: {by}{why}", self.name, form.form)
    }
}

impl DenseReport {
    fn cell(&self, measure: &MeasureResult, digits: usize) -> Cell {
        let shown = |value: f64| fixed(self.head.factor() * value, digits);
        Cell::estimate(measure.value.0, measure.interval(), shown)
    }

    /// The reasons why measures are missing: system, form, reason.
    fn stops(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.systems.iter().flat_map(|system| {
            system.forms.iter().flat_map(move |form| {
                form.stops.iter().map(move |stop| (system.name.as_str(), form.form.as_str(), stop.as_str()))
            })
        })
    }

    /// Every value with its names: system, form, measure, threshold.
    fn values(&self) -> impl Iterator<Item = (&str, &FormResult, &MeasureResult, &str, f64)> {
        self.systems.iter().flat_map(|system| {
            system.forms.iter().flat_map(move |form| {
                form.measures.iter().flat_map(move |measure| {
                    let at = measure.at.iter().map(|(label, value)| (label.as_str(), value.0));
                    let all = [("", measure.value.0)].into_iter().chain(at);
                    all.map(move |(label, value)| (system.name.as_str(), form, measure, label, value))
                })
            })
        })
    }
}

impl Study for DenseReport {
    study_head!(KIND, head);

    fn silence(&mut self) {
        self.head.notices.clear();
        self.is_silent = true;
    }

    fn headings(&self) -> Headings {
        Headings {
            title: match self.unit.as_str() {
                "video" => "Dense video captions".to_owned(),
                unit => format!("Captions of {unit}s"),
            },
            subtitle: format!("{} in {}", counted(self.n_videos, &self.unit), self.references.join(", ")),
            tables: "Scores",
            estimates: "Intervals",
        }
    }

    fn tables(&self, digits: usize, _labels: Labels) -> Vec<Table> {
        let results = || self.systems.iter().flat_map(|system| &system.forms);
        let has = |name: &&str| results().any(|form| form.measure(name).is_some());
        let shown: Vec<&str> = SHOWN.split(' ').filter(has).collect();
        let names = ["", "form"].into_iter().chain(shown.iter().copied());
        let rows = self.systems.iter().flat_map(|system| {
            system.forms.iter().map(|form| {
                let cells = shown.iter().map(|name| match form.measure(name) {
                    Some(measure) => self.cell(measure, digits),
                    None => Cell::from("–"),
                });
                [system.name.as_str(), form.form.as_str()].into_iter().map(Cell::from).chain(cells).collect()
            })
        });
        let mut grid = Grid::of_numbers(names, rows);
        if let Some(form) = grid.columns.get_mut(1) {
            form.1 = Align::Left;
        }
        vec![Table { title: None, grid }]
    }

    fn legend(&self, _format: Format, _tables: &[Table]) -> Vec<String> {
        let references = self.references.join(" and ");
        let version = &self.head.version;
        let mut lines =
            vec![format!("{} of {references} (capeval {version})", counted(self.n_videos, &self.unit))];
        if let Some(resampling) = &self.head.resampling {
            lines.push(intervals_in_words(resampling, &self.unit));
        }
        if self.is_silent {
            return lines;
        }
        if self.systems.iter().flat_map(|system| &system.forms).all(|form| form.form == "capeval") {
            lines.push("form capeval; most papers since 2019 print the form densevid-2019".to_owned());
        }
        if self.systems.iter().flat_map(|system| &system.forms).any(|form| form.form == "densevid-2019") {
            lines.push("densevid-2019 is what PDVC and those after it call densevid-2021".to_owned());
        }
        for system in &self.systems {
            lines.extend(system.remarks.iter().cloned());
            for form in &system.forms {
                let stop = |stop: &String| format!("{}, {}: {stop}", system.name, form.form);
                lines.extend(form.stops.iter().map(stop));
            }
            if system.forms.len() > 1 {
                lines.extend(system.forms.iter().map(|form| system.difference(form)));
            }
        }
        lines
    }

    fn signatures(&self) -> Vec<Signature> {
        Vec::new()
    }

    fn scale_to_percent(&mut self) {
        self.head.show_percent("scores");
    }

    fn estimates(&self, digits: usize) -> Vec<Estimates> {
        let figure = |name: &'static str| {
            let row = |(k, system): (usize, &DenseSystem), form: &FormResult| {
                let measure = form.measure(name)?;
                let interval = measure.interval();
                let name = format!("{} {}", system.name, form.form);
                Some(Estimate { name, value: measure.value.0, interval, colour: Colour::System(k) })
            };
            let systems = self.systems.iter().enumerate();
            let rows = systems
                .flat_map(|(k, system)| system.forms.iter().filter_map(move |form| row((k, system), form)));
            Estimates {
                title: name.to_owned(),
                label: name.to_owned(),
                rows: rows.collect(),
                none: None,
                digits,
                note: self.head.note_of_intervals(&self.unit),
            }
        };
        SHOWN.split(' ').map(figure).filter(|figure| !figure.rows.is_empty()).collect()
    }

    fn details(&self) -> Details<'_> {
        self.timelines.as_ref().map_or(Details::None, Details::Events)
    }

    fn body(&self) -> Fields {
        let Self { head: _, references, unit, n_videos, reference_hash, systems, timelines: _, is_silent: _ } =
            self;
        fields(&json!({
            "references": references, "unit": unit, "videos": n_videos, "reference_hash": reference_hash,
            "systems": systems,
        }))
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let of = |(system, form, measure, at, value): (&str, &FormResult, &MeasureResult, &str, f64)| Line {
            body: fields(&json!({
                "system": system, "form": form.form, "measure": measure.name, "at": at, "value": JsonFloat(value),
            })),
            signatures: Vec::new(),
            notices: Vec::new(),
        };
        let of_stop = |(system, form, stop)| Line {
            body: fields(&json!({ "system": system, "form": form, "stop": stop })),
            signatures: Vec::new(),
            notices: Vec::new(),
        };
        self.values().map(of).chain(self.stops().map(of_stop)).collect()
    }

    fn columns(&self) -> Vec<String> {
        ["system", "form", "measure", "at", "value", "low", "high", "stop"].map(str::to_owned).into()
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let number = |value: f64| if value.is_nan() { String::new() } else { format!("{value:?}") };
        let of = |(system, form, measure, at, value): (&str, &FormResult, &MeasureResult, &str, f64)| {
            let ends = measure.interval.filter(|_| at.is_empty());
            let end = |k: usize| ends.map_or_else(String::new, |ends| number(ends[k].0));
            vec![
                system.to_owned(),
                form.form.clone(),
                measure.name.clone(),
                at.to_owned(),
                number(value),
                end(0),
                end(1),
                String::new(),
            ]
        };
        let of_stop =
            |(system, form, stop)| [system, form, "", "", "", "", "", stop].map(str::to_owned).into();
        self.values().map(of).chain(self.stops().map(of_stop)).collect()
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        for system in &self.systems {
            for form in &system.forms {
                for (v, video) in form.videos.iter().enumerate() {
                    let mut scores = Fields::new();
                    for measure in &form.measures {
                        let Some(values) = measure.videos.get(v) else { continue };
                        if !measure.at.is_empty() && measure.is_mean() {
                            let mean = crate::scores::mean(values.iter().map(|value| value.0));
                            scores.insert(measure.name.clone(), json!(JsonFloat(mean)));
                        }
                        let at = measure.at.iter().map(|(label, _)| label.as_str());
                        let labels: Vec<&str> = if measure.at.is_empty() { vec![""] } else { at.collect() };
                        for (label, value) in labels.iter().zip(values) {
                            let name = match *label {
                                "" => measure.name.clone(),
                                label => format!("{}@{label}", measure.name),
                            };
                            scores.insert(name, json!(value));
                        }
                    }
                    let item = json!({
                        "system": system.name, "form": form.form, "video": video, "scores": scores,
                    });
                    line(&item, out)?;
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Refusal> {
        let measures = |form: &FormResult| {
            form.measures.iter().all(|measure| {
                let width = measure.at.len().max(1);
                measure.videos.is_empty()
                    || measure.videos.len() == form.videos.len()
                        && measure.videos.iter().all(|values| values.len() == width)
            })
        };
        let is_sound = self.systems.iter().flat_map(|system| &system.forms).all(measures);
        if !is_sound {
            return Err(damaged("a form has other values than videos"));
        }
        let Some(timelines) = &self.timelines else { return Ok(()) };
        let shown = self.systems.iter().filter(|system| !system.is_human).map(|system| &system.name);
        if !timelines.systems.iter().eq(shown) {
            return Err(damaged("its videos have events of other systems"));
        }
        timelines.check()
    }
}
