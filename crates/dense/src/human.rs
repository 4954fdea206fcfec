//! Computes human performance: scores each reference file like a file of results against the others.

use capeval_choice::{Refusal, Remedy, counted};
use indexmap::IndexMap;

use crate::scores::mean;
use crate::{EventFile, Form, FormScores, Measure, Stop, WordMetrics, evaluate};

/// The means over the reference files, each scored against the others on the videos that it shares with them; and what
/// was left out.
pub(crate) fn scores(
    references: &[EventFile],
    forms: &[Form],
    metrics: &WordMetrics,
) -> Result<(Vec<FormScores>, Vec<String>), Refusal> {
    if references.len() < 2 {
        return Err(Refusal::new(
            "a human row needs two files of references, of which one is scored by the other",
        )
        .with_remedy(Remedy::say("name both, such as val_1.json and val_2.json")));
    }
    let (mut rounds, mut n_alone) = (Vec::new(), 0);
    for (k, held_out) in references.iter().enumerate() {
        let others = || references.iter().enumerate().filter(|(other, _)| *other != k).map(|(_, file)| file);
        let is_shared = |id: &str| others().any(|file| file.videos.contains_key(id));
        let predictions = restricted(held_out, is_shared);
        n_alone += held_out.videos.len() - predictions.videos.len();
        let others: Vec<EventFile> =
            others().map(|file| restricted(file, |id| predictions.videos.contains_key(id))).collect();
        rounds.push(evaluate(&others, &predictions, forms, metrics));
    }
    let remarks = (n_alone > 0).then(|| {
        let videos = counted(n_alone, "video");
        format!("human: {videos} of one reference file alone, left out of this row")
    });
    let of_form = |f: usize| merged(rounds.iter().filter_map(|round| round.get(f)).collect());
    Ok(((0..forms.len()).filter_map(of_form).collect(), remarks.into_iter().collect()))
}

/// The file with the videos that `keeps` chooses, as a file of results that lacks no key.
fn restricted(file: &EventFile, keeps: impl Fn(&str) -> bool) -> EventFile {
    let kept = file.videos.iter().filter(|(id, _)| keeps(id));
    EventFile {
        videos: kept.map(|(id, events)| (id.clone(), events.clone())).collect(),
        missing_keys: Vec::new(),
        ..file.clone()
    }
}

/// The means of the scores of all rounds; measures that a round lacks, because its program stops, are left out.
fn merged(rounds: Vec<&FormScores>) -> Option<FormScores> {
    let (first, others) = rounds.split_first()?;
    let mut videos: IndexMap<&str, Vec<(usize, usize)>> = IndexMap::new();
    for (r, round) in rounds.iter().enumerate() {
        for (v, id) in round.videos.iter().enumerate() {
            videos.entry(id).or_default().push((r, v));
        }
    }
    let of_measure = |measure: &Measure| {
        let all: Vec<&Measure> = std::iter::once(measure)
            .chain(others.iter().filter_map(|round| round.measure(&measure.name)))
            .collect();
        let is_alike =
            |other: &&Measure| other.at.iter().map(|at| &at.0).eq(measure.at.iter().map(|at| &at.0));
        if all.len() < rounds.len() || !all.iter().all(is_alike) {
            return None;
        }
        let at = measure.at.iter().enumerate();
        let of_video = |places: &Vec<(usize, usize)>| {
            let rows = || places.iter().filter_map(|(r, v)| all[*r].videos.get(*v));
            let width = rows().map(Vec::len).min().unwrap_or(0);
            (0..width).map(|k| mean(rows().map(|row| row[k]))).collect::<Vec<f64>>()
        };
        let has_videos = all.iter().all(|measure| !measure.videos.is_empty());
        Some(Measure {
            name: measure.name.clone(),
            value: mean(all.iter().map(|measure| measure.value)),
            at: at.map(|(k, (label, _))| (label.clone(), mean(all.iter().map(|one| one.at[k].1)))).collect(),
            videos: if has_videos { videos.values().map(of_video).collect() } else { Vec::new() },
        })
    };
    let measures = first.measures.iter().filter_map(of_measure).collect();
    let stops = rounds.iter().flat_map(|round| &round.stops).map(|stop| (stop.to_string(), stop.clone()));
    let stops = IndexMap::<String, Stop>::from_iter(stops).into_values().collect();
    let videos = videos.keys().map(|id| (*id).to_owned()).collect();
    Some(FormScores { form: first.form, videos, measures, stops })
}
