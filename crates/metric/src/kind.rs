//! The kinds of metrics: what stands in a list of them, and how one is built.

use capeval_choice::Task;

use crate::{About, AnyCorpusMetric, AnyMetric, Part, Refusal, Resources, Setting, Settings, Signature};

/// How a metric is built from its settings.
type Build<M> = fn(&Settings<'_>) -> Result<M, Refusal>;

/// A metric as it is listed, with all its settings. Command line, documentation, Python and server read these.
pub struct MetricKind {
    /// The name that users type.
    pub name: &'static str,
    /// One line on what it rewards.
    pub summary: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// Whose program gives these digits.
    pub program: &'static str,
    /// What may be set.
    pub settings: &'static [Setting],
    /// Settings with which the suite of all metrics holds it once more, such as `stem=porter`.
    pub variants: &'static [&'static str],
    /// Third-party data without which it cannot be built.
    pub need: Option<Need>,
    /// Builds it.
    pub build: Build<AnyMetric>,
}

/// Third-party data without which a metric cannot be built.
pub struct Need {
    /// What they are.
    pub what: &'static str,
    /// How to get them.
    pub task: Task,
    /// Whether they are there.
    pub has: fn(&Resources) -> bool,
    /// What the metric is without settings, for people to read where the data are missing.
    pub about: fn() -> About,
}

impl MetricKind {
    /// The metric with the settings that `spec` names after the metric, and then those of `common` that it knows.
    ///
    /// # Errors
    /// When a setting is unknown or does not take its value, or needs data that `resources` do not hold.
    pub fn build(
        &self,
        spec: &str,
        common: &[(&str, &str)],
        resources: &Resources,
    ) -> Result<AnyMetric, Refusal> {
        (self.build)(&Settings::read(self.name, self.settings, spec, common, resources)?)
    }

    /// Whether `resources` hold what it needs.
    pub fn is_available(&self, resources: &Resources) -> bool {
        self.need.as_ref().is_none_or(|need| (need.has)(resources))
    }

    /// What it is without settings; also where data are missing.
    ///
    /// # Errors
    /// When it cannot be built by default.
    pub fn about(&self) -> Result<About, Refusal> {
        match &self.need {
            Some(need) => Ok((need.about)()),
            None => self.build(self.name, &[], &Resources::default()).map(|metric| metric.about().clone()),
        }
    }
}

/// A metric of all captions of a system as it is listed.
pub struct CorpusKind {
    /// The name that users type.
    pub name: &'static str,
    /// One line on what it measures.
    pub summary: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// Whose program gives these digits.
    pub program: &'static str,
    /// What may be set.
    pub settings: &'static [Setting],
    /// What it must see beside the captions.
    pub needs: CorpusNeed,
    /// Whether it compares the captions of one image, so that there must be several.
    pub compares: bool,
    /// Builds it.
    pub build: Build<AnyCorpusMetric>,
}

/// What a metric of all captions must see beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorpusNeed {
    /// Nothing.
    Nothing,
    /// References, for document frequencies.
    References,
    /// The captions that the system was trained on.
    Training,
}

impl CorpusNeed {
    /// What to call it; nothing if it is nothing.
    pub fn what(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::References => Some("references"),
            Self::Training => Some("the captions of training"),
        }
    }
}

impl CorpusKind {
    /// The metric with settings, as in [`MetricKind::build`].
    ///
    /// # Errors
    /// As for a metric.
    pub fn build(&self, spec: &str, common: &[(&str, &str)]) -> Result<AnyCorpusMetric, Refusal> {
        (self.build)(&Settings::read(self.name, self.settings, spec, common, &Resources::default())?)
    }

    /// Its signature and its numbers without settings, for people to read.
    ///
    /// # Errors
    /// When it cannot be built by default.
    pub fn sample(&self) -> Result<(Signature, Vec<Part>), Refusal> {
        self.build(self.name, &[]).map(|metric| (metric.signature(), metric.parts()))
    }
}
