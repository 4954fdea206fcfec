//! The tokenizers by name, and the one call that runs any of them.
//!
//! A tokenizer turns a text into *pieces*. The reference programs join the pieces with single blanks
//! and hand that string to the metrics, so a piece may itself hold white space (a no-break space in
//! `3 1/2`, say) or be empty; what a metric then makes of it is the metric's own business.

mod character;
mod intl;
#[cfg(feature = "jieba")]
mod jieba;
pub mod mecab;
mod mteval;
pub mod plain;
pub mod ptb;
mod rouge;
pub mod tercom;
mod v13a;
mod zh;

use std::fmt;
use std::str::FromStr;

use capeval_choice::{Argument, Remedy, UnknownName};

use self::tercom::Tercom;

/// Buffers that a tokenizer needs while it works; make one per thread and keep it.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The text as rewritten by the tokenizer (lower-cased, padded).
    pub(crate) text: String,
    /// What the `ptb` tokenizer has made of its automaton so far.
    ptb: Option<Box<ptb::Lexer>>,
}

/// How captions mostly begin; see [`Tokenizer::tokenize_before`].
const NEW_SENTENCE: &str = "A ";

/// A tokenizer by name: part of a score's signature, and the key under which tokenised text is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tokenizer {
    /// Stanford's PTBTokenizer 3.4.1 and pycocoevalcap's list of punctuation: see [`ptb`].
    Ptb,
    /// The same on all captions as one text, so that a caption's last word may depend on the next caption,
    /// as it does in pycocoevalcap: see [`Tokenizer::tokenize_before`].
    PtbBatch,
    /// The tokens of Stanford's PTBTokenizer 3.4.1 with their case and all punctuation: see [`ptb::lex`].
    PtbRaw,
    /// Splits on white space as Python's `str.split()` does.
    Whitespace,
    /// Leaves the text as it is, for text that is tokenised already.
    None,
    /// sacreBLEU's default, equal to mteval-v13a.
    V13a,
    /// sacreBLEU's `intl`: splits at Unicode punctuation and symbols, as mteval-v14 does.
    Intl,
    /// sacreBLEU's `zh`: single Chinese characters, the rest as 13a.
    Zh,
    /// sacreBLEU's `char`: single characters.
    Char,
    /// ROUGE-1.5.5's: runs of ASCII letters and digits, small.
    Rouge155,
    /// Google's rouge_score's: the same after lower-casing by Unicode.
    RougeScore,
    /// The tokenizer of the translation edit rate, with its options.
    Tercom(Tercom),
    /// Japanese or Korean words by MeCab's dictionaries, as sacreBLEU's `ja-mecab` and `ko-mecab`: see [`mecab`].
    Mecab(mecab::Language),
    /// Chinese words by jieba; absent unless the crate is built with its feature `jieba`.
    #[cfg(feature = "jieba")]
    Jieba,
}

/// Every tokenizer with its name and a one-line summary, in the order in which they are listed.
pub const ALL: &[(Tokenizer, &str, &str)] = &[
    (Tokenizer::Ptb, "ptb", "PTBTokenizer 3.4.1, small letters, no punctuation, as in pycocoevalcap"),
    (Tokenizer::PtbBatch, "ptb-batch", "the same with all captions as one text, whose order then matters"),
    (Tokenizer::PtbRaw, "ptb-raw", "PTBTokenizer 3.4.1, case and punctuation kept"),
    (Tokenizer::Whitespace, "whitespace", "split on white space as Python's str.split() does"),
    (Tokenizer::None, "none", "leave the text as it is (already tokenised)"),
    (Tokenizer::V13a, "13a", "mteval-v13a, sacreBLEU's default for Western languages"),
    (Tokenizer::Intl, "intl", "mteval-v14 international: Unicode punctuation and symbols stand alone"),
    (Tokenizer::Zh, "zh", "sacreBLEU's Chinese: each Chinese character a piece, the rest as 13a"),
    (Tokenizer::Char, "char", "each character a piece, white space dropped"),
    (
        Tokenizer::Rouge155,
        "rouge155",
        "ROUGE-1.5.5: runs of a-z and 0-9 after lower-casing A-Z, all else dropped",
    ),
    (Tokenizer::RougeScore, "rouge-score", "Google's rouge_score: the same after lower-casing by Unicode"),
    (Tokenizer::Tercom(Tercom::Plain), "tercom", "that of the translation edit rate: split on white space"),
    (Tokenizer::Tercom(Tercom::Norm), "tercom-norm", "tercom, normalising"),
    (Tokenizer::Tercom(Tercom::NormAsian), "tercom-norm-asian", "tercom, normalising, also East Asian"),
    (Tokenizer::Tercom(Tercom::NoPunct), "tercom-nopunct", "tercom, without punctuation"),
    (
        Tokenizer::Tercom(Tercom::NoPunctAsian),
        "tercom-nopunct-asian",
        "tercom, without punctuation, also East Asian",
    ),
    (
        Tokenizer::Tercom(Tercom::NormNoPunct),
        "tercom-norm-nopunct",
        "tercom, normalising, without punctuation",
    ),
    (
        Tokenizer::Tercom(Tercom::NormNoPunctAsian),
        "tercom-norm-nopunct-asian",
        "tercom, normalising, without punctuation, also East Asian",
    ),
    #[cfg(feature = "jieba")]
    (Tokenizer::Jieba, "jieba", "Chinese words by jieba's dictionary and model"),
];

/// The tokenizers that need a dictionary of the user's, as in [`ALL`].
pub const WITH_DICTIONARY: &[(Tokenizer, &str, &str)] = &[
    (
        Tokenizer::Mecab(mecab::Language::Japanese),
        "ja-mecab",
        "sacreBLEU's Japanese: words by MeCab's IPADIC",
    ),
    (Tokenizer::Mecab(mecab::Language::Korean), "ko-mecab", "sacreBLEU's Korean: words by mecab-ko-dic"),
];

impl Tokenizer {
    /// Calls `piece` with each piece of `text`, in order.
    #[inline]
    pub fn tokenize(self, text: &str, scratch: &mut Scratch, piece: impl FnMut(&str)) {
        self.tokenize_before(text, None, scratch, piece);
    }

    /// As [`tokenize`](Self::tokenize), with the text that follows on the next line, if there is one.
    ///
    /// Only the `ptb` family looks at it. Stanford's program reads all captions as one text: whether a single letter
    /// keeps its dot at the end of a caption (`12th Ave S.`) depends on how the *next* caption begins. A
    /// text that nothing follows is taken to be followed by a new sentence, but by `ptb-batch`, which takes
    /// it for the end of the file.
    #[inline]
    pub fn tokenize_before(
        self,
        text: &str,
        next: Option<&str>,
        scratch: &mut Scratch,
        mut piece: impl FnMut(&str),
    ) {
        match self {
            Self::Ptb => ptb::tokenize_before(text, Some(next.unwrap_or(NEW_SENTENCE)), scratch, piece),
            Self::PtbBatch => ptb::tokenize_before(text, next, scratch, piece),
            Self::PtbRaw => ptb::lex_before(text, Some(next.unwrap_or(NEW_SENTENCE)), scratch, piece),
            Self::Whitespace => plain::whitespace(text, &mut piece),
            Self::None => plain::none(text, &mut piece),
            Self::V13a => v13a::tokenize(text, scratch, &mut piece),
            Self::Intl => intl::tokenize(text, &mut piece),
            Self::Zh => zh::tokenize(text, &mut piece),
            Self::Char => character::tokenize(text, &mut piece),
            Self::Rouge155 => rouge::ascii(text, scratch, &mut piece),
            Self::RougeScore => rouge::unicode(text, scratch, &mut piece),
            Self::Tercom(tercom) => tercom::tokenize(tercom, text, &mut piece),
            Self::Mecab(language) => mecab::tokenize(language, text, &mut piece),
            #[cfg(feature = "jieba")]
            Self::Jieba => jieba::tokenize(text, &mut piece),
        }
    }

    /// The pieces of `text` as owned strings: convenient, not fast.
    #[must_use]
    pub fn pieces(self, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        self.tokenize(text, &mut Scratch::default(), |piece| pieces.push(piece.to_owned()));
        pieces
    }

    /// The name that users type and signatures show.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut every = ALL.iter().chain(WITH_DICTIONARY);
        every.find(|(tokenizer, ..)| *tokenizer == self).map_or("?", |(_, name, _)| name)
    }
}

impl fmt::Display for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A tokenizer name that does not exist, or the name of one whose dictionary is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTokenizer(pub String);

impl UnknownTokenizer {
    /// The language whose dictionary is missing, if the name exists.
    fn language(&self) -> Option<mecab::Language> {
        WITH_DICTIONARY.iter().find(|(_, name, _)| *name == self.0).and_then(
            |(tokenizer, ..)| match tokenizer {
                Tokenizer::Mecab(language) => Some(*language),
                _ => None,
            },
        )
    }

    /// Where to get the dictionary, or the nearest name.
    pub fn remedy(&self) -> Remedy {
        let dictionary = |argument, package: &str| {
            Remedy::give(argument).to(format!("use the folder dicdir of the Python package {package}"))
        };
        match self.language() {
            Some(mecab::Language::Japanese) => return dictionary(Argument::MecabJapanese, "ipadic"),
            Some(mecab::Language::Korean) => return dictionary(Argument::MecabKorean, "mecab-ko-dic"),
            None => {}
        }
        if cfg!(not(feature = "jieba")) && self.0 == "jieba" {
            return Remedy::say("build with the cargo feature 'jieba', which this program was built without");
        }
        let choices = ALL.iter().map(|(_, name, _)| *name).collect();
        UnknownName { what: "tokenizer", given: self.0.clone(), choices }.remedy()
    }
}

impl fmt::Display for UnknownTokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.language() {
            Some(language) => {
                let why = mecab::dictionary(language).err().unwrap_or_default();
                write!(f, "the tokenizer {} cannot work: {why}", self.0)
            }
            None => write!(f, "no tokenizer is called '{}'", self.0),
        }
    }
}

impl std::error::Error for UnknownTokenizer {}

impl FromStr for Tokenizer {
    type Err = UnknownTokenizer;

    fn from_str(name: &str) -> Result<Self, UnknownTokenizer> {
        let mut every = ALL.iter().chain(WITH_DICTIONARY);
        let found = every.find(|(_, known, _)| *known == name).map(|(tokenizer, ..)| *tokenizer);
        match found {
            Some(Self::Mecab(language)) if mecab::dictionary(language).is_err() => None,
            found => found,
        }
        .ok_or_else(|| UnknownTokenizer(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens of PTBTokenizer 3.4.1 for two lines of COCO val2014 in one file.
    #[test]
    fn the_next_caption_decides_whether_a_last_letter_keeps_its_dot() {
        let last = |text: &str, next: Option<&str>| {
            let mut pieces = Vec::new();
            let mut scratch = Scratch::default();
            Tokenizer::Ptb.tokenize_before(text, next, &mut scratch, |piece| pieces.push(piece.to_owned()));
            pieces.pop().unwrap_or_default()
        };
        assert_eq!(last("Lane St. and 12th Ave S.", Some("A street sign at the corner")), "s");
        assert_eq!(last("that says Branch St. 200 N.", Some("Street corner with close up")), "n.");
        assert_eq!(last("a sign with a P.", None), "p", "a caption alone ends a sentence");
    }

    #[test]
    fn every_name_parses_back_and_no_two_are_equal() {
        for (k, (tokenizer, name, _)) in ALL.iter().enumerate() {
            assert_eq!(name.parse(), Ok(*tokenizer));
            assert_eq!(tokenizer.to_string(), *name);
            assert!(
                ALL.iter().skip(k + 1).all(|(other, other_name, _)| other != tokenizer && other_name != name)
            );
        }
    }

    #[cfg(not(feature = "jieba"))]
    #[test]
    fn without_its_feature_jieba_is_unknown_and_its_remedy_says_how_to_get_it() {
        let remedy = |name: &str| name.parse::<Tokenizer>().unwrap_err().remedy().to_string();
        assert!(remedy("jieba").contains("build with the cargo feature 'jieba'"));
        assert!(remedy("ptv").contains("did you mean ptb?"));
    }
}
