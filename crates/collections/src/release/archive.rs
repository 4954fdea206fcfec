//! Archives that are equal byte for byte whenever they are built from the same files: stored, in a fixed order, with
//! fixed times.

use std::fs::File;
use std::io::{self, Seek, Write};

use capeval_site::blobs::Blobs;
use capeval_site::reason;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::content::Content;
use super::files::{self, TextFile};

/// The most bytes of an archive.
pub const LARGEST: u64 = 1 << 30;

/// The bytes that a file takes in an archive besides its content and twice its name, at most.
const OVERHEAD: u64 = 200;

/// A file to be archived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Content that was made.
    Made(TextFile),
    /// A blob with its path in the archive.
    Blob {
        path: String,
        hash: String,
        /// The size in bytes.
        size: u64,
    },
}

impl Entry {
    /// The bytes that it takes in an archive, at most.
    fn room(&self) -> u64 {
        let (path, size) = match self {
            Self::Made(file) => (&file.path, file.bytes.len() as u64),
            Self::Blob { path, size, .. } => (path, *size),
        };
        size + 2 * path.len() as u64 + OVERHEAD
    }
}

/// The files of a release in order: the made ones first, then the pictures.
pub fn entries(content: &Content) -> Vec<Entry> {
    let made = files::all(content).into_iter().map(Entry::Made);
    let pictures = content.pictures.iter().map(|picture| Entry::Blob {
        path: picture.path(),
        hash: picture.blob.clone(),
        size: picture.size,
    });
    made.chain(pictures).collect()
}

/// Deals entries into archives of at most `largest` bytes, in order; a larger file has an archive of its own.
pub fn parts(entries: Vec<Entry>, largest: u64) -> Vec<Vec<Entry>> {
    let mut parts: Vec<Vec<Entry>> = vec![Vec::new()];
    let mut used = OVERHEAD;
    for entry in entries {
        let room = entry.room();
        if used + room > largest && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(Vec::new());
            used = OVERHEAD;
        }
        used += room;
        if let Some(part) = parts.last_mut() {
            part.push(entry);
        }
    }
    parts
}

/// Writes an archive.
pub fn write(part: &[Entry], blobs: &Blobs, out: impl Write + Seek) -> anyhow::Result<()> {
    let mut archive = ZipWriter::new(out);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for entry in part {
        match entry {
            Entry::Made(TextFile { path, bytes }) => {
                archive.start_file(path.as_str(), options)?;
                archive.write_all(bytes)?;
            }
            Entry::Blob { path, hash, .. } => {
                archive.start_file(path.as_str(), options)?;
                let picture = blobs.fetch(hash).and_then(File::open);
                let mut picture = picture.map_err(|error| {
                    io::Error::new(error.kind(), reason!("the picture {} cannot be read: {}", path, error))
                })?;
                io::copy(&mut picture, &mut archive)?;
            }
        }
    }
    archive.finish()?.flush()?;
    Ok(())
}

/// The name of an archive.
pub fn name(slug: &str, number: i64, part: usize, n_parts: usize) -> String {
    match n_parts {
        1 => format!("{slug}-{number}.zip"),
        _ => format!("{slug}-{number}-part{part}of{n_parts}.zip"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::super::content::tests::example;
    use super::*;
    use capeval_site::ids;

    fn blobs() -> (tempfile::TempDir, Blobs) {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path().join("blobs")).unwrap();
        for k in 1..=4 {
            blobs.put(format!("picture {k}").as_bytes()).unwrap();
        }
        (folder, blobs)
    }

    fn written(part: &[Entry], blobs: &Blobs) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        write(part, blobs, &mut out).unwrap();
        out.into_inner()
    }

    #[test]
    fn the_same_release_is_the_same_archive_and_has_all_files() {
        let (_folder, blobs) = blobs();
        let bytes = written(&entries(&example()), &blobs);
        assert_eq!(bytes, written(&entries(&example()), &blobs));
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut sums = String::new();
        archive.by_name("SHA256SUMS").unwrap().read_to_string(&mut sums).unwrap();
        assert_eq!(archive.len(), sums.lines().count() + 1);
        for line in sums.lines() {
            let (hash, path) = line.split_once("  ").unwrap();
            let mut content = Vec::new();
            archive.by_name(path).unwrap().read_to_end(&mut content).unwrap();
            assert_eq!(ids::digest(&content), hash, "{path}");
        }
    }

    #[test]
    fn parts_are_no_larger_than_allowed() {
        let (_folder, blobs) = blobs();
        let all = entries(&example());
        for largest in [1_500, 3_000, 6_000] {
            let parts = parts(all.clone(), largest);
            assert!(parts.len() > 1 && parts.concat() == all);
            for part in &parts {
                let size = written(part, &blobs).len() as u64;
                assert!(size <= largest || part.len() == 1, "{size} of {largest}");
            }
        }
        assert_eq!(parts(all, LARGEST).len(), 1);
        assert_eq!(name("screens", 2, 1, 1), "screens-2.zip");
        assert_eq!(name("screens", 2, 3, 12), "screens-2-part3of12.zip");
    }
}
