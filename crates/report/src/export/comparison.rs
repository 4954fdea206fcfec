//! Comparisons as JSON, JSON Lines and CSV, with a line or row per pair and measure.

use std::borrow::Cow;

use capeval_metric::Signature;
use capeval_stats::Interval;
use capeval_stats::paired::Tally;
use serde::{Deserialize, Serialize};

use super::report::Tail;
use super::{Ends, Export, Line, Map, codes, ends, resampling_columns, resampling_fields};
use crate::comparison::{Comparison, Contrast, P, Pair, Verdict};
use crate::number::full;
use crate::real::{self, Real};
use crate::{Head, Measure, Notice, SystemReport};

impl Export for Comparison {
    fn head(&self) -> &Head {
        &self.report.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.report.head
    }

    fn signatures(&self) -> Vec<Signature> {
        self.report.signatures()
    }

    fn body(&self) -> impl Serialize {
        self.report.body()
    }

    fn tail(&self) -> impl Serialize {
        tail(self)
    }

    fn lines(&self) -> impl Iterator<Item = Line<'_, impl Serialize>> {
        #[derive(Serialize)]
        struct Body<'r> {
            baseline: &'r str,
            system: &'r str,
            measure: &'r str,
            images: usize,
            baseline_score: Real,
            baseline_interval: Ends,
            system_score: Real,
            system_interval: Ends,
            #[serde(flatten)]
            contrast: Found,
            correction: &'static str,
        }
        rows(self).map(|Row { baseline, system, measure, contrast, notices }| Line {
            body: Body {
                baseline: baseline.name,
                system: system.name,
                measure: &measure.key,
                images: system.images,
                baseline_score: Real(baseline.score),
                baseline_interval: ends(baseline.interval),
                system_score: Real(system.score),
                system_interval: ends(system.interval),
                contrast: Found::new(contrast),
                correction: self.correction.name(),
            },
            signatures: Map(vec![
                ("baseline_signature", baseline.signature),
                ("system_signature", system.signature),
            ]),
            notices,
        })
    }

    fn columns(&self) -> Vec<String> {
        let columns = "baseline,system,measure,baseline_score,system_score,difference,low,high,bootstrap_p,\
                       bootstrap_adjusted,randomisation_p,randomisation_adjusted,sign_p,sign_adjusted,exact_p,\
                       exact_adjusted,wins,ties,losses,cohens_d,superiority,verdict,notices,images,baseline_low,\
                       baseline_high,system_low,system_high,baseline_signature,system_signature,correction";
        columns.split(',').map(str::to_owned).chain(resampling_columns(Some(self.resampling))).collect()
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        rows(self).map(|Row { baseline, system, measure, contrast, notices }| {
            let Contrast { difference, bootstrap, randomisation, sign, permutation, .. } = *contrast;
            let mut row = vec![baseline.name.to_owned(), system.name.to_owned(), measure.key.clone()];
            row.extend(
                [baseline.score, system.score, difference]
                    .into_iter()
                    .chain(both(contrast.interval))
                    .map(full),
            );
            for p in [Some(bootstrap), Some(randomisation), sign, permutation] {
                row.extend(p.map_or([const { String::new() }; 2], |p| [full(p.value), full(p.adjusted)]));
            }
            let tally = contrast.tally;
            row.extend([tally.wins, tally.ties, tally.losses].map(|n| n.to_string()));
            row.extend([contrast.cohens_d, tally.superiority()].map(full));
            row.extend([contrast.verdict.name().to_owned(), codes(notices), system.images.to_string()]);
            row.extend([baseline.interval, system.interval].into_iter().flat_map(both).map(full));
            row.extend([baseline.signature, system.signature, self.correction.name().to_owned()]);
            row.extend(resampling_fields(Some(self.resampling)));
            row
        })
    }
}

/// One pair by one measure.
struct Row<'r> {
    baseline: Side<'r>,
    system: Side<'r>,
    measure: &'r Measure,
    contrast: &'r Contrast,
    notices: Vec<&'r Notice>,
}

/// One system of a pair by one measure.
struct Side<'r> {
    name: &'r str,
    images: usize,
    score: f64,
    interval: Interval,
    signature: String,
}

fn both(Interval { low, high }: Interval) -> [f64; 2] {
    [low, high]
}

/// The rows, by pair and then by measure.
fn rows(comparison: &Comparison) -> impl Iterator<Item = Row<'_>> {
    let report = &comparison.report;
    let of_pair = |pair: &Pair| Some((report.systems.get(pair.baseline)?, report.systems.get(pair.system)?));
    let pairs = comparison.pairs.iter().filter_map(move |pair| Some((pair, of_pair(pair)?)));
    pairs.flat_map(move |(pair, (baseline, system))| {
        let contrasts = pair.contrasts.iter().zip(&report.head.measures).enumerate();
        contrasts.map(move |(m, (contrast, measure))| Row {
            baseline: side(comparison, baseline, m),
            system: side(comparison, system, m),
            measure,
            contrast,
            notices: report
                .head
                .notices
                .iter()
                .filter(|notice| notice.concerns(&baseline.name) || notice.concerns(&system.name))
                .collect(),
        })
    })
}

fn side<'r>(comparison: &Comparison, system: &'r SystemReport, measure: usize) -> Side<'r> {
    let metric = comparison.report.head.metric_of(measure);
    let signature = metric.and_then(|metric| system.signatures.get(metric));
    Side {
        name: &system.name,
        images: system.n_images,
        score: system.scores.get(measure).copied().unwrap_or(f64::NAN),
        interval: system.interval(measure).copied().unwrap_or(Interval { low: f64::NAN, high: f64::NAN }),
        signature: signature.map_or_else(String::new, ToString::to_string),
    }
}

/// The last fields of a comparison: those of its report, and the pairs.
pub(super) fn tail(comparison: &Comparison) -> Tail<'_> {
    let Comparison { report, correction, pairs, .. } = comparison;
    let name = |system: usize| Cow::Borrowed(report.systems.get(system).map_or("", |s| s.name.as_str()));
    let compared = |pair: &Pair| {
        let keys = report.head.keys().map(Cow::Borrowed);
        Compared {
            baseline: name(pair.baseline),
            system: name(pair.system),
            contrasts: Map(keys.zip(pair.contrasts.iter().map(Found::new)).collect()),
        }
    };
    Tail {
        correction: Some(*correction),
        comparisons: Some(pairs.iter().map(compared).collect()),
        ..Tail::of(report)
    }
}

/// A pair of systems in JSON.
#[derive(Serialize, Deserialize)]
pub(super) struct Compared<'r> {
    pub baseline: Cow<'r, str>,
    pub system: Cow<'r, str>,
    pub contrasts: Map<Cow<'r, str>, Found>,
}

/// A contrast as JSON.
#[derive(Serialize, Deserialize)]
pub(super) struct Found {
    #[serde(with = "real")]
    difference: f64,
    interval: Ends,
    bootstrap: P,
    randomisation: P,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sign: Option<P>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exact: Option<P>,
    wins: usize,
    ties: usize,
    losses: usize,
    #[serde(with = "real")]
    cohens_d: f64,
    #[serde(with = "real")]
    superiority: f64,
    verdict: Cow<'static, str>,
    /// Only where there is no test.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    tested: bool,
}

fn yes() -> bool {
    true
}

fn is_yes(tested: &bool) -> bool {
    *tested
}

impl Found {
    fn new(contrast: &Contrast) -> Self {
        let tally = contrast.tally;
        Self {
            difference: contrast.difference,
            interval: ends(contrast.interval),
            bootstrap: contrast.bootstrap,
            randomisation: contrast.randomisation,
            sign: contrast.sign,
            exact: contrast.permutation,
            wins: tally.wins,
            ties: tally.ties,
            losses: tally.losses,
            cohens_d: contrast.cohens_d,
            superiority: tally.superiority(),
            verdict: Cow::Borrowed(contrast.verdict.name()),
            tested: contrast.has_test,
        }
    }

    /// The contrast again; `None` if there is no such verdict, or no such number of images.
    pub fn contrast(&self) -> Option<Contrast> {
        self.wins.checked_add(self.ties)?.checked_add(self.losses)?;
        let [Real(low), Real(high)] = self.interval;
        Some(Contrast {
            difference: self.difference,
            interval: Interval { low, high },
            bootstrap: self.bootstrap,
            randomisation: self.randomisation,
            sign: self.sign,
            permutation: self.exact,
            tally: Tally { wins: self.wins, ties: self.ties, losses: self.losses },
            cohens_d: self.cohens_d,
            has_test: self.tested,
            verdict: Verdict::ALL.into_iter().find(|verdict| verdict.name() == self.verdict)?,
        })
    }
}
