//! How fast are caption files read, grouped and aligned? Best of a number of runs, one thread.
//!
//! `cargo run --release -p capeval-corpus --example parse_time -- REFS [HYPS]`
#![expect(clippy::print_stdout, reason = "an example is a program")]

use std::time::{Duration, Instant};

use capeval_corpus::{GroupedCaptions, Ids, Missing, Policy, ReadOptions, align, read_bytes};

const RUNS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let mut files = Vec::new();
    for (i, path) in paths.iter().enumerate() {
        let bytes = std::fs::read(path)?;
        let options = if i == 0 { ReadOptions::references() } else { ReadOptions::candidates() };
        let captions = read_bytes(&bytes, path, &options)?;
        let time = best(|| drop(read_bytes(&bytes, path, &options)));
        let rate = bytes.len() as f64 / time.as_secs_f64() / 1e6;
        let (n_bytes, n_captions) = (bytes.len(), captions.len());
        println!("{path}: {time:.2?} for {n_bytes} bytes, {n_captions} captions: {rate:.0} MB/s");
        files.push(captions);
    }
    let mut files = files.into_iter();
    let Some(references) = files.next() else {
        return Ok(());
    };
    let time = best(|| drop(GroupedCaptions::new(references.clone(), Ids::AsGiven)));
    let clone = best(|| drop(references.clone()));
    println!("group: {:.2?}", time.saturating_sub(clone));
    let references = GroupedCaptions::new(references, Ids::AsGiven)?;
    for candidates in files {
        let policy = Policy { missing: Missing::Skip, ..Policy::default() };
        let aligned = align(references.index(), &candidates, &policy)?;
        let time = best(|| drop(align(references.index(), &candidates, &policy)));
        println!("align: {time:.2?} for {} of {} images", aligned.len(), references.len());
        for notice in &aligned.notices {
            println!("  {}: {}", notice.code, notice.message);
        }
    }
    Ok(())
}

fn best(mut work: impl FnMut()) -> Duration {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}
