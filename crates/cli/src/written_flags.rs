//! Flags that are told apart by whether someone wrote them.

use std::ops::Deref;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The values of some flags, and which of them are on the command line.
pub struct WrittenFlags<A> {
    values: A,
    /// The flags on the command line, as `--name`, in the order of the help.
    written: Vec<String>,
}

impl<A> WrittenFlags<A> {
    /// The first flag on the command line, but for `others`.
    pub fn first_but(&self, others: &[&str]) -> Option<&str> {
        self.written.iter().map(String::as_str).find(|flag| !others.contains(flag))
    }
}

impl<A> Deref for WrittenFlags<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.values
    }
}

impl<A: Args> FromArgMatches for WrittenFlags<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Self::from_arg_matches_mut(&mut matches.clone())
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        let command = A::augment_args(Command::new("capeval"));
        let flags = command.get_arguments();
        let is_written = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let written =
            flags.filter(|flag| is_written(flag.get_id().as_str())).filter_map(|flag| flag.get_long());
        let written = written.map(|name| format!("--{name}")).collect();
        Ok(Self { values: A::from_arg_matches_mut(matches)?, written })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<A: Args> Args for WrittenFlags<A> {
    fn group_id() -> Option<clap::Id> {
        A::group_id()
    }

    fn augment_args(command: Command) -> Command {
        A::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        A::augment_args_for_update(command)
    }
}
