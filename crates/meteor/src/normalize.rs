//! METEOR's own tokenisation (`-norm`), pass by pass.
//!
//! It is derived from the Moses tokenizer and applies a chain of replacements to the whole line. Each pass
//! goes through the line once from left to right and consumes the characters next to the one it looks for, so
//! in `a, ,b` only the first comma is separated. This module reproduces that.

use crate::java::is_token_delimiter;
use crate::language::Language;
use crate::resources::{Resources, Words};

/// In the working line, a run of dots is represented by this number plus its length, above all characters.
///
/// METEOR temporarily writes such runs as the letters `DOTMULTI`. No pass here treats the number differently,
/// except for input that itself contains these letters, for which [`Dots::Letters`] follows METEOR.
const DOTS: u32 = 0x11_0000;

/// The representation of runs of dots: numbers, or METEOR's letters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dots {
    Numbers,
    Letters,
}

/// Splits lines into words; reuses its buffers.
#[derive(Debug, Default)]
pub(crate) struct Normalizer {
    line: Vec<u32>,
    spare: Vec<u32>,
}

/// The tables that [`Normalizer`] needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NormalizerTables {
    language: Language,
    prefixes: Option<Words>,
    numeric_prefixes: Option<Words>,
}

impl NormalizerTables {
    pub(crate) fn new(resources: &Resources, language: Language) -> Self {
        let (prefixes, numeric_prefixes) = resources.prefixes(language);
        Self { language, prefixes, numeric_prefixes }
    }
}

/// Returns true if METEOR treats `c` as a letter: western European and Cyrillic.
fn is_alpha(c: u32) -> bool {
    let Some(c) = char::from_u32(c) else { return c >= DOTS };
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    matches!(c,
        'À'..='Ö' | 'Ø'..='ö' | 'ø'..='\u{17e}'
        | '\u{400}'..='\u{527}' | '\u{a640}'..='\u{a66e}' | '\u{a67e}'..='\u{a697}' | '\u{1d00}'..='\u{1d7f}')
}

fn is_digit(c: u32) -> bool {
    (u32::from(b'0')..=u32::from(b'9')).contains(&c)
}

fn is_alnum(c: u32) -> bool {
    is_digit(c) || is_alpha(c)
}

fn is(c: u32, wanted: char) -> bool {
    c == wanted as u32
}

/// Returns true if Java's `\s` matches `c`.
fn is_regex_space(c: u32) -> bool {
    matches!(c, 0x20 | 0x09..=0x0D)
}

fn is_delimiter(c: u32) -> bool {
    char::from_u32(c).is_some_and(is_token_delimiter)
}

/// The spaces that are collapsed into one space at the end.
fn is_final_space(c: u32) -> bool {
    matches!(c, 0x20 | 0x2000..=0x200A | 0x202F | 0x205F | 0x3000 | 0xA0)
}

impl Normalizer {
    /// Normalises `line` into `output`, which is cleared first; does not change the case.
    pub(crate) fn normalize(
        &mut self,
        resources: &Resources,
        tables: &NormalizerTables,
        line: &str,
        keep_punctuation: bool,
        output: &mut String,
    ) {
        let dots = if line.contains("MULTI") { Dots::Letters } else { Dots::Numbers };
        self.line.clear();
        self.line.push(u32::from(b' '));
        self.line.extend(line.chars().map(u32::from));
        self.line.push(u32::from(b' '));
        self.separate_symbols();
        self.hide_dots(dots);
        if self.contains(',') {
            let not_digit = |c| !is_digit(c);
            self.replace_between(',', not_digit, not_digit, " , ");
            self.replace_between(',', is_digit, not_digit, " , ");
            self.replace_between(',', not_digit, is_digit, " , ");
        }
        self.unify_quotes();
        self.unify_dashes();
        self.split_apostrophes(tables.language);
        self.split_final_dots(resources, tables);
        self.show_dots(dots);
        if !keep_punctuation {
            for c in &mut self.line {
                if !is_alnum(*c) {
                    *c = u32::from(b' ');
                }
            }
        }
        output.clear();
        let mut space = false;
        for c in self.line.iter().filter_map(|c| char::from_u32(*c)) {
            if is_final_space(u32::from(c)) {
                space = true;
            } else {
                if space {
                    output.push(' ');
                }
                space = false;
                output.push(c);
            }
        }
        let trimmed = crate::java::trim(output).len();
        if trimmed != output.len() {
            *output = crate::java::trim(output).to_owned();
        }
    }

    fn contains(&self, wanted: char) -> bool {
        self.line.contains(&u32::from(wanted))
    }

    /// Rewrites the line: `step` reads from the rest of the line, appends to the new line, and returns how
    /// far it read.
    fn rewrite(&mut self, mut step: impl FnMut(&[u32], &mut Vec<u32>) -> usize) {
        self.spare.clear();
        let mut rest = self.line.as_slice();
        while !rest.is_empty() {
            let read = step(rest, &mut self.spare).max(1);
            rest = rest.get(read..).unwrap_or(&[]);
        }
        std::mem::swap(&mut self.line, &mut self.spare);
    }

    /// Replaces `middle` between a character that is `left` and one that is `right`; both are consumed.
    fn replace_between(
        &mut self,
        middle: char,
        left: impl Fn(u32) -> bool,
        right: impl Fn(u32) -> bool,
        replacement: &str,
    ) {
        self.rewrite(|rest, line| match *rest {
            [a, b, c, ..] if is(b, middle) && left(a) && right(c) => {
                line.push(a);
                line.extend(replacement.chars().map(u32::from));
                line.push(c);
                3
            }
            [a, ..] => {
                line.push(a);
                1
            }
            [] => 1,
        });
    }

    fn replace(&mut self, from: &str, to: &str) {
        let from: Vec<u32> = from.chars().map(u32::from).collect();
        self.rewrite(|rest, line| {
            if rest.starts_with(&from) {
                line.extend(to.chars().map(u32::from));
                from.len()
            } else {
                line.extend(rest.first());
                1
            }
        });
    }

    fn contains_text(&self, wanted: &str) -> bool {
        let wanted: Vec<u32> = wanted.chars().map(u32::from).collect();
        self.line.windows(wanted.len()).any(|window| window == wanted)
    }

    fn separate_symbols(&mut self) {
        self.rewrite(|rest, line| {
            let c = rest[0];
            let stays = is_alnum(c)
                || is_regex_space(c)
                || matches!(char::from_u32(c), Some('.' | '\'' | '`' | ',' | '-' | '‘' | '’'));
            if stays {
                line.push(c);
            } else {
                line.extend([u32::from(b' '), c, u32::from(b' ')]);
            }
            1
        });
    }

    /// Separates runs of dots and hides them from the following passes.
    fn hide_dots(&mut self, dots: Dots) {
        if dots == Dots::Numbers && !self.contains('.') {
            return;
        }
        self.rewrite(|rest, line| {
            let n = rest.iter().take_while(|c| is(**c, '.')).count();
            if n < 2 {
                line.push(rest[0]);
                return 1;
            }
            line.push(u32::from(b' '));
            if dots == Dots::Numbers {
                line.push(DOTS + n as u32);
                line.push(u32::from(b' '));
            } else {
                line.extend("DOTMULTI".chars().map(u32::from));
                line.extend(&rest[1..n]);
            }
            n
        });
        if dots == Dots::Numbers {
            return;
        }
        let pattern: Vec<u32> = "DOTMULTI.".chars().map(u32::from).collect();
        while self.contains_text("DOTMULTI.") {
            self.rewrite(|rest, line| match rest.strip_prefix(pattern.as_slice()) {
                Some([next, ..]) if !is(*next, '.') => {
                    line.extend("DOTDOTMULTI ".chars().map(u32::from));
                    line.push(*next);
                    pattern.len() + 1
                }
                _ => {
                    line.push(rest[0]);
                    1
                }
            });
            self.replace("DOTMULTI.", "DOTDOTMULTI");
        }
    }

    fn show_dots(&mut self, dots: Dots) {
        if dots == Dots::Letters {
            while self.contains_text("DOTDOTMULTI") {
                self.replace("DOTDOTMULTI", "DOTMULTI.");
            }
            self.replace("DOTMULTI", ".");
        } else if self.line.iter().any(|c| *c >= DOTS) {
            self.rewrite(|rest, line| {
                match rest[0].checked_sub(DOTS) {
                    Some(n) => line.extend(std::iter::repeat_n(u32::from(b'.'), n as usize)),
                    None => line.push(rest[0]),
                }
                1
            });
        }
    }

    fn unify_quotes(&mut self) {
        for c in &mut self.line {
            if matches!(char::from_u32(*c), Some('`' | '‘' | '’')) {
                *c = u32::from(b'\'');
            }
        }
        self.rewrite(|rest, line| match *rest {
            [a, b, ..] if is(a, '\'') && is(b, '\'') => {
                line.extend(" \" ".chars().map(u32::from));
                2
            }
            [a, ..] if is(a, '“') || is(a, '”') => {
                line.extend(" \" ".chars().map(u32::from));
                1
            }
            [a, ..] => {
                line.push(a);
                1
            }
            [] => 1,
        });
    }

    fn unify_dashes(&mut self) {
        for c in &mut self.line {
            if is(*c, '–') {
                *c = u32::from(b'-');
            }
        }
        if self.contains('-') {
            self.replace("--", "-");
            self.replace_between('-', |c| is_alnum(c) || is(c, '.'), is_alnum, " ");
        }
    }

    fn split_apostrophes(&mut self, language: Language) {
        if !self.contains('\'') {
            return;
        }
        let not_alpha = |c| !is_alpha(c);
        match language {
            Language::English => {
                self.replace_between('\'', not_alpha, not_alpha, " ' ");
                self.replace_between('\'', |c| !is_alnum(c), is_alpha, " ' ");
                self.replace_between('\'', is_alpha, not_alpha, " ' ");
                self.replace_between('\'', is_alpha, is_alpha, " '");
                self.replace_between('\'', is_digit, |c| is(c, 's'), " '");
            }
            Language::French => {
                self.replace_between('\'', not_alpha, not_alpha, " ' ");
                self.replace_between('\'', not_alpha, is_alpha, " ' ");
                self.replace_between('\'', is_alpha, not_alpha, " ' ");
                self.replace_between('\'', is_alpha, is_alpha, "' ");
            }
            _ => self.replace("'", " ' "),
        }
    }

    /// Splits the line into words, and a final dot from each word to which it does not belong.
    fn split_final_dots(&mut self, resources: &Resources, tables: &NormalizerTables) {
        self.spare.clear();
        let file = resources.file();
        let contains =
            |words: Option<Words>, text: &str| words.is_some_and(|words| words.contains(file, text));
        let mut words = self.line.split(|c| is_delimiter(*c)).filter(|word| !word.is_empty()).peekable();
        while let Some(word) = words.next() {
            match word.split_last() {
                Some((dot, before)) if is(*dot, '.') && !before.is_empty() => {
                    let next = words.peek().and_then(|next| next.first());
                    let text: String = before.iter().filter_map(|c| char::from_u32(*c)).collect();
                    if before.iter().any(|c| is(*c, '.')) && before.iter().any(|c| is_alpha(*c)) {
                        self.spare.extend(word.iter().filter(|c| !is(**c, '.')));
                    } else if contains(tables.prefixes, &text)
                        || next.is_some_and(|c| (u32::from(b'a')..=u32::from(b'z')).contains(c))
                        || contains(tables.numeric_prefixes, &text) && next.is_some_and(|c| is_digit(*c))
                    {
                        self.spare.extend(word);
                    } else {
                        self.spare.extend(before);
                        self.spare.extend([u32::from(b' '), *dot]);
                    }
                }
                _ => self.spare.extend(word),
            }
            self.spare.push(u32::from(b' '));
        }
        std::mem::swap(&mut self.line, &mut self.spare);
    }
}
