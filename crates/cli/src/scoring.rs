//! How captions that people judged get their scores: by metrics, or from a file of scores computed before.

use anyhow::Result;
use capeval::corpus::ratings::{SegmentScores, read_scores};
use capeval::corpus::{Captions, Ids, Surplus};
use capeval::metric::Resources;
use capeval::{MetricOptions, OwnReference};
use capeval_files as files;
use clap::Arg;

use crate::commands::score::What;
use crate::fault::fault;
use crate::options::{self, METRICS, READING_REFERENCES, References};

/// References and metrics, or scores.
#[derive(clap::Args)]
pub struct Scoring {
    /// File of references, unless the file of ratings or pairs holds them; may be repeated.
    #[arg(short, long = "references", value_name = "FILE", conflicts_with = "scores")]
    references: Vec<String>,
    /// Scores that were computed before, in place of references and metrics: JSON Lines as --segments writes them, or
    /// a table with a column image_id, a column per metric and, for pairs, a column caption.
    #[arg(long, value_name = "FILE")]
    scores: Option<String>,
    /// The keys of these scores that are error rates, so that less is better; `ter` and the like are known.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', requires = "scores")]
    pub lower_is_better: Vec<String>,
    #[command(flatten)]
    reading: References,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    pub rules: Rules,
}

/// What to do where judged captions and references do not match.
#[derive(clap::Args)]
#[command(next_help_heading = "Mismatches between captions and references")]
pub struct Rules {
    /// A judged caption that is itself a reference of its image: keep it, remove it from the references of that image,
    /// or skip the caption.
    #[arg(long, value_name = "WHAT", default_value_t, conflicts_with = "scores", value_parser = options::choices(OwnReference::ALL, OwnReference::name))]
    pub own_reference: OwnReference,
    /// Judged captions whose image has no reference.
    #[arg(long, value_name = "POLICY", default_value_t, conflicts_with = "scores", value_parser = options::choices(Surplus::ALL, Surplus::name))]
    pub surplus: Surplus,
    /// How ids are compared: with `text`, the number 1 and the text "1" are one id.
    #[arg(long, value_name = "HOW", default_value_t, value_parser = options::ids())]
    pub ids: Ids,
}

/// Lets `--scores` refuse flags about references and metrics, which would change nothing beside it.
pub fn refuse_beside_scores(arg: Arg) -> Arg {
    match arg.get_help_heading() {
        Some(READING_REFERENCES | METRICS) => arg.conflicts_with("scores"),
        _ => arg,
    }
}

/// Metrics, before any file is opened.
pub struct Chosen {
    metrics: MetricOptions,
    resources: Resources,
}

/// What captions are scored with.
pub struct Read {
    pub references: Option<Captions>,
    pub scores: Option<SegmentScores>,
    pub metrics: MetricOptions,
    pub resources: Resources,
}

impl Scoring {
    /// All files that are read, `source` first.
    ///
    /// # Errors
    /// When standard input would be read twice.
    pub fn inputs<'a>(&'a self, source: &'a str) -> Result<Vec<&'a str>> {
        let mut inputs: Vec<&str> = vec![source];
        inputs.extend(self.references.iter().map(String::as_str));
        inputs.extend(self.scores.as_deref());
        inputs.extend(self.what.paths());
        if inputs.iter().filter(|path| **path == files::STDIN).count() > 1 {
            return Err(fault("standard input (-) can be read only once", "give files for the others"));
        }
        Ok(inputs)
    }

    /// Chooses the metrics, and refuses those that do not exist.
    ///
    /// # Errors
    /// When there are any.
    pub fn choose(&self) -> Result<Chosen> {
        let metrics = self.what.options();
        if self.scores.is_some() {
            return Ok(Chosen { metrics, resources: Resources::default() });
        }
        let resources = self.what.resources(&metrics)?;
        if self.what.is_ready() {
            self.what.check(&metrics, &resources)?;
        }
        Ok(Chosen { metrics, resources })
    }

    /// Reads references or scores, and what metrics need.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(&self, chosen: Chosen) -> Result<Read> {
        let Chosen { metrics, mut resources } = chosen;
        self.what.read(&metrics, &mut resources)?;
        let scores = self.scores.as_deref();
        let scores =
            scores.map(|path| Ok::<_, anyhow::Error>(read_scores(&files::open_or_stdin(path)?, path)?));
        let references = match &self.references[..] {
            [] => None,
            paths => Some(self.reading.read(paths)?),
        };
        Ok(Read { references, scores: scores.transpose()?, metrics, resources })
    }
}
