//! Locates test data and provides helpers for scoring.

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use capeval_meteor::{Compiler, Language, Meteor, Options, Resources, Segment, Workspace};
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// METEOR's own resources as installed by the user; `None`, with a message, if they are not.
pub fn installed() -> Option<Arc<Resources>> {
    static INSTALLED: OnceLock<Arc<Resources>> = OnceLock::new();
    let path = capeval_testkit::installed("meteor")?;
    let open = || Arc::new(Resources::open(Arc::new(std::fs::read(path).unwrap())).unwrap());
    Some(Arc::clone(INSTALLED.get_or_init(open)))
}

/// METEOR with these settings on `resources`.
pub fn meteor(options: Options, resources: &Arc<Resources>) -> Meteor {
    Meteor::new(options, Arc::clone(resources)).unwrap()
}

/// Scores a line of METEOR's protocol, `SCORE ||| reference ||| … ||| hypothesis`, split as in the jar.
pub fn score_line(meteor: &Meteor, workspace: &mut Workspace, line: &str) -> Segment {
    let trim = |text: &'_ str| text.trim_matches(|c| c <= ' ').to_owned();
    let mut parts: Vec<&str> = line.split("|||").skip(1).collect();
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    let hypothesis = trim(parts.pop().unwrap_or_default());
    let references: Vec<String> = parts.into_iter().map(trim).collect();
    meteor.segment(workspace, &hypothesis, references.iter().map(String::as_str))
}

/// A file in the folder `tiny`, which contains made-up word lists and tables in METEOR's formats.
pub fn tiny_text(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tiny");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// A jar with the given files.
pub fn jar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        jar.start_file(*name, SimpleFileOptions::default()).unwrap();
        jar.write_all(bytes).unwrap();
    }
    jar.finish().unwrap().into_inner()
}

/// The compiled file of the made-up resources.
pub fn tiny_file() -> Vec<u8> {
    let stems = gzip("wAlktAb 7 ktAb ktb\nktb 3 ktAb\n");
    let [words, prefixes, synsets, exceptions] =
        ["english.words", "english.prefixes", "english.synsets", "english.exceptions"].map(tiny_text);
    let files: [(&str, &[u8]); 6] = [
        ("function/english.words", words.as_bytes()),
        ("function/german.words", "der\ndie\nund\n".as_bytes()),
        ("nonbreaking/english.prefixes", prefixes.as_bytes()),
        ("synonym/english.synsets", synsets.as_bytes()),
        ("synonym/english.exceptions", exceptions.as_bytes()),
        ("stem/arabic-buckwalter-reduced.gz", &stems),
    ];
    let table = gzip(&tiny_text("paraphrase-en"));
    let mut compiler = Compiler::new();
    compiler.jar(Cursor::new(jar(&files))).unwrap();
    compiler.paraphrases(Language::English, table.as_slice(), None, &mut |_| ()).unwrap();
    let mut file = Vec::new();
    compiler.write(&mut file, &mut |_| ()).unwrap();
    file
}

/// The made-up resources.
pub fn tiny() -> Arc<Resources> {
    static TINY: OnceLock<Arc<Resources>> = OnceLock::new();
    let open = || Arc::new(Resources::open(Arc::new(tiny_file())).unwrap());
    Arc::clone(TINY.get_or_init(open))
}
