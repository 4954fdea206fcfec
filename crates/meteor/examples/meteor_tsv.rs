//! METEOR as used for COCO captions, for lines of hypothesis, tab, reference, tab, reference, …
//!
//! ```text
//! meteor_tsv <resource file> <tsv> [repetitions]
//! ```
//! Prints one score per line, then the corpus score; times go to standard error.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use capeval_meteor::{Meteor, Options, Resources, Stats, Workspace};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "meteor_tsv: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [file, tsv, rest @ ..] = arguments else {
        return Err("specify a resource file and a TSV file".into());
    };
    let repetitions: usize = rest.first().map_or(Ok(1), |text| text.parse())?;
    let start = Instant::now();
    let resources = Arc::new(Resources::open(Arc::new(std::fs::read(file)?))?);
    let opened = start.elapsed();
    let meteor = Meteor::new(Options::coco(), resources)?;
    let text = std::fs::read_to_string(tsv)?;
    let mut out = BufWriter::new(io::stdout().lock());
    for repetition in 0..repetitions {
        let start = Instant::now();
        let mut workspace = Workspace::default();
        let mut sum = [0.0; Stats::WIDTH];
        let mut scores = Vec::new();
        for line in text.lines() {
            let mut fields = line.split('\t');
            let hypothesis = fields.next().unwrap_or("");
            let segment = meteor.segment(&mut workspace, hypothesis, fields);
            for (total, value) in sum.iter_mut().zip(segment.stats.to_row()) {
                *total += value;
            }
            scores.push(segment.score);
        }
        let seconds = start.elapsed();
        writeln!(io::stderr(), "opened in {opened:?}, {} lines in {seconds:?}", scores.len())?;
        if repetition == 0 {
            for score in scores {
                writeln!(out, "{score:?}")?;
            }
            writeln!(out, "{:?}", meteor.score(&Stats::load(&sum)).score)?;
        }
    }
    out.flush()?;
    Ok(())
}
