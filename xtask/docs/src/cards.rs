//! The pages about metrics: a list, and a card for each, which joins its entry in the registry, the head of its file
//! and what it gives the captions of the quick start.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use capeval::choice::Dialect;
use capeval::corpus::{Captions, ReadOptions};
use capeval::evaluate::registry::SUITES;
use capeval::metric::{Direction, Family, MetricCard, Part};
use capeval::text::tokenizers;
use capeval::{MetricOptions, ScoreOptions, ScoreRequest};
use capeval_cli::Flags;
use capeval_outside::cards;

/// The folder of generated pages.
const FOLDER: &str = "docs/reference/metrics";

/// The costs of metrics, as `xtask/bench/costs.py` has measured them.
const COSTS: &str = "docs/reference/metrics/costs.json";

/// A group of metrics under a heading of the list.
struct Group {
    title: &'static str,
    about: &'static str,
    families: &'static [Family],
}

const GROUPS: [Group; 4] = [
    Group {
        title: "Words",
        about: "These compare the words of a caption with those of its references.",
        families: &[Family::Words],
    },
    Group {
        title: "Vectors",
        about: "These compare vectors that a model makes of captions and pictures: see \
                [metrics that compare vectors](../../guides/vectors.md).",
        families: &[Family::Vectors],
    },
    Group {
        title: "Objects and judges",
        about: "[CHAIR](../../guides/chair.md) counts objects that captions invent; [judges](../../guides/judges.md) ask a \
                language model.",
        families: &[Family::Objects, Family::Judges],
    },
    Group {
        title: "Diversity",
        about: "`capeval diversity` computes these from all captions of a system, one or several per image.",
        families: &[Family::Systems],
    },
];

/// The list and the cards.
pub fn pages(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let heads = Heads::read(root)?;
    let costs = Costs::read(root)?;
    let all = cards();
    let mut list = String::from(
        "# Metrics\n\n`cargo xtask docs` writes these pages from the code; `capeval metrics` shows the same in the terminal. A name \
         stands after `-m`, with settings behind colons: `-m bleu,cider-d:sigma=4`.\n",
    );
    let mut pages = Vec::new();
    for Group { title, about, families } in &GROUPS {
        writeln!(
            list,
            "\n## {title}\n\n{about}\n\n| metric | what counts | range | equal to |\n|---|---|---|---|"
        )?;
        for card in all.iter().filter(|card| families.contains(&card.family)) {
            let MetricCard { name, summary, parts, program, .. } = card;
            let range = parts.first().map(range).unwrap_or_default();
            writeln!(list, "| [`{name}`]({}) | {summary} | {range} | {program} |", file_name(name))?;
            pages.push((root.join(FOLDER).join(file_name(name)), page(card, root, &heads, &costs)?));
        }
    }
    list.push_str("\n## Suites\n\n`--suite NAME` stands for several metrics.\n\n| name | description | metrics |\n|---|---|---|\n");
    for suite in SUITES {
        writeln!(list, "| `{}` | {} | {} |", suite.name, suite.summary, suite.metrics().join(", "))?;
    }
    list.push_str("\n## Tokenizers\n\n`-t NAME`, or `tok=NAME` behind a metric. `capeval tokenize` shows what one does.\n\n| name | description |\n|---|---|\n");
    for (_, name, summary) in tokenizers::ALL.iter().chain(tokenizers::WITH_DICTIONARY) {
        writeln!(list, "| `{name}` | {summary} |")?;
    }
    pages.push((root.join(FOLDER).join("index.md"), list));
    Ok(pages)
}

/// How a metric is called on files, without the program's name.
fn call(card: &MetricCard) -> String {
    if card.family == Family::Systems {
        return format!("diversity captions.json -m {}", card.name);
    }
    let given = card.needs.as_ref().map_or(&[][..], |needs| needs.given);
    let flags = given.iter().map(|argument| format!(" {}", Flags::Usual.argument(*argument, None)));
    format!("score -r references.json captions.json -m {}{}", card.name, flags.collect::<String>())
}

/// The page of a metric.
fn page(card: &MetricCard, root: &Path, heads: &Heads, costs: &Costs) -> Result<String> {
    let MetricCard { name, summary, parts, settings, needs, program, paper, signature, family, .. } = card;
    let call = call(card);
    let mut page = format!("# {name}\n\n{}.\n\n| what | of this metric |\n|---|---|\n", capitalised(summary));
    let mut row = |what: &str, text: &str| match text {
        "" | "none" => Ok(()),
        text => writeln!(page, "| {what} | {text} |"),
    };
    row("equal to", program)?;
    row("published in", paper)?;
    row("needs", needs.as_ref().map_or("", |needs| needs.what))?;
    row("cost", &costs.of(name))?;
    if let Some(signature) = signature.as_ref().filter(|_| *family == Family::Words) {
        // An element, since renderers differ about bars in the code of a table.
        row("signature", &format!("<code>{}</code>", signature.to_string().replace('|', "&#124;")))?;
    }
    page.push_str("\n| key | in tables | range | better |\n|---|---|---|---|\n");
    for part in parts {
        let direction = match part.direction {
            Direction::HigherIsBetter => "higher",
            Direction::LowerIsBetter => "lower",
            Direction::Neither => "neither",
        };
        writeln!(page, "| `{}` | {} | {} | {direction} |", part.key, part.label, range(part))?;
    }
    writeln!(page, "\n```text\ncapeval {call}\n```")?;
    if *family == Family::Words && needs.is_none() {
        page.push_str(&example(root, name)?);
    }
    if *family != Family::Judges {
        write!(page, "\n## How it is computed\n\n{}", heads.of(name)?)?;
    }
    if !settings.is_empty() {
        page.push_str("\n## Settings\n\n| setting | default | meaning |\n|---|---|---|\n");
        for setting in settings {
            writeln!(page, "| `{}` | `{}` | {} |", setting.name, setting.default, setting.meaning())?;
        }
        page.push_str("\nEvery setting is in the [signature](../signatures.md).\n");
    }
    Ok(page)
}

/// The scores of the two systems of the quick start by a metric.
fn example(root: &Path, name: &str) -> Result<String> {
    let read = |file: &str| -> Result<Captions> {
        let path = root.join("examples/quickstart").join(file);
        let opened = std::fs::File::open(&path).with_context(|| path.display().to_string())?;
        let options =
            if file == "references.json" { ReadOptions::references() } else { ReadOptions::candidates() };
        Ok(capeval::corpus::read(opened, file, &options)?)
    };
    let systems = [("good", read("good.json")?), ("weak", read("weak.json")?)];
    let report = capeval::score(ScoreRequest {
        options: ScoreOptions { metrics: MetricOptions::new([name]), ..ScoreOptions::default() },
        ..ScoreRequest::new(read("references.json")?, systems)
    })?;
    let mut text = String::from(
        "\nOn the captions of `examples/quickstart`:\n\n| score | `good.json` | `weak.json` |\n|---|--:|--:|\n",
    );
    for part in &report.head.measures {
        let score =
            |system| report.score(system, &part.key).map_or_else(String::new, |score| format!("{score:.4}"));
        writeln!(text, "| {} | {} | {} |", part.label, score(0), score(1))?;
    }
    Ok(text)
}

/// The name of a card's file; a plus sign would have to be escaped in addresses.
fn file_name(metric: &str) -> String {
    format!("{}.md", metric.replace('+', "p"))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn range(part: &Part) -> String {
    match part.max {
        max if max.is_infinite() => format!("from {}", part.min),
        max => format!("{} to {max}", part.min),
    }
}

/// The heads of the files that describe metrics, by what these files contain.
struct Heads(Vec<(PathBuf, String)>);

impl Heads {
    /// Reads all files of the crates that have metrics.
    fn read(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for family in ["lexical", "meteor", "spice", "evaluate/src/registry", "outside"] {
            let folder = root.join("crates").join(family);
            walk(&folder, &mut files)?;
        }
        Ok(Self(files))
    }

    /// The head of the file that describes a metric, as Markdown.
    fn of(&self, name: &str) -> Result<String> {
        let mark = format!("name: \"{name}\",");
        let is_meant =
            |text: &str| (text.contains("Kind = ") || text.contains("MetricCard {")) && text.contains(&mark);
        let Some((path, text)) = self.0.iter().find(|(_, text)| is_meant(text)) else {
            bail!("no file of a metric contains {mark}");
        };
        // Kinds in a module of their own are described by the file above it.
        let above = path.parent().map(|folder| folder.with_extension("rs"));
        let above = self.0.iter().find(|(path, _)| above.as_ref() == Some(path));
        let (path, text) = above.map_or((path, text), |(path, text)| (path, text));
        let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
        let head: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        // Its title is that of the page.
        let body =
            head.iter().position(|line| line.is_empty()).map_or(&head[..0], |first| &head[first + 1..]);
        if body.is_empty() {
            bail!("{}: its head should say how the metric is computed", path.display());
        }
        let mut page = String::new();
        let mut before = "";
        for line in body {
            // Markdown wants an empty line before a list.
            if line.starts_with("- ")
                && !before.is_empty()
                && !before.starts_with("- ")
                && !before.starts_with("  ")
            {
                page.push('\n');
            }
            page.push_str(line);
            page.push('\n');
            before = line;
        }
        Ok(linkless(&page))
    }
}

/// All sources of Rust in a folder, in the order of their paths, with their texts.
fn walk(folder: &Path, files: &mut Vec<(PathBuf, String)>) -> Result<()> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path)?;
            files.push((path, text));
        }
    }
    Ok(())
}

/// Without the brackets by which rustdoc links names: ``[`Unit`](crate::Unit)`` becomes `` `Unit` ``.
fn linkless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("[`") {
        let (before, link) = rest.split_at(start);
        out.push_str(before);
        let Some(end) = link.find("`]") else { break };
        out.push_str(&link[1..=end]);
        rest = &link[end + 2..];
        if rest.starts_with('(') {
            rest = rest.split_once(')').map_or("", |(_, behind)| behind);
        }
    }
    out + rest
}

/// The costs of metrics.
struct Costs {
    /// The way they were measured.
    measured: String,
    /// Seconds of a core by the name of the metric.
    seconds: BTreeMap<String, f64>,
}

impl Costs {
    fn read(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(COSTS)).context(COSTS)?;
        let table: serde_json::Value = serde_json::from_str(&text).context(COSTS)?;
        let measured = table["measured"].as_str().context("`measured` says how")?.to_owned();
        let seconds = table["seconds"].as_object().context("`seconds` has a number for each metric")?;
        let seconds =
            seconds.iter().map(|(name, value)| (name.clone(), value.as_f64().unwrap_or_default())).collect();
        Ok(Self { measured, seconds })
    }

    fn of(&self, name: &str) -> String {
        self.seconds.get(name).map_or_else(String::new, |seconds| format!("{seconds} s {}", self.measured))
    }
}
