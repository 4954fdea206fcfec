//! The Python extension module `capeval._engine`.
//!
//! This crate translates Python's objects into types of `capeval`, errors into Python's exceptions, and numbers into
//! buffers that numpy reads without a copy. The names and shapes that users see are defined in Python.
#![allow(missing_docs, reason = "no users outside of the workspace")]

mod arrow;
mod call;
mod capsule;
mod captions;
mod columns;
mod correlation;
mod data;
mod dense;
mod error;
mod explanations;
mod external_scores;
mod frequencies;
mod function;
mod judge;
mod judging;
mod meta;
mod metrics;
mod options;
mod outside;
mod pictures;
mod plain;
mod preference;
mod program;
mod run;
mod score;
mod study;
mod submission;
mod sums;
mod tally;

use pyo3::pymodule;

/// The engine of the package `capeval`; use the package instead.
#[pymodule(gil_used = false)]
mod _engine {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        arrow::{RowScorer, judge_rows, needed_frequencies},
        capsule::ArrowBatch,
        captions::{Captions, caption_columns, written_list},
        columns::{References, Sieve},
        correlation::correlate,
        data::install_data,
        dense::{DenseJudge, box_forms, dense_forms, score_boxes, score_dense},
        external_scores::Scores,
        frequencies::DocumentFrequencies,
        function::Function,
        judge::Judge,
        judging::judge_agreement,
        meta::{benchmarks, run_benchmarks},
        metrics::{
            engine_names, kit, kit_names, metrics, provide_dictionary, suites, tokenize, tokenizer_names,
        },
        outside::write_vectors,
        plain::evaluate,
        preference::prefer,
        program::run_program,
        run::{get_num_threads, set_num_threads},
        score::{PreparedFile, compare, diversity, inspect, score},
        study::Study,
        submission::submit,
        sums::{Sums, grouped},
        tally::Tally,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::run::remember_import();
        module.add("__version__", capeval::VERSION)
    }
}
