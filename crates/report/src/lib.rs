//! Results as plain data, and their renderers.
//!
//! [`Report`], [`Comparison`], [`Correlation`] and [`Preference`] hold the results; other crates have more. Each is a
//! [`Study`], from which come all its formats by [`write()`]: a table for the terminal, Markdown and LaTeX for papers,
//! and JSON, JSON Lines and CSV for programs; its file, by [`save`] and [`read`]; and its page of HTML, which
//! `capeval-pages` writes with the drawings and the style of [`charts`], which sites share. Writing computes nothing.

mod by_group;
pub mod charts;
mod comparison;
mod correlation;
mod evidence;
mod explanations;
mod file;
mod format;
mod gallery;
mod grid;
mod header;
pub mod json_float;
mod kind;
mod number;
mod preference;
mod profile;
mod reading;
mod render;
mod report;
mod segments;
pub mod signatures_as_lines;
mod significance_letters;
mod study;
mod timelines;
mod wrap;

pub use by_group::ByGroup;
pub use capeval_choice::Notice;
pub use capeval_metric::Direction;
pub use comparison::{Comparison, Contrast, P, Pair, TooFewResamples, Verdict};
pub use correlation::{
    Agreement, Coefficient, Correlation, Difference, Human, Points, SystemAgreement, Unit,
};
pub use evidence::{Evidence, Shapes};
pub use explanations::ExplainedCaption;
pub use file::{KINDS, read, save, save_with};
pub use format::Form;
pub use gallery::{Captions, Explain, Gallery};
pub use grid::{Align, Cell, Grid, Labels, Table};
pub use header::{Head, Measure, MetricEntry, Run};
pub use kind::{Kind, damaged};
pub use number::{RoundedNumber, fixed, intervals_in_words, significant};
pub use preference::{Accuracy, Category, ChosenPair, HumanTies, MetricTies, Preference, Protocol, Voters};
pub use profile::{NgramCount, Profile};
pub use reading::{PairedBy, Pairing, SourceReading};
pub use render::notebook::write_notebook;
pub use render::programs::{Map, codes, line, one_signature, resampling_fields};
pub use render::table::Style;
pub use report::{
    GroupDifference, GroupFrequencies, GroupRow, GroupScores, Lengths, Place, Provenance, RankColumn,
    RankRule, RankScore, RankTies, Ranking, Report, Runs, Segments, SystemReport,
};
pub use significance_letters::letters;
pub use study::{Details, Estimates, Fields, Headings, Line, Study, fields, write};
pub use timelines::{
    EventError, EventLink, EventLinks, LEAST_OVERLAP, PredictedEvents, TimedCaption, Timeline, Timelines,
};
pub use wrap::wrapped;
