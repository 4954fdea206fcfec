//! A model from its folder: what it is, and the vectors that it makes.

use capeval_choice::Refusal;
use rayon::prelude::*;
use serde_json::Value;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::clip::{Clip, Colours, OPENAI};
use crate::config::Json;
use crate::encoder::{Scratch, apply};
use crate::mending;
use crate::preparation::{PREPROCESSOR, PictureResize, colours, not_computed, resize};
use crate::product::{Matrix, multiply};
use crate::source::{Source, json, tokenizer, weights};
use crate::text::{Kind, TextModel};
use crate::tokenizer::{Tokenizer, TokenizerKind};
use crate::weights::{Linear, Weights};

/// The purpose of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelPurpose {
    /// Pictures and texts, as CLIP.
    PicturesAndTexts,
    /// Sentences, with a rule that makes one vector of all tokens.
    Sentences,
    /// Tokens in context, as BERT.
    Tokens,
    /// Errors of fluency, as FENSE's detector.
    Errors,
}

/// The vectors of a text's tokens, those around it included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tokens {
    /// The ids of the tokens.
    pub ids: Vec<u32>,
    /// The length of a vector.
    pub dims: usize,
    /// The vectors, one after another.
    pub vectors: Vec<f32>,
}

/// A model that was read.
pub struct Model {
    network: Network,
    tokenizer: Tokenizer,
    made: ModelPurpose,
    sentences: Sentences,
    detector: Option<Linear>,
    colours: Colours,
    resize: PictureResize,
    longest: usize,
    dtypes: String,
    own_name: Option<String>,
}

enum Network {
    Clip(Box<Clip>),
    Text(Box<TextModel>),
}

/// The step from the tokens of a sentence to one vector.
#[derive(Clone, Debug, Default)]
struct Sentences {
    pooling: Pooling,
    /// A layer after it, with what follows its product.
    dense: Option<(Linear, bool)>,
    normalizes: bool,
    lower_case: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Pooling {
    #[default]
    Mean,
    First,
    Greatest,
}

/// The number of tokens, or parts of pictures, that a thread reads at once.
const TOKENS_AT_ONCE: usize = 800;

/// The number of tokens that FENSE's detector reads.
const LONGEST_OF_DETECTOR: usize = 64;

impl Model {
    /// Reads the model in a folder.
    ///
    /// # Errors
    /// With what is missing, damaged or unknown, in words.
    pub fn open(source: &dyn Source) -> Result<Self, Refusal> {
        let modules = json(source, "modules.json")?;
        let folder =
            modules.as_ref().and_then(|modules| folder_of(modules, "Transformer")).unwrap_or_default();
        let config = json(source, &format!("{folder}config.json"))?;
        let open_clip = json(source, "open_clip_config.json")?;
        if config.is_none() && open_clip.is_none() {
            return Err(Refusal::new("it has no config.json")
                .with_remedy("give the folder of a model as Hugging Face stores it"));
        }
        let config = config.unwrap_or(Value::Null);
        let own_name = config.get("_name_or_path").and_then(Value::as_str).map(str::to_owned);
        let weights = weights(source, &folder)?;
        let dtypes = weights.dtypes();
        let family = config.get("model_type").and_then(Value::as_str).unwrap_or("clip");
        if family == "clip" {
            let clip = Clip::open(&config, open_clip.as_ref(), &weights)?;
            let preprocessor = json(source, PREPROCESSOR)?;
            let resize = resize(preprocessor.as_ref(), open_clip.as_ref(), clip.size)?;
            let colours = colours(preprocessor.as_ref(), open_clip.as_ref())?;
            return Ok(Self {
                tokenizer: tokenizer(source, "", TokenizerKind::Clip)?,
                made: ModelPurpose::PicturesAndTexts,
                sentences: Sentences::default(),
                detector: None,
                colours,
                resize,
                longest: clip.longest(),
                network: Network::Clip(Box::new(clip)),
                dtypes,
                own_name,
            });
        }
        let kind = Kind::named(family).ok_or_else(|| {
            Refusal::new(format!("it is a model of the family {family}, which is not computed here"))
                .with_remedy("make vectors with the model's own program, and give these")
        })?;
        let settings = json(source, &format!("{folder}tokenizer_config.json"))?;
        let lower_case =
            settings.as_ref().and_then(|settings| settings.get("do_lower_case")).and_then(Value::as_bool);
        let tokenizer = tokenizer(source, &folder, kind.tokenizer(lower_case.unwrap_or(true)))?;
        let (text, weights) = TextModel::open(kind, &config, weights)?;
        let width = text.encoder.width;
        let detector = detector(&weights.bare(), width)?;
        let (sentences, limit) = match &modules {
            Some(modules) => Sentences::open(source, modules, &folder, width)?,
            None => (Sentences::default(), None),
        };
        let made = match (&detector, &modules) {
            (Some(_), _) => ModelPurpose::Errors,
            (None, Some(_)) => ModelPurpose::Sentences,
            (None, None) => ModelPurpose::Tokens,
        };
        // Tokenizers without a limit of their own say 10^30.
        let of_tokenizer = settings.as_ref().and_then(|settings| settings.get("model_max_length"));
        let of_tokenizer = of_tokenizer.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let own_limit =
            if made == ModelPurpose::Errors { LONGEST_OF_DETECTOR } else { of_tokenizer.unwrap_or(512) };
        let longest = text.longest.min(limit.unwrap_or(own_limit).max(2));
        let network = Network::Text(Box::new(text));
        let (colours, resize) = (OPENAI, PictureResize::Shorter(0));
        Ok(Self { network, tokenizer, made, sentences, detector, colours, resize, longest, dtypes, own_name })
    }

    /// Its purpose.
    pub fn made(&self) -> ModelPurpose {
        self.made
    }

    /// Its family and sizes, in words.
    pub fn described(&self) -> String {
        match &self.network {
            Network::Clip(clip) => {
                let [(text, text_width), (picture, width)] = clip.sizes();
                format!(
                    "CLIP, pictures of {0} × {0} pixels: {picture} layers of {width}, texts: {text} layers of \
                     {text_width}, vectors of {1}, {2}",
                    clip.size, clip.dims, self.dtypes
                )
            }
            Network::Text(text) => format!(
                "{}, {} layers of {}, vectors of {}, {}",
                text.kind.label(),
                text.encoder.layers.len(),
                text.encoder.width,
                self.dims(),
                self.dtypes
            ),
        }
    }

    /// The length of a vector.
    pub fn dims(&self) -> usize {
        match (&self.network, &self.sentences.dense) {
            (Network::Clip(clip), _) => clip.dims,
            (Network::Text(_), Some((dense, _))) => dense.outputs,
            (Network::Text(text), None) => text.encoder.width,
        }
    }

    /// The number of layers that read texts.
    pub fn n_layers(&self) -> usize {
        match &self.network {
            Network::Clip(clip) => clip.sizes()[0].0,
            Network::Text(text) => text.encoder.layers.len(),
        }
    }

    /// Its name in config.json.
    pub fn own_name(&self) -> Option<&str> {
        self.own_name.as_deref()
    }

    /// The side of the pictures that it sees, in pixels; 0 for models of texts.
    pub fn picture_size(&self) -> usize {
        match &self.network {
            Network::Clip(clip) => clip.size,
            Network::Text(_) => 0,
        }
    }

    /// The size that a picture has before a square of [`picture_size`](Self::picture_size) is cut from its middle.
    pub fn picture_resize(&self) -> PictureResize {
        self.resize
    }

    /// Returns true if a space before the first word matters.
    pub fn has_prefix_space(&self) -> bool {
        matches!(&self.network, Network::Text(text) if text.kind == Kind::Roberta)
    }

    /// The ids of the tokens before and after a text.
    pub fn special_tokens(&self) -> [u32; 2] {
        self.tokenizer.around
    }

    /// A token as people read it.
    pub fn token(&self, id: u32) -> String {
        self.tokenizer.token(id)
    }

    /// The ids of a text's tokens, those around it included, cut to what the model reads.
    pub fn token_ids(&self, text: &str, prefix_space: bool) -> Vec<u32> {
        let text = match &self.network {
            Network::Clip(_) => text,
            Network::Text(_) => text.trim(),
        };
        self.tokenizer.encode(text, prefix_space, self.longest)
    }

    /// Returns true if the tokenizer of OpenAI's CLIP would mend a text before reading it, which Hugging Face's and
    /// this one do not.
    pub fn would_mend(&self, text: &str) -> bool {
        matches!(self.network, Network::Clip(_)) && mending::would_change(text)
    }

    /// The vectors of texts, one after another: those of CLIP as they come, those of sentences as their folder says.
    /// `advance` is called with the number of texts when some are done, and may unwind.
    pub fn text_vectors(&self, texts: &[&str], advance: &(dyn Fn(usize) + Sync)) -> Vec<f32> {
        let ids: Vec<Vec<u32>> = texts
            .par_iter()
            .map(|text| match self.sentences.lower_case {
                true => self.token_ids(&text.to_lowercase(), false),
                false => self.token_ids(text, false),
            })
            .collect();
        self.in_blocks(&ids, advance, |ids, scratch| match &self.network {
            Network::Clip(clip) => clip.texts(ids, scratch),
            Network::Text(text) => {
                self.sentences.pool(ids, &text.states(ids, usize::MAX, scratch), text.encoder.width)
            }
        })
    }

    /// The vectors of the tokens of texts in a layer; 0 is what the first layer reads.
    pub fn token_vectors(
        &self,
        texts: &[&str],
        layer: usize,
        prefix_space: bool,
        advance: &(dyn Fn(usize) + Sync),
    ) -> Vec<Tokens> {
        let Network::Text(model) = &self.network else { return Vec::new() };
        let ids: Vec<Vec<u32>> = texts.par_iter().map(|text| self.token_ids(text, prefix_space)).collect();
        let dims = model.encoder.width;
        let all = self.in_blocks(&ids, advance, |ids, scratch| model.states(ids, layer, scratch));
        let mut rest = &all[..];
        ids.into_iter()
            .map(|ids| {
                let (own, others) = rest.split_at(ids.len() * dims);
                rest = others;
                Tokens { ids, dims, vectors: own.to_vec() }
            })
            .collect()
    }

    /// The vectors of pictures, one after another: red, green and blue of each pixel, row by row.
    pub fn picture_vectors(&self, pictures: &[&[u8]], advance: &(dyn Fn(usize) + Sync)) -> Vec<f32> {
        let Network::Clip(clip) = &self.network else { return Vec::new() };
        let of_block = |scratch: &mut Scratch, block: &[&[u8]]| {
            let vectors = clip.pictures(block, self.colours, scratch);
            advance(block.len());
            vectors
        };
        let at_once = (TOKENS_AT_ONCE / clip.places().max(1)).max(1);
        let vectors = pictures.par_chunks(at_once).map_init(Scratch::default, of_block);
        vectors.collect::<Vec<Vec<f32>>>().concat()
    }

    /// The probability of an error in each text, by FENSE's detector.
    pub fn errors(&self, texts: &[&str], advance: &(dyn Fn(usize) + Sync)) -> Vec<f32> {
        let (Network::Text(model), Some(detector)) = (&self.network, &self.detector) else {
            return Vec::new();
        };
        let plain = |text: &&str| -> Vec<u32> {
            let kept = text.chars().filter(|c| is_word_or_space(*c));
            self.token_ids(&kept.flat_map(char::to_lowercase).collect::<String>(), false)
        };
        let ids: Vec<Vec<u32>> = texts.par_iter().map(plain).collect();
        self.in_blocks(&ids, advance, |ids, scratch| {
            let firsts = model.first_states(ids, scratch);
            let mut logits = vec![0.0; ids.len() * detector.outputs];
            apply(detector, &firsts, &mut logits, detector.outputs);
            // The last class is an error of any kind.
            let last = logits.chunks_exact(detector.outputs).filter_map(|logits| logits.last());
            last.map(|logit| 1.0 / (1.0 + (-logit).exp())).collect()
        })
    }

    /// Reads texts in blocks of about the same number of tokens, in all threads.
    fn in_blocks(
        &self,
        ids: &[Vec<u32>],
        advance: &(dyn Fn(usize) + Sync),
        read: impl Fn(&[Vec<u32>], &mut Scratch) -> Vec<f32> + Sync,
    ) -> Vec<f32> {
        let mut blocks: Vec<&[Vec<u32>]> = Vec::new();
        let (mut first, mut tokens) = (0, 0);
        for (at, text) in ids.iter().enumerate() {
            if tokens > 0 && tokens + text.len() > TOKENS_AT_ONCE {
                blocks.push(&ids[first..at]);
                (first, tokens) = (at, 0);
            }
            tokens += text.len();
        }
        if first < ids.len() {
            blocks.push(&ids[first..]);
        }
        let done = |scratch: &mut Scratch, block: &&[Vec<u32>]| {
            let vectors = read(block, scratch);
            advance(block.len());
            vectors
        };
        blocks.par_iter().map_init(Scratch::default, done).collect::<Vec<Vec<f32>>>().concat()
    }
}

/// Returns true if Python's `\w` or `\s` matches a character.
fn is_word_or_space(c: char) -> bool {
    let group = c.general_category_group();
    c == '_'
        || c.is_whitespace()
        || matches!(group, GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// The folder of a module of sentence-transformers, with a slash if it has a name.
fn folder_of(modules: &Value, kind: &str) -> Option<String> {
    let all = modules.as_array()?;
    let found = all
        .iter()
        .find(|module| module.get("type").and_then(Value::as_str).is_some_and(|name| name.ends_with(kind)))?;
    let path = found.get("path").and_then(Value::as_str).unwrap_or_default();
    Some(if path.is_empty() { String::new() } else { format!("{path}/") })
}

/// The classes of FENSE's detector, if the weights have them.
fn detector(weights: &Weights, width: usize) -> Result<Option<Linear>, Refusal> {
    if !weights.has("clf.weight") {
        return Ok(None);
    }
    let classes = weights.shape("clf.weight").and_then(|shape| shape.first().copied()).unwrap_or(0);
    weights.linear("clf", width, classes).map(Some)
}

impl Sentences {
    /// Reads the modules after the first one, and the greatest number of tokens.
    fn open(
        source: &dyn Source,
        modules: &Value,
        folder: &str,
        width: usize,
    ) -> Result<(Self, Option<usize>), Refusal> {
        Self::check(modules)?;
        let file = format!("{folder}sentence_bert_config.json");
        let settings = json(source, &file)?.unwrap_or(Value::Null);
        let settings = Json::new(&file, &settings);
        let longest = match settings.count("max_seq_length", 0)? {
            0 => None,
            n => Some(n.max(2)),
        };
        let mut sentences = Self { lower_case: settings.flag("do_lower_case"), ..Self::default() };
        if let Some(folder) = folder_of(modules, "Pooling") {
            let file = format!("{folder}config.json");
            let pooling = json(source, &file)?.unwrap_or(Value::Null);
            let pooling = Json::new(&file, &pooling);
            let modes = [
                ("pooling_mode_cls_token", Pooling::First),
                ("pooling_mode_max_tokens", Pooling::Greatest),
                ("pooling_mode_mean_tokens", Pooling::Mean),
            ];
            let chosen: Vec<Pooling> =
                modes.iter().filter(|(key, _)| pooling.flag(key)).map(|(_, mode)| *mode).collect();
            sentences.pooling = match (&chosen[..], pooling.text("pooling_mode")) {
                ([one], _) => *one,
                ([], Some("cls")) => Pooling::First,
                ([], Some("max")) => Pooling::Greatest,
                ([], Some("mean")) => Pooling::Mean,
                _ => {
                    return Err(Refusal::new("it pools tokens in a way that is not computed here")
                        .with_remedy("make vectors with the model's own program, and give these")
                        .at(&file));
                }
            };
        }
        if let Some(folder) = folder_of(modules, "Dense") {
            let file = format!("{folder}config.json");
            let config = json(source, &file)?.unwrap_or(Value::Null);
            let config = Json::new(&file, &config);
            let outputs = config.count("out_features", width)?;
            let is_tanh = match config.text("activation_function").unwrap_or_default() {
                name if name.ends_with("Tanh") => true,
                name if name.ends_with("Identity") => false,
                other => {
                    return Err(Refusal::new(format!(
                        "activation_function is {other}, which is not computed here"
                    ))
                    .with_remedy("make vectors with the model's own program, and give these")
                    .at(&file));
                }
            };
            let weights = weights(source, &folder)?;
            let dense = match config.is("bias", false) {
                true => Linear {
                    weight: weights.tensor("linear.weight", &[outputs, width])?,
                    bias: None,
                    inputs: width,
                    outputs,
                    by_input: false,
                },
                false => weights.linear("linear", width, outputs)?,
            };
            sentences.dense = Some((dense, is_tanh));
        }
        sentences.normalizes = folder_of(modules, "Normalize").is_some();
        Ok((sentences, longest))
    }

    /// Refuses modules in another order than these, and others.
    fn check(modules: &Value) -> Result<(), Refusal> {
        const ORDER: [&str; 4] = ["Transformer", "Pooling", "Dense", "Normalize"];
        let types = modules.as_array().into_iter().flatten().map(|module| module.get("type"));
        let kinds: Vec<&str> = types
            .map(|kind| kind.and_then(Value::as_str).unwrap_or("?").rsplit('.').next().unwrap_or_default())
            .collect();
        let places: Option<Vec<usize>> =
            kinds.iter().map(|kind| ORDER.iter().position(|known| known == kind)).collect();
        match places {
            Some(places) if places.is_sorted_by(|a, b| a < b) => Ok(()),
            _ => {
                let why = format!(
                    "its modules are {}, and only {} are computed",
                    kinds.join(", "),
                    ORDER.join(", ")
                );
                Err(not_computed("modules.json", why))
            }
        }
    }

    /// The vectors of sentences from those of their tokens.
    fn pool(&self, ids: &[Vec<u32>], states: &[f32], width: usize) -> Vec<f32> {
        let mut pooled = Vec::with_capacity(ids.len() * width);
        let mut first = 0;
        for text in ids {
            let rows = states[first * width..(first + text.len()) * width].chunks_exact(width);
            first += text.len();
            let from = pooled.len();
            pooled.resize(
                from + width,
                if self.pooling == Pooling::Greatest { f32::NEG_INFINITY } else { 0.0 },
            );
            let to = &mut pooled[from..];
            match self.pooling {
                Pooling::First => to.copy_from_slice(&states[(first - text.len()) * width..][..width]),
                Pooling::Greatest => {
                    rows.for_each(|row| to.iter_mut().zip(row).for_each(|(to, x)| *to = to.max(*x)));
                }
                Pooling::Mean => {
                    rows.for_each(|row| to.iter_mut().zip(row).for_each(|(to, x)| *to += x));
                    to.iter_mut().for_each(|x| *x /= text.len() as f32);
                }
            }
        }
        if let Some((dense, is_tanh)) = &self.dense {
            let mut out = vec![0.0; ids.len() * dense.outputs];
            apply(dense, &pooled, &mut out, dense.outputs);
            if *is_tanh {
                out.iter_mut().for_each(|x| *x = x.tanh());
            }
            pooled = out;
        }
        if self.normalizes {
            for row in pooled.chunks_exact_mut(self.dense.as_ref().map_or(width, |(dense, _)| dense.outputs))
            {
                let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
                row.iter_mut().for_each(|x| *x /= norm);
            }
        }
        pooled
    }
}

/// The products of the rows of two matrices with rows of this length, row by row of the first.
pub fn products(a: &[f32], b: &[f32], dims: usize) -> Vec<f32> {
    let (rows, columns) = (a.len() / dims.max(1), b.len() / dims.max(1));
    let mut out = vec![0.0; rows * columns];
    multiply(Matrix::new(a, rows, dims), Matrix::new(b, columns, dims).transposed(), 1.0, &mut out, columns);
    out
}
