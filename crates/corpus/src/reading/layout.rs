//! Describes how a source was read, for people and programs: its compression, its records, and the columns of ids and
//! captions.

use serde::{Deserialize, Serialize};

use crate::{Format, ReadOptions};

capeval_choice::named! {
    /// The reason for reading columns as they were.
    #[derive(Default)]
    pub enum Because ("reason") {
        #[default]
        Format = "format", "the format says so";
        Named = "named", "you named it";
        Known = "known", "its name is known";
        Shared = "shared", "its values are ids of the other side";
        Words = "words", "its words fit the other side";
        Alone = "alone", "no other one could be meant";
        Order = "order", "there are no ids, so the captions are counted";
    }
}

/// The columns that were read as ids, or as captions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadColumns {
    /// Their names, or the paths to them; none if captions are counted.
    pub columns: Vec<String>,
    /// The reason for the choice.
    pub because: Because,
    /// Other columns that could be meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

impl ReadColumns {
    pub(crate) fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>, because: Because) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), because, others: Vec::new() }
    }
}

/// How a source was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Compression, archives and encodings, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packing: Vec<String>,
    /// The file in an archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The path to the records, such as `results[]`; empty for the file itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub records: String,
    /// The ids.
    pub id: ReadColumns,
    /// The captions.
    pub caption: ReadColumns,
    /// The splits that were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Vec<String>>,
}

impl Layout {
    /// The layout that a format has, where no names of columns say more.
    pub(crate) fn of_format(format: Format, options: &ReadOptions) -> Self {
        let (records, id, caption) = match format {
            Format::CocoAnnotations => ("annotations[]", "image_id", "caption"),
            Format::CocoResults => ("[]", "image_id", "caption"),
            Format::Karpathy => ("images[]", "cocoid or filename", "sentences[].raw"),
            Format::DictJson => ("", super::records::KEY, super::records::VALUE),
            Format::Tokens => ("lines", "the text before #", "the rest"),
            Format::Lines => ("lines", "", "the line"),
            Format::ListJson => ("[]", "", "the text"),
            _ => ("rows", "", ""),
        };
        let named = |name: &Option<String>, known: &str| match name {
            Some(name) => ReadColumns::new([name.as_str()], Because::Named),
            None if known.is_empty() => ReadColumns::new([""; 0], Because::Order),
            None => ReadColumns::new([known], Because::Format),
        };
        let caption_column = options.caption_columns.as_ref().map(|columns| columns.join(", "));
        Self {
            records: records.to_owned(),
            id: named(&options.id_column, id),
            caption: named(&caption_column, caption),
            split: options.split.clone(),
            ..Self::default()
        }
    }
}
