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
use capeval_corpus::ratings::{Choices, SegmentScores};
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, System};
use capeval_metric::{AnyMetric, Direction, Signature};
use capeval_report::{HumanTies, Measure, MetricEntry, MetricTies, Notice, Preference, Protocol};

use crate::findings::Findings;
use crate::measures::{entries, head};
use crate::own_reference::ReferenceRules;
use crate::rows::RowScorer;
use crate::{Error, OwnReference, PreferOptions, Selection, given, select_metrics};
use pools::Judged;

/// A request to [`prefer`]. Start from [`PreferRequest::new`].
pub struct PreferRequest<'p> {
    /// The pairs with the votes of people.
    pub choices: Choices,
    /// References to draw from, by image, unless the pairs contain them or scores are given.
    pub references: Option<Captions>,
    /// Precomputed scores of captions, instead of metrics; no references are drawn for them.
    pub scores: Option<SegmentScores>,
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
            scores: None,
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
    let Selection { metrics, notices } = match &scores {
        Some(_) => Selection::default(),
        None => select_metrics(&options.metrics, &resources)?,
    };
    let mut found = Findings::from(notices);
    found.add(pools::unvoted(&choices));
    let may_resample = |judged: &[Judged], n_measures| {
        intervals.map_or(Ok(()), |resampling| accuracy::check(&resampling, judged, n_measures))
    };
    let (judged, drawn) = match &scores {
        Some(scores) => {
            let judged = pools::bare(&choices);
            may_resample(&judged, scores.keys.len())?;
            let values = pools::given(&judged, scores, options.ids)?;
            let measures = given::measures(&scores.keys, &options.lower_is_better, &mut found)?;
            protocol.draws = 1;
            (judged, Drawn { measures, values: vec![values], ..Drawn::default() })
        }
        None => {
            let rules =
                ReferenceRules { own: options.own_reference, surplus: options.surplus, ids: options.ids };
            let judged = pools::with_references(&choices, references.as_ref(), rules, &mut found)?;
            may_resample(&judged, entries(&metrics).1.len())?;
            found.add(draws::settle(&judged, &mut protocol));
            let mut drawn = Drawn::score(&judged, &metrics, &protocol, progress, &mut found);
            drawn.sign(&protocol, options.own_reference);
            (judged, drawn)
        }
    };
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
        found.add(crate::notices::resamples_of_few(credits.n_images(), "image"));
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
        in_percent: false,
    })
}

/// The scores of both captions of each pair.
#[derive(Default)]
struct Drawn {
    measures: Vec<Measure>,
    /// The scores: draw after draw, measure after measure, pair after pair.
    values: Vec<Vec<Vec<[f64; 2]>>>,
    metrics: Vec<MetricEntry>,
    signatures: Vec<Signature>,
}

impl Drawn {
    /// Scores both captions of each pair against the references of every draw.
    fn score(
        judged: &[Judged],
        metrics: &[AnyMetric],
        protocol: &Protocol,
        progress: &dyn Progress,
        found: &mut Findings,
    ) -> Self {
        let side = |k: usize, name: &str| System {
            name: name.to_owned(),
            images: (0..judged.len() as u32).collect(),
            texts: judged.iter().map(|pair| pair.captions[k].as_str()).collect(),
        };
        let systems = [side(0, "first"), side(1, "second")];
        let scorer = RowScorer::new(&systems, &["first captions", "second captions"], metrics);
        let (entries, measures) = entries(metrics);
        let mut drawn = Self { measures, metrics: entries, ..Self::default() };
        for draw in 0..protocol.draws {
            let references = judged.iter().map(|pair| draws::of(pair, protocol, draw)).collect();
            let rows = scorer.score(references, progress);
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
            signature.push("own-reference", own.name());
            match protocol.references {
                Some(n) => signature.push("references-per-pair", n),
                None => signature.push("references-per-pair", "all"),
            }
            signature.push("draws", protocol.draws);
            signature.push("draw-seed", protocol.seed);
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
