//! Orders and answers, which cross the border between the server and its children as JSON.

use std::io::{ErrorKind, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::sandbox::Allowance;
use crate::{agreement, contrast, images, import, picture, probe, references, sandbox, scoring, submission};

/// A task that a child can perform.
pub trait Task: Into<AnyTask> {
    /// Its answer.
    type Answer: DeserializeOwned;
}

/// A task with what it may use.
#[derive(Serialize, Deserialize)]
pub struct Order {
    allowance: Allowance,
    task: AnyTask,
}

impl Order {
    /// An order to perform `task`.
    pub fn new(allowance: Allowance, task: impl Task) -> Self {
        Self { allowance, task: task.into() }
    }
}

/// The answer of a child: a result, or why there is none, in words.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer<R> {
    /// The result.
    Done(R),
    /// Another try would say the same.
    Refused(String),
    /// There is no space on the disk now.
    NoSpace(String),
}

/// Lists the tasks, each with its answer and the function that performs it.
macro_rules! tasks {
    ($($module:ident::$task:ident -> $answer:ty;)*) => {
        /// Any task.
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum AnyTask {
            $($task($module::$task)),*
        }

        $(
            impl From<$module::$task> for AnyTask {
                fn from(task: $module::$task) -> Self {
                    Self::$task(task)
                }
            }

            impl Task for $module::$task {
                type Answer = $answer;
            }
        )*

        impl AnyTask {
            fn perform(self) -> anyhow::Result<Box<RawValue>> {
                Ok(match self {
                    $(Self::$task(task) => {
                        let answer: $answer = task.perform()?;
                        to_raw_value(&answer)?
                    })*
                })
            }
        }
    };
}

tasks! {
    probe::Probe -> probe::Possible;
    picture::Picture -> Result<picture::PictureFacts, picture::Unfit>;
    references::Prepare -> references::ReferenceSummary;
    references::Sample -> Vec<String>;
    import::ReadImport -> Vec<import::ImportedImage>;
    submission::ReadCaptions -> ();
    scoring::Score -> Vec<scoring::SetScores>;
    images::ShowImages -> images::ShownImages;
    scoring::Compare -> Vec<scoring::SetTests>;
    contrast::Contrast -> Vec<contrast::SetContrast>;
    agreement::Correlate -> agreement::Agreement;
}

fn lacks_space(refusal: &anyhow::Error) -> bool {
    let mut kinds = refusal.chain().filter_map(|cause| Some(cause.downcast_ref::<std::io::Error>()?.kind()));
    kinds.any(|kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}

/// Runs a child: reads its order, enters the sandbox, performs the task, and writes its answer.
pub fn serve() -> anyhow::Result<()> {
    let mut order = Vec::new();
    std::io::stdin().lock().read_to_end(&mut order)?;
    let Order { allowance, task } = serde_json::from_slice(&order)?;
    sandbox::enter(&allowance)?;
    // If this fails, the default pool is as good.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(allowance.threads).build_global();
    let answer = match task.perform() {
        Ok(result) => Answer::Done(result),
        Err(refusal) if lacks_space(&refusal) => Answer::NoSpace(format!("{refusal:#}")),
        Err(refusal) => Answer::Refused(format!("{refusal:#}")),
    };
    std::io::stdout().lock().write_all(&serde_json::to_vec(&answer)?)?;
    Ok(())
}
