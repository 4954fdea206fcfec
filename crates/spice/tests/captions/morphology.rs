//! Lemmas compared with those of CoreNLP 3.6.0.

use capeval_spice::lemma;
use capeval_testkit::real_text;
use proptest::prelude::*;

use crate::support;

/// All words of the COCO captions under 23 tags.
#[test]
fn words_of_coco_have_the_lemmas_of_the_reference_program() {
    let Some(table) = real_text("golden/spice/morph_360_coco.tsv.gz") else { return };
    let mut lines = table.lines();
    let tags: Vec<&str> = lines.next().unwrap().split('\t').skip(1).collect();
    let mut compared = 0;
    let mut different = Vec::new();
    for line in lines {
        let mut cells = line.split('\t');
        let word = cells.next().unwrap();
        for (tag, expected) in tags.iter().zip(cells) {
            compared += 1;
            let found = lemma(word, tag);
            if found != expected {
                different.push(format!("{word} {tag}: {found}, expected {expected}"));
            }
        }
    }
    println!("{compared} lemmas, {} differ", different.len());
    assert!(different.is_empty(), "{:#?}", &different[..different.len().min(20)]);
}

/// The words of captions under the tags that the parser gave them.
#[test]
fn words_of_captions_have_the_lemmas_of_the_reference_program() {
    for caption in support::golden() {
        for sentence in caption.sentences {
            for ((word, tag), expected) in sentence.tokens.iter().zip(&sentence.tags).zip(&sentence.lemmas) {
                assert_eq!(&lemma(word, tag), expected, "{word} {tag} in {:?}", caption.text);
            }
        }
    }
}

proptest! {
    #[test]
    fn any_word_under_any_tag_has_a_lemma(word in any::<String>(), tag in "[A-Z$]{1,4}") {
        lemma(&word, &tag);
    }

    #[test]
    fn words_of_letters_and_hyphens_keep_most_of_their_letters(word in "[a-z'-]{1,12}", tag in "NNS|VB[DGNPZ]?") {
        prop_assert!(!lemma(&word, &tag).is_empty());
    }
}
