//! Serves the site and runs jobs until a signal says stop.

use std::net::SocketAddr;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::accounts::invitations;
use crate::app::{self, App};
use crate::backup::nightly;
use crate::jobs::runner;

/// Drafts of files that are older belong to processes that were killed, in seconds.
const ABANDONED: u64 = 3_600;

/// Serves the site on the address of the settings, and runs jobs. `greet` gets the lines to print at the start.
///
/// # Errors
/// If the address cannot be used.
pub async fn serve(app: App, greet: impl Fn(String)) -> anyhow::Result<()> {
    let listener = TcpListener::bind(&app.settings.listen)
        .await
        .with_context(|| format!("cannot listen on {}", app.settings.listen))?;
    sweep(&app)?;
    greet(format!("{} is served on {}", app.settings.title, app.settings.url("/")));
    if let Some(path) = invitations::for_first_administrator(&app.store).await? {
        greet(format!("make the first administrator's account: {}", app.settings.url(&path)));
    }
    let (stop, stopping) = watch::channel(false);
    let workers = app.settings.workers;
    let jobs = tokio::spawn(runner::run(app.clone(), crate::WORKS, workers, stopping.clone()));
    let backups = tokio::spawn(nightly::schedule(app.clone(), stopping));
    let router = app::router(&app)?.into_make_service_with_connect_info::<SocketAddr>();
    let signal = async move {
        stop_signal().await;
        let _ = stop.send(true);
    };
    axum::serve(listener, router).with_graceful_shutdown(signal).await?;
    jobs.await?;
    backups.await?;
    app.store.close().await;
    Ok(())
}

/// Runs jobs only.
///
/// # Errors
/// If this process cannot run jobs.
pub async fn work(app: App) -> anyhow::Result<()> {
    sweep(&app)?;
    let (stop, stopping) = watch::channel(false);
    let workers = app.settings.workers.max(1);
    let jobs = tokio::spawn(runner::run(app.clone(), crate::WORKS, workers, stopping));
    stop_signal().await;
    stop.send(true)?;
    jobs.await?;
    app.store.close().await;
    Ok(())
}

fn sweep(app: &App) -> anyhow::Result<()> {
    for blobs in [&app.blobs, &app.hidden] {
        blobs.sweep(std::time::Duration::from_secs(ABANDONED))?;
    }
    Ok(())
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
