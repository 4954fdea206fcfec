//! Checks rules from ARCHITECTURE.md that the compiler does not.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{absent, borders, nouns, profiles, speech};

/// Crates that every crate may import, in addition to those in its row of the table.
const FOR_ALL: &str = "choice";

/// The width of comments, which rustfmt does not wrap.
const COLUMNS: usize = 120;

/// Runs all checks and lists every problem.
pub fn run(root: &Path) -> Result<()> {
    let map = std::fs::read_to_string(root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let metadata = metadata(root)?;
    let mut faults = imports(root, &metadata, &map)?;
    profiles::check(root, &metadata, &mut faults)?;
    sources(root, &map, &mut faults)?;
    borders::check(root, &map, &mut faults)?;
    absent::check(root, &map, &mut faults)?;
    absent::check_pages(root, &mut faults)?;
    nouns::check(root, &mut faults)?;
    speech::check(root, &mut faults)?;
    speech::check_words(root, &mut faults)?;
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    if !faults.is_empty() {
        bail!("{} problems", faults.len());
    }
    println!(
        "tidy: imports, profiles, `unsafe`, comments, names of types, the borders of the server and the words of libraries \
         are in order"
    );
    Ok(())
}

/// Cargo's description of the packages of the workspace.
fn metadata(root: &Path) -> Result<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .context("cargo metadata")?;
    serde_json::from_slice(&output.stdout).context("cargo metadata's answer")
}

/// Compares the imports of each crate with the table in ARCHITECTURE.md.
fn imports(root: &Path, metadata: &Value, map: &str) -> Result<Vec<String>> {
    let table = import_table(map)?;
    let workspace = metadata["workspace_root"].as_str().map(Path::new).unwrap_or(root);
    // `crates/text` for the folder of a workspace crate, `None` for third-party crates.
    let folder = |path: &Value| {
        let inside = Path::new(path.as_str()?).strip_prefix(workspace).ok()?;
        Some(inside.to_string_lossy().replace('\\', "/"))
    };
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let manifest = folder(&package["manifest_path"]).unwrap_or_default();
        let name = manifest.trim_end_matches("/Cargo.toml");
        let Some((_, allowed)) = table.iter().find(|(known, _)| known == name) else {
            faults.push(format!("{name} is not in the table of ARCHITECTURE.md"));
            continue;
        };
        let of_tests: Vec<&str> = package["features"]["tests"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one.as_str()?.strip_prefix("dep:"))
            .collect();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let is_for_tests = dependency["kind"] == "dev"
                || dependency["name"].as_str().is_some_and(|name| of_tests.contains(&name));
            match folder(&dependency["path"]) {
                Some(imported) if !is_for_tests && !allowed.contains(&imported) => {
                    faults.push(format!("{name} must not import {imported}"));
                }
                _ => {}
            }
        }
    }
    Ok(faults)
}

/// The folder of each crate and the folders that it may import, from the rows of the Markdown table of crates.
///
/// A crate may only import crates of rows above its own.
fn import_table(text: &str) -> Result<Vec<(String, Vec<String>)>> {
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let mut table: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, folder, _, imports, ..] = cells[..] else { bail!("ARCHITECTURE.md: {row}: too few cells") };
        let above = |name: &str| {
            let mut folders = table.iter().map(|(folder, _)| folder);
            folders.find(|folder| folder.rsplit('/').next() == Some(name)).cloned()
        };
        let mut allowed = Vec::from_iter(above(FOR_ALL));
        match imports {
            "–" => {}
            "all above" => allowed.extend(table.iter().map(|(folder, _)| folder.clone())),
            names => {
                for name in names.split(", ") {
                    let found = above(name);
                    allowed.push(found.with_context(|| {
                        format!("ARCHITECTURE.md: {folder} imports {name}, which is not in a row above it")
                    })?);
                }
            }
        }
        table.push((folder.trim_matches('`').to_owned(), allowed));
    }
    Ok(table)
}

/// The files that may hold `unsafe`: those that ARCHITECTURE.md names in the paragraph that begins so.
fn unsafe_files(map: &str) -> Result<Vec<&str>> {
    let start = map.find("**No `unsafe`**").context("ARCHITECTURE.md: no paragraph on `unsafe`")?;
    let paragraph = map[start..].split("\n\n").next().unwrap_or_default();
    Ok(paragraph.split('`').filter(|quoted| quoted.ends_with(".rs")).collect())
}

/// Returns true if a line of code has the keyword `unsafe`; a macro's argument counts, as in `ctor(unsafe)`.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    !code.contains('"') && words.any(|word| word == "unsafe")
}

/// Checks each source file: its first sentence, the width of its comments, and `unsafe`.
fn sources(root: &Path, map: &str, faults: &mut Vec<String>) -> Result<()> {
    let may_be_unsafe = unsafe_files(map)?;
    let mut folders = vec![root.join("crates"), root.join("xtask")];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(&folder)
            .with_context(|| folder.display().to_string())?
            .collect::<std::io::Result<_>>()?;
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                if !text.starts_with("//! ") {
                    faults.push(format!("{shown} does not start with a //! sentence"));
                }
                if !may_be_unsafe.contains(&shown.as_str()) && text.lines().any(is_unsafe) {
                    faults.push(format!("{shown} uses `unsafe`, which ARCHITECTURE.md does not allow there"));
                }
                let is_long =
                    |line: &str| line.trim_start().starts_with("//") && line.chars().count() > COLUMNS;
                for (k, _) in text.lines().enumerate().filter(|(_, line)| is_long(line)) {
                    faults.push(format!("{shown}:{}: the comment is wider than {COLUMNS} columns", k + 1));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_is_found_in_code_and_in_attributes() {
        for line in ["let x = unsafe { f() };", "#[ctor::ctor(unsafe)]", "unsafe impl Send for X {}"] {
            assert!(is_unsafe(line), "{line}");
        }
        for line in ["// unsafe", "#![expect(unsafe_code, reason = \"x\")]", "is_unsafe(line)", "\"unsafe\""]
        {
            assert!(!is_unsafe(line), "{line}");
        }
        assert_eq!(
            unsafe_files("8. **No `unsafe`** but `a/b.rs` and\n`c.rs`.\n\n`d.rs`").unwrap(),
            ["a/b.rs", "c.rs"]
        );
    }
}
