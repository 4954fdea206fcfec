//! A report as one page that needs nothing else: table, charts, and every image to look through.
//!
//! The script and the style are the files beside this one. A policy in the page's head allows these two and
//! nothing else to run, and no connection but to the pictures.

mod charts;
mod data;
mod figures;
mod markup;

use std::io::{self, Write};

use self::markup::{Escaped, block, hash};
use super::table::{footer, signature_lines};
use crate::grid::{Align, Grid};
use crate::{Page, Pictures, Report};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("data.js"),
    include_str!("words.js"),
    include_str!("tree.js"),
    include_str!("list.js"),
    include_str!("page.js"),
    "})();\n"
);

/// Writes the whole page. Its images can be looked through if the report has a
/// [`gallery`](Report::gallery) and [`segments`](crate::SystemReport::segments), and its charts are drawn if it
/// has the latter.
///
/// # Errors
/// When `out` does not take what is written.
pub fn html(report: &Report, page: &Page, out: &mut impl Write) -> io::Result<()> {
    write(report, None, page, out)
}

/// Tables of differences between systems, and what their columns mean.
pub(crate) struct Differences {
    /// A heading and a table for each pair.
    pub pairs: Vec<(String, Grid)>,
    /// What the columns mean, sentence by sentence.
    pub key: Vec<String>,
}

/// Writes a page of tables, notices, signatures and the charts of [`Page::ratings`], without images.
pub(crate) fn write_agreement(
    (version, subtitle): (&str, &str),
    tables: &Differences,
    (notices, signatures): (&[String], &[String]),
    page: &Page,
    out: &mut impl Write,
) -> io::Result<()> {
    head(page, version, subtitle, out)?;
    write_tables("agreement", "Agreement with people", tables, out)?;
    write_notes(notices, signatures, out)?;
    if !page.ratings.is_empty() {
        writeln!(out, "<section id=\"charts\" aria-labelledby=\"h-ratings\">")?;
        figures::ratings(page, out)?;
        writeln!(out, "</section>")?;
    }
    writeln!(out, "</main>")?;
    block(out, "meta", "null", false)?;
    writeln!(out, "<script>{SCRIPT}</script></body></html>")
}

/// Writes the page, with differences between systems below the scores.
pub(crate) fn write(
    report: &Report,
    differences: Option<&Differences>,
    page: &Page,
    out: &mut impl Write,
) -> io::Result<()> {
    let systems = match report.systems.len() {
        1 => "1 system".to_owned(),
        n => format!("{n} systems"),
    };
    head(page, &report.provenance.version, &format!("{systems} · {}", footer(report)), out)?;
    scores(report, page, out)?;
    if let Some(differences) = differences {
        write_tables("differences", "Differences", differences, out)?;
    }
    figures::figures(report, page, out)?;
    if let Some(gallery) = &report.gallery {
        writeln!(
            out,
            "<section id=\"images\" aria-labelledby=\"h-images\"><h2 id=\"h-images\">Images</h2>\
             <div id=\"browser\"></div><noscript><p>Looking through single images needs JavaScript; \
             everything above does not.</p></noscript></section>"
        )?;
        writeln!(out, "</main>")?;
        data::data(report, gallery, page, out)?;
    } else {
        writeln!(out, "</main>")?;
        block(out, "meta", "null", false)?;
    }
    writeln!(out, "<script>{SCRIPT}</script></body></html>")
}

fn head(page: &Page, version: &str, subtitle: &str, out: &mut impl Write) -> io::Result<()> {
    let title = Escaped(&page.title);
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:{}; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE),
        sources(page.pictures.as_ref())
    );
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
         <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta name=\"generator\" content=\"capeval {}\"><title>{title}</title>\n<style>{STYLE}</style></head>\n",
        Escaped(&policy),
        Escaped(version)
    )?;
    writeln!(
        out,
        "<body><a class=\"skip\" href=\"#images\">Skip to the images</a>\n<header><div><h1><bdi>{title}</bdi></h1>\
         <p class=\"sub\">{}</p></div>\
         <button type=\"button\" id=\"theme\" hidden>Theme: auto</button></header>\n<main>",
        Escaped(subtitle)
    )
}

/// Where pictures may come from.
fn sources(pictures: Option<&Pictures>) -> String {
    match pictures {
        None => String::new(),
        Some(Pictures::Files(_)) => " 'self' file:".to_owned(),
        Some(Pictures::Pattern(pattern)) => {
            let origin = pattern.split_once("://").map(|(scheme, rest)| {
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                (scheme, host.rsplit('@').next().unwrap_or_default())
            });
            match origin {
                Some((scheme @ ("http" | "https"), host))
                    if !host.is_empty()
                        && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(c)) =>
                {
                    format!(" {scheme}://{host}")
                }
                _ => " 'self' file:".to_owned(),
            }
        }
    }
}

/// With more measures than this, the page has a row for each of them and not a column.
const MANY_MEASURES: usize = 12;

fn scores(report: &Report, page: &Page, out: &mut impl Write) -> io::Result<()> {
    // A line of many measures is easier to read from top to bottom.
    let is_long = report.measures.len() > MANY_MEASURES.max(report.systems.len());
    let grid =
        if is_long { Grid::by_measure(report, page.digits) } else { Grid::by_system(report, page.digits) };
    writeln!(
        out,
        "<section id=\"scores\" aria-labelledby=\"h-scores\"><h2 id=\"h-scores\">Scores</h2>\
         <div class=\"scroll\" role=\"group\" aria-label=\"Table of scores\" tabindex=\"0\">"
    )?;
    rows(&grid, out)?;
    if grid.has_best() {
        writeln!(out, "<p class=\"sub\">The best score of each measure is bold.</p>")?;
    }
    let notices: Vec<String> = report.notices.iter().map(|notice| notice.message.clone()).collect();
    write_notes(&notices, &signature_lines(report), out)?;
    writeln!(out, "</section>")
}

/// Notices, and signatures to unfold.
fn write_notes(notices: &[String], signatures: &[String], out: &mut impl Write) -> io::Result<()> {
    if !notices.is_empty() {
        writeln!(out, "<ul class=\"notices\">")?;
        for notice in notices {
            writeln!(out, "<li dir=\"auto\">{}</li>", Escaped(notice))?;
        }
        writeln!(out, "</ul>")?;
    }
    if signatures.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details><summary>Signatures</summary><ul class=\"signatures\">")?;
    for line in signatures {
        writeln!(out, "<li><code>{}</code></li>", Escaped(line))?;
    }
    writeln!(out, "</ul></details>")
}

fn write_tables(id: &str, title: &str, differences: &Differences, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "<section id=\"{id}\" aria-labelledby=\"h-{id}\"><h2 id=\"h-{id}\">{title}</h2>")?;
    for (title, grid) in &differences.pairs {
        let title = Escaped(title);
        write!(
            out,
            "<h3>{title}</h3><div class=\"scroll\" role=\"group\" aria-label=\"{title}\" tabindex=\"0\">"
        )?;
        rows(grid, out)?;
    }
    for line in &differences.key {
        writeln!(out, "<p class=\"sub\">{}</p>", Escaped(line))?;
    }
    writeln!(out, "</section>")
}

/// A table, and the end of the box that it scrolls in.
fn rows(grid: &Grid, out: &mut impl Write) -> io::Result<()> {
    write!(out, "<table><thead><tr>")?;
    let side = |align: &Align| if *align == Align::Right { " class=\"n\"" } else { "" };
    for (name, align) in &grid.columns {
        let name = if name.is_empty() { "Measure" } else { name };
        write!(out, "<th scope=\"col\"{}>{}</th>", side(align), Escaped(name))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for row in &grid.rows {
        write!(out, "<tr>")?;
        for (k, (cell, (_, align))) in row.iter().zip(&grid.columns).enumerate() {
            let text = Escaped(&cell.text);
            let note = if cell.note.is_empty() {
                String::new()
            } else {
                format!(" <small>{}</small>", Escaped(&cell.note))
            };
            match (k, cell.best) {
                (0, _) => write!(out, "<th scope=\"row\"><bdi>{text}</bdi></th>")?,
                (_, true) => write!(
                    out,
                    "<td class=\"n best\"><b>{text}</b><span class=\"hidden\"> (best)</span>{note}</td>"
                )?,
                (_, false) => write!(out, "<td{}>{text}{note}</td>", side(align))?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}
