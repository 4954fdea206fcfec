//! Serves the site and runs jobs until a signal says stop.
//!
//! A restart keeps the socket, which belongs to the service manager, and connections wait in it. Two servers on one
//! port (`SO_REUSEPORT`) would both have to hold SQLite, and what the old one had not accepted would be refused. On
//! shutdown the server stops accepting, then waits for connections that have sent nothing yet, because hyper would
//! close them: without this, 7 of 8,414 requests through nginx failed during ten restarts.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use listenfd::ListenFd;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::accounts::{invitations, links};
use crate::app::{self, App};
use crate::backup::nightly;
use crate::blobs::FOLDERS;
use crate::connections::Door;
use crate::jobs::{queue, runner};
use crate::settings::Settings;
use crate::store::Error;
use crate::{feature, health, named_files, outbox};

/// The age at which unused files are removed, and how often that is done.
const DAY: Duration = Duration::from_secs(86_400);

/// The longest time for which a server that was killed holds its folder: as long as a child of it that was being
/// started has not become another program.
const LEFT_OVER: Duration = Duration::from_secs(1);

/// The longest time for which a connection that has sent nothing keeps a server from stopping.
const SILENCE: Duration = Duration::from_secs(1);

/// Listens where the service manager already does, or else on the address of the settings, which name the actual
/// address from now on. What a service manager listens on stays open while the server is started again.
pub async fn listen(settings: &mut Settings, mut passed: ListenFd) -> anyhow::Result<TcpListener> {
    let passed = passed.take_tcp_listener(0).context("the socket that the service manager passes")?;
    if let Some(listener) = passed {
        listener.set_nonblocking(true)?;
        settings.listen = listener.local_addr()?.to_string();
        return Ok(TcpListener::from_std(listener)?);
    }
    let cannot_listen = || format!("cannot listen on {}", settings.listen);
    let listener = TcpListener::bind(&settings.listen).await.with_context(cannot_listen)?;
    if settings.listen.ends_with(":0") {
        settings.listen = listener.local_addr()?.to_string();
    }
    Ok(listener)
}

/// Serves what watches the process, on an address of its own if the settings name one, until the process ends.
async fn serve_watchers(app: &App, greet: impl Fn(String)) -> anyhow::Result<()> {
    let address = &app.settings.metrics_listen;
    if !address.is_empty() {
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
        greet(format!("metrics are served on http://{}/metrics", listener.local_addr()?));
        tokio::spawn(axum::serve(listener, health::router(app)).into_future());
    }
    Ok(())
}

/// Holds the folder of the data with SQLite for one server, until the file is dropped or the process ends, however it
/// does. Commands and workers are no servers.
pub fn hold(folder: &Path, settings: &Settings) -> anyhow::Result<Option<File>> {
    if settings.shared_folder || !settings.database.is_empty() {
        return Ok(None);
    }
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join("server.lock");
    let file = File::options().create(true).append(true).open(&path);
    let file = file.with_context(|| path.display().to_string())?;
    let since = Instant::now();
    let mut locked = file.try_lock();
    while matches!(locked, Err(TryLockError::WouldBlock)) && since.elapsed() < LEFT_OVER {
        std::thread::sleep(LEFT_OVER / 50);
        locked = file.try_lock();
    }
    match locked {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => bail!(
            "another server is using {}; stop it, or set shared_folder if this is intended",
            folder.display()
        ),
        Err(TryLockError::Error(error)) => {
            tracing::warn!(%error, "this file system has no locks, so a second server would not be noticed");
            Ok(None)
        }
    }
}

/// Serves the site to those who connect to `listener`, and runs jobs. `greet` gets the lines to print at the start.
pub async fn serve(app: App, listener: TcpListener, greet: impl Fn(String)) -> anyhow::Result<()> {
    let stop_signal = stop_signal();
    greet(format!("{} is served on {}", app.settings.title, app.settings.url("/")));
    if let Some(path) = invitations::for_first_administrator(&app.store).await? {
        greet(format!("create the first administrator's account: {}", app.settings.url(&path)));
    }
    serve_watchers(&app, greet).await?;
    let (stop, stopping) = watch::channel(false);
    let workers = app.settings.workers;
    let jobs =
        tokio::spawn(runner::run(app.clone(), feature::works(app.features), workers, stopping.clone()));
    let backups = tokio::spawn(nightly::schedule(app.clone(), stopping.clone()));
    let sweeping = tokio::spawn(sweep_daily(app.clone(), stopping));
    let router = app::router(&app)?.into_make_service_with_connect_info::<SocketAddr>();
    let (stopped, door) = (app.clone(), Door::default());
    let closing = door.clone();
    let signal = async move {
        stop_signal.await;
        let _ = stop.send(true);
        // Requests are answered while jobs end, so that they wait for the next process as short as possible.
        if let Err(error) = jobs.await {
            tracing::error!(%error, "the workers ended early");
        }
        closing.close(SILENCE).await;
        stopped.is_stopping.store(true, Ordering::Relaxed);
    };
    axum::serve(door.connections(listener), router).with_graceful_shutdown(signal).await?;
    backups.await?;
    sweeping.await?;
    app.store.close().await;
    Ok(())
}

/// Runs jobs only.
pub async fn work(app: App, greet: impl Fn(String)) -> anyhow::Result<()> {
    let stop_signal = stop_signal();
    serve_watchers(&app, greet).await?;
    let (stop, stopping) = watch::channel(false);
    let workers = app.settings.workers.max(1);
    let jobs = tokio::spawn(runner::run(app.clone(), feature::works(app.features), workers, stopping));
    stop_signal.await;
    stop.send(true)?;
    jobs.await?;
    app.store.close().await;
    Ok(())
}

async fn sweep_daily(app: App, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        match sweep(&app, DAY).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "unused files are removed"),
            Err(error) => tracing::error!(%error, "unused files cannot be found"),
        }
        match sweep_rows(&app).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "old jobs, messages and links are removed"),
            Err(error) => tracing::error!(%error, "old rows cannot be removed"),
        }
        tokio::select! {
            () = tokio::time::sleep(DAY) => {}
            _ = stop.changed() => {}
        }
    }
}

/// Removes files older than `age` that no row names, and drafts; returns how many there were.
pub async fn sweep(app: &App, age: Duration) -> anyhow::Result<usize> {
    let mut snapshot = app.store.snapshot().await?;
    let named: HashSet<String> = named_files::all(&mut snapshot, app.features).await?.into_iter().collect();
    drop(snapshot);
    let app = app.clone();
    let sweep = move || {
        let folders = FOLDERS.into_iter().zip([&app.blobs, &app.hidden]);
        let swept = folders
            .map(|(name, blobs)| blobs.sweep(age, |hash| named.contains(&named_files::path(name, hash))));
        swept.sum::<std::io::Result<usize>>()
    };
    Ok(tokio::task::spawn_blocking(sweep).await??)
}

/// Removes jobs, messages, links and sessions that ended long ago; returns how many rows there were.
pub async fn sweep_rows(app: &App) -> Result<u64, Error> {
    let mut tx = app.store.begin().await?;
    let removed =
        queue::sweep(&mut tx).await? + outbox::sweep(&mut tx).await? + links::sweep(&mut tx).await?;
    tx.commit().await?;
    Ok(removed)
}

/// Waits for Ctrl-C or, on Unix, SIGTERM. Signals count from this call on, also before anybody waits.
fn stop_signal() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let signals = {
        use tokio::signal::unix::{SignalKind, signal};
        [SignalKind::interrupt(), SignalKind::terminate()].map(signal)
    };
    async move {
        #[cfg(unix)]
        {
            let [Ok(mut interrupt), Ok(mut terminate)] = signals else { return std::future::pending().await };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
