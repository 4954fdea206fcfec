//! Options for scoring captions that people judged: metrics, or a file of precomputed scores.

use anyhow::Result;
use capeval::corpus::ratings::{SegmentScores, read_scores};
use capeval::corpus::{Captions, Surplus};
use capeval::metric::Resources;
use capeval::{MetricOptions, OwnReference};
use capeval_files::{self as files, Caches};
use clap::Arg;

use crate::metrics::{ChosenMetrics, MetricArgs};
use crate::options::{self, METRICS, Matching, READING_REFERENCES, ReferenceInput};

/// References and metrics, or scores.
#[derive(clap::Args)]
pub struct Scoring {
    /// File of references, unless the ratings or pairs contain them; may be repeated.
    #[arg(short, long = "references", value_name = "FILE", conflicts_with = "scores")]
    references: Vec<String>,
    /// File of precomputed scores, instead of references and metrics: JSON Lines as written by --segments, or a table
    /// with a column image_id, a column per metric and, for pairs, a column caption.
    #[arg(long, value_name = "FILE")]
    scores: Option<String>,
    /// Keys of precomputed scores that are error rates; `ter` and other known ones need not be listed.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', requires = "scores")]
    pub lower_is_better: Vec<String>,
    #[command(flatten)]
    reading: ReferenceInput,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    pub rules: Rules,
}

/// Policies for mismatches between judged captions and references.
#[derive(clap::Args)]
#[command(next_help_heading = "Mismatches between captions and references")]
pub struct Rules {
    /// A judged caption that is also a reference of its image.
    #[arg(long, value_name = "WHAT", default_value_t, conflicts_with = "scores", value_parser = options::choices::<OwnReference>())]
    pub own_reference: OwnReference,
    /// Judged captions of images without references.
    #[arg(long, value_name = "POLICY", default_value_t, conflicts_with = "scores", value_parser = options::choices::<Surplus>())]
    pub surplus: Surplus,
    #[command(flatten)]
    pub matching: Matching,
}

/// Makes flags about references and metrics conflict with `--scores`, together with which they have no effect.
pub fn refuse_beside_scores(arg: Arg) -> Arg {
    match arg.get_help_heading() {
        Some(READING_REFERENCES | METRICS) => arg.conflicts_with("scores"),
        _ => arg,
    }
}

/// The data that captions are scored with.
pub struct ScoringInputs {
    pub references: Option<Captions>,
    pub scores: Option<SegmentScores>,
    pub metrics: MetricOptions,
    pub resources: Resources,
    /// What is to be saved after scoring.
    pub caches: Caches,
}

impl Scoring {
    /// All input files, `source` first.
    pub fn inputs<'a>(&'a self, source: &'a str, chosen: &'a ChosenMetrics) -> Vec<&'a str> {
        let mut inputs: Vec<&str> = vec![source];
        inputs.extend(self.references.iter().map(String::as_str));
        inputs.extend(self.scores.as_deref());
        inputs.extend(chosen.files.paths());
        inputs
    }

    /// Chooses the metrics; none with precomputed scores.
    pub fn choose(&self) -> Result<ChosenMetrics> {
        if self.scores.is_some() {
            return Ok(ChosenMetrics::default());
        }
        let chosen = self.metrics.choose(self.metrics.options())?;
        chosen.check_early()?;
        Ok(chosen)
    }

    /// Reads references or scores, and the data that metrics need.
    pub fn read(&self, chosen: ChosenMetrics) -> Result<ScoringInputs> {
        let (metrics, resources, caches) = chosen.read()?;
        let scores = self.scores.as_deref();
        let scores =
            scores.map(|path| Ok::<_, anyhow::Error>(read_scores(&files::open_or_stdin(path)?, path)?));
        let references = match &self.references[..] {
            [] => None,
            paths => Some(self.reading.read(paths)?),
        };
        Ok(ScoringInputs { references, scores: scores.transpose()?, metrics, resources, caches })
    }
}
