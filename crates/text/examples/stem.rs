//! Stems the words on standard input, one per line: `stem NAME < words > stems`.

use std::io::{self, BufRead, Write};

use capeval_text::Stemmer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("usage: stem NAME < words")?;
    let stemmer = name.parse::<Stemmer>()?;
    let mut output = io::BufWriter::new(io::stdout().lock());
    for word in io::stdin().lock().lines() {
        writeln!(output, "{}", stemmer.stem(&word?))?;
    }
    Ok(output.flush()?)
}
