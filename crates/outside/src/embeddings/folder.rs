//! Finds models in a user's folders, by path or by name.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use capeval_arrays::SharedBytes;
use capeval_choice::Refusal;
use capeval_files::{Error, expanded};
use capeval_neural::{Model, Source, weight_files};

use crate::embeddings::{hash, known_hashes, names};

/// A model that was opened.
pub(crate) struct Folder {
    pub model: Model,
    /// The SHA-256 of its weights; of several files, that of their hashes.
    pub hash: String,
    /// The first digits of the hash of its other files.
    pub of_files: String,
}

/// A folder whose files are mapped into memory, and the names of those that were asked for and are there.
struct Files {
    folder: PathBuf,
    seen: Mutex<BTreeSet<String>>,
}

impl Source for Files {
    fn get(&self, name: &str) -> Result<Option<SharedBytes>, Refusal> {
        let path = self.folder.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        match capeval_files::open(&path.display().to_string()) {
            Ok(bytes) => {
                self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
                Ok(Some(Arc::new(bytes)))
            }
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
    open_at(path, &folder)
}

/// Opens the model in this folder, which errors call `shown`.
pub(crate) fn open_at(path: PathBuf, shown: &str) -> Result<Folder, Error> {
    opened(&Files { folder: path, seen: Mutex::default() }).map_err(|refusal| refusal.at(shown).into())
}

fn opened(files: &Files) -> Result<Folder, Refusal> {
    let model = Model::open(files)?;
    let root = if files.folder.join("0_Transformer").is_dir() { "0_Transformer/" } else { "" };
    let weights = weight_files(files, root)?;
    let hash_of = |name: &String| known_hashes::of(&files.folder.join(name));
    let hashes: Vec<String> = weights.iter().map(hash_of).collect::<Result<_, _>>()?;
    let hash = match &hashes[..] {
        [one] => one.clone(),
        several => hash::of(several.concat().as_bytes()),
    };
    // Whatever else was read may change what the model gives.
    let mut others = String::new();
    for name in files.seen.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        if !weights.contains(name) {
            others.push_str(&format!("{name} {}\n", hash_of(name)?));
        }
    }
    let of_files = hash::of(others.as_bytes()).chars().take(8).collect();
    Ok(Folder { model, hash, of_files })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_that_changes_vectors_changes_the_hash() {
        let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/neural/bert");
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            fs::copy(tiny.join(name), path(name)).unwrap();
        }
        fs::create_dir(path("1_Pooling")).unwrap();
        fs::write(
            path("modules.json"),
            r#"[{"type": "x.Transformer", "path": ""}, {"type": "x.Pooling", "path": "1_Pooling"}]"#,
        )
        .unwrap();
        let mut known = Vec::new();
        let files = [
            ("1_Pooling/config.json", r#"{"pooling_mode": "mean"}"#),
            ("1_Pooling/config.json", r#"{"pooling_mode": "max"}"#),
            ("sentence_bert_config.json", r#"{"max_seq_length": 8}"#),
            ("tokenizer_config.json", r#"{"model_max_length": 9}"#),
        ];
        for (name, content) in files {
            fs::write(path(name), content).unwrap();
            let seen = Files { folder: folder.path().to_owned(), seen: Mutex::default() };
            let hash = opened(&seen).unwrap().of_files;
            assert!(!known.contains(&hash), "{name}: {content}");
            known.push(hash);
        }
    }
}
