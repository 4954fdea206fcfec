//! Decodes text, after decompression and before any format: byte order marks, UTF-16 and UTF-8.

use std::borrow::Cow;

use crate::Remedy;
use crate::error::{Error, ErrorKind, Position};
use crate::head::{HEAD_BYTES, binary, is_binary};
use crate::unpack::{self, UnpackedFile};
use crate::utf16::Utf16;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A source under its name, for errors, with its uncompressed bytes.
pub(crate) struct Source<'a> {
    pub name: &'a str,
    /// The name of the file in the archive that it came in.
    member: Option<String>,
    packing: Vec<&'static str>,
    bytes: Cow<'a, [u8]>,
}

/// The content of `bytes`, unpacked, and in UTF-8 if they begin with the byte order mark of UTF-16; errors call them
/// `name`. Packed are gzip, zstd, bzip2 and xz, and archives by zip and tar in which it is clear which file is meant.
///
/// # Errors
/// If the data are damaged, or, unless `no_limits`, unpack to more than 64 MB and to more than 50 times their size.
pub fn unpack<'b>(bytes: &'b [u8], name: &str, no_limits: bool) -> Result<Cow<'b, [u8]>, Error> {
    Ok(content(bytes, name, no_limits)?.content)
}

/// The text of `bytes`, unpacked and in UTF-8; errors call them `name`.
///
/// # Errors
/// As [`unpack`], and if they are no text.
pub fn text(bytes: &[u8], name: &str) -> Result<String, Error> {
    Ok(Source::from_bytes(bytes, name)?.into_text()?.text.into_owned())
}

fn content<'b>(bytes: &'b [u8], name: &str, no_limits: bool) -> Result<UnpackedFile<'b>, Error> {
    let mut unpacked = unpack::unpack(bytes, name, no_limits)?;
    if let Some(wide) = Utf16::of(&unpacked.content) {
        unpacked.content = Cow::Owned(wide.to_utf8(&unpacked.content, name)?.into_bytes());
        unpacked.packing.push("UTF-16");
    }
    Ok(unpacked)
}

impl<'a> Source<'a> {
    /// A source of text or Parquet in memory, which is decompressed if necessary; uncompressed text is not copied.
    pub fn from_bytes(bytes: &'a [u8], name: &'a str) -> Result<Self, Error> {
        let source = Self::within_limits(bytes, name, false)?;
        if source.head().contains(&0) && is_binary(source.head()) {
            return Err(binary(name));
        }
        Ok(source)
    }

    /// As [`from_bytes`](Self::from_bytes), of any size if `no_limits`.
    pub fn within_limits(bytes: &'a [u8], name: &'a str, no_limits: bool) -> Result<Self, Error> {
        let UnpackedFile { content, member, packing } = content(bytes, name, no_limits)?;
        Ok(Self { name, member, packing, bytes: content })
    }

    /// The same source, borrowed.
    pub fn borrowed(&self) -> Source<'_> {
        let (member, packing) = (self.member.clone(), self.packing.clone());
        Source { name: self.name, member, packing, bytes: Cow::Borrowed(&self.bytes) }
    }

    /// A source of uncompressed text.
    pub fn from_text(text: &'a str, name: &'a str) -> Self {
        Self { name, member: None, packing: Vec::new(), bytes: Cow::Borrowed(text.as_bytes()) }
    }

    /// The file in an archive, and how it is packed, for people.
    pub fn packing(&self) -> (Option<String>, Vec<String>) {
        (self.member.clone(), self.packing.iter().map(|name| (*name).to_owned()).collect())
    }

    /// The name of the file, in an archive of the file in it.
    pub fn file_name(&self) -> &str {
        self.member.as_deref().unwrap_or(self.name)
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The first bytes after a byte order mark.
    pub fn head(&self) -> &[u8] {
        unmarked(self.bytes.get(..HEAD_BYTES).unwrap_or(&self.bytes)).0
    }

    /// All bytes, including a byte order mark.
    #[cfg(feature = "parquet")]
    pub fn into_bytes(self) -> Cow<'a, [u8]> {
        self.bytes
    }

    /// The whole text, validated as UTF-8.
    pub fn into_text(self) -> Result<Text<'a>, Error> {
        let name = self.name;
        let (text, marked) = match self.bytes {
            Cow::Borrowed(bytes) => {
                let (bytes, marked) = unmarked(bytes);
                (Cow::Borrowed(valid(bytes, name, marked)?), marked)
            }
            Cow::Owned(mut bytes) => {
                let marked = unmarked(&bytes).1;
                if marked {
                    bytes.drain(..BYTE_ORDER_MARK.len());
                }
                valid(&bytes, name, marked)?;
                (Cow::Owned(String::from_utf8(bytes).unwrap_or_default()), marked)
            }
        };
        Ok(Text { text, base: if marked { BYTE_ORDER_MARK.len() as u64 } else { 0 } })
    }

    /// The lines, each validated as UTF-8 when it is read.
    pub fn lines(&self) -> Lines<'_> {
        let (bytes, marked) = unmarked(&self.bytes);
        let next = if marked { BYTE_ORDER_MARK.len() as u64 } else { 0 };
        let is_old = memchr::memchr(b'\n', bytes).is_none() && memchr::memchr(b'\r', bytes).is_some();
        Lines { name: self.name, rest: bytes, end: if is_old { b'\r' } else { b'\n' }, number: 0, next }
    }
}

/// A whole text, and the byte offset in the source at which it begins.
pub(crate) struct Text<'a> {
    pub text: Cow<'a, str>,
    pub base: u64,
}

/// A line without its line break.
pub(crate) struct Line<'l> {
    /// The number of the line, from 1.
    pub number: u64,
    /// The byte offset in the source at which it begins.
    pub start: u64,
    pub text: &'l str,
}

/// The lines of a source. Lines end with `\n` or `\r\n` only, so that a caption with U+2028 or a lone carriage return
/// stays one caption; with `\r`, as on old computers, if there is no `\n` at all.
pub(crate) struct Lines<'a> {
    name: &'a str,
    rest: &'a [u8],
    end: u8,
    number: u64,
    /// The byte offset in the source of the next line.
    next: u64,
}

impl<'a> Lines<'a> {
    /// The next line.
    pub fn next(&mut self) -> Result<Option<Line<'a>>, Error> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let length = memchr::memchr(self.end, self.rest).map_or(self.rest.len(), |end| end + 1);
        let (line, rest) = self.rest.split_at(length);
        let start = self.next;
        self.rest = rest;
        self.number += 1;
        self.next += length as u64;
        let bare = line.strip_suffix(&[self.end]);
        let line = bare.map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        match std::str::from_utf8(line) {
            Ok(text) => Ok(Some(Line { number: self.number, start, text })),
            Err(error) => {
                let byte = start + error.valid_up_to() as u64;
                let position = Position { line: Some(self.number), byte: Some(byte), ..Position::default() };
                let wrong = line.get(error.valid_up_to()).copied().unwrap_or_default();
                let is_cut = error.error_len().is_none() && self.rest.is_empty();
                Err(not_utf8(self.name, wrong, is_cut).at(position))
            }
        }
    }

    /// The number of lines read so far.
    pub fn number(&self) -> u64 {
        self.number
    }
}

fn unmarked(bytes: &[u8]) -> (&[u8], bool) {
    match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (rest, true),
        None => (bytes, false),
    }
}

fn valid<'t>(bytes: &'t [u8], name: &str, marked: bool) -> Result<&'t str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let before = std::str::from_utf8(before).unwrap_or_default();
        let base = if marked { BYTE_ORDER_MARK.len() as u64 } else { 0 };
        let wrong = bytes.get(before.len()).copied().unwrap_or_default();
        not_utf8(name, wrong, error.error_len().is_none()).at(Position::in_text(before, before.len(), base))
    })
}

fn not_utf8(name: &str, wrong: u8, truncated: bool) -> Error {
    let what = if truncated {
        "the file ends inside a character".to_owned()
    } else {
        format!("invalid UTF-8 (byte 0x{wrong:02X})")
    };
    Error::new(ErrorKind::Encoding, name, what).with_remedy(Remedy::say("save the file as UTF-8"))
}
