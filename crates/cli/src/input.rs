//! Files that are read: captions and lists of ids, from paths or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use capeval::corpus::{self, Captions, ReadOptions, Role, SegmentId};

use crate::mapped::{self, Bytes};

/// The name under which standard input goes.
pub const STDIN: &str = "-";

/// Reads captions from the file `path`, or from standard input for `-`.
pub fn captions(path: &str, options: &ReadOptions) -> Result<Captions> {
    let captions = if path == STDIN {
        corpus::read(io::stdin().lock(), path, options)
    } else {
        corpus::read_bytes(open(path)?.as_ref(), path, options)
    };
    // The library's `--format` has two names here.
    captions.map_err(|error| {
        let flag = match options.role {
            Role::References => "pass --ref-format",
            Role::Candidates => "pass --input-format",
        };
        anyhow!("{}", error.to_string().replace("pass --format", flag))
    })
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

/// Reads a whole text.
pub fn text(path: &str) -> Result<String> {
    let bytes = if path == STDIN {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        bytes
    } else {
        open(path)?.as_ref().to_vec()
    };
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow!("{path}: invalid UTF-8 at byte {at}; save the file as UTF-8")
    })
}

/// Opens a file and maps its bytes.
pub fn open(path: &str) -> Result<Bytes> {
    if Path::new(path).is_dir() {
        bail!("{path}: this is a directory; give a file");
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
