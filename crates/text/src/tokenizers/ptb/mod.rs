//! `ptb`: the Penn Treebank tokens of Stanford's PTBTokenizer 3.4.1 as used by pycocoevalcap.
//!
//! The reference is the Java program `edu.stanford.nlp.process.PTBTokenizer -preserveLines -lowerCase` of
//! stanford-corenlp-3.4.1.jar, run by pycocoevalcap 1.2 on all captions at once. A token is the longest match
//! of about eighty rules, including the text at which a rule only looks ahead; finished tokens are
//! lower-cased; then pycocoevalcap drops most punctuation.
//!
//! Here each text is tokenised on its own, with a look at the lines that follow. A line feed in a text is a space, as
//! in pycocoevalcap. Other line breaks (carriage return, U+000B, U+000C, U+2028, U+2029) end a line for the rules, but
//! the tokens of all lines belong to the same text, whereas pycocoevalcap assigns them to the captions that follow.
//!
//! In three cases the tokens of a text depend on the lines that follow:
//! - A single letter with a full stop at the end (`letter K.`) keeps the full stop, unless the next line
//!   begins with a tag, or with `A`, `The` or one of about fifty other capitalised words.
//! - `no.`, `fig.`, `ca.` and similar abbreviations at the end keep their full stop if the next line begins
//!   with a digit.
//! - There is no line break after the last line, so a smiley or a file name at its very end is split.
//!
//! Also, in the Java program a tag with an unclosed quoted attribute, or one odd smiley, continues into the following
//! lines; here it ends, unfinished, with its text.
//!
//! [`lex_360`] follows the lexer of version 3.6.0 with its default options, whose rules differ in a few places.
//!
//! How it works: `fast` reads plain words and leaves everything else to `lexer`, which runs the `automaton`
//! of the `rules`, written as a `pattern` over the character `classes`; `post` finishes the tokens.

mod automaton;
mod classes;
mod fast;
mod lexer;
mod pattern;
mod post;
mod rules;
mod sigma;
#[cfg(any(fuzzing, test))]
pub mod slow;

use super::{Following, Scratch};
use automaton::Automaton;
use lexer::Source;
use post::Post;

/// The part of the automaton built so far, and buffers.
#[derive(Debug)]
pub(super) struct Lexer {
    automaton: Automaton,
    printed: String,
    post: Post,
}

/// The versions of Stanford's program whose rules are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// 3.4.1, as pycocoevalcap runs it.
    V341,
    /// 3.6.0, as SPICE runs it.
    V360,
}

impl Lexer {
    fn new(version: Version) -> Self {
        Self { automaton: Automaton::new(version), printed: String::new(), post: Post::default() }
    }

    /// Calls `piece` with the raw tokens of `text`. Returns whether they may depend on the lines after it.
    fn lex<'t>(
        &mut self,
        text: &str,
        following: &dyn Fn() -> Following<'t>,
        piece: &mut impl FnMut(&str),
    ) -> bool {
        let Self { automaton, printed, .. } = self;
        automaton.forget();
        let source = Source { text, following };
        let mut at = 0;
        while at < text.len() {
            let token = source.token(automaton, at);
            if let Some(token) = token.form.print(&text[at..token.end], printed) {
                piece(token);
            }
            at = token.resume;
        }
        automaton.is_open
    }
}

/// Calls `piece` with the raw tokens of `text`, keeping case and punctuation, where `text` is a whole file.
///
/// An abbreviation at the end is followed by a second full stop.
///
/// ```
/// use capeval_text::{Scratch, tokenizers::ptb};
///
/// let mut tokens = Vec::new();
/// ptb::lex("The dog can't.", &mut Scratch::default(), |token| tokens.push(token.to_owned()));
/// assert_eq!(tokens, ["The", "dog", "ca", "n't", "."]);
/// ```
pub fn lex(text: &str, scratch: &mut Scratch, piece: impl FnMut(&str)) {
    lex_before(text, &|| Box::new(std::iter::empty()), scratch, piece);
}

/// As [`lex`], given the lines after `text`. Returns whether the tokens may depend on them.
pub fn lex_before<'t>(
    text: &str,
    following: &dyn Fn() -> Following<'t>,
    scratch: &mut Scratch,
    mut piece: impl FnMut(&str),
) -> bool {
    scratch.ptb.get_or_insert_with(|| Box::new(Lexer::new(Version::V341))).lex(text, following, &mut piece)
}

/// As [`lex`], with the lexer of CoreNLP 3.6.0, which SPICE uses; line feeds end lines.
///
/// ```
/// use capeval_text::{Scratch, tokenizers::ptb};
///
/// let mut tokens = Vec::new();
/// ptb::lex_360("A man.... Why?", &mut Scratch::default(), |token| tokens.push(token.to_owned()));
/// assert_eq!(tokens, ["A", "man", "...", ".", "Why", "?"]);
/// ```
pub fn lex_360(text: &str, scratch: &mut Scratch, mut piece: impl FnMut(&str)) {
    let lexer = scratch.ptb_360.get_or_insert_with(|| Box::new(Lexer::new(Version::V360)));
    // All rules treat a line feed and a carriage return alike, but the older ones take a line feed for a space.
    let lines;
    let text = if text.contains('\n') {
        lines = text.replace('\n', "\r");
        &lines
    } else {
        text
    };
    lexer.lex(text, &|| Box::new(std::iter::empty()), &mut piece);
}

/// Calls `piece` with the tokens that pycocoevalcap produces for `text`, given the lines after it. Returns whether the
/// tokens may depend on these lines.
pub fn tokenize_before<'t>(
    text: &str,
    following: &dyn Fn() -> Following<'t>,
    scratch: &mut Scratch,
    piece: impl FnMut(&str),
) -> bool {
    let Scratch { text: lower, ptb, .. } = scratch;
    let lexer = ptb.get_or_insert_with(|| Box::new(Lexer::new(Version::V341)));
    fast::tokenize(lexer, lower, Source { text, following }, piece);
    lexer.automaton.is_open
}
