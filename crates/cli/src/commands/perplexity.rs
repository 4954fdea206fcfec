//! `capeval perplexity`: how surprising captions are to a language model.

use std::sync::Arc;

use anyhow::Result;
use capeval::Probabilities;
use capeval::fluency::Base;
use capeval::text::Tokenizer;
use capeval_files::{self as files, STDIN};
use clap::ValueEnum;

use crate::fault::fault;
use crate::names;
use crate::options::Candidates;
use crate::shown::Shown;

/// Compute perplexities, from the probabilities that models gave or under an n-gram model
///
/// Without --lm, files hold what a language model thought of each caption, as JSON Lines or Parquet:
/// {"id": 7, "probs": [0.6, 0.8], "end": 0.5}, or "logprobs" in place of "probs". With --lm, files hold
/// captions, which are scored by that ARPA file; `capeval lm train` makes one from references.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Files of probabilities, or with --lm of captions, one per system, `-` for standard input.
    #[arg(required = true, value_name = "[NAME=]FILE")]
    files: Vec<String>,
    /// Score captions by this n-gram model, an ARPA file.
    #[arg(long, value_name = "FILE")]
    lm: Option<String>,
    /// Tokenizer of the captions, which must be the model's; see `capeval tokenize --list` [default: ptb].
    #[arg(short, long, value_name = "NAME", requires = "lm")]
    tokenizer: Option<String>,
    /// Base of the logarithms in files of probabilities.
    #[arg(long, value_enum, default_value_t, conflicts_with = "lm")]
    log: Log,
    /// Name of a system, in the order of the files; may be repeated.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    reading: Candidates,
    #[command(flatten)]
    shown: Shown,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Log {
    /// Natural logarithms, as most libraries give them.
    #[default]
    E,
    /// Bits.
    #[value(name = "2")]
    Two,
    /// As in ARPA files and KenLM's output.
    #[value(name = "10")]
    Ten,
}

const AFTER_HELP: &str = "\
The perplexity of a file is that of all its tokens together: two to the power of all bits by all tokens.
It is shown with the end of captions as a token and without it.

Examples:
  capeval perplexity mine.jsonl theirs.jsonl --log 2
  capeval lm train captions_train2014.json -o coco.arpa
  capeval perplexity --lm coco.arpa a.json b.json --segments per_caption.jsonl";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let systems = names::name(&args.files, &args.names)?;
    let mut inputs: Vec<&str> = systems.iter().map(|system| system.path.as_str()).collect();
    inputs.extend(args.lm.as_deref());
    if inputs.iter().filter(|path| **path == STDIN).count() > 1 {
        return Err(fault("standard input (-) can be read only once", "give files for the others"));
    }
    let tokenizer: Tokenizer = args.tokenizer.as_deref().unwrap_or("ptb").parse()?;
    let target = args.shown.open(&inputs)?;
    let report = match &args.lm {
        Some(model) => {
            let model = Arc::new(files::language_model(model, &files::open(model)?)?);
            let options = args.reading.options();
            let mut captions = Vec::new();
            for system in systems {
                captions.push((system.name, files::captions(&system.path, &options)?));
            }
            capeval::perplexity(captions, &model, tokenizer, target.wants_segments())?
        }
        None => {
            let base = match args.log {
                Log::E => Base::E,
                Log::Two => Base::Two,
                Log::Ten => Base::Ten,
            };
            let mut given = Vec::new();
            for system in systems {
                let records = files::probabilities(&system.path, &files::open_or_stdin(&system.path)?, base)?;
                given.push(Probabilities { name: system.name, source: system.path, records });
            }
            capeval::perplexity_of(given, base, target.wants_segments())?
        }
    };
    target.write(&report)
}
