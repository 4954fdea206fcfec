//! A report as JSON Lines, one object per system.

use std::io::{self, Write};

use serde::Serialize;

use super::json::{self, SerialNotice, SerialResampling, SystemRest};
use crate::Report;

#[derive(Serialize)]
struct Line<'r> {
    system: &'r str,
    #[serde(flatten)]
    rest: SystemRest<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    notices: Vec<SerialNotice<'r>>,
    capeval: &'r str,
}

/// Writes one line per system: the object that [`json`](crate::json) puts into `systems`, its name under `system`
/// as in all lines and rows, with the notices that concern the system and the version.
///
/// # Errors
/// When `out` does not take what is written.
pub fn jsonl(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for system in &report.systems {
        let notices = report.notices.iter().filter(|notice| notice.concerns(&system.name));
        let line = Line {
            system: &system.name,
            rest: json::system_rest(report, system),
            resampling: json::resampling(report),
            notices: notices.map(json::notice).collect(),
            capeval: &report.provenance.version,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
