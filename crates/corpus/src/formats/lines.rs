//! Captions without ids: one per line of plain text or per item of a JSON array, with its number, from 1, as its id.

use crate::Format;
use crate::SegmentId;
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::input::{Line, Source};
use crate::json::{self, Json, ValueKind};
use crate::keys::Keys;

/// Reads one caption per line. A blank line is an empty caption, so that files stay aligned.
pub(crate) fn read(source: Source<'_>, captions: &mut Captions) -> Result<(), Error> {
    let name = source.name;
    let mut lines = source.lines();
    while let Some(Line { number, text, .. }) = lines.next()? {
        let id = SegmentId::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        captions.push_at(id, text, number);
    }
    captions.set_keys(Keys::in_order());
    if lines.number() == 0 {
        return Err(Error::new(ErrorKind::Empty, name, "the file is empty"));
    }
    Ok(())
}

/// Reads a JSON array of captions; from then on the captions count as plain text. As a blank line is an empty caption,
/// so are null and NaN.
pub(crate) fn read_array(json: &mut Json<'_>, captions: &mut Captions) -> json::Result<()> {
    json.open(b'[', "an array of captions")?;
    let (mut first, mut number) = (true, 0);
    while json.next_element(&mut first)? {
        number += 1;
        match json.kind()? {
            ValueKind::String => json.string()?.push_into(captions.arena())?,
            _ if json.is_missing() => json.skip()?,
            _ => return json.no_caption("a caption in quotes, as before it", None),
        }
        captions.close_row(SegmentId::Integer(number));
    }
    captions.set_format(Format::Lines);
    captions.set_keys(Keys::in_order());
    Ok(())
}
