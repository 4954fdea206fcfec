//! Explanations of single scores as a tree of text.

use std::io::{self, Write};

use capeval_corpus::SegmentId;
use capeval_metric::{Explanation, Step};

use crate::number::significant;
use crate::{Report, Style};

/// One system's caption of one image, and how its scores were computed.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedCaption {
    /// The system, as an index into [`Report::systems`].
    pub system: usize,
    /// The image.
    pub id: SegmentId,
    /// The candidate before tokenisation.
    pub caption: String,
    /// The references before tokenisation.
    pub references: Vec<String>,
    /// One explanation per metric of the report.
    pub metrics: Vec<Explanation>,
}

/// Significant digits of the numbers in a tree.
const DIGITS: usize = 5;

/// Writes every explanation of the report as a tree: a score, its formula, the numbers that the formula combines, and
/// so on down to the counts.
pub fn explanations(report: &Report, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (k, explained) in report.explained.iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        let system = report.systems.get(explained.system).map_or("", |system| &system.name);
        explained.write(system, style, out)?;
    }
    Ok(())
}

impl ExplainedCaption {
    /// Writes the explanation as a tree; `system` is the name of the system.
    pub fn write(&self, system: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let title = format!("image {} · {}", self.id.quoted(), plain(system));
        writeln!(out, "{}", bold(style, &title))?;
        let text = |head: &str, text: &str| style.fitted(head, &plain(text), &" ".repeat(head.len()));
        writeln!(out, "{}", text("  candidate    ", &self.caption))?;
        for (r, reference) in self.references.iter().enumerate() {
            writeln!(out, "{}", text(&format!("  reference {:<2} ", r + 1), reference))?;
        }
        for explanation in &self.metrics {
            writeln!(out)?;
            for step in &explanation.scores {
                writeln!(out, "{}", style.fitted("", &line(step, style, true), "│    "))?;
                branches(step, "", style, out)?;
            }
        }
        Ok(())
    }
}

/// The steps below `step`.
fn branches(step: &Step, indent: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (k, part) in step.parts.iter().enumerate() {
        let is_last = k + 1 == step.parts.len();
        let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let below = format!("{indent}{below}");
        let more = if part.parts.is_empty() { format!("{below}  ") } else { format!("{below}│    ") };
        writeln!(out, "{}", style.fitted(&format!("{indent}{branch}"), &line(part, style, false), &more))?;
        branches(part, &below, style, out)?;
    }
    Ok(())
}

/// A step in one line: its title, number, formula and facts, the references that hold its words, and its note.
fn line(step: &Step, style: &Style, is_score: bool) -> String {
    let mut line = plain(&step.title);
    if let Some(value) = step.value {
        let value = if is_score { format!("{value:.*}", style.digits.max(DIGITS)) } else { number(value) };
        line = format!("{line}  {}", bold(style, &value));
    }
    if let Some(rule) = step.rule.filter(|_| !step.parts.is_empty()) {
        line.push_str(&format!(" = {}", rule.formula));
    }
    let facts = step.facts.iter().map(|fact| format!("{} {}", fact.name, number(fact.value)));
    let places = step.matches.iter().filter(|_| step.parts.is_empty()).map(|matched| {
        let references: Vec<String> = matched.references.iter().map(|(r, _)| (r + 1).to_string()).collect();
        let noun = if references.len() == 1 { "reference" } else { "references" };
        format!("in {noun} {}", references.join(", "))
    });
    let more: Vec<String> = facts.chain(places).chain(step.note.as_deref().map(plain)).collect();
    if more.is_empty() { line } else { format!("{line}  {}", dim(style, &more.join(" · "))) }
}

fn number(value: f64) -> String {
    significant(value, DIGITS)
}

/// Text in one line, with control characters replaced by spaces.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn bold(style: &Style, text: &str) -> String {
    if style.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

fn dim(style: &Style, text: &str) -> String {
    if style.colour { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
}
