//! The kinds of texts that are not captions: those that make scores meaningless, and those that can be removed.

use capeval_choice::{Code, named};

named! {
    /// A kind of text that makes scores meaningless if most captions are of it.
    pub enum NonCaption ("kind of text that is no caption") {
        Thoughts = "thoughts", "thoughts of a language model before the caption";
        Fences = "fences", "captions in code fences";
        StructuredText = "structured-text", "JSON, dictionaries and other objects as text";
        ByteStrings = "byte-strings", "bytes as Python prints them: b'a dog'";
        SubwordMarks = "subword-marks", "subwords with the marks of a tokenizer: a surf@@ er";
        MissingValues = "missing-values", "missing values as text: nan";
        FailedRequests = "failed-requests", "refusals and errors of a model";
        SpacedLetters = "spaced-letters", "spaces between letters: a d o g";
        NumbersAsCaptions = "numbers-as-captions", "nothing but numbers";
        PathsAsCaptions = "paths-as-captions", "paths, addresses and ids";
        PromptInCaptions = "prompt-in-captions", "the prompt before every caption";
        LabelledTexts = "labelled-texts", "several labelled texts in an answer: Caption: … Tags: …";
    }
}

impl NonCaption {
    /// The kind whose notice has this code.
    pub(crate) fn of(code: Code) -> Option<Self> {
        Self::ALL.iter().copied().find(|non_caption| non_caption.name() == code.name())
    }
}

named! {
    /// A kind of text to remove from captions before they are scored, in the order in which it is done.
    pub enum Cleaning ("kind of text to remove") {
        HtmlEntities = "html-entities", "the notation of HTML: &quot; becomes a quotation mark";
        DecomposedLetters = "decomposed-letters", "accents apart from their letters, which become one character (NFC)";
        Thoughts = "thoughts", "thoughts before the caption, and the tags around the answer";
        Fences = "fences", "code fences around the caption";
        StructuredText = "structured-text", "JSON around the only text in it";
        ByteStrings = "byte-strings", "b'…' around the caption";
        SpecialTokens = "special-tokens", "tokens such as <eos> and <|im_end|>, and tags";
        ChatRoles = "chat-roles", "a label before the caption, such as ASSISTANT:, and the labelled texts beside it";
        StartEndWords = "start-end-words", "words that begin or end captions, such as startseq and endseq";
        SubwordMarks = "subword-marks", "the marks of subwords, which are joined to words";
        Quotes = "quotes", "quotation marks around the caption";
    }
}

impl Cleaning {
    /// The way to remove texts of a kind; `None` if there is none.
    pub(crate) fn of(code: Code) -> Option<Self> {
        match code {
            Code::LabelledTexts => Some(Self::ChatRoles),
            code => Self::ALL.iter().copied().find(|cleaning| cleaning.name() == code.name()),
        }
    }
}

/// A kind that shows in single texts.
pub(super) struct Kind {
    pub code: Code,
    /// The predicate of a sentence about captions of the kind.
    pub predicate: &'static str,
    /// Advice, if texts of the kind cannot be removed.
    pub advice: &'static str,
    /// True if people write such texts, so that a few among many are no fault.
    pub is_written: bool,
}

const fn kind(code: Code, predicate: &'static str, advice: &'static str) -> Kind {
    Kind { code, predicate, advice, is_written: false }
}

const fn written(code: Code, predicate: &'static str, advice: &'static str) -> Kind {
    Kind { is_written: true, ..kind(code, predicate, advice) }
}

/// All kinds that show in single texts, in the order of their notices.
pub(super) const KINDS: &[Kind] = &[
    kind(Code::Thoughts, "contain thoughts of a language model", "keep what follows them"),
    kind(
        Code::LabelledTexts,
        "hold several texts with labels",
        "keep one of them for each image, or give them as a list of captions",
    ),
    kind(Code::Fences, "contain a code fence", "keep the caption within it"),
    kind(
        Code::StructuredText,
        "are JSON, a dictionary or another object as text",
        "keep the caption within it",
    ),
    kind(Code::ByteStrings, "are bytes as Python prints them", "decode them"),
    kind(
        Code::SubwordMarks,
        "contain the marks of subwords or of tagged words",
        "decode the tokens with their tokenizer",
    ),
    kind(
        Code::SpecialTokens,
        "contain tokens of a language model or tags, which count as words",
        "remove such tokens",
    ),
    kind(Code::MissingValues, "are a missing value as text", "leave these captions out"),
    written(
        Code::FailedRequests,
        "are a refusal or an error in place of a caption",
        "ask for these captions again",
    ),
    written(Code::SpacedLetters, "have spaces between their letters", "join the letters of each word"),
    written(Code::NumbersAsCaptions, "are nothing but numbers", "decode token ids into words"),
    written(Code::PathsAsCaptions, "are a path, an address or an id", "name the column of captions"),
    written(Code::HtmlEntities, "contain characters in the notation of HTML", "decode them"),
    written(Code::ControlCharacters, "contain control characters or spaces of no width", "remove them"),
    written(Code::SeveralCaptions, "are several captions, one a line", "keep one of them"),
    written(
        Code::EscapedCharacters,
        "contain characters in the notation of programs, such as \\n",
        "decode them",
    ),
    written(
        Code::Mojibake,
        "contain letters that were decoded wrongly",
        "read the file that they come from as UTF-8",
    ),
    written(Code::ChatRoles, "begin with a label, which counts as words", "keep what follows it"),
];
