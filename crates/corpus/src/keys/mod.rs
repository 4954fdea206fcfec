//! The keys that identify the rows of a source: its ids, and other columns that may.
//!
//! A table whose column of ids has no known name, or has a general one and only counts the rows, keeps the values of
//! its other columns until it meets the other side: [`agree`] then finds what both have.

mod agree;
mod doubt;
mod gather;

pub use self::agree::{Opposite, agree, identify};
pub use self::gather::KeyGathering;
use crate::SegmentId;

/// The certainty that the ids of captions are those of their images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// The format, the user, or the name of their column says so.
    #[default]
    Certain,
    /// Their column has a general name, such as `id`: they may be numbers of rows, or ids of captions.
    General,
    /// The table has no column that is known to hold ids: its rows are numbered.
    Numbered,
    /// The source is a list of captions, whose order is all that there is.
    InOrder,
}

/// The name of what may identify rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyName {
    /// A column or key.
    Column(String),
    /// The labels of an index without a name, as data frames have.
    Labels,
}

/// Values that may identify the rows of a table, one per caption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    name: KeyName,
    values: Vec<SegmentId>,
}

/// The source of the ids of captions, and other columns that may identify their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    standing: Standing,
    /// The column of the ids, if they come from one.
    column: Option<String>,
    others: Vec<Key>,
}

impl Keys {
    /// The keys of a list of captions, whose order is all that there is.
    pub fn in_order() -> Self {
        Self { standing: Standing::InOrder, ..Self::default() }
    }

    /// Adds those of another source to be read as one. What only one of the two has identifies nothing.
    pub(crate) fn append(&mut self, other: &Self) {
        if self.standing == Standing::Certain || other.standing == Standing::Certain {
            *self = Self { column: self.column.take(), ..Self::default() };
            return;
        }
        self.others.retain_mut(|key| {
            let theirs = other.others.iter().find(|theirs| theirs.name == key.name);
            theirs.map(|theirs| key.values.extend_from_slice(&theirs.values)).is_some()
        });
    }

    /// Repeats the values of each row as often as `counts` says.
    pub(crate) fn repeat(&mut self, counts: &[usize]) {
        for key in &mut self.others {
            let values = key.values.drain(..).zip(counts);
            let values: Vec<SegmentId> =
                values.flat_map(|(value, count)| std::iter::repeat_n(value, *count)).collect();
            key.values = values;
        }
    }

    /// The column of the ids, if they come from one.
    pub(crate) fn column(&self) -> Option<&str> {
        self.column.as_deref()
    }

    /// Returns true if captions are matched by their order.
    pub fn are_counted(&self) -> bool {
        matches!(self.standing, Standing::Numbered | Standing::InOrder)
    }

    /// The certainty of the ids.
    pub fn standing(&self) -> Standing {
        self.standing
    }
}
