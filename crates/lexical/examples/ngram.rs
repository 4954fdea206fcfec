//! Estimates n-gram models and scores text by them, for comparisons with KenLM.
//!
//! `ngram estimate ORDER [fallback]` reads captions, one per line, and writes an ARPA file;
//! `ngram score MODEL` reads captions and writes for each the base-10 logarithm of its probability, its
//! tokens and how many of them are unknown. Words are what white space separates.

use std::io::{BufRead, BufWriter, Write};

use capeval_lexical::fluency::NgramModel;
use capeval_lexical::fluency::ngram::{Estimate, FALLBACK_DISCOUNTS};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut output = BufWriter::new(std::io::stdout().lock());
    let lines = std::io::stdin().lock().lines();
    match arguments[..] {
        ["estimate", order, ref rest @ ..] => {
            let mut estimate = Estimate::new(order.parse()?).ok_or("the order is out of range")?;
            for line in lines {
                estimate.add(line?.split_ascii_whitespace());
            }
            let fallback = rest.first().map(|_| FALLBACK_DISCOUNTS);
            estimate.finish(fallback)?.0.write_arpa(output)?;
        }
        ["score", path] => {
            let model = NgramModel::read_arpa(std::fs::File::open(path)?)?;
            for line in lines {
                let line = line?;
                let mut context = model.start();
                let (mut log10, mut tokens, mut unknown) = (0.0, 0, 0);
                let words = line.split_ascii_whitespace().map(|word| model.word(word));
                for word in words.chain([model.end()]) {
                    log10 += model.log10(&mut context, word);
                    tokens += 1;
                    unknown += u32::from(word == model.unknown());
                }
                writeln!(output, "{log10}\t{tokens}\t{unknown}")?;
            }
        }
        _ => return Err("usage: ngram estimate ORDER [fallback] | ngram score MODEL".into()),
    }
    Ok(())
}
