//! The files of phases in the database, and the rules of their names.

use std::collections::HashMap;

use anyhow::ensure;
use capeval_site::prelude::*;
use serde::Deserialize;

/// The most files of a phase.
const MOST: usize = 20;

/// The most characters of a title and of a name.
const TITLE: usize = 160;
const NAME: usize = 120;

/// A file of a phase.
#[derive(Clone, Debug, Deserialize)]
pub struct PhaseFile {
    pub phase: String,
    /// What it is, such as “Starting kit”.
    pub title: String,
    /// The name under which it is downloaded.
    pub name: String,
    /// The hash of its content.
    pub blob: String,
    pub size: u64,
}

impl PhaseFile {
    /// The name as part of an address.
    pub fn encoded(&self) -> String {
        encode(&self.name)
    }

    /// The media type of a picture, by its name; `None` for other files.
    pub fn media_type(&self) -> Option<&'static str> {
        let (_, kind) = self.name.rsplit_once('.')?;
        match kind.to_ascii_lowercase().as_str() {
            "gif" => Some("image/gif"),
            "jpg" | "jpeg" => Some("image/jpeg"),
            "png" => Some("image/png"),
            "webp" => Some("image/webp"),
            _ => None,
        }
    }

    /// The size for people.
    pub fn size_text(&self) -> String {
        match self.size {
            0..1_000 => format!("{} B", self.size),
            1_000..1_000_000 => format!("{:.1} kB", self.size as f64 / 1e3),
            1_000_000..1_000_000_000 => format!("{:.1} MB", self.size as f64 / 1e6),
            _ => format!("{:.1} GB", self.size as f64 / 1e9),
        }
    }
}

/// A file that a phase shall have.
#[derive(Clone, Debug)]
pub struct NewPhaseFile {
    pub title: String,
    pub name: String,
    pub blob: String,
    pub size: u64,
}

const FILES: &str = "SELECT phase, title, name, blob, size FROM phase_file WHERE phase IN (SELECT id FROM phase \
                     WHERE ($1 = '' OR benchmark = $1) AND ($2 = '' OR id = $2)) ORDER BY position, name";

/// The files of a phase in order.
pub async fn of_phase(store: &Store, phase: &str) -> Result<Vec<PhaseFile>, Error> {
    store.fetch(FILES, args!["", phase]).await
}

/// The files of the phases of a benchmark in order, by phase.
pub async fn of_benchmark(store: &Store, benchmark: &str) -> Result<HashMap<String, Vec<PhaseFile>>, Error> {
    let mut all: HashMap<String, Vec<PhaseFile>> = HashMap::new();
    for file in store.fetch::<PhaseFile>(FILES, args![benchmark, ""]).await? {
        all.entry(file.phase.clone()).or_default().push(file);
    }
    Ok(all)
}

/// The file of a phase with this name.
pub async fn by_name(store: &Store, phase: &str, name: &str) -> Result<PhaseFile> {
    let sql = "SELECT phase, title, name, blob, size FROM phase_file WHERE phase = $1 AND name = $2";
    store.fetch_optional(sql, args![phase, name]).await?.ok_or_else(Fault::not_found)
}

/// A name without folders and without characters that disks or addresses take for something else.
pub fn clean_name(given: &str) -> String {
    let own = given.rsplit(['/', '\\']).next().unwrap_or(given);
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ');
    let name = clean_text::line(own).replace(|c| !is_safe(c), "-");
    name.trim_start_matches(['.', ' ', '-']).chars().take(NAME).collect()
}

/// Checks the title of a file.
pub fn check_title(title: &str) -> anyhow::Result<()> {
    ensure!(
        clean_text::line(title) == *title && (1..=TITLE).contains(&title.chars().count()),
        reason!("`{}` is not the title of a file: use 1 to {} characters", title, TITLE)
    );
    Ok(())
}

/// Adds a file to a phase, or replaces the one with its name.
pub async fn put(tx: &mut Tx, phase: &str, new: &NewPhaseFile) -> Result<()> {
    tx.lock("phase", phase).await?;
    tx.execute("DELETE FROM phase_file WHERE phase = $1 AND name = $2", args![phase, &new.name]).await?;
    let position = "SELECT COALESCE(MAX(position) + 1, 0), COUNT(*) FROM phase_file WHERE phase = $1";
    let (position, n): (i64, i64) = tx.fetch_one(position, args![phase]).await?;
    if n as usize >= MOST {
        return Err(fault!(CONFLICT, "too-many-files", "A phase has at most {} files.", MOST));
    }
    Ok(add(tx, phase, position, new).await?)
}

/// Gives a phase these files and no others.
pub async fn replace(tx: &mut Tx, phase: &str, new: &[NewPhaseFile]) -> anyhow::Result<()> {
    ensure!(new.len() <= MOST, reason!("a phase has at most {} files", MOST));
    // An export may have given a file another name; here, it keeps its own.
    let known = "SELECT blob, name FROM phase_file WHERE phase = $1";
    let known: HashMap<String, String> =
        tx.fetch::<(String, String)>(known, args![phase]).await?.into_iter().collect();
    tx.execute("DELETE FROM phase_file WHERE phase = $1", args![phase]).await?;
    let mut names = Vec::new();
    for (position, file) in new.iter().enumerate() {
        check_title(&file.title)?;
        let given = clean_name(&file.name);
        let name = known.get(&file.blob).cloned().filter(|name| !names.contains(name)).unwrap_or(given);
        ensure!(!name.is_empty() && !names.contains(&name), reason!("two files are called {}", name));
        names.push(name.clone());
        add(tx, phase, position as i64, &NewPhaseFile { name, ..file.clone() }).await?;
    }
    Ok(())
}

async fn add(tx: &mut Tx, phase: &str, position: i64, new: &NewPhaseFile) -> Result<(), Error> {
    let row = columns! {
        phase, position, title: &new.title, name: &new.name, blob: &new.blob,
        size: new.size as i64, created_at: clock::now(),
    };
    tx.add_row("phase_file", row).await.map(drop)
}

/// Removes a file from a phase.
pub async fn remove(tx: &mut Tx, phase: &str, name: &str) -> Result<()> {
    let sql = "DELETE FROM phase_file WHERE phase = $1 AND name = $2";
    match tx.execute(sql, args![phase, name]).await? {
        0 => Err(Fault::not_found()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere() {
        for (given, name) in [
            ("kit.zip", "kit.zip"),
            ("a/b\\c.json", "c.json"),
            ("../../.ssh", "ssh"),
            ("x\r\n<y>.csv", "x -y-.csv"),
            ("描述.json", "描述.json"),
            ("..", ""),
        ] {
            assert_eq!(clean_name(given), name, "{given:?}");
        }
    }
}
