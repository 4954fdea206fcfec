//! From bytes to captions: unpack, detect the format, hand over to its reader.

use std::io::Read;

use capeval_choice::Argument;

use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::format::{Guess, sniff};
use crate::formats::rows::{CaptionRows, EXPECTED};
use crate::formats::{coco, dict, flickr, karpathy, lines};
use crate::input::{Source, Text};
use crate::json::{Fault, Json, What};
use crate::table::{self, Consumer, Origin, Separation};
use crate::{Format, ReadOptions, Remedy};

/// Reads the captions of `source`, whose display name is `name`.
///
/// gzip and zstd are unpacked, a byte order mark is left out, and the format is detected from the content
/// unless `options` names it. Formats with lines are read as they come; a JSON document is read into memory first, for
/// which [`read_bytes`] needs no copy.
///
/// ```
/// use capeval_corpus::{Format, ReadOptions, SegmentId, read};
///
/// let json = r#"[{"image_id": 42, "caption": "a cat"}]"#;
/// let captions = read(json.as_bytes(), "results.json", &ReadOptions::candidates())?;
/// assert_eq!(captions.format(), Some(Format::CocoResults));
/// assert_eq!(captions.get(0), Some((&SegmentId::from(42), "a cat")));
/// # Ok::<(), capeval_corpus::Error>(())
/// ```
///
/// # Errors
/// If the source cannot be read or unpacked, is empty, is not UTF-8, breaks its format, or lacks an id or a
/// caption. The error names the place, and what to do about it.
pub fn read(mut source: impl Read, name: &str, options: &ReadOptions) -> Result<Captions, Error> {
    read_source(Source::from_reader(&mut source, name)?, options)
}

/// Reads captions from bytes in memory, as [`read()`] does from a stream.
///
/// # Errors
/// As for [`read()`].
pub fn read_bytes(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Captions, Error> {
    read_source(Source::from_bytes(bytes, name)?, options)
}

fn read_source(source: Source<'_>, options: &ReadOptions) -> Result<Captions, Error> {
    let name = source.name;
    let guess = sniff(source.head(), name, options.role);
    let format = match (options.format, guess) {
        // Blank lines are captions of plain text, if the user says that it is plain text.
        (Some(Format::Lines), Guess::Nothing) => Format::Lines,
        (_, Guess::Nothing) => return Err(Error::new(ErrorKind::Empty, name, "the file is empty")),
        (Some(format), _) => format,
        (None, Guess::Format(format)) => format,
        (None, Guess::Foreign(what, advice)) => {
            let message = format!("looks like {what}; expected one of {}", Format::NAMES.join(", "));
            let read_anyway = Remedy::give(Argument::Format(options.role)).to("read it as one of them");
            let remedy = match advice {
                Some(advice) => Remedy::say(advice).or(read_anyway),
                None => read_anyway,
            };
            return Err(Error::new(ErrorKind::Format, name, message).with_remedy(remedy));
        }
    };
    let mut captions = Captions::new(name);
    captions.set_format(format);
    let result = read_format(format, source, options, &mut captions);
    match (result, guess) {
        (Ok(()), _) => Ok(captions),
        (Err(error), _) if !matches!(error.kind(), ErrorKind::Syntax | ErrorKind::Shape) => Err(error),
        (Err(error), _) if options.format.is_none() && format != Format::Parquet => {
            let remedy = Remedy::give(Argument::Format(options.role)).to("read it as another format");
            Err(error.noting(&format!("read as {format}")).with_remedy(remedy))
        }
        (Err(error), Guess::Format(other)) if other != format && !same_shape(other, format) => {
            Err(error.noting(&format!("the file looks like {other} rather than {format}")))
        }
        (Err(error), _) => Err(error),
    }
}

/// Whether two formats are told apart only by what they are used for.
fn same_shape(a: Format, b: Format) -> bool {
    let list = [Format::CocoResults, Format::ListJson];
    list.contains(&a) && list.contains(&b)
}

fn read_format(
    format: Format,
    source: Source<'_>,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<(), Error> {
    refuse_columns(format, source.name, options)?;
    match format {
        Format::CocoAnnotations => whole(source, captions, |json, origin, captions| {
            coco::read_annotations(json, origin, options, captions)
        }),
        Format::CocoResults => whole(source, captions, |json, origin, captions| {
            coco::read_results(json, origin, options, captions)
        }),
        Format::Karpathy => {
            let mut splits = karpathy::Splits::new(options);
            let name = source.name;
            whole(source, captions, |json, origin, captions| {
                origin.check(karpathy::read(json, &mut splits, options, captions))
            })?;
            splits.check(name, captions)
        }
        Format::DictJson => {
            whole(source, captions, |json, origin, captions| origin.check(dict::read(json, captions)))
        }
        Format::ListJson => whole(source, captions, |json, origin, captions| {
            let mut rows = CaptionRows::new(options, captions);
            table::read_array(json, origin, EXPECTED, &mut rows)?;
            rows.finish();
            Ok(())
        }),
        Format::JsonLines => in_rows(captions, options, |rows| table::read_lines(source, EXPECTED, rows)),
        Format::Csv => delimited(source, Separation::Commas, options, captions),
        Format::Tsv => delimited(source, Separation::Tabs, options, captions),
        Format::Pipes => delimited(source, Separation::Pipes, options, captions),
        Format::Tokens => flickr::read(source, captions),
        Format::Lines => lines::read(source, captions),
        Format::Parquet => in_rows(captions, options, |rows| table::read_parquet(source, rows)),
    }
}

/// Refuses names of columns for a format that has none.
fn refuse_columns(format: Format, name: &str, options: &ReadOptions) -> Result<(), Error> {
    let (no_ids, no_captions) = match format {
        Format::DictJson | Format::Tokens | Format::Lines => (true, true),
        Format::Karpathy => (false, true),
        _ => (false, false),
    };
    let named = [
        (no_ids && options.id_column.is_some(), Argument::IdColumn(options.role)),
        (no_captions && options.caption_columns.is_some(), Argument::CaptionColumns(options.role)),
    ];
    let Some((_, argument)) = named.iter().find(|(is_named, _)| *is_named) else { return Ok(()) };
    let message = format!("{format} has no columns or keys to name");
    Err(Error::new(ErrorKind::Shape, name, message).with_remedy(Remedy::omit(*argument)))
}

/// Reads a source that is one JSON document.
fn whole(
    source: Source<'_>,
    captions: &mut Captions,
    mut reader: impl FnMut(&mut Json<'_>, &Origin<'_>, &mut Captions) -> Result<(), Error>,
) -> Result<(), Error> {
    let name = source.name;
    let Text { text, base } = source.into_text()?;
    captions.reserve_for(text.len());
    let mut json = Json::new(&text);
    if json.peek().is_none() {
        return Err(Error::new(ErrorKind::Empty, name, "the file is empty"));
    }
    let origin = Origin { name, text: &text, base, line: None };
    reader(&mut json, &origin, captions)?;
    origin.check(json.end())
}

/// Reads the rows of a table of text.
fn delimited(
    source: Source<'_>,
    separation: Separation,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<(), Error> {
    let name = source.name;
    let text = source.into_text()?;
    captions.reserve_for(text.text.len());
    in_rows(captions, options, |rows| table::read_delimited(&text, name, separation, rows))
}

/// Reads the rows of a table.
fn in_rows(
    captions: &mut Captions,
    options: &ReadOptions,
    read: impl FnOnce(&mut dyn Consumer) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut rows = CaptionRows::new(options, captions);
    read(&mut rows)?;
    rows.finish();
    Ok(())
}

/// The error that a fault is, still without its place.
pub(crate) fn fault_error(fault: Fault, name: &str) -> Error {
    let (kind, message) = match fault.what {
        What::Truncated => (ErrorKind::Syntax, "the JSON ends too early; is the file truncated?".into()),
        What::Syntax(message) => (ErrorKind::Syntax, message.into_owned()),
        What::Escape(message) => (ErrorKind::Encoding, message.into()),
        What::Shape(message) => (ErrorKind::Shape, message),
        What::Id(message) => (ErrorKind::Id, message),
        What::Duplicate(message) => (ErrorKind::Duplicate, message),
    };
    fault.remedy.into_iter().fold(Error::new(kind, name, message), Error::with_remedy)
}
