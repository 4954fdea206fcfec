//! Tests the metrics for Prometheus: names and units as it expects them, numbers that are right, and nothing about
//! anyone.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, StatusCode};
use capeval_site::accounts::Role;
use capeval_site::settings::Settings;
use capeval_site::web::Scope;
use capeval_site::{args, health};
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::benchmarks::{benchmark, results};
use crate::support::process::{Server, request};
use crate::support::{Database, Site, on_both, on_sqlite, settings};

on_both! {
    metrics_say_how_much_there_is_to_do
}

on_sqlite! {
    metrics_name_nothing_that_people_create
    only_this_machine_reads_the_metrics_of_the_site
    an_address_of_its_own_has_the_metrics_and_the_site_has_none
}

/// A sample: its name, its labels and its value.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// All labels that there may be.
const LABELS: &[&str] = &[
    "database", "folder", "kind", "le", "method", "outcome", "pool", "priority", "route", "state", "status",
    "version",
];

/// Reads a sample as the format has it.
fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let labels = labels.strip_suffix('}').unwrap();
    let labels = labels.split_terminator("\",").map(|label| {
        let (name, value) = label.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
        (name.to_owned(), value.trim_end_matches('"').to_owned())
    });
    Sample { name: name.to_owned(), labels: labels.collect(), value: value.parse().unwrap_or(f64::INFINITY) }
}

/// Reads metrics, and fails where Prometheus' own linter would warn.
fn read(text: &str) -> Vec<Sample> {
    let (mut samples, mut families, mut series) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let (mut help, mut family, mut kind) = ("", "", "");
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, words) = rest.split_once(' ').unwrap();
            assert!(!words.is_empty() && families.insert(name), "{line}");
            help = name;
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            (family, kind) = rest.split_once(' ').unwrap();
            assert_eq!(family, help, "each family has help");
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(family.chars().all(is_plain), "{family}");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", family.ends_with("_total"), "{family}");
            let words: Vec<&str> = family.split('_').collect();
            for bad in [
                "counter",
                "gauge",
                "histogram",
                "summary",
                "ms",
                "sec",
                "s",
                "milliseconds",
                "minutes",
                "hours",
                "days",
                "kb",
                "mb",
                "kilobytes",
                "megabytes",
                "bits",
                "percent",
                "bucket",
                "count",
                "sum",
            ] {
                assert!(!words.contains(&bad), "{family} has {bad}");
            }
        } else {
            let sample = sample(line);
            let rest =
                sample.name.strip_prefix(family).unwrap_or_else(|| panic!("{line} is not of {family}"));
            let parts: &[&str] = if kind == "histogram" { &["_bucket", "_count", "_sum"] } else { &[""] };
            assert!(parts.contains(&rest), "{line}");
            assert_eq!(sample.labels.contains_key("le"), rest == "_bucket", "{line}");
            assert!(series.insert(line.rsplit_once(' ').unwrap().0), "{line} is there twice");
            samples.push(sample);
        }
    }
    // Buckets rise to the count.
    for count in samples.iter().filter(|sample| sample.name.ends_with("_seconds_count")) {
        let bucket = count.name.replace("_count", "_bucket");
        let is_own = |sample: &&Sample| {
            let mut labels = sample.labels.clone();
            labels.remove("le");
            sample.name == bucket && labels == count.labels
        };
        let buckets: Vec<f64> = samples.iter().filter(is_own).map(|sample| sample.value).collect();
        assert!(buckets.is_sorted() && buckets.last() == Some(&count.value), "{count:?} {buckets:?}");
    }
    samples
}

fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> f64 {
    let is_meant = |sample: &&Sample| {
        sample.name == name
            && labels.iter().all(|(name, value)| sample.labels.get(*name).is_some_and(|v| v == value))
    };
    let found: Vec<&Sample> = samples.iter().filter(is_meant).collect();
    assert_eq!(found.len(), 1, "{name} {labels:?}: {found:?}");
    found[0].value
}

async fn metrics(site: &Site) -> (String, Vec<Sample>) {
    let answer = site.anybody().get("/metrics").await.expect(200);
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let samples = read(&answer.text);
    (answer.text, samples)
}

async fn metrics_say_how_much_there_is_to_do(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method=m");
    let submit = async |text: &str| ada.send(Request::post(&path), text.to_owned()).await.status;
    assert_eq!(submit(&results(40, 5)).await, StatusCode::CREATED);
    assert_eq!(submit("[").await, StatusCode::UNPROCESSABLE_ENTITY);
    for (sent, error) in [("1", "NULL"), ("NULL", "'refused'")] {
        let sql = format!(
            "INSERT INTO outbox (id, kind, target, subject, body, attempt, run_after, created_at, sent_at, error) \
             VALUES ('m{sent}', 'mail', 'ada@example.org', '', '', 6, 1, 1, {sent}, {error})"
        );
        site.app.store.execute(sql.leak(), args![]).await.unwrap();
    }
    let (_, before) = metrics(&site).await;
    assert_eq!(value(&before, "capeval_jobs", &[("kind", "score"), ("state", "queued")]), 1.0);
    assert_eq!(value(&before, "capeval_jobs", &[("kind", "backup"), ("state", "queued")]), 0.0);
    assert!(value(&before, "capeval_job_wait_seconds", &[("priority", "awaited")]) > 0.0);
    assert_eq!(value(&before, "capeval_submissions", &[("state", "queued")]), 1.0);
    assert_eq!(value(&before, "capeval_outbox_messages", &[("state", "given-up")]), 1.0);
    assert_eq!(value(&before, "capeval_outbox_messages", &[("state", "waiting")]), 0.0);
    assert_eq!(value(&before, "capeval_database_up", &[]), 1.0);
    let route = [("method", "POST"), ("route", "/api/v1/phases/{id}/submissions")];
    let with = |status| [route[0], route[1], ("status", status)];
    assert_eq!(value(&before, "capeval_http_requests_total", &with("201")), 1.0);
    assert_eq!(value(&before, "capeval_http_requests_total", &with("422")), 1.0);
    assert_eq!(value(&before, "capeval_http_request_duration_seconds_count", &route), 2.0);
    let pool = if database == Database::Sqlite { "write" } else { "all" };
    let open = value(&before, "capeval_database_connections", &[("pool", pool), ("state", "idle")])
        + value(&before, "capeval_database_connections", &[("pool", pool), ("state", "used")]);
    assert!(open >= 1.0 && open <= value(&before, "capeval_database_connections_max", &[("pool", pool)]));
    assert_eq!(value(&before, "capeval_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), 1.0);
    #[cfg(target_os = "linux")]
    {
        let free = value(&before, "capeval_disk_free_bytes", &[("folder", "data")]);
        assert!(free > 0.0 && free < value(&before, "capeval_disk_size_bytes", &[("folder", "data")]));
        assert!(value(&before, "process_resident_memory_bytes", &[]) > 1e6);
        assert!(value(&before, "process_open_fds", &[]) > 2.0);
        let start = value(&before, "process_start_time_seconds", &[]);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
        // The uptime of the machine is known to a second.
        assert!(start <= now + 2.0 && start > now - 86_400.0, "{start} {now}");
    }
    site.work().await;
    let (_, after) = metrics(&site).await;
    assert_eq!(value(&after, "capeval_jobs", &[("kind", "score"), ("state", "queued")]), 0.0);
    assert_eq!(value(&after, "capeval_job_wait_seconds", &[("priority", "awaited")]), 0.0);
    assert_eq!(value(&after, "capeval_submissions", &[("state", "scored")]), 1.0);
    let risen = |name, labels: &[_]| value(&after, name, labels) - value(&before, name, labels);
    assert_eq!(risen("capeval_job_runs_total", &[("kind", "score"), ("outcome", "done")]), 1.0);
    assert_eq!(risen("capeval_job_duration_seconds_count", &[("kind", "score")]), 1.0);
    assert!(value(&after, "capeval_job_duration_seconds_sum", &[("kind", "score")]) > 0.0);
}

async fn metrics_name_nothing_that_people_create() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "").await;
    let ada = site.program("canary", Role::Host, Scope::Host).await;
    let browser = site.person("canary", Role::Host).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method=canary");
    ada.send(Request::post(path), results(40, 5)).await.expect(201);
    browser.post("/teams", &[("name", "canary team")]).await.expect(303);
    for path in
        ["/canary", "/b/canary", "/b/canary/p/leaderboard?sort=canary", "/join/canary", "/api/v1/canary"]
    {
        browser.get(path).await;
    }
    let before = metrics(&site).await.1.len();
    for k in 0..50 {
        let method = Method::from_bytes(format!("CANARY{k}").as_bytes()).unwrap();
        let request = || Request::builder().method(method.clone());
        browser.send(request().uri("/teams"), "").await.expect(405);
        browser.send(request().uri(format!("/canary/{k}")), "").await.expect(404);
    }
    site.work().await;
    let (text, samples) = metrics(&site).await;
    assert!(!text.to_lowercase().contains("canary") && !text.contains(&phase), "{text}");
    let labels: BTreeSet<&str> =
        samples.iter().flat_map(|sample| sample.labels.keys().map(String::as_str)).collect();
    assert!(labels.iter().all(|label| LABELS.contains(label)), "{labels:?}");
    // Two routes for all made-up methods, and the jobs that have run since then.
    assert!(samples.len() < before + 150, "{before} {}", samples.len());
}

async fn only_this_machine_reads_the_metrics_of_the_site() {
    let site = Site::new(Database::Sqlite).await;
    let ask = async |peer: &str, header: Option<(&str, &str)>| {
        let peer: SocketAddr = peer.parse().unwrap();
        let mut request = Request::get("/metrics").header("host", "localhost").extension(ConnectInfo(peer));
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let answer = site.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        answer.status().as_u16()
    };
    assert_eq!(ask("127.0.0.1:9", None).await, 200);
    assert_eq!(ask("[::1]:9", None).await, 200);
    assert_eq!(ask("[::ffff:127.0.0.1]:9", None).await, 200);
    assert_eq!(ask("203.0.113.9:9", None).await, 404);
    assert_eq!(ask("10.0.0.9:9", None).await, 404);
    for name in ["x-forwarded-for", "forwarded", "x-real-ip", "via"] {
        assert_eq!(ask("127.0.0.1:9", Some((name, "127.0.0.1"))).await, 404, "{name}");
    }
}

async fn an_address_of_its_own_has_the_metrics_and_the_site_has_none() {
    let site =
        Site::with(Settings { metrics_listen: "127.0.0.1:0".to_owned(), ..settings(Database::Sqlite) }).await;
    site.anybody().get("/metrics").await.expect(404);
    assert_eq!(site.anybody().get("/readyz").await.expect(200).text, "ready\n");
    for (path, words) in [("/metrics", "capeval_build_info{"), ("/healthz", "ok"), ("/readyz", "ready")] {
        let request =
            Request::get(path).header("x-forwarded-for", "203.0.113.9").body(Body::empty()).unwrap();
        let answer = health::router(&site.app).oneshot(request).await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains(words), "{path}");
    }
    let request = Request::get("/").body(Body::empty()).unwrap();
    assert_eq!(health::router(&site.app).oneshot(request).await.unwrap().status(), 404);
}

#[test]
fn workers_have_metrics_too() {
    let folder = tempfile::tempdir().unwrap();
    let worker = Server::worker(folder.path(), "", &[("METRICS_LISTEN", "127.0.0.1:0")]);
    let (status, text) = request(worker.port, "GET", "/metrics", "", "").unwrap();
    assert_eq!(status, 200);
    assert_eq!(value(&read(&text), "capeval_database_up", &[]), 1.0);
    assert_eq!(request(worker.port, "GET", "/healthz", "", "").unwrap().0, 200);
    assert!(worker.stop());
}
