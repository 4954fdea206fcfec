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

use pyo3::prelude::*;

/// The engine of the package `capeval`; use the package instead.
#[pymodule(gil_used = false)]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    run::remember_process();
    module.add("__version__", capeval::VERSION)?;
    module.add_class::<dense::DenseJudge>()?;
    module.add_class::<arrow::RowScorer>()?;
    module.add_class::<capsule::ArrowBatch>()?;
    module.add_class::<columns::References>()?;
    module.add_class::<columns::Sieve>()?;
    module.add_class::<tally::Tally>()?;
    module.add_class::<sums::Sums>()?;
    module.add_class::<captions::Captions>()?;
    module.add_class::<frequencies::DocumentFrequencies>()?;
    module.add_class::<function::Function>()?;
    module.add_class::<external_scores::Scores>()?;
    module.add_class::<judge::Judge>()?;
    module.add_class::<study::Study>()?;
    module.add_class::<score::PreparedFile>()?;
    module.add_function(wrap_pyfunction!(captions::caption_columns, module)?)?;
    module.add_function(wrap_pyfunction!(captions::written_list, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::engine_names, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::provide_dictionary, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::kit, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::kit_names, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::suites, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::tokenize, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::tokenizer_names, module)?)?;
    module.add_function(wrap_pyfunction!(outside::write_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::judge_rows, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::needed_frequencies, module)?)?;
    module.add_function(wrap_pyfunction!(correlation::correlate, module)?)?;
    module.add_function(wrap_pyfunction!(preference::prefer, module)?)?;
    module.add_function(wrap_pyfunction!(meta::benchmarks, module)?)?;
    module.add_function(wrap_pyfunction!(meta::run_benchmarks, module)?)?;
    module.add_function(wrap_pyfunction!(judging::judge_agreement, module)?)?;
    module.add_function(wrap_pyfunction!(data::install_data, module)?)?;
    module.add_function(wrap_pyfunction!(dense::box_forms, module)?)?;
    module.add_function(wrap_pyfunction!(dense::dense_forms, module)?)?;
    module.add_function(wrap_pyfunction!(dense::score_boxes, module)?)?;
    module.add_function(wrap_pyfunction!(dense::score_dense, module)?)?;
    module.add_function(wrap_pyfunction!(plain::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(program::run_program, module)?)?;
    module.add_function(wrap_pyfunction!(run::get_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(run::set_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(score::compare, module)?)?;
    module.add_function(wrap_pyfunction!(score::diversity, module)?)?;
    module.add_function(wrap_pyfunction!(score::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(score::score, module)?)?;
    module.add_function(wrap_pyfunction!(submission::submit, module)?)?;
    module.add_function(wrap_pyfunction!(sums::grouped, module)?)?;
    Ok(())
}
