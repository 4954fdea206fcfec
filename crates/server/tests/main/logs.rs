//! Tests the log: each line names its request or job, and no secret, address or caption.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_site::web::Scope;
use capeval_testkit::eventually;
use serde_json::Value;

use crate::benchmarks::{benchmark, references, results};
use crate::support::process::{Server, command, exchange, request};
use crate::support::{Database, Site, on_both, on_sqlite, settings};

on_both! {
    a_job_knows_the_request_that_caused_it
}

on_sqlite! {
    a_page_of_a_failure_names_the_request
    only_listed_proxies_name_requests
}

pub const PLAN: &str = "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu']\nmain_metric = 'bleu-4'\n\
    human = false\n[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

async fn a_job_knows_the_request_that_caused_it(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method=m");
    let answer = ada.send(Request::post(path), results(40, 5)).await.expect(201);
    let cause = answer.header("x-request-id").to_owned();
    let of_cause = async || -> Vec<(String, String)> {
        let sql = "SELECT kind, subject FROM job WHERE cause = $1 ORDER BY id";
        site.app.store.fetch(sql, args![&cause]).await.unwrap()
    };
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(of_cause().await, [("score".to_owned(), id.clone())]);
    site.work().await;
    // What a job adds has the same cause.
    assert_eq!(of_cause().await.len(), 2);
    // What no request caused has none: the benchmark was applied by a command.
    let none: i64 =
        site.app.store.fetch_one("SELECT COUNT(*) FROM job WHERE cause IS NULL", args![]).await.unwrap();
    assert!(none > 0);
}

async fn a_page_of_a_failure_names_the_request() {
    let site = Site::new(Database::Sqlite).await;
    let ada = site.person("Ada", Role::Member).await;
    let lost = ada.get("/nowhere").await.expect(404);
    assert!(!lost.text.contains("this number"));
    site.app.store.execute("DROP TABLE team_member", args![]).await.unwrap();
    let page = ada.get("/teams").await.expect(500);
    let id = page.header("x-request-id");
    assert!(page.text.contains(&format!("tell the host this number: <code>{id}</code>")), "{}", page.text);
}

async fn only_listed_proxies_name_requests() {
    let trusting = Settings { proxies: vec!["127.0.0.0/8".to_owned()], ..settings(Database::Sqlite) };
    let (trusting, other) = (Site::with(trusting).await, Site::new(Database::Sqlite).await);
    let long = "x".repeat(65);
    let ask = async |site: &Site, id: &str| {
        let answer = site.anybody().send(Request::get("/healthz").header("x-request-id", id), "").await;
        answer.header("x-request-id") == id
    };
    for known in ["6f1e2b3c4d5e6f708192a3b4c5d6e7f8", "0197f1c2-5a4b-7c3d-8e9f-0a1b2c3d4e5f"] {
        assert!(ask(&trusting, known).await && !ask(&other, known).await, "{known}");
    }
    for wrong in ["short", "with a space in it, and more", "<script>alert(1)</script>", &long] {
        assert!(!ask(&trusting, wrong).await, "{wrong}");
    }
}

/// A mail server that knows no one, and says so with the address.
fn refusing_mail_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.write_all(b"220 here\r\n").unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while let Some(Ok(line)) = lines.next() {
                let answer = match line.strip_prefix("RCPT TO:") {
                    Some(address) => format!("550 no mailbox {address} here\r\n"),
                    None => "250 yes\r\n".to_owned(),
                };
                if stream.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
    port
}

fn lines(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn every_line_names_its_request_or_its_job_and_none_has_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("c5.json"), references(20, 5).replace("near", "canaryreference near")).unwrap();
    let plan = path.join("plan.toml");
    std::fs::write(&plan, PLAN).unwrap();
    command(path, "", &["admin", "benchmark", "apply", &plan.display().to_string()], "");
    let add = ["admin", "user", "add", "--email", "canaryperson@example.org", "--password-stdin"];
    command(path, "", &add, "a canarysecret password\n");
    let create = ["admin", "token", "create", "--email", "canaryperson@example.org", "--scope", "submit"];
    let token = command(path, "", &create, "");
    let log = path.join("log");
    let smtp = format!("smtp://canaryname:canaryword@127.0.0.1:{}", refusing_mail_server());
    let settings = [
        ("LOG", "debug"),
        ("LOG_JSON", "true"),
        ("SMTP", smtp.as_str()),
        ("MAIL_FROM", "site@example.org"),
        ("REGISTRATION", "open"),
        ("PROXIES", "['127.0.0.1']"),
    ];
    let server = Server::start_with_log(path, "", &settings, File::create(&log).unwrap().into());
    let phase = eventually("the phase opens", || {
        let (_, body) = server.request("GET", "/api/v1/benchmarks", "", "").unwrap();
        let list: Value = serde_json::from_str(&body).unwrap();
        let phase = &list["benchmarks"][0]["phases"][0];
        (phase["is_open"] == true).then(|| phase["id"].as_str().unwrap().to_owned())
    });
    let id = "0197f1c25a4b7c3d8e9f0a1b2c3d4e5f";
    let head = format!(
        "Authorization: Bearer {token}\r\nX-Request-Id: {id}\r\nX-Forwarded-For: 198.51.100.77\r\nContent-Type: application/json\r\n"
    );
    let submit = format!("/api/v1/phases/{phase}/submissions?method=canarymethod");
    let body = results(20, 5).replace("near", "canarycaption near");
    let (status, answer) = exchange(server.port, "POST", &submit, &head, body.as_bytes()).unwrap();
    assert_eq!(status, 201, "{answer}");
    let bad = results(20, 5).replace("near", "canarycaption near").replacen(
        "\"image_id\": 1,",
        "\"image_id\": \"canaryid\",",
        1,
    );
    request(server.port, "POST", &submit, &token, &bad).unwrap();
    request(server.port, "GET", "/join/canarylink", "", "").unwrap();
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    for (path, body) in [
        ("/sign-in", "email=canaryperson%40example.org&password=a+canarysecret+password"),
        ("/forgotten", "email=canaryperson%40example.org"),
        ("/register", "email=canaryother%40example.org&name=canary&password=another+canarysecret"),
    ] {
        let (status, answer) = exchange(server.port, "POST", path, form, body.as_bytes()).unwrap();
        assert!(status < 400, "{path}: {answer}");
    }
    let wrong = "email=canaryperson%40example.org&password=another+canarysecret";
    assert_eq!(exchange(server.port, "POST", "/sign-in", form, wrong.as_bytes()).unwrap().0, 401);
    let is_of = |line: &Value, name: &str| line["span"]["name"] == name;
    eventually("the submission is scored and mail is refused", || {
        let lines = lines_so_far(&log);
        let ended = |kind: &str| {
            lines.iter().any(|line| {
                is_of(line, "job") && line["span"]["kind"] == kind && line["fields"]["outcome"].is_string()
            })
        };
        (ended("score") && ended("send")).then_some(())
    });
    assert!(server.stop());
    let lines = lines(&log);
    let of_request: Vec<&Value> =
        lines.iter().filter(|line| is_of(line, "request") && line["span"]["id"] == id).collect();
    let last = of_request.last().unwrap();
    assert_eq!(
        (&last["fields"]["status"], &last["span"]["method"]),
        (&Value::from(201), &Value::from("POST"))
    );
    assert_eq!(last["span"]["route"], "/api/v1/phases/{id}/submissions");
    // Who it was is an id, which a deletion leaves without a name.
    let account = &last["span"]["account"];
    assert!(account.is_string(), "{last}");
    for said in ["someone has signed in", "a password is wrong"] {
        let line = lines.iter().find(|line| line["fields"]["message"] == said);
        assert_eq!(&line.unwrap_or_else(|| panic!("no line says: {said}"))["fields"]["account"], account);
    }
    let jobs: Vec<&Value> =
        lines.iter().filter(|line| is_of(line, "job") && line["span"]["cause"] == id).collect();
    assert!(
        jobs.iter().any(|line| line["span"]["kind"] == "score" && line["fields"]["outcome"] == "done"),
        "{jobs:?}"
    );
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("/join/{secret}"), "the log has requests");
    assert!(!text.contains(&token) && !text.contains("198.51.100.77"));
    assert!(
        !text.to_lowercase().contains("canary"),
        "{:?}",
        text.lines().find(|line| line.contains("canary"))
    );
}

/// The lines that are whole so far.
fn lines_so_far(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
