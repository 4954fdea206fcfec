//! Comparisons as JSON, JSON Lines and CSV, with a line or row per pair and measure.

use capeval_metric::Signature;
use serde::Serialize;

use super::{Export, Line, Map, codes, ends, resampling_columns, resampling_fields};
use crate::comparison::{Comparison, Contrast, P, Pair};
use crate::number::full;
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
        #[derive(Serialize)]
        struct Tail<'r, T> {
            #[serde(flatten)]
            report: T,
            correction: &'static str,
            comparisons: Vec<Compared<'r>>,
        }
        #[derive(Serialize)]
        struct Compared<'r> {
            baseline: &'r str,
            system: &'r str,
            contrasts: Map<&'r str, Found>,
        }
        let name = |system: usize| self.report.systems.get(system).map_or("", |s| s.name.as_str());
        let comparisons = self.pairs.iter().map(|pair| Compared {
            baseline: name(pair.baseline),
            system: name(pair.system),
            contrasts: Map(self.head().keys().zip(pair.contrasts.iter().map(Found::new)).collect()),
        });
        Tail {
            report: self.report.tail(),
            correction: self.correction.name(),
            comparisons: comparisons.collect(),
        }
    }

    fn lines(&self) -> impl Iterator<Item = Line<'_, impl Serialize>> {
        #[derive(Serialize)]
        struct Body<'r> {
            baseline: &'r str,
            system: &'r str,
            measure: &'r str,
            images: usize,
            baseline_score: f64,
            baseline_interval: [f64; 2],
            system_score: f64,
            system_interval: [f64; 2],
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
                baseline_score: baseline.score,
                baseline_interval: baseline.interval,
                system_score: system.score,
                system_interval: system.interval,
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
                    .chain(ends(contrast.interval))
                    .map(full),
            );
            for p in [Some(bootstrap), Some(randomisation), sign, permutation] {
                row.extend(p.map_or([const { String::new() }; 2], |p| [full(p.value), full(p.adjusted)]));
            }
            let tally = contrast.tally;
            row.extend([tally.wins, tally.ties, tally.losses].map(|n| n.to_string()));
            row.extend([contrast.cohens_d, tally.superiority()].map(full));
            row.extend([contrast.verdict.name().to_owned(), codes(notices), system.images.to_string()]);
            row.extend(baseline.interval.into_iter().chain(system.interval).map(full));
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
    interval: [f64; 2],
    signature: String,
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
        interval: system.interval(measure).map_or([f64::NAN; 2], |interval| ends(*interval)),
        signature: signature.map_or_else(String::new, ToString::to_string),
    }
}

/// A contrast as JSON.
#[derive(Serialize)]
struct Found {
    difference: f64,
    interval: [f64; 2],
    bootstrap: P,
    randomisation: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    sign: Option<P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<P>,
    wins: usize,
    ties: usize,
    losses: usize,
    cohens_d: f64,
    superiority: f64,
    verdict: &'static str,
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
            verdict: contrast.verdict.name(),
        }
    }
}
