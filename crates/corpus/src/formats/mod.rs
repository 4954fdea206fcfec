//! The readers of the formats, one file per format, which read text and know no paths; [`read`] calls them.

mod coco;
mod dict;
pub(crate) mod flickr;
mod karpathy;
mod lines;
pub(crate) mod rows;

use capeval_choice::Argument;

use self::rows::{CaptionRows, EXPECTED};
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::input::{Source, Text};
use crate::json::{Json, ValueKind};
use crate::reading::Layout;
use crate::table::{self, Consumer, Origin, Separation};
use crate::{Format, ReadOptions, Remedy};

/// Reads the captions of a source in `format`.
pub(crate) fn read(
    format: Format,
    source: Source<'_>,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<(), Error> {
    refuse_columns(format, source.name, options)?;
    captions.set_layout(Layout::of_format(format, options));
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
            captions.set_split();
            splits.check(name, captions)
        }
        Format::DictJson => {
            whole(source, captions, |json, origin, captions| origin.check(dict::read(json, captions)))
        }
        Format::ListJson => whole(source, captions, |json, origin, captions| {
            if holds_strings(json) {
                return origin.check(lines::read_array(json, captions));
            }
            let mut rows = CaptionRows::new(options, captions);
            table::read_array(json, origin, EXPECTED, &mut rows)?;
            rows.finish();
            Ok(())
        }),
        Format::JsonLines => {
            captions.reserve_for(source.len());
            in_rows(captions, options, |rows| table::read_lines(source, EXPECTED, rows))
        }
        Format::Csv => delimited(source, Separation::Commas, options, captions),
        Format::Tsv => delimited(source, Separation::Tabs, options, captions),
        Format::Pipes => delimited(source, Separation::Pipes, options, captions),
        Format::Tokens => flickr::read(source, captions),
        Format::Lines => lines::read(source, captions),
        Format::Parquet => in_rows(captions, options, |rows| table::read_parquet(source, rows)),
    }
}

/// Returns true if the next value is an array that begins with a string.
fn holds_strings(json: &Json<'_>) -> bool {
    let mut json = json.clone();
    let begins = json.open(b'[', "").and_then(|()| json.kind());
    matches!(begins, Ok(ValueKind::String))
}

/// Refuses names of columns for a format without columns.
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
