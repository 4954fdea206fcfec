//! Scores captions: from captions to a report.

use capeval_corpus::SegmentId;
use capeval_report::{Explained, Report};

use crate::evaluation::score_with_statistics;
use crate::human::score_with_human;
use crate::inputs::Scope;
use crate::request::ScoreRequest;
use crate::{Error, ScoreOptions, select_metrics};

/// Scores systems against references.
///
/// No digit depends on the number of threads or on the other systems, and only the tokenizer `ptb` depends on the order
/// of images: like pycocoevalcap, it reads all captions as one text.
///
/// # Errors
/// When no system is given and no human row requested, or two systems have the same name; when a policy does not allow
/// a mismatch between references and candidates, or when the list of images contains one without references.
pub fn score(request: ScoreRequest<'_>) -> Result<Report, Error> {
    let selection = select_metrics(&request.options.metrics, &request.resources)?;
    if request.options.human {
        return score_with_human(request, selection);
    }
    score_with_statistics(request, selection, Scope::Each).map(|scored| scored.report)
}

/// Explains the scores of single images, from counts to scores.
///
/// The result is that of [`score`] with [`ScoreOptions::explain`] set, without the rest of the report: one entry for
/// each of `images` and each system that describes it, in this order.
pub fn explain(request: ScoreRequest<'_>, images: Vec<SegmentId>) -> Result<Vec<Explained>, Error> {
    Ok(score(request.map(|options| ScoreOptions { explain: images, ..options }))?.explained)
}
