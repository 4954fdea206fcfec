//! The files of a model, which the caller opens.

use capeval_arrays::SharedBytes;
use capeval_choice::Refusal;
use serde_json::Value;

use crate::config;
use crate::tokenizer::{Files, Tokenizer, TokenizerKind};
use crate::weights::Weights;

/// Gives the files of a model's folder.
pub trait Source {
    /// The content of a file, such as `config.json` or `1_Pooling/config.json`; `None` if there is none.
    fn get(&self, name: &str) -> Result<Option<SharedBytes>, Refusal>;
}

/// The file of one tensor file's parts.
const INDEX: &str = "model.safetensors.index.json";

/// Names that files of weights have.
const WEIGHTS: [&str; 3] =
    ["model.safetensors", "open_clip_model.safetensors", "open_clip_pytorch_model.safetensors"];

/// Names of files that would have to be run to be read.
const PICKLES: [&str; 3] =
    ["pytorch_model.bin", "open_clip_pytorch_model.bin", "pytorch_model.bin.index.json"];

/// A file of JSON, if there is one.
pub(crate) fn json(source: &dyn Source, name: &str) -> Result<Option<Value>, Refusal> {
    source.get(name)?.map(|bytes| config::parse(name, (*bytes).as_ref())).transpose()
}

/// The names of the files with the weights, below `folder`.
///
/// # Errors
/// When there are none.
pub fn weight_files(source: &dyn Source, folder: &str) -> Result<Vec<String>, Refusal> {
    if let Some(index) = json(source, &format!("{folder}{INDEX}"))? {
        let map = index.get("weight_map").and_then(Value::as_object).into_iter().flatten();
        let mut names: Vec<String> =
            map.filter_map(|(_, file)| file.as_str()).map(|file| format!("{folder}{file}")).collect();
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() {
            return Ok(names);
        }
    }
    for name in WEIGHTS {
        let name = format!("{folder}{name}");
        if source.get(&name)?.is_some() {
            return Ok(vec![name]);
        }
    }
    for name in PICKLES {
        if source.get(&format!("{folder}{name}"))?.is_some() {
            return Err(Refusal::new(format!(
                "its weights are in {folder}{name}, which is a program for Python rather than data"
            ))
            .with_remedy(
                "save them as model.safetensors: with save_pretrained of transformers, or with scripts/convert_weights.py",
            ));
        }
    }
    Err(Refusal::new("it has no model.safetensors")
        .with_remedy("give the folder of a model as Hugging Face stores it"))
}

/// The weights below `folder`.
pub(crate) fn weights(source: &dyn Source, folder: &str) -> Result<Weights, Refusal> {
    let mut files = Vec::new();
    for name in weight_files(source, folder)? {
        match source.get(&name)? {
            Some(bytes) => files.push((name, bytes)),
            None => {
                return Err(Refusal::new(format!("it has no {name}, which {INDEX} names"))
                    .with_remedy("download all parts of the weights"));
            }
        }
    }
    Weights::open(files)
}

/// The tokenizer below `folder`.
pub(crate) fn tokenizer(
    source: &dyn Source,
    folder: &str,
    wanted: TokenizerKind,
) -> Result<Tokenizer, Refusal> {
    let get = |name: &str| source.get(&format!("{folder}{name}"));
    let (tokenizer, vocabulary, merges, lines) =
        (get("tokenizer.json")?, get("vocab.json")?, get("merges.txt")?, get("vocab.txt")?);
    let bytes = |file: &'_ Option<SharedBytes>| file.as_ref().map(|bytes| (**bytes).as_ref().to_vec());
    let (tokenizer, vocabulary, merges, lines) =
        (bytes(&tokenizer), bytes(&vocabulary), bytes(&merges), bytes(&lines));
    let files = Files {
        tokenizer: tokenizer.as_deref(),
        vocabulary: vocabulary.as_deref(),
        merges: merges.as_deref(),
        lines: lines.as_deref(),
    };
    Tokenizer::open(&files, wanted)
}
