//! The flags that name scores that someone else computed, and the files with them.

use anyhow::Result;
use capeval::GivenScores;
use capeval::corpus::scores::read_scores;
use capeval_files as files;

use crate::fault::fault;
use crate::names::{split, stem};
use crate::{input, options};

/// Scores that someone else computed.
#[derive(clap::Args)]
#[command(next_help_heading = options::GIVEN_SCORES)]
pub struct GivenArgs {
    /// File of scores that were computed before, with or without captions and metrics; may be repeated. NAME is the
    /// system, unless the file says it: JSON Lines as --segments writes them, a table (CSV, TSV, JSON, Parquet) with
    /// image_id and a column for each measure, a JSON object from ids to scores, or an array of numpy; see
    /// docs/guides/own-scores.md.
    #[arg(long, value_name = "[NAME=]FILE")]
    scores: Vec<String>,
    /// File with the ids of scores that are a list or an array, one per line or as a JSON array.
    #[arg(long, value_name = "FILE", requires = "scores")]
    score_ids: Option<String>,
    /// Keys of given scores that are error rates; `ter` and other known ones need not be listed.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', requires = "scores")]
    pub lower_is_better: Vec<String>,
}

impl GivenArgs {
    /// Returns true if any scores are given.
    pub fn any(&self) -> bool {
        !self.scores.is_empty()
    }

    /// All input files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.scores.iter().map(|given| split(given).1).chain(self.score_ids.as_deref())
    }

    /// Reads the scores.
    pub fn read(&self) -> Result<Vec<GivenScores>> {
        let read = self.read_of(|_| None)?;
        Ok(read.into_iter().map(|(_, scores)| scores).collect())
    }

    /// Reads the scores, and whose they are: in place of a system, NAME may be what `owner` knows.
    pub fn read_of(
        &self,
        owner: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<(Option<String>, GivenScores)>> {
        let ids = self.score_ids.as_deref().map(input::ids).transpose()?;
        let read = |given: &String| -> Result<(Option<String>, GivenScores)> {
            let (name, path) = split(given);
            let scores = read_scores(&files::open_or_stdin(path)?, path, ids.as_deref())?;
            let whose = name.and_then(&owner);
            let name = name.filter(|_| whose.is_none());
            Ok((whose, GivenScores::new(scores, name, stem(path, 1))?))
        };
        self.scores.iter().map(read).collect()
    }
}

/// Refuses the first of `flags` that is set, since there are only scores.
pub fn refuse_without_metrics<'f>(flags: impl IntoIterator<Item = Option<&'f str>>) -> Result<()> {
    match flags.into_iter().flatten().next() {
        Some(flag) => Err(fault(
            format!("{flag} has no effect on scores that are given, and no metric is computed"),
            format!("leave out {flag}, or choose metrics to compute"),
        )),
        None => Ok(()),
    }
}
