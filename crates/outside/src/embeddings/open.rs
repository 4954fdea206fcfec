//! The metrics that compare vectors among those of a task, with the models and files that a user named.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval::{MetricOptions, Outside};
use capeval_choice::Refusal;
use capeval_files::Error;

use crate::embeddings::given::{Given, Role};
use crate::embeddings::kind::{build, kind};
use crate::embeddings::metrics::MODEL_SETTINGS;
use crate::embeddings::models::OpenModel;
use crate::embeddings::vectors::Vectors;

/// The models and files of vectors that a user named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Names and folders of models.
    pub models: Vec<String>,
    /// Files of vectors, as `WHAT=FILE`, where WHAT is as [`Role::parse`] reads it.
    pub vectors: Vec<String>,
}

/// Builds those of the metrics that compare vectors.
///
/// # Errors
/// When a model or a file cannot be read, when one is named that no metric uses, or when a metric lacks one.
pub fn read(options: &MetricOptions, named: &Named) -> Result<Vec<Arc<dyn Outside>>, Error> {
    read_with(options, named, Vec::new())
}

/// As [`read`], with vectors that are in memory.
pub fn read_with(
    options: &MetricOptions,
    named: &Named,
    held: Vec<(Role, Arc<Vectors>)>,
) -> Result<Vec<Arc<dyn Outside>>, Error> {
    if named.models.is_empty() && named.vectors.is_empty() && held.is_empty() {
        let is_any = options.names.iter().any(|name| kind(name).is_some());
        return if is_any { Ok(build(options, &Given::default())?) } else { Ok(Vec::new()) };
    }
    let mut vectors = held;
    for source in &named.vectors {
        let (role, path) = split(source)?;
        vectors.push((role, Arc::new(Vectors::open(path)?)));
    }
    let models = named
        .models
        .iter()
        .map(|model| OpenModel::open(model).map(OpenModel::keeping))
        .collect::<Result<_, Error>>()?;
    Ok(build(options, &Given::new(models, vectors))?)
}

/// Builds those of the metrics that compare vectors, with the models that are folders in the folder `models`, of which
/// those are opened that a metric names, or all if one names none.
///
/// # Errors
/// When one of these models cannot be read, when the vectors are of no use, or when a metric lacks something.
pub fn read_in(
    models: Option<&Path>,
    options: &MetricOptions,
    vectors: Vec<(Role, Arc<Vectors>)>,
) -> Result<Vec<Arc<dyn Outside>>, Error> {
    let mut folders = models.map(models_in).unwrap_or_default();
    if let Some(named) = named_models(options) {
        folders.retain(|folder| named.iter().any(|name| folder.file_name() == Some(OsStr::new(name))));
    }
    let models = folders.into_iter().map(OpenModel::open_at).collect::<Result<_, Error>>()?;
    Ok(build(options, &Given::offering(models, vectors))?)
}

/// The folders in a folder of models.
pub fn models_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    folders
}

/// The models that these metrics name; `None` if one of them leaves a model open.
fn named_models(options: &MetricOptions) -> Option<Vec<&str>> {
    let mut all = Vec::new();
    for spec in &options.names {
        let settings = kind(spec).into_iter().flat_map(|kind| kind.settings);
        for setting in settings.filter(|setting| MODEL_SETTINGS.contains(&setting.name)) {
            let given = spec.split(':').filter_map(|field| field.split_once('='));
            let common = options.settings.get(setting.name).map(String::as_str);
            all.push(
                given
                    .into_iter()
                    .find(|(name, _)| *name == setting.name)
                    .map(|(_, value)| value)
                    .or(common)?,
            );
        }
    }
    Some(all)
}

/// The role of vectors, and their file.
fn split(source: &str) -> Result<(Role, &str), Refusal> {
    let (role, path) = source.split_once('=').ok_or_else(|| {
        Refusal::new(format!("{source}: what these vectors are of is not said"))
            .with_remedy("write images=FILE, texts=FILE, references=FILE or candidates=FILE")
    })?;
    Ok((Role::parse(role)?, path))
}
