//! Times, which are milliseconds since 1970 in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// The number of milliseconds in a day.
pub const DAY: i64 = 86_400_000;

/// The current time.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// The day of a time, such as `2026-11-22`.
pub fn day(time: i64) -> String {
    let (year, month, day) = civil(time.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// The first moment of the next day.
pub fn next_day(time: i64) -> i64 {
    (time.div_euclid(DAY) + 1) * DAY
}

/// A time as people read it, such as `2026-11-22 15:04 UTC`.
pub fn shown(time: i64) -> String {
    let minutes = time.rem_euclid(DAY) / 60_000;
    format!("{} {:02}:{:02} UTC", day(time), minutes / 60, minutes % 60)
}

/// A time as programs read it, such as `2026-11-22T15:04:05Z`.
pub fn iso(time: i64) -> String {
    let seconds = time.rem_euclid(DAY) / 1000;
    format!("{}T{:02}:{:02}:{:02}Z", day(time), seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// The time of a date in UTC, with or without a time of the day: `2026-11-22`, `2026-11-22 15:04`,
/// `2026-11-22T15:04:05Z`.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches('Z').trim_end_matches(" UTC");
    let (date, clock) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let number = |text: &str| {
        text.parse::<i64>().ok().filter(|_| text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let date: Vec<i64> = date.split('-').map(number).collect::<Option<_>>()?;
    let clock: Vec<i64> = clock.split(':').map(number).collect::<Option<_>>()?;
    let [year, month, day] = date[..] else { return None };
    let (hour, minute, second) = match clock[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    if !(1970..=9999).contains(&year) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days(year, month, day);
    (civil(days) == (year, month, day)).then_some(days * DAY + (hour * 3600 + minute * 60 + second) * 1000)
}

/// The days from 1970 to a date of the Gregorian calendar; years are counted from March, so that leap days come last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

/// The year, month and day that are `days` after 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, of_year - (153 * from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(parse("2024-02-29T12:34:56Z"), Some(1_709_210_096_000));
        assert_eq!(iso(1_709_210_096_000), "2024-02-29T12:34:56Z");
        assert_eq!(shown(1_709_210_096_000), "2024-02-29 12:34 UTC");
        for wrong in
            ["2023-02-29", "2024-13-01", "2024-01-01 24:00", "yesterday", "2024-1-1T1:1:1:1", "+024-01-01"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        for days in 0..80_000 {
            let text = day(days * DAY);
            assert_eq!(parse(&text), Some(days * DAY), "{text}");
        }
        assert_eq!(next_day(1_709_210_096_000), parse("2024-03-01").unwrap());
    }
}
