//! Scores of segments, as written by reports or other programs: the one reader of all tasks.
//!
//! ```text
//! {"system": "a", "image_id": 42, "scores": {"meteor": 0.31, "spice": 0.22}}      JSON Lines, as reports write them
//! image_id,clip                                                                   CSV, TSV, JSON, Parquet
//! {"42": {"CLIPScore": 0.75}}   {"per_item": {"42": {"CLIPScore": 0.75}}}          an object from ids to scores
//! {"42": 0.75}   [0.75, 0.5]   scores.npy                                         numbers without a name
//! ```
//!
//! Lists of numbers and arrays of numpy have no ids, which are given beside them. The first line of a text, or the key
//! `measures` of an object, may describe the measures.

mod array;
mod frames;
mod measure_facts;
mod objects;
mod summaries;

use std::collections::HashSet;

use capeval_choice::{Argument, Remedy, counted};

pub use self::measure_facts::MeasureFacts;
use crate::input::{Source, Text, unpack};
use crate::json::Json;
use crate::table::{
    self, Cell, Gathering, Nesting, Separation, Table, known, read_delimited, read_lines, read_list,
};
use crate::{Error, ErrorKind, Position, SegmentId};

/// The description of a row in errors.
const EXPECTED: &str = "an object with keys such as image_id and scores";

/// The key of numbers that have no name.
pub const UNNAMED: &str = "score";

/// The markers of missing values in tables of other programs.
const NOTHING: [&str; 5] = ["NA", "N/A", "None", "null", "<NA>"];

/// Scores of segments by one or more measures.
#[derive(Clone, Debug, Default)]
pub struct SegmentScores {
    /// The display name of the source.
    pub source: String,
    /// The keys of the measures.
    pub keys: Vec<String>,
    /// True if the only key is not in the file, but [`UNNAMED`].
    pub is_unnamed: bool,
    /// The descriptions of measures in the file, by key.
    pub described: Vec<(String, MeasureFacts)>,
    /// The segments.
    pub rows: Vec<ScoredSegment>,
}

/// A segment with its scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredSegment {
    /// The image.
    pub image: SegmentId,
    /// The system, if given.
    pub system: Option<String>,
    /// The caption, if given.
    pub caption: Option<String>,
    /// The scores: a finite number per key, or NaN where there is none.
    pub scores: Vec<f64>,
    /// Its line or number in the source.
    pub place: Position,
}

impl SegmentScores {
    /// The systems that the rows name, in order of first appearance.
    pub fn systems(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let named = self.rows.iter().filter_map(|row| row.system.as_deref());
        named.filter(|name| seen.insert(*name)).collect()
    }
}

/// Reads scores, compressed or not; errors call the file `name`. `ids` are those of numbers without any.
pub fn read_scores(bytes: &[u8], name: &str, ids: Option<&[SegmentId]>) -> Result<SegmentScores, Error> {
    let content = unpack(bytes, name, false)?;
    if content.starts_with(array::MAGIC) {
        return listed(array::read(&content, name)?, name, ids);
    }
    let source = Source::from_bytes(&content, name)?;
    let mut gathering = Gathering::new(Nesting::Flat);
    if source.head().starts_with(b"PAR1") {
        table::read(source, EXPECTED, &mut gathering)?;
        return of_table(&gathering.table(), name);
    }
    let text = source.into_text()?;
    let measure_facts::SplitText { described, rest, is_comment } = measure_facts::split(&text.text, name)?;
    let start = text.text.len() - rest.len();
    let mut scores = match rest.trim_start().as_bytes() {
        [b'{', ..] if is_whole(rest) => objects::read(rest, name, described)?,
        [b'[', ..] if array::is_list(rest) => listed(array::of_list(rest, name)?, name, ids)?,
        [b'{', ..] => {
            // Spaces keep the positions of what follows.
            let blank = " ".repeat(start) + rest;
            read_lines(Source::from_text(&blank, name), EXPECTED, &mut gathering)?;
            SegmentScores { described, ..of_table(&gathering.table(), name)? }
        }
        [b'[', ..] => {
            read_list(Source::from_text(rest, name), EXPECTED, &mut gathering)?;
            of_table(&gathering.table(), name)?
        }
        _ if is_comment => {
            let separation = Separation::of(rest);
            let rest = Text { text: rest.into(), base: text.base + start as u64 };
            read_delimited(&rest, name, separation, &mut gathering)?;
            SegmentScores { described, ..of_table(&gathering.table(), name)? }
        }
        _ => {
            table::read(Source::from_text(rest, name), EXPECTED, &mut gathering)?;
            of_table(&gathering.table(), name)?
        }
    };
    summaries::check(&scores)?;
    measure_facts::check(&mut scores)?;
    Ok(scores)
}

/// Returns true if a text is a single JSON value.
fn is_whole(text: &str) -> bool {
    let mut json = Json::new(text);
    json.skip().is_ok() && json.end().is_ok()
}

/// Numbers in the order of `ids`.
fn listed(numbers: Vec<f64>, name: &str, ids: Option<&[SegmentId]>) -> Result<SegmentScores, Error> {
    let Some(ids) = ids else {
        let message = format!("holds {} without ids", counted(numbers.len(), "number"));
        return Err(Error::new(ErrorKind::Id, name, message)
            .with_remedy(Remedy::give(Argument::ScoreIds).to("say which images they are of")));
    };
    if ids.len() != numbers.len() {
        let numbers = counted(numbers.len(), "number");
        let message = format!("holds {numbers}, and {} given", are(ids.len(), "id"));
        return Err(Error::new(ErrorKind::Shape, name, message)
            .with_remedy(Remedy::say("give one id for each number, in the same order")));
    }
    let row = |(k, (id, number)): (usize, (&SegmentId, f64))| {
        let place = Position { record: Some(k as u64 + 1), ..Position::default() };
        if number.is_infinite() {
            return Err(infinite(name, UNNAMED, number, place));
        }
        Ok(ScoredSegment { image: id.clone(), system: None, caption: None, scores: vec![number], place })
    };
    let rows: Vec<ScoredSegment> =
        ids.iter().zip(numbers).enumerate().map(row).collect::<Result<_, Error>>()?;
    if rows.is_empty() {
        return Err(none(name));
    }
    let (source, keys) = (name.to_owned(), vec![UNNAMED.to_owned()]);
    Ok(SegmentScores { source, keys, is_unnamed: true, described: Vec::new(), rows })
}

fn are(count: usize, noun: &str) -> String {
    format!("{} {}", counted(count, noun), if count == 1 { "is" } else { "are" })
}

fn none(name: &str) -> Error {
    Error::new(ErrorKind::Shape, name, "there are no scores in this file")
}

fn infinite(name: &str, key: &str, number: f64, place: Position) -> Error {
    let message = format!("the score by {key} is {number}, which is not a finite number");
    Error::new(ErrorKind::Shape, name, message).at(place)
}

/// The scores of a table: a row for each caption, with a column for each measure.
fn of_table(table: &Table, name: &str) -> Result<SegmentScores, Error> {
    let has = |wanted: &str| table.names.iter().any(|name| name.starts_with(wanted));
    if has("captions") && has("votes") && has("scores.") {
        let message = "these are segments of pairs, with two captions and scores each";
        return Err(Error::new(ErrorKind::Format, name, message).with_remedy(Remedy::say(
            "give a table with image_id, caption and a column per metric, one row for each caption",
        )));
    }
    let names = table.names();
    let (id, system, caption) =
        (names.known(known::IMAGE), names.known(known::SYSTEM), table.judged_caption(&["caption"]));
    let Some(id) = id else {
        let message = format!("there is no image_id, only scores; the columns are {}", names.listed());
        return Err(Error::new(ErrorKind::Shape, name, message)
            .with_remedy(Remedy::say("call the column or key of the images image_id")));
    };
    let about: Vec<usize> = [id].into_iter().chain(system).chain(caption).collect();
    let columns = score_columns(table, &about);
    if columns.is_empty() || table.rows.is_empty() {
        return Err(none(name));
    }
    names.refuse_twins(&about, name)?;
    names.refuse_same(&[about, columns.clone()].concat(), name)?;
    let key = |column: &usize| table.names[*column].trim_start_matches("scores.").to_owned();
    if let Some(column) = columns.iter().find(|column| key(column).trim().is_empty()) {
        let message = format!("column {} has no name, as if a table were written with its index", column + 1);
        return Err(Error::new(ErrorKind::Shape, name, message)
            .with_remedy(Remedy::say("name it, or leave it out (index=False in pandas)")));
    }
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let fault = |kind, message: String| Error::new(kind, name, message).at(row.place);
        let cell = |column: usize| row.get(&table.names[column]);
        let image = cell(id).and_then(Cell::id);
        let image = image.ok_or_else(|| fault(ErrorKind::Id, "there is no image_id in this row".into()))?;
        let score = |column: &usize| {
            let other = |what: String| {
                let message = format!("the score by {} is {what}, not a number", key(column));
                fault(ErrorKind::Shape, message)
                    .with_remedy(Remedy::say("leave the column out if it is no measure"))
            };
            match cell(*column) {
                None => Ok(f64::NAN),
                Some(Cell::Bool(truth)) => Ok(f64::from(u8::from(*truth))),
                Some(cell) => match cell.number().or_else(|| cell.overall()) {
                    Some(number) if number.is_infinite() => {
                        Err(infinite(name, &key(column), number, row.place))
                    }
                    Some(number) => Ok(number),
                    None => match cell {
                        Cell::Untyped(text) if NOTHING.contains(&text.trim()) => Ok(f64::NAN),
                        Cell::Untyped(text) | Cell::Text(text) => Err(other(shortened(text))),
                        cell => Err(other(cell.kind().to_owned())),
                    },
                },
            }
        };
        let scores = columns.iter().map(score).collect::<Result<_, _>>()?;
        let text = |column: Option<usize>| column.and_then(cell).map(Cell::to_string);
        rows.push(ScoredSegment {
            image,
            system: text(system),
            caption: text(caption),
            scores,
            place: row.place,
        });
    }
    Ok(SegmentScores {
        source: name.to_owned(),
        keys: columns.iter().map(key).collect(),
        is_unnamed: false,
        described: Vec::new(),
        rows,
    })
}

/// The columns of scores: those that say nothing else of a row.
fn score_columns(table: &Table, about: &[usize]) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..table.names.len()).filter(|column| !about.contains(column)).collect();
    if table.names.iter().any(|name| name.starts_with("scores.")) {
        columns.retain(|column| table.names[*column].starts_with("scores."));
    }
    // The values of an object are columns of their own.
    let is_empty = |name: &String| table.rows.iter().all(|row| row.get(name).is_none());
    let is_object = |name: &String| {
        let inner = format!("{name}.");
        table.names.iter().any(|other| other.starts_with(&inner)) && is_empty(name)
    };
    columns.retain(|column| !is_object(&table.names[*column]));
    columns
}

/// A text in quotation marks, cut if it is long.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 30;
    let shown: String = text.chars().take(SHOWN).collect();
    format!("{shown:?}{}", if text.chars().count() > SHOWN { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> SegmentScores {
        read_scores(text.as_bytes(), "f", None).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refusal(bytes: &[u8], ids: Option<&[SegmentId]>) -> String {
        let error = read_scores(bytes, "f", ids).unwrap_err();
        error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}; {remedy}"))
    }

    /// The scores by the first measure, with their images.
    fn first(scores: &SegmentScores) -> Vec<(String, f64)> {
        scores.rows.iter().map(|row| (row.image.quoted().to_string(), row.scores[0])).collect()
    }

    #[test]
    fn scores_by_id_are_the_same_in_every_shape() {
        let expected = [("7".to_owned(), 0.5), ("\"b.jpg\"".to_owned(), 0.25)];
        for text in [
            "image_id,clip\n7,0.5\nb.jpg,0.25\n",
            "image_id\tclip\n7\t0.5\nb.jpg\t0.25\n",
            "[{\"image_id\": 7, \"clip\": 0.5}, {\"image_id\": \"b.jpg\", \"clip\": 0.25}]",
            "{\"image_id\": 7, \"scores\": {\"clip\": 0.5}}\n{\"image_id\": \"b.jpg\", \"scores\": {\"clip\": 0.25}}",
            "{\"7\": {\"clip\": 0.5}, \"b.jpg\": {\"clip\": 0.25}}",
            "{\n \"7\": {\"clip\": 0.5},\n \"b.jpg\": {\"clip\": 0.25}\n}\n",
            "{\"metric\": \"x\", \"per_item\": {\"7\": {\"clip\": 0.5}, \"b.jpg\": {\"clip\": 0.25}}}",
        ] {
            let found = read(text);
            assert_eq!(first(&found), expected, "{text}");
            assert_eq!((&found.keys[..], found.is_unnamed), (&["clip".to_owned()][..], false), "{text}");
        }
        for text in [
            r#"{"clip": {"7": 0.5, "b.jpg": 0.25}}"#,
            r#"{"columns": ["clip"], "index": [7, "b.jpg"], "data": [[0.5], [0.25]]}"#,
            r#"{"columns": ["image_id", "clip"], "index": [0, 1], "data": [[7, 0.5], ["b.jpg", 0.25]]}"#,
            r#"{"schema": {"fields": []}, "data": [{"index": 7, "clip": 0.5}, {"index": "b.jpg", "clip": 0.25}]}"#,
            r#"{"clip": [0.5, 0.25], "image_ids": [7, "b.jpg"]}"#,
            r#"{"image_id": {"0": 7, "1": "b.jpg"}, "clip": {"0": 0.5, "1": 0.25}}"#,
        ] {
            let found = read(text);
            assert_eq!(
                (first(&found), &found.keys[..]),
                (expected.to_vec(), &["clip".to_owned()][..]),
                "{text}"
            );
        }
        assert_eq!(first(&read(r#"{"scores": {"7": 0.5, "b1.jpg": 0.25}, "mean": 0.375}"#)).len(), 2);
        let two = read(r#"{"clip": {"7": 0.5, "8": 1}, "fense": {"7": 0, "8": 0.5}}"#);
        assert_eq!((two.rows.len(), two.keys.len()), (2, 2));
        let many = read(r#"{"clip": {"img1": 1, "img2": 1, "img3": 1, "img4": 1, "img5": 1}}"#);
        assert_eq!((many.rows.len(), &many.keys[..]), (5, &["clip".to_owned()][..]));
        let one = read(r#"{"7": {"bleu-1": 0.5, "bleu-2": 0.25}}"#);
        assert_eq!((one.rows.len(), one.keys.len()), (1, 2), "an image may have several measures");
        let unnamed = read("{\"7\": 0.5, \"b.jpg\": 0.25}");
        assert_eq!((first(&unnamed), unnamed.is_unnamed), (expected.to_vec(), true));
        assert_eq!(unnamed.keys, [UNNAMED]);
    }

    #[test]
    fn means_are_no_images() {
        for text in [
            "image_id,clip\n1,0.5\n2,0.25\n3,0\nmean,0.9\n",
            "image_id,clip\nTOTAL,0.75\n1,0.5\n2,0.25\n3,0\n",
            r#"{"1": 0.5, "2": 0.25, "3": 0, "overall": 0.9}"#,
            r#"{"a.jpg": {"clip": 0.5}, "b.jpg": {"clip": 0.5}, "c.jpg": {"clip": 0.5}, "Macro average": {"clip": 0.9}}"#,
            r#"{"a1": 0.5, "a2": 0.25, "a3": 0, "all images": 0.25}"#,
            r#"{"a1": 0.5, "a2": 0.25, "a3": 0, "gesamt": 0.75}"#,
            "image_id,clip\n1,0.5\n2,0.25\n3,0\n<AVG.>,0.9\n",
            "image_id,clip\n1,0.5\n2,0.2\n3,0\n4,0.1\n5,0.3\n6,1\ncount,6\nmean,0.3\nstd,0.2\nmin,0\n25%,0.1\nmax,1\n",
        ] {
            assert!(refusal(text.as_bytes(), None).contains("seems to stand for all of them"), "{text}");
        }
        for text in [
            r#"{"dog": 0.5, "cat": 0.25, "mean": 0.375}"#,
            r#"{"a1": 0.5, "a2": 0.25, "a3": 0, "dog": 0.9}"#,
            "image_id,clip\n1,0.5\n2,0.25\n3,0\n4x,0.9\n",
        ] {
            read(text);
        }
    }

    #[test]
    fn one_row_is_no_object_of_ids() {
        let found = read("{\"system\": \"a\", \"image_id\": 42, \"scores\": {\"clip\": 0.5, \"pac\": 1}}\n");
        assert_eq!((&found.keys[..], found.systems()), (&["clip".into(), "pac".into()][..], vec!["a"]));
    }

    #[test]
    fn an_object_may_have_systems_above_its_ids() {
        let found = read("{\"a\": {\"7\": {\"clip\": 0.5}}, \"b\": {\"7\": {\"clip\": 1}}}");
        assert_eq!(found.systems(), ["a", "b"]);
        assert_eq!(first(&found), [("7".to_owned(), 0.5), ("7".to_owned(), 1.0)]);
    }

    #[test]
    fn what_is_absent_is_nan() {
        for text in [
            "image_id,clip\n7,\n8,1\n",
            "image_id,clip\n7,NaN\n8,1\n",
            "image_id,clip\n7,NA\n8,1\n",
            "{\"7\": null, \"8\": 1}",
            "{\"7\": NaN, \"8\": 1}",
            "{\"image_id\": 7, \"clip\": null}\n{\"image_id\": 8, \"clip\": 1}",
        ] {
            let found = read(text);
            assert!(found.rows[0].scores[0].is_nan() && found.rows[1].scores[0] == 1.0, "{text}");
        }
    }

    #[test]
    fn measures_are_described_in_every_kind_of_text() {
        let about = r#"{"measures": {"wer": {"lower_is_better": true, "range": [0, null]}}}"#;
        for text in [
            format!("# {about}\nimage_id,wer\n7,0.5\n"),
            format!("# {about}\nimage_id\twer\n7\t0.5\n"),
            format!("{about}\n{{\"image_id\": 7, \"wer\": 0.5}}\n"),
            format!("{}, \"per_item\": {{\"7\": {{\"wer\": 0.5}}}}}}", &about[..about.len() - 1]),
        ] {
            let found = read(&text);
            let described = MeasureFacts { range: Some((0.0, f64::INFINITY)), lower_is_better: Some(true) };
            assert_eq!(found.described, [("wer".to_owned(), described)], "{text}");
            assert_eq!(first(&found), [("7".to_owned(), 0.5)], "{text}");
        }
        let text = "# {\"measures\": {\"wer\": {}}}\nimage_id,wer\n7,x\n";
        assert!(refusal(text.as_bytes(), None).starts_with("f:3: the score by wer is \"x\", not a number"));
    }

    #[test]
    fn arrays_take_their_ids_from_beside_them() {
        let ids = [SegmentId::from(7), "b.jpg".into()];
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
        let file = |header: &str, data: &[u8]| {
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((header.len() as u16).to_le_bytes());
            bytes.extend(header.as_bytes());
            bytes.extend(data);
            bytes
        };
        let numbers: Vec<u8> = [0.5_f64, 0.25].iter().flat_map(|number| number.to_le_bytes()).collect();
        let expected = [("7".to_owned(), 0.5), ("\"b.jpg\"".to_owned(), 0.25)];
        let array = file(header, &numbers);
        assert_eq!(first(&read_scores(&array, "f", Some(&ids)).unwrap()), expected);
        assert_eq!(first(&read_scores(b"[0.5, 0.25]", "f", Some(&ids)).unwrap()), expected);
        let single: Vec<u8> = [0.5_f32, 0.25].iter().flat_map(|number| number.to_be_bytes()).collect();
        let found = file(&header.replace("<f8", ">f4").replace("(2,)", "(2, 1)"), &single);
        assert_eq!(first(&read_scores(&found, "f", Some(&ids)).unwrap()), expected);
        let half = file(&header.replace("<f8", "<f2"), &[0x00, 0x38, 0x00, 0x34]);
        assert_eq!(first(&read_scores(&half, "f", Some(&ids)).unwrap()), expected);

        assert!(refusal(&array, None).contains("holds 2 numbers without ids"));
        assert!(refusal(&array, Some(&ids[..1])).contains("holds 2 numbers, and 1 id is given"));
        for (header, data, words) in [
            (header.replace("(2,)", "(2, 3)"), &numbers[..], "its shape is (2, 3)"),
            (header.replace("'<f8'", "'<U3'"), &numbers, "it holds <U3, not numbers"),
            (header.replace("'<f8'", "[('clip', '<f8')]"), &numbers, "it holds records"),
            (header.to_owned(), &numbers[..9], "it ends early"),
            ("nothing".to_owned(), &numbers, "its header"),
        ] {
            let refused = refusal(&file(&header, data), Some(&ids));
            assert!(refused.contains(words), "{refused}");
        }
        assert!(refusal(&array[..9], Some(&ids)).contains("ends early"));
    }

    #[test]
    fn bad_files_are_refused_in_words() {
        for (text, words) in [
            ("", "the file is empty"),
            ("m\n1\n", "there is no image_id, only scores; the columns are \"m\"; call the column"),
            ("image_id\n1\n", "there are no scores"),
            ("image_id,m\n", "there are no scores"),
            ("image_id,m\n1,a dog on a long beach in the evening\n", "f:2: the score by m is \"a dog on a"),
            ("image_id,m\n1,inf\n", "f:2: the score by m is inf, which is not a finite number"),
            (",image_id,m\n0,1,0.5\n", "column 1 has no name, as if a table were written with its index"),
            ("image_id,m,m\n1,0.5,0.5\n", "the column m is given twice"),
            ("{\"7\": \"high\"}", "the value of 7 is a string, not a number"),
            ("{\"7\": {\"m\": [1]}}", "the score by m is an array, not a number"),
            ("{\"7\": 1, \"7\": 2}", "the key \"7\" appears twice"),
            ("{\"7\": 1, \"8\": {\"m\": 1}}", "the value of 8 is an object, and that of 7 a number"),
            ("{}", "there are no scores"),
            ("[1, 2]", "holds 2 numbers without ids"),
            ("{\"per_item\": 3}", "per_item is a number, not an object from ids to scores"),
            (
                "# {\"measures\": {\"n\": {}}}\nimage_id,m\n1,1\n",
                "n is described, but there is no such score",
            ),
            ("# {\"measures\": {\"m\": {\"rnage\": 1}}}\nimage_id,m\n1,1\n", "unknown field `rnage`"),
            ("# {\"measures\": {\"m\": {\"range\": [1, 0]}}}\nimage_id,m\n1,1\n", "no range"),
            (
                "# {\"measures\": {\"m\": {\"range\": [0, 1]}}}\nimage_id,m\n1,3\n",
                "f:3: the score by m is 3, outside of",
            ),
        ] {
            let refused = refusal(text.as_bytes(), None);
            assert!(refused.contains(words), "{text}: {refused}");
        }
    }
}
