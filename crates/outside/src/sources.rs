//! The sources that a user passes to metrics whose scores come from outside the engine: named, as each front end reads
//! them from its arguments, and open, so that metrics can take the models and vectors that suit them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use capeval::{Outside, Pictures};
use capeval_choice::{Argument, Refusal, Remedy};

use crate::chair::ObjectFiles;
use crate::embeddings::{OpenModel, Purpose, Role, Vectors};
use crate::judges::{Consent, Judging};
use crate::programs::{Messages, Sandbox};

/// The sources that a person, or a server, gives to metrics.
#[derive(Clone, Default)]
pub struct Sources {
    /// Names and folders of models, each of which a metric must use.
    pub models: Vec<String>,
    /// A folder of models, of which those are opened that a metric names, or all if one names none.
    pub model_folder: Option<PathBuf>,
    /// Files of vectors, as `WHAT=FILE`, where WHAT is as [`Role::parse`] reads it.
    pub vectors: Vec<String>,
    /// Vectors in memory.
    pub held_vectors: Vec<(Role, Arc<Vectors>)>,
    /// Files for CHAIR.
    pub objects: ObjectFiles,
    /// Whom judges ask; `None` where no name means a judge.
    pub judging: Option<Judging>,
    /// Is told what judges are about to ask; `None` to agree.
    pub consent: Option<Consent>,
    /// Receives what programs write for people; `None` where no name means a program.
    pub programs: Option<Messages>,
    /// The sandbox of programs that someone else wrote; `None` to run them as this process itself runs.
    pub sandbox: Option<Sandbox>,
    /// Metrics of the caller's own.
    pub functions: Vec<Arc<dyn Outside>>,
    /// Places of pictures.
    pub pictures: Vec<String>,
    /// Pictures in memory.
    pub held_pictures: Option<Pictures>,
}

/// Models and vectors that are open, and the other sources.
#[derive(Default)]
pub(crate) struct OpenSources {
    models: Vec<(Arc<OpenModel>, AtomicBool)>,
    vectors: Vec<(Role, Arc<Vectors>, AtomicBool)>,
    /// All of them as they are named, among them files that metrics open themselves.
    pub named: Sources,
}

impl OpenSources {
    /// These models, and vectors by what they stand for.
    pub fn new(models: Vec<OpenModel>, vectors: Vec<(Role, Arc<Vectors>)>) -> Self {
        let models = models.into_iter().map(|model| (Arc::new(model), AtomicBool::default())).collect();
        let vectors = vectors.into_iter().map(|(role, file)| (role, file, AtomicBool::default()));
        Self { models, vectors: vectors.collect(), named: Sources::default() }
    }

    /// With more models, of which a metric need not use any.
    pub fn offering(mut self, models: Vec<OpenModel>) -> Self {
        self.models.extend(models.into_iter().map(|model| (Arc::new(model), AtomicBool::new(true))));
        self
    }

    /// With the other sources.
    pub fn of(self, sources: &Sources) -> Self {
        Self { named: sources.clone(), ..self }
    }

    /// The vectors of this role.
    pub fn vectors(&self, role: &Role) -> Option<Arc<Vectors>> {
        let (_, file, is_used) = self.vectors.iter().find(|(known, ..)| known == role)?;
        is_used.store(true, Ordering::Relaxed);
        Some(Arc::clone(file))
    }

    /// The vectors of captions, of systems by name, and then of all systems.
    pub fn candidates(&self) -> Vec<(Option<String>, Arc<Vectors>)> {
        let of_one = self.vectors.iter().filter_map(|(role, file, is_used)| match role {
            Role::CandidatesOf(system) => {
                is_used.store(true, Ordering::Relaxed);
                Some((Some(system.clone()), Arc::clone(file)))
            }
            _ => None,
        });
        let of_all = self.vectors(&Role::Candidates).map(|file| (None, file));
        of_one.chain(of_all).collect()
    }

    /// The model of this name, or the one that suits; `None` if none does.
    pub fn model(&self, name: Option<&str>, purpose: Purpose<'_>) -> Result<Option<Arc<OpenModel>>, Refusal> {
        let named = |model: &OpenModel| name.is_none_or(|name| model.is_called(name));
        let found: Vec<&(Arc<OpenModel>, AtomicBool)> = self
            .models
            .iter()
            .filter(|(model, _)| named(model) && (name.is_some() || model.suits(purpose)))
            .collect();
        match (&found[..], name) {
            ([], None) => Ok(None),
            ([], Some(name)) => Err(Refusal::new(format!("no model is called {name}"))
                .with_remedy(Remedy::give(Argument::Model).to("say where it is"))),
            ([(model, is_used)], _) if model.suits(purpose) => {
                is_used.store(true, Ordering::Relaxed);
                Ok(Some(Arc::clone(model)))
            }
            ([(model, _)], _) => Err(Refusal::new(format!("{} is {}", model.name(), model.told()))
                .with_remedy(format!("give {}", purpose.words()))),
            ([first, second, ..], _) => {
                let message = format!("{} and {} both suit", first.0.name(), second.0.name());
                Err(Refusal::new(message).with_remedy("name one in the metric's setting model"))
            }
        }
    }

    /// As [`model`](Self::model), for a metric that cannot do without.
    pub fn needed_model(&self, name: Option<&str>, purpose: Purpose<'_>) -> Result<Arc<OpenModel>, Refusal> {
        self.model(name, purpose)?.ok_or_else(|| {
            let why_not: Vec<String> = self
                .models
                .iter()
                .map(|(model, _)| format!("{} is {}", model.name(), model.told()))
                .collect();
            let why_not =
                if why_not.is_empty() { String::new() } else { format!(": {}", why_not.join(", ")) };
            Refusal::new(format!("it needs {}, and there is none{why_not}", purpose.words()))
                .with_remedy(Remedy::give(Argument::Model).to("say where it is"))
        })
    }

    /// The number of texts and pictures that the models have read.
    #[cfg(test)]
    pub fn n_read(&self) -> usize {
        self.models.iter().map(|(model, _)| model.n_read.load(Ordering::Relaxed)).sum()
    }

    /// Refuses models and vectors that no metric uses.
    pub fn refuse_unused(&self) -> Result<(), Refusal> {
        let models = self.models.iter().map(|(model, is_used)| (model.name(), is_used));
        let vectors = self.vectors.iter().map(|(_, file, is_used)| (file.name(), is_used));
        match models.chain(vectors).find(|(_, is_used)| !is_used.load(Ordering::Relaxed)) {
            Some((name, _)) => Err(Refusal::new(format!("no metric uses {name}"))
                .with_remedy("leave it out, or add a metric that does, such as clip-s")),
            None => Ok(()),
        }
    }
}
