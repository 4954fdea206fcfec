//! METEOR as a metric of the engine.
//!
//! The text goes through a tokenizer first, as pycocoevalcap does with Stanford's, and then through METEOR's
//! own. The corpus score comes from summed statistics and is not the mean of the segment scores.
//!
//! Quirk of pycocoevalcap kept on purpose: three bars in a row vanish from candidates, and divide a reference
//! into several.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use capeval_metric::{
    About, Column, Explanation, Input, Learns, Metric, Part, Reading, References, Segment, Signature,
    Statistics,
};
use capeval_text::Tokenizer;

use crate::meteor::{Meteor, Workspace};
use crate::options::{Options, Parameters, TextForm, Unit};
use crate::stats::Stats;

/// METEOR 1.5 behind a tokenizer.
#[derive(Debug)]
pub struct MeteorMetric {
    meteor: Arc<Meteor>,
    tokenizer: Tokenizer,
    caches: Caches,
}

impl MeteorMetric {
    /// METEOR on the output of `tokenizer`; COCO's is [`Tokenizer::Ptb`].
    #[must_use]
    pub fn new(meteor: Arc<Meteor>, tokenizer: Tokenizer) -> Self {
        Self { meteor, tokenizer, caches: Caches::default() }
    }

    /// Signature and numbers of COCO's METEOR, for people to read where there are no resources.
    #[must_use]
    pub fn sample(tokenizer: Tokenizer) -> (Signature, Vec<Part>) {
        (signature(&Options::coco(), "installed", tokenizer), parts())
    }

    /// METEOR itself.
    #[must_use]
    pub fn meteor(&self) -> &Arc<Meteor> {
        &self.meteor
    }
}

/// Workspaces that no thread uses at the moment, with all they know of words.
///
/// They stay with the metric, so that what one evaluation has learnt serves the next.
#[derive(Clone, Default)]
pub struct Caches {
    workspaces: Arc<Mutex<Vec<Workspace>>>,
    /// What symbols mean is new with every fitting.
    generation: u64,
}

impl std::fmt::Debug for Caches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Caches")
    }
}

/// A workspace on loan.
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
        let signature = {
            let Self { meteor, tokenizer, caches: _ } = self;
            signature(meteor.options(), &meteor.resources().fingerprint(), *tokenizer)
        };
        let input = Input { reading: Reading::Tokens(self.tokenizer), ngrams: 0 };
        let columns = Stats::COLUMNS.iter().copied().map(Column::count).collect();
        let parts = parts();
        About::new(signature, input, columns, parts).learns(Learns::Words)
    }

    fn fit(&self, _references: &References<'_>) -> Caches {
        static GENERATION: AtomicU64 = AtomicU64::new(1);
        Caches { generation: GENERATION.fetch_add(1, Ordering::Relaxed), ..self.caches.clone() }
    }

    fn measure(&self, caches: &Caches, segment: &Segment<'_>, scratch: &mut Scratch) -> Stats {
        let workspace = scratch.workspace(caches);
        let symbols = (segment.references.vocabulary, caches.generation);
        self.meteor.symbols(workspace, symbols, segment.pieces, segment.reference_pieces()).stats
    }

    fn explain(&self, caches: &Caches, segment: &Segment<'_>, scratch: &mut Scratch) -> Explanation {
        self.measure(caches, segment, scratch);
        self.meteor.explain(self.meteor.align_again(scratch.workspace(caches)))
    }

    fn score(&self, stats: &Stats, values: &mut [f64]) {
        if let Some(value) = values.first_mut() {
            *value = self.meteor.score(stats).score;
        }
    }
}

fn parts() -> Vec<Part> {
    vec![Part::score("meteor", "METEOR", 0.0..=1.0)]
}

fn signature(options: &Options, data: &str, tokenizer: Tokenizer) -> Signature {
    let Options { language, matchers, weights, parameters, beam, text, unit, function_words } = options;
    let Parameters { alpha, beta, gamma, delta } = parameters;
    let matchers: Vec<String> =
        matchers.iter().zip(weights).map(|(matcher, weight)| format!("{matcher}={weight}")).collect();
    let text = match text {
        TextForm::Verbatim => "verbatim",
        TextForm::Lowercase => "lower",
        TextForm::Normalized => "norm",
        TextForm::NormalizedWithoutPunctuation => "norm-nopunct",
    };
    let unit = match unit {
        Unit::Words => "words",
        Unit::Characters => "characters",
    };
    Signature::new("meteor")
        .with("lang", language)
        .with("match", matchers.join("+"))
        .with("params", format_args!("{alpha}/{beta}/{gamma}/{delta}"))
        .with("beam", beam)
        .with("text", text)
        .with("unit", unit)
        .with("function", function_words)
        .with("data", data)
        .with("tok", tokenizer)
}
