//! The command line of this run and its time, for reports that state how they were made.

use std::ffi::OsString;
use std::sync::OnceLock;

use capeval::report::Run;
use jiff::Timestamp;

static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

/// Remembers the command line.
pub fn remember(args: &[OsString]) {
    // A process that runs the program twice keeps the first.
    let _ = COMMAND.set(args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect());
}

/// The command line and the time; `SOURCE_DATE_EPOCH`, in seconds since 1970, replaces the time.
pub fn this_run() -> Run {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let given = given.and_then(|seconds| Timestamp::from_second(seconds).ok());
    Run {
        command: COMMAND.get().cloned().unwrap_or_default(),
        date: date(given.unwrap_or_else(Timestamp::now)),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

/// A time in UTC: `2026-11-22T12:30:00Z`.
fn date(time: Timestamp) -> String {
    time.strftime("%FT%TZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let dates = [0, 951_782_399, 951_782_400, 1_709_164_800, 1_795_350_874, 4_107_542_400]
            .map(|seconds| date(Timestamp::from_second(seconds).unwrap()));
        let expected = [
            "1970-01-01T00:00:00Z",
            "2000-02-28T23:59:59Z",
            "2000-02-29T00:00:00Z",
            "2024-02-29T00:00:00Z",
            "2026-11-22T12:34:34Z",
            "2100-03-01T00:00:00Z",
        ];
        assert_eq!(dates, expected);
    }
}
