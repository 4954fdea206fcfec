//! Files and texts as people write them, from `testdata/kinds`: read right, refused with a remedy that works, or noted.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::program::{Run, capeval, scratch};

/// A file of `testdata/kinds`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kinds<K> {
    #[serde(default = "BTreeMap::new")]
    captions: BTreeMap<String, Captions>,
    kind: Vec<K>,
}

/// What a file of a kind means, and what the reference program gives for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Captions {
    references: Vec<Vec<String>>,
    candidates: Vec<String>,
    values: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    name: String,
    source: String,
    #[serde(default, rename = "about")]
    _about: String,
    captions: String,
    args: Vec<String>,
    #[serde(default)]
    refused: Vec<String>,
    #[serde(default)]
    remedy: Vec<String>,
    #[serde(default)]
    noted: Vec<String>,
    #[serde(default)]
    may_read: bool,
    #[serde(default)]
    open: bool,
    #[serde(default = "BTreeMap::new")]
    files: Files,
    files_of: Option<String>,
}

type Files = BTreeMap<String, Content>;

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Encoding(Encoding),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    Gzip(String),
    Utf16(String),
    /// A character for each byte.
    Bytes(String),
    Zip(BTreeMap<String, String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: String,
    source: String,
    #[serde(default, rename = "about")]
    _about: String,
    finding: Vec<String>,
    #[serde(default)]
    words: Vec<String>,
    clean: Option<String>,
    #[serde(default)]
    open: bool,
    references: Option<Vec<Vec<String>>>,
    captions: Vec<String>,
}

impl Content {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Encoding(Encoding::Gzip(text)) => {
                let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                packed.write_all(text.as_bytes()).unwrap();
                packed.finish().unwrap()
            }
            Self::Encoding(Encoding::Utf16(text)) => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Encoding(Encoding::Bytes(text)) => {
                text.chars().map(|byte| u8::try_from(u32::from(byte)).unwrap()).collect()
            }
            Self::Encoding(Encoding::Zip(members)) => {
                let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
                for (name, text) in members {
                    archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
                    archive.write_all(text.as_bytes()).unwrap();
                }
                archive.finish().unwrap().into_inner()
            }
        }
    }
}

fn read<K: for<'de> Deserialize<'de>>(name: &str) -> Kinds<K> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/kinds").join(name);
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn score(args: &[&str]) -> Run {
    capeval(&[&["score"], args, &["-m", "bleu,rouge-l,cider-d", "-f", "json"]].concat())
}

/// The notices of a run that gives the values of the reference program.
fn right(run: &Run, captions: &Captions) -> Result<Vec<Value>, String> {
    if run.code != 0 {
        return Err(format!("it is refused: {}", run.stderr));
    }
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let notices = report["notices"].as_array().unwrap().clone();
    for (key, expected) in &captions.values {
        let found = report["systems"][0]["scores"][key].as_f64().unwrap();
        if (found - expected).abs() > 1e-9 {
            return Err(format!("{key} is {found}, and {expected} is right; notices: {notices:?}"));
        }
    }
    Ok(notices)
}

fn check_shape(shape: &Shape, files: &Files, captions: &Captions) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(scratch(&folder, name), content.bytes()).unwrap();
    }
    let place = |arg: &String| {
        if files.contains_key(arg) { scratch(&folder, arg) } else { arg.clone() }
    };
    let args: Vec<String> = shape.args.iter().chain(&shape.remedy).map(place).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let run = score(&args[..shape.args.len()]);
    if shape.refused.is_empty() || (shape.may_read && run.code == 0) {
        let notices = right(&run, captions)?;
        let lacks = |code: &&String| notices.iter().all(|notice| notice["code"] != code.as_str());
        return shape
            .noted
            .iter()
            .find(lacks)
            .map_or(Ok(()), |code| Err(format!("there is no notice {code}")));
    }
    if (run.code, run.stdout.as_str()) != (2, "") {
        return Err(format!("it is not refused: {:?}", right(&run, captions)));
    }
    if let Some(word) = shape.refused.iter().find(|word| !run.stderr.contains(word.as_str())) {
        return Err(format!("'{word}' is not said: {}", run.stderr));
    }
    if !shape.remedy.is_empty() {
        right(&score(&args), captions)
            .map_err(|error| format!("{:?} does not help: {error}", shape.remedy))?;
    }
    Ok(())
}

/// The run on captions in their plainest form, as objects from numbers to texts.
fn plain(references: &[Vec<String>], candidates: &[String], args: &[&str]) -> Run {
    let by_number = |values: Value| {
        let numbered = values.as_array().unwrap().iter().enumerate();
        numbered.map(|(n, value)| (n.to_string(), value.clone())).collect::<Value>().to_string()
    };
    let folder = tempfile::tempdir().unwrap();
    let [ground, mine] = ["refs.json", "mine.json"].map(|name| scratch(&folder, name));
    std::fs::write(&ground, by_number(json!(references))).unwrap();
    std::fs::write(&mine, by_number(json!(candidates))).unwrap();
    score(&[&["-r", &ground, &mine], args].concat())
}

fn check_text(text: &Text, captions: &Captions) -> Result<(), String> {
    let references = text.references.as_ref().unwrap_or(&captions.references);
    let run = plain(references, &text.captions, &[]);
    let said = if run.code == 0 {
        serde_json::from_str::<Value>(&run.stdout).unwrap()["notices"].clone()
    } else {
        Value::Array(vec![run.stderr.as_str().into()])
    };
    let said: Vec<String> = said.as_array().unwrap().iter().map(|notice| format!("{notice:#}")).collect();
    let wanted: Vec<&String> = text.finding.iter().chain(&text.words).collect();
    if wanted.is_empty() && !said.is_empty() {
        return Err(format!("it is a caption, and this is said: {said:?}"));
    }
    if !wanted.is_empty() && !wanted.iter().any(|word| said.iter().any(|said| said.contains(word.as_str()))) {
        return Err(format!("none of {wanted:?} is said, but {said:?}"));
    }
    let Some(code) = &text.clean else { return Ok(()) };
    right(&plain(references, &text.captions, &["--clean", code]), captions)
        .map(drop)
        .map_err(|error| format!("--clean {code} does not help: {error}"))
}

/// The kinds that are not right, and those that are right though they are marked as open.
fn wrong<'k, K>(
    kinds: &'k [K],
    check: impl Fn(&'k K) -> (&'k str, &'k str, bool, Result<(), String>),
) -> Vec<String> {
    let problem = |kind| {
        let (name, source, open, result) = check(kind);
        match (open, result) {
            (false, Err(error)) => Some(format!("{name} ({source}): {error}")),
            (true, Ok(())) => Some(format!("{name} is right: remove the mark `open`")),
            _ => None,
        }
    };
    kinds.iter().filter_map(problem).collect()
}

#[test]
fn plain_captions_have_the_values_of_the_reference_program() {
    for (name, captions) in read::<Shape>("shapes.toml").captions {
        let run = plain(&captions.references, &captions.candidates, &[]);
        right(&run, &captions).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn files_are_read_right_or_refused_with_a_remedy_that_works() {
    let Kinds { captions, kind } = read::<Shape>("shapes.toml");
    let problems = wrong(&kind, |shape| {
        let of = |name: &String| kind.iter().find(|other| other.name == *name).unwrap();
        let files = &shape.files_of.as_ref().map_or(shape, of).files;
        (&shape.name, &shape.source, shape.open, check_shape(shape, files, &captions[&shape.captions]))
    });
    assert!(problems.is_empty(), "{} of {} kinds:\n{}", problems.len(), kind.len(), problems.join("\n"));
}

#[test]
fn texts_that_are_no_captions_are_named() {
    let captions = read::<Shape>("shapes.toml").captions;
    let kind = read::<Text>("texts.toml").kind;
    let problems =
        wrong(&kind, |text| (&text.name, &text.source, text.open, check_text(text, &captions["two"])));
    assert!(problems.is_empty(), "{} of {} kinds:\n{}", problems.len(), kind.len(), problems.join("\n"));
}
