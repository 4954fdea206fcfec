//! Properties that must hold for any bytes, a module for each kind of input: no panic, and consistent results.
//!
//! `fuzz` searches for bytes that break one. A test of this crate tries the seeds and changes of them, which needs no
//! other compiler.

#![allow(
    missing_docs,
    unexpected_cfgs,
    reason = "no users outside of the workspace; cargo-fuzz sets `fuzzing`"
)]

mod arpa;
#[cfg(feature = "site")]
mod backups;
mod bodies;
mod boxes;
#[cfg(feature = "site")]
mod bundles;
#[cfg(fuzzing)]
mod chair;
mod cider_exact;
mod derivations;
mod df_table;
mod engine;
mod events;
mod groups;
#[cfg(fuzzing)]
mod judges;
mod kits;
#[cfg(feature = "site")]
mod markdown;
mod meteor;
mod meteor_align;
mod meteor_resources;
mod models;
mod pairs;
mod pickle;
mod pictures;
#[cfg(feature = "site")]
mod plans;
mod prepared;
mod probabilities;
#[cfg(fuzzing)]
mod programs;
#[cfg(fuzzing)]
mod ptb_rules;
mod rank_rules;
mod ratings;
mod readers;
mod requirements;
#[cfg(feature = "site")]
mod results;
mod rouge_data;
mod rouge_list;
mod saved_report;
mod shards;
#[cfg(feature = "site")]
mod site_texts;
#[cfg(fuzzing)]
mod spice_cache;
#[cfg(fuzzing)]
mod spice_captions;
#[cfg(fuzzing)]
mod spice_resources;
mod tokenizers;
mod vectors;
mod words;

/// A property of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub name: &'static str,
    /// The folder of `fuzz/seeds` with its first inputs, or a folder of the repository.
    pub seeds: &'static str,
    /// Panics if the property does not hold.
    pub check: fn(&[u8]),
}

const fn target(name: &'static str, seeds: &'static str, check: fn(&[u8])) -> Target {
    Target { name, seeds, check }
}

/// All targets; those that need what only `fuzz` builds are missing elsewhere.
pub const TARGETS: &[Target] = &[
    target("arpa", "arpa", arpa::check),
    #[cfg(feature = "site")]
    target("backups", "backups", backups::check),
    target("bodies", "bodies", bodies::check),
    target("boxes", "events", boxes::check),
    #[cfg(feature = "site")]
    target("bundles", "bundles", bundles::check),
    #[cfg(fuzzing)]
    target("chair", "chair", chair::check),
    target("cider_exact", "words", cider_exact::check),
    target("derivations", "formulas", derivations::check),
    target("df_table", "frequencies", df_table::check),
    target("engine", "words", engine::check),
    target("events", "events", events::check),
    target("groups", "groups", groups::check),
    #[cfg(fuzzing)]
    target("judges", "judges", judges::check),
    target("kits", "kits", kits::check),
    #[cfg(feature = "site")]
    target("markdown", "markdown", markdown::check),
    target("meteor_align", "words", meteor_align::check),
    target("meteor_resources", "captions", meteor_resources::check),
    target("models", "models", models::check),
    target("pairs", "pairs", pairs::check),
    target("pickle", "pickles", pickle::check),
    target("pictures", "pictures", pictures::check),
    #[cfg(feature = "site")]
    target("plans", "plans", plans::check),
    target("prepared", "captions", prepared::check),
    target("probabilities", "probabilities", probabilities::check),
    #[cfg(fuzzing)]
    target("programs", "programs", programs::check),
    #[cfg(fuzzing)]
    target("ptb_rules", "captions", ptb_rules::check),
    target("rank_rules", "ranks", rank_rules::check),
    target("ratings", "ratings", ratings::check),
    target("read_any", "captions", readers::any),
    target("read_coco", "captions", readers::coco),
    target("read_coco_results", "captions", readers::coco_results),
    target("read_csv", "captions", readers::csv),
    target("read_dict_json", "captions", readers::dict_json),
    target("read_flickr", "captions", readers::flickr),
    target("read_jsonl", "captions", readers::jsonl),
    target("read_karpathy", "captions", readers::karpathy),
    target("read_lines", "captions", readers::lines),
    target("read_list_json", "captions", readers::list_json),
    target("read_options", "columns", readers::options),
    #[cfg(feature = "parquet")]
    target("read_parquet", "captions", readers::parquet),
    target("read_pipes", "captions", readers::pipes),
    target("read_tsv", "captions", readers::tsv),
    target("requirements", "formulas", requirements::check),
    #[cfg(feature = "site")]
    target("results", "results", results::check),
    target("rouge_data", "rouge", rouge_data::check),
    target("rouge_list", "rouge", rouge_list::check),
    target("saved_report", "reports", saved_report::check),
    target("shards", "words", shards::check),
    #[cfg(feature = "site")]
    target("site_texts", "texts", site_texts::check),
    #[cfg(fuzzing)]
    target("spice_cache", "captions", spice_cache::check),
    #[cfg(fuzzing)]
    target("spice_captions", "words", spice_captions::check),
    #[cfg(fuzzing)]
    target("spice_resources", "captions", spice_resources::check),
    target("tokenizers", "captions", tokenizers::check),
    target("vectors", "vectors", vectors::check),
];

/// The target of this name.
pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// A valid file with changes, five bytes for each: its place and the new byte.
pub(crate) fn changed(file: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for change in changes.chunks_exact(5) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], change[3]]) as usize % file.len();
        file[at] = change[4];
    }
    file
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    use super::*;

    /// The number of changes of each seed that are tried, besides its beginnings: `CAPEVAL_CHANGES`, or a few.
    fn changes() -> usize {
        std::env::var("CAPEVAL_CHANGES").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.expect("the folder can be read").path())
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        files
    }

    /// A fixed sequence of numbers that look random.
    struct Sequence(u64);

    impl Sequence {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (self.0 >> 33) as usize % bound.max(1)
        }
    }

    /// The seed with bytes that become others, repeat, go, or come.
    fn changed(seed: &[u8], sequence: &mut Sequence) -> Vec<u8> {
        const COMING: &[u8] = b"\"{}[],:\n-09\\\xFF\x80";
        let mut bytes = seed.to_vec();
        for _ in 0..=sequence.below(4) {
            let [at, other] = [(); 2].map(|()| sequence.below(bytes.len()));
            let end = (at + sequence.below(16)).min(bytes.len());
            match sequence.below(4) {
                0 if !bytes.is_empty() => bytes[at] = sequence.below(256) as u8,
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let part = bytes[at..end].to_vec();
                    bytes.splice(other..other, part);
                }
                _ => bytes.insert(at, COMING[sequence.below(COMING.len())]),
            }
        }
        bytes
    }

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// The corpus of a target: what `fuzz/search.py` has kept, a text or a list of bytes on each line. A new target has
    /// none yet.
    fn corpus(target: &Target) -> Vec<Vec<u8>> {
        let path = root().join("fuzz/corpora").join(format!("{}.jsonl", target.name));
        let text = fs::read_to_string(&path).unwrap_or_default();
        let input = |line| match serde_json::from_str(line).expect("a line is JSON") {
            Value::String(text) => text.into_bytes(),
            bytes => serde_json::from_value(bytes).expect("a list has bytes"),
        };
        text.lines().map(input).collect()
    }

    fn hold(target: &Target, bytes: &[u8]) {
        let holds = std::panic::catch_unwind(|| (target.check)(bytes)).is_ok();
        assert!(holds, "{}: {:?}", target.name, String::from_utf8_lossy(bytes));
    }

    #[test]
    fn every_property_holds_for_seeds_and_changes_of_them() {
        let root = root();
        for target in TARGETS {
            let folder = match target.seeds {
                "pictures" => root.join("testdata/pictures"),
                seeds => root.join("fuzz/seeds").join(seeds),
            };
            for path in files(&folder) {
                let seed = fs::read(&path).expect("the seed can be read");
                (0..=8).for_each(|part| hold(target, &seed[..seed.len() * part / 8]));
                let mut sequence = Sequence(0x9E37_79B9_7F4A_7C15);
                (0..changes()).for_each(|_| hold(target, &changed(&seed, &mut sequence)));
            }
        }
    }

    #[test]
    fn every_property_holds_for_what_was_found_to_reach_much() {
        for target in TARGETS {
            let corpus = corpus(target);
            assert!(corpus.len() <= 32 && corpus.iter().map(Vec::len).sum::<usize>() <= 20_000, "{target:?}");
            let mut sequence = Sequence(0x9E37_79B9_7F4A_7C15);
            for input in &corpus {
                hold(target, input);
                (0..changes() / 20).for_each(|_| hold(target, &changed(input, &mut sequence)));
            }
        }
    }

    #[test]
    fn names_are_sorted_and_differ() {
        assert!(TARGETS.is_sorted_by(|a, b| a.name < b.name));
        assert!(TARGETS.iter().all(|target| named(target.name).is_some()));
    }
}
