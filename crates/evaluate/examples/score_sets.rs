//! Scores several captions per image by corpus metrics, for comparisons with the reference programs.
//!
//! `score_sets METRIC...` reads JSON Lines of the form `{"captions": ["...", ...], "refs": ["...", ...]}`
//! from standard input and writes one JSON object of values by part.

use std::io::Read;

use capeval_evaluate::ReferenceSet;
use capeval_evaluate::diversity::{CaptionSystem, evaluate_sets};
use capeval_evaluate::registry::build_corpus;
use capeval_text::Texts;
use serde_json::{Map, Value};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let metrics =
        std::env::args().skip(1).map(|spec| build_corpus(&spec, &[])).collect::<Result<Vec<_>, _>>()?;
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let mut texts = [Vec::new(), Vec::new()];
    let mut ends = [Vec::new(), Vec::new()];
    for line in input.split('\n').filter(|line| !line.is_empty()) {
        let image: Value = serde_json::from_str(line)?;
        for (k, key) in ["captions", "refs"].into_iter().enumerate() {
            let captions = image[key].as_array().into_iter().flatten();
            texts[k].extend(captions.map(|text| text.as_str().unwrap_or_default().to_owned()));
            ends[k].push(texts[k].len() as u64);
        }
    }
    let [captions, references] = texts.map(|texts| texts.iter().map(String::as_str).collect::<Texts>());
    let [caption_ends, reference_ends] = ends;
    let mut set = ReferenceSet::new(references, reference_ends);
    let system = CaptionSystem { name: "system".into(), texts: captions, ends: caption_ends };
    let mut output = Map::new();
    for scores in evaluate_sets(&mut set, &system, &metrics) {
        for (part, value) in scores.parts.iter().zip(scores.values) {
            output.insert(part.key.clone(), value.into());
        }
        for notice in scores.notices {
            eprintln!("{}: {}", notice.code, notice.message);
        }
    }
    println!("{}", Value::Object(output));
    Ok(())
}
