//! Checks a file of results before it counts: one pass yields a full report, and the captions in canonical form.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use capeval_choice::SegmentId;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;

pub use capeval_api::{ProblemKind as Kind, Problems as Problem, Report};

/// The number of problems of each kind that are listed.
const LISTED: usize = 20;

/// The most characters of a caption of an image.
pub const LONGEST: usize = 2_000;

/// The most characters of an id that is shown.
const SHOWN: usize = 80;

/// The images that a phase expects.
#[derive(Debug, Default)]
pub struct ExpectedImages {
    ids: HashMap<String, usize>,
    given: Vec<SegmentId>,
}

impl ExpectedImages {
    /// Adds images; those that are known already stay as they are. The number 1 and the text "1" are one image.
    pub fn add(&mut self, ids: Vec<SegmentId>) {
        for id in ids {
            let next = self.given.len();
            if *self.ids.entry(id.to_string()).or_insert(next) == next {
                self.given.push(id);
            }
        }
    }

    /// Orders the images by their ids, so that a report of the first ones does not tell which are in one half.
    pub fn sort(&mut self) {
        let mut given = std::mem::take(&mut self.given);
        given.sort_unstable();
        self.ids.clear();
        self.add(given);
    }

    /// Returns true if this image is expected.
    pub fn has(&self, id: &SegmentId) -> bool {
        self.ids.contains_key(&id.to_string())
    }

    /// Returns true if these are the images of another list.
    pub fn are_those_of(&self, other: &Self) -> bool {
        self.len() == other.len() && self.ids.keys().all(|id| other.ids.contains_key(id))
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        self.given.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }
}

/// A result that can be scored.
#[derive(Serialize)]
struct Line<'a> {
    image_id: &'a SegmentId,
    caption: &'a str,
}

/// Checks the content of a results file: at most so many captions, of at most so many characters. Returns the captions
/// as a file of canonical JSON if they are valid: in the order of the expected images, so that the same captions give
/// the same bytes. Captions are kept in `folder` and not in memory, since a small file may decompress to hundreds of
/// megabytes of them.
pub fn check(
    mut content: impl Read,
    expected: &ExpectedImages,
    (most_captions, longest): (usize, usize),
    folder: &Path,
) -> io::Result<(Report, Option<File>)> {
    let mut checker = Checker { longest, ..Checker::new(expected, most_captions, folder)? };
    let mut start = Vec::new();
    if let Err(error) = content.by_ref().take(3).read_to_end(&mut start) {
        return checker.report(Some(error.to_string()));
    }
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(start.chain(content)));
    let read = ListSeed(&mut checker).deserialize(&mut json).and_then(|()| json.end());
    checker.report(read.err().map(|error| error.to_string()))
}

/// Returns true if the checked file is no list of results at all, so that it may be in another format.
pub fn is_foreign(report: &Report, most_captions: usize) -> bool {
    let of_kind = |kind: Kind| report.problems.iter().find(|problem| problem.kind.known() == Some(kind));
    let odd = of_kind(Kind::NotAnObject).map_or(0, |problem| problem.count);
    report.captions < most_captions
        && (report.unreadable.is_some() || report.captions > 0 && odd == report.captions)
}

/// Texts on the disk, one after the other.
struct Spool {
    file: BufWriter<File>,
    size: u64,
}

/// The place of a text in a spool.
#[derive(Clone, Copy, Default)]
struct Place {
    start: u64,
    bytes: usize,
}

impl Spool {
    fn add(&mut self, text: &str) -> io::Result<Place> {
        let place = Place { start: self.size, bytes: text.len() };
        self.file.write_all(text.as_bytes())?;
        self.size += text.len() as u64;
        Ok(place)
    }

    fn reader(self) -> io::Result<SpoolReader> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(SpoolReader { file: BufReader::new(file), at: 0, text: Vec::new() })
    }
}

/// Reads the texts of a spool, which are mostly asked for in the order in which they came.
struct SpoolReader {
    file: BufReader<File>,
    at: u64,
    text: Vec<u8>,
}

impl SpoolReader {
    fn text(&mut self, Place { start, bytes }: Place) -> io::Result<&str> {
        self.file.seek_relative(start.cast_signed() - self.at.cast_signed())?;
        self.text.resize(bytes, 0);
        self.file.read_exact(&mut self.text)?;
        self.at = start + bytes as u64;
        std::str::from_utf8(&self.text).map_err(io::Error::other)
    }
}

struct Checker<'e> {
    expected: &'e ExpectedImages,
    /// The places of the captions in the spool, by image.
    captions: Vec<Option<Place>>,
    spool: Spool,
    /// The file of the captions in canonical form.
    canonical: File,
    /// The reason why a caption could not be kept.
    failure: Option<io::Error>,
    count: usize,
    most: usize,
    longest: usize,
    found: Vec<(usize, Vec<String>)>,
}

impl<'e> Checker<'e> {
    fn new(expected: &'e ExpectedImages, most: usize, folder: &Path) -> io::Result<Self> {
        let spool = Spool { file: BufWriter::new(tempfile::tempfile_in(folder)?), size: 0 };
        Ok(Self {
            expected,
            captions: vec![None; expected.len()],
            spool,
            canonical: tempfile::tempfile_in(folder)?,
            failure: None,
            count: 0,
            most,
            longest: LONGEST,
            found: vec![(0, Vec::new()); Kind::ALL.len()],
        })
    }

    fn is_full(&self) -> bool {
        self.count >= self.most
    }

    fn too_many(&self) -> String {
        capeval_site::reason!("more than {} captions", self.most)
    }

    /// The problems, and the captions in canonical form if they can be scored.
    fn report(mut self, unreadable: Option<String>) -> io::Result<(Report, Option<File>)> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let expected = self.expected;
        if unreadable.is_none() {
            let missing: Vec<usize> = (0..expected.len()).filter(|k| self.captions[*k].is_none()).collect();
            for image in missing {
                self.note(Kind::Missing, || expected.given[image].to_string());
            }
        }
        let found = Kind::ALL.iter().zip(self.found).filter(|(_, (count, _))| *count > 0);
        let problems: Vec<Problem> =
            found.map(|(kind, (count, first))| Problem { kind: (*kind).into(), count, first }).collect();
        let is_valid = unreadable.is_none() && problems.is_empty();
        let report = Report { is_valid, unreadable, captions: self.count, images: expected.len(), problems };
        if !is_valid {
            return Ok((report, None));
        }
        let (mut texts, mut canonical) = (self.spool.reader()?, BufWriter::new(self.canonical));
        for (k, (image_id, place)) in expected.given.iter().zip(&self.captions).enumerate() {
            canonical.write_all(if k == 0 { b"[" } else { b"," })?;
            let caption = texts.text(place.unwrap_or_default())?;
            serde_json::to_writer(&mut canonical, &Line { image_id, caption })?;
        }
        canonical.write_all(if expected.is_empty() { b"[]" } else { b"]" })?;
        let mut canonical = canonical.into_inner().map_err(io::IntoInnerError::into_error)?;
        canonical.rewind()?;
        Ok((report, Some(canonical)))
    }

    fn note(&mut self, kind: Kind, shown: impl FnOnce() -> String) {
        let Some((count, first)) = self.found.get_mut(kind as usize) else { return };
        *count += 1;
        if first.len() < LISTED {
            let shown = shown();
            let cut = shown.chars().count() > SHOWN;
            let mut text: String = shown.chars().take(SHOWN).collect();
            text.extend(cut.then_some('…'));
            first.push(text);
        }
    }

    fn item(&mut self, item: Item) {
        self.count += 1;
        let position = self.count;
        let at = || format!("#{position}");
        let (Some(id), Some(caption)) = (item.image_id, item.caption) else {
            return self.note(Kind::NotAnObject, at);
        };
        let id = match id {
            Scalar::Text(text) => text,
            Scalar::Number(number) => {
                match (number.as_i64(), number.as_f64().and_then(SegmentId::from_float)) {
                    (Some(number), _) | (None, Some(SegmentId::Integer(number))) => number.to_string(),
                    _ => return self.note(Kind::BadId, || format!("#{position}: {number}")),
                }
            }
            Scalar::Other => return self.note(Kind::BadId, at),
        };
        let Some(image) = self.expected.ids.get(&id).copied() else { return self.note(Kind::Unknown, || id) };
        if self.captions[image].is_some() {
            return self.note(Kind::Duplicate, || id);
        }
        let Scalar::Text(caption) = caption else {
            self.captions[image] = Some(Place::default());
            return self.note(Kind::NotText, || id);
        };
        if caption.trim().is_empty() {
            self.note(Kind::Empty, || id);
        } else if caption.chars().count() > self.longest {
            self.captions[image] = Some(Place::default());
            return self.note(Kind::TooLong, || id);
        }
        let kept = self.spool.add(&caption).map_err(|error| self.failure = Some(error));
        self.captions[image] = Some(kept.unwrap_or_default());
    }
}

/// An item of the list; both fields are absent if it is not an object. Everything else is read and not kept, since a
/// few bytes of an upload decompress to any number of values.
#[derive(Default)]
struct Item {
    image_id: Option<Scalar>,
    caption: Option<Scalar>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Key {
    ImageId,
    Caption,
    #[serde(other)]
    Other,
}

/// A value of a field.
enum Scalar {
    Text(String),
    Number(Number),
    /// Neither.
    Other,
}

/// Reads the items of a list or an object, and forgets them.
fn skip_list<'de, A: SeqAccess<'de>>(mut items: A) -> Result<(), A::Error> {
    while items.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemVisitor)
    }
}

struct ItemVisitor;

/// Values that are not objects, and so have no fields.
macro_rules! no_fields {
    ($($name:ident: $type:ty),*) => {$(
        fn $name<E: de::Error>(self, _: $type) -> Result<Item, E> {
            Ok(Item::default())
        }
    )*};
}

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an item of a list of results")
    }

    no_fields!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E: de::Error>(self) -> Result<Item, E> {
        Ok(Item::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Item, A::Error> {
        skip_list(items).map(|()| Item::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Item, A::Error> {
        let mut item = Item::default();
        while let Some(key) = fields.next_key()? {
            match key {
                Key::ImageId => item.image_id = Some(fields.next_value()?),
                Key::Caption => item.caption = Some(fields.next_value()?),
                Key::Other => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(item)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number.into()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number.into()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Scalar, E> {
        Ok(Number::from_f64(number).map_or(Scalar::Other, Scalar::Number))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Scalar, A::Error> {
        skip_list(items).map(|()| Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Scalar, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

/// Reads the list item by item, so that only captions are kept in memory.
struct ListSeed<'c, 'e>(&'c mut Checker<'e>);

impl<'de> DeserializeSeed<'de> for ListSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of results such as [{\"image_id\": 1, \"caption\": \"a dog runs\"}]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<Item>()? {
            if self.0.is_full() {
                return Err(de::Error::custom(self.0.too_many()));
            }
            self.0.item(item);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> ExpectedImages {
        let mut expected = ExpectedImages::default();
        expected.add(vec![SegmentId::from(1), SegmentId::from(2), SegmentId::from("a")]);
        expected.add(vec![SegmentId::from("1"), SegmentId::from(3)]);
        expected
    }

    /// The report, and what was kept in canonical form.
    fn checked(content: &[u8], most: usize) -> (Report, Option<Vec<u8>>) {
        let folder = tempfile::tempdir().unwrap();
        let (report, file) = check(content, &expected(), (most, LONGEST), folder.path()).unwrap();
        let read = |mut file: File| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes).unwrap()
        };
        (report, file.map(read))
    }

    fn problems(text: &str) -> Vec<(Kind, usize, String)> {
        let (report, canonical) = checked(text.as_bytes(), 100);
        assert_eq!(report.is_valid, canonical.is_some());
        report.problems.into_iter().map(|p| (p.kind.known().unwrap(), p.count, p.first.join(","))).collect()
    }

    #[test]
    fn the_same_captions_give_the_same_bytes() {
        let a = r#"[{"image_id": 1, "caption": "x"}, {"image_id": "2", "caption": "y", "score": [1]},
            {"image_id": "a", "caption": "z"}, {"caption": "w", "image_id": 3.0}]"#;
        let b = "\u{feff}[{\"image_id\":3,\"caption\":\"w\"},{\"image_id\":\"a\",\"caption\":\"z\"},\
            {\"image_id\":2,\"caption\":\"\\u0079\"},{\"image_id\":1,\"caption\":\"x\"}]\n";
        let canonical = |text: &str| checked(text.as_bytes(), 4).1.unwrap();
        assert_eq!(canonical(a), canonical(b));
        let text = String::from_utf8(canonical(a)).unwrap();
        assert!(text.starts_with(r#"[{"image_id":1,"caption":"x"},{"image_id":2,"caption":"y"}"#), "{text}");
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let text = r#"[1, {"image_id": 1}, {"image_id": null, "caption": "x"}, {"image_id": 1.5, "caption": "x"},
            {"image_id": 1, "caption": 7}, {"image_id": 9, "caption": "x"}, {"image_id": 2, "caption": " "},
            {"image_id": 2, "caption": "again"}]"#;
        assert_eq!(
            problems(text),
            [
                (Kind::NotAnObject, 2, "#1,#2".to_owned()),
                (Kind::BadId, 2, "#3,#4: 1.5".to_owned()),
                (Kind::NotText, 1, "1".to_owned()),
                (Kind::Missing, 2, "a,3".to_owned()),
                (Kind::Unknown, 1, "9".to_owned()),
                (Kind::Duplicate, 1, "2".to_owned()),
                (Kind::Empty, 1, "2".to_owned()),
            ]
        );
        let long = format!(r#"[{{"image_id": 1, "caption": "{}"}}]"#, "é".repeat(2001));
        assert_eq!(problems(&long)[1].0, Kind::TooLong);
        assert_eq!(problems("[]"), [(Kind::Missing, 4, "1,2,a,3".to_owned())]);
    }

    #[test]
    fn what_is_not_a_list_of_results_is_unreadable() {
        let deep = "[".repeat(100_000);
        let many = format!("[{}1]", "1,".repeat(200));
        for (text, reason) in [
            ("", "EOF"),
            ("{}", "expected a list of results"),
            ("[{\"image_id\": 1, \"caption\": \"x\"}", "EOF"),
            ("[] []", "trailing"),
            ("\u{1f}\u{8b}", "expected value"),
            (deep.as_str(), "EOF"),
            (many.as_str(), "more than 100 captions"),
            ("[{\"image_id\": 1, \"caption\": \"\\ud800\"}]", "hex escape"),
        ] {
            let (report, canonical) = checked(text.as_bytes(), 100);
            let unreadable = report.unreadable.unwrap();
            assert!(unreadable.contains(reason) && canonical.is_none(), "{unreadable}");
            assert!(report.problems.iter().all(|problem| problem.kind != Kind::Missing));
        }
        assert!(checked(b"[\"\xff\"]", 100).0.unreadable.is_some());
    }

    #[test]
    fn captions_in_any_order_are_kept_on_the_disk() {
        let mut expected = ExpectedImages::default();
        let images = 20_000;
        expected.add((0..images).map(SegmentId::from).collect());
        // Forwards in one half, and backwards in the other.
        let order = (0..images / 2).chain((images / 2..images).rev());
        let text = |image: i64| format!("é{image}").repeat(150);
        let items = order.map(|image| format!(r#"{{"image_id":{image},"caption":"{}"}}"#, text(image)));
        let content = format!("[{}]", items.collect::<Vec<_>>().join(","));
        let folder = tempfile::tempdir().unwrap();
        let (report, file) = check(content.as_bytes(), &expected, (1 << 20, LONGEST), folder.path()).unwrap();
        assert!(report.is_valid);
        let kept: Vec<serde_json::Value> = serde_json::from_reader(BufReader::new(file.unwrap())).unwrap();
        assert_eq!(kept.len(), images as usize);
        for (image, line) in (0..).zip(kept) {
            assert!(line["image_id"] == image && line["caption"] == text(image), "{image}");
        }
        // What is in memory of each caption does not depend on its length.
        assert!(size_of::<Option<Place>>() <= 24);
    }

    #[test]
    fn what_is_not_asked_for_is_not_kept() {
        // As trees of values, each of these would take half a gigabyte.
        let many = "{\"a\":1},".repeat(1 << 20);
        let all = r#"{"image_id": "2", "caption": "y"}, {"image_id": "a", "caption": "z"}, {"image_id": 3, "caption": "w"}"#;
        let before = peak_kib();
        for (item, problem) in [
            (format!("[{many}1]"), Some(Kind::NotAnObject)),
            (format!(r#"{{"image_id": 1, "caption": [{many}1]}}"#), Some(Kind::NotText)),
            (format!(r#"{{"image_id": [{many}1], "caption": ""}}"#), Some(Kind::BadId)),
            (format!(r#"{{"image_id": 1, "caption": "x", "score": [{many}1]}}"#), None),
        ] {
            let found = problems(&format!("[{item}, {all}]"));
            assert_eq!(found.first().map(|found| found.0), problem);
        }
        if let (Some(before), Some(after)) = (before, peak_kib()) {
            assert!(after < before + (300 << 10), "{before} KiB, then {after} KiB");
        }
    }

    /// The most memory that this process has used.
    fn peak_kib() -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }
}
