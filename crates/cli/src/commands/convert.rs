//! `capeval convert`: captions from one format into another.

use anyhow::Result;
use capeval::corpus::{self, Captions, Format, ReadOptions};
use clap::ValueEnum;

use crate::fault::Flags;
use crate::options::{formats, written_formats};
use crate::output::{self, Output};

/// Convert files of captions between formats
#[derive(clap::Args)]
pub struct Args {
    /// Files of captions, `-` for standard input; several become one.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Format to write.
    #[arg(short, long, value_name = "FORMAT", value_parser = written_formats())]
    format: Format,
    /// Format of the files, instead of detecting it from their content.
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    input_format: Option<Format>,
    /// Which captions to take from files that hold both kinds.
    #[arg(long, value_enum, default_value_t)]
    role: Role,
    /// Splits to keep of a Karpathy file, such as test; may be repeated.
    #[arg(long, value_name = "SPLIT", value_delimiter = ',')]
    split: Option<Vec<String>>,
    /// Column or key that holds the id.
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Column or key that holds captions; may be repeated.
    #[arg(long = "caption-column", value_name = "NAME", value_delimiter = ',')]
    caption_columns: Option<Vec<String>>,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Role {
    /// What people wrote, several per image.
    #[default]
    References,
    /// What a system wrote, one per image.
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
        ..match args.role {
            Role::References => ReadOptions::references(),
            Role::Candidates => ReadOptions::candidates(),
        }
    };
    let files: Vec<Captions> =
        inputs.iter().map(|path| capeval_files::captions(path, &options)).collect::<Result<_, _>>()?;
    let captions = corpus::merge(files, options.role)?;
    // A format may refuse a caption halfway, and a file that is there stays until all is well.
    let mut written = Vec::new();
    corpus::write(&captions, args.format, &mut written)?;
    output.write(|out| out.write_all(&written))?;
    output::tell(captions.notices(), Flags::Convert);
    Ok(())
}
