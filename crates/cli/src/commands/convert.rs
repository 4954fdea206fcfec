//! `capeval convert`: converts captions between formats.

use anyhow::Result;
use capeval::corpus::{self, Captions, Format, ReadOptions};
use clap::ValueEnum;

use crate::fault::Flags;
use crate::messages;
use crate::options::{choices, written_formats};
use crate::output::Output;

/// Convert files of captions between formats
#[derive(clap::Args)]
pub struct Args {
    /// Files of captions, `-` for standard input; several files are merged.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", value_parser = written_formats())]
    format: Format,
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
    let options = ReadOptions {
        format: args.input_format,
        split: args.split.clone(),
        id_column: args.id_column.clone(),
        caption_columns: args.caption_columns.clone(),
        no_limits: args.no_limits,
        ..match args.role {
            Role::References => ReadOptions::references(),
            Role::Candidates => ReadOptions::candidates(),
        }
    };
    let files: Vec<Captions> =
        inputs.iter().map(|path| capeval_files::captions(path, &options)).collect::<Result<_, _>>()?;
    let captions = corpus::merge(files, options.role)?;
    // The writer may fail halfway, and an existing file must not change then.
    let mut written = Vec::new();
    corpus::write(&captions, args.format, &mut written)?;
    output.write(|out| out.write_all(&written))?;
    messages::tell(captions.notices(), Flags::Convert);
    Ok(())
}
