//! A JSON array of records, many per image: PASCAL-50S and its like.

use crate::captions::Captions;
use crate::json::{Json, Result};
use crate::options::ReadOptions;
use crate::records::Records;

/// Reads `[{"image_id", "caption"}]` and the other keys of [`crate::records`].
pub(crate) fn read(json: &mut Json<'_>, options: &ReadOptions, captions: &mut Captions) -> Result<()> {
    let mut records = Records::new(options);
    json.open(b'[', "an array of objects with an id and a caption")?;
    let mut first = true;
    while json.next_element(&mut first)? {
        records.read(json, None, captions)?;
    }
    records.finish(captions);
    Ok(())
}
