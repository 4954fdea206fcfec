//! Correlates metrics with human ratings.

mod agreement;
mod points;
mod systems;

use capeval_choice::{Argument, Remedy};
use capeval_corpus::ratings::Ratings;
use capeval_evaluate::{Progress, ReferenceSet, System, SystemScores};
use capeval_metric::{AnyMetric, Direction, Signature};
use capeval_report::{Correlation, Human, Measure, MetricEntry, Points, Unit};
use capeval_stats::{Interval, Resampling, agreement as raters};

use crate::groups::{GroupedRows, signed};
use crate::measures::{entries, head};
use crate::people::ChosenMeasures;
use crate::rows::{RowScorer, Rows, values};
use crate::{CorrelateOptions, Error, PairingCheck, PeopleRequest, shapes};
use points::{Judgements, ordered};

/// A request to [`correlate`]; each rating is a point.
pub type CorrelateRequest<'p> = PeopleRequest<'p, Ratings, CorrelateOptions>;

/// Correlates metrics with human ratings.
///
/// Each point is a separate row of the corpus: document frequencies of CIDEr count the references of every row, as in
/// the caption literature. No digit depends on the order of the ratings.
pub fn correlate(mut request: CorrelateRequest<'_>) -> Result<Correlation, Error> {
    let CorrelateOptions { unit, intervals, .. } = request.options;
    if let Some(resampling) = &intervals {
        resampling.check()?;
    }
    let computes = request.computes();
    let ChosenMeasures { metrics, given, mut found } = request.choose()?;
    let CorrelateRequest { people: mut ratings, references, groups, options, resources, progress, .. } =
        request;
    if let Some(resampling) = &intervals {
        let n_measures = entries(&metrics).1.len() + given.n_measures();
        resampling.check_values(agreement::n_values(n_measures))?;
    }
    ordered(&mut ratings.items);
    found.add(points::unrated(&ratings));
    let judgements = match computes {
        true => {
            let references = references.or_else(|| ratings.references.take());
            let references = references.ok_or_else(|| no_references(&ratings))?;
            Judgements::with_captions(&ratings, &references, options.reference_rules(), unit, &mut found)?
        }
        false => Judgements::bare(&ratings, unit),
    };
    if computes && options.pairing == PairingCheck::Check {
        found.add(shapes::mispaired(&ratings.source, &judgements.fit()));
    }
    let mut of_files = Vec::new();
    for file in &given.files {
        of_files
            .extend(points::given(&judgements, file, options.ids)?.into_iter().map(|scores| vec![scores]));
    }
    let system = judgements.system();
    let metrics = judgements.compute(&metrics, &system, &resources, progress)?;
    let metrics: Vec<AnyMetric> = metrics.into_iter().chain(given.metrics(of_files)).collect();
    let frame = Frame::new(&ratings, &metrics, unit, intervals);
    let rows = scored(&judgements, &system, &metrics, &given.hashes(), !groups.is_empty(), progress);
    let mut whole = frame.correlation(&judgements, &rows.scores[0], rows.signatures.clone(), progress);
    let grouped = GroupedRows {
        images: judgements.points.iter().map(|point| &judgements.items[point.item].image).collect(),
        ids: options.ids,
        references: computes.then_some(&rows.references).ok_or("there are no references"),
        captions: computes.then_some(&system).ok_or("there are no captions"),
        source: &ratings.source,
    };
    let frequencies = options.group_df;
    let (groups, of_groups) = grouped.results(&groups, frequencies, |points| {
        let scores = rows.of_some(0, frequencies, points);
        let signatures = rows.signatures.clone();
        let mut one = frame.correlation(&judgements.some(points), &scores, signatures, progress);
        one.points = Points { scores: vec![Vec::new(); one.head.measures.len()], ..Points::default() };
        one
    })?;
    whole.groups = groups;
    whole.groups.iter_mut().for_each(|by| signed(by, |one| &mut one.signatures));
    found.add(rows.notices);
    found.add(points::off_scale(judgements.items.iter().flat_map(|item| &item.ratings).copied()));
    found.add(points::doubts(&whole.human, &whole.agreements, &whole.head.measures));
    if let Some(resampling) = &intervals {
        found.add(crate::notices::few_resamples(resampling.resamples));
        found.add(crate::notices::resamples_of_few(whole.human.n_images, crate::notices::Unit::Image));
    }
    found.add(whole.systems.as_deref().and_then(systems::doubt));
    found.add(of_groups);
    whole.head.notices = found.into();
    Ok(whole)
}

/// What the results of all points and of groups share.
struct Frame<'r> {
    ratings: &'r Ratings,
    metrics: Vec<MetricEntry>,
    measures: Vec<Measure>,
    /// For each measure, whether higher is better.
    higher: Vec<bool>,
    unit: Unit,
    intervals: Option<Resampling>,
}

impl<'r> Frame<'r> {
    fn new(ratings: &'r Ratings, metrics: &[AnyMetric], unit: Unit, intervals: Option<Resampling>) -> Self {
        let (metrics, measures) = entries(metrics);
        let higher = measures.iter().map(|measure| measure.direction == Direction::HigherIsBetter).collect();
        Self { ratings, metrics, measures, higher, unit, intervals }
    }

    /// The correlation of scored points, without notices.
    fn correlation(
        &self,
        judgements: &Judgements,
        scores: &SystemScores,
        signatures: Vec<Signature>,
        progress: &dyn Progress,
    ) -> Correlation {
        let Self { ratings, metrics, measures, higher, unit, intervals } = self;
        let values = values(scores);
        let systems = systems::of_tables(judgements, scores, measures.len());
        Correlation {
            head: head(metrics.clone(), measures.clone(), *intervals, Vec::new()),
            differences: agreement::differences(judgements, &values, higher),
            systems: systems.map(|found| systems::agreements(&found, higher)),
            agreements: agreement::of(judgements, &values, higher, *intervals, progress),
            signatures,
            human: human(ratings, judgements, *unit),
            points: points_of(judgements, values),
            groups: Vec::new(),
        }
    }
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

/// The ratings of people, and how much they agree.
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

/// The scores of each point as a separate image; `hashes` are those of given scores, by measure.
fn scored<'s>(
    judgements: &Judgements,
    system: &'s System,
    metrics: &'s [AnyMetric],
    hashes: &[(String, String)],
    has_groups: bool,
    progress: &dyn Progress,
) -> Rows<'s> {
    let points = judgements.points.iter();
    let references: Vec<Vec<&str>> = points.map(|point| judgements.references_of(point.item)).collect();
    let references = ReferenceSet::of_rows(&references);
    let scorer = RowScorer::new(std::slice::from_ref(system), &["rated captions"], metrics);
    let mut rows = scorer.score(references, hashes, has_groups, progress);
    for signature in rows.signatures.iter_mut().filter(|signature| !signature.is_given()) {
        signature.push("own-reference", judgements.own.name());
    }
    rows
}

fn scale(ratings: impl Iterator<Item = f64>) -> Interval {
    let empty = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY };
    ratings.fold(empty, |scale, r| Interval { low: scale.low.min(r), high: scale.high.max(r) })
}
