//! Scores that someone else computed, as measures like any other.
//!
//! A given score is a metric whose statistics are read instead of measured, so that sums, resamples, tests and reports
//! need not know where it comes from.

mod measures;
mod metric;
mod plan;
mod rows;

use std::collections::HashMap;

use capeval_choice::Remedy;
use capeval_corpus::SegmentId;
use capeval_corpus::scores::{ScoredSegment, SegmentScores};

use crate::Error;

pub(crate) use self::measures::{averaged, parts};
pub(crate) use self::metric::GivenMetric;
pub(crate) use self::plan::Plan;
pub(crate) use self::rows::{GivenRows, absent, same_scores};

/// The scores in one file, and what is said about it.
#[derive(Clone, Debug, Default)]
pub struct GivenScores {
    /// The scores.
    pub(crate) scores: SegmentScores,
    /// The system whose scores they are, if it was named.
    pub(crate) system: Option<String>,
    /// The name of the system if nothing else names it.
    pub(crate) stem: String,
}

impl GivenScores {
    /// Scores, of the system `name` if it is given; one without any name is called `stem`. If the file has numbers
    /// without the name of a measure, `name` may be `SYSTEM:MEASURE` or `:MEASURE`.
    ///
    /// # Errors
    /// When there is a name, and the file has several systems.
    pub fn new(
        mut scores: SegmentScores,
        name: Option<&str>,
        stem: impl Into<String>,
    ) -> Result<Self, Error> {
        let mut name = name;
        measures::refuse_totals(&scores)?;
        if scores.is_unnamed
            && let Some((system, measure)) = name.and_then(|name| name.rsplit_once(':'))
            && !measure.is_empty()
        {
            scores.keys = vec![measure.to_owned()];
            scores.is_unnamed = false;
            name = Some(system);
        }
        let system = name.filter(|name| !name.is_empty()).map(str::to_owned);
        if let Some(system) = &system {
            let systems = scores.systems();
            if systems.len() > 1 {
                let message = format!(
                    "{}: one name, {system}, for the scores of {} systems: {}",
                    scores.source,
                    systems.len(),
                    listed(&systems),
                );
                return Err(Error::with_remedy(message, Remedy::say("leave the name out")));
            }
            scores.rows.iter_mut().for_each(|row| row.system = Some(system.clone()));
        }
        Ok(Self { scores, system, stem: stem.into() })
    }

    /// The same with a row more for each id in `copies` that stands for a scored image, by its id as text.
    pub fn with_copies(&self, copies: &HashMap<String, Vec<SegmentId>>) -> Self {
        if copies.is_empty() {
            return self.clone();
        }
        let mut given = self.clone();
        let of = |row: &ScoredSegment| {
            let ids = copies.get(&row.image.to_string()).into_iter().flatten();
            ids.map(|id| ScoredSegment { image: id.clone(), ..row.clone() }).collect::<Vec<_>>()
        };
        given.scores.rows.extend(self.scores.rows.iter().flat_map(of));
        given
    }

    /// The name of the file.
    pub fn source(&self) -> &str {
        &self.scores.source
    }
}

/// Names in a list, the first of them if there are many.
pub(crate) fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let more = if names.len() > SHOWN { ", …" } else { "" };
    names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ") + more
}
