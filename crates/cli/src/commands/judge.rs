//! `capeval judge`: the judges that come with capeval, and how much two runs of a judge agree.

use anyhow::Result;
use capeval_outside::judges::{Agreement, JUDGES};
use clap::{Subcommand, ValueEnum};

use crate::fault::fault;
use crate::output::Output;

/// Show judges, or compare two runs of a judge
///
/// A judge is a metric that asks a language model: judge, judge-image, judge-pair and judge-items come with capeval,
/// and a file of yours can be another (docs/guides/judges.md).
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
    Agree {
        /// The first file of judgements.
        first: String,
        /// The second one.
        second: String,
        /// Output format.
        #[arg(short, long, value_enum, default_value_t)]
        format: Format,
    },
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for the terminal.
    #[default]
    Text,
    /// A JSON array.
    Json,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(None, &[])?;
    match &args.command {
        Command::List => output.write(|out| {
            JUDGES.iter().try_for_each(|judge| writeln!(out, "{:<12} {}", judge.name, judge.summary))
        }),
        Command::Show { name } => {
            let known = JUDGES.iter().find(|judge| judge.name == name).ok_or_else(|| {
                let names: Vec<&str> = JUDGES.iter().map(|judge| judge.name).collect();
                fault(format!("capeval has no judge {name}"), format!("choose one of {}", names.join(", ")))
            })?;
            output.write(|out| out.write_all(known.file.as_bytes()))
        }
        Command::Agree { first, second, format } => {
            let found = capeval_outside::judges::agree(first, second)?;
            output.write(|out| match format {
                Format::Json => {
                    serde_json::to_writer_pretty(&mut *out, &found)?;
                    writeln!(out)
                }
                Format::Text => found.iter().try_for_each(|one| out.write_all(told(one).as_bytes())),
            })
        }
    }
}

fn told(one: &Agreement) -> String {
    let Agreement {
        judge,
        models,
        questions,
        only,
        unreadable,
        exact,
        difference,
        absolute_difference,
        alpha,
    } = one;
    let alpha =
        alpha.map_or_else(|| "not defined, since all grades are equal".to_owned(), |a| format!("{a:.3}"));
    format!(
        "{judge}: {} and {}\n  questions in both files     {questions}\n  only in one of them         {} and {}\n  \
         unreadable in one of them   {unreadable}\n  equal grades                {:.1} %\n  mean difference             \
         {difference:+.4} (second minus first)\n  mean absolute difference    {absolute_difference:.4}\n  \
         Krippendorff's α            {alpha}\n",
        models[0],
        models[1],
        only[0],
        only[1],
        100.0 * exact,
    )
}
