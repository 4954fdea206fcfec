//! The roles of vectors and models: what vectors represent, and why a metric needs a model.

use capeval_choice::Refusal;

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
    pub fn words(self) -> &'static str {
        match self {
            Self::Pictures { .. } => "a model of pictures and texts, such as CLIP",
            Self::Sentences => "a model of sentences",
            Self::Texts => "a model of texts",
            Self::Tokens => "a model such as RoBERTa or BERT",
            Self::Errors => "a detector of errors",
        }
    }
}
