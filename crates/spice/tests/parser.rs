//! The parser against CoreNLP 3.6.0: trees and scores of real and of odd captions.
//!
//! These tests need what is not part of the repository: the grammar, from the jar of CoreNLP's models in
//! `$SPICE_HOME/lib`, and the golden values of every stage, which CONTRIBUTING.md describes. They are skipped without
//! them.

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::BufReader;
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, OnceLock};

    use capeval_spice::{Compiler, Grammar, Parser};
    use capeval_testkit::{real_text, skip};
    use serde_json::Value;

    const JAR: &str = "lib/stanford-corenlp-3.6.0-models.jar";

    /// Bytes at an address that arrays of any type can be read from, like those of a memory map.
    struct AlignedBytes(Vec<u128>, usize);

    impl AsRef<[u8]> for AlignedBytes {
        fn as_ref(&self) -> &[u8] {
            &bytemuck::cast_slice(&self.0)[..self.1]
        }
    }

    /// The compiled grammar, if CoreNLP's models are there.
    fn grammar() -> Option<&'static Grammar> {
        static GRAMMAR: OnceLock<Option<Grammar>> = OnceLock::new();
        let compile = || {
            let Some(home) = std::env::var_os("SPICE_HOME") else {
                skip("spice-models", "SPICE_HOME is not set");
                return None;
            };
            let jar = File::open(Path::new(&home).join(JAR)).unwrap();
            let mut jar = zip::ZipArchive::new(BufReader::new(jar)).unwrap();
            let compiler = Compiler::grammar(jar.by_name(Compiler::MEMBER).unwrap()).unwrap();
            let mut file = Vec::new();
            assert!(compiler.write(&mut file).unwrap().is_recognized);
            println!("the compiled grammar has {} bytes", file.len());
            let mut room = vec![0_u128; file.len().div_ceil(16)];
            bytemuck::cast_slice_mut(&mut room)[..file.len()].copy_from_slice(&file);
            let start = std::time::Instant::now();
            let grammar = Grammar::open(Arc::new(AlignedBytes(room, file.len()))).unwrap();
            println!("opened in {:?}", start.elapsed());
            Some(grammar)
        };
        GRAMMAR.get_or_init(compile).as_ref()
    }

    struct Golden {
        words: Vec<String>,
        tree: String,
        score: f64,
    }

    fn golden(name: &str) -> Option<Vec<Golden>> {
        let lines = real_text(&format!("golden/spice/{name}"))?;
        let mut sentences = Vec::new();
        for line in lines.lines() {
            let caption: Value = serde_json::from_str(line).unwrap();
            for sentence in caption["sents"].as_array().unwrap() {
                sentences.push(Golden {
                    words: sentence["tok"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|w| w.as_str().unwrap().into())
                        .collect(),
                    tree: sentence["tree"].as_str().unwrap().to_owned(),
                    score: sentence["score"].as_str().unwrap().parse().unwrap(),
                });
            }
        }
        Some(sentences)
    }

    /// Parses all sentences of a file, on two threads, and compares trees and scores.
    fn compare(name: &str) {
        let (Some(grammar), Some(sentences)) = (grammar(), golden(name)) else { return };
        let (next, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let start = std::time::Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut parser = Parser::new(grammar);
                    while let Some(expected) = sentences.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let words: Vec<&str> = expected.words.iter().map(String::as_str).collect();
                        let parse = parser.parse(&words);
                        let tree = parse.tree.to_string();
                        if tree != expected.tree
                            || parse.score.map(f64::to_bits) != Some(expected.score.to_bits())
                        {
                            wrong.fetch_add(1, Ordering::Relaxed);
                            println!(
                                "{words:?}\n  {tree} {:?}\n  {} {:?}",
                                parse.score, expected.tree, expected.score
                            );
                        }
                    }
                });
            }
        });
        let wrong = wrong.into_inner();
        println!("{name}: {wrong} of {} differ, {:?} on two threads", sentences.len(), start.elapsed());
        assert_eq!(wrong, 0);
    }

    #[test]
    fn trees_and_scores_of_captions_equal_the_reference() {
        compare("stages_4500.jsonl.gz");
    }

    #[test]
    fn trees_and_scores_of_odd_text_equal_the_reference() {
        compare("stages_hostile_574.jsonl.gz");
    }

    /// Compares the sentences of `long.tsv` with this many words: own sentences of 201 to 504, each with the score and
    /// the CRC-32 of the tree that SPICE 1.0 found on Java 17 with 8 GB.
    fn compare_long(lengths: std::ops::RangeInclusive<usize>) {
        let Some(grammar) = grammar() else { return };
        let mut count = 0;
        for line in include_str!("long.tsv").lines() {
            let [score, tree, sentence] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let words: Vec<&str> = sentence.split(' ').collect();
            if lengths.contains(&words.len()) {
                let parse = Parser::new(grammar).parse(&words);
                let found = format!("{:08x}", crc32fast::hash(parse.tree.to_string().as_bytes()));
                assert_eq!((parse.score, found.as_str()), (Some(score.parse().unwrap()), tree), "{sentence}");
                count += 1;
            }
        }
        assert!(count > 0);
    }

    #[test]
    fn trees_and_scores_of_200_words_equal_the_reference() {
        compare_long(201..=201);
    }

    #[test]
    #[ignore = "takes minutes"]
    fn trees_and_scores_of_up_to_504_words_equal_the_reference() {
        compare_long(202..=504);
    }

    /// A sentence of this many words that has no end.
    fn endless(length: usize) -> Vec<&'static str> {
        "a man riding a horse on the beach with his dog and".split(' ').cycle().take(length).collect()
    }

    #[test]
    fn long_sentences_have_the_scores_of_the_reference() {
        let Some(grammar) = grammar() else { return };
        let mut parser = Parser::new(grammar);
        for (length, score) in [(40, -269.32705545425415), (60, -390.4378328323364)] {
            assert_eq!(parser.parse(&endless(length)).score, Some(score), "{length} words");
        }
    }
}
