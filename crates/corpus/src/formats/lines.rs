//! Plain text: one caption per line, with the number of the line as its id.

use crate::SegmentId;
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::input::{Line, Source};

/// Reads one caption per line. A blank line is an empty caption, so that files stay aligned.
pub(crate) fn read(source: Source<'_>, captions: &mut Captions) -> Result<(), Error> {
    let name = source.name;
    let mut lines = source.into_lines();
    while let Some(Line { number, text, .. }) = lines.next()? {
        let id = SegmentId::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        captions.push_at(id, text, number);
    }
    if lines.number() == 0 {
        return Err(Error::new(ErrorKind::Empty, name, "the file is empty"));
    }
    Ok(())
}
