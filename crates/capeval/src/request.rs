//! What a task is asked: captions of systems, their references, and options.

use capeval_corpus::Captions;
use capeval_evaluate::Progress;
use capeval_evaluate::registry::Resources;

use crate::ScoreOptions;
use crate::references::ReferenceSource;

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
    /// The files that the references come from, for the report.
    pub reference_files: Vec<String>,
    /// The systems: a name, which must be unique, and one caption per image.
    pub systems: Vec<(String, Captions)>,
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
            systems: systems.into_iter().map(|(name, captions)| (name.into(), captions)).collect(),
            options: Options::default(),
            resources: Resources::default(),
            progress: &(),
        }
    }
}

impl<'p, Options> Request<'p, Options> {
    /// Replaces the options.
    pub fn map<Other>(self, change: impl FnOnce(Options) -> Other) -> Request<'p, Other> {
        let Self { references, reference_files, systems, options, resources, progress } = self;
        Request { references, reference_files, systems, options: change(options), resources, progress }
    }
}
