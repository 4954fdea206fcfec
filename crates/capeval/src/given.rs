//! Precomputed scores, which are described by their keys only.

use capeval_choice::{Argument, Remedy, suggest};
use capeval_evaluate::registry::kinds;
use capeval_metric::{Direction, Number};
use capeval_report::{Measure, Notice};

use crate::Error;
use crate::findings::Findings;

/// Describes measures by their keys. Keys of known metrics, in any case, have the metric's label, range and direction;
/// for others, higher is better unless `lower_is_better` names them, and a notice says so.
pub(crate) fn measures(
    keys: &[String],
    lower_is_better: &[String],
    found: &mut Findings,
) -> Result<Vec<Measure>, Error> {
    if let Some(other) = lower_is_better.iter().find(|key| !keys.contains(key)) {
        return Err(Error::with_remedy(
            format!("no score is called {other}, so lower cannot be better by it"),
            suggest(other, keys.iter().map(String::as_str)),
        ));
    }
    let parts: Vec<_> = kinds().filter_map(|kind| kind.about().ok()).flat_map(|about| about.parts).collect();
    let mut assumed = Vec::new();
    let measures = keys
        .iter()
        .map(|key| {
            let name = plain(key.split(':').next().unwrap_or(key));
            let known = parts.iter().find(|part| part.key == name);
            let mut measure = Measure {
                key: key.clone(),
                label: known.map_or_else(|| key.clone(), |part| part.label.clone()),
                direction: known.map_or(Direction::HigherIsBetter, |part| part.direction),
                number: known.map_or(Number::Real, |part| part.number),
                min: known.map_or(f64::NEG_INFINITY, |part| part.min),
                max: known.map_or(f64::INFINITY, |part| part.max),
            };
            if lower_is_better.contains(key) {
                measure.direction = Direction::LowerIsBetter;
            } else if known.is_none() {
                assumed.push(key.as_str());
            }
            measure
        })
        .collect();
    if !assumed.is_empty() {
        let message = format!("higher is taken to be better by {}", assumed.join(", "));
        let remedy = Remedy::give(Argument::LowerIsBetter).to("name error rates");
        found.add([Notice::new("direction-assumed", message).remedy(remedy)]);
    }
    Ok(measures)
}

/// A key in the notation of capeval's metrics.
fn plain(key: &str) -> String {
    key.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directions(keys: &[&str], lower: &[&str]) -> (Vec<bool>, Vec<Notice>) {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut found = Findings::default();
        let measures = measures(&own(keys), &own(lower), &mut found).unwrap();
        (measures.iter().map(|m| m.direction == Direction::HigherIsBetter).collect(), found.into())
    }

    #[test]
    fn an_error_rate_is_known_whatever_the_case_of_its_key() {
        let (higher, notices) = directions(&["ter", "TER", "ROUGE_L", "cider-d:sigma=4"], &[]);
        assert_eq!(higher, [false, false, true, true]);
        assert!(notices.is_empty(), "{notices:?}");
    }

    #[test]
    fn what_is_not_known_is_said_unless_it_is_told() {
        let (higher, notices) = directions(&["wer", "clip"], &["wer"]);
        assert_eq!(higher, [false, true]);
        assert!(notices[0].message.starts_with("higher is taken to be better by clip"), "{notices:?}");
        assert!(measures(&["a".into()], &["b".into()], &mut Findings::default()).is_err());
    }
}
