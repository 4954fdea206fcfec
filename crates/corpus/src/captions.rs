//! Captions in file order, with their texts in one arena.

mod lists;
mod select;

use std::collections::HashSet;
use std::fmt;

use capeval_choice::{Code, counted};

use crate::error::Position;
use crate::keys::Keys;
use crate::reading::{Because, Layout, ReadColumns, Reading};
use crate::table::{known, row_numbers};
use crate::{Format, Notice, Remedy, SegmentId};

/// The fewest bytes that a row of most sources takes.
const BYTES_PER_ROW: usize = 80;

/// Captions in file order, one row per caption.
///
/// All texts are stored in one arena, so a row takes its text, an id of 16 bytes and an offset. Rows are numbered from
/// 0.
///
/// ```
/// use capeval_corpus::{Captions, SegmentId};
///
/// let mut captions = Captions::new("example");
/// captions.push(SegmentId::from(42), "a cat on a mat");
/// captions.push(SegmentId::from("b.jpg"), "");
/// assert_eq!(captions.len(), 2);
/// assert_eq!(captions.get(0), Some((&SegmentId::from(42), "a cat on a mat")));
/// ```
#[derive(Clone, Default)]
pub struct Captions {
    source: String,
    format: Option<Format>,
    ids: Vec<SegmentId>,
    /// The end of each row's text in `texts`, where the text of the next row starts.
    ends: Vec<usize>,
    texts: String,
    /// The line on which each row begins; empty if the format has no lines.
    lines: Vec<u64>,
    /// The number of each row's record in the source, up to the last one that differs from the number of the row.
    records: Vec<u64>,
    declared: Vec<SegmentId>,
    /// True if the source lists captions by image, as references mostly do.
    in_lists: bool,
    /// True if the source is a table with more columns than ids and captions.
    other_columns: bool,
    /// True if the rows are those of the wanted splits.
    is_split: bool,
    doubts: Box<Doubts>,
    notices: Vec<Notice>,
}

/// How the source was read, and what the other side may settle.
#[derive(Clone, Default)]
struct Doubts {
    keys: Keys,
    layout: Layout,
    /// The other ways in which the source can be read.
    reading: Option<Reading>,
    /// Other ids of the images, by the column that has them.
    other_ids: Vec<(String, Vec<SegmentId>)>,
    /// The ids of each split, if none was named.
    splits: Vec<(String, Vec<SegmentId>)>,
    /// Columns that would tell rows with one id apart, as a template.
    joined: Option<String>,
    /// The column that names the system of each caption, and these names, if there are several.
    systems: Option<(String, Vec<SegmentId>)>,
    /// The columns of the start and the end of each caption, if images have captions of several spans of time.
    times: Vec<String>,
    /// The files that were merged, if one of them can be read in several ways.
    parts: Vec<Captions>,
    /// The names of the files that were merged, each with its first row; empty if there is a single one.
    files: Vec<(usize, String)>,
}

impl Captions {
    /// Replaces the texts of rows, in order; `None` keeps that of its row.
    pub fn replace_texts(&mut self, texts: impl IntoIterator<Item = Option<String>>) {
        let mut arena = String::with_capacity(self.texts.len());
        let mut texts = texts.into_iter();
        let mut ends = Vec::with_capacity(self.ends.len());
        for row in 0..self.len() {
            match texts.next().flatten() {
                Some(text) => arena.push_str(&text),
                None => arena.push_str(self.text(row)),
            }
            ends.push(arena.len());
        }
        (self.texts, self.ends) = (arena, ends);
    }

    /// Creates an empty list of captions; `source` is the display name of the source.
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }

    /// Images without captions, for those who know no more of the other side.
    pub(crate) fn of_ids(ids: &[SegmentId], source: &str) -> Self {
        let mut captions = Self::new(source);
        ids.iter().for_each(|id| captions.push(id.clone(), ""));
        captions
    }

    /// Adds a row.
    pub fn push(&mut self, id: SegmentId, text: &str) {
        self.texts.push_str(text);
        self.close_row(id);
    }

    /// Adds a row that begins on `line` (from 1) of its source. Lines are kept only if all rows have one.
    pub fn push_at(&mut self, id: SegmentId, text: &str, line: u64) {
        if self.lines.len() == self.ids.len() {
            self.lines.push(line);
        }
        self.push(id, text);
    }

    /// Says that the rows from number `first` on come from `record` (from 1) of the source, in which a record may hold
    /// any number of captions.
    pub fn set_record(&mut self, first: usize, record: u64) {
        for row in first as u64..self.len() as u64 {
            if row + 1 != record {
                self.records.extend(self.records.len() as u64 + 1..=row);
                self.records.push(record);
            }
        }
    }

    /// Adds an image that the source lists with or without a caption, as COCO's `images` does.
    pub fn declare(&mut self, id: SegmentId) {
        self.declared.push(id);
    }

    /// The display name of the source: a path, or `-` for standard input.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The display name of the file that has a row, which is one of several if files were merged.
    pub fn source_of(&self, row: usize) -> &str {
        let files = &self.doubts.files;
        let after = files.partition_point(|(first, _)| *first <= row);
        after.checked_sub(1).and_then(|place| files.get(place)).map_or(self.source(), |(_, name)| name)
    }

    /// The display names of the files that were merged; none if there is a single one.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &str> {
        self.doubts.files.iter().map(|(_, name)| name.as_str())
    }

    /// Says that the rows from here on are of another file.
    pub(crate) fn begin_file(&mut self, name: &str) {
        let first = self.len();
        let files = &mut self.doubts.files;
        if files.last().is_none_or(|(_, last)| last != name) {
            files.push((first, name.to_owned()));
        }
    }

    /// The format that the source was read in; `None` for captions made in memory.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The number of captions.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns true if there are no captions.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The id and text of a row.
    pub fn get(&self, row: usize) -> Option<(&SegmentId, &str)> {
        self.ids.get(row).map(|id| (id, self.text(row)))
    }

    /// The id of a row.
    pub fn id(&self, row: usize) -> Option<&SegmentId> {
        self.ids.get(row)
    }

    /// The text of a row; empty if there is no such row.
    pub fn text(&self, row: usize) -> &str {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(row).and_then(|end| self.texts.get(start..*end)).unwrap_or_default()
    }

    /// The texts of all rows, one after another, and the end of each.
    pub fn into_texts(self) -> (String, Vec<u64>) {
        (self.texts, self.ends.into_iter().map(|end| end as u64).collect())
    }

    /// All rows in file order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&SegmentId, &str)> + '_ {
        let mut start = 0;
        self.ids.iter().zip(&self.ends).map(move |(id, end)| {
            let text = self.texts.get(start..*end).unwrap_or_default();
            start = *end;
            (id, text)
        })
    }

    /// All ids in file order, one per row.
    pub fn ids(&self) -> &[SegmentId] {
        &self.ids
    }

    /// The position of a row in its source: a line, or else the number of the record.
    pub fn position(&self, row: usize) -> Position {
        match self.lines.get(row) {
            Some(line) => Position { line: Some(*line), ..Position::default() },
            None => {
                let record = self.records.get(row).copied().unwrap_or(row as u64 + 1);
                Position { record: Some(record), ..Position::default() }
            }
        }
    }

    /// The images that the source lists, with or without a caption (COCO's `images`); often empty.
    pub fn declared(&self) -> &[SegmentId] {
        &self.declared
    }

    /// The numbers of the lines of plain text that are empty, in every file that was merged.
    pub(crate) fn empty_lines(&self) -> Vec<SegmentId> {
        if self.format != Some(Format::Lines) {
            return Vec::new();
        }
        let is_empty = |(_, text): &(&SegmentId, &str)| text.trim().is_empty();
        let mut lines: Vec<SegmentId> = self.iter().filter(is_empty).map(|(id, _)| id.clone()).collect();
        if !lines.is_empty() {
            let filled: HashSet<&SegmentId> =
                self.iter().filter(|row| !is_empty(row)).map(|(id, _)| id).collect();
            lines.retain(|line| !filled.contains(line));
        }
        lines.dedup();
        lines
    }

    /// Returns true if the source lists captions by image, as references mostly do.
    pub(crate) fn are_in_lists(&self) -> bool {
        self.in_lists
    }

    pub(crate) fn set_in_lists(&mut self) {
        self.in_lists = true;
    }

    /// Returns true if the source is a table with more columns than ids and captions.
    pub fn has_other_columns(&self) -> bool {
        self.other_columns
    }

    /// Returns true if the captions of ids could be columns of a table: a few lists, all as long, with more values than
    /// there are lists.
    pub fn look_like_columns(&self) -> bool {
        const MOST: usize = 20;
        let mut lists = self.ids.chunk_by(|a, b| a == b);
        let first = lists.next().map_or(0, <[_]>::len);
        let n_lists = 1 + lists.clone().take(MOST).count();
        (2..=MOST).contains(&n_lists) && first > n_lists && lists.all(|list| list.len() == first)
    }

    /// Says that there are such columns.
    pub fn set_other_columns(&mut self) {
        self.other_columns = true;
    }

    /// Returns true if the rows are those of the wanted splits.
    pub(crate) fn is_split(&self) -> bool {
        self.is_split
    }

    pub(crate) fn set_split(&mut self) {
        self.is_split = true;
    }

    /// Keeps the ways in which the source can be read that another reader found.
    pub fn take_reading(&mut self, understood: Self) {
        let left_out = understood.notices.into_iter().filter(|notice| notice.code == Code::RejectedCaptions);
        self.notices.extend(left_out);
        self.doubts.times.clone_from(&understood.doubts.times);
        let mut reading = understood.doubts.reading;
        self.notices.extend(reading.iter().flat_map(Reading::notes).cloned());
        if let Some(reading) = &mut reading {
            reading.set_beside();
        }
        self.doubts.reading = reading;
    }

    /// The source of the ids, and other columns that may identify the rows.
    pub fn keys(&self) -> &Keys {
        &self.doubts.keys
    }

    /// Says where the ids come from, and what else may identify the rows.
    pub fn set_keys(&mut self, keys: Keys) {
        self.doubts.keys = keys;
    }

    pub(crate) fn keys_mut(&mut self) -> &mut Keys {
        &mut self.doubts.keys
    }

    /// The other ways in which the source can be read; `None` once the reading is settled.
    pub(crate) fn reading(&self) -> Option<&Reading> {
        self.doubts.reading.as_ref()
    }

    pub(crate) fn set_reading(&mut self, reading: Reading) {
        self.doubts.reading = Some(reading);
    }

    pub(crate) fn drop_reading(&mut self) {
        self.doubts.reading = None;
    }

    /// Other ids of the images, by the column that has them.
    pub(crate) fn other_ids(&self) -> &[(String, Vec<SegmentId>)] {
        &self.doubts.other_ids
    }

    /// Adds an id that an image has in another column.
    pub(crate) fn add_other_id(&mut self, column: &str, id: SegmentId) {
        let all = &mut self.doubts.other_ids;
        match all.iter_mut().find(|(known, _)| known == column) {
            Some((_, ids)) => ids.push(id),
            None => all.push((column.to_owned(), vec![id])),
        }
    }

    /// The ids of each split, if none was named.
    pub(crate) fn splits(&self) -> &[(String, Vec<SegmentId>)] {
        &self.doubts.splits
    }

    /// Says that an image belongs to a split.
    pub(crate) fn add_to_split(&mut self, split: &str, id: SegmentId) {
        let all = &mut self.doubts.splits;
        match all.iter_mut().find(|(known, _)| known == split) {
            Some((_, ids)) => ids.push(id),
            None => all.push((split.to_owned(), vec![id])),
        }
    }

    /// The files that were merged, if one of them can be read in several ways, which are then settled one by one.
    pub(crate) fn take_parts(&mut self) -> Vec<Self> {
        std::mem::take(&mut self.doubts.parts)
    }

    pub(crate) fn parts(&self) -> &[Self] {
        &self.doubts.parts
    }

    pub(crate) fn set_parts(&mut self, parts: Vec<Self>) {
        self.doubts.parts = parts;
    }

    /// The columns of the start and the end of each caption, if images have captions of several spans of time.
    pub(crate) fn times(&self) -> &[String] {
        &self.doubts.times
    }

    pub(crate) fn set_times(&mut self, times: Vec<String>) {
        self.doubts.times = times;
    }

    /// Columns that would tell rows with one id apart, as a template.
    pub(crate) fn joined(&self) -> Option<&str> {
        self.doubts.joined.as_deref()
    }

    pub(crate) fn set_joined(&mut self, joined: Option<String>) {
        self.doubts.joined = joined;
    }

    /// The column that names the system of each caption, and these names, if there are several.
    pub(crate) fn systems(&self) -> Option<&(String, Vec<SegmentId>)> {
        self.doubts.systems.as_ref()
    }

    pub(crate) fn set_systems(&mut self, systems: Option<(String, Vec<SegmentId>)>) {
        self.doubts.systems = systems;
    }

    /// Replaces the ids, one per row, by those of another column. The rows are then no longer numbered.
    pub(crate) fn take_ids(&mut self, ids: Vec<SegmentId>, keys: Keys) {
        self.ids = ids;
        let column = keys.column().unwrap_or("the labels of its index");
        self.doubts.layout.id = ReadColumns::new([column], Because::Shared);
        self.doubts.keys = keys;
        self.notices.retain(|notice| notice.code != Code::RowNumbers);
    }

    /// Says that its `n_rows` rows were numbered from 0, for captions made in memory.
    pub fn note_numbers(&mut self, n_rows: usize, remedy: Remedy) {
        let notice = row_numbers(self.source(), n_rows, 0, known::IMAGE_OF_CAPTION);
        self.notice(notice.remedy(remedy));
    }

    /// Says that one more value in lists of captions is missing and was left out.
    pub fn note_missing(&mut self) {
        let known = self.notices.iter().position(|notice| notice.code == Code::MissingValues);
        let known = known.map_or(0, |place| self.notices.remove(place).count.unwrap_or_default());
        let them = counted(known + 1, "missing value");
        let message = format!("{} has {them} in lists of captions, left out", self.source);
        self.notice(Notice::new(Code::MissingValues, message).count(known + 1));
    }

    /// How the source was read.
    pub fn layout(&self) -> &Layout {
        &self.doubts.layout
    }

    pub(crate) fn layout_mut(&mut self) -> &mut Layout {
        &mut self.doubts.layout
    }

    pub(crate) fn set_layout(&mut self, layout: Layout) {
        self.doubts.layout = layout;
    }

    /// The notices of the reader, for example that rows were numbered because there is no id column.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Ends the row whose text was appended to the arena since the last one.
    pub(crate) fn close_row(&mut self, id: SegmentId) {
        self.ids.push(id);
        self.ends.push(self.texts.len());
    }

    /// The arena, to which the text of the next row may be appended before [`Self::close_row`].
    pub(crate) fn arena(&mut self) -> &mut String {
        &mut self.texts
    }

    /// Reserves memory for a source of `source_bytes` bytes, which takes up nothing until it is used.
    pub(crate) fn reserve_for(&mut self, source_bytes: usize) {
        self.texts.reserve(source_bytes / 8 * 5);
        self.ids.reserve(source_bytes / BYTES_PER_ROW);
        self.ends.reserve(source_bytes / BYTES_PER_ROW);
    }

    pub(crate) fn set_format(&mut self, format: Format) {
        self.format = Some(format);
    }

    pub(crate) fn notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    /// Appends the rows, declared ids and notices of `other`. Lines are kept only if there is a single source.
    pub(crate) fn append(&mut self, other: &Self) {
        if self.doubts.files.is_empty() {
            self.doubts.files.push((0, self.source.clone()));
        }
        self.begin_file(other.source());
        self.lines.clear();
        self.records.clear();
        let offset = self.texts.len();
        self.texts.push_str(&other.texts);
        self.ids.extend_from_slice(&other.ids);
        self.ends.extend(other.ends.iter().map(|end| end + offset));
        self.declared.extend_from_slice(&other.declared);
        // Each file was read by itself.
        self.doubts.reading = None;
        self.doubts.keys.append(&other.doubts.keys);
        self.notices.extend_from_slice(&other.notices);
    }
}

/// Shows counts and the first row, since there may be a million of them.
impl fmt::Debug for Captions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Captions")
            .field("source", &self.source)
            .field("format", &self.format)
            .field("len", &self.len())
            .field("first", &self.get(0))
            .field("declared", &self.declared.len())
            .field("notices", &self.notices)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_order() {
        let mut captions = Captions::new("x");
        for (id, text) in [(3, "three"), (1, ""), (3, "öne")] {
            captions.push(SegmentId::from(id), text);
        }
        let rows: Vec<_> = captions.iter().map(|(id, text)| (id.to_string(), text)).collect();
        assert_eq!(rows, [("3".into(), "three"), ("1".into(), ""), ("3".into(), "öne")]);
        assert_eq!(captions.text(2), "öne");
        assert_eq!(captions.text(3), "");
        assert_eq!(captions.get(3), None);
        assert_eq!(captions.position(1).record, Some(2));
    }

    #[test]
    fn rows_of_merged_files_know_their_file() {
        let file = |name: &str, ids: &[i64]| {
            let mut captions = Captions::new(name);
            ids.iter().for_each(|id| captions.push(SegmentId::from(*id), "a dog"));
            captions
        };
        let mut merged = file("a", &[1, 2]);
        merged.append(&file("b", &[1]));
        merged.append(&file("c", &[]));
        merged.append(&file("d", &[2]));
        assert_eq!([0, 1, 2, 3].map(|row| merged.source_of(row)), ["a", "a", "b", "d"]);
        let second = merged.only(|id| *id == SegmentId::from(2));
        assert_eq!([0, 1].map(|row| second.source_of(row)), ["a", "d"]);
        assert_eq!(file("a", &[1]).source_of(0), "a");
    }

    #[test]
    fn records_may_hold_several_captions() {
        let mut captions = Captions::new("x");
        for (record, n) in [(1, 1), (2, 2), (4, 1), (5, 0), (6, 1)] {
            let first = captions.len();
            for _ in 0..n {
                captions.push(SegmentId::from(record), "a");
            }
            captions.set_record(first, record as u64);
        }
        let records: Vec<_> = (0..5).map(|row| captions.position(row).record).collect();
        assert_eq!(records, [1, 2, 2, 4, 6].map(Some));
    }

    #[test]
    fn lines_are_kept_only_if_every_row_has_one() {
        let mut captions = Captions::new("x");
        captions.push_at(SegmentId::from(1), "a", 4);
        assert_eq!(captions.position(0).line, Some(4));
        captions.push(SegmentId::from(2), "b");
        captions.push_at(SegmentId::from(3), "c", 9);
        assert_eq!(captions.position(1).line, None);
        assert_eq!(captions.position(2).line, None);
    }

    #[test]
    fn rows_that_are_kept_know_their_places() {
        let (mut lined, mut plain) = (Captions::new("x"), Captions::new("x"));
        for (row, id) in [1_i64, 2, 1, 3].into_iter().enumerate() {
            lined.push_at(SegmentId::from(id), "a", 10 * (row as u64 + 1));
            plain.push(SegmentId::from(id), "a");
        }
        plain.declare(SegmentId::from(2));
        plain.declare(SegmentId::from(1));
        let first = SegmentId::from(1);
        let (lined, plain) = (lined.only(|id| *id == first), plain.only(|id| *id == first));
        assert_eq!([0, 1].map(|row| lined.position(row).line), [Some(10), Some(30)]);
        assert_eq!([0, 1].map(|row| plain.position(row).record), [Some(1), Some(3)]);
        assert_eq!((plain.declared(), plain.only(|_| true).position(1).record), (&[first][..], Some(3)));
    }
}
