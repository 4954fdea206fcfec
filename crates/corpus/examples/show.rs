//! Shows the format, size and first rows of each caption file named, or the error.
//!
//! `cargo run -p capeval-corpus --example show -- FILE…`
#![expect(clippy::print_stdout, reason = "an example is a program")]

use std::fs::File;

use capeval_corpus::{ReadOptions, read};

fn main() {
    for path in std::env::args().skip(1) {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        match read(file, &path, &ReadOptions::references()) {
            Ok(captions) => {
                let format = captions.format().map_or("", |format| format.name());
                println!("{path}: {format}, {} captions", captions.len());
                for (id, text) in captions.iter().take(3) {
                    println!("  {}: {text}", id.quoted());
                }
                for notice in captions.notices() {
                    println!("  notice: {}", notice.message);
                }
            }
            Err(error) => println!("{error}"),
        }
    }
}
