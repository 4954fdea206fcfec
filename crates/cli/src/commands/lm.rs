//! `capeval lm`: n-gram language models.

use anyhow::Result;
use capeval::text::Tokenizer;
use capeval_files as files;
use clap::Subcommand;

use crate::fault::Flags;
use crate::messages;
use crate::options::{Completion, Matching, ReferenceInput};
use crate::output::Output;

/// Train and show n-gram language models
///
/// A model trained on references measures how fluent captions are, without a network or a GPU:
/// `capeval perplexity --lm FILE`, or the metric `perplexity` with `capeval score --lm FILE`.
#[derive(Subcommand)]
pub enum Args {
    Train(Box<Train>),
    /// Show the size of a model
    Show {
        /// ARPA file, which may be gzipped.
        model: String,
    },
}

/// Train a model by interpolated modified Kneser-Ney smoothing, as KenLM's lmplz does
#[derive(clap::Args)]
pub struct Train {
    /// Files of references, `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    references: Vec<String>,
    #[command(flatten)]
    reading: ReferenceInput,
    /// Tokenizer, the same as that of the captions to be scored; see `capeval tokenize --list`.
    #[arg(short, long, value_name = "NAME", default_value = "ptb", value_parser = Completion::Tokenizers, hide_possible_values = true)]
    tokenizer: String,
    /// Length of the longest n-grams.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=16))]
    order: u8,
    /// Fail if there are too few captions to estimate discounts, instead of using 0.5, 1 and 1.5.
    #[arg(long)]
    no_fallback: bool,
    #[command(flatten)]
    matching: Matching,
    /// Write the model to this ARPA file, `-` for standard output.
    #[arg(short, long, value_name = "FILE", required = true)]
    output: String,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    match args {
        Args::Train(args) => train(args),
        Args::Show { model } => {
            let model = files::language_model(model, &files::open(model)?)?;
            Output::open(None, &[])?.write(|out| {
                writeln!(out, "order        {}", model.order())?;
                for (order, count) in (1..).zip(model.n_ngrams()) {
                    writeln!(out, "{:<13}{count}", format!("{order}-grams"))?;
                }
                writeln!(out, "fingerprint  {:016x}", model.fingerprint())
            })
        }
    }
}

fn train(args: &Train) -> Result<()> {
    let tokenizer: Tokenizer = args.tokenizer.parse()?;
    let inputs: Vec<&str> = args.references.iter().map(String::as_str).collect();
    let output = Output::open(Some(&args.output), &inputs)?;
    let captions = args.reading.read(&args.references)?;
    messages::tell(captions.notices(), Flags::Usual);
    let fallback = !args.no_fallback;
    let (model, fallen_back) =
        capeval::language_model(captions, args.matching.ids, tokenizer, usize::from(args.order), fallback)
            .map_err(|error| match error {
                // Other errors name the file themselves.
                capeval::Error::Request(error) => {
                    anyhow::Error::new(error).context(args.references.join(", "))
                }
                error => error.into(),
            })?;
    let counts: Vec<String> = model.n_ngrams().iter().map(usize::to_string).collect();
    let what = format!("{} n-grams of 1 to {} words", counts.join(" + "), args.order);
    output.write_described(&what, |out| model.write_arpa(out))?;
    if !fallen_back.is_empty() {
        let orders: Vec<String> = fallen_back.iter().map(usize::to_string).collect();
        messages::note(&format!(
            "too few captions to estimate the discounts of n-grams of {} words; 0.5, 1 and 1.5 were used",
            orders.join(", ")
        ));
    }
    Ok(())
}
