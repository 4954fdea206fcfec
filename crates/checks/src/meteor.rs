//! METEOR's made-up resources, compiled.

use std::io::{Cursor, Write};

use capeval_meteor::{Compiler, Language};
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const FILES: [(&str, &str); 5] = [
    ("function/english.words", include_str!("../../meteor/tests/tiny/english.words")),
    ("nonbreaking/english.prefixes", include_str!("../../meteor/tests/tiny/english.prefixes")),
    ("synonym/english.synsets", include_str!("../../meteor/tests/tiny/english.synsets")),
    ("synonym/english.exceptions", include_str!("../../meteor/tests/tiny/english.exceptions")),
    ("function/german.words", "der\ndie\n"),
];

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).expect("writing to a vector cannot fail");
    packed.finish().expect("writing to a vector cannot fail")
}

/// The compiled file of the word lists in `crates/meteor/tests/tiny`.
///
/// # Panics
/// If the lists are invalid.
pub fn tiny_meteor() -> Vec<u8> {
    let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
    let stems = gzip("wAlktAb 7 ktAb ktb\nktb 3 ktAb\n");
    let files = FILES.iter().map(|(name, text)| (*name, text.as_bytes()));
    for (name, bytes) in files.chain([("stem/arabic-buckwalter-reduced.gz", stems.as_slice())]) {
        jar.start_file(name, SimpleFileOptions::default()).expect("writing to a vector cannot fail");
        jar.write_all(bytes).expect("writing to a vector cannot fail");
    }
    let mut compiler = Compiler::new();
    compiler.jar(jar.finish().expect("writing to a vector cannot fail")).expect("the lists are valid");
    let table = gzip(include_str!("../../meteor/tests/tiny/paraphrase-en"));
    compiler.paraphrases(Language::English, table.as_slice(), None, &mut |_| ()).expect("the table is valid");
    let mut file = Vec::new();
    compiler.write(&mut file, &mut |_| ()).expect("writing to a vector cannot fail");
    file
}
