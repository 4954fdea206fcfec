//! Preferences as tables for people, and as JSON and CSV for programs.

use std::io::{self, Write};

use capeval_corpus::SegmentId;
use serde::Serialize;

use super::{Accuracy, Preference};
use crate::grid::{Align, Cell, Grid};
use crate::number::{counted, fixed, full, percent};
use crate::render::{
    self,
    json::{Map, SerialNotice, SerialResampling},
};
use crate::{Coefficient, Style};

/// Writes the accuracies of each measure by category.
///
/// # Errors
/// When `out` does not take what is written.
pub fn table(found: &Preference, style: &Style, out: &mut impl Write) -> io::Result<()> {
    render::table::write_grid(&grid(found, style.digits), style, out)?;
    writeln!(out)?;
    for line in about(found) {
        render::table::write_wrapped("", &line, style, out)?;
    }
    if !found.signatures.is_empty() {
        writeln!(out, "\nsignatures")?;
    }
    for signature in &found.signatures {
        writeln!(out, "  {signature}")?;
    }
    if !found.notices.is_empty() {
        writeln!(out)?;
    }
    for notice in &found.notices {
        render::table::write_wrapped("note: ", &notice.message, style, out)?;
    }
    Ok(())
}

/// Writes the same as Markdown.
///
/// # Errors
/// When `out` does not take what is written.
pub fn markdown(found: &Preference, digits: usize, out: &mut impl Write) -> io::Result<()> {
    render::markdown::write_grid(&grid(found, digits), out)?;
    writeln!(out)?;
    for line in about(found) {
        writeln!(out, "{}", render::markdown::escaped(&line))?;
    }
    writeln!(out)?;
    for signature in &found.signatures {
        writeln!(out, "- `{signature}`")?;
    }
    for notice in &found.notices {
        writeln!(out, "> note: {}", render::markdown::escaped(&notice.message))?;
    }
    Ok(())
}

/// Writes the same as LaTeX.
///
/// # Errors
/// When `out` does not take what is written.
pub fn latex(found: &Preference, digits: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "% Written by capeval {}; needs \\usepackage{{booktabs}}.", found.version)?;
    let notices = found.notices.iter().map(|notice| format!("note: {}", notice.message));
    let signatures = found.signatures.iter().map(ToString::to_string);
    for line in about(found).into_iter().chain(signatures).chain(notices) {
        writeln!(out, "% {}", line.replace(['\n', '\r'], " "))?;
    }
    render::latex::write_grid(&grid(found, digits), out)
}

fn is_categorised(found: &Preference) -> bool {
    found.categories.iter().any(|category| !category.name.is_empty())
}

/// A category's name for people.
fn shown(name: &str) -> String {
    if name.is_empty() { "none".to_owned() } else { name.to_owned() }
}

fn grid(found: &Preference, digits: usize) -> Grid {
    let mut columns = vec![(String::new(), Align::Left)];
    if is_categorised(found) {
        columns.extend(found.categories.iter().map(|category| (shown(&category.name), Align::Right)));
        columns.push(("mean".to_owned(), Align::Right));
    } else {
        columns.push(("accuracy".to_owned(), Align::Right));
    }
    let cell = |coefficient: &Coefficient| Cell {
        note: coefficient
            .interval
            .filter(|interval| !interval.low.is_nan())
            .map_or_else(String::new, |interval| {
                format!("[{}, {}]", fixed(interval.low, digits), fixed(interval.high, digits))
            }),
        ..Cell::from(fixed(coefficient.value.unwrap_or(f64::NAN), digits))
    };
    let rows = found.measures.iter().zip(&found.accuracies).map(|(measure, accuracy)| {
        let by_category = accuracy.by_category.iter().filter(|_| is_categorised(found));
        let cells = by_category.chain([&accuracy.mean]).map(cell);
        std::iter::once(measure.label.as_str().into()).chain(cells).collect()
    });
    Grid { columns, rows: rows.collect() }
}

/// What people chose between, and how the numbers came about.
fn about(found: &Preference) -> Vec<String> {
    let (voters, protocol) = (&found.voters, &found.protocol);
    let categories = found.categories.iter().filter(|_| is_categorised(found));
    let categories: Vec<String> =
        categories.map(|c| format!("{} {}", shown(&c.name), counted(c.n_counted, "pair"))).collect();
    let mut lines = vec![format!(
        "accuracy: how often a metric prefers the caption that people prefer; {} of {}{}, {} votes, of which {} % go with \
         the majority (capeval {})",
        counted(voters.n_pairs, "pair"),
        counted(voters.n_images, "image"),
        if categories.is_empty() { String::new() } else { format!(" ({})", categories.join(", ")) },
        fixed(voters.n_votes, if voters.n_votes.fract() == 0.0 { 0 } else { 1 }),
        fixed(100.0 * voters.majority, 1),
        found.version
    )];
    if !found.signatures.is_empty() {
        let references = match protocol.references {
            Some(n) => format!("{} per pair", counted(n, "reference")),
            None => "all references of a pair".to_owned(),
        };
        lines.push(format!("{references}, {}, seed {}", counted(protocol.draws, "draw"), protocol.seed));
    }
    lines.push(format!(
        "people prefer neither caption of {}: {}; where a metric prefers neither, {}",
        counted(voters.n_tied, "pair"),
        match protocol.human_ties {
            super::HumanTies::Skip => "left out",
            super::HumanTies::Half => "half right",
        },
        match protocol.metric_ties {
            super::MetricTies::Half => "it is half right",
            super::MetricTies::Wrong => "it is wrong",
            super::MetricTies::First => "the first caption counts as preferred",
        }
    ));
    if let Some(resampling) = found.resampling {
        lines.push(format!(
            "[low, high]: {} intervals, percentiles of {} of the images, seed {}",
            percent(resampling.level),
            counted(resampling.resamples, "bootstrap resample"),
            resampling.seed
        ));
    }
    lines
}

/// Writes one JSON object, with every number in full.
///
/// # Errors
/// When `out` does not take what is written.
pub fn json(found: &Preference, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Whole::new(found))?;
    out.write_all(b"\n")
}

/// Writes one line per measure.
///
/// # Errors
/// When `out` does not take what is written.
pub fn jsonl(found: &Preference, out: &mut impl Write) -> io::Result<()> {
    let whole = Whole::new(found);
    for (measure, accuracies) in &whole.measures.0 {
        let Whole { capeval, pairs, protocol, .. } = &whole;
        let resampling = found.resampling.map(SerialResampling::new);
        let line = Line { measure, accuracies, pairs, protocol, resampling, capeval };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a header and one row per measure and category, then one for the mean over categories (`mean`) and one for
/// all pairs (`all`).
///
/// # Errors
/// When `out` does not take what is written.
pub fn csv(found: &Preference, out: &mut impl Write) -> io::Result<()> {
    let mut header = ["measure", "category", "accuracy"].map(str::to_owned).to_vec();
    if found.resampling.is_some() {
        header.extend(["accuracy_low", "accuracy_high"].map(str::to_owned));
    }
    let rest = [
        "pairs",
        "references_per_pair",
        "draws",
        "seed",
        "human_ties",
        "metric_ties",
        "signatures",
        "notices",
    ];
    header.extend(rest.map(str::to_owned));
    render::csv::row(out, header.into_iter())?;
    let number = |value: Option<f64>| value.map_or_else(String::new, full);
    let protocol = &found.protocol;
    let total: usize = found.categories.iter().map(|category| category.n_counted).sum();
    let signatures: Vec<String> = found.signatures.iter().map(ToString::to_string).collect();
    let codes: Vec<&str> = found.notices.iter().map(|notice| notice.code.as_str()).collect();
    for (measure, accuracy) in found.measures.iter().zip(&found.accuracies) {
        let categories = found.categories.iter().zip(&accuracy.by_category);
        let categories = categories
            .filter(|_| is_categorised(found))
            .map(|(category, value)| (shown(&category.name), value, category.n_counted));
        let totals = [("mean".to_owned(), &accuracy.mean, total), ("all".to_owned(), &accuracy.all, total)];
        for (name, coefficient, n) in categories.chain(totals) {
            let mut fields = vec![measure.key.clone(), name, number(coefficient.value)];
            if found.resampling.is_some() {
                let interval = coefficient.interval;
                fields.extend([number(interval.map(|i| i.low)), number(interval.map(|i| i.high))]);
            }
            fields.push(n.to_string());
            fields.push(protocol.references.map_or_else(|| "all".to_owned(), |n| n.to_string()));
            fields.extend([protocol.draws.to_string(), protocol.seed.to_string()]);
            fields.extend([protocol.human_ties.name(), protocol.metric_ties.name()].map(str::to_owned));
            fields.extend([signatures.join(" "), codes.join(" ")]);
            render::csv::row(out, fields.into_iter())?;
        }
    }
    Ok(())
}

/// Writes the pairs behind the numbers, one line each:
/// `{"image_id": …, "category": …, "captions": […], "votes": […], "scores": {"cider-d": […]}, "right": {…}}`.
///
/// # Errors
/// When `out` does not take what is written.
pub fn pairs(found: &Preference, out: &mut impl Write) -> io::Result<()> {
    let keys = || found.measures.iter().map(|measure| measure.key.as_str());
    for pair in &found.pairs {
        let category = found.categories.get(pair.category).map_or("", |category| category.name.as_str());
        let line = SerialPair {
            image_id: &pair.image,
            category: (!category.is_empty()).then_some(category),
            captions: &pair.captions,
            votes: pair.votes,
            scores: Map(keys().zip(pair.scores.iter().copied()).collect()),
            right: Map(keys().zip(pair.right.iter().copied()).collect()),
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

#[derive(Serialize)]
struct SerialPair<'r> {
    image_id: &'r SegmentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'r str>,
    captions: &'r [String; 2],
    votes: [f64; 2],
    scores: Map<&'r str, [f64; 2]>,
    right: Map<&'r str, Option<f64>>,
}

#[derive(Serialize)]
struct Whole<'r> {
    capeval: &'r str,
    pairs: Pairs<'r>,
    protocol: SerialProtocol,
    measures: Map<&'r str, Accuracies>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    signatures: Vec<String>,
    notices: Vec<SerialNotice<'r>>,
}

#[derive(Serialize)]
struct Line<'r> {
    measure: &'r str,
    #[serde(flatten)]
    accuracies: &'r Accuracies,
    pairs: &'r Pairs<'r>,
    protocol: &'r SerialProtocol,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    capeval: &'r str,
}

#[derive(Serialize)]
struct Pairs<'r> {
    file: &'r str,
    images: usize,
    pairs: usize,
    tied: usize,
    votes: f64,
    majority: f64,
    categories: Map<String, usize>,
}

#[derive(Serialize)]
struct SerialProtocol {
    references_per_pair: Option<usize>,
    draws: usize,
    seed: u64,
    human_ties: &'static str,
    metric_ties: &'static str,
}

#[derive(Serialize)]
struct Accuracies {
    accuracy: Map<String, Option<f64>>,
    mean: Option<f64>,
    all: Option<f64>,
    by_draw: Vec<Option<f64>>,
    tied: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Map<String, Option<[f64; 2]>>>,
}

impl<'r> Whole<'r> {
    fn new(found: &'r Preference) -> Self {
        let names = || found.categories.iter().filter(|_| is_categorised(found)).map(|c| shown(&c.name));
        let (voters, protocol) = (&found.voters, &found.protocol);
        let accuracies = |accuracy: &Accuracy| {
            let ends = |c: &Coefficient| c.interval.map(|interval| [interval.low, interval.high]);
            let by_category = || names().zip(&accuracy.by_category);
            let totals = [("mean".to_owned(), &accuracy.mean), ("all".to_owned(), &accuracy.all)];
            Accuracies {
                accuracy: Map(by_category().map(|(name, c)| (name, c.value)).collect()),
                mean: accuracy.mean.value,
                all: accuracy.all.value,
                by_draw: accuracy.by_draw.clone(),
                tied: accuracy.tied,
                intervals: found
                    .resampling
                    .map(|_| Map(by_category().chain(totals).map(|(name, c)| (name, ends(c))).collect())),
            }
        };
        let measures = found.measures.iter().zip(&found.accuracies);
        Self {
            capeval: &found.version,
            pairs: Pairs {
                file: &voters.source,
                images: voters.n_images,
                pairs: voters.n_pairs,
                tied: voters.n_tied,
                votes: voters.n_votes,
                majority: voters.majority,
                categories: Map(names().zip(found.categories.iter().map(|c| c.n_counted)).collect()),
            },
            protocol: SerialProtocol {
                references_per_pair: protocol.references,
                draws: protocol.draws,
                seed: protocol.seed,
                human_ties: protocol.human_ties.name(),
                metric_ties: protocol.metric_ties.name(),
            },
            measures: Map(measures.map(|(m, accuracy)| (m.key.as_str(), accuracies(accuracy))).collect()),
            resampling: found.resampling.map(SerialResampling::new),
            signatures: found.signatures.iter().map(ToString::to_string).collect(),
            notices: found.notices.iter().map(render::json::notice).collect(),
        }
    }
}
