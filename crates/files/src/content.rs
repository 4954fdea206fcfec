//! Reads the contents of files: captions, prepared references, tables and models; and refuses other contents.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use capeval::Kit;
use capeval::report::{Kind, Study, read};
use capeval_arrays::SharedBytes;
use capeval_choice::{Argument, Refusal, Remedy, Task};
use capeval_corpus::{Captions, Ids, ReadOptions, Role, unpack};
use capeval_evaluate::PreparedReferences;
use capeval_evaluate::prepared::{MAGIC, Source};
use capeval_lexical::fluency::NgramModel;
use capeval_lexical::frequencies::{self, DocumentFrequencies};
use capeval_spice::ParseCache;

use crate::Error;
use crate::bytes::{open_any, open_or_stdin};

/// Reads captions from a file, or from standard input for [`STDIN`](crate::STDIN).
pub fn captions(path: &str, options: &ReadOptions) -> Result<Captions, Error> {
    captions_in(path, &open_any(path, options.no_limits)?, options)
}

/// The text of a file that may be compressed, or of standard input for [`STDIN`](crate::STDIN).
pub fn text(path: &str) -> Result<String, Error> {
    Ok(capeval_corpus::text(&open_or_stdin(path)?, path)?)
}

/// Reads captions from bytes; errors call them `path`.
pub fn captions_in(path: &str, bytes: &[u8], options: &ReadOptions) -> Result<Captions, Error> {
    refuse_own(path, bytes, options.role)?;
    Ok(capeval_corpus::read_bytes(bytes, path, options)?)
}

/// Reads references and candidates from one file, or from standard input for [`STDIN`](crate::STDIN); `None` if it has
/// not both.
pub fn both_sides(
    path: &str,
    [references, candidates]: [&ReadOptions; 2],
    ids: Ids,
) -> Result<Option<(Captions, Captions)>, Error> {
    let bytes = open_any(path, candidates.no_limits)?;
    if is_prepared(&bytes) {
        return Ok(None);
    }
    let read = |options: &ReadOptions| captions_in(path, &bytes, options);
    Ok(capeval_corpus::both_sides(read(references)?, read(candidates)?, ids)?)
}

/// The kit of this name, or that in a file whose name ends with .toml.
pub fn kit(name: &str) -> Result<Kit, Error> {
    let is_path = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    if is_path {
        Kit::read(&text(name)?).map_err(|refusal| Error::content(name, refusal))
    } else {
        Ok(Kit::named(name)?)
    }
}

/// Refuses files of capeval's own formats where captions are expected; the remedy says what they are for.
fn refuse_own(path: &str, bytes: &[u8], role: Role) -> Result<(), Error> {
    let refuse =
        |message: &str, remedy: Remedy| Err(Error::content(path, Refusal::new(message).with_remedy(remedy)));
    if is_prepared(bytes) {
        return match role {
            Role::Candidates => refuse(
                "these are prepared references, not candidates",
                Remedy::give(Argument::References).to("use them"),
            ),
            _ => refuse(
                "these are prepared references",
                Remedy::say(
                    "give prepared references alone, as those of a task, or give the captions that they were made from",
                ),
            ),
        };
    }
    if bytes.starts_with(&frequencies::file::MAGIC) {
        return refuse(
            "this is a table of document frequencies",
            Remedy::give(Argument::DocumentFrequencies).to("use it"),
        );
    }
    if bytes.starts_with(&ParseCache::MAGIC) {
        return refuse("this is a cache of SPICE's parses", Remedy::give(Argument::SpiceCache).to("use it"));
    }
    if bytes.starts_with(b"{\"capeval\":") {
        return refuse(
            "this is a saved result of capeval, not captions",
            Remedy::say("give the captions that it was computed from"),
        );
    }
    if bytes.trim_ascii_start().starts_with(b"\\data\\\n") {
        return refuse(
            "this is a language model in ARPA format, not captions",
            Remedy::give(Argument::LanguageModel).to("use it"),
        );
    }
    Ok(())
}

/// Returns true if these are the bytes of prepared references.
pub fn is_prepared(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Fewer bytes of captions take little memory.
const FEW: u64 = 200_000;

/// Returns true if these files hold few captions; prepared references do not count, since a run reads little of them.
pub fn are_few(paths: &[&str]) -> bool {
    let length = |path: &&str| {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let mut head = [0; MAGIC.len()];
        let is_full = File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
        Some(if is_full && is_prepared(&head) { 0 } else { metadata.len() })
    };
    paths.iter().map(length).sum::<Option<u64>>().is_some_and(|length| length < FEW)
}

/// The content of a file of references.
pub enum ReferenceFile {
    /// Captions.
    Captions(Captions),
    /// References that were read and tokenised before.
    Prepared(Box<PreparedReferences>),
}

/// Opens references, prepared ones or captions. The file is read once, so it may be a pipe, or
/// [`STDIN`](crate::STDIN).
///
/// # Errors
/// When the file cannot be read, is damaged, holds something else, or the references have changed since they were
/// prepared.
pub fn references(path: &str, options: &ReadOptions) -> Result<ReferenceFile, Error> {
    let bytes = open_any(path, options.no_limits)?;
    if !is_prepared(&bytes) {
        return Ok(ReferenceFile::Captions(captions_in(path, &bytes, options)?));
    }
    let prepared = open_prepared(path, Arc::new(bytes))?;
    check_fresh(path, &prepared)?;
    Ok(ReferenceFile::Prepared(Box::new(prepared)))
}

/// Opens the bytes of prepared references; errors call them `path`.
pub fn open_prepared(path: &str, bytes: SharedBytes) -> Result<PreparedReferences, Error> {
    PreparedReferences::open(bytes).map_err(|error| stale(path, error.to_string()))
}

/// Compares prepared references with the files that they were made from; files that no longer exist are ignored.
pub fn check_fresh(path: &str, prepared: &PreparedReferences) -> Result<(), Error> {
    let changed = prepared.sources.iter().find(|then| {
        source(&then.path).is_some_and(|now| now.bytes != then.bytes || now.modified > then.modified)
    });
    let Some(changed) = changed else { return Ok(()) };
    let is_as_long = source(&changed.path).is_some_and(|now| now.bytes == changed.bytes);
    let what = match is_as_long {
        true => "was written again since they were prepared, and may have changed",
        false => "has changed since they were prepared",
    };
    Err(stale(path, format!("these references are stale: {} {what}", changed.path)))
}

/// Prepared references that have to be prepared again.
fn stale(path: &str, message: String) -> Error {
    Error::content(path, Refusal::new(message).with_remedy(Remedy::run(Task::Prepare)))
}

/// The length and the time of modification of a file; `None` if it does not exist.
pub fn source(path: &str) -> Option<Source> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |duration| duration.as_secs());
    Some(Source { path: path.to_owned(), bytes: metadata.len(), modified })
}

/// Reads a table of document frequencies in capeval's format or as a pickle, which may be gzipped; errors call it
/// `path`.
pub fn frequencies(path: &str, bytes: &[u8], n_images: Option<u64>) -> Result<DocumentFrequencies, Error> {
    let unpacked = unpack(bytes, path, false)?;
    let other = match unpacked.trim_ascii_start() {
        [b'{' | b'[', ..] => Some("this is JSON"),
        // Neither a table of capeval, nor the first operation of a pickle.
        [first, ..] if !(first.is_ascii_graphic() || *first >= 0x80) => Some("these are binary data"),
        _ => None,
    };
    if let Some(other) = other {
        let remedy =
            Remedy::run(Task::BuildFrequencies(None)).or(Remedy::say("give a pickle such as coco-val-df.p"));
        let refusal = Refusal::new(format!("{other}, not a table of document frequencies"));
        return Err(Error::content(path, refusal.with_remedy(remedy)));
    }
    DocumentFrequencies::read(&unpacked, n_images).map_err(|error| Error::content(path, error))
}

/// Reads an n-gram model from an ARPA file, which may be gzipped; errors call it `path`.
pub fn language_model(path: &str, bytes: &[u8]) -> Result<NgramModel, Error> {
    NgramModel::read_arpa(&unpack(bytes, path, false)?[..]).map_err(|error| {
        if bytes.starts_with(b"mmap lm") {
            let refusal = Refusal::new("this is KenLM's binary form");
            return Error::content(path, refusal.with_remedy("give the ARPA file that it was built from"));
        }
        Error::content(path, error)
    })
}

/// Reads a saved result of one of these kinds, which may be gzipped, from a file, or from standard input for
/// [`STDIN`](crate::STDIN).
pub fn result<'k>(
    path: &str,
    kinds: impl IntoIterator<Item = &'k &'static Kind>,
) -> Result<Box<dyn Study>, Error> {
    let bytes = open_any(path, true)?;
    read(&unpack(&bytes, path, true)?, kinds).map_err(|refusal| Error::content(path, refusal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prepared_references_are_few_and_what_has_no_length_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            path.display().to_string()
        };
        let prepared = file("prepared", &[&MAGIC[..], &[0; 300_000]].concat());
        let (many, short) = (file("many.json", &[b' '; 300_000]), file("short.txt", b"a dog"));
        assert!(are_few(&[&prepared, &short]) && are_few(&[]));
        let folder = folder.path().display().to_string();
        for path in [&many, &folder, "-"] {
            assert!(!are_few(&[&prepared, path]), "{path}");
        }
    }
}
