//! Reports for people, one file per form, and what the tables of other results share.

pub(crate) mod latex;
pub(crate) mod markdown;
pub(crate) mod table;
