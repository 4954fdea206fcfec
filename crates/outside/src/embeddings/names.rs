//! The names that a user gave to models: a file of names and folders beside capeval's other data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use capeval_choice::Refusal;
use capeval_files::{Error, Home, expanded, write_whole};

/// The file with the names.
const FILE: &str = "models.json";

/// The folders of models by name.
pub type Names = BTreeMap<String, String>;

fn file() -> Result<PathBuf, Error> {
    Ok(Home::of_user()?.folder().join(FILE))
}

/// The names that the user has given.
///
/// # Errors
/// When their file cannot be read.
pub fn names() -> Result<Names, Error> {
    let path = file()?;
    if !path.is_file() {
        return Ok(Names::new());
    }
    let path = path.display().to_string();
    let bytes = capeval_files::read(&path)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Refusal::new(format!("no list of models: {error}")).with_remedy("remove the file").at(path).into()
    })
}

/// Gives the model in a folder a name.
///
/// # Errors
/// When the name cannot stand in settings, or the file cannot be written.
pub fn add(name: &str, folder: &str) -> Result<(), Error> {
    let is_good = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./@".contains(c));
    if !is_good {
        return Err(Refusal::new(format!("{name:?} is not a name such as clip-b32"))
            .with_remedy("use letters, digits, hyphens, underscores and dots")
            .into());
    }
    let mut all = names()?;
    let absolute = std::path::absolute(&*expanded(folder)).unwrap_or_else(|_| PathBuf::from(folder));
    all.insert(name.to_owned(), absolute.display().to_string());
    save(&all)
}

/// Forgets a name; the folder stays. Whether it was known.
///
/// # Errors
/// When the file cannot be written.
pub fn remove(name: &str) -> Result<bool, Error> {
    let mut all = names()?;
    let was_known = all.remove(name).is_some();
    if was_known {
        save(&all)?;
    }
    Ok(was_known)
}

fn save(all: &Names) -> Result<(), Error> {
    let path = file()?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Refusal::new(format!("cannot make the folder: {error}")).at(folder.display()))?;
    }
    write_whole(&path.display().to_string(), |out| {
        serde_json::to_writer_pretty(&mut *out, all)?;
        out.write_all(b"\n")
    })
}

/// The folder that a name or a path means: a name that was given comes first.
pub(crate) fn folder_of(name: &str) -> Result<String, Error> {
    Ok(names()?.remove(name).unwrap_or_else(|| name.to_owned()))
}
