//! JSON Lines: one record on each line; blank lines are passed over.

use crate::captions::Captions;
use crate::error::{Error, Position};
use crate::input::Source;
use crate::json::Json;
use crate::options::ReadOptions;
use crate::read::fault_error;
use crate::records::Records;

/// Reads one object per line.
pub(crate) fn read(source: Source<'_>, options: &ReadOptions, captions: &mut Captions) -> Result<(), Error> {
    let name = source.name;
    let mut lines = source.into_lines();
    let mut records = Records::new(options);
    while let Some((number, line)) = lines.next()? {
        let mut json = Json::new(line);
        if json.peek().is_none() {
            continue;
        }
        let result = records.read(&mut json, Some(number), captions).and_then(|()| json.end());
        if let Err(fault) = result {
            let place = Position::in_text(line, fault.at, 0);
            let byte = lines.start() + place.byte.unwrap_or(0);
            let position = Position { line: Some(number), byte: Some(byte), ..place };
            return Err(fault_error(*fault, name).at(position));
        }
    }
    records.finish(captions);
    Ok(())
}
