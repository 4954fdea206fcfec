//! Scores captions: from captions to a report.

use std::collections::BTreeSet;
use std::sync::Arc;

use capeval_choice::{Argument, Code};
use capeval_corpus::{Aligned, Captions, Empty, Missing, SegmentId, align_by};
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{
    MetricScores, Progress, ReferenceSet, Sessions, System, SystemScores, evaluate, evaluate_and_keep,
};
use capeval_lexical::sacrebleu_signature;
use capeval_metric::{AnyMetric, Signature};
use capeval_report::{Explained, Lengths, Notice, Provenance, Report, Segments, SystemReport};
use rayon::prelude::*;

use crate::common::Common;
use crate::explain::explain_images;
use crate::gallery::{Scene, gallery};
use crate::human::score_with_human;
use crate::measures::{entries, head};
use crate::perplexity::unknown_words;
use crate::references::{AlignedReferences, ReferenceIndex, ReferenceSource};
use crate::restrict::Subset;
use crate::{Error, ScoreOptions, Selection, VERSION, intervals, notices, select_metrics};

/// Captions of systems, their references, and options. Start from [`Request::new`] and change fields as needed.
///
/// ```
/// # use capeval::corpus::{Captions, Missing};
/// # use capeval::{MetricOptions, ScoreOptions, ScoreRequest};
/// # fn request(references: Captions, candidates: Captions) {
/// let request = ScoreRequest {
///     options: ScoreOptions {
///         metrics: MetricOptions { tokenizer: Some("13a".into()), ..MetricOptions::new(["bleu", "cider-d:sigma=4"]) },
///         missing: Missing::Skip,
///         ..ScoreOptions::default()
///     },
///     ..ScoreRequest::new(references, [("mine", candidates)])
/// };
/// # }
/// ```
pub struct Request<'p, Options> {
    /// The references: [`Captions`], or [prepared](crate::prepare) references.
    pub references: ReferenceSource,
    /// The files that the references come from, for the report.
    pub reference_files: Vec<String>,
    /// The systems: a name, which must be unique, and one caption per image.
    pub systems: Vec<(String, Captions)>,
    /// The options.
    pub options: Options,
    /// Tables and third-party data for metrics that use them.
    pub resources: Resources,
    /// Receives progress reports.
    pub progress: &'p dyn Progress,
}

/// A request to [`score`].
pub type ScoreRequest<'p> = Request<'p, ScoreOptions>;

impl<Options: Default> Request<'static, Options> {
    /// A request for the COCO evaluation of `systems`, with strict policies.
    pub fn new<N: Into<String>>(
        references: impl Into<ReferenceSource>,
        systems: impl IntoIterator<Item = (N, Captions)>,
    ) -> Self {
        let references = references.into();
        Self {
            reference_files: vec![references.source().to_owned()],
            references,
            systems: systems.into_iter().map(|(name, captions)| (name.into(), captions)).collect(),
            options: Options::default(),
            resources: Resources::default(),
            progress: &(),
        }
    }
}

impl<'p, Options> Request<'p, Options> {
    /// Replaces the options.
    pub fn map<Other>(self, change: impl FnOnce(Options) -> Other) -> Request<'p, Other> {
        let Self { references, reference_files, systems, options, resources, progress } = self;
        Request { references, reference_files, systems, options: change(options), resources, progress }
    }
}

/// Scores systems against references.
///
/// No digit depends on the number of threads or on the other systems, and only the tokenizer `ptb` depends on the order
/// of images: like pycocoevalcap, it reads all captions as one text.
///
/// # Errors
/// When no system is given and no human row requested, or two systems have the same name; when a policy does not allow
/// a mismatch between references and candidates, or when the list of images contains one without references.
pub fn score(request: ScoreRequest<'_>) -> Result<Report, Error> {
    let selection = select_metrics(&request.options.metrics, &request.resources)?;
    if request.options.human {
        return score_with_human(request, selection);
    }
    score_with_statistics(request, selection, Scope::Each).map(|scored| scored.report)
}

/// A report with the statistics that it was computed from.
pub(crate) struct Scored {
    pub report: Report,
    /// The scores of each system, in the order of the report.
    pub scores: Vec<SystemScores>,
    /// The references, and the ids of the images.
    pub references: Arc<AlignedReferences>,
}

/// The images on which a system is scored if missing captions are skipped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The images that it describes.
    Each,
    /// The images that all systems describe.
    Common,
}

/// Scores systems by the metrics of `selection`, and keeps the statistics.
pub(crate) fn score_with_statistics(
    request: ScoreRequest<'_>,
    selection: Selection,
    scope: Scope,
) -> Result<Scored, Error> {
    let ScoreRequest { references, reference_files, mut systems, options, progress, .. } = request;
    let Selection { metrics, notices: mut found } = selection;
    let (policy, ids) = (options.policy(), options.ids);
    check_names(&systems)?;
    if let Some(resampling) = &options.intervals {
        resampling.check()?;
    }
    let (entries, measures) = entries(&metrics);
    if let Some(resampling) = &options.intervals {
        resampling.check_values(systems.len() * measures.len())?;
    }
    if let ReferenceSource::Captions(captions) = &references {
        found.extend(captions.notices().iter().cloned());
        found.extend(notices::empty_references(captions));
    }
    for (name, captions) in &systems {
        for notice in captions.notices() {
            push_once(&mut found, notice.clone().system(name));
        }
    }
    let mut subset = None;
    if let Some(list) = &options.images {
        let chosen = Subset::new(list, &references, ids)?;
        for (_, captions) in &mut systems {
            *captions = chosen.of_candidates(captions, &references)?;
        }
        found.push(notices::left_out(chosen.notice(), metrics.iter()));
        subset = Some(chosen);
    }
    let index = ReferenceIndex::new(references, subset.as_ref(), ids)?;
    let mut aligned: Vec<Aligned> = systems
        .par_iter()
        .map(|(_, captions)| align_by(index.images(), captions, &policy, notices::is_empty(&metrics)))
        .collect::<Result<_, _>>()?;
    let copies = systems.iter().zip(&aligned).filter_map(|((name, captions), aligned)| {
        notices::copy_of_references(index.grouped()?, name, captions, aligned)
    });
    found.extend(copies);
    found.extend(notices::twins(&systems));
    let common = match scope == Scope::Common && policy.missing == Missing::Skip {
        true => Common::cut(&mut aligned, index.images().len())?,
        false => None,
    };
    found.extend(common.as_ref().map(Common::notice));

    let mut references = index.gather(&aligned, &metrics)?;
    let inputs: Vec<System> = systems
        .par_iter()
        .zip(&aligned)
        .map(|((name, captions), aligned)| system(name, captions, aligned, &references.place))
        .collect();
    let explains = options.gallery || !options.explain.is_empty();
    let (scores, sessions) = if explains {
        evaluate_and_keep(&mut references.set, &inputs, &metrics, progress)
    } else {
        (evaluate(&mut references.set, &inputs, &metrics, progress), Sessions::default())
    };
    let references = Arc::new(references);
    let scene = Scene { references: Arc::clone(&references), systems: inputs, sessions };
    let explained = explain_images(&options.explain, &scene)?;
    let set = &references.set;

    let mut intervals =
        options.intervals.map(|resampling| intervals::of(&scores, &references, resampling, progress));
    let mut reports = Vec::with_capacity(systems.len());
    for (k, ((scores, aligned), (name, captions))) in scores.iter().zip(&aligned).zip(&systems).enumerate() {
        let alignment = Alignment {
            notices: &aligned.notices,
            subset: subset.as_ref().map(Subset::len),
            common: common.as_ref(),
        };
        reports.push(SystemReport {
            name: name.clone(),
            source: captions.source().to_owned(),
            n_images: scores.images.len(),
            n_references: scores.images.iter().map(|image| set.of(*image as usize).len()).sum(),
            scores: scores.metrics.iter().flat_map(|metric| metric.corpus.iter().copied()).collect(),
            lengths: lengths(scores),
            intervals: intervals.as_mut().and_then(|all| all.get_mut(k)).map(std::mem::take),
            signatures: sign(scores, set, alignment, &mut found),
            segments: (options.segments || options.gallery).then(|| segments(scores, &references)),
        });
    }
    if let Some(resampling) = options.intervals {
        found.extend(notices::of_intervals(
            resampling,
            scores.iter().map(|system| system.images.len()),
            "image",
        ));
    }
    let looks = systems
        .iter()
        .map(|(name, captions)| (name.as_str(), notices::look_at(captions.len(), |k| captions.text(k))));
    found.extend(notices::about_texts(set.texts(), looks.collect(), &metrics));
    let scored: BTreeSet<u32> =
        scene.systems.iter().flat_map(|system| system.images.iter().copied()).collect();
    let last_references = scored.iter().filter_map(|image| set.of(*image as usize).last());
    let candidates =
        scene.systems.iter().flat_map(|system| (0..system.texts.len()).map(|k| system.texts.get(k)));
    found.extend(notices::open_captions(&metrics, last_references.chain(candidates)));
    let ids_of = |image: u32| references.id(image).into_iter();
    let all = scored
        .iter()
        .flat_map(|image| ids_of(*image).flat_map(|id| set.of(*image as usize).map(move |text| (id, text))));
    found.extend(notices::long_captions(&metrics, None, all));
    for system in &scene.systems {
        let captions = system.images.iter().enumerate();
        let captions =
            captions.flat_map(|(k, image)| ids_of(*image).map(move |id| (id, system.texts.get(k))));
        found.extend(notices::long_captions(&metrics, Some(&system.name), captions));
    }
    let same_images = scores.windows(2).all(|pair| matches!(pair, [a, b] if a.images == b.images));
    if !same_images {
        found.push(notices::different_images());
    }
    let report = Report {
        explained,
        gallery: options.gallery.then(|| gallery(scene)),
        head: head(entries, measures, options.intervals, found),
        same_images,
        sorted_by: None,
        systems: reports,
        provenance: Provenance {
            files: reference_files,
            n_images: references.n_images,
            n_references: references.n_references,
            policy: Some(policy),
            ids: Some(ids),
        },
    };
    Ok(Scored { report, scores, references })
}

/// Explains the scores of single images, from counts to scores.
///
/// The result is that of [`score`] with [`ScoreOptions::explain`] set, without the rest of the report: one entry for
/// each of `images` and each system that describes it, in this order.
///
/// # Errors
/// As [`score`], and when no system describes one of the images.
pub fn explain(request: ScoreRequest<'_>, images: Vec<SegmentId>) -> Result<Vec<Explained>, Error> {
    Ok(score(request.map(|options| ScoreOptions { explain: images, ..options }))?.explained)
}

pub(crate) fn check_names<C>(systems: &[(String, C)]) -> Result<(), Error> {
    if systems.is_empty() {
        return Err(Error::request("there is no system to score"));
    }
    for (k, (name, _)) in systems.iter().enumerate() {
        if systems.iter().take(k).any(|(other, _)| other == name) {
            return Err(Error::with_remedy(
                format!("two systems are called '{name}'"),
                "give each its own name",
            ));
        }
    }
    Ok(())
}

fn system(name: &str, captions: &Captions, aligned: &Aligned, place: &[u32]) -> System {
    let images = aligned.pairs.iter().filter_map(|pair| place.get(pair.image as usize).copied());
    let texts = aligned.pairs.iter().map(|pair| pair.candidate.map_or("", |row| captions.text(row as usize)));
    System { name: name.to_owned(), images: images.collect(), texts: texts.collect() }
}

/// The lengths that the first metric with both of them compares, as BLEU does.
fn lengths(scores: &SystemScores) -> Option<Lengths> {
    scores.metrics.iter().find_map(|metric| lengths_of(&metric.metric, &metric.table.total()))
}

/// The lengths among the summed statistics of a metric; `None` if it does not compare lengths.
pub(crate) fn lengths_of(metric: &AnyMetric, total: &[f64]) -> Option<Lengths> {
    let columns = &metric.about().columns;
    let sum = |name: &str| total.get(columns.iter().position(|column| column.name == name)?).copied();
    Some(Lengths { candidates: sum("candidate-length")?, references: sum("reference-length")? })
}

/// The smallest and the greatest number of references of an image; 0 without images.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub least: usize,
    pub most: usize,
}

/// The effects of the alignment of a system.
#[derive(Clone, Copy)]
pub(crate) struct Alignment<'a> {
    /// Notices about what was left out or replaced.
    pub notices: &'a [Notice],
    /// The number of listed images, if there is a list.
    pub subset: Option<usize>,
    /// The images that all systems describe, if others were left out.
    pub common: Option<&'a Common>,
}

/// Signs the scores of one system, and adds its notices to `found`.
pub(crate) fn sign(
    scores: &SystemScores,
    references: &ReferenceSet,
    alignment: Alignment<'_>,
    found: &mut Vec<Notice>,
) -> Vec<Signature> {
    let name = &scores.name;
    let each = scores.images.iter().map(|image| references.of(*image as usize).len());
    let counts = Counts { least: each.clone().min().unwrap_or(0), most: each.max().unwrap_or(0) };
    for metric in &scores.metrics {
        found.extend(unknown_words(name, metric, scores.images.len()));
        found_signature(metric, counts, found);
    }
    for notice in alignment.notices {
        let notice = match notice.code == Code::Applied(Argument::Missing, Missing::Skip.name()) {
            true => notices::left_out(notice.clone(), scores.metrics.iter().map(|metric| &metric.metric)),
            false => notice.clone(),
        };
        push_once(found, notice.system(name));
    }
    for notice in scores.metrics.iter().flat_map(|metric| &metric.notices) {
        push_once(found, notice.clone());
    }
    let metrics = scores.metrics.iter();
    metrics.map(|metric| signed(metric.signature.clone(), counts, alignment)).collect()
}

/// The signature of a metric with everything that all scores depend on: the number of references per image, what was
/// left out or replaced, and the version of capeval.
pub(crate) fn signed(
    mut signature: Signature,
    Counts { least, most }: Counts,
    Alignment { notices, subset, common }: Alignment<'_>,
) -> Signature {
    if least == most {
        signature.push("nrefs", least);
    } else {
        signature.push("nrefs", format_args!("{least}-{most}"));
    }
    if let Some(images) = subset {
        signature.push("subset", images);
    }
    if let Some(common) = common {
        common.sign(&mut signature);
    }
    // What each system lacks itself is among the images that are not common.
    let skipped = [
        Code::Applied(Argument::Missing, Missing::Skip.name()),
        Code::Applied(Argument::Empty, Empty::Skip.name()),
    ];
    for notice in notices.iter().filter(|notice| common.is_none() || !skipped.contains(&notice.code)) {
        if let Code::Applied(policy, value) = notice.code {
            signature.push(policy.name(), format_args!("{value}({})", notice.count.unwrap_or_default()));
        }
    }
    signature.push("capeval", VERSION);
    signature
}

/// A notice with the signature that sacreBLEU itself prints, for its metrics, for use in papers.
pub(crate) fn found_signature(metric: &MetricScores, counts: Counts, found: &mut Vec<Notice>) {
    let same = (counts.most > 0 && counts.least == counts.most).then_some(counts.least);
    if let Some(theirs) = sacrebleu_signature(&metric.signature, same) {
        let message = format!("sacreBLEU signs {} as {theirs}", metric.signature.metric());
        push_once(found, Notice::new("sacrebleu-signature", message));
    }
}

/// The scores of every image, measure by measure within each.
fn segments(scores: &SystemScores, references: &AlignedReferences) -> Segments {
    let by_metric: Vec<(usize, Vec<f64>)> =
        scores.metrics.par_iter().map(|metric| (metric.corpus.len(), metric.segments())).collect();
    let n_measures: usize = by_metric.iter().map(|(n_parts, _)| n_parts).sum();
    let mut values = vec![0.0; n_measures * scores.images.len()];
    let mut first = 0;
    for (n_parts, parts) in &by_metric {
        for (row, parts) in
            values.chunks_exact_mut(n_measures.max(1)).zip(parts.chunks_exact((*n_parts).max(1)))
        {
            if let Some(row) = row.get_mut(first..first + n_parts) {
                row.copy_from_slice(parts);
            }
        }
        first += n_parts;
    }
    let id = |image: &u32| references.id(*image);
    Segments { ids: scores.images.iter().filter_map(id).cloned().collect(), values }
}

/// Adds a notice unless there is one with the same message; a notice about several systems becomes one about all.
pub(crate) fn push_once(found: &mut Vec<Notice>, notice: Notice) {
    let is_same = |known: &&mut Notice| {
        (&known.code, &known.message, &known.remedy) == (&notice.code, &notice.message, &notice.remedy)
    };
    match found.iter_mut().find(is_same) {
        Some(known) if known.system != notice.system => known.system = None,
        Some(_) => {}
        None => found.push(notice),
    }
}
