//! The pages about the command line: one for each command, written from what the program itself knows of its flags.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Arg, ArgAction, Command};

/// The page that lists all commands, and a page for each.
pub fn pages(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let folder = root.join("docs/reference/cli");
    let program = capeval_cli::command();
    let mut index = String::from(
        "# Commands\n\n`cargo xtask docs` writes these pages from the program; `capeval COMMAND --help` says the same in the \
         terminal.\n\n| command | does |\n|---|---|\n",
    );
    let mut pages = Vec::new();
    for command in shown(&program) {
        let (name, about) = (command.get_name(), said(command.get_about()));
        writeln!(index, "| [`{name}`]({name}.md) | {about} |")?;
        let mut page = String::new();
        describe(&mut page, command, &format!("capeval {name}"), 1)?;
        page.push_str("\nFlags of [all commands](index.md#all-commands) work here, too.\n");
        pages.push((folder.join(format!("{name}.md")), page));
    }
    index.push_str("\n## All commands\n\n");
    program.get_arguments().try_for_each(|arg| item(&mut index, arg))?;
    index.push_str(
        "\nExit codes: 0 success, 1 a requirement of `--require` failed, 2 error. Names of flags, formats and exit codes \
         change only with a line in the [changelog](../../changelog.md).\n",
    );
    pages.push((folder.join("index.md"), index));
    Ok(pages)
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

/// A command under a heading of a `level`, followed by its own commands.
fn describe(page: &mut String, command: &Command, path: &str, level: usize) -> Result<()> {
    let marks = "#".repeat(level);
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string);
    let about: Vec<String> = about
        .unwrap_or_default()
        .split("\n\n")
        .map(|part| format!("{}.", escaped(part).trim_end_matches('.')))
        .collect();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace("\n       ", "\n");
    writeln!(page, "{marks} {path}\n\n{}\n\n```text\n{usage}\n```", about.join("\n\n"))?;
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in own(command) {
        if !headings.contains(&heading(arg)) {
            headings.push(heading(arg));
        }
    }
    for title in headings {
        writeln!(page, "\n{marks}# {}\n", title.unwrap_or("Arguments and options"))?;
        own(command).filter(|arg| heading(arg) == title).try_for_each(|arg| item(page, arg))?;
    }
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        writeln!(page, "\n```text\n{}\n```", after.to_string().trim())?;
    }
    for inner in shown(command) {
        page.push('\n');
        describe(page, inner, &format!("{path} {}", inner.get_name()), level + 1)?;
    }
    Ok(())
}

/// The arguments that are not those of all commands.
fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| {
        !arg.is_hide_set() && !arg.is_global_set() && !["help", "version"].contains(&arg.get_id().as_str())
    })
}

fn heading(arg: &Arg) -> Option<&str> {
    arg.get_help_heading()
}

/// A line of the list of arguments, with the values that it takes below.
fn item(page: &mut String, arg: &Arg) -> Result<()> {
    if arg.is_hide_set() {
        return Ok(());
    }
    let names = arg.get_value_names().unwrap_or_default();
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let values: Vec<String> =
        if takes { names.iter().map(|name| format!("<{name}>")).collect() } else { Vec::new() };
    let flags: Vec<String> =
        [arg.get_short().map(|short| format!("-{short}")), arg.get_long().map(|long| format!("--{long}"))]
            .into_iter()
            .flatten()
            .collect();
    let mut shown = if flags.is_empty() { String::new() } else { format!("`{}`", flags.join("`, `")) };
    if !values.is_empty() {
        let values = values.join(" ");
        shown = if flags.is_empty() { format!("`{values}`") } else { format!("{shown} `{values}`") };
    }
    let help = said(arg.get_long_help().or_else(|| arg.get_help()));
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    let default = match &defaults[..] {
        [] => String::new(),
        _ if !takes || arg.is_hide_default_value_set() => String::new(),
        some => format!("; {} by default", some.join(" ")),
    };
    writeln!(page, "- {shown}: {help}{default}")?;
    if takes && !arg.is_hide_possible_values_set() {
        for value in arg.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
            match value.get_help() {
                Some(help) => writeln!(page, "    - `{}`: {}", value.get_name(), said(Some(help)))?,
                None => writeln!(page, "    - `{}`", value.get_name())?,
            }
        }
    }
    Ok(())
}

/// A text of help.
fn said(text: Option<&clap::builder::StyledStr>) -> String {
    escaped(&text.map(ToString::to_string).unwrap_or_default())
}

/// A text on one line, as Markdown: what looks like an element of HTML or like emphasis is escaped, and pages are
/// linked.
fn escaped(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Inside of code, nothing is.
    let mut parts: Vec<String> = text.split('`').map(str::to_owned).collect();
    for part in parts.iter_mut().step_by(2) {
        *part = part.replace('<', "&lt;").replace('|', "\\|").replace('*', "\\*").replace('_', "\\_");
        while let Some((before, page)) = part.split_once("docs/guides/") {
            let Some((name, after)) = page.split_once(".md") else { break };
            *part = format!("{before}[{name}](../../guides/{name}.md){after}");
        }
    }
    parts.join("`")
}
