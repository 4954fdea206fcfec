//! A cache of parses that survives runs: the tuples of captions, stored in a file.
//!
//! Tuples depend on the caption and the grammar only, so the file names the grammar and the version of its notes, and
//! what was stored under another name is not used.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use capeval_arrays::{Error, Format, Reader, SharedBytes, Writer};
use capeval_choice::{Code, Notice};
use capeval_metric::Memo;
use capeval_text::Texts;

use crate::tuples::{Tuple, from_note, to_note};

const FORMAT: Format = Format { magic: ParseCache::MAGIC, version: 1, noun: "SPICE's parses" };

/// The greatest number of bytes of a file's arrays.
const MOST_BYTES: usize = 64_000_000;

/// The bytes that each of two arrays needs for the end of a text.
const END_BYTES: usize = size_of::<u64>();

/// What to do as the number of added captions grows.
type Growth = Box<dyn Fn() + Send + Sync>;

/// Tuples of captions that earlier runs read, and those of this run.
pub struct ParseCache {
    known: Memo,
    /// Marks the known captions that this run needed.
    needed: Vec<AtomicBool>,
    added: Mutex<AddedNotes>,
    growth: OnceLock<Growth>,
    notice: Option<Notice>,
}

/// Notes on the captions that were not known, as many as a file has room for.
#[derive(Default)]
struct AddedNotes {
    notes: BTreeMap<String, String>,
    bytes: usize,
}

/// The bytes of a caption and a note in a file.
fn n_bytes(caption: &str, note: &str) -> usize {
    caption.len() + note.len() + 2 * END_BYTES
}

impl ParseCache {
    /// The first bytes of a file.
    pub const MAGIC: [u8; 8] = *b"capevalS";

    /// The number of added captions after which those so far are worth a file: some seconds of parsing, so that writing
    /// takes a small part of the time.
    pub const PORTION: usize = 10_000;

    /// The cache in the bytes of a file, which must be aligned to 8 bytes; without bytes, a new one. It is empty and
    /// has a notice if the bytes are damaged, or of another version or [name](crate::Data::note_name).
    pub fn open(bytes: Option<SharedBytes>, name: &str) -> Self {
        let restored = bytes.map(|bytes| restore(bytes, name)).transpose();
        let (known, notice) = match restored {
            Ok(known) => (known, None),
            Err(error) => {
                let message = format!("{error}; the cache is started again, and captions are parsed again");
                (None, Some(Notice::new(Code::SpiceCache, message)))
            }
        };
        let known = known.unwrap_or_else(|| Memo::new(name.to_owned(), &BTreeMap::new()));
        let needed = known.iter().map(|_| AtomicBool::default()).collect();
        Self { known, needed, added: Mutex::default(), growth: OnceLock::new(), notice }
    }

    /// The name of the notes.
    pub fn name(&self) -> &str {
        self.known.name()
    }

    /// The reason why the bytes of a file are not used.
    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// The tuples of a caption; `None` if they were not stored.
    pub fn get(&self, caption: &str) -> Option<Vec<Tuple<&str>>> {
        from_note(self.known.get(caption)?)
    }

    /// Returns true if the tuples of a caption were stored.
    pub fn has(&self, caption: &str) -> bool {
        self.known.find(caption).is_some()
    }

    /// Sets what to do after each [portion](Self::PORTION) of added captions, in the thread that adds the last one.
    pub fn at_each_portion(&self, work: impl Fn() + Send + Sync + 'static) {
        // The one who opens a cache sets it once.
        let _ = self.growth.set(Box::new(work));
    }

    /// Keeps the tuples of a caption that this run needs.
    pub fn keep(&self, caption: &str, tuples: &[Tuple<&str>]) {
        match self.known.find(caption) {
            Some(place) => self.needed[place].store(true, Ordering::Relaxed),
            None => {
                if self.add(caption, tuples).is_some_and(|n| n.is_multiple_of(Self::PORTION))
                    && let Some(work) = self.growth.get()
                {
                    work();
                }
            }
        }
    }

    /// Adds a caption; the number of those added so far, if it is new and there is room for it.
    fn add(&self, caption: &str, tuples: &[Tuple<&str>]) -> Option<usize> {
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        if added.notes.contains_key(caption) {
            return None;
        }
        let note = to_note(tuples);
        let bytes = added.bytes + n_bytes(caption, &note);
        if bytes > MOST_BYTES {
            return None;
        }
        added.bytes = bytes;
        added.notes.insert(caption.to_owned(), note);
        Some(added.notes.len())
    }

    /// The number of captions that were not stored.
    pub fn n_added(&self) -> usize {
        self.added.lock().unwrap_or_else(PoisonError::into_inner).notes.len()
    }

    /// Writes the captions that this run added, those that it needed, and those that are `stored` by now, each in
    /// ascending order, as many as fit.
    pub fn write(&self, stored: &Self, out: impl Write) -> io::Result<()> {
        self.write_within(MOST_BYTES, stored, out)
    }

    fn write_within(&self, mut room: usize, stored: &Self, out: impl Write) -> io::Result<()> {
        let added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = self.known.iter().zip(&self.needed);
        let needed = needed.filter(|(_, needed)| needed.load(Ordering::Relaxed)).map(|(known, _)| known);
        let added = added.notes.iter().map(|(caption, note)| (caption.as_str(), note.as_str()));
        let mut kept = BTreeMap::new();
        for (caption, note) in added.chain(needed).chain(stored.known.iter()) {
            if kept.contains_key(caption) {
                continue;
            }
            match room.checked_sub(n_bytes(caption, note)) {
                Some(rest) => room = rest,
                None => break,
            }
            kept.insert(caption, note);
        }
        let (captions, notes): (Texts, Texts) =
            (kept.keys().copied().collect(), kept.into_values().collect());
        let mut writer = Writer::default();
        for (bytes, ends) in [captions.parts(), notes.parts()] {
            writer.array(bytes);
            writer.array(ends);
        }
        writer.write(&FORMAT, self.name(), out)
    }
}

/// The notes in a file, if they have this name.
fn restore(bytes: SharedBytes, name: &str) -> Result<Memo, Error> {
    let mut reader = Reader::open(&FORMAT, bytes)?;
    if reader.description() != name {
        return Err(Error::new(format!("this file of {} is of another grammar or version", FORMAT.noun)));
    }
    let mut texts = || Ok::<_, Error>(Texts::from_parts(reader.array()?, reader.array()?));
    let texts = texts()?.zip(texts()?);
    let memo = texts.and_then(|(captions, notes)| Memo::from_parts(name.to_owned(), captions, notes));
    memo.ok_or_else(|| reader.unsound())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::mapped;

    fn tuples<'w>(words: &[&'w str]) -> Vec<Tuple<&'w str>> {
        words.iter().map(|word| Tuple::Object(*word)).collect()
    }

    fn open(file: &[u8]) -> ParseCache {
        ParseCache::open(Some(mapped(file)), "sample")
    }

    fn empty() -> ParseCache {
        ParseCache::open(None, "sample")
    }

    /// The bytes that `cache` writes over `file` if it may write this many.
    fn written_within(room: usize, cache: &ParseCache, file: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let stored = if file.is_empty() { empty() } else { open(file) };
        cache.write_within(room, &stored, &mut out).unwrap();
        out
    }

    fn written(cache: &ParseCache, file: &[u8]) -> Vec<u8> {
        written_within(MOST_BYTES, cache, file)
    }

    fn captions(file: &[u8]) -> Vec<String> {
        let cache = open(file);
        assert_eq!(cache.notice, None);
        cache.known.iter().map(|(caption, _)| caption.to_owned()).collect()
    }

    /// A file with these captions, each of which says itself.
    fn file(captions: &[&str]) -> Vec<u8> {
        let cache = empty();
        captions.iter().for_each(|caption| cache.keep(caption, &tuples(&[caption])));
        written(&cache, b"")
    }

    #[test]
    fn what_is_kept_comes_back_in_the_next_run() {
        let first = empty();
        first.keep("a dog", &tuples(&["dog"]));
        first.keep("nothing", &[]);
        first.keep("a dog", &tuples(&["dog"]));
        assert_eq!((first.n_added(), first.get("a dog")), (2, None));
        let second = open(&written(&first, b""));
        assert_eq!(second.get("a dog"), Some(tuples(&["dog"])));
        assert_eq!((second.get("nothing"), second.get("a cat")), (Some(Vec::new()), None));
        second.keep("a dog", &tuples(&["dog"]));
        assert_eq!(second.n_added(), 0);
    }

    #[test]
    fn two_runs_at_once_lose_nothing() {
        let file = file(&["a"]);
        let (one, other) = (open(&file), open(&file));
        one.keep("b", &[]);
        other.keep("c", &[]);
        let file = written(&other, &written(&one, &file));
        assert_eq!(captions(&file), ["a", "b", "c"]);
    }

    #[test]
    fn what_a_run_needed_stays_where_not_everything_fits() {
        let file = file(&["a", "b", "c", "d"]);
        let cache = open(&file);
        cache.keep("d", &[]);
        cache.keep("e", &tuples(&["e"]));
        let each = "a".len() + "a\n".len() + 2 * END_BYTES;
        for (room, kept) in
            [(5, &["a", "b", "c", "d", "e"][..]), (4, &["a", "b", "d", "e"]), (2, &["d", "e"]), (1, &["e"])]
        {
            assert_eq!(captions(&written_within(room * each, &cache, &file)), kept);
            assert_eq!(captions(&written_within((room + 1) * each - 1, &cache, &file)), kept);
        }
        assert!(captions(&written_within(0, &cache, &file)).is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_used_is_said_and_begun_anew() {
        let good = file(&["a", "b"]);
        let why = |file: &[u8], name: &str| {
            let cache = ParseCache::open(Some(mapped(file)), name);
            assert_eq!(cache.get("a"), None);
            cache.notice.unwrap().message
        };
        assert!(why(&good, "other").contains("another grammar or version; the cache is started again"));
        let mut newer = good.clone();
        newer[8] += 1;
        assert!(why(&newer, "sample").contains("format version 2"));
        for length in 0..good.len() {
            assert!(!why(&good[..length], "sample").is_empty());
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(!why(&bad, "sample").is_empty(), "byte {at}");
        }
    }

    #[test]
    fn damage_with_a_correct_checksum_does_not_panic() {
        let good = file(&["a dog", "a cat on a sofa", ""]);
        for at in 0..good.len() {
            for value in [0, 1, b'\n', b'\t', 0x7F, 0xFF] {
                let mut bad = good.clone();
                bad[at] = value;
                assert!(capeval_arrays::reseal(&mut bad));
                let cache = open(&bad);
                for caption in ["", "a dog", "a cat on a sofa", "new"] {
                    cache.keep(caption, &cache.get(caption).unwrap_or_default());
                }
                assert!(captions(&written(&cache, &bad)).contains(&"new".to_owned()));
            }
        }
    }
}
