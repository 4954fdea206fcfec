//! The commands, one file each, and the list of them.

pub mod boxes;
pub mod compare;
pub mod convert;
pub mod correlate;
pub mod data;
pub mod dense;
pub mod df;
pub mod diversity;
pub mod embed;
pub mod human;
pub mod inspect;
pub mod judge;
pub mod kit;
pub mod lm;
pub mod meta;
pub mod metrics;
pub mod model;
pub mod perplexity;
pub mod prefer;
pub mod prepare;
pub mod score;
pub mod show;
pub mod submit;
pub mod tokenize;
pub mod work;

use std::path::Path;

use anyhow::{Context, Result};
use clap::{CommandFactory, Subcommand};

use crate::Cli;
use crate::completions;
use crate::fault::Flags;
use crate::output::Output;

#[derive(Subcommand)]
pub enum Command {
    Score(Box<score::Args>),
    Compare(Box<compare::Args>),
    Show(Box<show::Args>),
    Inspect(Box<inspect::Args>),
    Metrics(metrics::Args),
    #[command(subcommand)]
    Data(data::Args),
    #[command(subcommand)]
    Kit(kit::Args),
    Human(Box<human::Args>),
    Correlate(Box<correlate::Args>),
    Prefer(Box<prefer::Args>),
    #[command(subcommand)]
    Meta(meta::Args),
    Diversity(Box<diversity::Args>),
    Dense(Box<dense::Args>),
    Boxes(Box<boxes::Args>),
    #[command(subcommand)]
    Judge(judge::Args),
    Perplexity(Box<perplexity::Args>),
    #[command(subcommand)]
    Lm(lm::Args),
    #[command(subcommand)]
    Model(model::Args),
    Embed(Box<embed::Args>),
    Prepare(Box<prepare::Args>),
    #[command(subcommand)]
    Df(df::Args),
    Tokenize(tokenize::Args),
    Convert(Box<convert::Args>),
    Submit(Box<submit::Args>),
    Work(Box<work::Args>),
    /// Write a script for command completion in a shell
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual page of capeval, or of every command
    Man {
        /// Folder for a page per command, such as `capeval-score.1`; without it, the page of capeval itself is written
        /// to standard output.
        #[arg(value_name = "DIR")]
        folder: Option<String>,
    },
}

impl Command {
    /// The names of flags in errors of this command.
    pub fn flags(&self) -> Flags {
        match self {
            Self::Convert(_) => Flags::Convert,
            _ => Flags::Usual,
        }
    }

    /// Runs the command.
    pub fn run(self) -> Result<u8> {
        match self {
            Self::Score(args) => return score::run(&args),
            Self::Compare(args) => return compare::run(&args),
            Self::Show(args) => show::run(&args)?,
            Self::Inspect(args) => inspect::run(&args)?,
            Self::Metrics(args) => metrics::run(&args)?,
            Self::Data(args) => data::run(&args)?,
            Self::Kit(args) => kit::run(&args)?,
            Self::Human(args) => human::run(&args)?,
            Self::Correlate(args) => correlate::run(&args)?,
            Self::Prefer(args) => prefer::run(&args)?,
            Self::Meta(args) => return meta::run(&args),
            Self::Diversity(args) => diversity::run(&args)?,
            Self::Dense(args) => return dense::run(&args),
            Self::Boxes(args) => boxes::run(&args)?,
            Self::Judge(args) => judge::run(&args)?,
            Self::Perplexity(args) => perplexity::run(&args)?,
            Self::Lm(args) => lm::run(&args)?,
            Self::Model(args) => model::run(&args)?,
            Self::Embed(args) => embed::run(&args)?,
            Self::Prepare(args) => prepare::run(&args)?,
            Self::Df(args) => df::run(&args)?,
            Self::Tokenize(args) => tokenize::run(&args)?,
            Self::Convert(args) => convert::run(&args)?,
            Self::Submit(args) => submit::run(&args)?,
            Self::Work(args) => work::run(&args)?,
            Self::Completions { shell } => {
                let script = completions::script(shell, &mut Cli::command());
                Output::open(None, &[])?.write(|out| out.write_all(script.as_bytes()))?;
            }
            Self::Man { folder: None } => {
                let page = clap_mangen::Man::new(Cli::command());
                Output::open(None, &[])?.write(|mut out| page.render(&mut out))?;
            }
            Self::Man { folder: Some(folder) } => {
                let folder = Path::new(&folder);
                std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                pages(&crate::command(), &folder.join("capeval"))?;
            }
        }
        Ok(0)
    }
}

/// Writes the manual page of a command to `path` with the extension `.1`, and those of its commands beside it.
fn pages(command: &clap::Command, path: &Path) -> Result<()> {
    let file = format!("{}.1", path.display());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let page = clap_mangen::Man::new(command.clone().display_name(name));
    Output::open(Some(&file), &[])?.write(|mut out| page.render(&mut out))?;
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        pages(command, Path::new(&format!("{}-{}", path.display(), command.get_name())))?;
    }
    Ok(())
}
