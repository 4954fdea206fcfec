//! Metrics that are programs of hosts: each runs in a sandbox of its own, within that of the child that asks it.

use std::any::Any;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use capeval::choice::SegmentId;
use capeval::corpus::Captions;
use capeval::metric::Resources;
use capeval::{MetricOptions, ScoreRequest};
use capeval_outside::Sources;
use capeval_outside::programs::Sandbox;
use serde::{Deserialize, Serialize};

use crate::submission::in_words;

/// The hidden command of the server that runs a program.
pub const PROGRAM_COMMAND: &str = "run-program";

/// The folders in which programs are looked for by their names.
#[cfg(target_os = "linux")]
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The number of images about which a program is asked before anyone submits.
const TRIED: usize = 3;

/// A metric that is a program, in a folder of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The folder, from which files are read by their names.
    pub folder: PathBuf,
    /// The name of its description there.
    pub description: String,
    /// The hash of the archive that the folder was unpacked from.
    pub archive: String,
    /// True if errors may repeat what it prints: hosts may see that, since it could be references.
    pub is_told: bool,
    /// Removes the folder with the last copy of this.
    #[serde(skip)]
    pub held: Option<Arc<dyn Any + Send + Sync>>,
}

impl Program {
    /// Has names of files mean those of the folder, and tells how the program is run.
    pub(crate) fn enter(&self) -> anyhow::Result<Sandbox> {
        std::env::set_current_dir(&self.folder).context("the folder of the program cannot be opened")?;
        let own = std::env::current_exe()?;
        Ok(Sandbox {
            launcher: vec![own.into(), PROGRAM_COMMAND.into()],
            archive: self.archive.chars().take(16).collect(),
            is_told: self.is_told,
        })
    }

    /// Has the program score a few references against themselves, so that hosts hear of faults before anyone submits.
    pub(crate) fn try_out(&self, references: &Captions, resources: Resources) -> anyhow::Result<()> {
        let mut known: Vec<SegmentId> = Vec::new();
        let mut candidates = Captions::new("references");
        for (id, text) in references.iter() {
            if known.len() < TRIED && !known.contains(id) {
                known.push(id.clone());
                candidates.push(id.clone(), text);
            }
        }
        let references = references.only(|id| known.contains(id));
        let mut request = ScoreRequest::new(references, [("references", candidates)]);
        request.options.metrics = MetricOptions::new(vec![self.description.clone()]);
        request.resources = resources;
        let scored = capeval::score(request);
        scored.map(drop).map_err(|error| in_words(&error, error.remedy().as_ref()))
    }
}

/// The keys of the measures of a program, which the file in `folder` describes.
pub fn program_measures(folder: &Path, description: &str) -> anyhow::Result<Vec<String>> {
    let path = folder.join(description).display().to_string();
    let sources = Sources { programs: Some(Arc::new(|_, _| {})), ..Sources::default() };
    let found = sources.metrics(&MetricOptions::new(vec![path.clone()])).map_err(|error| {
        let told = in_words(&error, error.remedy().as_ref()).to_string();
        anyhow::anyhow!("{}", told.replace(&path, description))
    })?;
    let keys = found.iter().flat_map(|program| program.parts()).map(|part| part.key.clone());
    Ok(keys.collect())
}

/// Runs a program in the place of this process: the number of its variables, these, and its command.
#[cfg(target_os = "linux")]
pub fn run_program(words: &[OsString]) -> anyhow::Result<()> {
    use std::os::unix::process::CommandExt;
    let n = words.first().and_then(|n| n.to_str()?.parse::<usize>().ok());
    let n = n.filter(|n| *n < words.len() - 1).context("a program is run by the server alone")?;
    let (variables, command) = words[1..].split_at(n);
    crate::sandbox::enter_as_program()?;
    let variables = variables.iter().filter_map(|one| one.to_str()?.split_once('='));
    let mut program = std::process::Command::new(&command[0]);
    program.args(&command[1..]).env_clear().env("PATH", PATH).envs(variables);
    let error = program.exec();
    // Short, since only the beginning of what a program prints is shown.
    anyhow::bail!("{} cannot be started within program_folders: {error}", command[0].display())
}

/// There is no sandbox elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn run_program(_: &[OsString]) -> anyhow::Result<()> {
    anyhow::bail!("programs of hosts run on Linux only")
}
