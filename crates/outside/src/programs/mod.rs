//! Metrics that are programs in any language: a TOML file describes a program, which reads captions and answers with
//! scores as JSON Lines.
//!
//! The protocol, version 1: a line `{"id": 0, "image_id": …, "candidate": "…", "references": ["…"], "image": "…"}` on
//! standard input for each caption; a line `{"id": 0, "scores": {"measure": 0.5}}` on standard output for each, in any
//! order; and whatever people should read on standard error. The input ends after the last caption.

mod answer;
mod conversation;
mod description;
mod process;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use capeval::metric::Signature;
use capeval::{Answers, Identity, Outside, OutsideLabel, OutsideMetrics, OutsideRow, Sight};
use capeval_choice::Refusal;

use description::Description;
pub use process::end_all;

/// Receives what a program writes for people: its name, and a line.
pub type Messages = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// The way in which a program that someone else wrote is run, as one process.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The command that enters the sandbox. It is followed by the number of the program's variables, by these as
    /// `NAME=VALUE`, and by the command of the program, which takes its place.
    pub launcher: Vec<OsString>,
    /// The hash of the archive that contains all files of the program, for its signature.
    pub archive: String,
    /// True if errors may repeat what it prints, which could be references.
    pub is_told: bool,
}

/// A metric that is a program.
struct Program {
    /// The path of its description, as it was given, and its measures.
    label: OutsideLabel,
    description: Description,
    messages: Messages,
}

/// Reads bytes as a description and as answers, for fuzz targets; none of it may panic.
#[cfg(fuzzing)]
pub fn fuzz(bytes: &[u8]) {
    let _ = Description::read("metrics/m.toml", bytes);
    for line in bytes.split(|byte| *byte == b'\n') {
        let _ = answer::read(line).map_err(|none| none.of("m", 1, line).to_string());
    }
}

/// Returns true if a name in a list of metrics is the path of a description.
pub fn is_path(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Reads the descriptions among the names of metrics.
///
/// # Errors
/// When a file cannot be read, or does not describe a program.
pub fn read<'n>(
    names: impl IntoIterator<Item = &'n String>,
    messages: &Messages,
    sandbox: Option<&Sandbox>,
) -> Result<OutsideMetrics, capeval_files::Error> {
    let mut programs: Vec<Arc<dyn Outside>> = Vec::new();
    for path in names.into_iter().filter(|name| is_path(name)) {
        if programs.iter().any(|known| known.name() == path) {
            continue;
        }
        if path.contains("://") {
            let refusal = Refusal::new("a program is described by a file on this machine");
            return Err(refusal
                .with_remedy("fetch it, read what it runs, and give its path")
                .at(path)
                .into());
        }
        let bytes = capeval_files::read(path)?;
        let mut description =
            Description::read(&capeval_files::expanded(path), &bytes).map_err(|refusal| refusal.at(path))?;
        if sandbox.is_some() {
            (description.sandbox, description.workers) = (sandbox.cloned(), 1);
        }
        let label = OutsideLabel::new(path, description.parts.clone());
        programs.push(Arc::new(Program { label, description, messages: Arc::clone(messages) }));
    }
    Ok(OutsideMetrics(programs))
}

impl Outside for Program {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        let Description { name, version, hash, sandbox, .. } = &self.description;
        let signature = Signature::new(name).with("version", version).with("program", hash);
        match sandbox {
            Some(Sandbox { archive, .. }) => signature.with("archive", archive),
            None => signature,
        }
    }

    fn needs_references(&self) -> bool {
        self.description.references
    }

    fn sight(&self) -> Sight {
        if self.description.pictures { Sight::Needed } else { Sight::None }
    }

    fn languages(&self) -> &[String] {
        &self.description.languages
    }

    fn identity(&self) -> Option<Identity> {
        let text = format!("{}|code:{:016x}", self.signature(), self.description.code());
        Some(Identity { text, knows_images: true })
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        let scored = conversation::score(&self.description, rows, &self.messages, answers);
        match &self.description.sandbox {
            Some(Sandbox { is_told: false, .. }) => scored.map_err(|_| {
                let message = format!("the program {} gave no scores", self.description.name);
                Refusal::new(message).with_remedy("its hosts see why when they try the file")
            }),
            _ => scored,
        }
    }
}
