//! How is a file read? Settings that its content does not show.

use crate::{Format, Role};

/// How a file of captions is read.
///
/// ```
/// use capeval_corpus::{Format, ReadOptions};
///
/// let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::candidates() };
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// What the captions are for. A file that holds both references and candidates (Clotho-style prediction tables) is
    /// read twice.
    pub role: Role,
    /// The format, or `None` to detect it from the content.
    pub format: Option<Format>,
    /// The splits to keep of a Karpathy file, or `None` for all. `train` does not include `restval`, which most
    /// papers train on as well.
    pub split: Option<Vec<String>>,
    /// The column or key that holds the id, or `None` to look for the usual names.
    pub id_column: Option<String>,
    /// The columns or keys that hold captions, or `None` to look for the usual names.
    pub caption_columns: Option<Vec<String>>,
}

impl ReadOptions {
    /// Reads references, in a format detected from the content.
    pub fn references() -> Self {
        Self::of(Role::References)
    }

    /// Reads candidates, in a format detected from the content.
    pub fn candidates() -> Self {
        Self::of(Role::Candidates)
    }

    /// Reads what a system was trained on, as references are read.
    pub fn training() -> Self {
        Self::of(Role::Training)
    }

    /// Whether the user names the id or the captions.
    pub(crate) fn names_columns(&self) -> bool {
        self.id_column.is_some() || self.caption_columns.is_some()
    }

    fn of(role: Role) -> Self {
        Self { role, format: None, split: None, id_column: None, caption_columns: None }
    }
}
