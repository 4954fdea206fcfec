//! Runs one step of a job in a process of its own, so a crash or a bomb costs one job.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use capeval_tasks::{Allowance, Answer, Order, Possible, Probe, Task};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tracing::Instrument;

use super::Failure;
use crate::app::App;
use crate::reason;

/// The hidden command of the program that runs a child.
pub const COMMAND: &str = "run-child";

/// The most bytes of an answer.
const ANSWER: u64 = 64 << 20;

/// The most bytes of messages that are kept for the log.
const MESSAGES: u64 = 16 << 10;

/// The allowance of a child by the settings, with these files to read.
pub fn allowance(app: &App, read: Vec<PathBuf>) -> Allowance {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    Allowance {
        read,
        write: Vec::new(),
        memory: app.settings.job_memory_mib << 20,
        seconds: app.settings.job_seconds * processors,
        threads: app.settings.threads,
        gives_way: false,
        programs: false,
    }
}

/// Files that a child may read for its metrics.
pub fn readable(app: &App, files: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    // The C library reads these; without them it works as well.
    let system = ["/proc/self", "/sys/fs/cgroup", "/sys/devices/system/cpu"].map(PathBuf::from);
    files.into_iter().chain(app.data()).chain(system).filter(|path| path.exists()).collect()
}

/// Runs a task in a child, and returns its result.
pub async fn run<T: Task>(app: &App, allowance: Allowance, task: T) -> Result<T::Answer, Failure> {
    let memory = allowance.memory >> 20;
    // It holds folders that the child reads.
    let order = Order::new(allowance, task);
    let text = serde_json::to_vec(&order)?;
    let mut command = Command::new(&app.program);
    command.arg(COMMAND).env_clear().current_dir("/").kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (input, output, messages) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let conversation = async {
        let write = async {
            if let Some(mut input) = input {
                // A child that ends early does not read its order; its status tells.
                let _ = input.write_all(&text).await;
            }
        };
        let ((), output, messages) = tokio::join!(write, read(output, ANSWER), read(messages, MESSAGES));
        let status = child.wait().await?;
        Ok::<_, Failure>((output?, messages?, status))
    };
    let limit = Duration::from_secs(app.settings.job_seconds);
    let conversation = conversation.instrument(tracing::info_span!("child", task = name_of::<T>()));
    let ended = tokio::time::timeout(limit, conversation).await;
    drop(order);
    let Ok(ended) = ended else {
        return Err(Failure::Passing(reason!("stopped after {} seconds", limit.as_secs())));
    };
    let (output, messages, status) = ended?;
    if !status.success() {
        let messages = String::from_utf8_lossy(&messages);
        tracing::warn!(%status, messages = ?messages.trim(), "a child failed");
        // As the standard library says when an allocation fails, before it ends the process.
        if messages.contains("memory allocation of") {
            return Err(Failure::Lasting(reason!("it needs more than {} MiB of memory", memory)));
        }
        return Err(Failure::Passing(reason!("the process ended with {}", status)));
    }
    if output.len() as u64 == ANSWER {
        return Err(Failure::Lasting(reason!("the answer is larger than {} MiB", ANSWER >> 20)));
    }
    match serde_json::from_slice(&output)? {
        Answer::Done(result) => Ok(result),
        Answer::Refused(reason) => Err(Failure::Lasting(reason)),
        Answer::NoSpace(reason) => Err(Failure::Waiting(reason)),
    }
}

/// The name of a task in the log.
fn name_of<T>() -> &'static str {
    std::any::type_name::<T>().rsplit("::").next().unwrap_or_default()
}

async fn read(stream: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        (&mut stream).take(most).read_to_end(&mut bytes).await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    }
    Ok(bytes)
}

/// Tries in a child what no task may do.
pub async fn probe(app: &App) -> Result<Possible, Failure> {
    let allowance = allowance(app, Vec::new());
    let task = Probe { file: app.program.clone(), memory: allowance.memory };
    run(app, allowance, task).await
}
