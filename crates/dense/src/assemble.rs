//! Assembles what each form prints from the scores that all forms share.

use crate::form::{Form, Program, SodaMetric};
use crate::matching::Triple;
use crate::overlap::{ordered_overlap, overlap};
use crate::pairs::{MOST_PREDICTIONS, PairRule, THRESHOLDS};
use crate::proposals::{Base, Proposals, f1, proposals};
use crate::run::{SharedScores, SodaScores, SodaTask, soda_tasks};
use crate::scores::mean;
use crate::words::{CIDER, METEOR, ROUGE};
use crate::{FormScores, Measure, Stop, WordMetric};

/// The captions' measures in the order of densevid_eval.
const CAPTIONS: [(&str, usize, WordMetric); 7] = [
    ("bleu-1", 0, WordMetric::Bleu),
    ("bleu-2", 1, WordMetric::Bleu),
    ("bleu-3", 2, WordMetric::Bleu),
    ("bleu-4", 3, WordMetric::Bleu),
    ("meteor", METEOR, WordMetric::Meteor),
    ("rouge-l", ROUGE, WordMetric::Rouge),
    ("cider-d", CIDER, WordMetric::Cider),
];

/// The distances of starts at which VidChapters compares events, in seconds.
const DISTANCES: [f64; 6] = [1.0, 3.0, 5.0, 10.0, 30.0, 60.0];

/// The scores of a form.
pub(crate) fn form(form: Form, shared: &SharedScores<'_>) -> FormScores {
    use Program::*;
    let mut scores = FormScores { form, videos: Vec::new(), measures: Vec::new(), stops: Vec::new() };
    if form.requires_keys() && !shared.predictions.missing_keys.is_empty() {
        scores.stops.push(Stop::MissingKeys(shared.predictions.missing_keys.clone()));
        return scores;
    }
    let mut places: Vec<usize> = (0..shared.videos.len()).collect();
    match form.program {
        Capeval => {
            captions(&mut scores, shared, &places, form.rule());
            let overlaps = (THRESHOLDS, Base::AtLeastOne, false);
            let found = overlapping(&mut scores, shared, &places, overlaps);
            f1_of_videos(&mut scores, &found);
            let files = soda_files(&mut scores, form, shared);
            if scores.stops.is_empty() {
                let of_video = |v: &usize| {
                    let values: Vec<f64> =
                        files.iter().filter_map(|file| Some(file.get(v)?[0].as_ref()?[0][2])).collect();
                    vec![if values.is_empty() { 0.0 } else { mean(values.into_iter()) }]
                };
                let values = places.iter().map(of_video).collect();
                scores.measures.insert(0, Measure::over_videos("soda-c", &[], values));
            }
        }
        Densevid2017 => {
            captions(&mut scores, shared, &places, form.rule());
            overlapping(&mut scores, shared, &places, (THRESHOLDS, Base::LastIndex, false));
        }
        Densevid2017b | Densevid2018 | Densevid2019 | Pdvc2018 | Pdvc2021 => {
            captions(&mut scores, shared, &places, form.rule());
            overlapping(&mut scores, shared, &places, (THRESHOLDS, Base::Count, false));
        }
        VidChapters | VtimeLlm => {
            places.retain(|v| shared.videos[*v].predictions.is_some());
            if places.is_empty() {
                scores.stops.push(Stop::NoVideos);
            } else {
                captions(&mut scores, shared, &places, form.rule());
                overlapping(&mut scores, shared, &places, (THRESHOLDS, Base::AtLeastOne, false));
                f1_of_means(&mut scores, form.program == VidChapters, shared, &places);
            }
            soda_over_files(&mut scores, form, shared);
        }
        PdvcSoda => {
            refuse_empty(&mut scores, shared);
            if scores.stops.is_empty() {
                soda_over_files(&mut scores, form, shared);
            }
        }
        Scenic | TimeChat => scenic(&mut scores, shared, &places),
        SodaA | SodaB | SodaC | SodaD => {
            refuse_empty(&mut scores, shared);
            if scores.stops.is_empty() {
                own_soda(&mut scores, form, shared);
            }
        }
        SoccerNet => {
            let is_blank = |video: &&crate::event::Video<'_>| {
                video.references.iter().flatten().any(|events| events.is_empty())
            };
            if let Some(video) = shared.videos.iter().find(is_blank) {
                scores.stops.push(Stop::NoEvents(video.id.to_owned()));
                return scores;
            }
            captions(&mut scores, shared, &places, form.rule());
            overlapping(&mut scores, shared, &places, (&[0.0], Base::Count, false));
            refuse_empty(&mut scores, shared);
            soccernet_soda(&mut scores, form, shared);
        }
        // Texts have no events to pair.
        MartParagraph | ScenicParagraph | TimeChatParagraph | MartRepetition | Vist => {}
    }
    if scores.videos.is_empty() {
        scores.videos = places.iter().map(|v| shared.videos[*v].id.to_owned()).collect();
    }
    scores
}

fn labels(values: &[f64], unit: &str) -> Vec<String> {
    values.iter().map(|value| format!("{value}{unit}")).collect()
}

/// Adds the measures of captions.
fn captions(scores: &mut FormScores, shared: &SharedScores<'_>, places: &[usize], rule: Option<PairRule>) {
    let Some(rule) = rule else { return };
    let found = shared.of_rule(rule);
    if let Some(blank) = found.blank {
        return scores.stops.push(Stop::BlankReferences(shared.videos[blank].id.to_owned()));
    }
    let value =
        |v: usize, k: usize| found.at.iter().map(|at| at[v].map_or(0.0, |scores| scores[k])).collect();
    for (name, k, metric) in CAPTIONS {
        if !shared.metrics.has(metric) {
            continue;
        }
        let videos = places.iter().map(|v| value(*v, k)).collect();
        scores.measures.push(Measure::over_videos(name, &labels(rule.thresholds, ""), videos));
    }
}

/// Adds precision and recall by overlap; returns those of each video.
fn overlapping(
    scores: &mut FormScores,
    shared: &SharedScores<'_>,
    places: &[usize],
    (thresholds, base, is_ordered): (&[f64], Base, bool),
) -> Vec<Proposals> {
    let videos: Vec<_> = places.iter().map(|v| &shared.videos[*v]).collect();
    let of = if is_ordered { ordered_overlap } else { overlap };
    let found = proposals(&videos, (thresholds.len(), MOST_PREDICTIONS), base, |prediction, event, k| {
        of(prediction, event) > thresholds[k]
    });
    match found {
        Ok(found) => {
            add_proposals(scores, &labels(thresholds, ""), &found);
            found
        }
        Err(stop) => {
            scores.stops.push(stop);
            Vec::new()
        }
    }
}

fn add_proposals(scores: &mut FormScores, labels: &[String], found: &[Proposals]) {
    let column = |of: fn(&Proposals) -> &Vec<f64>| found.iter().map(|video| of(video).clone()).collect();
    scores.measures.push(Measure::over_videos("precision", labels, column(|video| &video.precision)));
    scores.measures.push(Measure::over_videos("recall", labels, column(|video| &video.recall)));
}

/// Adds F1 of each video's means over thresholds.
fn f1_of_videos(scores: &mut FormScores, found: &[Proposals]) {
    if found.is_empty() {
        return;
    }
    let of =
        |video: &Proposals| f1(mean(video.precision.iter().copied()), mean(video.recall.iter().copied()));
    let values = found.iter().map(|video| vec![of(video)]).collect();
    scores.measures.push(Measure::over_videos("f1", &[], values));
}

/// Adds F1 of the means over videos, at each overlap, and distances after the overlaps if there are any.
fn f1_of_means(scores: &mut FormScores, has_distances: bool, shared: &SharedScores<'_>, places: &[usize]) {
    let n = scores.measures.len();
    let [precision, recall] = match scores.measures.get_mut(n.saturating_sub(2)..) {
        Some([precision, recall]) if precision.name == "precision" => [precision, recall],
        _ => return,
    };
    if has_distances {
        let videos: Vec<_> = places.iter().map(|v| &shared.videos[*v]).collect();
        let found = proposals(&videos, (DISTANCES.len(), MOST_PREDICTIONS), Base::AtLeastOne, |a, b, k| {
            (a.start - b.start).abs() < DISTANCES[k]
        });
        for (k, distance) in labels(&DISTANCES, "s").into_iter().enumerate() {
            for (measure, of) in
                [(&mut *precision, precision_of as fn(&Proposals) -> &[f64]), (&mut *recall, recall_of)]
            {
                let values = found.iter().flatten().map(|video| of(video)[k]);
                measure.at.push((distance.clone(), mean(values.clone())));
                measure.videos.iter_mut().zip(values).for_each(|(video, value)| video.push(value));
            }
        }
    }
    let pairs = precision.at.iter().zip(&recall.at);
    let at: Vec<(String, f64)> = pairs.map(|((label, p), (_, r))| (label.clone(), f1(*p, *r))).collect();
    let value = mean(at.iter().take(THRESHOLDS.len()).map(|(_, value)| *value));
    scores.measures.push(Measure { name: "f1".to_owned(), value, at, videos: Vec::new() });
}

fn precision_of(video: &Proposals) -> &[f64] {
    &video.precision
}

fn recall_of(video: &Proposals) -> &[f64] {
    &video.recall
}

/// Adds a stop if a video that is compared has an empty list of predictions, where SODA stops.
fn refuse_empty(scores: &mut FormScores, shared: &SharedScores<'_>) {
    let empty = shared.videos.iter().find(|video| video.predictions.is_some_and(<[_]>::is_empty));
    scores.stops.extend(empty.map(|video| Stop::EmptyList(video.id.to_owned())));
}

/// SODA of each reference file alone; none, and a stop, if a file cannot be scored.
fn soda_files<'s>(scores: &mut FormScores, form: Form, shared: &'s SharedScores<'_>) -> Vec<&'s SodaScores> {
    let mut files = Vec::new();
    for task in soda_tasks(form, shared.references.len()) {
        match shared.soda(task) {
            Ok(file) => files.push(file),
            Err(stop) => {
                scores.stops.push(stop.clone());
                return Vec::new();
            }
        }
    }
    files
}

/// Adds the mean over reference files of SODA_c, each over the videos that it shares with the results.
fn soda_over_files(scores: &mut FormScores, form: Form, shared: &SharedScores<'_>) {
    let files = soda_files(scores, form, shared);
    if files.is_empty() {
        return;
    }
    let of_file = |file: &&SodaScores| mean(file.values().filter_map(|video| Some(video[0].as_ref()?[0][2])));
    let at: Vec<(String, f64)> =
        files.iter().enumerate().map(|(k, file)| (format!("file {}", k + 1), of_file(file))).collect();
    let value = mean(at.iter().map(|(_, value)| *value));
    scores.measures.push(Measure { name: "soda-c".to_owned(), value, at, videos: Vec::new() });
}

/// Adds what fujiso/SODA prints: the means over videos of precision, recall and F1, each video by its best file.
fn own_soda(scores: &mut FormScores, form: Form, shared: &SharedScores<'_>) {
    let Some(task) = soda_tasks(form, shared.references.len()).first().copied() else { return };
    let videos = match shared.soda(task) {
        Ok(videos) => videos,
        Err(stop) => return scores.stops.push(stop.clone()),
    };
    scores.videos = videos.keys().map(|v| shared.videos[*v].id.to_owned()).collect();
    let n = task.thresholds.len();
    let best: Vec<Vec<Triple>> =
        videos.values().map(|files| (0..n).map(|t| best_file(files, t)).collect()).collect();
    let labels = if n > 1 { labels(task.thresholds, "") } else { Vec::new() };
    for (k, name) in [(2, "f1"), (0, "precision"), (1, "recall")] {
        let values = best.iter().map(|at| at.iter().map(|triple| triple[k]).collect()).collect();
        scores.measures.push(Measure::over_videos(name, &labels, values));
    }
}

/// The file with the greatest F1, the first of equal ones.
fn best_file(files: &[Option<Vec<Triple>>], t: usize) -> Triple {
    let mut best = [f64::NAN; 3];
    for triple in files.iter().flatten().map(|at| at[t]) {
        if best[2].is_nan() || triple[2] > best[2] {
            best = triple;
        }
    }
    best
}

/// Adds what scenic and TimeChat print.
fn scenic(scores: &mut FormScores, shared: &SharedScores<'_>, places: &[usize]) {
    let form = scores.form;
    captions(scores, shared, places, form.rule());
    scores.measures.retain(|measure| measure.name == "meteor" || measure.name == "cider-d");
    if !scores.stops.is_empty() {
        return;
    }
    let found = overlapping(scores, shared, places, (THRESHOLDS, Base::AtLeastOne, true));
    f1_of_videos(scores, &found);
    let soda = soda_tasks(form, shared.references.len()).first().map(|task: &SodaTask| shared.soda(*task));
    let soda = match soda {
        Some(Ok(soda)) => soda,
        Some(Err(stop)) => return scores.stops.push(stop.clone()),
        None => return,
    };
    let mut means = Vec::new();
    for file in 0..shared.references.len() {
        // A video that the file lacks is left out, and one without predictions counts 0.
        let value = |v: &usize| -> Option<f64> {
            shared.videos[*v].references[file].filter(|events| !events.is_empty())?;
            Some(soda.get(v).and_then(|video| video[file].as_ref()).map_or(0.0, |at| at[0][2]))
        };
        let values: Vec<f64> = places.iter().filter_map(value).collect();
        means.push((format!("file {}", file + 1), mean(values.into_iter())));
    }
    let value = mean(means.iter().map(|(_, value)| *value));
    let of_video = |v: &usize| {
        let files = 0..shared.references.len();
        files
            .map(|file| soda.get(v).and_then(|video| video[file].as_ref()).map_or(0.0, |at| at[0][2]))
            .collect()
    };
    let videos = places.iter().map(of_video).collect();
    scores.measures.push(Measure { name: "soda-c".to_owned(), value, at: means, videos });
}

/// Adds SoccerNet's SODA_c with each metric.
fn soccernet_soda(scores: &mut FormScores, form: Form, shared: &SharedScores<'_>) {
    if scores.stops.iter().any(|stop| matches!(stop, Stop::EmptyList(_))) {
        return;
    }
    for (task, metric) in soda_tasks(form, shared.references.len()).into_iter().zip(SodaMetric::ALL) {
        let videos = match shared.soda(task) {
            Ok(videos) => videos,
            Err(stop) => {
                scores.stops.push(stop.clone());
                continue;
            }
        };
        for (k, part) in [(0, "precision"), (1, "recall"), (2, "f1")] {
            let values = videos.values().map(|files| vec![best_file(files, 0)[k]]).collect();
            let name = format!("soda-c:{}-{part}", metric.name());
            scores.measures.push(Measure::over_videos(&name, &[], values));
        }
    }
}
