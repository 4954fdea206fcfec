//! Generates what Python says about closed choices and codes of notices: their types, and the values in docstrings.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use capeval::choice::{Argument, Choice, Code, NoticeCode};
use capeval::corpus::{Duplicate, Empty, Ids, Missing, Surplus};
use capeval::evaluate::registry::{CORPUS_KINDS, kinds};
use capeval::frequencies::TableFormat;
use capeval::report::{GroupFrequencies, HumanTies, MetricTies, Unit};
use capeval::stats::correction::Correction;
use capeval::{Cleaning, IdfSource, NonCaption, OwnReference, PairingCheck};

/// The width of docstrings.
const COLUMNS: usize = 120;

/// The quotes around a docstring.
const QUOTES: &str = "\"\"\"";

/// A choice that Python's keyword arguments take.
struct ListedChoice {
    /// The name of its type in Python.
    kind: &'static str,
    /// Its values, each with a summary.
    values: Vec<(&'static str, &'static str)>,
}

fn listed<T: Choice>(kind: &'static str) -> ListedChoice {
    ListedChoice { kind, values: T::ALL.iter().map(|choice| (choice.name(), choice.summary())).collect() }
}

fn all() -> Vec<ListedChoice> {
    vec![
        listed::<Missing>("Missing"),
        listed::<Surplus>("Surplus"),
        listed::<Duplicate>("Duplicate"),
        listed::<Empty>("Empty"),
        listed::<NonCaption>("Accept"),
        listed::<Cleaning>("Clean"),
        listed::<Ids>("Ids"),
        listed::<IdfSource>("Idf"),
        listed::<GroupFrequencies>("GroupFrequencies"),
        listed::<Correction>("Correction"),
        listed::<Unit>("Unit"),
        listed::<PairingCheck>("PairingCheck"),
        listed::<OwnReference>("OwnReference"),
        listed::<HumanTies>("HumanTies"),
        listed::<MetricTies>("MetricTies"),
        listed::<TableFormat>("TableFormat"),
    ]
}

/// The files of the Python package that tell the values of a choice, with their text as it should be.
pub fn pages(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let choices = all();
    let folder = root.join("python/capeval");
    let types = folder.join("_choices.py");
    let mut pages = Vec::new();
    let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry?.path();
        if path != types && path.extension().is_some_and(|extension| extension == "py") {
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let told = docstrings(&text, &choices).with_context(|| path.display().to_string())?;
            pages.push((path, told));
        }
    }
    pages.sort();
    pages.push((types, module(&choices)?));
    Ok(pages)
}

/// The module with a type for each choice.
fn module(choices: &[ListedChoice]) -> Result<String> {
    let mut text = String::from(
        "\"\"\"The closed sets of names that keyword arguments take or notices have; `cargo xtask docs` writes this file.\"\"\"\n\n\
         from __future__ import annotations\n\nfrom typing import Literal\n\n",
    );
    for ListedChoice { kind, values } in choices {
        let names: Vec<String> = values.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        writeln!(text, "{kind} = Literal[{}]", names.join(", "))?;
    }
    text.push_str("NoticeCode = Literal[\n");
    for code in notice_codes() {
        writeln!(text, "    \"{code}\",")?;
    }
    text.push_str("]\n");
    Ok(text)
}

/// All codes of notices: fixed ones, of choices that took effect, and of metrics that are left out.
fn notice_codes() -> BTreeSet<String> {
    let fixed = Code::ALL.iter().map(|code| NoticeCode::from(*code));
    let with_needs = kinds().filter(|kind| kind.need.is_some()).map(|kind| kind.name);
    let left_out = with_needs.chain(CORPUS_KINDS.iter().map(|kind| kind.name));
    let applied = [
        applied::<Missing>(Argument::Missing),
        applied::<Surplus>(Argument::Surplus),
        applied::<Duplicate>(Argument::Several),
        applied::<Empty>(Argument::Empty),
        applied::<OwnReference>(Argument::OwnReference),
    ];
    let codes = fixed.chain(left_out.map(|name| NoticeCode::Without(name.into())));
    codes.chain(applied.into_iter().flatten()).map(|code| code.to_string()).collect()
}

/// The codes of the values of a choice but `error`, which leads to no notice.
fn applied<T: Choice>(argument: Argument) -> Vec<NoticeCode> {
    let names = T::ALL.iter().map(|choice| choice.name()).filter(|name| *name != "error");
    names.map(|name| NoticeCode::Applied(argument, name)).collect()
}

/// The source of a module, in which each docstring lists the values of the arguments and keywords that are choices.
///
/// A function has its arguments on lines of their own, and a docstring with Google's section `Args`; a keyword of
/// `options.py` has its docstring below. The values follow the words about it, one per line, unless these refer to
/// another function: "as for score".
fn docstrings(text: &str, choices: &[ListedChoice]) -> Result<String> {
    let mut told = String::with_capacity(text.len());
    // The choices of the function whose docstring may follow, by argument.
    let mut arguments: Vec<(&str, &ListedChoice)> = Vec::new();
    // The choice of the line before.
    let mut keyword = None;
    let mut is_docstring = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        writeln!(told, "{line}")?;
        let words = line.trim_start();
        let before = keyword.take();
        is_docstring ^= words.matches(QUOTES).count() % 2 == 1;
        if !is_docstring {
            if words.starts_with("def ") {
                arguments.clear();
            }
            keyword = annotated(words, choices);
            arguments.extend(keyword);
            continue;
        }
        let of_argument =
            |(name, _): &&(&str, _)| words.strip_prefix(name).is_some_and(|rest| rest.starts_with(": "));
        let (choice, indent) = match (before, arguments.iter().find(of_argument)) {
            (Some((_, choice)), _) if words.starts_with(QUOTES) => (choice, line.len() - words.len()),
            (_, Some((_, choice))) => (*choice, line.len() - words.len() + 4),
            _ => continue,
        };
        let is_inside = |line: &str| {
            let words = line.trim_start();
            !words.is_empty() && words != QUOTES && line.len() - words.len() >= indent
        };
        while let Some(more) = lines.next_if(|line| is_inside(line) && !line.trim_start().starts_with("- ``"))
        {
            writeln!(told, "{more}")?;
        }
        while lines.next_if(|line| is_inside(line)).is_some() {}
        if words.contains(": as for ") {
            continue;
        }
        if !told.ends_with(":\n") {
            bail!("{words}: the words about a choice must end in a colon, after which its values are listed");
        }
        for (value, summary) in &choice.values {
            bullet(&mut told, indent, &format!("- ``\"{value}\"``: {summary}"));
        }
    }
    Ok(told)
}

/// The argument that a line such as `missing: Missing = "error",` declares, if it takes a choice.
fn annotated<'t, 'c>(line: &'t str, choices: &'c [ListedChoice]) -> Option<(&'t str, &'c ListedChoice)> {
    let (name, annotation) = line.split_once(": ")?;
    let kind = annotation.split([' ', ',']).next()?;
    Some((name, choices.iter().find(|choice| choice.kind == kind)?))
}

/// Writes a line of a list, wrapped.
fn bullet(told: &mut String, indent: usize, text: &str) {
    let margin = " ".repeat(indent);
    let mut line = margin.clone();
    for word in text.split(' ') {
        let is_empty = line.trim().is_empty();
        if !is_empty && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            told.push_str(&line);
            told.push('\n');
            line = format!("{margin}  {word}");
        } else {
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    told.push_str(&line);
    told.push('\n');
}
