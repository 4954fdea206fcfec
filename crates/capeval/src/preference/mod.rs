//! How often metrics prefer the caption of a pair that people prefer: the protocol of PASCAL-50S.
//!
//! Source: Vedantam, Zitnick and Parikh, *CIDEr* (CVPR 2015), with draws of five references as in Hessel et al.,
//! *CLIPScore* (EMNLP 2021). Published programs treat ties differently; [`HumanTies`] and [`MetricTies`] name their
//! rules. Each pair is a separate row of the corpus, as in programs that pass the references of all pairs to
//! pycocoevalcap, first with the first captions and then with the second: document frequencies of CIDEr count the
//! references drawn for each pair once per draw.

mod accuracy;
mod draws;
mod pools;

use capeval_choice::{Argument, Remedy};
use capeval_corpus::Captions;
use capeval_corpus::ratings::Choices;
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, ReferenceSet, System};
use capeval_metric::{AnyMetric, Direction, Signature};
use capeval_report::{HumanTies, Measure, MetricEntry, MetricTies, Notice, Preference, Protocol};

use crate::findings::Findings;
use crate::given::GivenRows;
use crate::measures::{entries, head};
use crate::outside::{self, OutsideMetrics, Scene};
use crate::own_reference::ReferenceRules;
use crate::rows::RowScorer;
use crate::{Error, GivenScores, OwnReference, PreferOptions, Selection, select_metrics};
use pools::JudgedPair;

/// A request to [`prefer`]. Start from [`PreferRequest::new`].
pub struct PreferRequest<'p> {
    /// The pairs with the votes of people.
    pub choices: Choices,
    /// References to draw from, by image, unless the pairs contain them or only scores are given.
    pub references: Option<Captions>,
    /// Scores of captions that were computed before, whatever references are drawn. Metrics are computed beside them
    /// only if some are chosen, or references given.
    pub scores: Vec<GivenScores>,
    /// The options.
    pub options: PreferOptions,
    /// Tables and third-party data for metrics that use them.
    pub resources: Resources,
    /// Receives progress reports.
    pub progress: &'p dyn Progress,
}

impl PreferRequest<'static> {
    /// A request for the COCO metrics on `choices`, with five references and five draws.
    pub fn new(choices: Choices) -> Self {
        Self {
            choices,
            references: None,
            scores: Vec::new(),
            options: PreferOptions::default(),
            resources: Resources::default(),
            progress: &(),
        }
    }
}

/// Measures how often metrics prefer the caption that people prefer.
///
/// The references drawn for a pair depend only on the seed, the pair and the number of the draw, not on the order of
/// the pairs. If a score is NaN, the metric prefers neither caption.
pub fn prefer(request: PreferRequest<'_>) -> Result<Preference, Error> {
    let PreferRequest { choices, references, scores, options, resources, progress } = request;
    let (mut protocol, intervals) = (options.protocol(), options.intervals);
    protocol.check()?;
    if let Some(resampling) = &intervals {
        resampling.check()?;
    }
    let computes = scores.is_empty() || references.is_some() || options.metrics.are_chosen();
    let Selection { metrics, notices } = match computes {
        true => select_metrics(&options.metrics, &resources)?,
        false => Selection::default(),
    };
    let mut found = Findings::from(notices);
    let given = GivenRows::new(scores, &options.lower_is_better, &metrics, &mut found)?;
    found.add(pools::unvoted(&choices));
    let judged = match computes {
        true => {
            let rules =
                ReferenceRules { own: options.own_reference, surplus: options.surplus, ids: options.ids };
            pools::with_references(&choices, references.as_ref(), rules, &mut found)?
        }
        false => pools::bare(&choices),
    };
    if let Some(resampling) = &intervals {
        accuracy::check(resampling, &judged, entries(&metrics).1.len() + given.n_measures())?;
    }
    match computes {
        true => found.add(draws::settle(&judged, &mut protocol)),
        false => protocol.draws = 1,
    }
    let mut values = Vec::new();
    for file in &given.files {
        values.extend(pools::given(&judged, file, options.ids)?);
    }
    let metrics: Vec<AnyMetric> = metrics.into_iter().chain(given.metrics(values)).collect();
    let scenes = Scenes::new(&judged, &protocol);
    let by_draw = scenes.compute(&metrics, &resources, progress)?;
    let mut drawn = DrawScores::score(&scenes, &metrics, &by_draw, &given.hashes(), progress, &mut found);
    drawn.sign(&protocol, options.own_reference);
    let higher: Vec<bool> =
        drawn.measures.iter().map(|measure| measure.direction == Direction::HigherIsBetter).collect();
    let credits = accuracy::Credits::new(&judged, &drawn.values, &higher, &protocol, options.ids);
    if !credits.any() {
        return Err(Error::with_remedy(
            format!("{}: people prefer neither caption of any pair", choices.source),
            Remedy::set(Argument::HumanTies, "half").to("count such pairs as half right"),
        ));
    }
    if let Some(resampling) = &intervals {
        found.add(crate::notices::few_resamples(resampling.resamples));
        found.add(crate::notices::resamples_of_few(credits.n_images(), crate::notices::Unit::Image));
        found.add(crate::notices::rare_categories(&credits.rare(crate::notices::FEW_IMAGES)));
    }
    Ok(Preference {
        head: head(drawn.metrics, drawn.measures, intervals, found),
        voters: credits.voters(&choices.source),
        categories: credits.categories(),
        accuracies: credits.accuracies(intervals, progress),
        pairs: credits.pairs(),
        signatures: drawn.signatures,
        protocol,
    })
}

/// The captions of all pairs as two systems that describe an image for each, and the references of each draw.
struct Scenes<'j> {
    judged: &'j [JudgedPair],
    systems: [System; 2],
    draws: Vec<Vec<Vec<&'j str>>>,
}

impl<'j> Scenes<'j> {
    fn new(judged: &'j [JudgedPair], protocol: &Protocol) -> Self {
        let side = |k: usize, name: &str| System {
            name: name.to_owned(),
            images: (0..judged.len() as u32).collect(),
            texts: judged.iter().map(|pair| pair.captions[k].as_str()).collect(),
        };
        let of_draw = |draw| judged.iter().map(|pair| draws::of(pair, protocol, draw)).collect();
        Self {
            judged,
            systems: [side(0, "first"), side(1, "second")],
            draws: (0..protocol.draws).map(of_draw).collect(),
        }
    }

    /// For each draw, the metrics with the scores of those that are computed outside of the engine; empty if there are
    /// none.
    fn compute(
        &self,
        metrics: &[AnyMetric],
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Vec<Vec<AnyMetric>>, Error> {
        if !resources.has::<OutsideMetrics>() {
            return Ok(Vec::new());
        }
        let scene = |references: &Vec<Vec<&'j str>>| Scene {
            systems: &self.systems,
            ids: self.judged.iter().map(|pair| Some(&pair.image)).collect(),
            references: references.clone(),
        };
        let scenes: Vec<Scene<'_>> = self.draws.iter().map(scene).collect();
        outside::compute(metrics, resources, &scenes, progress)
    }
}

/// The scores of both captions of each pair.
#[derive(Default)]
struct DrawScores {
    measures: Vec<Measure>,
    /// The scores: draw after draw, measure after measure, pair after pair.
    values: Vec<Vec<Vec<[f64; 2]>>>,
    metrics: Vec<MetricEntry>,
    signatures: Vec<Signature>,
}

impl DrawScores {
    /// Scores both captions of each pair against the references of every draw; `hashes` are those of given scores, and
    /// `by_draw` the metrics of each draw if these differ.
    fn score(
        scenes: &Scenes<'_>,
        metrics: &[AnyMetric],
        by_draw: &[Vec<AnyMetric>],
        hashes: &[(String, String)],
        progress: &dyn Progress,
        found: &mut Findings,
    ) -> Self {
        let scorer =
            |metrics| RowScorer::new(&scenes.systems, &["first captions", "second captions"], metrics);
        let common = scorer(metrics);
        let (entries, measures) = entries(metrics);
        let mut drawn = Self { measures, metrics: entries, ..Self::default() };
        for (draw, references) in scenes.draws.iter().enumerate() {
            let own = by_draw.get(draw).map(|metrics| scorer(metrics));
            let references = ReferenceSet::of_rows(references);
            let rows = own.as_ref().unwrap_or(&common).score(references, hashes, progress);
            let pairs = |(a, b): (Vec<f64>, Vec<f64>)| a.into_iter().zip(b).map(|(a, b)| [a, b]).collect();
            drawn.values.push(rows.values(0).into_iter().zip(rows.values(1)).map(pairs).collect());
            found.add_once(rows.notices.into_iter().map(|notice| Notice { system: None, ..notice }));
            drawn.signatures = rows.signatures;
        }
        drawn
    }

    /// Adds the protocol to the signatures.
    fn sign(&mut self, protocol: &Protocol, own: OwnReference) {
        for signature in &mut self.signatures {
            if !signature.is_given() {
                signature.push("own-reference", own.name());
                match protocol.references {
                    Some(n) => signature.push("references-per-pair", n),
                    None => signature.push("references-per-pair", "all"),
                }
                signature.push("draws", protocol.draws);
                signature.push("draw-seed", protocol.seed);
            }
            signature.push("human-ties", protocol.human_ties.name());
            signature.push("metric-ties", protocol.metric_ties.name());
        }
    }
}

/// The credit for a preference under the rules for ties: 0, half or 1; `None` if the pair does not count.
fn credit(votes: [f64; 2], [a, b]: [f64; 2], higher: bool, protocol: &Protocol) -> Option<f64> {
    if votes[0] == votes[1] {
        return (protocol.human_ties == HumanTies::Half).then_some(0.5);
    }
    let (first, second) = if higher { (a > b, b > a) } else { (a < b, b < a) };
    let people_first = votes[0] > votes[1];
    Some(match (first || second, protocol.metric_ties) {
        (true, _) => f64::from(u8::from(first == people_first)),
        (false, MetricTies::Half) => 0.5,
        (false, MetricTies::Wrong) => 0.0,
        (false, MetricTies::First) => f64::from(u8::from(people_first)),
    })
}
