//! `capeval convert`: converts captions between formats.

use anyhow::Result;
use capeval::corpus::{self, Captions, Format};
use capeval_dense::EventFile;
use capeval_dense::read::ReadOptions;
use capeval_dense::write::EventFormat;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::dense;
use crate::fault::{Flags, fault};
use crate::messages;
use crate::options::choices;
use crate::output::Output;

/// Convert files of captions between formats
///
/// Files of dense captions, with a start and an end for each, are converted between the forms from `activitynet` to
/// `timechat`; what a form does not hold is said.
#[derive(clap::Args)]
pub struct Args {
    /// Files of captions, `-` for standard input; several files are merged.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", value_parser = targets())]
    format: WrittenFormat,
    /// Format of the input files, instead of detecting it from their content; see --format.
    #[arg(long, value_name = "FORMAT", value_parser = choices::<Format>(), hide_possible_values = true)]
    input_format: Option<Format>,
    /// Captions to use from files that contain captions by both people and systems.
    #[arg(long, value_enum, default_value_t)]
    role: Role,
    /// Splits of a Karpathy file to use, such as test; may be repeated.
    #[arg(long, value_name = "SPLIT", value_delimiter = ',')]
    split: Option<Vec<String>>,
    /// Column or key of the image id.
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Column or key of captions; may be repeated.
    #[arg(long = "caption-column", value_name = "NAME", value_delimiter = ',')]
    caption_columns: Option<Vec<String>>,
    /// Read captions of more than 1 MB, pipes of more than 100 MB, and compressed data that decompress to more than 64
    /// MB and 50 times their size.
    #[arg(long)]
    no_limits: bool,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

/// A format of captions, or of events.
#[derive(Clone, Copy)]
enum WrittenFormat {
    Captions(Format),
    Events(EventFormat),
}

/// A parser for the names of all formats that are written.
fn targets() -> impl TypedValueParser<Value = WrittenFormat> {
    let captions = Format::ALL.iter().filter(|format| format.is_writable());
    let captions = captions.map(|format| (format.name(), format.summary()));
    let events = EventFormat::ALL.iter().map(|format| (format.name(), format.summary()));
    let names = captions.chain(events).map(|(name, summary)| PossibleValue::new(name).help(summary));
    PossibleValuesParser::new(names).try_map(|word| match word.parse::<Format>() {
        Ok(format) => Ok(WrittenFormat::Captions(format)),
        Err(_) => word.parse::<EventFormat>().map(WrittenFormat::Events),
    })
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Role {
    /// Captions by people, several per image.
    #[default]
    References,
    /// Captions by a system, one per image.
    Candidates,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let inputs: Vec<&str> = args.files.iter().map(String::as_str).collect();
    let output = Output::open(args.output.as_deref(), &inputs)?;
    let format = match args.format {
        WrittenFormat::Captions(format) => format,
        WrittenFormat::Events(format) => return args.convert_events(format, output),
    };
    let options = corpus::ReadOptions {
        format: args.input_format,
        split: args.split.clone(),
        id_column: args.id_column.clone(),
        caption_columns: args.caption_columns.clone(),
        no_limits: args.no_limits,
        ..match args.role {
            Role::References => corpus::ReadOptions::references(),
            Role::Candidates => corpus::ReadOptions::candidates(),
        }
    };
    let files: Vec<Captions> =
        inputs.iter().map(|path| capeval_files::captions(path, &options)).collect::<Result<_, _>>()?;
    let captions = corpus::merge(files, options.role)?;
    corpus::refuse_open(&captions)?;
    // The writer may fail halfway, and an existing file must not change then.
    let mut written = Vec::new();
    corpus::write(&captions, format, &mut written)?;
    output.write(|out| out.write_all(&written))?;
    messages::tell(captions.notices(), Flags::Convert);
    Ok(())
}

impl Args {
    /// Converts files of events.
    fn convert_events(&self, format: EventFormat, output: Output) -> Result<()> {
        let about_captions = [
            ("--input-format", self.input_format.is_some()),
            ("--split", self.split.is_some()),
            ("--id-column", self.id_column.is_some()),
            ("--caption-column", self.caption_columns.is_some()),
        ];
        if let Some((flag, _)) = about_captions.iter().find(|(_, is_given)| *is_given) {
            return Err(fault(
                format!("{flag} has no effect on files of events, which are read by their structure"),
                "leave it out",
            ));
        }
        let mut whole = EventFile::default();
        for path in &self.files {
            let options = ReadOptions {
                durations: whole.durations.clone(),
                after_thoughts: dense::AFTER_THOUGHTS,
                ..ReadOptions::default()
            };
            let file = dense::events(path, &options)?;
            if let Some(id) = file.videos.keys().find(|id| whole.videos.contains_key(*id)) {
                return Err(fault(
                    format!("{path}: the video {id} is in another file, too"),
                    "convert the files one by one",
                ));
            }
            whole.name.clone_from(&file.name);
            whole.durations.extend(file.durations);
            whole.videos.extend(file.videos);
        }
        let (written, lost) = capeval_dense::write::write(&whole, format)?;
        output.write(|out| out.write_all(written.as_bytes()))?;
        if let Some(lost) = lost {
            messages::note(&lost);
        }
        Ok(())
    }
}
