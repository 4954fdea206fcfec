//! The weights of a model: tensors in files of safetensors, as 32-bit numbers.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use capeval_arrays::{Buffer, SharedBytes};
use capeval_choice::Refusal;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};

/// Numbers of a tensor, which lie where the file is mapped if they can.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    buffer: Arc<Buffer<f32>>,
    range: Range<usize>,
}

impl Numbers {
    pub fn new(numbers: Vec<f32>) -> Self {
        let range = 0..numbers.len();
        Self { buffer: Arc::new(Buffer::from(numbers)), range }
    }

    pub fn get(&self) -> &[f32] {
        self.buffer.get(self.range.clone()).unwrap_or_default()
    }

    /// A part of them.
    pub fn part(&self, range: Range<usize>) -> Self {
        let at = |n: usize| (self.range.start + n).min(self.range.end);
        Self { buffer: Arc::clone(&self.buffer), range: at(range.start)..at(range.end) }
    }
}

/// A layer that multiplies with a matrix and adds a vector.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub weight: Numbers,
    pub bias: Option<Numbers>,
    pub inputs: usize,
    pub outputs: usize,
    /// True if the weights of an input, and not of an output, follow each other.
    pub by_input: bool,
}

/// Scales and shifts of a normalisation.
#[derive(Clone, Debug)]
pub(crate) struct Norm {
    pub weight: Numbers,
    pub bias: Numbers,
}

/// A file of tensors.
struct Shard {
    name: String,
    bytes: SharedBytes,
    /// The start of the numbers.
    start: usize,
    header: Metadata,
}

/// All tensors of a model by name.
pub(crate) struct Weights {
    shards: Vec<Shard>,
    /// The shard of each tensor.
    places: HashMap<String, usize>,
    /// The prefix of the names of a model's tensors, such as `bert.`.
    prefix: String,
}

impl Weights {
    /// Reads the headers of files.
    pub fn open(files: Vec<(String, SharedBytes)>) -> Result<Self, Refusal> {
        let (mut shards, mut places) = (Vec::new(), HashMap::new());
        for (name, bytes) in files {
            let (length, header) = read_header((*bytes).as_ref()).map_err(|refusal| refusal.at(&name))?;
            for tensor in header.tensors().keys() {
                places.insert(tensor.clone(), shards.len());
            }
            shards.push(Shard { name, bytes, start: 8 + length, header });
        }
        Ok(Self { shards, places, prefix: String::new() })
    }

    /// The same, where names begin with the first of `prefixes` with which `name` exists.
    pub fn with_prefix(mut self, prefixes: &[&str], name: &str) -> Self {
        let exists = |prefix: &&&str| self.places.contains_key(&format!("{prefix}{name}"));
        self.prefix = prefixes.iter().find(exists).map(|prefix| (*prefix).to_owned()).unwrap_or_default();
        self
    }

    /// The same, where names begin with nothing.
    pub fn bare(self) -> Self {
        Self { prefix: String::new(), ..self }
    }

    /// Returns true if there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The kinds of numbers that there are, in words.
    pub fn dtypes(&self) -> String {
        let mut found: Vec<&str> = Vec::new();
        for info in self.shards.iter().flat_map(|shard| shard.header.tensors().into_values()) {
            let name = match info.dtype {
                Dtype::F32 => "f32",
                Dtype::F16 => "f16",
                Dtype::BF16 => "bf16",
                _ => continue,
            };
            if !found.contains(&name) {
                found.push(name);
            }
        }
        found.sort_unstable();
        found.join("+")
    }

    fn find(&self, name: &str) -> Option<(&Shard, &TensorInfo)> {
        let name = format!("{}{name}", self.prefix);
        let shard = self.shards.get(*self.places.get(&name)?)?;
        Some((shard, shard.header.info(&name)?))
    }

    /// The shape of a tensor.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.find(name).map(|(_, info)| info.shape.as_slice())
    }

    /// The numbers of a tensor of this shape.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Numbers, Refusal> {
        let Some((shard, info)) = self.find(name) else {
            let files: Vec<&str> = self.shards.iter().map(|shard| shard.name.as_str()).collect();
            let message = format!("there is no tensor {}{name}", self.prefix);
            return Err(Refusal::new(message)
                .with_remedy("give the complete folder of a model of this kind")
                .at(files.join(", ")));
        };
        if info.shape != shape {
            let message = format!(
                "the tensor {}{name} has the shape {:?}, and config.json says {shape:?}",
                self.prefix, info.shape
            );
            return Err(Refusal::new(message)
                .with_remedy("give the config.json that belongs to the weights")
                .at(&shard.name));
        }
        if shape.contains(&0) {
            let message =
                format!("the tensor {}{name} has the shape {shape:?}, and so no numbers", self.prefix);
            return Err(Refusal::new(message)
                .with_remedy("give the complete folder of a model of this kind")
                .at(&shard.name));
        }
        shard.numbers(info).map_err(|refusal| refusal.at(format!("{}: {name}", shard.name)))
    }

    pub fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, Refusal> {
        let weight = self.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = Some(self.tensor(&format!("{name}.bias"), &[outputs])?);
        Ok(Linear { weight, bias, inputs, outputs, by_input: false })
    }

    pub fn norm(&self, name: &str, n: usize) -> Result<Norm, Refusal> {
        // Old files have the names of TensorFlow.
        let [weight, bias] = match self.has(&format!("{name}.gamma")) {
            true => ["gamma", "beta"],
            false => ["weight", "bias"],
        };
        Ok(Norm {
            weight: self.tensor(&format!("{name}.{weight}"), &[n])?,
            bias: self.tensor(&format!("{name}.{bias}"), &[n])?,
        })
    }
}

fn read_header(bytes: &[u8]) -> Result<(usize, Metadata), Refusal> {
    if bytes.starts_with(b"version https://git-lfs") {
        return Err(Refusal::new("it stands for weights that were not fetched")
            .with_remedy("fetch them with git lfs pull, or download the file from its page"));
    }
    safetensors::SafeTensors::read_metadata(bytes)
        .map_err(|error| {
            Refusal::new(format!("no file of safetensors: {error}")).with_remedy("download the file again")
        })
        .and_then(|(length, header)| {
            let end = header.tensors().values().map(|info| info.data_offsets.1).max().unwrap_or(0);
            match 8_usize.checked_add(length).and_then(|start| start.checked_add(end)) {
                Some(end) if end <= bytes.len() => Ok((length, header)),
                _ => {
                    Err(Refusal::new("the file ends before its tensors")
                        .with_remedy("download the file again"))
                }
            }
        })
}

impl Shard {
    fn numbers(&self, info: &TensorInfo) -> Result<Numbers, Refusal> {
        let (from, to) = info.data_offsets;
        let range = self.start + from..self.start + to;
        let bytes = (*self.bytes).as_ref().get(range.clone()).unwrap_or_default();
        let numbers = match info.dtype {
            Dtype::F32 => match Buffer::<f32>::shared(Arc::clone(&self.bytes), range) {
                Some(buffer) if cfg!(target_endian = "little") => {
                    let range = 0..buffer.len();
                    return Ok(Numbers { buffer: Arc::new(buffer), range });
                }
                _ => bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            },
            Dtype::F16 => halves(bytes).map(from_f16).collect(),
            Dtype::BF16 => halves(bytes).map(|half| f32::from_bits(u32::from(half) << 16)).collect(),
            other => {
                return Err(Refusal::new(format!(
                    "numbers are {other:?}, and only f32, f16 and bf16 are read"
                ))
                .with_remedy("convert the weights to float32"));
            }
        };
        Ok(Numbers::new(numbers))
    }
}

fn halves(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes))
}

/// The number that a half stands for, exactly.
pub fn from_f16(half: u16) -> f32 {
    let (sign, exponent, fraction) =
        (u32::from(half >> 15) << 31, u32::from(half >> 10 & 31), u32::from(half & 1023));
    match (exponent, fraction) {
        (0, _) => {
            f32::from_bits(sign) + (if sign == 0 { 1.0 } else { -1.0 }) * fraction as f32 / 16_777_216.0
        }
        (31, _) => f32::from_bits(sign | 255 << 23 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_widened_exactly() {
        for (half, expected) in [
            (0x0000, 0.0),
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x7BFF, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x83FF, -6.097_555e-5),
            (0x3555, 0.333_251_95),
        ] {
            assert_eq!(from_f16(half), expected, "{half:04x}");
        }
        assert!(from_f16(0x7C00).is_infinite() && from_f16(0x7E00).is_nan());
        assert!(from_f16(0x8000).is_sign_negative());
    }

    #[test]
    fn what_is_no_file_of_safetensors_is_refused() {
        let why = |bytes: &[u8]| {
            let bytes: SharedBytes = Arc::new(bytes.to_vec());
            Weights::open(vec![("model.safetensors".to_owned(), bytes)])
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        assert!(why(b"").starts_with("model.safetensors: no file of safetensors"));
        assert!(why(b"version https://git-lfs.github.com/spec/v1\noid").contains("not fetched"));
        assert!(why(&[0xFF; 64]).contains("no file of safetensors"));
    }
}
