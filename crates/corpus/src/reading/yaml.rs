//! Reads values in YAML, which data sets of sounds use.

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::table::Cell;

/// Deeper nesting is no data.
const MAX_DEPTH: usize = 64;

/// The values of a text in YAML that has objects, or lists by id; `None` for other texts, which nearly all are plain.
///
/// Aliases are refused: a few lines of them can stand for gigabytes.
pub(super) fn values(text: &str) -> Option<Vec<Cell<'static>>> {
    let looks_like_yaml = |line: &&str| {
        let line = line.trim_start().trim_start_matches("- ").trim_end();
        line.ends_with(':') || line.contains(": ")
    };
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with(['#', '%']) && *line != "---");
    if text.trim_start().starts_with(['{', '[']) || !lines.next().is_some_and(|line| looks_like_yaml(&line)) {
        return None;
    }
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        builder.take(event.ok()?.0)?;
    }
    let is_marked = text.lines().any(|line| line.starts_with('#') || line == "---");
    let is_value = |value: &Cell<'_>| match value {
        Cell::List(_) => true,
        Cell::Text(_) => is_marked,
        _ => false,
    };
    let is_by_id = |document: &Cell<'_>| match document {
        Cell::Object(fields) => fields.len() > 1 && fields.iter().all(|(_, value)| is_value(value)),
        _ => false,
    };
    let are_data = builder.has_objects || builder.documents.iter().all(is_by_id);
    (are_data && !builder.documents.is_empty()).then_some(builder.documents)
}

/// The fault of a text that looks like YAML and is none; `None` for other texts.
pub(crate) fn fault(text: &str) -> Option<String> {
    let is_field = |line: &&str| {
        let field = line.trim_start().trim_start_matches("- ");
        let key = field.split_once(": ").map(|(key, _)| key).or_else(|| field.trim_end().strip_suffix(':'));
        key.is_some_and(|key| !key.is_empty() && !key.contains(char::is_whitespace))
    };
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let is_nested = lines().any(|line| line.starts_with("- ") || line.starts_with("  "));
    if !is_nested || lines().filter(is_field).count() * 5 < lines().count() * 4 {
        return None;
    }
    Parser::new_from_str(text).find_map(|event| event.err().map(|error| error.to_string()))
}

/// A list or an object that has begun.
enum Open {
    List(Vec<Cell<'static>>),
    /// The fields so far, and the key whose value comes next.
    Object(Vec<(String, Cell<'static>)>, Option<String>),
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    documents: Vec<Cell<'static>>,
    /// True once an object stands in a list or in an object.
    has_objects: bool,
}

impl Builder {
    /// Takes the next event; `None` if it cannot be data.
    fn take(&mut self, event: Event<'_>) -> Option<()> {
        match event {
            Event::Alias(_) => return None,
            Event::Scalar(text, style, ..) => self.add(scalar(&text, style))?,
            Event::SequenceStart(..) => self.open.push(Open::List(Vec::new())),
            Event::MappingStart(..) => {
                self.has_objects |= !self.open.is_empty();
                self.open.push(Open::Object(Vec::new(), None));
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let cell = match self.open.pop()? {
                    Open::List(items) => Cell::List(items),
                    Open::Object(fields, None) => Cell::Object(fields),
                    Open::Object(..) => return None,
                };
                self.add(cell)?;
            }
            _ => {}
        }
        (self.open.len() <= MAX_DEPTH).then_some(())
    }

    fn add(&mut self, cell: Cell<'static>) -> Option<()> {
        match self.open.last_mut() {
            None => self.documents.push(cell),
            Some(Open::List(items)) => items.push(cell),
            Some(Open::Object(fields, key)) => match key.take() {
                Some(key) => fields.push((key, cell)),
                None => *key = Some(key_of(cell)?),
            },
        }
        Some(())
    }
}

fn key_of(cell: Cell<'static>) -> Option<String> {
    match cell {
        Cell::List(_) | Cell::Object(_) | Cell::Null => None,
        cell => Some(cell.to_string()),
    }
}

/// A scalar, which is typed if it stands without quotes.
fn scalar(text: &str, style: ScalarStyle) -> Cell<'static> {
    let plain = || match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Cell::Null),
        "true" | "True" | "TRUE" => Some(Cell::Bool(true)),
        "false" | "False" | "FALSE" => Some(Cell::Bool(false)),
        _ => text.parse().ok().map(Cell::Integer),
    };
    let typed = if style == ScalarStyle::Plain { plain() } else { None };
    typed.unwrap_or_else(|| Cell::Text(text.to_owned().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_in_yaml_are_values() {
        let text = "files:\n- filename: a.wav\n  annotations:\n  - id: 0\n    sentence: 'a dog: two'\n";
        let annotation = [("id", Cell::Integer(0)), ("sentence", Cell::Text("a dog: two".into()))];
        let object = |fields: Vec<(&str, Cell<'static>)>| {
            Cell::Object(fields.into_iter().map(|(key, cell)| (key.to_owned(), cell)).collect())
        };
        let annotations = Cell::List(vec![object(annotation.to_vec())]);
        let file = object(vec![("filename", Cell::Text("a.wav".into())), ("annotations", annotations)]);
        assert_eq!(values(text), Some(vec![object(vec![("files", Cell::List(vec![file]))])]));
    }

    #[test]
    fn other_texts_and_bombs_are_none() {
        let deep = format!("a: {}", "[".repeat(100_000));
        for text in [
            "a dog\na cat",
            "- a dog\n- a cat",
            "vid1: a dog\nvid2: a cat",
            "a: &x [b: 1]\nc: *x",
            "a: [",
            &deep,
            "",
        ] {
            assert_eq!(values(text), None, "{}", text.get(..20).unwrap_or(text));
        }
    }
}
