//! The measures of given scores: direction and range, from the file, from the person, or from metrics of that name.

use std::ops::RangeInclusive;

use capeval_choice::{Argument, Code, Remedy, suggest};
use capeval_corpus::scores::{MeasureFacts, SegmentScores};
use capeval_evaluate::registry::kinds;
use capeval_metric::{AnyMetric, Part};
use capeval_report::Notice;

use super::GivenScores;
use crate::Error;
use crate::findings::Findings;
use crate::measures::entries;

/// The measures of metrics, and whether the score of a corpus is the mean of those of images.
fn known() -> impl Iterator<Item = (Part, bool)> {
    let about = kinds().filter_map(|kind| kind.about().ok());
    about.flat_map(|about| about.parts.into_iter().map(move |part| (part, about.is_mean)))
}

/// Describes the measures of `files`, in the order in which they first appear. Keys of known metrics, in any case, have
/// the metric's label, range and direction; for others, higher is better unless the file or `lower_is_better` says
/// otherwise, and a notice says so. No measure may be among those of `metrics`.
pub(crate) fn parts(
    files: &[GivenScores],
    lower_is_better: &[String],
    metrics: &[AnyMetric],
    found: &mut Findings,
) -> Result<Vec<Part>, Error> {
    let mut keys: Vec<&str> = Vec::new();
    for key in files.iter().flat_map(|file| &file.scores.keys) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    if let Some(other) = lower_is_better.iter().find(|key| !keys.contains(&key.as_str())) {
        return Err(Error::with_remedy(
            format!("no score is called {other}, so lower cannot be better by it"),
            suggest(other, keys),
        ));
    }
    let computed = entries(metrics).1;
    if let Some(key) = keys.iter().find(|key| computed.iter().any(|measure| measure.key == **key)) {
        let mut holding = files.iter().filter(|file| file.scores.keys.iter().any(|name| name == key));
        let message =
            format!("{key} is both computed and given in {}", holding.next().map_or("", GivenScores::source));
        let remedy = Remedy::give(Argument::Metrics).to("choose other metrics");
        return Err(Error::with_remedy(message, remedy.or(Remedy::say("rename the given one"))));
    }
    let known: Vec<Part> = known().map(|(part, _)| part).collect();
    let (mut assumed, mut rescaled) = (Vec::new(), Vec::new());
    let mut parts = Vec::with_capacity(keys.len());
    for key in keys {
        let name = plain(key);
        let known = known.iter().find(|known| known.key == name);
        let MeasureFacts { range, lower_is_better: says_lower } = described(files, key)?;
        let mut part = Part::score(key, key, f64::NEG_INFINITY..=f64::INFINITY);
        if let Some(of_metric) = known {
            part = Part { key: key.to_owned(), has_interval: true, ..of_metric.clone() };
            if range.is_none() && !is_within(files, key, part.min..=part.max) {
                (part.min, part.max) = (f64::NEG_INFINITY, f64::INFINITY);
                rescaled.push(key);
            }
        }
        if let Some((low, high)) = range {
            (part.min, part.max) = (low, high);
        }
        let is_lower = lower_is_better.iter().any(|lower| lower == key);
        match (is_lower, says_lower) {
            (true, _) | (false, Some(true)) => part = part.lower(),
            (false, Some(false)) => part.direction = capeval_metric::Direction::HigherIsBetter,
            (false, None) if known.is_none() => assumed.push(key),
            (false, None) => {}
        }
        parts.push(part);
    }
    if !assumed.is_empty() {
        let message = format!("higher is taken to be better by {}", assumed.join(", "));
        let remedy = Remedy::give(Argument::LowerIsBetter).to("name error rates");
        found.add([Notice::new(Code::DirectionAssumed, message).remedy(remedy)]);
    }
    if !rescaled.is_empty() {
        let names = rescaled.join(", ");
        let message =
            format!("given scores by {names} are beyond the range of capeval's, so it is left open");
        found.add([Notice::new(Code::OtherScale, message).count(rescaled.len())]);
    }
    Ok(parts)
}

/// Refuses scores of a whole system, whose keys are measures or say that they are of all, and no images.
pub(super) fn refuse_totals(scores: &SegmentScores) -> Result<(), Error> {
    const OF_ALL: &[&str] = &["overall", "eval", "all", "mean", "average", "total", "corpus", "summary"];
    let ids: Vec<String> = scores.rows.iter().take(64).map(|row| row.image.to_string()).collect();
    let n_measures = ids.iter().filter(|id| is_measure(id)).count();
    let are_measures = n_measures > 0 && n_measures * 2 >= ids.len();
    let is_of_all = matches!(ids.as_slice(), [one] if OF_ALL.contains(&one.to_lowercase().as_str()));
    if !are_measures && !is_of_all {
        return Ok(());
    }
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    Err(Error::with_remedy(
        format!(
            "{}: {} where ids of images are expected, so these are scores of a whole system",
            scores.source,
            super::listed(&names)
        ),
        "give the score of each image, such as imgToEval of COCOEvalCap",
    ))
}

/// Returns true for the name of a measure as programs write it: `Bleu_1`, `CIDEr`, `CLIPScore`.
fn is_measure(name: &str) -> bool {
    const SHORTEST: usize = 4;
    let letters = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
    };
    let bare = letters(name);
    let is_key = known().any(|(part, _)| letters(&part.key) == bare);
    let begins = |kind: &str| {
        let kind = letters(kind);
        kind.len() >= SHORTEST && bare.starts_with(&kind) && bare.len() <= kind.len() + SHORTEST
    };
    is_key || kinds().any(|kind| begins(kind.name))
}

/// The description of a measure in the files.
fn described(files: &[GivenScores], key: &str) -> Result<MeasureFacts, Error> {
    let mut told: Option<(&MeasureFacts, &str)> = None;
    for file in files {
        let Some((_, own)) = file.scores.described.iter().find(|(name, _)| name == key) else { continue };
        match told {
            Some((other, source)) if other != own => {
                return Err(Error::with_remedy(
                    format!("{source} and {} describe {key} differently", file.source()),
                    "describe it once",
                ));
            }
            _ => told = Some((own, file.source())),
        }
    }
    Ok(told.map(|(described, _)| *described).unwrap_or_default())
}

/// Returns true if all scores by a measure are in a range.
fn is_within(files: &[GivenScores], key: &str, range: RangeInclusive<f64>) -> bool {
    files.iter().all(|file| {
        let column = file.scores.keys.iter().position(|name| name == key);
        let mut scores =
            file.scores.rows.iter().filter_map(|row| column.and_then(|column| row.scores.get(column)));
        scores.all(|score| score.is_nan() || range.contains(score))
    })
}

/// A notice of measures whose scores of a corpus are no means of those of images, which are all that is given.
pub(crate) fn averaged(parts: &[Part]) -> Option<Notice> {
    let of_corpora: Vec<String> = known().filter(|(_, is_mean)| !is_mean).map(|(part, _)| part.key).collect();
    let averaged: Vec<&str> =
        parts.iter().map(|part| &*part.key).filter(|key| of_corpora.contains(&plain(key))).collect();
    let message = format!(
        "given scores are averaged over images: {} {} not what the metric gives for a whole corpus",
        averaged.join(", "),
        if averaged.len() == 1 { "is" } else { "are" },
    );
    (!averaged.is_empty()).then(|| Notice::new(Code::MeanOfImages, message).count(averaged.len()))
}

/// The name of a measure in the notation of capeval's metrics, without settings.
fn plain(key: &str) -> String {
    key.split(':').next().unwrap_or(key).to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use capeval_corpus::scores::{ScoredSegment, SegmentScores};
    use capeval_metric::Direction;

    use super::*;

    fn file(keys: &[&str], scores: &[f64]) -> GivenScores {
        let row = ScoredSegment {
            image: 1.into(),
            system: None,
            caption: None,
            scores: scores.to_vec(),
            place: capeval_corpus::Position::default(),
        };
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        let scores = SegmentScores { keys, rows: vec![row], ..SegmentScores::default() };
        GivenScores::new(scores, None, "f").unwrap()
    }

    fn described(file: GivenScores, lower: &[&str]) -> (Vec<Part>, Vec<Notice>) {
        let lower: Vec<String> = lower.iter().map(|name| (*name).to_owned()).collect();
        let mut found = Findings::default();
        let parts = parts(&[file], &lower, &[], &mut found).unwrap();
        (parts, found.into())
    }

    fn directions(keys: &[&str], lower: &[&str]) -> (Vec<bool>, Vec<Notice>) {
        let (parts, notices) = described(file(keys, &vec![0.5; keys.len()]), lower);
        (parts.iter().map(|part| part.direction == Direction::HigherIsBetter).collect(), notices)
    }

    #[test]
    fn an_error_rate_is_known_whatever_the_case_of_its_key() {
        let (higher, notices) = directions(&["ROUGE_L", "cider-d:sigma=4"], &[]);
        assert_eq!(higher, [true, true]);
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(directions(&["ter", "TER"], &[]).0, [false, false]);
    }

    #[test]
    fn what_is_not_known_is_said_unless_it_is_told() {
        let (higher, notices) = directions(&["wer", "clip"], &["wer"]);
        assert_eq!(higher, [false, true]);
        assert!(notices[0].message.starts_with("higher is taken to be better by clip"), "{notices:?}");
        assert!(parts(&[file(&["a"], &[1.0])], &["b".into()], &[], &mut Findings::default()).is_err());
    }

    #[test]
    fn a_file_may_describe_its_measures() {
        let mut given = file(&["wer", "clip"], &[0.5, 0.5]);
        let about = |range, lower| MeasureFacts { range, lower_is_better: Some(lower) };
        given.scores.described =
            vec![("wer".into(), about(None, true)), ("clip".into(), about(Some((0.0, 2.5)), false))];
        let (parts, notices) = described(given.clone(), &[]);
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(parts[0].direction, Direction::LowerIsBetter);
        assert_eq!((parts[1].min, parts[1].max), (0.0, 2.5));
        let mut other = given.clone();
        other.scores.described[0].1.lower_is_better = Some(false);
        let refused = super::parts(&[given, other], &[], &[], &mut Findings::default()).unwrap_err();
        assert!(refused.to_string().contains("describe wer differently"), "{refused}");
    }

    #[test]
    fn scores_beyond_a_known_range_have_none() {
        let (parts, notices) = described(file(&["spice"], &[21.5]), &[]);
        assert_eq!(parts[0].max, f64::INFINITY);
        assert_eq!(notices[0].code, Code::OtherScale);
    }

    #[test]
    fn a_mean_of_images_is_not_taken_for_a_score_of_the_corpus() {
        let (parts, notices) = described(file(&["BLEU-4", "spice"], &[0.5, 0.5]), &[]);
        assert!(notices.is_empty(), "{notices:?}");
        let notice = averaged(&parts).unwrap();
        assert!(notice.message.contains("BLEU-4 is not what"), "{notice:?}");
        assert_eq!(averaged(&parts[1..]), None);
    }
}
