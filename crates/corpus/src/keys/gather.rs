//! Gathers what may identify the rows of a table while it is read.

use super::{Key, KeyName, Keys, Standing};
use crate::SegmentId;
use crate::table::known;

/// The longest text that is taken for the value of a key, in bytes.
const KEY_BYTES: usize = 1000;

/// Gathers [`Keys`] row by row, if the ids are in doubt.
#[derive(Debug, Default)]
pub struct KeyGathering {
    standing: Standing,
    column: Option<String>,
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
            Some(_) => Standing::General,
        };
        let key = |name| Some(Key { name, values: Vec::new() });
        let others =
            if standing == Standing::Certain { Vec::new() } else { others.into_iter().map(key).collect() };
        Self { standing, column: column.map(str::to_owned), others }
    }

    /// Returns true if there is no column of ids.
    pub fn is_numbered(&self) -> bool {
        self.standing == Standing::Numbered
    }

    /// Returns true if the ids are in doubt.
    pub fn is_in_doubt(&self) -> bool {
        self.standing != Standing::Certain
    }

    /// The names of the keys whose values are wanted, with their places among all.
    pub fn wanted(&self) -> impl Iterator<Item = (usize, &KeyName)> {
        self.others.iter().enumerate().filter_map(|(place, key)| Some((place, &key.as_ref()?.name)))
    }

    /// Adds a row with this number of captions; `value` gives the value of a key, by its place and name, if it
    /// may be an id.
    pub fn row(&mut self, n_captions: usize, mut value: impl FnMut(usize, &KeyName) -> Option<SegmentId>) {
        for (place, slot) in self.others.iter_mut().enumerate() {
            let Some(key) = slot else { continue };
            match value(place, &key.name).filter(is_short) {
                Some(value) => key.values.extend(std::iter::repeat_n(value, n_captions)),
                None => *slot = None,
            }
        }
    }

    /// The gathered keys.
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
