//! Scores captions: from captions to a report.

use capeval_choice::{Argument, Remedy};
use capeval_corpus::SegmentId;
use capeval_evaluate::registry::Resources;
use capeval_metric::AnyMetric;
use capeval_report::{ExplainedCaption, Report};

use crate::evaluation::score_with_statistics;
use crate::findings::Findings;
use crate::given::Plan;
use crate::human::score_with_human;
use crate::inputs::Scope;
use crate::outside::OutsideMetrics;
use crate::request::{Request, ScoreRequest};
use crate::{Error, MetricOptions, ScoreOptions, Selection, select_metrics};

/// Scores systems against references.
///
/// No digit depends on the number of threads or on the other systems, and only the tokenizer `ptb` depends on the order
/// of images: like pycocoevalcap, it reads all captions as one text.
///
/// # Errors
/// When no system is given and no human row requested, or two systems have the same name; when given scores are of
/// other systems than the captions, or by a measure that is computed too; when a policy does not allow a mismatch
/// between references and candidates, or when the list of images contains one without references.
pub fn score(request: ScoreRequest<'_>) -> Result<Report, Error> {
    let mut request = request;
    let selection = select(&request, &request.options.metrics)?;
    if request.options.human {
        if !request.options.derive.is_empty() {
            return Err(Error::with_remedy(
                "the human row has no derived numbers",
                Remedy::omit(Argument::Derive).or(Remedy::say("leave out the human row")),
            ));
        }
        if !request.scores.is_empty() {
            return Err(Error::with_remedy(
                "people's captions have no given scores, so there is no human row",
                "leave one of them out",
            ));
        }
        return score_with_human(request, selection);
    }
    let plan = plan(&mut request, &selection)?;
    score_with_statistics(request, selection, plan, Scope::Each).map(|scored| scored.report)
}

/// Selects the metrics of a request; none if it is of given scores alone.
pub(crate) fn select<O>(request: &Request<'_, O>, metrics: &MetricOptions) -> Result<Selection, Error> {
    if !request.is_of_scores() {
        let selection = select_metrics(metrics, &request.resources)?;
        if !request.has_references {
            refuse_without_references(&selection, &request.resources)?;
        }
        return Ok(selection);
    }
    if metrics.are_chosen() {
        return Err(Error::with_remedy(
            "metrics need captions and references, and there are only scores",
            Remedy::omit(Argument::Metrics).or(Remedy::give(Argument::References).to("compute metrics too")),
        ));
    }
    Ok(Selection::default())
}

/// Refuses metrics that compare captions with references, where there are none.
fn refuse_without_references(selection: &Selection, resources: &Resources) -> Result<(), Error> {
    let outside = resources.get::<OutsideMetrics>();
    let needs = |metric: &&AnyMetric| {
        let has_model = metric.signature().get("lm").is_some_and(|lm| lm != "references");
        let one = outside.as_ref().and_then(|outside| outside.of(metric));
        let is_alone = one.is_some_and(|one| !one.needs_references() && metric.factor().is_none());
        !(has_model || is_alone)
    };
    let needy: Vec<&str> =
        selection.metrics.iter().filter(needs).map(|metric| metric.signature().metric()).collect();
    if needy.is_empty() {
        return Ok(());
    }
    Err(Error::with_remedy(
        format!("captions are compared with references by {}, and there are none", needy.join(", ")),
        Remedy::give(Argument::References).or(Remedy::say("choose metrics that need none, such as clip-s")),
    ))
}

/// Finds the given scores of the systems of a request.
pub(crate) fn plan(request: &mut ScoreRequest<'_>, selection: &Selection) -> Result<(Plan, Findings), Error> {
    let scores = std::mem::take(&mut request.scores);
    let mut found = Findings::default();
    if scores.is_empty() {
        return Ok((Plan::default(), found));
    }
    let systems: Vec<&str> = request.systems.iter().map(|(name, _)| name.as_str()).collect();
    let lower = &request.options.lower_is_better;
    let plan = Plan::new(scores, &systems, &selection.metrics, lower, &mut found)?;
    Ok((plan, found))
}

/// Explains the scores of single images, from counts to scores.
///
/// The result is that of [`score`] with [`ScoreOptions::explain`] set, without the rest of the report: one entry for
/// each of `images` and each system that describes it, in this order.
pub fn explain(request: ScoreRequest<'_>, images: Vec<SegmentId>) -> Result<Vec<ExplainedCaption>, Error> {
    Ok(score(request.map(|options| ScoreOptions { explain: images, ..options }))?.explained)
}
