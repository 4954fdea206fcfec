//! `capeval model`: models for metrics that compare vectors.

use anyhow::Result;
use capeval_outside::embeddings::{OpenModel, names};
use clap::Subcommand;
use serde::Serialize;

use super::metrics::Format;
use crate::fault::fault;
use crate::output::Output;

/// Name and check models for metrics that compare vectors
///
/// A model is a folder as Hugging Face stores it, with config.json, model.safetensors and tokenizer.json. capeval reads
/// CLIP, BERT, RoBERTa, DistilBERT and MPNet, also with modules of sentence-transformers; it downloads no models.
#[derive(Subcommand)]
pub enum Args {
    /// Name the model in a folder, for use with --model
    Add {
        /// The name.
        name: String,
        /// The folder.
        folder: String,
    },
    /// List the named models
    List {
        /// Output format.
        #[arg(short, long, value_enum, default_value_t)]
        format: Format,
    },
    /// Describe a model, the metrics that can use it, and missing or damaged files
    Check {
        /// Names and folders of models.
        #[arg(required = true, value_name = "DIR|NAME")]
        models: Vec<String>,
        /// Output format.
        #[arg(short, long, value_enum, default_value_t)]
        format: Format,
    },
    /// Remove a name; the folder is kept
    Remove {
        /// The name.
        name: String,
    },
}

/// The result of checking a model.
#[derive(Serialize)]
struct ModelCheck<'m> {
    model: &'m str,
    description: String,
    metrics: String,
    sha256: String,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    match args {
        Args::Add { name, folder } => {
            // What cannot be used gets no name.
            let model = OpenModel::open(folder)?;
            names::add(name, folder)?;
            Output::open(None, &[])?.write(|out| writeln!(out, "{name}: {}", model.described()))
        }
        Args::List { format } => {
            let names = names::names()?;
            Output::open(None, &[])?.write(|out| match format {
                Format::Json => {
                    serde_json::to_writer_pretty(&mut *out, &names)?;
                    writeln!(out)
                }
                Format::Text if names.is_empty() => {
                    writeln!(out, "no model has a name; see capeval model add")
                }
                Format::Text => names.iter().try_for_each(|(name, folder)| writeln!(out, "{name}  {folder}")),
            })
        }
        Args::Check { models, format } => check(models, *format),
        Args::Remove { name } => match names::remove(name)? {
            true => Ok(()),
            false => Err(fault(format!("no model is called {name}"), "see capeval model list")),
        },
    }
}

fn check(models: &[String], format: Format) -> Result<()> {
    let checked = models.iter().map(|name| {
        let model = OpenModel::open(name)?;
        let (description, metrics, sha256) = (model.described(), model.uses(), model.hash().to_owned());
        Ok(ModelCheck { model: name, description, metrics, sha256 })
    });
    let checked: Vec<ModelCheck<'_>> = checked.collect::<Result<_>>()?;
    Output::open(None, &[])?.write(|out| match format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &checked)?;
            writeln!(out)
        }
        Format::Text => checked.iter().try_for_each(|ModelCheck { model, description, metrics, sha256 }| {
            writeln!(out, "{model}\n  {description}\n  for      {metrics}\n  sha256   {sha256}")
        }),
    })
}
