//! Checks that a type is a noun: a bare participle, such as `Found` or `Prepared`, says nothing of what it holds.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::borders::collect;

/// The folders whose types are checked, with those of tests.
const FOLDERS: [&str; 3] = ["crates", "fuzz", "xtask"];

/// The keywords that declare a type.
const KEYWORDS: [&str; 5] = ["struct", "enum", "type", "trait", "union"];

/// Participles that do not end in -ed. Those that are nouns as well, such as `Run`, `Set` and `Split`, are left out.
const IRREGULAR: &str = "Begun Bound Bought Broken Brought Built Caught Chosen Dealt Done Drawn Driven Fallen Fed \
    Felt Forgotten Found Frozen Given Gone Got Grown Heard Held Hidden Kept Known Laid Learnt Led Left Lent Lost Made \
    Meant Met Overridden Paid Put Read Rewritten Said Seen Sent Shown Sold Sought Spent Spoken Stolen Stood \
    Struck Taken Taught Thought Thrown Told Understood Withdrawn Won Worn Woven Written";

/// Participles that stay: their crate, their names, and the reason.
const EXCEPTIONS: &[(&str, &[&str], &str)] = &[
    ("crates/capeval", &["Aligned", "Told"], "private to one file"),
    ("crates/outside", &["Collected", "Held", "Read", "Spent", "Tried"], "private to one file"),
    ("crates/site", &["Created"], "HTTP's name of the status 201"),
];

/// Adds each type that is a bare participle to `faults`, and each exception that no type needs.
pub fn check(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files)?;
    }
    let mut found = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let file = path.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
        for name in declared(&text).filter(|name| is_participle(name)) {
            let exception = exceptions().find(|(krate, known, _)| *known == name && is_in(&file, krate));
            match exception {
                Some((krate, known, _)) => found.push((krate, known)),
                None => faults.push(format!("{file}: {name} is a participle; a type is a noun")),
            }
        }
    }
    for (krate, name, reason) in exceptions() {
        if !found.contains(&(krate, name)) {
            faults.push(format!("nouns.rs excepts {name} of {krate} ({reason}), which has no such type"));
        }
    }
    Ok(())
}

/// The exceptions: the crate, the name and the reason of each.
fn exceptions() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    EXCEPTIONS.iter().flat_map(|(krate, names, reason)| names.iter().map(|name| (*krate, *name, *reason)))
}

fn is_in(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The names of the types that a source file declares, one a line.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
            Some(rest) => rest.trim_start(),
            None => line,
        };
        let (keyword, rest) = line.split_once(' ')?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        KEYWORDS.contains(&keyword).then_some(&rest[..end])
    })
}

/// Returns true for one word that is a participle and nothing else.
fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().skip(1).all(|c| c.is_ascii_lowercase());
    let is_regular = name.ends_with("ed") && !name.ends_with("eed");
    is_one_word && (is_regular || IRREGULAR.split_whitespace().any(|irregular| irregular == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_from_source() {
        let text = "pub(crate) struct Found;\n    enum Known<T> {\npub type Read = u8;\n/// The type Kept.\n\
                    fn type_of() {}\npub(in crate::a) trait Seen: Sized {\n    Given(Text),\nlet told = 1;";
        assert_eq!(declared(text).collect::<Vec<_>>(), ["Found", "Known", "Read", "Seen"]);
    }

    #[test]
    fn participles_are_told_from_nouns() {
        for name in ["Found", "Kept", "Prepared", "Needed", "Written"] {
            assert!(is_participle(name), "{name}");
        }
        for name in ["FoundFile", "Need", "Seed", "Set", "Run", "Report", "Reader"] {
            assert!(!is_participle(name), "{name}");
        }
    }
}
