//! Scores segments by any metrics, for comparisons with the reference programs.
//!
//! `score_segments METRIC...` reads JSON Lines of the form `{"hyp": "...", "refs": ["...", ...]}` from
//! standard input and writes one JSON object: for each part of each metric the corpus score and the score
//! of every segment. What takes how long goes to standard error.

use std::io::Read;
use std::time::Instant;

use capeval_evaluate::{ReferenceSet, System, evaluate, registry};
use capeval_metric::Resources;
use capeval_text::Texts;
use serde_json::{Map, Value, json};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let specs: Vec<String> = std::env::args().skip(1).collect();
    let metrics = specs
        .iter()
        .map(|spec| registry::build(spec, &[], &Resources::default()))
        .collect::<Result<Vec<_>, _>>()?;
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let (mut candidates, mut references, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for line in input.split('\n').filter(|line| !line.is_empty()) {
        let segment: Value = serde_json::from_str(line)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        candidates.push(text(&segment["hyp"]));
        references.extend(segment["refs"].as_array().into_iter().flatten().map(text));
        ends.push(references.len() as u64);
    }
    let start = Instant::now();
    let mut set = ReferenceSet::new(references.iter().map(String::as_str).collect::<Texts>(), ends);
    let system = System {
        name: "system".into(),
        images: (0..candidates.len() as u32).collect(),
        texts: candidates.iter().map(String::as_str).collect(),
    };
    let scores = evaluate(&mut set, &[system], &metrics, &());
    let mut output = Map::new();
    for (spec, scored) in specs.iter().zip(scores.iter().flat_map(|system| &system.metrics)) {
        let parts = scored.metric.parts();
        let segments = scored.segments();
        for (p, part) in parts.iter().enumerate() {
            let segments: Vec<f64> = segments.iter().skip(p).step_by(parts.len()).copied().collect();
            let name = if parts.len() == 1 { spec.clone() } else { format!("{spec}/{}", part.key) };
            let entry = json!({
                "signature": scored.signature.to_string(), "corpus": scored.corpus[p], "segment": segments
            });
            output.insert(name, entry);
        }
    }
    eprintln!("{} segments, {:.1} ms", candidates.len(), start.elapsed().as_secs_f64() * 1e3);
    println!("{}", Value::Object(output));
    Ok(())
}
