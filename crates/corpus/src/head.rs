//! What the first bytes of a file say: compression, or that it is binary data.

use crate::Remedy;
use crate::error::{Error, ErrorKind};
use crate::utf16::Utf16;

/// The number of bytes from which the format is detected.
pub(crate) const HEAD_BYTES: usize = 1 << 16;

/// The number of bytes up to which zero bytes do not show whether a file is text.
const FEW_BYTES: usize = 4096;

/// The compression of a file.
#[derive(Clone, Copy)]
pub(crate) enum Packing {
    Gzip,
    Zstandard,
    Bzip2,
    Xz,
    Zip,
    Tar,
}

impl Packing {
    /// The compression of a file that begins with these bytes.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Self::Zstandard),
            // A skippable frame of zstd, with which files by pzstd and seekable files begin.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstandard),
            // The digits of pi before a block, those of its square root at the end of an empty file.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, ..] => Some(Self::Bzip2),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Self::Zip),
            _ => matches!(head.get(257..265), Some(b"ustar\x0000" | b"ustar  \0")).then_some(Self::Tar),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zip => "zip",
            Self::Tar => "tar",
        }
    }
}

/// Returns true if a file that begins with these bytes is neither text in UTF-8 or marked as UTF-16, nor compressed,
/// Parquet or a pickle. Readers refuse such files whatever follows. Text may hold zero bytes, but if it is longer than
/// 4 KB, not as a quarter of its bytes.
pub fn is_binary(head: &[u8]) -> bool {
    let is_known = Packing::of(head).is_some()
        || Utf16::of(head).is_some()
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
