//! The only entry point for metrics whose scores come from outside the engine: [`Sources::open`] builds them from a
//! user's arguments.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval::metric::Resources;
use capeval::{MetricOptions, Outside, OutsideMetrics, Pictures};
use capeval_choice::Refusal;
use capeval_files::{Error, PicturePlaces};

use crate::embeddings::{MODEL_SETTINGS, OpenModel, Role, Vectors};
use crate::judges;
use crate::kind::{build, kind};
use crate::outside_settings;
use crate::programs;
use crate::sources::{OpenSources, Sources};

impl Sources {
    /// Adds those of the metrics whose scores come from outside, and the pictures at which they look.
    ///
    /// # Errors
    /// As [`metrics`](Self::metrics), and when places of pictures cannot be read.
    pub fn open(&self, options: &MetricOptions, resources: &mut Resources) -> Result<(), Error> {
        let all = OutsideMetrics(self.metrics(options)?);
        let pictures = match &self.held_pictures {
            _ if !all.look() => None,
            None if self.pictures.is_empty() => None,
            None => Some(Pictures(Arc::new(PicturePlaces::open(&self.pictures)?))),
            held => held.clone(),
        };
        if let Some(synonyms) = crate::chair::synonyms(options, &self.objects)? {
            resources.insert(Arc::new(synonyms));
        }
        resources.insert(Arc::new(outside_settings()));
        if let Some(pictures) = pictures {
            resources.insert(Arc::new(pictures));
        }
        if !all.0.is_empty() {
            resources.insert(Arc::new(all));
        }
        Ok(())
    }

    /// Builds those of the metrics whose scores come from outside.
    ///
    /// # Errors
    /// When a source cannot be read, when one is given that no metric uses, or when a metric lacks one.
    pub fn metrics(&self, options: &MetricOptions) -> Result<Vec<Arc<dyn Outside>>, Error> {
        let names = &options.names;
        let judges = self.judging.as_ref().map(|_| judges::names(names)).transpose()?.unwrap_or_default();
        let mut all = match &self.programs {
            Some(messages) => {
                let names = names.iter().filter(|name| !judges.contains(name));
                programs::read(names, messages, self.sandbox.as_ref())?.0
            }
            None => Vec::new(),
        };
        all.extend(build(options, &self.open_files(options)?)?);
        if let Some(judging) = &self.judging {
            let consent = self.consent.clone().unwrap_or_else(|| Arc::new(|_| Ok(())));
            all.extend(judges::read(&judges, judging, &consent)?);
        }
        all.extend(self.functions.iter().cloned());
        Ok(all)
    }

    fn open_files(&self, options: &MetricOptions) -> Result<OpenSources, Error> {
        let mut vectors = self.held_vectors.clone();
        for source in &self.vectors {
            let (role, path) = split(source)?;
            vectors.push((role, Arc::new(Vectors::open(path)?)));
        }
        let open = |model: &String| OpenModel::open(model).map(OpenModel::keeping);
        let models = self.models.iter().map(open).collect::<Result<_, Error>>()?;
        let mut folders = self.model_folder.as_deref().map(models_in).unwrap_or_default();
        if let Some(named) = named_models(options) {
            folders.retain(|folder| named.iter().any(|name| folder.file_name() == Some(OsStr::new(name))));
        }
        let offered = folders.into_iter().map(OpenModel::open_at).collect::<Result<_, Error>>()?;
        Ok(OpenSources::new(models, vectors).offering(offered).of(self))
    }
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

/// What vectors stand for, and their file.
fn split(source: &str) -> Result<(Role, &str), Refusal> {
    let (role, path) = source.split_once('=').ok_or_else(|| {
        Refusal::new(format!("{source}: what these vectors are of is not said"))
            .with_remedy("write images=FILE, texts=FILE, references=FILE or candidates=FILE")
    })?;
    Ok((Role::parse(role)?, path))
}
