//! Paths as people write them: in the home folder, and what is no path at all.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use capeval_choice::{Argument, Refusal, Remedy};

use crate::Error;
use crate::fetch::is_fetchable;

/// The path of a file. A shell puts the home folder in the place of `~` only at the beginning of a word, not in
/// `name=~/file`.
pub fn expanded(path: &str) -> Cow<'_, str> {
    let home = || std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let inside = path.strip_prefix("~/").filter(|_| !Path::new(path).exists());
    match inside.and_then(|inside| home()?.join(inside).into_os_string().into_string().ok()) {
        Some(path) => Cow::Owned(path),
        None => Cow::Borrowed(path),
    }
}

/// Refuses addresses, which no reader fetches without permission; the remedy says how to.
pub(crate) fn check(path: &str) -> Result<(), Error> {
    let Some((scheme, rest)) = path.split_once("://") else { return Ok(()) };
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    if !is_scheme(scheme) || Path::new(path).exists() {
        return Ok(());
    }
    let fetch = |command: String| format!("fetch it first, such as with `{command}`, and give the file");
    let remedy = match scheme.to_ascii_lowercase().as_str() {
        "file" => format!("give the path, {rest}"),
        "http" | "https" | "ftp" => fetch(format!("curl -LO {path}")),
        "s3" => fetch(format!("aws s3 cp {path} .")),
        "gs" => fetch(format!("gcloud storage cp {path} .")),
        "hf" => match rest.split('/').collect::<Vec<_>>()[..] {
            ["datasets", owner, name, ref file @ ..] if !file.is_empty() => {
                let file = file.join("/");
                let call = format!("hf_hub_download('{owner}/{name}', '{file}', repo_type='dataset')");
                fetch(call)
            }
            _ => fetch("hf download".to_owned()),
        },
        _ => "fetch it first, and give the file".to_owned(),
    };
    let refusal = Refusal::new("this is an address, and capeval opens no connection unless you allow it");
    let remedy = match is_fetchable(path) {
        true => Remedy::give(Argument::AllowNetwork).to("read it over the network").or(Remedy::say(remedy)),
        false => Remedy::say(remedy),
    };
    Err(Error::content(path, refusal.with_remedy(remedy)))
}

/// The remedy for a file that does not exist: a shell leaves a pattern as it is if it is quoted, or matches nothing.
pub(crate) fn absence(path: &str) -> Option<Remedy> {
    path.contains(['*', '?']).then(|| {
        Remedy::say(
            "give the names of the files, or leave out the quotation marks, so that the shell finds those that match",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str) -> String {
        let error = check(path).unwrap_err();
        format!("{error}; {}", error.remedy().unwrap())
    }

    #[test]
    fn an_address_is_refused_with_the_way_to_fetch_it() {
        for path in ["a.json", "./a://b", "C:\\a.json", "a b://c", "://x", "1a://x", "-"] {
            assert!(check(path).is_ok(), "{path}");
        }
        for (path, command) in [
            ("https://x.org/refs.json", "`curl -LO https://x.org/refs.json`"),
            ("s3://bucket/refs.json", "`aws s3 cp s3://bucket/refs.json .`"),
            ("gs://bucket/refs.json", "`gcloud storage cp gs://bucket/refs.json .`"),
            (
                "hf://datasets/a/b/data/c.parquet",
                "`hf_hub_download('a/b', 'data/c.parquet', repo_type='dataset')`",
            ),
            ("hf://datasets/a/b", "`hf download`"),
            ("file:///home/a.json", "give the path, /home/a.json"),
            ("hdfs://a/b", "fetch it first"),
        ] {
            let said = said(path);
            assert!(
                said.starts_with(&format!("{path}: this is an address")) && said.contains(command),
                "{said}"
            );
        }
    }

    #[test]
    fn only_a_pattern_that_exists_nowhere_is_taken_for_one() {
        assert!(absence("runs/*.json").is_some() && absence("a?.json").is_some());
        assert!(absence("runs/a.json").is_none());
    }
}
