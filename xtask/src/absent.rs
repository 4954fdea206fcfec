//! Checks what ARCHITECTURE.md says is absent: files opened by crates that must not, the environment read by libraries,
//! and state of the whole process outside of the files that it lists. Also checks that the map is short, and that it
//! and CONTRIBUTING.md name paths that exist.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::borders::{code, collect};

/// The start of the paragraph of ARCHITECTURE.md that lists the files with state.
const STATE: &str = "**State that changes is rare**";

/// The things that a crate may not do whose last column in the table of crates has one of these words, and how code
/// does them.
const ABSENT: [(&[&str], &str, &[&str]); 2] = [
    (&["open files", "do I/O"], "opens files", &["std::fs", "File::open", "File::create"]),
    (&["clocks"], "looks at a clock", &["std::time", "Instant::now", "SystemTime"]),
];

/// The folder of crates that are programs, or parts of one, and read the environment as programs do.
const PROGRAMS: [&str; 8] = [
    "crates/cli",
    "crates/python",
    "crates/tasks",
    "crates/site",
    "crates/server",
    "crates/testkit",
    "crates/checks",
    "xtask",
];

/// The one library that reads the environment.
const FILES: &str = "crates/files";

/// Types that hold a value which is computed once, or never changes.
const CONSTANT: [&str; 8] =
    ["LazyLock<", "OnceLock<", "&", "[", "mimalloc::", "CryptoProvider", "Feature", "NumberSetting"];

/// Types whose value changes, also inside of those above.
const CHANGING: [&str; 5] = ["Mutex<", "RwLock<", "Atomic", "Cell<", "OnceCell<"];

/// The largest number of lines of ARCHITECTURE.md, which takes ten minutes to read.
const LONGEST: usize = 150;

/// The folders in which paths are looked up.
const FOLDERS: [&str; 8] =
    ["crates/", "docs/", "fuzz/", "oracle/", "python/", "scripts/", "testdata/", "xtask/"];

/// Adds each path that a page names and that does not exist to `faults`, and a page that is too long.
pub fn check_pages(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root.join(page)).context(page)?;
        for path in named_paths(&text).filter(|path| !root.join(path).exists()) {
            faults.push(format!("{page} names {path}, which does not exist"));
        }
        let n = text.lines().count();
        if page == "ARCHITECTURE.md" && n > LONGEST {
            faults.push(format!(
                "{page} has {n} lines, more than {LONGEST}: explain decisions where they apply"
            ));
        }
    }
    Ok(())
}

/// The paths in backquotes, without those of examples and patterns.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted =
        text.split('`').skip(1).step_by(2).filter(|path| FOLDERS.iter().any(|f| path.starts_with(f)));
    quoted.filter(|path| !path.contains("foo") && !path.contains("NAME") && !path.contains(['*', ' ']))
}

/// Adds what breaks a rule to `faults`.
pub fn check(root: &Path, map: &str, faults: &mut Vec<String>) -> Result<()> {
    let may_have_state = stateful_files(map)?;
    let rows: Vec<Vec<&str>> = map
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let mut seen = Vec::new();
    for row in &rows {
        let (Some(folder), Some(never)) = (row.get(1), row.get(4)) else { continue };
        let folder = folder.trim_matches('`');
        let mut files = Vec::new();
        let sources = root.join(folder).join("src");
        if !sources.is_dir() {
            continue;
        }
        collect(&sources, &mut files)?;
        for path in files {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let (code, name) = (code(&text), path.strip_prefix(root)?.to_string_lossy().replace('\\', "/"));
            for (words, what, signs) in ABSENT {
                let is_absent = words.iter().any(|word| never.contains(word));
                if is_absent && signs.iter().any(|sign| code.contains(sign)) {
                    faults.push(format!("{name} {what}, which {folder} must never do"));
                }
            }
            let is_library = folder != FILES && !PROGRAMS.iter().any(|program| folder.starts_with(program));
            if is_library && ["env::var", "env::vars", "env::args"].iter().any(|sign| code.contains(sign)) {
                faults.push(format!("{name} reads the environment, which only {FILES} does"));
            }
            if has_state(&code) {
                if !may_have_state.contains(&name.as_str()) {
                    faults.push(format!(
                        "{name} has state of the process, which ARCHITECTURE.md does not list"
                    ));
                }
                seen.push(name);
            }
        }
    }
    for listed in may_have_state.iter().filter(|listed| !seen.iter().any(|name| name == *listed)) {
        faults.push(format!("ARCHITECTURE.md lists {listed} among files with state, and it has none"));
    }
    Ok(())
}

/// The files that may hold state, in the paragraph that begins with [`STATE`].
fn stateful_files(map: &str) -> Result<Vec<&str>> {
    let start = map.find(STATE).with_context(|| format!("ARCHITECTURE.md: no paragraph {STATE}"))?;
    let paragraph = map[start..].split("\n\n").next().unwrap_or_default();
    let end = paragraph.find("**No `unsafe`**").unwrap_or(paragraph.len());
    Ok(paragraph[..end].split('`').filter(|quoted| quoted.ends_with(".rs")).collect())
}

/// Returns true if code has a `static` whose value changes.
fn has_state(code: &str) -> bool {
    code.lines().any(|line| {
        let line = line.trim_start();
        let line = line.split_once("static ").filter(|(before, _)| {
            before.is_empty() || before.trim_end().starts_with("pub") && !before.contains("fn")
        });
        let Some((name, kind)) = line.and_then(|(_, rest)| rest.split_once(": ")) else { return false };
        let is_name = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let kind = kind.trim_start_matches("std::sync::");
        let changes = CHANGING.iter().any(|sign| kind.split(" = ").next().unwrap_or(kind).contains(sign));
        is_name && (changes || !CONSTANT.iter().any(|constant| kind.starts_with(constant)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_from_pages() {
        let text =
            "`crates/a.rs`, `crates/foo.rs`, `testdata/*.toml`,\n`cargo xtask docs` and `docs/b`; crates/c";
        assert_eq!(named_paths(text).collect::<Vec<_>>(), ["crates/a.rs", "docs/b"]);
    }

    #[test]
    fn state_is_told_from_constants() {
        for line in [
            "static POOLS: Mutex<Vec<u8>> = Mutex::new(Vec::new());",
            "pub(crate) static IS_CLOSED: AtomicBool = AtomicBool::new(false);",
            "    static IDLE: Cell<Chart> = Cell::default();",
            "static READERS: LazyLock<std::sync::Mutex<Vec<Reader>>> = LazyLock::new(Default::default);",
            "        static OPENED: OpenedFiles = OpenedFiles::new();",
        ] {
            assert!(has_state(line), "{line}");
        }
        for line in [
            "static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| Mutex::names());",
            "pub(super) static LETTERS: &[(u16, u16)] = &[",
            "static ASCII: [u8; 128] = ascii();",
            "fn name(&self) -> &'static str { x }",
            "const X: &'static str = \"static Y: Mutex<\";",
        ] {
            assert!(!has_state(line), "{line}");
        }
        let map =
            "9. **State that changes is rare***: `a/b.rs`, and\n`c.rs`.\n10. **No `unsafe`** but `d.rs`.";
        assert_eq!(stateful_files(map).unwrap(), ["a/b.rs", "c.rs"]);
    }
}
