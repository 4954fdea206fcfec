//! How shall a file be read? Settings that its content cannot tell.

use crate::Format;

/// What the captions of a file are for. A file that holds both (Clotho-style prediction tables) is read twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// What people wrote, several per image.
    References,
    /// What a system wrote, one per image.
    Candidates,
}

/// How a file is to be read.
///
/// ```
/// use capeval_corpus::{Format, ReadOptions};
///
/// let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::candidates() };
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// What the captions are for.
    pub role: Role,
    /// The format, or `None` to tell it by the content.
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
    /// Reads references, of a format told by the content.
    pub fn references() -> Self {
        Self::of(Role::References)
    }

    /// Reads candidates, of a format told by the content.
    pub fn candidates() -> Self {
        Self::of(Role::Candidates)
    }

    /// Whether the user names the id or the captions.
    pub(crate) fn names_columns(&self) -> bool {
        self.id_column.is_some() || self.caption_columns.is_some()
    }

    /// What the command line calls an option that references and candidates both have, such as `caption-column`.
    pub(crate) fn flag(&self, name: &str) -> String {
        match self.role {
            Role::References => format!("--ref-{name}"),
            Role::Candidates => format!("--{name}"),
        }
    }

    fn of(role: Role) -> Self {
        Self { role, format: None, split: None, id_column: None, caption_columns: None }
    }
}
