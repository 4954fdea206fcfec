//! Serves the site and runs jobs until a signal says stop.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::accounts::invitations;
use crate::app::{self, App};
use crate::backup::{self, nightly};
use crate::blobs::FOLDERS;
use crate::jobs::runner;

/// How old files must be that nobody needs before they are removed, and how often that is done.
const DAY: Duration = Duration::from_secs(86_400);

/// Serves the site on the address of the settings, and runs jobs. `greet` gets the lines to print at the start.
///
/// # Errors
/// If the address cannot be used.
pub async fn serve(app: App, greet: impl Fn(String)) -> anyhow::Result<()> {
    let listener = TcpListener::bind(&app.settings.listen)
        .await
        .with_context(|| format!("cannot listen on {}", app.settings.listen))?;
    greet(format!("{} is served on {}", app.settings.title, app.settings.url("/")));
    if let Some(path) = invitations::for_first_administrator(&app.store).await? {
        greet(format!("create the first administrator's account: {}", app.settings.url(&path)));
    }
    let (stop, stopping) = watch::channel(false);
    let workers = app.settings.workers;
    let jobs = tokio::spawn(runner::run(app.clone(), crate::WORKS, workers, stopping.clone()));
    let backups = tokio::spawn(nightly::schedule(app.clone(), stopping.clone()));
    let sweeping = tokio::spawn(sweep_daily(app.clone(), stopping));
    let router = app::router(&app)?.into_make_service_with_connect_info::<SocketAddr>();
    let stopped = app.clone();
    let signal = async move {
        stop_signal().await;
        stopped.is_stopping.store(true, Ordering::Relaxed);
        let _ = stop.send(true);
    };
    axum::serve(listener, router).with_graceful_shutdown(signal).await?;
    jobs.await?;
    backups.await?;
    sweeping.await?;
    app.store.close().await;
    Ok(())
}

/// Runs jobs only.
///
/// # Errors
/// If this process cannot run jobs.
pub async fn work(app: App) -> anyhow::Result<()> {
    let (stop, stopping) = watch::channel(false);
    let workers = app.settings.workers.max(1);
    let jobs = tokio::spawn(runner::run(app.clone(), crate::WORKS, workers, stopping));
    stop_signal().await;
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
        tokio::select! {
            () = tokio::time::sleep(DAY) => {}
            _ = stop.changed() => {}
        }
    }
}

/// Removes files older than `age` that no row names, and drafts; returns how many there were.
///
/// # Errors
/// If the database or a folder cannot be read.
pub async fn sweep(app: &App, age: Duration) -> anyhow::Result<usize> {
    let mut snapshot = app.store.snapshot().await?;
    let named: HashSet<String> = backup::named(&mut snapshot).await?.into_iter().collect();
    drop(snapshot);
    let app = app.clone();
    let sweep = move || {
        let folders = FOLDERS.into_iter().zip([&app.blobs, &app.hidden]);
        let swept = folders
            .map(|(name, blobs)| blobs.sweep(age, |hash| named.contains(&backup::name_of(name, hash))));
        swept.sum::<std::io::Result<usize>>()
    };
    Ok(tokio::task::spawn_blocking(sweep).await??)
}

/// Waits for Ctrl-C or, on Unix, SIGTERM.
async fn stop_signal() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return interrupt.await };
        tokio::select! {
            () = interrupt => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    interrupt.await;
}
