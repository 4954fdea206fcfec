//! A site and a worker on two machines share a database and a bucket; no machine needs the folder of another.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use capeval_server::FEATURES;
use capeval_site::app::App;
use capeval_site::blobs::Blobs;
use capeval_site::bucket::Bucket;
use capeval_site::clock;
use capeval_site::settings::Settings;
use capeval_testkit::eventually;
use serde_json::Value;

use crate::benchmarks::{references, results};
use crate::support::postgres;
use crate::support::process::{Server, request};

/// The objects of a service of the kind, with the times at which they came.
type Objects = Arc<Mutex<BTreeMap<String, (Bytes, i64)>>>;

/// A service that speaks as much S3 as the library asks for.
async fn service(objects: Objects) -> u16 {
    let answer = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
        let objects = Arc::clone(&objects);
        async move { answer(&objects, &method, &uri, &headers, body) }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = Router::new().fallback(answer).layer(axum::extract::DefaultBodyLimit::disable());
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

fn answer(objects: &Objects, method: &Method, uri: &Uri, headers: &HeaderMap, body: Bytes) -> Response {
    let is_signed = headers
        .get("authorization")
        .is_some_and(|value| value.to_str().unwrap().starts_with("AWS4-HMAC-SHA256 Credential=tester/"));
    if !is_signed {
        return StatusCode::FORBIDDEN.into_response();
    }
    let query = uri.query().unwrap_or("");
    let asked = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)).map(str::to_owned);
    let key = uri.path().strip_prefix("/bucket").unwrap().trim_start_matches('/').to_owned();
    let mut objects = objects.lock().unwrap();
    match *method {
        Method::POST if asked("uploads").is_some() => {
            format!("<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>{key}</Key><UploadId>{key}</UploadId></InitiateMultipartUploadResult>").into_response()
        }
        Method::PUT if asked("partNumber=").is_some() => {
            let number: u32 = asked("partNumber=").unwrap().parse().unwrap();
            objects.insert(format!("part {key} {number:05}"), (body, 0));
            [("etag", "\"part\"")].into_response()
        }
        Method::POST if asked("uploadId=").is_some() => {
            let parts: Vec<String> =
                objects.keys().filter(|part| part.starts_with(&format!("part {key} "))).cloned().collect();
            assert!(parts.len() > 1, "{parts:?}");
            let whole: Vec<u8> = parts.iter().flat_map(|part| objects.remove(part).unwrap().0).collect();
            objects.insert(key.clone(), (whole.into(), clock::now()));
            format!("<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>{key}</Key><ETag>\"x\"</ETag></CompleteMultipartUploadResult>").into_response()
        }
        Method::POST if query.starts_with("delete") => {
            let order = String::from_utf8(body.to_vec()).unwrap();
            for gone in order.split("<Key>").skip(1) {
                objects.remove(gone.split_once("</Key>").unwrap().0);
            }
            "<DeleteResult></DeleteResult>".into_response()
        }
        Method::PUT => {
            objects.insert(key, (body, clock::now()));
            [("etag", "\"x\"")].into_response()
        }
        Method::DELETE => {
            objects.remove(&key);
            StatusCode::NO_CONTENT.into_response()
        }
        _ if key.is_empty() => {
            let prefix = asked("prefix=").unwrap().replace("%2F", "/");
            let listed: String = objects
                .iter()
                .filter(|(key, _)| key.starts_with(&prefix))
                .map(|(key, (content, time))| {
                    format!(
                        "<Contents><Key>{key}</Key><LastModified>{}</LastModified><ETag>\"x\"</ETag><Size>{}</Size></Contents>",
                        clock::iso(*time),
                        content.len()
                    )
                })
                .collect();
            format!("<ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>").into_response()
        }
        _ => match objects.get(&key) {
            None => StatusCode::NOT_FOUND.into_response(),
            Some((content, time)) => {
                let seconds = *time / 1000;
                let days = seconds / 86_400;
                // 1970 began on a Thursday.
                let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
                let iso = clock::iso(*time);
                let months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
                let month = months.split(' ').nth(iso[5..7].parse::<usize>().unwrap() - 1).unwrap();
                let date = format!("{weekday}, {} {month} {} {} GMT", &iso[8..10], &iso[..4], &iso[11..19]);
                ([("etag", "\"x\"".to_owned()), ("last-modified", date)], content.clone()).into_response()
            }
        },
    }
}

const BUCKET: &str = "s3://bucket/captions";

fn environment(port: u16) -> Vec<(String, String)> {
    let address = format!("http://127.0.0.1:{port}");
    [
        ("AWS_ACCESS_KEY_ID", "tester"),
        ("AWS_SECRET_ACCESS_KEY", "a secret"),
        ("AWS_REGION", "here"),
        ("AWS_ENDPOINT", &address),
        ("AWS_ALLOW_HTTP", "true"),
        ("CAPEVAL_SERVER_BUCKET", BUCKET),
        ("CAPEVAL_SERVER_LOG", "error"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// A machine with a folder of its own.
struct Machine {
    folder: tempfile::TempDir,
    database: String,
    environment: Vec<(String, String)>,
}

impl Machine {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_capeval-server"));
        command.arg("--data").arg(self.folder.path()).args(["--database", &self.database]);
        command.envs(self.environment.clone()).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let (said, wrong) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{arguments:?}: {said} {wrong}");
        said.trim().to_owned()
    }
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn machines_share_files_through_a_bucket() {
    if !postgres::is_here() {
        return;
    }
    let objects = Objects::default();
    let environment = environment(service(Arc::clone(&objects)).await);
    let database = postgres::empty_database();
    let tried = tokio::task::spawn_blocking(move || share(&environment, &database)).await;
    tried.unwrap();
    let objects = objects.lock().unwrap();
    let hidden = objects.keys().filter(|key| key.starts_with("captions/hidden/")).count();
    let visible = objects.keys().filter(|key| key.starts_with("captions/blobs/")).count();
    // The references as given, prepared, and their ids; the captions of the entry.
    assert_eq!((hidden, visible, objects.len()), (3, 1, 4), "{:?}", objects.keys());
}

fn share(environment: &[(String, String)], database: &str) {
    let machine = || Machine {
        folder: tempfile::tempdir().unwrap(),
        database: database.to_owned(),
        environment: environment.to_vec(),
    };
    let (site, worker, third) = (machine(), machine(), machine());
    let plan = site.folder.path().join("plan.toml");
    std::fs::write(site.folder.path().join("c5.json"), references(20, 5)).unwrap();
    std::fs::write(
        &plan,
        "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu', 'cider-d']\nhuman = false\n\
         per_day = 9\nin_total = 9\n[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n",
    )
    .unwrap();
    site.run(&["admin", "benchmark", "apply", &plan.display().to_string()]);
    let mut add = site.command(&["admin", "user", "add", "--email", "ada@example.org", "--password-stdin"]);
    let mut child = add.stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"a long password\n").unwrap();
    assert!(child.wait().unwrap().success());
    let token = site.run(&["admin", "token", "create", "--email", "ada@example.org", "--scope", "submit"]);

    let _worker = Process(worker.command(&["worker"]).spawn().unwrap());
    let serve = |machine: &Machine| {
        let mut settings: Vec<(&str, &str)> = vec![("WORKERS", "0")];
        settings.extend(machine.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        Server::start(machine.folder.path(), database, &settings)
    };
    let server = serve(&site);
    let phase = eventually("the phase opens", || {
        let (_, body) = server.request("GET", "/api/v1/benchmarks", "", "").unwrap();
        let list: Value = serde_json::from_str(&body).unwrap();
        let phase = &list["benchmarks"][0]["phases"][0];
        (phase["is_open"] == true).then(|| phase["id"].as_str().unwrap().to_owned())
    });
    let path = format!("/api/v1/phases/{phase}/submissions?method=m");
    let (status, body) = request(server.port, "POST", &path, &token, &results(20, 5)).unwrap();
    assert_eq!(status, 201, "{body}");
    let made: Value = serde_json::from_str(&body).unwrap();
    let path = format!("/api/v1/submissions/{}", made["id"].as_str().unwrap());
    eventually("the submission is scored", || {
        let (_, body) = server.request("GET", &path, &token, "").unwrap();
        let submission: Value = serde_json::from_str(&body).unwrap();
        assert_ne!(submission["state"], "failed", "{body}");
        (submission["state"] == "scored").then_some(())
    });
    drop(server);

    // A machine that has seen nothing yet checks an upload by the ids in the bucket, and finds every file.
    let server = serve(&third);
    let path = format!("/api/v1/phases/{phase}/validate");
    let (status, body) = request(server.port, "POST", &path, &token, &results(20, 5)).unwrap();
    assert!(status == 200 && body.contains("\"is_valid\":true"), "{status} {body}");
    let found = third.command(&["doctor"]).output().unwrap();
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(found.contains("4 referenced, none missing"), "{found}");
    let backup = third.folder.path().join("backup");
    third.run(&["backup", &backup.display().to_string()]);
    let said = third.run(&["restore", "--verify", &backup.display().to_string()]);
    assert!(said.starts_with("complete: "), "{said}");
}

/// An address without a bucket is refused. Only the library's own process can try it: it takes its secrets from the
/// environment, which this test cannot set.
#[tokio::test]
async fn an_address_that_is_none_is_refused() {
    let error = Bucket::open("https://bucket").unwrap_err().to_string();
    assert_eq!(error, "bucket begins with s3://");
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { bucket: "bucket".to_owned(), ..Settings::default() };
    assert!(Blobs::of_site(Path::new(folder.path()), &settings).is_err());
    assert!(App::open(folder.path().to_owned(), settings, FEATURES).await.is_err());
}
