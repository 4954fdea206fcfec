//! MeCab's dictionaries, for the tokenizers ja-mecab and ko-mecab.

use std::path::{Path, PathBuf};

use capeval_choice::Refusal;
use capeval_text::tokenizers::mecab::{self, Dictionary, DictionaryFiles, Language};

use crate::{open, text};

/// Registers the folder of a language's dictionary, which is opened when a tokenizer first needs it. A process keeps
/// the first folder of each language.
pub fn provide_dictionary(language: Language, folder: PathBuf) {
    mecab::provide(language, move || dictionary(&folder));
}

fn dictionary(folder: &Path) -> Result<Dictionary, Refusal> {
    let path = |name: &str| folder.join(name).display().to_string();
    let bytes = |name: &str| open(&path(name));
    let files = DictionaryFiles {
        system: Box::new(bytes("sys.dic")?),
        unknown: Box::new(bytes("unk.dic")?),
        characters: Box::new(bytes("char.bin")?),
        matrix: Box::new(bytes("matrix.bin")?),
        settings: text(&path("dicrc"))?,
    };
    Dictionary::new(files).map_err(|refusal| refusal.at(folder.display()))
}
