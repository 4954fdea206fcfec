//! What was run, and when: for reports that say how they were made.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use capeval::report::Run;

static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

/// Remembers the command line.
pub fn remember(args: &[OsString]) {
    // A process that runs the program twice keeps the first.
    let _ = COMMAND.set(args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect());
}

/// The command line and the time; `SOURCE_DATE_EPOCH`, in seconds since 1970, replaces the time.
pub fn this_run() -> Run {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Run {
        command: COMMAND.get().cloned().unwrap_or_default(),
        date: date(given.unwrap_or_else(now)),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

/// Seconds since 1970 as a date and time in UTC: `2026-11-22T12:30:00Z`.
fn date(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that the day that may be missing is the last of a year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let dates = [0, 951_782_399, 951_782_400, 1_709_164_800, 1_795_350_874, 4_107_542_400].map(date);
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
