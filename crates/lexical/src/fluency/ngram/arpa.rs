//! Reads and writes models as ARPA files.
//!
//! ```text
//! \data\
//! ngram 1=4
//! ngram 2=2
//!
//! \1-grams:
//! -0.60206   a     -0.30103
//! ...
//! \end\
//! ```
//!
//! Fields are separated by tabs or spaces; the backoff weight may be missing. Quirks of KenLM are kept on purpose: a
//! positive logarithm is an error, and so is a model without `<s>` or `</s>`; a model without `<unk>` is valid, and
//! unknown words then have the logarithm −100; `<UNK>` is the same word as `<unk>`.

use std::io::{self, BufRead, BufReader, Read, Write};

use capeval_choice::{Refusal, system_words};

use super::{END, MAX_ORDER, NONE, NgramModel, START, UNKNOWN};

impl NgramModel {
    /// Reads an ARPA file.
    ///
    /// # Errors
    /// When the file does not have this format, contains a probability above 1, does not contain as many n-grams as it
    /// announces, lacks `<s>` or `</s>`, or has n-grams longer than [`MAX_ORDER`].
    pub fn read_arpa(source: impl Read) -> Result<Self, Refusal> {
        let mut lines = Lines { source: BufReader::new(source), number: 0, buffer: Vec::new() };
        let absent = || Refusal::new("this is not an ARPA file: it has no line '\\data\\'");
        while lines.next()?.ok_or_else(absent)?.1 != "\\data\\" {}
        let mut announced: Vec<usize> = Vec::new();
        let mut heading = loop {
            let (number, line) = lines.required()?;
            let Some(rest) = line.strip_prefix("ngram ") else { break (number, line.to_owned()) };
            let count = rest.split_once('=').and_then(|(order, count)| {
                let order: usize = order.trim().parse().ok()?;
                if order == announced.len() + 1 { count.trim().parse().ok() } else { None }
            });
            announced.push(count.ok_or_else(|| {
                let expected = announced.len() + 1;
                refusal_on(number, format!("expected 'ngram {expected}=COUNT', found '{rest}'"))
            })?);
        };
        if announced.is_empty() || announced.len() > MAX_ORDER {
            let n = announced.len();
            let message = format!("the file announces n-grams of {n} lengths; 1 to {MAX_ORDER} can be read");
            return Err(refusal_on(heading.0, message));
        }
        let mut model = Self::empty(announced.len());
        for (order, expected) in (1..).zip(&announced) {
            if heading.1 != format!("\\{order}-grams:") {
                let message = format!("expected '\\{order}-grams:', found '{}'", heading.1);
                return Err(refusal_on(heading.0, message));
            }
            let mut n_read = 0;
            heading = loop {
                let (number, line) = lines.required()?;
                if line.starts_with('\\') {
                    break (number, line.to_owned());
                }
                model.add(order, line).map_err(|message| refusal_on(number, message))?;
                n_read += 1;
            };
            if n_read != *expected {
                let message = format!(
                    "the file announces {expected} {order}-grams but holds {n_read}; it may be cut off"
                );
                return Err(refusal_on(heading.0, message));
            }
        }
        if heading.1 != "\\end\\" {
            return Err(refusal_on(heading.0, format!("expected '\\end\\', found '{}'", heading.1)));
        }
        for (word, mark) in [(model.start, START), (model.end, END)] {
            if model.find(NONE, word.0).is_none() {
                return Err(Refusal::new(format!(
                    "the model has no word '{mark}', so it cannot score segments"
                )));
            }
        }
        Ok(model)
    }

    /// Adds the n-gram of one line.
    fn add(&mut self, order: usize, line: &str) -> Result<(), String> {
        let mut fields = line.split([' ', '\t', '\r']).filter(|field| !field.is_empty());
        let number = |field: &str, what: &str| match field.parse::<f64>() {
            Ok(number) if !number.is_nan() => Ok(number),
            _ => Err(format!("expected {what}, found '{field}'")),
        };
        let log10 = number(fields.next().unwrap_or_default(), "a base-10 logarithm")?;
        if log10 > 0.0 {
            return Err(format!("the logarithm {log10} is above 0, so this is not a probability"));
        }
        let mut ngram = NONE;
        for k in 0..order {
            let word = fields.next().ok_or_else(|| format!("expected {order} words, found {k}"))?;
            let word = if word == "<UNK>" { UNKNOWN } else { word };
            let word = self.vocabulary.intern(word).number();
            ngram = self.intern(ngram, word);
        }
        let backoff = fields.next().map_or(Ok(0.0), |field| number(field, "a backoff weight"))?;
        if !(backoff as f32).is_finite() {
            return Err(format!("the backoff weight {backoff} is too large"));
        }
        if let Some(rest) = fields.next() {
            return Err(format!("expected the end of the line after a {order}-gram, found '{rest}'"));
        }
        let ngram = &mut self.ngrams[ngram as usize];
        if !ngram.log10.is_nan() {
            return Err(format!("the {order}-gram stands here for the second time"));
        }
        (ngram.log10, ngram.backoff) = (log10, backoff);
        Ok(())
    }

    /// Writes an ARPA file, with 32-bit numbers as KenLM does.
    pub fn write_arpa(&self, mut target: impl Write) -> io::Result<()> {
        writeln!(target, "\\data\\")?;
        for (order, count) in (1..).zip(self.n_ngrams()) {
            writeln!(target, "ngram {order}={count}")?;
        }
        let words: Vec<&str> = self.vocabulary.iter().map(|(_, word)| word).collect();
        for order in 1..=self.order {
            writeln!(target, "\n\\{order}-grams:")?;
            for (k, ngram) in self.ngrams.iter().enumerate() {
                if ngram.length as usize != order || ngram.log10.is_nan() {
                    continue;
                }
                write!(target, "{}", ngram.log10 as f32)?;
                let mut spelt = [NONE; MAX_ORDER];
                let mut at = k as u32;
                for slot in spelt[..order].iter_mut().rev() {
                    let part = self.ngrams[at as usize];
                    (*slot, at) = (part.word, part.prefix);
                }
                for (position, word) in spelt[..order].iter().enumerate() {
                    let word = words.get(*word as usize).copied().unwrap_or_default();
                    write!(target, "{}{word}", if position == 0 { '\t' } else { ' ' })?;
                }
                if order < self.order {
                    write!(target, "\t{}", ngram.backoff as f32)?;
                }
                writeln!(target)?;
            }
        }
        writeln!(target, "\n\\end\\")?;
        target.flush()
    }
}

/// The refusal of a line.
fn refusal_on(number: u64, message: impl Into<String>) -> Refusal {
    Refusal::new(message).at(format_args!("line {number}"))
}

struct Lines<R> {
    source: BufReader<R>,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// The next line and its number, without white space at its ends; `None` after the last line.
    fn next(&mut self) -> Result<Option<(u64, &str)>, Refusal> {
        self.buffer.clear();
        let read = self.source.read_until(b'\n', &mut self.buffer);
        if read.map_err(|cause| format!("could not be read: {}", system_words(&cause)))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line =
            std::str::from_utf8(&self.buffer).map_err(|_| refusal_on(self.number, "this is no UTF-8"))?;
        Ok(Some((self.number, line.trim_matches([' ', '\t', '\r', '\n']))))
    }

    /// The next line that is not empty.
    fn required(&mut self) -> Result<(u64, &str), Refusal> {
        while self.next()?.is_some_and(|(_, line)| line.is_empty()) {}
        if self.buffer.is_empty() {
            return Err(refusal_on(self.number, "the file ends here, before '\\end\\'"));
        }
        let line = std::str::from_utf8(&self.buffer).unwrap_or_default();
        Ok((self.number, line.trim_matches([' ', '\t', '\r', '\n'])))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hand-made: two words, one pair, and a model whose numbers are easy to add.
    const SMALL: &str = "\\data\\\nngram 1=5\nngram 2=4\nngram 3=1\n\n\\1-grams:\n\
        -1\t<unk>\n-99\t<s>\t-0.5\n-0.75\t</s>\n-0.5\ta\t-0.25\n-0.625\tb\t-0.125\n\n\
        \\2-grams:\n-0.25\t<s> a\t-0.0625\n-0.375\ta b\t-0.03125\n-0.3\tb </s>\n-0.7\ta a\n\n\
        \\3-grams:\n-0.125\t<s> a b\n\n\\end\\\n";

    fn log10s(model: &NgramModel, text: &str) -> Vec<f64> {
        let mut context = model.start();
        let words = text.split(' ').filter(|word| !word.is_empty()).map(|word| model.word(word));
        words.chain([model.end()]).map(|word| model.log10(&mut context, word)).collect()
    }

    #[test]
    fn the_system_is_quoted_without_its_numbers() {
        struct Folder;
        impl Read for Folder {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(21))
            }
        }
        let error = NgramModel::read_arpa(Folder).err().map(|refusal| refusal.to_string());
        assert_eq!(error.as_deref(), Some("could not be read: is a directory"));
    }

    #[test]
    fn the_longest_n_gram_counts_and_longer_contexts_weigh() {
        let model = NgramModel::read_arpa(SMALL.as_bytes()).unwrap();
        assert_eq!(model.n_ngrams(), [5, 4, 1]);
        // <s> a | <s> a b | b </s> after the context "a b".
        assert_eq!(log10s(&model, "a b"), [-0.25, -0.125, -0.03125 - 0.3]);
        // b after <s>; </s> after b, for "<s> b" is not a context.
        assert_eq!(log10s(&model, "b"), [-0.5 - 0.625, -0.3]);
        // a after "<s> a", then </s> after "a a", which has no backoff weight, and after a.
        assert_eq!(log10s(&model, "a a"), [-0.25, -0.0625 - 0.7, -0.25 - 0.75]);
    }

    #[test]
    fn a_word_outside_the_vocabulary_is_the_unknown_word() {
        let model = NgramModel::read_arpa(SMALL.as_bytes()).unwrap();
        assert_eq!(log10s(&model, "a zebra"), [-0.25, -0.0625 - 0.25 - 1.0, -0.75]);
        assert_eq!(model.word("<s>"), model.unknown());
    }

    #[test]
    fn without_the_unknown_word_unknown_words_get_minus_hundred() {
        let text = SMALL.replace("-1\t<unk>\n", "").replace("1=5", "1=4");
        let model = NgramModel::read_arpa(text.as_bytes()).unwrap();
        assert_eq!(log10s(&model, "zebra"), [-0.5 - 100.0, -0.75]);
        let upper = NgramModel::read_arpa(SMALL.replace("<unk>", "<UNK>").as_bytes()).unwrap();
        assert_eq!(log10s(&upper, "zebra")[0], -1.5);
    }

    #[test]
    fn what_is_written_reads_back() {
        let model = NgramModel::read_arpa(SMALL.as_bytes()).unwrap();
        let mut written = Vec::new();
        model.write_arpa(&mut written).unwrap();
        let again = NgramModel::read_arpa(&written[..]).unwrap();
        for text in ["a b", "b a zebra", "", "a a a b b"] {
            for (a, b) in log10s(&model, text).iter().zip(log10s(&again, text)) {
                assert!((a - b).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn errors_name_the_line_and_what_is_wrong() {
        for (from, to, expected) in [
            ("\\data\\", "data", "this is not an ARPA file: it has no line '\\data\\'"),
            ("ngram 2", "ngram 3", "line 3: expected 'ngram 2=COUNT'"),
            ("1=5", "1=6", "line 13: the file announces 6 1-grams but holds 5"),
            ("-0.5\ta", "0.5\ta", "line 10: the logarithm 0.5 is above 0"),
            ("-0.5\ta", "x\ta", "line 10: expected a base-10 logarithm, found 'x'"),
            ("\ta b\t", "\ta b c\t", "line 15: expected a backoff weight, found 'c'"),
            ("b </s>\n", "b </s>\t0\t0\n", "line 16: expected the end of the line after a 2-gram"),
            ("\ta b", "\t<s> a", "line 15: the 2-gram stands here for the second time"),
            ("\\end\\", "", "line 22: the file ends here"),
            ("</s>", "x", "the model has no word '</s>'"),
            ("\\2-grams:", "\\4-grams:", "line 13: expected '\\2-grams:'"),
        ] {
            let text = SMALL.replacen(from, to, if from == "</s>" { 2 } else { 1 });
            let error = NgramModel::read_arpa(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(
            cut in 0..SMALL.len(),
            bytes in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut text = SMALL.as_bytes().to_vec();
            text.splice(cut..(cut + bytes.len() / 2).min(text.len()), bytes);
            let _ = NgramModel::read_arpa(&text[..]);
        }
    }
}
