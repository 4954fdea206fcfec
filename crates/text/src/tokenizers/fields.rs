//! `imageclef`, `concepts`, `letters`, `ascii`, `noc`: the text rules of programs of fields, which are told nowhere
//! else.
//!
//! - `imageclef`: the captioning task of ImageCLEFmedical 2026 (taubsity/clef-caption-evaluation-2026) lower-cases a
//!   caption, writes `number` for each run of digits, removes ASCII punctuation without a space in its place, and
//!   gives the rest to rouge_score.
//! - `concepts`: its task of concepts compares sets of identifiers such as `C0040405;C1306645`, whatever their case.
//! - `letters`: MART's paragraph evaluation (jayleicn/recurrent-transformer, `para-evaluate.py`) keeps runs of A to Z.
//! - `ascii`: the evaluation of stories (lichengunc/vist_eval) drops characters beyond ASCII, and splits at spaces.
//! - `noc`: the F1 of novel objects (LisaAnne/DCC, `eval_sentences.py`) lower-cases a caption, drops everything but
//!   ASCII letters, digits and white space, and splits at white space.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::{Scratch, plain};

pub(super) fn imageclef(text: &str, scratch: &mut Scratch, piece: &mut impl FnMut(&str)) {
    let word = &mut scratch.text;
    word.clear();
    let mut is_number = false;
    for c in text.chars().flat_map(char::to_lowercase) {
        let was_number = std::mem::replace(&mut is_number, is_digit(c));
        match c {
            _ if is_number && was_number => {}
            _ if is_number => word.push_str("number"),
            'a'..='z' => word.push(c),
            _ if c.is_ascii_punctuation() => {}
            _ => end(word, piece),
        }
    }
    end(word, piece);
}

/// Returns true for what `\d` matches in Python.
fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || !c.is_ascii() && c.general_category() == GeneralCategory::DecimalNumber
}

fn end(word: &mut String, piece: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        piece(word);
        word.clear();
    }
}

pub(super) fn concepts(text: &str, piece: &mut impl FnMut(&str)) {
    let mut all: Vec<String> = Vec::new();
    for concept in text.split(';').map(|concept| concept.trim().to_uppercase()) {
        if !concept.is_empty() && !all.contains(&concept) {
            piece(&concept);
            all.push(concept);
        }
    }
}

pub(super) fn letters(text: &str, scratch: &mut Scratch, piece: &mut impl FnMut(&str)) {
    let lower = &mut scratch.text;
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    lower.split(|c: char| !c.is_ascii_lowercase()).filter(|word| !word.is_empty()).for_each(piece);
}

pub(super) fn ascii(text: &str, scratch: &mut Scratch, piece: &mut impl FnMut(&str)) {
    let kept = &mut scratch.text;
    kept.clear();
    kept.extend(text.chars().filter(char::is_ascii));
    plain::none(kept, piece);
}

pub(super) fn noc(text: &str, scratch: &mut Scratch, piece: &mut impl FnMut(&str)) {
    let kept = &mut scratch.text;
    kept.clear();
    let lower = text.chars().flat_map(char::to_lowercase);
    kept.extend(lower.filter(|c| c.is_ascii_alphanumeric() || plain::is_python_space(*c)));
    plain::whitespace(kept, piece);
}

#[cfg(test)]
mod tests {
    use crate::Tokenizer;

    fn words(tokenizer: Tokenizer, text: &str) -> String {
        tokenizer.pieces(text).join("|")
    }

    /// `preprocess_caption` and `rouge_score.tokenize.tokenize` give these words.
    #[test]
    fn imageclef_writes_number_for_digits_and_joins_what_punctuation_divides() {
        let text = "Patient's 3.5 x 2cm T2-weighted, ١٢ naïve² _a b";
        let expected = "patients|numbernumber|x|numbercm|tnumberweighted|number|na|ve|a|b";
        assert_eq!(words(Tokenizer::ImageClef, text), expected);
        assert_eq!(words(Tokenizer::ImageClef, "5\u{212a} ... \u{130}B"), "numberk|i|b");
    }

    #[test]
    fn concepts_are_a_set_whatever_their_case() {
        assert_eq!(words(Tokenizer::Concepts, "C01; c02;C02 ;;x y"), "C01|C02|X Y");
    }

    #[test]
    fn letters_end_words_at_everything_else() {
        assert_eq!(words(Tokenizer::Letters, "He's at 9 o'clock.. Fin é x"), "he|s|at|o|clock|fin|x");
    }

    #[test]
    fn ascii_drops_other_letters_and_keeps_spaces() {
        assert_eq!(words(Tokenizer::Ascii, "the café — [male] ."), "the|caf||[male]|.");
    }

    /// `split_sent` gives these words.
    #[test]
    fn noc_joins_what_punctuation_divides() {
        assert_eq!(
            words(Tokenizer::Noc, "A bus-stop; 2\u{a0}Caf\u{e9}s _x \u{212a}."),
            "a|busstop|2|cafs|x|k"
        );
    }
}
