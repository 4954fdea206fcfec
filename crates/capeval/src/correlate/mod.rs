//! Whether metrics agree with people.

mod agreement;
mod points;
mod systems;

use capeval_choice::{Argument, Remedy};
use capeval_corpus::ratings::{Ratings, SegmentScores};
use capeval_corpus::{Captions, Empty, Ids, Policy, SegmentId, Surplus};
use capeval_evaluate::Progress;
use capeval_metric::{AnyMetric, Direction, Signature};
use capeval_report::{Correlation, Head, Human, Measure, MetricEntry, Notice, Points, Unit};
use capeval_stats::{Interval, Resampling, agreement as raters};

use crate::measures::entries;
use crate::score::{Evaluated, evaluated};
use crate::{Error, ScoreRequest, VERSION};
pub(crate) use points::same_words;
use points::{Judgements, ordered};

/// What shall be held against which ratings. Start from [`CorrelateRequest::new`].
pub struct CorrelateRequest<'p> {
    /// What people said.
    pub ratings: Ratings,
    /// References, unless they stand beside the ratings or scores are given.
    pub references: Option<Captions>,
    /// The metrics; those of the COCO evaluation if there are none. Not used where scores are given.
    pub metrics: Vec<AnyMetric>,
    /// Scores of segments that were computed before, instead of metrics.
    pub scores: Option<SegmentScores>,
    /// The keys of these scores that are error rates; metrics of that name are known.
    pub lower_is_better: Vec<String>,
    /// What a point is.
    pub unit: Unit,
    /// What to do with a rated caption that is itself a reference of its image.
    pub own: OwnReference,
    /// What to do with ratings of images without references.
    pub surplus: Surplus,
    /// Whether the id 1 and the id "1" are the same.
    pub ids: Ids,
    /// Adds an interval to every coefficient, from resamples of the images.
    pub intervals: Option<Resampling>,
    /// What shall stand first among the notices.
    pub notices: Vec<Notice>,
    /// Hears how far the work has come.
    pub progress: &'p dyn Progress,
}

impl CorrelateRequest<'static> {
    /// The COCO metrics against `ratings`, each rating a point.
    #[must_use]
    pub fn new(ratings: Ratings) -> Self {
        Self {
            ratings,
            references: None,
            metrics: Vec::new(),
            scores: None,
            lower_is_better: Vec::new(),
            unit: Unit::default(),
            own: OwnReference::default(),
            surplus: Surplus::default(),
            ids: Ids::default(),
            intervals: None,
            notices: Vec::new(),
            progress: &(),
        }
    }
}

/// What to do with a rated caption that is itself a reference of its image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnReference {
    /// Score it against all references, itself included; a notice says how many there are.
    #[default]
    Keep,
    /// Remove it from the references of its image, for every caption of that image.
    Remove,
    /// Leave its ratings out.
    Skip,
}

impl OwnReference {
    /// All choices.
    pub const ALL: &[Self] = &[Self::Keep, Self::Remove, Self::Skip];

    /// The name in commands and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Remove => "remove",
            Self::Skip => "skip",
        }
    }
}

impl std::str::FromStr for OwnReference {
    type Err = capeval_corpus::UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|known| known.name() == name).ok_or_else(|| {
            capeval_corpus::UnknownName {
                what: "choice",
                given: name.into(),
                choices: Self::ALL.iter().map(|known| known.name()).collect(),
            }
        })
    }
}

/// Holds metrics against human ratings.
///
/// Each point is a row of its own in the corpus that is scored: document frequencies of CIDEr count the references
/// of every row, as in the caption literature. No digit depends on the order of the ratings.
///
/// # Errors
/// When ratings name captions or images that are not there, scores do not fit the ratings, a metric cannot be had, or
/// there are more resamples than memory should hold.
pub fn correlate(request: CorrelateRequest<'_>) -> Result<Correlation, Error> {
    let CorrelateRequest { mut ratings, mut metrics, scores, unit, intervals, .. } = request;
    if let Some(resampling) = &intervals {
        resampling.check().map_err(Error::request)?;
    }
    if scores.is_none() && metrics.is_empty() {
        metrics = crate::metrics(["coco"], &[])?;
    }
    if let Some(resampling) = &intervals {
        let n_measures =
            scores.as_ref().map_or_else(|| entries(&metrics).1.len(), |scores| scores.keys.len());
        resampling.check_values(agreement::n_values(n_measures)).map_err(Error::request)?;
    }
    ordered(&mut ratings.items);
    let mut notices = request.notices;
    notices.extend(points::unrated(&ratings));
    let mut found = if let Some(scores) = &scores {
        let judgements = Judgements::bare(&ratings, unit);
        let values = points::given(&judgements, scores, request.ids)?;
        Scored {
            judgements,
            measures: crate::given::measures(&scores.keys, &request.lower_is_better, &mut notices)?,
            values,
            metrics: Vec::new(),
            signatures: Vec::new(),
            systems: None,
        }
    } else {
        let references = request.references.or_else(|| ratings.references.take()).ok_or_else(|| {
            let scores = Remedy::give(Argument::Scores).to("use scores that were computed before");
            Error::with_remedy("metrics need references", Remedy::give(Argument::References).or(scores))
        })?;
        let judgements = Judgements::with_captions(
            &ratings,
            &references,
            (request.own, request.surplus, request.ids),
            unit,
            &mut notices,
        )?;
        scored(judgements, metrics, request.progress, &mut notices)?
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
        notices.extend(crate::notices::resamples_of_few_images(human.n_images));
    }
    let systems = systems.map(|found| systems::agreements(&found, &higher));
    notices.extend(systems.as_deref().and_then(systems::doubt));
    Ok(Correlation {
        head: Head { version: VERSION.to_owned(), metrics, measures, resampling: intervals, notices },
        differences: agreement::differences(&judgements, &values, &higher),
        systems,
        agreements,
        signatures,
        points: points_of(&judgements, values),
        human,
    })
}

/// Every point with what it is of.
fn points_of(judgements: &Judgements, scores: Vec<Vec<f64>>) -> Points {
    let items = || judgements.points.iter().map(|point| &judgements.items[point.item]);
    Points {
        images: items().map(|item| item.image.clone()).collect(),
        captions: items().map(|item| item.caption().map(str::to_owned)).collect(),
        systems: items().map(|item| item.system.clone()).collect(),
        ratings: judgements.points.iter().map(|point| point.rating).collect(),
        item_ratings: items().map(|item| item.ratings.clone()).collect(),
        scores,
    }
}

/// What was rated, and how it is scored.
struct Scored {
    judgements: Judgements,
    measures: Vec<Measure>,
    /// Measure after measure, the score of each point.
    values: Vec<Vec<f64>>,
    metrics: Vec<MetricEntry>,
    signatures: Vec<Signature>,
    systems: Option<systems::Systems>,
}

/// Scores each point as an image of its own.
fn scored(
    judgements: Judgements,
    metrics: Vec<AnyMetric>,
    progress: &dyn Progress,
    notices: &mut Vec<Notice>,
) -> Result<Scored, Error> {
    let mut references = Captions::new("references of the ratings");
    let mut candidates = Captions::new("rated captions");
    for (row, point) in (0_i64..).zip(&judgements.points) {
        let item = &judgements.items[point.item];
        for reference in judgements.references_of(point.item) {
            references.push(SegmentId::Integer(row), reference);
        }
        candidates.push(SegmentId::Integer(row), &item.caption);
    }
    let request = ScoreRequest {
        metrics,
        policy: Policy { empty: Empty::Keep, ..Policy::default() },
        segments: true,
        progress,
        ..ScoreRequest::new(references, [("captions", candidates)])
    };
    let Evaluated { mut report, scores, .. } = evaluated(request)?;
    notices.append(&mut report.head.notices);
    let n_measures = report.head.measures.len();
    let system = report.systems.pop();
    let segments = system.as_ref().and_then(|system| system.segments.as_ref());
    let segments = segments.map_or(&[][..], |segments| &segments.values);
    let values = (0..n_measures)
        .map(|m| segments.iter().skip(m).step_by(n_measures.max(1)).copied().collect())
        .collect();
    let systems = scores.first().and_then(|scores| systems::of_tables(&judgements, scores, n_measures));
    let mut signatures = system.map_or_else(Vec::new, |system| system.signatures);
    for signature in &mut signatures {
        signature.push("own-reference", judgements.own.name());
    }
    Ok(Scored {
        judgements,
        measures: report.head.measures,
        values,
        metrics: report.head.metrics,
        signatures,
        systems,
    })
}

fn scale(ratings: impl Iterator<Item = f64>) -> Interval {
    let empty = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY };
    ratings.fold(empty, |scale, r| Interval { low: scale.low.min(r), high: scale.high.max(r) })
}
