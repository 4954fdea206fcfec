//! `capeval df`: tables of document frequencies.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use capeval::frequencies::{DocumentFrequencies, TableFormat};
use capeval_files as files;
use clap::Subcommand;

use crate::fault::{Flags, fault};
use crate::messages;
use crate::options::{self, Completion, Matching, ReferenceInput};
use crate::output::Output;

/// Build, merge, convert and show tables of document frequencies
///
/// CIDEr weights an n-gram by the number of images whose references contain it. With a saved table, scores on a few
/// images are comparable with those on many: `capeval score --df FILE`.
#[derive(Subcommand)]
pub enum Args {
    Build(Box<Build>),
    Merge(Merge),
    Convert(Convert),
    Show(Show),
}

/// Count the document frequencies of references
#[derive(clap::Args)]
pub struct Build {
    /// Files of references, `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    references: Vec<String>,
    #[command(flatten)]
    reading: ReferenceInput,
    /// Tokenizer, the same as that of the metrics; see `capeval tokenize --list`.
    #[arg(short, long, value_name = "NAME", default_value = "ptb", value_parser = Completion::Tokenizers, hide_possible_values = true)]
    tokenizer: String,
    /// Stemmer, the same as that of the metrics: none or snowball-english.
    #[arg(long, value_name = "NAME", default_value = "none")]
    stem: String,
    /// Length of the longest n-grams.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=9))]
    order: u8,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    target: TableArgs,
}

/// Merge tables of disjoint sets of images
#[derive(clap::Args)]
pub struct Merge {
    /// Tables to merge.
    #[arg(required = true, value_name = "TABLE", num_args = 2..)]
    tables: Vec<String>,
    #[command(flatten)]
    target: TableArgs,
}

/// Convert a table, for example from or to a pickle such as coco-val-df.p
///
/// Pickles are read without running any of their code.
#[derive(clap::Args)]
pub struct Convert {
    /// Table in capeval's format, or a pickle, which may be gzipped.
    table: String,
    /// Number of images counted in the table, for a pickle that does not contain it.
    #[arg(long, value_name = "N")]
    df_images: Option<u64>,
    #[command(flatten)]
    target: TableArgs,
}

/// Show the size of a table, and frequencies of n-grams
#[derive(clap::Args)]
pub struct Show {
    /// Table in capeval's format, or a pickle, which may be gzipped.
    table: String,
    /// N-grams whose frequencies to show, each as one argument with spaces between its words.
    #[arg(value_name = "NGRAM")]
    ngrams: Vec<String>,
    /// Number of the most frequent n-grams to show for each length.
    #[arg(long, value_name = "K", default_value_t = 5)]
    top: usize,
    /// Number of images counted in the table, for a pickle that does not contain it.
    #[arg(long, value_name = "N")]
    df_images: Option<u64>,
}

#[derive(clap::Args)]
struct TableArgs {
    /// Write the table to this file, `-` for standard output.
    #[arg(short, long, value_name = "FILE", required = true)]
    output: String,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value_t, value_parser = options::choices::<TableFormat>())]
    format: TableFormat,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    match args {
        Args::Build(args) => build(args),
        Args::Merge(args) => merge(args),
        Args::Convert(args) => {
            let output = Output::open(Some(&args.target.output), &[&args.table])?;
            let table = read(&args.table, args.df_images)?;
            args.target.write(&table, output)
        }
        Args::Show(args) => show(args),
    }
}

fn build(args: &Build) -> Result<()> {
    let reading = capeval::table_reading(&args.tokenizer, &args.stem)?;
    let inputs: Vec<&str> = args.references.iter().map(String::as_str).collect();
    let output = Output::open(Some(&args.target.output), &inputs)?;
    let captions = args.reading.read(&args.references)?;
    messages::tell(captions.notices(), Flags::Usual);
    let table = capeval::document_frequencies(captions, args.matching.ids, reading, usize::from(args.order))?;
    args.target.write(&table, output)
}

fn merge(args: &Merge) -> Result<()> {
    let inputs: Vec<&str> = args.tables.iter().map(String::as_str).collect();
    let output = Output::open(Some(&args.target.output), &inputs)?;
    let mut merged: Option<DocumentFrequencies> = None;
    let mut known: Vec<(u64, &str)> = Vec::new();
    for path in &args.tables {
        let table = read(path, None)?;
        let fingerprint = table.fingerprint();
        if let Some((_, other)) = known.iter().find(|(other, _)| *other == fingerprint) {
            return Err(fault(
                format!("{path} holds the same table as {other}, so its images would count twice"),
                "give tables of different images",
            ));
        }
        known.push((fingerprint, path));
        merged = Some(match merged {
            None => table,
            Some(merged) => merged.merge(&table).with_context(|| format!("{path}: cannot be merged"))?,
        });
    }
    let Some(merged) = merged else { bail!("there is no table to merge") };
    args.target.write(&merged, output)
}

impl TableArgs {
    fn write(&self, table: &DocumentFrequencies, output: Output) -> Result<()> {
        let what = format!("{} n-grams of {} images", table.len(), table.n_images());
        output.write_described(&what, |out| table.write(self.format, out))
    }
}

fn read(path: &str, n_images: Option<u64>) -> Result<DocumentFrequencies> {
    Ok(files::frequencies(path, &files::open(path)?, n_images)?)
}

fn show(args: &Show) -> Result<()> {
    let table = read(&args.table, args.df_images)?;
    Output::open(None, &[])?.write(|out| {
        if args.ngrams.is_empty() {
            return describe(&table, args.top, out);
        }
        for ngram in &args.ngrams {
            writeln!(out, "{}\t{ngram}", table.frequency(ngram.split(' ')))?;
        }
        Ok(())
    })
}

fn describe(table: &DocumentFrequencies, top: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut by_length: Vec<(usize, Vec<(u32, String)>)> = vec![Default::default(); table.order()];
    table.for_each(|ngram, frequency| {
        let Some((n, best)) = ngram.len().checked_sub(1).and_then(|k| by_length.get_mut(k)) else { return };
        *n += 1;
        let worst = best.last().map_or(0, |(frequency, _)| *frequency);
        if best.len() < top || frequency > worst {
            let words: Vec<&str> = ngram.iter().map(|word| table.word(*word)).collect();
            let at = best.partition_point(|(other, _)| *other >= frequency);
            best.insert(at, (frequency, words.join(" ")));
            best.truncate(top);
        }
    });
    writeln!(out, "images       {}", table.n_images())?;
    writeln!(out, "words        {}", table.n_words())?;
    writeln!(out, "n-grams      {}", table.len())?;
    writeln!(out, "fingerprint  {:016x}", table.fingerprint())?;
    for (k, (n, best)) in by_length.iter().enumerate() {
        writeln!(out, "\n{n} n-grams of length {}", k + 1)?;
        for (frequency, words) in best {
            writeln!(out, "{frequency:>9}  {words}")?;
        }
    }
    Ok(())
}
