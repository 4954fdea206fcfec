//! Models in folders of a user, by path or by name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval_arrays::SharedBytes;
use capeval_choice::Refusal;
use capeval_files::{Error, expanded};
use capeval_neural::{Model, Source, weight_files};

use crate::{hash, known_hashes, names};

/// The files beside the weights that change what a model gives.
const OTHERS: [&str; 9] = [
    "config.json",
    "open_clip_config.json",
    "tokenizer.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "preprocessor_config.json",
    "modules.json",
    "1_Pooling/config.json",
];

/// A model that was opened.
pub(crate) struct Folder {
    pub model: Model,
    /// The SHA-256 of its weights; of several files, that of their hashes.
    pub hash: String,
    /// The first digits of the hash of its other files.
    pub of_files: String,
}

/// A folder whose files are mapped into memory.
struct Files(PathBuf);

impl Source for Files {
    fn get(&self, name: &str) -> Result<Option<SharedBytes>, Refusal> {
        let path = self.0.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        match capeval_files::open(&path.display().to_string()) {
            Ok(bytes) => Ok(Some(Arc::new(bytes))),
            Err(error) => Err(Refusal::new(error.to_string())),
        }
    }
}

/// Opens the model of this name, or in this folder.
pub(crate) fn open(name: &str) -> Result<Folder, Error> {
    let folder = names::folder_of(name)?;
    let path = PathBuf::from(&*expanded(&folder));
    if !path.is_dir() {
        let what = if path.exists() { "this is a file" } else { "there is no such folder" };
        let refusal = Refusal::new(format!("{what}, and a model is a folder as Hugging Face stores it"));
        return Err(refusal
            .with_remedy("give its folder, or a name that capeval model list shows")
            .at(&folder)
            .into());
    }
    opened(&Files(path)).map_err(|refusal| refusal.at(&folder).into())
}

fn opened(files: &Files) -> Result<Folder, Refusal> {
    let model = Model::open(files)?;
    let mut hashes = Vec::new();
    let root = if Path::new(&files.0).join("0_Transformer").is_dir() { "0_Transformer/" } else { "" };
    for name in weight_files(files, root)? {
        hashes.push(known_hashes::of(&files.0.join(&name))?);
    }
    let hash = match &hashes[..] {
        [one] => one.clone(),
        several => hash::of(several.concat().as_bytes()),
    };
    let mut others = String::new();
    for name in OTHERS {
        if let Some(bytes) = files.get(name)? {
            others.push_str(&format!("{name} {}\n", hash::of((*bytes).as_ref())));
        }
    }
    let of_files = hash::of(others.as_bytes()).chars().take(8).collect();
    Ok(Folder { model, hash, of_files })
}
