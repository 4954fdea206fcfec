//! Which bytes are these? Decompression, byte order mark and UTF-8, before any format.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::Remedy;
use crate::error::{Error, ErrorKind, Position};

/// The number of bytes from which the format is detected.
pub(crate) const HEAD_BYTES: usize = 1 << 16;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The uncompressed text of a source, with its first bytes in memory.
pub(crate) enum Input<'a> {
    /// All bytes, in memory.
    Whole(&'a [u8]),
    /// The first bytes, at least [`HEAD_BYTES`] unless there are fewer, and what follows them.
    Stream { head: Vec<u8>, rest: Box<dyn Read + 'a> },
}

/// A source under its name, for errors.
pub(crate) struct Source<'a> {
    pub name: &'a str,
    pub input: Input<'a>,
    compression: Option<Compression>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstandard,
}

impl Compression {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Self::Zstandard),
            // A skippable frame of zstd, with which files by pzstd and seekable files begin.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstandard),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "zstd",
        }
    }
}

impl<'a> Source<'a> {
    /// A source that is read as a stream.
    pub fn from_reader(source: &'a mut dyn Read, name: &'a str) -> Result<Self, Error> {
        let head = head_of(source).map_err(|cause| Error::io(name, "cannot read", cause))?;
        Self::from_parts(head, source, name)
    }

    /// A source in memory; uncompressed text is not copied.
    pub fn from_bytes(bytes: &'a [u8], name: &'a str) -> Result<Self, Error> {
        if Compression::of(bytes).is_none() {
            return Ok(Self { name, input: Input::Whole(bytes), compression: None });
        }
        Self::from_parts(Vec::new(), bytes, name)
    }

    /// A source of uncompressed text.
    pub fn from_text(text: &'a str, name: &'a str) -> Self {
        Self { name, input: Input::Whole(text.as_bytes()), compression: None }
    }

    fn from_parts(head: Vec<u8>, mut rest: impl Read + 'a, name: &'a str) -> Result<Self, Error> {
        let mut peeked = head;
        if peeked.is_empty() {
            peeked = head_of(&mut rest).map_err(|cause| Error::io(name, "cannot read", cause))?;
        }
        let Some(compression) = Compression::of(&peeked) else {
            let input = Input::Stream { head: peeked, rest: Box::new(rest) };
            return Ok(Self { name, input, compression: None });
        };
        let packed = BufReader::with_capacity(HEAD_BYTES, io::Cursor::new(peeked).chain(rest));
        let mut rest: Box<dyn Read + 'a> = match compression {
            Compression::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Compression::Zstandard => zstandard(packed, name)?,
        };
        let head = head_of(&mut *rest).map_err(|cause| unpacking_error(name, compression, cause))?;
        Ok(Self { name, input: Input::Stream { head, rest }, compression: Some(compression) })
    }

    /// The first bytes after a byte order mark.
    pub fn head(&self) -> &[u8] {
        let bytes = match &self.input {
            Input::Whole(bytes) => bytes.get(..HEAD_BYTES).unwrap_or(bytes),
            Input::Stream { head, .. } => head,
        };
        bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
    }

    /// All bytes, including a byte order mark.
    pub fn into_bytes(self) -> Result<Cow<'a, [u8]>, Error> {
        match self.input {
            Input::Whole(bytes) => Ok(Cow::Borrowed(bytes)),
            Input::Stream { head: mut bytes, mut rest } => match rest.read_to_end(&mut bytes) {
                Ok(_) => Ok(Cow::Owned(bytes)),
                Err(cause) => Err(reading_error(self.name, self.compression, cause)),
            },
        }
    }

    /// The whole text, validated as UTF-8.
    pub fn into_text(self) -> Result<Text<'a>, Error> {
        let name = self.name;
        let (text, marked) = match self.into_bytes()? {
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
    pub fn into_lines(self) -> Lines<'a> {
        let (reader, marked): (Box<dyn BufRead + 'a>, bool) = match self.input {
            Input::Whole(bytes) => {
                let (bytes, marked) = unmarked(bytes);
                (Box::new(bytes), marked)
            }
            Input::Stream { head, rest } => {
                let marked = unmarked(&head).1;
                let mut head = io::Cursor::new(head);
                head.set_position(if marked { BYTE_ORDER_MARK.len() as u64 } else { 0 });
                (Box::new(head.chain(BufReader::with_capacity(HEAD_BYTES, rest))), marked)
            }
        };
        Lines {
            name: self.name,
            compression: self.compression,
            reader,
            line: Vec::new(),
            number: 0,
            start: 0,
            next: if marked { BYTE_ORDER_MARK.len() as u64 } else { 0 },
        }
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
/// stays one caption.
pub(crate) struct Lines<'a> {
    name: &'a str,
    compression: Option<Compression>,
    reader: Box<dyn BufRead + 'a>,
    line: Vec<u8>,
    number: u64,
    start: u64,
    next: u64,
}

impl Lines<'_> {
    /// The next line.
    pub fn next(&mut self) -> Result<Option<Line<'_>>, Error> {
        self.line.clear();
        self.start = self.next;
        let length = match self.reader.read_until(b'\n', &mut self.line) {
            Ok(0) => return Ok(None),
            Ok(length) => length,
            Err(cause) => return Err(reading_error(self.name, self.compression, cause)),
        };
        self.number += 1;
        self.next += length as u64;
        let line = self
            .line
            .strip_suffix(b"\n")
            .map_or(&*self.line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        match std::str::from_utf8(line) {
            Ok(text) => Ok(Some(Line { number: self.number, start: self.start, text })),
            Err(error) => {
                let byte = self.start + error.valid_up_to() as u64;
                let position = Position { line: Some(self.number), byte: Some(byte), ..Position::default() };
                let wrong = line.get(error.valid_up_to()).copied().unwrap_or_default();
                Err(not_utf8(self.name, wrong, error.error_len().is_none()).at(position))
            }
        }
    }

    /// The number of lines read so far.
    pub fn number(&self) -> u64 {
        self.number
    }
}

fn head_of(source: &mut (impl Read + ?Sized)) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
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

fn reading_error(name: &str, compression: Option<Compression>, cause: io::Error) -> Error {
    match compression {
        Some(compression) => unpacking_error(name, compression, cause),
        None => Error::io(name, "cannot read", cause),
    }
}

fn unpacking_error(name: &str, compression: Compression, cause: io::Error) -> Error {
    if cause.raw_os_error().is_some() {
        return Error::io(name, "cannot read", cause);
    }
    let what = match cause.kind() {
        io::ErrorKind::UnexpectedEof => format!("the {} data end too early", compression.name()),
        _ => format!("the {} data are damaged ({cause})", compression.name()),
    };
    Error::new(ErrorKind::Compression, name, what)
        .with_remedy(Remedy::say("fetch the file again"))
        .because(cause)
}

#[cfg(feature = "zstd")]
fn zstandard<'a>(packed: impl BufRead + 'a, name: &'a str) -> Result<Box<dyn Read + 'a>, Error> {
    let _ = name;
    Ok(Box::new(crate::zstd::Frames::new(packed)))
}

#[cfg(not(feature = "zstd"))]
fn zstandard<'a>(_packed: impl BufRead + 'a, name: &'a str) -> Result<Box<dyn Read + 'a>, Error> {
    let what = "zstd data, but this build has no zstd";
    Err(Error::new(ErrorKind::Compression, name, what)
        .with_remedy(Remedy::say("decompress the file, or build with the feature zstd")))
}
