//! No file of a model makes the reader panic, and a model that is read makes vectors of finite length: the first byte
//! says which file of a tiny model the others replace, or change.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use capeval_arrays::SharedBytes;
use capeval_choice::Refusal;
use capeval_neural::{Model, Source};

use crate::changed;

const MODELS: [&str; 4] = ["clip-quick", "bert", "roberta", "mpnet"];
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// The files of the tiny models.
static KNOWN: LazyLock<Vec<Vec<Vec<u8>>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/neural");
    let read = |model: &str, file: &str| {
        std::fs::read(folder.join(model).join(file)).expect("the tiny models are here")
    };
    MODELS.iter().map(|model| FILES.iter().map(|file| read(model, file)).collect()).collect()
});

struct ChangedFile<'c> {
    model: usize,
    file: usize,
    bytes: &'c [u8],
    /// True if the bytes are changes of the file.
    is_change: bool,
}

impl Source for ChangedFile<'_> {
    fn get(&self, name: &str) -> Result<Option<SharedBytes>, Refusal> {
        let bytes = FILES.iter().position(|file| *file == name).map(|file| {
            let known = &KNOWN[self.model][file];
            match (file == self.file, self.is_change) {
                (true, true) => changed(known, self.bytes),
                (true, false) => self.bytes.to_vec(),
                (false, _) => known.clone(),
            }
        });
        Ok(bytes.map(|bytes| Arc::new(bytes) as SharedBytes))
    }
}

pub fn check(bytes: &[u8]) {
    let [which, bytes @ ..] = bytes else { return };
    let which = usize::from(*which);
    let (file, model) = (which / MODELS.len(), which % MODELS.len());
    let is_change = file / FILES.len() % 2 == 1;
    let source = ChangedFile { model, file: file % FILES.len(), bytes, is_change };
    if let Ok(model) = Model::open(&source) {
        let texts = ["a man's red ball", "", "é 中 <s>"];
        let vectors = model.text_vectors(&texts, &|_| {});
        assert_eq!(vectors.len(), texts.len() * model.dims());
        let _ = model.token_vectors(&texts, 2, true, &|_| {});
        let _ = model.picture_vectors(&[&vec![7; 3 * model.picture_size().pow(2)]], &|_| {});
    }
}
