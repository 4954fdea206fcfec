//! The request of a task: captions of systems, their references, and options.

use capeval_corpus::Captions;
use capeval_evaluate::Progress;
use capeval_evaluate::registry::Resources;

use crate::given::Plan;
use crate::groups::GroupBy;
use crate::references::ReferenceSource;
use crate::{GivenScores, ScoreOptions};

/// Captions of systems, their references, and options. Start from [`Request::new`] and change fields as needed.
///
/// ```
/// # use capeval::corpus::{Captions, Missing};
/// # use capeval::{MetricOptions, ScoreOptions, ScoreRequest};
/// # fn request(references: Captions, candidates: Captions) {
/// let request = ScoreRequest {
///     options: ScoreOptions {
///         metrics: MetricOptions { tokenizer: Some("13a".into()), ..MetricOptions::new(["bleu", "cider-d:sigma=4"]) },
///         missing: Missing::Skip,
///         ..ScoreOptions::default()
///     },
///     ..ScoreRequest::new(references, [("mine", candidates)])
/// };
/// # }
/// ```
pub struct Request<'p, Options> {
    /// The references: [`Captions`], or [prepared](crate::prepare) references.
    pub references: ReferenceSource,
    /// False if there are none, for metrics that need none.
    pub has_references: bool,
    /// The files that the references come from, for the report.
    pub reference_files: Vec<String>,
    /// The systems: a name, which must be unique, and one caption per image.
    pub systems: Vec<(String, Captions)>,
    /// Scores that were computed before, of the same systems; or of any, if there are no captions.
    pub scores: Vec<GivenScores>,
    /// The properties that group images, for scores of each group.
    pub groups: Vec<GroupBy>,
    /// The options.
    pub options: Options,
    /// Tables and third-party data for metrics that use them.
    pub resources: Resources,
    /// Receives progress reports.
    pub progress: &'p dyn Progress,
}

/// A request to [`score`](crate::score()).
pub type ScoreRequest<'p> = Request<'p, ScoreOptions>;

impl<Options: Default> Request<'static, Options> {
    /// A request for the COCO evaluation of `systems`, with strict policies.
    pub fn new<N: Into<String>>(
        references: impl Into<ReferenceSource>,
        systems: impl IntoIterator<Item = (N, Captions)>,
    ) -> Self {
        let references = references.into();
        Self {
            reference_files: vec![references.source().to_owned()],
            references,
            has_references: true,
            systems: systems.into_iter().map(|(name, captions)| (name.into(), captions)).collect(),
            scores: Vec::new(),
            groups: Vec::new(),
            options: Options::default(),
            resources: Resources::default(),
            progress: &(),
        }
    }
}

impl<Options: Default> Request<'static, Options> {
    /// A request about given scores alone, without captions and references: their images are all that one of them is
    /// of.
    pub fn of_scores(scores: Vec<GivenScores>) -> Self {
        let no_captions: [(String, Captions); 0] = [];
        let images = Plan::images(&scores);
        Self { scores, reference_files: Vec::new(), ..Self::new(images, no_captions) }
    }

    /// A request to score `systems` by metrics that need no references.
    pub fn without_references<N: Into<String>>(systems: impl IntoIterator<Item = (N, Captions)>) -> Self {
        Self { has_references: false, reference_files: Vec::new(), ..Self::new(Captions::new(""), systems) }
    }
}

impl<'p, Options> Request<'p, Options> {
    /// Returns true if there are given scores and nothing else.
    pub(crate) fn is_of_scores(&self) -> bool {
        self.systems.is_empty() && !self.scores.is_empty()
    }

    /// Replaces the options.
    pub fn map<Other>(self, change: impl FnOnce(Options) -> Other) -> Request<'p, Other> {
        Request {
            references: self.references,
            has_references: self.has_references,
            reference_files: self.reference_files,
            systems: self.systems,
            scores: self.scores,
            groups: self.groups,
            options: change(self.options),
            resources: self.resources,
            progress: self.progress,
        }
    }
}
