//! Detects the format of a file from its content.

use crate::formats::flickr::looks_like_a_token;
use crate::head::{HEAD_BYTES, is_binary};
use crate::json::{Json, ValueKind, What};
use crate::table::{header_sign, means_something, names_captions};
use crate::unpack::unpacked_name;
use crate::{Format, Role};

/// The format of a file, or a description of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    Format(Format),
    /// Another kind of file, named for an error, and how to convert it.
    Foreign(&'static str, Option<&'static str>),
    /// Neither text nor a known kind of file.
    Binary,
    /// Nothing but white space.
    Nothing,
}

/// Detects the format from the first bytes (without a byte order mark). The extension of `name` counts only for text
/// that could have several formats: it is CSV, TSV or JSON if the extension says so.
pub(crate) fn sniff(head: &[u8], name: &str, role: Role) -> Guess {
    if let Some((what, advice)) = foreign_magic(head) {
        return Guess::Foreign(what, Some(advice));
    }
    if head.starts_with(b"PAR1") {
        return Guess::Format(Format::Parquet);
    }
    if is_binary(head) && head.contains(&0) {
        return Guess::Binary;
    }
    let text = valid_prefix(head);
    let significant = text.trim_start();
    let mut bytes = significant.bytes();
    match bytes.next() {
        None if text.len() == head.len() && head.len() < HEAD_BYTES => Guess::Nothing,
        Some(b'{') => Guess::Format(sniff_object(significant)),
        Some(b'[') if holds_numbers(significant) => Guess::Foreign(
            "lists of numbers of tokens",
            Some("give the captions as text, which the tokenizer of the model decodes"),
        ),
        Some(b'[') if opens_array(significant) => Guess::Format(sniff_list(significant, role)),
        Some(b'[') if is_array(significant) => Guess::Foreign(
            "a JSON array without captions",
            Some("give an array of captions, or of objects with image_id and caption"),
        ),
        Some(b'"') if ["\"[", "\"{"].iter().any(|start| significant.starts_with(start)) => {
            Guess::Format(Format::JsonLines)
        }
        Some(b'<') if is_markup(significant) => {
            let are_lines = has_text_in_every_line(text);
            Guess::Foreign("XML or HTML", (!are_lines).then_some(AS_OBJECT))
        }
        _ => sniff_lines(text, significant, name),
    }
}

/// Advice for files that may hold captions in another way.
const AS_OBJECT: &str = "write its captions as a JSON object from ids to captions";

/// Advice for pictures.
const AS_CAPTIONS: &str = "give a file of captions, such as a JSON object from ids to captions";

/// Returns true if each line of markup has text between few tags, as captions have.
fn has_text_in_every_line<'t>(text: &'t str) -> bool {
    const FEW_TAGS: usize = 8;
    let outside = |part: &'t str| part.split_once('>').map_or(part, |(_, after)| after);
    let has_text = |line: &'t str| line.split('<').map(outside).any(|text| !text.trim().is_empty());
    let may_be_caption = |line: &'t str| has_text(line) && line.matches('<').count() <= FEW_TAGS;
    text.lines().filter(|line| !line.trim().is_empty()).all(may_be_caption) && !text.starts_with("<!")
}

/// The longest prefix that is UTF-8.
fn valid_prefix(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(valid).unwrap_or_default()
        }
    }
}

/// The kind of a file that its first bytes name, and what to do with it.
pub(crate) fn foreign_magic(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const MAGICS: &[(&[u8], &str, &str)] = &[
        (b"7z\xBC\xAF", "a 7-Zip archive", "unpack it first"),
        (b"%PDF", "a PDF document", "give its captions as text, one in a line"),
        (b"\x89PNG", "a PNG image", AS_CAPTIONS),
        (b"\xFF\xD8\xFF", "a JPEG image", AS_CAPTIONS),
        (b"ARROW1", "an Arrow file", "write it as Parquet"),
        (b"\x89HDF", "an HDF5 file", "write its captions as JSON"),
        (b"\x93NUMPY", "a numpy array", "write its captions as JSON"),
        (b"\x80\x02", "a Python pickle", "write it as JSON"),
        (b"\x80\x03", "a Python pickle", "write it as JSON"),
        (b"\x80\x04", "a Python pickle", "write it as JSON"),
        (b"\x80\x05", "a Python pickle", "write it as JSON"),
        (b"SQLite format 3\0", "an SQLite database", "export the table of captions as CSV"),
        (b"version https://git-lfs.", "a pointer of Git LFS", "fetch the file itself with git lfs pull"),
    ];
    MAGICS.iter().find(|(magic, ..)| head.starts_with(magic)).map(|(_, what, advice)| (*what, *advice))
}

/// Returns true if a `[` begins a JSON array, and not a caption such as `[unk] on a mat`.
fn opens_array(text: &str) -> bool {
    let inside = text.get(1..).unwrap_or_default().trim_start();
    inside.starts_with(['{', ']', '[', '"'])
}

/// Returns true if a JSON array begins with an array of several numbers, and nothing else.
fn holds_numbers(text: &str) -> bool {
    let inside = text.get(1..).unwrap_or_default().trim_start();
    let inner = inside.strip_prefix('[').and_then(|inner| inner.split_once(']'));
    let is_number = |item: &str| item.trim().parse::<f64>().is_ok();
    inner.is_some_and(|(inner, _)| inner.contains(',') && inner.split(',').all(is_number))
}

/// Returns true if a text that begins with `[` is a JSON array or the beginning of one, and not a caption such as `[1]
/// a mat`.
fn is_array(text: &str) -> bool {
    let mut json = Json::new(text);
    match json.skip() {
        Ok(()) => json.end().is_ok(),
        Err(fault) => fault.what == What::Truncated && text.contains(','),
    }
}

/// Returns true if the first line is a JSON array.
fn begins_with_array(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.starts_with('[') && is_array(line)
}

/// Returns true if a text that begins with `<` is XML or HTML, and not captions between marks such as `<start>`: its
/// first line is nothing but tags, or its end closes its beginning.
fn is_markup(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim_end();
    let name = line.trim_start_matches('<').split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let outside =
        line.split('<').any(|part| part.split_once('>').is_some_and(|(_, after)| !after.trim().is_empty()));
    let closes = !name.is_empty() && text.trim_end().ends_with(&format!("</{name}>"));
    line.starts_with("<?") || line.starts_with("<!") || !outside && line.ends_with('>') || closes
}

fn sniff_list(text: &str, role: Role) -> Format {
    let mut json = Json::new(text);
    let looks_like_results = || -> crate::json::Result<bool> {
        let (mut first, mut id, mut caption, mut other) = (true, false, false, false);
        json.open(b'[', "")?;
        if !json.next_element(&mut first)? {
            return Ok(true);
        }
        json.open(b'{', "")?;
        first = true;
        while let Some(key) = json.next_key(&mut first)? {
            match &*key.decoded()? {
                "image_id" => id = true,
                "caption" => caption = json.kind()? == ValueKind::String,
                // Another text could be what the model said.
                _ => {
                    other |=
                        json.kind()? == ValueKind::String && json.clone().string()?.decoded()?.contains(' ');
                }
            }
            json.skip()?;
        }
        Ok(id && caption && !other)
    };
    match (role, { looks_like_results }()) {
        (Role::Candidates, Ok(true)) => Format::CocoResults,
        _ => Format::ListJson,
    }
}

/// Distinguishes COCO annotations, Karpathy's format, JSON Lines and a plain dictionary by the first keys.
fn sniff_object(text: &str) -> Format {
    /// After this many keys that are not keys of other formats, the object is a dictionary of captions.
    const ENOUGH_KEYS: usize = 16;
    let mut json = Json::new(text);
    let mut sniff = || -> crate::json::Result<Format> {
        let mut first = true;
        json.open(b'{', "")?;
        for _ in 0..ENOUGH_KEYS {
            let Some(key) = json.next_key(&mut first)? else {
                let more = json.peek() == Some(b'{');
                return Ok(if more { Format::JsonLines } else { Format::DictJson });
            };
            let key = key.decoded()?;
            let kind = json.kind()?;
            match (&*key, kind) {
                ("annotations", ValueKind::Array) => return Ok(Format::CocoAnnotations),
                ("images", ValueKind::Array) => {
                    return Ok(match first_element_has_key(&json, "sentences") {
                        true => Format::Karpathy,
                        false => Format::CocoAnnotations,
                    });
                }
                (key, ValueKind::String | ValueKind::Number | ValueKind::Array) if means_something(key) => {
                    return Ok(Format::JsonLines);
                }
                _ => json.skip()?,
            }
        }
        Ok(Format::DictJson)
    };
    let incomplete = Format::DictJson;
    sniff().unwrap_or(incomplete)
}

/// Returns true if the next array begins with an object that has the key `wanted`.
fn first_element_has_key(json: &Json<'_>, wanted: &str) -> bool {
    let mut json = json.clone();
    let mut search = || -> crate::json::Result<bool> {
        let mut first = true;
        json.open(b'[', "")?;
        if !json.next_element(&mut first)? {
            return Ok(false);
        }
        json.open(b'{', "")?;
        first = true;
        while let Some(key) = json.next_key(&mut first)? {
            if key.decoded()? == wanted {
                return Ok(true);
            }
            json.skip()?;
        }
        Ok(false)
    };
    search().unwrap_or(false)
}

fn sniff_lines(text: &str, significant: &str, name: &str) -> Guess {
    let line = significant.lines().next().unwrap_or_default();
    // The first cue has a number or a name at most before its times.
    if significant.lines().take(4).any(is_span_of_time) {
        let advice = "write the captions as a JSON object from ids to captions, or one in a line";
        return Guess::Foreign("subtitles, with times such as 00:00 --> 00:01", Some(advice));
    }
    if header_sign(line).is_some_and(|sign| has_ids_before(significant, sign)) {
        return Guess::Format(Format::Lines);
    }
    let separators = [('\t', Format::Tsv), (',', Format::Csv), (';', Format::Csv), ('|', Format::Pipes)];
    for (separator, format) in separators {
        let names_columns = header_names_captions(line, separator);
        if names_columns && (line.contains(separator) || separator == ',') {
            return Guess::Format(format);
        }
    }
    if looks_like_a_token(line) {
        return Guess::Format(Format::Tokens);
    }
    if text.contains('\0') {
        return Guess::Foreign("binary data", Some("give text in UTF-8"));
    }
    Guess::Format(match extension(name) {
        "csv" => Format::Csv,
        "tsv" => Format::Tsv,
        "jsonl" | "ndjson" => Format::JsonLines,
        // Several values of JSON, one in a line.
        "json" if begins_with_array(significant) => Format::JsonLines,
        "json" => return Guess::Foreign("plain text, though its name ends in .json", None),
        _ => Format::Lines,
    })
}

/// The number of lines above JSON in a text that does not begin with it, such as a remark or a line of a log.
pub(crate) fn lines_above_json(head: &[u8], role: Role) -> Option<usize> {
    const MOST: usize = 3;
    let text = valid_prefix(head);
    let is_json = |line: &str| line.starts_with(['{', '[']);
    let above = text.lines().take_while(|line| !is_json(line)).count();
    let start: usize = text.split_inclusive('\n').take(above).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    let is_read = || match sniff(rest.as_bytes(), "", role) {
        Guess::Format(format) => {
            !matches!(format, Format::Lines | Format::Tokens | Format::Csv | Format::Tsv | Format::Pipes)
        }
        _ => false,
    };
    ((1..=MOST).contains(&above) && !rest.is_empty() && is_read()).then_some(above)
}

/// Returns true if the lines below a header begin with words that have a digit, with a sign behind them.
fn has_ids_before(text: &str, sign: &str) -> bool {
    const LINES: usize = 20;
    let is_id =
        |id: &str| id.contains(|c: char| c.is_ascii_digit()) && !id.trim().contains(char::is_whitespace);
    let mut lines = text.lines().skip(1).filter(|line| !line.trim().is_empty()).take(LINES).peekable();
    lines.peek().is_some()
        && lines.all(|line| line.trim_start().split_once(sign).is_some_and(|(id, _)| is_id(id)))
}

/// Returns true for the times of a subtitle: `00:00:00,000 --> 00:00:01,000`.
fn is_span_of_time(line: &str) -> bool {
    let is_time = |text: &str| {
        text.contains(':') && text.bytes().all(|byte| byte.is_ascii_digit() || b":,.".contains(&byte))
    };
    let Some((from, to)) = line.split_once(" --> ") else { return false };
    is_time(from.trim()) && to.split_whitespace().next().is_some_and(is_time)
}

/// The last extension of a file name that is not that of its compression: `csv` for `a.csv.gz`.
fn extension(name: &str) -> &str {
    unpacked_name(name).rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Returns true if a first line is a header that names captions.
fn header_names_captions(line: &str, separator: char) -> bool {
    let mut names = line.split(separator).map(|name| name.trim().trim_matches('"'));
    let mut found = false;
    names.all(|name| {
        found |= names_captions(name, !line.contains(separator));
        let is_value = name.parse::<f64>().is_ok() || name.starts_with(['[', '{']);
        !name.contains(char::is_whitespace) && !is_value
    }) && found
}
