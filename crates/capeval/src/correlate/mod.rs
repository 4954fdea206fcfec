//! Correlates metrics with human ratings.

mod agreement;
mod points;
mod systems;

use capeval_choice::{Argument, Remedy};
use capeval_corpus::Captions;
use capeval_corpus::ratings::{Ratings, SegmentScores};
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, System};
use capeval_metric::{AnyMetric, Direction, Signature};
use capeval_report::{Correlation, Human, Measure, MetricEntry, Notice, Points};
use capeval_stats::{Interval, agreement as raters};

use crate::measures::{entries, head};
use crate::rows::score_rows;
use crate::{CorrelateOptions, Error, Selection, select_metrics};
pub(crate) use points::same_caption;
use points::{Judgements, ordered};

/// A request to [`correlate`]. Start from [`CorrelateRequest::new`].
pub struct CorrelateRequest<'p> {
    /// The ratings.
    pub ratings: Ratings,
    /// References, unless the ratings contain them or scores are given.
    pub references: Option<Captions>,
    /// Precomputed scores of segments, instead of metrics.
    pub scores: Option<SegmentScores>,
    /// The options.
    pub options: CorrelateOptions,
    /// Tables and third-party data for metrics that use them.
    pub resources: Resources,
    /// Receives progress reports.
    pub progress: &'p dyn Progress,
}

impl CorrelateRequest<'static> {
    /// A request to correlate the COCO metrics with `ratings`; each rating is a point.
    pub fn new(ratings: Ratings) -> Self {
        Self {
            ratings,
            references: None,
            scores: None,
            options: CorrelateOptions::default(),
            resources: Resources::default(),
            progress: &(),
        }
    }
}

/// Correlates metrics with human ratings.
///
/// Each point is a separate row of the corpus: document frequencies of CIDEr count the references of every row, as in
/// the caption literature. No digit depends on the order of the ratings.
///
/// # Errors
/// When ratings name captions or images that do not exist, scores do not match the ratings, a metric is not available,
/// or there are too many resamples for the memory.
pub fn correlate(request: CorrelateRequest<'_>) -> Result<Correlation, Error> {
    let CorrelateRequest { mut ratings, scores, options, .. } = request;
    let CorrelateOptions { unit, intervals, .. } = options;
    if let Some(resampling) = &intervals {
        resampling.check()?;
    }
    let Selection { metrics, mut notices } = match &scores {
        Some(_) => Selection::default(),
        None => select_metrics(&options.metrics, &request.resources)?,
    };
    if let Some(resampling) = &intervals {
        let n_measures =
            scores.as_ref().map_or_else(|| entries(&metrics).1.len(), |scores| scores.keys.len());
        resampling.check_values(agreement::n_values(n_measures))?;
    }
    ordered(&mut ratings.items);
    notices.extend(points::unrated(&ratings));
    let mut found = if let Some(scores) = &scores {
        let judgements = Judgements::bare(&ratings, unit);
        let values = points::given(&judgements, scores, options.ids)?;
        Scored {
            judgements,
            measures: crate::given::measures(&scores.keys, &options.lower_is_better, &mut notices)?,
            values,
            metrics: Vec::new(),
            signatures: Vec::new(),
            systems: None,
        }
    } else {
        let references = request.references.or_else(|| ratings.references.take()).ok_or_else(|| {
            let scores = Remedy::give(Argument::Scores).to("use scores that were computed before");
            let why = match &ratings.no_references {
                Some(why) => format!("{}: {why}, so that metrics have no references", ratings.source),
                None => "metrics need references".to_owned(),
            };
            Error::with_remedy(why, Remedy::give(Argument::References).or(scores))
        })?;
        let judgements = Judgements::with_captions(
            &ratings,
            &references,
            (options.own_reference, options.surplus, options.ids),
            unit,
            &mut notices,
        )?;
        score_points(judgements, &metrics, request.progress, &mut notices)
    };
    if found.systems.is_none() {
        found.systems = systems::of_means(&found.judgements, &found.values);
    }
    let Scored { judgements, measures, values, metrics, signatures, systems } = found;
    let higher: Vec<bool> =
        measures.iter().map(|measure| measure.direction == Direction::HigherIsBetter).collect();
    let agreements = agreement::of(&judgements, &values, &higher, intervals, request.progress);
    let by_item: Vec<&[f64]> = judgements.items.iter().map(|item| &*item.ratings).collect();
    let human = Human {
        source: ratings.source.clone(),
        n_images: judgements.n_images(),
        n_items: judgements.items.len(),
        n_ratings: by_item.iter().map(|ratings| ratings.len()).sum(),
        n_points: judgements.points.len(),
        unit,
        scale: scale(by_item.iter().copied().flatten().copied()),
        krippendorff_alpha: raters::krippendorff_ordinal(by_item.iter().copied()),
        fleiss_kappa: raters::fleiss_kappa(by_item.iter().copied()),
    };
    notices.extend(points::doubts(&human, &agreements, &measures));
    if let Some(resampling) = &intervals {
        notices.extend(crate::notices::few_resamples(resampling.resamples));
        notices.extend(crate::notices::resamples_of_few(human.n_images, "image"));
    }
    let systems = systems.map(|found| systems::agreements(&found, &higher));
    notices.extend(systems.as_deref().and_then(systems::doubt));
    Ok(Correlation {
        head: head(metrics, measures, intervals, notices),
        differences: agreement::differences(&judgements, &values, &higher),
        systems,
        agreements,
        signatures,
        points: points_of(&judgements, values),
        human,
        in_percent: false,
    })
}

/// All points with their images and captions.
fn points_of(judgements: &Judgements, scores: Vec<Vec<f64>>) -> Points {
    let items = || judgements.points.iter().map(|point| &judgements.items[point.item]);
    Points {
        images: items().map(|item| item.image.clone()).collect(),
        captions: items().map(|item| item.caption().map(str::to_owned)).collect(),
        systems: items().map(|item| item.system.clone()).collect(),
        are_references: items().map(|item| item.is_reference).collect(),
        ratings: judgements.points.iter().map(|point| point.rating).collect(),
        item_ratings: items().map(|item| item.ratings.clone()).collect(),
        scores,
    }
}

/// The rated captions and their scores.
struct Scored {
    judgements: Judgements,
    measures: Vec<Measure>,
    /// The scores of the points, measure after measure.
    values: Vec<Vec<f64>>,
    metrics: Vec<MetricEntry>,
    signatures: Vec<Signature>,
    systems: Option<systems::Systems>,
}

/// Scores each point as a separate image.
fn score_points(
    judgements: Judgements,
    metrics: &[AnyMetric],
    progress: &dyn Progress,
    notices: &mut Vec<Notice>,
) -> Scored {
    let points = || judgements.points.iter().map(|point| point.item);
    let references = points().map(|item| judgements.references_of(item).into_iter()).collect();
    let system = System {
        name: "captions".to_owned(),
        images: (0..judgements.points.len() as u32).collect(),
        texts: points().map(|item| judgements.items[item].caption.as_str()).collect(),
    };
    let mut rows = score_rows(references, &[system], &["rated captions"], metrics, progress);
    notices.append(&mut rows.notices);
    let (metrics, measures) = entries(metrics);
    let systems =
        rows.scores.first().and_then(|scores| systems::of_tables(&judgements, scores, measures.len()));
    let values = rows.values(0);
    let mut signatures = rows.signatures.pop().unwrap_or_default();
    for signature in &mut signatures {
        signature.push("own-reference", judgements.own.name());
    }
    Scored { judgements, measures, values, metrics, signatures, systems }
}

fn scale(ratings: impl Iterator<Item = f64>) -> Interval {
    let empty = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY };
    ratings.fold(empty, |scale, r| Interval { low: scale.low.min(r), high: scale.high.max(r) })
}
