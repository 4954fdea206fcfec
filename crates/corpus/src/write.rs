//! Writes captions in every format that can be read back without loss.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};

use crate::align::Numbers;
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::{Format, Ids, Remedy, SegmentId};

impl Format {
    /// Returns true if [`write()`] can write this format.
    pub const fn is_writable(self) -> bool {
        matches!(
            self,
            Self::CocoAnnotations
                | Self::CocoResults
                | Self::ListJson
                | Self::DictJson
                | Self::JsonLines
                | Self::Csv
                | Self::Tsv
                | Self::Tokens
                | Self::Lines
        )
    }
}

/// Writes captions so that reading them gives the same ids, texts and images without captions.
///
/// The order is kept, except in `{id: [captions]}`, which groups the captions of an image. Plain text does not keep
/// ids, since the id of a line is its number.
///
/// ```
/// use capeval_corpus::{Captions, Format, SegmentId, write};
///
/// let mut captions = Captions::new("example");
/// captions.push(SegmentId::from(42), "a \"cat\"");
/// let mut csv = Vec::new();
/// write(&captions, Format::Csv, &mut csv)?;
/// assert_eq!(csv, b"image_id,caption\n42,\"a \"\"cat\"\"\"\n");
/// # Ok::<(), capeval_corpus::Error>(())
/// ```
///
/// # Errors
/// If the format cannot represent an id or a caption (a line break in plain text, a text id that would be read as a
/// number), cannot be written, or writing to the target fails. In that case, the output is incomplete.
pub fn write(captions: &Captions, format: Format, target: impl Write) -> Result<(), Error> {
    let mut writer = Writer { captions, format, target: BufWriter::new(target), line: String::new() };
    match format {
        Format::CocoAnnotations => writer.coco_annotations()?,
        Format::CocoResults => {
            writer.one_caption_each()?;
            writer.list()?;
        }
        Format::ListJson => writer.list()?,
        Format::DictJson => writer.dict()?,
        Format::JsonLines => writer.json_lines()?,
        Format::Csv => writer.table(b',')?,
        Format::Tsv => writer.table(b'\t')?,
        Format::Tokens => writer.tokens()?,
        Format::Lines => writer.lines()?,
        _ => {
            let names: Vec<&str> = Format::ALL
                .iter()
                .filter(|format| format.is_writable())
                .map(|format| format.name())
                .collect();
            let message = format!("{format} is only read, not written");
            return Err(Error::new(ErrorKind::Unwritable, captions.source(), message)
                .with_remedy(Remedy::say(format!("choose one of {}", names.join(", ")))));
        }
    }
    writer.target.flush().map_err(output_error)
}

fn output_error(cause: io::Error) -> Error {
    Error::io("output", "cannot write", cause)
}

/// The cause of a fault in writing a table of CSV.
pub fn csv_fault(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => cause,
        other => io::Error::other(format!("{other:?}")),
    }
}

struct Writer<'a, W: Write> {
    captions: &'a Captions,
    format: Format,
    target: BufWriter<W>,
    /// The line to be written next.
    line: String,
}

impl<W: Write> Writer<'_, W> {
    /// Writes the line, and begins an empty one.
    fn put(&mut self) -> Result<(), Error> {
        let result = self.target.write_all(self.line.as_bytes()).map_err(output_error);
        self.line.clear();
        result
    }

    fn coco_annotations(&mut self) -> Result<(), Error> {
        let captions = self.captions;
        // pycocotools requires these keys, too.
        self.line.push_str("{\"info\": {}, \"type\": \"captions\", \"licenses\": [],\n\"images\": [");
        for (i, id) in once_each(captions.declared().iter().chain(captions.ids())).iter().enumerate() {
            self.line.push_str(if i == 0 { "\n{\"id\": " } else { ",\n{\"id\": " });
            push_json_id(&mut self.line, id);
            self.line.push('}');
            self.put()?;
        }
        self.line.push_str("],\n\"annotations\": [");
        for (row, (id, text)) in captions.iter().enumerate() {
            self.line.push_str(if row == 0 { "\n{\"image_id\": " } else { ",\n{\"image_id\": " });
            push_json_id(&mut self.line, id);
            let _ = write!(self.line, ", \"id\": {row}, \"caption\": ");
            push_json(&mut self.line, text);
            self.line.push('}');
            self.put()?;
        }
        self.line.push_str("]}\n");
        self.put()
    }

    fn list(&mut self) -> Result<(), Error> {
        let captions = self.captions;
        self.line.push('[');
        for (row, (id, text)) in captions.iter().enumerate() {
            self.line.push_str(if row == 0 { "\n" } else { ",\n" });
            push_record(&mut self.line, id, text);
            self.put()?;
        }
        let undescribed = images_without_captions(self.captions);
        if let (Format::CocoResults, Some(id)) = (self.format, undescribed.first()) {
            return Err(self.refuse_image(id));
        }
        for (i, id) in undescribed.into_iter().enumerate() {
            self.line.push_str(if captions.is_empty() && i == 0 { "\n" } else { ",\n" });
            push_empty_record(&mut self.line, &id);
        }
        self.line.push_str("\n]\n");
        self.put()
    }

    fn json_lines(&mut self) -> Result<(), Error> {
        for (id, text) in self.captions.iter() {
            push_record(&mut self.line, id, text);
            self.line.push('\n');
            self.put()?;
        }
        for id in images_without_captions(self.captions) {
            push_empty_record(&mut self.line, &id);
            self.line.push('\n');
        }
        self.put()
    }

    fn dict(&mut self) -> Result<(), Error> {
        let captions = self.captions;
        let (index, image_of_row) = Numbers::of(captions.ids(), Ids::AsGiven);
        let mut rows = vec![Vec::new(); index.len()];
        for (row, image) in image_of_row.into_iter().enumerate() {
            if let Some(rows) = rows.get_mut(image as usize) {
                rows.push(row);
            }
        }
        let single = rows.len() == captions.len() && captions.declared().is_empty();
        self.line.push('{');
        let mut first = true;
        for rows in rows {
            let Some((row, id)) = rows.first().and_then(|row| Some((*row, captions.id(*row)?))) else {
                continue;
            };
            self.untyped(id, row)?;
            self.push_key(id, &mut first);
            if single {
                push_json(&mut self.line, captions.text(row));
            } else {
                for (i, row) in rows.iter().enumerate() {
                    self.line.push_str(if i == 0 { "[" } else { ", " });
                    push_json(&mut self.line, captions.text(*row));
                }
                self.line.push(']');
            }
            self.put()?;
        }
        for id in images_without_captions(self.captions) {
            self.untyped(&id, captions.len())?;
            self.push_key(&id, &mut first);
            self.line.push_str("[]");
        }
        self.line.push_str("\n}\n");
        self.put()
    }

    fn push_key(&mut self, id: &SegmentId, first: &mut bool) {
        self.line.push_str(if *first { "\n" } else { ",\n" });
        *first = false;
        push_json(&mut self.line, &id.to_string());
        self.line.push_str(": ");
    }

    fn table(&mut self, separator: u8) -> Result<(), Error> {
        self.every_image_has_a_caption()?;
        for (row, id) in self.captions.ids().iter().enumerate() {
            self.untyped(id, row)?;
        }
        let mut table = csv::WriterBuilder::new().delimiter(separator).from_writer(&mut self.target);
        let fault = |error| output_error(csv_fault(error));
        table.write_record(["image_id", "caption"]).map_err(fault)?;
        for (id, text) in self.captions.iter() {
            table.write_record([&id.to_string(), text]).map_err(fault)?;
        }
        table.flush().map_err(output_error)
    }

    fn tokens(&mut self) -> Result<(), Error> {
        self.every_image_has_a_caption()?;
        let captions = self.captions;
        let (index, image_of_row) = Numbers::of(captions.ids(), Ids::AsGiven);
        let mut counts = vec![0_u64; index.len()];
        for (row, ((id, text), image)) in captions.iter().zip(image_of_row).enumerate() {
            self.untyped(id, row)?;
            let name = id.to_string();
            if name.is_empty() || name.contains(['#', '\n']) || (row == 0 && name.starts_with('\u{FEFF}')) {
                return Err(self.refuse(row, "the id of this caption is empty, or has a '#' or a line break"));
            }
            self.one_line(row, text)?;
            let count =
                counts.get_mut(image as usize).map_or(0, |count| std::mem::replace(count, *count + 1));
            let _ = writeln!(self.line, "{name}#{count}\t{text}");
            self.put()?;
        }
        Ok(())
    }

    fn lines(&mut self) -> Result<(), Error> {
        self.every_image_has_a_caption()?;
        self.one_caption_each()?;
        for (row, (_, text)) in self.captions.iter().enumerate() {
            self.one_line(row, text)?;
            if row == 0 && text.starts_with('\u{FEFF}') {
                return Err(self.refuse(row, "this caption begins with a byte order mark"));
            }
            self.line.push_str(text);
            self.line.push('\n');
            self.put()?;
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, row: usize, what: &str) -> Error {
        let message = format!("{what}, which {} cannot hold", self.format);
        let error = Error::new(ErrorKind::Unwritable, self.captions.source(), message)
            .with_remedy(Remedy::say("write jsonl instead"));
        let error = error.at(self.captions.position(row));
        match self.captions.id(row) {
            Some(id) => error.about(id.clone()),
            None => error,
        }
    }

    #[cold]
    fn refuse_image(&self, id: &SegmentId) -> Error {
        let what = format!("image {} has no caption", id.quoted());
        self.refuse(self.captions.len(), &what).at(crate::Position::default()).about(id.clone())
    }

    fn every_image_has_a_caption(&self) -> Result<(), Error> {
        match images_without_captions(self.captions).first() {
            Some(id) => Err(self.refuse_image(id)),
            None => Ok(()),
        }
    }

    fn one_caption_each(&self) -> Result<(), Error> {
        let (index, image_of_row) = Numbers::of(self.captions.ids(), Ids::AsGiven);
        let mut seen = vec![false; index.len()];
        for (row, image) in image_of_row.into_iter().enumerate() {
            if seen.get_mut(image as usize).is_some_and(|seen| std::mem::replace(seen, true)) {
                return Err(self.refuse(row, "this is the second caption of its image"));
            }
        }
        Ok(())
    }

    fn untyped(&self, id: &SegmentId, row: usize) -> Result<(), Error> {
        let kept = match id {
            SegmentId::Integer(_) => true,
            SegmentId::Text(text) => SegmentId::integer(text).is_none(),
        };
        if kept {
            return Ok(());
        }
        let what = format!("the id {} is text that would be read as a number", id.quoted());
        Err(self.refuse(row, &what))
    }

    fn one_line(&self, row: usize, text: &str) -> Result<(), Error> {
        if text.contains('\n') || text.ends_with('\r') {
            return Err(self.refuse(row, "this caption has a line break"));
        }
        Ok(())
    }
}

/// The distinct ids, in order of first appearance.
fn once_each<'a>(ids: impl Iterator<Item = &'a SegmentId>) -> Vec<SegmentId> {
    let mut numbers = Numbers::default();
    for id in ids {
        numbers.add(id);
    }
    numbers.into_ids()
}

/// The distinct images that are listed without a caption.
fn images_without_captions(captions: &Captions) -> Vec<SegmentId> {
    if captions.declared().is_empty() {
        return Vec::new();
    }
    let (described, _) = Numbers::of(captions.ids(), Ids::AsGiven);
    once_each(captions.declared().iter().filter(|id| described.find(id).is_none()))
}

fn push_record(line: &mut String, id: &SegmentId, text: &str) {
    line.push_str("{\"image_id\": ");
    push_json_id(line, id);
    line.push_str(", \"caption\": ");
    push_json(line, text);
    line.push('}');
}

fn push_empty_record(line: &mut String, id: &SegmentId) {
    line.push_str("{\"image_id\": ");
    push_json_id(line, id);
    line.push_str(", \"captions\": []}");
}

fn push_json_id(line: &mut String, id: &SegmentId) {
    match id {
        SegmentId::Integer(integer) => {
            let _ = write!(line, "{integer}");
        }
        SegmentId::Text(text) => push_json(line, text),
    }
}

/// Appends a JSON string. Line separators of Unicode are escaped, too, for tools that split lines at them.
fn push_json(line: &mut String, text: &str) {
    line.push('"');
    for character in text.chars() {
        match character {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            '\0'..='\u{1F}' | '\u{7F}' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' => {
                let _ = write!(line, "\\u{:04x}", u32::from(character));
            }
            _ => line.push(character),
        }
    }
    line.push('"');
}
