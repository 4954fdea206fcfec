//! Finds the files of a benchmark in a folder: by name, compressed or in archives, or by content.

use std::cell::RefCell;
use std::fmt::Write as _;

use capeval::choice::counted;
use capeval::corpus::{self, unpacked_name};
use capeval_files::{self as files, Bytes};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::registry::{Benchmark, File, Reading};

/// Files whose names end so can contain data, compressed or not.
const DATA: [&str; 7] = [".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".parquet"];

/// Archives whose names end so are looked into.
const ARCHIVES: [&str; 7] = [".zip", ".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.bz2", ".tar.xz"];

/// Archives by tar that are larger have pictures in them, and it would take long to look.
const LARGEST_TAR: usize = 100_000_000;

/// Files that are larger are not searched for marks.
const LARGEST_UNNAMED: usize = 200_000_000;

/// Marks stand among as many first bytes.
const HEAD: usize = 1 << 16;

/// The files in a folder.
pub(crate) struct Folder {
    path: String,
    entries: Vec<Entry>,
}

/// A file, or one in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    path: String,
    member: Option<String>,
    /// The path within the folder in lower case, without the extension of its compression.
    name: String,
}

/// A file that was found.
pub(crate) struct FoundFile {
    /// Its path, and its name in an archive.
    pub name: String,
    content: Content,
    /// True if it has the known checksum; `None` if none is known.
    pub is_known: Option<bool>,
}

enum Content {
    Mapped(Bytes),
    Member(Vec<u8>),
}

impl FoundFile {
    /// The bytes, which may be compressed.
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Mapped(bytes) => bytes,
            Content::Member(bytes) => bytes,
        }
    }
}

impl Entry {
    fn shown(&self) -> String {
        match &self.member {
            Some(member) => format!("{}: {member}", self.path),
            None => self.path.clone(),
        }
    }

    fn open(&self) -> Result<Content, Error> {
        let bytes = files::open(&self.path)?;
        let Some(member) = &self.member else { return Ok(Content::Mapped(bytes)) };
        let found = corpus::members(&bytes, &self.path, |name| name == member)?;
        match found.into_iter().flatten().next() {
            Some((_, content)) => Ok(Content::Member(content)),
            None => Err(Error::new(format!("{}: the file has gone", self.shown()), "try again")),
        }
    }

    fn is_data(&self) -> bool {
        DATA.iter().any(|end| self.name.ends_with(end))
    }
}

impl Folder {
    /// Lists the files of a folder, and those in archives.
    pub fn open(path: &str) -> Result<Self, Error> {
        let root = path.trim_end_matches('/');
        let name_of = |path: &str| {
            let inner = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').to_lowercase();
            unpacked_name(&inner).to_owned()
        };
        let mut entries = Vec::new();
        for path in files::files_in(path)? {
            let name = name_of(&path);
            let lower = path.to_lowercase();
            if ARCHIVES.iter().any(|end| lower.ends_with(end)) {
                for member in members(&path) {
                    let inner = format!("{name}/{}", member.to_lowercase());
                    let name = unpacked_name(&inner).to_owned();
                    entries.push(Entry { path: path.clone(), member: Some(member), name });
                }
            } else {
                entries.push(Entry { path, member: None, name });
            }
        }
        Ok(Self { path: path.to_owned(), entries })
    }

    /// Finds what a reading needs, file by file; `None` for optional files that are not there. Without them all, what
    /// is missing, in words.
    pub fn find(&self, reading: &Reading) -> Result<Result<Vec<Vec<FoundFile>>, String>, Error> {
        let mut all = Vec::with_capacity(reading.files.len());
        for file in &reading.files {
            let found = self.named(file)?;
            let found = if found.is_empty() && !file.all { self.marked(file)? } else { found };
            if found.is_empty() && !file.optional {
                return Ok(Err(words(file)));
            }
            all.push(found);
        }
        Ok(Ok(all))
    }

    /// The files with the names of `file`: those of one pattern, which may be parts of a table, or of all.
    fn named(&self, file: &File) -> Result<Vec<FoundFile>, Error> {
        let mut all = Vec::new();
        for name in &file.names {
            let mut hits: Vec<&Entry> = self.entries.iter().filter(|entry| fits(&entry.name, name)).collect();
            let is_pattern = name.contains('*');
            if !is_pattern && hits.len() > 1 {
                hits = self.same(hits, file)?;
            }
            if file.all && hits.is_empty() {
                return Ok(Vec::new());
            }
            for hit in hits {
                all.push(found(hit, file)?);
            }
            if !file.all && !all.is_empty() {
                break;
            }
        }
        Ok(all)
    }

    /// One of several files with the same name: the one with the known checksum, or any if all have the same content.
    fn same<'e>(&self, hits: Vec<&'e Entry>, file: &File) -> Result<Vec<&'e Entry>, Error> {
        let mut sums = Vec::with_capacity(hits.len());
        for hit in &hits {
            sums.push(checksum(&hit.open()?, &hit.shown())?);
        }
        if let Some(at) = sums.iter().position(|sum| file.sha256.contains(sum)) {
            return Ok(vec![hits[at]]);
        }
        if sums.windows(2).all(|pair| pair[0] == pair[1]) {
            return Ok(hits.into_iter().take(1).collect());
        }
        let shown: Vec<String> = hits.iter().map(|hit| hit.shown()).collect();
        Err(Error::new(
            format!("{}: several files could be {}: {}", self.path, file.names[0], shown.join(", ")),
            "leave one of them in the folder",
        ))
    }

    /// Files with other names that hold the marks of `file`, or have its checksum.
    fn marked(&self, file: &File) -> Result<Vec<FoundFile>, Error> {
        if file.marks.is_empty() && file.sha256.is_empty() {
            return Ok(Vec::new());
        }
        let mut hits = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.is_data()) {
            // What cannot be read is not what is looked for.
            let Ok(content) = entry.open() else { continue };
            let packed = bytes(&content);
            if packed.len() > LARGEST_UNNAMED {
                continue;
            }
            let Ok(unpacked) = corpus::unpack(packed, &entry.path, false) else { continue };
            let head = String::from_utf8_lossy(unpacked.get(..HEAD).unwrap_or(&unpacked));
            let is_marked = !file.marks.is_empty() && file.marks.iter().all(|mark| head.contains(mark));
            let is_known = !file.sha256.is_empty() && file.sha256.contains(&hex(&unpacked));
            if is_known {
                return Ok(vec![FoundFile { name: entry.shown(), content, is_known: Some(true) }]);
            }
            if is_marked {
                let known = (!file.sha256.is_empty()).then_some(false);
                hits.push(FoundFile { name: entry.shown(), content, is_known: known });
            }
        }
        Ok(if hits.len() == 1 { hits } else { Vec::new() })
    }

    /// Says that no reading of a benchmark has its files; `missing` is what each lacks.
    pub fn refuse(&self, benchmark: &Benchmark, missing: &[(String, String)]) -> Error {
        let mut wanted = String::new();
        for (k, (_, files)) in missing.iter().enumerate() {
            let join = if k == 0 {
                ""
            } else if k + 1 == missing.len() {
                ", or "
            } else {
                ", "
            };
            let _ = write!(wanted, "{join}{files}");
        }
        let n = self.entries.len();
        Error::new(
            format!(
                "{}: {} ({}) has none of its files: {wanted}",
                benchmark.name,
                self.path,
                counted(n, "file")
            ),
            format!("get them from {}", benchmark.origin),
        )
    }
}

/// The files that a reading needs, in words.
pub(crate) fn words_of(reading: &Reading) -> String {
    let needed = reading.files.iter().filter(|file| !file.optional);
    needed.map(words).collect::<Vec<_>>().join(" with ")
}

fn words(file: &File) -> String {
    let join = if file.all { ", " } else { " or " };
    file.names.join(join)
}

fn bytes(content: &Content) -> &[u8] {
    match content {
        Content::Mapped(bytes) => bytes,
        Content::Member(bytes) => bytes,
    }
}

fn found(entry: &Entry, file: &File) -> Result<FoundFile, Error> {
    let content = entry.open()?;
    let name = entry.shown();
    let is_known = match file.sha256.is_empty() {
        true => None,
        false => Some(file.sha256.contains(&checksum(&content, &name)?)),
    };
    Ok(FoundFile { name, content, is_known })
}

fn checksum(content: &Content, name: &str) -> Result<String, Error> {
    Ok(hex(&corpus::unpack(bytes(content), name, false)?))
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The names of the files with data in an archive; none if it cannot be read, as it may have nothing to do with this.
fn members(path: &str) -> Vec<String> {
    let Ok(bytes) = files::open(path) else { return Vec::new() };
    let is_zip = bytes.starts_with(b"PK");
    if !is_zip && bytes.len() > LARGEST_TAR {
        return Vec::new();
    }
    let names = RefCell::new(Vec::new());
    let listed = corpus::members(&bytes, path, |name| {
        let is_hidden = name.split('/').any(|part| part == "__MACOSX" || part.starts_with('.'));
        if !is_hidden {
            names.borrow_mut().push(name.to_owned());
        }
        false
    });
    match listed {
        Ok(Some(_)) => names.into_inner(),
        _ => Vec::new(),
    }
}

/// Returns true if the path of a file ends with `pattern`, in any case; `*` stands for anything but `/`.
fn fits(path: &str, pattern: &str) -> bool {
    let pattern = pattern.to_lowercase();
    let depth = pattern.matches('/').count() + 1;
    let parts: Vec<&str> = path.rsplit('/').take(depth).collect();
    let wanted: Vec<&str> = pattern.rsplit('/').collect();
    parts.len() == wanted.len() && parts.iter().zip(wanted).all(|(part, wanted)| matches(part, wanted))
}

/// Returns true if a name matches `pattern`, in which `*` stands for anything.
fn matches(name: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut rest = Some(rest);
    let mut last = None;
    for piece in pieces {
        rest = match last.take() {
            Some(piece) => rest.and_then(|rest| rest.find(piece).map(|at| &rest[at + str::len(piece)..])),
            None => rest,
        };
        last = Some(piece);
    }
    match (rest, last) {
        (Some(rest), None) => rest.is_empty(),
        (Some(rest), Some(last)) => rest.ends_with(last),
        (None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_and_folders() {
        for (path, pattern) in [
            ("a/b/flickr8k.json", "flickr8k.json"),
            ("flickr8k.json", "Flickr8k.json"),
            ("x/expert/test-00000-of-00002.parquet", "expert/test-*.parquet"),
            ("test-00000-of-00001.parquet", "test-*.parquet"),
            ("dci_val.desc-00000.parquet", "dci_val.desc-*.parquet"),
            ("aXbXc", "a*b*c"),
            ("abc", "abc*"),
        ] {
            assert!(fits(&path.to_lowercase(), pattern), "{path} is {pattern}");
        }
        for (path, pattern) in [
            ("crowdflower_flickr8k.json", "flickr8k.json"),
            ("test.parquet", "expert/test-*.parquet"),
            ("crowdflower/test-0.parquet", "expert/test-*.parquet"),
            ("test-0.parquet.txt", "test-*.parquet"),
            ("ac", "a*b*c"),
            ("", "a"),
        ] {
            assert!(!fits(path, pattern), "{path} is not {pattern}");
        }
    }
}
