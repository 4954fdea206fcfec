//! Reports as text, Markdown and LaTeX, with the functions that other results share.

pub(crate) mod latex;
pub(crate) mod markdown;
pub(crate) mod table;
