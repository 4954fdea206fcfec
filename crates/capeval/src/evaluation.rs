//! The steps from a request to a report: what is given is aligned, evaluated, signed and described.

use std::sync::Arc;

use capeval_choice::Code;
use capeval_corpus::SegmentId;
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, Sessions, System, SystemScores, evaluate_and_forget, evaluate_and_keep};
use capeval_lexical::frequencies::DocumentFrequencies;
use capeval_metric::AnyMetric;
use capeval_report::{
    GroupFrequencies, Head, Lengths, Measure, Notice, Provenance, Report, Segments, SystemReport,
};
use capeval_stats::{Resampling, Table};
use capeval_text::Looks;
use rayon::prelude::*;

use crate::aligned::AlignedReferences;
use crate::derive::Derivations;
use crate::document_frequencies::refuse_other_words;
use crate::explain::explain_images;
use crate::findings::Findings;
use crate::gallery::{Scene, gallery};
use crate::given::Plan;
use crate::groups::GroupRequest;
use crate::inputs::{Inputs, Scope, Systems, check_names, distinct};
use crate::measures::{corpus_scores, entries, head};
use crate::request::ScoreRequest;
use crate::several::SystemRuns;
use crate::signing::Signing;
use crate::{Error, ScoreOptions, Selection, intervals, notices};

/// A report with the statistics that it was computed from.
pub(crate) struct ScoredReport {
    pub report: Report,
    /// The scores of each system, in the order of the report.
    pub scores: Vec<SystemScores>,
    /// The references, and the ids of the images.
    pub references: Arc<AlignedReferences>,
}

/// Scores systems by the metrics of `selection`, and by the given scores of a plan with its notices, and keeps the
/// statistics.
pub(crate) fn score_with_statistics(
    request: ScoreRequest<'_>,
    selection: Selection,
    (plan, found_of_plan): (Plan, Findings),
    scope: Scope,
) -> Result<ScoredReport, Error> {
    let ScoreRequest {
        references,
        has_references,
        reference_files,
        systems,
        groups,
        options,
        resources,
        progress,
        ..
    } = request;
    let given = has_references.then_some(references);
    let Selection { metrics, notices } = selection;
    let all: Vec<AnyMetric> = metrics.iter().cloned().chain(plan.described()).collect();
    let (derivations, found_of_formulas) = Derivations::new(&options.derive, &all)?;
    let all: Vec<AnyMetric> = all.into_iter().chain(derivations.metrics()).collect();
    let (entries, measures) = entries(&all);
    options.several.check(&measures)?;
    let is_of_scores = systems.is_empty() && !plan.is_empty();
    if !is_of_scores {
        check_names(&systems)?;
    }
    let (runs, systems) = SystemRuns::split(systems, &options.runs, &options.several, options.ids)?;
    runs.check(&options, plan.is_empty())?;
    check_resampling(options.intervals, systems.len().max(plan.systems().count()) * measures.len())?;

    let mut found = Findings::from(notices);
    found.add(Vec::from(found_of_plan).into_iter().chain(found_of_formulas));
    let mut inputs = match is_of_scores {
        true => Inputs::of_scores(given.unwrap_or_default(), &plan, &options, scope, &mut found)?,
        false => Inputs::align(given, systems, &plan, &options, &metrics, scope, &mut found)?,
    };
    found.add(inputs.name_options(&options, &metrics));
    let readings = inputs.readings.clone();
    check_table(&resources, &metrics, &inputs.references)?;
    found.add(inputs.check(&options.accept, &metrics)?);
    let metrics = inputs.compute(&metrics, &resources, progress)?;
    let metrics: Vec<AnyMetric> = metrics.into_iter().chain(inputs.given.iter().cloned()).collect();
    let hashes = inputs.reference_hashes();
    let is_kept = options.gallery || !options.explain.is_empty() || !groups.is_empty();
    let mut evaluation = Evaluation::run(inputs, &metrics, is_kept, progress);
    let wanted = GroupRequest {
        by: &groups,
        frequencies: options.group_df,
        intervals: options.intervals,
        metrics: &metrics,
        derivations: &derivations,
        measures: &measures,
    };
    let grouped = wanted.evaluate(&evaluation, &runs, progress)?;
    evaluation.scores.iter_mut().for_each(|scores| derivations.add(scores));
    evaluation.join(runs, &measures, &mut found)?;
    let (groups, found_of_groups) = grouped.finish(&evaluation.scores, &measures);
    let explained = explain_images(&options.explain, &evaluation.scene)?;
    let systems = evaluation.estimated_rows(&options, &hashes, progress, &mut found);
    found.add(found_of_groups);
    evaluation.tell_of_texts(&mut found);
    let same_images = evaluation.same_images();
    found.add((!same_images).then(notices::different_images));

    let Evaluation { scores, scene, .. } = evaluation;
    let references = Arc::clone(&scene.references);
    let report = Report {
        head: Head { readings, ..head(entries, measures, options.intervals, found) },
        systems,
        same_images,
        groups,
        provenance: provenance(reference_files, &references, &options),
        explained,
        gallery: options.gallery.then(|| gallery(scene)),
        ..Report::default()
    };
    Ok(ScoredReport { report, scores, references })
}

/// Refuses a table of document frequencies that was counted from other words than those of the references.
fn check_table(
    resources: &Resources,
    metrics: &[AnyMetric],
    references: &AlignedReferences,
) -> Result<(), Error> {
    let Some(table) = resources.get::<DocumentFrequencies>() else { return Ok(()) };
    let set = &references.set;
    refuse_other_words(&table, metrics, (0..set.n_images()).flat_map(|image| set.of(image)))
}

/// The origin of a report.
fn provenance(files: Vec<String>, references: &AlignedReferences, options: &ScoreOptions) -> Provenance {
    let &AlignedReferences { n_images, n_references, .. } = references;
    let (policy, ids) = (Some(options.policy()), Some(options.ids));
    Provenance { files, n_images, n_references, policy, ids }
}

/// Checks that the resamples of so many values are possible, if any are wanted.
pub(crate) fn check_resampling(resampling: Option<Resampling>, n_values: usize) -> Result<(), Error> {
    if let Some(resampling) = resampling {
        resampling.check()?;
        resampling.check_values(n_values)?;
    }
    Ok(())
}

/// The scores of systems, and what they were computed from.
pub(crate) struct Evaluation {
    pub scores: Vec<SystemScores>,
    pub scene: Scene,
    /// The systems, without their captions.
    systems: Systems,
    /// Notices about the texts, which are not there any more.
    of_texts: Vec<Notice>,
    /// The runs of each system among those that were scored.
    runs: SystemRuns,
}

impl Evaluation {
    /// Scores the systems by `metrics`; `is_kept` keeps what explanations and groups need.
    pub fn run(inputs: Inputs, metrics: &[AnyMetric], is_kept: bool, progress: &dyn Progress) -> Self {
        let Inputs { systems: mut given, mut references, .. } = inputs;
        let (systems, looks) = given.move_to_engine(&references);
        let of_texts = look(&references, &systems, &looks, metrics);
        let set = &mut references.set;
        let (scores, systems, sessions) = match is_kept {
            true => {
                let (scores, sessions) = evaluate_and_keep(set, &systems, metrics, progress);
                (scores, systems, sessions)
            }
            false => (evaluate_and_forget(set, systems, metrics, progress), Vec::new(), Sessions::default()),
        };
        let scene = Scene { references: Arc::new(references), systems, sessions };
        Self { scores, scene, systems: given, of_texts, runs: SystemRuns::default() }
    }

    /// The scores of a system, by its number, on some images, if what they need was kept.
    pub fn of_some(
        &self,
        s: usize,
        metrics: &[AnyMetric],
        frequencies: GroupFrequencies,
        images: &[u32],
    ) -> Option<SystemScores> {
        let Scene { references, systems, sessions } = &self.scene;
        let whole = self.scores.get(s)?;
        Some(match frequencies {
            GroupFrequencies::All => whole.select(images),
            GroupFrequencies::Own => {
                sessions.evaluate_some(&references.set, (systems, s), metrics, whole, images)
            }
        })
    }

    /// Puts the scores of the runs of each system together.
    fn join(
        &mut self,
        mut runs: SystemRuns,
        measures: &[Measure],
        found: &mut Findings,
    ) -> Result<(), Error> {
        if runs.is_trivial() {
            return Ok(());
        }
        let references = &self.scene.references;
        let form = |image: u32| Some(references.ids().form(references.id(image)?).into_owned());
        let (scores, notices) = runs.join(std::mem::take(&mut self.scores), measures, &form)?;
        found.add(notices);
        (self.scores, self.runs) = (scores, runs);
        Ok(())
    }

    /// Returns true if all systems were scored on the same images.
    fn same_images(&self) -> bool {
        self.scores.windows(2).all(|pair| matches!(pair, [a, b] if a.images == b.images))
    }

    /// A row for each system, signed, without intervals; `has_segments` adds the scores of every image.
    pub fn rows(&self, has_segments: bool, found: &mut Findings) -> Vec<SystemReport> {
        let references = &self.scene.references;
        let n_references = |image: &u32| references.set.of(*image as usize).len();
        let row = |(k, scores): (usize, &SystemScores)| SystemReport {
            name: scores.name.clone(),
            source: self.systems.source(self.runs.first(k)).to_owned(),
            n_images: scores.images.len(),
            n_references: scores.images.iter().map(n_references).sum(),
            scores: corpus_scores(&scores.metrics),
            lengths: lengths(scores),
            intervals: None,
            runs: self.runs.deviations(k),
            signatures: {
                let several = self.runs.signing(k);
                let signing = self.systems.signing(self.runs.first(k));
                Signing { several: several.as_ref(), ..signing }.sign(scores, &references.set, found)
            },
            reference_hash: None,
            segments: has_segments.then(|| segments(scores, references)),
        };
        self.scores.iter().enumerate().map(row).collect()
    }

    /// The [`rows`](Self::rows) with the hashes of their references, and with intervals if they are wanted.
    fn estimated_rows(
        &self,
        options: &ScoreOptions,
        hashes: &[String],
        progress: &dyn Progress,
        found: &mut Findings,
    ) -> Vec<SystemReport> {
        let mut rows = self.rows(options.segments || options.gallery, found);
        for (k, row) in rows.iter_mut().enumerate() {
            row.reference_hash = hashes.get(self.runs.first(k)).cloned();
        }
        if let Some(resampling) = options.intervals {
            self.estimate(&mut rows, resampling, progress);
            let numbers = rows.iter().map(|row| row.n_images);
            found.add(notices::of_intervals(resampling, numbers, notices::Unit::Image));
        }
        rows
    }

    /// Adds the intervals of its scores to each of `rows`.
    fn estimate(&self, rows: &mut [SystemReport], resampling: Resampling, progress: &dyn Progress) {
        let intervals = intervals::of(&self.scores, &self.scene.references, resampling, progress);
        for (row, intervals) in rows.iter_mut().zip(intervals) {
            row.intervals = Some(intervals);
        }
    }

    /// Adds the notices about the texts.
    pub fn tell_of_texts(&self, found: &mut Findings) {
        // One advice is enough: of texts that lose all their words, the metric has told already.
        let is_told = found.has(Code::OnlyAscii);
        let is_new = |notice: &&Notice| !(is_told && notice.code == Code::BeyondAscii);
        found.add(self.of_texts.iter().filter(is_new).cloned());
    }
}

/// Notices about the texts: captions that do not suit a tokenizer or a metric; `looks` has counts over the captions of
/// each system.
fn look(
    references: &AlignedReferences,
    systems: &[System],
    looks: &[(String, Looks)],
    metrics: &[AnyMetric],
) -> Vec<Notice> {
    let set = &references.set;
    let looks = looks.iter().map(|(name, looks)| (name.as_str(), *looks));
    let mut notices = notices::about_texts(set.texts(), looks.collect(), metrics);
    let scored = distinct(systems.iter().flat_map(|system| system.images.iter().copied()));
    let last_references = scored.iter().filter_map(|image| set.of(*image as usize).last());
    let candidates = systems.iter().flat_map(|system| (0..system.texts.len()).map(|k| system.texts.get(k)));
    notices.extend(notices::open_captions(metrics, last_references.chain(candidates)));
    let with_id = |image: u32, text| -> Option<(&SegmentId, &str)> { Some((references.id(image)?, text)) };
    let texts = scored.iter().flat_map(|image| set.of(*image as usize).map(|text| (*image, text)));
    let of_references = texts.filter_map(|(image, text)| with_id(image, text));
    notices.extend(notices::long_captions(metrics, None, of_references));
    for system in systems {
        let captions = system.images.iter().enumerate();
        let captions = captions.filter_map(|(k, image)| with_id(*image, system.texts.get(k)));
        notices.extend(notices::long_captions(metrics, Some(&system.name), captions));
    }
    notices
}

/// The lengths that the first metric with both of them compares, as BLEU does.
fn lengths(scores: &SystemScores) -> Option<Lengths> {
    scores.metrics.iter().find_map(|metric| lengths_of(&metric.metric, &metric.table))
}

/// The lengths among the statistics of a metric; `None` if it does not compare lengths.
pub(crate) fn lengths_of(metric: &AnyMetric, table: &Table) -> Option<Lengths> {
    let columns = &metric.about().columns;
    let place = |name: &str| columns.iter().position(|column| column.name == name);
    let (candidates, references) = (place("candidate-length")?, place("reference-length")?);
    let total = table.total();
    Some(Lengths { candidates: *total.get(candidates)?, references: *total.get(references)? })
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
