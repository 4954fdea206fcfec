//! Results as text, Markdown and LaTeX: tables, with lines below them; and as JSON, JSON Lines and CSV for programs.

pub(crate) mod latex;
pub(crate) mod markdown;
pub(crate) mod notebook;
pub mod programs;
pub(crate) mod table;
