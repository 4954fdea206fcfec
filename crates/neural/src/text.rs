//! Models of texts: BERT, RoBERTa, DistilBERT and MPNet.

use capeval_choice::Refusal;
use serde_json::Value;

use crate::config::{Json, Shape};
use crate::encoder::{Distances, Encoder, Layer, Order, Scratch};
use crate::product::{add, normalize};
use crate::tokenizer::TokenizerKind;
use crate::weights::{Norm, Numbers, Weights};

/// The families of models of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bert,
    Roberta,
    DistilBert,
    Mpnet,
}

/// A model of texts.
pub(crate) struct TextModel {
    pub kind: Kind,
    pub encoder: Encoder,
    words: Numbers,
    n_words: usize,
    places: Numbers,
    /// The vector of the first kind of segment, which is added to every token.
    segment: Option<Numbers>,
    norm: Norm,
    /// The place of the first token.
    first_place: usize,
    /// The greatest number of tokens.
    pub longest: usize,
}

impl Kind {
    /// The family that a config.json names.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "bert" => Some(Self::Bert),
            "roberta" | "camembert" | "xlm-roberta" => Some(Self::Roberta),
            "distilbert" => Some(Self::DistilBert),
            "mpnet" => Some(Self::Mpnet),
            _ => None,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Bert => "BERT",
            Self::Roberta => "RoBERTa",
            Self::DistilBert => "DistilBERT",
            Self::Mpnet => "MPNet",
        }
    }

    /// The tokenizer that it has; `lower_case` is what its settings say.
    pub fn tokenizer(self, lower_case: bool) -> TokenizerKind {
        match self {
            Self::Roberta => TokenizerKind::ByteLevel,
            Self::Bert | Self::DistilBert | Self::Mpnet => TokenizerKind::WordPiece { lower_case },
        }
    }

    /// The possible prefixes of the names of its tensors.
    fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Bert => &["", "bert.", "model.", "encoder."],
            Self::Roberta => &["", "roberta.", "model.", "encoder."],
            Self::DistilBert => &["", "distilbert.", "model.", "encoder."],
            Self::Mpnet => &["", "mpnet.", "model.", "encoder."],
        }
    }
}

impl TextModel {
    /// Reads the weights that a config.json describes.
    pub fn open(kind: Kind, config: &Value, weights: Weights) -> Result<(Self, Weights), Refusal> {
        const WORDS: &str = "embeddings.word_embeddings.weight";
        let file = "config.json";
        let json = Json::new(file, config);
        let shape = match kind {
            Kind::DistilBert => Shape {
                width: json.count("dim", 768)?,
                layers: json.count("n_layers", 6)?,
                heads: json.count("n_heads", 12)?,
                inner: json.count("hidden_dim", 3072)?,
                activation: json.activation("activation", "gelu")?,
                eps: 1e-12,
                places: json.count("max_position_embeddings", 512)?,
            },
            Kind::Bert | Kind::Roberta | Kind::Mpnet => Shape {
                width: json.count("hidden_size", 768)?,
                layers: json.count("num_hidden_layers", 12)?,
                heads: json.count("num_attention_heads", 12)?,
                inner: json.count("intermediate_size", 3072)?,
                activation: json.activation("hidden_act", "gelu")?,
                eps: json.number("layer_norm_eps", 1e-12)? as f32,
                places: json.count("max_position_embeddings", 512)?,
            },
        }
        .check(file)?;
        let absolute = json.text("position_embedding_type").unwrap_or("absolute");
        if absolute != "absolute" {
            return Err(Refusal::new(format!(
                "position_embedding_type is {absolute}, and only absolute is computed"
            ))
            .with_remedy("make vectors with the model's own program, and give these")
            .at(file));
        }
        let weights = weights.with_prefix(kind.prefixes(), WORDS);
        let width = shape.width;
        let n_words = weights.shape(WORDS).and_then(|shape| shape.first().copied()).unwrap_or(0);
        let words = weights.tensor(WORDS, &[n_words, width])?;
        let places = weights.tensor("embeddings.position_embeddings.weight", &[shape.places, width])?;
        let segment = match kind {
            Kind::Bert | Kind::Roberta => {
                let name = "embeddings.token_type_embeddings.weight";
                let n = weights.shape(name).and_then(|shape| shape.first().copied()).unwrap_or(1).max(1);
                Some(weights.tensor(name, &[n, width])?.part(0..width))
            }
            Kind::DistilBert | Kind::Mpnet => None,
        };
        let norm = weights.norm("embeddings.LayerNorm", width)?;
        let first_place = match kind {
            Kind::Bert | Kind::DistilBert => 0,
            Kind::Roberta | Kind::Mpnet => json.count("pad_token_id", 1)? + 1,
        };
        let layers = (0..shape.layers)
            .map(|n| layer(kind, &weights, n, width, shape.inner))
            .collect::<Result<_, _>>()?;
        let distances = match kind {
            Kind::Mpnet => {
                let buckets = json.count("relative_attention_num_buckets", 32)?;
                let weights =
                    weights.tensor("encoder.relative_attention_bias.weight", &[buckets, shape.heads])?;
                Some(Distances { weights, buckets })
            }
            _ => None,
        };
        let encoder = Encoder {
            layers,
            width,
            heads: shape.heads,
            order: Order::After,
            is_causal: false,
            activation: shape.activation,
            eps: shape.eps,
            distances,
        };
        let longest = shape.places.saturating_sub(first_place);
        if longest < 2 {
            return Err(Refusal::new("it has no place for a text").at(file));
        }
        let model = Self { kind, encoder, words, n_words, places, segment, norm, first_place, longest };
        Ok((model, weights))
    }

    /// The vectors of the tokens of texts after `layers` layers, one after another.
    pub fn states(&self, texts: &[Vec<u32>], layers: usize, scratch: &mut Scratch) -> Vec<f32> {
        let (mut states, lengths) = self.start(texts);
        self.encoder.run(&mut states, &lengths, layers, scratch);
        states
    }

    /// The vector of the first token of each text after all layers.
    pub fn first_states(&self, texts: &[Vec<u32>], scratch: &mut Scratch) -> Vec<f32> {
        let (mut states, lengths) = self.start(texts);
        self.encoder.run_to_rows(&mut states, &lengths, &vec![0; texts.len()], scratch);
        states
    }

    /// The input of the first layer: a vector for each token, and the numbers of tokens.
    fn start(&self, texts: &[Vec<u32>]) -> (Vec<f32>, Vec<usize>) {
        let width = self.encoder.width;
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let mut sums = Vec::with_capacity(lengths.iter().sum::<usize>() * width);
        for text in texts {
            let mut next = self.first_place;
            for id in text {
                // Padding that stands in a text has the place before the first one, and does not count.
                let is_padding = self.first_place > 0 && *id as usize + 1 == self.first_place;
                let place = if is_padding { self.first_place - 1 } else { next };
                next += usize::from(!is_padding);
                // A tokenizer that does not belong to the weights may have more tokens.
                let id = (*id as usize).min(self.n_words.saturating_sub(1));
                let row = |numbers: &'_ Numbers, at: usize| numbers.part(at * width..(at + 1) * width);
                let from = sums.len();
                sums.extend_from_slice(row(&self.words, id).get());
                if let Some(segment) = &self.segment {
                    add(&mut sums[from..], segment.get());
                }
                add(&mut sums[from..], row(&self.places, place).get());
            }
        }
        let mut states = vec![0.0; sums.len()];
        normalize(&sums, &mut states, self.norm.weight.get(), self.norm.bias.get(), self.encoder.eps);
        (states, lengths)
    }
}

fn layer(kind: Kind, weights: &Weights, n: usize, width: usize, inner: usize) -> Result<Layer, Refusal> {
    let names: [String; 8] = match kind {
        Kind::Bert | Kind::Roberta => [
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
            "attention.output.LayerNorm",
            "intermediate.dense",
            "output.dense",
            "output.LayerNorm",
        ]
        .map(|name| format!("encoder.layer.{n}.{name}")),
        Kind::DistilBert => [
            "attention.q_lin",
            "attention.k_lin",
            "attention.v_lin",
            "attention.out_lin",
            "sa_layer_norm",
            "ffn.lin1",
            "ffn.lin2",
            "output_layer_norm",
        ]
        .map(|name| format!("transformer.layer.{n}.{name}")),
        Kind::Mpnet => [
            "attention.attn.q",
            "attention.attn.k",
            "attention.attn.v",
            "attention.attn.o",
            "attention.LayerNorm",
            "intermediate.dense",
            "output.dense",
            "output.LayerNorm",
        ]
        .map(|name| format!("encoder.layer.{n}.{name}")),
    };
    let [query, key, value, out, first_norm, wide, narrow, second_norm] = names;
    Ok(Layer {
        query: weights.linear(&query, width, width)?,
        key: weights.linear(&key, width, width)?,
        value: weights.linear(&value, width, width)?,
        out: weights.linear(&out, width, width)?,
        first_norm: weights.norm(&first_norm, width)?,
        wide: weights.linear(&wide, width, inner)?,
        narrow: weights.linear(&narrow, inner, width)?,
        second_norm: weights.norm(&second_norm, width)?,
    })
}
