//! Data and evaluation lists of a user's ROUGE-1.5.5.

use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use capeval::RougeCaptions;
use capeval::corpus::rouge_xml::{self, TextForm};
use capeval::metric::Resources;
use capeval::text::{Exceptions, StopWords};
use capeval_files::Bytes;
use clap::ValueEnum;

use crate::fault::fault;

/// Options about a user's ROUGE-1.5.5.
#[derive(clap::Args)]
#[command(next_help_heading = "ROUGE-1.5.5")]
pub struct Rouge {
    /// Folder of ROUGE-1.5.5 or of its data, for rouge155:stop=yes (smart_common_words.txt) and
    /// rouge155:stem=porter-exceptions (WordNet-2.0-Exceptions).
    #[arg(long, value_name = "DIR", env = "ROUGE_EVAL_HOME")]
    rouge_data: Option<PathBuf>,
    /// Evaluation list of files to score, instead of candidates and references: ROUGE's XML, or plain text with the
    /// files of a candidate and its references on each line. The default suite is then rouge-1.5.5.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["candidates", "references"])]
    pub rouge_list: Option<String>,
    /// Format of the files in a plain evaluation list.
    #[arg(long, value_enum, value_name = "FORM", default_value_t, requires = "rouge_list")]
    rouge_form: Form,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One sentence per line.
    #[default]
    Spl,
    /// HTML of the Summary Evaluation Environment.
    See,
    /// `<S SNTNO="1">sentence</S>`.
    Isi,
}

impl Rouge {
    /// Returns true if the user names the data for this run, and not in the environment.
    pub fn names_data(&self) -> bool {
        self.rouge_data.is_some() && self.rouge_data != std::env::var_os("ROUGE_EVAL_HOME").map(PathBuf::from)
    }

    /// Adds the data of the folder, if one is given and `is_needed`.
    pub fn add_data(&self, resources: &mut Resources, is_needed: bool) -> Result<()> {
        let Some(folder) = self.rouge_data.as_deref().filter(|_| is_needed) else { return Ok(()) };
        let found = |name: &str| {
            [folder.join(name), folder.join("data").join(name)].into_iter().find(|path| path.exists())
        };
        let (stop_words, exceptions) = (found("smart_common_words.txt"), found("WordNet-2.0-Exceptions"));
        if stop_words.is_none() && exceptions.is_none() {
            return Err(fault(
                format!(
                    "{}: the folder has neither smart_common_words.txt nor WordNet-2.0-Exceptions",
                    folder.display()
                ),
                "pass --rouge-data with the folder of ROUGE-1.5.5, or with its folder data",
            ));
        }
        if let Some(path) = stop_words {
            resources.insert(Arc::new(StopWords::read(open(&path)?).with_context(|| named(&path))?));
        }
        if let Some(folder) = exceptions {
            let mut list = Exceptions::default();
            // In the order in which the database of the program's distribution was built.
            for name in ["noun.exc", "adv.exc", "verb.exc", "adj.exc"] {
                let path = folder.join(name);
                list.read(open(&path)?).with_context(|| named(&path))?;
            }
            resources.insert(Arc::new(list));
        }
        Ok(())
    }

    /// The references and candidates of the evaluation list, if one is given.
    pub fn listed(&self) -> Result<Option<RougeCaptions>> {
        let Some(path) = &self.rouge_list else { return Ok(None) };
        let text = capeval_files::text(path)?;
        let list = if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            rouge_xml::read_xml(text.as_bytes(), path)?
        } else {
            let form = match self.rouge_form {
                Form::Spl => TextForm::Lines,
                Form::See => TextForm::See,
                Form::Isi => TextForm::Isi,
            };
            rouge_xml::read_plain(text.as_bytes(), path, "candidates", form)?
        };
        // As in the program, paths are relative to the current folder; if a file is not there, try the list's folder.
        let beside = Path::new(path).parent().unwrap_or(Path::new(""));
        let texts = list.load(|file| {
            File::open(file)
                .or_else(|error| File::open(beside.join(file)).map_err(|_| error))
                .map(BufReader::new)
        });
        let texts = texts.map_err(|error| {
            let named_on = |line: &(usize, &str)| line.1.contains(error.source_name());
            match (1..).zip(text.lines()).find(named_on) {
                Some((line, _)) => Error::new(error).context(format!("{path}:{line}")),
                None => Error::new(error).context(path.clone()),
            }
        })?;
        Ok(Some(capeval::listed(texts, path)?))
    }
}

fn named(path: &Path) -> String {
    format!("{}: cannot read the file", path.display())
}

fn open(path: &Path) -> Result<Cursor<Bytes>> {
    Ok(Cursor::new(capeval_files::open(&path.display().to_string())?))
}
