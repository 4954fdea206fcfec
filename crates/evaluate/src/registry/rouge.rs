//! The ROUGE of COCO, of ROUGE-1.5.5 and of Google.

use capeval_lexical::rouge155::{self, Rouge155};
use capeval_lexical::{RougeL, RougeScore};
use capeval_metric::AnyMetric;

use super::Kind;
use super::settings::{Setting, SettingError, Settings, TOK};

const PAPER: &str = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries";

/// The greatest length that texts may be cut to.
const LONGEST: usize = 1_000_000_000;

pub(super) const ROUGE_L: Kind = Kind {
    name: "rouge-l",
    summary: "longest common subsequence with the references, COCO's variant",
    paper: PAPER,
    program: "pycocoevalcap 1.2",
    settings: &[TOK, Setting { name: "beta", default: "1.2", summary: "weight of recall" }],
    build: |settings| {
        let mut rouge = RougeL::coco(settings.tokenizer()?);
        rouge.beta = settings.positive("beta", rouge.beta)?;
        Ok(AnyMetric::new(rouge))
    },
};

pub(super) const ROUGE155: Kind = Kind {
    name: "rouge155",
    summary: "n-grams, subsequences and skip-bigrams shared with the references, as in ROUGE-1.5.5",
    paper: PAPER,
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
        Setting { name: "average", default: "mean", summary: "mean, or resampled as the program prints it" },
        Setting { name: "samples", default: "1000", summary: "how many resamples" },
        Setting {
            name: "confidence",
            default: "none",
            summary: "intervals beside average=resampled, in percent: none, or 95",
        },
    ],
    build: rouge_155,
};

pub(super) const ROUGE_SCORE: Kind = Kind {
    name: "rouge-score",
    summary: "n-grams and subsequences shared with the best reference, as in Google's rouge_score",
    paper: PAPER,
    program: "rouge_score 0.1.2",
    settings: &[
        Setting { name: "n", default: "2", summary: "longest n-grams, 1 to 9" },
        Setting { name: "stem", default: "none", summary: "none or porter-nltk, the program's use_stemmer" },
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
};

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
