//! The human row: what people's captions score against those of other people.
//!
//! For its table, COCO's server collected one more caption of each test image, and scored it as a system's. Where there
//! are only references, each of them takes that role in turn: round k holds out the k-th reference of every image,
//! scores it against the others, and counts document frequencies without it. Images with fewer references start again
//! from the first, and there are as many rounds as the image with the most references has. Scores are means over the
//! rounds.

use capeval_choice::{Code, Remedy};
use capeval_corpus::{
    Captions, Duplicate, Empty, GroupedCaptions, Ids, ImageIndex, Missing, Policy, SegmentId, Surplus,
    align_by,
};
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, ReferenceSet, SystemScores};
use capeval_metric::AnyMetric;
use capeval_report::{
    GroupRow, GroupScores, Lengths, Measure, Notice, Provenance, Report, Segments, SystemReport, fixed,
};
use capeval_stats::{ExactSum, Interval, Resampling};
use rayon::prelude::*;

use crate::aligned::AlignedReferences;
use crate::evaluation::{Evaluation, ScoredReport, check_resampling, score_with_statistics};
use crate::findings::Findings;
use crate::groups::{GroupBy, GroupedRows};
use crate::inputs::{Inputs, Scope, Systems};
use crate::intervals::{NO_INTERVAL, Stack};
use crate::measures::{corpus_scores, entries, head};
use crate::reference_hash::reference_hash;
use crate::references::{ReferenceSource, all};
use crate::request::{Request, ScoreRequest};
use crate::restrict::Subset;
use crate::{Error, ScoreOptions, Selection, notices};

/// The name of the row.
const NAME: &str = "human";

/// A reference without words is held out like any other.
const POLICY: Policy = Policy {
    missing: Missing::Error,
    surplus: Surplus::Error,
    duplicate: Duplicate::Error,
    empty: Empty::Keep,
};

/// As [`score`](crate::score()), with the human row last. Without systems, it is the only row.
pub(crate) fn score_with_human(request: ScoreRequest<'_>, selection: Selection) -> Result<Report, Error> {
    if request.systems.is_empty() {
        return alone(request, selection);
    }
    if request.systems.iter().any(|(name, _)| name == NAME) {
        return Err(Error::with_remedy(
            format!("a system is called '{NAME}', as the row of people"),
            "give it another name",
        ));
    }
    let (source, options, progress) = (request.references.clone(), request.options.clone(), request.progress);
    let by = request.groups.clone();
    let resources = request.resources.clone();
    let ScoredReport { mut report, scores, references } =
        score_with_statistics(request, selection.clone(), Default::default(), Scope::Each)?;
    let described = described(&scores, &references);
    let list = (described.len() < references.n_images).then_some(&described[..]);
    let rounds = Rounds { by, ..Rounds::new(&source, list, options.ids)? };
    let Row { human, groups, notices: found, held_out } =
        rounds.score(&options, selection, &resources, progress)?;
    if let Some(gallery) = &mut report.gallery {
        gallery.held_out = held_out;
    }
    let mut all = Findings::from(std::mem::take(&mut report.head.notices));
    all.add_new_kinds(found);
    all.add([Notice::new(
        Code::HumanReferences,
        "the human row is scored against one reference fewer per image than the systems, which lowers most scores",
    )]);
    if report.same_images && report.systems.iter().any(|system| system.n_images != human.n_images) {
        report.same_images = false;
        all.add([notices::different_images()]);
    }
    report.head.notices = all.into();
    report.systems.push(human);
    report.groups.iter_mut().zip(groups).for_each(|(known, own)| known.join(own));
    Ok(report)
}

/// A report with the human row only.
fn alone(request: ScoreRequest<'_>, selection: Selection) -> Result<Report, Error> {
    let Request { references, reference_files, groups: by, options, resources, progress, .. } = request;
    if options.gallery {
        return Err(Error::with_remedy(
            "a page shows systems, and there is none",
            "give one, or leave out the page",
        ));
    }
    let (entries, measures) = entries(&selection.metrics);
    let rounds = Rounds { by, ..Rounds::new(&references, options.images.as_deref(), options.ids)? };
    let listed = rounds.subset.as_ref().map(Subset::notice);
    let listed = listed.map(|notice| notices::left_out(notice, &selection.metrics));
    let Row { human, groups, mut notices, .. } = rounds.score(&options, selection, &resources, progress)?;
    notices.extend(listed);
    Ok(Report {
        head: head(entries, measures, options.intervals, notices),
        systems: vec![human],
        same_images: true,
        groups,
        provenance: Provenance {
            files: reference_files,
            n_images: rounds.references.len(),
            n_references: rounds.references.captions().len(),
            policy: Some(POLICY),
            ids: Some(options.ids),
        },
        ..Report::default()
    })
}

/// The human row, and what else a report says about it.
struct Row {
    human: SystemReport,
    groups: Vec<GroupScores>,
    notices: Vec<Notice>,
    /// The scores of each caption in each round, if a page asks for them.
    held_out: Vec<f64>,
}

/// The images that any system was scored on.
fn described(scores: &[SystemScores], references: &AlignedReferences) -> Vec<SegmentId> {
    let mut images: Vec<u32> = scores.iter().flat_map(|system| system.images.iter().copied()).collect();
    images.sort_unstable();
    images.dedup();
    images.into_iter().filter_map(|image| references.id(image)).cloned().collect()
}

/// The references of all images that have at least two.
struct Rounds {
    references: GroupedCaptions,
    /// The images with at least two references.
    images: Vec<usize>,
    /// These images by their ids.
    index: ImageIndex,
    /// The places of these images in the order in which the reference program reads them.
    order: Vec<u32>,
    /// The number of rounds.
    n: usize,
    /// Notices about references that were left out.
    notices: Vec<Notice>,
    /// The listed images, if there is a list.
    subset: Option<Subset>,
    /// The notes that metrics keep of prepared references, on a set without images.
    remembered: ReferenceSet,
    /// The properties that group images.
    by: Vec<GroupBy>,
}

impl Rounds {
    fn new(source: &ReferenceSource, list: Option<&[SegmentId]>, ids: Ids) -> Result<Self, Error> {
        let subset = list.map(|list| Subset::new(list, source, "reference", ids)).transpose()?;
        let captions = source.to_captions()?;
        let captions = match &subset {
            None => captions.into_owned(),
            Some(subset) => subset.of(&captions),
        };
        let references = GroupedCaptions::new(captions, ids)?;
        let (images, single): (Vec<usize>, Vec<usize>) =
            (0..references.len()).partition(|image| references.rows(*image).len() > 1);
        let Some(n) = images.iter().map(|image| references.rows(*image).len()).max() else {
            return Err(Error::with_remedy(
                format!("{}: no image has two references, of which one could be held out", source.source()),
                Remedy::say("give more references per image; for plain text, one file for each"),
            ));
        };
        let mut found = references.captions().notices().to_vec();
        found.extend(notices::empty_references(references.captions()));
        found.extend(single_references(&references, &single));
        let id = |image: &usize| references.id(*image).cloned();
        let index = ImageIndex::of(references.captions().source(), images.iter().filter_map(id), ids)?;
        let place = |image: u32| images.binary_search(&(image as usize)).ok();
        let order = references.order().into_iter().filter_map(place).map(|place| place as u32).collect();
        let remembered = match source {
            ReferenceSource::Captions(_) => ReferenceSet::default(),
            ReferenceSource::Prepared { prepared, source } => {
                ReferenceSet::default().with_memos_of(&all(prepared, source)?)
            }
        };
        Ok(Self { images, index, order, n, notices: found, subset, remembered, references, by: Vec::new() })
    }

    /// One round: a reference of each image as a candidate, and the others as references.
    fn deal(&self, round: usize, metrics: &[AnyMetric]) -> Result<Inputs, Error> {
        let mut candidates = Captions::new(self.references.captions().source());
        let mut others: Vec<Vec<&str>> = Vec::with_capacity(self.images.len());
        for (image, id) in self.images.iter().zip(self.index.ids()) {
            let mut texts: Vec<&str> = self.references.texts(*image).collect();
            candidates.push(id.clone(), texts.remove(round % texts.len()));
            others.push(texts);
        }
        let set: ReferenceSet = others.into_iter().collect();
        let set = set.in_order(self.order.clone()).with_memos_of(&self.remembered);
        let aligned = align_by(&self.index, &candidates, &POLICY, notices::is_empty(metrics))?;
        let subset = self.subset.as_ref().map(|subset| ("subset", subset.len().to_string()));
        let held_out = ("held-out", format!("1({})", self.n));
        let systems = Systems {
            captions: vec![(NAME.to_owned(), candidates)],
            aligned: vec![aligned],
            extras: subset.into_iter().chain([held_out]).collect(),
            ..Systems::default()
        };
        let references = AlignedReferences::whole(set, self.index.clone());
        Ok(Inputs { systems, references, given: Vec::new(), readings: Vec::new() })
    }

    fn score(
        &self,
        options: &ScoreOptions,
        selection: Selection,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Row, Error> {
        let Selection { metrics, notices: selected } = selection;
        check_resampling(options.intervals, self.n * entries(&metrics).1.len())?;
        let mut found = Findings::from(selected);
        found.add(self.notices.iter().cloned());
        let (mut rounds, mut rows) = (Vec::with_capacity(self.n), Vec::with_capacity(self.n));
        for round in 0..self.n {
            let inputs = self.deal(round, &metrics)?;
            let mut of_round = Findings::from(inputs.check(&options.accept, &metrics)?);
            let metrics = inputs.compute(&metrics, resources, progress)?;
            let evaluation = Evaluation::run(inputs, &metrics, !self.by.is_empty(), progress);
            rows.extend(evaluation.rows(true, &mut of_round));
            evaluation.tell_of_texts(&mut of_round);
            found.add_new_kinds(Vec::from(of_round));
            rounds.push((evaluation, metrics));
        }
        let whole: Vec<&SystemScores> = rounds.iter().flat_map(|(round, _)| &round.scores).collect();
        let references = rounds.first().map(|(round, _)| &*round.scene.references);
        let wanted = options.intervals.zip(references);
        let intervals =
            wanted.map(|(resampling, references)| intervals(&whole, references, resampling, progress));
        let (groups, of_groups) = self.groups(&rounds, options, progress)?;
        found.add(of_groups);
        if let Some(resampling) = options.intervals {
            found.add(notices::of_intervals(resampling, [self.images.len()], notices::Unit::Image));
        }
        let segments = rows.iter().filter(|_| options.gallery).filter_map(|row| row.segments.as_ref());
        let held_out = segments.flat_map(|segments| segments.values.iter().copied()).collect();
        let mut human = SystemReport { intervals, ..self.mean(rows) };
        found.add(human.segments.as_ref().and_then(|segments| gaps(&metrics, segments)));
        human.segments = human.segments.filter(|_| options.segments || options.gallery);
        Ok(Row { human, groups, notices: found.into(), held_out })
    }

    /// The means over rounds of the scores of groups of images.
    fn groups(
        &self,
        rounds: &[(Evaluation, Vec<AnyMetric>)],
        options: &ScoreOptions,
        progress: &dyn Progress,
    ) -> Result<(Vec<GroupScores>, Vec<Notice>), Error> {
        let Some((first, _)) = rounds.first().filter(|_| !self.by.is_empty()) else {
            return Ok(Default::default());
        };
        let texts = self.images.iter().map(|image| self.references.texts(*image));
        let references: ReferenceSet = texts.collect();
        let rows = GroupedRows {
            images: self.index.ids().iter().collect(),
            ids: options.ids,
            references: Ok(&references),
            captions: Err("in the human row, each reference is the candidate in turn"),
            source: "",
        };
        let frequencies = options.group_df;
        let (by, notices) = rows.results(&self.by, frequencies, |images| {
            let of_round = |(round, metrics): &(Evaluation, Vec<AnyMetric>)| {
                round.of_some(0, metrics, frequencies, images)
            };
            let scored: Vec<SystemScores> = rounds.iter().filter_map(of_round).collect();
            let corpora: Vec<Vec<f64>> = scored.iter().map(|run| corpus_scores(&run.metrics)).collect();
            let (scored, references): (Vec<&SystemScores>, _) =
                (scored.iter().collect(), &first.scene.references);
            vec![GroupRow {
                system: NAME.to_owned(),
                n_images: images.len(),
                scores: means(corpora.iter().map(|scores| &scores[..])),
                intervals: options
                    .intervals
                    .map(|resampling| intervals(&scored, references, resampling, progress)),
                ..GroupRow::default()
            }]
        })?;
        Ok((by.into_iter().map(GroupScores::from).collect(), notices))
    }

    /// The mean of the rows of all rounds, which are signed alike.
    fn mean(&self, mut rows: Vec<SystemReport>) -> SystemReport {
        let scores = means(rows.iter().map(|row| &row.scores[..]));
        let segments: Option<Vec<&[f64]>> =
            rows.iter().map(|row| row.segments.as_ref().map(|segments| &segments.values[..])).collect();
        let values = segments.map(|values| means(values.into_iter()));
        let lengths: Option<Vec<[f64; 2]>> =
            rows.iter().map(|row| row.lengths.map(|l| [l.candidates, l.references])).collect();
        let lengths = lengths.map(|all| means(all.iter().map(|lengths| &lengths[..])));
        let lengths = lengths.map(|means| Lengths { candidates: means[0], references: means[1] });
        let n_references = self.images.iter().map(|image| self.references.rows(*image).len()).sum();
        let mut row = rows.swap_remove(0);
        if let Some((segments, values)) = row.segments.as_mut().zip(values) {
            segments.values = values;
        }
        let of = |image: &usize| Some((self.references.id(*image)?, self.references.texts(*image)));
        let hash = reference_hash(self.images.par_iter().filter_map(of));
        SystemReport { scores, lengths, n_references, reference_hash: Some(hash), ..row }
    }
}

/// A notice about scores that not every image has in every round, such as those of SPICE's subsets.
fn gaps(metrics: &[AnyMetric], segments: &Segments) -> Option<Notice> {
    let (_, measures) = entries(metrics);
    let mean = |(column, measure): (usize, &Measure)| {
        let values = segments.values.chunks_exact(measures.len()).map(|row| row[column]);
        let (there, absent): (Vec<f64>, Vec<f64>) = values.partition(|value| !value.is_nan());
        let mut sum = ExactSum::default();
        there.iter().for_each(|value| sum.add(*value));
        let mean = fixed(sum.value() / there.len() as f64, 3);
        (!absent.is_empty()).then(|| format!("{} {mean}", measure.short_label()))
    };
    let means: Vec<String> = measures.iter().enumerate().filter_map(mean).collect();
    let message = format!(
        "some images lack some scores in some rounds; these scores are means over the rounds of means over the images, \
         and the means over the images that have them in all rounds are {}",
        means.join(", "),
    );
    (!means.is_empty()).then(|| Notice::new(Code::AbsentScores, message))
}

/// A notice about images with a single reference.
fn single_references(references: &GroupedCaptions, single: &[usize]) -> Option<Notice> {
    let first = references.id(*single.first()?)?.quoted();
    let count = single.len();
    let (images, are, such) = match count {
        1 => ("image has", "is", "it is"),
        _ => ("images have", "are", "the first is"),
    };
    let message = format!(
        "{count} {images} a single reference, which leaves nothing to score it against, and {are} left out of the \
         human row; {such} {first}"
    );
    let ids = single.iter().take(Notice::MAX_IDS).filter_map(|image| references.id(*image)).cloned();
    Some(Notice::new(Code::SingleReferences, message).count(count).ids(ids.collect()))
}

/// The means of numbers at the same place.
fn means<'n>(rows: impl Iterator<Item = &'n [f64]> + Clone) -> Vec<f64> {
    let n = rows.clone().count() as f64;
    let mut sums: Vec<ExactSum> = Vec::new();
    for row in rows {
        sums.resize_with(row.len(), ExactSum::default);
        sums.iter_mut().zip(row).for_each(|(sum, value)| sum.add(*value));
    }
    sums.iter().map(|sum| sum.value() / n).collect()
}

/// The intervals of the means over rounds, which share the draws of images.
fn intervals(
    rounds: &[&SystemScores],
    references: &AlignedReferences,
    resampling: Resampling,
    progress: &dyn Progress,
) -> Vec<Interval> {
    let stack = Stack::new(rounds, references);
    let values = stack.bootstrap(resampling, progress);
    let n_measures = stack.n_values / rounds.len().max(1);
    let interval = |(measure, has_one): (usize, bool)| {
        if !has_one {
            return NO_INTERVAL;
        }
        let of_resample = values.chunks_exact(stack.n_values);
        let mean = |values: &[f64]| {
            values.iter().skip(measure).step_by(n_measures).sum::<f64>() / rounds.len() as f64
        };
        Interval::percentile(of_resample.map(mean).collect(), resampling.level)
    };
    stack.has_interval(0).enumerate().map(interval).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use capeval_evaluate::PreparedReferences;
    use capeval_metric::{About, Input, Mean, Memo, Metric, Part, Reading, References, Segment, Signature};
    use capeval_text::Tokenizer;

    use super::*;
    use crate::references::whole;

    /// A metric whose score is the share of references of which it has a note.
    struct NoteShare;

    impl Metric for NoteShare {
        type Model = ();
        type Stats = Mean;
        type Scratch = ();

        fn about(&self) -> About {
            let part = Part::score("noted", "noted", 0.0..=1.0);
            let input = Input::new(Reading::Tokens(Tokenizer::None));
            About::new(Signature::new("noted"), input, Mean::columns(), vec![part])
        }

        fn fit(&self, _: &References<'_>) {}

        fn remember(&self, references: &References<'_>, _: &(dyn Fn(usize) + Sync)) -> Option<Memo> {
            let texts = (0..references.texts.len()).map(|k| references.texts.get(k));
            let notes: BTreeMap<String, String> =
                texts.map(|text| (text.to_owned(), String::new())).collect();
            Some(Memo::new("noted".to_owned(), &notes))
        }

        fn measure(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Mean {
            let references = segment.references;
            let memo = references.memo("noted");
            let texts = references.of(segment.image).map(|k| references.texts.get(k));
            let noted = texts.clone().filter(|text| memo.is_some_and(|memo| memo.get(text).is_some()));
            Mean::of(noted.count() as f64 / texts.count() as f64)
        }

        fn score(&self, stats: &Mean, values: &mut [f64]) {
            values.fill(stats.value());
        }
    }

    #[test]
    fn rounds_keep_what_metrics_remember_of_prepared_references() {
        let mut captions = Captions::new("refs.json");
        for (image, text) in [(1, "a dog"), (1, "a cat"), (2, "two men"), (2, "people"), (2, "a crowd")] {
            captions.push(SegmentId::from(image), text);
        }
        let metrics = vec![AnyMetric::new(NoteShare)];
        let (ids, mut references) = whole(captions.clone(), Ids::AsGiven).unwrap();
        references.prepare([metrics[0].input()]);
        references.remember(&metrics, &());
        let prepared = Box::new(PreparedReferences::new(ids, references, Vec::new()));
        let prepared = ReferenceSource::Prepared { prepared, source: "refs.json".to_owned() };
        let selection = Selection { metrics, notices: Vec::new() };
        let score = |source: ReferenceSource| {
            let rounds = Rounds::new(&source, None, Ids::AsGiven).unwrap();
            let row = rounds
                .score(&ScoreOptions::default(), selection.clone(), &Resources::default(), &())
                .unwrap();
            (row.human.scores, row.human.n_images, row.human.n_references)
        };
        assert_eq!(score(prepared), (vec![1.0], 2, 5));
        assert_eq!(score(captions.into()), (vec![0.0], 2, 5), "nothing was remembered of them");
    }

    /// The held-out references come from the references' own file by design.
    #[test]
    fn equal_references_raise_no_doubt_about_the_file() {
        let mut captions = Captions::new("refs.json");
        for (image, text) in [(1, "a dog"), (1, "a dog"), (2, "two men"), (2, "two men")] {
            captions.push(SegmentId::from(image), text);
        }
        let selection = Selection { metrics: crate::metrics(["rouge-l"], &[]).unwrap(), notices: Vec::new() };
        let rounds = Rounds::new(&captions.into(), None, Ids::AsGiven).unwrap();
        let row = rounds.score(&ScoreOptions::default(), selection, &Resources::default(), &()).unwrap();
        assert_eq!((row.human.scores, row.notices), (vec![1.0], Vec::new()));
    }

    #[test]
    fn scores_that_images_lack_are_told_with_their_means() {
        let metrics = crate::metrics(["bleu:n=2"], &[]).unwrap();
        let told = |values: &[f64]| {
            let segments = Segments { values: values.to_vec(), ..Segments::default() };
            gaps(&metrics, &segments).map(|notice| notice.message)
        };
        assert_eq!(told(&[0.5, 0.25, 0.5, 0.75]), None);
        let message = told(&[0.5, 0.25, f64::NAN, 0.75, 0.25, 0.5]).unwrap();
        assert!(message.ends_with("that have them in all rounds are BLEU-1 0.375"), "{message}");
    }
}
