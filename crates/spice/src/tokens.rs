//! Sentences and their tokens, as CoreNLP 3.6.0 finds them in a caption.

use capeval_text::{Scratch, tokenizers::ptb};

/// Closing brackets and quotation marks, which belong to the sentence that has just ended.
const FOLLOWERS: [&str; 11] =
    [")", "]", "}", "\"", "'", "''", "\u{2019}", "\u{201d}", "-RRB-", "-RSB-", "-RCB-"];

/// The tokens of each sentence of `text`. A sentence ends with a full stop or with exclamation and question marks.
pub fn sentences(text: &str, scratch: &mut Scratch) -> Vec<Vec<String>> {
    let mut sentences: Vec<Vec<String>> = Vec::new();
    let mut is_open = false;
    ptb::lex_360(text, scratch, |token| {
        match sentences.last_mut() {
            Some(sentence) if is_open => sentence.push(token.to_owned()),
            Some(sentence) if FOLLOWERS.contains(&token) => return sentence.push(token.to_owned()),
            _ => sentences.push(vec![token.to_owned()]),
        }
        is_open = !ends_sentence(token);
    });
    sentences
}

/// Returns true if `token` ends a sentence.
fn ends_sentence(token: &str) -> bool {
    token == "." || (!token.is_empty() && token.bytes().all(|c| matches!(c, b'!' | b'?')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let sentences = sentences(text, &mut Scratch::default());
        sentences.iter().map(|sentence| sentence.join(" ")).collect()
    }

    #[test]
    fn sentences_end_at_stops_and_keep_closing_marks() {
        assert_eq!(
            of("A dog. A cat?! (A bird.) Yes"),
            ["A dog .", "A cat ?!", "-LRB- A bird . -RRB-", "Yes"]
        );
        assert_eq!(of(") a dog"), ["-RRB- a dog"]);
        assert_eq!(of("a\nman\n\nsits"), ["a man sits"]);
        assert!(of(" \n ").is_empty());
    }
}
