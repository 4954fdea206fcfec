//! Counts the work of this process since its start, for those who watch it.

use std::time::Duration;

use axum::http::Method;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Names and values of labels. None of them is of a person or of a thing that people create, so series stay few.
pub type Labels = Vec<(&'static str, String)>;

type Histograms = Family<Labels, Histogram, fn() -> Histogram>;

/// The counts of this process since its start.
pub struct Counts {
    requests: Family<Labels, Counter>,
    request_seconds: Histograms,
    jobs: Family<Labels, Counter>,
    job_seconds: Histograms,
}

impl Default for Counts {
    fn default() -> Self {
        let of_requests =
            || Histogram::new([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0]);
        let of_jobs = || Histogram::new([0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0]);
        Self {
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(of_requests),
            jobs: Family::default(),
            job_seconds: Family::new_with_constructor(of_jobs),
        }
    }
}

impl Counts {
    /// Counts a request that was answered.
    pub fn request(&self, method: &Method, route: &str, status: u16, took: Duration) {
        // Anyone can make up a method.
        let known = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS];
        let method = known.iter().find(|known| *known == method).map_or("other", Method::as_str);
        let mut labels = vec![("method", method.to_owned()), ("route", route.to_owned())];
        self.request_seconds.get_or_create(&labels).observe(took.as_secs_f64());
        labels.push(("status", status.to_string()));
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts a run of a job.
    pub fn job(&self, kind: &str, outcome: &str, took: Duration) {
        let mut labels = vec![("kind", kind.to_owned())];
        self.job_seconds.get_or_create(&labels).observe(took.as_secs_f64());
        labels.push(("outcome", outcome.to_owned()));
        self.jobs.get_or_create(&labels).inc();
    }

    /// Adds them to what is shown.
    pub fn register(&self, registry: &mut Registry) {
        let seconds = Unit::Seconds;
        registry.register("http_requests", "Requests that were answered", self.requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time until the answer to a request began",
            seconds.clone(),
            self.request_seconds.clone(),
        );
        registry.register("job_runs", "Runs of jobs that have ended", self.jobs.clone());
        registry.register_with_unit(
            "job_duration",
            "Time of a run of a job",
            seconds,
            self.job_seconds.clone(),
        );
    }
}
