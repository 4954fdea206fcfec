//! Kinds of metrics: their entries in the registry, and how to build them.

use capeval_choice::Task;

use crate::{About, AnyCorpusMetric, AnyMetric, Part, Refusal, Resources, Setting, Settings, Signature};

/// A function that builds a metric from its settings.
type Build<M> = fn(&Settings<'_>) -> Result<M, Refusal>;

/// The entry of a metric in the registry, with all its settings. Command line, documentation and Python read these.
pub struct MetricKind {
    /// The name that users type.
    pub name: &'static str,
    /// The quality that it rewards, in one line.
    pub summary: &'static str,
    /// The paper that published it.
    pub paper: &'static str,
    /// The program whose digits it reproduces.
    pub program: &'static str,
    /// Its settings.
    pub settings: &'static [Setting],
    /// Settings with which the suite of all metrics lists it again, such as `stem=porter`.
    pub variants: &'static [&'static str],
    /// Third-party data without which it cannot be built.
    pub need: Option<Need>,
    /// About how many seconds 1,000 captions take on one core, without what is done once.
    pub seconds: f64,
    /// Builds it.
    pub build: Build<AnyMetric>,
}

/// Third-party data without which a metric cannot be built.
pub struct Need {
    /// The name of the data.
    pub what: &'static str,
    /// The task that installs them.
    pub task: Task,
    /// Looks them up in the resources.
    pub has: fn(&Resources) -> bool,
    /// The description of the metric with default settings, for use if the data are missing.
    pub about: fn() -> About,
}

impl MetricKind {
    /// Builds the metric with the settings that `spec` lists after its name, and then those of `common` that it has.
    pub fn build(
        &self,
        spec: &str,
        common: &[(&str, &str)],
        resources: &Resources,
    ) -> Result<AnyMetric, Refusal> {
        (self.build)(&Settings::read(self.name, self.settings, spec, common, resources)?)
    }

    /// As [`build`](Self::build), as a part of another metric, which errors name.
    pub(crate) fn build_for(
        &self,
        metric: &'static str,
        given: &[(&str, &str)],
        resources: &Resources,
    ) -> Result<AnyMetric, Refusal> {
        (self.build)(&Settings::read(metric, self.settings, metric, given, resources)?)
    }

    /// Returns true if `resources` contain the data that it needs.
    pub fn is_available(&self, resources: &Resources) -> bool {
        self.need.as_ref().is_none_or(|need| (need.has)(resources))
    }

    /// The description of the metric with default settings, even if data are missing.
    pub fn about(&self) -> Result<About, Refusal> {
        match &self.need {
            Some(need) => Ok((need.about)()),
            None => self.build(self.name, &[], &Resources::default()).map(|metric| metric.about().clone()),
        }
    }
}

/// The entry of a [`CorpusMetric`](crate::CorpusMetric) in the registry.
pub struct CorpusKind {
    /// The name that users type.
    pub name: &'static str,
    /// The quantity that it measures, in one line.
    pub summary: &'static str,
    /// The paper that published it.
    pub paper: &'static str,
    /// The program whose digits it reproduces.
    pub program: &'static str,
    /// Its settings.
    pub settings: &'static [Setting],
    /// The captions that it needs besides those of the system.
    pub needs: CorpusNeed,
    /// True if it compares the captions of one image, and so needs several per image.
    pub compares: bool,
    /// Builds it.
    pub build: Build<AnyCorpusMetric>,
}

/// The captions that a [`CorpusMetric`](crate::CorpusMetric) needs besides those of the system.
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
    /// A description for people; `None` for [`Nothing`](Self::Nothing).
    pub fn what(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::References => Some("references"),
            Self::Training => Some("training captions"),
        }
    }
}

impl CorpusKind {
    /// Builds the metric with settings, as [`MetricKind::build`] does.
    pub fn build(&self, spec: &str, common: &[(&str, &str)]) -> Result<AnyCorpusMetric, Refusal> {
        (self.build)(&Settings::read(self.name, self.settings, spec, common, &Resources::default())?)
    }

    /// The signature and the scores of the metric with default settings.
    pub fn sample(&self) -> Result<(Signature, Vec<Part>), Refusal> {
        self.build(self.name, &[]).map(|metric| (metric.signature(), metric.parts()))
    }
}
