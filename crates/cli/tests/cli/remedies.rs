//! The law of remedies: what an error tells people to do ends this error, on the input that provoked it.
//!
//! Every refused run of these tests passes through [`follow`]. Remedies that name flags with their values, flags to
//! leave out, or whole commands are followed, each by itself; those that leave a choice to people (`pass --images
//! FILE`, `rename one of them`) are not. Another fault may come to light then, whose remedies are followed as well.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use crate::program::Run;

/// Commands whose runs change what later runs find, or ask others.
const LEFT_ALONE: &[&str] = &["data", "submit", "work", "judge", "completions"];

/// Remedies that are right although the error stays, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("data install", "it takes data from elsewhere, which tests do not fetch"),
    ("--allow-network", "tests ask no one"),
];

/// Flags without a value.
const SWITCHES: &[&str] =
    &["--percent", "--no-fallback", "--replay", "--subset", "--human", "--all-pairs", "--no-limits"];

/// The flags behind short ones.
const SHORT: &[(&str, &str)] = &[
    ("-f", "--format"),
    ("-m", "--metrics"),
    ("-n", "--order"),
    ("-o", "--output"),
    ("-r", "--references"),
    ("-s", "--suite"),
    ("-t", "--tokenizer"),
];

/// Flags of files that are written, of which a followed run writes others.
const WRITTEN: &[&str] = &["-o", "--output", "--html", "--save", "--segments"];

/// The most faults of one input that come to light one after another.
const FAULTS: usize = 4;

/// A way out that can be followed without a person.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Set(String, Option<String>),
    Omit(String),
    Run(Vec<String>),
    /// The other word in the place of this one.
    Replace(String, String),
}

/// Follows the remedies of a refused run; `run` runs the program in the same place.
///
/// # Panics
/// When an error stays after what it told to do.
pub fn follow(args: &[&str], refused: &Run, run: &dyn Fn(&[&str]) -> Run) {
    if refused.code != 2 || args.first().is_none_or(|command| LEFT_ALONE.contains(command)) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let mut log = BTreeMap::new();
    let mut known = BTreeSet::new();
    walk(&elsewhere(&args, place), &refused.stderr, run, &mut known, &mut log, FAULTS);
    if let Some(path) = std::env::var_os("CAPEVAL_REMEDIES") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        let line = serde_json::json!({"args": args, "error": refused.stderr, "followed": log});
        writeln!(file, "{line}").unwrap();
        return;
    }
    let broken: Vec<_> = log.iter().filter(|(_, end)| end.starts_with("the same")).collect();
    assert!(broken.is_empty(), "capeval {}\n{}\n{broken:#?}", args.join(" "), refused.stderr);
}

/// Follows each way out of an error, and of those that come after it; notes how each ended.
fn walk(
    args: &[String],
    stderr: &str,
    run: &dyn Fn(&[&str]) -> Run,
    known: &mut BTreeSet<String>,
    log: &mut BTreeMap<String, String>,
    depth: usize,
) {
    let Some((error, help)) = said(stderr) else { return };
    for step in steps(&help).into_iter().chain(meant(stderr)) {
        let Some(next) = step.apply(args) else { continue };
        if depth == 0 || !known.insert(next.join("\u{0}")) || is_exception(&next) {
            continue;
        }
        let next: Vec<&str> = next.iter().map(String::as_str).collect();
        let after = run(&next);
        let end = match said(&after.stderr) {
            _ if after.code == 0 || after.code == 1 => "it works".to_owned(),
            Some((other, _)) if alike(&other) == alike(&error) => {
                format!("the same error: {error}; help: {help}")
            }
            _ => format!("another error: {}", after.stderr.trim()),
        };
        let is_other = end.starts_with("another");
        log.insert(next.join(" "), end);
        if is_other {
            let next: Vec<String> = next.iter().map(|arg| (*arg).to_owned()).collect();
            walk(&next, &after.stderr, run, known, log, depth - 1);
        }
    }
}

fn is_exception(args: &[String]) -> bool {
    let line = args.join(" ");
    EXCEPTIONS.iter().any(|(words, _)| line.contains(words))
}

/// The error and the help of a refused run.
fn said(stderr: &str) -> Option<(String, String)> {
    let (_, rest) = stderr.split_once("error: ")?;
    let (error, help) = rest.split_once("\nhelp: ").unwrap_or((rest, ""));
    Some((error.to_owned(), help.lines().next().unwrap_or_default().to_owned()))
}

/// An error without numbers and texts in quotes: the same fault of other values is the same.
fn alike(error: &str) -> String {
    let outside = error.split(['"', '\'']).step_by(2).collect::<String>();
    outside.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// The step that a question names: `'blue' …; did you mean bleu?`.
fn meant(stderr: &str) -> Option<Step> {
    let (before, behind) = stderr.split_once("did you mean ")?;
    let (word, _) = behind.split_once('?')?;
    let wrong = before.rsplit(['"', '\'']).nth(1)?;
    Some(Step::Replace(wrong.to_owned(), word.to_owned()))
}

/// The steps of a help that need no person.
fn steps(help: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut rest, mut plain) = (help, String::new());
    while let Some((before, behind)) = rest.split_once('`') {
        plain.push_str(before);
        let Some((code, after)) = behind.split_once('`') else { break };
        if let Some(command) = code.strip_prefix("capeval ").filter(|_| before.ends_with("run ")) {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            if !words.iter().any(|word| is_placeholder(word)) {
                steps.push(Step::Run(words));
            }
        } else {
            plain.push_str(code);
        }
        rest = after;
    }
    plain.push_str(rest);
    let words = shell_words(&plain);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for (k, word) in words.iter().enumerate() {
        let flag = word.trim_end_matches([',', ';', ')']);
        if let Some((name, value)) =
            flag.split_once('=').filter(|(name, value)| name.starts_with("--") && !is_placeholder(value))
        {
            steps.push(Step::Set(name.to_owned(), Some(format!("={value}"))));
            continue;
        }
        if !flag.starts_with("--") || flag.len() < 4 {
            continue;
        }
        let before = |n: usize| k.checked_sub(n).and_then(|at| words.get(at)).copied().unwrap_or_default();
        if before(1) == "out" && before(2) == "leave" {
            steps.push(Step::Omit(flag.to_owned()));
        } else if matches!(before(1), "pass" | "or") && (before(1) == "pass" || steps_before(&words, k)) {
            let ends = flag.len() < word.len();
            let value = words.get(k + 1).filter(|_| !ends).map(|value| value.trim_end_matches([',', ';']));
            match value.filter(|value| !matches!(*value, "to" | "or")) {
                Some(value) if is_placeholder(value) => {}
                value => steps.push(Step::Set(flag.to_owned(), value.map(str::to_owned))),
            }
        }
    }
    steps
}

/// The words of a help, in which the value of a flag may stand in the quotes of a shell.
fn shell_words(text: &str) -> Vec<String> {
    const QUOTE: &str = "\u{1}";
    let mut words: Vec<String> = Vec::new();
    for word in text.replace("'\\''", QUOTE).split_whitespace() {
        let is_value = words.iter().rev().nth(1).is_some_and(|flag| flag.starts_with("--"));
        let is_open = |word: &String| word.starts_with('\'') && word.matches('\'').count() % 2 == 1;
        match words.last_mut() {
            Some(last) if is_value && is_open(last) => *last = format!("{last} {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    for k in 1..words.len() {
        let bare = words[k].trim_end_matches([',', ';']);
        let inner = bare.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        if let Some(inner) = inner.filter(|_| words[k - 1].starts_with("--")).map(str::to_owned) {
            words[k] = inner;
        }
    }
    words.into_iter().map(|word| word.replace(QUOTE, "'")).collect()
}

/// Returns true if `or` before word `k` joins two things to pass.
fn steps_before(words: &[&str], k: usize) -> bool {
    words[..k].contains(&"pass")
}

/// Returns true if a person has to say what stands here.
fn is_placeholder(word: &str) -> bool {
    let letters = || word.chars().filter(|c| c.is_alphabetic());
    word.contains('…')
        || word.starts_with(['[', '<'])
        || letters().count() > 1 && letters().all(char::is_uppercase)
        || word.contains("=")
            && word.rsplit('=').next().is_some_and(|part| part.chars().all(|c| c.is_ascii_uppercase()))
        || matches!(word, "N" | "a" | "an" | "the" | "with" | "for" | "and")
}

impl Step {
    /// The arguments after this step; `None` if it changes nothing.
    fn apply(&self, args: &[String]) -> Option<Vec<String>> {
        match self {
            Self::Run(words) => Some(words.clone()),
            Self::Omit(flag) => Some(without(args, flag)).filter(|rest| rest.len() < args.len()),
            Self::Set(flag, value) => {
                let mut next = without(args, flag);
                match value.as_ref().filter(|value| value.starts_with('=')) {
                    Some(value) => next.push(format!("{flag}{value}")),
                    None => {
                        next.push(flag.clone());
                        next.extend(value.clone());
                    }
                }
                Some(next)
            }
            Self::Replace(wrong, right) => {
                let next: Vec<String> = args.iter().map(|arg| arg.replace(wrong, right)).collect();
                (next != args).then_some(next)
            }
        }
    }
}

/// The arguments without a flag and its values.
fn without(args: &[String], flag: &str) -> Vec<String> {
    let short = SHORT.iter().find(|(_, long)| *long == flag).map(|(short, _)| *short);
    let mut rest = Vec::new();
    let mut skip = false;
    for (k, arg) in args.iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        if arg == flag || short == Some(arg.as_str()) {
            skip = !SWITCHES.contains(&flag) && args.get(k + 1).is_some_and(|next| !next.starts_with("--"));
            continue;
        }
        if !arg.starts_with(&format!("{flag}=")) {
            rest.push(arg.clone());
        }
    }
    rest
}

/// The arguments with other files in the place of those that are written.
fn elsewhere(args: &[String], place: &str) -> Vec<String> {
    let other = |path: &str| match std::path::Path::new(path).file_name().and_then(|name| name.to_str()) {
        Some(name) if path != "-" => format!("{place}/{name}"),
        _ => path.to_owned(),
    };
    let is_written = |k: usize| {
        k.checked_sub(1).and_then(|at| args.get(at)).is_some_and(|flag| WRITTEN.contains(&flag.as_str()))
    };
    args.iter().enumerate().map(|(k, arg)| if is_written(k) { other(arg) } else { arg.clone() }).collect()
}

#[test]
fn what_a_help_names_is_understood() {
    let set = |flag: &str, value: &str| Step::Set(flag.to_owned(), Some(value.to_owned()));
    for (help, expected) in [
        (
            "pass --missing skip or --missing empty to leave it out",
            vec![set("--missing", "skip"), set("--missing", "empty")],
        ),
        ("leave out --id-column", vec![Step::Omit("--id-column".to_owned())]),
        ("pass --no-limits to read it", vec![Step::Set("--no-limits".to_owned(), None)]),
        ("pass --images FILE, or run `capeval metrics`", vec![Step::Run(vec!["metrics".to_owned()])]),
        ("pass --clean a,b to remove them, or --accept b", vec![set("--clean", "a,b"), set("--accept", "b")]),
        ("run `capeval prepare REFERENCES -o FILE`", vec![]),
        ("name a file that --format can write", vec![]),
        ("write --ci=99 if 99 is the level", vec![set("--ci", "=99")]),
        ("pass --ref-id-column v_{} to write them so", vec![set("--ref-id-column", "v_{}")]),
        ("pass --ref-id-column 'it'\\''s ({})' to write them so", vec![set("--ref-id-column", "it's ({})")]),
    ] {
        assert_eq!(steps(help), expected, "{help}");
    }
}
