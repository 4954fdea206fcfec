//! Sentences and tokens compared with those of CoreNLP 3.6.0.

use capeval_spice::sentences;
use capeval_text::Scratch;
use proptest::prelude::*;

use crate::support;

#[test]
fn captions_have_the_sentences_and_tokens_of_the_reference_program() {
    let mut scratch = Scratch::default();
    let mut different = Vec::new();
    let captions = support::golden();
    for caption in &captions {
        let found = sentences(&caption.text, &mut scratch);
        let expected: Vec<&[String]> =
            caption.sentences.iter().map(|sentence| sentence.tokens.as_slice()).collect();
        if found != expected {
            different.push(format!("{:?}: {found:?}, expected {expected:?}", caption.text));
        }
    }
    println!("{} captions, {} differ", captions.len(), different.len());
    assert!(different.is_empty(), "{:#?}", &different[..different.len().min(20)]);
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        for sentence in sentences(&text, &mut Scratch::default()) {
            prop_assert!(!sentence.is_empty());
        }
    }
}
