//! Prepared references: read, tokenised and stored once, for many runs.
//!
//! The file contains the texts and words of a [`ReferenceSet`] as they are in memory, and is used without a copy.
//! What metrics remember of references, such as the parses of SPICE, is stored with them.
//!
//! N-grams are not stored: those of the images that a system describes are counted in less time than it takes to read
//! and check them, and most systems describe a part of the images.

use std::io::{self, Write};

use capeval_arrays::{Error, Format, Reader, SharedBytes, Writer};
use capeval_corpus::SegmentId;
use capeval_metric::{Memo, Reading};
use capeval_text::sentences::SentenceParts;
use capeval_text::{Sentences, Texts, Vocabulary};
use serde::{Deserialize, Serialize};

use crate::references::{ReferenceSet, View, is_permutation};

/// The first bytes of a file of prepared references.
pub const MAGIC: [u8; 8] = *b"capevalR";

/// The version of the format; it is raised when the arrays or the output of a tokenizer change.
const VERSION: u32 = 3;

const FORMAT: Format = Format { magic: MAGIC, version: VERSION, noun: "prepared references" };

/// A source file of prepared references, for detecting that they are out of date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The path as given.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// The time of its last modification, in seconds since 1970; 0 if unknown.
    pub modified: u64,
}

/// References with the ids of their images. Cloning opened references is cheap, since their arrays stay in the file.
#[derive(Clone)]
pub struct Prepared {
    /// The ids of the images, in order.
    pub ids: Vec<SegmentId>,
    /// The references.
    pub references: ReferenceSet,
    /// The files that they come from.
    pub sources: Vec<Source>,
}

#[derive(Serialize, Deserialize)]
struct Description {
    capeval: String,
    sources: Vec<Source>,
    /// The readings of the references, each with the length of the longest n-grams that metrics requested, which
    /// nothing reads: a run counts what its own metrics need.
    readings: Vec<(String, usize)>,
    /// The names of memos.
    #[serde(default)]
    memos: Vec<String>,
}

impl Prepared {
    /// Writes the file.
    ///
    /// # Errors
    /// The error of `out`.
    ///
    /// # Panics
    /// When the numbers of ids and images differ.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let Self { ids, references, sources } = self;
        assert_eq!(ids.len(), references.n_images(), "an id for each image");
        let mut writer = Writer::default();
        let names: Vec<String> = ids.iter().map(id_to_text).collect();
        let names: Texts = names.iter().map(String::as_str).collect();
        writer.owned(names.parts().0);
        writer.owned(names.parts().1);
        writer.array(references.texts.parts().0);
        writer.array(references.texts.parts().1);
        writer.array(&references.ends);
        writer.array(&references.order);
        for view in &references.views {
            write_view(view, &mut writer);
        }
        for memo in &*references.memos {
            let (_, captions, notes) = memo.parts();
            for (bytes, ends) in [captions.parts(), notes.parts()] {
                writer.array(bytes);
                writer.array(ends);
            }
        }
        let description = Description {
            capeval: env!("CARGO_PKG_VERSION").to_owned(),
            sources: sources.clone(),
            readings: references
                .views
                .iter()
                .map(|view| (reading_to_text(view.reading), view.order))
                .collect(),
            memos: references.memos.iter().map(|memo| memo.name().to_owned()).collect(),
        };
        let description = serde_json::to_string(&description).map_err(io::Error::other)?;
        writer.write(&FORMAT, &description, out)
    }

    /// Opens the bytes of a file, which must be aligned to 8 bytes, as memory maps are.
    ///
    /// # Errors
    /// When the file has another format or version, is truncated, or damaged.
    pub fn open(bytes: SharedBytes) -> Result<Self, Error> {
        let mut reader = Reader::open(&FORMAT, bytes)?;
        let description: Description =
            serde_json::from_str(reader.description()).map_err(|_| reader.unsound())?;
        let (bytes, ends) = (reader.array()?, reader.array()?);
        let names = Texts::from_parts(bytes, ends).ok_or_else(|| reader.unsound())?;
        let ids = (0..names.len()).map(|k| id_from_text(names.get(k))).collect::<Option<Vec<_>>>();
        let ids = ids.ok_or_else(|| reader.unsound())?;
        let (bytes, text_ends) = (reader.array()?, reader.array()?);
        let texts = Texts::from_parts(bytes, text_ends).ok_or_else(|| reader.unsound())?;
        let ends = reader.array::<u64>()?;
        if ends.len() != ids.len()
            || !ends.is_sorted()
            || ends.last().copied().unwrap_or(0) != texts.len() as u64
        {
            return Err(reader.unsound());
        }
        let order = reader.array::<u32>()?;
        if !order.is_empty() && !is_permutation(&order, ids.len()) {
            return Err(reader.unsound());
        }
        let mut references = ReferenceSet { texts, ends, order, ..ReferenceSet::default() };
        for (reading, _) in &description.readings {
            references.views.push(read_view(reading, &references, &mut reader)?);
        }
        let mut memos = Vec::new();
        for name in description.memos {
            let mut texts = || {
                let (bytes, ends) = (reader.array()?, reader.array()?);
                Texts::from_parts(bytes, ends).ok_or_else(|| reader.unsound())
            };
            let (captions, notes) = (texts()?, texts()?);
            let memo = Memo::from_parts(name, captions, notes).ok_or_else(|| reader.unsound())?;
            memos.push(memo);
        }
        references.memos = memos.into();
        Ok(Self { ids, references, sources: description.sources })
    }
}

fn id_to_text(id: &SegmentId) -> String {
    match id {
        SegmentId::Integer(number) => format!("i{number}"),
        SegmentId::Text(text) => format!("t{text}"),
    }
}

fn id_from_text(text: &str) -> Option<SegmentId> {
    match text.split_at_checked(1)? {
        ("i", number) => number.parse().ok().map(SegmentId::Integer),
        ("t", text) => Some(SegmentId::Text(text.into())),
        _ => None,
    }
}

fn reading_to_text(reading: Reading) -> String {
    match reading {
        Reading::Raw => "raw".to_owned(),
        Reading::Tokens(tokenizer) => tokenizer.to_string(),
        Reading::Lines(tokenizer) => format!("{tokenizer}+lines"),
        Reading::LowerTokens(tokenizer) => format!("{tokenizer}+lower"),
        Reading::Stems(tokenizer, stemmer) => format!("{tokenizer}+{}", stemmer.name()),
    }
}

fn reading_from_text(text: &str) -> Option<Reading> {
    if text == "raw" {
        return Some(Reading::Raw);
    }
    match text.split_once('+') {
        None => text.parse().ok().map(Reading::Tokens),
        Some((tokenizer, "lines")) => tokenizer.parse().ok().map(Reading::Lines),
        Some((tokenizer, "lower")) => tokenizer.parse().ok().map(Reading::LowerTokens),
        Some((tokenizer, stemmer)) => Some(Reading::Stems(tokenizer.parse().ok()?, stemmer.parse().ok()?)),
    }
}

fn write_view<'a>(view: &'a View, writer: &mut Writer<'a>) {
    let (words, word_ends) = view.vocabulary.parts();
    writer.array(words.as_bytes());
    writer.array(word_ends);
    let SentenceParts { symbols, ends, odd, odd_words, odd_ends, open } = view.sentences.parts();
    writer.array(symbols);
    writer.array(ends);
    writer.array(odd);
    writer.array(odd_words);
    writer.array(odd_ends);
    writer.array(open);
}

fn read_view(reading: &str, references: &ReferenceSet, reader: &mut Reader) -> Result<View, Error> {
    let reading = reading_from_text(reading).ok_or_else(|| {
        Error::new(format!("these references are prepared for '{reading}', which this program does not know"))
    })?;
    let (words, word_ends) = (reader.array::<u8>()?, reader.array()?);
    let vocabulary =
        std::str::from_utf8(&words).ok().and_then(|words| Vocabulary::from_parts(words, &word_ends));
    let vocabulary = vocabulary.ok_or_else(|| reader.unsound())?;
    let (symbols, ends) = (reader.array()?, reader.array()?);
    let (odd, odd_words, odd_ends) = (reader.array()?, reader.array()?, reader.array()?);
    let open = reader.array()?;
    let sentences = Sentences::from_parts(symbols, ends, odd, odd_words, odd_ends, open, vocabulary.len())
        .filter(|sentences| sentences.len() == references.texts.len())
        .ok_or_else(|| reader.unsound())?;
    Ok(View::new(reading, vocabulary, sentences))
}
