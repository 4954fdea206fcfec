//! Reads formulas: recursive descent over a text, with the place of every fault.

use std::fmt;

use super::{Condition, Formula, Function, Operator, Relation};
use crate::{Remedy, suggest};

/// The deepest nesting, so that no text exhausts the stack.
const DEPTH: usize = 100;

/// A text that is no formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// The number of the character at fault, from 1.
    pub place: usize,
    message: String,
    /// The name at fault and those that exist, if a name is unknown.
    unknown: Option<(String, Vec<String>)>,
}

impl FormulaError {
    /// The names to choose from, if a name is unknown.
    pub fn remedy(&self) -> Option<Remedy> {
        let (name, known) = self.unknown.as_ref()?;
        Some(suggest(name, known.iter().map(String::as_str)))
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.place, self.message)
    }
}

impl std::error::Error for FormulaError {}

pub(super) fn formula(text: &str, known: Option<&[&str]>) -> Result<Formula, FormulaError> {
    let mut parser = Parser { text, at: 0, known, depth: 0 };
    let formula = parser.sum()?;
    parser.end()?;
    Ok(formula)
}

pub(super) fn condition(text: &str, known: Option<&[&str]>) -> Result<Condition, FormulaError> {
    let mut parser = Parser { text, at: 0, known, depth: 0 };
    let left = parser.sum()?;
    let found = Relation::ALL.iter().copied().find(|relation| parser.rest().starts_with(relation.name()));
    let relation = found.ok_or_else(|| parser.expected(&format!("one of {}", Relation::NAMES.join(", "))))?;
    parser.at += relation.name().len();
    let right = parser.sum()?;
    parser.end()?;
    Ok(Condition { left, relation, right })
}

/// Returns true if a word contains `c`; a hyphen may also be a minus. An at sign leads to a group of images.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '-' | '@')
}

struct Parser<'t> {
    text: &'t str,
    /// The number of bytes that were read.
    at: usize,
    known: Option<&'t [&'t str]>,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// The text that is left, without white space before it.
    fn rest(&mut self) -> &'t str {
        let left = &self.text[self.at..];
        let rest = left.trim_start();
        self.at += left.len() - rest.len();
        rest
    }

    /// Reads `token`, if it comes next.
    fn takes(&mut self, token: char) -> bool {
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.at += token.len_utf8();
        }
        is_next
    }

    fn needs(&mut self, token: char) -> Result<(), FormulaError> {
        if self.takes(token) { Ok(()) } else { Err(self.expected(&token.to_string())) }
    }

    fn end(&mut self) -> Result<(), FormulaError> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.expected("the end")) }
    }

    /// An error about what comes next.
    fn error(&self, message: String) -> FormulaError {
        FormulaError { place: self.text[..self.at].chars().count() + 1, message, unknown: None }
    }

    fn expected(&mut self, what: &str) -> FormulaError {
        let rest = self.rest();
        let word = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        let symbols = rest.find(|c| !"<>=!&|".contains(c)).unwrap_or(rest.len());
        let one = rest.chars().next().map_or(0, char::len_utf8);
        self.error(match &rest[..word.max(symbols).max(one)] {
            "" => format!("{what} is expected, and the text ends"),
            next => format!("{what} is expected, not '{next}'"),
        })
    }

    fn sum(&mut self) -> Result<Formula, FormulaError> {
        self.joined(&[('+', Operator::Plus), ('-', Operator::Minus), ('−', Operator::Minus)], Self::product)
    }

    fn product(&mut self) -> Result<Formula, FormulaError> {
        let signs =
            [('*', Operator::Times), ('×', Operator::Times), ('/', Operator::Over), ('÷', Operator::Over)];
        self.joined(&signs, Self::value)
    }

    /// Values that `part` reads, joined by `operators` from the left.
    fn joined(
        &mut self,
        operators: &[(char, Operator)],
        part: fn(&mut Self) -> Result<Formula, FormulaError>,
    ) -> Result<Formula, FormulaError> {
        let mut left = part(self)?;
        // Each operator makes the formula deeper by one.
        let depth = self.depth;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.takes(*sign)) {
            self.deeper()?;
            left = Formula::Binary(Box::new(left), *operator, Box::new(part(self)?));
        }
        self.depth = depth;
        Ok(left)
    }

    fn deeper(&mut self) -> Result<(), FormulaError> {
        self.depth += 1;
        if self.depth > DEPTH { Err(self.error("the formula is too deep".to_owned())) } else { Ok(()) }
    }

    fn value(&mut self) -> Result<Formula, FormulaError> {
        self.deeper()?;
        let value = if self.takes('-') || self.takes('−') {
            Formula::Negative(Box::new(self.value()?))
        } else if self.takes('(') {
            let inner = self.sum()?;
            self.needs(')')?;
            inner
        } else if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.') && !self.is_named() {
            Formula::Number(self.number()?)
        } else {
            self.named()?
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Returns true if a known name comes next. One that is a number needs quotation marks, or a measure in brackets.
    fn is_named(&mut self) -> bool {
        let rest = self.rest();
        self.known.and_then(|known| longest(rest, known)).is_some_and(|name| {
            name.parse::<f64>().is_err() || rest[name.len()..].trim_start().starts_with('[')
        })
    }

    fn number(&mut self) -> Result<f64, FormulaError> {
        let rest = self.rest();
        let mut last = ' ';
        let ends = |c: char| {
            let is_of_number = c.is_alphanumeric() || c == '.' || "+-".contains(c) && "eE".contains(last);
            last = c;
            !is_of_number
        };
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let number = word.parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| self.error(format!("'{word}' is no number")))?;
        self.at += word.len();
        Ok(number)
    }

    /// A function, a name, or a name with a measure in brackets.
    fn named(&mut self) -> Result<Formula, FormulaError> {
        if !self.is_named()
            && let Some(function) = self.function()
        {
            return self.call(function);
        }
        let name = self.name()?;
        if !self.takes('[') {
            return Ok(Formula::Name(name));
        }
        let measure = self.name()?;
        self.needs(']')?;
        Ok(Formula::Item(name, measure))
    }

    /// Reads the name of a function, if it comes next.
    fn function(&mut self) -> Option<Function> {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())];
        let function = word.parse().ok()?;
        self.at += word.len();
        Some(function)
    }

    fn call(&mut self, function: Function) -> Result<Formula, FormulaError> {
        self.needs('(')?;
        let mut values = vec![self.sum()?];
        while self.takes(',') {
            values.push(self.sum()?);
        }
        self.needs(')')?;
        if function == Function::Percent && values.len() > 1 {
            return Err(self.error("percent takes one value".to_owned()));
        }
        Ok(Formula::Call(function, values))
    }

    fn name(&mut self) -> Result<String, FormulaError> {
        let rest = self.rest();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let (name, length) = match quote {
            Some(quote) => match rest[1..].split_once(quote) {
                Some((name, _)) => (name, name.len() + 2),
                None => return Err(self.error("a quotation mark has no partner".to_owned())),
            },
            None => {
                let known = self.known.and_then(|known| longest(rest, known));
                let word = &rest[..rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())];
                let name = known.unwrap_or(word);
                (name, name.len())
            }
        };
        if name.is_empty() {
            return Err(self.expected("a value"));
        }
        if let Some(known) = self.known.filter(|known| !known.contains(&name)) {
            let is_called = rest[length..].trim_start().starts_with('(');
            let (what, known) = match is_called {
                true => {
                    ("no function", Function::ALL.iter().map(|function| function.name().to_owned()).collect())
                }
                false => ("nothing", known.iter().map(|&name| name.to_owned()).collect()),
            };
            let error = self.error(format!("{what} is called '{name}'"));
            return Err(FormulaError { unknown: Some((name.to_owned(), known)), ..error });
        }
        self.at += length;
        Ok(name.to_owned())
    }
}

/// The longest of `known` that `text` begins with and that ends where a word may end.
fn longest<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    let ends_there = |name: &&&str| {
        let behind = text.strip_prefix(**name).map(|behind| behind.chars().next());
        behind.is_some_and(|next| next.is_none_or(|c| c == '-' || !is_of_word(c)))
    };
    known.iter().filter(|name| !name.is_empty()).filter(ends_there).max_by_key(|name| name.len()).copied()
}
