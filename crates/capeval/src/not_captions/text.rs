//! Detects the kinds that show in a single text, in one pass over its characters.

use std::sync::LazyLock;

use capeval_choice::Code;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use super::census::{count, n_words};
use super::thoughts::after_thoughts;

/// The classes of the characters of a text: ordinary captions have none, and are done with at once.
#[derive(Clone, Copy)]
struct Classes(u16);

impl Classes {
    const TAG: u16 = 1;
    const COLON: u16 = 1 << 1;
    const ENTITY: u16 = 1 << 2;
    const TICK: u16 = 1 << 3;
    const ESCAPE: u16 = 1 << 4;
    const PART: u16 = 1 << 5;
    const DIGIT: u16 = 1 << 6;
    const OTHER: u16 = 1 << 7;
    const QUOTE: u16 = 1 << 8;
    const SLASH: u16 = 1 << 9;
    const CONTROL: u16 = 1 << 10;
    const UPPER: u16 = 1 << 11;
    const BREAK: u16 = 1 << 12;
    const LESS: u16 = 1 << 13;
    /// Marks of subwords, and signs that may be marks.
    const PIECE: u16 = 1 << 14;
    const SIGN: u16 = 1 << 15;

    const OF_BYTES: [u16; 256] = {
        let mut classes = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            classes[byte] = match byte as u8 {
                b'<' => Self::TAG | Self::LESS,
                b'[' | b'{' | b'(' => Self::TAG,
                b':' => Self::COLON,
                b'&' => Self::ENTITY,
                b'`' => Self::TICK,
                b'\\' => Self::ESCAPE,
                b'#' | b'@' => Self::PART | Self::PIECE,
                b'_' | b'|' | b'~' | b'+' | b'=' | b'^' | b'$' => Self::PART | Self::SIGN,
                b'*' | b'%' => Self::PART,
                b'0'..=b'9' => Self::DIGIT,
                b'"' | b'\'' => Self::QUOTE,
                b'/' => Self::SLASH | Self::SIGN,
                b'\n' => Self::BREAK,
                b'A'..=b'Z' => Self::UPPER,
                0..=0x08 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f => Self::CONTROL,
                0x80.. => Self::OTHER,
                _ => 0,
            };
            byte += 1;
        }
        classes
    };

    fn of(text: &str) -> Self {
        let class = |byte: u8| Self::OF_BYTES.get(usize::from(byte)).copied().unwrap_or_default();
        Self(text.bytes().fold(0, |all, byte| all | class(byte)))
    }

    fn has(self, classes: u16) -> bool {
        self.0 & classes != 0
    }
}

/// The looks at the characters of a text, in order: the classes without one of which there is nothing to find, the
/// kind, and the look itself.
type Rule = (u16, Code, fn(&str) -> bool);
const RULES: &[Rule] = &[
    (Classes::LESS, Code::FailedRequests, is_page),
    (Classes::TAG | Classes::SLASH | Classes::COLON | Classes::OTHER, Code::Thoughts, |text| {
        after_thoughts(text).is_some()
    }),
    (Classes::TICK, Code::Fences, |text| text.contains("```")),
    (Classes::TAG, Code::StructuredText, is_structure),
    (Classes::QUOTE, Code::ByteStrings, is_bytes),
    (Classes::PIECE | Classes::SIGN | Classes::OTHER, Code::SubwordMarks, has_subwords),
    (Classes::TAG, Code::SpecialTokens, |text| special_token(text).is_some()),
    (Classes::LESS, Code::SpecialTokens, has_markup),
    (Classes::UPPER, Code::SpecialTokens, has_bare_token),
    (Classes::CONTROL | Classes::OTHER, Code::ControlCharacters, has_control),
    (Classes::BREAK, Code::SeveralCaptions, is_list),
    (Classes::ESCAPE, Code::EscapedCharacters, has_escape),
    (Classes::ENTITY, Code::HtmlEntities, has_entity),
    (Classes::OTHER, Code::Mojibake, is_mojibake),
];

/// The kind of a text that is no caption, or of what it contains besides one.
pub(super) fn kind_of(text: &str) -> Option<Code> {
    let text = text.trim();
    let classes = Classes::of(text);
    let marked = RULES.iter().find(|(of, _, is)| classes.has(*of) && is(text)).map(|(_, code, _)| *code);
    marked.or_else(|| {
        if text.is_empty() {
            return None;
        }
        if is_nothing(text) {
            return Some(Code::MissingValues);
        }
        if is_failure(text) || text.starts_with("analysis") && after_thoughts(text).is_some() {
            return Some(if text.starts_with("analysis") { Code::Thoughts } else { Code::FailedRequests });
        }
        if classes.has(Classes::COLON | Classes::TAG | Classes::PART | Classes::BREAK)
            && (names_speaker(text) || preamble(text).is_some())
        {
            return Some(Code::ChatRoles);
        }
        of_words(text, classes)
    })
}

/// Returns true for a page of HTML, which gateways send in place of an answer.
fn is_page(text: &str) -> bool {
    ["<html", "<!doctype"].iter().any(|start| {
        let head = text.as_bytes().get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
    })
}

/// Returns true for tokens of language models whose brackets are gone: `UNK`.
pub(super) fn has_bare_token(text: &str) -> bool {
    const BARE: &[&[u8; 3]] = &[b"UNK", b"PAD", b"EOS", b"BOS", b"SOS", b"SEP", b"CLS", b"EOT", b"OOV"];
    // Few enough that most parts of a text have no word in capitals; without a branch, many bytes are compared at once.
    const FEW: usize = 64;
    let bytes = text.as_bytes();
    let is_space = |at: usize| bytes.get(at).is_none_or(|byte| *byte == b' ');
    let is_token = |(at, word): (usize, &[u8; 3])| {
        is_space(at + 3) && (at == 0 || is_space(at - 1)) && BARE.contains(&word)
    };
    let is_upper = |byte: &u8| byte.wrapping_sub(b'A') < 26;
    let has_capitals = |(firsts, seconds): (&[u8], &[u8])| {
        let pairs = firsts.iter().zip(seconds);
        pairs.fold(false, |any, (first, second)| any | (is_upper(first) & is_upper(second)))
    };
    let parts = bytes.chunks(FEW).zip(bytes.get(1..).unwrap_or_default().chunks(FEW));
    let mut parts = parts.enumerate().filter(|(_, part)| has_capitals(*part));
    parts.any(|(k, _)| bytes.array_windows().enumerate().skip(k * FEW).take(FEW).any(is_token))
        && bytes.iter().any(u8::is_ascii_lowercase)
}

/// Returns true for control characters, such as the colours of a terminal, and for spaces of no width between Latin
/// letters; other scripts have them between words.
pub(super) fn has_control(text: &str) -> bool {
    let is_hidden = |(at, _): (usize, &str)| {
        text.get(..at).is_some_and(|head| head.ends_with(|c: char| c.is_ascii_alphanumeric()))
    };
    text.bytes().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
        || text.match_indices('\u{200b}').any(is_hidden)
}

/// Returns true for several lines that are numbered or have bullets.
fn is_list(text: &str) -> bool {
    let is_item = |line: &&str| {
        let line = line.trim_start();
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        line.starts_with(['•', '*', '-']) || rest.len() < line.len() && rest.starts_with(['.', ')', ':'])
    };
    text.lines().filter(is_item).count() > 1
}

/// Returns true for JSON, dictionaries, lists of strings, and calls such as `Caption(text='a dog')`.
fn is_structure(text: &str) -> bool {
    let has_quote = text.contains(['"', '\'']);
    match text.as_bytes() {
        [b'{', .., b'}'] => text.contains(':') && has_quote,
        [b'[', .., b']'] => {
            text.contains('{') && text.contains(':') && has_quote
                || text.starts_with("[\"")
                || text.starts_with("['")
        }
        [b'(', .., b')'] => has_quote && (text.starts_with("('") || text.starts_with("(\"")),
        [b'<', .., b'>'] => text.contains(" object at 0x"),
        [.., b')'] => text.split_once('(').is_some_and(|(name, inner)| {
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
            !name.is_empty()
                && name.chars().all(is_name)
                && (inner.starts_with(['[', '"', '\'', '{']) || inner.contains("='") || inner.contains("=\""))
        }),
        _ => text == "[object Object]",
    }
}

fn is_bytes(text: &str) -> bool {
    matches!(text.as_bytes(), [b'b' | b'B', quote @ (b'\'' | b'"'), .., end] if quote == end)
}

/// Returns true for the marks of SentencePiece, of byte-level and WordPiece tokenizers and of BPE, and for any other
/// sign at the same end of most words.
pub(super) fn has_subwords(text: &str) -> bool {
    let is_piece = |word: &str| {
        let after = word.strip_prefix("##").and_then(|rest| rest.chars().next());
        after.is_some_and(char::is_alphanumeric)
            || word.len() > 2 && word.ends_with("@@") && !word.starts_with("@@")
    };
    let is_ascii = text.is_ascii();
    if !is_ascii && marks_pieces(text)
        || count(text, |byte| byte == b'<') > 0 && text.contains("</w>")
        || count(text, |byte| matches!(byte, b'#' | b'@')) > 0 && text.split(' ').any(is_piece)
    {
        return true;
    }
    if is_ascii {
        return has_signs(text);
    }
    // In Maltese, Ġ is a letter.
    let (n_words, n_spaces) =
        (text.split([' ', 'Ġ']).filter(|word| !word.is_empty()).count(), text.matches('Ġ').count());
    n_spaces > 0 && n_spaces * 2 >= n_words || has_signs(text)
}

/// Returns true for SentencePiece's marks before pieces of words, rather than within or before a token such as
/// `<｜end▁of▁sentence｜>`.
pub(super) fn marks_pieces(text: &str) -> bool {
    const MARKS: [char; 2] = ['▁', '￭'];
    let mut rest = text;
    while let Some((before, after)) = special_token(rest).and_then(|token| rest.split_once(token)) {
        if before.trim_end_matches(['▁', ' ']).contains(MARKS) {
            return true;
        }
        rest = after;
    }
    rest.contains(MARKS)
}

/// Returns true for a sign at the same end of most words, and for words with tags.
fn has_signs(text: &str) -> bool {
    let words = || text.split_whitespace();
    // The signs beyond ASCII begin with the byte 0xc2, and so do other characters.
    let n_signs =
        count(text, |byte| matches!(byte, b'_' | b'|' | b'/' | b'~' | b'+' | b'^' | b'=' | b'$' | 0xc2));
    if words().nth(2 * n_signs).is_some() {
        return false;
    }
    let n_words = n_words(text);
    if n_words < 3 {
        return false;
    }
    let is_sign = |c: &char| matches!(c, '_' | '|' | '~' | '+' | '^' | '=' | '·' | '¦' | '$');
    let most = |sign: fn(&str) -> Option<char>| {
        let signs = || words().filter(|word| word.chars().nth(1).is_some()).filter_map(sign).filter(is_sign);
        signs().next().is_some_and(|first| {
            let n = signs().filter(|sign| *sign == first).count();
            n >= 3 && n * 2 >= n_words
        })
    };
    let is_tagged = |word: &&str| {
        word.split_once(['_', '|', '/']).is_some_and(|(word, tag)| {
            !word.is_empty()
                && !tag.is_empty()
                && tag.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'$')
        })
    };
    words().filter(is_tagged).count() * 5 >= n_words * 4
        || most(|word| word.chars().next())
        || most(|word| word.chars().next_back())
}

/// Names of the tokens with which language models begin, end, separate and fill texts, without their brackets.
const SPECIAL: &[&str] = &[
    "s", "pad", "eos", "bos", "sos", "start", "end", "unk", "mask", "sep", "cls", "image", "img", "eot",
    "eoc", "inst", "bot", "eop", "eod", "oov", "go", "startseq", "endseq", "num", "audio", "video",
];

/// The first token of a language model in a text, such as `</s>`, `[SEP]` or `<|im_end|>`.
pub(super) fn special_token(text: &str) -> Option<&str> {
    let starts = text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'<' | b'[' | b'{'));
    starts.map(|(start, _)| text.get(start..).unwrap_or_default()).find_map(|rest| {
        let end = match rest.as_bytes().first()? {
            b'<' => '>',
            b'[' => ']',
            _ => '}',
        };
        // What cannot be within a token ends the search, so that a text of brackets is walked through once.
        let inner = rest.get(1..)?.split([end, ' ', '<', '[', '{']).next()?;
        let token = rest.get(..inner.len() + 2).filter(|token| token.ends_with(end))?;
        // DeepSeek writes `<｜end▁of▁sentence｜>`.
        if inner.starts_with('｜') && inner.ends_with('｜') && !inner.contains(char::is_whitespace) {
            return Some(token);
        }
        if inner.is_empty() || !inner.is_ascii() {
            return None;
        }
        let bare = inner.trim_matches(['|', '/']);
        let is_named = SPECIAL.iter().any(|special| special.eq_ignore_ascii_case(bare));
        // Names of several parts, such as <end_of_turn> and <loc_12>, and bytes, such as <0x0A>.
        let is_angular = end == '>';
        let is_formed = is_angular
            && !bare.is_empty()
            && (inner.starts_with('|') && inner.ends_with('|') && inner.len() > 2
                || bare.contains('_')
                    && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                || bare.starts_with("0x"));
        (is_named || is_formed).then_some(token)
    })
}

fn has_escape(text: &str) -> bool {
    text.match_indices('\\').any(|(at, _)| {
        let rest = text.as_bytes().get(at + 1..).unwrap_or_default();
        let is_hex = |range: std::ops::Range<usize>| {
            rest.get(range).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        match rest.first() {
            Some(b'u') => is_hex(1..5),
            Some(b'x') => is_hex(1..3),
            Some(b'n' | b't' | b'r') => {
                !rest.get(1).is_some_and(u8::is_ascii_lowercase) || text.matches("\\n").count() > 1
            }
            Some(b'"' | b'\'') => true,
            _ => false,
        }
    })
}

/// Returns true for `&quot;`, `&#39;` and other characters in the notation of HTML.
fn has_entity(text: &str) -> bool {
    text.match_indices('&').any(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let (is_number, rest) = rest.strip_prefix('#').map_or((false, rest), |rest| (true, rest));
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let is_name = || (2..=8).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_ended = rest.get(name.len()..).is_some_and(|rest| rest.starts_with(';'));
        is_ended && if is_number { name.len() > 1 } else { is_name() }
    })
}

/// Returns true if a run of letters is the bytes of UTF-8, each read as a character of its own, or if characters were
/// replaced.
fn is_mojibake(text: &str) -> bool {
    if text.contains('\u{fffd}') {
        return true;
    }
    let mut run: Vec<u8> = Vec::new();
    for c in text.chars().chain(['.']) {
        match windows_byte(c) {
            Some(byte) => run.push(byte),
            None => {
                // A lead byte and what belongs to it; `Ã` alone is a letter.
                if run.len() > 1 && std::str::from_utf8(&run).is_ok() {
                    return true;
                }
                run.clear();
            }
        }
    }
    false
}

/// The byte of a character beyond ASCII in Latin-1 or in its extension by Windows.
fn windows_byte(c: char) -> Option<u8> {
    const EXTENSION: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
    match u32::from(c) {
        0..0x80 => None,
        code @ 0x80..=0xff => u8::try_from(code).ok(),
        0x2123.. => None,
        _ => EXTENSION.chars().position(|known| known == c).and_then(|at| u8::try_from(0x80 + at).ok()),
    }
}

/// Returns true unless characters of a text make up another one, such as a letter and its accent: it is in NFC.
pub(super) fn is_composed(text: &str) -> bool {
    text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes || text.nfc().eq(text.chars())
}

/// Returns true for tags that end, have attributes, or that HTML leaves open.
pub(super) fn has_markup(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default();
        // A tag has no other one within it.
        let inner = rest.split(['<', '>']).next().unwrap_or_default();
        if !rest.get(inner.len()..).is_some_and(|rest| rest.starts_with('>')) {
            return false;
        }
        let name = inner.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':'));
        let is_open = ["br", "p", "hr", "li"].iter().any(|open| open.eq_ignore_ascii_case(name));
        is_name && (inner.starts_with('/') || inner.ends_with('/') || inner.contains('=') || is_open)
    })
}

fn is_nothing(text: &str) -> bool {
    const NOTHING: &str = "nan none null n/a na <na> nil undefined nat #n/a [null] (null) \\n #nan -nan";
    text.len() <= 9 && NOTHING.split(' ').any(|nothing| text.eq_ignore_ascii_case(nothing))
}

/// Returns true for errors and refusals in place of a caption, as clients of models write them.
fn is_failure(text: &str) -> bool {
    static PHRASES: LazyLock<Vec<&str>> = LazyLock::new(|| {
        "error:|error |error(|[error|<error|failed to |failed:|exception:|exception |request failed|\
             http error|http 4|http 5|rate limit|timeout|timed out|connectionerror|readtimeout|\
             traceback (most|internal server error|cuda out of memory|cuda error|content filter|\
             i'm sorry,|i'm sorry but|i'm sorry. |i’m sorry,|i’m sorry but|i am sorry,|i am sorry but|\
             the response was filtered|the model is overloaded|the request |sorry, i|sorry, but|\
             sorry, as|i cannot |i can't |i can’t |i am unable|i'm unable|i’m unable|i'm not able|\
             i am not able|i do not have the ability|$ |>>> |as an ai|as a language model|\
             as a text-based|unable to |i apologize|i apologise|unfortunately, i|抱歉|对不起|很抱歉|\
             无法|我无法|不好意思"
            .split('|')
            .collect()
    });
    let bytes = text.as_bytes();
    // Most captions begin with an article.
    let is_article = matches!(bytes, [b'a' | b'A', b' ' | b'n', ..]);
    let first = bytes.first().map(u8::to_ascii_lowercase);
    let begins = |start: &&str| {
        let head = bytes.get(..start.len());
        start.bytes().next() == first && head.is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
    };
    // Of the class of an error: `ValueError: …`, `openai.RateLimitError: …`.
    let is_class = || {
        let end = bytes.iter().take(48).position(|byte| matches!(byte, b':' | b'(' | b' '));
        let name = end.and_then(|end| text.get(..end));
        name.is_some_and(|name| name.len() > 5 && (name.ends_with("Error") || name.ends_with("Exception")))
    };
    !is_article && (PHRASES.iter().any(begins) || is_class())
}

/// The text after a first line that announces it: `Sure! Here is a caption:`.
pub(super) fn preamble(text: &str) -> Option<&str> {
    const LONGEST: usize = 120;
    let (line, rest) = text.trim().split_once('\n')?;
    let is_announced = line.len() <= LONGEST && line.trim_end().trim_end_matches('*').ends_with([':', '：']);
    (is_announced && !rest.trim().is_empty()).then_some(rest.trim())
}

/// Returns true for `ASSISTANT: a dog` and `### Response: a dog`.
fn names_speaker(text: &str) -> bool {
    const LONGEST: usize = 16;
    let head = text.trim_start_matches(['#', ' ', '*', '<', '|', '[']);
    let end = head.bytes().take(LONGEST).position(|byte| matches!(byte, b':' | b'\n' | b'|' | b']'));
    let name = end.and_then(|end| head.get(..end)).map(|name| name.trim_end_matches(['*', ' ']));
    name.is_some_and(is_role)
}

/// Returns true for the name of a speaker in templates of conversations, or of what a model says.
pub(super) fn is_role(name: &str) -> bool {
    const ROLES: &str = "\
        assistant user human gpt system response answer caption output model bot ai chatbot agent";
    ROLES.split(' ').any(|role| name.eq_ignore_ascii_case(role))
}

/// The answer in a conversation between tokens of its template: what follows the last token that is one of a speaker,
/// or that a name of one follows, unless that is the person who asks. `None` if there is no such token.
pub(super) fn last_turn(text: &str) -> Option<&str> {
    let asks =
        |name: &str| ["user", "human", "system", "inst"].iter().any(|role| name.eq_ignore_ascii_case(role));
    let mut answer = None;
    let mut rest = text;
    while let Some(token) = special_token(rest) {
        let at = rest.find(token)?;
        rest = rest.get(at + token.len()..)?;
        let name = token.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '/');
        let is_instruction = name.eq_ignore_ascii_case("/inst");
        let name = name.trim_matches('/');
        if is_instruction || is_role(name) && !asks(name) {
            answer = Some(rest);
            continue;
        }
        let after = rest.trim_start_matches(' ');
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (role, follows) = after.split_at(end);
        let is_header = follows.starts_with(['\n', ':'])
            || special_token(follows).is_some_and(|token| follows.starts_with(token));
        if asks(name) || is_header && asks(role) {
            answer = None;
        } else if is_header && is_role(role) {
            answer = Some(follows.trim_start_matches(':'));
        }
    }
    answer.filter(|answer| !answer.trim().is_empty())
}

/// The text before the first token that ends an answer, if the model went on after it. `None` where a conversation with
/// an answer follows.
pub(super) fn before_end(text: &str) -> Option<&str> {
    const ENDS: &str = "/s im_end endoftext end_of_text end_of_sentence eos eot eot_id end_of_turn |end|";
    const STARTS: &str = "s bos sos start begin_of_text begin_of_sentence startoftext pad cls";
    let is_one = |names: &str, token: &str| {
        let inner = &token.get(1..token.len() - 1).unwrap_or_default().replace('▁', "_").replace('｜', "|");
        let bare = inner.trim_matches('|');
        names.split(' ').any(|name| name.eq_ignore_ascii_case(inner) || name.eq_ignore_ascii_case(bare))
    };
    let mut at = 0;
    let mut start = 0;
    while let Some(token) = text.get(at..).and_then(special_token) {
        let place = at + text.get(at..)?.find(token)?;
        let (before, after) = (text.get(start..place)?, text.get(place + token.len()..)?);
        at = place + token.len();
        if is_one(STARTS, token) && before.trim().is_empty() {
            start = at;
        } else if is_one(ENDS, token) {
            if before.trim().is_empty() {
                start = at;
                continue;
            }
            let is_answer = !names_speaker(before) && before.contains(char::is_alphabetic);
            let mut rest = after.trim_start();
            while let Some(token) = special_token(rest).filter(|token| rest.starts_with(token)) {
                rest = rest.get(token.len()..)?.trim_start();
            }
            let role = rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            let asks = ["user", "human", "system"].iter().any(|name| role.eq_ignore_ascii_case(name));
            return (is_answer && !rest.is_empty() && (asks || !is_role(role))).then_some(before);
        } else {
            return None;
        }
    }
    None
}

/// The answer in a conversation of which only the names of speakers are left, each in a line of its own: what follows
/// the last one.
pub(super) fn last_speech(text: &str) -> Option<&str> {
    let mut answer = None;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        let name = line.trim().trim_matches(['#', '*', ':', ' ']);
        if is_role(name) {
            answer = text.get(end..);
        }
    }
    answer.filter(|answer| !answer.trim().is_empty())
}

/// Kinds that show in all words of a text.
fn of_words(text: &str, classes: Classes) -> Option<Code> {
    let (mut n, mut letters, mut numbers) = (0, 0, 0);
    for word in text.split_whitespace() {
        n += 1;
        letters +=
            usize::from(word.len() == 1 && word.as_bytes().first().is_some_and(u8::is_ascii_alphabetic));
        numbers += usize::from(word.bytes().all(|byte| byte.is_ascii_digit() || b",.[]-".contains(&byte)));
        // Most texts show early that they are of words.
        if n == 4 && letters < 3 && numbers < 4 {
            return None;
        }
    }
    if n >= 6 && letters * 10 >= n * 9 {
        return Some(Code::SpacedLetters);
    }
    if n >= 1 && numbers == n && classes.has(Classes::DIGIT) {
        return Some(Code::NumbersAsCaptions);
    }
    (n == 1 && is_identifier(text)).then_some(Code::PathsAsCaptions)
}

/// Returns true for a word that is a path, an address or an id: `a/b.jpg`, `COCO_val2014_000000391895`.
fn is_identifier(word: &str) -> bool {
    let has_extension = word.rsplit_once('.').is_some_and(|(stem, end)| {
        let is_known = (2..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let has_place = stem.contains(['/', '\\', '_']) || stem.bytes().any(|byte| byte.is_ascii_digit());
        is_known && end.starts_with(|c: char| c.is_ascii_alphabetic()) && has_place
    });
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    let is_id = word.len() >= 12
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && word.contains(['_', '-', '/']);
    word.contains("://") || has_extension || is_id || word.starts_with('/') && word.matches('/').count() > 1
}

/// Looks that are skipped and would find something in a text.
#[cfg(test)]
pub(super) fn skipped_looks(text: &str) -> Vec<Code> {
    let classes = Classes::of(text);
    let finds = |(of, _, is): &&Rule| !classes.has(*of) && is(text);
    RULES.iter().filter(finds).map(|(_, code, _)| *code).collect()
}
