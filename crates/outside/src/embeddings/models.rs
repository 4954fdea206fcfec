//! Models as metrics use them: their names, the metrics that they suit, and the vectors that they compute.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use capeval::metric::Signature;
use capeval::{Answers, Picture};
use capeval_arrays::Key;
use capeval_choice::{Code, Notice, Refusal};

use capeval_files::{Bytes, Error};
use capeval_neural::{Model, ModelPurpose, PictureResize, Tokens};
use capeval_picture::Resize;
use rayon::prelude::*;

use crate::embeddings::baselines;
use crate::embeddings::cache::{self, VectorCache};
use crate::embeddings::folder::{self, Folder};
use crate::embeddings::hash;
use crate::embeddings::known_hashes::KnownHashes;
use crate::embeddings::metrics::KINDS;
use crate::embeddings::role::{Crop, Purpose};

/// The version of the arithmetic: another one may give other last digits.
const FORWARD: u32 = 1;

/// A model that a user named.
pub struct OpenModel {
    /// The user's name for it: a name, or the path of its folder.
    name: String,
    /// The hash of its weights, as the hub of models shows it.
    hash: String,
    /// The hash of its other files.
    of_files: String,
    model: Model,
    /// The keys of texts that the tokenizer of the reference program would have read otherwise.
    changed: Mutex<HashSet<Key>>,
    /// The folder in which its vectors survive runs.
    kept_in: Option<PathBuf>,
    /// The number of texts and pictures that it has read.
    #[cfg(test)]
    pub(crate) n_read: std::sync::atomic::AtomicUsize,
}

impl OpenModel {
    /// Opens the model of this name, or in this folder.
    ///
    /// # Errors
    /// With what is missing, damaged or unknown, in words.
    pub fn open(name: &str) -> Result<Self, Error> {
        Ok(Self::of(name, folder::open(name)?))
    }

    /// Opens the model in a folder, under the name of the folder.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_at(path: PathBuf) -> Result<Self, Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = folder::open_at(path, &name)?;
        Ok(Self::of(&name, folder))
    }

    fn of(name: &str, Folder { model, hash, of_files }: Folder) -> Self {
        Self {
            name: name.to_owned(),
            hash,
            of_files,
            model,
            changed: Mutex::default(),
            kept_in: None,
            #[cfg(test)]
            n_read: Default::default(),
        }
    }

    /// Keeps its vectors of whole texts and pictures in the user's folder for caches, if there is one.
    pub fn keeping(self) -> Self {
        Self { kept_in: cache::usual_folder(), ..self }
    }

    /// The vectors of texts that earlier runs have kept.
    pub(crate) fn kept_texts(&self) -> Option<VectorCache> {
        self.kept("texts")
    }

    /// The vectors of pictures with this crop that earlier runs have kept.
    pub(crate) fn kept_pictures(&self, crop: Crop) -> Option<VectorCache> {
        self.kept(&format!("pictures {} {}", order_name(crop), self.picture_form()))
    }

    /// The sizes of pictures: that of the square, after that before it is cut if this is not a matter of course.
    fn picture_form(&self) -> String {
        let side = self.model.picture_size();
        match self.model.picture_resize() {
            PictureResize::Shorter(shorter) if shorter == side => side.to_string(),
            PictureResize::Shorter(shorter) => format!("{shorter}-{side}"),
            PictureResize::Exact(width, height) => format!("{width}x{height}-{side}"),
        }
    }

    /// The pixels of a picture that the model sees.
    pub(crate) fn square(&self, picture: &capeval_picture::Picture, crop: Crop) -> Vec<u8> {
        let resize = match self.model.picture_resize() {
            PictureResize::Shorter(shorter) => Resize::Shorter(shorter),
            PictureResize::Exact(width, height) => Resize::Exact(width, height),
        };
        picture.square(self.model.picture_size(), resize, crop.into())
    }

    fn kept(&self, purpose: &str) -> Option<VectorCache> {
        let identity = format!("{} {} {FORWARD} {purpose}", self.hash, self.of_files);
        Some(VectorCache::open(self.kept_in.as_ref()?, &identity, self.dims()))
    }

    /// Its family, sizes and kinds of numbers, in words.
    pub fn described(&self) -> String {
        self.model.described()
    }

    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Returns true if it makes a vector of a whole text.
    pub(crate) fn reads_texts(&self) -> bool {
        matches!(self.model.made(), ModelPurpose::PicturesAndTexts | ModelPurpose::Sentences)
    }

    /// The metrics that can use it, in words.
    pub fn uses(&self) -> String {
        let purpose = self.model.made();
        let users = KINDS.iter().filter(|kind| kind.models.contains(&purpose));
        users.map(|kind| kind.name).collect::<Vec<_>>().join(", ")
    }

    /// The hash of its weights, as the hub of models shows it.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its name, or the last part of its path.
    pub(crate) fn short_name(&self) -> &str {
        let path = self.name.trim_end_matches(['/', '\\']);
        path.rsplit(['/', '\\']).next().unwrap_or(path)
    }

    /// All that it is called.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.model.own_name())
    }

    /// Returns true if `name` means it: its name, or the last part of its path.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.short_name() == name
    }

    pub(crate) fn short_hash(&self) -> &str {
        hash::short(&self.hash)
    }

    pub(crate) fn dims(&self) -> usize {
        self.model.dims()
    }

    pub(crate) fn n_layers(&self) -> usize {
        self.model.n_layers()
    }

    /// Its kind, in words.
    pub(crate) fn told(&self) -> &'static str {
        match self.model.made() {
            ModelPurpose::PicturesAndTexts => "a model of pictures and texts",
            ModelPurpose::Sentences => "a model of sentences",
            ModelPurpose::Tokens => "a model of tokens",
            ModelPurpose::Errors => "a detector of errors",
        }
    }

    pub(crate) fn suits(&self, purpose: Purpose<'_>) -> bool {
        matches!(
            (purpose, self.model.made()),
            (Purpose::Pictures { .. }, ModelPurpose::PicturesAndTexts)
                | (Purpose::Errors, ModelPurpose::Errors)
                | (Purpose::Sentences, ModelPurpose::Sentences)
                | (Purpose::Texts, ModelPurpose::PicturesAndTexts | ModelPurpose::Sentences)
                | (Purpose::Tokens, ModelPurpose::Tokens)
        )
    }

    /// The layer that bert_score compares.
    pub(crate) fn usual_layer(&self) -> Option<usize> {
        baselines::usual_layer(self.names())
    }

    pub(crate) fn special_tokens(&self) -> [u32; 2] {
        self.model.special_tokens()
    }

    pub(crate) fn has_prefix_space(&self) -> bool {
        self.model.has_prefix_space()
    }

    pub(crate) fn token(&self, id: u32) -> String {
        self.model.token(id)
    }

    pub(crate) fn token_ids(&self, text: &str, prefix_space: bool) -> Vec<u32> {
        self.model.token_ids(text, prefix_space)
    }

    pub(crate) fn tokens(
        &self,
        texts: &[&str],
        layer: usize,
        prefix_space: bool,
        answers: &dyn Answers,
    ) -> Result<Vec<Tokens>, Refusal> {
        Ok(self.model.token_vectors(texts, layer, prefix_space, &|n| self.advance(n, answers)))
    }

    pub(crate) fn errors(&self, texts: &[&str], answers: &dyn Answers) -> Result<Vec<f32>, Refusal> {
        Ok(self.model.errors(texts, &|n| self.advance(n, answers)))
    }

    /// Called when it has read some texts or pictures.
    fn advance(&self, n: usize, answers: &dyn Answers) {
        #[cfg(test)]
        self.n_read.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
        let _ = n;
        answers.wait();
    }

    /// Adds what its vectors depend on to a signature.
    pub(crate) fn sign(&self, signature: Signature) -> Signature {
        let files = format!("{}-{}", self.short_hash(), &self.of_files);
        signature.with("model", files).with("dtype", "f32").with("forward", FORWARD)
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        let n = self.changed.lock().unwrap_or_else(PoisonError::into_inner).len();
        let message = format!(
            "{n} texts have entities such as &amp;, curly quotes or damaged letters, which the program of OpenAI mends \
             before it reads them and this one, like Hugging Face's, does not"
        );
        let notice = (n > 0).then(|| Notice::new(Code::UnmendedTexts, message).count(n));
        notice.into_iter().collect()
    }
}

/// A model with what is done before it sees texts and pictures.
pub(crate) struct PreparedModel {
    pub model: std::sync::Arc<OpenModel>,
    pub prefix: String,
    pub crop: Option<Crop>,
    texts: OnceLock<VectorCache>,
    pictures: OnceLock<VectorCache>,
    /// The hashes of pictures that can be read.
    hashes: Mutex<Option<KnownHashes>>,
}

impl PreparedModel {
    /// The model with the preparation of a purpose.
    pub fn new(model: std::sync::Arc<OpenModel>, purpose: Purpose<'_>) -> Self {
        let (prefix, crop) = match purpose {
            Purpose::Pictures { prefix, crop } => (prefix.to_owned(), Some(crop)),
            _ => (String::new(), None),
        };
        let (texts, pictures) = (OnceLock::new(), OnceLock::new());
        Self { model, prefix, crop, texts, pictures, hashes: Mutex::default() }
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
                let name = order_name(crop);
                signature.with("images", format!("{name}-{}", self.model.picture_form()))
            }
        }
    }

    /// The vectors of texts, one after another. No text is read twice in a run.
    pub fn texts(&self, texts: &[&str], answers: &dyn Answers) -> Result<Vec<f32>, Refusal> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let model = &self.model.model;
        let changed =
            texts.iter().filter(|text| model.would_mend(text)).map(|text| cache::key(text.as_bytes()));
        self.model.changed.lock().unwrap_or_else(PoisonError::into_inner).extend(changed);
        let texts: Vec<String> = texts.iter().map(|text| format!("{}{text}", self.prefix)).collect();
        let keys: Vec<Key> = texts.iter().map(|text| cache::key(text.as_bytes())).collect();
        let known = self.texts.get_or_init(|| self.known(self.model.kept_texts()));
        known.fill(&keys, |places| {
            let new: Vec<&str> = places.iter().map(|place| texts[*place].as_str()).collect();
            Ok(model.text_vectors(&new, &|n| self.model.advance(n, answers)))
        })
    }

    /// The vectors that earlier runs have kept, or an empty place for those of this run.
    fn known(&self, kept: Option<VectorCache>) -> VectorCache {
        kept.unwrap_or_else(|| VectorCache::in_memory(self.model.dims()))
    }

    /// The vectors of pictures, each with what its image is called, one after another. No picture is looked at twice in
    /// a run.
    pub fn pictures(
        &self,
        pictures: &[(&Picture, String)],
        answers: &dyn Answers,
    ) -> Result<Vec<f32>, Refusal> {
        let Some(crop) = self.crop.filter(|_| !pictures.is_empty()) else { return Ok(Vec::new()) };
        let known = self.pictures.get_or_init(|| self.known(self.model.kept_pictures(crop)));
        // Taken out, since a thread that waits for others may be given a task that asks for pictures, too.
        let held = || self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = held().take();
        let mut hashes = kept.unwrap_or_else(|| match known.survives() {
            true => KnownHashes::of_user("pictures.json"),
            false => KnownHashes::default(),
        });
        // The first picture that is refused is named, whichever thread looks at it.
        let key = |one: &(&Picture, String)| key_of(one, &hashes);
        let all: Vec<Result<(Key, Option<String>), Refusal>> = pictures.par_iter().map(key).collect();
        let all = all.into_iter().collect::<Result<Vec<_>, Refusal>>()?;
        let mut keys = Vec::with_capacity(all.len());
        for ((key, new), (picture, _)) in all.into_iter().zip(pictures) {
            keys.push(key);
            if let (Picture::File { path, state }, Some(sha256)) = (picture, new) {
                hashes.add(path.clone(), state.clone(), sha256);
            }
        }
        hashes.keep();
        *held() = Some(hashes);
        known.fill(&keys, |places| {
            let new: Vec<_> = places.iter().map(|place| &pictures[*place]).collect();
            self.look(&new, crop, answers)
        })
    }

    fn look(
        &self,
        pictures: &[&(&Picture, String)],
        crop: Crop,
        answers: &dyn Answers,
    ) -> Result<Vec<f32>, Refusal> {
        /// The number of pictures that are in memory at once.
        const AT_ONCE: usize = 32;
        let mut vectors = Vec::with_capacity(pictures.len() * self.model.dims());
        for pictures in pictures.chunks(AT_ONCE) {
            let seen = |(picture, told): &&(&Picture, String)| {
                let bytes = read(picture, told)?;
                let decoded =
                    capeval_picture::decode(&bytes).map_err(|refusal| refusal.at(named(picture, told)))?;
                Ok(self.model.square(&decoded, crop))
            };
            let pixels = pictures.par_iter().map(seen).collect::<Result<Vec<Vec<u8>>, Refusal>>()?;
            let pixels: Vec<&[u8]> = pixels.iter().map(Vec::as_slice).collect();
            vectors.extend(self.model.model.picture_vectors(&pixels, &|n| self.model.advance(n, answers)));
        }
        Ok(vectors)
    }

    /// Notices about damaged files of earlier runs whose vectors were computed again.
    pub fn notices(&self) -> Vec<Notice> {
        [&self.texts, &self.pictures]
            .iter()
            .filter_map(|known| known.get())
            .flat_map(VectorCache::notices)
            .collect()
    }
}

/// The name of a crop in signatures.
fn order_name(crop: Crop) -> &'static str {
    if crop == Crop::Openai { "clip-pil" } else { "hf-pil" }
}

impl From<Crop> for capeval_picture::Order {
    fn from(crop: Crop) -> Self {
        match crop {
            Crop::Openai => Self::Openai,
            Crop::Hf => Self::HuggingFace,
        }
    }
}

/// The name of a picture in errors.
fn named(picture: &Picture, told: &str) -> String {
    match picture {
        Picture::File { path, .. } => format!("{path} ({told})"),
        Picture::Held => told.to_owned(),
    }
}

/// The key of a picture that can be read, and its SHA-256 unless that is known.
fn key_of(
    (picture, told): &(&Picture, String),
    known: &KnownHashes,
) -> Result<(Key, Option<String>), Refusal> {
    if let Picture::File { path, state } = picture
        && let Some(key) = known.find(path, state).and_then(cache::key_of_hex)
    {
        return Ok((key, None));
    }
    let bytes = read(picture, told)?;
    capeval_picture::probe(&bytes).map_err(|refusal| refusal.at(named(picture, told)))?;
    let sha256 = hash::of(&bytes);
    Ok((cache::key_of_hex(&sha256).unwrap_or_default(), Some(sha256)))
}

/// The bytes of a picture.
fn read(picture: &Picture, told: &str) -> Result<Bytes, Refusal> {
    match picture {
        Picture::File { path, .. } => {
            capeval_files::open(path).map_err(|error| Refusal::new(format!("{error} ({told})")))
        }
        Picture::Held => Err(Refusal::new(format!("the picture of {told} is not a file"))
            .with_remedy("save it, or give its vector")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_read_again_once_its_file_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jpg");
        let picture = || capeval_files::picture_file(&path).unwrap();
        let key = |picture: &Picture, known: &KnownHashes| key_of(&(picture, "image 1".to_owned()), known);
        let jpeg = include_bytes!("../../../../testdata/pictures/420.jpg");
        std::fs::write(&path, jpeg).unwrap();
        let (first, mut known) = (picture(), KnownHashes::default());
        let (key_of_first, sha256) = key(&first, &known).unwrap();
        assert_eq!((key_of_first, sha256.as_deref()), (cache::key(jpeg), Some(&*hash::of(jpeg))));
        let Picture::File { path: name, state } = first.clone() else { panic!("a file") };
        known.add(name.clone(), state.clone(), sha256.unwrap());
        std::fs::write(&path, "no picture").unwrap();
        assert_eq!(key(&first, &known).unwrap(), (key_of_first, None), "what is known is not read");
        assert!(key(&picture(), &known).is_err(), "another size");
        known.add(name, state, "damaged".to_owned());
        assert!(key(&first, &known).is_err(), "what is no hash is not believed");
    }
}
