//! Agreement with people as tables for people, and as JSON and CSV for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::{Coefficient, Correlation};
use crate::comparison::p_value;
use crate::grid::{Align, Cell, Grid};
use crate::number::{counted, fixed, full, percent, significant};
use crate::render::html::Differences;
use crate::render::{
    self,
    json::{Map, SerialNotice, SerialResampling},
};
use crate::{Notice, Page, RatingPlot, Style};

/// Writes the coefficients of each measure, those of systems, and Williams' tests.
///
/// # Errors
/// When `out` does not take what is written.
pub fn table(correlation: &Correlation, style: &Style, out: &mut impl Write) -> io::Result<()> {
    for (title, grid) in grids(correlation, style.digits) {
        if let Some(title) = title {
            writeln!(out, "{title}")?;
        }
        render::table::write_grid(&grid, style, out)?;
        writeln!(out)?;
    }
    for line in about(correlation) {
        render::table::write_wrapped("", &line, style, out)?;
    }
    if !correlation.signatures.is_empty() {
        writeln!(out, "\nsignatures")?;
    }
    for signature in &correlation.signatures {
        writeln!(out, "  {signature}")?;
    }
    if !correlation.notices.is_empty() {
        writeln!(out)?;
    }
    for notice in &correlation.notices {
        render::table::write_wrapped("note: ", &notice.message, style, out)?;
    }
    Ok(())
}

/// Writes the same as Markdown.
///
/// # Errors
/// When `out` does not take what is written.
pub fn markdown(correlation: &Correlation, digits: usize, out: &mut impl Write) -> io::Result<()> {
    for (title, grid) in grids(correlation, digits) {
        if let Some(title) = title {
            writeln!(out, "{title}\n")?;
        }
        render::markdown::write_grid(&grid, out)?;
        writeln!(out)?;
    }
    for line in about(correlation) {
        writeln!(out, "{}", render::markdown::escaped(&line))?;
    }
    writeln!(out)?;
    for signature in &correlation.signatures {
        writeln!(out, "- `{signature}`")?;
    }
    for notice in &correlation.notices {
        writeln!(out, "> note: {}", render::markdown::escaped(&notice.message))?;
    }
    Ok(())
}

/// Writes the same as LaTeX, one `tabular` per table.
///
/// # Errors
/// When `out` does not take what is written.
pub fn latex(correlation: &Correlation, digits: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "% Written by capeval {}; needs \\usepackage{{booktabs}}.", correlation.version)?;
    let notices = correlation.notices.iter().map(|notice| format!("note: {}", notice.message));
    let signatures = correlation.signatures.iter().map(ToString::to_string);
    for line in about(correlation).into_iter().chain(signatures).chain(notices) {
        writeln!(out, "% {}", line.replace(['\n', '\r'], " "))?;
    }
    for (title, grid) in grids(correlation, digits) {
        if let Some(title) = title {
            writeln!(out, "% {title}")?;
        }
        render::latex::write_grid(&grid, out)?;
    }
    Ok(())
}

/// Writes a page with what [`table`](fn@table) shows, and a chart of scores against ratings for each measure.
///
/// # Errors
/// When `out` does not take what is written.
pub fn html(correlation: &Correlation, page: &Page, out: &mut impl Write) -> io::Result<()> {
    let points = &correlation.points;
    let plots = correlation.measures.iter().zip(&correlation.agreements).zip(&points.scores);
    let plots = plots.map(|((measure, agreement), scores)| RatingPlot {
        ratings: format!("rating, one point per {}", correlation.human.unit.name()),
        scores: measure.label.clone(),
        summary: agreement.tau_b.value.map_or_else(String::new, |tau| format!("Kendall's τ-b {tau:.3}")),
        points: points.ratings.iter().copied().zip(scores.iter().copied()).collect(),
    });
    let ratings = page.ratings.iter().cloned().chain(plots).collect();
    let page = Page { ratings, ..page.clone() };
    let tables = grids(correlation, page.digits).into_iter();
    let tables = tables.map(|(title, grid)| (title.unwrap_or_else(|| "Captions".to_owned()), grid));
    let tables = Differences { pairs: tables.collect(), key: about(correlation) };
    let notices: Vec<String> = correlation.notices.iter().map(|notice| notice.message.clone()).collect();
    let signatures: Vec<String> = correlation.signatures.iter().map(ToString::to_string).collect();
    let subtitle =
        format!("{} · {}", correlation.human.source, counted(correlation.human.n_ratings, "rating"));
    let head = (correlation.version.as_str(), subtitle.as_str());
    render::html::write_agreement(head, &tables, (&notices, &signatures), &page, out)
}

/// What was rated and how coefficients came about.
fn about(correlation: &Correlation) -> Vec<String> {
    let human = &correlation.human;
    let agreement = [("Krippendorff's α (ordinal)", human.alpha), ("Fleiss' κ", human.kappa)];
    let agreement =
        agreement.iter().filter_map(|(name, value)| Some(format!("; {name} {}", fixed((*value)?, 3))));
    let mut lines = vec![format!(
        "{} from {} to {} of {} on {}; {}, one per {}{} (capeval {})",
        counted(human.n_ratings, "rating"),
        significant(human.scale.low, 5),
        significant(human.scale.high, 5),
        counted(human.n_items, "item"),
        counted(human.n_images, "image"),
        counted(human.n_points, "point"),
        human.unit.name(),
        agreement.collect::<String>(),
        correlation.version
    )];
    if let Some(resampling) = correlation.resampling {
        lines.push(format!(
            "[low, high]: {} intervals, percentiles of {} of the images, seed {}",
            percent(resampling.level),
            counted(resampling.resamples, "bootstrap resample"),
            resampling.seed
        ));
    }
    lines
}

fn grids(correlation: &Correlation, digits: usize) -> Vec<(Option<String>, Grid)> {
    let label = |m: usize| correlation.measures.get(m).map_or("", |m| m.label.as_str());
    let columns = |names: &[&str]| -> Vec<(String, Align)> {
        let align = |k: usize| if k == 0 { Align::Left } else { Align::Right };
        names.iter().enumerate().map(|(k, name)| ((*name).to_owned(), align(k))).collect()
    };
    let shown = |value: Option<f64>| Cell::from(fixed(value.unwrap_or(f64::NAN), digits));
    let cell = |coefficient: Coefficient| {
        let ends =
            |i: &capeval_stats::Interval| format!("[{}, {}]", fixed(i.low, digits), fixed(i.high, digits));
        Cell {
            note: coefficient.interval.as_ref().map_or_else(String::new, ends),
            ..shown(coefficient.value)
        }
    };
    let rows = correlation.agreements.iter().enumerate().map(|(m, agreement)| {
        let cells = agreement.coefficients().map(|(_, coefficient)| cell(coefficient));
        std::iter::once(label(m).into()).chain(cells).collect()
    });
    let names = ["", "Pearson r", "Spearman ρ", "Kendall τ-b", "Kendall τ-c", "accuracy"];
    let mut grids = vec![(None, Grid { columns: columns(&names), rows: rows.collect() })];
    if let Some(systems) = &correlation.systems {
        let rows = systems.iter().enumerate().map(|(m, s)| {
            let cells = [s.pearson, s.spearman, s.tau_b, s.accuracy].map(shown);
            std::iter::once(label(m).into()).chain(cells).collect()
        });
        let names = ["", "Pearson r", "Spearman ρ", "Kendall τ-b", "accuracy"];
        let n = systems.first().map_or(0, |s| s.n_systems);
        let title = format!("whole systems ({})", counted(n, "system"));
        grids.push((Some(title), Grid { columns: columns(&names), rows: rows.collect() }));
    }
    if !correlation.differences.is_empty() {
        let rows = correlation.differences.iter().map(|d| {
            let head = [label(d.a).into(), label(d.b).into()];
            let r = [d.r_a, d.r_b, d.r_ab].map(|r| shown(Some(r)));
            let test = [Cell::from(fixed(d.test.t, 2)), p_value(d.test.p).into()];
            head.into_iter().chain(r).chain(test).collect()
        });
        let mut columns = columns(&["a", "b", "r(a)", "r(b)", "r(a, b)", "t", "p"]);
        columns[1].1 = Align::Left;
        let title = "Williams' test of Pearson's r with the mean rating of each item";
        grids.push((Some(title.to_owned()), Grid { columns, rows: rows.collect() }));
    }
    grids
}

/// Writes one JSON object, with every number in full.
///
/// # Errors
/// When `out` does not take what is written.
pub fn json(correlation: &Correlation, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Whole::new(correlation))?;
    out.write_all(b"\n")
}

/// Writes one line per measure.
///
/// # Errors
/// When `out` does not take what is written.
pub fn jsonl(correlation: &Correlation, out: &mut impl Write) -> io::Result<()> {
    let whole = Whole::new(correlation);
    for (measure, coefficients) in &whole.measures.0 {
        let line = Line {
            measure,
            coefficients,
            ratings: &whole.ratings,
            resampling: resampling(correlation),
            capeval: &correlation.version,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a header and one row per measure.
///
/// # Errors
/// When `out` does not take what is written.
pub fn csv(correlation: &Correlation, out: &mut impl Write) -> io::Result<()> {
    let mut header: Vec<String> = ["measure", "points", "items", "images"].map(str::to_owned).to_vec();
    for key in ["pearson", "spearman", "tau_b", "tau_c", "accuracy"] {
        header.push(key.to_owned());
        if correlation.resampling.is_some() {
            header.extend([format!("{key}_low"), format!("{key}_high")]);
        }
    }
    header.extend(["pairs", "alpha", "kappa", "signatures", "notices"].map(str::to_owned));
    render::csv::row(out, header.into_iter())?;
    let human = &correlation.human;
    let number = |value: Option<f64>| value.map_or_else(String::new, full);
    for (measure, agreement) in correlation.measures.iter().zip(&correlation.agreements) {
        let mut fields = vec![measure.key.clone()];
        fields.extend([human.n_points, human.n_items, human.n_images].map(|n| n.to_string()));
        for (_, coefficient) in agreement.coefficients() {
            fields.push(number(coefficient.value));
            if correlation.resampling.is_some() {
                let interval = coefficient.interval;
                fields.extend([number(interval.map(|i| i.low)), number(interval.map(|i| i.high))]);
            }
        }
        let signatures: Vec<String> = correlation.signatures.iter().map(ToString::to_string).collect();
        let codes: Vec<&str> = correlation.notices.iter().map(|notice| notice.code.as_str()).collect();
        fields.extend([agreement.n_pairs.to_string(), number(human.alpha), number(human.kappa)]);
        fields.extend([signatures.join(" "), codes.join(" ")]);
        render::csv::row(out, fields.into_iter())?;
    }
    Ok(())
}

/// Writes the points behind the coefficients, one line each:
/// `{"image_id": …, "rating": …, "scores": {…}}`.
///
/// # Errors
/// When `out` does not take what is written.
pub fn points(correlation: &Correlation, out: &mut impl Write) -> io::Result<()> {
    let points = &correlation.points;
    for (k, (image, rating)) in points.images.iter().zip(&points.ratings).enumerate() {
        let scores = points.scores.iter().map(|scores| scores.get(k).copied().unwrap_or(f64::NAN));
        let keys = correlation.measures.iter().map(|measure| measure.key.as_str());
        let line = SerialPoint { image_id: image, rating: *rating, scores: Map(keys.zip(scores).collect()) };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn resampling(correlation: &Correlation) -> Option<SerialResampling> {
    correlation.resampling.map(SerialResampling::new)
}

#[derive(Serialize)]
struct SerialPoint<'r> {
    image_id: &'r capeval_corpus::SegmentId,
    rating: f64,
    scores: Map<&'r str, f64>,
}

#[derive(Serialize)]
struct Whole<'r> {
    capeval: &'r str,
    ratings: Ratings<'r>,
    measures: Map<&'r str, Coefficients>,
    williams: Vec<SerialDifference<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    signatures: Vec<String>,
    notices: Vec<SerialNotice<'r>>,
}

#[derive(Serialize)]
struct Line<'r> {
    measure: &'r str,
    #[serde(flatten)]
    coefficients: &'r Coefficients,
    ratings: &'r Ratings<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    capeval: &'r str,
}

#[derive(Serialize)]
struct Ratings<'r> {
    file: &'r str,
    images: usize,
    items: usize,
    ratings: usize,
    points: usize,
    unit: &'static str,
    scale: [f64; 2],
    krippendorff_alpha: Option<f64>,
    fleiss_kappa: Option<f64>,
}

#[derive(Serialize)]
struct Coefficients {
    pearson: Option<f64>,
    spearman: Option<f64>,
    tau_b: Option<f64>,
    tau_c: Option<f64>,
    accuracy: Option<f64>,
    pairs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Map<&'static str, Option<[f64; 2]>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    systems: Option<Systems>,
}

#[derive(Serialize)]
struct Systems {
    systems: usize,
    pearson: Option<f64>,
    spearman: Option<f64>,
    tau_b: Option<f64>,
    accuracy: Option<f64>,
}

#[derive(Serialize)]
struct SerialDifference<'r> {
    a: &'r str,
    b: &'r str,
    r_a: f64,
    r_b: f64,
    r_ab: f64,
    t: f64,
    degrees_of_freedom: f64,
    p: f64,
}

impl<'r> Whole<'r> {
    fn new(correlation: &'r Correlation) -> Self {
        let human = &correlation.human;
        let key = |m: usize| correlation.measures.get(m).map_or("", |measure| measure.key.as_str());
        let coefficients = correlation.agreements.iter().enumerate().map(|(m, agreement)| {
            let ends = |c: Coefficient| c.interval.map(|interval| [interval.low, interval.high]);
            let systems = correlation.systems.as_ref().and_then(|systems| systems.get(m));
            let coefficients = Coefficients {
                pearson: agreement.pearson.value,
                spearman: agreement.spearman.value,
                tau_b: agreement.tau_b.value,
                tau_c: agreement.tau_c.value,
                accuracy: agreement.accuracy.value,
                pairs: agreement.n_pairs,
                intervals: correlation
                    .resampling
                    .map(|_| Map(agreement.coefficients().map(|(key, c)| (key, ends(c))).to_vec())),
                systems: systems.map(|s| Systems {
                    systems: s.n_systems,
                    pearson: s.pearson,
                    spearman: s.spearman,
                    tau_b: s.tau_b,
                    accuracy: s.accuracy,
                }),
            };
            (key(m), coefficients)
        });
        let differences = correlation.differences.iter().map(|d| SerialDifference {
            a: key(d.a),
            b: key(d.b),
            r_a: d.r_a,
            r_b: d.r_b,
            r_ab: d.r_ab,
            t: d.test.t,
            degrees_of_freedom: d.test.freedom,
            p: d.test.p,
        });
        Self {
            capeval: &correlation.version,
            ratings: Ratings {
                file: &human.source,
                images: human.n_images,
                items: human.n_items,
                ratings: human.n_ratings,
                points: human.n_points,
                unit: human.unit.name(),
                scale: [human.scale.low, human.scale.high],
                krippendorff_alpha: human.alpha,
                fleiss_kappa: human.kappa,
            },
            measures: Map(coefficients.collect()),
            williams: differences.collect(),
            resampling: resampling(correlation),
            signatures: correlation.signatures.iter().map(ToString::to_string).collect(),
            notices: correlation.notices.iter().map(|notice: &Notice| render::json::notice(notice)).collect(),
        }
    }
}
