//! `capeval metrics`: lists the metrics.

use std::io::{self, Write};

use anyhow::Result;
use capeval::choice::{Argument, Dialect};
use capeval::evaluate::registry::SUITES;
use capeval::metric::{CardNeeds, Family, MetricCard};
use capeval::report::wrapped;
use capeval_outside::{card, cards};
use clap::ValueEnum;
use serde::Serialize;

use crate::fault::Flags;
use crate::options::Completion;
use crate::output::Output;

/// List the metrics with their papers, ranges and signatures
#[derive(clap::Args)]
pub struct Args {
    /// Metrics to show in full, with all settings; bleu:n=2 shows keys and signature with this setting.
    #[arg(value_name = "NAME", value_parser = Completion::AllMetrics, hide_possible_values = true)]
    names: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,
}

/// The format of a list.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for the terminal.
    #[default]
    Text,
    /// A JSON array.
    Json,
}

/// A metric as JSON.
#[derive(Serialize)]
struct Entry<'k> {
    name: &'k str,
    summary: &'k str,
    paper: &'k str,
    program: &'k str,
    /// The kind of data that it compares.
    family: &'static str,
    /// Its needs beside captions and references.
    needs: Option<&'static str>,
    /// `None` if it depends on a model, a list or a server.
    signature: Option<String>,
    measures: Vec<Measure>,
    settings: Vec<Setting<'k>>,
}

#[derive(Serialize)]
struct Measure {
    key: String,
    label: String,
    better: &'static str,
    number: &'static str,
    min: f64,
    max: f64,
}

#[derive(Serialize)]
struct Setting<'k> {
    name: &'k str,
    default: &'k str,
    summary: String,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let mut chosen = cards().to_vec();
    if !args.names.is_empty() {
        let order: Vec<&str> = chosen.iter().map(|card| card.name).collect();
        chosen = args.names.iter().map(|name| card(name)).collect::<Result<_, _>>()?;
        chosen.sort_by_key(|card| order.iter().position(|name| *name == card.name));
    }
    let output = Output::open(None, &[])?;
    if args.format == Format::Json {
        let entries: Vec<Entry<'_>> = chosen.iter().map(entry).collect();
        return output.write(|out| {
            serde_json::to_writer_pretty(&mut *out, &entries)?;
            out.write_all(b"\n")
        });
    }
    let width = output.width().unwrap_or(usize::MAX);
    let in_full = !args.names.is_empty();
    output.write(|out| {
        for card in chosen.iter().filter(|card| in_full || card.family == Family::Words) {
            describe(card, in_full, width, out)?;
        }
        if in_full { Ok(()) } else { outlook(&chosen, width, out) }
    })
}

/// `text` beside `name`, in lines of `width` columns.
fn entry_of(name: &str, text: &str, width: usize) -> String {
    wrapped(&format!("  {name:NAMES$}"), text, &" ".repeat(NAMES + 2), width)
}

fn entry(card: &MetricCard) -> Entry<'_> {
    let MetricCard { name, summary, paper, program, settings, signature, parts, needs, family, .. } = card;
    let settings =
        settings.iter().map(|s| Setting { name: s.name, default: s.default, summary: s.meaning() });
    let measures = parts.iter().map(|part| Measure {
        better: part.direction.name(),
        key: part.key.clone(),
        label: part.label.clone(),
        number: part.number.name(),
        min: part.min,
        max: part.max,
    });
    Entry {
        name,
        summary,
        paper,
        program,
        family: family.name(),
        needs: needs.as_ref().map(|needs| needs.what),
        signature: signature.as_ref().map(ToString::to_string),
        measures: measures.collect(),
        settings: settings.collect(),
    }
}

/// The width of the column of names.
const NAMES: usize = 11;

/// The greatest width of the column of settings.
const SETTINGS: usize = 24;

fn describe(card: &MetricCard, in_full: bool, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let MetricCard { name, summary, paper, program, settings, signature, parts, needs, family, .. } = card;
    writeln!(out, "{name}")?;
    let mut line = |name: &str, text: &str| writeln!(out, "{}", entry_of(name, text, width));
    line(if *family == Family::Systems { "tells" } else { "rewards" }, summary)?;
    let keys: Vec<&str> = parts.iter().map(|part| part.key.as_str()).collect();
    line("keys", &keys.join(" "))?;
    if let Some(part) = parts.first() {
        let most = if part.max.is_finite() { part.max.to_string() } else { "∞".to_owned() };
        line("range", &format!("{} to {most}, {} is better", part.min, part.direction.name()))?;
    }
    line("paper", paper)?;
    line("program", program)?;
    if let Some(needs) = needs {
        line("needs", &how_to_give(needs))?;
    }
    if let Some(signature) = signature {
        line("signature", &signature.to_string())?;
    }
    if in_full {
        if *family == Family::Judges {
            line("file", &format!("capeval judge show {name}"))?;
        }
        let longest = settings.iter().map(|s| s.name.len() + 1 + s.default.len()).max().unwrap_or(0);
        // Where lines end, long defaults leave no room beside them.
        let column = if width == usize::MAX { longest } else { longest.min(SETTINGS) };
        for (k, setting) in settings.iter().enumerate() {
            let name = if k == 0 { "settings" } else { "" };
            let given = format!("{}={}", setting.name, setting.default);
            let head = format!("  {name:NAMES$}{given:column$}  ");
            writeln!(out, "{}", wrapped(&head, &setting.meaning(), &" ".repeat(NAMES + column + 4), width))?;
        }
        let command = if *family == Family::Systems { "capeval diversity " } else { "" };
        let settings = if settings.is_empty() { "" } else { ":NAME=VALUE" };
        writeln!(out, "{}", entry_of("given as", &format!("{command}--metrics {name}{settings}"), width))?;
    }
    writeln!(out)
}

/// A metric's needs, and the flags or the command that meet them.
fn how_to_give(CardNeeds { what, job, given, instead }: &CardNeeds) -> String {
    let flags = |all: &[Argument]| -> Vec<String> {
        all.iter().map(|argument| Flags::Usual.argument(*argument, None)).collect()
    };
    match (job, flags(given).join(" "), flags(instead)) {
        (Some(job), ..) => format!("{what}; {}", Flags::Usual.task(job)),
        (None, given, instead) => {
            format!("{what}: {}", std::iter::once(given).chain(instead).collect::<Vec<_>>().join(" or "))
        }
    }
}

/// The end of the list: metrics that compare no words, suites, and where to find more.
fn outlook(cards: &[MetricCard], width: usize, out: &mut dyn Write) -> io::Result<()> {
    let groups = [
        (Family::Systems, "of all captions of a system (capeval diversity)"),
        (Family::Vectors, "of vectors (--model DIR or --vectors WHAT=FILE)"),
        (Family::Objects, "of objects (--objects FILE --instances FILE)"),
        (Family::Judges, "judges (--endpoint URL --judgements FILE; capeval judge)"),
    ];
    for (k, (family, title)) in groups.into_iter().enumerate() {
        writeln!(out, "{}{title}", if k == 0 { "" } else { "\n" })?;
        for card in cards.iter().filter(|card| card.family == family) {
            writeln!(out, "{}", entry_of(card.name, card.summary, width))?;
        }
    }
    writeln!(out)?;
    writeln!(out, "suites")?;
    let longest = SUITES.iter().map(|suite| suite.name.len()).max().unwrap_or(0);
    for suite in SUITES {
        let (head, indent) = (format!("  {:longest$}  ", suite.name), " ".repeat(longest + 4));
        writeln!(out, "{}", wrapped(&head, suite.summary, &indent, width))?;
        for metric in suite.metrics() {
            writeln!(out, "{indent}  {metric}")?;
        }
    }
    writeln!(out, "\nSettings: capeval metrics NAME.   Tokenizers: capeval tokenize --list.")
}
