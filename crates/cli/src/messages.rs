//! Prints messages besides results, and chooses their colours.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, OnceLock};

use capeval::choice::Notice;
use capeval_outside::programs::Messages;
use clap::ValueEnum;

use crate::fault::Flags;

#[derive(clap::Args, Clone, Copy, Default)]
#[command(next_help_heading = "General")]
pub struct Verbosity {
    /// Print only results and errors: no notes, neither below tables nor on standard error, and no progress. Output for
    /// programs keeps its notices.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// When to print results in colour.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    color: When,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum When {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Even in files and pipes.
    Always,
    /// Not at all.
    Never,
}

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

impl Verbosity {
    /// Applies to all messages from now on.
    pub fn adopt(self) {
        // A process that runs the program twice keeps the first.
        let _ = VERBOSITY.set(self);
    }

    fn current() -> Self {
        VERBOSITY.get().copied().unwrap_or_default()
    }
}

/// Returns true if text for a person is in colour; `is_terminal` says whether a terminal shows it.
pub fn is_coloured(is_terminal: bool) -> bool {
    match Verbosity::current().color {
        When::Always => true,
        When::Never => false,
        When::Auto => {
            is_terminal && !is_dumb() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// Returns true if a person watches standard error and wants to see progress.
pub fn is_watched() -> bool {
    !Verbosity::current().quiet && io::stderr().is_terminal() && !is_dumb()
}

/// Returns true if the user wants results and errors only.
pub fn is_quiet() -> bool {
    Verbosity::current().quiet
}

/// A terminal that cannot move its cursor.
fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Prints a line on standard error, unless the user wants none.
pub fn say(line: &str) {
    if !Verbosity::current().quiet {
        // A line that cannot be written is not a failure.
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// Prints on standard error why the exit code is not 0, even for a user who wants only results: it is one.
pub fn tell_failures(failures: &[String]) {
    for failure in failures {
        // As in `say`.
        let _ = writeln!(io::stderr(), "failed: {failure}");
    }
}

/// Passes on what metrics that are programs write for people.
pub fn of_programs() -> Messages {
    Arc::new(|name, line| say(&format!("{name}: {line}")))
}

/// Prints a note on standard error.
pub fn note(text: &str) {
    say(&format!("note: {text}"));
}

/// Tells on standard error what a reader left out or made up; for commands without a report that would say so.
pub fn tell(notices: &[Notice], flags: Flags) {
    for notice in notices {
        note(&notice.in_words(&flags));
    }
}
