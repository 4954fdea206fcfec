//! Probabilities that some model gave to each token of its captions, as JSON Lines or Parquet.
//!
//! One object per segment, with its id and one of three keys:
//!
//! ```json
//! {"id": 391895, "probs": [0.6, 0.8, 0.3], "end": 0.5}
//! {"id": "b", "logprobs": [-0.51, -0.22, -1.2, -0.69], "tokens": ["a", "man", "</s>"]}
//! ```
//!
//! `probs` are probabilities, `logprobs` (or `token_logprobs`) logarithms of the [`Base`] that the caller
//! names, `id` may be called `image_id`. A Parquet file has columns of these names. The end of the
//! segment is the number under `end`, or the last one if `tokens` ends with one of [`END_TOKENS`]; other
//! keys are passed over. `-Infinity`, which Python writes though JSON does not know it, is the logarithm of 0.
//! A token without a number (`null`, as some models give for the first one) is not
//! counted.

use std::io::{BufRead, BufReader, Read};

use capeval_choice::{Argument, Remedy};
use capeval_metric::Remark;
use serde::Deserialize;

use crate::{EndSymbol, Error, Perplexity};

/// Tokens that are known to end a segment.
pub const END_TOKENS: [&str; 7] =
    ["</s>", "<eos>", "[SEP]", "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<end>"];

capeval_choice::named! {
    /// The base of logarithms.
    pub enum Base ("base") {
        E = "e", "e, as most libraries for neural models give them";
        Two = "2", "2: bits";
        Ten = "10", "10, as in ARPA files";
    }
}

impl Base {
    /// Turns a logarithm of this base into one of base 2.
    pub fn to_log2(self, log: f64) -> f64 {
        match self {
            Self::E => log * std::f64::consts::LOG2_E,
            Self::Two => log,
            Self::Ten => log * std::f64::consts::LOG2_10,
        }
    }
}

/// What a model thought of one segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The segment's id as it stands in the file: a number or a string.
    pub id: String,
    /// Base-2 logarithms of the probabilities of its tokens.
    pub log2: Vec<f64>,
    /// The same for the symbol that ends it, if the file says.
    pub end: Option<f64>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(alias = "image_id")]
    id: serde_json::Value,
    probs: Option<Vec<Option<f64>>>,
    #[serde(alias = "token_logprobs")]
    logprobs: Option<Vec<Option<f64>>>,
    tokens: Option<Vec<String>>,
    end: Option<f64>,
}

/// What a record says beside its id.
pub(crate) struct Fields {
    pub(crate) probs: Option<Vec<Option<f64>>>,
    pub(crate) logprobs: Option<Vec<Option<f64>>>,
    pub(crate) tokens: Option<Vec<String>>,
    pub(crate) end: Option<f64>,
}

/// Reads one record per line; empty lines are passed over.
///
/// # Errors
/// When a line is no such object, a probability is not from 0 to 1, a logarithm is above 0 or not a
/// number, or the numbers of tokens and of numbers differ.
pub fn read(source: impl Read, base: Base) -> Result<Vec<Record>, Error> {
    let mut records = Vec::new();
    let mut source = BufReader::new(source);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if source.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let text = std::str::from_utf8(&line).map_err(|_| Error::on(number, "this is no UTF-8"))?;
        let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        if !text.trim().is_empty() {
            let record = parse(text, base).map_err(|message| {
                let error = Error::on(number, message);
                // A file of something else fails at once.
                let is_first = records.is_empty();
                if is_first { error.with_remedy(score_captions()) } else { error }
            });
            records.push(record?);
        }
    }
    Ok(records)
}

/// A logarithm that stands for that of 0.
const LOG_OF_ZERO: f64 = -1e308;

fn parse(line: &str, base: Base) -> Result<Record, String> {
    let parsed = match serde_json::from_str(line) {
        Err(_) if line.contains("-Infinity") => serde_json::from_str(&line.replace("-Infinity", "-1e308")),
        parsed => parsed,
    };
    let Line { id, probs, logprobs, tokens, end } =
        parsed.map_err(|e| format!("no object with 'id' and 'probs' or 'logprobs': {e}"))?;
    let id = match id {
        serde_json::Value::String(id) => id,
        serde_json::Value::Number(id) => id.to_string(),
        other => return Err(format!("{other} is no id; give a number or a string")),
    };
    record(id, Fields { probs, logprobs, tokens, end }, base)
}

/// What to do about a file of captions.
fn score_captions() -> Remedy {
    Remedy::give(Argument::LanguageModel).to("score captions")
}

/// The record of one segment.
pub(crate) fn record(id: String, fields: Fields, base: Base) -> Result<Record, String> {
    let Fields { probs, logprobs, tokens, end } = fields;
    let are_logs = logprobs.is_some();
    let log2 = |number: f64| match are_logs {
        false if (0.0..=1.0).contains(&number) => Ok(number.log2()),
        false => {
            Err(format!("segment {id}: {number} is no probability; if it is a logarithm, write 'logprobs'"))
        }
        true if number <= LOG_OF_ZERO => Ok(f64::NEG_INFINITY),
        true if number <= 0.0 => Ok(base.to_log2(number)),
        true => Err(format!("segment {id}: {number} is no logarithm of a probability, for it is above 0")),
    };
    let numbers = match (probs, logprobs) {
        (Some(numbers), None) | (None, Some(numbers)) => numbers,
        (None, None) => return Err(format!("segment {id} has neither 'probs' nor 'logprobs'")),
        (Some(_), Some(_)) => return Err(format!("segment {id} has both 'probs' and 'logprobs'; keep one")),
    };
    if let Some(tokens) = &tokens
        && tokens.len() != numbers.len()
    {
        let (n, m) = (tokens.len(), numbers.len());
        return Err(format!("segment {id} has {n} tokens but {m} numbers"));
    }
    let ends = |token: &String| END_TOKENS.contains(&token.as_str());
    let last_ends = end.is_none() && tokens.as_ref().and_then(|tokens| tokens.last()).is_some_and(ends);
    let (numbers, last) = match numbers.split_last() {
        Some((last, numbers)) if last_ends => (numbers, *last),
        _ => (&numbers[..], end),
    };
    let end = last.map(log2).transpose()?;
    let log2 = numbers.iter().flatten().map(|number| log2(*number)).collect::<Result<_, _>>()?;
    Ok(Record { id, log2, end })
}

impl Record {
    /// Bits and tokens of the segment.
    pub fn perplexity(&self, end: EndSymbol) -> Perplexity {
        let mut perplexity = Perplexity::default();
        let end = self.end.filter(|_| end == EndSymbol::Counted);
        self.log2.iter().copied().chain(end).for_each(|log2| perplexity.add(log2));
        perplexity
    }
}

/// What a reader of the perplexities of these records should know: which of them hold a token of
/// probability zero or none at all, and whether ends were to be counted that the file does not give.
pub fn remarks(records: &[Record], end: EndSymbol) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let infinite: Vec<&str> = records
        .iter()
        .filter(|record| record.perplexity(end).bits.is_infinite())
        .map(|record| record.id.as_str())
        .collect();
    if let Some(first) = infinite.first() {
        let others = match infinite.len() {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        remarks.push(Remark::new("zero-probability", format!(
                "a token of segment {first}{others} has probability 0, or one too small to tell from it, so the \
                 perplexity is infinite"
            )));
    }
    let bare: Vec<&str> = records
        .iter()
        .filter(|record| record.perplexity(end).tokens == 0.0)
        .map(|record| record.id.as_str())
        .collect();
    if let Some(first) = bare.first() {
        remarks.push(Remark::new("no-tokens", format!(
                "{} of {} segments have no token that counts, the first being {first}; a perplexity of 1 says nothing \
                 there",
                bare.len(),
                records.len()
            )));
    }
    let without = records.iter().filter(|record| record.end.is_none()).count();
    if end == EndSymbol::Counted && without > 0 {
        remarks.push(Remark::new(
            "no-end-symbol",
            format!(
                "{without} of {} segments give no probability of their end, so it is not counted there",
                records.len()
            ),
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str, base: Base) -> Record {
        read(line.as_bytes(), base).unwrap().remove(0)
    }

    #[test]
    fn the_worked_example_holds_for_probabilities_and_for_every_base() {
        let probabilities = [0.6_f64, 0.8, 0.3, 0.4, 0.3, 0.5, 0.6];
        let line = format!(r#"{{"id": 7, "probs": {probabilities:?}}}"#);
        let mut records = vec![one(&line, Base::E)];
        for (base, log) in
            [(Base::E, f64::ln as fn(f64) -> f64), (Base::Two, f64::log2), (Base::Ten, f64::log10)]
        {
            let line = format!(r#"{{"id": "x", "logprobs": {:?}}}"#, probabilities.map(log));
            records.push(one(&line, base));
        }
        for record in records {
            let value = record.perplexity(EndSymbol::Omitted).value();
            assert_eq!(format!("{value:.2}"), "2.12");
        }
    }

    #[test]
    fn the_end_symbol_counts_only_when_asked_for() {
        let by_key = one(r#"{"id": 1, "probs": [0.5, 0.5], "end": 0.125}"#, Base::E);
        let by_token = one(r#"{"id": 1, "probs": [0.5, 0.5, 0.125], "tokens": ["a", "b", "</s>"]}"#, Base::E);
        assert_eq!(by_key, by_token);
        assert_eq!(by_key.perplexity(EndSymbol::Omitted).value(), 2.0);
        assert_eq!(by_key.perplexity(EndSymbol::Counted).bits, 5.0);
    }

    #[test]
    fn a_zero_probability_is_noticed_with_its_segment() {
        let records =
            read("{\"id\":1,\"probs\":[1]}\n\n{\"id\":\"b\",\"probs\":[0.0, 0.5]}\n".as_bytes(), Base::E)
                .unwrap();
        assert_eq!(records[1].perplexity(EndSymbol::Omitted).value(), f64::INFINITY);
        let remarks = remarks(&records, EndSymbol::Omitted);
        assert_eq!(remarks.len(), 1);
        assert!(remarks[0].message.contains("segment b has probability 0"), "{}", remarks[0].message);
    }

    #[test]
    fn a_corpus_divides_total_bits_by_total_tokens() {
        let records = [
            one(r#"{"id":1,"probs":[0.5]}"#, Base::E),
            one(r#"{"id":2,"probs":[0.125,0.125,0.125]}"#, Base::E),
        ];
        let mut total = Perplexity::default();
        for perplexity in records.map(|record| record.perplexity(EndSymbol::Omitted)) {
            total.bits += perplexity.bits;
            total.tokens += perplexity.tokens;
        }
        assert_eq!(total.value(), f64::exp2(2.5));
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        for (text, expected) in [
            (
                "{\"id\":1,\"probs\":[1]}\n{\"id\":1,\"probs\":[1.5]}",
                "line 2: segment 1: 1.5 is no probability",
            ),
            ("{\"id\":1,\"logprobs\":[0.1]}", "line 1: segment 1: 0.1 is no logarithm"),
            ("{\"id\":1}", "line 1: segment 1 has neither"),
            ("{\"id\":null,\"probs\":[]}", "line 1: null is no id"),
            ("{\"id\":1,\"probs\":[1],\"tokens\":[]}", "line 1: segment 1 has 0 tokens but 1 numbers"),
            ("x", "line 1: no object"),
        ] {
            let error = read(text.as_bytes(), Base::E).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn minus_infinity_as_python_writes_it_is_the_logarithm_of_zero() {
        let record = one(r#"{"id":1,"logprobs":[-1.0,-Infinity]}"#, Base::E);
        assert_eq!(record.perplexity(EndSymbol::Omitted).value(), f64::INFINITY);
    }

    #[test]
    fn tokens_without_a_number_are_not_counted() {
        let record = one(r#"{"id":1,"logprobs":[null,-1.0]}"#, Base::Two);
        assert_eq!(record.perplexity(EndSymbol::Omitted).value(), 2.0);
    }
}
