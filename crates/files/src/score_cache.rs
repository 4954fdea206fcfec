//! The folder in which scores of metrics that are functions and programs survive runs: a file for each metric.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use capeval::evaluate::registry::Resources;
use capeval::stats::random::fingerprint;
use capeval::{KeptScores, OutsideMetrics, OutsideScores, ScoreStore};
use capeval_arrays::SharedBytes;
use capeval_choice::{Argument, Refusal, Remedy};

use crate::{Bytes, CacheFiles, Error, cache_folder, open, write_whole};

/// Its files.
const FILES: CacheFiles = CacheFiles { extension: "scores", most_bytes: 512_000_000 };

/// A folder of scores.
pub(crate) struct ScoreCache {
    folder: PathBuf,
    /// True if it is the one in the user's folder, which no one named.
    is_usual: bool,
    written: Mutex<WrittenFiles>,
}

/// The files that this run has written.
#[derive(Default)]
struct WrittenFiles {
    /// The number of scores by the path of a file.
    n_scores: BTreeMap<PathBuf, usize>,
    failure: Option<Error>,
}

/// A cache that was written.
pub struct SavedCache {
    /// The path, as given.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The part that was added to it.
    pub added: String,
}

impl ScoreCache {
    /// Uses the folder `path`, which need not exist, for the metrics among `resources`.
    pub(crate) fn open(path: &str, resources: &mut Resources) -> Result<Arc<Self>, Error> {
        if !resources.has::<OutsideMetrics>() {
            let refusal = Refusal::new("no metric keeps scores in this folder");
            let remedy = Remedy::omit(Argument::ScoreCache)
                .or(Remedy::say("add a metric that is a program or a function"));
            return Err(Error::content(path, refusal.with_remedy(remedy)));
        }
        let folder = PathBuf::from(&*crate::expanded(path));
        let cache = Self { folder, is_usual: false, written: Mutex::default() };
        cache.lock().map_err(|cause| Error::system("keep scores in the folder", path, cause))?;
        Ok(cache.among(resources))
    }

    /// Uses the user's folder for caches, if there is one, and a metric that keeps scores in it.
    pub(crate) fn open_usual(resources: &mut Resources) -> Option<Arc<Self>> {
        let folder = usual_folder().filter(|_| resources.has::<OutsideMetrics>())?;
        Some(Self { folder, is_usual: true, written: Mutex::default() }.among(resources))
    }

    fn among(self, resources: &mut Resources) -> Arc<Self> {
        let cache = Arc::new(self);
        resources.insert(Arc::new(OutsideScores(cache.clone())));
        cache
    }

    /// Waits until no other program writes into the folder, which is created if need be. The lock lasts as long as the
    /// file is open.
    fn lock(&self) -> io::Result<File> {
        fs::create_dir_all(&self.folder)?;
        let file = File::options().create(true).truncate(false).write(true).open(self.folder.join("lock"))?;
        // Where files cannot be locked, two programs that write at once may lose scores, which are then computed again.
        let _ = file.lock();
        Ok(file)
    }

    fn path(&self, name: &str, identity: &str) -> PathBuf {
        self.folder.join(format!("{name}-{:016x}.{}", fingerprint(&[identity]), FILES.extension))
    }

    /// Writes what was added to the scores in the file at `path`.
    fn add(&self, scores: &KeptScores, path: &Path) -> Result<(), Error> {
        let place = path.display().to_string();
        let _lock = self
            .lock()
            .map_err(|cause| Error::system("keep scores in the folder", self.folder.display(), cause))?;
        let stored = scores.reopen(stored(&place));
        write_whole(&place, |out| scores.write(&stored, out))?;
        FILES.remove_oldest(std::slice::from_ref(&self.folder), path);
        Ok(())
    }

    /// The files that were written, for those who named the folder.
    pub(crate) fn saved(&self) -> Result<Option<SavedCache>, Error> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match written.failure.take().filter(|_| !self.is_usual) {
            Some(failure) => Err(failure),
            None if self.is_usual || written.n_scores.is_empty() => Ok(None),
            None => Ok(Some(SavedCache {
                path: self.folder.display().to_string(),
                bytes: size(&self.folder),
                added: format!("{} new scores", written.n_scores.values().sum::<usize>()),
            })),
        }
    }
}

impl ScoreStore for ScoreCache {
    fn open(&self, name: &str, identity: &str, n_measures: usize) -> KeptScores {
        let place = self.path(name, identity).display().to_string();
        KeptScores::open(stored(&place), name, identity, n_measures)
    }

    fn save(&self, scores: &KeptScores) {
        let path = self.path(scores.name(), scores.identity());
        let added = self.add(scores, &path);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match added {
            Ok(()) => drop(written.n_scores.insert(path, scores.n_added())),
            Err(failure) => written.failure = Some(failure),
        }
    }
}

/// The folder in which scores are kept if no other is named; `None` if there is no folder for caches.
pub fn usual_folder() -> Option<PathBuf> {
    cache_folder().map(|folder| folder.join("scores"))
}

/// The size of the files in a folder of scores.
pub fn size(folder: &Path) -> u64 {
    FILES.size(&[folder.to_owned()])
}

/// The bytes of a file of scores; `None` if there is none that can be read, or nothing in it. They are a copy, since
/// the file may be replaced while they are in use.
fn stored(path: &str) -> Option<SharedBytes> {
    let bytes = open(path).ok().filter(|bytes| !bytes.is_empty())?;
    Some(Arc::new(Bytes::copy(&bytes)))
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use capeval::metric::{Part, Signature};
    use capeval::{
        Answers, Identity, MetricOptions, Outside, OutsideLabel, OutsideRow, ScoreOptions, ScoreRequest,
    };
    use capeval_corpus::{Captions, SegmentId};

    use super::*;
    use crate::DataFiles;
    use crate::metric_data::MetricData;

    /// The number of letters of a caption.
    struct Letters {
        /// The captions that it was asked about.
        asked: Arc<Mutex<Vec<String>>>,
        /// The barrier at which it waits after its answers, until another run has its own.
        others: Arc<Barrier>,
        label: OutsideLabel,
    }

    impl Outside for Letters {
        fn label(&self) -> &OutsideLabel {
            &self.label
        }

        fn signature(&self) -> Signature {
            Signature::new("letters").with("version", 1)
        }

        fn needs_references(&self) -> bool {
            true
        }

        fn identity(&self) -> Option<Identity> {
            Some(Identity { text: "letters".to_owned(), knows_images: false })
        }

        fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
            for (number, row) in rows.iter().enumerate() {
                self.asked.lock().unwrap().push(row.candidate.to_owned());
                answers.take(number, &[row.candidate.len() as f64]);
            }
            self.others.wait();
            Ok(())
        }
    }

    /// Scores captions with scores kept in a folder: those that were asked about, and the notices about scores.
    fn run(folder: &str, captions: &[&str], others: &Arc<Barrier>) -> (Vec<String>, Vec<String>) {
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let label =
            OutsideLabel::new("letters", vec![Part::score("letters", "Letters", 0.0..=f64::INFINITY)]);
        let letters = Letters { asked: Arc::clone(&asked), others: Arc::clone(others), label };
        let mut data = MetricData::default();
        data.resources.insert(Arc::new(OutsideMetrics(vec![Arc::new(letters)])));
        data.open_caches(&DataFiles { score_cache: Some(folder.to_owned()), ..DataFiles::default() })
            .unwrap();
        let of = |source: &str| {
            let mut all = Captions::new(source);
            captions.iter().enumerate().for_each(|(id, text)| all.push(SegmentId::from(id as i64), text));
            all
        };
        let MetricData { resources, caches, .. } = data;
        let report = capeval::score(ScoreRequest {
            resources,
            options: ScoreOptions {
                metrics: MetricOptions::new(["letters"]),
                segments: true,
                ..ScoreOptions::default()
            },
            ..ScoreRequest::new(of("references"), [("mine", of("captions"))])
        })
        .unwrap();
        let values = &report.systems[0].segments.as_ref().unwrap().values;
        assert_eq!(*values, captions.iter().map(|text| text.len() as f64).collect::<Vec<_>>());
        let saved: Vec<String> = caches.save().unwrap().into_iter().map(|saved| saved.added).collect();
        let asked = asked.lock().unwrap().clone();
        let n = asked.len();
        assert_eq!(saved, if n > 0 { vec![format!("{n} new scores")] } else { Vec::new() });
        let notices = report.head.notices.iter().map(|notice| notice.code.to_string());
        (asked, notices.filter(|code| code.contains("score")).collect())
    }

    fn alone() -> Arc<Barrier> {
        Arc::new(Barrier::new(1))
    }

    #[test]
    fn a_later_run_asks_only_about_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("new/scores").display().to_string();
        let captions = ["a dog", "a cat", "a dog that runs"];
        assert_eq!(
            run(&place, &captions[..2], &alone()),
            (vec!["a dog".to_owned(), "a cat".to_owned()], Vec::new())
        );
        assert_eq!(
            run(&place, &captions, &alone()),
            (vec!["a dog that runs".to_owned()], vec!["kept-scores".to_owned()])
        );
        assert_eq!(run(&place, &captions, &alone()).0, Vec::<String>::new());
        assert_eq!(FILES.list(Path::new(&place)).len(), 1);
        assert!(size(Path::new(&place)) > 0);
    }

    #[test]
    fn runs_at_the_same_time_add_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display().to_string();
        let both = Arc::new(Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| run(&place, &["a dog", "a cat"], &both));
            scope.spawn(|| run(&place, &["a dog", "a horse"], &both));
        });
        for captions in [["a dog", "a cat"], ["a dog", "a horse"]] {
            assert_eq!(run(&place, &captions, &alone()).0, Vec::<String>::new());
        }
    }

    #[test]
    fn a_damaged_file_is_told_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display().to_string();
        run(&place, &["a dog", "a cat"], &alone());
        let (_, path, _) = FILES.list(folder.path()).remove(0);
        let whole = fs::read(&path).unwrap();
        for damaged in [&whole[..whole.len() - 1], &b"something else"[..], &[][..]] {
            fs::write(&path, damaged).unwrap();
            let told = if damaged.is_empty() { Vec::new() } else { vec!["score-cache".to_owned()] };
            assert_eq!(
                run(&place, &["a dog", "a cat"], &alone()),
                (vec!["a dog".to_owned(), "a cat".to_owned()], told)
            );
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        let place = path.join("scores").display().to_string();
        let mut resources = Resources::default();
        let unused = ScoreCache::open(&place, &mut resources).err().unwrap();
        assert!(unused.to_string().contains("no metric keeps scores in this folder"), "{unused}");
        resources.insert(Arc::new(OutsideMetrics::default()));
        let error = ScoreCache::open(&place, &mut resources).err().unwrap().to_string();
        assert!(error.contains("cannot keep scores in the folder"), "{error}");
    }
}
