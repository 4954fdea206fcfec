//! Makes one caption of several, or several of one.

use std::collections::HashMap;

use capeval_choice::{Code, counted};

use super::Captions;
use crate::written_list::written_list;
use crate::{Notice, SegmentId};

impl Captions {
    /// Makes one caption of all those of an image.
    pub(crate) fn join(&mut self) {
        let mut joined: Vec<(SegmentId, String)> = Vec::new();
        let mut places: HashMap<SegmentId, usize> = HashMap::new();
        for (id, text) in self.iter() {
            let place = *places.entry(id.clone()).or_insert_with(|| {
                joined.push((id.clone(), String::new()));
                joined.len() - 1
            });
            if let Some((_, whole)) = joined.get_mut(place) {
                if !whole.is_empty() {
                    whole.push(' ');
                }
                whole.push_str(text.trim());
            }
        }
        let before = std::mem::replace(self, Self::new(self.source.as_str()));
        (self.format, self.declared, self.notices, self.doubts) =
            (before.format, before.declared, before.notices, before.doubts);
        joined.into_iter().for_each(|(id, text)| self.push(id, &text));
    }

    /// Makes several captions of those in which `separator` stands, and says so.
    pub(crate) fn split_at(&mut self, separator: &str) {
        let parts = |text: &str| {
            let parts = text.split(separator).map(str::trim).filter(|part| !part.is_empty());
            let parts: Vec<String> = parts.map(str::to_owned).collect();
            (parts.len() > 1).then_some(parts)
        };
        let lists: Vec<(usize, Vec<String>)> =
            (0..self.len()).filter_map(|row| Some((row, parts(self.text(row))?))).collect();
        let message = format!(
            "{} of {} {} several, with {} between them: each is read as a caption",
            counted(lists.len(), "caption"),
            self.source(),
            if lists.len() == 1 { "is" } else { "are" },
            match separator {
                "\n" => "line breaks",
                "\t" => "tabs",
                separator => separator,
            },
        );
        let notice = Notice::new(Code::ListsInText, message).count(lists.len());
        self.replace_by_lists(lists, notice);
    }

    /// Makes several captions of those that are lists written as text, as pandas writes lists into CSV, and says so.
    pub fn read_written_lists(&mut self) {
        let lists: Vec<(usize, Vec<String>)> =
            (0..self.len()).filter_map(|row| Some((row, written_list(self.text(row))?))).collect();
        let Some((first, _)) = lists.first() else { return };
        const SHOWN: usize = 60;
        let example: String = self.text(*first).chars().take(SHOWN).collect();
        let more = if self.text(*first).chars().count() > SHOWN { "…" } else { "" };
        let message = format!(
            "{} of {} {} written as text, such as {example}{more}: each string is read as a caption",
            counted(lists.len(), "caption"),
            self.source(),
            if lists.len() == 1 { "is a list" } else { "are lists" },
        );
        let notice = Notice::new(Code::ListsInText, message).count(lists.len());
        self.replace_by_lists(lists, notice);
    }

    /// Puts several captions in the place of each of these rows.
    fn replace_by_lists(&mut self, lists: Vec<(usize, Vec<String>)>, notice: Notice) {
        let source = std::mem::take(&mut self.source);
        let before = std::mem::replace(self, Self::new(source));
        (self.format, self.in_lists) = (before.format, true);
        let mut lists = lists.into_iter().peekable();
        let mut counts = Vec::with_capacity(before.len());
        for (row, (id, text)) in before.iter().enumerate() {
            let list = lists.next_if(|(listed, _)| *listed == row).map(|(_, list)| list);
            let texts = list.unwrap_or_else(|| vec![text.to_owned()]);
            counts.push(texts.len());
            for text in texts {
                self.push(id.clone(), &text);
                self.lines.extend(before.lines.get(row));
                self.records.push(before.records.get(row).copied().unwrap_or(row as u64 + 1));
            }
        }
        (self.declared, self.notices, self.doubts) = (before.declared, before.notices, before.doubts);
        self.doubts.keys.repeat(&counts);
        self.notices.push(notice);
    }
}
