//! The traces of programs without the feature `otel`, which have none.

use std::convert::Infallible;

use axum::http::{HeaderMap, Method};
use tracing::Span;
use tracing_subscriber::{Layer, Registry};

/// The exporter of traces, which this program lacks.
pub struct Traces(Infallible);

impl Traces {
    /// Refuses to send any.
    pub fn start(_: &str) -> anyhow::Result<Self> {
        anyhow::bail!("traces is set, but this program was built without the feature `otel`")
    }

    /// The layer that would send them.
    pub fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        match self.0 {}
    }
}

/// Leaves the span of a request alone.
pub fn of_request(_: &Span, _: &str, _: &Method, _: &str, _: Option<&HeaderMap>) {}

/// Leaves the span of a request alone.
pub fn answered(_: &Span, _: u16) {}

/// Leaves the span of a job alone.
pub fn of_cause(_: &Span, _: Option<&str>) {}
