//! Compares scores for real and hostile lines with the answers of meteor-1.5.jar.
//!
//! `golden/meteor` in the folder of real data contains lines of the stdio protocol and the answers of the jar of
//! pycocoevalcap 1.2 with `-l en -norm`: 20,000 images of COCO with five references each, and 4,600 hostile segments.

use capeval_meteor::{Options, Stats, Workspace};
use capeval_testkit::real_text;

use crate::support::{installed, meteor, score_line};

/// Compares every statistic and every score with the jar's; scores bit by bit, including the corpus score.
fn compare_with_jar(name: &str, n_expected: usize) {
    let Some(resources) = installed() else { return };
    let file = |suffix: &str| real_text(&format!("golden/meteor/{name}.{suffix}.gz"));
    let (Some(lines), Some(stats), Some(scores)) = (file("in"), file("stats"), file("eval")) else { return };
    let meteor = meteor(Options::coco(), &resources);
    let mut workspace = Workspace::default();
    let mut sum = [0.0; Stats::WIDTH];
    let mut scores = scores.lines();
    let mut n = 0;
    let score_lines = lines.split('\n').filter(|line| line.starts_with("SCORE"));
    for (line, golden) in score_lines.zip(stats.lines()) {
        let segment = score_line(&meteor, &mut workspace, line);
        assert_eq!(segment.stats.to_string(), golden, "{line}");
        let golden: f64 = scores.next().unwrap().parse().unwrap();
        assert_eq!(segment.score.to_bits(), golden.to_bits(), "{line}");
        sum.iter_mut().zip(segment.stats.to_row()).for_each(|(sum, value)| *sum += value);
        n += 1;
    }
    assert_eq!(n, n_expected);
    let golden: f64 = scores.next().unwrap().parse().unwrap();
    let corpus = meteor.score(&Stats::load(&sum)).score;
    assert_eq!(corpus.to_bits(), golden.to_bits(), "the corpus scores {corpus}, not {golden}");
    eprintln!("{name}: {n} segments and the corpus ({corpus}) equal the jar's");
}

#[test]
fn captions_of_20000_images_score_as_with_the_jar() {
    compare_with_jar("coco20k", 20_000);
}

#[test]
fn hostile_lines_score_as_with_the_jar() {
    compare_with_jar("hostile", 4_600);
}

#[test]
fn the_english_stemmer_equals_that_of_the_jar() {
    let (Some(words), Some(stems)) =
        (real_text("golden/meteor/stem_words.txt.gz"), real_text("golden/meteor/stem_java.txt.gz"))
    else {
        return;
    };
    let stemmer = rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English);
    let mut n = 0;
    for (word, stem) in words.lines().zip(stems.lines()) {
        assert_eq!(stemmer.stem(word), stem);
        n += 1;
    }
    assert_eq!(n, 116_311);
}
