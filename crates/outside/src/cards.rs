//! All metrics that come with capeval, in one list: those of the engine, and those whose scores come from outside.
//! Lists, help, completion, documentation, Python and the server read this list, so a metric that is listed here
//! appears everywhere.

use std::sync::LazyLock;

use capeval::evaluate::registry::{self, CORPUS_KINDS, Resources};
use capeval::metric::{Family, MetricCard, Setting};
use capeval_choice::Refusal;
use capeval_files::Error;

use crate::judges::{self, BuiltIn, JUDGES};
use crate::kind::{OutsideKind, kinds, split};

/// The cards of all metrics, in the order of lists.
pub fn cards() -> &'static [MetricCard] {
    static CARDS: LazyLock<Vec<MetricCard>> = LazyLock::new(|| {
        // That each metric can be described is tested.
        let of_words = registry::kinds().filter_map(|kind| MetricCard::of_words(kind).ok());
        let of_systems = CORPUS_KINDS.iter().filter_map(|kind| MetricCard::of_system(kind).ok());
        let outside = kinds().map(OutsideKind::card).chain(JUDGES.iter().map(BuiltIn::card));
        of_words.chain(outside).chain(of_systems).collect()
    });
    &CARDS
}

/// The card of the metric that a name with settings means; `None` if there is none.
pub fn find(spec: &str) -> Option<&'static MetricCard> {
    let plain = spec.split(':').next().unwrap_or_default().to_ascii_lowercase().replace('_', "-");
    let name = registry::kind(spec).map_or(plain.as_str(), |kind| kind.name);
    cards().iter().find(|card| card.name == name)
}

/// The card of a metric with the settings in its name, such as `bleu:n=2`.
///
/// # Errors
/// When there is no such metric, or it does not take a setting.
pub fn card(spec: &str) -> Result<MetricCard, Refusal> {
    let unknown = || registry::refusal(spec, cards().iter().map(|card| card.name).collect());
    let mut card = find(spec).ok_or_else(unknown)?.clone();
    // Metrics that need data have the same keys with all settings.
    if spec.contains(':') && registry::kind(spec).is_some_and(|kind| kind.need.is_none()) {
        let metric = registry::build(spec, &[], &Resources::default())?;
        card.signature = Some(metric.signature().clone());
        card.parts = metric.parts().to_vec();
    }
    Ok(card)
}

/// The family of the metric that a name with settings means; `None` if there is none, and for the path of a program.
///
/// # Errors
/// When the file that a path names cannot be read.
pub fn family(spec: &str) -> Result<Option<Family>, Error> {
    match find(spec) {
        Some(card) => Ok(Some(card.family)),
        None => Ok(judges::is_file_of_judge(spec)?.then_some(Family::Judges)),
    }
}

/// The metrics that the engine computes for these: itself those of words, programs, and what others multiply.
///
/// # Errors
/// As [`family`].
pub fn engine_names(names: &[String]) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for spec in names {
        match (family(spec)?, registry::base(spec)) {
            (_, Some(base)) => all.push(split(spec, base).1),
            (Some(family), None) if family.is_outside() => {}
            (_, None) => all.push(spec.clone()),
        }
    }
    Ok(all)
}

/// The settings of metrics whose scores come from outside of the engine, by name.
pub fn outside_settings() -> capeval::OutsideSettings {
    let all = cards().iter().filter(|card| card.family.is_outside());
    capeval::OutsideSettings(all.map(|card| (card.name, card.settings.clone())).collect())
}

/// Those of the settings for all metrics that are for a metric with `own` settings: a name that means something else to
/// the engine's metrics, such as `idf`, is theirs unless the metric takes the value.
pub(crate) fn shared<'s>(
    common: &[(&'s str, &'s str)],
    own: impl Iterator<Item = &'static Setting>,
) -> Vec<(&'s str, &'s str)> {
    let own: Vec<&Setting> = own.collect();
    let is_theirs = |name: &str, value: &str| {
        let mut of_engine = registry::kinds().flat_map(|kind| kind.settings);
        of_engine.any(|setting| setting.name == name && setting.takes(value))
    };
    let is_for_it = |(name, value): &&(&str, &str)| {
        let setting = own.iter().find(|setting| setting.name == *name);
        setting.is_some_and(|setting| setting.takes(value) || !is_theirs(name, value))
    };
    common.iter().filter(is_for_it).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_card_that_says_all() {
        let all = cards();
        let n = registry::kinds().count() + kinds().count() + JUDGES.len() + CORPUS_KINDS.len();
        assert_eq!(all.len(), n, "each can be described");
        for (k, one) in all.iter().enumerate() {
            assert!(all[..k].iter().all(|other| other.name != one.name), "{} twice", one.name);
            assert!(!one.summary.is_empty() && !one.parts.is_empty() && one.seconds > 0.0, "{}", one.name);
            assert_eq!(card(one.name).unwrap().name, one.name);
            assert_eq!(one.signature.is_some(), matches!(one.family, Family::Words | Family::Systems));
            let keys = || one.parts.iter().map(|part| &part.key);
            assert!(
                all[..k]
                    .iter()
                    .all(|other| other.parts.iter().all(|part| keys().all(|key| *key != part.key)))
            );
        }
        assert_eq!(card("CLIP_S:variant=paper").unwrap().name, "clip-s");
        let unknown = card("nonesuch").err().unwrap().to_string();
        assert_eq!(unknown, "no metric is called 'nonesuch'");
    }

    #[test]
    fn a_setting_for_all_metrics_goes_to_those_that_mean_it() {
        let shared_with = |name: &str, common: &[(&'static str, &'static str)]| {
            shared(common, card(name).unwrap().settings.into_iter())
        };
        assert_eq!(shared_with("clip-s", &[("variant", "paper"), ("tok", "13a")]), [("variant", "paper")]);
        assert_eq!(shared_with("bert-score", &[("idf", "yes")]), [("idf", "yes")]);
        assert_eq!(shared_with("bert-score", &[("idf", "corpus")]), [], "that is CIDEr's");
        assert_eq!(shared_with("bert-score", &[("idf", "what")]), [("idf", "what")], "and is refused by it");
    }

    #[test]
    fn the_engine_computes_words_and_what_others_multiply() {
        let names = ["bleu", "clip-s", "spider-fl:tok=13a:penalty=1", "chair", "judge"].map(str::to_owned);
        assert_eq!(engine_names(&names).unwrap(), ["bleu", "spider:tok=13a"]);
    }
}
