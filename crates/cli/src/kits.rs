//! `--kit`: the options of a kit as flags, where the command line does not set them.

use std::ffi::OsString;

use anyhow::Result;
use capeval::Kit;
use capeval_files as files;
use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::Value;

/// The command line `args` with the options of its kit; `None` without one.
pub fn completed(matches: &ArgMatches, args: &[OsString]) -> Result<Option<Vec<OsString>>> {
    let Some((_, given)) = matches.subcommand() else { return Ok(None) };
    let Ok(Some(name)) = given.try_get_one::<String>("kit") else { return Ok(None) };
    let kit = files::kit(name)?;
    let is_given = |name: &str| given.value_source(&name.replace('-', "_")) == Some(ValueSource::CommandLine);
    // A suite stands for metrics, and numbers of a kit are made of its own.
    let chooses = is_given("metrics") || is_given("suite");
    let is_closed = |name: &str| is_given(name) || chooses && ["metrics", "derive"].contains(&name);
    let flags = flags(&kit).into_iter().filter(|(name, _)| !is_closed(name)).map(|(_, flag)| flag.into());
    // What follows `--` are files.
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (before, after) = args.split_at(end);
    Ok(Some(before.iter().cloned().chain(flags).chain(after.iter().cloned()).collect()))
}

/// The options of a kit: their names, and the flags that set them.
pub fn flags(kit: &Kit) -> Vec<(String, String)> {
    /// Flags with one value, which may be given several times: what they take can contain commas.
    const REPEATED: [&str; 4] = ["ref-drop", "drop", "group-by", "derive"];
    let flags = |(name, value): (String, Value)| {
        let values = match value {
            Value::Bool(_) => return vec![(name.clone(), format!("--{name}"))],
            Value::String(value) => vec![value],
            Value::Array(values) => {
                let values: Vec<String> =
                    values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                if REPEATED.contains(&&*name) { values } else { vec![values.join(",")] }
            }
            value => vec![value.to_string()],
        };
        values.into_iter().map(|value| (name.clone(), format!("--{name}={value}"))).collect()
    };
    kit.settings().into_iter().flat_map(flags).collect()
}

/// A flag or a value as a shell takes it.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=:,./+{}%@".contains(c);
    // Shells make several words of {a,b} and {1..3}.
    let is_expanded = text.contains('{') && (text.contains(',') || text.contains(".."));
    let is_whole = !text.is_empty() && text.chars().all(is_plain) && !is_expanded;
    // zsh looks for a command behind = at the beginning.
    if is_whole && !text.starts_with('=') {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
