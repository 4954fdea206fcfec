//! SPIDEr: the mean of SPICE and CIDEr-D.
//!
//! The paper trains captioners with the mean of SPICE and CIDEr, and means by the latter what the programs of COCO
//! call so, which is CIDEr-D. The evaluations of audio captions (AudioCaps, DCASE, aac-metrics) and the forks of
//! coco-caption with SPIDEr all take half the sum of SPICE and this CIDEr-D, for each image and for the corpus.

use capeval_choice::Task;
use capeval_lexical::cider::{CIDER_D, IDF, SIGMA};
use capeval_metric::setting::{ORDER, TOK};
use capeval_metric::{About, AnyMetric, MetricKind, Need, Part};
use capeval_spice::SYNSETS;

/// The registry entry of SPIDEr.
pub(super) const KIND: MetricKind = MetricKind {
    name: "spider",
    summary: "the mean of SPICE and CIDEr-D",
    paper: "Liu et al. 2017, Improved Image Captioning via Policy Gradient optimization of SPIDEr",
    program: "pycocoevalcap 1.2, and aac-metrics, whose SPIDEr is this mean",
    settings: &[TOK, SYNSETS, ORDER, SIGMA, IDF],
    variants: &[],
    need: Some(Need {
        what: "SPICE's data",
        task: Task::Install("spice"),
        has: |resources| capeval_spice::KIND.is_available(resources),
        about: || {
            let members = [capeval_spice::KIND, CIDER_D].iter().filter_map(|kind| kind.about().ok());
            About::average(&members.collect::<Vec<_>>(), part()).expect("both read the tokens of ptb")
        },
    }),
    seconds: 0.4,
    build: |settings| {
        let members = vec![settings.build(&capeval_spice::KIND)?, settings.build(&CIDER_D)?];
        Ok(AnyMetric::average(members, part()).expect("both read the tokens of one tokenizer"))
    },
};

/// The metric that takes a share from SPIDEr for each caption with an error of fluency, which a model finds.
pub(super) const SPIDER_FL: &str = "spider-fl";

fn part() -> Part {
    Part::score("spider", "SPIDEr", 0.0..=6.0)
}
