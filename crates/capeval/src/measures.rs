//! The selection of metrics, and the keys of their measures in reports.

use capeval_choice::{Code, Remedy, Task, suggest};
use capeval_evaluate::MetricScores;
use capeval_evaluate::registry::{self, Resources, SUITES, Suite};
use capeval_metric::{AnyMetric, MetricKind, Part, Signature};
use capeval_report::{Head, Measure, MetricEntry, Notice};
use capeval_stats::Resampling;
use capeval_text::{Tokenizer, tokenizers};

use crate::outside::{self, OutsideMetrics, OutsideSettings};
use crate::{Error, MetricOptions, VERSION};

/// Selects metrics by `names`, which are metrics with settings, such as `cider-d:sigma=4`, or suites. Duplicates are
/// dropped; a name of both a metric and a suite means the metric.
///
/// `settings` are for all metrics that have them, such as `("tok", "13a")`.
pub fn metrics<'s>(
    names: impl IntoIterator<Item = &'s str>,
    settings: &[(&str, &str)],
) -> Result<Vec<AnyMetric>, Error> {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = MetricOptions { settings, ..MetricOptions::new(names) };
    select_metrics(&options, &Resources::default()).map(|selection| selection.metrics)
}

/// The selected metrics, and notices.
#[derive(Clone, Default)]
pub struct Selection {
    /// The metrics.
    pub metrics: Vec<AnyMetric>,
    /// A notice for each metric of a suite that is left out, for each old name of a tokenizer, and one about metrics
    /// that ignore the tokenizer.
    pub notices: Vec<Notice>,
}

/// The corpus scores of a system by each measure.
pub(crate) fn corpus_scores(metrics: &[MetricScores]) -> Vec<f64> {
    metrics.iter().flat_map(|metric| metric.corpus.iter().copied()).collect()
}

/// Selects the metrics in `options`, with the tables and third-party data of `resources`. Metrics of a suite whose data
/// are missing are left out, and so are those that know only English if the tokenizer is made for another language.
pub fn select_metrics(options: &MetricOptions, resources: &Resources) -> Result<Selection, Error> {
    let selection = select_with_defaults(options, resources)?;
    refuse_unused_settings(options, &selection.metrics, resources)?;
    Ok(selection)
}

/// As [`select_metrics`], but settings that no selected metric has are no error.
pub fn select_with_defaults(options: &MetricOptions, resources: &Resources) -> Result<Selection, Error> {
    let common = options.common();
    let known = known_settings(resources);
    if let Some(name) = options.settings.keys().find(|name| known.iter().all(|(_, known)| *known != **name)) {
        let mut names: Vec<&str> = known.iter().map(|(_, name)| *name).collect();
        names.sort_unstable();
        names.dedup();
        return Err(Error::with_remedy(format!("no metric has a setting '{name}'"), suggest(name, names)));
    }
    let mut selection = Selection::default();
    if let Some(name) = options.suite() {
        let Some(suite) = SUITES.iter().find(|suite| suite.name == name) else {
            return Err(Error::with_remedy(
                format!("no suite is called '{name}'"),
                suggest(name, SUITES.iter().map(|suite| suite.name)),
            ));
        };
        selection.add_suite(suite, &common, resources)?;
    }
    for name in &options.names {
        match suite_of(name) {
            Some(suite) => selection.add_suite(suite, &common, resources)?,
            None => selection.add(name, &common, resources)?,
        }
    }
    refuse_equal_keys(&selection.metrics, resources)?;
    if let Some(tokenizer) = &options.tokenizer {
        selection.notices.extend(keep_their_own(tokenizer, &selection.metrics));
    }
    Ok(selection)
}

/// Refuses two measures with one key, which metrics that are computed outside of the engine can bring about.
fn refuse_equal_keys(metrics: &[AnyMetric], resources: &Resources) -> Result<(), Error> {
    let measures = if resources.has::<OutsideMetrics>() { entries(metrics).1 } else { Vec::new() };
    for (k, measure) in measures.iter().enumerate() {
        if measures.iter().take(k).any(|other| other.key == measure.key) {
            let message = format!("two measures have the key {}", measure.key);
            return Err(Error::with_remedy(
                message,
                "leave one of the metrics out, or give its measure another key",
            ));
        }
    }
    Ok(())
}

/// The settings of all metrics: the name of each metric, and that of a setting.
fn known_settings(resources: &Resources) -> Vec<(&'static str, &'static str)> {
    let outside = resources.get::<OutsideSettings>();
    let of_engine =
        registry::kinds().flat_map(|kind| kind.settings.iter().map(|setting| (kind.name, setting.name)));
    let outside = outside.iter().flat_map(|all| &all.0);
    let outside = outside.flat_map(|(name, settings)| settings.iter().map(|setting| (*name, setting.name)));
    of_engine.chain(outside).collect()
}

/// Refuses settings that neither a selected metric has nor one that is left out because its data are missing.
fn refuse_unused_settings(
    options: &MetricOptions,
    metrics: &[AnyMetric],
    resources: &Resources,
) -> Result<(), Error> {
    let (missing, known) = (needed_data(options), known_settings(resources));
    let is_chosen = |name: &str| {
        metrics.iter().any(|metric| metric.signature().metric() == name)
            || missing.iter().any(|need| need.metric == name)
    };
    for name in options.settings.keys() {
        let having: Vec<&str> =
            known.iter().filter(|(_, setting)| setting == name).map(|(metric, _)| *metric).collect();
        if !having.iter().any(|metric| is_chosen(metric)) {
            let message = format!("no chosen metric has the setting '{name}', only {}", having.join(", "));
            let remedy = Remedy::say("leave the setting out, or choose one of them");
            return Err(Error::with_remedy(message, remedy));
        }
    }
    Ok(())
}

/// The suite that a name in a list of metrics means; `None` for a metric.
fn suite_of(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name && registry::kind(name).is_none())
}

/// A selected metric that needs third-party data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeededData {
    /// The metric, such as `meteor`.
    pub metric: &'static str,
    /// The data, as an installation calls them: `meteor` or `spice`.
    pub data: &'static str,
    /// True if it is selected by name; a suite leaves it out if the data are missing.
    pub is_named: bool,
}

/// The metrics selected by `options` that need third-party data. Unknown names are ignored; [`select_metrics`] reports
/// them.
pub fn needed_data(options: &MetricOptions) -> Vec<NeededData> {
    let chosen = SUITES.iter().find(|suite| Some(suite.name) == options.suite());
    let of_suites = chosen.into_iter().chain(options.names.iter().filter_map(|name| suite_of(name)));
    let common = options.common();
    let is_wanted =
        |spec: &String| registry::kind(spec).is_none_or(|kind| other_language(kind, &common).is_none());
    let of_suites = of_suites.flat_map(Suite::metrics).filter(is_wanted).map(|spec| (spec, false));
    let named = options.names.iter().filter(|name| suite_of(name).is_none());
    let mut needed: Vec<NeededData> = Vec::new();
    for (spec, is_named) in named.map(|name| (name.clone(), true)).chain(of_suites) {
        let kind = registry::kind(&spec).or_else(|| registry::base(&spec));
        let Some((kind, need)) = kind.and_then(|kind| Some((kind, kind.need.as_ref()?))) else { continue };
        let Task::Install(data) = need.task else { continue };
        if needed.iter().all(|known| known.metric != kind.name) {
            needed.push(NeededData { metric: kind.name, data, is_named });
        }
    }
    needed
}

/// Returns true if a metric, which may have settings as in `meteor:lang=de`, supports only English.
pub fn knows_only_english(spec: &str) -> bool {
    let settings: Vec<(&str, &str)> = spec.split(':').filter_map(|setting| setting.split_once('=')).collect();
    let kind = registry::kind(spec).or_else(|| registry::base(spec));
    kind.is_some_and(|kind| is_english_only(kind, &settings))
}

fn is_english_only(kind: &MetricKind, settings: &[(&str, &str)]) -> bool {
    let has_languages = kind.settings.iter().any(|setting| setting.name == "lang");
    let is_set = has_languages && settings.iter().any(|(name, value)| *name == "lang" && *value != "en");
    !is_set && kind.about().is_ok_and(|about| about.knows_only_english())
}

/// The language that the tokenizer among `common` is made for, if a metric of this kind does not know it.
fn other_language(kind: &MetricKind, common: &[(&str, &str)]) -> Option<(&'static str, Tokenizer)> {
    if !is_english_only(kind, common) {
        return None;
    }
    let (_, name) = common.iter().find(|(name, _)| *name == "tok")?;
    let every = tokenizers::ALL.iter().chain(tokenizers::WITH_DICTIONARY);
    let (tokenizer, ..) = every.into_iter().find(|(_, known, _)| known == name)?;
    Some((tokenizer.foreign_language()?, *tokenizer))
}

/// A notice that names the metrics that ignore a tokenizer.
fn keep_their_own(tokenizer: &str, metrics: &[AnyMetric]) -> Option<Notice> {
    let mut kept: Vec<&str> = Vec::new();
    for metric in metrics {
        let kind = registry::kind(metric.signature().metric());
        let kind = kind.filter(|kind| kind.settings.iter().all(|setting| setting.name != "tok"));
        kept.extend(kind.map(|kind| kind.name).filter(|name| !kept.contains(name)));
    }
    let names = kept.join(", ");
    let message =
        format!("the tokenizer {tokenizer} does not apply to {names}, which tokenise text in their own way");
    (!kept.is_empty()).then_some(Notice::new(Code::TokenizerKept, message))
}

/// The notice that a suite goes without this kind of metric, if it does.
fn left_out(
    kind: &MetricKind,
    suite: &Suite,
    common: &[(&str, &str)],
    resources: &Resources,
) -> Option<Notice> {
    let is_left_out = format!("{} of the suite {} is left out, because", kind.name, suite.name);
    if let Some((language, tokenizer)) = other_language(kind, common) {
        let message =
            format!("{is_left_out} it knows only English, and the tokenizer {tokenizer} is for {language}");
        return Some(Notice::new(Code::EnglishOnly, message));
    }
    let need = kind.need.as_ref().filter(|_| !kind.is_available(resources))?;
    let message = format!("{is_left_out} {} are not installed", need.what);
    let remedy = Remedy::run(need.task.clone()).to("have it");
    Some(Notice::without(kind.name, message).remedy(remedy))
}

impl Selection {
    fn add_suite(
        &mut self,
        suite: &Suite,
        common: &[(&str, &str)],
        resources: &Resources,
    ) -> Result<(), Error> {
        for spec in &suite.metrics() {
            let left_out = registry::kind(spec).and_then(|kind| left_out(kind, suite, common, resources));
            match left_out {
                None => self.add(spec, common, resources)?,
                Some(notice) if self.notices.contains(&notice) => {}
                Some(notice) => self.notices.push(notice),
            }
        }
        Ok(())
    }

    fn add(&mut self, spec: &str, common: &[(&str, &str)], resources: &Resources) -> Result<(), Error> {
        let metric = match outside::described(spec, common, resources) {
            Some(metric) => metric?,
            None if spec.ends_with(".toml") => {
                let message =
                    format!("{spec}: no program is run here, only to score, compare, correlate or prefer");
                return Err(Error::with_remedy(message, "leave it out of the metrics"));
            }
            None if registry::kind(spec).is_none() => {
                let outside = resources.get::<OutsideSettings>();
                let outside = outside.iter().flat_map(|all| &all.0).map(|(name, _)| *name);
                let names = registry::kinds().map(|kind| kind.name).chain(outside);
                return Err(registry::refusal(spec, names.collect()).into());
            }
            None => registry::build(spec, common, resources)?,
        };
        if self.metrics.iter().all(|known| known.signature() != metric.signature()) {
            self.metrics.push(metric);
        }
        Ok(())
    }
}

/// The head of all results.
pub(crate) fn head(
    metrics: Vec<MetricEntry>,
    measures: Vec<Measure>,
    resampling: Option<Resampling>,
    notices: impl Into<Vec<Notice>>,
) -> Head {
    let notices = notices.into();
    Head { version: VERSION.to_owned(), metrics, measures, resampling, notices, ..Head::default() }
}

/// Entries and measures for a report. If two metrics have the same name, the settings in which the later one differs
/// from the first are added to its keys: `cider-d:sigma=4`.
pub fn entries(metrics: &[AnyMetric]) -> (Vec<MetricEntry>, Vec<Measure>) {
    let (mut entries, measures) = entries_of(
        metrics.iter().map(|metric| (metric.signature().clone(), metric.parts().to_vec())).collect(),
    );
    for (entry, metric) in entries.iter_mut().zip(metrics) {
        entry.is_mean = metric.about().is_mean;
    }
    (entries, measures)
}

/// As [`entries`], for metrics given as signatures and parts, whose scores are no means.
pub(crate) fn entries_of(metrics: Vec<(Signature, Vec<Part>)>) -> (Vec<MetricEntry>, Vec<Measure>) {
    let (mut entries, mut measures) = (Vec::new(), Vec::new());
    let signatures: Vec<Signature> = metrics.iter().map(|(signature, _)| signature.clone()).collect();
    for (m, (signature, parts)) in metrics.into_iter().enumerate() {
        let is_given = signature.is_given();
        let first = signatures.iter().take(m).find(|s| s.metric() == signature.metric() && !is_given);
        let differing: Vec<(&str, &str)> = match first {
            Some(first) => {
                signature.settings().filter(|(name, value)| first.get(name) != Some(value)).collect()
            }
            None => Vec::new(),
        };
        let suffix: String = differing.iter().map(|(name, value)| format!(":{name}={value}")).collect();
        let key = match parts.first().filter(|_| is_given) {
            Some(part) => part.key.clone(),
            None => format!("{}{suffix}", signature.metric()),
        };
        entries.push(MetricEntry { key, n_measures: parts.len(), is_mean: false });
        measures.extend(parts.into_iter().map(|part| {
            let settings = differing.iter().map(|(name, value)| format!(" {name}={value}"));
            Measure {
                key: format!("{}{suffix}", part.key),
                label: std::iter::once(part.label).chain(settings).collect(),
                direction: part.direction,
                number: part.number,
                min: part.min,
                max: part.max,
            }
        }));
    }
    (entries, measures)
}

#[cfg(test)]
mod tests {
    use capeval_evaluate::registry::kinds;

    use super::*;

    #[test]
    fn a_metric_named_twice_is_taken_once() {
        assert_eq!(metrics(["bleu", "coco", "cider-d:n=4"], &[]).unwrap().len(), 3);
    }

    #[test]
    fn variants_of_one_metric_have_keys_of_their_own() {
        let metrics = metrics(["cider-d", "cider-d:sigma=4", "bleu"], &[]).unwrap();
        let (entries, measures) = entries(&metrics);
        let keys: Vec<&str> = measures.iter().map(|measure| measure.key.as_str()).collect();
        assert_eq!(keys, ["cider-d", "cider-d:sigma=4", "bleu-1", "bleu-2", "bleu-3", "bleu-4"]);
        assert_eq!(entries[1].key, "cider-d:sigma=4");
        assert_eq!(measures[1].label, "CIDEr-D (COCO's CIDEr) sigma=4");
    }

    #[test]
    fn no_two_metrics_share_a_key() {
        let kinds = || kinds().filter(|kind| kind.need.is_none()).map(|kind| kind.name);
        let (entries, measures) = entries(&metrics(kinds(), &[]).unwrap());
        let mut keys: Vec<&str> = measures.iter().map(|measure| measure.key.as_str()).collect();
        keys.sort_unstable();
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");
        assert_eq!(entries.len(), kinds().count());
    }

    #[test]
    fn data_are_needed_for_a_metric_that_is_named_and_for_one_of_a_suite() {
        let needs = |names: &[&str]| {
            needed_data(&MetricOptions::new(names.iter().copied()))
                .into_iter()
                .map(|needed| (needed.metric, needed.is_named))
                .collect::<Vec<_>>()
        };
        assert_eq!(needs(&["bleu", "meteor:lang=de", "coco"]), [("meteor", true), ("spice", false)]);
        assert_eq!(needs(&[]), [("meteor", false), ("spice", false)]);
        assert_eq!(needs(&["spider"]), [("spider", true)]);
        assert_eq!(needs(&["bleu", "nonesuch"]), []);
    }

    #[test]
    fn a_suite_for_another_language_goes_without_metrics_that_know_only_english() {
        let options = |names: &[&str], tokenizer: &str| MetricOptions {
            tokenizer: Some(tokenizer.to_owned()),
            ..MetricOptions::new(names.iter().copied())
        };
        let needs = |options: &MetricOptions| {
            needed_data(options).into_iter().map(|needed| needed.metric).collect::<Vec<_>>()
        };
        for (name, is_foreign) in [("zh", true), ("ja-mecab", true), ("char", false), ("13a", false)] {
            let expected: &[&str] = if is_foreign { &[] } else { &["meteor", "spice"] };
            assert_eq!(needs(&options(&["coco"], name)), expected, "{name}");
        }
        assert_eq!(needs(&options(&["coco", "meteor"], "zh")), ["meteor"], "what is named is scored");
        let mut german = options(&["coco"], "zh");
        german.settings.insert("lang".to_owned(), "other".to_owned());
        assert_eq!(needs(&german), ["meteor"]);

        let selection = select_metrics(&options(&["all", "coco"], "zh"), &Resources::default()).unwrap();
        let told: Vec<String> = (selection.notices.iter().filter(|notice| notice.code == Code::EnglishOnly))
            .map(|notice| notice.message.to_string())
            .collect();
        let reason = "is left out, because it knows only English, and the tokenizer zh is for Chinese";
        let of_all = ["object-f1", "meteor", "spice", "spider"].map(|metric| (metric, "all"));
        let of_coco = ["meteor", "spice"].map(|metric| (metric, "coco"));
        let expected: Vec<String> = (of_all.into_iter().chain(of_coco))
            .map(|(metric, suite)| format!("{metric} of the suite {suite} {reason}"))
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn metrics_that_know_only_english_are_known_by_their_names() {
        let english = ["meteor", "meteor:lang=en", "METEOR", "spice", "spider"];
        assert!(english.iter().all(|spec| knows_only_english(spec)));
        let others = ["bleu", "cider-d:n=2", "meteor:lang=de", "meteor:lang=other", "coco", "nonesuch"];
        assert!(!others.iter().any(|spec| knows_only_english(spec)));
    }

    #[test]
    fn an_unknown_suite_is_refused() {
        let options = MetricOptions { suite: Some("bleu".into()), ..MetricOptions::default() };
        let error = select_metrics(&options, &Resources::default()).err().unwrap();
        assert_eq!(error.to_string(), "no suite is called 'bleu'");
        assert!(error.remedy().unwrap().to_string().contains("coco"), "{error}");
    }
}
