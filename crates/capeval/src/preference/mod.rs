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
use capeval_corpus::Ids;
use capeval_corpus::ratings::Choices;
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, ReferenceSet, System, SystemScores};
use capeval_metric::{AnyMetric, Direction, Signature};
use capeval_report::{
    ByGroup, GroupFrequencies, HumanTies, Measure, MetricEntry, MetricTies, Notice, Preference, Protocol,
};
use capeval_stats::Resampling;

use crate::groups::{GroupBy, GroupedRows, signed};
use crate::measures::{entries, head};
use crate::outside::{self, CaptionBatch, OutsideMetrics};
use crate::people::ChosenMeasures;
use crate::rows::{RowScorer, Rows, values};
use crate::{Error, OwnReference, PeopleRequest, PreferOptions};
use pools::JudgedPair;

/// A request to [`prefer`]: by default with five references and five draws.
pub type PreferRequest<'p> = PeopleRequest<'p, Choices, PreferOptions>;

/// Measures how often metrics prefer the caption that people prefer.
///
/// The references drawn for a pair depend only on the seed, the pair and the number of the draw, not on the order of
/// the pairs. If a score is NaN, the metric prefers neither caption.
pub fn prefer(mut request: PreferRequest<'_>) -> Result<Preference, Error> {
    let (mut protocol, intervals) = (request.options.protocol(), request.options.intervals);
    protocol.check()?;
    if let Some(resampling) = &intervals {
        resampling.check()?;
    }
    let computes = request.computes();
    let ChosenMeasures { metrics, given, mut found } = request.choose()?;
    let PreferRequest { people: choices, references, groups, options, resources, progress, .. } = request;
    found.add(pools::unvoted(&choices));
    let judged = match computes {
        true => pools::with_references(&choices, references.as_ref(), options.reference_rules(), &mut found)?,
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
    let scorers = scenes.scorers(&metrics, &by_draw);
    let draws = scenes.score(&scorers, &given.hashes(), !groups.is_empty(), progress);
    found.add_once(draws.iter().flat_map(|rows| rows.notices.iter().cloned()).map(of_both));
    let signatures = draws.last().map_or_else(Vec::new, |rows| rows.signatures.clone());
    let signatures = signed_by(&protocol, options.own_reference, signatures);
    let values: Vec<DrawValues> =
        draws.iter().map(|rows| pairs_of(&rows.scores[0], &rows.scores[1])).collect();
    let mut names: Vec<&str> = judged.iter().map(|pair| pair.category.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let (source, ids, frequencies) = (&choices.source, options.ids, options.group_df);
    let frame = Frame { source, protocol, ids, intervals, measured: entries(&metrics), names, frequencies };
    let credits = frame.credits(&judged, &values);
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
    let (groups, of_groups) = frame.by_group(&judged, &draws, &groups, &signatures, progress)?;
    found.add(of_groups);
    let mut whole = Preference { groups, ..frame.preference(&credits, signatures, progress) };
    whole.head.notices = found.into();
    Ok(whole)
}

/// The scores of both captions of each pair, measure after measure.
type DrawValues = Vec<Vec<[f64; 2]>>;

/// What the results of all pairs and of groups share.
struct Frame<'r> {
    source: &'r str,
    protocol: Protocol,
    ids: Ids,
    intervals: Option<Resampling>,
    measured: (Vec<MetricEntry>, Vec<Measure>),
    /// The categories of all pairs, in order.
    names: Vec<&'r str>,
    frequencies: GroupFrequencies,
}

impl<'r> Frame<'r> {
    /// The results of groups of images, with notices.
    fn by_group(
        &self,
        judged: &[JudgedPair],
        draws: &[Rows<'_>],
        by: &[GroupBy],
        signatures: &[Signature],
        progress: &dyn Progress,
    ) -> Result<(Vec<ByGroup<Preference>>, Vec<Notice>), Error> {
        let grouped = GroupedRows {
            images: judged.iter().map(|pair| &pair.image).collect(),
            ids: self.ids,
            references: Err("references are drawn again for each pair"),
            captions: Err("a pair has two captions"),
            source: self.source,
        };
        let (mut groups, notices) = grouped.results(by, self.frequencies, |pairs| {
            let some: Vec<JudgedPair> = pairs.iter().map(|pair| judged[*pair as usize].clone()).collect();
            let of_draw = |rows: &Rows<'_>| {
                let [first, second] = [0, 1].map(|side| rows.of_some(side, self.frequencies, pairs));
                pairs_of(&first, &second)
            };
            let values: Vec<DrawValues> = draws.iter().map(of_draw).collect();
            let one = self.preference(&self.credits(&some, &values), signatures.to_vec(), progress);
            Preference { pairs: Vec::new(), ..one }
        })?;
        groups.iter_mut().for_each(|by| signed(by, |one| &mut one.signatures));
        Ok((groups, notices))
    }

    /// What each measure gets for each pair; `values` are the scores of each draw.
    fn credits<'j>(&self, judged: &'j [JudgedPair], values: &'j [DrawValues]) -> accuracy::Credits<'j>
    where
        'r: 'j,
    {
        let (_, measures) = &self.measured;
        let higher: Vec<bool> =
            measures.iter().map(|measure| measure.direction == Direction::HigherIsBetter).collect();
        accuracy::Credits::new((judged, &self.names), values, &higher, &self.protocol, self.ids)
    }

    /// The accuracies, without notices.
    fn preference(
        &self,
        credits: &accuracy::Credits<'_>,
        signatures: Vec<Signature>,
        progress: &dyn Progress,
    ) -> Preference {
        let (metrics, measures) = self.measured.clone();
        Preference {
            head: head(metrics, measures, self.intervals, Vec::new()),
            voters: credits.voters(self.source),
            categories: credits.categories(),
            accuracies: credits.accuracies(self.intervals, progress),
            pairs: credits.pairs(),
            signatures,
            protocol: self.protocol,
            groups: Vec::new(),
        }
    }
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
        let scene = |references: &Vec<Vec<&'j str>>| CaptionBatch {
            systems: &self.systems,
            ids: self.judged.iter().map(|pair| Some(&pair.image)).collect(),
            references: references.clone(),
        };
        let scenes: Vec<CaptionBatch<'_>> = self.draws.iter().map(scene).collect();
        outside::compute(metrics, resources, &scenes, progress)
    }

    /// What scores each draw: one for all, unless its metrics differ.
    fn scorers<'s>(&'s self, metrics: &'s [AnyMetric], by_draw: &'s [Vec<AnyMetric>]) -> Vec<RowScorer<'s>> {
        let scorer = |metrics| RowScorer::new(&self.systems, &["first captions", "second captions"], metrics);
        match by_draw {
            [] => vec![scorer(metrics)],
            all => all.iter().map(|metrics| scorer(metrics)).collect(),
        }
    }

    /// Scores both captions of each pair against the references of every draw; `hashes` are those of given scores.
    fn score<'s>(
        &'s self,
        scorers: &[RowScorer<'s>],
        hashes: &[(String, String)],
        has_groups: bool,
        progress: &dyn Progress,
    ) -> Vec<Rows<'s>> {
        let scorers = scorers.iter().cycle();
        let score = |(references, scorer): (&Vec<Vec<&str>>, &RowScorer<'s>)| {
            scorer.score(ReferenceSet::of_rows(references), hashes, has_groups, progress)
        };
        self.draws.iter().zip(scorers).map(score).collect()
    }
}

/// A notice about the captions of either side.
fn of_both(notice: Notice) -> Notice {
    Notice { system: None, ..notice }
}

/// The scores of first and second captions by pair.
fn pairs_of(first: &SystemScores, second: &SystemScores) -> DrawValues {
    let pairs = |(a, b): (Vec<f64>, Vec<f64>)| a.into_iter().zip(b).map(|(a, b)| [a, b]).collect();
    values(first).into_iter().zip(values(second)).map(pairs).collect()
}

/// The signatures with the protocol.
fn signed_by(protocol: &Protocol, own: OwnReference, mut signatures: Vec<Signature>) -> Vec<Signature> {
    for signature in &mut signatures {
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
    signatures
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
