//! Rewrites old names of flags and tokenizers to the current names, with a hint, for one version.

use std::ffi::OsString;
use std::path::Path;

use capeval::text::tokenizers;

/// The command of a flag, its old name, and its current name. A name that ends with `=` needs its value attached.
struct Renamed(&'static str, &'static str, &'static str);

const RENAMED: [Renamed; 10] = [
    Renamed("compare", "--images", "--pictures"),
    Renamed("compare", "--level", "--ci="),
    Renamed("convert", "--to", "--format"),
    Renamed("convert", "-t", "--format"),
    Renamed("correlate", "--pairs", ""),
    Renamed("df", "--to", "--format"),
    Renamed("metrics", "--json", "--format=json"),
    Renamed("perplexity", "--model", "--lm"),
    Renamed("perplexity", "-m", "--lm"),
    Renamed("score", "--images", "--pictures"),
];

/// The arguments with current names, and a hint for each name that has changed.
pub fn modernise(args: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Vec<String>) {
    let (mut given, mut hints) = (args.into_iter().peekable(), Vec::new());
    let mut modern: Vec<OsString> = given.next().into_iter().collect();
    let mut command: Option<(usize, String)> = None;
    while let Some(arg) = given.next() {
        if arg == "--" {
            modern.push(arg);
            break;
        }
        let arg = match modern_tokenizer(&arg, modern.last()) {
            Some((arg, hint)) => {
                hints.push(hint);
                arg
            }
            None => arg,
        };
        let (Some(text), Some((_, name))) = (arg.to_str(), &command) else {
            if let Some(text) = arg.to_str().filter(|text| is_command(text)) {
                command = Some((modern.len(), text.to_owned()));
            }
            modern.push(arg);
            continue;
        };
        let Some((Renamed(_, old, new), inline)) = find(name, text) else {
            modern.push(arg);
            continue;
        };
        let value = inline.map(OsString::from);
        match *new {
            "" => {
                if let Some((at, _)) = command.take() {
                    modern[at] = "prefer".into();
                }
                command = Some((0, "prefer".to_owned()));
                modern.extend(value);
                hints.push("`capeval correlate --pairs FILE` is now `capeval prefer FILE`".to_owned());
                continue;
            }
            "--pictures" => {
                let places = value.as_deref().or(given.peek().map(OsString::as_os_str));
                if !places.and_then(|place| place.to_str()).is_some_and(are_pictures) {
                    modern.push(arg);
                    continue;
                }
                modern.push((*new).into());
                modern.extend(value);
            }
            joined if joined.ends_with('=') => {
                let mut whole = OsString::from(joined);
                whole.push(value.or_else(|| given.next()).unwrap_or_default());
                modern.push(whole);
            }
            plain => {
                modern.push(plain.into());
                modern.extend(value);
            }
        }
        hints.push(format!("{old} is now {}", new.trim_end_matches('=')));
    }
    modern.extend(given);
    hints.dedup();
    (modern, hints)
}

/// The argument with the current name of a tokenizer in place of an old one, and a hint.
fn modern_tokenizer(arg: &OsString, before: Option<&OsString>) -> Option<(OsString, String)> {
    let is_value = before.is_some_and(|before| before == "-t" || before == "--tokenizer");
    let text = arg.to_str()?;
    tokenizers::RENAMED.iter().find_map(|(old, current)| {
        let modern = match text.split_once("tok=") {
            Some((head, rest)) => {
                let rest =
                    rest.strip_prefix(old).filter(|rest| rest.is_empty() || rest.starts_with([':', ',']))?;
                format!("{head}tok={current}{rest}")
            }
            None => {
                let head = text.strip_suffix(old)?;
                let is_joined = matches!(head, "-t" | "--tokenizer=");
                (is_joined || (is_value && head.is_empty())).then(|| format!("{head}{current}"))?
            }
        };
        Some((modern.into(), format!("the tokenizer {old} is now {current}")))
    })
}

/// Whether a command has renamed flags.
fn is_command(text: &str) -> bool {
    RENAMED.iter().any(|Renamed(command, ..)| *command == text)
}

/// The old name in `text`, and the value attached to it.
fn find<'t>(command: &str, text: &'t str) -> Option<(&'static Renamed, Option<&'t str>)> {
    RENAMED.iter().find_map(|renamed| {
        let Renamed(of, old, _) = renamed;
        let rest = text.strip_prefix(old).filter(|_| *of == command)?;
        match rest.strip_prefix('=') {
            Some(value) => Some((renamed, Some(value))),
            None if rest.is_empty() => Some((renamed, None)),
            // `-tcsv`
            None => (!old.starts_with("--")).then_some((renamed, Some(rest))),
        }
    })
}

/// Whether `--images` was given pictures, as it used to be: a folder, or a pattern with an id.
fn are_pictures(given: &str) -> bool {
    given.contains("{id") || Path::new(given).is_dir()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::CommandFactory as _;

    use super::*;

    fn modern(args: &str) -> (String, Vec<String>) {
        let (args, hints) = modernise(args.split(' ').map(OsString::from));
        let args: Vec<&str> = args.iter().map(|arg| arg.to_str().unwrap()).collect();
        (args.join(" "), hints)
    }

    #[test]
    fn old_names_become_those_of_today() {
        for (old, new) in [
            ("capeval compare a b --level 99 -r c", "capeval compare a b --ci=99 -r c"),
            ("capeval compare a b --level=99%", "capeval compare a b --ci=99%"),
            ("capeval --threads 2 convert a -tcsv", "capeval --threads 2 convert a --format csv"),
            ("capeval convert a --to=csv -o b", "capeval convert a --format csv -o b"),
            ("capeval df build a --to json", "capeval df build a --format json"),
            ("capeval perplexity -m lm.arpa a -t 13a", "capeval perplexity --lm lm.arpa a -t 13a"),
            ("capeval metrics bleu --json", "capeval metrics bleu --format=json"),
            ("capeval correlate -r a --pairs b --draws 3", "capeval prefer -r a b --draws 3"),
            ("capeval compare a b --images {id}.jpg", "capeval compare a b --pictures {id}.jpg"),
            ("capeval score a -t ptb-batch", "capeval score a -t ptb"),
            ("capeval score a -tptb-batch", "capeval score a -tptb"),
            ("capeval score a --tokenizer=ptb-batch", "capeval score a --tokenizer=ptb"),
            ("capeval score a -m cider:tok=ptb-batch:n=3", "capeval score a -m cider:tok=ptb:n=3"),
        ] {
            let (found, hints) = modern(old);
            assert_eq!((found.as_str(), hints.len()), (new, 1));
        }
    }

    /// One name for one thing: a flag has one short form and takes one kind of value, whatever the command.
    #[test]
    fn flags_of_one_name_are_alike_in_all_commands() {
        fn look(command: &clap::Command, known: &mut BTreeMap<String, (String, String)>) {
            for arg in command.get_arguments() {
                let Some(long) = arg.get_long() else { continue };
                let value = arg.get_action().takes_values().then(|| format!("{:?}", arg.get_value_names()));
                let this = (format!("{:?} {value:?}", arg.get_short()), command.get_name().to_owned());
                let (first, of) = known.entry(long.to_owned()).or_insert_with(|| this.clone());
                assert_eq!(this.0, *first, "--{long} of {} and of {of}", this.1);
            }
            command.get_subcommands().for_each(|command| look(command, known));
        }
        let mut command = crate::Cli::command();
        command.build();
        let mut known = BTreeMap::new();
        look(&command, &mut known);
        let mut shorts: Vec<&str> = known.values().map(|(this, _)| this.as_str()).collect();
        shorts.retain(|this| this.starts_with("Some"));
        let of_one: std::collections::BTreeSet<char> =
            shorts.iter().filter_map(|this| this.chars().nth(6)).collect();
        assert_eq!(of_one.len(), shorts.len(), "one short form stands for two flags: {shorts:?}");
    }

    #[test]
    fn names_of_today_stay() {
        for args in [
            "capeval score -m bleu -t 13a --images ids.txt a",
            "capeval tokenize -t 13a --to",
            "capeval convert a --format csv -- --to",
            "capeval tokenize ptb-batch -t ptb-raw",
        ] {
            assert_eq!(modern(args), (args.to_owned(), Vec::new()));
        }
    }
}
