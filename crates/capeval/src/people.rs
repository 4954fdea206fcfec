//! The request of a task that compares metrics with people: ratings or votes, the references of the captions, options.

use capeval_corpus::Captions;
use capeval_evaluate::Progress;
use capeval_evaluate::registry::Resources;
use capeval_metric::AnyMetric;

use crate::findings::Findings;
use crate::given::GivenRows;
use crate::groups::GroupBy;
use crate::own_reference::ReferenceRules;
use crate::{CorrelateOptions, Error, GivenScores, MetricOptions, PreferOptions, Selection, select_metrics};

/// What people said about captions, the references of these, and options. Start from [`PeopleRequest::new`].
pub struct PeopleRequest<'p, People, Options> {
    /// The ratings, or the pairs with votes.
    pub people: People,
    /// References, unless `people` has them or only scores are given.
    pub references: Option<Captions>,
    /// Scores of captions that were computed before. Metrics are computed beside them only if some are chosen, or
    /// references given.
    pub scores: Vec<GivenScores>,
    /// The properties that group images, for results in each group.
    pub groups: Vec<GroupBy>,
    /// The options.
    pub options: Options,
    /// Tables and third-party data for metrics that use them.
    pub resources: Resources,
    /// Receives progress reports.
    pub progress: &'p dyn Progress,
}

impl<People, Options: Default> PeopleRequest<'static, People, Options> {
    /// A request for the COCO metrics with the usual options.
    pub fn new(people: People) -> Self {
        Self {
            people,
            references: None,
            scores: Vec::new(),
            groups: Vec::new(),
            options: Options::default(),
            resources: Resources::default(),
            progress: &(),
        }
    }
}

/// Options of such a task.
pub trait PeopleOptions {
    /// The metrics.
    fn metrics(&self) -> &MetricOptions;
    /// The keys of given scores that are error rates.
    fn lower_is_better(&self) -> &[String];
}

macro_rules! people_options {
    ($($options:ident),+) => {$(
        impl PeopleOptions for $options {
            fn metrics(&self) -> &MetricOptions {
                &self.metrics
            }

            fn lower_is_better(&self) -> &[String] {
                &self.lower_is_better
            }
        }

        impl $options {
            /// The rules for references.
            pub(crate) fn reference_rules(&self) -> ReferenceRules {
                ReferenceRules { own: self.own_reference, surplus: self.surplus, ids: self.ids }
            }
        }
    )+};
}

people_options!(CorrelateOptions, PreferOptions);

/// The metrics to compute, and the scores that are given.
pub(crate) struct ChosenMeasures {
    pub(crate) metrics: Vec<AnyMetric>,
    pub(crate) given: GivenRows,
    pub(crate) found: Findings,
}

impl<People, Options: PeopleOptions> PeopleRequest<'_, People, Options> {
    /// Returns true if metrics are computed, not only given scores compared.
    pub fn computes(&self) -> bool {
        self.scores.is_empty() || self.references.is_some() || self.options.metrics().are_chosen()
    }

    /// Chooses the metrics, and takes the given scores.
    pub(crate) fn choose(&mut self) -> Result<ChosenMeasures, Error> {
        let Selection { metrics, notices } = match self.computes() {
            true => select_metrics(self.options.metrics(), &self.resources)?,
            false => Selection::default(),
        };
        let mut found = Findings::from(notices);
        let scores = std::mem::take(&mut self.scores);
        let given = GivenRows::new(scores, self.options.lower_is_better(), &metrics, &mut found)?;
        Ok(ChosenMeasures { metrics, given, found })
    }
}
