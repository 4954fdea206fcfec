//! Options that several commands share.

use std::str::FromStr;

use capeval::corpus::{Duplicate, Empty, Format, Ids, Missing, Policy, ReadOptions, Surplus};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// How references are read.
#[derive(clap::Args)]
#[command(next_help_heading = "Reading references")]
pub struct References {
    /// File of references, `-` for standard input; may be repeated, for line formats once per reference.
    #[arg(short, long = "references", value_name = "FILE", required = true)]
    pub references: Vec<String>,
    /// Format of the references, instead of telling it by their content.
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    ref_format: Option<Format>,
    /// Splits to keep of a Karpathy file, such as test; may be repeated.
    #[arg(long, value_name = "SPLIT", value_delimiter = ',')]
    split: Option<Vec<String>>,
    /// Column or key that holds the id in the references.
    #[arg(long, value_name = "NAME")]
    ref_id_column: Option<String>,
    /// Column or key that holds captions in the references; may be repeated.
    #[arg(long = "ref-caption-column", value_name = "NAME", value_delimiter = ',')]
    ref_caption_columns: Option<Vec<String>>,
}

impl References {
    /// What the reader wants to know.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.ref_format,
            split: self.split.clone(),
            id_column: self.ref_id_column.clone(),
            caption_columns: self.ref_caption_columns.clone(),
            ..ReadOptions::references()
        }
    }
}

/// How candidates are read.
#[derive(clap::Args)]
#[command(next_help_heading = "Reading candidates")]
pub struct Candidates {
    /// Format of the candidates, instead of telling it by their content.
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    input_format: Option<Format>,
    /// Column or key that holds the id in the candidates.
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Column or key that holds the caption in the candidates.
    #[arg(long, value_name = "NAME")]
    caption_column: Option<String>,
}

impl Candidates {
    /// What the reader wants to know.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.input_format,
            id_column: self.id_column.clone(),
            caption_columns: self.caption_column.clone().map(|column| vec![column]),
            ..ReadOptions::candidates()
        }
    }
}

/// What to do where candidates and references do not meet.
#[derive(clap::Args)]
#[command(next_help_heading = "Where candidates and references do not meet")]
pub struct Policies {
    /// Images without a candidate: `skip` scores the others only, document frequencies included; `empty`
    /// scores an empty caption.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = choices(Missing::ALL, Missing::name))]
    missing: Missing,
    /// Candidates whose image has no reference.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = choices(Surplus::ALL, Surplus::name))]
    surplus: Surplus,
    /// Several candidates for one image.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = choices(Duplicate::ALL, Duplicate::name))]
    duplicate: Duplicate,
    /// Candidates without a word.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = choices(Empty::ALL, Empty::name))]
    empty: Empty,
    /// Whether the number 1 and the text "1" are one id: `text` says so.
    #[arg(long, value_name = "HOW", default_value_t, value_parser = choices(Ids::ALL, Ids::name))]
    pub ids: Ids,
}

impl Policies {
    /// One choice per case.
    pub fn policy(&self) -> Policy {
        Policy { missing: self.missing, surplus: self.surplus, duplicate: self.duplicate, empty: self.empty }
    }
}

/// A parser of the words that a list of choices knows.
pub fn choices<T>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + FromStr + 'static,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().map(|choice| PossibleValue::new(name(*choice))))
        .try_map(|word| word.parse::<T>())
}

/// A parser of the names of formats.
pub fn formats() -> impl TypedValueParser<Value = Format> {
    choices(Format::ALL, Format::name)
}
