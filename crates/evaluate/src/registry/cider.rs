//! CIDEr as its programs and its paper have it, and what is made of it.

use std::sync::Arc;

use capeval_lexical::{Cider, Clipping, Idf};
use capeval_metric::AnyMetric;
use capeval_text::{Stemmer, Tokenizer};

use super::Kind;
use super::settings::{LEAST, MOST, ORDER, Setting, SettingError, Settings, TOK};

const PAPER: &str = "Vedantam et al. 2015, CIDEr: Consensus-based Image Description Evaluation";
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

pub(super) const CIDER_D: Kind = Kind {
    name: "cider-d",
    summary: "agreement with the references' consensus, robust to gaming; what COCO calls CIDEr",
    paper: PAPER,
    program: "pycocoevalcap 1.2",
    settings: &[TOK, ORDER, SIGMA, IDF, STEM, WEIGHTS],
    build: |settings| cider(settings, Cider::d),
};

pub(super) const CIDER: Kind = Kind {
    name: "cider",
    summary: "agreement with the references' consensus",
    paper: PAPER,
    program: "vrama91/cider",
    settings: &[TOK, ORDER, IDF, STEM, WEIGHTS],
    build: |settings| cider(settings, Cider::plain),
};

pub(super) const CIDER_D_IN_PAPER: Kind = Kind {
    name: "cider-d-paper",
    summary: "CIDEr-D as the paper writes it: relative term frequencies, length in words",
    paper: PAPER,
    program: "none; the paper's formula",
    settings: &[TOK, ORDER, SIGMA, IDF, STEM, WEIGHTS],
    build: |settings| cider(settings, Cider::d_paper),
};

pub(super) const CIDER_IN_PAPER: Kind = Kind {
    name: "cider-paper",
    summary: "CIDEr as the paper writes it: stemmed words, relative term frequencies",
    paper: PAPER,
    program: "none; the paper's formula",
    settings: &[TOK, ORDER, IDF, PAPER_STEM, WEIGHTS],
    build: |settings| cider(settings, Cider::plain_paper),
};

pub(super) const CIDER_R: Kind = Kind {
    name: "cider-r",
    summary: "CIDEr-D for long references and few: repetition and relative length are compared",
    paper: "dos Santos et al. 2021, CIDEr-R: Robust Consensus-based Image Description Evaluation",
    program: "gabrielsantosrv/coco-caption",
    settings: &[TOK, ORDER, IDF, STEM, WEIGHTS],
    build: |settings| cider(settings, Cider::r),
};

pub(super) const SPIDER: Kind = Kind {
    name: "spider",
    summary: "mean of SPICE and CIDEr-D",
    paper: "Liu et al. 2017, Improved Image Captioning via Policy Gradient Optimization of SPIDEr",
    program: "none yet; the mean of two metrics",
    settings: &[],
    build: |_| {
        Err(SettingError(
            "spider is the mean of SPICE and CIDEr-D, and this version has no SPICE; cider-d is there".into(),
        ))
    },
};

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
