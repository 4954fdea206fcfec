//! Files of several runs of one system, by a pattern.

use std::fs;
use std::path::Path;

use capeval::choice::Refusal;

use crate::fault::sentence;

/// The runs of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFiles {
    /// The name of the system.
    pub name: String,
    /// The file of each run, in the order of their names.
    pub paths: Vec<String>,
}

impl RunFiles {
    /// The name of the system and those of its runs.
    pub fn names(&self) -> (String, Vec<String>) {
        (self.name.clone(), (0..self.paths.len()).map(|k| run_name(&self.name, k)).collect())
    }
}

/// The name of a run of a system.
pub fn run_name(system: &str, k: usize) -> String {
    format!("{system} #{}", k + 1)
}

/// Reads `NAME=PATTERN,…` and finds the files.
pub fn run_files(text: &str) -> Result<RunFiles, String> {
    let refused = |what: String, help: &'static str| sentence(&Refusal::new(what).with_remedy(help));
    let Some((name, patterns)) = text.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
        return Err(refused(
            "the system has no name".to_owned(),
            "write NAME=FILES, such as 'mine=run*.json', in quotation marks",
        ));
    };
    let mut paths = Vec::new();
    for pattern in patterns.split(',') {
        let found = matching(pattern);
        if found.is_empty() {
            return Err(refused(format!("no file is called {pattern}"), "check the folder and the pattern"));
        }
        paths.extend(found);
    }
    if paths.len() < 2 {
        return Err(refused(
            format!("{patterns} is a single file"),
            "give at least two runs, or the file as candidates",
        ));
    }
    Ok(RunFiles { name: name.to_owned(), paths })
}

/// The files that a path with `*` in its last part stands for, sorted with numbers in their order.
fn matching(pattern: &str) -> Vec<String> {
    let path = Path::new(pattern);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    if !name.contains('*') {
        return if path.exists() { vec![pattern.to_owned()] } else { Vec::new() };
    }
    let listed = fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let names = listed.into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<String> = names.filter(|found| matches(name, found)).collect();
    found.sort_by_cached_key(|name| numbered(name));
    found.iter().map(|name| folder.join(name).display().to_string()).collect()
}

/// Returns true if a name is that of a pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A name in whose order run2 comes before run10.
fn numbered(name: &str) -> Vec<(String, u64)> {
    let mut parts: Vec<(String, u64)> = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let word = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(word);
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (number, behind) = behind.split_at(digits);
        parts.push((text.to_owned(), number.parse().unwrap_or(u64::MAX)));
        rest = behind;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, is_match) in [
            ("run*.json", "run10.json", true),
            ("run*.json", "run.json", true),
            ("run*.json", "run1.jsonl", false),
            ("*", "a", true),
            ("a*b*a", "aba", true),
            ("a*b*a", "ab", false),
            ("a*a", "a", false),
            ("run1.json", "run1.json", true),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn numbers_are_in_their_order() {
        let mut names = ["run10", "run9", "run2b", "run2a"];
        names.sort_by_cached_key(|name| numbered(name));
        assert_eq!(names, ["run2a", "run2b", "run9", "run10"]);
    }
}
