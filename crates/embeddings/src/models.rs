//! Models as metrics use them: what they are called, what they suit, and the vectors that they make.

use std::sync::atomic::{AtomicUsize, Ordering};

use capeval::metric::Signature;
use capeval::{Answers, Picture};
use capeval_choice::{Notice, Refusal};

use crate::baselines;
use crate::given::{Crop, Purpose};
use crate::hash;
use crate::space::dot;

/// What a model is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// Pictures and texts, as CLIP.
    PicturesAndTexts,
    /// Sentences, with a rule that makes one vector of all tokens.
    Sentences,
    /// Tokens in context, as BERT.
    Tokens,
    /// Errors of fluency.
    Errors,
}

/// What a model computes, whatever it is.
pub(crate) trait Encoder: Send + Sync {
    fn made_for(&self) -> Made;
    /// The length of vectors of texts and pictures; of tokens for models of tokens.
    fn dims(&self) -> usize;
    fn n_layers(&self) -> usize;
    /// The model's own name for itself, if it has one.
    fn own_name(&self) -> Option<&str>;
    /// The side of the pictures that it sees.
    fn picture_size(&self) -> usize;
    /// The vectors of texts, one after another.
    fn texts(&self, texts: &[String], advance: &(dyn Fn() + Sync)) -> Vec<f32>;
    /// The vectors of encoded pictures, one after another, or what is wrong with one of them.
    fn pictures(&self, pictures: &[Vec<u8>], crop: Crop) -> Result<Vec<f32>, (usize, Refusal)>;
    /// The ids of a text's tokens.
    fn token_ids(&self, text: &str, prefix_space: bool) -> Vec<u32>;
    /// The ids of the tokens around a text.
    fn special_tokens(&self) -> [u32; 2];
    /// The tokens of texts in a layer.
    fn tokens(
        &self,
        texts: &[&str],
        layer: usize,
        prefix_space: bool,
        advance: &(dyn Fn() + Sync),
    ) -> Vec<Tokens>;
    /// A token as people read it.
    fn token(&self, id: u32) -> String;
    /// Whether it matters if a space stands before the first word.
    fn has_prefix_space(&self) -> bool;
    /// The probability of an error in each text.
    fn errors(&self, texts: &[&str], advance: &(dyn Fn() + Sync)) -> Vec<f32>;
    /// Whether the reference's tokenizer would have changed a text before it read it.
    fn would_change(&self, text: &str) -> bool;
}

/// The tokens of a text and their vectors, one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tokens {
    pub ids: Vec<u32>,
    pub dims: usize,
    pub vectors: Vec<f32>,
}

impl Tokens {
    /// The vectors, token by token.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.vectors.chunks_exact(self.dims.max(1))
    }

    /// Makes the length of each vector 1; zeros stay.
    pub fn normalize(&mut self) {
        for row in self.vectors.chunks_exact_mut(self.dims.max(1)) {
            let norm = dot(row, row).sqrt();
            if norm > 0.0 {
                row.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
            }
        }
    }
}

/// A model that a user named.
pub struct OpenModel {
    /// What the user called it: a name, or the path of its folder.
    name: String,
    /// The hash of its weights.
    hash: String,
    encoder: Box<dyn Encoder>,
    /// The number of texts that the tokenizer of the reference program would have read otherwise.
    n_changed: AtomicUsize,
}

impl OpenModel {
    pub(crate) fn new(name: String, hash: String, encoder: Box<dyn Encoder>) -> Self {
        Self { name, hash, encoder, n_changed: AtomicUsize::new(0) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// All that it is called.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.encoder.own_name())
    }

    /// Whether a user means it by `name`: its name, or the last part of its path.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let last =
            |path: &str| path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().map(str::to_owned);
        self.name == name || last(&self.name).as_deref() == Some(name)
    }

    pub(crate) fn short_hash(&self) -> &str {
        hash::short(&self.hash)
    }

    pub(crate) fn dims(&self) -> usize {
        self.encoder.dims()
    }

    pub(crate) fn n_layers(&self) -> usize {
        self.encoder.n_layers()
    }

    /// What it is, in words.
    pub(crate) fn told(&self) -> &'static str {
        match self.encoder.made_for() {
            Made::PicturesAndTexts => "a model of pictures and texts",
            Made::Sentences => "a model of sentences",
            Made::Tokens => "a model of tokens",
            Made::Errors => "a detector of errors",
        }
    }

    pub(crate) fn suits(&self, purpose: Purpose<'_>) -> bool {
        match (purpose, self.encoder.made_for()) {
            (Purpose::Pictures { .. }, Made::PicturesAndTexts) | (Purpose::Errors, Made::Errors) => true,
            (Purpose::Sentences, Made::Sentences) => true,
            (Purpose::Texts, Made::PicturesAndTexts | Made::Sentences) => true,
            (Purpose::Tokens, Made::Tokens) => true,
            _ => false,
        }
    }

    /// The layer that bert_score compares.
    pub(crate) fn usual_layer(&self) -> Option<usize> {
        baselines::usual_layer(self.names())
    }

    pub(crate) fn special_tokens(&self) -> [u32; 2] {
        self.encoder.special_tokens()
    }

    pub(crate) fn has_prefix_space(&self) -> bool {
        self.encoder.has_prefix_space()
    }

    pub(crate) fn token(&self, id: u32) -> String {
        self.encoder.token(id)
    }

    pub(crate) fn token_ids(&self, text: &str, prefix_space: bool) -> Vec<u32> {
        self.encoder.token_ids(text, prefix_space)
    }

    pub(crate) fn tokens(
        &self,
        texts: &[&str],
        layer: usize,
        prefix_space: bool,
        answers: &dyn Answers,
    ) -> Result<Vec<Tokens>, Refusal> {
        Ok(self.encoder.tokens(texts, layer, prefix_space, &|| answers.wait()))
    }

    pub(crate) fn errors(&self, texts: &[&str], answers: &dyn Answers) -> Result<Vec<f32>, Refusal> {
        Ok(self.encoder.errors(texts, &|| answers.wait()))
    }

    /// Adds what its vectors depend on to a signature.
    pub(crate) fn sign(&self, signature: Signature) -> Signature {
        signature.with("model", self.short_hash()).with("dtype", "f32")
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        let n = self.n_changed.load(Ordering::Relaxed);
        let message = format!(
            "{n} texts have entities such as &amp;, curly quotes or damaged letters, which the program of OpenAI mends \
             before it reads them and this one, like Hugging Face's, does not"
        );
        let notice = (n > 0).then(|| Notice::new("unmended-texts", message).count(n));
        notice.into_iter().collect()
    }
}

/// A model with what is done before it sees texts and pictures.
pub(crate) struct Prepared {
    pub model: std::sync::Arc<OpenModel>,
    pub prefix: String,
    pub crop: Option<Crop>,
}

impl Prepared {
    /// The model with the preparation of a purpose.
    pub fn new(model: std::sync::Arc<OpenModel>, purpose: Purpose<'_>) -> Self {
        match purpose {
            Purpose::Pictures { prefix, crop } => Self { model, prefix: prefix.to_owned(), crop: Some(crop) },
            _ => Self { model, prefix: String::new(), crop: None },
        }
    }

    /// Adds what its vectors depend on to a signature.
    pub fn sign(&self, signature: Signature, looks: bool) -> Signature {
        let signature = match self.prefix.is_empty() {
            true => signature,
            false => signature.with("prefix", self.prefix.trim_end()),
        };
        let signature = self.model.sign(signature);
        match self.crop.filter(|_| looks) {
            None => signature,
            Some(crop) => {
                let name = if crop == Crop::Openai { "clip-pil" } else { "hf-pil" };
                signature.with("images", format!("{name}-{}", self.model.encoder.picture_size()))
            }
        }
    }

    /// The vectors of texts, one after another.
    pub fn texts(&self, texts: &[&str], answers: &dyn Answers) -> Vec<f32> {
        let encoder = &self.model.encoder;
        let n_changed = texts.iter().filter(|text| encoder.would_change(text)).count();
        self.model.n_changed.fetch_add(n_changed, Ordering::Relaxed);
        let texts: Vec<String> = texts.iter().map(|text| format!("{}{text}", self.prefix)).collect();
        encoder.texts(&texts, &|| answers.wait())
    }

    /// The vectors of pictures, each with what its image is called, one after another.
    pub fn pictures(
        &self,
        pictures: &[(&Picture, String)],
        answers: &dyn Answers,
    ) -> Result<Vec<f32>, Refusal> {
        /// The number of pictures that are in memory at once.
        const AT_ONCE: usize = 32;
        let Some(crop) = self.crop else { return Ok(Vec::new()) };
        let mut vectors = Vec::with_capacity(pictures.len() * self.model.dims());
        for pictures in pictures.chunks(AT_ONCE) {
            let bytes =
                pictures.iter().map(|(picture, told)| read(picture, told)).collect::<Result<Vec<_>, _>>()?;
            let made = self.model.encoder.pictures(&bytes, crop).map_err(|(at, refusal)| {
                match pictures.get(at) {
                    Some((Picture::File { path, .. }, told)) => refusal.at(format!("{path} ({told})")),
                    Some((Picture::Held, told)) => refusal.at(told),
                    None => refusal,
                }
            })?;
            vectors.extend(made);
            answers.wait();
        }
        Ok(vectors)
    }
}

/// The bytes of a picture.
fn read(picture: &Picture, told: &str) -> Result<Vec<u8>, Refusal> {
    match picture {
        Picture::File { path, .. } => {
            let bytes = capeval_files::read(path);
            bytes.map(|bytes| bytes.to_vec()).map_err(|error| Refusal::new(error.to_string()).at(told))
        }
        Picture::Held => Err(Refusal::new(format!("the picture of {told} is not a file"))
            .with_remedy("save it, or give its vector")),
    }
}

impl OpenModel {
    /// stub
    pub fn open(path: &str) -> Result<Self, capeval_files::Error> {
        Err(Refusal::new("not yet").at(path).into())
    }
}
