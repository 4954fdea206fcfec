//! Rows that are JSON objects: in a list, or one per line.

use super::cell::{Cell, duplicate, read_value};
use super::row::{Cells, Consumer, Row};
use crate::SegmentId;
use crate::error::{Error, Position};
use crate::input::{Line, Source, Text};
use crate::json::{Fault, Json, Result as Read, ValueKind, What};

/// Reads a JSON array of objects; `expected` describes them in errors.
pub(crate) fn read_list(
    source: Source<'_>,
    expected: &str,
    consumer: &mut dyn Consumer,
) -> Result<(), Error> {
    let name = source.name;
    let Text { text, base } = source.into_text()?;
    let origin = Origin { name, text: &text, base, line: None };
    let mut json = Json::new(&text);
    read_array(&mut json, &origin, expected, consumer)?;
    origin.check(json.end())
}

/// Reads the next value, an array of objects.
pub(crate) fn read_array(
    json: &mut Json<'_>,
    origin: &Origin<'_>,
    expected: &str,
    consumer: &mut dyn Consumer,
) -> Result<(), Error> {
    let mut objects = Objects::new(expected);
    let mut first = true;
    origin.check(json.open(b'[', "an array of objects"))?;
    while origin.check(json.next_element(&mut first))? {
        objects.read(json, origin, consumer)?;
    }
    Ok(())
}

/// Reads one object per line; blank lines are skipped.
pub(crate) fn read_lines(
    source: Source<'_>,
    expected: &str,
    consumer: &mut dyn Consumer,
) -> Result<(), Error> {
    let name = source.name;
    let mut lines = source.lines();
    let mut objects = Objects::new(expected);
    while let Some(Line { number, start, text }) = lines.next()? {
        let origin = Origin { name, text, base: start, line: Some(number) };
        let mut json = Json::new(text);
        if json.peek().is_some() {
            objects.read(&mut json, &origin, consumer)?;
            origin.check(json.end())?;
        }
    }
    Ok(())
}

/// The text that objects are read from.
pub(crate) struct Origin<'t> {
    pub name: &'t str,
    pub text: &'t str,
    /// The byte offset in the source at which the text begins.
    pub base: u64,
    /// The number of the line, if the text is a line.
    pub line: Option<u64>,
}

impl Origin<'_> {
    fn position(&self, at: usize) -> Position {
        let position = Position::in_text(self.text, at, self.base);
        Position { line: self.line.or(position.line), ..position }
    }

    /// Turns a fault in a result into an error with its position.
    pub fn check<T>(&self, result: Read<T>) -> Result<T, Error> {
        result.map_err(|fault| {
            let position = self.position(fault.at);
            fault.into_error(self.name).at(position)
        })
    }
}

/// Reads objects one after another.
pub(crate) struct Objects<'e> {
    expected: &'e str,
    /// The keys of the latest object, and the starts of their values.
    names: Vec<String>,
    places: Vec<usize>,
    count: u64,
}

impl<'e> Objects<'e> {
    /// A reader of objects, which `expected` describes in errors.
    pub fn new(expected: &'e str) -> Self {
        Self { expected, names: Vec::new(), places: Vec::new(), count: 0 }
    }

    /// Passes the next object to the consumer.
    pub fn read(
        &mut self,
        json: &mut Json<'_>,
        origin: &Origin<'_>,
        consumer: &mut dyn Consumer,
    ) -> Result<(), Error> {
        json.peek();
        let start = json.at();
        let is_new = origin.check(self.scan(json))?;
        self.count += 1;
        if is_new {
            if let Some(twice) = duplicate(&self.names) {
                let name = &self.names[twice];
                let what = What::Duplicate(format!("the key {name:?} appears twice in one object"));
                return origin.check(Fault::err(self.places[twice], what));
            }
            consumer.names(&self.names).map_err(|error| error.at(origin.position(start)))?;
        }
        let object = Object { json, places: &self.places, origin, start, count: self.count };
        consumer.row(&Row::new(origin.name, &object))
    }

    /// Records the keys and the starts of their values; returns whether the keys differ from those before.
    fn scan(&mut self, json: &mut Json<'_>) -> Read<bool> {
        json.open(b'{', self.expected)?;
        let mut is_new = self.count == 0;
        self.places.clear();
        let mut first = true;
        while let Some(key) = json.next_key(&mut first)? {
            let column = self.places.len();
            if !is_new && !self.names.get(column).is_some_and(|name| key.is(name)) {
                is_new = true;
                self.names.truncate(column);
            }
            if is_new {
                self.names.push(key.decoded()?.into_owned());
            }
            json.peek();
            self.places.push(json.at());
            json.skip()?;
        }
        is_new |= self.places.len() < self.names.len();
        self.names.truncate(self.places.len());
        Ok(is_new)
    }
}

/// An object that has been scanned.
struct Object<'r, 't> {
    json: &'r Json<'t>,
    places: &'r [usize],
    origin: &'r Origin<'r>,
    start: usize,
    count: u64,
}

impl Object<'_, '_> {
    fn at(&self, column: usize) -> usize {
        self.places.get(column).copied().unwrap_or(self.start)
    }
}

impl Cells for Object<'_, '_> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn cell(&self, column: usize) -> Result<Cell<'_>, Error> {
        self.origin.check(read_value(&mut self.json.moved_to(self.at(column))))
    }

    fn id(&self, column: usize) -> Result<SegmentId, Error> {
        self.origin.check(self.json.moved_to(self.at(column)).id())
    }

    fn numbers(&self, column: usize) -> Option<Vec<Option<f64>>> {
        numbers(&mut self.json.moved_to(*self.places.get(column)?)).ok().flatten()
    }

    fn last(&self, column: usize) -> Option<(usize, Cell<'_>)> {
        last(&mut self.json.moved_to(*self.places.get(column)?)).ok().flatten()
    }

    fn place(&self) -> Position {
        match self.origin.line {
            Some(line) => Position { line: Some(line), ..Position::default() },
            None => Position { record: Some(self.count), ..Position::default() },
        }
    }

    fn position(&self, column: Option<usize>) -> Position {
        self.origin.position(column.map_or(self.start, |column| self.at(column)))
    }
}

/// Reads a list of numbers and nulls; `None` for other values.
fn numbers(json: &mut Json<'_>) -> Read<Option<Vec<Option<f64>>>> {
    if json.kind()? != ValueKind::Array {
        return Ok(None);
    }
    json.open(b'[', "an array")?;
    let (mut first, mut numbers) = (true, Vec::new());
    while json.next_element(&mut first)? {
        if !matches!(json.kind()?, ValueKind::Number | ValueKind::Other) {
            return Ok(None);
        }
        match json.scalar()? {
            "null" => numbers.push(None),
            text => match text.parse() {
                Ok(number) => numbers.push(Some(number)),
                Err(_) => return Ok(None),
            },
        }
    }
    Ok(Some(numbers))
}

/// Reads a list, of which only the length and the last item are kept; `None` for other values and for an empty list.
fn last<'t>(json: &mut Json<'t>) -> Read<Option<(usize, Cell<'t>)>> {
    if json.kind()? != ValueKind::Array {
        return Ok(None);
    }
    json.open(b'[', "an array")?;
    let (mut first, mut count, mut latest) = (true, 0, json.clone());
    while json.next_element(&mut first)? {
        count += 1;
        latest = json.clone();
        json.skip()?;
    }
    if count == 0 {
        return Ok(None);
    }
    Ok(Some((count, read_value(&mut latest)?)))
}
