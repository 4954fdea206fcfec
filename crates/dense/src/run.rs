//! Scores one file of results by many forms: reads texts once, measures pairs once, and sums for each form the pairs
//! that it counts.

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::event::{EventFile, Video};
use crate::evidence::{self, VideoLinks};
use crate::form::{Form, Program, SodaMetric};
use crate::matching::{SodaEvents, SodaSource, SodaType, Triple, pair_metric};
use crate::pairs::{PairRule, THRESHOLDS};
use crate::reading::{ReadTexts, Readings, Texts, foreign_word};
use crate::words::{MeasuredPairs, N_SCORES, PairMetric, VideoNgrams, WantedPairs, WordMetric, WordMetrics};
use crate::{FormScores, Stop, assemble, texts};

/// The scores of the captions of all videos by one rule of pairs.
pub(crate) struct RuleScores {
    /// At each threshold, the scores of each video; `None` without pairs.
    pub at: Vec<Vec<Option<[f64; N_SCORES]>>>,
    /// The first video whose references have no word.
    pub blank: Option<usize>,
}

/// SODA as a form asks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SodaTask {
    pub source: SodaSource,
    /// One reference file alone.
    pub only: Option<usize>,
    pub kind: SodaType,
    pub metric: SodaMetric,
    pub thresholds: &'static [f64],
}

impl SodaTask {
    /// Returns true if its metric is wanted; the overlap alone needs none.
    fn is_possible(&self, metrics: &WordMetrics) -> bool {
        self.kind == SodaType::Overlap || metrics.has(self.metric.of_words())
    }
}

/// SODA of each video that has predictions, by its index: for each file and each threshold.
pub(crate) type SodaScores = IndexMap<usize, Vec<Option<Vec<Triple>>>>;

/// Everything that is computed once for all forms.
pub(crate) struct SharedScores<'a> {
    pub videos: Vec<Video<'a>>,
    rules: Vec<(PairRule, RuleScores)>,
    sodas: Vec<(SodaTask, Result<SodaScores, Stop>)>,
    pub references: &'a [EventFile],
    pub predictions: &'a EventFile,
    pub metrics: &'a WordMetrics,
    /// How the events of each video that has predictions fit those of each file, by the index of the video.
    evidence: VideoLinks,
}

/// Scores `predictions` by each of `forms`.
pub fn evaluate(
    references: &[EventFile],
    predictions: &EventFile,
    forms: &[Form],
    metrics: &WordMetrics,
) -> Vec<FormScores> {
    SharedScores::of_forms((references, predictions), (forms, false), metrics).forms(forms)
}

/// As [`evaluate`], with the evidence of SODA_c.
pub(crate) fn evaluate_with_evidence(
    references: &[EventFile],
    predictions: &EventFile,
    forms: &[Form],
    metrics: &WordMetrics,
) -> (Vec<FormScores>, VideoLinks) {
    let shared = SharedScores::of_forms((references, predictions), (forms, true), metrics);
    (shared.forms(forms), shared.evidence)
}

/// The pairs of a rule: at each threshold, of each video.
struct RulePairs {
    rule: PairRule,
    at: Vec<Vec<Vec<(u32, u32)>>>,
}

/// The events of one source, with the tasks that use them.
struct Source<'a> {
    events: SodaEvents<'a>,
    key: (SodaSource, Option<usize>),
    stop: Option<Stop>,
}

impl<'a> SharedScores<'a> {
    /// SODA of type c of each video, read on its own.
    pub fn alone(
        references: &'a [EventFile],
        predictions: &'a EventFile,
        metric: SodaMetric,
        metrics: &'a WordMetrics,
    ) -> Self {
        let (source, kind) = (SodaSource::ALONE, SodaType::Product);
        let task = SodaTask { source, only: None, kind, metric, thresholds: &[0.0] };
        Self::compute((references, predictions), (Vec::new(), vec![task]), (metrics, false))
    }

    /// What the forms need, and the evidence of SODA_c if it `has_evidence`.
    fn of_forms(
        (references, predictions): (&'a [EventFile], &'a EventFile),
        (forms, has_evidence): (&[Form], bool),
        metrics: &'a WordMetrics,
    ) -> Self {
        let has_evidence = has_evidence && metrics.has(WordMetric::Meteor);
        // The form whose matching is the evidence.
        let shown = has_evidence.then(|| Form::from(Program::Capeval));
        let tasks = forms.iter().chain(&shown).flat_map(|form| soda_tasks(*form, references.len()));
        let rules = distinct(forms.iter().filter_map(|form| form.rule()));
        Self::compute((references, predictions), (rules, distinct(tasks)), (metrics, has_evidence))
    }

    /// The scores by each form.
    fn forms(&self, forms: &[Form]) -> Vec<FormScores> {
        let of = |form: &Form| match form.is_text() {
            true => texts::form(*form, self),
            false => assemble::form(*form, self),
        };
        forms.iter().map(of).collect()
    }

    fn compute(
        (references, predictions): (&'a [EventFile], &'a EventFile),
        (rules, tasks): (Vec<PairRule>, Vec<SodaTask>),
        (metrics, has_evidence): (&'a WordMetrics, bool),
    ) -> Self {
        let videos = Video::all(references, predictions);
        let events = references.iter().chain([predictions]).flat_map(|file| file.videos.values().flatten());
        let word = foreign_word(events.map(|event| event.caption.as_str()));
        let mut texts = Texts::default();
        let word = texts.number(&word);
        let mut rules: Vec<RulePairs> =
            rules.into_iter().map(|rule| RulePairs::new(rule, &videos, &mut texts, word)).collect();
        let keys = distinct(tasks.iter().map(|task| (task.source, task.only)));
        let mut sources: Vec<Source<'_>> = keys
            .into_iter()
            .map(|key| Source { events: key.0.events(&videos, key.1, &mut texts), key, stop: None })
            .collect();
        let mut readings = texts.read(capeval_text::Tokenizer::Ptb);
        rules.iter_mut().for_each(|rule| rule.read(&mut readings));
        sources.iter_mut().for_each(|source| source.events.read(&mut readings));
        let read = readings.finish();
        rules.iter_mut().for_each(|rule| rule.settle(&read));
        let mut wanted = WantedPairs::default();
        rules.iter().for_each(|rule| rule.want(&mut wanted));
        for source in &mut sources {
            source.events.settle(&read);
            source.stop = source.events.stop(&videos);
            if source.stop.is_some() && !(has_evidence && evidence::is_kept(source.key)) {
                continue;
            }
            for task in tasks
                .iter()
                .filter(|task| (task.source, task.only) == source.key && task.is_possible(metrics))
            {
                if let Some((metric, _)) = pair_metric(task.metric) {
                    source.events.want(task.kind, metric, task.thresholds, &mut wanted);
                }
            }
        }
        let measured = wanted.measure(metrics, &read);
        let scores = rule_scores(&rules, videos.len(), (&measured, &read));
        let rules = rules.into_iter().map(|rule| rule.rule).zip(scores).collect();
        let of_task = |task: SodaTask| {
            let source = sources.iter().find(|source| source.key == (task.source, task.only));
            let scores = source.ok_or(Stop::NoVideos).and_then(|source| {
                if let Some(stop) = &source.stop {
                    return Err(stop.clone());
                }
                if !task.is_possible(metrics) {
                    return Err(Stop::LeftOut(task.metric));
                }
                if let Some(v) = source.events.blank(task.kind, task.metric, &read) {
                    return Err(Stop::BlankEvents(videos[v].id.to_owned()));
                }
                Ok(source.events.scores(task.kind, task.metric, task.thresholds, (&measured, &read)))
            });
            (task, scores)
        };
        let sodas = tasks.into_iter().map(of_task).collect();
        let kept = sources.iter().filter(|source| has_evidence && evidence::is_kept(source.key));
        let kept = kept.map(|source| (source.key.1, &source.events));
        let evidence = evidence::of_videos(kept, references.len(), &measured);
        Self { videos, rules, sodas, references, predictions, metrics, evidence }
    }

    /// The scores by a rule.
    pub fn of_rule(&self, rule: PairRule) -> &RuleScores {
        let found = self.rules.iter().find(|(known, _)| *known == rule);
        &found.expect("the rules of all forms are computed").1
    }

    /// The scores of the first task of SODA.
    pub fn first_soda(&self) -> Option<&Result<SodaScores, Stop>> {
        self.sodas.first().map(|(_, found)| found)
    }

    /// The scores of a task of SODA.
    pub fn soda(&self, task: SodaTask) -> &Result<SodaScores, Stop> {
        let found = self.sodas.iter().find(|(known, _)| *known == task);
        &found.expect("the tasks of all forms are computed").1
    }
}

impl RulePairs {
    fn new(rule: PairRule, videos: &[Video<'_>], texts: &mut Texts, word: u32) -> Self {
        let mut at = vec![Vec::with_capacity(videos.len()); rule.thresholds.len()];
        for video in videos {
            let pairs = rule.pairs(video, texts, word);
            at.iter_mut().zip(pairs).for_each(|(all, pairs)| all.push(pairs));
        }
        Self { rule, at }
    }

    /// Replaces the numbers of texts by those of their readings in the files that the program writes.
    fn read(&mut self, readings: &mut Readings) {
        for videos in &mut self.at {
            match self.rule.is_video_alone {
                true => videos.iter_mut().for_each(|pairs| replace(pairs.iter_mut().collect(), readings)),
                false => replace(videos.iter_mut().flatten().collect(), readings),
            }
        }
    }

    /// Takes the first of all readings with the same tokens.
    fn settle(&mut self, read: &ReadTexts) {
        for pair in self.at.iter_mut().flatten().flatten() {
            *pair = (read.same(pair.0), read.same(pair.1));
        }
    }

    /// Adds the pairs that must be measured.
    fn want(&self, wanted: &mut WantedPairs) {
        for pair in self.at.iter().flatten().flatten() {
            PairMetric::ALL.into_iter().for_each(|metric| wanted.add(metric, *pair));
        }
    }
}

fn replace(pairs: Vec<&mut (u32, u32)>, readings: &mut Readings) {
    let candidates: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
    let references: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
    let candidates = readings.file(&candidates);
    let references = readings.file(&references);
    for (pair, read) in pairs.into_iter().zip(candidates.into_iter().zip(references)) {
        *pair = read;
    }
}

/// The scores of all videos by all rules; the n-grams of a video serve all of them.
fn rule_scores(
    rules: &[RulePairs],
    n_videos: usize,
    (measured, read): (&MeasuredPairs<'_>, &ReadTexts),
) -> Vec<RuleScores> {
    type VideoScores = Vec<(Vec<Option<[f64; N_SCORES]>>, bool)>;
    let of_video = |v: usize| -> VideoScores {
        let mut ngrams = VideoNgrams::default();
        // Numbers of n-grams must be known before a corpus over them is counted.
        for pair in rules.iter().flat_map(|rule| rule.at.iter().flat_map(|at| &at[v])) {
            ngrams.number(read, pair.0);
            ngrams.number(read, pair.1);
        }
        let mut of_rule = |rule: &RulePairs| {
            let mut is_blank = false;
            let mut score = |at: &Vec<Vec<(u32, u32)>>| {
                let pairs = Some(&at[v]).filter(|pairs| !pairs.is_empty())?;
                let mut scores = measured.corpus(pairs);
                let cider = ngrams.cider(read, pairs);
                is_blank |= cider.is_none();
                scores[crate::words::CIDER] = cider.unwrap_or(0.0);
                Some(scores)
            };
            (rule.at.iter().map(&mut score).collect(), is_blank)
        };
        rules.iter().map(&mut of_rule).collect()
    };
    let by_video: Vec<VideoScores> = (0..n_videos).into_par_iter().map(of_video).collect();
    let of_rule = |(r, rule): (usize, &RulePairs)| RuleScores {
        at: (0..rule.at.len()).map(|t| by_video.iter().map(|rules| rules[r].0[t]).collect()).collect(),
        blank: by_video.iter().position(|rules| rules[r].1),
    };
    rules.iter().enumerate().map(of_rule).collect()
}

/// The tasks of SODA of a form.
pub(crate) fn soda_tasks(form: Form, n_files: usize) -> Vec<SodaTask> {
    let one = |source, kind, metric, thresholds| SodaTask { source, only: None, kind, metric, thresholds };
    let own = |kind, thresholds| {
        let source = if form.is_multi { SodaSource::MULTI } else { SodaSource::MERGED };
        vec![one(source, kind, form.metric, thresholds)]
    };
    let meteor = |source| one(source, SodaType::Product, SodaMetric::Meteor, &[0.0]);
    match form.program {
        Program::SodaA => own(SodaType::Traced, THRESHOLDS),
        Program::SodaB => own(SodaType::Traced, &[0.0]),
        Program::SodaC => own(SodaType::Product, &[0.0]),
        Program::SodaD => own(SodaType::Overlap, &[0.0]),
        Program::Capeval | Program::PdvcSoda | Program::VidChapters | Program::VtimeLlm => {
            (0..n_files).map(|file| SodaTask { only: Some(file), ..meteor(SodaSource::MERGED) }).collect()
        }
        Program::Scenic | Program::TimeChat => vec![meteor(SodaSource::SCENIC)],
        Program::SoccerNet => {
            let metrics = SodaMetric::ALL.iter();
            metrics.map(|metric| one(SodaSource::SOCCERNET, SodaType::Product, *metric, &[0.0])).collect()
        }
        _ => Vec::new(),
    }
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}
