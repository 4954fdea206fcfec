//! The user's sources for metrics that compare vectors: models, and files of vectors.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use capeval_choice::{Argument, Refusal, Remedy};

use crate::embeddings::models::OpenModel;
use crate::embeddings::vectors::Vectors;

capeval_choice::named! {
    /// The way to crop pictures for a model.
    pub enum Crop ("crop") {
        Openai = "openai", "shrunk, cut in the middle, halves rounded to even, then made RGB, as OpenAI's CLIP does";
        Hf = "hf", "made RGB, shrunk, cut in the middle, halves rounded down, as Hugging Face's processor on PIL does";
    }
}

/// The texts or pictures that vectors stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The pictures of images, by id.
    Pictures,
    /// Texts, by the text: captions and references.
    Texts,
    /// References, by the id of their image, in their order.
    References,
    /// The captions of all systems, by the id of their image.
    Candidates,
    /// The captions of one system, by the id of their image.
    CandidatesOf(String),
}

/// The purpose for which a metric needs a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Purpose<'p> {
    /// To compare pictures with texts, before which something stands.
    Pictures { prefix: &'p str, crop: Crop },
    /// To compare sentences.
    Sentences,
    /// To compare texts in any way.
    Texts,
    /// To compare tokens.
    Tokens,
    /// To find errors.
    Errors,
}

/// Models and vectors.
#[derive(Default)]
pub struct Given {
    models: Vec<(Arc<OpenModel>, AtomicBool)>,
    vectors: Vec<(Role, Arc<Vectors>, AtomicBool)>,
}

impl Role {
    /// Reads `images`, `texts`, `references`, `candidates`, or `candidates:NAME`.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        match text {
            "images" => Ok(Self::Pictures),
            "texts" => Ok(Self::Texts),
            "references" => Ok(Self::References),
            "candidates" => Ok(Self::Candidates),
            _ => match text.strip_prefix("candidates:") {
                Some(system) if !system.is_empty() => Ok(Self::CandidatesOf(system.to_owned())),
                _ => Err(Refusal::new(format!("vectors cannot be of {text:?}"))
                    .with_remedy("write images, texts, references, candidates, or candidates:SYSTEM")),
            },
        }
    }
}

impl Purpose<'_> {
    /// The required kind of model, in words.
    fn words(self) -> &'static str {
        match self {
            Self::Pictures { .. } => "a model of pictures and texts, such as CLIP",
            Self::Sentences => "a model of sentences",
            Self::Texts => "a model of texts",
            Self::Tokens => "a model such as RoBERTa or BERT",
            Self::Errors => "a detector of errors",
        }
    }
}

impl Given {
    /// These models, and vectors by what they stand for.
    pub fn new(models: Vec<OpenModel>, vectors: Vec<(Role, Arc<Vectors>)>) -> Self {
        let models = models.into_iter().map(|model| (Arc::new(model), AtomicBool::default())).collect();
        let vectors = vectors.into_iter().map(|(role, file)| (role, file, AtomicBool::default()));
        Self { models, vectors: vectors.collect() }
    }

    /// As [`new`](Self::new), with models of which a metric need not use any.
    pub(crate) fn offering(models: Vec<OpenModel>, vectors: Vec<(Role, Arc<Vectors>)>) -> Self {
        let given = Self::new(models, vectors);
        given.models.iter().for_each(|(_, is_used)| is_used.store(true, Ordering::Relaxed));
        given
    }

    /// The vectors of this role.
    pub(crate) fn vectors(&self, role: &Role) -> Option<Arc<Vectors>> {
        let (_, file, is_used) = self.vectors.iter().find(|(known, ..)| known == role)?;
        is_used.store(true, Ordering::Relaxed);
        Some(Arc::clone(file))
    }

    /// The vectors of captions, of systems by name, and then of all systems.
    pub(crate) fn candidates(&self) -> Vec<(Option<String>, Arc<Vectors>)> {
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
    pub(crate) fn model(
        &self,
        name: Option<&str>,
        purpose: Purpose<'_>,
    ) -> Result<Option<Arc<OpenModel>>, Refusal> {
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
    pub(crate) fn needed_model(
        &self,
        name: Option<&str>,
        purpose: Purpose<'_>,
    ) -> Result<Arc<OpenModel>, Refusal> {
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
    pub(crate) fn n_read(&self) -> usize {
        self.models.iter().map(|(model, _)| model.n_read.load(Ordering::Relaxed)).sum()
    }

    /// Refuses models and vectors that no metric uses.
    pub(crate) fn refuse_unused(&self) -> Result<(), Refusal> {
        let models = self.models.iter().map(|(model, is_used)| (model.name(), is_used));
        let vectors = self.vectors.iter().map(|(_, file, is_used)| (file.name(), is_used));
        match models.chain(vectors).find(|(_, is_used)| !is_used.load(Ordering::Relaxed)) {
            Some((name, _)) => Err(Refusal::new(format!("no metric uses {name}"))
                .with_remedy("leave it out, or add a metric that does, such as clip-s")),
            None => Ok(()),
        }
    }
}
