//! Times as people write them: seconds, `1:30`, `1:02:30.5`, `12 s`, `25%`, and a start and an end in one text.

/// A time before it is known in what: percent need a duration, and frames a rate.
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

/// The events of a text in which each caption follows its times, as video language models write them:
/// `0.0 - 12.5 seconds, a man sings. 12.5 - 20 seconds, he bows.` Returns the first piece that has no times.
pub(crate) fn events_in_text(text: &str) -> Result<Vec<(Time, Time, String)>, String> {
    let mut starts: Vec<(usize, usize, Time, Time)> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_start = bytes[at].is_ascii_digit()
            && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric() && bytes[at - 1] != b'.');
        match is_start.then(|| span_at(&text[at..])).flatten() {
            Some((len, start, end)) => {
                starts.push((at, at + len, start, end));
                at += len;
            }
            None => at += 1,
        }
    }
    let first = starts.first().map_or(text.len(), |start| start.0);
    let before = text[..first].trim_matches(|c: char| c.is_whitespace() || "[(<-*".contains(c));
    if starts.is_empty() || before.len() > 40 {
        return Err(text.chars().take(60).collect());
    }
    let ends = starts.iter().skip(1).map(|start| start.0).chain([text.len()]);
    Ok(starts
        .iter()
        .zip(ends)
        .map(|((_, from, start, end), to)| {
            let caption =
                text[*from..to].trim_start_matches(|c: char| c.is_whitespace() || ",:;-])>".contains(c));
            let is_last = to == text.len();
            let caption = if is_last { caption } else { without_lead(caption, before) };
            (
                *start,
                *end,
                caption.trim_end_matches(|c: char| c.is_whitespace() || "[(<".contains(c)).to_owned(),
            )
        })
        .collect())
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

/// A start and an end at the beginning of a text, with the length of what was read.
fn span_at(text: &str) -> Option<(usize, Time, Time)> {
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
    let between = [" - ", " to ", " – ", "-", "–"].iter().find(|between| rest.starts_with(**between))?;
    at += between.len();
    let (len, end) = one(text.get(at..)?)?;
    at += len;
    Some((at + unit(&text[at..]), start, end))
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
    fn captions_follow_their_times_in_the_text_of_a_model() {
        let text = "0.0 - 12.5 seconds, a man sings 2 songs. 12.5 - 20 seconds, he bows.";
        let found = events_in_text(text).unwrap();
        let captions: Vec<&str> = found.iter().map(|event| event.2.as_str()).collect();
        assert_eq!(captions, ["a man sings 2 songs.", "he bows."]);
        assert_eq!(found[1].0, Time::Seconds(12.5));
        assert_eq!(events_in_text("I cannot say."), Err("I cannot say.".to_owned()));
        let found = events_in_text("[00:05 - 00:10] a dog\n[00:10 - 00:20] a cat").unwrap();
        assert_eq!(
            (found[0].1, found[0].2.as_str(), found[1].2.as_str()),
            (Time::Seconds(10.0), "a dog", "a cat")
        );
    }
}
