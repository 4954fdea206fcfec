//! Options for reading a file.

use crate::reading::Template;
use crate::{Format, Role};

/// Options for reading a file of captions.
///
/// ```
/// use capeval_corpus::{Format, ReadOptions};
///
/// let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::candidates() };
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The role of the captions. A file with both references and candidates (Clotho-style prediction tables) is read
    /// twice.
    pub role: Role,
    /// The format, or `None` to detect it from the content.
    pub format: Option<Format>,
    /// The splits of a Karpathy file to use, or `None` for all. `train` does not include `restval`, on which most
    /// papers train as well.
    pub split: Option<Vec<String>>,
    /// The column or key of the id, or `None` to look for the usual names. Columns in braces make ids together:
    /// `{scene}|{object}`; `v_{}` are the ids as they are with letters before them.
    pub id_column: Option<String>,
    /// The columns or keys of captions, or `None` to look for the usual names.
    pub caption_columns: Option<Vec<String>>,
    /// What to leave out: records with a key that is true, such as `is_rejected`, or one of a value, as in `lang=de`.
    pub drop: Vec<String>,
    /// Read captions of more than 1 MB, and compressed data that unpack to more than 64 MB and 50 times their size; and
    /// pipes of more than 100 MB, for those who open files.
    pub no_limits: bool,
}

impl ReadOptions {
    /// Options for references, with detection of the format.
    pub fn references() -> Self {
        Self::of(Role::References)
    }

    /// Options for candidates, with detection of the format.
    pub fn candidates() -> Self {
        Self::of(Role::Candidates)
    }

    /// Options for the captions that a system was trained on, which are read as references are.
    pub fn training() -> Self {
        Self::of(Role::Training)
    }

    /// The template of ids that the user gives in place of a column, with its text.
    pub(crate) fn id_template(&self) -> Option<(&str, Template)> {
        let column = self.id_column.as_deref()?;
        Some((column, Template::of(column)?))
    }

    /// What to leave out; `none` in its place is nothing.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = &String> {
        self.drop.iter().filter(|what| *what != "none")
    }

    /// Returns true if only some of the records are wanted.
    pub(crate) fn selects(&self) -> bool {
        self.split.is_some() || self.dropped().next().is_some()
    }

    /// Returns true if the user names the column of ids or of captions.
    pub(crate) fn names_columns(&self) -> bool {
        self.id_column.is_some() || self.caption_columns.is_some()
    }

    fn of(role: Role) -> Self {
        Self {
            role,
            format: None,
            split: None,
            id_column: None,
            caption_columns: None,
            drop: Vec::new(),
            no_limits: false,
        }
    }
}
