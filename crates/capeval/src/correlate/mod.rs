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
use capeval_report::{Correlation, Human, Measure, MetricEntry, Points, Unit};
use capeval_stats::{Interval, agreement as raters};

use crate::findings::Findings;
use crate::measures::{entries, head};
use crate::own_reference::ReferenceRules;
use crate::rows::{RowScorer, Rows};
use crate::{CorrelateOptions, Error, Selection, given, select_metrics};
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
pub fn correlate(request: CorrelateRequest<'_>) -> Result<Correlation, Error> {
    let CorrelateRequest { mut ratings, references, scores, options, resources, progress } = request;
    let CorrelateOptions { unit, intervals, .. } = options;
    if let Some(resampling) = &intervals {
        resampling.check()?;
    }
    let Selection { metrics, notices } = match &scores {
        Some(_) => Selection::default(),
        None => select_metrics(&options.metrics, &resources)?,
    };
    if let Some(resampling) = &intervals {
        let n_measures =
            scores.as_ref().map_or_else(|| entries(&metrics).1.len(), |scores| scores.keys.len());
        resampling.check_values(agreement::n_values(n_measures))?;
    }
    let mut found = Findings::from(notices);
    ordered(&mut ratings.items);
    found.add(points::unrated(&ratings));
    let scored = match &scores {
        Some(scores) => Scored::given(&ratings, scores, &options, &mut found)?,
        None => {
            let references = references.or_else(|| ratings.references.take());
            let references = references.ok_or_else(|| no_references(&ratings))?;
            let rules =
                ReferenceRules { own: options.own_reference, surplus: options.surplus, ids: options.ids };
            let judgements = Judgements::with_captions(&ratings, &references, rules, unit, &mut found)?;
            Scored::by_metrics(judgements, &metrics, progress, &mut found)
        }
    };
    let Scored { judgements, measures, values, metrics, signatures, systems } = scored;
    let higher: Vec<bool> =
        measures.iter().map(|measure| measure.direction == Direction::HigherIsBetter).collect();
    let agreements = agreement::of(&judgements, &values, &higher, intervals, progress);
    let human = human(&ratings, &judgements, unit);
    found.add(points::doubts(&human, &agreements, &measures));
    if let Some(resampling) = &intervals {
        found.add(crate::notices::few_resamples(resampling.resamples));
        found.add(crate::notices::resamples_of_few(human.n_images, "image"));
    }
    let systems = systems.or_else(|| systems::of_means(&judgements, &values));
    let systems = systems.map(|found| systems::agreements(&found, &higher));
    found.add(systems.as_deref().and_then(systems::doubt));
    Ok(Correlation {
        head: head(metrics, measures, intervals, found),
        differences: agreement::differences(&judgements, &values, &higher),
        systems,
        agreements,
        signatures,
        points: points_of(&judgements, values),
        human,
        in_percent: false,
    })
}

/// The error of metrics that have no references to compare with.
fn no_references(ratings: &Ratings) -> Error {
    let scores = Remedy::give(Argument::Scores).to("use scores that were computed before");
    let why = match &ratings.no_references {
        Some(why) => format!("{}: {why}, so that metrics have no references", ratings.source),
        None => "metrics need references".to_owned(),
    };
    Error::with_remedy(why, Remedy::give(Argument::References).or(scores))
}

/// What people said, and how much they agree.
fn human(ratings: &Ratings, judgements: &Judgements, unit: Unit) -> Human {
    let by_item: Vec<&[f64]> = judgements.items.iter().map(|item| &*item.ratings).collect();
    Human {
        source: ratings.source.clone(),
        n_images: judgements.n_images(),
        n_items: judgements.items.len(),
        n_ratings: by_item.iter().map(|ratings| ratings.len()).sum(),
        n_points: judgements.points.len(),
        unit,
        scale: scale(by_item.iter().copied().flatten().copied()),
        krippendorff_alpha: raters::krippendorff_ordinal(by_item.iter().copied()),
        fleiss_kappa: raters::fleiss_kappa(by_item.iter().copied()),
    }
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

impl Scored {
    /// Scores that were computed before.
    fn given(
        ratings: &Ratings,
        scores: &SegmentScores,
        options: &CorrelateOptions,
        found: &mut Findings,
    ) -> Result<Self, Error> {
        let judgements = Judgements::bare(ratings, options.unit);
        let values = points::given(&judgements, scores, options.ids)?;
        let measures = given::measures(&scores.keys, &options.lower_is_better, found)?;
        Ok(Self { judgements, measures, values, metrics: Vec::new(), signatures: Vec::new(), systems: None })
    }

    /// Scores each point as a separate image.
    fn by_metrics(
        judgements: Judgements,
        metrics: &[AnyMetric],
        progress: &dyn Progress,
        found: &mut Findings,
    ) -> Self {
        let points = || judgements.points.iter().map(|point| point.item);
        let references = points().map(|item| judgements.references_of(item).into_iter()).collect();
        let system = System {
            name: "captions".to_owned(),
            images: (0..judgements.points.len() as u32).collect(),
            texts: points().map(|item| judgements.items[item].caption.as_str()).collect(),
        };
        let rows = RowScorer::new(&[system], &["rated captions"], metrics).score(references, progress);
        let values = rows.values(0);
        let Rows { scores, mut signatures, notices } = rows;
        found.add(notices);
        let (metrics, measures) = entries(metrics);
        let systems =
            scores.first().and_then(|scores| systems::of_tables(&judgements, scores, measures.len()));
        for signature in &mut signatures {
            signature.push("own-reference", judgements.own.name());
        }
        Self { judgements, measures, values, metrics, signatures, systems }
    }
}

fn scale(ratings: impl Iterator<Item = f64>) -> Interval {
    let empty = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY };
    ratings.fold(empty, |scale, r| Interval { low: scale.low.min(r), high: scale.high.max(r) })
}
