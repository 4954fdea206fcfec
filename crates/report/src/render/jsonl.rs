//! A report as JSON Lines, one object per system.

use std::io::{self, Write};

use serde::Serialize;

use super::json::{self, SerialNotice, SerialResampling, System};
use crate::Report;

#[derive(Serialize)]
struct Line<'r> {
    #[serde(flatten)]
    system: System<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    notices: Vec<SerialNotice<'r>>,
    capeval: &'r str,
}

/// Writes one line per system: the object that [`json`](crate::json) puts into `systems`, with the notices
/// that concern the system and the version.
///
/// # Errors
/// When `out` does not take what is written.
pub fn jsonl(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for system in &report.systems {
        let concerns = |about: Option<&str>| about.is_none_or(|name| name == system.name);
        let notices = report.notices.iter().filter(|notice| concerns(notice.system.as_deref()));
        let line = Line {
            system: json::system(report, system),
            resampling: json::resampling(report),
            notices: notices.map(json::notice).collect(),
            capeval: &report.provenance.version,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
