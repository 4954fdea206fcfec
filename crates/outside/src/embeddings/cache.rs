//! Caches vectors by content, so that the vector of a text or a picture is not computed again.
//!
//! Each model, with everything that its vectors depend on, has a folder of files. A run adds its new vectors as a file,
//! and merges older files into it that are at most twice as long. So there are few files, and adding a few vectors to
//! many writes little. There is no lock: a file is written whole, its name is the hash of its keys, and a file is
//! removed only when another one contains all of its vectors. Two simultaneous runs therefore both keep theirs. Vectors
//! in a file are read when they are needed, so a run of any length keeps few vectors in memory. Without a folder, the
//! cache is in memory and lasts for one run.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use capeval_arrays::{Error as Damage, Format, Key, KeyedRows, Reader, SharedBytes, Writer, key_of_hash};
use capeval_choice::{Code, Notice, Refusal};
use capeval_files::{CacheFiles, Error, cache_folder, write_whole};
use sha2::{Digest, Sha256};

use crate::embeddings::hash;

const FORMAT: Format = Format { magic: *b"capevalV", version: 1, noun: "vectors" };

/// Its files, of all models.
const FILES: CacheFiles = CacheFiles { extension: "vectors", most_bytes: 4_000_000_000 };

/// The key of a content: the first half of the SHA-256 of a text, or of the bytes of a picture.
pub(crate) fn key(content: &[u8]) -> Key {
    key_of_hash(&Sha256::digest(content))
}

/// The key of a content with this SHA-256, in hexadecimal digits; `None` if it has others.
pub(crate) fn key_of_hex(sha256: &str) -> Option<Key> {
    let mut bytes = [0; 16];
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(sha256.get(at..at + 2)?, 16).ok()?;
    }
    Some(key_of_hash(&bytes))
}

/// The folder of all models' vectors; `None` if the user has no folder for caches.
pub(crate) fn usual_folder() -> Option<PathBuf> {
    cache_folder().map(|folder| folder.join("vectors"))
}

/// The folder of all models' vectors and the bytes of its files; `None` if there are none.
pub fn kept_vectors() -> Option<(PathBuf, u64)> {
    let folder = usual_folder()?;
    let bytes = FILES.size(&folders(&folder));
    (bytes > 0).then_some((folder, bytes))
}

/// The vectors of one model.
pub(crate) struct VectorCache {
    /// The folder of all models; `None` if vectors do not survive the run.
    base: Option<PathBuf>,
    /// All that vectors depend on beside the content.
    identity: String,
    dims: usize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    blocks: Vec<Arc<Block>>,
    notices: Vec<Notice>,
}

/// The vectors in a file.
struct Block {
    path: PathBuf,
    rows: KeyedRows<f32>,
}

impl VectorCache {
    /// Opens what earlier runs have kept in the folder of all models, which need not exist.
    pub fn open(base: &Path, identity: &str, dims: usize) -> Self {
        let (base, identity) = (Some(base.to_owned()), identity.to_owned());
        let cache = Self { base, identity, dims, held: Mutex::default() };
        let mut held = Held::default();
        for (_, path, _) in cache.folder().iter().flat_map(|folder| FILES.list(folder)) {
            // Another run may have merged it since, and whatever cannot be read is computed again.
            let Ok(bytes) = capeval_files::open(&path.display().to_string()) else { continue };
            match cache.block(&path, Arc::new(bytes)) {
                Ok(block) => held.blocks.push(Arc::new(block)),
                Err(error) => {
                    let message = format!("{}: {error}; its vectors are computed again", path.display());
                    held.notices.push(Notice::new(Code::VectorCache, message));
                    // A damaged file is of no use, and would be told again by each run.
                    let _ = fs::remove_file(&path);
                }
            }
        }
        held.blocks.sort_by_key(|block| std::cmp::Reverse(block.rows.n_rows()));
        *cache.held() = held;
        cache
    }

    /// Nothing, and nothing that is added survives the run.
    pub fn in_memory(dims: usize) -> Self {
        Self { base: None, identity: String::new(), dims, held: Mutex::default() }
    }

    /// Returns true if vectors are kept for later runs.
    pub fn survives(&self) -> bool {
        self.base.is_some()
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folder(&self) -> Option<PathBuf> {
        let name = hash::of(self.identity.as_bytes());
        self.base.as_ref().map(|base| base.join(name.get(..32).unwrap_or_default()))
    }

    fn block(&self, path: &Path, bytes: SharedBytes) -> Result<Block, Damage> {
        let mut reader = Reader::open(&FORMAT, bytes)?;
        if reader.description() != self.identity {
            return Err(Damage::new("this file of vectors is of another model"));
        }
        let rows = KeyedRows::read(&mut reader, self.dims, |x: &f32| x.is_finite())?;
        Ok(Block { path: path.to_owned(), rows })
    }

    /// Notices about damage, reported once.
    pub fn notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.held().notices)
    }

    /// The vectors of contents, one after another: those that are known, and what `compute` gives for the places of the
    /// others, each content once. What cannot be kept is no reason to end a run.
    pub fn fill(
        &self,
        keys: &[Key],
        compute: impl FnOnce(&[usize]) -> Result<Vec<f32>, Refusal>,
    ) -> Result<Vec<f32>, Refusal> {
        let blocks = self.held().blocks.clone();
        let find = |key: Key| blocks.iter().find_map(|block| Some(block.rows.row(block.rows.find(key)?)));
        let mut new: HashMap<Key, usize> = HashMap::new();
        let mut places = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            if !new.contains_key(key) && find(*key).is_none() {
                new.insert(*key, places.len());
                places.push(place);
            }
        }
        let computed = if places.is_empty() { Vec::new() } else { compute(&places)? };
        let at = |row: usize| computed.get(row * self.dims..(row + 1) * self.dims);
        let mut rows = Vec::with_capacity(keys.len() * self.dims);
        for key in keys {
            let row = new.get(key).map_or_else(|| find(*key), |row| at(*row));
            rows.extend_from_slice(row.ok_or_else(|| {
                Refusal::new("the model gave fewer vectors than it was asked for").with_remedy("report this")
            })?);
        }
        if !places.is_empty() {
            let added: BTreeMap<Key, &[f32]> =
                places.iter().zip(0..).filter_map(|(place, row)| Some((keys[*place], at(row)?))).collect();
            if let Err(error) = self.add(added) {
                let message = format!("{error}; the next run computes these vectors again");
                self.held().notices.push(Notice::new(Code::VectorCache, message));
            }
        }
        Ok(rows)
    }

    /// Writes vectors to a file of their own, with those of files that are at most twice as long.
    fn add(&self, added: BTreeMap<Key, &[f32]>) -> Result<(), Error> {
        let mut held = self.held();
        let mut merged: Vec<Arc<Block>> = Vec::new();
        let mut n = added.len();
        // The shortest come last.
        while let Some(block) = held.blocks.pop_if(|block| block.rows.n_rows() <= 2 * n) {
            n += block.rows.n_rows();
            merged.push(block);
        }
        let mut all = added;
        for block in &merged {
            for (key, row) in block.rows.iter() {
                all.entry(key).or_insert(row);
            }
        }
        // What is no number is not kept.
        all.retain(|_, row| row.iter().all(|x| x.is_finite()));
        let rows = KeyedRows::new(&all, self.dims);
        drop(all);
        let written = self.write(&rows);
        // This run needs them, kept or not.
        let block = match &written {
            Ok(Some(path)) => self.mapped(path),
            _ => None,
        };
        held.blocks.push(Arc::new(block.unwrap_or_else(|| Block { path: PathBuf::new(), rows })));
        let Some(path) = written? else { return Ok(()) };
        for old in merged.iter().filter(|old| old.path != path) {
            // If it stays, its vectors are there twice.
            let _ = fs::remove_file(&old.path);
        }
        if let Some(base) = &self.base {
            FILES.remove_oldest(&folders(base), &path);
        }
        Ok(())
    }

    /// Writes a file with these vectors, and returns its path; `None` if there is no folder.
    fn write(&self, rows: &KeyedRows<f32>) -> Result<Option<PathBuf>, Error> {
        let Some(folder) = self.folder() else { return Ok(None) };
        let name =
            hash::of(&rows.iter().flat_map(|(key, _)| key).flat_map(u64::to_le_bytes).collect::<Vec<u8>>());
        let path = folder.join(format!("{}.{}", name.get(..32).unwrap_or_default(), FILES.extension));
        fs::create_dir_all(&folder)
            .map_err(|cause| Refusal::new(format!("cannot make the folder: {cause}")).at(folder.display()))?;
        let mut writer = Writer::default();
        rows.write(&mut writer);
        write_whole(&path.display().to_string(), |out| writer.write(&FORMAT, &self.identity, out))?;
        Ok(Some(path))
    }

    /// The vectors in a file that has just been written; `None` if they cannot be read.
    fn mapped(&self, path: &Path) -> Option<Block> {
        let bytes = capeval_files::open(&path.display().to_string()).ok()?;
        self.block(path, Arc::new(bytes)).ok()
    }
}

/// The folders of all models.
fn folders(base: &Path) -> Vec<PathBuf> {
    fs::read_dir(base).into_iter().flatten().flatten().map(|folder| folder.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks for texts, and says which of them were computed.
    fn ask(cache: &VectorCache, texts: &[&str]) -> Vec<String> {
        let mut asked = Vec::new();
        let keys: Vec<Key> = texts.iter().map(|text| key(text.as_bytes())).collect();
        let rows = cache.fill(&keys, |places| {
            asked = places.iter().map(|place| texts[*place].to_owned()).collect();
            Ok(places.iter().flat_map(|place| of(texts[*place])).collect())
        });
        assert_eq!(rows.unwrap(), texts.iter().flat_map(|text| of(text)).collect::<Vec<_>>());
        asked
    }

    fn of(text: &str) -> [f32; 2] {
        [text.len() as f32, f32::from(text.as_bytes()[0])]
    }

    fn open(folder: &tempfile::TempDir) -> VectorCache {
        VectorCache::open(folder.path(), "model", 2)
    }

    fn paths(folder: &tempfile::TempDir) -> Vec<PathBuf> {
        FILES.list(&open(folder).folder().unwrap()).into_iter().map(|(_, path, _)| path).collect()
    }

    #[test]
    fn a_later_run_computes_only_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ask(&open(&folder), &["a dog", "a cat", "a dog"]), ["a dog", "a cat"]);
        let cache = open(&folder);
        assert_eq!(ask(&cache, &["a horse", "a cat"]), ["a horse"]);
        assert_eq!(ask(&cache, &["a horse", "a dog"]), Vec::<String>::new());
        assert_eq!(ask(&open(&folder), &["a horse", "a cat", "a dog"]), Vec::<String>::new());
        assert_eq!(ask(&VectorCache::open(folder.path(), "another model", 2), &["a cat"]), ["a cat"]);
    }

    #[test]
    fn adding_little_to_much_writes_little_and_leaves_few_files() {
        let folder = tempfile::tempdir().unwrap();
        let many: Vec<String> = (0..1000).map(|k| format!("many {k}")).collect();
        ask(&open(&folder), &many.iter().map(String::as_str).collect::<Vec<_>>());
        let [large] = &paths(&folder)[..] else { panic!("one file") };
        for k in 0..100 {
            ask(&open(&folder), &[&format!("few {k}")]);
        }
        let all = paths(&folder);
        assert!(all.contains(large) && all.len() <= 8, "{} files", all.len());
        let few: Vec<String> = (0..100).map(|k| format!("few {k}")).collect();
        assert!(ask(&open(&folder), &few.iter().map(String::as_str).collect::<Vec<_>>()).is_empty());
    }

    #[test]
    fn two_runs_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        ask(&open(&folder), &["a dog"]);
        let (one, other) = (open(&folder), open(&folder));
        ask(&one, &["a cat"]);
        ask(&other, &["a horse"]);
        assert_eq!(ask(&open(&folder), &["a dog", "a cat", "a horse"]), Vec::<String>::new());
    }

    #[test]
    fn a_damaged_file_is_told_once_and_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        ask(&open(&folder), &["a dog", "a cat"]);
        let path = paths(&folder).remove(0);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] ^= 1;
            for bad in [&bad, &whole[..at]] {
                fs::write(&path, bad).unwrap();
                let cache = open(&folder);
                let notices = cache.notices();
                assert!(notices[0].message.ends_with("its vectors are computed again"), "byte {at}");
                assert_eq!(ask(&cache, &["a dog", "a cat"]), ["a dog", "a cat"]);
                assert_eq!(fs::read(&path).unwrap(), whole);
                assert_eq!(open(&folder).notices().len(), 0);
            }
        }
    }

    #[test]
    fn damage_with_a_correct_checksum_does_not_panic() {
        let folder = tempfile::tempdir().unwrap();
        ask(&open(&folder), &["a dog", "a cat"]);
        let path = paths(&folder).remove(0);
        let whole = fs::read(&path).unwrap();
        let cache = open(&folder);
        for at in 0..whole.len() {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut bad = whole.clone();
                bad[at] = value;
                assert!(capeval_arrays::reseal(&mut bad));
                let bytes: SharedBytes = Arc::new(capeval_files::Bytes::copy(&bad));
                if let Ok(block) = cache.block(&path, bytes) {
                    let row = block.rows.find(key(b"a dog"));
                    assert!(row.is_none_or(|row| block.rows.row(row).len() == 2));
                }
            }
        }
    }

    #[test]
    fn vectors_that_are_in_a_file_take_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(&folder);
        for text in ["a dog", "a cat", "a horse"] {
            ask(&cache, &[text]);
            for block in &cache.held().blocks {
                assert!(!format!("{:?}", block.rows).contains("owned"), "{:?}", block.rows);
            }
        }
        assert_eq!(ask(&cache, &["a horse", "a dog"]), Vec::<String>::new());
    }

    #[test]
    fn a_cache_without_a_folder_serves_its_run() {
        let cache = VectorCache::in_memory(2);
        assert_eq!(ask(&cache, &["a dog", "a cat"]), ["a dog", "a cat"]);
        assert_eq!(ask(&cache, &["a cat", "a horse"]), ["a horse"]);
        assert_eq!(ask(&cache, &["a horse", "a dog"]), Vec::<String>::new());
        assert_eq!(cache.notices(), []);
    }

    #[test]
    fn what_is_no_number_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let rows = open(&folder).fill(&[key(b"x")], |_| Ok(vec![f32::NAN, 1.0])).unwrap();
        assert!(rows[0].is_nan());
        assert_eq!(ask(&open(&folder), &["x"]), ["x"]);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_told_and_ends_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = VectorCache::open(&file, "model", 2);
        assert_eq!(ask(&cache, &["a dog"]), ["a dog"]);
        assert!(cache.notices()[0].message.contains("cannot make the folder"));
        assert_eq!(ask(&cache, &["a dog"]), Vec::<String>::new(), "this run has it");
    }
}
