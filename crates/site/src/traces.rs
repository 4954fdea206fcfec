//! Traces of requests and jobs, sent to a collector of OpenTelemetry.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use anyhow::Context as _;
use axum::http::{HeaderMap, Method};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{
    SpanContext, SpanId, Status, TraceContextExt, TraceFlags, TraceId, TraceState, TracerProvider,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Span;
use tracing::level_filters::LevelFilter;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::{Layer, Registry};

/// The longest time for the collector to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The exporter of traces. Traces that have not been sent are sent when this is dropped.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Sends traces to the collector at this address, in batches, from a thread of its own.
    pub fn start(address: &str) -> anyhow::Result<Self> {
        let is_address = address.starts_with("http://") || address.starts_with("https://");
        anyhow::ensure!(is_address, "traces begins with http:// or https://");
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client::new())
            .with_endpoint(format!("{}/v1/traces", address.trim_end_matches('/')))
            .build()
            .context("traces")?;
        let resource = Resource::builder()
            .with_service_name("capeval-server")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build()))
    }

    /// The layer that logs the work of our own crates, which all begin with one word, and not that of libraries.
    pub fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("capeval-server"))
            .with_location(false)
            .with_threads(false)
            .with_filter(Targets::new().with_target("capeval", LevelFilter::INFO))
            .boxed()
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown() {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}

/// Names the span of a request, and puts it into the trace that a listed proxy tells, or else into that of its id.
pub fn of_request(span: &Span, id: &str, method: &Method, route: &str, proxied: Option<&HeaderMap>) {
    let told = proxied.map(|headers| TraceContextPropagator::new().extract(&HeaderExtractor(headers)));
    match told.filter(|context| context.span().span_context().is_valid()) {
        Some(context) => join(span, context),
        None => of_cause(span, Some(id)),
    }
    span.set_attribute("http.request.method", method.to_string());
    span.set_attribute("http.route", route.to_owned());
    span.context().span().update_name(format!("{method} {route}"));
}

/// Says how a request was answered.
pub fn answered(span: &Span, status: u16) {
    span.set_attribute("http.response.status_code", i64::from(status));
    if status >= 500 {
        span.set_status(Status::error(""));
    }
}

/// Puts a span into the trace of the request with this id.
pub fn of_cause(span: &Span, cause: Option<&str>) {
    let Some(id) = cause.and_then(|id| uuid::Uuid::try_parse(id).ok()) else { return };
    // A trace begins with a span that is never sent, since what a request has caused may run in another process.
    let (_, first) = id.as_u64_pair();
    let ids = (TraceId::from(id.as_u128()), SpanId::from(first));
    let root = SpanContext::new(ids.0, ids.1, TraceFlags::SAMPLED, true, TraceState::default());
    join(span, Context::new().with_remote_span_context(root));
}

fn join(span: &Span, parent: Context) {
    // A span that no layer wants has no parent.
    let _ = span.set_parent(parent);
}

/// The client that sends batches: that of webhooks and providers, which waits in the thread of batches.
#[derive(Debug)]
struct Client(ureq::Agent);

impl Client {
    fn new() -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false);
        Self(config.build().new_agent())
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = self.0.run(request.map(|body| body.to_vec()))?.into_parts();
        let bytes = body.into_with_config().limit(1 << 20).read_to_vec()?;
        Ok(Response::from_parts(parts, bytes.into()))
    }
}

impl HttpClient for Client {
    fn send_bytes<'own, 'done>(
        &'own self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'done>>
    where
        'own: 'done,
        Self: 'done,
    {
        Box::pin(async move { self.send(request) })
    }
}
