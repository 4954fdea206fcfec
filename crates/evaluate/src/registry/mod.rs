//! Every metric by name: what it is, what may be set, how it is built.
//!
//! A family of metrics has a file of its own here, which tells what each of them is; [`KINDS`] lists them all.

mod bleu;
mod cider;
mod fluency;
mod meteor;
mod needs;
mod rouge;
mod sacrebleu;
mod settings;
mod suites;

use std::sync::Arc;

use capeval_fluency::NgramModel;
use capeval_lexical::frequencies::DocumentFrequencies;
use capeval_metric::{AnyMetric, Part, Signature};
use capeval_text::{Exceptions, StopWords};

use self::needs::NEEDS;
pub use self::needs::Need;
pub(crate) use self::settings::{ORDER, Settings, TOK, parse};
pub use self::settings::{Setting, SettingError};
pub use self::suites::{SUITES, Suite};

/// Data of others that some settings need, and that this program does not bring.
#[derive(Clone, Default)]
pub struct Resources {
    /// A saved table of document frequencies, for metrics that know the setting `idf`.
    pub frequencies: Option<Arc<DocumentFrequencies>>,
    /// ROUGE-1.5.5's stop words, `smart_common_words.txt`, for `stop=yes`.
    pub stop_words: Option<Arc<StopWords>>,
    /// WordNet's exception lists, `*.exc`, for `stem=porter-exceptions`.
    pub exceptions: Option<Arc<Exceptions>>,
    /// A saved n-gram model, for metrics that know the setting `lm`.
    pub language_model: Option<Arc<NgramModel>>,
    /// METEOR's compiled resources.
    pub meteor: Option<Arc<capeval_meteor::Resources>>,
}

/// A metric in the registry. Command line, documentation, Python and server all read this list.
pub struct Kind {
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
    build: fn(&mut Settings<'_>) -> Result<AnyMetric, SettingError>,
}

impl Kind {
    /// What the metric cannot be built without, beside this program.
    #[must_use]
    pub fn need(&self) -> Option<&'static Need> {
        NEEDS.iter().find(|need| need.metric == self.name)
    }

    /// Whether the metric can be built from `resources`.
    #[must_use]
    pub fn is_available(&self, resources: &Resources) -> bool {
        self.need().is_none_or(|need| (need.has)(resources))
    }

    /// The signature and the numbers of the metric as it is without settings, for people to read; also where
    /// data are missing.
    ///
    /// # Errors
    /// When the metric cannot be built.
    pub fn sample(&self) -> Result<(Signature, Vec<Part>), SettingError> {
        match self.need() {
            Some(need) => Ok((need.sample)()),
            None => build(self.name, &[]).map(|metric| (metric.signature().clone(), metric.parts().to_vec())),
        }
    }
}

/// The kind that a metric with settings, such as `cider-d:sigma=4`, is of.
#[must_use]
pub fn kind(spec: &str) -> Option<&'static Kind> {
    let name = spec.split(':').next().unwrap_or_default();
    KINDS.iter().find(|kind| kind.name == name)
}

/// The metrics, in the order in which they are listed.
pub const KINDS: &[Kind] = &[
    bleu::BLEU,
    rouge::ROUGE_L,
    rouge::ROUGE155,
    rouge::ROUGE_SCORE,
    bleu::SENTENCE_BLEU,
    meteor::METEOR_2005,
    cider::CIDER_D,
    cider::CIDER,
    cider::CIDER_D_IN_PAPER,
    cider::CIDER_IN_PAPER,
    cider::CIDER_R,
    cider::SPIDER,
    sacrebleu::SACREBLEU,
    sacrebleu::CHRF,
    sacrebleu::CHRF_PLUS_PLUS,
    sacrebleu::TER,
    fluency::PERPLEXITY,
    meteor::METEOR,
];

/// Builds a metric from what a user typed: `bleu`, or `cider-d:sigma=4:idf=uniform`.
///
/// `common` holds settings for every metric that knows them, such as a tokenizer; what is said of the
/// metric itself goes first.
///
/// # Errors
/// When there is no such metric or setting, or a value is none that the setting takes.
pub fn build(spec: &str, common: &[(&str, &str)]) -> Result<AnyMetric, SettingError> {
    build_with(spec, common, None)
}

/// The same with a saved table of document frequencies, which metrics take that know the setting `idf`,
/// unless it says otherwise.
///
/// # Errors
/// As [`build`].
pub fn build_with(
    spec: &str,
    common: &[(&str, &str)],
    table: Option<&Arc<DocumentFrequencies>>,
) -> Result<AnyMetric, SettingError> {
    build_from(spec, common, &Resources { frequencies: table.cloned(), ..Resources::default() })
}

/// The same with any data that settings may need.
///
/// # Errors
/// As [`build`], and when a setting needs data that `resources` does not hold.
pub fn build_from(
    spec: &str,
    common: &[(&str, &str)],
    resources: &Resources,
) -> Result<AnyMetric, SettingError> {
    let kinds: Vec<_> = KINDS.iter().map(|kind| (kind.name, kind.settings)).collect();
    let (at, given) = parse(spec, common, &kinds)?;
    let kind = &KINDS[at];
    let table = resources.frequencies.as_ref();
    (kind.build)(&mut Settings { metric: kind.name, given: &given, table, resources })
}
