//! Moves a site into another database: a backup of it, restored into a new folder.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::restore::fill;
use super::{CheckedBackup, SETTINGS, make};
use crate::app::App;
use crate::settings::Settings;

/// Copies a site into the new folder `to` and the empty database at `database`, which the settings there then name.
/// The old folder and database stay as they are; if it fails, there is no new folder.
pub async fn copy(app: &App, to: &Path, database: &str) -> anyhow::Result<CheckedBackup> {
    anyhow::ensure!(!to.exists(), "{} exists already; name a new folder", to.display());
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let between = tempfile::Builder::new().prefix(super::UNFINISHED).tempdir_in(parent);
    let between = between.with_context(|| parent.display().to_string())?;
    let backup = between.path().join("backup");
    make(app, &backup).await?;
    let (draft, settings) = (between.path().join("data"), app.folder.join(SETTINGS));
    fs::create_dir(&draft)?;
    let old = if settings.exists() { fs::read_to_string(settings)? } else { String::new() };
    // It may hold passwords, so it is readable as the old one is, or by its owner.
    let mut file = tempfile::NamedTempFile::new_in(&draft)?;
    std::io::Write::write_all(&mut file, with_database(&old, database).as_bytes())?;
    file.persist(draft.join(SETTINGS))?;
    let settings = Settings { database: database.to_owned(), ..app.settings.clone() };
    let checked = fill(&backup, &draft, &settings, app.features, &[]).await?;
    fs::rename(draft, to).with_context(|| to.display().to_string())?;
    Ok(checked)
}

/// Settings that name another database.
fn with_database(settings: &str, database: &str) -> String {
    let is_old = |line: &&str| line.split('=').next().is_some_and(|name| name.trim() == "database");
    let others: String =
        settings.lines().filter(|line| !is_old(line)).flat_map(|line| [line, "\n"]).collect();
    // A text of JSON is one of TOML, too.
    format!("database = {}\n{others}", serde_json::Value::from(database))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_the_new_database_and_keep_the_rest() {
        let old = "title = 'Ours'\n database='postgres://old'\n# database = 'x'\nworkers = 2\n";
        let new = with_database(old, "postgres://a:\"b\\@c/d");
        let table: toml::Table = new.parse().unwrap();
        assert_eq!(table["database"].as_str(), Some("postgres://a:\"b\\@c/d"));
        assert_eq!((table["title"].as_str(), table["workers"].as_integer()), (Some("Ours"), Some(2)));
    }
}
