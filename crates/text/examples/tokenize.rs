//! Tokenises the lines of standard input: `tokenize NAME [--next | -0] < lines > pieces`.
//!
//! Each input line produces one output line with its pieces separated by single spaces. With `--next`, a
//! tokenizer that looks at the following lines is given them. With `-0`, a NUL byte instead of a line
//! feed ends each text, both in the input and in the output, so that texts can contain line breaks.

use std::io::{self, BufWriter, Read, Write};

use capeval_text::{Following, Scratch, Tokenizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("usage: tokenize NAME [--next | -0] < lines")?;
    let tokenizer: Tokenizer = name.parse()?;
    let flag = arguments.next();
    let sees_next = flag.as_deref() == Some("--next");
    let end = if flag.as_deref() == Some("-0") { '\0' } else { '\n' };
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let input = String::from_utf8_lossy(&input);
    let mut output = BufWriter::new(io::stdout().lock());
    let mut scratch = Scratch::default();
    let mut joined = String::new();
    let mut lines = input.split_terminator(end);
    while let Some(text) = lines.next() {
        joined.clear();
        let mut separator = "";
        let following = || -> Following<'_> { Box::new(lines.clone().filter(|_| sees_next)) };
        tokenizer.tokenize_before(text, &following, &mut scratch, |piece| {
            joined.push_str(separator);
            joined.push_str(piece);
            separator = " ";
        });
        write!(output, "{joined}{end}")?;
    }
    Ok(output.flush()?)
}
