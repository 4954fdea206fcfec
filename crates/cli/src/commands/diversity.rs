//! `capeval diversity`: measures how diverse the captions of a system are.

use anyhow::{Context, Result};
use capeval::corpus::{self, Captions, Format, ReadOptions};
use capeval::{DiversityOptions, DiversityRequest};
use capeval_files as files;

use crate::fault::fault;
use crate::group_args::GroupArgs;
use crate::names;
use crate::options::{self, Candidates, Completion, Matching, ReferenceInput};
use crate::output_args::OutputArgs;
use crate::progress::Bar;
use crate::written_flags::WrittenFlags;

/// Measure how diverse captions are: Div-n, mBLEU, Self-CIDEr, vocabulary, novel captions
///
/// Files contain any number of captions per image, such as samples of a decoder. Div-n, mBLEU and Self-CIDEr compare
/// the captions of each image; the size of the vocabulary, the mean length and the shares of distinct and novel
/// captions are computed over all captions of a system.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, mut_arg("segments", |arg| arg.hide(true)))]
pub struct Args {
    /// Files of captions, one per system, `-` for standard input. A system is named after its file unless NAME= is
    /// given.
    #[arg(required = true, value_name = "[NAME=]FILE")]
    files: Vec<String>,
    /// File of references for Self-CIDEr's document frequencies; may be repeated, or be a file of prepared references.
    #[arg(short, long, value_name = "FILE")]
    references: Vec<String>,
    #[command(flatten)]
    reading_references: WrittenFlags<ReferenceInput>,
    /// File of the captions that the systems were trained on; all other captions are novel. May be repeated.
    #[arg(long, value_name = "FILE")]
    train: Vec<String>,
    /// Format of the files given with --train, instead of detecting it from their content; see `capeval convert
    /// --help`.
    #[arg(long, value_name = "FORMAT", value_parser = options::choices::<Format>(), hide_possible_values = true, requires = "train")]
    train_format: Option<Format>,
    /// Column or key of the image id in files given with --train.
    #[arg(long, value_name = "NAME", requires = "train")]
    train_id_column: Option<String>,
    /// Column or key of captions in files given with --train; may be repeated.
    #[arg(long = "train-caption-column", value_name = "NAME", value_delimiter = ',', requires = "train")]
    train_caption_columns: Option<Vec<String>>,
    /// Splits of a Karpathy file given with --train to use; may be repeated.
    #[arg(long, value_name = "SPLIT", value_delimiter = ',', requires = "train")]
    train_split: Option<Vec<String>>,
    /// Metrics, separated by commas, with settings such as self-cider:n=3 [default: all that the given files allow].
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = Completion::CorpusMetrics, hide_possible_values = true)]
    metrics: Vec<String>,
    /// Tokenizer; see `capeval tokenize --list` [default: ptb].
    #[arg(short, long, value_name = "NAME", value_parser = Completion::Tokenizers, hide_possible_values = true)]
    tokenizer: Option<String>,
    #[command(flatten)]
    reading: Candidates,
    /// Name of a system, in the order of the files; may be repeated.
    #[arg(long = "name", value_name = "NAME", help_heading = "Reading candidates")]
    names: Vec<String>,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    output: OutputArgs,
}

const AFTER_HELP: &str = "\
Examples:
  capeval diversity samples.json -r refs.json --train captions_train2014.json
  capeval diversity greedy.json sampled.json -m vocabulary,div:n=3 -f csv";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let systems = names::name(&args.files, &args.names)?;
    let mut inputs: Vec<&str> = systems.iter().map(|system| system.path.as_str()).collect();
    inputs.extend(args.references.iter().chain(&args.train).map(String::as_str));
    let target = args.output.open(&inputs)?;
    if target.wants_segments() {
        return Err(fault(
            "diversity is a property of a whole system, so single images have no scores",
            "leave out --segments",
        ));
    }
    let files = args.references.iter().map(String::as_str).chain(systems.iter().map(|system| &*system.path));
    let groups = args.groups.read(files, [args.reading_references.id_column(), args.reading.id_column()])?;
    let mut captions = Vec::new();
    for system in systems {
        captions.push((
            system.name,
            files::captions(&system.path, &args.reading.options(args.reading_references.no_limits))?,
        ));
    }
    let references = match &args.references[..] {
        [] => None,
        paths => Some(args.reading_references.open(paths)?),
    };
    let request = DiversityRequest {
        references,
        reference_files: args.references.clone(),
        training: training(args)?,
        groups,
        options: DiversityOptions {
            metrics: args.metrics.clone(),
            tokenizer: args.tokenizer.clone(),
            ids: args.matching.ids,
            group_df: args.groups.group_df,
            profiles: target.has_page() || target.wants_items(),
        },
        ..DiversityRequest::new(captions)
    };
    let mut report = capeval::diversity(request)?;
    target.write(&mut report, Bar::new())
}

fn training(args: &Args) -> Result<Option<Captions>> {
    if args.train.is_empty() {
        return Ok(None);
    }
    let options = ReadOptions {
        format: args.train_format,
        split: args.train_split.clone(),
        id_column: args.train_id_column.clone(),
        caption_columns: args.train_caption_columns.clone(),
        no_limits: args.reading_references.no_limits,
        ..ReadOptions::training()
    };
    let read = |path: &String| files::captions(path, &options);
    let captions: Vec<Captions> = args.train.iter().map(read).collect::<Result<_, _>>().context("--train")?;
    Ok(Some(corpus::merge(captions, options.role).context("--train")?))
}
