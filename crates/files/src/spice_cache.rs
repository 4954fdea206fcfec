//! The file in which parses of SPICE survive runs.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use capeval_arrays::SharedBytes;
use capeval_choice::{Argument, Refusal, Remedy};
use capeval_evaluate::registry::Resources;
use capeval_spice::{Data, ParseCache, ParsesAhead};

use crate::temporary::LastWork;
use crate::{Bytes, Error, Target, cache_folder, open};

/// A cache of parses and the file that it comes from, which is known to be writable.
pub(crate) struct SpiceCache {
    path: String,
    /// True if it is the one in the user's folder, which no one named.
    is_usual: bool,
    /// The file; `None` once it was written.
    target: Option<Target>,
    parses: Arc<ParseCache>,
    /// Keeps the parses if a signal ends the process; each portion of them is kept as soon as it is there.
    _last: LastWork,
}

impl SpiceCache {
    /// Opens the file `path`, which need not exist, and adds its parses to `resources`, which contain SPICE's data if a
    /// metric uses them.
    pub(crate) fn open(path: &str, resources: &mut Resources) -> Result<Self, Error> {
        let unused = || {
            let refusal = Refusal::new("no metric uses this cache of SPICE's parses");
            let omit = Remedy::omit(Argument::SpiceCache);
            let remedy = omit.or(Remedy::say("choose spice or spider, whose data must be installed"));
            Error::content(path, refusal.with_remedy(remedy))
        };
        let data = resources.get::<Data>().ok_or_else(unused)?;
        let cache = Self::named(path, data.note_name())?;
        resources.insert(Arc::clone(&cache.parses));
        Ok(cache)
    }

    /// Opens the file in the user's folder for caches, and adds its parses to `resources`. `None` if no metric uses it,
    /// or the folder cannot be used.
    pub(crate) fn open_usual(resources: &mut Resources) -> Option<Self> {
        let data = resources.get::<Data>()?;
        let path = usual_path()?;
        fs::create_dir_all(path.parent()?).ok()?;
        let mut cache = Self::named(path.to_str()?, data.note_name()).ok()?;
        cache.is_usual = true;
        resources.insert(Arc::clone(&cache.parses));
        Some(cache)
    }

    fn named(path: &str, name: &str) -> Result<Self, Error> {
        let parses = Arc::new(ParseCache::open(stored(path)?, name));
        let target = Some(Target::new(path)?);
        // A failure is told when the run ends, or there is no one to tell of it.
        let keep = |parses: Weak<ParseCache>| {
            let path = path.to_owned();
            move || {
                if let Some(parses) = parses.upgrade() {
                    let _ = Target::new(&path).and_then(|target| write(&parses, &path, target));
                }
            }
        };
        parses.at_each_portion(keep(Arc::downgrade(&parses)));
        let last = LastWork::new(keep(Arc::downgrade(&parses)));
        Ok(Self { path: path.to_owned(), is_usual: false, target, parses, _last: last })
    }

    /// Returns true if it is in the user's folder, and no one named it.
    pub(crate) fn is_usual(&self) -> bool {
        self.is_usual
    }

    /// The path as given.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The parses.
    pub(crate) fn parses(&self) -> &ParseCache {
        &self.parses
    }

    /// Rewrites the file if captions were added, with those that other programs have added since. Returns its size in
    /// bytes; `None` if it stays as it is, or is a device.
    pub(crate) fn save(mut self) -> Result<Option<u64>, Error> {
        self.target.take().map_or(Ok(None), |target| write(&self.parses, &self.path, target))
    }
}

impl Drop for SpiceCache {
    /// Keeps the parses of a run that ended with an error.
    fn drop(&mut self) {
        if let Some(target) = self.target.take() {
            let _ = write(&self.parses, &self.path, target);
        }
    }
}

fn write(parses: &ParseCache, path: &str, target: Target) -> Result<Option<u64>, Error> {
    if parses.n_added() == 0 {
        return Ok(None);
    }
    let stored = ParseCache::open(stored(path)?, parses.name());
    target.write(|out| parses.write(&stored, out))
}

/// The file in which parses are kept if no other is named; `None` if there is no folder for caches.
pub fn usual_path() -> Option<PathBuf> {
    cache_folder().map(|folder| folder.join("spice.parses"))
}

/// The captions that SPICE will parse, if it is among the metrics whose data are `resources`: those that no cache among
/// them has.
pub fn parses_ahead<'c>(
    resources: &Resources,
    captions: impl Iterator<Item = &'c str>,
) -> Option<ParsesAhead> {
    resources.get::<Data>()?;
    Some(ParsesAhead::of(captions, resources.get::<ParseCache>().as_deref()))
}

/// The bytes of a cache; `None` if there is no file, or nothing in it. They are a copy, since the file may be replaced
/// while they are in use.
fn stored(path: &str) -> Result<Option<SharedBytes>, Error> {
    let bytes = match open(path) {
        Err(Error::System { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    if !bytes.starts_with(&ParseCache::MAGIC) {
        let refusal = Refusal::new("not a SPICE cache; refusing to overwrite it");
        return Err(Error::content(path, refusal.with_remedy("name another file, which need not exist")));
    }
    Ok(Some(Arc::new(Bytes::copy(&bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &str) -> SpiceCache {
        SpiceCache::named(path, "sample").unwrap()
    }

    fn has(path: &str, captions: [&str; 2]) -> [bool; 2] {
        captions.map(|caption| open(path).parses().get(caption).is_some())
    }

    #[test]
    fn parses_of_a_run_that_fails_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parses").display().to_string();
        let cache = open(&path);
        cache.parses().keep("a dog", &[]);
        drop(cache);
        assert_eq!(has(&path, ["a dog", "a cat"]), [true, false]);
    }

    /// Set in a process of [`parses_are_kept_as_they_come`] that is to end early: the file.
    const CHILD: &str = "CAPEVAL_TEST_PARSES";

    /// A process that keeps parses, and ends as the test's parent wants.
    fn child(path: &str) -> ! {
        let cache = open(path);
        for k in 0..ParseCache::PORTION {
            cache.parses().keep(&format!("a dog {k}"), &[]);
        }
        cache.parses().keep("a cat", &[]);
        if std::env::var_os("CAPEVAL_TEST_SIGNAL").is_some() {
            crate::end_early();
        }
        // Runs no destructor, as a process that is killed.
        std::process::abort();
    }

    #[test]
    fn parses_are_kept_as_they_come() {
        if let Ok(path) = std::env::var(CHILD) {
            child(&path);
        }
        let folder = tempfile::tempdir().unwrap();
        for (name, has_signal) in [("killed", false), ("ended", true)] {
            let path = folder.path().join(name).display().to_string();
            let mut program = std::process::Command::new(std::env::current_exe().unwrap());
            program.args(["--exact", "spice_cache::tests::parses_are_kept_as_they_come"]).env(CHILD, &path);
            if has_signal {
                program.env("CAPEVAL_TEST_SIGNAL", "1");
            }
            let output = program.output().unwrap();
            assert!(!output.status.success(), "{output:?}");
            assert_eq!(has(&path, ["a dog 7", "a cat"]), [true, has_signal], "{name}");
        }
    }

    #[test]
    fn runs_at_the_same_time_add_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parses").display().to_string();
        let [one, other, idle] = [(); 3].map(|()| open(&path));
        one.parses().keep("a dog", &[]);
        other.parses().keep("a cat", &[]);
        assert_eq!(idle.save().unwrap(), None);
        assert!(fs::metadata(&path).is_err(), "nothing was added");
        let size = one.save().unwrap();
        assert_eq!(size, Some(fs::metadata(&path).unwrap().len()));
        other.save().unwrap();
        assert_eq!(has(&path, ["a dog", "a cat"]), [true, true]);
    }

    #[test]
    fn a_file_of_something_else_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("refs.json").display().to_string();
        let early = open(&path);
        early.parses().keep("a dog", &[]);
        fs::write(&path, "[]").unwrap();
        for error in [early.save().unwrap_err(), SpiceCache::named(&path, "sample").err().unwrap()] {
            assert!(error.to_string().contains("refs.json: not a SPICE cache"), "{error}");
            assert!(error.remedy().is_some());
        }
        assert_eq!(fs::read(&path).unwrap(), b"[]");
        fs::write(&path, "").unwrap();
        assert!(open(&path).parses().notice().is_none(), "an empty file is no loss");
    }

    #[test]
    fn a_damaged_cache_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parses").display().to_string();
        let cache = open(&path);
        cache.parses().keep("a dog", &[]);
        cache.save().unwrap();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let cache = open(&path);
        assert!(cache.parses().notice().is_some() && cache.parses().get("a dog").is_none());
        cache.parses().keep("a cat", &[]);
        cache.save().unwrap();
        assert!(open(&path).parses().notice().is_none());
        assert_eq!(has(&path, ["a dog", "a cat"]), [false, true]);
    }

    #[test]
    fn a_place_that_cannot_be_written_and_a_cache_without_use_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("absent/parses").display().to_string();
        let error = SpiceCache::named(&path, "sample").err().unwrap();
        assert!(error.to_string().contains("cannot write the file"), "{error}");
        let error = SpiceCache::open(&path, &mut Resources::default()).err().unwrap();
        assert!(error.to_string().contains("no metric uses this cache"), "{error}");
    }
}
