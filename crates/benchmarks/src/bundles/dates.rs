//! Reads dates as descriptions of challenges write them.

use capeval_site::clock;

/// The time of a date in UTC, and whether another reading of it is as good: `2026-01-31 12:00`, `1-31-2026`,
/// `31/1/2026`.
pub fn read(text: &str) -> Option<(i64, bool)> {
    if let Some(time) = clock::parse(text) {
        return Some((time, false));
    }
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let mut parts = date.split(['-', '/', '.']).map(|part| part.parse::<u32>().ok());
    let (Some(first), Some(second), Some(third), None) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next())
    else {
        return None;
    };
    // As Python's dateutil reads them, the month comes first unless it cannot.
    let (year, month, day, is_doubtful) = match (first, second, third) {
        (1000.., ..) => (first, second, third, false),
        (.., 1000..) if first > 12 => (third, second, first, false),
        (.., 1000..) => (third, first, second, second <= 12 && first != second),
        _ => return None,
    };
    let time = time.trim();
    let text = format!("{year:04}-{month:02}-{day:02}{}{time}", if time.is_empty() { "" } else { " " });
    clock::parse(&text).map(|time| (time, is_doubtful))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_the_other_sites_read_them() {
        let exact = |text| clock::parse(text).unwrap();
        for (text, time, is_doubtful) in [
            ("2026-01-31 12:00:00", "2026-01-31T12:00:00Z", false),
            ("2020-01-15 18:53:00+00:00", "2020-01-15T18:53:00Z", false),
            ("12-31-2026", "2026-12-31", false),
            ("1-2-2026", "2026-01-02", true),
            ("1-1-2026", "2026-01-01", false),
            ("31/1/2026 08:30", "2026-01-31T08:30:00Z", false),
            ("2026/2/3", "2026-02-03", false),
        ] {
            assert_eq!(read(text), Some((exact(time), is_doubtful)), "{text}");
        }
        for text in ["", "soon", "13-13-2026", "1-2-26", "2026-02-30", "99999999999-1-1"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
