//! How long METEOR takes for small batches against references that stay.
//!
//! `meteor_batches RESOURCES TSV N [REPETITIONS]` takes lines of candidate, tab, reference, tab, reference, …;
//! prepares all references once, then scores batches of N candidates, the first one again and again, and the
//! next ones each once.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use capeval_evaluate::registry::{self, Resources};
use capeval_evaluate::{BatchScorer, ReferenceSet};
use capeval_text::Texts;

#[expect(clippy::print_stdout, reason = "a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [resources, tsv, n, rest @ ..] = &arguments[..] else {
        return Err("give a resource file, a TSV file and the size of a batch".into());
    };
    let (n, repetitions): (usize, usize) = (n.parse()?, rest.first().map_or(Ok(20), |text| text.parse())?);
    let meteor = capeval_meteor::Resources::open(Arc::new(fs::read(resources)?))?;
    let resources = Resources::default().with(Some(Arc::new(meteor)));
    let metric = registry::build("meteor", &[("tok", "none")], &resources)?;
    let text = fs::read_to_string(tsv)?;
    let (mut candidates, mut references, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        let mut fields = line.split('\t');
        candidates.push(fields.next().unwrap_or_default());
        references.extend(fields);
        ends.push(references.len() as u64);
    }
    let set = ReferenceSet::new(references.into_iter().collect(), ends);
    let scorer = BatchScorer::new(set, vec![metric], std::iter::empty(), &());
    let batches = candidates.len() / n.max(1);
    let time = |batch: usize| {
        let from = batch % batches.max(1) * n;
        let images: Vec<u32> = (from..from + n).map(|image| image as u32).collect();
        let texts: Texts = candidates[from..from + n].iter().copied().collect();
        let started = Instant::now();
        let scores = scorer.score(&images, &texts);
        (started.elapsed().as_secs_f64() * 1e3, scores.values.iter().sum::<f64>() / n as f64)
    };
    let (cold, mean) = time(0);
    let mut again: Vec<f64> = (0..repetitions).map(|_| time(0).0).collect();
    let mut others: Vec<f64> = (1..=repetitions).map(|batch| time(batch).0).collect();
    for times in [&mut again, &mut others] {
        times.sort_by(f64::total_cmp);
    }
    let spread = |times: &[f64]| {
        format!("{:.2} to {:.2}, median {:.2}", times[0], times[times.len() - 1], times[times.len() / 2])
    };
    println!("{n} candidates, mean score {mean:.4}: first {cold:.2} ms");
    println!("the same again: {} ms; other batches: {} ms", spread(&again), spread(&others));
    Ok(())
}
