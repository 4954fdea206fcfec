//! The program `capeval-server`.

use std::io::Write;
use std::process::ExitCode;

use capeval_server::commands;
use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match commands::run(commands::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error cannot be written, there is no place to report it.
            let _ = writeln!(std::io::stderr(), "capeval-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}
