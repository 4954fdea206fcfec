//! A member of a jar that is itself in an archive, from a stream that is read no farther than the member.
//!
//! The directory of a jar is at its end, so the members before the wanted one are read one after another. Those of Java
//! say how long they are only behind their data, so compressed ones are unpacked to find their ends.

use std::io::{self, BufRead, BufReader, Read, Seek, Write};

use flate2::bufread::DeflateDecoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The signatures of a member, and of the lengths behind its data.
const MEMBER: [u8; 4] = *b"PK\x03\x04";
const LENGTHS: [u8; 4] = *b"PK\x07\x08";

/// Bits of a member's flags: its data are encrypted; its lengths follow the data.
const ENCRYPTED: u16 = 1;
const LENGTHS_FOLLOW: u16 = 1 << 3;

/// Ways of compression.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Copies the member `name` of the jar that a stream contains into a jar of its own; false if there is no such member.
/// The sum of its bytes is checked.
///
/// # Errors
/// When the stream fails or the jar is damaged; of the kind `Unsupported` when this is no way to read it.
pub(super) fn copy_member(jar: impl Read, name: &str, out: impl Write + Seek) -> io::Result<bool> {
    let mut jar = BufReader::with_capacity(1 << 16, jar);
    while let Some(head) = Head::read(&mut jar)? {
        if head.name != name.as_bytes() {
            head.data(&mut jar, &mut io::sink())?;
            continue;
        }
        let mut copy = ZipWriter::new(out);
        copy.start_file(name, SimpleFileOptions::default())?;
        let mut summed = SumWriter { out: copy.by_ref(), sum: crc32fast::Hasher::new() };
        let told = head.data(&mut jar, &mut summed)?;
        if summed.sum.finalize() != told {
            return Err(damaged());
        }
        copy.finish()?;
        return Ok(true);
    }
    Ok(false)
}

/// The head of a member.
struct Head {
    name: Vec<u8>,
    flags: u16,
    method: u16,
    sum: u32,
    compressed: u64,
    /// True if lengths have eight bytes.
    is_long: bool,
}

impl Head {
    /// The next member; `None` behind the last one.
    fn read(jar: &mut impl BufRead) -> io::Result<Option<Self>> {
        if array(jar)? != MEMBER {
            return Ok(None);
        }
        let fixed: [u8; 26] = array(jar)?;
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let long = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let mut name = vec![0; usize::from(short(22))];
        jar.read_exact(&mut name)?;
        let mut extra = vec![0; usize::from(short(24))];
        jar.read_exact(&mut extra)?;
        let lengths = long_lengths(&extra);
        let compressed = match (long(14), lengths) {
            (u32::MAX, Some(Some(compressed))) => compressed,
            (compressed, _) => u64::from(compressed),
        };
        let is_long = lengths.is_some();
        Ok(Some(Self { name, flags: short(2), method: short(4), sum: long(10), compressed, is_long }))
    }

    /// Unpacks the data, and returns the sum that the jar tells of them.
    fn data(&self, jar: &mut impl BufRead, out: &mut dyn Write) -> io::Result<u32> {
        let follow = self.flags & LENGTHS_FOLLOW != 0;
        match self.method {
            _ if self.flags & ENCRYPTED != 0 => return Err(io::ErrorKind::Unsupported.into()),
            STORED if !follow => {
                let n = io::copy(&mut jar.by_ref().take(self.compressed), out)?;
                if n < self.compressed {
                    return Err(damaged());
                }
            }
            DEFLATED if !follow => {
                let mut data = jar.by_ref().take(self.compressed);
                io::copy(&mut DeflateDecoder::new(&mut data), out)?;
                io::copy(&mut data, &mut io::sink())?;
            }
            DEFLATED => drop(io::copy(&mut DeflateDecoder::new(jar.by_ref()), out)?),
            _ => return Err(io::ErrorKind::Unsupported.into()),
        }
        if !follow {
            return Ok(self.sum);
        }
        let mut sum = array(jar)?;
        if sum == LENGTHS {
            sum = array(jar)?;
        }
        match self.is_long {
            true => drop(array::<16>(jar)?),
            false => drop(array::<8>(jar)?),
        }
        Ok(u32::from_le_bytes(sum))
    }
}

/// The compressed length of eight bytes in the extra fields of a member, if it is there; `None` if lengths are short.
fn long_lengths(extra: &[u8]) -> Option<Option<u64>> {
    let mut rest = extra;
    while let Some((head, behind)) = rest.split_first_chunk::<4>() {
        let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
        let field = behind.get(..length)?;
        if [head[0], head[1]] == [1, 0] {
            // The length before compression comes first.
            let bytes = field.get(8..16).and_then(|bytes| bytes.try_into().ok());
            return Some(bytes.map(u64::from_le_bytes));
        }
        rest = &behind[length..];
    }
    None
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the jar in it is damaged")
}

/// A writer that sums up what it writes.
struct SumWriter<W> {
    out: W,
    sum: crc32fast::Hasher,
}

impl<W: Write> Write for SumWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.sum.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use zip::{CompressionMethod, ZipArchive};

    use super::*;

    fn files(zip: &mut ZipWriter<impl Write + Seek>, method: CompressionMethod) {
        let options = SimpleFileOptions::default().compression_method(method);
        for (name, content) in
            [("before", &b"some text ".repeat(99)[..]), ("grammar", b"S -> NP VP"), ("behind", b"x")]
        {
            zip.start_file(name, options).unwrap();
            zip.write_all(content).unwrap();
        }
    }

    /// The jar with its lengths before the data, or behind them.
    fn jar(method: CompressionMethod, follow: bool) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        if follow {
            let mut zip = ZipWriter::new_stream(&mut out);
            let options = SimpleFileOptions::default().compression_method(method);
            for (name, content) in [("before", &b"some text ".repeat(99)[..]), ("grammar", b"S -> NP VP")] {
                zip.start_file(name, options).unwrap();
                zip.write_all(content).unwrap();
            }
            zip.finish().unwrap();
        } else {
            let mut zip = ZipWriter::new(&mut out);
            files(&mut zip, method);
            zip.finish().unwrap();
        }
        out.into_inner()
    }

    fn copied(jar: &[u8], name: &str) -> io::Result<Option<Vec<u8>>> {
        let mut out = Cursor::new(Vec::new());
        if !copy_member(jar, name, &mut out)? {
            return Ok(None);
        }
        let mut content = Vec::new();
        ZipArchive::new(out)?.by_name(name)?.read_to_end(&mut content)?;
        Ok(Some(content))
    }

    #[test]
    fn a_member_is_copied_wherever_its_lengths_stand() {
        for (method, follow) in [
            (CompressionMethod::Deflated, false),
            (CompressionMethod::Stored, false),
            (CompressionMethod::Deflated, true),
        ] {
            let jar = jar(method, follow);
            assert_eq!(copied(&jar, "grammar").unwrap().unwrap(), b"S -> NP VP", "{method} {follow}");
            assert_eq!(copied(&jar, "other").unwrap(), None);
        }
        let unknown = copied(&jar(CompressionMethod::Stored, true), "grammar").unwrap_err();
        assert_eq!(unknown.kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn a_damaged_jar_is_refused_and_no_bytes_panic() {
        let whole = jar(CompressionMethod::Deflated, true);
        for end in 0..whole.len() {
            let _ = copied(&whole[..end], "grammar");
        }
        let mut refused = 0;
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 0xFF;
            refused += usize::from(
                !matches!(copied(&other, "grammar"), Ok(Some(content)) if content == b"S -> NP VP"),
            );
            assert!(
                !matches!(copied(&other, "grammar"), Ok(Some(content)) if content != b"S -> NP VP"),
                "byte {at}"
            );
        }
        assert!(refused > 20, "{refused}");
    }
}
