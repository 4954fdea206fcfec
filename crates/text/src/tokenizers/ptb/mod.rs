//! `ptb`: the Penn Treebank tokens of Stanford's PTBTokenizer 3.4.1 as pycocoevalcap asks for them.

mod automaton;
mod classes;
mod fast;
mod letters;
mod lexer;
mod pattern;
mod post;
mod rules;
mod sigma;

use super::Scratch;
use automaton::Automaton;
use lexer::Source;
use post::Post;

/// The automaton as far as it is made, and buffers.
#[derive(Debug)]
pub(super) struct Lexer {
    automaton: Automaton,
    printed: String,
    post: Post,
}

impl Lexer {
    fn new() -> Self {
        Self { automaton: Automaton::new(), printed: String::new(), post: Post::default() }
    }
}

/// Calls `piece` with the raw tokens of `text`, case and punctuation kept.
pub fn lex(text: &str, scratch: &mut Scratch, piece: impl FnMut(&str)) {
    lex_before(text, None, scratch, piece);
}

/// As [`lex`], with what follows `text` after a line break.
pub fn lex_before(text: &str, next: Option<&str>, scratch: &mut Scratch, mut piece: impl FnMut(&str)) {
    let Lexer { automaton, printed, .. } = &mut **scratch.ptb.get_or_insert_with(|| Box::new(Lexer::new()));
    automaton.forget();
    let source = Source { text, next };
    let mut at = 0;
    while at < text.len() {
        let token = source.token(automaton, at);
        if let Some(token) = token.form.print(&text[at..token.end], printed) {
            piece(token);
        }
        at = token.resume;
    }
}

/// Calls `piece` with what pycocoevalcap makes of `text`, with what follows it after a line break.
pub fn tokenize_before(text: &str, next: Option<&str>, scratch: &mut Scratch, piece: impl FnMut(&str)) {
    let Scratch { text: lower, ptb } = scratch;
    let lexer = ptb.get_or_insert_with(|| Box::new(Lexer::new()));
    fast::tokenize(lexer, lower, Source { text, next }, piece);
}
