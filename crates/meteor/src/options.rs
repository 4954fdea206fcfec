//! METEOR's options: language, task, matchers, weights, parameters, beam, text handling.

use crate::language::Language;
use capeval_choice::Refusal;

/// The maximum number of matchers; METEOR has no statistics for more.
pub const MAX_MATCHERS: usize = 4;

capeval_choice::named! {
    /// A way in which words or phrases can match, with METEOR's name for the module.
    pub enum Matcher ("matcher") {
        Exact = "exact", "equal words";
        Stem = "stem", "different words with equal stems";
        Synonym = "synonym", "different words that share a WordNet synset number";
        Paraphrase = "paraphrase", "phrases that the paraphrase table pairs, in either direction";
    }
}

capeval_choice::named! {
    /// The purpose for which the parameters were tuned.
    pub enum Task ("task") {
        Rank = "rank", "ranking of systems by people (WMT): METEOR's default for its six tuned languages";
        Adequacy = "adq", "adequacy judgements";
        Hter = "hter", "human-targeted translation edit rate";
        Utility = "util", "usefulness for translators; intended for counting characters";
        LanguageIndependent = "li", "language-independent values: METEOR's default for languages without tuned ones";
        Tune = "tune", "balanced values for tuning a translation system";
        Universal = "universal", "METEOR Universal: exact and paraphrase matches only, for languages without resources";
    }
}

impl Task {
    /// METEOR's default task for a language.
    pub fn default_for(language: Language) -> Self {
        if language.is_fully_supported() { Self::Rank } else { Self::LanguageIndependent }
    }

    /// Parameters and matcher weights; `None` where METEOR has only zeros, which would make every score 0.
    fn values(self, language: Language) -> Option<([f64; 4], [f64; MAX_MATCHERS])> {
        use Language::{Czech, English, French, German, Other, Russian, Spanish};
        let independent = ([0.75, 1.40, 0.70, 0.50], [1.0, 0.5, 0.5, 0.5]);
        Some(match (self, language) {
            (Self::Universal, _) => ([0.70, 1.40, 0.30, 0.70], [1.0, 0.6, 0.0, 0.0]),
            (Self::LanguageIndependent, _) | (_, Other) => independent,
            (Self::Tune, _) => ([0.5, 1.0, 0.5, 0.5], [1.0, 0.5, 0.5, 0.5]),
            (Self::Rank, English) => ([0.85, 0.20, 0.60, 0.75], [1.0, 0.6, 0.8, 0.6]),
            (Self::Rank, Czech) => ([0.95, 0.20, 0.60, 0.80], [1.0, 0.4, 0.0, 0.0]),
            (Self::Rank, French) => ([0.90, 1.40, 0.60, 0.65], [1.0, 0.2, 0.4, 0.0]),
            (Self::Rank, Spanish) => ([0.65, 1.30, 0.50, 0.80], [1.0, 0.8, 0.6, 0.0]),
            (Self::Rank, German) => ([0.95, 1.00, 0.55, 0.55], [1.0, 0.8, 0.2, 0.0]),
            (Self::Rank, Russian) => ([0.75, 1.40, 0.70, 0.50], [1.0, 0.5, 0.5, 0.0]),
            (Self::Adequacy, English) => ([0.75, 1.40, 0.45, 0.70], [1.0, 1.0, 0.6, 0.8]),
            (Self::Hter, English) => ([0.40, 1.50, 0.35, 0.55], [1.0, 0.2, 0.6, 0.8]),
            (Self::Utility, English) => ([0.65, 0.1, 0.55, 0.65], [1.0, 0.0, 0.0, 0.8]),
            _ => return None,
        })
    }
}

/// The four numbers of METEOR's formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Weight of recall relative to precision, 0 to 1.
    pub alpha: f64,
    /// Exponent of the fragmentation.
    pub beta: f64,
    /// Maximum fragmentation penalty, 0 to 1.
    pub gamma: f64,
    /// Weight of content words relative to function words, 0 to 1.
    pub delta: f64,
}

capeval_choice::named! {
    /// The way to split text into words.
    pub enum TextForm ("form of text") {
        Normalized = "norm", "METEOR's own tokenisation and lower case (-norm)";
        NormalizedWithoutPunctuation = "norm-nopunct", "as norm, without punctuation (-norm -noPunct)";
        Lowercase = "lower", "lower case (-lower)";
        Verbatim = "verbatim", "unchanged, split on white space (METEOR without options)";
    }
}

capeval_choice::named! {
    /// The unit of lengths and matches.
    pub enum Unit ("unit") {
        /// Chunks are always counted in words.
        Words = "words", "words";
        Characters = "characters", "UTF-16 code units of matched and unmatched words (-ch)";
    }
}

/// All settings of METEOR 1.5 that change a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The language (`-l`).
    pub language: Language,
    /// The matchers in the order in which they run (`-m`); at most one of each.
    pub matchers: Vec<Matcher>,
    /// The weight of each matcher in the score (`-w`), in the order of `matchers`.
    pub weights: Vec<f64>,
    /// The parameters of the formula (`-p`).
    pub parameters: Parameters,
    /// The number of partial alignments kept per word (`-x`), at least 1.
    pub beam: usize,
    /// The way to split text into words.
    pub text: TextForm,
    /// The unit of lengths and matches (`-ch`).
    pub unit: Unit,
    /// The language whose function words have a lower weight (`-s`).
    ///
    /// METEOR uses the *English* list for every language by default, and so does [`Options::new`].
    pub function_words: Language,
}

impl Options {
    /// METEOR as used for COCO captions: `-l en -norm`.
    pub fn coco() -> Self {
        Self::english([0.85, 0.20, 0.60, 0.75], [1.0, 0.6, 0.8, 0.6])
    }

    fn english(parameters: [f64; 4], weights: [f64; MAX_MATCHERS]) -> Self {
        let [alpha, beta, gamma, delta] = parameters;
        Self {
            language: Language::English,
            matchers: vec![Matcher::Exact, Matcher::Stem, Matcher::Synonym, Matcher::Paraphrase],
            weights: weights.to_vec(),
            parameters: Parameters { alpha, beta, gamma, delta },
            beam: 40,
            text: TextForm::Normalized,
            unit: Unit::Words,
            function_words: Language::English,
        }
    }

    /// METEOR's settings for a language and a task. The text is normalised (`-norm`) if METEOR has a
    /// normaliser for the language, and otherwise unchanged.
    pub fn new(language: Language, task: Task) -> Result<Self, Refusal> {
        let Some((parameters, weights)) = task.values(language) else {
            let default = Task::default_for(language);
            return Err(Refusal::new(format!(
                "METEOR has no values for task {task} in language {language}; its default is {default}"
            )));
        };
        let matchers = match (task, language) {
            (Task::Universal, _) | (_, Language::Czech) => vec![Matcher::Exact, Matcher::Paraphrase],
            (_, Language::Other) => vec![Matcher::Exact],
            (_, Language::English) => {
                vec![Matcher::Exact, Matcher::Stem, Matcher::Synonym, Matcher::Paraphrase]
            }
            _ if language.is_fully_supported() => vec![Matcher::Exact, Matcher::Stem, Matcher::Paraphrase],
            _ => vec![Matcher::Exact, Matcher::Stem],
        };
        let mut options = Self::english(parameters, weights);
        options.language = language;
        options.weights.truncate(matchers.len());
        options.matchers = matchers;
        if !language.is_fully_supported() {
            options.text = TextForm::Verbatim;
        }
        Ok(options)
    }

    /// Rejects settings that METEOR does not accept or that cannot produce a score.
    pub(crate) fn validate(&self) -> Result<(), Refusal> {
        let Self { language, matchers, weights, parameters, beam, text, unit: _, function_words: _ } = self;
        if matchers.is_empty() || matchers.len() > MAX_MATCHERS {
            return Err(Refusal::new("METEOR needs one to four matchers"));
        }
        for (at, matcher) in matchers.iter().enumerate() {
            if matchers[..at].contains(matcher) {
                return Err(Refusal::new(format!("the matcher {matcher} is given twice")));
            }
        }
        if weights.len() != matchers.len() {
            return Err(Refusal::new(format!(
                "METEOR needs one weight per matcher: there are {} weights and {} matchers",
                weights.len(),
                matchers.len()
            )));
        }
        let Parameters { alpha, beta, gamma, delta } = *parameters;
        let numbers = [("alpha", alpha), ("beta", beta), ("gamma", gamma), ("delta", delta)];
        for (name, value) in numbers.into_iter().chain(weights.iter().map(|weight| ("each weight", *weight)))
        {
            if !value.is_finite() || value < 0.0 {
                return Err(Refusal::new(format!(
                    "{name} must be a finite number of at least 0, not {value}"
                )));
            }
        }
        for (name, value) in [("alpha", alpha), ("gamma", gamma), ("delta", delta)] {
            if value > 1.0 {
                return Err(Refusal::new(format!("{name} must be between 0 and 1, not {value}")));
            }
        }
        if *beam == 0 {
            return Err(Refusal::new("the beam must be at least 1"));
        }
        let normalizes = matches!(text, TextForm::Normalized | TextForm::NormalizedWithoutPunctuation);
        if normalizes && !language.is_fully_supported() {
            return Err(Refusal::new(format!(
                "METEOR has no normaliser for language {language}; tokenise the text yourself and take it \
                 verbatim or in lower case"
            )));
        }
        if matchers.contains(&Matcher::Stem)
            && language.stemmer().is_none()
            && !matches!(language, Language::Arabic)
        {
            return Err(Refusal::new(format!("METEOR has no stemmer for language {language}")));
        }
        if matchers.contains(&Matcher::Synonym) && !matches!(language, Language::English) {
            return Err(Refusal::new(format!("METEOR has no synonyms for language {language}")));
        }
        Ok(())
    }
}
