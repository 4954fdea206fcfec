//! The human row: what people's captions score against those of other people.
//!
//! For its table, COCO's server collected one more caption of each test image, and scored it as a system's. Where there
//! are only references, each of them takes that role in turn: round k holds out the k-th reference of every image,
//! scores it against the others, and counts document frequencies without it. Images with fewer references start again
//! from the first, and there are as many rounds as the image with the most references has. Scores are means over the
//! rounds.

use capeval_choice::Remedy;
use capeval_corpus::{Captions, Empty, GroupedCaptions, Ids, SegmentId};
use capeval_evaluate::{Prepared, Progress, ReferenceSet, SystemScores};
use capeval_metric::Signature;
use capeval_report::{Lengths, Notice, Report, SystemReport};
use capeval_stats::{ExactSum, Interval, Resampling};

use crate::intervals::{NO_INTERVAL, Stack};
use crate::measures::entries;
use crate::references::{AlignedReferences, ReferenceSource, all, whole};
use crate::restrict::Subset;
use crate::score::{Request, Scope, Scored, score_with_statistics};
use crate::{Error, ScoreOptions, ScoreRequest, Selection, notices};

/// The name of the row.
const NAME: &str = "human";

/// As [`score`](crate::score()), with the human row last. Without systems, it is the only row.
pub(crate) fn score_with_human(request: ScoreRequest<'_>, selection: Selection) -> Result<Report, Error> {
    let Request { references, reference_files, systems, options, resources, progress } = request;
    if systems.is_empty() {
        if options.gallery {
            return Err(Error::with_remedy(
                "a page shows systems, and there is none",
                "give one, or leave out the page",
            ));
        }
        let rounds = Rounds::new(&references, options.images.as_deref(), options.ids)?;
        let Row { human, mut report, .. } = rounds.score(&options, &selection, progress)?;
        let listed = rounds.subset.as_ref().map(Subset::notice);
        report.head.notices.extend(listed.map(|notice| notices::left_out(notice, selection.metrics.iter())));
        report.provenance.files = reference_files;
        report.systems = vec![human];
        return Ok(report);
    }
    if systems.iter().any(|(name, _)| name == NAME) {
        return Err(Error::with_remedy(
            format!("a system is called '{NAME}', as the row of people"),
            "give it another name",
        ));
    }
    let source = references.clone();
    let human_options = ScoreOptions { explain: Vec::new(), ..options.clone() };
    let request = Request { references, reference_files, systems, options, resources, progress };
    let Scored { mut report, scores, references } =
        score_with_statistics(request, selection.clone(), Scope::Each)?;
    let described = described(&scores, &references);
    let list = (described.len() < references.n_images).then_some(&described[..]);
    let rounds = Rounds::new(&source, list, human_options.ids)?;
    let Row { human, report: alone, held_out } = rounds.score(&human_options, &selection, progress)?;
    if let Some(gallery) = &mut report.gallery {
        gallery.held_out = held_out;
    }
    add_new(&mut report.head.notices, &alone.head.notices);
    report.head.notices.push(Notice::new(
        "human-references",
        "the human row is scored against one reference fewer per image than the systems, which lowers most scores",
    ));
    if report.same_images && report.systems.iter().any(|system| system.n_images != human.n_images) {
        report.same_images = false;
        report.head.notices.push(notices::different_images());
    }
    report.systems.push(human);
    Ok(report)
}

/// The human row, and what it was computed from.
struct Row {
    human: SystemReport,
    /// A report with everything but rows.
    report: Report,
    /// The scores of each caption in each round, if a page asks for them.
    held_out: Vec<f64>,
}

/// Adds the notices of kinds that are not among `notices`: rounds repeat each other's with other numbers.
fn add_new(notices: &mut Vec<Notice>, others: &[Notice]) {
    let is_new = |other: &&Notice| notices.iter().all(|known| known.code != other.code);
    let new: Vec<Notice> = others.iter().filter(is_new).cloned().collect();
    notices.extend(new);
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
    /// The number of rounds.
    n: usize,
    /// What was left out.
    notices: Vec<Notice>,
    /// The listed images, if there is a list.
    subset: Option<Subset>,
    /// What metrics remember of prepared references, on a set without images.
    remembered: Option<ReferenceSet>,
}

impl Rounds {
    fn new(source: &ReferenceSource, list: Option<&[SegmentId]>, ids: Ids) -> Result<Self, Error> {
        let subset = list.map(|list| Subset::new(list, source, ids)).transpose()?;
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
        if let Some(first) = single.first() {
            let (count, id) = (single.len(), references.id(*first).map(|id| id.quoted().to_string()));
            let (images, such) =
                if count == 1 { ("image has", "it is") } else { ("images have", "the first is") };
            let message = format!(
                "{count} {images} a single reference, which leaves nothing to score it against, and {} left out of the \
                 human row; {such} {}",
                if count == 1 { "is" } else { "are" },
                id.unwrap_or_default()
            );
            let ids = single.iter().take(Notice::MAX_IDS).filter_map(|image| references.id(*image)).cloned();
            found.push(Notice::new("single-references", message).count(count).ids(ids.collect()));
        }
        let remembered = match source {
            ReferenceSource::Captions(_) => None,
            ReferenceSource::Prepared { prepared, source } => {
                Some(ReferenceSet::default().with_memos_of(&all(prepared, source)?))
            }
        };
        Ok(Self { images, n, notices: found, subset, remembered, references })
    }

    /// The references and the candidates of one round.
    fn deal(&self, round: usize) -> (Captions, Captions) {
        let grouped = &self.references;
        let source = grouped.captions().source();
        let (mut references, mut candidates) = (Captions::new(source), Captions::new(source));
        for image in grouped.order() {
            if let Some(id) =
                grouped.id(image as usize).filter(|_| self.images.binary_search(&(image as usize)).is_ok())
            {
                references.declare(id.clone());
            }
        }
        for image in &self.images {
            let Some(id) = grouped.id(*image) else { continue };
            let texts = grouped.texts(*image);
            let held_out = round % texts.len();
            for (k, text) in texts.enumerate() {
                let part = if k == held_out { &mut candidates } else { &mut references };
                part.push(id.clone(), text);
            }
        }
        (references, candidates)
    }

    fn score(
        &self,
        options: &ScoreOptions,
        selection: &Selection,
        progress: &dyn Progress,
    ) -> Result<Row, Error> {
        if let Some(resampling) = &options.intervals {
            resampling.check()?;
            resampling.check_values(self.n * entries(&selection.metrics).1.len())?;
        }
        let rounds: Vec<Scored> = (0..self.n)
            .map(|round| self.round(round, options, selection, progress))
            .collect::<Result<_, _>>()?;
        let intervals = options.intervals.map(|resampling| intervals(&rounds, resampling, progress));
        let mut found = [&selection.notices[..], &self.notices].concat();
        for round in &rounds {
            add_new(&mut found, &round.report.head.notices);
        }
        found.extend(
            options
                .intervals
                .into_iter()
                .flat_map(|r| notices::of_intervals(r, [self.images.len()], "image")),
        );
        let mut reports: Vec<Report> = rounds.into_iter().map(|round| round.report).collect();
        let rows: Vec<SystemReport> =
            reports.iter_mut().flat_map(|report| report.systems.drain(..)).collect();
        let mut report = reports.swap_remove(0);
        report.head.notices = found;
        report.head.resampling = options.intervals;
        report.provenance.n_images = self.references.len();
        report.provenance.n_references = self.references.captions().len();
        let segments = rows.iter().filter(|_| options.gallery).filter_map(|row| row.segments.as_ref());
        let held_out = segments.flat_map(|segments| segments.values.iter().copied()).collect();
        let human = SystemReport { intervals, ..self.mean(rows) };
        Ok(Row { human, report, held_out })
    }

    /// The scores of one round.
    fn round(
        &self,
        round: usize,
        options: &ScoreOptions,
        selection: &Selection,
        progress: &dyn Progress,
    ) -> Result<Scored, Error> {
        let (references, candidates) = self.deal(round);
        let references = match &self.remembered {
            None => references.into(),
            Some(known) => {
                let source = references.source().to_owned();
                let (ids, references) = whole(references, options.ids)?;
                let references = references.with_memos_of(known);
                let prepared = Box::new(Prepared::new(ids, references, Vec::new()));
                ReferenceSource::Prepared { prepared, source }
            }
        };
        let request = Request {
            options: ScoreOptions {
                ids: options.ids,
                // A reference without words is held out like any other.
                empty: Empty::Keep,
                segments: options.segments || options.gallery,
                ..ScoreOptions::default()
            },
            progress,
            ..ScoreRequest::new(references, [(NAME, candidates)])
        };
        let selection = Selection { metrics: selection.metrics.clone(), notices: Vec::new() };
        score_with_statistics(request, selection, Scope::Each)
    }

    /// The mean of the rows of all rounds.
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
        let signatures = row.signatures.iter().map(|signature| self.signed(signature)).collect();
        SystemReport { scores, signatures, lengths, n_references, ..row }
    }

    /// The signature of a round, with what else the mean of rounds depends on.
    fn signed(&self, of_round: &Signature) -> Signature {
        let mut signature = Signature::new(of_round.metric());
        for (name, value) in of_round.settings() {
            if name == "capeval" {
                if let Some(subset) = &self.subset {
                    signature.push("subset", subset.len());
                }
                signature.push("held-out", format_args!("1({})", self.n));
            }
            signature.push(name, value);
        }
        signature
    }
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
fn intervals(rounds: &[Scored], resampling: Resampling, progress: &dyn Progress) -> Vec<Interval> {
    let Some(first) = rounds.first() else { return Vec::new() };
    let rows: Vec<&SystemScores> = rounds.iter().flat_map(|round| &round.scores).collect();
    let stack = Stack::new(&rows, &first.references);
    let values = stack.bootstrap(resampling, progress);
    let n_measures = stack.n_values / rounds.len();
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

    use capeval_metric::{About, AnyMetric, Input, Mean, Memo, Metric, Part, Reading, References, Segment};
    use capeval_text::Tokenizer;

    use super::*;

    /// A metric whose score is the share of references of which it has a note.
    struct Noted;

    impl Metric for Noted {
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
        let metrics = vec![AnyMetric::new(Noted)];
        let (ids, mut references) = whole(captions.clone(), Ids::AsGiven).unwrap();
        references.prepare([metrics[0].input()]);
        references.remember(&metrics, &());
        let prepared = Box::new(Prepared::new(ids, references, Vec::new()));
        let prepared = ReferenceSource::Prepared { prepared, source: "refs.json".to_owned() };
        let selection = Selection { metrics, notices: Vec::new() };
        let score = |source: ReferenceSource| {
            let rounds = Rounds::new(&source, None, Ids::AsGiven).unwrap();
            let row = rounds.score(&ScoreOptions::default(), &selection, &()).unwrap();
            (row.human.scores, row.human.n_images, row.report.provenance.n_references)
        };
        assert_eq!(score(prepared), (vec![1.0], 2, 5));
        assert_eq!(score(captions.into()), (vec![0.0], 2, 5), "nothing was remembered of them");
    }
}
