//! METEOR 1.5, and METEOR as it was first published.

use std::sync::Arc;

use capeval_lexical::Meteor2005;
use capeval_lexical::meteor_2005::Alignment;
use capeval_meteor::{Language, Meteor, MeteorMetric, Task, TextForm, Unit};
use capeval_metric::AnyMetric;

use super::Kind;
use super::settings::{MOST, Setting, SettingError, Settings, TOK};

pub(super) const METEOR_2005: Kind = Kind {
    name: "meteor-2005",
    summary: "words and stems shared with the best reference, and their order",
    paper: "Banerjee and Lavie 2005, METEOR: An Automatic Metric for MT Evaluation",
    program: "none; the paper's formula, and NLTK 3.10 without synonyms",
    settings: &[
        TOK,
        Setting { name: "stem", default: "porter", summary: "none, porter, porter-nltk or another stemmer" },
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
};

pub(super) const METEOR: Kind = Kind {
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
    build: meteor_15,
};

fn meteor_15(settings: &mut Settings<'_>) -> Result<AnyMetric, SettingError> {
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
