//! How is it shown? A report as plain data, and its renderers.
//!
//! A [`Report`] holds what an evaluation found: systems and their scores, signatures, notices and where the
//! numbers come from. Rendering computes nothing: [`table`] is for a person at a terminal, [`markdown`] and
//! [`latex`] for papers, [`json`], [`jsonl`] and [`csv`] for programs; `capeval-pages` makes pages for a browser;
//! [`explanations`] tells how single scores came to be, and [`segments`] writes the scores of every single
//! image. All write to an `impl Write` and print nothing. Every result is [`Written`] in a [`Form`] that is chosen by name.

pub mod comparison;
pub mod correlation;
mod evidence;
mod explained;
mod form;
mod gallery;
mod grid;
mod number;
pub mod preference;
mod render;
mod report;
mod segments;

pub use comparison::{Comparison, Contrast, P, Pair, TooFewResamples, Verdict};
pub use correlation::{
    Agreement, Coefficient, Correlation, Difference, Human, Points, SystemAgreement, Unit,
};
pub use evidence::{Evidence, Shape, Shapes};
pub use explained::{Explained, explanations};
pub use form::{Form, Written};
pub use gallery::{Captions, Gallery};
pub use grid::{Align, Cell, Grid, Labels, Table};
pub use number::{Rounded, counted, fixed, significant};
pub use preference::{Accuracy, Category, ChosenPair, HumanTies, MetricTies, Preference, Protocol, Voters};
pub use render::table::Style;
pub use render::{csv, json, jsonl, latex, markdown, table};
pub use report::{Measure, MetricEntry, Notice, Provenance, Report, Segments, SystemReport};
pub use segments::segments;
