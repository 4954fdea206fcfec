//! Results as plain data, and their renderers.
//!
//! [`Report`], [`Comparison`], [`Correlation`] and [`Preference`] hold the results. All four begin with a [`Head`], and
//! each can be [`Written`] in any [`Form`]: a table for the terminal, Markdown and LaTeX for papers, and JSON, JSON
//! Lines and CSV for programs. Writing computes nothing. Results of other crates do the same once they are [`Export`]
//! and [`Tabulated`]. `capeval-pages` turns results into HTML pages, with the drawings and the style of [`charts`],
//! which sites share.

pub mod charts;
mod comparison;
mod correlation;
mod evidence;
mod explained;
mod export;
mod form;
mod gallery;
mod grid;
mod head;
mod letters;
mod number;
mod preference;
mod profile;
mod real;
mod render;
mod report;
mod segments;
mod wrap;

pub use capeval_choice::Notice;
pub use comparison::{Comparison, Contrast, P, Pair, TooFewResamples, Verdict};
pub use correlation::{
    Agreement, Coefficient, Correlation, Difference, Human, Points, SystemAgreement, Unit,
};
pub use evidence::{Evidence, Shapes};
pub use explained::Explained;
pub use export::{Export, Line, Map, Saved};
pub use form::{Form, Written};
pub use gallery::{Captions, Explain, Gallery};
pub use grid::{Align, Cell, Grid, Labels, Table};
pub use head::{Head, Measure, MetricEntry, Run};
pub use letters::letters;
pub use number::{Rounded, fixed, intervals_in_words, significant};
pub use preference::{Accuracy, Category, ChosenPair, HumanTies, MetricTies, Preference, Protocol, Voters};
pub use profile::{NgramCount, Profile};
pub use render::table::Style;
pub use render::{Tabulated, in_percent};
pub use report::{Lengths, Provenance, Report, Segments, SystemReport};
pub use wrap::wrapped;
