//! Times, which are milliseconds since 1970 in UTC.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use capeval_api::Time;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer};

/// The number of milliseconds in a day.
pub const DAY: i64 = 86_400_000;

/// The current time.
pub fn now() -> i64 {
    #[cfg(debug_assertions)]
    if let Some(clock) = crate::testing::Clock::of_thread() {
        return clock.now();
    }
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// The current moment, to tell how much time has passed since another.
pub fn instant() -> Instant {
    #[cfg(debug_assertions)]
    if let Some(clock) = crate::testing::Clock::of_thread() {
        return clock.instant();
    }
    Instant::now()
}

/// The day of a time, such as `2026-11-22`.
pub fn day(time: i64) -> String {
    timestamp(time).strftime("%F").to_string()
}

/// The first moment of the next day.
pub fn next_day(time: i64) -> i64 {
    (time.div_euclid(DAY) + 1) * DAY
}

/// A time as people read it, such as `2026-11-22 15:04 UTC`.
pub fn readable(time: i64) -> String {
    timestamp(time).strftime("%F %H:%M UTC").to_string()
}

/// A time as programs read it, such as `2026-11-22T15:04:05Z`.
pub fn iso(time: i64) -> String {
    timestamp(time).strftime("%FT%TZ").to_string()
}

/// The same to the millisecond, where it is not a whole second.
pub fn exact(time: i64) -> String {
    timestamp(time).to_string()
}

/// The same for the types of the API.
pub fn time(time: i64) -> Time {
    Time(iso(time))
}

/// The same of a column with a time, for serde.
pub fn time_of_column<'de, D: Deserializer<'de>>(column: D) -> Result<Time, D::Error> {
    Ok(time(i64::deserialize(column)?))
}

/// The time of a date since 1970, with or without a time of the day and an offset from UTC: `2026-11-22`,
/// `2026-11-22 15:04`, `2026-11-22T15:04:05+08:00`.
pub fn parse(text: &str) -> Option<i64> {
    let in_utc = || text.parse::<DateTime>().and_then(|date| TimeZone::UTC.to_timestamp(date));
    let time = text.parse::<Timestamp>().or_else(|_| in_utc());
    time.ok().map(Timestamp::as_millisecond).filter(|time| *time >= 0)
}

fn timestamp(time: i64) -> Timestamp {
    // Databases can hold times beyond the calendar, which ends in the year 9999.
    let (first, last) = (Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
    Timestamp::from_millisecond(time.clamp(first, last)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(parse("2024-02-29T12:34:56Z"), Some(1_709_210_096_000));
        assert_eq!(iso(1_709_210_096_000), "2024-02-29T12:34:56Z");
        assert_eq!(readable(1_709_210_096_000), "2024-02-29 12:34 UTC");
        for same in ["2024-02-29 12:34:56", "2024-02-29T20:34:56+08:00", "2024-02-29T12:34:56-00:00"] {
            assert_eq!(parse(same), Some(1_709_210_096_000), "{same}");
        }
        assert_eq!(parse("2024-02-29 12:34"), parse("2024-02-29T12:34:00Z"));
        assert_eq!([iso(i64::MAX), iso(i64::MIN)], ["9999-12-30T22:00:00Z", "-9999-01-02T01:59:59Z"]);
        for wrong in [
            "2023-02-29",
            "2024-13-01",
            "2024-01-01 24:00",
            "yesterday",
            "2024-1-1T1:1:1:1",
            "+024-01-01",
            "1969-12-31",
            "12:34:56",
            "",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        for days in 0..80_000 {
            let text = day(days * DAY);
            assert_eq!(parse(&text), Some(days * DAY), "{text}");
        }
        assert_eq!(next_day(1_709_210_096_000), parse("2024-03-01").unwrap());
    }
}
