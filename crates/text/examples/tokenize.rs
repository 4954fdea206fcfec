//! Tokenises the lines of standard input: `tokenize NAME < lines > pieces`.
//!
//! Each line becomes one line of pieces, joined by single blanks. With `-0` after the name, texts end with
//! a NUL byte instead of a line feed, in the input and in the output, so that they may hold line breaks.

use std::io::{self, BufRead, Write};

use capeval_text::{Scratch, Tokenizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let tokenizer: Tokenizer = arguments.next().ok_or("usage: tokenize NAME [-0] < lines")?.parse()?;
    let end = if arguments.next().as_deref() == Some("-0") { 0 } else { b'\n' };
    let mut input = io::stdin().lock();
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut scratch = Scratch::default();
    let mut line = Vec::new();
    let mut joined = String::new();
    while input.read_until(end, &mut line)? > 0 {
        line.pop_if(|last| *last == end);
        joined.clear();
        let mut first = true;
        tokenizer.tokenize(&String::from_utf8_lossy(&line), &mut scratch, |piece| {
            if !first {
                joined.push(' ');
            }
            first = false;
            joined.push_str(piece);
        });
        output.write_all(joined.as_bytes())?;
        output.write_all(&[end])?;
        line.clear();
    }
    Ok(output.flush()?)
}
