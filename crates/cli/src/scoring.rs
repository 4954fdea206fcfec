//! Options for scoring captions that people judged: metrics, and scores that were computed before.

use anyhow::Result;
use capeval::corpus::{Captions, Surplus};
use capeval::metric::Resources;
use capeval::{GivenScores, GroupBy, MetricOptions, OwnReference};
use capeval_files::Caches;

use crate::external_scores::{GivenArgs, refuse_without_metrics};
use crate::group_args::GroupArgs;
use crate::metrics::{ChosenMetrics, MetricArgs};
use crate::options::{self, Matching, ReferenceInput, first_set};
use crate::output_args::{OutputArgs, ResultTarget};
use crate::resampling_args::Intervals;
use crate::written_flags::WrittenFlags;

/// References and metrics, and scores.
#[derive(clap::Args)]
pub struct Scoring {
    /// File of references, unless the ratings or pairs contain them; may be repeated.
    #[arg(short, long = "references", value_name = "FILE")]
    references: Vec<String>,
    #[command(flatten)]
    reading: WrittenFlags<ReferenceInput>,
    #[command(flatten)]
    metrics: WrittenFlags<MetricArgs>,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    pub rules: Rules,
}

/// Policies for mismatches between judged captions and references.
#[derive(clap::Args)]
#[command(next_help_heading = "Mismatches between captions and references")]
pub struct Rules {
    /// A judged caption that is also a reference of its image.
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = options::choices::<OwnReference>())]
    pub own_reference: OwnReference,
    /// Judged captions of images without references.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = options::choices::<Surplus>())]
    pub surplus: Surplus,
    #[command(flatten)]
    pub matching: Matching,
}

/// Groups, intervals and files of the result.
#[derive(clap::Args)]
pub struct ResultArgs {
    #[command(flatten)]
    pub groups: GroupArgs,
    #[command(flatten)]
    pub intervals: Intervals,
    #[command(flatten)]
    output: OutputArgs,
}

/// The data that captions are scored with.
pub struct ScoringInputs {
    pub references: Option<Captions>,
    pub scores: Vec<GivenScores>,
    pub lower_is_better: Vec<String>,
    pub metrics: MetricOptions,
    pub resources: Resources,
    /// The caches to save after scoring.
    pub caches: Caches,
}

impl Scoring {
    /// Opens the files of the result, and finds what groups the captions that people judged in the file `source`.
    pub fn open(
        &self,
        source: &str,
        chosen: &ChosenMetrics,
        result: &ResultArgs,
    ) -> Result<(ResultTarget, Vec<GroupBy>)> {
        let captions = || [source].into_iter().chain(self.references.iter().map(String::as_str));
        let inputs: Vec<&str> = captions().chain(self.given.paths()).chain(chosen.files.paths()).collect();
        let output = result.output.open(&inputs)?;
        Ok((output, result.groups.read(captions(), [self.reading.id_column(), None])?))
    }

    /// Chooses the metrics: beside given scores none, unless some are named or there are references. `flags` are others
    /// that only metrics heed, if they are set.
    pub fn choose(&self, flags: &[(bool, &'static str)]) -> Result<ChosenMetrics> {
        let chosen = self.choose_metrics(flags)?;
        self.metrics.refuse_unseen(chosen.looks, false)?;
        Ok(chosen)
    }

    fn choose_metrics(&self, flags: &[(bool, &'static str)]) -> Result<ChosenMetrics> {
        let options = self.metrics.options();
        if self.given.any() && self.references.is_empty() && !options.are_chosen() {
            let Rules { own_reference, surplus, .. } = self.rules;
            let rules = [
                (own_reference != OwnReference::default(), "--own-reference"),
                (surplus != Surplus::default(), "--surplus"),
            ];
            let written = [self.reading.first_but(&[]), self.metrics.first_of_data()];
            refuse_without_metrics(written.into_iter().chain([first_set(&rules), first_set(flags)]))?;
            return Ok(ChosenMetrics::default());
        }
        let chosen = self.metrics.choose(options)?;
        chosen.check_early()?;
        Ok(chosen)
    }

    /// Reads references and scores, and the data that metrics need.
    pub fn read(&self, chosen: ChosenMetrics) -> Result<ScoringInputs> {
        let (metrics, resources, caches) = chosen.read()?;
        let scores = self.given.read()?;
        let lower_is_better = self.given.lower_is_better.clone();
        let references = match &self.references[..] {
            [] => None,
            paths => Some(self.reading.read(paths)?),
        };
        Ok(ScoringInputs { references, scores, lower_is_better, metrics, resources, caches })
    }
}
