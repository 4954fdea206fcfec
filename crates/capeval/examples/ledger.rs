//! Times each stage of scoring by BLEU, ROUGE-L and CIDEr-D on one thread: `ledger REFERENCES CANDIDATES`.
//!
//! Each line of the output has a stage, its nanoseconds of the processor, and the bytes that it cannot but read and
//! write; the last ones have the bytes that a copy moves in a second, and the number of captions. The stages are the
//! public functions that the engine calls, so the engine needs no clocks. `cargo xtask bench ledger` runs this.
#![expect(clippy::print_stdout, reason = "a command-line program")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;
use std::{fs, hint, iter};

use capeval::corpus::{GroupedCaptions, Ids, Policy, ReadOptions, align, read_bytes};
use capeval::evaluate::registry;
use capeval::metric::{AnyMetric, Candidates, References, Resources, Segment, Table};
use capeval::text::ngrams::{NgramCounts, ReferenceLists, Segments};
use capeval::text::{Scratch, Sentences, Texts, Tokenizer, Vocabulary};

const METRICS: [&str; 3] = ["bleu", "rouge-l", "cider-d"];
/// The length of the longest n-grams of these metrics.
const ORDER: usize = 4;
/// The engine compares so many images at a time.
const CHUNK: usize = 256;
/// The bytes of the image's number and of the place of a caption where it was read.
const ID: usize = 16;
const PLACE: usize = 8;

/// The stages, each with its nanoseconds, and the bytes that it reads and writes.
#[derive(Default)]
struct Ledger(Vec<(String, f64, usize)>);

impl Ledger {
    /// Times `work` as a part of a stage, which moves `bytes`.
    fn time<T>(&mut self, stage: &str, bytes: usize, work: impl FnOnce() -> T) -> T {
        let begin = now();
        let done = hint::black_box(work());
        let took = now() - begin;
        match self.0.iter_mut().find(|(name, ..)| name == stage) {
            Some((_, ns, moved)) => (*ns, *moved) = (*ns + took, *moved + bytes),
            None => self.0.push((stage.to_owned(), took, bytes)),
        }
        done
    }
}

/// The nanoseconds that this thread has had of a processor; those of a clock where the system does not tell.
fn now() -> f64 {
    thread_local!(static BEGIN: Instant = Instant::now());
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split(' ').next()?.parse().ok());
    told.unwrap_or_else(|| BEGIN.with(Instant::elapsed).as_nanos() as f64)
}

/// The bytes that copying moves in a second, read and written: the best of a few copies.
fn bandwidth() -> f64 {
    const BYTES: usize = 1 << 28;
    let (from, mut to) = (vec![1_u8; BYTES], vec![2_u8; BYTES]);
    let once = || {
        let begin = now();
        to.copy_from_slice(hint::black_box(&from));
        hint::black_box(&to);
        2.0 * BYTES as f64 / (now() - begin) * 1e9
    };
    iter::repeat_with(once).take(5).fold(0.0, f64::max)
}

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [references, candidates] = &paths[..] else {
        return Err("usage: ledger REFERENCES CANDIDATES".into());
    };
    let metrics: Vec<AnyMetric> = METRICS
        .iter()
        .map(|name| registry::build(name, &[], &Resources::default()))
        .collect::<Result<_, _>>()
        .map_err(|refusal| refusal.to_string())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (ledger, n_captions) =
        pool.install(|| ledger(references, candidates, &metrics)).map_err(|e| e.to_string())?;
    for (stage, ns, bytes) in &ledger.0 {
        println!("{stage}\t{ns}\t{bytes}");
    }
    println!("bandwidth\t{}", bandwidth());
    println!("captions\t{n_captions}");
    Ok(())
}

/// Runs the steps of three metrics one after the other, each with the bytes that it cannot avoid moving.
///
/// It is one function because each step borrows what the steps before it made.
fn ledger(references: &str, candidates: &str, metrics: &[AnyMetric]) -> Result<(Ledger, usize), String> {
    let mut ledger = Ledger::default();
    let mut open = |path: &str| {
        let n_bytes = fs::metadata(path).map_or(0, |file| file.len() as usize);
        let read = ledger.time("open", 2 * n_bytes, || fs::read(path));
        read.map_err(|error| format!("{path}: {error}"))
    };
    let bytes = [open(references)?, open(candidates)?];
    let options = [ReadOptions::references(), ReadOptions::candidates()];
    let mut read = Vec::new();
    for ((bytes, path), options) in bytes.iter().zip([references, candidates]).zip(&options) {
        let captions = ledger.time("parse", bytes.len(), || read_bytes(bytes, path, options));
        let captions = captions.map_err(|error| error.to_string())?;
        let n_bytes: usize = captions.iter().map(|(_, text)| text.len() + ID + 2 * PLACE).sum();
        ledger.time("parse", n_bytes, || ());
        read.push(captions);
    }
    drop(bytes);
    let (Some(candidates), Some(references)) = (read.pop(), read.pop()) else {
        return Err("no captions".into());
    };
    let n_captions = candidates.len() + references.len();
    let grouped = ledger
        .time("match ids", (ID + 4) * references.len(), || GroupedCaptions::new(references, Ids::default()));
    let grouped = grouped.map_err(|error| error.to_string())?;
    let aligned = ledger.time("match ids", (ID + 12) * candidates.len(), || {
        align(grouped.index(), &candidates, &Policy::default())
    });
    let aligned = aligned.map_err(|error| error.to_string())?;
    let images: Vec<u32> = aligned.pairs.iter().map(|pair| pair.image).collect();
    let ends: Vec<u64> = (0..grouped.len())
        .scan(0, |end, image| {
            *end += grouped.rows(image).len() as u64;
            Some(*end)
        })
        .collect();
    let of_references: Texts = (0..grouped.len()).flat_map(|image| grouped.texts(image)).collect();
    let row = |row: u32| candidates.text(row as usize);
    let of_candidates: Texts = aligned.pairs.iter().map(|pair| pair.candidate.map_or("", row)).collect();
    let mut vocabulary = Vocabulary::default();
    let mut read = |texts: &Texts| {
        let n_bytes: usize = (0..texts.len()).map(|k| texts.get(k).len()).sum();
        let (mut scratch, mut n_words) = (Scratch::default(), 0_usize);
        ledger.time("tokenise", n_bytes, || {
            (0..texts.len())
                .for_each(|k| Tokenizer::Ptb.tokenize(texts.get(k), &mut scratch, |_| n_words += 1));
        });
        let following = |k: usize| -> capeval::text::Following<'_> {
            Box::new((k + 1..texts.len()).map(|k| texts.get(k)))
        };
        ledger.time("tokenise and intern", n_bytes + 4 * n_words, || {
            Sentences::tokenize(Tokenizer::Ptb, texts.len(), |k| texts.get(k), following, &mut vocabulary)
        })
    };
    let sentences = [read(&of_references), read(&of_candidates)];
    let lists = || ReferenceLists::new(&sentences[0], &ends, images.iter().copied(), ORDER);
    let n_words: usize = (0..sentences[0].len()).map(|k| sentences[0].words(k).len()).sum();
    let n_ngrams: usize = (0..sentences[0].len())
        .flat_map(|k| (1..ORDER).map(move |n| (k, n)))
        .map(|(k, n)| sentences[0].words(k).len().saturating_sub(n))
        .sum();
    // Each key is written once, and read once.
    let counts = ledger.time("document frequencies", 4 * n_words + 16 * n_ngrams, || {
        Arc::new(NgramCounts::build(&lists(), vocabulary.len(), 2))
    });
    let set = References {
        texts: &of_references,
        sentences: &sentences[0],
        ends: &ends,
        lists: &[],
        order: ORDER,
        vocabulary: &vocabulary,
        images: &images,
        frequencies: Some(&counts),
        memos: &[],
        figures: &[],
    };
    let fit = |metric: &AnyMetric| metric.fit(&set);
    // Only CIDEr-D has something to fit: a norm for each reference and order.
    let n_bytes = 4 * n_words + n_ngrams + 8 * ORDER * of_references.len();
    let fitted: Vec<_> = ledger.time("norms of references", n_bytes, || metrics.iter().map(fit).collect());
    let mut workers: Vec<_> = fitted.iter().map(|fitted| fitted.worker()).collect();
    let width = |metric: &AnyMetric| metric.about().columns.len();
    let mut tables: Vec<Vec<f64>> =
        metrics.iter().map(|metric| vec![0.0; width(metric) * images.len()]).collect();
    let (mut segments, candidates) =
        (Segments::default(), Candidates { texts: &of_candidates, sentences: &sentences[1], system: 0 });
    for (chunk, images) in images.chunks(CHUNK).enumerate() {
        let first = chunk * CHUNK;
        let places = || images.iter().zip(first..);
        let own = |place: usize| sentences[1].words(place).len();
        let n_own: usize = places().map(|(_, place)| own(place)).sum();
        let n_theirs: usize = places()
            .flat_map(|(image, _)| set.of(*image as usize))
            .map(|r| sentences[0].words(r).len())
            .sum();
        ledger.time("n-grams of candidates", 4 * (n_own + n_theirs), || {
            segments.clear();
            for (image, place) in places() {
                let theirs = set.of(*image as usize).map(|r| sentences[0].words(r));
                segments.push(sentences[1].words(place), theirs, ORDER);
            }
        });
        // The least that a look-up takes from a table that is in no cache: a line of 64 bytes.
        let n_looked_up: usize = (0..images.len()).map(|k| segments.get(k).all().len()).sum();
        ledger.time("look-ups", 64 * n_looked_up, || segments.look_up(&counts));
        for ((worker, metric), (table, name)) in
            workers.iter_mut().zip(metrics).zip(tables.iter_mut().zip(METRICS))
        {
            let width = width(metric);
            ledger.time(name, 4 * (n_own + n_theirs) + 8 * width * images.len(), || {
                for (at, (image, place)) in places().enumerate() {
                    let ngrams = Some(segments.get(at));
                    let segment = Segment::new(set, candidates, *image as usize, place, ngrams);
                    worker.measure(&segment, &mut table[place * width..(place + 1) * width]);
                }
            });
        }
    }
    for (metric, table) in metrics.iter().zip(tables) {
        let n_bytes = 8 * table.len();
        let table = Table::new(metric.about().columns.clone(), table);
        let mut corpus = vec![0.0; metric.parts().len()];
        ledger.time("sums", n_bytes, || metric.score_table(&table, &mut corpus));
    }
    Ok((ledger, n_captions))
}
