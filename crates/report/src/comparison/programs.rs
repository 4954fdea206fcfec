//! A comparison as JSON and CSV for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::{Comparison, Contrast, P, Pair};
use crate::number::full;
use crate::render::{
    self,
    json::{Map, SerialNotice, SerialResampling},
};
use crate::{Measure, Notice, SystemReport};

/// Writes one JSON object: what [`json`](crate::json) writes of the systems, and `comparisons`, one object per
/// pair with `contrasts`, an object per measure.
///
/// # Errors
/// When `out` does not take what is written.
pub fn json(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let report = &comparison.report;
    let name = |system: usize| report.systems.get(system).map_or("", |s| s.name.as_str());
    let keys = || report.measures.iter().map(|measure| measure.key.as_str());
    let comparisons = comparison.pairs.iter().map(|pair| SerialPair {
        baseline: name(pair.baseline),
        system: name(pair.system),
        contrasts: Map(keys().zip(pair.contrasts.iter().map(SerialContrast::new)).collect()),
    });
    let whole = Whole {
        report: render::json::whole(report),
        correction: comparison.correction.name(),
        comparisons: comparisons.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    out.write_all(b"\n")
}

/// Writes one line per pair and measure: the object that [`json`](fn@json) puts into `contrasts`, with the names of
/// the systems and the key of the measure, both scores with their intervals and signatures, and the notices that
/// concern either system.
///
/// # Errors
/// When `out` does not take what is written.
pub fn jsonl(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    for row in rows(comparison) {
        let Row { baseline, system, measure, contrast, notices } = row;
        let line = Line {
            baseline: baseline.name,
            system: system.name,
            measure: &measure.key,
            images: system.images,
            baseline_score: baseline.score,
            baseline_interval: baseline.interval,
            system_score: system.score,
            system_interval: system.interval,
            contrast: SerialContrast::new(contrast),
            correction: comparison.correction.name(),
            resampling: SerialResampling::new(comparison.resampling),
            baseline_signature: baseline.signature,
            system_signature: system.signature,
            notices: notices.into_iter().map(render::json::notice).collect(),
            capeval: &comparison.report.provenance.version,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The columns of [`csv`](fn@csv), of which `level`, `resamples` and `seed` follow.
const COLUMNS: &str = "baseline,system,measure,baseline_score,system_score,difference,low,high,bootstrap_p,\
                       bootstrap_adjusted,randomisation_p,randomisation_adjusted,sign_p,sign_adjusted,exact_p,\
                       exact_adjusted,wins,ties,losses,cohens_d,superiority,verdict,notices,images,baseline_low,\
                       baseline_high,system_low,system_high,baseline_signature,system_signature,correction";

/// Writes a header and one row per pair and measure. Each says on its own what was computed: how it was resampled,
/// how p-values were corrected, and by which signatures.
///
/// # Errors
/// When `out` does not take what is written.
pub fn csv(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let columns = COLUMNS.split(',').chain(render::csv::RESAMPLING);
    render::csv::row(out, columns.map(str::to_owned))?;
    for Row { baseline, system, measure, contrast, notices } in rows(comparison) {
        let Contrast { difference, interval, bootstrap, randomisation, sign, permutation, .. } = *contrast;
        let mut fields = vec![baseline.name.to_owned(), system.name.to_owned(), measure.key.clone()];
        fields.extend([baseline.score, system.score, difference, interval.low, interval.high].map(full));
        for p in [Some(bootstrap), Some(randomisation), sign, permutation] {
            fields.extend(p.map_or([const { String::new() }; 2], |p| [full(p.value), full(p.adjusted)]));
        }
        let tally = contrast.tally;
        fields.extend([tally.wins, tally.ties, tally.losses].map(|n| n.to_string()));
        fields.extend([contrast.cohens_d, tally.superiority()].map(full));
        let codes: Vec<&str> = notices.iter().map(|notice| notice.code.as_str()).collect();
        fields.extend([contrast.verdict.name().to_owned(), codes.join(" "), system.images.to_string()]);
        fields.extend(baseline.interval.into_iter().chain(system.interval).map(full));
        fields.extend([baseline.signature, system.signature]);
        fields.push(comparison.correction.name().to_owned());
        fields.extend(render::csv::resampling(comparison.resampling));
        render::csv::row(out, fields.into_iter())?;
    }
    Ok(())
}

/// What is said of one pair by one measure, in lines and rows.
struct Row<'r> {
    baseline: Side<'r>,
    system: Side<'r>,
    measure: &'r Measure,
    contrast: &'r Contrast,
    notices: Vec<&'r Notice>,
}

/// What is said of one system by one measure.
struct Side<'r> {
    name: &'r str,
    images: usize,
    score: f64,
    interval: [f64; 2],
    signature: String,
}

/// Pair after pair, measure after measure.
fn rows(comparison: &Comparison) -> impl Iterator<Item = Row<'_>> {
    let report = &comparison.report;
    let of_pair = |pair: &Pair| Some((report.systems.get(pair.baseline)?, report.systems.get(pair.system)?));
    let pairs = comparison.pairs.iter().filter_map(move |pair| Some((pair, of_pair(pair)?)));
    pairs.flat_map(move |(pair, (baseline, system))| {
        pair.contrasts.iter().zip(&report.measures).enumerate().map(move |(m, (contrast, measure))| Row {
            baseline: side(comparison, baseline, m),
            system: side(comparison, system, m),
            measure,
            contrast,
            notices: report
                .notices
                .iter()
                .filter(|notice| notice.concerns(&baseline.name) || notice.concerns(&system.name))
                .collect(),
        })
    })
}

fn side<'r>(comparison: &Comparison, system: &'r SystemReport, measure: usize) -> Side<'r> {
    let metric = comparison.report.metric_of(measure);
    let signature = metric.and_then(|metric| system.signatures.get(metric));
    Side {
        name: &system.name,
        images: system.n_images,
        score: system.scores.get(measure).copied().unwrap_or(f64::NAN),
        interval: system.interval(measure).map_or([f64::NAN; 2], |interval| [interval.low, interval.high]),
        signature: signature.map_or_else(String::new, ToString::to_string),
    }
}

#[derive(Serialize)]
struct Whole<'r, R: Serialize> {
    #[serde(flatten)]
    report: R,
    correction: &'static str,
    comparisons: Vec<SerialPair<'r>>,
}

#[derive(Serialize)]
struct SerialPair<'r> {
    baseline: &'r str,
    system: &'r str,
    contrasts: Map<&'r str, SerialContrast>,
}

#[derive(Serialize)]
struct Line<'r> {
    baseline: &'r str,
    system: &'r str,
    measure: &'r str,
    images: usize,
    baseline_score: f64,
    baseline_interval: [f64; 2],
    system_score: f64,
    system_interval: [f64; 2],
    #[serde(flatten)]
    contrast: SerialContrast,
    correction: &'static str,
    resampling: SerialResampling,
    baseline_signature: String,
    system_signature: String,
    notices: Vec<SerialNotice<'r>>,
    capeval: &'r str,
}

#[derive(Serialize)]
struct SerialContrast {
    difference: f64,
    interval: [f64; 2],
    bootstrap: SerialP,
    randomisation: SerialP,
    #[serde(skip_serializing_if = "Option::is_none")]
    sign: Option<SerialP>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<SerialP>,
    wins: usize,
    ties: usize,
    losses: usize,
    cohens_d: f64,
    superiority: f64,
    verdict: &'static str,
}

#[derive(Serialize)]
struct SerialP {
    p: f64,
    adjusted: f64,
}

impl SerialContrast {
    fn new(contrast: &Contrast) -> Self {
        let p = |p: P| SerialP { p: p.value, adjusted: p.adjusted };
        let tally = contrast.tally;
        Self {
            difference: contrast.difference,
            interval: [contrast.interval.low, contrast.interval.high],
            bootstrap: p(contrast.bootstrap),
            randomisation: p(contrast.randomisation),
            sign: contrast.sign.map(p),
            exact: contrast.permutation.map(p),
            wins: tally.wins,
            ties: tally.ties,
            losses: tally.losses,
            cohens_d: contrast.cohens_d,
            superiority: tally.superiority(),
            verdict: contrast.verdict.name(),
        }
    }
}
