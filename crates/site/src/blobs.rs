//! Files by the hash of their content: written whole to the disk before any row of the database names them. Where the
//! site has a bucket, that is where they are, and the folder has those that this machine has used.
//!
//! Because files are named by their content, a bucket is a second place for the same names. It is behind the feature
//! `s3`, since its library brings twenty others and a second stack of TLS and HTTP.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::bucket::Bucket;
use crate::settings::Settings;
use crate::{ids, space};

/// A folder of files that are named after their content.
#[derive(Clone, Debug)]
pub struct Blobs {
    folder: PathBuf,
    bucket: Option<Bucket>,
}

/// The folders of files in the folder of the data, in a bucket, and in a backup: those of people, and references.
pub const FOLDERS: [&str; 2] = ["blobs", "hidden"];

/// A point at which a test may let a file fail.
#[cfg_attr(not(debug_assertions), expect(clippy::unnecessary_wraps, reason = "tests let it fail"))]
fn point() -> io::Result<()> {
    #[cfg(debug_assertions)]
    crate::testing::use_file()?;
    Ok(())
}

/// A file that is being written; it is removed unless it is kept.
pub struct Draft {
    file: NamedTempFile,
    hash: Sha256,
    size: u64,
}

impl Blobs {
    /// Opens a folder, and makes it if it does not exist; only the user of the program may look into it.
    pub fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(folder.join("new"))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        }
        Ok(Self { folder, bucket: None })
    }

    /// Opens the [`FOLDERS`] of a site in the folder of its data.
    pub fn of_site(data: &Path, settings: &Settings) -> anyhow::Result<[Self; 2]> {
        let bucket = match settings.bucket.as_str() {
            "" => None,
            address => Some(Bucket::open(address)?),
        };
        let open = |name| {
            let bucket = bucket.as_ref().map(|bucket| bucket.folder(name));
            let folder = data.join(name);
            let cannot = || format!("{}: the folder cannot be written", folder.display());
            let blobs = Self::open(folder.clone()).with_context(cannot)?;
            tempfile::tempfile_in(folder.join("new")).with_context(cannot)?;
            Ok::<_, anyhow::Error>(Self { bucket, ..blobs })
        };
        let [visible, hidden] = FOLDERS.map(open);
        Ok([visible?, hidden?])
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Tries whether there is space for files.
    pub fn try_write(&self) -> io::Result<()> {
        match space::is_full(&self.folder) {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => tempfile::tempfile_in(self.drafts()).map(drop),
        }
    }

    /// Begins a file.
    pub fn draft(&self) -> io::Result<Draft> {
        point()?;
        Ok(Draft { file: NamedTempFile::new_in(self.drafts())?, hash: Sha256::new(), size: 0 })
    }

    /// The folder for files that are not kept yet, on the same disk.
    pub fn drafts(&self) -> PathBuf {
        self.folder.join("new")
    }

    /// Keeps a file under the hash of its content, which is returned once the file and its name are on the disk, and in
    /// the bucket if there is one.
    pub fn keep(&self, draft: Draft) -> io::Result<String> {
        let Draft { mut file, hash, .. } = draft;
        let hash = ids::hex(&hash.finalize());
        let path = self.path(&hash);
        // A file that is kept again is as new as one that was not there, and is not swept away.
        if File::open(&path).and_then(|kept| kept.set_modified(SystemTime::now())).is_err() {
            file.flush()?;
            self.persist(file, &path)?;
        }
        if let Some(bucket) = &self.bucket {
            bucket.put(&hash, &path)?;
        }
        Ok(hash)
    }

    fn persist(&self, file: NamedTempFile, path: &Path) -> io::Result<()> {
        point()?;
        file.as_file().sync_all()?;
        let folder = path.parent().unwrap_or(&self.folder);
        point()?;
        fs::create_dir_all(folder)?;
        point()?;
        file.persist(path)?;
        point()?;
        [folder, &self.folder].into_iter().try_for_each(|folder| File::open(folder)?.sync_all())
    }

    /// Keeps all that `content` holds.
    pub fn put(&self, mut content: impl Read) -> io::Result<String> {
        let mut draft = self.draft()?;
        io::copy(&mut content, &mut draft)?;
        self.keep(draft)
    }

    /// The path of the file with this hash, if it exists; it is fetched from the bucket if this machine lacks it.
    pub fn fetch(&self, hash: &str) -> io::Result<PathBuf> {
        point()?;
        let path = self.path(hash);
        if let Some(bucket) = self.bucket.as_ref().filter(|_| !path.exists()) {
            let file = NamedTempFile::new_in(self.drafts())?;
            bucket.get(hash, file.path())?;
            if ids::digest_of(File::open(file.path())?)? != hash {
                return Err(io::Error::other(format!("the bucket has other content under the name {hash}")));
            }
            self.persist(file, &path)?;
        }
        Ok(path)
    }

    /// [`Self::fetch`] for those who cannot block.
    pub async fn ready(&self, hash: &str) -> io::Result<PathBuf> {
        point()?;
        let path = self.path(hash);
        if self.bucket.is_none() || path.exists() {
            return Ok(path);
        }
        let (own, hash) = (self.clone(), hash.to_owned());
        tokio::task::spawn_blocking(move || own.fetch(&hash)).await?
    }

    /// The path of the file with this hash, if this machine has it.
    fn path(&self, hash: &str) -> PathBuf {
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        // Anything else names a file that never exists, rather than one outside of the folder.
        let name = if is_hash { hash } else { "00" };
        self.folder.join(&name[..2]).join(name)
    }

    /// The hashes of all files.
    pub fn list(&self) -> io::Result<BTreeSet<String>> {
        point()?;
        let mut hashes = self.list_folder()?;
        if let Some(bucket) = &self.bucket {
            hashes.extend(bucket.list()?.into_iter().map(|(hash, _)| hash));
        }
        Ok(hashes)
    }

    fn list_folder(&self) -> io::Result<BTreeSet<String>> {
        let mut hashes = BTreeSet::new();
        for folder in fs::read_dir(&self.folder)? {
            let folder = folder?;
            if folder.file_name() == "new" || !folder.file_type()?.is_dir() {
                continue;
            }
            for file in fs::read_dir(folder.path())? {
                let name = file?.file_name().to_string_lossy().into_owned();
                if self.path(&name).exists() {
                    hashes.insert(name);
                }
            }
        }
        Ok(hashes)
    }

    /// The content of a file.
    pub fn read(&self, hash: &str) -> io::Result<Vec<u8>> {
        fs::read(self.fetch(hash)?)
    }

    /// Removes a file, if it exists.
    pub fn remove(&self, hash: &str) -> io::Result<()> {
        point()?;
        if let Some(bucket) = &self.bucket {
            bucket.remove(hash)?;
        }
        match fs::remove_file(self.path(hash)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Sets a draft aside under a secret name, until it is swept away.
    pub fn set_aside(&self, draft: Draft, secret: &str) -> io::Result<()> {
        let Draft { mut file, .. } = draft;
        file.flush()?;
        file.persist(self.aside(secret))?;
        Ok(())
    }

    /// The path of a draft that was set aside under a secret name.
    pub fn aside(&self, secret: &str) -> PathBuf {
        self.drafts().join(ids::digest(secret))
    }

    /// Removes files that `is_named` does not know and drafts, both of them older than `age`: what requests that were
    /// refused and processes that were killed have left behind. Others may write at the same time.
    pub fn sweep(&self, age: Duration, is_named: impl Fn(&str) -> bool) -> io::Result<usize> {
        let drafts = self.drafts();
        let mut removed = 0;
        if let Some(bucket) = &self.bucket {
            let is_old = |since: SystemTime| since.elapsed().unwrap_or_default() > age;
            for (hash, since) in bucket.list()? {
                // Stores cannot move things aside. A writer that keeps the same content in the moment between the two
                // requests loses it, and would have to do so a day after it was last needed.
                if is_old(since) && !is_named(&hash) && bucket.since(&hash)?.is_some_and(is_old) {
                    bucket.remove(&hash)?;
                    removed += 1;
                }
            }
        }
        for hash in self.list_folder()?.into_iter().filter(|hash| !is_named(hash)) {
            // Aside first: a writer that keeps the same content from now on writes it again.
            let (path, aside) = (self.path(&hash), drafts.join(&hash));
            let swept = is_older(&path, age).and_then(|is_old| {
                if !is_old {
                    return Ok(false);
                }
                fs::rename(&path, &aside)?;
                match is_older(&aside, age)? {
                    true => fs::remove_file(&aside).map(|()| true),
                    false => fs::rename(&aside, &path).map(|()| false),
                }
            });
            removed += usize::from(unless_gone(swept, &path));
        }
        for entry in fs::read_dir(drafts)? {
            let path = entry?.path();
            let swept = is_older(&path, age).and_then(|is_old| match (is_old, path.is_dir()) {
                (false, _) => Ok(false),
                (true, true) => fs::remove_dir_all(&path).map(|()| true),
                (true, false) => fs::remove_file(&path).map(|()| true),
            });
            removed += usize::from(unless_gone(swept, &path));
        }
        Ok(removed)
    }
}

fn is_older(path: &Path, age: Duration) -> io::Result<bool> {
    Ok(fs::metadata(path)?.modified()?.elapsed().unwrap_or_default() > age)
}

/// Returns true if a file was removed; another process may have been faster.
fn unless_gone(swept: io::Result<bool>, path: &Path) -> bool {
    match swept {
        Ok(is_removed) => is_removed,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "an unused file cannot be removed");
            false
        }
    }
}

impl Draft {
    /// The number of bytes so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Its first bytes, at most `n`.
    pub fn head(&mut self, n: u64) -> io::Result<Vec<u8>> {
        self.file.flush()?;
        let mut head = Vec::new();
        File::open(self.file.path())?.take(n).read_to_end(&mut head)?;
        Ok(head)
    }

    /// The path of the file, for reading it before it is kept.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        point()?;
        let n = self.file.write(bytes)?;
        self.hash.update(&bytes[..n]);
        self.size += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_the_hash_of_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path().join("blobs")).unwrap();
        let hash = blobs.put(&b"hello"[..]).unwrap();
        assert_eq!(hash, ids::digest("hello"));
        assert_eq!(blobs.put(&b"hello"[..]).unwrap(), hash);
        assert_eq!(blobs.read(&hash).unwrap(), b"hello");
        assert!(blobs.read("../../../etc/passwd").is_err());
        blobs.remove(&hash).unwrap();
        assert!(blobs.read(&hash).is_err());
        drop(blobs.draft().unwrap());
        assert_eq!(fs::read_dir(blobs.drafts()).unwrap().count(), 0);
        let mut draft = blobs.draft().unwrap();
        draft.write_all(b"aside").unwrap();
        blobs.set_aside(draft, "a secret").unwrap();
        assert_eq!(fs::read(blobs.aside("a secret")).unwrap(), b"aside");
        assert!(!blobs.aside("../another").exists());
        assert_eq!(blobs.sweep(Duration::ZERO, |_| true).unwrap(), 1);
        assert!(!blobs.aside("a secret").exists());
    }

    #[test]
    fn what_nobody_needs_is_swept_away() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path().join("blobs")).unwrap();
        let [named, unnamed, again] =
            ["named", "unnamed", "again"].map(|text| blobs.put(text.as_bytes()).unwrap());
        // What a process that was killed leaves behind, also while it prepared references.
        std::mem::forget(blobs.draft().unwrap());
        fs::create_dir(blobs.folder().join("new/tmp")).unwrap();
        fs::write(blobs.folder().join("new/tmp/prepared"), "x").unwrap();
        let day = Duration::from_secs(86_400);
        assert_eq!(blobs.sweep(day, |_| false).unwrap(), 0);
        let old = SystemTime::now() - 2 * day;
        for path in [&named, &unnamed, &again].map(|hash| blobs.path(hash)) {
            File::open(path).unwrap().set_modified(old).unwrap();
        }
        for entry in fs::read_dir(blobs.drafts()).unwrap() {
            File::open(entry.unwrap().path()).unwrap().set_modified(old).unwrap();
        }
        // Someone submits the same captions at this moment.
        assert_eq!(blobs.put(&b"again"[..]).unwrap(), again);
        assert_eq!(blobs.sweep(day, |hash| hash == named).unwrap(), 3);
        assert_eq!(fs::read_dir(blobs.drafts()).unwrap().count(), 0);
        assert!(blobs.read(&named).is_ok() && blobs.read(&again).is_ok() && blobs.read(&unnamed).is_err());
        assert_eq!(blobs.put(&b"unnamed"[..]).unwrap(), unnamed);
        assert!(blobs.read(&unnamed).is_ok());
    }
}
