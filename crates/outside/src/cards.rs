//! All metrics that come with capeval, in one list: those of the engine, and those whose scores come from outside.
//! Lists, help, completion, documentation, Python and the server read it, so that a metric that is listed here is
//! everywhere.

use capeval::evaluate::registry::{self, CORPUS_KINDS, Resources, kinds};
use capeval::metric::{CardNeeds, Family, MetricCard, Setting};
use capeval_choice::{Argument, Refusal};

use crate::embeddings::EmbeddingKind;
use crate::judges::{BuiltIn, JUDGES};
use crate::{chair, embeddings};

/// The cards of all metrics, in the order of lists.
pub fn cards() -> Vec<MetricCard> {
    // That each metric can be described is tested.
    let of_words = kinds().filter_map(|kind| MetricCard::of_words(kind).ok());
    let of_vectors = embeddings::KINDS.iter().map(|kind| of_vectors(kind));
    let of_systems = CORPUS_KINDS.iter().filter_map(|kind| MetricCard::of_system(kind).ok());
    of_words
        .chain(of_vectors)
        .chain([chair::card()])
        .chain(JUDGES.iter().map(of_judge))
        .chain(of_systems)
        .collect()
}

/// The card of a metric with the settings in its name, such as `bleu:n=2`.
///
/// # Errors
/// When there is no such metric, or it does not take a setting.
pub fn card(spec: &str) -> Result<MetricCard, Refusal> {
    let name = name(spec);
    let mut card = cards()
        .into_iter()
        .find(|card| Some(card.name) == name)
        .ok_or_else(|| registry::unknown(spec, cards().iter().map(|card| card.name).collect()))?;
    // Metrics that need data have the same keys with all settings.
    if spec.contains(':') && registry::kind(spec).is_some_and(|kind| kind.need.is_none()) {
        let metric = registry::build(spec, &[], &Resources::default())?;
        card.signature = Some(metric.signature().clone());
        card.parts = metric.parts().to_vec();
    }
    Ok(card)
}

/// The name of the metric that a name with settings means; `None` if there is none.
pub fn name(spec: &str) -> Option<&'static str> {
    let plain = spec.split(':').next().unwrap_or_default().to_ascii_lowercase().replace('_', "-");
    let others = embeddings::KINDS.iter().map(|kind| kind.name).chain([chair::NAME]);
    let mut others =
        others.chain(JUDGES.iter().map(|judge| judge.name)).chain(CORPUS_KINDS.iter().map(|kind| kind.name));
    registry::kind(spec).map(|kind| kind.name).or_else(|| others.find(|name| *name == plain))
}

/// The settings of metrics whose scores come from outside of the engine, by name.
pub fn outside_settings() -> capeval::OutsideSettings {
    let is_outside =
        |card: &MetricCard| matches!(card.family, Family::Vectors | Family::Objects | Family::Judges);
    let all = cards().into_iter().filter(is_outside);
    capeval::OutsideSettings(all.map(|card| (card.name, card.settings)).collect())
}

/// Those of the settings for all metrics that are for a metric with `own` settings: a name that means something else to
/// the engine's metrics, such as `idf`, is theirs unless the metric takes the value.
pub(crate) fn shared<'s>(
    common: &[(&'s str, &'s str)],
    own: impl Iterator<Item = &'static Setting>,
) -> Vec<(&'s str, &'s str)> {
    let own: Vec<&Setting> = own.collect();
    let is_theirs = |name: &str, value: &str| {
        let mut of_engine = kinds().flat_map(|kind| kind.settings);
        of_engine.any(|setting| setting.name == name && setting.takes(value))
    };
    let is_for_it = |(name, value): &&(&str, &str)| {
        let setting = own.iter().find(|setting| setting.name == *name);
        setting.is_some_and(|setting| setting.takes(value) || !is_theirs(name, value))
    };
    common.iter().filter(is_for_it).copied().collect()
}

fn of_vectors(kind: &EmbeddingKind) -> MetricCard {
    MetricCard {
        name: kind.name,
        summary: kind.summary,
        paper: kind.paper,
        program: kind.program,
        settings: kind.all_settings().collect(),
        variants: &[],
        parts: (kind.parts)(),
        // It has the hash of a model.
        signature: None,
        family: Family::Vectors,
        needs: Some(CardNeeds {
            what: kind.needs,
            job: None,
            given: &[Argument::Model],
            instead: &[Argument::Vectors],
        }),
        seconds: kind.seconds,
    }
}

fn of_judge(judge: &BuiltIn) -> MetricCard {
    MetricCard {
        name: judge.name,
        summary: judge.summary,
        paper: "none",
        program: "none",
        settings: Vec::new(),
        variants: &[],
        parts: judge.parts(),
        // It has the name of a model.
        signature: None,
        family: Family::Judges,
        needs: Some(CardNeeds {
            what: "a language model behind a server that speaks OpenAI's chat API",
            job: None,
            given: &[Argument::Endpoint, Argument::JudgeModel, Argument::Judgements],
            instead: &[],
        }),
        seconds: 1000.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_card_that_says_all() {
        let all = cards();
        let n = kinds().count() + embeddings::KINDS.len() + 1 + JUDGES.len() + CORPUS_KINDS.len();
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
}
