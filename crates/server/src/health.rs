//! For machines that watch the server: whether it lives, whether it can work, and how much it does.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::fault::Fault;
use crate::jobs::queue;
use crate::store::Error;
use crate::web::route::get;
use crate::web::{Access, Route};

/// A job that waits for longer means that no worker runs.
const LONGEST_WAIT: i64 = 600_000;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        get("/healthz", Access::Public, "Check that the process responds", async || "ok\n")
            .sends(200, "text/plain"),
        get("/readyz", Access::Public, "Check that the database works and jobs run", ready)
            .sends(200, "text/plain")
            .sends(503, "text/plain"),
        get("/metrics", Access::Public, "Metrics for Prometheus", metrics).sends(200, "text/plain"),
    ]
}

async fn ready(app: App) -> Response {
    let unready =
        |text: String| (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "10")], text).into_response();
    if let Err(error) = app.store.try_write().await {
        tracing::error!(%error, "the database cannot be written");
        return unready("the database cannot be written\n".to_owned());
    }
    let looked = tokio::select! {
        looked = queue::longest_wait(&app.store) => looked,
        () = app.store.away() => Err(Error::PoolTimedOut),
    };
    match looked {
        Ok(wait) if wait > LONGEST_WAIT => {
            unready(format!("a job has been waiting for {} seconds\n", wait / 1000))
        }
        Ok(_) => "ready\n".into_response(),
        Err(error) => {
            tracing::error!(%error, "the database does not respond");
            unready("the database does not respond\n".to_owned())
        }
    }
}

async fn metrics(app: App) -> Result<Response, Fault> {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let counts = &app.counts;
    let requests: Vec<(String, f64)> = (1..=5)
        .map(|class| {
            (format!("{{status=\"{class}xx\"}}"), counts.requests[class].load(Ordering::Relaxed) as f64)
        })
        .collect();
    family("capeval_requests_total", "counter", "Answers of this process.", &requests);
    let plain = |value: f64| vec![(String::new(), value)];
    let done = counts.jobs_done.load(Ordering::Relaxed) as f64;
    family("capeval_jobs_done_total", "counter", "Jobs that this process has done.", &plain(done));
    let failed = counts.jobs_failed.load(Ordering::Relaxed) as f64;
    family(
        "capeval_jobs_failed_total",
        "counter",
        "Runs of jobs that failed in this process.",
        &plain(failed),
    );
    let seconds = counts.jobs_ms.load(Ordering::Relaxed) as f64 / 1000.0;
    family(
        "capeval_jobs_seconds_total",
        "counter",
        "Seconds that jobs of this process took.",
        &plain(seconds),
    );
    let jobs: Vec<(String, f64)> = queue::counts(&app.store)
        .await?
        .into_iter()
        .map(|(state, count)| (format!("{{state=\"{state}\"}}"), count as f64))
        .collect();
    family("capeval_jobs", "gauge", "Jobs by state.", &jobs);
    let wait = queue::longest_wait(&app.store).await? as f64 / 1000.0;
    family("capeval_job_wait_seconds", "gauge", "How long the next job has waited.", &plain(wait));
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
