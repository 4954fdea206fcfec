//! Reads the file of a metric: its name, its command and its measures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use capeval::metric::Part;
use capeval::{check_language, check_outside_key, check_outside_name, toml_place};
use capeval_choice::Refusal;
use serde::Deserialize;
use twox_hash::XxHash3_64;

use crate::programs::Sandbox;

/// The most processes of a metric.
const MOST_WORKERS: usize = 64;

/// The task of a program, and the way to run it.
pub struct Description {
    pub name: String,
    pub version: String,
    pub command: Vec<String>,
    /// The folder of the file, in which the program runs.
    pub folder: PathBuf,
    pub parts: Vec<Part>,
    pub references: bool,
    pub pictures: bool,
    pub languages: Vec<String>,
    pub batch: usize,
    pub workers: usize,
    pub timeout: Duration,
    pub environment: BTreeMap<String, String>,
    /// A hash of the file.
    pub hash: String,
    pub sandbox: Option<Sandbox>,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescriptionFile {
    /// The version of the protocol.
    protocol: u32,
    name: String,
    version: String,
    command: Vec<String>,
    #[serde(default)]
    measures: Vec<WrittenMeasure>,
    #[serde(default = "yes")]
    references: bool,
    /// True if it looks at pictures.
    #[serde(default)]
    pictures: bool,
    /// The languages that it is made for; all by default.
    #[serde(default)]
    language: Languages,
    /// The number of captions that may wait for an answer at once; 0 for all.
    #[serde(default)]
    batch: usize,
    #[serde(default = "one")]
    workers: usize,
    /// The seconds in which an answer must come.
    #[serde(default = "five_minutes")]
    timeout: f64,
    #[serde(default)]
    environment: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMeasure {
    key: String,
    label: Option<String>,
    range: Option<[f64; 2]>,
    #[serde(default)]
    lower_is_better: bool,
}

/// A language, or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a language such as \"en\", or a list of them")]
enum Languages {
    One(String),
    Several(Vec<String>),
}

impl Default for Languages {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

fn five_minutes() -> f64 {
    300.0
}

impl Description {
    /// Reads the bytes of the file at `path`.
    pub fn read(path: &str, bytes: &[u8]) -> Result<Self, Refusal> {
        let text = std::str::from_utf8(bytes).map_err(|_| "a description of a metric is text in UTF-8")?;
        let written: DescriptionFile = toml::from_str(text).map_err(|error| {
            Refusal::new(format!("{}{}", toml_place(text, &error), error.message()))
                .with_remedy("write it as docs/guides/programs.md shows")
        })?;
        let DescriptionFile {
            protocol,
            name,
            version,
            command,
            measures,
            references,
            pictures,
            language,
            batch,
            workers,
            timeout,
            environment,
        } = written;
        if protocol != 1 {
            return Err(Refusal::new(format!("protocol {protocol} is not known; this version speaks 1")));
        }
        check_outside_name(&name)?;
        if version.trim().is_empty() {
            return Err("version is empty".into());
        }
        if command.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(Refusal::new("command is empty")
                .with_remedy("give it as a list, such as [\"python3\", \"metric.py\"]"));
        }
        if !(1..=MOST_WORKERS).contains(&workers) {
            return Err(Refusal::new(format!("workers: {workers} is not between 1 and {MOST_WORKERS}")));
        }
        let timeout = Duration::try_from_secs_f64(timeout).ok().filter(|timeout| !timeout.is_zero());
        let timeout = timeout.ok_or("timeout is not a number of seconds above 0")?;
        if let Some(name) = environment.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            return Err(Refusal::new(format!("environment: {name:?} is no name of a variable")));
        }
        let measures = match measures.is_empty() {
            true => {
                vec![WrittenMeasure { key: name.clone(), label: None, range: None, lower_is_better: false }]
            }
            false => measures,
        };
        let mut parts: Vec<Part> = Vec::with_capacity(measures.len());
        for measure in measures {
            let part = part(measure)?;
            if parts.iter().any(|known| known.key == part.key) {
                return Err(Refusal::new(format!("two measures have the key {}", part.key)));
            }
            parts.push(part);
        }
        let languages = match language {
            Languages::One(language) => vec![language],
            Languages::Several(languages) => languages,
        };
        languages.iter().try_for_each(|language| check_language(language))?;
        let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = std::path::absolute(folder.unwrap_or(Path::new(".")))
            .map_err(|error| Refusal::new(format!("the folder of the file is not known: {error}")))?;
        let hash = format!("{:016x}", XxHash3_64::oneshot(bytes));
        Ok(Self {
            name,
            version,
            command,
            folder,
            parts,
            references,
            pictures,
            languages,
            batch,
            workers,
            timeout,
            environment,
            hash,
            sandbox: None,
        })
    }
}

impl Description {
    /// A hash of the files that the command names, so that a program that has changed is not taken for what it was.
    pub fn code(&self) -> u64 {
        let mut all = Vec::new();
        for word in &self.command {
            let path = self.folder.join(word);
            if let Some(bytes) =
                path.is_file().then(|| capeval_files::read(&path.to_string_lossy()).ok()).flatten()
            {
                all.extend_from_slice(word.as_bytes());
                all.extend_from_slice(&bytes);
            }
        }
        XxHash3_64::oneshot(&all)
    }
}

fn part(measure: WrittenMeasure) -> Result<Part, Refusal> {
    let WrittenMeasure { key, label, range, lower_is_better } = measure;
    check_outside_key(&key)?;
    let [low, high] = range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    if low.is_nan() || high.is_nan() || low >= high {
        return Err(Refusal::new(format!("range of {key}: {low} is not less than {high}")));
    }
    let part = Part::score(&key, label.unwrap_or_else(|| key.clone()), low..=high);
    Ok(if lower_is_better { part.lower() } else { part })
}

#[cfg(test)]
mod tests {
    use capeval::metric::Direction;

    use super::*;

    const PLAIN: &str = "protocol = 1\nname = 'ratio'\nversion = '1'\ncommand = ['./ratio']\n";

    fn read(text: &str) -> Result<Description, String> {
        Description::read("metrics/ratio.toml", text.as_bytes()).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_metric_without_measures_is_one_by_its_own_name() {
        let plain = read(PLAIN).unwrap();
        assert_eq!(plain.parts.len(), 1);
        assert_eq!(
            (plain.parts[0].key.as_str(), plain.parts[0].direction),
            ("ratio", Direction::HigherIsBetter)
        );
        assert!(plain.folder.ends_with("metrics") && plain.folder.is_absolute());
        assert!(plain.references && plain.workers == 1 && plain.batch == 0);
        assert!(!plain.pictures && plain.languages.is_empty());
        assert_eq!(read(&format!("{PLAIN}language = 'de'")).unwrap().languages, ["de"]);
        assert_eq!(read(&format!("{PLAIN}language = ['de', 'en']")).unwrap().languages, ["de", "en"]);
        let two =
            "[[measures]]\nkey = 'a'\nrange = [0, 1]\n[[measures]]\nkey = 'b'\nlower_is_better = true\n";
        let two = read(&format!("{PLAIN}{two}")).unwrap();
        assert_eq!((two.parts[0].max, two.parts[1].direction), (1.0, Direction::LowerIsBetter));
        assert_ne!(plain.hash, two.hash);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let refused = |from: &str, to: &str| read(&PLAIN.replace(from, to)).err().unwrap_or_default();
        for (from, to, words) in [
            ("protocol = 1", "protocol = 2", "protocol 2 is not known"),
            ("protocol = 1\n", "", "missing field `protocol`"),
            ("'ratio'", "'Ratio'", "name: \"Ratio\" is not a name such as length-ratio"),
            ("'ratio'", "'a|b'", "is not a name"),
            ("'ratio'", "'bleu'", "capeval has a metric bleu of its own"),
            ("'ratio'", "'coco'", "capeval has a suite coco of its own"),
            ("'ratio'", "'given'", "capeval has a word given of its own"),
            ("'ratio'", "'ratio.toml'", "is not a name"),
            ("'1'", "1", "line 3: invalid type: integer `1`"),
            ("'1'", "' '", "version is empty"),
            ("['./ratio']", "[]", "command is empty"),
            ("['./ratio']", "'./ratio'", "line 4: invalid type: string"),
            ("['./ratio']", "['./ratio'", "line 4"),
            ("version", "workers = 0\nversion", "workers: 0 is not between 1 and 64"),
            ("version", "timeout = 0\nversion", "timeout is not a number of seconds above 0"),
            ("version", "timeout = -1\nversion", "timeout is not"),
            ("version", "colour = 1\nversion", "line 3: unknown field `colour`"),
            ("version", "environment = { '' = 'x' }\nversion", "environment: \"\" is no name"),
            ("version", "language = 'English'\nversion", "language: \"English\" is not a code such as en"),
            ("version", "language = 3\nversion", "line 3: a language such as \"en\", or a list of them"),
            ("version", "pictures = 'yes'\nversion", "line 3: invalid type: string"),
        ] {
            let said = refused(from, to);
            assert!(said.contains(words), "{to}: {said}");
        }
        let measures = |text: &str| read(&format!("{PLAIN}{text}")).err().unwrap_or_default();
        assert!(
            measures("[[measures]]\nkey='a'\n[[measures]]\nkey='a'").contains("two measures have the key a")
        );
        assert!(measures("[[measures]]\nkey='a'\nrange=[1,0]").contains("range of a: 1 is not less than 0"));
        assert!(measures("[[measures]]\nkey='a'\nrange=[nan,0]").contains("range of a"));
        assert!(Description::read("x.toml", &[0xff]).err().unwrap().to_string().contains("UTF-8"));
    }
}
