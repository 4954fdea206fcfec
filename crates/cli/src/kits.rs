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
    let is_given = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    // A suite stands for metrics.
    let is_closed = |name: &str| is_given(name) || name == "metrics" && is_given("suite");
    let flags = flags(&kit).into_iter().filter(|(name, _)| !is_closed(name)).map(|(_, flag)| flag.into());
    // What follows `--` are files.
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (before, after) = args.split_at(end);
    Ok(Some(before.iter().cloned().chain(flags).chain(after.iter().cloned()).collect()))
}

/// The options of a kit: their names, and the flags that set them.
pub fn flags(kit: &Kit) -> Vec<(String, String)> {
    let flag = |(name, value): (String, Value)| {
        let flag = match value {
            Value::Bool(_) => format!("--{name}"),
            Value::String(value) => format!("--{name}={value}"),
            Value::Array(values) => {
                let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                format!("--{name}={}", values.join(","))
            }
            value => format!("--{name}={value}"),
        };
        (name, flag)
    };
    kit.settings().into_iter().map(flag).collect()
}
