//! The probabilities that a language model gives to the tokens of captions, from a table in any format.
//!
//! A row is a segment with a list of numbers, or one token of a segment:
//!
//! ```text
//! {"id": 391895, "probs": [0.6, 0.8, 0.3], "end": 0.5}
//! {"id": "b", "logprobs": [-0.51, -0.22, -1.2, -0.69], "tokens": ["a", "man", "runs", "</s>"]}
//!
//! id,token,logprob
//! 391895,a,-0.51
//! 391895,man,-0.22
//! ```
//!
//! The end of a segment is the number under `end`, or the last one if its token is one of [`END_TOKENS`]. A token
//! without a number, as some models give for the first one, does not count.

use std::collections::HashMap;

use capeval_choice::{Argument, Remedy};

use crate::input::Source;
use crate::table::{self, Cell, Consumer, Names, Row, RowIds, known};
use crate::{Error, ErrorKind, Notice, SegmentId};

/// The tokens that end a segment.
pub const END_TOKENS: [&str; 7] =
    ["</s>", "<eos>", "[SEP]", "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<end>"];

/// The description of a row in errors.
const EXPECTED: &str = "an object with keys such as id and probs or logprobs";

/// The token probabilities of the captions of one system.
#[derive(Clone, Debug, Default)]
pub struct Probabilities {
    /// The display name of the source.
    pub source: String,
    /// The segments, in order of first appearance.
    pub segments: Vec<SegmentProbabilities>,
    /// Notices about reading them.
    pub notices: Vec<Notice>,
}

/// The token probabilities of one caption.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentProbabilities {
    /// The id of the caption.
    pub id: SegmentId,
    /// The scale of the numbers.
    pub scale: Scale,
    /// One number for each token, except those without a number and the end.
    pub tokens: Vec<f64>,
    /// The number of the symbol that ends the caption, if the file contains it.
    pub end: Option<f64>,
}

/// The scale of a number for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Its probability, from 0 to 1.
    Probability,
    /// A logarithm of its probability: at most 0, possibly minus infinity.
    Logarithm,
}

/// Reads probabilities, compressed or not; errors call the file `name`. Ids have no type: `"7"` is 7.
pub fn read_probabilities(bytes: &[u8], name: &str) -> Result<Probabilities, Error> {
    let mut reading = Reading::new(name);
    table::read(Source::from_bytes(bytes, name)?, EXPECTED, &mut reading).map_err(|error| {
        // A file with other content fails at its first row.
        let is_other = reading.ids.count() == 0 && error.kind() != ErrorKind::Io;
        if is_other { error.with_remedy(score_captions()) } else { error }
    })?;
    reading.finish()
}

fn score_captions() -> Remedy {
    Remedy::give(Argument::LanguageModel).to("score captions")
}

/// The kind of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Segment,
    Token,
}

/// The columns of a table.
#[derive(Default)]
struct Columns {
    probabilities: Option<usize>,
    logarithms: Option<usize>,
    tokens: Option<usize>,
    end: Option<usize>,
}

struct Reading<'n> {
    name: &'n str,
    columns: Columns,
    ids: RowIds,
    /// The kind of rows, known from the first row with a number on.
    form: Option<Form>,
    /// The error for the first row without a number, unless rows are tokens.
    numberless: Option<Error>,
    segments: Vec<SegmentProbabilities>,
    known: HashMap<SegmentId, usize>,
}

impl<'n> Reading<'n> {
    fn new(name: &'n str) -> Self {
        let (columns, ids) = (Columns::default(), RowIds::default());
        let (segments, known) = (Vec::new(), HashMap::new());
        Self { name, columns, ids, form: None, numberless: None, segments, known }
    }

    fn finish(self) -> Result<Probabilities, Error> {
        let fault = |kind, message| Err(Error::new(kind, self.name, message));
        if self.segments.is_empty() {
            return fault(ErrorKind::Empty, "there are no probabilities in this file");
        }
        if let Some(error) = self.numberless.filter(|_| self.form != Some(Form::Token)) {
            return Err(error);
        }
        let is_each_alone = self.segments.len() == self.ids.count();
        if self.form == Some(Form::Token) && is_each_alone && self.columns.tokens.is_none() {
            let message = "each segment has a single number, which is perhaps not that of a token";
            let remedy =
                Remedy::say("give a row for each token with the id of its caption, or lists of numbers");
            return fault(ErrorKind::Shape, message).map_err(|error: Error| error.with_remedy(remedy));
        }
        let remedy = Remedy::say("add a column id");
        let notices = self.ids.notice(self.name, known::SEGMENT, remedy).into_iter().collect();
        Ok(Probabilities { source: self.name.to_owned(), segments: self.segments, notices })
    }

    /// The numbers of a row and their properties.
    fn numbers<'r>(&self, row: &'r Row<'r>, id: SegmentId) -> Result<(NumberPlace<'r>, Numbers<'r>), Error> {
        let Columns { probabilities, logarithms, .. } = self.columns;
        let read = |column: Option<usize>| {
            column.map_or(Ok(Numbers::One(Cell::Null)), |column| Numbers::read(row, column))
        };
        let none = Numbers::One(Cell::Null);
        let numbers = (read(probabilities)?, read(logarithms)?);
        let (column, scale, numbers) = match (probabilities, logarithms, numbers) {
            (Some(column), None, (numbers, _)) => (column, Scale::Probability, numbers),
            (Some(column), Some(_), (numbers, other)) if other == none => {
                (column, Scale::Probability, numbers)
            }
            (_, Some(column), (other, numbers)) if other == none => (column, Scale::Logarithm, numbers),
            (_, column, _) => {
                let found = NumberPlace { row, id, column: column.unwrap_or(0), scale: Scale::Logarithm };
                return Err(found.both());
            }
        };
        Ok((NumberPlace { row, id, column, scale }, numbers))
    }

    /// Adds a segment with all its numbers.
    fn add_segment(&mut self, found: NumberPlace<'_>, numbers: &[Option<f64>]) -> Result<(), Error> {
        let end = match self.columns.end {
            Some(column) => found.number(column, &found.row.cell(column)?.typed())?,
            None => None,
        };
        let ends = match self.columns.tokens {
            Some(column) => found.ends(column, numbers.len())?,
            None => false,
        };
        for number in numbers.iter().flatten() {
            found.check(found.column, *number)?;
        }
        let (numbers, end) = match numbers.split_last() {
            Some((last, numbers)) if ends && end.is_none() => (numbers, *last),
            _ => (numbers, end),
        };
        let tokens = numbers.iter().flatten().copied().collect();
        if self.known.contains_key(&found.id) {
            let error = found.refuse("appears twice").of_kind(ErrorKind::Duplicate);
            return Err(error.with_remedy(Remedy::say("give each caption one list")));
        }
        self.known.insert(found.id.clone(), self.segments.len());
        self.segments.push(SegmentProbabilities { id: found.id, scale: found.scale, tokens, end });
        Ok(())
    }

    /// Adds a token to its segment.
    fn add_token(&mut self, found: NumberPlace<'_>, number: &Cell<'_>) -> Result<(), Error> {
        let number = found.number(found.column, number)?;
        let ends = match self.columns.tokens {
            Some(column) => is_end(&found.row.cell(column)?),
            None => false,
        };
        let at = *self.known.entry(found.id.clone()).or_insert(self.segments.len());
        if at == self.segments.len() {
            let (id, scale) = (found.id.clone(), found.scale);
            self.segments.push(SegmentProbabilities { id, scale, tokens: Vec::new(), end: None });
        }
        let segment = &mut self.segments[at];
        // Another token follows, so the last one was not the end.
        segment.tokens.extend(segment.end.take());
        if number.is_some() && segment.tokens.is_empty() {
            segment.scale = found.scale;
        }
        if number.is_some() && segment.scale != found.scale {
            return Err(found.both());
        }
        match ends {
            true => segment.end = number,
            false => segment.tokens.extend(number),
        }
        Ok(())
    }
}

/// The numbers of a row.
#[derive(PartialEq)]
enum Numbers<'r> {
    /// Numbers and nulls.
    List(Vec<Option<f64>>),
    /// The items of another list.
    Cells(Vec<Cell<'r>>),
    /// A cell that is not a list.
    One(Cell<'r>),
}

impl<'r> Numbers<'r> {
    fn read(row: &'r Row<'r>, column: usize) -> Result<Self, Error> {
        if let Some(numbers) = row.numbers(column) {
            return Ok(Self::List(numbers));
        }
        Ok(match row.cell(column)?.typed() {
            Cell::List(cells) => Self::Cells(cells),
            cell => Self::One(cell),
        })
    }
}

/// The position of numbers, and their scale.
struct NumberPlace<'r> {
    row: &'r Row<'r>,
    id: SegmentId,
    column: usize,
    scale: Scale,
}

impl NumberPlace<'_> {
    /// The number in a cell or an item of a list; `None` if it is null.
    fn number(&self, column: usize, cell: &Cell<'_>) -> Result<Option<f64>, Error> {
        let Some(number) = cell.number() else {
            let what = || format!("needs a number for each token, found {}", cell.kind());
            return if *cell == Cell::Null { Ok(None) } else { Err(self.refuse_at(column, &what())) };
        };
        self.check(column, number)?;
        Ok(Some(number))
    }

    /// Refuses a number that is not on the scale.
    fn check(&self, column: usize, number: f64) -> Result<(), Error> {
        let refuse = |what: String| self.refuse_at(column, &what);
        match self.scale {
            Scale::Probability if (0.0..=1.0).contains(&number) => Ok(()),
            Scale::Logarithm if number <= 0.0 => Ok(()),
            Scale::Probability => Err(refuse(format!("has {number}, which is not a probability"))
                .with_remedy(Remedy::say("if it is a logarithm, call the column or key logprobs"))),
            Scale::Logarithm => {
                Err(refuse(format!("has {number}, which is not the logarithm of a probability (0 or less)")))
            }
        }
    }

    /// Returns true if the last of as many tokens as there are numbers ends the segment.
    fn ends(&self, column: usize, n_numbers: usize) -> Result<bool, Error> {
        let (n_tokens, ends) = match self.row.last(column) {
            Some((n_tokens, last)) => (n_tokens, is_end(&last)),
            None => match self.row.cell(column)?.typed() {
                Cell::Null => return Ok(false),
                Cell::List(tokens) => (tokens.len(), tokens.last().is_some_and(is_end)),
                other => {
                    let what = format!("needs a list of tokens, found {}", other.kind());
                    return Err(self.refuse_at(column, &what));
                }
            },
        };
        if n_tokens != n_numbers {
            let what = format!("has {n_tokens} tokens but {n_numbers} numbers");
            return Err(self.refuse_at(column, &what));
        }
        Ok(ends)
    }

    fn both(&self) -> Error {
        let error = self.refuse("has both probabilities and logarithms");
        error.with_remedy(Remedy::say("keep one of them"))
    }

    /// An error about the segment.
    fn refuse(&self, what: &str) -> Error {
        self.refuse_at(self.column, what)
    }

    fn refuse_at(&self, column: usize, what: &str) -> Error {
        self.row.refuse(column, format!("segment {} {what}", self.id))
    }
}

impl Consumer for Reading<'_> {
    fn names(&mut self, names: &[String]) -> Result<Option<Vec<usize>>, Error> {
        let found = Names(names);
        let numbers = |probabilities, logarithms| (found.known(probabilities), found.known(logarithms));
        let (probabilities, logarithms) = match numbers(known::PROBABILITIES, known::LOGARITHMS) {
            (None, None) => numbers(known::PROBABILITY, known::LOGARITHM),
            lists => lists,
        };
        if probabilities.or(logarithms).is_none() {
            let message =
                format!("no column is known to hold probabilities; the columns are {}", found.listed());
            return Err(Error::new(ErrorKind::Shape, self.name, message)
                .with_remedy(Remedy::say("call the column probs or logprobs")));
        }
        let (tokens, end) = (found.known(known::TOKENS), found.known(known::END));
        let id = found.known(known::SEGMENT).or_else(|| found.known(known::IMAGE));
        let shape = |message| Error::new(ErrorKind::Shape, self.name, message);
        self.ids.locate(id, names).map_err(shape)?;
        self.columns = Columns { probabilities, logarithms, tokens, end };
        let wanted = [id, probabilities, logarithms, tokens, end].into_iter().flatten().collect::<Vec<_>>();
        found.refuse_twins(&wanted, self.name)?;
        Ok(Some(wanted))
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let id = match self.ids.next(row)? {
            SegmentId::Text(text) => SegmentId::from_untyped(&text),
            id => id,
        };
        let (found, numbers) = self.numbers(row, id)?;
        let form = match numbers {
            Numbers::One(Cell::Null) if self.form == Some(Form::Segment) => {
                return Err(found.refuse("has no numbers"));
            }
            Numbers::One(Cell::Null) => {
                self.numberless.get_or_insert_with(|| found.refuse("has no numbers"));
                return self.add_token(found, &Cell::Null);
            }
            Numbers::One(_) => Form::Token,
            Numbers::List(_) | Numbers::Cells(_) => Form::Segment,
        };
        if *self.form.get_or_insert(form) != form {
            return Err(found.refuse("has a list of numbers where others have single ones, or the reverse"));
        }
        match numbers {
            Numbers::List(list) => self.add_segment(found, &list),
            Numbers::Cells(cells) => {
                let numbers = cells.iter().map(|cell| found.number(found.column, cell));
                let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
                self.add_segment(found, &numbers)
            }
            Numbers::One(_) if self.ids.are_numbers() => {
                let error = found.refuse("has a single number, and no id tells which tokens belong together");
                Err(error.with_remedy(Remedy::say("add a column id, or give lists of numbers")))
            }
            Numbers::One(number) => self.add_token(found, &number),
        }
    }
}

/// Returns true if a token ends a segment.
fn is_end(token: &Cell<'_>) -> bool {
    matches!(token, Cell::Text(text) | Cell::Untyped(text) if END_TOKENS.contains(&&**text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<SegmentProbabilities>, Error> {
        read_probabilities(text.as_bytes(), "f").map(|read| read.segments)
    }

    #[test]
    fn the_end_is_a_key_or_the_last_token() {
        let by_key = read(r#"{"id": 1, "probs": [0.5, 0.5], "end": 0.125}"#).unwrap();
        let by_token =
            read(r#"{"id": 1, "probs": [0.5, 0.5, 0.125], "tokens": ["a", "b", "</s>"]}"#).unwrap();
        assert_eq!(by_key, by_token);
        let both = read(r#"{"id": 1, "probs": [0.5, 0.125], "tokens": ["a", "</s>"], "end": 0.25}"#).unwrap();
        assert_eq!((&both[0].tokens[..], both[0].end), (&[0.5, 0.125][..], Some(0.25)));
    }

    #[test]
    fn errors_name_the_line_and_the_segment() {
        for (text, expected) in [
            (
                "{\"id\":1,\"probs\":[1]}\n{\"id\":1,\"probs\":[1.5]}",
                "f:2:17 (byte 37): segment 1 has 1.5, which is not a probability",
            ),
            ("{\"id\":1,\"logprobs\":[0.1]}", "f:1:20 (byte 19): segment 1 has 0.1, which is not the log"),
            (
                "{\"id\":1}",
                "f:1:1 (byte 0): no column is known to hold probabilities; the columns are \"id\"",
            ),
            ("{\"id\":null,\"probs\":[]}", "f:1:7 (byte 6): an image id must be an integer or a string"),
            ("{\"id\":1,\"probs\":[1],\"end\":\"x\"}", "f:1:27 (byte 26): segment 1 needs a number"),
            ("{\"id\":1,\"probs\":[1],\"tokens\":[]}", "f:1:30 (byte 29): segment 1 has 0 tokens but 1 n"),
            ("{\"id\":1,\"probs\":[NaN]}", "f:1:17 (byte 16): segment 1 has NaN, which is not a probability"),
            (
                "{\"id\":1,\"probs\":{}}",
                "f:1:17 (byte 16): segment 1 needs a number for each token, found an obj",
            ),
            ("id,probs\n7,\"[0.5]\"\n8,[0.5\n", "f:3: segment 8 has a list of numbers where others"),
            ("x", "f:1:1 (byte 0): no column is known"),
            ("", "f: the file is empty"),
            ("[]", "f: there are no probabilities in this file"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_of_something_else_fails_with_a_way_out() {
        for (text, is_other) in [
            ("[{\"image_id\": 1, \"caption\": \"a dog\"}]", true),
            ("a dog\n", true),
            ("{\"images\":\n[]}", true),
            ("{\"id\":1,\"probs\":[2]}", false),
            ("{\"id\":1,\"probs\":[1]}\n{\"id\":2}", false),
        ] {
            let remedy = read(text).unwrap_err().remedy().map(ToString::to_string).unwrap_or_default();
            assert_eq!(remedy.contains("to score captions"), is_other, "{text}: {remedy}");
        }
    }

    #[test]
    fn minus_infinity_is_the_logarithm_of_zero_as_every_program_writes_it() {
        for text in [
            "{\"id\":1,\"logprobs\":[-1.0,-Infinity]}",
            "id,token,logprob\n1,a,-1\n1,b,-inf\n",
            "id,logprobs\n1,\"[-1, -Infinity]\"\n",
        ] {
            assert_eq!(read(text).unwrap()[0].tokens, [-1.0, f64::NEG_INFINITY], "{text}");
        }
    }

    #[test]
    fn tokens_without_a_number_are_not_counted() {
        assert_eq!(read(r#"{"id":1,"logprobs":[null,-1.0]}"#).unwrap()[0].tokens, [-1.0]);
    }

    #[test]
    fn ids_have_no_type() {
        let ids: Vec<SegmentId> = read("{\"id\":\"7\",\"probs\":[1]}\n{\"id\":\"07\",\"probs\":[1]}")
            .unwrap()
            .into_iter()
            .map(|segment| segment.id)
            .collect();
        assert_eq!(ids, [SegmentId::Integer(7), "07".into()]);
    }

    #[test]
    fn names_of_single_numbers_count_only_where_there_are_no_lists() {
        let read = read(r#"{"id":1,"logprobs":[-1.0],"prob":0.1}"#).unwrap();
        assert_eq!((read[0].scale, &read[0].tokens[..]), (Scale::Logarithm, &[-1.0][..]));
    }
}
