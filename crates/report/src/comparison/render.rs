//! A comparison as tables for people, and as JSON and CSV for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::{Comparison, Contrast, P, Pair, Verdict};
use crate::grid::{Align, Cell, Grid};
use crate::number::{fixed, full, percent};
use crate::render::html::Differences;
use crate::render::{self, json::Map};
use crate::{Notice, Page, Style};

/// Writes one table per pair: the scores, their difference with its interval, the corrected p-values, and on how
/// many images the system is better, as good and worse.
///
/// # Errors
/// When `out` does not take what is written.
pub fn table(comparison: &Comparison, style: &Style, out: &mut impl Write) -> io::Result<()> {
    for pair in &comparison.pairs {
        render::table::write_grid(&grid(comparison, pair, style.digits), style, out)?;
        writeln!(out)?;
    }
    writeln!(out, "{}", render::table::footer(&comparison.report))?;
    for line in key(comparison) {
        render::table::write_wrapped("", &line, style, out)?;
    }
    render::table::write_signatures(&comparison.report, style, out)
}

/// Writes one Markdown table per pair, with what [`table`](fn@table) shows.
///
/// # Errors
/// When `out` does not take what is written.
pub fn markdown(comparison: &Comparison, digits: usize, out: &mut impl Write) -> io::Result<()> {
    for pair in &comparison.pairs {
        render::markdown::write_grid(&grid(comparison, pair, digits), out)?;
        writeln!(out)?;
    }
    writeln!(out, "{}\n", render::table::footer(&comparison.report))?;
    for line in key(comparison) {
        writeln!(out, "{}", render::markdown::escaped(&line))?;
    }
    render::markdown::write_signatures(&comparison.report, out)
}

/// Writes one LaTeX `tabular` per pair, with what [`table`](fn@table) shows.
///
/// # Errors
/// When `out` does not take what is written.
pub fn latex(comparison: &Comparison, digits: usize, out: &mut impl Write) -> io::Result<()> {
    render::latex::write_head(&comparison.report, out)?;
    for line in key(comparison) {
        writeln!(out, "% {line}")?;
    }
    for pair in &comparison.pairs {
        render::latex::write_grid(&grid(comparison, pair, digits), out)?;
    }
    Ok(())
}

/// Writes the page of the [`Report`](crate::Report) with what [`table`](fn@table) shows in it; see
/// [`html`](fn@crate::html).
///
/// # Errors
/// When `out` does not take what is written.
pub fn html(comparison: &Comparison, page: &Page, out: &mut impl Write) -> io::Result<()> {
    let name = |system: usize| comparison.report.systems.get(system).map_or("", |s| s.name.as_str());
    let pairs = comparison.pairs.iter().map(|pair| {
        let title = format!("{} against {}", name(pair.system), name(pair.baseline));
        (title, grid(comparison, pair, page.digits))
    });
    let key = key(comparison).into_iter().map(|line| line.replacen("* differs", "bold: differs", 1));
    let differences = Differences { pairs: pairs.collect(), key: key.collect() };
    render::html::write(&comparison.report, Some(&differences), page, out)
}

/// What the columns of a table mean.
fn key(comparison: &Comparison) -> Vec<String> {
    let resampling = &comparison.resampling;
    vec![
        format!(
            "* differs at {} by p exact, else p rand. ({} correction over all pairs and measures)",
            percent(resampling.level),
            comparison.correction.name()
        ),
        format!(
            "[low, high]: {} interval of the difference; {} resamples and exchanges of the images, seed {}",
            percent(resampling.level),
            resampling.resamples,
            resampling.seed
        ),
        "p: randomisation, bootstrap (as in sacreBLEU), sign and exact where the score is a mean; d: Cohen's d of the \
         images' differences; images: better, equal, worse"
            .to_owned(),
    ]
}

fn grid(comparison: &Comparison, pair: &Pair, digits: usize) -> Grid {
    let report = &comparison.report;
    let name = |system: usize| report.systems.get(system).map_or("", |s| s.name.as_str()).to_owned();
    let mut names = vec![String::new(), name(pair.baseline), name(pair.system), "difference".to_owned()];
    let has = |test: fn(&Contrast) -> Option<P>| pair.contrasts.iter().any(|c| test(c).is_some());
    let (sign, exact) = (has(|c| c.sign), has(|c| c.permutation));
    names.extend(["p rand.", "p boot."].map(str::to_owned));
    names.extend(sign.then(|| "p sign".to_owned()));
    names.extend(exact.then(|| "p exact".to_owned()));
    names.extend(["d", "better/equal/worse"].map(str::to_owned));
    let columns = names.into_iter().enumerate();
    let columns = columns.map(|(k, name)| (name, if k == 0 { Align::Left } else { Align::Right }));
    let rows = pair.contrasts.iter().zip(&report.measures).enumerate().map(|(m, (contrast, measure))| {
        let score = |system: usize| {
            let score = report.systems.get(system).and_then(|s| s.scores.get(m));
            Cell::from(score.map_or_else(String::new, |score| fixed(*score, digits)))
        };
        let mut cells = vec![measure.label.as_str().into(), score(pair.baseline), score(pair.system)];
        cells.push(Cell {
            text: signed(contrast.difference, digits),
            best: contrast.verdict != Verdict::Undecided,
            note: format!(
                "[{}, {}]",
                signed(contrast.interval.low, digits),
                signed(contrast.interval.high, digits)
            ),
        });
        cells.extend([contrast.randomisation, contrast.bootstrap].map(|p| Cell::from(p_value(p.adjusted))));
        let optional = |p: Option<P>| Cell::from(p.map_or_else(String::new, |p| p_value(p.adjusted)));
        cells.extend(sign.then(|| optional(contrast.sign)));
        cells.extend(exact.then(|| optional(contrast.permutation)));
        let tally = contrast.tally;
        cells.push(signed(contrast.cohens_d, 2).into());
        cells.push(format!("{}/{}/{}", tally.wins, tally.ties, tally.losses).into());
        cells
    });
    Grid { columns: columns.collect(), rows: rows.collect() }
}

/// A number that always carries its sign.
fn signed(value: f64, digits: usize) -> String {
    let text = fixed(value, digits);
    if value.is_finite() && !text.starts_with('-') { format!("+{text}") } else { text.replace('-', "−") }
}

/// A p-value as papers print it.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { fixed(p, 4) }
}

/// Writes one JSON object: what [`json`](crate::json) writes of the systems, and `comparisons`, one object per
/// pair with an object per measure.
///
/// # Errors
/// When `out` does not take what is written.
pub fn json(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let report = &comparison.report;
    let name = |system: usize| report.systems.get(system).map_or("", |s| s.name.as_str());
    let comparisons = comparison.pairs.iter().map(|pair| SerialPair {
        baseline: name(pair.baseline),
        system: name(pair.system),
        measures: Map(report
            .measures
            .iter()
            .map(|measure| measure.key.as_str())
            .zip(pair.contrasts.iter().map(SerialContrast::new))
            .collect()),
    });
    let whole = Whole {
        report: render::json::whole(report),
        correction: comparison.correction.name(),
        comparisons: comparisons.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    out.write_all(b"\n")
}

/// Writes one line per pair and measure: the object that [`json`](fn@json) puts into `measures`, with the names of
/// the systems and the key of the measure.
///
/// # Errors
/// When `out` does not take what is written.
pub fn jsonl(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let report = &comparison.report;
    let name = |system: usize| report.systems.get(system).map_or("", |s| s.name.as_str());
    for pair in &comparison.pairs {
        for (contrast, measure) in pair.contrasts.iter().zip(&report.measures) {
            let line = Line {
                baseline: name(pair.baseline),
                system: name(pair.system),
                measure: &measure.key,
                contrast: SerialContrast::new(contrast),
                correction: comparison.correction.name(),
                resampling: render::json::resampling(report),
                capeval: &report.provenance.version,
            };
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Writes a header and one row per pair and measure.
///
/// # Errors
/// When `out` does not take what is written.
pub fn csv(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let report = &comparison.report;
    render::csv::row(
        out,
        "baseline,system,measure,baseline_score,system_score,difference,low,high,bootstrap_p,\
         bootstrap_adjusted,randomisation_p,randomisation_adjusted,sign_p,sign_adjusted,exact_p,exact_adjusted,\
         wins,ties,losses,cohens_d,superiority,verdict,notices"
            .split(',')
            .map(str::to_owned),
    )?;
    let codes: Vec<&str> = report.notices.iter().map(|notice: &Notice| notice.code.as_str()).collect();
    for pair in &comparison.pairs {
        let of = |system: usize| report.systems.get(system);
        let name = |system: usize| of(system).map_or_else(String::new, |s| s.name.clone());
        for (m, (contrast, measure)) in pair.contrasts.iter().zip(&report.measures).enumerate() {
            let score =
                |system| of(system).and_then(|s| s.scores.get(m)).map_or_else(String::new, |x| full(*x));
            let Contrast { difference, interval, bootstrap, randomisation, sign, permutation, .. } =
                *contrast;
            let mut fields = vec![name(pair.baseline), name(pair.system), measure.key.clone()];
            fields.extend([score(pair.baseline), score(pair.system)]);
            fields.extend([difference, interval.low, interval.high].map(full));
            for p in [Some(bootstrap), Some(randomisation), sign, permutation] {
                fields.extend(p.map_or([const { String::new() }; 2], |p| [full(p.value), full(p.adjusted)]));
            }
            let tally = contrast.tally;
            fields.extend([tally.wins, tally.ties, tally.losses].map(|n| n.to_string()));
            fields.extend([contrast.cohens_d, tally.superiority()].map(full));
            fields.extend([contrast.verdict.name().to_owned(), codes.join(" ")]);
            render::csv::row(out, fields.into_iter())?;
        }
    }
    Ok(())
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
    measures: Map<&'r str, SerialContrast>,
}

#[derive(Serialize)]
struct Line<'r> {
    baseline: &'r str,
    system: &'r str,
    measure: &'r str,
    #[serde(flatten)]
    contrast: SerialContrast,
    correction: &'static str,
    resampling: Option<render::json::SerialResampling>,
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
