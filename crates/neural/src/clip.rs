//! CLIP: a tower for texts and one for pictures, whose vectors can be compared.
#![expect(clippy::excessive_precision, reason = "the numbers as they were published")]

use capeval_choice::Refusal;
use serde_json::Value;

use crate::config::{Json, Shape};
use crate::encoder::{Activation, Encoder, Layer, Order, Scratch, apply};
use crate::product::{Matrix, add, multiply, normalize};
use crate::weights::{Linear, Norm, Numbers, Weights};

/// The scaling of a picture's colours before a model sees them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Colours {
    pub mean: [f32; 3],
    pub deviation: [f32; 3],
}

/// The settings of Hugging Face.
const CONFIG: &str = "config.json";

/// The settings of open_clip.
const OPEN_CLIP: &str = "open_clip_config.json";

/// The colours of OpenAI's CLIP.
pub(crate) const OPENAI: Colours = Colours {
    mean: [0.481_454_66, 0.457_827_5, 0.408_210_73],
    deviation: [0.268_629_54, 0.261_302_58, 0.275_777_11],
};

/// The two towers.
pub(crate) struct Clip {
    text: Tower,
    picture: Tower,
    words: Numbers,
    n_words: usize,
    /// The end of a text by which it is read: the first token with this id, or with the greatest id.
    end: Option<u32>,
    /// The vector that stands before those of a picture's patches.
    class: Numbers,
    patches: Linear,
    before: Norm,
    /// The side of a picture, and of a patch, in pixels.
    pub size: usize,
    patch: usize,
    pub dims: usize,
}

struct Tower {
    encoder: Encoder,
    places: Numbers,
    n_places: usize,
    after: Norm,
    projection: Linear,
}

/// Whose names the tensors have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    HuggingFace,
    OpenAi,
}

/// The names of the tensors outside of the layers.
struct TensorNames {
    words: &'static str,
    class: &'static str,
    patches: &'static str,
    before: &'static str,
    text: TowerNames,
    picture: TowerNames,
}

/// The names of the tensors of one tower.
struct TowerNames {
    tower: &'static str,
    places: &'static str,
    after: &'static str,
    projection: &'static str,
}

impl Names {
    fn tensors(self) -> TensorNames {
        match self {
            Self::HuggingFace => TensorNames {
                words: "text_model.embeddings.token_embedding.weight",
                class: "vision_model.embeddings.class_embedding",
                patches: "vision_model.embeddings.patch_embedding.weight",
                before: "vision_model.pre_layrnorm",
                text: TowerNames {
                    tower: "text",
                    places: "text_model.embeddings.position_embedding.weight",
                    after: "text_model.final_layer_norm",
                    projection: "text_projection.weight",
                },
                picture: TowerNames {
                    tower: "picture",
                    places: "vision_model.embeddings.position_embedding.weight",
                    after: "vision_model.post_layernorm",
                    projection: "visual_projection.weight",
                },
            },
            Self::OpenAi => TensorNames {
                words: "token_embedding.weight",
                class: "visual.class_embedding",
                patches: "visual.conv1.weight",
                before: "visual.ln_pre",
                text: TowerNames {
                    tower: "text",
                    places: "positional_embedding",
                    after: "ln_final",
                    projection: "text_projection",
                },
                picture: TowerNames {
                    tower: "picture",
                    places: "visual.positional_embedding",
                    after: "visual.ln_post",
                    projection: "visual.proj",
                },
            },
        }
    }
}

/// The folder of a model.
struct ModelFolder<'m> {
    names: Names,
    /// The settings of open_clip, if the model comes with them.
    open_clip: Option<&'m Value>,
    weights: &'m Weights,
}

/// The size of a tower before its layers are counted.
struct TowerSize {
    width: usize,
    heads: usize,
    places: usize,
    /// The length of its vectors.
    dims: usize,
}

impl ModelFolder<'_> {
    /// The shape of a tensor with `n` dimensions.
    fn shape(&self, name: &str, n: usize) -> Result<&[usize], Refusal> {
        let shape = self.weights.shape(name).filter(|shape| shape.len() == n);
        shape.ok_or_else(|| {
            Refusal::new(format!("there is no tensor {name} of {n} dimensions"))
                .with_remedy("give the complete folder of a model of CLIP with pictures and texts")
        })
    }

    /// The numbers of heads of texts and of pictures, whose towers have these configurations and widths.
    fn heads(
        &self,
        text: (&Json<'_>, usize),
        picture: (&Json<'_>, usize),
    ) -> Result<(usize, usize), Refusal> {
        if self.names == Names::HuggingFace {
            let heads = |part: &Json<'_>, default| part.count("num_attention_heads", default);
            return Ok((heads(text.0, 8)?, heads(picture.0, 12)?));
        }
        // open_clip gives the number of heads of texts and the width of those of pictures; the default is 64.
        let part = |key: &str| self.open_clip.and_then(|cfg| cfg.get(key)).unwrap_or(&Value::Null);
        let (of_text, of_picture) = (part("text_cfg"), part("vision_cfg"));
        let (of_text, of_picture) = (Json::new(OPEN_CLIP, of_text), Json::new(OPEN_CLIP, of_picture));
        let usual = |(part, width): (&Json<'_>, usize)| part.count("num_attention_heads", width / 64);
        let heads = of_text.count("heads", usual(text)?)?;
        Ok(match of_picture.count("head_width", 0)? {
            0 => (heads, usual(picture)?),
            head => (heads, picture.1 / head),
        })
    }

    fn activation(&self, part: &Json<'_>) -> Result<Activation, Refusal> {
        // open_clip takes the quick function only where its settings say so.
        match self.open_clip.map(|cfg| cfg.get("quick_gelu").and_then(Value::as_bool).unwrap_or(false)) {
            Some(true) => Ok(Activation::QuickGelu),
            Some(false) => Ok(Activation::Gelu),
            None => part.activation("hidden_act", "quick_gelu"),
        }
    }

    /// Reads a tower, whose layers are counted.
    fn tower(&self, part: &Json<'_>, names: &TowerNames, size: &TowerSize) -> Result<Tower, Refusal> {
        let (weights, &TowerSize { width, heads, places, dims }) = (self.weights, size);
        let layer = |n: usize, part: &str| format!("{}.weight", layer_name(self.names, names.tower, n, part));
        let layers = (0..).take_while(|n| weights.has(&layer(*n, "norm"))).count();
        let told = part.count("num_hidden_layers", layers)?;
        if told != layers || layers == 0 {
            let what = if names.tower == "text" { "texts" } else { "pictures" };
            let message = format!("there are {layers} layers of {what}, and {CONFIG} says {told}");
            return Err(Refusal::new(message).with_remedy("give the complete folder of a model of CLIP"));
        }
        let shape = Shape {
            width,
            layers,
            heads,
            inner: weights.shape(&layer(0, "wide")).and_then(|shape| shape.first().copied()).unwrap_or(0),
            activation: self.activation(part)?,
            eps: part.number("layer_norm_eps", 1e-5)? as f32,
            places,
        }
        .check(CONFIG)?;
        let by_input = self.names == Names::OpenAi;
        let projection = if by_input { [width, dims] } else { [dims, width] };
        Ok(Tower {
            encoder: encoder(self.names, weights, &shape, names.tower)?,
            places: weights.tensor(names.places, &[places, width])?,
            n_places: places,
            after: weights.norm(names.after, width)?,
            projection: Linear {
                weight: weights.tensor(names.projection, &projection)?,
                bias: None,
                inputs: width,
                outputs: dims,
                by_input,
            },
        })
    }
}

impl Clip {
    /// Reads the weights that a config.json, or one of open_clip, describes.
    pub fn open(config: &Value, open_clip: Option<&Value>, weights: &Weights) -> Result<Self, Refusal> {
        let names = if weights.has("visual.conv1.weight") { Names::OpenAi } else { Names::HuggingFace };
        let open_clip = open_clip.map(|cfg| cfg.get("model_cfg").unwrap_or(cfg));
        let folder = ModelFolder { names, open_clip, weights };
        let json = Json::new(CONFIG, config);
        let (text, picture) = (json.part("text_config"), json.part("vision_config"));
        let TensorNames { words, class, patches, before, text: text_names, picture: picture_names } =
            names.tensors();

        let (word_shape, patch_shape) = (folder.shape(words, 2)?, folder.shape(patches, 4)?);
        let (n_words, text_width) = (word_shape[0], word_shape[1]);
        let (width, patch) = (patch_shape[0], patch_shape[2]);
        let n_texts = folder.shape(text_names.places, 2)?[0];
        let n_pictures = folder.shape(picture_names.places, 2)?[0];
        let side = n_pictures.saturating_sub(1).isqrt();
        if side * side + 1 != n_pictures || patch == 0 || patch_shape != [width, 3, patch, patch] {
            return Err(Refusal::new(format!(
                "{n_pictures} places of patches {patch_shape:?} are no square picture"
            ))
            .with_remedy("give a model that sees square pictures"));
        }
        let (text_heads, picture_heads) = folder.heads((&text, text_width), (&picture, width))?;
        let projection = folder.shape(text_names.projection, 2)?;
        let dims = projection[usize::from(names == Names::OpenAi)];
        let text_size = TowerSize { width: text_width, heads: text_heads, places: n_texts, dims };
        let picture_size = TowerSize { width, heads: picture_heads, places: n_pictures, dims };
        let end = match text.count("eos_token_id", 49407)? {
            // The value of old configurations, which stands for the greatest id.
            2 => None,
            id => u32::try_from(id).ok().filter(|_| names == Names::HuggingFace),
        };
        Ok(Self {
            words: weights.tensor(words, &[n_words, text_width])?,
            n_words,
            end,
            class: weights.tensor(class, &[width])?,
            patches: Linear {
                weight: weights.tensor(patches, &[width, 3, patch, patch])?,
                bias: None,
                inputs: 3 * patch * patch,
                outputs: width,
                by_input: false,
            },
            before: weights.norm(before, width)?,
            size: side * patch,
            patch,
            dims,
            text: folder.tower(&text, &text_names, &text_size)?,
            picture: folder.tower(&picture, &picture_names, &picture_size)?,
        })
    }

    /// The greatest number of tokens of a text.
    pub fn longest(&self) -> usize {
        self.text.n_places
    }

    /// The number of vectors that the tower of pictures makes of one.
    pub fn places(&self) -> usize {
        self.picture.n_places
    }

    /// The numbers of layers and the widths of the towers: texts, then pictures.
    pub fn sizes(&self) -> [(usize, usize); 2] {
        [&self.text, &self.picture].map(|tower| (tower.encoder.layers.len(), tower.encoder.width))
    }

    /// The vectors of texts, one after another.
    pub fn texts(&self, texts: &[Vec<u32>], scratch: &mut Scratch) -> Vec<f32> {
        let width = self.text.encoder.width;
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let mut x = Vec::with_capacity(lengths.iter().sum::<usize>() * width);
        for text in texts {
            for (place, id) in text.iter().enumerate() {
                let id = (*id as usize).min(self.n_words.saturating_sub(1));
                let from = x.len();
                x.extend_from_slice(self.words.part(id * width..(id + 1) * width).get());
                add(&mut x[from..], self.text.places.part(place * width..(place + 1) * width).get());
            }
        }
        let ends: Vec<usize> = texts.iter().map(|text| self.end_of(text)).collect();
        self.text.encoder.run_to_rows(&mut x, &lengths, &ends, scratch);
        self.text.project(&x)
    }

    /// The place by which a text is read.
    fn end_of(&self, text: &[u32]) -> usize {
        let greatest = || (0..text.len()).reduce(|best, at| if text[at] > text[best] { at } else { best });
        match self.end {
            Some(end) => text.iter().position(|id| *id == end),
            None => greatest(),
        }
        .unwrap_or(0)
    }

    /// The vectors of pictures, one after another: red, green and blue of each pixel of a square, row by row.
    pub fn pictures(&self, pictures: &[&[u8]], colours: Colours, scratch: &mut Scratch) -> Vec<f32> {
        let (width, patch, side) = (self.picture.encoder.width, self.patch, self.size / self.patch);
        let inputs = self.patches.inputs;
        let n = self.picture.n_places;
        let mut x = vec![0.0; pictures.len() * n * width];
        let mut cut = vec![0.0; side * side * inputs];
        let shades: Vec<[f32; 256]> = (0..3)
            .map(|c| {
                std::array::from_fn(|byte| (byte as f32 / 255.0 - colours.mean[c]) / colours.deviation[c])
            })
            .collect();
        for (picture, x) in pictures.iter().zip(x.chunks_exact_mut(n * width)) {
            for (number, patch_of) in cut.chunks_exact_mut(inputs).enumerate() {
                let (top, left) = (number / side * patch, number % side * patch);
                for (c, shades) in shades.iter().enumerate() {
                    for row in 0..patch {
                        let from = ((top + row) * self.size + left) * 3 + c;
                        let to = (c * patch + row) * patch;
                        for column in 0..patch {
                            let byte = picture.get(from + 3 * column).copied().unwrap_or_default();
                            patch_of[to + column] = shades[usize::from(byte)];
                        }
                    }
                }
            }
            x[..width].copy_from_slice(self.class.get());
            let weight = Matrix::new(self.patches.weight.get(), width, inputs).transposed();
            multiply(Matrix::new(&cut, side * side, inputs), weight, 1.0, &mut x[width..], width);
            add(x, self.picture.places.get());
        }
        let mut normal = vec![0.0; x.len()];
        let Norm { weight, bias } = &self.before;
        normalize(&x, &mut normal, weight.get(), bias.get(), self.picture.encoder.eps);
        self.picture.encoder.run_to_rows(
            &mut normal,
            &vec![n; pictures.len()],
            &vec![0; pictures.len()],
            scratch,
        );
        self.picture.project(&normal)
    }
}

impl Tower {
    fn project(&self, x: &[f32]) -> Vec<f32> {
        let rows = x.len() / self.encoder.width;
        let mut normal = vec![0.0; x.len()];
        normalize(x, &mut normal, self.after.weight.get(), self.after.bias.get(), self.encoder.eps);
        let mut vectors = vec![0.0; rows * self.projection.outputs];
        apply(&self.projection, &normal, &mut vectors, self.projection.outputs);
        vectors
    }
}

/// The name of a part of a layer.
fn layer_name(names: Names, tower: &str, n: usize, part: &str) -> String {
    match names {
        Names::HuggingFace => {
            let model = if tower == "text" { "text_model" } else { "vision_model" };
            let part = match part {
                "norm" => "layer_norm1",
                "second" => "layer_norm2",
                "wide" => "mlp.fc1",
                "narrow" => "mlp.fc2",
                other => other,
            };
            format!("{model}.encoder.layers.{n}.{part}")
        }
        Names::OpenAi => {
            let model = if tower == "text" { "" } else { "visual." };
            let part = match part {
                "norm" => "ln_1",
                "second" => "ln_2",
                "wide" => "mlp.c_fc",
                "narrow" => "mlp.c_proj",
                other => other,
            };
            format!("{model}transformer.resblocks.{n}.{part}")
        }
    }
}

fn encoder(names: Names, weights: &Weights, shape: &Shape, tower: &str) -> Result<Encoder, Refusal> {
    let width = shape.width;
    let layer = |n: usize| -> Result<Layer, Refusal> {
        let name = |part: &str| layer_name(names, tower, n, part);
        let [query, key, value, out] = match names {
            Names::HuggingFace => {
                let linear = |part: &str| weights.linear(&name(&format!("self_attn.{part}")), width, width);
                [linear("q_proj")?, linear("k_proj")?, linear("v_proj")?, linear("out_proj")?]
            }
            Names::OpenAi => {
                let weight = weights.tensor(&name("attn.in_proj_weight"), &[3 * width, width])?;
                let bias = weights.tensor(&name("attn.in_proj_bias"), &[3 * width])?;
                let third = |n: usize| Linear {
                    weight: weight.part(n * width * width..(n + 1) * width * width),
                    bias: Some(bias.part(n * width..(n + 1) * width)),
                    inputs: width,
                    outputs: width,
                    by_input: false,
                };
                [third(0), third(1), third(2), weights.linear(&name("attn.out_proj"), width, width)?]
            }
        };
        Ok(Layer {
            query,
            key,
            value,
            out,
            first_norm: weights.norm(&name("norm"), width)?,
            wide: weights.linear(&name("wide"), width, shape.inner)?,
            narrow: weights.linear(&name("narrow"), shape.inner, width)?,
            second_norm: weights.norm(&name("second"), width)?,
        })
    };
    Ok(Encoder {
        layers: (0..shape.layers).map(layer).collect::<Result<_, _>>()?,
        width,
        heads: shape.heads,
        order: Order::Before,
        is_causal: tower == "text",
        activation: shape.activation,
        eps: shape.eps,
        distances: None,
    })
}
