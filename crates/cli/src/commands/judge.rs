//! `capeval judge`: the judges that come with capeval, and how much two runs of a judge agree.

use anyhow::Result;
use capeval_outside::judges::JUDGES;
use clap::Subcommand;

use crate::fault::fault;
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::progress::Bar;

/// Show judges, or compare two runs of a judge
///
/// A judge is a metric that asks a language model: judge, judge-image, judge-pair and judge-items come with capeval,
/// and you can write others in files (docs/guides/judges.md).
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the judges that come with capeval
    List,
    /// Print the file of a judge, from which you can write your own
    Show {
        /// The judge.
        name: String,
    },
    /// Compare the answers of two files of judgements: equal grades, mean difference, Krippendorff's α
    #[command(mut_arg("segments", |arg| arg.hide(true)))]
    Agree {
        /// The first file of judgements.
        first: String,
        /// The second one.
        second: String,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    match &args.command {
        Command::List => Output::open(None, &[])?.write(|out| {
            JUDGES.iter().try_for_each(|judge| writeln!(out, "{:<12} {}", judge.name, judge.summary))
        }),
        Command::Show { name } => {
            let known = JUDGES.iter().find(|judge| judge.name == name).ok_or_else(|| {
                let names: Vec<&str> = JUDGES.iter().map(|judge| judge.name).collect();
                fault(format!("capeval has no judge {name}"), format!("choose one of {}", names.join(", ")))
            })?;
            Output::open(None, &[])?.write(|out| out.write_all(known.file.as_bytes()))
        }
        Command::Agree { first, second, output } => {
            let target = output.open(&[first, second])?;
            if target.wants_segments() {
                return Err(fault("the agreement of judges is of all questions", "leave out --segments"));
            }
            target.write(&mut capeval_outside::judges::agree(first, second)?, Bar::new())
        }
    }
}
