//! `capeval perplexity`: computes the perplexity of captions under a language model.

use std::sync::Arc;

use anyhow::Result;
use capeval::corpus::probabilities::read_probabilities;
use capeval::fluency::Base;
use capeval::{PerplexityOptions, PerplexityRequest, PerplexitySource};
use capeval_files as files;

use crate::fault::fault;
use crate::names::{self, SystemFile};
use crate::options::{self, Candidates, Completion};
use crate::output_args::OutputArgs;
use crate::progress::Bar;
use crate::written_flags::WrittenFlags;

/// Compute perplexities from token probabilities, or under an n-gram model
///
/// Without --lm, files contain the probability of each token under a language model, as JSON, JSON Lines, CSV, TSV or
/// Parquet: {"id": 7, "probs": [0.6, 0.8], "end": 0.5}, or "logprobs" instead of "probs"; or a row for each token, with
/// the columns id, token and prob or logprob. With --lm, files contain captions, which are scored by this ARPA model;
/// `capeval lm train` trains one on references.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, mut_arg("percent", |arg| arg.hide(true)))]
pub struct Args {
    /// Files of token probabilities, or of captions with --lm, one per system, `-` for standard input. A system is
    /// named after its file unless NAME= is given.
    #[arg(required = true, value_name = "[NAME=]FILE")]
    files: Vec<String>,
    /// ARPA file with the n-gram model to score captions with; see `capeval lm`.
    #[arg(long, value_name = "FILE")]
    lm: Option<String>,
    /// Tokenizer, the same as that of the model; see `capeval tokenize --list` [default: ptb].
    #[arg(short, long, value_name = "NAME", requires = "lm", value_parser = Completion::Tokenizers, hide_possible_values = true)]
    tokenizer: Option<String>,
    /// Base of the logarithms in files of probabilities.
    #[arg(long, default_value_t, conflicts_with = "lm", value_parser = options::choices::<Base>())]
    log: Base,
    /// Name of a system, in the order of the files; may be repeated.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    reading: WrittenFlags<Candidates>,
    /// Read captions of more than 1 MB, pipes of more than 100 MB, and compressed data that decompress to more than 64
    /// MB and 50 times their size.
    #[arg(long, requires = "lm")]
    no_limits: bool,
    #[command(flatten)]
    output: OutputArgs,
}

const AFTER_HELP: &str = "\
The perplexity of a file is that of all its tokens together: 2 to the power of the mean number of bits per token. It \
is shown with the end of each caption counted as a token, and without.

Examples:
  capeval perplexity mine.jsonl theirs.jsonl --log 2
  capeval lm train captions_train2014.json -o coco.arpa
  capeval perplexity --lm coco.arpa a.json b.json --segments segments.jsonl";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    if args.output.wants_percent() {
        return Err(fault("perplexities are not shares, so they have no percentages", "leave out --percent"));
    }
    let systems = names::name(&args.files, &args.names)?;
    if let (None, Some(flag)) = (&args.lm, args.reading.first_but(&[])) {
        return Err(fault(
            format!("{flag} says how to read captions, and without --lm the files hold probabilities"),
            format!("give a model with --lm, or leave out {flag}"),
        ));
    }
    let mut inputs: Vec<&str> = systems.iter().map(|system| system.path.as_str()).collect();
    inputs.extend(args.lm.as_deref());
    let target = args.output.open(&inputs)?;
    let options = PerplexityOptions {
        tokenizer: args.tokenizer.clone(),
        log: args.log,
        segments: target.wants_items(),
    };
    let source = match &args.lm {
        Some(model) => {
            let model = Arc::new(files::language_model(model, &files::open(model)?)?);
            let reading = args.reading.options(args.no_limits);
            let read = |SystemFile { name, path, .. }| Ok((name, files::captions(&path, &reading)?));
            PerplexitySource::Captions {
                systems: systems.into_iter().map(read).collect::<Result<_>>()?,
                model,
            }
        }
        None => {
            let read = |SystemFile { name, path, .. }| {
                let bytes = files::open_or_stdin(&path)?;
                Ok((name, read_probabilities(&bytes, &path)?))
            };
            PerplexitySource::Probabilities(systems.into_iter().map(read).collect::<Result<_>>()?)
        }
    };
    target.write(&mut capeval::perplexity(PerplexityRequest { source, options })?, Bar::new())
}
