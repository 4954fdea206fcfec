//! For machines that watch the server: whether it lives, whether it can work, and how much it does.
//!
//! A process counts its requests and runs of jobs; everything that all processes share is a gauge, read from the
//! database when Prometheus asks.

mod metrics;
mod process;
mod records;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing;

pub use records::RowGauge;

use crate::app::App;
use crate::fault::{Fault, Result};
use crate::jobs::queue;
use crate::store::Error;
use crate::web::network::FromThisMachine;
use crate::web::route::get;
use crate::web::{Access, Route};

/// A job that waits for longer, while its lane does nothing, means that no worker runs.
const LONGEST_WAIT: i64 = 600_000;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        get("/healthz", Access::Public, "Check that the process responds", alive).sends(200, "text/plain"),
        get("/readyz", Access::Public, "Check that the database works and jobs run", ready)
            .sends(200, "text/plain")
            .sends(503, "text/plain"),
        get("/metrics", Access::Public, "Metrics for Prometheus on this machine", metrics_of_site)
            .sends(200, "text/plain")
            .sends(404, "text/html"),
    ]
}

/// The same on an address of their own, which only what watches the server should reach.
pub fn router(app: &App) -> Router {
    Router::new()
        .route("/healthz", routing::get(alive))
        .route("/readyz", routing::get(ready))
        .route("/metrics", routing::get(metrics))
        .with_state(app.clone())
}

async fn alive() -> &'static str {
    "ok\n"
}

async fn ready(app: App) -> Response {
    let unready =
        |text: String| (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "10")], text).into_response();
    if let Err(error) = app.store.try_write().await {
        tracing::error!(%error, "the database cannot be written");
        return unready("the database cannot be written\n".to_owned());
    }
    if let Err(error) = app.blobs.try_write() {
        tracing::error!(%error, "files cannot be written");
        return unready("files cannot be written\n".to_owned());
    }
    let looked = tokio::select! {
        looked = queue::idle_wait(&app.store) => looked,
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

async fn metrics_of_site(app: App, _: FromThisMachine) -> Result<Response> {
    match app.settings.metrics_listen.is_empty() {
        true => metrics(app).await,
        false => Err(Fault::not_found()),
    }
}

async fn metrics(app: App) -> Result<Response> {
    let text = metrics::exposition(&app).await.map_err(|error| Fault::internal(&error))?;
    Ok(([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response())
}
