//! Installs third-party data: asks, shows the progress, and reports the result.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use capeval::meteor::{Progress, Recognized, Resources};
use capeval_files::{self as files, Installed, METEOR_PACKAGE, MeteorHome};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// METEOR's resources; `None` if they are not installed.
///
/// # Errors
/// When the file is damaged or of another version.
pub fn meteor() -> Result<Option<Arc<Resources>>> {
    Ok(MeteorHome::of_user()?.resources(files::open)?.map(Arc::new))
}

/// Asks whether to install METEOR's resources; the answer is no without a terminal.
///
/// # Errors
/// When the terminal fails.
pub fn offer() -> Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    write!(
        io::stderr(),
        "METEOR needs data that are not installed: {METEOR_PACKAGE} from your Python package index (104 MB), stored as \
         42 MB in {}. Install them now? [y/N] ",
        MeteorHome::of_user()?.folder().display()
    )?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Installs METEOR's resources from a wheel, a jar or a folder; without a source, with the user's Python.
///
/// # Errors
/// When the source does not exist or does not contain METEOR's data, or the folder cannot be written.
pub fn install(from: Option<&Path>) -> Result<()> {
    let home = MeteorHome::of_user()?;
    let bar = Bar::new();
    let installed = home.install(from, &files::pythons(), &mut |progress| bar.show(progress))?;
    drop(bar);
    report(&home, &installed)
}

fn report(home: &MeteorHome, installed: &Installed) -> Result<()> {
    let mut out = io::stderr().lock();
    let fingerprint = &installed.fingerprint;
    writeln!(out, "METEOR's resources are installed in {} (content {fingerprint})", home.file().display())?;
    writeln!(out, "METEOR needs neither Java nor a network from now on")?;
    writeln!(
        out,
        "METEOR 1.5: Denkowski and Lavie, Carnegie Mellon University, LGPL 2.1; WordNet 3.0: Princeton \
         University, WordNet licence. Both notices: {}",
        home.notice().display()
    )?;
    if installed.recognized == Recognized::No {
        writeln!(
            out,
            "these are not the resources of pycocoevalcap 1.2: scores will not be comparable with published ones"
        )?;
    }
    Ok(())
}

/// Shows the progress of an installation.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        let style = ProgressStyle::with_template("{msg:28} {wide_bar} {percent:>3}%")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_style(style))
    }

    fn show(&self, progress: Progress) {
        self.0.set_message(progress.stage);
        // A bar of length 0 would be shown as complete.
        self.0.set_length(progress.total.unwrap_or(0).max(1));
        self.0.set_position(progress.done);
        self.0.tick();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
