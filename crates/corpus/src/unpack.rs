//! Unpacks what files come in: compression, and archives in which it is clear which file is meant.

use std::borrow::Cow;
use std::io::{self, Cursor, Read};

use bzip2::bufread::MultiBzDecoder;
use capeval_choice::Argument;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::Remedy;
use crate::error::{Error, ErrorKind};
use crate::head::{HEAD_BYTES, Packing, is_binary};
use crate::zstd::Frames;

/// Compressed data may decompress to this many bytes, or to [`MAX_RATIO`] times their own number.
const UNPACKED_BYTES: usize = 64_000_000;

/// Text and JSON decompress to 3 to 30 times their compressed size, data that are made to fill memory to 1000 times.
const MAX_RATIO: usize = 50;

/// The largest number of layers of compression: `.tar.gz` has two, and a download may compress a file that was
/// compressed before.
const MOST_LAYERS: usize = 2;

/// The memory that xz may use for its dictionary, in KiB: four times what `xz -9` uses.
const XZ_MEMORY: u32 = 256 << 10;

/// The ends of the names of compressed files; of two that fit, the longer one stands first.
const ENDS: [&str; 12] = [
    ".tar.gz", ".tar.zst", ".tar.bz2", ".tar.xz", ".tgz", ".gz", ".zst", ".zstd", ".bz2", ".xz", ".zip",
    ".tar",
];

/// The ends of the names of files that are data, in archives in which there are others, too.
const DATA: [&str; 6] = [".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet"];

/// The name of a file without the extension of its compression: `a.csv` for `a.csv.gz`.
pub fn unpacked_name(name: &str) -> &str {
    ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// The content of a file.
pub(crate) struct UnpackedFile<'b> {
    pub content: Cow<'b, [u8]>,
    /// The name of the file in the archive that it came in.
    pub member: Option<String>,
    /// Compression, archives and encodings, the outermost first.
    pub packing: Vec<&'static str>,
}

/// Decompresses `bytes` as often as they are compressed; errors call them `name`.
pub(crate) fn unpack<'b>(bytes: &'b [u8], name: &str, no_limits: bool) -> Result<UnpackedFile<'b>, Error> {
    let limit =
        if no_limits { usize::MAX } else { UNPACKED_BYTES.max(bytes.len().saturating_mul(MAX_RATIO)) };
    let mut unpacked = UnpackedFile { content: Cow::Borrowed(bytes), member: None, packing: Vec::new() };
    for _ in 0..MOST_LAYERS {
        let Some(packing) = Packing::of(&unpacked.content) else { return Ok(unpacked) };
        let (content, member) = Layer { packing, name, limit }.unpack(&unpacked.content)?;
        unpacked.packing.push(packing.name());
        unpacked.member = member.or(unpacked.member);
        unpacked.content = Cow::Owned(content);
    }
    let Some(packing) = Packing::of(&unpacked.content) else { return Ok(unpacked) };
    let message = format!("compressed more than {MOST_LAYERS} times, at last with {}", packing.name());
    Err(Error::new(ErrorKind::Compression, name, message)
        .with_remedy(Remedy::say("decompress the file first")))
}

/// A file in an archive: its name and its content.
pub type Member = (String, Vec<u8>);

/// The files in an archive by zip or tar, which may be compressed once more, with their contents if `is_wanted` says so
/// of their names; `None` if the bytes are no archive. Files whose content is binary are cut after their first bytes.
pub fn members(
    bytes: &[u8],
    name: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Option<Vec<Member>>, Error> {
    let limit = UNPACKED_BYTES.max(bytes.len().saturating_mul(MAX_RATIO));
    let layer = |packing| Layer { packing, name, limit };
    let mut bytes = Cow::Borrowed(bytes);
    for _ in 0..MOST_LAYERS {
        match Packing::of(&bytes) {
            Some(Packing::Zip) => {
                let layer = layer(Packing::Zip);
                let (mut archive, files) = layer.zipped(&bytes)?;
                let mut found = Vec::new();
                for (file, at) in files.into_iter().filter(|(file, _)| is_wanted(file)) {
                    let content = archive.by_index(at).map_err(|error| layer.zip_fault(error))?;
                    found.push((file, layer.read(content)?));
                }
                return Ok(Some(found));
            }
            Some(Packing::Tar) => {
                let layer = layer(Packing::Tar);
                let files = layer.tarred(&bytes)?.into_iter().filter(|(file, _)| is_wanted(file));
                return files
                    .map(|(file, content)| Ok((file, layer.read(content)?)))
                    .collect::<Result<_, _>>()
                    .map(Some);
            }
            Some(packing) => {
                let content = layer(packing).unpack(&bytes)?.0;
                bytes = Cow::Owned(content);
            }
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// An archive by zip, and the files in it with their numbers.
type ZipFiles<'b> = (ZipArchive<Cursor<&'b [u8]>>, Vec<(String, usize)>);

/// One layer of compression of the file `name`, and the number of bytes to which it may decompress.
struct Layer<'n> {
    packing: Packing,
    name: &'n str,
    limit: usize,
}

impl Layer<'_> {
    /// The content, and the name of the file in an archive.
    fn unpack(&self, bytes: &[u8]) -> Result<(Vec<u8>, Option<String>), Error> {
        let content = match self.packing {
            Packing::Gzip => self.read(MultiGzDecoder::new(bytes)),
            Packing::Zstandard => self.read(Frames::new(bytes)),
            Packing::Bzip2 => self.read(MultiBzDecoder::new(bytes)),
            Packing::Xz => self.read(XzReader::new_mem_limit(bytes, true, XZ_MEMORY)),
            Packing::Zip => return self.unzip(bytes),
            Packing::Tar => return self.untar(bytes),
        };
        Ok((content?, None))
    }

    fn unzip(&self, bytes: &[u8]) -> Result<(Vec<u8>, Option<String>), Error> {
        let (mut archive, files) = self.zipped(bytes)?;
        let (file, at) = self.choose(files)?;
        let content = self.read(archive.by_index(at).map_err(|error| self.zip_fault(error))?)?;
        Ok((content, Some(file)))
    }

    /// An archive by zip, and the files in it with their numbers.
    fn zipped<'b>(&self, bytes: &'b [u8]) -> Result<ZipFiles<'b>, Error> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| self.zip_fault(error))?;
        let names = (0..archive.len()).filter_map(|at| Some((archive.name_for_index(at)?, at)));
        let named =
            names.map(|(file, at)| Ok((file.map_err(|error| self.zip_fault(error))?.into_owned(), at)));
        let mut files = named.collect::<Result<Vec<_>, Error>>()?;
        files.retain(|(file, _)| !file.ends_with('/'));
        Ok((archive, files))
    }

    fn zip_fault(&self, error: ZipError) -> Error {
        match error {
            ZipError::UnsupportedArchive(what) => {
                let message = format!("the zip archive cannot be read ({what})");
                Error::new(ErrorKind::Compression, self.name, message)
                    .with_remedy(Remedy::say("unpack it, and give the file in it"))
            }
            error => self.damage(error.into()),
        }
    }

    fn untar(&self, bytes: &[u8]) -> Result<(Vec<u8>, Option<String>), Error> {
        let (file, content) = self.choose(self.tarred(bytes)?)?;
        Ok((self.read(content)?, Some(file)))
    }

    /// The files in an archive by tar.
    fn tarred<'b>(&self, bytes: &'b [u8]) -> Result<Vec<(String, &'b [u8])>, Error> {
        let mut files = Vec::new();
        let mut archive = tar::Archive::new(bytes);
        for entry in archive.entries().map_err(|cause| self.damage(cause))? {
            let entry = entry.map_err(|cause| self.damage(cause))?;
            if entry.header().entry_type().is_file() {
                let start = usize::try_from(entry.raw_file_position()).ok();
                let range = start.zip(usize::try_from(entry.size()).ok());
                let content = range.and_then(|(start, length)| bytes.get(start..)?.get(..length));
                let content = content.ok_or_else(|| self.damage(io::ErrorKind::UnexpectedEof.into()))?;
                files.push((String::from_utf8_lossy(&entry.path_bytes()).into_owned(), content));
            }
        }
        Ok(files)
    }

    /// The file of an archive that is meant: the only one that is not hidden, or the only one with the name of data.
    fn choose<T>(&self, mut files: Vec<(String, T)>) -> Result<(String, T), Error> {
        let wrong = |message: String, remedy: &'static str| {
            Err(Error::new(ErrorKind::Format, self.name, message).with_remedy(Remedy::say(remedy)))
        };
        if files.iter().any(|(file, _)| file == "[Content_Types].xml" || file == "mimetype") {
            return wrong("looks like a spreadsheet or another document".to_owned(), "export it as CSV");
        }
        if files.iter().any(|(file, _)| file.ends_with("data.pkl")) {
            let message = "looks like a checkpoint of PyTorch, which is a Python pickle".to_owned();
            return wrong(message, "load it in Python, and write the captions as JSON");
        }
        let is_hidden =
            |part: &str| part == "__MACOSX" || (part.starts_with('.') && !matches!(part, "." | ".."));
        files.retain(|(file, _)| !file.split('/').any(is_hidden));
        let is_data = |file: &str| DATA.iter().any(|end| unpacked_name(file).ends_with(end));
        if files.iter().filter(|(file, _)| is_data(file)).count() == 1 {
            files.retain(|(file, _)| is_data(file));
        }
        const SHOWN: usize = 5;
        let name = self.packing.name();
        match <[_; 1]>::try_from(files) {
            Ok([file]) => Ok(file),
            Err(files) if files.is_empty() => {
                wrong(format!("the {name} archive holds no file"), "give the file itself")
            }
            Err(files) => {
                let mut shown: Vec<&str> = files.iter().take(SHOWN).map(|(file, _)| file.as_str()).collect();
                shown.extend((files.len() > SHOWN).then_some("…"));
                let message = format!("the {name} archive holds {} files: {}", files.len(), shown.join(", "));
                wrong(message, "unpack it, and give one of them")
            }
        }
    }

    /// Everything that `reader` gives; only the first bytes of binary data.
    fn read(&self, mut reader: impl Read) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        let damaged = |cause| self.damage(cause);
        reader.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut content).map_err(damaged)?;
        if is_binary(&content) {
            return Ok(content);
        }
        let room = (self.limit - content.len()).saturating_add(1) as u64;
        reader.take(room).read_to_end(&mut content).map_err(damaged)?;
        if content.len() > self.limit {
            let message = format!(
                "the {} data unpack to more than {} MB, over {MAX_RATIO} times their size",
                self.packing.name(),
                UNPACKED_BYTES / 1_000_000
            );
            let remedy = Remedy::give(Argument::NoLimits).to("read them anyway");
            return Err(Error::new(ErrorKind::TooLarge, self.name, message).with_remedy(remedy));
        }
        Ok(content)
    }

    fn damage(&self, cause: io::Error) -> Error {
        if cause.raw_os_error().is_some() {
            return Error::io(self.name, "cannot read", cause);
        }
        let packing = self.packing.name();
        if cause.kind() == io::ErrorKind::OutOfMemory {
            let what = format!("there is not enough memory to unpack the {packing} data");
            return Error::new(ErrorKind::TooLarge, self.name, what)
                .with_remedy(Remedy::say("allow more memory"))
                .because(cause);
        }
        let what = match cause.kind() {
            io::ErrorKind::UnexpectedEof => format!("the {packing} data end too early"),
            _ => format!("the {packing} data are damaged ({cause})"),
        };
        Error::new(ErrorKind::Compression, self.name, what)
            .with_remedy(Remedy::say("fetch the file again"))
            .because(cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_is_no_damage() {
        let layer = Layer { packing: Packing::Gzip, name: "f.gz", limit: UNPACKED_BYTES };
        let error = layer.damage(io::ErrorKind::OutOfMemory.into());
        assert!(error.to_string().contains("not enough memory"), "{error}");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }
}
