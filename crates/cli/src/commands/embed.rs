//! `capeval embed`: vectors of captions or pictures by a model.

use anyhow::Result;
use capeval::corpus::ReadOptions;
use capeval::evaluate::{Progress, Stage};
use capeval_outside::embeddings::{Crop, NamedVectors, OpenModel};

use crate::fault::{Flags, fault};
use crate::progress::Bar;
use crate::{messages, options};

/// Compute vectors of captions or pictures, for --vectors
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model: a folder as Hugging Face stores it, or a name set by `capeval model add`.
    #[arg(long, value_name = "DIR|NAME")]
    model: String,
    /// File of captions, by people or by a system, in any format that capeval reads; may be repeated. Equal captions
    /// share one vector.
    #[arg(long = "texts", value_name = "FILE")]
    texts: Vec<String>,
    /// Folder of pictures, whose file names without extension are the image ids.
    #[arg(long, value_name = "DIR", conflicts_with = "texts", required_unless_present = "texts")]
    folder: Option<String>,
    /// Prefix of each text, such as "A photo depicts ", which clip-s and pac-s use.
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    /// Crop of pictures.
    #[arg(long, value_name = "HOW", default_value = "openai", value_parser = options::choices::<Crop>())]
    crop: Crop,
    /// Write the vectors to this file: .safetensors, or .npy, with their ids in a .json file beside it.
    #[arg(short, long, value_name = "FILE")]
    output: String,
}

const EXAMPLES: &str = "\
Examples:
  capeval embed --model clip-b32 --folder val2014 -o images.safetensors
  capeval embed --model clip-b32 --texts refs.json --texts results.json --prefix \"A photo depicts \" -o texts.safetensors
  capeval score -r refs.json results.json -m clip-s --vectors images=images.safetensors --vectors texts=texts.safetensors";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    if ![".npy", ".safetensors"].iter().any(|end| args.output.ends_with(end)) {
        return Err(fault(
            format!("{}: vectors are written as .safetensors or as .npy", args.output),
            "give a name that ends in one of them",
        ));
    }
    let model = OpenModel::open(&args.model)?.keeping();
    let bar = Bar::new();
    let begin = |n| bar.begin(Stage::Measuring, n);
    let advance = |n| bar.advance(n);
    let NamedVectors { ids, dims, rows, notices } = match &args.folder {
        Some(folder) => model.look(folder, args.crop, &begin, &advance)?,
        None => {
            let mut texts: Vec<String> = Vec::new();
            for path in &args.texts {
                let captions = capeval_files::captions(path, &ReadOptions::references())?;
                texts.extend((0..captions.len()).map(|k| captions.text(k).to_owned()));
            }
            texts.sort_unstable();
            texts.dedup();
            model.read(&texts, &args.prefix, &begin, &advance)?
        }
    };
    capeval_outside::embeddings::write(&args.output, &ids, dims, &rows)?;
    drop(bar);
    messages::tell(&notices, Flags::Usual);
    messages::note(&format!("wrote {} vectors of {dims} numbers to {}", ids.len(), args.output));
    Ok(())
}
