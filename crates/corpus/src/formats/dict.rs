//! A JSON object that maps image ids to captions.

use std::collections::HashSet;

use crate::SegmentId;
use crate::captions::Captions;
use crate::json::{Fault, Json, Result, ValueKind, What};

/// Reads `{id: caption}` and `{id: [captions]}`, in which null and NaN are no caption. Keys in JSON are strings, so an
/// id that looks like a number is one; see [`SegmentId::from_untyped`]. A duplicate key is an error, whereas Python
/// would silently keep the last one.
pub(crate) fn read(json: &mut Json<'_>, captions: &mut Captions) -> Result<()> {
    json.open(b'{', "an object from ids to captions")?;
    let mut seen = HashSet::with_hasher(foldhash::fast::RandomState::default());
    let mut first = true;
    while let Some(key) = json.next_key(&mut first)? {
        let text = key.decoded()?;
        let id = SegmentId::from_untyped(&text);
        if !push_texts(json, &id, captions)? {
            captions.declare(id.clone());
        }
        if !seen.insert(text) {
            let message =
                format!("the key {} appears twice, and only one of its values could be kept", id.quoted());
            return Fault::err(key.start(), What::Duplicate(message));
        }
    }
    Ok(())
}

/// Adds a caption or a list of captions; returns whether there was any.
fn push_texts(json: &mut Json<'_>, id: &SegmentId, captions: &mut Captions) -> Result<bool> {
    let push = |json: &mut Json<'_>, captions: &mut Captions| -> Result<()> {
        let text = json.string()?;
        text.push_into(captions.arena())?;
        captions.close_row(id.clone());
        Ok(())
    };
    match json.kind()? {
        ValueKind::String => {
            push(json, captions)?;
            return Ok(true);
        }
        ValueKind::Array => json.open(b'[', "")?,
        _ if json.is_missing() => {
            json.skip()?;
            return Ok(false);
        }
        _ => return json.no_caption("a caption in quotes or a list of captions", Some(id)),
    }
    let mut first = true;
    captions.set_in_lists();
    let mut any = false;
    while json.next_element(&mut first)? {
        match json.kind()? {
            ValueKind::String => {
                push(json, captions)?;
                any = true;
            }
            _ if json.is_missing() => json.skip()?,
            _ => return json.no_caption("a caption in quotes", Some(id)),
        }
    }
    Ok(any)
}
