//! Finds one token at a time: its longest match, its end, and its printed form.

use super::super::Following;
use super::automaton::{Automaton, DEAD, START, State};
use super::classes::{self, BREAK, END, SPACE};
use super::pattern::NO_RULE;
use super::rules::{Form, TokenEnd};

/// The distance in bytes between the positions that a long match records.
const STRIDE: usize = 64;

/// A text and the texts after it, at which the rules may look.
#[derive(Clone, Copy)]
pub(super) struct Source<'s, 't> {
    /// The text: one line, in which line feeds count as spaces.
    pub(super) text: &'s str,
    /// The lines after it; without any, the file ends, without a line break.
    pub(super) following: &'s dyn Fn() -> Following<'t>,
}

/// A token within a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) form: Form,
    /// The end of the token.
    pub(super) end: usize,
    /// The start of the next token: `end`, or one character before it.
    pub(super) resume: usize,
}

/// The end of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) rule: u8,
    /// In bytes; counting continues in the line break after the text and in the text that follows.
    pub(super) end: usize,
    /// True if the match includes the first half of the character above U+FFFF that starts at `end`.
    pub(super) half: bool,
}

impl Source<'_, '_> {
    /// The token at `start`, which must be a character boundary before the end of the text.
    #[inline]
    pub(super) fn token(self, automaton: &mut Automaton, start: usize) -> Token {
        let Some(found) = self.longest(automaton, start) else {
            let end = start + self.char_after(start).map_or(1, char::len_utf8);
            return Token { form: Form::Nothing, end, resume: end };
        };
        let rule = &automaton.rules()[usize::from(found.rule)];
        let mut end = match rule.cut {
            TokenEnd::Whole => found.end,
            cut => self.cut(cut, start, found),
        };
        // Only a tag with an unclosed quoted value could extend past the end.
        end = end.min(self.text.len());
        match rule.form {
            Form::Acronym if end == start + 2 => Token { form: Form::Same, end: end - 1, resume: end - 1 },
            Form::Acronym | Form::StopTwice => Token { form: Form::Same, end, resume: end - 1 },
            form => Token { form, end, resume: end },
        }
    }

    /// The longest match from `start` on.
    ///
    /// Some rules read far ahead without success: any run without spaces may turn out to be an email address.
    /// To process long texts in linear time, positions from which no match was found are recorded every
    /// [`STRIDE`] bytes, as in Reps, "Maximal-munch tokenization in linear time", 1998.
    #[inline]
    pub(super) fn longest(self, automaton: &mut Automaton, start: usize) -> Option<Match> {
        let bytes = self.text.as_bytes();
        let mut best = None;
        let mut state = START;
        let mut at = start;
        let far = start + STRIDE;
        while let Some(&byte) = bytes.get(at) {
            if byte < 0x80 {
                state = automaton.step(state, classes::ASCII[usize::from(byte)]);
                at += 1;
            } else {
                (state, at) = self.wide(automaton, state, at, &mut best);
            }
            if state == DEAD {
                break;
            }
            let rule = automaton.end(state);
            if rule != NO_RULE {
                best = Some(Match { rule, end: at, half: false });
            }
            if at >= far {
                return self.far(automaton, state, at, best);
            }
        }
        if state == DEAD { best } else { self.beyond(automaton, state, best) }
    }

    /// Continues a match that has become long.
    #[inline(never)]
    fn far(
        self,
        automaton: &mut Automaton,
        mut state: State,
        mut at: usize,
        mut best: Option<Match>,
    ) -> Option<Match> {
        let bytes = self.text.as_bytes();
        let mut passed = std::mem::take(&mut automaton.passed);
        while let Some(&byte) = bytes.get(at) {
            let from = at;
            if byte < 0x80 {
                state = automaton.step(state, classes::ASCII[usize::from(byte)]);
                at += 1;
            } else {
                (state, at) = self.wide(automaton, state, at, &mut best);
                if best.is_some_and(|best| best.half) {
                    passed.clear();
                }
            }
            if state == DEAD {
                break;
            }
            let rule = automaton.end(state);
            if rule != NO_RULE {
                best = Some(Match { rule, end: at, half: false });
                passed.clear();
            } else if from / STRIDE != at / STRIDE {
                if automaton.hopeless.contains(&(at, state)) {
                    state = DEAD;
                    break;
                }
                passed.push((at, state));
            }
        }
        let found = best.map(|best| (best.rule, best.end));
        if state != DEAD {
            best = self.beyond(automaton, state, best);
        }
        if best.map(|best| (best.rule, best.end)) == found {
            automaton.hopeless.extend(passed.iter().copied());
        }
        passed.clear();
        automaton.passed = passed;
        best
    }

    /// Reads the non-ASCII character at `at`; one above U+FFFF is read as two.
    #[inline(never)]
    fn wide(
        self,
        automaton: &mut Automaton,
        state: State,
        at: usize,
        best: &mut Option<Match>,
    ) -> (State, usize) {
        let Some(c) = self.char_after(at) else { return (DEAD, at) };
        let class = classes::of(c);
        let mut state = automaton.step(state, class);
        if c > '\u{ffff}' {
            let rule = automaton.end(state);
            if rule != NO_RULE {
                *best = Some(Match { rule, end: at, half: true });
            }
            state = automaton.step(state, class);
        }
        (state, at + c.len_utf8())
    }

    /// Continues with the line break at the end of the text and with the lines after it, up to the end of the first one
    /// that is not blank.
    ///
    /// Only here does a token depend on what follows the text, which the automaton notes.
    #[inline(never)]
    fn beyond(self, automaton: &mut Automaton, state: State, mut best: Option<Match>) -> Option<Match> {
        let mut state = automaton.step(state, END);
        if state == DEAD {
            return best;
        }
        automaton.is_open = true;
        let mut following = (self.following)().peekable();
        if following.peek().is_none() {
            return best;
        }
        let mut ends = false;
        let lines = following.take_while(|line| !std::mem::replace(&mut ends, !line.trim().is_empty()));
        let classes = lines.flat_map(|line| {
            line.chars().flat_map(|c| [classes::of(c); 2].into_iter().take(c.len_utf16())).chain([END])
        });
        let mut units = 1;
        let mut classes = classes.into_iter();
        loop {
            let rule = automaton.end(state);
            if rule != NO_RULE {
                best = Some(Match { rule, end: self.text.len() + units, half: false });
            }
            let Some(class) = classes.next() else { return best };
            state = automaton.step(state, class);
            if state == DEAD {
                return best;
            }
            units += 1;
        }
    }

    /// The end of the token that starts at `start`.
    fn cut(self, cut: TokenEnd, start: usize, found: Match) -> usize {
        let end = match cut {
            TokenEnd::Whole => found.end,
            TokenEnd::Before(units) => self.back(found, units),
            TokenEnd::First => start + self.char_after(start).map_or(1, char::len_utf8),
            TokenEnd::AtSpace => self.white_after(start, found.end).unwrap_or_else(|| self.back(found, 1)),
            TokenEnd::AfterStop => self.text[start..].find('.').map_or(found.end, |stop| start + stop + 1),
            TokenEnd::AfterMark => self.text[start..].find('!').map_or(found.end, |mark| start + mark + 1),
            TokenEnd::BeforeStop { spaced } => {
                let head = self.text.get(start..found.end).and_then(|text| text.rsplit_once('.'));
                let before = start + head.map_or(0, |(head, _)| head.len());
                if spaced { self.step_back(before).0 } else { before }
            }
            TokenEnd::BeforeClitic => {
                let (before, last) = self.step_back(found.end);
                match self.apostrophe_before(before) {
                    Some(apostrophe) if matches!(last, Some('m' | 's' | 'd' | 'M' | 'S' | 'D')) => apostrophe,
                    _ => {
                        let (before, _) = self.step_back(before);
                        self.apostrophe_before(before).unwrap_or(found.end)
                    }
                }
            }
            TokenEnd::BeforeNot => {
                let (before, _) = self.step_back(found.end);
                let apostrophe = self.apostrophe_before(before).unwrap_or(before);
                self.step_back(apostrophe).0
            }
        };
        // Every rule leaves a token of at least one character.
        if end > start { end } else { found.end }
    }

    /// The position `units` UTF-16 units before the end of a match.
    fn back(self, found: Match, units: u8) -> usize {
        let mut units = usize::from(units);
        let mut end = found.end;
        if found.half {
            units = units.saturating_sub(1);
        }
        // The text after this one is already counted in units.
        let surplus = end.saturating_sub(self.text.len()).min(units);
        end -= surplus;
        units -= surplus;
        while units > 0 {
            let (before, c) = self.step_back(end);
            end = before;
            units = units.saturating_sub(c.map_or(units, char::len_utf16));
        }
        end
    }

    /// The first white space from `start` and before `end`; the end of the text counts as white space.
    fn white_after(self, start: usize, end: usize) -> Option<usize> {
        let inside = self.text.get(start..end.min(self.text.len()))?;
        let white = SPACE | BREAK;
        match inside.char_indices().find(|(_, c)| white.has(classes::of(*c))) {
            Some((offset, _)) => Some(start + offset),
            None => (end > self.text.len()).then_some(self.text.len()),
        }
    }

    /// The start of the apostrophe that ends at `end`: one character or `&apos;`.
    fn apostrophe_before(self, end: usize) -> Option<usize> {
        match self.step_back(end) {
            (before, Some(';')) => Some(before.saturating_sub("&apos".len())),
            (before, Some(c)) if classes::LOOSE_APOSTROPHE.has(classes::of(c)) => Some(before),
            _ => None,
        }
    }

    fn char_after(self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    /// The character that ends at `end`, and its start.
    fn step_back(self, end: usize) -> (usize, Option<char>) {
        match self.text.get(..end).and_then(|head| head.chars().next_back()) {
            Some(c) => (end - c.len_utf8(), Some(c)),
            None => (end, None),
        }
    }
}

impl Form {
    /// The printed form of the token `text`, possibly written to `buffer`; `None` if nothing is printed.
    pub(super) fn print<'b>(self, text: &'b str, buffer: &'b mut String) -> Option<&'b str> {
        match self {
            Self::Same | Self::StopTwice | Self::Acronym => return Some(text),
            Self::Nothing | Self::LineBreak => return None,
            Self::Fixed(fixed) => return Some(fixed),
            Self::Hyphens => return Some(if matches!(text.len(), 3 | 4) { "--" } else { text }),
            Self::Unhyphenated if !text.contains('\u{ad}') => return Some(text),
            Self::Unhyphenated
            | Self::Unbroken
            | Self::Phone
            | Self::Bracketed
            | Self::Ampersand
            | Self::Closing
            | Self::Opening
            | Self::Fraction
            | Self::Sign
            | Self::Currency => {}
        }
        buffer.clear();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let (read, written) = self.rewrite(rest, c);
            match written {
                Some(written) => buffer.push_str(written),
                None => buffer.push(c),
            }
            rest = rest.get(read..).unwrap_or_default();
        }
        if self == Self::Unhyphenated && buffer.is_empty() {
            buffer.push('-');
        }
        Some(buffer)
    }

    /// The number of bytes to replace at the start of `rest`, which begins with `c`, and the replacement.
    fn rewrite(self, rest: &str, c: char) -> (usize, Option<&'static str>) {
        let written = match (self, c) {
            (Self::Unhyphenated, '\u{ad}') => "",
            (Self::Unbroken | Self::Phone, ' ' | '\n') => "\u{a0}",
            (Self::Phone | Self::Bracketed, '(') => "-LRB-",
            (Self::Phone | Self::Bracketed, ')') => "-RRB-",
            (Self::Bracketed, '\n') => " ",
            (Self::Ampersand, '&')
                if rest.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("&amp;")) =>
            {
                return (5, Some("&"));
            }
            // The printer knows named quotes only in lower case.
            (Self::Opening | Self::Closing, '&') if rest.starts_with("&quot;") => {
                return (6, Some(if self == Self::Opening { "``" } else { "''" }));
            }
            (Self::Opening | Self::Closing, '&') if rest.starts_with("&apos;") => {
                return (6, Some(if self == Self::Opening { "`" } else { "'" }));
            }
            (Self::Opening, '"') | (Self::Opening | Self::Closing, '\u{93}' | '\u{201c}' | '\u{ab}') => "``",
            (Self::Closing, '"') | (Self::Opening | Self::Closing, '\u{94}' | '\u{201d}' | '\u{bb}') => "''",
            (Self::Opening, '\'')
            | (Self::Opening | Self::Closing, '\u{91}' | '\u{2018}' | '\u{201b}' | '\u{2039}') => "`",
            (Self::Opening | Self::Closing, '\u{92}' | '\u{2019}' | '\u{203a}') => "'",
            (Self::Fraction, '\u{bc}') => "1/4",
            (Self::Fraction, '\u{bd}') => "1/2",
            (Self::Fraction, '\u{be}') => "3/4",
            (Self::Fraction, '\u{2153}') => "1/3",
            (Self::Fraction, '\u{2154}') => "2/3",
            (Self::Sign, '\u{95}') => "\u{2022}",
            (Self::Sign, '\u{99}') => "\u{2122}",
            (Self::Currency, '\u{a2}') => "cents",
            (Self::Currency, '\u{a3}') => "#",
            (Self::Currency, '\u{80}' | '\u{a4}' | '\u{20a0}' | '\u{20ac}') => "$",
            _ => return (c.len_utf8(), None),
        };
        (c.len_utf8(), Some(written))
    }
}
