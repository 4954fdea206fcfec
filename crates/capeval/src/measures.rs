//! Which metrics, and under which keys their numbers are reported.

use capeval_choice::{Remedy, suggest};
use capeval_evaluate::registry::{self, KINDS, Resources, SUITES, Suite};
use capeval_metric::{AnyMetric, Part, Signature};
use capeval_report::{Measure, MetricEntry, Notice};

use crate::Error;

/// The metrics that `specs` name: names of metrics, of suites, or metrics with settings such as
/// `cider-d:sigma=4`. What is named twice is taken once; a name of both a metric and a suite is the metric.
///
/// `common` holds settings for every metric that knows them, such as `("tok", "13a")`.
///
/// # Errors
/// When there is no such metric, suite or setting.
pub fn metrics<'s>(
    specs: impl IntoIterator<Item = &'s str>,
    common: &[(&str, &str)],
) -> Result<Vec<AnyMetric>, Error> {
    select(None, specs, common, &Resources::default()).map(|selection| selection.metrics)
}

/// Metrics, and what was left out.
pub struct Selection {
    /// The metrics.
    pub metrics: Vec<AnyMetric>,
    /// One notice for each metric of a suite whose data are missing; give them to
    /// [`ScoreRequest::notices`](crate::ScoreRequest::notices).
    pub notices: Vec<Notice>,
}

/// The metrics of `suite`, if one is given, and then those that `specs` name as for [`metrics`], with any data
/// that metrics may need. A suite does without the metrics whose data are missing.
///
/// # Errors
/// As for [`metrics`], and when a metric is named whose data are missing.
pub fn select<'s>(
    suite: Option<&str>,
    specs: impl IntoIterator<Item = &'s str>,
    common: &[(&str, &str)],
    resources: &Resources,
) -> Result<Selection, Error> {
    let mut selection = Selection { metrics: Vec::new(), notices: Vec::new() };
    if let Some(name) = suite {
        let Some(suite) = SUITES.iter().find(|suite| suite.name == name) else {
            return Err(Error::with_remedy(
                format!("no suite is called '{name}'"),
                suggest(name, SUITES.iter().map(|suite| suite.name)),
            ));
        };
        selection.add_suite(suite, common, resources)?;
    }
    for spec in specs {
        let is_metric = KINDS.iter().any(|kind| kind.name == spec);
        match SUITES.iter().find(|suite| suite.name == spec && !is_metric) {
            Some(suite) => selection.add_suite(suite, common, resources)?,
            None => selection.add(spec, common, resources)?,
        }
    }
    Ok(selection)
}

impl Selection {
    fn add_suite(
        &mut self,
        suite: &Suite,
        common: &[(&str, &str)],
        resources: &Resources,
    ) -> Result<(), Error> {
        for spec in &suite.metrics() {
            let kind = registry::kind(spec).filter(|kind| !kind.is_available(resources));
            let Some((kind, need)) = kind.and_then(|kind| Some((kind, kind.need.as_ref()?))) else {
                self.add(spec, common, resources)?;
                continue;
            };
            let message = format!(
                "{} of the suite {} is left out, because {} are not installed",
                kind.name, suite.name, need.what
            );
            if self.notices.iter().all(|notice| notice.message != message) {
                let code = format!("no-{}", kind.name);
                self.notices
                    .push(Notice::new(code, message).remedy(Remedy::run(need.task.clone()).to("have it")));
            }
        }
        Ok(())
    }

    fn add(&mut self, spec: &str, common: &[(&str, &str)], resources: &Resources) -> Result<(), Error> {
        let metric = registry::build(spec, common, resources)?;
        if self.metrics.iter().all(|known| known.signature() != metric.signature()) {
            self.metrics.push(metric);
        }
        Ok(())
    }
}

/// Entries and measures for a report. Where two metrics share their name, the settings in which the later
/// one differs from the first are added to its keys: `cider-d:sigma=4`.
#[must_use]
pub fn entries(metrics: &[AnyMetric]) -> (Vec<MetricEntry>, Vec<Measure>) {
    let described = metrics.iter().map(|metric| (metric.signature().clone(), metric.parts().to_vec()));
    entries_of(described.collect())
}

/// The same for metrics of any kind, given as their signatures and numbers.
pub(crate) fn entries_of(metrics: Vec<(Signature, Vec<Part>)>) -> (Vec<MetricEntry>, Vec<Measure>) {
    let (mut entries, mut measures) = (Vec::new(), Vec::new());
    let signatures: Vec<Signature> = metrics.iter().map(|(signature, _)| signature.clone()).collect();
    for (m, (signature, parts)) in metrics.into_iter().enumerate() {
        let first = signatures.iter().take(m).find(|s| s.metric() == signature.metric());
        let differing: Vec<(&str, &str)> = match first {
            Some(first) => {
                signature.settings().filter(|(name, value)| first.get(name) != Some(value)).collect()
            }
            None => Vec::new(),
        };
        let suffix: String = differing.iter().map(|(name, value)| format!(":{name}={value}")).collect();
        entries.push(MetricEntry { key: format!("{}{suffix}", signature.metric()), n_measures: parts.len() });
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
        let kinds = || KINDS.iter().filter(|kind| kind.need.is_none()).map(|kind| kind.name);
        let (entries, measures) = entries(&metrics(kinds(), &[]).unwrap());
        let mut keys: Vec<&str> = measures.iter().map(|measure| measure.key.as_str()).collect();
        keys.sort_unstable();
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");
        assert_eq!(entries.len(), kinds().count());
    }

    #[test]
    fn an_unknown_suite_is_refused() {
        let error = select(Some("bleu"), [], &[], &Resources::default()).err().unwrap();
        assert!(error.remedy().unwrap().to_string().contains("coco"), "{error}");
    }
}
