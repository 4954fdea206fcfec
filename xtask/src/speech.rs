//! Checks that libraries do not know the command line, that front ends do not edit the text of errors, and that code
//! and documentation avoid the words that CONTRIBUTING.md has better ones for.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// Lines about other programs and about scripts may name flags.
const FOREIGN: &[&str] = &["lmplz", "scripts/", "`pip "];

/// Files that run another program.
const RUN_OTHERS: &[&str] = &["crates/files/src/pip.rs", "crates/testkit/src/faults.rs"];

/// Verbs that begin advice after a semicolon.
const ADVICE: &[&str] = &[
    "choose", "draw", "give", "install", "keep", "leave", "pass", "run", "save", "set", "take", "try", "use",
];

/// Words for which the glossary of CONTRIBUTING.md has others.
const AVOIDED: &[(&str, &str)] = &[
    ("anew", "again"),
    ("everybody", "everyone"),
    ("mail address", "email address"),
    ("meanwhile", "during that time"),
    ("nobody", "no one"),
    ("somebody", "someone"),
    ("whoever", "a role or \"you\""),
];

/// Verbs for which it has others when a particle follows, also after an object: the forms, the particle, and what to
/// write.
const SEPARABLE: &[(&[&str], &str, &str)] =
    &[(&["hand", "hands", "handed", "handing"], "in", "a form of \"submit\"")];

/// The most words of an object between a verb and its particle.
const OBJECT: usize = 3;

/// Words before a form of a verb that make it a noun.
const BEFORE_NOUNS: &[&str] = &["a", "at", "by", "on", "one", "the"];

/// Particles that make it another verb.
const PARTICLES: &[&str] = &["out", "over", "to"];

/// Endings with which a word is still the same.
const ENDINGS: &[&str] = &["es", "s", "ed", "ing", ""];

/// The extensions of files in which the avoided words are looked for.
const WRITTEN: &[&str] = &["html", "md", "py", "pyi", "rs", "sh", "toml"];

/// Files and folders in which they may stand: the lists of words, and captions that people wrote.
const EXEMPT: &[&str] =
    &["xtask/src/speech.rs", "CONTRIBUTING.md", "crates/spice/src/enhance.rs", "testdata"];

/// Reports each line that contains an avoided word.
pub fn check_words(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    let output =
        Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().context("git ls-files")?;
    for shown in String::from_utf8_lossy(&output.stdout).split_terminator('\0') {
        let is_written = shown.rsplit_once('.').is_some_and(|(_, end)| WRITTEN.contains(&end));
        if !is_written || EXEMPT.iter().any(|exempt| shown.starts_with(exempt)) {
            continue;
        }
        // A file that git lists and that was removed is none.
        let Ok(text) = std::fs::read_to_string(root.join(shown)) else { continue };
        for (number, line) in (1..).zip(text.lines()) {
            for (word, better) in avoided(line) {
                faults.push(format!("{shown}:{number}: write {better} instead of \"{word}\""));
            }
        }
    }
    Ok(())
}

/// The avoided words in a line, each with a better one.
fn avoided(line: &str) -> Vec<(&'static str, &'static str)> {
    let line = line.to_lowercase();
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let stands = |word: &str| {
        line.match_indices(word).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + word.len()..]);
            let is_name = before.ends_with('`') || before.ends_with("= \"");
            let ends =
                |ending: &&str| after.strip_prefix(*ending).is_some_and(|rest| !rest.starts_with(is_letter));
            !is_name && !before.ends_with(is_letter) && ENDINGS.iter().any(ends)
        })
    };
    let words: Vec<&str> = line.split(|c| !is_letter(c)).filter(|word| !word.is_empty()).collect();
    let fixed = AVOIDED.iter().copied().filter(|(word, _)| stands(word));
    let separable = SEPARABLE.iter().filter(|(forms, particle, _)| is_separated(&words, forms, particle));
    fixed.chain(separable.map(|(forms, _, better)| (forms[0], *better))).collect()
}

/// Returns true if a form of a verb is followed by its particle, at once or after an object.
fn is_separated(words: &[&str], forms: &[&str], particle: &str) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let (before, after) = (&words[..at], &words[at + 1..]);
        let is_noun = before.last().is_some_and(|word| BEFORE_NOUNS.contains(word));
        let Some(length) = after.iter().position(|word| *word == particle) else { return false };
        let is_other = after[..length].iter().any(|word| PARTICLES.contains(word));
        forms.contains(word) && !is_noun && length <= OBJECT && !is_other
    })
}

/// The crates of the two programs that have a command line.
const OWN_COMMANDS: [&str; 5] =
    ["crates/cli/", "crates/site/", "crates/benchmarks/", "crates/collections/", "crates/server/"];

/// Reports each line of a library that names a flag or a command or ends in advice, and each line of a front end that
/// edits an error's text.
pub fn check(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files)?;
    for path in files {
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let text = std::fs::read_to_string(&path).with_context(|| shown.clone())?;
        let is_cli = OWN_COMMANDS.iter().any(|krate| shown.starts_with(krate));
        let is_front_end = is_cli || shown.starts_with("crates/python/");
        for (number, line) in (1..).zip(text.lines().take_while(|line| line.trim() != "#[cfg(test)]")) {
            if !is_cli && !RUN_OTHERS.contains(&shown.as_str()) && names_command_line(line) {
                faults.push(format!(
                    "{shown}:{number}: libraries must not name flags or commands; use a capeval_choice::Remedy"
                ));
            }
            if !is_front_end && gives_advice(line) {
                faults.push(format!(
                    "{shown}:{number}: errors and notices must not end in advice; use a capeval_choice::Remedy"
                ));
            }
            if is_front_end && line.contains("to_string().replace(") {
                faults.push(format!("{shown}:{number}: front ends must not edit the text of errors; render a capeval_choice::Remedy"));
            }
        }
    }
    Ok(())
}

/// The Rust files below the `src` folders of `folder`.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    for path in paths {
        let is_source = path.components().any(|part| part.as_os_str() == "src");
        if path.is_dir() && !["target", "tests", "examples"].iter().any(|name| path.ends_with(name)) {
            sources(&path, files)?;
        } else if is_source && path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns true if a line of code says what is wrong and then, after a semicolon, what to do.
fn gives_advice(line: &str) -> bool {
    let is_advice = |clause: &str| ADVICE.contains(&clause.split(' ').next().unwrap_or_default());
    !line.trim_start().starts_with("//") && line.split("; ").skip(1).any(is_advice)
}

/// Returns true if a line holds `--flag` or `` `capeval command` ``.
fn names_command_line(line: &str) -> bool {
    if FOREIGN.iter().any(|foreign| line.contains(foreign)) {
        return false;
    }
    let starts_word = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase());
    // Names of CSS begin with two dashes as well.
    let is_flag = |(at, _): (usize, &str)| {
        let before = &line[..at];
        starts_word(&line[at + 2..]) && before.ends_with([' ', '(', '"', '`']) && !before.ends_with("var(")
    };
    line.match_indices("--").any(is_flag) || line.split("`capeval ").skip(1).any(starts_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_commands_are_found_and_nothing_else_is() {
        for line in
            ["\"pass --missing skip\"", "\"(--images)\"", "/// `--missing`", "// run `capeval prepare`"]
        {
            assert!(names_command_line(line), "{line}");
        }
        for line in
            ["a -- b", "<!-- note -->", "\"var(--rule)\"", "`lmplz --skip_symbols`", "n -= 1", "`capeval`"]
        {
            assert!(!names_command_line(line), "{line}");
        }
    }

    #[test]
    fn avoided_words_are_found_and_nothing_else_is() {
        let words = |line| avoided(line).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
        assert_eq!(words("/// Whoever hands in files anew"), ["anew", "whoever", "hand"]);
        assert_eq!(words("their mail addresses"), ["mail address"]);
        for line in
            ["Hands results in to a server.", "without handing them in", "the file that was handed in"]
        {
            assert_eq!(words(line), ["hand"], "{line}");
        }
        for line in [
            "an email address",
            "renewed",
            "nobody_knows",
            "`everybody`",
            "= \"everybody\"",
            "written by hand in a file",
            "hands the values out in order",
            "(\"action\", \"hand-in\")",
        ] {
            assert_eq!(words(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn advice_in_a_message_is_found() {
        assert!(gives_advice("format!(\"{n} is not a level; give a number\")"));
        for line in ["\"lower is better\"", "// sorted; take the first", "[0; 4]"] {
            assert!(!gives_advice(line), "{line}");
        }
    }
}
