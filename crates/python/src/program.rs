//! The program, which the package brings along.

use std::ffi::OsString;

use capeval_cli::StandardOutput;
use pyo3::prelude::*;

/// Runs the program with a command line, of which the first is the program's name, and returns its exit code.
#[pyfunction]
pub fn run_program(py: Python<'_>, args: Vec<OsString>, is_output_open: bool) -> u8 {
    let output = if is_output_open { StandardOutput::Open } else { StandardOutput::Closed };
    py.detach(|| capeval_cli::run(args, output))
}
