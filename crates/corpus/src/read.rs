//! Reads captions from bytes: decompresses, detects the format, and calls its reader.

use std::io::Read;

use capeval_choice::{Argument, Code};

use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::formats;
use crate::head::{binary, is_binary};
use crate::input::Source;
use crate::sniff::{Guess, foreign_magic, lines_above_json, sniff};
use crate::table;
use crate::utf16::is_unmarked;
use crate::{Format, ReadOptions, Remedy, reading};

/// The maximum number of bytes of a caption.
const CAPTION_BYTES: usize = 1_000_000;

/// Reads the captions of `source`, whose display name is `name`.
///
/// gzip and zstd are decompressed, a byte order mark is dropped, and the format is detected from the content unless
/// `options` names it. All bytes are read into memory first.
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
/// If the source cannot be read or decompressed, is empty, is not UTF-8, violates its format, or lacks an id or a
/// caption. The error has a position and a remedy.
pub fn read(mut source: impl Read, name: &str, options: &ReadOptions) -> Result<Captions, Error> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).map_err(|cause| Error::io(name, "cannot read", cause))?;
    read_bytes(&bytes, name, options)
}

/// Reads captions from bytes in memory, as [`read()`] does from a stream.
pub fn read_bytes(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Captions, Error> {
    read_source(Source::within_limits(bytes, name, options.no_limits)?, options)
}

fn read_source(source: Source<'_>, options: &ReadOptions) -> Result<Captions, Error> {
    let name = source.name;
    if is_unmarked(source.head()) {
        let message = "looks like UTF-16 without a byte order mark";
        let remedy = Remedy::say("save the file as UTF-8");
        return Err(Error::new(ErrorKind::Encoding, name, message).with_remedy(remedy));
    }
    let guess = sniff(source.head(), source.file_name(), options.role);
    let format = match (options.format, guess) {
        // Blank lines are captions if the user says that the file is plain text.
        (Some(Format::Lines), Guess::Nothing) => Format::Lines,
        (_, Guess::Nothing) => return Err(Error::new(ErrorKind::Empty, name, "the file is empty")),
        (None, Guess::Binary) => return Err(binary(name)),
        (Some(_), Guess::Binary) if is_binary(source.head()) => return Err(binary(name)),
        (Some(_), Guess::Foreign(what, advice)) if foreign_magic(source.head()).is_some() => {
            return Err(foreign(what, advice, &source, options));
        }
        (Some(format), _) => format,
        (None, Guess::Format(format)) => format,
        (None, Guess::Foreign(what, advice)) => return Err(foreign(what, advice, &source, options)),
    };
    let mut captions = Captions::new(name);
    captions.set_format(format);
    let result = match options.id_template() {
        None => formats::read(format, source.borrowed(), options, &mut captions),
        Some((column, _)) => {
            let message = format!("there are no columns for the ids {column:?}");
            Err(Error::new(ErrorKind::Shape, name, message))
        }
    };
    let result = match options.format {
        Some(_) if options.id_template().is_none() && options.dropped().next().is_none() => result,
        _ => understand(result, format, &source, options, &mut captions),
    };
    if result.is_ok() && !matches!(captions.format(), Some(Format::Lines | Format::Tokens)) {
        captions.read_written_lists();
    }
    let layout = captions.layout_mut();
    (layout.member, layout.packing) = source.packing();
    layout.split.clone_from(&options.split);
    match (result, guess) {
        (Ok(()), _) if options.selects() && !captions.is_split() => {
            let (message, argument) = match options.dropped().next() {
                None => ("it has no splits", Argument::Split(options.role)),
                Some(_) => {
                    ("its captions have no keys by which to leave any out", Argument::Drop(options.role))
                }
            };
            Err(Error::new(ErrorKind::Split, name, message).with_remedy(Remedy::omit(argument)))
        }
        (Ok(()), _) => within_limits(captions, options),
        (Err(error), _) if !matches!(error.kind(), ErrorKind::Syntax | ErrorKind::Shape) => Err(error),
        (Err(error), _) if options.format.is_none() && format != Format::Parquet => {
            let error = error.noting(&format!("read as {format}"));
            let other = other_format(format, &source, options);
            let remedy = match other {
                Some(remedy) => Some(remedy),
                None if error.remedy().is_some() => None,
                None => Some(mending(&error, format)),
            };
            Err(remedy.into_iter().fold(error, Error::with_remedy))
        }
        (Err(error), Guess::Format(other)) if other != format && !same_shape(other, format) => {
            Err(error.noting(&format!("the file looks like {other} rather than {format}")))
        }
        (Err(error), _) => Err(error),
    }
}

/// Refuses a file of another kind than captions have.
fn foreign(what: &str, advice: Option<&'static str>, source: &Source<'_>, options: &ReadOptions) -> Error {
    let message = format!("looks like {what}; expected one of {}", Format::NAMES.join(", "));
    let error = Error::new(ErrorKind::Format, source.name, message);
    match advice {
        Some(advice) => error.with_remedy(Remedy::say(advice)),
        None if let Some(remedy) = without_lines_above(source, options) => error.with_remedy(remedy),
        // Any text has lines.
        None => error.with_remedy(
            Remedy::set(Argument::Format(options.role), Format::Lines.name())
                .to("read each line as a caption"),
        ),
    }
}

/// The way to read a source in another format than `detected`, if that can be done: it is tried. Any text has lines,
/// but those of JSON and of a table with a header are no captions.
fn other_format(detected: Format, source: &Source<'_>, options: &ReadOptions) -> Option<Remedy> {
    if let Some(remedy) = without_lines_above(source, options) {
        return Some(remedy);
    }
    let are_lines = matches!(sniff(source.head(), "", options.role), Guess::Format(Format::Lines));
    let is_possible = |other: &&Format| match other {
        Format::Parquet => false,
        Format::Lines => are_lines && !options.names_columns() && !options.selects(),
        other => **other != detected,
    };
    let mut possible = Format::ALL.iter().filter(is_possible);
    let reads = |other: &&Format| {
        let options = ReadOptions { format: Some(**other), ..options.clone() };
        read_source(source.borrowed(), &options).is_ok_and(|captions| !captions.is_empty())
    };
    let format = possible.find(reads)?;
    let purpose = match format {
        Format::Lines => "read each line as a caption".to_owned(),
        other => format!("read it as {other}"),
    };
    Some(Remedy::set(Argument::Format(options.role), format.name()).to(purpose))
}

/// What to do about lines above JSON, which are no captions, and neither is JSON.
fn without_lines_above(source: &Source<'_>, options: &ReadOptions) -> Option<Remedy> {
    Some(Remedy::say(match lines_above_json(source.head(), options.role)? {
        1 => "delete its first line, which is no JSON as the rest is".to_owned(),
        n => format!("delete its first {n} lines, which are no JSON as the rest is"),
    }))
}

/// What to do about a file that no format reads.
fn mending(error: &Error, format: Format) -> Remedy {
    let is_json = !matches!(format, Format::Csv | Format::Tsv | Format::Pipes | Format::Tokens);
    Remedy::say(match error.kind() {
        _ if error.is_of_truncation() && is_json => "get the file again, or mend its end",
        _ if error.is_of_truncation() => "write the missing quotation mark, or get the file again",
        ErrorKind::Syntax if is_json => {
            "mend it there, or write the file again with a program that writes JSON"
        }
        ErrorKind::Syntax => "mend this line",
        _ => "give an object from ids to captions, or a list of objects with an id and a caption",
    })
}

/// Looks at the structure and the values of a source whose format no one named: if the reader of the detected format
/// did not understand it, or if it has more columns than that reader needed.
fn understand(
    result: Result<(), Error>,
    format: Format,
    source: &Source<'_>,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<(), Error> {
    let is_understood = match &result {
        Ok(()) if captions.format() == Some(Format::Lines) => {
            let text = source.borrowed().into_text()?;
            let table = || table_in_lines(source, &text.text, options);
            // A header with a colon is no key of YAML.
            let is_headed = text.text.lines().next().is_some_and(|line| table::header_sign(line).is_some());
            let values = match is_headed {
                true => None,
                false => reading::read_values(&text.text, source.name, options)?,
            };
            match values.map_or_else(table, |read| Ok(Some(read)))? {
                Some(understood) => *captions = understood,
                None => {
                    if let Some(fault) = reading::yaml::fault(&text.text) {
                        let message = format!("looks like YAML, which is damaged: {fault}");
                        let remedy = Remedy::set(Argument::Format(options.role), Format::Lines.name());
                        return Err(Error::new(ErrorKind::Format, source.name, message).with_remedy(
                            Remedy::say("mend it").or(remedy.to("read each line as a caption")),
                        ));
                    }
                    reading::read_lines(captions, options);
                }
            }
            return result;
        }
        Ok(()) if options.dropped().next().is_some() => false,
        Ok(()) if options.split.is_some() => captions.is_split(),
        Ok(()) if format == Format::DictJson => !captions.look_like_columns(),
        // Another column may mark captions as unusable, also if those of ids and captions are named.
        Ok(()) => !captions.has_other_columns(),
        Err(error) => !matches!(error.kind(), ErrorKind::Syntax | ErrorKind::Shape),
    };
    if is_understood {
        return result;
    }
    let name = source.name;
    // These formats have their keys, whatever other values look like.
    let is_coco =
        options.dropped().next().is_some() && matches!(format, Format::CocoAnnotations | Format::CocoResults);
    let own = |key: &str| is_coco.then(|| key.to_owned());
    let options = &ReadOptions {
        id_column: options.id_column.clone().or(own("image_id")),
        caption_columns: options.caption_columns.clone().or(own("caption").map(|key| vec![key])),
        ..options.clone()
    };
    let read = match format {
        Format::Csv | Format::Tsv | Format::Pipes | Format::Parquet => {
            table::read_as(format, source).and_then(|table| reading::read_table(table, name, options, format))
        }
        Format::Lines => source.borrowed().into_text().and_then(|text| {
            let or_else = |read: Option<Captions>, other: &dyn Fn() -> Result<Option<Captions>, Error>| {
                read.map_or_else(other, |read| Ok(Some(read)))
            };
            let read = reading::read_values(&text.text, name, options)?;
            let read = or_else(read, &|| table_in_lines(source, &text.text, options))?;
            or_else(read, &|| named_fields(source, options))
        }),
        _ => source.borrowed().into_text().and_then(|text| reading::read_values(&text.text, name, options)),
    };
    take(read, result, options, captions)
}

/// Takes what the reading of a table gave, rather than what the reader of a format did, if it says more.
fn take(
    read: Result<Option<Captions>, Error>,
    result: Result<(), Error>,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<(), Error> {
    match (read, &result) {
        (Ok(Some(understood)), Ok(())) if !options.selects() => {
            match is_closer(&understood, captions) {
                true => *captions = understood,
                false => captions.take_reading(understood),
            }
            result
        }
        (Ok(Some(understood)), _) => {
            *captions = understood;
            Ok(())
        }
        (Err(error), _)
            if matches!(error.kind(), ErrorKind::Split | ErrorKind::Moments | ErrorKind::Format) =>
        {
            Err(error)
        }
        // Rows that differ in their fields are at fault, and not the names of columns, where there are none.
        (Err(error), Err(before))
            if matches!((error.kind(), before.kind()), (ErrorKind::Syntax, ErrorKind::Shape)) =>
        {
            Err(error)
        }
        _ => result,
    }
}

/// Returns true if a reading knows of the captions what the reader of a format does not: other columns of a family, or
/// marks of unusable records.
fn is_closer(understood: &Captions, captions: &Captions) -> bool {
    let columns = |captions: &Captions| captions.layout().caption.columns.clone();
    let has_ids = |captions: &Captions| !captions.layout().id.columns.is_empty();
    let is_marked = || understood.notices().iter().any(|notice| notice.code == Code::RejectedCaptions);
    let is_other = match columns(understood) == columns(captions) {
        true => is_marked(),
        false => understood.reading().is_some_and(reading::Reading::has_family),
    };
    is_other && has_ids(understood) == has_ids(captions)
}

/// The captions of plain text that is a table with a header of unknown names.
fn table_in_lines(source: &Source<'_>, text: &str, options: &ReadOptions) -> Result<Option<Captions>, Error> {
    if !table::may_have_header(&table::plain_table(text)) {
        return Ok(None);
    }
    match table::read_as(Format::Csv, source) {
        Ok(table) if table.has_texts_beside_ids() => {
            reading::read_table(table, source.name, options, Format::Csv)
        }
        _ => Ok(None),
    }
}

/// The captions of lines with fields, of which the user named one as a notice calls it.
fn named_fields(source: &Source<'_>, options: &ReadOptions) -> Result<Option<Captions>, Error> {
    let mut lines = Captions::new(source.name);
    let unnamed = ReadOptions { id_column: None, caption_columns: None, ..options.clone() };
    formats::read(Format::Lines, source.borrowed(), &unnamed, &mut lines)?;
    reading::read_fields(&lines, source.name, options)
}

/// Refuses captions that are too long to be captions.
fn within_limits(captions: Captions, options: &ReadOptions) -> Result<Captions, Error> {
    let too_long = (0..captions.len()).find(|row| captions.text(*row).len() > CAPTION_BYTES);
    let Some((row, id)) =
        too_long.filter(|_| !options.no_limits).and_then(|row| Some((row, captions.id(row)?)))
    else {
        return Ok(captions);
    };
    let megabytes = captions.text(row).len().div_ceil(100_000) as f64 / 10.0;
    let message =
        format!("the caption of image {id} has {megabytes} MB, and 1 MB is allowed", id = id.quoted());
    Err(Error::new(ErrorKind::TooLarge, captions.source(), message)
        .at(captions.position(row))
        .about(id.clone())
        .with_remedy(Remedy::give(Argument::NoLimits).to("read it anyway")))
}

/// Returns true if two formats have the same syntax and differ only in their use.
fn same_shape(a: Format, b: Format) -> bool {
    let list = [Format::CocoResults, Format::ListJson];
    list.contains(&a) && list.contains(&b)
}
