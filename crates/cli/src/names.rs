//! Names of systems, from the command line and from file names.

use std::path::Path;

use anyhow::Result;
use capeval::corpus::unpacked_name;

use crate::fault::fault;

/// A system as given on the command line.
#[derive(Debug, PartialEq, Eq)]
pub struct SystemFile {
    /// The name of the system.
    pub name: String,
    /// The file of its captions, or `-`.
    pub path: String,
    /// True if the name was given, not taken from the file.
    pub is_given: bool,
}

/// Names the systems in the files `candidates`, each `PATH` or `NAME=PATH`; `names` apply to the files in order.
///
/// A system without a name is named after the stem of its file. Folders, and then numbers, are added to equal stems.
pub fn name(candidates: &[String], names: &[String]) -> Result<Vec<SystemFile>> {
    if names.len() > candidates.len() {
        return Err(fault(
            format!(
                "--name is given {} times, but there {} of candidates",
                names.len(),
                match candidates.len() {
                    1 => "is 1 file".to_owned(),
                    n => format!("are {n} files"),
                },
            ),
            "pass --name once for each file",
        ));
    }
    let mut systems: Vec<(Option<String>, String)> = candidates
        .iter()
        .map(|candidate| {
            let (name, path) = split(candidate);
            (name.map(str::to_owned), path.to_owned())
        })
        .collect();
    for ((name, path), given) in systems.iter_mut().zip(names) {
        if let Some(name) = name {
            return Err(fault(
                format!("{path} is called {name} by {name}= and {given} by --name"),
                "use only one of them",
            ));
        }
        *name = Some(given.clone());
    }
    let mut explicit: Vec<&String> = systems.iter().filter_map(|(name, _)| name.as_ref()).collect();
    explicit.sort_unstable();
    if let Some([twice, _]) = explicit.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(fault(format!("two systems are called '{twice}'"), "give each its own name"));
    }
    let mut named: Vec<SystemFile> = Vec::with_capacity(systems.len());
    for (k, (name, path)) in systems.iter().enumerate() {
        let is_given = name.is_some();
        let name = match name {
            Some(name) => name.clone(),
            None => {
                let mut parts = 1;
                let shares_stem = |parts: usize| {
                    let mine = stem(path, parts);
                    systems.iter().enumerate().any(|(other, (name, path))| {
                        other != k && name.is_none() && *path != systems[k].1 && stem(path, parts) == mine
                    })
                };
                while shares_stem(parts) && stem(path, parts + 1) != stem(path, parts) {
                    parts += 1;
                }
                stem(path, parts)
            }
        };
        let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let taken = |name: &str| named.iter().any(|other| other.name == name);
        let unique = (2..).map(|n| format!("{name}-{n}")).find(|numbered| !taken(numbered));
        let name = if taken(&name) { unique.unwrap_or(name) } else { name };
        named.push(SystemFile { name, path: path.clone(), is_given });
    }
    Ok(named)
}

/// The name and the path of `NAME=PATH`; there is no name if a file is called so.
pub fn split(candidate: &str) -> (Option<&str>, &str) {
    match candidate.split_once('=') {
        Some((name, path)) if !name.is_empty() && !Path::new(candidate).exists() => (Some(name), path),
        _ => (None, candidate),
    }
}

/// The last `parts` parts of a path, without the extensions of packing and format.
pub fn stem(path: &str, parts: usize) -> String {
    if path == "-" || path == "/dev/stdin" {
        return "stdin".to_owned();
    }
    // What a shell puts in the place of `<(command)`; the number says nothing.
    if ["/dev/fd/", "/proc/self/fd/"].iter().any(|folder| path.starts_with(folder)) {
        return "pipe".to_owned();
    }
    let components: Vec<&str> = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).collect();
    let tail = components.get(components.len().saturating_sub(parts)..).unwrap_or_default().join("/");
    let tail = unpacked_name(&tail);
    match tail.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() && !stem.ends_with('/') => stem.to_owned(),
        _ => tail.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(candidates: &[&str], given: &[&str]) -> Vec<String> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        name(&owned(candidates), &owned(given)).unwrap().into_iter().map(|named| named.name).collect()
    }

    #[test]
    fn systems_are_called_by_the_stems_of_their_files() {
        assert_eq!(names(&["out/base.json", "big.v2.jsonl.gz", "-"], &[]), ["base", "big.v2", "stdin"]);
    }

    #[test]
    fn the_output_of_a_command_is_called_a_pipe() {
        assert_eq!(names(&["/dev/fd/62", "/dev/fd/63", "a.json"], &[]), ["pipe", "pipe-2", "a"]);
        assert_eq!(names(&["mine=/proc/self/fd/11", "/dev/stdin"], &[]), ["mine", "stdin"]);
    }

    #[test]
    fn equal_stems_are_told_apart() {
        assert_eq!(names(&["x/a/hyp.json", "x/b/hyp.json"], &[]), ["a/hyp", "b/hyp"]);
        assert_eq!(names(&["hyp.json", "hyp.json"], &[]), ["hyp", "hyp-2"]);
    }

    #[test]
    fn one_file_given_twice_keeps_its_short_name() {
        assert_eq!(names(&["/a/b/hyp.json", "/a/b/hyp.json"], &[]), ["hyp", "hyp-2"]);
    }

    #[test]
    fn one_name_for_two_systems_and_two_names_for_one_are_refused() {
        let refused = |candidates: &[&str], given: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            name(&owned(candidates), &owned(given)).unwrap_err().to_string()
        };
        assert!(refused(&["a=x.json", "a=y.json"], &[]).contains("two systems are called 'a'"));
        assert!(refused(&["a=x.json"], &["b"]).contains("called a by a= and b by --name"));
    }

    #[test]
    fn names_may_be_given() {
        assert_eq!(names(&["mine=hyp.json", "b.json"], &[]), ["mine", "b"]);
        assert_eq!(names(&["a.json", "b.json"], &["first"]), ["first", "b"]);
        assert!(name(&["a".into()], &["x".into(), "y".into()]).is_err());
    }
}
