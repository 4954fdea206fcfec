//! Gathers what may identify the rows of a table while it is read.

use super::{Key, KeyName, Keys, Standing};
use crate::SegmentId;
use crate::table::known;

/// The longest text that is taken for the value of a key, in bytes.
const KEY_BYTES: usize = 1000;

/// Gathers [`Keys`] row by row, and no longer than the ids are in doubt.
#[derive(Debug, Default)]
pub struct KeyGathering {
    standing: Standing,
    column: Option<String>,
    /// The number that the first row has if ids count the rows.
    base: i64,
    n_rows: i64,
    /// `None` once a row has no value.
    others: Vec<Option<Key>>,
}

impl KeyGathering {
    /// For a table with ids in `column`, which the user named if `is_named`, and with `others` besides the columns of
    /// captions.
    pub fn new(column: Option<&str>, is_named: bool, others: impl IntoIterator<Item = KeyName>) -> Self {
        let standing = match column {
            None => Standing::Numbered,
            Some(name) if is_named || known::means_image(name) => Standing::Certain,
            Some(_) => Standing::Counts,
        };
        let key = |name| Some(Key { name, values: Vec::new() });
        let others =
            if standing == Standing::Certain { Vec::new() } else { others.into_iter().map(key).collect() };
        Self { standing, column: column.map(str::to_owned), others, ..Self::default() }
    }

    /// Whether there is no column of ids.
    pub fn is_numbered(&self) -> bool {
        self.standing == Standing::Numbered
    }

    /// The names of the keys whose values are wanted, with their places among all.
    pub fn wanted(&self) -> impl Iterator<Item = (usize, &KeyName)> {
        self.others.iter().enumerate().filter_map(|(place, key)| Some((place, &key.as_ref()?.name)))
    }

    /// Adds a row with this id and number of captions; `value` gives the value of a key, by its place and name, if it
    /// may be an id.
    pub fn row(
        &mut self,
        id: &SegmentId,
        n_captions: usize,
        mut value: impl FnMut(usize, &KeyName) -> Option<SegmentId>,
    ) {
        if self.standing == Standing::Counts && !self.counts(id) {
            self.standing = Standing::Certain;
            self.others.clear();
        }
        self.n_rows += 1;
        for (place, slot) in self.others.iter_mut().enumerate() {
            let Some(key) = slot else { continue };
            match value(place, &key.name).filter(is_short) {
                Some(value) => key.values.extend(std::iter::repeat_n(value, n_captions)),
                None => *slot = None,
            }
        }
    }

    fn counts(&mut self, id: &SegmentId) -> bool {
        let SegmentId::Integer(number) = *id else { return false };
        if self.n_rows == 0 {
            self.base = number;
        }
        matches!(self.base, 0 | 1) && number == self.base + self.n_rows
    }

    /// What was gathered.
    pub fn finish(self) -> Keys {
        Keys {
            standing: self.standing,
            column: self.column,
            others: self.others.into_iter().flatten().collect(),
        }
    }
}

fn is_short(value: &SegmentId) -> bool {
    !matches!(value, SegmentId::Text(text) if text.len() > KEY_BYTES)
}
