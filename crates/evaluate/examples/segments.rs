//! Scores segments, for comparison with other programs.
//!
//! `segments SPEC … [--stop FILE] [--exc FILE …] < segments.jsonl`, a segment being
//! `{"id": …, "hyp": …, "refs": [...]}`. The output is one object,
//! `{"segment": {KEY: [...]}, "corpus": {KEY: …}, "remarks": [...]}`; the time goes to standard error.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::sync::Arc;
use std::time::Instant;

use capeval_evaluate::{ReferenceSet, System, evaluate, registry};
use capeval_text::{Exceptions, StopWords};
use serde_json::{Map, Value, json};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut specs = Vec::new();
    let mut resources = registry::Resources::default();
    let mut exceptions = Exceptions::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut file = || -> Result<_, Failure> {
            Ok(BufReader::new(File::open(arguments.next().ok_or("a file should follow")?)?))
        };
        match argument.as_str() {
            "--stop" => resources.insert(Arc::new(StopWords::read(file()?)?)),
            "--exc" => exceptions.read(file()?)?,
            _ => specs.push(argument),
        }
    }
    if !exceptions.is_empty() {
        resources.insert(Arc::new(exceptions));
    }
    let (mut hypotheses, mut references, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for line in io::stdin().lock().lines() {
        let segment: Value = serde_json::from_str(&line?)?;
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or("texts should be strings");
        hypotheses.push(text(&segment["hyp"])?);
        for reference in segment["refs"].as_array().ok_or("refs should be a list")? {
            references.push(text(reference)?);
        }
        ends.push(references.len() as u64);
    }
    let metrics =
        specs.iter().map(|spec| registry::build(spec, &[], &resources)).collect::<Result<Vec<_>, _>>()?;
    let start = Instant::now();
    let mut set = ReferenceSet::new(references.iter().map(String::as_str).collect(), ends);
    let system = System {
        name: "hyp".into(),
        images: (0..hypotheses.len() as u32).collect(),
        texts: hypotheses.iter().map(String::as_str).collect(),
    };
    let scores = evaluate(&mut set, &[system], &metrics, &());
    writeln!(io::stderr(), "{:.1} ms", start.elapsed().as_secs_f64() * 1e3)?;
    let (mut segments, mut corpus, mut remarks) = (Map::new(), Map::new(), Vec::new());
    for metric in &scores[0].metrics {
        let parts = metric.metric.parts();
        let values = metric.segments();
        for (p, part) in parts.iter().enumerate() {
            let column: Vec<f64> = values.iter().skip(p).step_by(parts.len()).copied().collect();
            segments.insert(part.key.clone(), json!(column));
            corpus.insert(part.key.clone(), json!(metric.corpus[p]));
        }
        remarks.extend(metric.notices.iter().map(|notice| notice.message.clone()));
    }
    let output = json!({"segment": segments, "corpus": corpus, "remarks": remarks});
    serde_json::to_writer(io::stdout().lock(), &output)?;
    Ok(())
}
