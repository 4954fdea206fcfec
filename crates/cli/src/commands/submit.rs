//! `capeval submit`: submits results to an evaluation server.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use capeval_api::client::{About, Error, Results, Server, Submission};
use capeval_api::{Phase, SubmissionState};
use capeval_files as files;
use clap::ValueEnum;
use indicatif::ProgressBar;

use crate::fault::{Flags, fault};
use crate::messages;
use crate::options::Candidates;
use crate::output::Output;

/// Submit results to an evaluation server and print the scores
///
/// The file is checked before it is sent, and the server counts a submission only if it can be scored. Submitting the
/// same captions again returns the earlier scores and does not count.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  export CAPEVAL_TOKEN=cev_…    # from your account page
  capeval submit results.json --to https://captions.example.org --phase coco/test --method 'Our model'
  capeval submit results.json --to https://captions.example.org --phase coco/test --check")]
pub struct Args {
    /// File of results, one caption per image, in any format that `capeval score` reads; `-` for standard input.
    #[arg(value_name = "RESULTS")]
    results: String,
    #[command(flatten)]
    place: PhaseArgs,
    /// Name of the method on the board [default: the name of the file].
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Description of the method for the board.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Authors of the method.
    #[arg(long, value_name = "NAMES")]
    authors: Option<String>,
    /// URL of a paper or a page about the method.
    #[arg(long, value_name = "URL")]
    link: Option<String>,
    /// URL of the code.
    #[arg(long, value_name = "URL")]
    code: Option<String>,
    /// Tags of the method, separated by commas.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    tags: Vec<String>,
    /// Value for a column that the hosts define, such as `parameters=120`; repeat for several columns.
    #[arg(long, value_name = "KEY=VALUE", value_parser = column)]
    column: Vec<(String, String)>,
    /// Team, if you are in several.
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
    /// Only validate the file; do not submit it.
    #[arg(long, conflicts_with = "no_wait")]
    check: bool,
    /// Do not wait for the scores.
    #[arg(long)]
    no_wait: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    reading: Candidates,
}

/// A phase on a server.
#[derive(clap::Args)]
pub struct PhaseArgs {
    /// URL of the server.
    #[arg(long, value_name = "URL", env = "CAPEVAL_SERVER")]
    to: String,
    /// Benchmark and phase, as in the URL of the page: `coco/test`.
    #[arg(long, value_name = "PHASE")]
    phase: String,
    /// Token of your account with the scope `submit`; prefer CAPEVAL_TOKEN, since other users can see arguments.
    #[arg(long, value_name = "TOKEN", env = "CAPEVAL_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

impl PhaseArgs {
    /// The server, which is not asked yet.
    pub fn server(&self) -> Result<Server> {
        Server::new(&self.to, self.token.as_deref().unwrap_or("")).map_err(shown)
    }

    /// The phase, for which the token is sent.
    pub fn phase(&self, server: &Server) -> Result<Phase> {
        if server.is_in_clear() {
            messages::note("the address starts with http://, so others on the network can read the token");
        }
        server.phase(&self.phase).map_err(shown)
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table of the scores.
    #[default]
    Table,
    /// The server's full response.
    Json,
}

fn column(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("give KEY=VALUE, such as `parameters=120`")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(None, &[])?;
    let server = args.place.server()?;
    let captions = files::captions(&args.results, &args.reading.options(false))?;
    messages::tell(captions.notices(), Flags::Usual);
    let results = Results::new(&captions).map_err(shown)?;
    let phase = args.place.phase(&server)?;
    if args.check {
        server.check(&phase, &results).map_err(shown)?;
        let line = format!("{} captions can be scored in {}\n", results.len(), phase.path());
        return output.write(|out| out.write_all(line.as_bytes()));
    }
    results.fit(&phase).map_err(shown)?;
    let method = args.method.clone().unwrap_or_else(|| {
        Path::new(&args.results).file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
    });
    let about = About {
        method: &method,
        description: args.description.as_deref(),
        authors: args.authors.as_deref(),
        link: args.link.as_deref(),
        code: args.code.as_deref(),
        tags: &args.tags,
        columns: &args.column,
        team: args.team.as_deref(),
    };
    let mut submission = server.submit(&phase, &results, &about).map_err(shown)?;
    if submission.is_repeated {
        messages::note(
            "the same captions were submitted before; this is the earlier submission, and nothing was counted",
        );
    }
    if !args.no_wait {
        messages::say(&format!("submitted: {}", submission.page));
        submission = follow(&server, submission)?;
    }
    let text = match args.format {
        Format::Json => serde_json::to_string_pretty(&submission.all)? + "\n",
        Format::Table => as_table(&submission, phase.decimals),
    };
    output.write(|out| out.write_all(text.as_bytes()))?;
    match submission.state.known() {
        Some(SubmissionState::Failed | SubmissionState::Cancelled) => {
            let reason = submission.reason.as_deref().map_or(String::new(), |reason| format!(": {reason}"));
            Err(fault(
                format!("the submission was {}{reason}", submission.state),
                "submit it again, or tell the organisers; it was not counted",
            ))
        }
        _ => Ok(()),
    }
}

pub fn shown(error: Error) -> anyhow::Error {
    anyhow::Error::new(error.refusal)
}

fn follow(server: &Server, submission: Submission) -> Result<Submission> {
    let bar = if messages::is_watched() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    bar.enable_steady_tick(Duration::from_millis(100));
    let followed = server.follow(submission, &mut |submission| {
        let wait = submission.seconds.map_or(String::new(), |seconds| format!(", about {seconds} s"));
        bar.set_message(match submission.ahead {
            Some(ahead) if ahead > 0 => format!("waiting, {ahead} before it{wait}"),
            _ => format!("{}{wait}", submission.state),
        });
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    followed.map_err(shown)
}

/// A row per measure, and a column per reference set.
fn as_table(submission: &Submission, decimals: usize) -> String {
    let Some(scores) = &submission.scores else {
        return match submission.state.known() {
            Some(SubmissionState::Scored) => {
                format!("scored; this phase shows its scores later, on {}\n", submission.page)
            }
            _ => format!("{}: {}\n", submission.state, submission.page),
        };
    };
    let mut measures: Vec<&str> = Vec::new();
    for of_set in scores.values() {
        measures.extend(of_set.keys().map(String::as_str));
    }
    let mut seen = std::collections::HashSet::new();
    measures.retain(|measure| seen.insert(*measure));
    let cell = |score: Option<&f64>| score.map_or(String::new(), |score| format!("{score:.decimals$}"));
    let mut rows = vec![[String::new()].into_iter().chain(scores.keys().cloned()).collect::<Vec<_>>()];
    for measure in measures {
        let cells = scores.values().map(|set| cell(set.get(measure)));
        rows.push([measure.to_owned()].into_iter().chain(cells).collect());
    }
    let columns = rows[0].len();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = format!("{:<width$}", row[0], width = widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            line.push_str(&format!("  {cell:>width$}"));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
