//! Writes results to files, and reads them again, of whatever kind.

use std::borrow::Cow;
use std::io::{self, Write};

use capeval_choice::Refusal;
use serde::Deserialize;

use crate::kind::{AGAIN, Kind, ReadStudy};
use crate::report::saved;
use crate::study::Study;
use crate::{Notice, comparison, correlation, preference, report};

/// The kinds of results of this crate.
pub const KINDS: &[&Kind] = &[&report::KIND, &comparison::KIND, &correlation::KIND, &preference::KIND];

/// Writes a result to a file as JSON, with all items behind it, on one line. [`read`] reads it.
pub fn save(study: &dyn Study, out: &mut dyn Write) -> io::Result<()> {
    save_with(study, &study.head().notices, out)
}

/// As [`save`], with these notices: their remedies are written in words, which not every front end would choose.
pub fn save_with(study: &dyn Study, notices: &[Notice], out: &mut dyn Write) -> io::Result<()> {
    (study.kind().save)(study, notices, out)
}

/// Reads what [`save`] writes, if it is of one of these kinds, and reports and comparisons in the format `json` as
/// well. A version tells that format from a saved file.
///
/// # Errors
/// When the text is not such a result, or its parts do not belong together.
pub fn read<'k>(json: &[u8], kinds: impl IntoIterator<Item = &'k &'static Kind>) -> ReadStudy {
    #[derive(Deserialize)]
    struct Beginning<'t> {
        #[serde(borrow)]
        result: Option<Cow<'t, str>>,
        version: Option<u32>,
    }
    match serde_json::from_slice(json) {
        Ok(Beginning { result: Some(name), version: None }) => {
            let kind = kinds.into_iter().find(|kind| kind.name == name);
            let kind = kind.ok_or_else(|| {
                Refusal::new(format!("a {name}, which this version cannot read")).with_remedy(AGAIN)
            })?;
            (kind.read)(json)
        }
        _ => saved::read(json),
    }
}
