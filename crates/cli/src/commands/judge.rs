//! `capeval judge`: the judges that come with capeval, a trial of a judge, and how much two runs of a judge agree.

use std::io::{self, Write};

use anyhow::Result;
use capeval::corpus::{Captions, ReadOptions, SegmentId};
use capeval::{OutsideRow, PictureSource, Sight};
use capeval_outside::judges::{JUDGES, Trial, TrialRequest, trial_needs, try_judge};
use clap::Subcommand;

use crate::fault::fault;
use crate::judging::JudgingArgs;
use crate::options::Candidates;
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::progress::Bar;

/// Show or try judges, or compare two runs of a judge
///
/// A judge is a metric that asks a language model: judge, judge-image, judge-pair and judge-items come with capeval,
/// and you can write others in files (docs/guides/judges.md).
#[derive(Subcommand)]
pub enum Args {
    /// List the judges that come with capeval
    List,
    /// Print the file of a judge, from which you can write your own
    Show {
        /// The judge.
        name: String,
    },
    /// Ask about three captions, and show everything that is sent and read; nothing is kept
    Try(Box<TryArgs>),
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

/// A judge, and captions to try it on.
#[derive(clap::Args)]
pub struct TryArgs {
    /// The judge, or the path of its file.
    judge: String,
    /// File of captions.
    file: String,
    /// File of references, if the judge compares with them.
    #[arg(short, long, value_name = "FILE")]
    references: Option<String>,
    /// Pictures, if the judge looks at them: a folder, or a pattern such as `images/{id}.jpg`.
    #[arg(long, value_name = "DIR|PATTERN|FILE")]
    pictures: Vec<String>,
    #[command(flatten)]
    reading: Candidates,
    #[command(flatten)]
    judging: JudgingArgs,
}

/// The number of captions that a trial asks about.
const TRIED: usize = 3;

impl TryArgs {
    fn run(&self) -> Result<()> {
        let (needs_references, sight) = trial_needs(&self.judge)?;
        let captions = capeval_files::captions(&self.file, &self.reading.options(false))?;
        let references = match &self.references {
            Some(path) => Some(capeval_files::captions(path, &ReadOptions::references())?),
            None if needs_references => {
                return Err(fault(
                    format!("{} compares captions with references, and there are none", self.judge),
                    "pass -r FILE",
                ));
            }
            None => None,
        };
        let of_image = |id: &SegmentId| -> Vec<&str> {
            let all = references.iter().flat_map(Captions::iter);
            all.filter(|(known, _)| known.to_string() == id.to_string()).map(|(_, text)| text).collect()
        };
        let shown: Vec<(&SegmentId, &str)> = captions.iter().take(TRIED).collect();
        let ids: Vec<&SegmentId> = shown.iter().map(|(id, _)| *id).collect();
        let places = capeval_files::PicturePlaces::open(&self.pictures)?;
        if sight == Sight::Needed && self.pictures.is_empty() {
            return Err(fault(
                format!("{} looks at pictures, and none are given", self.judge),
                "pass --pictures DIR",
            ));
        }
        let pictures = places.of(&ids)?;
        let rows = shown.iter().zip(&pictures).map(|((id, text), picture)| OutsideRow {
            system: None,
            image: Some(id),
            candidate: text,
            rival: shown.iter().map(|(_, other)| *other).find(|other| other != text),
            references: of_image(id),
            picture: picture.as_ref(),
        });
        let judging = self.judging.judging()?;
        let trials =
            try_judge(&TrialRequest { judge: &self.judge, judging: &judging, rows: rows.collect() })?;
        let is_read = trials.iter().any(|trial| trial.read.is_ok());
        Output::open(None, &[])?.write(|out| trials.iter().try_for_each(|trial| write(trial, out)))?;
        match is_read {
            true => Ok(()),
            false => Err(fault(
                format!("no answer to {} can be read", self.judge),
                "see above what was sent and what came",
            )),
        }
    }
}

/// Writes a question with its answer.
fn write(trial: &Trial, out: &mut dyn Write) -> io::Result<()> {
    let Trial { told, sent, came, read } = trial;
    writeln!(out, "{told}\n  sent: {}", indented(&format!("{sent:#}")))?;
    if let Some(came) = came {
        writeln!(out, "  came: {}", indented(came))?;
    }
    match read {
        Ok(values) => writeln!(out, "  read: {values}\n"),
        Err(refusal) => {
            let remedy = refusal.remedy().map(|remedy| format!("; {remedy}")).unwrap_or_default();
            writeln!(out, "  not read: {refusal}{remedy}\n")
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n    ")
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    match args {
        Args::List => Output::open(None, &[])?.write(|out| {
            JUDGES.iter().try_for_each(|judge| writeln!(out, "{:<12} {}", judge.name, judge.summary))
        }),
        Args::Show { name } => {
            let known = JUDGES.iter().find(|judge| judge.name == name).ok_or_else(|| {
                let names: Vec<&str> = JUDGES.iter().map(|judge| judge.name).collect();
                fault(format!("capeval has no judge {name}"), format!("choose one of {}", names.join(", ")))
            })?;
            Output::open(None, &[])?.write(|out| out.write_all(known.file.as_bytes()))
        }
        Args::Try(args) => args.run(),
        Args::Agree { first, second, output } => {
            let target = output.open(&[first, second])?;
            if target.wants_segments() {
                return Err(fault("the agreement of judges is of all questions", "leave out --segments"));
            }
            target.write(&mut capeval_outside::judges::agree(first, second)?, Bar::new())
        }
    }
}
