//! Files that are read: captions and lists of ids, from paths or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, anyhow, bail};
use capeval::corpus::{self, Captions, ReadOptions, Role, SegmentId};
use capeval::evaluate::Prepared;
use capeval::evaluate::prepared::{MAGIC, Source};
use capeval::fluency::{Base, NgramModel, Record, records};
use capeval::frequencies::DocumentFrequencies;
use flate2::read::MultiGzDecoder;

use crate::fault::fault;
use crate::mapped::{self, Bytes};

/// The name under which standard input goes.
pub const STDIN: &str = "-";

/// The first bytes of gzipped data.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// Opens prepared references; `None` if the file is something else.
///
/// # Errors
/// When the file is damaged or of another version, or the references have changed since.
pub fn prepared(path: &str) -> Result<Option<Prepared>> {
    if path == STDIN {
        return Ok(None);
    }
    let bytes = open(path)?;
    if !bytes.as_ref().starts_with(&MAGIC) {
        return Ok(None);
    }
    let prepared = Prepared::open(Arc::new(bytes))
        .map_err(|error| anyhow!("{path}: {error}; prepare them again (capeval prepare)"))?;
    for source in &prepared.sources {
        if let Some(now) = self::source(&source.path)
            && (now.bytes != source.bytes || now.modified > source.modified)
        {
            return Err(fault(
                format!(
                    "{path}: these references are stale: {} has changed since they were prepared",
                    source.path
                ),
                "run `capeval prepare` again",
            ));
        }
    }
    Ok(Some(prepared))
}

/// Length and age of a file; `None` if there is no such file.
pub fn source(path: &str) -> Option<Source> {
    let metadata = std::fs::metadata(path).ok()?;
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |duration| duration.as_secs());
    Some(Source { path: path.to_owned(), bytes: metadata.len(), modified })
}

/// Reads a table of document frequencies, capeval's own or a pickle, which may be gzipped.
///
/// # Errors
/// When the file is anything else.
pub fn frequencies(path: &str, n_images: Option<u64>) -> Result<DocumentFrequencies> {
    let bytes = open(path)?;
    if bytes.as_ref().trim_ascii_start().starts_with(b"{") || bytes.as_ref().starts_with(b"[") {
        return Err(fault(
            format!("{path}: this is JSON, not a table of document frequencies"),
            "give a file that `capeval df build` wrote, or a pickle such as coco-val-df.p",
        ));
    }
    let table = match unpacked(path, bytes.as_ref())? {
        Some(unpacked) => DocumentFrequencies::read(&unpacked, n_images),
        None => DocumentFrequencies::read(bytes.as_ref(), n_images),
    };
    table.with_context(|| path.to_owned())
}

/// What gzipped bytes hold; `None` for others.
fn unpacked(path: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    if !bytes.starts_with(&GZIP) {
        return Ok(None);
    }
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut unpacked).map_err(|error| {
        fault(format!("{path}: the gzip data are damaged or cut off ({error})"), "fetch the file again")
    })?;
    Ok(Some(unpacked))
}

/// Reads an n-gram model from an ARPA file, which may be gzipped.
///
/// # Errors
/// When the file is anything else.
pub fn language_model(path: &str) -> Result<NgramModel> {
    let bytes = open(path)?;
    let model = match unpacked(path, bytes.as_ref())? {
        Some(unpacked) => NgramModel::read_arpa(&unpacked[..]),
        None => NgramModel::read_arpa(bytes.as_ref()),
    };
    model.map_err(|error| match error.line() {
        Some(_) => anyhow!("{path}, {error}"),
        None if bytes.as_ref().starts_with(b"mmap lm") => {
            fault(format!("{path}: this is KenLM's binary form"), "give the ARPA file that it was built from")
        }
        None => anyhow!("{path}: {error}"),
    })
}

/// Reads the probabilities that a model gave to tokens: JSON Lines or Parquet, which may be gzipped.
///
/// # Errors
/// When the file holds anything else.
pub fn probabilities(path: &str, base: Base) -> Result<Vec<Record>> {
    let bytes = if path == STDIN {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        bytes
    } else {
        open(path)?.as_ref().to_vec()
    };
    let bytes = unpacked(path, &bytes)?.unwrap_or(bytes);
    let records = if bytes.starts_with(b"PAR1") {
        #[cfg(feature = "parquet")]
        let records = capeval::fluency::parquet::read(bytes, base);
        #[cfg(not(feature = "parquet"))]
        bail!(
            "{path}: this is Parquet, which this program was built without; build it with --features parquet"
        );
        #[cfg(feature = "parquet")]
        records
    } else {
        records::read(&bytes[..], base)
    };
    records.map_err(|error| {
        let what = format!("{path}{} {error}", if error.line().is_some() { "," } else { ":" });
        // A file that fails at once may be one of another kind.
        match error.line() {
            None | Some(1) => fault(what, "pass --lm ARPA to score captions, if the file holds captions"),
            Some(_) => anyhow!(what),
        }
    })
}

/// Reads captions from the file `path`, or from standard input for `-`.
pub fn captions(path: &str, options: &ReadOptions) -> Result<Captions> {
    Ok(if path == STDIN {
        corpus::read(io::stdin().lock(), path, options)?
    } else {
        let bytes = open(path)?;
        refuse_own(path, bytes.as_ref(), options.role)?;
        corpus::read_bytes(bytes.as_ref(), path, options)?
    })
}

/// Refuses files that capeval wrote itself, and says where they belong.
fn refuse_own(path: &str, bytes: &[u8], role: Role) -> Result<()> {
    if bytes.starts_with(&MAGIC) {
        match role {
            Role::Candidates => {
                return Err(fault(
                    format!("{path}: these are prepared references, not candidates"),
                    "pass them with --references",
                ));
            }
            _ => {
                return Err(fault(
                    format!("{path}: these are prepared references, which cannot be combined with others"),
                    "pass them alone",
                ));
            }
        }
    }
    if bytes.starts_with(&capeval::frequencies::file::MAGIC) {
        return Err(fault(format!("{path}: this is a table of document frequencies"), "pass it with --df"));
    }
    Ok(())
}

/// Reads a list of ids: one per line, or a JSON array.
pub fn ids(path: &str) -> Result<Vec<SegmentId>> {
    let text = text(path)?;
    if text.trim_start().starts_with('[') {
        let values: Vec<serde_json::Value> =
            serde_json::from_str(&text).with_context(|| format!("{path}: not a JSON array of ids"))?;
        return values
            .iter()
            .map(|value| id(value).with_context(|| format!("{path}: {value} is no id")))
            .collect();
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(SegmentId::from_untyped).collect())
}

fn id(value: &serde_json::Value) -> Option<SegmentId> {
    match value {
        serde_json::Value::String(text) => Some(text.as_str().into()),
        _ => value.as_i64().map(SegmentId::from),
    }
}

/// Reads all bytes.
pub fn bytes(path: &str) -> Result<Vec<u8>> {
    if path == STDIN {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        Ok(bytes)
    } else {
        Ok(open(path)?.as_ref().to_vec())
    }
}

/// Reads a whole text.
pub fn text(path: &str) -> Result<String> {
    String::from_utf8(bytes(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        fault(format!("{path}: invalid UTF-8 at byte {at}"), "save the file as UTF-8")
    })
}

/// Opens a file and maps its bytes.
pub fn open(path: &str) -> Result<Bytes> {
    if Path::new(path).is_dir() {
        return Err(fault(format!("{path}: this is a directory"), "give a file"));
    }
    let file =
        File::open(path).map_err(|error| anyhow!("{path}: cannot open the file: {}", plain(&error)))?;
    mapped::bytes(file).map_err(|error| anyhow!("{path}: cannot read the file: {}", plain(&error)))
}

/// An error of the operating system without Rust's `(os error 2)`.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
