//! Test data outside of the repository: real captions, and the installed data of METEOR and SPICE.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::skip;

/// The folder of real data, which CONTRIBUTING.md describes: [`FOLDER`], or `shared` beside the checkout.
fn folder() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).map(|parent| parent.join("shared"));
    variable(FOLDER).or(beside).unwrap()
}

/// The setting that names the folder of real data.
pub const FOLDER: &str = "CAPEVAL_TEST_DATA";

/// A file in the folder of real data; `None`, and the test is skipped, where it is missing.
pub fn real(name: &str) -> Option<PathBuf> {
    let path = folder().join(name);
    if path.exists() {
        return Some(path);
    }
    skip("test-data", &format!("{} is missing", path.display()));
    None
}

/// The content of such a file, unpacked.
pub fn real_bytes(name: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(real(name)?).unwrap();
    if !name.ends_with(".gz") {
        return Some(bytes);
    }
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).unwrap();
    Some(unpacked)
}

/// The text of such a file, unpacked.
pub fn real_text(name: &str) -> Option<String> {
    real_bytes(name).map(|bytes| String::from_utf8(bytes).unwrap())
}

/// The installed file of `meteor` or `spice`; `None`, and the test is skipped, where there is none.
pub fn installed(name: &str) -> Option<PathBuf> {
    let file = if name == "meteor" { "meteor-1.5.bin" } else { "spice-1.0.bin" };
    let home = |below: &str| variable("HOME").map(|home| home.join(below));
    let base = if cfg!(target_os = "macos") {
        home("Library/Application Support")
    } else {
        variable("XDG_DATA_HOME").or_else(|| home(".local/share"))
    };
    let folder = variable("CAPEVAL_DATA").or_else(|| Some(base?.join("capeval")));
    let path = folder.map(|folder| folder.join(file)).filter(|path| path.exists());
    if path.is_none() {
        skip(name, &format!("the data of {name} are not installed"));
    }
    path
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
