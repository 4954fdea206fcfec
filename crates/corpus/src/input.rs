//! Which bytes are these? Decompression, byte order mark and UTF-8, before any format.

use std::borrow::Cow;
use std::io::{self, Read};

use capeval_choice::Argument;
use flate2::bufread::MultiGzDecoder;

use crate::Remedy;
use crate::error::{Error, ErrorKind, Position};

/// The number of bytes from which the format is detected.
pub(crate) const HEAD_BYTES: usize = 1 << 16;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Compressed data may unpack to this many bytes, or to [`MAX_RATIO`] times their own number.
const UNPACKED_BYTES: usize = 64_000_000;

/// Text and JSON unpack to 3 to 30 times their compressed size, data that are made to fill memory to 1000 times.
const MAX_RATIO: usize = 50;

/// A source under its name, for errors, with its uncompressed bytes.
pub(crate) struct Source<'a> {
    pub name: &'a str,
    bytes: Cow<'a, [u8]>,
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

/// How often data may be compressed. A download may pack a file that was packed before.
const MOST_LAYERS: usize = 2;

/// The content of `bytes`, decompressed if they are compressed with gzip or zstd, also twice, and in UTF-8 if they
/// begin with the byte order mark of UTF-16; errors call them `name`.
///
/// # Errors
/// If the data are damaged, or, unless `no_limits`, unpack to more than 64 MB and to more than 50 times their size.
pub fn unpack<'b>(bytes: &'b [u8], name: &str, no_limits: bool) -> Result<Cow<'b, [u8]>, Error> {
    let limit =
        if no_limits { usize::MAX } else { UNPACKED_BYTES.max(bytes.len().saturating_mul(MAX_RATIO)) };
    let mut content = Cow::Borrowed(bytes);
    for _ in 0..MOST_LAYERS {
        let Some(compression) = Compression::of(&content) else { break };
        content = Cow::Owned(decompressed(&content, compression, name, limit)?);
    }
    if let Some(compression) = Compression::of(&content) {
        let message =
            format!("compressed more than {MOST_LAYERS} times, at last with {}", compression.name());
        let remedy = Remedy::say("decompress the file first");
        return Err(Error::new(ErrorKind::Compression, name, message).with_remedy(remedy));
    }
    Ok(match Wide::of(&content) {
        Some(wide) => Cow::Owned(wide.to_utf8(&content, name)?.into_bytes()),
        None => content,
    })
}

/// The decompressed content of `bytes`, of at most `limit` bytes; only the first bytes of binary data.
fn decompressed(bytes: &[u8], compression: Compression, name: &str, limit: usize) -> Result<Vec<u8>, Error> {
    let damaged = |cause| unpacking_error(name, compression, cause);
    let mut reader: Box<dyn Read + '_> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(bytes)),
        Compression::Zstandard => zstandard(bytes, name)?,
    };
    let mut unpacked = Vec::new();
    reader.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut unpacked).map_err(damaged)?;
    if is_binary(&unpacked) {
        return Ok(unpacked);
    }
    let room = (limit - unpacked.len()).saturating_add(1) as u64;
    reader.take(room).read_to_end(&mut unpacked).map_err(damaged)?;
    if unpacked.len() > limit {
        let message = format!(
            "the {} data unpack to more than {} MB, over {MAX_RATIO} times their size",
            compression.name(),
            UNPACKED_BYTES / 1_000_000
        );
        let remedy = Remedy::give(Argument::NoLimits).to("read them anyway");
        return Err(Error::new(ErrorKind::TooLarge, name, message).with_remedy(remedy));
    }
    Ok(unpacked)
}

/// The order of the bytes of UTF-16, which programs on Windows write, with a byte order mark.
#[derive(Clone, Copy)]
enum Wide {
    Little,
    Big,
}

impl Wide {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            // The mark of UTF-32.
            [0xFF, 0xFE, 0, 0, ..] => None,
            [0xFF, 0xFE, ..] => Some(Self::Little),
            [0xFE, 0xFF, ..] => Some(Self::Big),
            _ => None,
        }
    }

    /// The text after the mark.
    fn to_utf8(self, bytes: &[u8], name: &str) -> Result<String, Error> {
        let wrong = |at: usize| {
            let byte = 2 * at as u64 + 2;
            Error::new(ErrorKind::Encoding, name, "invalid UTF-16")
                .with_remedy(Remedy::say("save the file as UTF-8"))
                .at(Position { byte: Some(byte), ..Position::default() })
        };
        let (units, odd) = bytes.get(2..).unwrap_or_default().as_chunks::<2>();
        if !odd.is_empty() {
            return Err(wrong(units.len()));
        }
        let units = units.iter().map(|unit| match self {
            Self::Little => u16::from_le_bytes(*unit),
            Self::Big => u16::from_be_bytes(*unit),
        });
        let (mut text, mut at) = (String::with_capacity(bytes.len()), 0);
        for character in char::decode_utf16(units) {
            let character = character.map_err(|_| wrong(at))?;
            at += character.len_utf16();
            text.push(character);
        }
        Ok(text)
    }
}

/// The number of bytes up to which zero bytes do not show whether a file is text.
const FEW_BYTES: usize = 4096;

/// Whether a file that begins with these bytes is neither text in UTF-8 or marked as UTF-16, nor compressed, Parquet
/// or a pickle. Readers refuse such files whatever follows. Text may hold zero bytes, but if it is longer than 4 KB,
/// not as a quarter of its bytes.
pub fn is_binary(head: &[u8]) -> bool {
    let is_known = Compression::of(head).is_some()
        || Wide::of(head).is_some()
        || matches!(head, [b'P', b'A', b'R', b'1', ..] | [0x80, 2..=5, ..]);
    let is_text = || std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    let n_zeros = || memchr::memchr_iter(0, head).count();
    !is_known && (!is_text() || (head.len() > FEW_BYTES && 4 * n_zeros() > head.len()))
}

/// The error for binary data.
pub(crate) fn binary(name: &str) -> Error {
    Error::new(ErrorKind::Format, name, "holds binary data, not text")
        .with_remedy(Remedy::say("give text in UTF-8, or in UTF-16 with a byte order mark, or Parquet"))
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
        Ok(Self { name, bytes: unpack(bytes, name, no_limits)? })
    }

    /// A source of uncompressed text.
    pub fn from_text(text: &'a str, name: &'a str) -> Self {
        Self { name, bytes: Cow::Borrowed(text.as_bytes()) }
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
        Lines { name: self.name, rest: bytes, number: 0, next }
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
    rest: &'a [u8],
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
        let length = memchr::memchr(b'\n', self.rest).map_or(self.rest.len(), |end| end + 1);
        let (line, rest) = self.rest.split_at(length);
        let start = self.next;
        self.rest = rest;
        self.number += 1;
        self.next += length as u64;
        let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
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
fn zstandard<'a>(packed: &'a [u8], name: &str) -> Result<Box<dyn Read + 'a>, Error> {
    let _ = name;
    Ok(Box::new(crate::zstd::Frames::new(packed)))
}

#[cfg(not(feature = "zstd"))]
fn zstandard<'a>(_packed: &'a [u8], name: &str) -> Result<Box<dyn Read + 'a>, Error> {
    let what = "zstd data, but this build has no zstd";
    Err(Error::new(ErrorKind::Compression, name, what)
        .with_remedy(Remedy::say("decompress the file, or build with the feature zstd")))
}
