//! `capeval metrics`: lists the metrics.

use std::io::{self, Write};

use anyhow::Result;
use capeval::choice::Dialect;
use capeval::evaluate::registry::{self, CORPUS_KINDS, CorpusKind, CorpusNeed, MetricKind, SUITES, kinds};
use capeval::metric::{About, Resources};
use capeval::report::wrapped;
use capeval_outside::embeddings::{EmbeddingKind, KINDS as EMBEDDING_KINDS};
use capeval_outside::judges::{BuiltIn, JUDGES};
use clap::ValueEnum;
use serde::Serialize;

use crate::fault::Flags;
use crate::options::Known;
use crate::output::Output;

/// List the metrics with their papers, ranges and signatures
#[derive(clap::Args)]
pub struct Args {
    /// Metrics to show in full, with all settings; bleu:n=2 shows keys and signature with this setting.
    #[arg(value_name = "NAME", value_parser = Known::AllMetrics, hide_possible_values = true)]
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
    signature: String,
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
    let mut chosen: Vec<(&MetricKind, About)> = Vec::new();
    for kind in kinds() {
        if args.names.is_empty() {
            chosen.push((kind, kind.about()?));
        }
        let is_meant = |name: &&String| registry::kind(name).is_some_and(|meant| meant.name == kind.name);
        for name in args.names.iter().filter(is_meant) {
            chosen.push((kind, about(kind, name)?));
        }
    }
    let is_of_systems = |name: &str| CORPUS_KINDS.iter().any(|kind| kind.name == name);
    let is_known = |name: &str| {
        registry::kind(name).is_some()
            || is_of_systems(name)
            || capeval_outside::embeddings::kind(name).is_some()
            || capeval_outside::judges::is_builtin(name)
            || capeval_outside::chair::is_chair(name)
    };
    if let Some(unknown) = args.names.iter().find(|name| !is_known(name)) {
        let known = kinds().map(|kind| kind.name).chain(CORPUS_KINDS.iter().map(|kind| kind.name));
        let known = known.chain(EMBEDDING_KINDS.iter().map(|kind| kind.name));
        let known = known.chain(JUDGES.iter().map(|judge| judge.name)).chain([capeval_outside::chair::NAME]);
        return Err(registry::unknown(unknown, known.collect()).into());
    }
    let output = Output::open(None, &[])?;
    if args.format == Format::Json {
        let entries: Vec<Entry<'_>> = chosen.iter().map(|(kind, about)| entry(kind, about)).collect();
        return output.write(|out| {
            serde_json::to_writer_pretty(&mut *out, &entries)?;
            out.write_all(b"\n")
        });
    }
    let width = output.width().unwrap_or(usize::MAX);
    output.write(|out| {
        for (kind, about) in &chosen {
            describe(kind, about, !args.names.is_empty(), width, out)?;
        }
        for kind in CORPUS_KINDS.iter().filter(|kind| args.names.iter().any(|name| name == kind.name)) {
            describe_of_system(kind, width, out)?;
        }
        let is_named = |kind: &str| {
            args.names.iter().filter_map(|n| capeval_outside::embeddings::kind(n)).any(|n| n.name == kind)
        };
        for kind in EMBEDDING_KINDS.iter().filter(|kind| is_named(kind.name)) {
            describe_of_vectors(kind, width, out)?;
        }
        if args.names.iter().any(|name| capeval_outside::chair::is_chair(name)) {
            describe_chair(width, out)?;
        }
        for judge in JUDGES.iter().filter(|judge| args.names.iter().any(|name| name == judge.name)) {
            describe_judge(judge, width, out)?;
        }
        if args.names.is_empty() { outlook(width, out) } else { Ok(()) }
    })
}

/// `text` beside `name`, in lines of `width` columns.
fn entry_of(name: &str, text: &str, width: usize) -> String {
    wrapped(&format!("  {name:NAMES$}"), text, &" ".repeat(NAMES + 2), width)
}

/// A metric as it is with the settings in its name, such as `bleu:n=2`.
fn about(kind: &MetricKind, name: &str) -> Result<About> {
    // Metrics that need data have the same keys with all settings.
    if kind.need.is_some() || !name.contains(':') {
        return Ok(kind.about()?);
    }
    Ok(registry::build(name, &[], &Resources::default())?.about().clone())
}

fn entry<'k>(kind: &'k MetricKind, About { signature, parts, .. }: &About) -> Entry<'k> {
    let MetricKind { name, summary, paper, program, settings, .. } = kind;
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
        signature: signature.to_string(),
        measures: measures.collect(),
        settings: settings.collect(),
    }
}

/// The width of the column of names.
const NAMES: usize = 11;

/// The greatest width of the column of settings.
const SETTINGS: usize = 24;

fn describe(
    kind: &MetricKind,
    about: &About,
    in_full: bool,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let About { signature, parts, .. } = about;
    writeln!(out, "{}", kind.name)?;
    let mut line = |name: &str, text: &str| writeln!(out, "{}", entry_of(name, text, width));
    line("rewards", kind.summary)?;
    let keys: Vec<&str> = parts.iter().map(|part| part.key.as_str()).collect();
    line("keys", &keys.join(" "))?;
    if let Some(part) = parts.first() {
        let most = if part.max.is_finite() { part.max.to_string() } else { "∞".to_owned() };
        line("range", &format!("{} to {most}, {} is better", part.min, part.direction.name()))?;
    }
    line("paper", kind.paper)?;
    line("program", kind.program)?;
    if let Some(need) = &kind.need {
        line("needs", &format!("{}; {}", need.what, Flags::Usual.task(&need.task)))?;
    }
    line("signature", &signature.to_string())?;
    if in_full {
        let longest = kind.settings.iter().map(|s| s.name.len() + 1 + s.default.len()).max().unwrap_or(0);
        // Where lines end, long defaults leave no room beside them.
        let column = if width == usize::MAX { longest } else { longest.min(SETTINGS) };
        for (k, setting) in kind.settings.iter().enumerate() {
            let name = if k == 0 { "settings" } else { "" };
            let given = format!("{}={}", setting.name, setting.default);
            let head = format!("  {name:NAMES$}{given:column$}  ");
            writeln!(out, "{}", wrapped(&head, &setting.meaning(), &" ".repeat(NAMES + column + 4), width))?;
        }
        writeln!(out, "{}", entry_of("given as", &format!("--metrics {}:NAME=VALUE", kind.name), width))?;
    }
    writeln!(out)
}

/// A metric of a whole system.
fn describe_of_system(kind: &CorpusKind, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let Ok((signature, parts)) = kind.sample() else { return Ok(()) };
    writeln!(out, "{}", kind.name)?;
    let mut line = |name: &str, text: &str| writeln!(out, "{}", entry_of(name, text, width));
    line("tells", kind.summary)?;
    let keys: Vec<&str> = parts.iter().map(|part| part.key.as_str()).collect();
    line("keys", &keys.join(" "))?;
    line("paper", kind.paper)?;
    line("program", kind.program)?;
    match kind.needs {
        CorpusNeed::Nothing => {}
        CorpusNeed::References => line("needs", "references: -r FILE")?,
        CorpusNeed::Training => line("needs", "training captions: --train FILE")?,
    }
    line("signature", &signature.to_string())?;
    for setting in kind.settings {
        line("setting", &format!("{}={}  {}", setting.name, setting.default, setting.meaning()))?;
    }
    line("given as", &format!("capeval diversity --metrics {}", kind.name))?;
    writeln!(out)
}

/// A metric that compares vectors.
fn describe_of_vectors(kind: &EmbeddingKind, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let parts = (kind.parts)();
    writeln!(out, "{}", kind.name)?;
    let mut line = |name: &str, text: &str| writeln!(out, "{}", entry_of(name, text, width));
    line("rewards", kind.summary)?;
    let keys: Vec<&str> = parts.iter().map(|part| part.key.as_str()).collect();
    line("keys", &keys.join(" "))?;
    line("paper", kind.paper)?;
    line("program", kind.program)?;
    line("needs", &format!("{}: --model DIR or --vectors WHAT=FILE", kind.needs))?;
    for setting in kind.all_settings() {
        line("setting", &format!("{}={}  {}", setting.name, setting.default, setting.meaning()))?;
    }
    line("given as", &format!("--metrics {}:NAME=VALUE", kind.name))?;
    writeln!(out)
}

/// CHAIR.
fn describe_chair(width: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", capeval_outside::chair::NAME)?;
    let mut line = |name: &str, text: &str| writeln!(out, "{}", entry_of(name, text, width));
    line("rewards", capeval_outside::chair::SUMMARY)?;
    let parts = capeval_outside::chair::parts();
    line("keys", &parts.iter().map(|part| part.key.as_str()).collect::<Vec<_>>().join(" "))?;
    line("paper", capeval_outside::chair::PAPER)?;
    line("program", capeval_outside::chair::PROGRAM)?;
    line(
        "needs",
        &format!("{}: --objects FILE --nltk-data DIR --instances FILE", capeval_outside::chair::NEEDS),
    )?;
    for setting in capeval_outside::chair::settings() {
        line("setting", &format!("{}={}  {}", setting.name, setting.default, setting.meaning()))?;
    }
    writeln!(out)
}

/// A judge.
fn describe_judge(judge: &BuiltIn, width: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", judge.name)?;
    let mut line = |name: &str, text: &str| writeln!(out, "{}", entry_of(name, text, width));
    line("rewards", judge.summary)?;
    let parts = judge.parts();
    line("keys", &parts.iter().map(|part| part.key.as_str()).collect::<Vec<_>>().join(" "))?;
    line("needs", "a language model: --endpoint URL --judge-model NAME --judgements FILE")?;
    line("file", &format!("capeval judge show {}", judge.name))?;
    writeln!(out)
}

/// The end of the list: metrics that compare vectors, judges, suites, metrics of whole systems, and where to find more.
fn outlook(width: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "of all captions of a system (capeval diversity)")?;
    for kind in CORPUS_KINDS {
        writeln!(out, "{}", entry_of(kind.name, kind.summary, width))?;
    }
    writeln!(out, "\nof vectors (--model DIR or --vectors WHAT=FILE)")?;
    for kind in EMBEDDING_KINDS {
        writeln!(out, "{}", entry_of(kind.name, kind.summary, width))?;
    }
    writeln!(out, "\nof objects (--objects FILE --instances FILE)")?;
    writeln!(out, "{}", entry_of(capeval_outside::chair::NAME, capeval_outside::chair::SUMMARY, width))?;
    writeln!(out, "\njudges (--endpoint URL --judgements FILE; capeval judge)")?;
    for judge in JUDGES {
        writeln!(out, "{}", entry_of(judge.name, judge.summary, width))?;
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
