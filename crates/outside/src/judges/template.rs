//! Templates of messages: their text with fields, and the rules by which fields are filled.

use std::fmt::Write;

use capeval_choice::Refusal;

/// The fields of a message, in braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The caption that is graded.
    Candidate,
    /// The captions by people of the image.
    References,
    /// The statements that a caption is checked for: the references, numbered.
    Items,
    /// The first of two captions.
    First,
    /// The second of two captions.
    Second,
    /// The picture of the image.
    Image,
}

impl Field {
    const ALL: [(&str, Self); 6] = [
        ("candidate", Self::Candidate),
        ("references", Self::References),
        ("items", Self::Items),
        ("first", Self::First),
        ("second", Self::Second),
        ("image", Self::Image),
    ];

    /// Its name in a message, in braces.
    pub fn written(self) -> String {
        let name = Self::ALL.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name);
        format!("{{{name}}}")
    }
}

/// Text with fields. Fields are filled in one pass, so a value that looks like a field stays text.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Field(Field, Quoting),
}

/// The quotes around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// As it is.
    Plain,
    /// As a string of JSON, see [`quoted`].
    Json,
}

/// The format of each of several captions.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    before: String,
    quoting: Quoting,
    after: String,
}

/// The captions of a question.
#[derive(Clone, Debug, Default)]
pub struct Values<'v> {
    pub candidate: &'v str,
    pub references: &'v [&'v str],
    pub pair: [&'v str; 2],
}

/// A part of a filled message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessagePart {
    Text(String),
    Image,
}

impl Template {
    /// Reads text in which a word in braces is a field; all other braces are text.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let mut pieces = Vec::new();
        let mut rest = text;
        let mut before = String::new();
        while let Some(at) = rest.find('{') {
            before.push_str(&rest[..at]);
            rest = &rest[at..];
            let word =
                rest[1..].find(|c: char| !c.is_ascii_lowercase() && c != ':').map(|end| &rest[1..=end]);
            match word {
                Some(word) if !word.is_empty() && rest[1 + word.len()..].starts_with('}') => {
                    let (field, quoting) = read_field(word)?;
                    pieces.push(Piece::Text(std::mem::take(&mut before)));
                    pieces.push(Piece::Field(field, quoting));
                    rest = &rest[word.len() + 2..];
                }
                _ => {
                    before.push('{');
                    rest = &rest[1..];
                }
            }
        }
        before.push_str(rest);
        pieces.push(Piece::Text(before));
        Ok(Self(pieces))
    }

    /// The fields in it.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Field(field, _) => Some(*field),
            Piece::Text(_) => None,
        })
    }

    /// Fills the fields; `lines` say how each reference and each item is written.
    pub fn fill(&self, values: &Values<'_>, references: &Lines, items: &Lines) -> Vec<MessagePart> {
        let mut parts = Vec::new();
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Field(Field::Image, _) => {
                    if !text.is_empty() {
                        parts.push(MessagePart::Text(std::mem::take(&mut text)));
                    }
                    parts.push(MessagePart::Image);
                }
                Piece::Field(Field::Candidate, quoting) => quoting.write(values.candidate, &mut text),
                Piece::Field(Field::First, quoting) => quoting.write(values.pair[0], &mut text),
                Piece::Field(Field::Second, quoting) => quoting.write(values.pair[1], &mut text),
                Piece::Field(Field::References, _) => references.write(values.references, &mut text),
                Piece::Field(Field::Items, _) => items.write(values.references, &mut text),
            }
        }
        if !text.is_empty() || parts.is_empty() {
            parts.push(MessagePart::Text(text));
        }
        parts
    }
}

fn read_field(word: &str) -> Result<(Field, Quoting), Refusal> {
    let (name, quoting) = match word.split_once(':') {
        None => (word, Quoting::Plain),
        Some((name, "json")) => (name, Quoting::Json),
        Some((_, other)) => {
            return Err(Refusal::new(format!("{{{word}}}: a value cannot be written as {other:?}"))
                .with_remedy("write it as it is, or as json"));
        }
    };
    let known = Field::ALL.iter().find(|(known, _)| *known == name);
    let (_, field) = known.ok_or_else(|| {
        let all: Vec<String> = Field::ALL.iter().map(|(name, _)| format!("{{{name}}}")).collect();
        Refusal::new(format!("{{{word}}} is not a field"))
            .with_remedy(format!("use one of {}", all.join(", ")))
    })?;
    Ok((*field, quoting))
}

impl Quoting {
    fn write(self, value: &str, text: &mut String) {
        match self {
            Self::Plain => text.push_str(value),
            Self::Json => text.push_str(&quoted(value)),
        }
    }
}

/// A value as a string of JSON that holds no line break and none of the characters of which marks such as `<|im_end|>`
/// and `[INST]` are made, by which models tell messages apart.
pub fn quoted(value: &str) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut quoted = String::with_capacity(json.len());
    for c in json.chars() {
        let is_mark =
            matches!(c, '<' | '>' | '[' | ']' | '{' | '}' | '|' | '\u{2028}' | '\u{2029}' | '\u{85}');
        if is_mark || c.is_control() {
            // Writing to a string cannot fail.
            let _ = write!(quoted, "\\u{:04x}", u32::from(c));
        } else {
            quoted.push(c);
        }
    }
    quoted
}

impl Lines {
    /// Reads a format that has `{text}` or `{text:json}` once, and may have `{number}`.
    pub fn read(format: &str) -> Result<Self, Refusal> {
        for (mark, quoting) in [("{text}", Quoting::Plain), ("{text:json}", Quoting::Json)] {
            if let Some((before, after)) = format.split_once(mark) {
                return Ok(Self { before: before.to_owned(), quoting, after: after.to_owned() });
            }
        }
        Err(Refusal::new(format!("{format:?} has no {{text}}")).with_remedy("write such as \"- {text}\\n\""))
    }

    fn write(&self, captions: &[&str], text: &mut String) {
        for (nth, caption) in captions.iter().enumerate() {
            let number = (nth + 1).to_string();
            text.push_str(&self.before.replace("{number}", &number));
            self.quoting.write(caption, text);
            text.push_str(&self.after.replace("{number}", &number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, values: &Values<'_>) -> Vec<MessagePart> {
        let (references, items) = ("- {text}\n", "{number}. {text:json}\n");
        let [references, items] = [references, items].map(|lines| Lines::read(lines).unwrap());
        Template::read(template).unwrap().fill(values, &references, &items)
    }

    #[test]
    fn fields_are_filled_and_other_braces_are_text() {
        let values =
            Values { candidate: "a {first} dog", references: &["one", "t\"wo"], pair: ["{image}", "b"] };
        let text = |template: &str| match &filled(template, &values)[..] {
            [MessagePart::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(text("Is {candidate} good?"), "Is a {first} dog good?");
        assert_eq!(text("{candidate:json}"), "\"a \\u007bfirst\\u007d dog\"");
        assert_eq!(text("{references}{items}"), "- one\n- t\"wo\n1. \"one\"\n2. \"t\\\"wo\"\n");
        assert_eq!(text("{first}/{second}"), "{image}/b");
        assert_eq!(text(""), "");
        assert_eq!(
            text("{\"score\": 1} {Candidate} { candidate } {{x {"),
            "{\"score\": 1} {Candidate} { candidate } {{x {"
        );
        let parts = filled("Look: {image} and {candidate}", &values);
        let text = |text: &str| MessagePart::Text(text.to_owned());
        assert_eq!(parts, [text("Look: "), MessagePart::Image, text(" and a {first} dog")]);
        assert_eq!(filled("{image}", &values), [MessagePart::Image]);
    }

    #[test]
    fn what_is_no_field_is_refused() {
        let said = |text| Template::read(text).unwrap_err().to_string();
        assert_eq!(said("{candidates}"), "{candidates} is not a field");
        assert!(said("{candidate:xml}").contains("cannot be written as \"xml\""));
        assert!(Lines::read("- {txt}").is_err());
    }
}
