//! The one door for the data of metrics: what is installed and the files that a person names become resources.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use capeval::metric::{Absences, Resources};
use capeval::{MetricOptions, NeededData, needed_data};
use capeval_choice::Notice;
use serde::{Deserialize, Serialize};

use crate::data::{DATA, DataKind};
use crate::score_cache::{SavedCache, ScoreCache};
use crate::spice_cache::SpiceCache;
use crate::{Error, Home, frequencies, language_model, open};

/// The files with data of metrics that a person names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataFiles {
    /// A table of document frequencies.
    pub df: Option<String>,
    /// The number of images counted in this table, for a pickle that does not contain it.
    pub df_images: Option<u64>,
    /// An ARPA file with a language model.
    pub lm: Option<String>,
    /// A file that keeps SPICE's parses, which need not exist, or [`NO_CACHE`].
    pub spice_cache: Option<String>,
    /// A folder that keeps scores of metrics that are functions and programs, which need not exist, or [`NO_CACHE`].
    pub score_cache: Option<String>,
    /// Keep SPICE's parses and scores in the user's folder for caches if no place is named.
    #[serde(skip)]
    pub uses_cache_folder: bool,
}

/// In the place of a file: keep nothing.
pub const NO_CACHE: &str = "none";

/// The data of metrics, open for use.
#[derive(Default)]
pub struct MetricData {
    /// The data, which metrics find by type.
    pub resources: Resources,
    /// The needed data that are not installed.
    pub absent: Vec<AbsentData>,
    /// The caches to save after the metrics have used the resources.
    pub caches: Caches,
}

/// Data that a metric needs and that are not installed. Their [`Display`](fmt::Display) also names the missing file.
pub struct AbsentData {
    /// The data.
    pub kind: &'static DataKind,
    /// True if the metric is selected by name; a suite leaves it out.
    pub is_named: bool,
    words: String,
    file: Option<PathBuf>,
}

/// Files that survive runs, in which metrics keep what they have computed.
#[derive(Default)]
pub struct Caches {
    spice: Option<SpiceCache>,
    scores: Option<Arc<ScoreCache>>,
}

impl DataFiles {
    /// The files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let Self { df, df_images: _, lm, spice_cache, score_cache: _, uses_cache_folder: _ } = self;
        let spice_cache = spice_cache.as_ref().filter(|path| *path != NO_CACHE);
        [df.as_ref(), lm.as_ref(), spice_cache].into_iter().flatten().map(String::as_str)
    }

    /// Returns true if metrics may exist only with these files.
    pub fn complete_metrics(&self) -> bool {
        self.df.is_some() || self.lm.is_some()
    }
}

impl MetricData {
    /// Opens the installed data that `metrics` need and the files of a person.
    pub fn open(home: Option<&Home>, metrics: &MetricOptions, files: &DataFiles) -> Result<Self, Error> {
        let mut data = Self::installed(home, metrics)?;
        data.read(files)?;
        data.open_caches(files)?;
        Ok(data)
    }

    /// Opens the installed data that `metrics` need; none is installed without a home.
    pub fn installed(home: Option<&Home>, metrics: &MetricOptions) -> Result<Self, Error> {
        let mut data = Self::default();
        let (mut present, mut absences) = (BTreeSet::new(), Absences::default());
        for (kind, is_named) in needed_kinds(&needed_data(metrics)) {
            let lacking = kind.needs.iter().find(|need| !present.contains(need.kind.name));
            let is_installed = home.is_some_and(|home| home.is_installed(kind));
            let found = match (home, lacking) {
                (Some(home), None) => home.open(kind, &data.resources)?,
                _ => None,
            };
            if let Some(found) = found {
                data.resources.extend(&found);
                present.insert(kind.name);
                continue;
            }
            let words = match lacking {
                Some(need) if is_installed => {
                    format!(
                        "{}'s {}, which is {}'s data, is not installed",
                        kind.title, need.role, need.kind.title
                    )
                }
                Some(_) => format!("{}'s data are not installed", kind.title),
                None => kind.absence(),
            };
            let missing = lacking.filter(|_| is_installed).map_or(kind, |need| need.kind);
            let file = home.map(|home| home.file(missing));
            absences.0.insert(kind.name, words.clone());
            data.absent.push(AbsentData { kind, is_named, words, file });
        }
        if !data.absent.is_empty() {
            data.resources.insert(Arc::new(absences));
        }
        Ok(data)
    }

    /// Reads the files of a person that are not caches.
    pub fn read(&mut self, files: &DataFiles) -> Result<(), Error> {
        let DataFiles { df, df_images, lm, spice_cache: _, score_cache: _, uses_cache_folder: _ } = files;
        if let Some(path) = df {
            self.resources.insert(Arc::new(frequencies(path, &open(path)?, *df_images)?));
        }
        if let Some(path) = lm {
            self.resources.insert(Arc::new(language_model(path, &open(path)?)?));
        }
        Ok(())
    }

    /// Opens caches, whose metrics and data must be among the resources.
    pub fn open_caches(&mut self, files: &DataFiles) -> Result<(), Error> {
        let DataFiles { spice_cache, score_cache, uses_cache_folder, .. } = files;
        let resources = &mut self.resources;
        self.caches.spice = match spice_cache.as_deref() {
            Some(NO_CACHE) => None,
            Some(path) => Some(SpiceCache::open(path, resources)?),
            None if *uses_cache_folder => SpiceCache::open_usual(resources),
            None => None,
        };
        self.caches.scores = match score_cache.as_deref() {
            Some(NO_CACHE) => None,
            Some(path) => Some(ScoreCache::open(path, resources)?),
            None if *uses_cache_folder => ScoreCache::open_usual(resources),
            None => None,
        };
        Ok(())
    }
}

/// The kinds of data that metrics need, each after those that it needs itself, and whether a metric with this need is
/// selected by name.
fn needed_kinds(needed: &[NeededData]) -> Vec<(&'static DataKind, bool)> {
    let mut wanted: BTreeMap<&str, bool> = BTreeMap::new();
    for need in needed {
        *wanted.entry(need.data).or_default() |= need.is_named;
    }
    let mut kinds = Vec::new();
    for kind in DATA.iter().rev() {
        let Some(is_named) = wanted.get(kind.name) else { continue };
        kinds.push((*kind, *is_named));
        for need in kind.needs {
            wanted.entry(need.kind.name).or_default();
        }
    }
    kinds.reverse();
    kinds
}

impl fmt::Display for AbsentData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)?;
        self.file.as_ref().map_or(Ok(()), |file| write!(f, " ({} is missing)", file.display()))
    }
}

impl Caches {
    /// The reasons why files are started again, for commands without a report that would say so.
    pub fn notices(&self) -> &[Notice] {
        self.spice.as_ref().and_then(|cache| cache.parses().notice()).map_or(&[], std::slice::from_ref)
    }

    /// Writes the caches to which something was added.
    pub fn save(self) -> Result<Vec<SavedCache>, Error> {
        let scores = self.scores.map(|cache| cache.saved()).transpose();
        let parses = self.spice.map(save_parses).transpose();
        Ok(parses?.into_iter().chain(scores?).flatten().collect())
    }
}

fn save_parses(cache: SpiceCache) -> Result<Option<SavedCache>, Error> {
    if cache.is_usual() {
        // No one asked for it, so that it is neither a failure nor worth a word.
        let _ = cache.save();
        return Ok(None);
    }
    let (path, n) = (cache.path().to_owned(), cache.parses().n_added());
    let saved = cache.save()?;
    let added = format!("parses of {n} new captions");
    Ok(saved.map(|bytes| SavedCache { path, bytes, added }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(home: Option<&Home>, metrics: &[&str]) -> Vec<(&'static str, bool, String)> {
        let data = MetricData::installed(home, &MetricOptions::new(metrics.iter().copied())).unwrap();
        data.absent.iter().map(|absent| (absent.kind.name, absent.is_named, absent.to_string())).collect()
    }

    #[test]
    fn what_is_missing_is_said_in_the_words_of_metrics_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned());
        let [meteor, spice] = ["meteor-1.5.bin", "spice-1.0.bin"]
            .map(|name| format!(" ({} is missing)", folder.path().join(name).display()));
        assert_eq!(found(Some(&home), &["bleu", "blue"]), []);
        let no_meteor = "METEOR's resources are not installed";
        assert_eq!(found(None, &["meteor"]), [("meteor", true, no_meteor.to_owned())]);
        assert_eq!(found(Some(&home), &["coco"])[0], ("meteor", false, format!("{no_meteor}{meteor}")));
        for metric in ["spice", "spider"] {
            let both = found(Some(&home), &[metric]);
            assert_eq!(both[0], ("meteor", false, format!("{no_meteor}{meteor}")), "needed as a dictionary");
            assert_eq!(both[1], ("spice", true, format!("SPICE's data are not installed{spice}")));
        }
        fs::write(folder.path().join("spice-1.0.bin"), "a grammar").unwrap();
        let words = format!("SPICE's dictionary, which is METEOR's data, is not installed{meteor}");
        assert_eq!(found(Some(&home), &["spider"])[1], ("spice", true, words));
    }

    #[test]
    fn files_are_read_and_what_they_lack_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| Some(folder.path().join(name).display().to_string());
        let files = DataFiles { lm: path("model.arpa"), spice_cache: path("parses"), ..DataFiles::default() };
        assert!(files.complete_metrics() && files.paths().count() == 2);
        let open = |files: &DataFiles| MetricData::open(None, &MetricOptions::new(["perplexity"]), files);
        let error = open(&files).err().unwrap().to_string();
        assert!(error.contains("model.arpa: cannot open the file"), "{error}");
        let model = "\\data\\\nngram 1=3\n\n\\1-grams:\n-1\t<s>\n-1\t</s>\n-1\t<unk>\n\n\\end\\\n";
        fs::write(folder.path().join("model.arpa"), model).unwrap();
        let error = open(&files).err().unwrap().to_string();
        assert!(error.contains("parses: no metric uses this cache"), "{error}");
        let data = open(&DataFiles { spice_cache: None, ..files }).unwrap();
        assert!(data.resources.has::<capeval_lexical::fluency::NgramModel>());
        assert!(data.caches.save().unwrap().is_empty());
    }
}
