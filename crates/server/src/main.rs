//! The program `capeval-server`.
#![expect(clippy::print_stderr, reason = "a command-line program")]

use std::process::ExitCode;

use capeval_server::commands;
use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match commands::run(commands::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("capeval-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}
