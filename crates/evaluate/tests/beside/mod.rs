//! The golden files that lie beside the project, where they do.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The path of a shared file; `None`, with a word on it, if there is none.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var("CAPEVAL_SHARED")
        .map_or_else(|_| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join(path);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// A JSON file, which may be gzipped.
pub fn json(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    serde_json::from_str(&text).unwrap()
}
