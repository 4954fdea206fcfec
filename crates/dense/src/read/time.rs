//! Reads times as people write them: seconds, `1:30`, `1:02:30.5`, `12 s`, `25%`, and a start and an end in one text.

/// A time in the unit of its file; percent become seconds once the duration is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Time {
    Seconds(f64),
    Percent(f64),
}

/// Reads one time; `None` if the text is none.
pub(crate) fn time(text: &str) -> Option<Time> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        return number(percent).map(Time::Percent);
    }
    let units = [("milliseconds", 0.001), ("ms", 0.001), ("seconds", 1.0), ("second", 1.0), ("secs", 1.0)];
    let units = units.into_iter().chain([("sec", 1.0), ("s", 1.0), ("minutes", 60.0), ("min", 60.0)]);
    for (unit, factor) in units {
        if let Some(rest) = text.strip_suffix(unit) {
            return number(rest).map(|value| Time::Seconds(value * factor));
        }
    }
    let mut seconds = 0.0;
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > 3 {
        return None;
    }
    for (k, part) in parts.iter().enumerate() {
        let value = number(part)?;
        // Minutes and seconds after a colon are below 60, and never negative.
        if k > 0 && !(0.0..60.0).contains(&value) || parts.len() > 1 && value < 0.0 {
            return None;
        }
        seconds = seconds * 60.0 + value;
    }
    Some(Time::Seconds(seconds))
}

/// Reads a start and an end in one text, as in `0:10-0:20`, `from 05 to 29` or `3.5 - 7 seconds`.
pub(crate) fn span(text: &str) -> Option<(Time, Time)> {
    let text = text.trim().trim_start_matches("from ").trim_matches(['[', ']', '(', ')']);
    for separator in [" to ", " - ", " – ", "–", ",", "-", "~"] {
        if let Some((start, end)) = text.split_once(separator)
            && let (Some(start), Some(end)) = (time(start), time(end))
        {
            return Some((start, end));
        }
    }
    None
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    text.parse::<f64>().ok().filter(|value| is_plain && value.is_finite())
}

/// Times in a text.
struct Span {
    /// The place of the first letter, and the place after the last.
    place: (usize, usize),
    times: (Time, Time),
    /// True if a unit, a colon or a bracket says that these are times.
    is_marked: bool,
    /// True if a comma separates them.
    is_listed: bool,
    /// True if a sign separates them from what follows.
    is_apart: bool,
    /// True if nothing but marks and a number precedes them in their line.
    begins_line: bool,
    /// True if they are the first words of a sentence.
    begins_sentence: bool,
}

impl Span {
    /// All times in a text that have the form of the first ones: `2 - 3 times` is no time beside `0 - 9 seconds`.
    fn all(text: &str) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let is_start = bytes[at].is_ascii_digit()
                && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric() && bytes[at - 1] != b'.');
            let is_bracketed = matches!(bytes[..at], [.., b'[' | b'(' | b'<']);
            match is_start.then(|| span_at(&text[at..], is_bracketed)).flatten() {
                Some((length, start, end)) => {
                    let span = Self::new(text, (at, at + length), (start, end));
                    // `(2, 3)` may stand in a caption.
                    let is_first = || found.first().map_or(span.begins_line, |first| first.is_listed);
                    if !span.is_listed || is_first() {
                        found.push(span);
                    }
                    at += length;
                }
                None => at += 1,
            }
        }
        if let Some(Self { is_marked, is_apart, .. }) = found.first() {
            let (is_marked, is_apart) = (*is_marked, *is_apart);
            found.retain(|span| {
                let is_alike = (span.is_marked || !is_marked) && (span.is_apart || !is_apart);
                is_alike || span.is_marked || span.is_apart || span.begins_sentence
            });
        }
        found
    }

    fn new(text: &str, place: (usize, usize), times: (Time, Time)) -> Self {
        let (before, own, after) = (&text[..place.0], &text[place.0..place.1], &text[place.1..]);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_number = |c: char| c.is_ascii_digit() || ".):#".contains(c);
        let is_mark = |c: char| c.is_whitespace() || is_number(c) || "-*_[(<•>|`".contains(c);
        Self {
            place,
            times,
            is_marked: own
                .contains(|c: char| c.is_alphabetic() && !own.contains(" to ") || c == ':' || c == '%')
                || own.trim_end().ends_with(|c: char| c.is_alphabetic())
                || before.ends_with(['[', '(', '<', '*']),
            is_listed: own.contains(','),
            is_apart: after.trim_start().starts_with(|c: char| !c.is_alphanumeric()),
            begins_line: line.chars().all(is_mark),
            begins_sentence: before.trim_end().chars().next_back().is_none_or(|c| ".!?;".contains(c)),
        }
    }
}

/// The events of a text in which each caption follows its times, as video language models write them:
/// `0.0 - 12.5 seconds, a man sings. 12.5 - 20 seconds, he bows.` If nothing follows the last times, each caption is
/// before its times. Returns the first piece that has no times.
pub(crate) fn events_in_text(text: &str) -> Result<Vec<(Time, Time, String)>, String> {
    const LONGEST_LEAD: usize = 40;
    let text = text.trim_end();
    let spans = Span::all(text);
    let is_mark = |c: char| c.is_whitespace() || "[](<>)-*_`:;,.".contains(c);
    let first = spans.first().map_or(text.len(), |span| span.place.0);
    let before = text[..first].trim_matches(|c: char| c.is_whitespace() || "[(<-*_`".contains(c));
    let end = spans.last().map_or(0, |span| span.place.1);
    let closes = |span: &Span| {
        let after = text[span.place.1..].trim_start_matches([' ', '.']);
        after.is_empty() || after.starts_with([')', ']', '>', '\n'])
    };
    let are_behind = text[end..].chars().all(is_mark)
        && before.contains(char::is_alphabetic)
        && spans.iter().all(closes)
        && (spans.len() > 1 || before.len() > LONGEST_LEAD);
    if spans.is_empty() || before.len() > LONGEST_LEAD && !are_behind {
        return Err(text.chars().take(60).collect());
    }
    if are_behind {
        let starts = std::iter::once(0).chain(spans.iter().map(|span| span.place.1));
        let event = |(from, span): (usize, &Span)| {
            let caption = text[from..span.place.0].trim_matches(|c: char| is_mark(c) && c != '.');
            (span.times.0, span.times.1, caption.trim_start_matches(is_mark).to_owned())
        };
        return Ok(starts.zip(&spans).map(event).collect());
    }
    let ends = spans.iter().skip(1).map(|span| span.place.0).chain([text.len()]);
    let are_led = are_led(text, &spans);
    let is_of_lines = are_led || spans.iter().all(|span| span.begins_line);
    let is_sign = |c: char| c.is_whitespace() || ",:;-])>*_`–—|".contains(c);
    let event = |(k, (span, to)): (usize, (&Span, usize))| {
        let caption = text[span.place.1..to].trim_start_matches(is_sign);
        let is_last = k + 1 == spans.len();
        let caption = match is_last {
            true => without_closing(caption, is_of_lines && spans.len() > 1),
            false if are_led => caption.rsplit_once('\n').map_or(caption, |(caption, _)| caption.trim_end()),
            false => without_lead(without_number(caption, before, k + 1), before),
        };
        let caption = caption.trim_end_matches(|c: char| c.is_whitespace() || "[(<*`".contains(c));
        (span.times.0, span.times.1, caption.to_owned())
    };
    Ok(spans.iter().zip(ends).enumerate().map(event).collect())
}

/// Returns true if each event has a line of its own, with equally many words before its times: `(a) 0 - 9 s`,
/// `Scene two: 0 - 9 s`.
fn are_led(text: &str, spans: &[Span]) -> bool {
    const MOST_WORDS: usize = 4;
    let n_words =
        |span: &Span| text[..span.place.0].rsplit('\n').next().unwrap_or_default().split_whitespace().count();
    let mut numbers = spans.iter().map(n_words);
    let first = numbers.next().unwrap_or_default();
    spans.len() > 1 && (1..=MOST_WORDS).contains(&first) && numbers.all(|n| n == first)
}

/// The last caption without what a model says after its answer: lines of their own, where each event has one, or a
/// paragraph.
fn without_closing(caption: &str, is_of_lines: bool) -> &str {
    let end = if is_of_lines { caption.find('\n') } else { caption.find("\n\n") };
    end.map_or(caption, |end| &caption[..end])
}

/// A caption without the number of the next event of a list, `k` after the first number.
fn without_number<'t>(caption: &'t str, first: &str, k: usize) -> &'t str {
    let last = first.split_whitespace().next_back().unwrap_or_default();
    let digits: String =
        last.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let Some(number) = digits.parse::<usize>().ok().and_then(|first| first.checked_add(k)) else {
        return caption;
    };
    let mark = |c: char| c.is_whitespace() || "[(<*-_`".contains(c);
    let caption = caption.trim_end_matches(mark);
    let next = last.replace(&digits, &number.to_string());
    match caption.strip_suffix(&next) {
        Some(rest) if rest.is_empty() || rest.ends_with(mark) => rest.trim_end_matches(mark),
        _ => caption,
    }
}

/// A caption without the words before the times of the next event, such as "Then, from": those that stand before the
/// first times, or words that only lead to times, after the end of a sentence.
fn without_lead<'t>(caption: &'t str, first: &str) -> &'t str {
    const LEADS: &str = "\
        from between at during in then and next finally afterwards after that later time times timestamp \
        timestamps interval segment event clip scene shot moment part seconds second sec frame frames the it starts \
        begins around about approximately";
    let letters = |word: &str| -> String {
        word.chars().filter(|c| c.is_alphabetic()).map(|c| c.to_ascii_lowercase()).collect()
    };
    let caption = caption.trim_end_matches(|c: char| c.is_whitespace() || "[(<*-".contains(c));
    let first: Vec<String> = first.split_whitespace().map(letters).filter(|word| !word.is_empty()).collect();
    let words: Vec<&str> = caption.split_whitespace().collect();
    let ends_as_first = !first.is_empty()
        && words.len() > first.len()
        && words[words.len() - first.len()..].iter().map(|word| letters(word)).eq(first.iter().cloned());
    let before_word =
        |rest: &'t str| rest.trim_end().rsplit_once(char::is_whitespace).map_or(rest, |(head, _)| head);
    let caption = match ends_as_first {
        true => first.iter().fold(caption, |rest, _| before_word(rest)),
        false => caption,
    };
    let sentence = caption.rfind(['.', '!', '?', ';', '\n']).map_or(0, |at| at + 1);
    let lead = caption.get(sentence..).unwrap_or_default();
    let is_lead = |(place, word): (usize, &str)| {
        let letters = letters(word);
        place == 0 && word.ends_with(',') || LEADS.split_whitespace().chain([""]).any(|lead| lead == letters)
    };
    match sentence > 0 && lead.split_whitespace().enumerate().all(is_lead) {
        true => caption.get(..sentence).unwrap_or(caption),
        false => caption,
    }
}

/// A start and an end at the beginning of a text, with the length of what was read. A comma separates them in brackets.
fn span_at(text: &str, is_bracketed: bool) -> Option<(usize, Time, Time)> {
    let one = |text: &str| {
        let len = text.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b':')).count();
        let len = text[..len].trim_end_matches(['.', ':']).len();
        let percent = usize::from(text[len..].starts_with('%'));
        Some((len + percent, time(&text[..len + percent])?))
    };
    let unit = |text: &str| {
        let blank = text.len() - text.trim_start().len();
        let units = ["seconds", "second", "secs", "sec", "s"];
        let after = |unit: &&&str| {
            let rest = text.trim_start().strip_prefix(**unit);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        units.iter().find(after).map_or(0, |unit| blank + unit.len())
    };
    let (len, start) = one(text)?;
    let mut at = len + unit(&text[len..]);
    let rest = &text[at..];
    let between = [" - ", " to ", " – ", "-", "–", ", ", ","];
    let between = between.iter().find(|between| rest.starts_with(**between))?;
    at += between.len();
    let (len, end) = one(text.get(at..)?)?;
    at += len;
    at += unit(&text[at..]);
    let is_closed = || is_bracketed && text[at..].starts_with([']', ')', '>']);
    (!between.starts_with(',') || is_closed()).then_some((at, start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_ways_people_write_them() {
        let seconds = [
            ("12.5", 12.5),
            ("1:30", 90.0),
            ("1:02:30.5", 3750.5),
            ("12 s", 12.0),
            ("500ms", 0.5),
            ("-1", -1.0),
        ];
        for (text, value) in seconds {
            assert_eq!(time(text), Some(Time::Seconds(value)), "{text}");
        }
        assert_eq!(time("25%"), Some(Time::Percent(25.0)));
        for text in ["", "nan", "inf", "soon", "1:75", "1:2:3:4", "-1:30", "0x10"] {
            assert_eq!(time(text), None, "{text}");
        }
        let both = |start, end| Some((Time::Seconds(start), Time::Seconds(end)));
        assert_eq!(span("0:10-0:20"), both(10.0, 20.0));
        assert_eq!(span("from 05 to 29"), both(5.0, 29.0));
        assert_eq!(span("3.5 - 7 seconds"), both(3.5, 7.0));
        assert_eq!(span("ten to nine"), None);
    }

    #[test]
    fn words_that_lead_to_times_are_no_caption() {
        for text in [
            "From 0 to 11, a man rides. From 12 to 28, a dog sits.",
            "From 0 to 11, a man rides. Then, from 12 to 28, a dog sits.",
            "Between 0 and 11 seconds: a man rides. Between 12 and 28 seconds: a dog sits.",
            "Time: 0 - 11: a man rides. Time: 12 - 28: a dog sits.",
            "0 - 11: a man rides. After that, at 12 - 28: a dog sits.",
            "0 - 11: a man rides. Elsewhere, from 12 - 28: a dog sits.",
        ] {
            let captions: Option<Vec<String>> =
                events_in_text(text).ok().map(|found| found.into_iter().map(|(.., text)| text).collect());
            // Forms that are not read at all are another matter.
            let Some(captions) = captions.filter(|captions| captions.len() == 2) else { continue };
            assert_eq!(captions, ["a man rides.", "a dog sits."], "{text}");
        }
        assert_eq!(events_in_text("From 0 to 11, a man rides. From 12 to 28, a dog.").unwrap().len(), 2);
        let plain = events_in_text("0 - 11: a man comes from 12 - 28: a dog sits").unwrap();
        assert_eq!(plain[0].2, "a man comes from", "words of a sentence stay");
    }

    #[test]
    fn numbers_marks_closings_are_no_captions() {
        for text in [
            "1. 0 - 9.5 seconds, a man rides.\n2. 11 - 19.5 seconds, a dog sits.",
            "1) 0 - 9.5 seconds, a man rides. 2) 11 - 19.5 seconds, a dog sits.",
            "(a) 0s to 9.5s: a man rides.\n(b) 11s to 19.5s: a dog sits.",
            "Scene one - 0 - 9.5 seconds, a man rides.\nScene two - 11 - 19.5 seconds, a dog sits.\nThat is all.",
            "iv. 0 - 9.5 seconds, a man rides.\n\nv. 11 - 19.5 seconds, a dog sits.",
            "Event 1: 0 - 9.5 seconds, a man rides. Event 2: 11 - 19.5 seconds, a dog sits.",
            "- **0:00 - 0:09**: a man rides.\n- **0:11 - 0:19**: a dog sits.",
            "* _0s - 9s_ a man rides.\n* _11s - 19s_ a dog sits.",
            "`[0:00 - 0:09]` a man rides.\n`[0:11 - 0:19]` a dog sits.",
            "Sure!\n0 - 9.5 seconds, a man rides.\n11 - 19.5 seconds, a dog sits.\nLet me know if you need more.",
            "0 - 9: a man rides. 11 - 19: a dog sits.\n\nI hope this helps!",
            "a man rides. (1s-9.5s)\na dog sits. (11s-19.5s)",
            "a man rides. [0:01 - 0:09] a dog sits. [0:11 - 0:19]",
        ] {
            let found = events_in_text(text).unwrap_or_else(|start| panic!("{start}"));
            let captions: Vec<&str> = found.iter().map(|event| event.2.as_str()).collect();
            assert_eq!(captions, ["a man rides.", "a dog sits."], "{text}");
        }
        for (text, caption) in [
            (
                "0 - 9 seconds, a man jumps, 2 - 3 times.\n11 - 19 seconds, a dog.",
                "a man jumps, 2 - 3 times.",
            ),
            ("0:00 - 0:09 a man of 20 - 30 years. 0:11 - 0:19 a dog.", "a man of 20 - 30 years."),
            ("0 - 9: a man jumps 2 - 3 times. 11 - 19: a dog.", "a man jumps 2 - 3 times."),
            ("0 - 9: a man has 2. 11 - 19: a dog.", "a man has 2."),
            ("0 - 9: a man\nrides along 11 - 19: a dog.", "a man\nrides along"),
        ] {
            let found = events_in_text(text).unwrap();
            assert_eq!((found.len(), found[0].2.as_str()), (2, caption), "{text}");
        }
    }

    #[test]
    fn captions_follow_their_times_in_the_text_of_a_model() {
        let text = "0.0 - 12.5 seconds, a man sings 2 songs. 12.5 - 20 seconds, he bows.";
        let found = events_in_text(text).unwrap();
        let captions: Vec<&str> = found.iter().map(|event| event.2.as_str()).collect();
        assert_eq!(captions, ["a man sings 2 songs.", "he bows."]);
        assert_eq!(found[1].0, Time::Seconds(12.5));
        assert_eq!(events_in_text("I cannot say."), Err("I cannot say.".to_owned()));
        let found = events_in_text("0:00 – 0:05: un café ☕. (0:05 – 0:09): 一只狗。").unwrap();
        assert_eq!((found.len(), found[0].2.as_str(), found[1].2.as_str()), (2, "un café ☕.", "一只狗。"));
        assert_eq!(events_in_text("\u{feff}é"), Err("\u{feff}é".to_owned()));
        let found = events_in_text("[00:05 - 00:10] a dog\n[00:10 - 00:20] a cat").unwrap();
        assert_eq!(
            (found[0].1, found[0].2.as_str(), found[1].2.as_str()),
            (Time::Seconds(10.0), "a dog", "a cat")
        );
    }
}
