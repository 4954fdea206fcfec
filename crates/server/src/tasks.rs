//! What children do. This code runs in the sandbox, with nothing but its order and the files that it may read.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::App;
use crate::jobs::Failure;
use crate::jobs::child::{self, Allowance, Order};

/// A task.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Tries what no task may do.
    Probe {
        /// A file that exists and may not be read.
        file: PathBuf,
    },
}

/// What was possible although it should not be.
#[derive(Debug, Serialize, Deserialize)]
pub struct Probe {
    /// Opening a socket.
    pub socket: bool,
    /// Reading a foreign file.
    pub file: bool,
    /// Starting a program.
    pub program: bool,
}

/// Performs a task.
///
/// # Errors
/// With the reason, if it cannot be done with what was given.
pub fn perform(task: Task, _threads: usize) -> Result<Value, String> {
    let result = match task {
        Task::Probe { file } => serde_json::to_value(Probe {
            socket: std::net::UdpSocket::bind("127.0.0.1:0").is_ok(),
            file: std::fs::read(file).is_ok(),
            program: std::process::Command::new("/bin/true").status().is_ok(),
        }),
    };
    result.map_err(|error| error.to_string())
}

/// Tries in a child what no task may do.
///
/// # Errors
/// If the child cannot run.
pub async fn probe(app: &App) -> Result<Probe, Failure> {
    let task = Task::Probe { file: app.program.clone() };
    child::run(app, Order { allowance: Allowance::of(app, Vec::new()), task }).await
}
