//! How probable captions are.

use std::sync::Arc;

use capeval_fluency::{EndSymbol, NgramPerplexity, UnknownWords};
use capeval_metric::AnyMetric;

use super::Kind;
use super::settings::{Setting, SettingError, Settings, TOK};

pub(super) const PERPLEXITY: Kind = Kind {
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
};

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
