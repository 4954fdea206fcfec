//! Writes tables in other formats: as a pickle for Python programs, or as JSON.

use std::io::{self, BufWriter, Write};

use super::DocumentFrequencies;

/// The number of items that a pickle sets at once, as in pickles by Python.
const BATCH: usize = 1000;

capeval_choice::named! {
    /// A format in which tables are written.
    #[derive(Default)]
    pub enum TableFormat ("format of tables") {
        #[default]
        Capeval = "capeval", "capeval's own format";
        Pickle = "pickle", "a pickle for Python programs: {'document_frequency': …, 'ref_len': …}";
        Json = "json", "JSON, one n-gram per line";
    }
}

impl DocumentFrequencies {
    /// Writes the table in this format.
    pub fn write(&self, format: TableFormat, writer: impl Write) -> io::Result<()> {
        match format {
            TableFormat::Capeval => self.save(writer),
            TableFormat::Pickle => self.write_pickle(writer),
            TableFormat::Json => self.write_json(writer),
        }
    }

    /// Writes the table as a pickle of protocol 2, which Python 2.3 and later read.
    ///
    /// It is `{'document_frequency': defaultdict(float, {tuple of words: frequency}), 'ref_len': images}`,
    /// as self-critical training programs expect.
    pub fn write_pickle(&self, writer: impl Write) -> io::Result<()> {
        let mut out = BufWriter::new(writer);
        // PROTO 2, EMPTY_DICT, the two keys, and defaultdict(float), called.
        out.write_all(b"\x80\x02}(")?;
        write_text(&mut out, "document_frequency")?;
        out.write_all(b"ccollections\ndefaultdict\nc__builtin__\nfloat\n\x85R")?;
        // A word is written once and then read from the memo, which is numbered in order of first appearance.
        let mut memo: Vec<Option<u32>> = vec![None; self.n_words()];
        let mut next = 0;
        let mut in_batch = 0;
        let mut written = Ok(());
        self.for_each(|ngram, frequency| {
            if written.is_ok() {
                written = self.write_item(&mut out, ngram, frequency, &mut memo, &mut next, &mut in_batch);
            }
        });
        written?;
        if in_batch > 0 {
            out.write_all(b"u")?;
        }
        write_text(&mut out, "ref_len")?;
        match i32::try_from(self.n_images()) {
            // BININT
            Ok(n) => {
                out.write_all(b"J")?;
                out.write_all(&n.to_le_bytes())?;
            }
            // LONG1 of eight bytes, enough for the 53 bits that a table allows.
            Err(_) => {
                out.write_all(b"\x8a\x08")?;
                out.write_all(&self.n_images().to_le_bytes())?;
            }
        }
        out.write_all(b"u.")?;
        out.flush()
    }

    fn write_item(
        &self,
        out: &mut impl Write,
        ngram: &[u32],
        frequency: u32,
        memo: &mut [Option<u32>],
        next: &mut u32,
        in_batch: &mut usize,
    ) -> io::Result<()> {
        if *in_batch == BATCH {
            out.write_all(b"u")?;
            *in_batch = 0;
        }
        if *in_batch == 0 {
            out.write_all(b"(")?;
        }
        *in_batch += 1;
        out.write_all(b"(")?;
        for word in ngram {
            match memo.get_mut(*word as usize) {
                Some(Some(place)) => {
                    out.write_all(b"j")?;
                    out.write_all(&place.to_le_bytes())?;
                }
                slot => {
                    write_text(out, self.word(*word))?;
                    out.write_all(b"r")?;
                    out.write_all(&next.to_le_bytes())?;
                    if let Some(slot) = slot {
                        *slot = Some(*next);
                    }
                    *next += 1;
                }
            }
        }
        out.write_all(b"tG")?;
        out.write_all(&f64::from(frequency).to_be_bytes())
    }

    /// Writes the table as JSON: `{"n_images": N, "order": n, "document_frequency": [[["a", "dog"], 12], …]}`,
    /// one n-gram per line.
    pub fn write_json(&self, writer: impl Write) -> io::Result<()> {
        let mut out = BufWriter::new(writer);
        write!(
            out,
            "{{\"n_images\": {}, \"order\": {}, \"document_frequency\": [",
            self.n_images(),
            self.order()
        )?;
        let mut separator = "\n";
        let mut written = Ok(());
        self.for_each(|ngram, frequency| {
            if written.is_ok() {
                written = self.write_json_item(&mut out, ngram, frequency, separator);
                separator = ",\n";
            }
        });
        written?;
        out.write_all(b"\n]}\n")?;
        out.flush()
    }

    fn write_json_item(
        &self,
        out: &mut impl Write,
        ngram: &[u32],
        frequency: u32,
        separator: &str,
    ) -> io::Result<()> {
        write!(out, "{separator}[[")?;
        for (k, word) in ngram.iter().enumerate() {
            out.write_all(if k == 0 { b"\"" } else { b", \"" })?;
            for c in self.word(*word).chars() {
                match c {
                    '"' | '\\' => write!(out, "\\{c}")?,
                    '\0'..='\u{1f}' | '\u{7f}' | '\u{2028}' | '\u{2029}' => {
                        write!(out, "\\u{:04x}", c as u32)?;
                    }
                    _ => write!(out, "{c}")?,
                }
            }
            out.write_all(b"\"")?;
        }
        write!(out, "], {frequency}]")
    }
}

/// Writes a text with its length in 32 bits; words have less than 4 GiB in total.
fn write_text(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(b"X")?;
    out.write_all(&(text.len() as u32).to_le_bytes())?;
    out.write_all(text.as_bytes())
}
