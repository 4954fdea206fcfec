//! The command line of capeval: [`run`] is the whole program, for the binary and for the Python package alike.

mod commands;
mod completions;
mod data;
mod external_scores;
mod fault;
mod group_args;
mod html;
mod image_args;
mod input;
mod invocation;
mod judging;
mod kits;
mod mecab;
mod memory;
mod messages;
mod metrics;
mod names;
mod options;
mod output;
mod output_args;
mod progress;
mod requirements;
mod resampling_args;
pub mod results;
mod rouge;
mod runs;
mod scoring;
mod written_flags;

use std::error::Error;
use std::ffi::OsString;
use std::io;

use anyhow::Result;
use capeval::choice::system_words;
use clap::{CommandFactory, FromArgMatches, Parser};
pub use fault::Flags;
pub use output::StandardOutput;

/// Evaluate captions, with the same digits as the reference programs
#[derive(Parser)]
#[command(name = "capeval", version, propagate_version = true, max_term_width = 100)]
#[command(before_help = "\
Most common:
  capeval score -r refs.json mine.json                    a table of scores, and signatures
  capeval compare -r refs.json base.json new.json         is the difference significant?
  capeval score -r refs.json mine.json --html page.html   a page with every image
  capeval data install meteor spice                       once: what METEOR and SPICE need")]
#[command(after_help = "Exit codes: 0 success, 1 a requirement (`--require`) does not hold, 2 error.")]
struct Cli {
    /// Number of threads [default: one per processor].
    #[arg(long, global = true, value_name = "N", help_heading = "General", value_parser = threads)]
    threads: Option<usize>,
    /// Fetch input files from URLs that begin with https://.
    #[arg(long, global = true, help_heading = "General")]
    allow_network: bool,
    #[command(flatten)]
    verbosity: messages::Verbosity,
    #[command(flatten)]
    mecab: mecab::Folders,
    #[command(subcommand)]
    command: commands::Command,
}

/// The commands with their flags, as the reference describes them.
pub fn command() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// Starting more threads than this takes more time than it saves.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let given = text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    given.ok_or_else(|| format!("must be a number from 1 to {MAX_THREADS}; the default is one per processor"))
}

/// Runs the program with the command line `args`, of which the first is its name, and returns its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>, output: StandardOutput) -> u8 {
    output.adopt();
    clear_up_on_signals();
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(foreign) = args.iter().skip(1).find(|arg| arg.to_str().is_none()) {
        let error = fault::fault(
            format!("the argument {foreign:?} is not UTF-8"),
            "rename the file, or pass its content on standard input (-)",
        );
        fault::show(&error, Flags::Usual);
        return 2;
    }
    invocation::remember(&args);
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(error) => return misused(error),
    };
    cli.verbosity.adopt();
    let flags = cli.command.flags();
    match execute(cli) {
        Ok(code) => code,
        Err(error) if output::is_broken_pipe(&error) => 0,
        Err(error) => {
            fault::show(&error, flags);
            2
        }
    }
}

/// Reads the command line, and the options of its kit where it does not set them.
fn parse(args: Vec<OsString>) -> Result<Cli> {
    let command = Cli::command();
    let mut matches = command.clone().try_get_matches_from(&args)?;
    if let Some(args) = kits::completed(&matches, &args)? {
        matches = command.clone().try_get_matches_from(args)?;
    }
    Ok(Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command.clone()))?)
}

/// Shows help, or what is wrong with a command line; the exit code.
fn misused(error: anyhow::Error) -> u8 {
    match error.downcast::<clap::Error>() {
        Ok(error) => match error.print() {
            // An error that cannot be printed stays the failure that it is.
            Err(cause) if !error.use_stderr() => unwritten(&cause),
            _ => error.exit_code() as u8,
        },
        Err(error) => {
            fault::show(&error, Flags::Usual);
            2
        }
    }
}

/// Says that help or the version could not be written; the exit code.
fn unwritten(cause: &io::Error) -> u8 {
    if cause.kind() == io::ErrorKind::BrokenPipe {
        return 0;
    }
    let what = format!("cannot write to standard output: {}", system_words(cause));
    fault::show(&fault::fault(what, "free some space, or write to another place"), Flags::Usual);
    2
}

/// Keeps what caches have gained, and removes temporary files, when a signal ends the process.
fn clear_up_on_signals() {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::iterator::Signals;
        let (give, caught) = std::sync::mpsc::channel::<Signals>();
        let wait = move || {
            if let Some(signal) = caught.recv().ok().and_then(|mut signals| signals.forever().next()) {
                capeval_outside::programs::end_all();
                capeval_files::end_early();
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        };
        // Without the thread a signal still ends the process, so none is caught before the thread is there.
        if std::thread::Builder::new().spawn(wait).is_ok()
            && let Ok(signals) = Signals::new([SIGINT, SIGTERM])
        {
            let _ = give.send(signals);
        }
    }
}

fn execute(cli: Cli) -> Result<u8> {
    // At once, since what needs threads later can only panic without them. Zero stands for one per processor.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cli.threads.unwrap_or(0));
    if let Err(error) = pool.build_global() {
        // A process that runs the program twice keeps the threads that it has.
        let is_lack = error.source().is_some();
        if is_lack || cli.threads.is_some() {
            let remedy = "pass --threads 1, or allow more threads and processes (ulimit -u)";
            return Err(fault::fault(format!("cannot start threads: {error}"), remedy));
        }
    }
    if cli.allow_network {
        capeval_files::allow_network();
    }
    cli.mecab.provide();
    cli.command.run()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// One name for one thing: a flag has one short form and takes one kind of value, whatever the command.
    #[test]
    fn flags_of_one_name_are_alike_in_all_commands() {
        fn look(command: &clap::Command, known: &mut BTreeMap<String, (String, String)>) {
            for arg in command.get_arguments() {
                let Some(long) = arg.get_long() else { continue };
                let value = arg.get_action().takes_values().then(|| format!("{:?}", arg.get_value_names()));
                let this = (format!("{:?} {value:?}", arg.get_short()), command.get_name().to_owned());
                let (first, of) = known.entry(long.to_owned()).or_insert_with(|| this.clone());
                assert_eq!(this.0, *first, "--{long} of {} and of {of}", this.1);
            }
            command.get_subcommands().for_each(|command| look(command, known));
        }
        let mut command = Cli::command();
        command.build();
        let mut known = BTreeMap::new();
        look(&command, &mut known);
        let mut shorts: Vec<&str> = known.values().map(|(this, _)| this.as_str()).collect();
        shorts.retain(|this| this.starts_with("Some"));
        let of_one: BTreeSet<char> = shorts.iter().filter_map(|this| this.chars().nth(6)).collect();
        assert_eq!(of_one.len(), shorts.len(), "one short form stands for two flags: {shorts:?}");
    }
}
