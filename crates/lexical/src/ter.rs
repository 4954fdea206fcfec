//! TER: the translation edit rate with shifts, as sacreBLEU computes it.
//!
//! Counts the edits that turn a candidate into its closest reference: words inserted, deleted or replaced, and runs of
//! words moved, each as one edit. The score is `100 · edits / words`, where `words` is the mean length of the
//! references; of several references, the one with the fewest edits counts. Lower is better, and scores above 100 are
//! possible. The corpus score is the quotient of the sums over all segments.
//!
//! Shifts are found by a greedy search: among all runs of words that candidate and reference share, the shift that
//! decreases the edit distance most is applied, until no shift decreases it.
//!
//! Paper: Snover et al., *A Study of Translation Edit Rate with Targeted Human Annotation* (2006).
//! Reference program: sacreBLEU 2.6.0, `metrics/ter.py` and `lib_ter.py`, after tercom.
//!
//! Quirks kept on purpose, most of them tercom's:
//! - a shifted run has at most 10 words, and its positions in candidate and reference differ by at most 50;
//! - the edit distance considers only cells within 25 of the diagonal, or more if the lengths differ greatly, so it may
//!   be too large for very different texts;
//! - the search stops after 1,000 tried shifts, and the last shift found is not applied;
//! - a shift is tried only if there are edits at both positions;
//! - of equally good shifts, the longest run is preferred, then the leftmost run, then the leftmost target;
//! - a shift that does not decrease the edit distance is not applied, even if it would make another one possible;
//! - references are tokenised twice, candidates once, so that with normalised text, of which a second pass may split
//!   more (`dog's's`), a candidate equal to its reference may need edits;
//! - with an empty reference, every word is an edit, and the score is 100, or 0 if the candidates are empty, too.

use capeval_metric::{
    About, AnyMetric, Column, Explanation, Input, Metric, MetricKind, Part, Reading, References, Segment,
    Setting, Signature, Statistics,
};
use capeval_text::tokenizers::tercom::Tercom;
use capeval_text::{Symbol, Tokenizer};

use crate::sacrebleu::Case;

mod explain;
mod search;

pub use self::search::Scratch;

capeval_choice::named! {
    /// The choice to normalise line breaks, entities and punctuation.
    pub enum Normalization ("normalization") {
        On = "yes", "they are";
        Off = "no", "they stay, as in the reference program unless told otherwise";
    }
}

capeval_choice::named! {
    /// The choice to keep punctuation.
    pub enum Punctuation ("punctuation") {
        Kept = "yes", "it stays, as in the reference program unless told otherwise";
        Removed = "no", "it is removed";
    }
}

capeval_choice::named! {
    /// The choice to apply normalization and removal of punctuation to East Asian text, too.
    pub enum EastAsian ("East Asian text") {
        Known = "yes", "they do";
        Unknown = "no", "they do not, as in the reference program unless told otherwise";
    }
}

/// The entry of TER in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "ter",
    summary: "edits and shifts per word that turn a candidate into its reference, times 100",
    paper: "Snover et al. 2006, A Study of Translation Edit Rate with Targeted Human Annotation",
    program: "sacreBLEU 2.6.0",
    settings: &[
        Setting { default: "lc", ..Case::SETTING },
        Setting::choice("norm", "no", "normalise punctuation and entities", Normalization::NAMES),
        Setting::choice("punct", "yes", "keep punctuation", Punctuation::NAMES),
        Setting::choice("asian", "no", "norm and punct also apply to East Asian text", EastAsian::NAMES),
    ],
    variants: &[],
    need: None,
    seconds: 0.01,
    build: |settings| {
        Ok(AnyMetric::new(Ter {
            case: settings.get("case")?,
            normalization: settings.get("norm")?,
            punctuation: settings.get("punct")?,
            east_asian: settings.get("asian")?,
        }))
    },
};

/// The translation edit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ter {
    /// The treatment of upper and lower case, which do not differ in the reference program.
    pub case: Case,
    /// The choice to normalise line breaks, entities and punctuation.
    pub normalization: Normalization,
    /// The choice to keep punctuation.
    pub punctuation: Punctuation,
    /// The choice to apply these two options to East Asian text, too.
    pub east_asian: EastAsian,
}

impl Ter {
    /// As in sacreBLEU: lower-cased, without other options.
    pub fn new() -> Self {
        Self {
            case: Case::Lower,
            normalization: Normalization::Off,
            punctuation: Punctuation::Kept,
            east_asian: EastAsian::Unknown,
        }
    }

    fn tokenizer(self) -> Tokenizer {
        use {EastAsian as A, Normalization as N, Punctuation as P};
        Tokenizer::Tercom(match (self.normalization, self.punctuation, self.east_asian) {
            (N::Off, P::Kept, _) => Tercom::Plain,
            (N::On, P::Kept, A::Unknown) => Tercom::Norm,
            (N::On, P::Kept, A::Known) => Tercom::NormAsian,
            (N::Off, P::Removed, A::Unknown) => Tercom::NoPunct,
            (N::Off, P::Removed, A::Known) => Tercom::NoPunctAsian,
            (N::On, P::Removed, A::Unknown) => Tercom::NormNoPunct,
            (N::On, P::Removed, A::Known) => Tercom::NormNoPunctAsian,
        })
    }
}

impl Default for Ter {
    fn default() -> Self {
        Self::new()
    }
}

/// The counts of TER.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Edits {
    /// The number of edits with the closest reference.
    pub edits: f64,
    /// The mean number of words in the references.
    pub words: f64,
}

impl Statistics for Edits {
    fn store(&self, row: &mut [f64]) {
        row.copy_from_slice(&[self.edits, self.words]);
    }

    fn load(row: &[f64]) -> Self {
        Self { edits: row[0], words: row[1] }
    }
}

/// The references that a second pass of the tokenizer changes.
#[derive(Debug, Default)]
pub struct Model {
    /// The indices of these sentences, ascending.
    changed: Vec<usize>,
    /// Their words after the second pass. Words that are in no text of this evaluation are [`Symbol::EMPTY`], which no
    /// candidate contains.
    words: Vec<Vec<Symbol>>,
}

impl Model {
    fn words<'w>(&'w self, reference: usize, once: &'w [Symbol]) -> &'w [Symbol] {
        if self.changed.is_empty() {
            return once;
        }
        self.changed.binary_search(&reference).map_or(once, |at| &self.words[at])
    }
}

impl Metric for Ter {
    type Model = Model;
    type Stats = Edits;
    type Scratch = Scratch;

    fn about(&self) -> About {
        let Self { case, normalization, punctuation, east_asian } = self;
        let signature = Signature::new("ter")
            .with("case", case)
            .with("norm", normalization)
            .with("punct", punctuation)
            .with("asian", east_asian)
            .with("tok", "tercom");
        let reading = match case {
            Case::Mixed => Reading::Tokens(self.tokenizer()),
            Case::Lower => Reading::LowerTokens(self.tokenizer()),
        };
        let input = Input::new(reading);
        let columns = vec![Column::count("edits"), Column::sum("words")];
        let parts = vec![Part::score("ter", "TER", 0.0..=f64::INFINITY).lower()];
        About::new(signature, input, columns, parts).reading_texts(false)
    }

    fn fit(&self, references: &References<'_>) -> Model {
        let mut model = Model::default();
        if self.normalization == Normalization::Off {
            return model;
        }
        let (tokenizer, vocabulary) = (self.tokenizer(), references.vocabulary);
        let (mut text, mut twice, mut scratch) = (String::new(), Vec::new(), Default::default());
        for reference in references.sentences_once() {
            let once = references.sentences.words(reference);
            text.clear();
            for word in once {
                text.push_str(vocabulary.word(*word));
                text.push(' ');
            }
            twice.clear();
            tokenizer.tokenize(&text, &mut scratch, |word| {
                twice.push(vocabulary.get(word).unwrap_or(Symbol::EMPTY));
            });
            if twice != once {
                model.changed.push(reference);
                model.words.push(twice.clone());
            }
        }
        model
    }

    fn measure(&self, model: &Model, segment: &Segment<'_>, scratch: &mut Scratch) -> Edits {
        let sentences = segment.references.of(segment.image);
        let references = sentences.zip(segment.reference_words()).map(|(r, once)| model.words(r, once));
        let n_references = references.len();
        let n_words: usize = references.clone().map(<[_]>::len).sum();
        let edits = references.map(|reference| scratch.edits(segment.words, reference)).min();
        Edits {
            edits: edits.unwrap_or(segment.words.len()) as f64,
            words: n_words as f64 / n_references.max(1) as f64,
        }
    }

    fn score(&self, stats: &Edits, values: &mut [f64]) {
        values[0] = if stats.words > 0.0 {
            100.0 * (stats.edits / stats.words)
        } else if stats.edits > 0.0 {
            100.0
        } else {
            0.0
        };
    }

    fn explain(&self, model: &Model, segment: &Segment<'_>, scratch: &mut Scratch) -> Explanation {
        self.explained(model, segment, scratch)
    }
}
