//! Compares systems with tests that resample the statistics of images and never read text.

use capeval_choice::{Argument, Code, Remedy};
use capeval_evaluate::{Progress, Stage, SystemScores};
use capeval_metric::Direction;
use capeval_report::{Comparison, Contrast, Measure, Notice, P, Pair, Report, Verdict};
use capeval_stats::correction::Correction;
use capeval_stats::paired::{self, Tally};
use capeval_stats::{Interval, Matrix, Resampling, resample};
use rayon::prelude::*;

use crate::aligned::AlignedReferences;
use crate::evaluation::{ScoredReport, score_with_statistics};
use crate::inputs::Scope;
use crate::intervals::{NO_INTERVAL, Stack, score_sums};
use crate::measures::entries;
use crate::request::Request;
use crate::score::{plan, select};
use crate::several::SystemRuns;
use crate::{CompareOptions, Error, ScoreOptions, notices};

/// A request to [`compare`].
pub type CompareRequest<'p> = Request<'p, CompareOptions>;

/// The pairs of `n` systems, baseline first: each with the first system, or each with all systems before it.
pub(crate) fn pairs(n: usize, all: bool) -> Vec<(usize, usize)> {
    match all {
        false => (1..n).map(|system| (0, system)).collect(),
        true => (1..n).flat_map(|system| (0..system).map(move |base| (base, system))).collect(),
    }
}

/// Compares systems by every metric.
///
/// Corpus scores are computed from resampled statistics, never by averaging segment scores. The same seed gives the
/// same digits, regardless of threads; the order of images matters as in [`score`](crate::score()). If missing captions
/// are skipped, only the images that all systems describe are used.
///
/// # Errors
/// As for [`score`](crate::score); and with fewer than two systems, a human row, invalid options, too many resamples
/// for the memory, or systems that were scored on different images.
pub fn compare(request: CompareRequest<'_>) -> Result<Comparison, Error> {
    let CompareOptions { resampling, correction, all_pairs, .. } = request.options;
    resampling.check()?;
    if request.options.score.human {
        return Err(Error::request("a comparison has no human row"));
    }
    let selection = select(&request, &request.options.score.metrics)?;
    let progress = request.progress;
    let mut score = request.map(|options| ScoreOptions { intervals: None, ..options.score });
    let plan = plan(&mut score, &selection)?;
    let n_given = SystemRuns::n_systems(&score.systems, &score.options.runs);
    let n_systems = n_given.max(plan.0.systems().count());
    if n_systems < 2 {
        return Err(Error::request("a comparison needs at least two systems"));
    }
    let chosen = pairs(n_systems, all_pairs);
    // Resamples of each system and exchanges of each pair are in memory at the same time.
    let n_measures = entries(&selection.metrics).1.len() + plan.0.described().len();
    resampling.check_values((n_systems + chosen.len()) * n_measures)?;
    let ScoredReport { report, scores, references } =
        score_with_statistics(score, selection, plan, Scope::Common)?;
    if !report.same_images {
        return Err(different_images());
    }
    check_runs(&scores)?;
    let rows = Rows::of_scores(&scores, &references);
    let mut comparison = rows.compare(report, &chosen, resampling, correction, progress);
    let ends = rows.untested(&comparison.report.head.measures);
    if !ends.is_empty() {
        let message = format!(
            "no test and no interval by {}, which are bounds of intervals themselves",
            ends.join(", ")
        );
        comparison.report.head.notices.push(Notice::new(Code::IntervalEnds, message).count(ends.len()));
    }
    finish(&mut comparison);
    Ok(comparison)
}

/// Adds notices about the tests.
pub(crate) fn finish(comparison: &mut Comparison) {
    let Comparison { report, pairs, .. } = comparison;
    report.head.notices.extend(without_test(pairs, &report.head.measures));
    notices::add_doubts(comparison);
}

/// Refuses systems with different numbers of runs, whose statistics cannot be exchanged, by a metric that is no mean.
fn check_runs(scores: &[SystemScores]) -> Result<(), Error> {
    let Some((first, others)) = scores.split_first() else { return Ok(()) };
    for other in others {
        for (one, another) in first.metrics.iter().zip(&other.metrics) {
            if one.table.columns().len() != another.table.columns().len() {
                let (a, b, metric) = (&first.name, &other.name, one.metric.signature().metric());
                return Err(Error::with_remedy(
                    format!(
                        "'{a}' and '{b}' have different numbers of runs, so there is no test by {metric}"
                    ),
                    "give all systems as many runs, or leave the metric out",
                ));
            }
        }
    }
    Ok(())
}

fn different_images() -> Error {
    let keep = Remedy::set(Argument::Empty, "keep").or(Remedy::set(Argument::Missing, "empty"));
    Error::with_remedy(
        "the systems were scored on different images, so they cannot be compared pair by pair",
        keep.to("score empty and missing captions as they are")
            .or(Remedy::give(Argument::Images).to("list the images")),
    )
}

/// Turns the sums of a system, given by its number, into its scores.
pub(crate) type Score<'s> = Box<dyn Fn(usize, &[f64], &mut [f64]) + Sync + 's>;

/// The rows to resample: the statistics of every image by each system, with the way from their sums to scores.
pub(crate) struct Rows<'s> {
    /// A row per image, in an order that does not depend on files, and the columns of each system in turn.
    pub matrix: Matrix,
    /// The sums over all images, for each system.
    pub totals: Vec<Vec<f64>>,
    /// Turns the sums of a system, given by its number, into its scores.
    pub score: Score<'s>,
    /// The scores of images, for each system and measure.
    pub segments: Vec<Vec<Vec<f64>>>,
    /// For each measure, whether it is tested and has an interval.
    pub has_interval: Vec<bool>,
    /// For each measure, whether the score of the corpus is the mean of those of images.
    pub is_mean: Vec<bool>,
}

impl<'s> Rows<'s> {
    fn of_scores(scores: &'s [SystemScores], references: &AlignedReferences) -> Self {
        let systems: Vec<&SystemScores> = scores.iter().collect();
        let stack = Stack::new(&systems, references);
        let metrics = scores.first().into_iter().flat_map(|system| &system.metrics);
        let is_mean = metrics.flat_map(|m| std::iter::repeat_n(m.metric.about().is_mean, m.corpus.len()));
        let total =
            |system: &SystemScores| system.metrics.iter().flat_map(|metric| metric.table.total()).collect();
        Self {
            totals: scores.iter().map(total).collect(),
            score: Box::new(|system, sums, values| score_sums(&scores[system].metrics, sums, values)),
            segments: scores.par_iter().map(segments).collect(),
            has_interval: stack.has_interval(0).collect(),
            is_mean: is_mean.collect(),
            matrix: stack.matrix,
        }
    }

    fn n_measures(&self) -> usize {
        self.has_interval.len()
    }

    /// The keys of the measures without a test.
    pub fn untested<'m>(&self, measures: &'m [Measure]) -> Vec<&'m str> {
        let untested = measures.iter().zip(&self.has_interval).filter(|(_, has_interval)| !**has_interval);
        untested.map(|(measure, _)| measure.key.as_str()).collect()
    }

    /// Tests the systems of each pair by each measure. The report gets an interval for each score.
    pub fn compare(
        &self,
        mut report: Report,
        pairs: &[(usize, usize)],
        resampling: Resampling,
        correction: Correction,
        progress: &dyn Progress,
    ) -> Comparison {
        let resampled = self.bootstrap(resampling, progress);
        for (k, system) in report.systems.iter_mut().enumerate() {
            system.intervals = Some(resampled.intervals(k));
        }
        report.head.resampling = Some(resampling);
        let exchanged = self.exchanges(pairs, resampling, progress);
        let mut pairs = resampled.compare(&report, pairs, &exchanged);
        correct(&mut pairs, correction, &report.head.measures, 1.0 - resampling.level);
        Comparison { report, resampling, correction, pairs }
    }

    /// The scores of all systems in every resample.
    fn bootstrap(&self, resampling: Resampling, progress: &dyn Progress) -> ResampleScores<'_> {
        progress.begin(Stage::Resampling, resampling.resamples);
        let heard = |n| progress.advance(n);
        let (n, width) = (self.n_measures(), self.totals.len() * self.n_measures());
        let values = resample::bootstrap(&self.matrix, resampling, width, heard, |mut sums, values| {
            for ((system, total), values) in
                self.totals.iter().enumerate().zip(values.chunks_exact_mut(n.max(1)))
            {
                let (own, others) = sums.split_at(total.len());
                (self.score)(system, own, values);
                sums = others;
            }
        });
        ResampleScores { rows: self, values, width, level: resampling.level }
    }

    /// The differences of each pair by each measure, exchange after exchange.
    fn exchanges(
        &self,
        pairs: &[(usize, usize)],
        resampling: Resampling,
        progress: &dyn Progress,
    ) -> Vec<f64> {
        progress.begin(Stage::Resampling, resampling.resamples);
        let (totals, n_measures) = (&self.totals, self.n_measures());
        let width = totals.first().map_or(0, Vec::len);
        let heard = |n| progress.advance(n);
        let n_values = pairs.len() * n_measures;
        resample::exchange(&self.matrix, resampling, n_values, heard, |taken, differences| {
            let mut sums = vec![0.0; width];
            let mut values = [vec![0.0; n_measures], vec![0.0; n_measures]];
            for ((base, system), differences) in
                pairs.iter().zip(differences.chunks_exact_mut(n_measures.max(1)))
            {
                let [a, b] = [(*system, *base), (*base, *system)].map(|(own, other)| {
                    let parts = [&totals[own], &taken[own * width..], &taken[other * width..]];
                    (own, parts)
                });
                for ((own, [total, leaving, coming]), values) in [a, b].into_iter().zip(&mut values) {
                    for (c, sum) in sums.iter_mut().enumerate() {
                        *sum = total[c] - leaving[c] + coming[c];
                    }
                    (self.score)(own, &sums, values);
                }
                for (m, difference) in differences.iter_mut().enumerate() {
                    *difference = values[0][m] - values[1][m];
                }
            }
        })
    }
}

/// The scores of all systems in every resample.
struct ResampleScores<'r> {
    rows: &'r Rows<'r>,
    values: Vec<f64>,
    /// The number of values per resample.
    width: usize,
    level: f64,
}

impl ResampleScores<'_> {
    /// The scores of a system by a measure.
    fn column(&self, system: usize, measure: usize) -> impl Iterator<Item = f64> {
        let place = system * self.rows.n_measures() + measure;
        self.values.iter().skip(place).step_by(self.width.max(1)).copied()
    }

    fn intervals(&self, system: usize) -> Vec<Interval> {
        let interval = |m: usize| match self.rows.has_interval[m] {
            true => Interval::percentile(self.column(system, m).collect(), self.level),
            false => NO_INTERVAL,
        };
        (0..self.rows.n_measures()).into_par_iter().map(interval).collect()
    }

    /// Compares the systems of each pair by each measure; `exchanged` are the differences after exchanges.
    fn compare(&self, report: &Report, pairs: &[(usize, usize)], exchanged: &[f64]) -> Vec<Pair> {
        let Rows { totals, score, segments, has_interval, is_mean, .. } = self.rows;
        let n_measures = self.rows.n_measures();
        // For ROUGE-1.5.5, these differ slightly from the scores that it prints.
        let from_sums = |(system, total): (usize, &Vec<f64>)| {
            let mut values = vec![0.0; n_measures];
            score(system, total, &mut values);
            values
        };
        let plain: Vec<Vec<f64>> = totals.iter().enumerate().map(from_sums).collect();
        let contrast = |p: usize, (base, system): (usize, usize), m: usize| {
            let printed = |k: usize| report.systems[k].scores[m];
            let (a, b) = (plain[system][m], plain[base][m]);
            let of_pair = exchanged.iter().skip(p * n_measures + m).step_by(pairs.len() * n_measures);
            let raw = Raw {
                printed: printed(system) - printed(base),
                observed: a - b,
                scale: a.abs().max(b.abs()),
                differences: self.column(system, m).zip(self.column(base, m)).map(|(a, b)| a - b).collect(),
                exchanged: of_pair.copied().collect(),
                segments: (&segments[system][m], &segments[base][m]),
                is_mean: is_mean[m],
            };
            let contrast = raw.contrast(&report.head.measures[m], self.level);
            if has_interval[m] { contrast } else { untested(contrast) }
        };
        let pair = |(p, (baseline, system)): (usize, &(usize, usize))| {
            let contrasts = (0..n_measures).into_par_iter().map(|m| contrast(p, (*baseline, *system), m));
            Pair { baseline: *baseline, system: *system, contrasts: contrasts.collect() }
        };
        pairs.par_iter().enumerate().map(pair).collect()
    }
}

/// The segment scores of one system, measure by measure.
fn segments(system: &SystemScores) -> Vec<Vec<f64>> {
    system
        .metrics
        .iter()
        .flat_map(|metric| {
            let (values, n_parts) = (metric.segments(), metric.corpus.len());
            (0..n_parts).map(move |part| values.iter().skip(part).step_by(n_parts).copied().collect())
        })
        .collect()
}

/// The data of two systems by one measure, from which their contrast is computed.
struct Raw<'s> {
    printed: f64,
    observed: f64,
    scale: f64,
    differences: Vec<f64>,
    exchanged: Vec<f64>,
    segments: (&'s [f64], &'s [f64]),
    is_mean: bool,
}

impl Raw<'_> {
    fn contrast(self, measure: &Measure, level: f64) -> Contrast {
        let p = |value: f64| P { value, adjusted: value };
        let (own, other) = self.segments;
        let by_image: Vec<f64> = own.iter().zip(other).map(|(a, b)| a - b).collect();
        let higher_is_better = measure.direction == Direction::HigherIsBetter;
        let tally = Tally::count(own.iter().copied().zip(other.iter().copied()), higher_is_better);
        Contrast {
            difference: self.printed,
            bootstrap: p(paired::bootstrap_p(&self.differences, self.observed)),
            randomisation: p(paired::randomisation_p(&self.exchanged, self.observed, self.scale)),
            sign: self.is_mean.then(|| p(tally.sign_p())),
            permutation: self.is_mean.then(|| paired::permutation_p(&by_image).map(p)).flatten(),
            interval: Interval::percentile(self.differences, level),
            tally,
            cohens_d: paired::cohens_d(&by_image),
            has_test: true,
            verdict: Verdict::Undecided,
        }
    }
}

/// The contrast of two bounds of intervals: a difference without tests.
fn untested(contrast: Contrast) -> Contrast {
    let none = P { value: f64::NAN, adjusted: f64::NAN };
    Contrast {
        interval: NO_INTERVAL,
        bootstrap: none,
        randomisation: none,
        sign: None,
        permutation: None,
        has_test: false,
        ..contrast
    }
}

/// Corrects the p-values of each test over all pairs and measures, and sets the verdicts.
///
/// The verdict is based on the exact p-value if there is one, and otherwise on randomisation, which estimates the same
/// value. These p-values are corrected as one family with one member per contrast, however few of them are exact.
fn correct(pairs: &mut [Pair], correction: Correction, measures: &[Measure], alpha: f64) {
    type Test = fn(&mut Contrast) -> Option<&mut P>;
    // The last one overwrites the correction of randomisation if the verdict is based on it.
    let tests: [Test; 4] = [
        |contrast| Some(&mut contrast.bootstrap),
        |contrast| Some(&mut contrast.randomisation),
        |contrast| contrast.sign.as_mut(),
        |contrast| Some(contrast.permutation.as_mut().unwrap_or(&mut contrast.randomisation)),
    ];
    for test in tests {
        let mut found: Vec<&mut P> =
            pairs.iter_mut().flat_map(|pair| pair.contrasts.iter_mut().filter_map(test)).collect();
        let values: Vec<f64> = found.iter().map(|p| p.value).collect();
        for (p, adjusted) in found.iter_mut().zip(correction.adjust(&values)) {
            p.adjusted = adjusted;
        }
    }
    for pair in pairs {
        for (contrast, measure) in pair.contrasts.iter_mut().zip(measures) {
            let p = contrast.permutation.unwrap_or(contrast.randomisation).adjusted;
            let is_higher = contrast.difference > 0.0;
            contrast.verdict = match p < alpha {
                false => Verdict::Undecided,
                true if is_higher == (measure.direction == Direction::HigherIsBetter) => Verdict::Better,
                true => Verdict::Worse,
            };
        }
    }
}

/// A notice for measures by which a score is NaN.
fn without_test(pairs: &[Pair], measures: &[Measure]) -> Option<Notice> {
    let untested: Vec<&str> = (0..measures.len())
        .filter(|m| {
            pairs.iter().any(|pair| {
                pair.contrasts.get(*m).is_some_and(|c| c.has_test && c.randomisation.value.is_nan())
            })
        })
        .filter_map(|m| measures.get(m).map(|measure| measure.key.as_str()))
        .collect();
    (!untested.is_empty()).then(|| {
        let message = format!("a score by {} is not finite, so there is no test", untested.join(", "));
        let remedy = Remedy::give(Argument::Segments).to("see the images behind it");
        Notice::new(Code::NoTest, message).remedy(remedy).count(untested.len())
    })
}
