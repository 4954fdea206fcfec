//! Shows errors: what is wrong and where, then the remedy, in terms of flags and commands.

use std::error::Error as StdError;
use std::io::{self, IsTerminal, Write};

use capeval::choice::{Argument, Dialect, Refusal, Remedy, Role, Task};
use capeval::report::wrapped;

use crate::kits;

/// The maximum width of lines, as in clap's help.
const MAX_WIDTH: usize = 100;

/// An error that says `what` is wrong, and in `help` what to do about it.
pub fn fault(what: impl Into<String>, help: impl Into<Remedy>) -> anyhow::Error {
    anyhow::Error::new(Refusal::new(what).with_remedy(help))
}

/// The reason for a refusal and what to do about it, for clap, which shows both as one sentence.
pub fn sentence(refusal: &Refusal) -> String {
    let remedy = refusal.remedy().and_then(|remedy| remedy.in_words(&Flags::Usual));
    remedy.map_or_else(|| refusal.to_string(), |remedy| format!("{refusal}; {remedy}"))
}

/// The names of arguments in a command's remedies.
#[derive(Clone, Copy, Debug)]
pub enum Flags {
    /// As most commands do.
    Usual,
    /// As `capeval convert` does: it reads files of only one kind, so no flag names the kind.
    Convert,
}

impl Flags {
    /// `--NAME` for the files of `role`.
    fn of_role(self, role: Role, name: &str) -> String {
        match (self, role) {
            (Self::Usual, Role::References) => format!("--ref-{name}"),
            (Self::Usual, Role::Training) => format!("--train-{name}"),
            _ => format!("--{name}"),
        }
    }
}

impl Dialect for Flags {
    fn name(&self, argument: Argument) -> String {
        match argument {
            Argument::Format(role @ (Role::References | Role::Training)) if matches!(self, Self::Usual) => {
                self.of_role(role, "format")
            }
            Argument::Format(_) => "--input-format".to_owned(),
            Argument::IdColumn(role) => self.of_role(role, "id-column"),
            Argument::CaptionColumns(role) => self.of_role(role, "caption-column"),
            Argument::Drop(role) => self.of_role(role, "drop"),
            Argument::Columns => "--column".to_owned(),
            Argument::GroupBy => "--group-by".to_owned(),
            Argument::ApiKey => "--api-key-file".to_owned(),
            Argument::Split(Role::Training) => "--train-split".to_owned(),
            argument => format!("--{}", argument.name().replace('_', "-")),
        }
    }

    fn argument(&self, argument: Argument, value: Option<&str>) -> String {
        let quoted = value.map(kits::quoted);
        let value = quoted.as_deref().unwrap_or(argument.placeholder());
        match argument {
            Argument::Order => format!("-n {value}"),
            Argument::NoLimits
            | Argument::AllowNetwork
            | Argument::Check
            | Argument::Subset
            | Argument::Replay => self.name(argument),
            argument => format!("{} {value}", self.name(argument)),
        }
    }

    fn task(&self, task: &Task) -> String {
        let command = match task {
            Task::Install(what) => format!("data install {what}"),
            Task::InstallFrom(what) => format!("data install {what} --from FILE"),
            Task::Prepare => "prepare REFERENCES -o FILE".to_owned(),
            Task::PrepareCleaned(kinds) => format!("prepare REFERENCES --clean {kinds} -o FILE"),
            Task::BuildFrequencies(None) => "df build REFERENCES -o FILE".to_owned(),
            Task::BuildFrequencies(Some(order)) => format!("df build -n {order} REFERENCES -o FILE"),
            Task::ScoreMoments => "dense -r REFERENCES FILE".to_owned(),
            Task::MeasureDiversity => "diversity FILE".to_owned(),
            Task::ListTokenizers => "tokenize --list".to_owned(),
            Task::ListMetrics => "metrics".to_owned(),
            task => return Remedy::run(task.clone()).to_string(),
        };
        format!("run `capeval {command}`")
    }
}

/// Writes `error` to standard error, with its remedy.
pub fn show(error: &anyhow::Error, flags: Flags) {
    let mut err = io::stderr().lock();
    let width = match err.is_terminal() {
        true => usize::from(console::Term::stderr().size().1).min(MAX_WIDTH),
        false => usize::MAX,
    };
    let mut text = lines("error: ", &format!("{error:#}"), width);
    if let Some(help) = error.chain().find_map(|cause| help(cause, flags)) {
        text += &lines("help: ", &help, width);
    }
    // If standard error is closed, there is no place to report it.
    let _ = err.write_all(text.as_bytes());
}

fn help(cause: &(dyn StdError + 'static), flags: Flags) -> Option<String> {
    let remedy = match cause.downcast_ref::<capeval_files::Error>() {
        Some(error) => error.remedy(),
        None => capeval::remedy(cause),
    };
    remedy.and_then(|remedy| remedy.in_words(&flags))
}

/// `text` after `head`, wrapped to `width` columns and indented by the width of `head`.
fn lines(head: &str, text: &str, width: usize) -> String {
    wrapped(head, text, &" ".repeat(head.len()), width) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_says_whose_files_it_is_about() {
        let words = |flags: Flags, argument| Remedy::give(argument).in_words(&flags).unwrap();
        assert_eq!(words(Flags::Usual, Argument::Format(Role::References)), "pass --ref-format FORMAT");
        assert_eq!(words(Flags::Usual, Argument::Format(Role::Candidates)), "pass --input-format FORMAT");
        assert_eq!(words(Flags::Usual, Argument::IdColumn(Role::Training)), "pass --train-id-column NAME");
        assert_eq!(words(Flags::Usual, Argument::IdColumn(Role::Ratings)), "pass --id-column NAME");
        assert_eq!(words(Flags::Convert, Argument::Format(Role::References)), "pass --input-format FORMAT");
        assert_eq!(words(Flags::Convert, Argument::IdColumn(Role::References)), "pass --id-column NAME");
        let skip = Remedy::set(Argument::OwnReference, "skip");
        assert_eq!(skip.in_words(&Flags::Usual).unwrap(), "pass --own-reference skip");
    }
}
