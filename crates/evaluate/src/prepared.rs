//! Prepared references: read, tokenised and stored once, for many runs.
//!
//! The file contains the texts and words of a [`ReferenceSet`] as they are in memory, and is used without a copy. A run
//! that describes few images reads, checks and copies only their references. What metrics remember of references, such
//! as the parses of SPICE, is stored with them, and read as a whole.
//!
//! Of n-grams, the number of images with each is stored, for runs on all images, unless it is 1, which weighs as much
//! as 0. Those of a part of the images are counted in less time than it takes to read and check them.
//!
//! Each block of 64 KB has a checksum, which is verified when one of its bytes is first read. The n-grams of single
//! images are not stored: they took seven eighths of the file, and checking all of them took longer than counting those
//! of the images that a system describes.

use std::io::{self, Write};

use std::sync::Arc;

use capeval_arrays::{Error, Format, Reader, SharedBytes, Writer};
use capeval_corpus::SegmentId;
use capeval_metric::{Figures, Input, Reading};
use capeval_text::ngrams::CountParts;
use capeval_text::sentences::SentenceParts;
use capeval_text::{Ends, Texts};
use serde::{Deserialize, Serialize};

use crate::references::{ReferenceSet, View};
use crate::stored_references::{LearntFields, StoredReferences};

/// The first bytes of a file of prepared references.
pub const MAGIC: [u8; 8] = *b"capevalR";

/// The version of the format; it is raised when the arrays or the output of a tokenizer change.
const VERSION: u32 = 1;

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
pub struct PreparedReferences {
    /// The ids of the images, in order.
    pub ids: Vec<SegmentId>,
    /// The files that they come from.
    pub sources: Vec<Source>,
    /// A note for later runs, such as the metrics; empty if there is none.
    pub note: Vec<u8>,
    content: Content,
}

/// The place of the references.
#[derive(Clone)]
enum Content {
    Memory(ReferenceSet),
    File(Arc<StoredReferences>),
}

#[derive(Serialize, Deserialize)]
struct Description {
    capeval: String,
    sources: Vec<Source>,
    readings: Vec<DescribedView>,
    /// The names of memos.
    #[serde(default)]
    memos: Vec<String>,
    /// True if there is a note.
    #[serde(default)]
    has_note: bool,
}

/// The references in one reading.
#[derive(Serialize, Deserialize)]
struct DescribedView {
    reading: String,
    /// The stored counts of their n-grams, if any.
    learnt: Option<LearntFields>,
}

impl PreparedReferences {
    /// References that are ready to be written.
    ///
    /// # Panics
    /// When the numbers of ids and images differ, or images share lists.
    pub fn new(ids: Vec<SegmentId>, references: ReferenceSet, sources: Vec<Source>) -> Self {
        assert_eq!(ids.len(), references.n_images(), "an id for each image");
        assert!(!references.are_shared(), "each image has a list of its own");
        Self { ids, sources, note: Vec::new(), content: Content::Memory(references) }
    }

    /// The end of each image's references.
    fn ends(&self) -> &[u64] {
        match &self.content {
            Content::Memory(set) => &set.ends,
            Content::File(stored) => stored.ends(),
        }
    }

    /// The number of images.
    pub fn n_images(&self) -> usize {
        self.ends().len()
    }

    /// The number of references of these images.
    ///
    /// # Panics
    /// When there is no such image.
    pub fn n_references(&self, images: impl IntoIterator<Item = u32>) -> usize {
        images.into_iter().map(|image| Ends(self.ends()).range(image as usize).len()).sum()
    }

    /// All references.
    pub fn references(&self) -> Result<ReferenceSet, Error> {
        match &self.content {
            Content::Memory(set) => Ok(set.clone()),
            Content::File(stored) => stored.all(),
        }
    }

    /// All references, with what is stored for metrics that read `inputs`.
    pub fn references_for(&self, inputs: &[Input]) -> Result<ReferenceSet, Error> {
        match &self.content {
            Content::Memory(set) => Ok(set.clone()),
            Content::File(stored) => stored.all_for(inputs),
        }
    }

    /// A copy of the references of `images`, which ascend, in the readings of `inputs`; `None` if all of them are as
    /// quickly used.
    ///
    /// # Panics
    /// When there is no such image.
    pub fn references_of(&self, images: &[u32], inputs: &[Input]) -> Result<Option<ReferenceSet>, Error> {
        match &self.content {
            Content::File(stored) if 2 * images.len() < self.n_images() => {
                stored.some(images, inputs).map(Some)
            }
            Content::File(_) | Content::Memory(_) => Ok(None),
        }
    }

    /// Writes the file.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let Self { ids, sources, note, .. } = self;
        let references = match &self.content {
            Content::Memory(set) => set.clone(),
            Content::File(stored) => stored.everything().map_err(io::Error::other)?,
        };
        let mut writer = Writer::in_pieces();
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
        if !note.is_empty() {
            writer.array(note);
        }
        let description = Description {
            capeval: env!("CARGO_PKG_VERSION").to_owned(),
            sources: sources.clone(),
            readings: references.views.iter().map(describe).collect(),
            memos: references.memos.iter().map(|memo| memo.name().to_owned()).collect(),
            has_note: !note.is_empty(),
        };
        let description = serde_json::to_string(&description).map_err(io::Error::other)?;
        writer.write(&FORMAT, &description, out)
    }

    /// Opens the bytes of a file, which must be aligned to 8 bytes, as memory maps are. The references themselves are
    /// checked when they are read.
    pub fn open(bytes: SharedBytes) -> Result<Self, Error> {
        let mut reader = Reader::open(&FORMAT, bytes)?;
        let description: Description =
            serde_json::from_str(reader.description()).map_err(|_| reader.unsound())?;
        let (bytes, ends) = (reader.array()?, reader.array()?);
        let names = Texts::from_parts(bytes, ends).ok_or_else(|| reader.unsound())?;
        // UTF-8 is checked once and not for each name, and of a copy, which no other program changes.
        let (bytes, ends) = names.parts();
        let all = String::from_utf8(bytes.to_vec()).map_err(|_| reader.unsound())?;
        let mut ids = Vec::with_capacity(ends.len());
        for k in 0..ends.len() {
            let id = all.get(Ends(ends).range(k)).and_then(id_from_text);
            ids.push(id.ok_or_else(|| reader.unsound())?);
        }
        let described = description.readings.into_iter();
        let views = described.map(|view| Ok((reading_from_text(&view.reading)?, view.learnt)));
        let views = views.collect::<Result<Vec<_>, Error>>()?;
        let stored = StoredReferences::open(ids.len(), views, description.memos, &mut reader)?;
        let note = if description.has_note { reader.array::<u8>()?.to_vec() } else { Vec::new() };
        Ok(Self { ids, sources: description.sources, note, content: Content::File(Arc::new(stored)) })
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

fn reading_from_text(text: &str) -> Result<Reading, Error> {
    let reading = match text.split_once('+') {
        None if text == "raw" => Some(Reading::Raw),
        None => text.parse().ok().map(Reading::Tokens),
        Some((tokenizer, "lines")) => tokenizer.parse().ok().map(Reading::Lines),
        Some((tokenizer, "lower")) => tokenizer.parse().ok().map(Reading::LowerTokens),
        Some((tokenizer, stemmer)) => {
            tokenizer.parse().ok().zip(stemmer.parse().ok()).map(|(t, s)| Reading::Stems(t, s))
        }
    };
    reading.ok_or_else(|| {
        Error::new(format!("these references are prepared for '{text}', which this program does not know"))
    })
}

fn describe(view: &View) -> DescribedView {
    let name = |figures: &Figures| figures.name.clone();
    let learnt = view.learnt.as_ref().map(|learnt| LearntFields {
        order: learnt.order,
        figures: learnt.figures.iter().map(name).collect(),
    });
    DescribedView { reading: reading_to_text(view.reading), learnt }
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
    let Some(learnt) = &view.learnt else { return };
    // What is learnt always has parts.
    if let Some(CountParts { order: _, n_images: _, words, keys, counts, slots }) = learnt.counts.parts() {
        writer.array(words);
        writer.owned(&keys);
        writer.owned(&counts);
        writer.owned(&slots);
    }
    learnt.figures.iter().for_each(|figures| writer.array(&figures.values));
}
