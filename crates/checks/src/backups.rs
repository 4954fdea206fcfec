//! No rows and no manifest of a backup make the check of backups panic: rows with a correct manifest, or, after a
//! zero, a manifest.

use std::fs;
use std::io::Write;
use std::sync::LazyLock;

use capeval_site::backup::{self, Entry, Manifest};
use capeval_site::feature::{self, Features};
use capeval_site::ids;
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

pub const FEATURES: Features =
    &[&capeval_site::BASE, &capeval_benchmarks::FEATURE, &capeval_collections::FEATURE];

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("there is space"));

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("threads can be started"));

/// The name of the rows.
const ROWS: &str = "database.jsonl.gz";

/// Writes rows, and returns their manifest.
fn written(rows: &[u8]) -> Manifest {
    let mut file = GzEncoder::new(Vec::new(), Compression::fast());
    file.write_all(rows).expect("writing to a vector cannot fail");
    let file = file.finish().expect("writing to a vector cannot fail");
    let sha256 = ids::digest_of(&file[..]).expect("a vector can be read");
    fs::write(FOLDER.path().join(ROWS), &file).expect("there is space");
    Manifest {
        format: 1,
        program: String::new(),
        tables: feature::schema(FEATURES).version(),
        database: String::new(),
        made_at: String::new(),
        files: vec![Entry { path: ROWS.to_owned(), size: file.len() as u64, sha256 }],
        missing: Vec::new(),
    }
}

pub fn check(bytes: &[u8]) {
    let path = FOLDER.path().join("manifest.json");
    match bytes {
        [0, manifest @ ..] => {
            fs::write(path, manifest).expect("there is space");
            let _ = Manifest::read(FOLDER.path()).map(|read| read.differences(FOLDER.path()));
        }
        rows => {
            let manifest = serde_json::to_vec(&written(rows)).expect("a manifest is JSON");
            fs::write(path, manifest).expect("there is space");
            let _ = RUNTIME.block_on(backup::check(FOLDER.path(), FEATURES));
        }
    }
}
