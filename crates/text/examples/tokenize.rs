//! Reads texts, one a line, and writes their tokens joined by blanks: `tokenize [NAME] [--next]`.
//!
//! With `--next`, the `ptb` tokenizers see what follows each text, as the Java program does in a file.

use std::io::{self, BufWriter, Read, Write};

use capeval_text::tokenizers::ptb;
use capeval_text::{Scratch, Tokenizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let tokenizer: Tokenizer = arguments.next().unwrap_or_else(|| "ptb".to_owned()).parse()?;
    let see_next = arguments.next().is_some_and(|flag| flag == "--next");
    let mut input = String::new();
    io::stdin().lock().read_to_string(&mut input)?;
    let mut scratch = Scratch::default();
    let mut output = BufWriter::new(io::stdout().lock());
    let mut line = String::new();
    let mut rest = input.as_str();
    while !rest.is_empty() {
        let (text, next) = rest.split_once('\n').map_or((rest, None), |(text, next)| (text, Some(next)));
        rest = next.unwrap_or_default();
        line.clear();
        let piece = |token: &str| {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(token);
        };
        match tokenizer {
            Tokenizer::Ptb if see_next => ptb::tokenize_before(text, next, &mut scratch, piece),
            Tokenizer::PtbRaw if see_next => ptb::lex_before(text, next, &mut scratch, piece),
            _ => tokenizer.tokenize(text, &mut scratch, piece),
        }
        writeln!(output, "{line}")?;
    }
    Ok(())
}
