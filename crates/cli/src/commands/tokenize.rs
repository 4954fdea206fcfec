//! `capeval tokenize`: what a tokenizer makes of a text.

use std::io::{self, BufRead, BufReader, Write};

use anyhow::{Result, bail};
use capeval::text::tokenizers::ALL;
use capeval::text::{Scratch, Tokenizer};
use clap::ValueEnum;

use crate::input;
use crate::output::Output;

/// Show what a tokenizer makes of a text
#[derive(clap::Args)]
pub struct Args {
    /// Texts; without any, the lines of --file or of standard input.
    #[arg(value_name = "TEXT", conflicts_with = "file")]
    texts: Vec<String>,
    /// Tokenizer, or `all` to see them side by side.
    #[arg(short, long, value_name = "NAME", default_value = "ptb")]
    tokenizer: String,
    /// Read the lines of this file, `-` for standard input.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// How tokens are written: `line` joins them with blanks as the reference programs do, `json` writes an
    /// array per text.
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,
    /// Texts end with a NUL byte instead of a line feed, in input and output, so that they may hold line
    /// breaks.
    #[arg(short = '0', long)]
    null: bool,
    /// Write to this file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// List the tokenizers.
    #[arg(long, conflicts_with_all = ["texts", "file"])]
    list: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tokens joined with blanks.
    #[default]
    Line,
    /// A JSON array per text.
    Json,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let inputs: Vec<&str> = args.file.as_deref().into_iter().collect();
    let output = Output::open(args.output.as_deref(), &inputs)?;
    if args.list {
        return output.write(list);
    }
    let tokenizers: Vec<Tokenizer> = match args.tokenizer.as_str() {
        "all" => ALL.iter().map(|(tokenizer, ..)| *tokenizer).collect(),
        name => vec![name.parse()?],
    };
    let mut printer = Printer {
        width: if let [_] = tokenizers[..] { None } else { tokenizers.iter().map(|t| t.name().len()).max() },
        tokenizers,
        format: args.format,
        end: if args.null { 0 } else { b'\n' },
        scratch: Scratch::default(),
        pieces: Vec::new(),
    };
    if !args.texts.is_empty() {
        return output.write(|out| args.texts.iter().try_for_each(|text| printer.print(text, out)));
    }
    match args.file.as_deref() {
        None | Some(input::STDIN) => {
            let mut stdin = BufReader::with_capacity(1 << 16, io::stdin().lock());
            each(&mut stdin, "standard input", &mut printer, output)
        }
        Some(path) => each(&mut input::open(path)?.as_ref(), path, &mut printer, output),
    }
}

/// Tokenises text after text.
fn each(reader: &mut impl BufRead, name: &str, printer: &mut Printer, output: Output) -> Result<()> {
    let mut damaged = None;
    let mut number = 0_u64;
    output.write(|out| {
        let mut line = Vec::new();
        while reader.read_until(printer.end, &mut line)? > 0 {
            number += 1;
            line.pop_if(|last| *last == printer.end);
            match std::str::from_utf8(&line) {
                Ok(text) => printer.print(text, out)?,
                Err(_) => {
                    damaged = Some(number);
                    break;
                }
            }
            line.clear();
        }
        Ok(())
    })?;
    if let Some(number) = damaged {
        bail!("{name}: text {number} is not UTF-8; save the file as UTF-8");
    }
    Ok(())
}

struct Printer {
    tokenizers: Vec<Tokenizer>,
    /// The longest name where names are printed.
    width: Option<usize>,
    format: Format,
    end: u8,
    scratch: Scratch,
    pieces: Vec<String>,
}

impl Printer {
    fn print(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        for tokenizer in &self.tokenizers {
            self.pieces.clear();
            tokenizer.tokenize(text, &mut self.scratch, |piece| self.pieces.push(piece.to_owned()));
            if let Some(width) = self.width {
                write!(out, "{tokenizer:width$}  ", tokenizer = tokenizer.name())?;
            }
            match self.format {
                Format::Line => out.write_all(self.pieces.join(" ").as_bytes())?,
                Format::Json => serde_json::to_writer(&mut *out, &self.pieces)?,
            }
            out.write_all(&[self.end])?;
        }
        Ok(())
    }
}

fn list(out: &mut dyn Write) -> io::Result<()> {
    let width = ALL.iter().map(|(_, name, _)| name.len()).max().unwrap_or(0);
    ALL.iter().try_for_each(|(_, name, summary)| writeln!(out, "{name:width$}  {summary}"))
}
