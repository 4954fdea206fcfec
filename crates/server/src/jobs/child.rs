//! Runs one step of a job in a process of its own, so that a crash or a bomb costs one job.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use super::{Failure, sandbox};
use crate::app::App;

/// The hidden command of the program that runs a child.
pub const COMMAND: &str = "run-child";

/// The most bytes of an answer.
const ANSWER: u64 = 64 << 20;

/// The most bytes of messages that are kept for the log.
const MESSAGES: u64 = 16 << 10;

/// What a child may use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Allowance {
    /// Files and folders that it may read.
    pub read: Vec<PathBuf>,
    /// Folders that it may write to.
    pub write: Vec<PathBuf>,
    /// Bytes of address space.
    pub memory: u64,
    /// Seconds of processor time.
    pub seconds: u64,
    /// Threads; 0 for all processors.
    pub threads: usize,
    /// Whether others come first when processors are busy.
    pub gives_way: bool,
}

impl Allowance {
    /// What the settings allow, with these files to read.
    pub fn of(app: &App, read: Vec<PathBuf>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        Self {
            read,
            write: Vec::new(),
            memory: app.settings.job_memory_mib << 20,
            seconds: app.settings.job_seconds * processors,
            threads: app.settings.threads,
            gives_way: false,
        }
    }
}

/// A task with what it may use.
#[derive(Serialize, Deserialize)]
pub struct Order<T> {
    /// What it may use.
    pub allowance: Allowance,
    /// What to do.
    pub task: T,
}

/// The answer of a child: a result, or a refusal in words, which another try would repeat.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer<R> {
    /// The result.
    Done(R),
    /// Why there is none.
    Refused(String),
}

/// Runs a task in a child, and returns its result.
///
/// # Errors
/// If the child refuses the task, crashes, or takes too long.
pub async fn run<T: Serialize, R: DeserializeOwned>(app: &App, order: Order<T>) -> Result<R, Failure> {
    let order = serde_json::to_vec(&order)?;
    let mut command = Command::new(&app.program);
    command.arg(COMMAND).env_clear().current_dir("/").kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (input, output, messages) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let conversation = async {
        let write = async {
            if let Some(mut input) = input {
                // A child that ends early does not read its order; its status tells.
                let _ = input.write_all(&order).await;
            }
        };
        let ((), output, messages) = tokio::join!(write, read(output, ANSWER), read(messages, MESSAGES));
        let status = child.wait().await?;
        Ok::<_, Failure>((output?, messages?, status))
    };
    let limit = Duration::from_secs(app.settings.job_seconds);
    let Ok(ended) = tokio::time::timeout(limit, conversation).await else {
        return Err(Failure::Passing(format!("stopped after {} seconds", limit.as_secs())));
    };
    let (output, messages, status) = ended?;
    if !status.success() {
        tracing::warn!(%status, messages = %String::from_utf8_lossy(&messages).trim(), "a child failed");
        return Err(Failure::Passing(format!("the process ended with {status}")));
    }
    match serde_json::from_slice(&output)? {
        Answer::Done(result) => Ok(result),
        Answer::Refused(reason) => Err(Failure::Lasting(reason)),
    }
}

async fn read(stream: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        (&mut stream).take(most).read_to_end(&mut bytes).await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    }
    Ok(bytes)
}

/// What a child does: reads its order, enters the sandbox, performs the task, and writes its answer.
///
/// # Errors
/// If the order cannot be read, or the sandbox cannot be entered.
pub fn serve<T: DeserializeOwned, R: Serialize>(
    perform: impl FnOnce(T, usize) -> Result<R, String>,
) -> anyhow::Result<()> {
    let mut order = Vec::new();
    std::io::stdin().lock().read_to_end(&mut order)?;
    let Order { allowance, task } = serde_json::from_slice::<Order<T>>(&order)?;
    sandbox::enter(&allowance)?;
    let answer = match perform(task, allowance.threads) {
        Ok(result) => Answer::Done(result),
        Err(refusal) => Answer::Refused(refusal),
    };
    std::io::stdout().lock().write_all(&serde_json::to_vec(&answer)?)?;
    Ok(())
}
