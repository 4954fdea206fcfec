//! The variants of CIDEr in the registry: their names, settings and sources.

use capeval_choice::{Argument, Remedy, Task};
use capeval_metric::setting::{ORDER, POSITIVE, TOK};
use capeval_metric::{AnyMetric, MetricKind, Refusal, Setting, Settings};
use capeval_text::Tokenizer;

use super::{Cider, Clipping, Idf, IdfSource};
use crate::frequencies::DocumentFrequencies;

const PAPER: &str = "Vedantam et al. 2015, CIDEr: Consensus-based Image Description Evaluation";
/// The setting for the source of document frequencies.
pub const IDF: Setting = Setting::choice("idf", "corpus", "document frequencies", IdfSource::NAMES);
const STEM: Setting = Setting::choice("stem", "none", "stemmer", &["none", "snowball-english"]);
/// The setting for the length penalty of CIDEr-D.
pub const SIGMA: Setting =
    Setting::number("sigma", "6", "standard deviation of the length penalty", POSITIVE);
const WEIGHTS: Setting = Setting::text(
    "weights",
    "equal",
    "weight of each n-gram order",
    "equal, or a number per order as in 0.1/0.2/0.3/0.4, each 0 or from 1e-9 to 1e9 and not all 0",
);

/// The entry of CIDEr-D in the registry.
pub const CIDER_D: MetricKind = MetricKind {
    name: "cider-d",
    summary: "agreement with the references' consensus, robust against gaming; COCO's CIDEr",
    paper: PAPER,
    program: "pycocoevalcap 1.2",
    settings: &[TOK, ORDER, SIGMA, IDF, STEM, WEIGHTS],
    variants: &[],
    need: None,
    seconds: 0.01,
    build: |settings| build(settings, Cider::d),
};

/// The entry of CIDEr in the registry.
pub const CIDER: MetricKind = MetricKind {
    name: "cider",
    summary: "agreement with the references' consensus",
    program: "vrama91/cider",
    settings: &[TOK, ORDER, IDF, STEM, WEIGHTS],
    build: |settings| build(settings, Cider::plain),
    ..CIDER_D
};

/// The entry of the paper's CIDEr-D in the registry.
pub const CIDER_D_IN_PAPER: MetricKind = MetricKind {
    name: "cider-d-paper",
    summary: "CIDEr-D as the paper writes it: relative term frequencies, length in words",
    program: "none; the paper's formula",
    build: |settings| build(settings, Cider::d_paper),
    ..CIDER_D
};

/// The entry of the paper's CIDEr in the registry.
pub const CIDER_IN_PAPER: MetricKind = MetricKind {
    name: "cider-paper",
    summary: "CIDEr as the paper writes it: stemmed words, relative term frequencies",
    program: "none; the paper's formula",
    settings: &[TOK, ORDER, IDF, Setting { default: "snowball-english", ..STEM }, WEIGHTS],
    build: |settings| build(settings, Cider::plain_paper),
    ..CIDER_D
};

/// The entry of CIDEr-R in the registry.
pub const CIDER_R: MetricKind = MetricKind {
    name: "cider-r",
    summary: "CIDEr-D for few and long references: compares repetition and relative length",
    paper: "dos Santos et al. 2021, CIDEr-R: Robust Consensus-based Image Description Evaluation",
    program: "gabrielsantosrv/coco-caption",
    settings: &[TOK, ORDER, IDF, STEM, WEIGHTS],
    build: |settings| build(settings, Cider::r),
    ..CIDER_D
};

fn build(settings: &Settings<'_>, preset: fn(Tokenizer) -> Cider) -> Result<AnyMetric, Refusal> {
    let mut cider = settings.order(preset(settings.tokenizer()?), Cider::with_order)?;
    if let Clipping::Gaussian { sigma } = &mut cider.clipping {
        *sigma = settings.get("sigma")?;
    }
    cider.idf = match (settings.given("idf"), settings.resource::<DocumentFrequencies>()) {
        (Some("table") | None, Some(table)) => {
            let (held, wanted) = (table.order(), cider.order);
            if held < wanted {
                return Err(settings
                    .error(format!(
                        "the table of document frequencies holds n-grams of up to {held} words, and n={wanted} \
                         needs longer ones"
                    ))
                    .with_remedy(Remedy::run(Task::BuildFrequencies(Some(wanted))).or(Remedy::say(format!("set n={held}")))));
            }
            Idf::Table(table)
        }
        (Some("table"), None) => {
            return Err(settings
                .error("idf=table needs a table of document frequencies")
                .with_remedy(Remedy::give(Argument::DocumentFrequencies)));
        }
        (Some("uniform"), _) => Idf::Uniform,
        _ => Idf::Corpus,
    };
    cider.stemmer = settings.stemmer()?;
    let text = settings.text("weights");
    if text != "equal" {
        let weights = text.split('/').map(str::parse).collect::<Result<Vec<f64>, _>>().ok();
        let fit = |weights: &Vec<f64>| {
            weights.iter().all(|weight| *weight == 0.0 || POSITIVE.contains(weight))
                && weights.iter().any(|weight| *weight > 0.0)
        };
        let weighted = weights.filter(fit).and_then(|weights| cider.with_weights(weights));
        cider = weighted.ok_or_else(|| settings.refuse("weights", text))?;
    }
    Ok(AnyMetric::new(cider))
}
