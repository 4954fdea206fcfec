//! Computes the scores of groups of images.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use capeval_corpus::SegmentId;
use capeval_evaluate::{Progress, SystemScores};
use capeval_metric::AnyMetric;
use capeval_report::{GroupDifference, GroupFrequencies, GroupRow, GroupScores, Measure, Notice};
use capeval_stats::Resampling;
use rayon::prelude::*;

use super::GroupBy;
use super::differences::{correct, frequency_notice, paired, reversal_notice, ungrouped_notice};
use super::jackknife::WholeSystem;
use super::membership::{GroupName, GroupableImages, Membership};
use crate::derive::Derivations;
use crate::evaluation::Evaluation;
use crate::gallery::Scene;
use crate::measures::corpus_scores;
use crate::several::SystemRuns;
use crate::{Error, intervals};

/// The most groups of which each is compared with the other images.
const MOST_TESTED: usize = 200;

/// The properties by which images are grouped, and how their groups are scored.
pub(crate) struct GroupRequest<'r> {
    pub by: &'r [GroupBy],
    pub frequencies: GroupFrequencies,
    pub intervals: Option<Resampling>,
    pub metrics: &'r [AnyMetric],
    pub derivations: &'r Derivations,
    pub measures: &'r [Measure],
}

/// A system, by its number, and some of its images.
pub type SystemImages = (usize, Vec<u32>);

/// The groups of an evaluation with their scores, before they are tested.
pub(crate) struct GroupEvaluation {
    scores: Vec<GroupScores>,
    /// The system and the images of each row of each property.
    images: Vec<Vec<SystemImages>>,
}

impl GroupRequest<'_> {
    /// Scores the groups of an evaluation whose runs are not put together yet.
    pub fn evaluate(
        &self,
        evaluation: &Evaluation,
        runs: &SystemRuns,
        progress: &dyn Progress,
    ) -> Result<GroupEvaluation, Error> {
        let mut grouped = GroupEvaluation { scores: Vec::new(), images: Vec::new() };
        if self.by.is_empty() {
            return Ok(grouped);
        }
        let Scene { references, systems, .. } = &evaluation.scene;
        let find = |id: &SegmentId| references.find(id).into_iter().collect();
        let images = GroupableImages {
            references: (references.n_references > 0)
                .then_some(&references.set)
                .ok_or("there are no references"),
            systems: (!systems.is_empty()).then_some(&systems[..]).ok_or("there are no captions"),
            n: references.set.n_images() as u32,
            find: &find,
            known: Some(references.known()),
        };
        for by in self.by {
            let membership = Membership::new(by, &images)?;
            if grouped.scores.iter().any(|known| known.by == membership.name()) {
                continue;
            }
            let (scores, images) = self.by_membership(&membership, evaluation, runs, progress)?;
            grouped.scores.push(scores);
            grouped.images.push(images);
        }
        Ok(grouped)
    }

    fn by_membership(
        &self,
        membership: &Membership,
        evaluation: &Evaluation,
        runs: &SystemRuns,
        progress: &dyn Progress,
    ) -> Result<(GroupScores, Vec<SystemImages>), Error> {
        let mut groups: BTreeMap<GroupName, Vec<SystemImages>> = BTreeMap::new();
        let mut without: BTreeSet<u32> = BTreeSet::new();
        let mut members: HashMap<String, HashMap<SegmentId, Vec<usize>>> = HashMap::new();
        let scored = |k: usize| evaluation.scores.get(runs.first(k));
        for (k, scores) in (0..evaluation.scores.len()).map_while(|k| Some((k, scored(k)?))) {
            let first = runs.first(k);
            if let (Membership::Systems(by, _), 2..) = (membership, runs.of(k).len()) {
                return Err(several_captions(runs.name(k, &scores.name), by));
            }
            for image in &scores.images {
                let of_image = membership.of(first, *image);
                if of_image.is_empty() {
                    without.insert(*image);
                }
                for label in of_image {
                    let systems = groups.entry(label.clone()).or_default();
                    match systems.last_mut().filter(|(system, _)| *system == k) {
                        Some((_, images)) => images.push(*image),
                        None => systems.push((k, vec![*image])),
                    }
                }
            }
        }
        for (at, systems) in groups.values().enumerate() {
            for (k, images) in systems {
                let name = scored(*k).map_or("", |scores| runs.name(*k, &scores.name));
                let of_system = members.entry(name.to_owned()).or_default();
                for id in images.iter().filter_map(|image| evaluation.scene.references.id(*image)) {
                    of_system.entry(id.clone()).or_default().push(at);
                }
            }
        }
        let groups: Vec<(String, Vec<SystemImages>)> =
            groups.into_iter().map(|(label, systems)| (label.name(), systems)).collect();
        let rows: Result<Vec<Vec<GroupRow>>, Error> = groups
            .par_iter()
            .map(|(group, systems)| {
                progress.advance(0);
                self.rows(group, systems, evaluation, runs)
            })
            .collect();
        let mut scores = GroupScores {
            by: membership.name().to_owned(),
            frequencies: self.frequencies,
            rows: rows?.into_iter().flatten().collect(),
            without: without.len(),
            members,
        };
        correct(&mut scores, self.measures.len(), |row| &mut row.baseline);
        Ok((scores, groups.into_iter().flat_map(|(_, systems)| systems).collect()))
    }

    /// The scores of a group of each system, with the differences from the first.
    fn rows(
        &self,
        group: &str,
        systems: &[SystemImages],
        evaluation: &Evaluation,
        runs: &SystemRuns,
    ) -> Result<Vec<GroupRow>, Error> {
        let references = &evaluation.scene.references;
        let scored: Vec<SystemScores> = systems
            .iter()
            .map(|(k, images)| self.scores(*k, images, evaluation, runs))
            .collect::<Result<_, _>>()?;
        let first = scored.first().filter(|_| systems.first().is_some_and(|(k, _)| *k == 0));
        let row = |(at, scores): (usize, &SystemScores)| GroupRow {
            group: group.to_owned(),
            system: scores.name.clone(),
            n_images: scores.images.len(),
            scores: corpus_scores(&scores.metrics),
            intervals: self.intervals.map(|resampling| {
                intervals::of(std::slice::from_ref(scores), references, resampling, &()).swap_remove(0)
            }),
            rest: Vec::new(),
            baseline: first.filter(|_| at > 0).map_or_else(Vec::new, |first| paired(first, scores)),
        };
        Ok(scored.iter().enumerate().map(row).collect())
    }

    /// The scores of a system on some images.
    fn scores(
        &self,
        k: usize,
        images: &[u32],
        evaluation: &Evaluation,
        runs: &SystemRuns,
    ) -> Result<SystemScores, Error> {
        let references = &evaluation.scene.references;
        let of_run = |run: usize| evaluation.of_some(run, self.metrics, self.frequencies, images);
        let mut scored: Vec<SystemScores> = runs.of(k).filter_map(of_run).collect();
        scored.iter_mut().for_each(|run| self.derivations.add(run));
        let form = |image: u32| Some(references.ids().form(references.id(image)?).into_owned());
        runs.join_one(k, scored, self.measures, &form)
    }
}

/// The error of a system with several captions for an image, by whose words images are grouped.
fn several_captions(system: &str, by: &str) -> Error {
    Error::with_remedy(
        format!("{system} has several captions for an image, which may be in different groups by {by}"),
        "group by what is the same for all of them, such as words:references, or score each run as a system of its own",
    )
}

impl GroupEvaluation {
    /// The scores with the difference of each group from the other images, and notices, from the statistics of the
    /// whole run.
    pub fn finish(mut self, whole: &[SystemScores], measures: &[Measure]) -> (Vec<GroupScores>, Vec<Notice>) {
        let mut notices = Vec::new();
        let is_tested = |scores: &GroupScores| scores.names().len() <= MOST_TESTED;
        let tested = if self.scores.iter().any(is_tested) { whole } else { &[] };
        let systems: Vec<WholeSystem<'_>> = tested.iter().map(WholeSystem::new).collect();
        for (scores, images) in self.scores.iter_mut().zip(&self.images) {
            if is_tested(scores) {
                let rest: Vec<Vec<GroupDifference>> = images
                    .par_iter()
                    .map(|(k, images)| {
                        systems.get(*k).map_or_else(Vec::new, |whole| whole.differences_from_rest(images))
                    })
                    .collect();
                scores.rows.iter_mut().zip(rest).for_each(|(row, rest)| row.rest = rest);
                correct(scores, measures.len(), |row| &mut row.rest);
            }
            notices.extend(ungrouped_notice(&scores.by, scores.without, "image"));
            notices.extend(reversal_notice(scores, whole, measures));
            if scores.frequencies == GroupFrequencies::Own {
                notices.extend(frequency_notice(scores, images, whole, measures));
            }
        }
        (self.scores, notices)
    }
}
