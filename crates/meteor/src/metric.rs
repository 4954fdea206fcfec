//! METEOR as a metric.
//!
//! Rewards words of the candidate that a reference has, too, in the same order. Words match by form (weight 1), by stem
//! (0.6), by a common synonym set (0.8) or as phrases of a paraphrase table (0.6), each at most once; among the
//! possible alignments, the one counts that covers most words in the fewest chunks, which are runs of matches in the
//! same order on both sides. A content word weighs δ = 0.75 and a function word 1 − δ. With precision P and recall R,
//! the weights of the matched words over those of all words of the candidate and of the reference, and with α = 0.85, β
//! = 0.2, γ = 0.6,
//!
//! - `F = P R / (α P + (1 − α) R)`;
//! - `penalty = γ (chunks / matched words)^β`;
//! - `score = (1 − penalty) F`.
//!
//! The best reference counts. The text goes through a tokenizer first (pycocoevalcap uses Stanford's), and then through
//! METEOR's own. The corpus score is computed from summed statistics; it is not the mean of the segment scores.
//!
//! Paper: Denkowski and Lavie, *Meteor Universal: Language Specific Translation Evaluation for Any Target Language*
//! (2014). Reference program: `meteor-1.5.jar` as pycocoevalcap 1.2 calls it.
//!
//! Quirks kept on purpose, each with a test in `tests/meteor/quirks.rs`:
//! - pycocoevalcap removes `|||` from candidates, and it divides a reference into several;
//! - words are equal if their 32-bit string hashes are equal; they are synonyms if they share a synset
//!   *number*, whatever its part of speech;
//! - matches that share no word with any other match are chosen before the search, even if that increases the
//!   number of chunks;
//! - in the search every matcher except the exact one has a weight of one half, whatever its weight in the
//!   score, and each addition is rounded down, so a single inexact word adds nothing;
//! - the distance of a match is added to the path that was extended, not to the path that contains the match;
//! - a pair of phrases that the paraphrase table lists in both directions covers its words twice;
//! - ties are decided in favour of the path made first: by matcher, then by position, and for paraphrases by
//!   source, length and target;
//! - only 40 paths are kept per word, so the best alignment can be missed; to prevent this for two identical
//!   sentences, only the first matcher runs on them;
//! - among equally good references the first one counts; a segment that matches perfectly adds no chunk to
//!   the corpus;
//! - the normaliser's prefixes such as `Mr` are case-sensitive and so are not recognised in lower-cased text;
//!   it removes all dots from words such as `U.S.`, and each of its replacements consumes the adjacent
//!   characters;
//! - every language uses the *English* function words by default.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use capeval_choice::{Task as Job, UnknownName};
use capeval_metric::setting::{POSITIVE, TOK};
use capeval_metric::{
    About, AnyMetric, Column, Explanation, Input, Learns, Metric, MetricKind, Need, Part, Reading,
    References, Refusal, Segment, Setting, Settings, Signature, Statistics,
};
use capeval_text::Tokenizer;

use crate::language::Language;
use crate::meteor::{Meteor, Segment as Scored, Workspace};
use crate::options::{Matcher, Options, Parameters, Task, TextForm, Unit};
use crate::resources::Resources;
use crate::stats::Stats;

/// The registry entry of METEOR.
pub const KIND: MetricKind = MetricKind {
    name: "meteor",
    summary: "words that match by form, stem, synonym or paraphrase with the best reference, and their order",
    paper: "Denkowski and Lavie 2014, Meteor Universal: Language Specific Translation Evaluation for Any \
            Target Language",
    program: "meteor-1.5.jar, as in pycocoevalcap 1.2",
    settings: &[
        TOK,
        Setting::text("lang", "en", "language", LANGUAGES),
        Setting::choice("task", "rank", "task, li for languages without tuned values", Task::NAMES),
        Setting::text(
            "match",
            "exact=1+stem=0.6+synonym=0.8+paraphrase=0.6",
            "matchers in order; the default of lang=de is exact=1+stem=0.8+paraphrase=0.2, and so on",
            "names and weights from 0 to 1e9, as in exact=1+stem=0.6",
        ),
        Setting::text(
            "params",
            "0.85/0.2/0.6/0.75",
            "alpha, beta, gamma, delta; the default of lang=de is 0.95/1/0.55/0.55, and so on",
            "numbers from 0, the second to 1e9 and the others to 1",
        ),
        Setting::count("beam", "40", "number of partial alignments kept per word", 1..=100_000),
        Setting::choice("text", "norm", "METEOR's -norm, -noPunct, -lower", TextForm::NAMES),
        Setting::choice("unit", "words", "unit of lengths and matches", Unit::NAMES),
        Setting::text("function", "en", "language of the function words", LANGUAGES),
    ],
    variants: &[],
    need: Some(Need {
        what: WHAT,
        task: Job::Install(NAME),
        has: |resources| resources.has::<Resources>(),
        about: || about(&Options::coco(), "installed", Tokenizer::Ptb),
    }),
    seconds: 0.03,
    build,
};

const LANGUAGES: &str = "en, cz, de, es, fr, ru; ar-bw-red da fi hu it nl no pt ro se tr; other";

/// The name of the data for installations.
const NAME: &str = "meteor";

/// The data in messages.
const WHAT: &str = "METEOR's resources";

fn build(settings: &Settings<'_>) -> Result<AnyMetric, Refusal> {
    let refused = |refusal: Refusal| settings.error(refusal);
    let language = |name: &str| -> Result<Language, Refusal> {
        settings.text(name).parse().map_err(|error: UnknownName| settings.error(error))
    };
    let tuned = language("lang")?;
    let task = match settings.given("task") {
        Some(_) => settings.get("task")?,
        None => Task::default_for(tuned),
    };
    let mut options = Options::new(tuned, task).map_err(refused)?;
    if let Some(text) = settings.given("match") {
        let pair = |field: &str| {
            let (name, weight) = field.split_once('=')?;
            let weight = weight.parse().ok().filter(|weight| (0.0..=*POSITIVE.end()).contains(weight))?;
            Some((name.parse().ok()?, weight))
        };
        let pairs: Option<Vec<(Matcher, f64)>> = text.split('+').map(pair).collect();
        let pairs = pairs.ok_or_else(|| settings.refuse("match", text))?;
        (options.matchers, options.weights) = pairs.into_iter().unzip();
    }
    if let Some(text) = settings.given("params") {
        let numbers: Option<Vec<f64>> = text.split('/').map(|number| number.parse().ok()).collect();
        let most = *POSITIVE.end();
        let numbers = numbers.filter(|numbers| numbers.iter().all(|x| (0.0..=most).contains(x)));
        let Some([alpha, beta, gamma, delta]) = numbers.as_deref() else {
            return Err(settings.refuse("params", text));
        };
        options.parameters = Parameters { alpha: *alpha, beta: *beta, gamma: *gamma, delta: *delta };
    }
    if settings.given("text").is_some() {
        options.text = settings.get("text")?;
    }
    options.beam = settings.get("beam")?;
    options.unit = settings.get("unit")?;
    options.function_words = language("function")?;
    let tokenizer = settings.tokenizer()?;
    let resources = settings.resource::<Resources>().ok_or_else(|| settings.not_installed(NAME, WHAT))?;
    let meteor = Meteor::new(options, resources).map_err(refused)?;
    Ok(AnyMetric::new(MeteorMetric::new(Arc::new(meteor), tokenizer)))
}

/// METEOR 1.5 after a tokenizer.
#[derive(Debug)]
pub struct MeteorMetric {
    meteor: Arc<Meteor>,
    tokenizer: Tokenizer,
    caches: Caches,
}

impl MeteorMetric {
    /// METEOR on the output of `tokenizer`; for COCO's scores use [`Tokenizer::Ptb`].
    pub fn new(meteor: Arc<Meteor>, tokenizer: Tokenizer) -> Self {
        Self { meteor, tokenizer, caches: Caches::default() }
    }

    /// The score of a segment, whose alignments `workspace` keeps.
    fn scored(&self, workspace: &mut Workspace, caches: &Caches, segment: &Segment<'_>) -> Scored {
        let symbols = (segment.references.vocabulary, caches.generation);
        self.meteor.symbols(workspace, symbols, segment.pieces, segment.reference_pieces())
    }

    /// The scorer without the tokenizer.
    pub fn meteor(&self) -> &Arc<Meteor> {
        &self.meteor
    }
}

/// Workspaces that no thread is using, with their cached words.
///
/// They belong to the metric, so that an evaluation can reuse the caches of earlier ones.
#[derive(Clone, Default)]
pub struct Caches {
    workspaces: Arc<Mutex<Vec<Workspace>>>,
    /// Symbols have a new meaning after each fit.
    generation: u64,
}

impl std::fmt::Debug for Caches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Caches")
    }
}

/// A workspace that a thread has borrowed.
#[derive(Default)]
pub struct Scratch {
    loan: Option<(Workspace, Caches)>,
}

impl Scratch {
    fn workspace(&mut self, caches: &Caches) -> &mut Workspace {
        let (workspace, _) = self.loan.get_or_insert_with(|| {
            let idle = caches.workspaces.lock().ok().and_then(|mut workspaces| workspaces.pop());
            (idle.unwrap_or_default(), caches.clone())
        });
        workspace
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some((workspace, caches)) = self.loan.take()
            && let Ok(mut workspaces) = caches.workspaces.lock()
        {
            workspaces.push(workspace);
        }
    }
}

impl Statistics for Stats {
    fn store(&self, row: &mut [f64]) {
        Self::store(self, row);
    }

    fn load(row: &[f64]) -> Self {
        Self::load(row)
    }
}

impl Metric for MeteorMetric {
    type Model = Caches;
    type Stats = Stats;
    type Scratch = Scratch;

    fn about(&self) -> About {
        let Self { meteor, tokenizer, caches: _ } = self;
        about(meteor.options(), &meteor.resources().fingerprint(), *tokenizer)
    }

    fn fit(&self, _references: &References<'_>) -> Caches {
        static GENERATION: AtomicU64 = AtomicU64::new(1);
        Caches { generation: GENERATION.fetch_add(1, Ordering::Relaxed), ..self.caches.clone() }
    }

    fn measure(&self, caches: &Caches, segment: &Segment<'_>, scratch: &mut Scratch) -> Stats {
        self.scored(scratch.workspace(caches), caches, segment).stats
    }

    fn explain(&self, caches: &Caches, segment: &Segment<'_>, scratch: &mut Scratch) -> Explanation {
        let workspace = scratch.workspace(caches);
        let scored = self.scored(workspace, caches, segment);
        self.meteor.explain(self.meteor.align_again(workspace, scored))
    }

    fn score(&self, stats: &Stats, values: &mut [f64]) {
        if let Some(value) = values.first_mut() {
            *value = self.meteor.score(stats).score;
        }
    }
}

fn about(options: &Options, data: &str, tokenizer: Tokenizer) -> About {
    let Options { language, matchers, weights, parameters, beam, text, unit, function_words } = options;
    let Parameters { alpha, beta, gamma, delta } = parameters;
    let matchers: Vec<String> =
        matchers.iter().zip(weights).map(|(matcher, weight)| format!("{matcher}={weight}")).collect();
    let signature = Signature::new("meteor")
        .with("lang", language)
        .with("match", matchers.join("+"))
        .with("params", format_args!("{alpha}/{beta}/{gamma}/{delta}"))
        .with("beam", beam)
        .with("text", text)
        .with("unit", unit)
        .with("function", function_words)
        .with("data", data)
        .with("tok", tokenizer);
    let input = Input::new(Reading::Tokens(tokenizer));
    let columns = Stats::COLUMNS.iter().copied().map(Column::count).collect();
    let parts = vec![Part::score("meteor", "METEOR", 0.0..=1.0)];
    About::new(signature, input, columns, parts)
        .learns(Learns::Words)
        .english(*language == Language::English)
        .reading_texts(false)
}
