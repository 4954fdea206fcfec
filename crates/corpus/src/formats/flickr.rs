//! Token files of Flickr8k, Flickr30k and their translations: `image.jpg#0`, a tab or a space, a caption.

use crate::SegmentId;
use crate::captions::Captions;
use crate::error::{Error, ErrorKind, Position};
use crate::input::{Line, Source};

/// Reads one token and caption per line; lines of white space are skipped. The id is the part before the first `#`; the
/// part from there to the first tab or space only distinguishes captions and is dropped: `#0` in English, `#zhc#0` in
/// flickr8kcn.
pub(crate) fn read(source: Source<'_>, captions: &mut Captions) -> Result<(), Error> {
    let name = source.name;
    let mut lines = source.lines();
    while let Some(Line { number, start, text }) = lines.next()? {
        if text.trim().is_empty() {
            continue;
        }
        let Some((id, caption)) = split(text) else {
            let position = Position { line: Some(number), byte: Some(start), ..Position::default() };
            let message = "expected an image, '#', a number, a tab and a caption, as in image.jpg#0";
            return Err(Error::new(ErrorKind::Syntax, name, message).at(position));
        };
        captions.push_at(SegmentId::from_untyped(id), caption, number);
    }
    Ok(())
}

/// Splits a line into the image and the caption.
fn split(line: &str) -> Option<(&str, &str)> {
    let (id, rest) = line.split_once('#')?;
    let (number, caption) = rest.split_once(['\t', ' '])?;
    let number = number.rsplit('#').next().unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (!id.is_empty() && is_number).then_some((id, caption))
}

/// Returns true if a first line is one of a token file.
pub(crate) fn looks_like_a_token(line: &str) -> bool {
    split(line).is_some_and(|(id, _)| !id.contains(char::is_whitespace))
}
