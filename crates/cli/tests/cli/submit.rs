//! Submission of results: what is sent, what is printed, and what every refusal says. The server is a script.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::program::{Run, capeval, scratch};

/// A request: its first line, the value of headers in small letters, and its body.
pub type Request = (String, Vec<String>, Vec<u8>);

/// A server that gives each answer in turn, as a status and a body, and the requests that it got.
pub fn server(answers: Vec<(u16, Value)>) -> (String, Arc<Mutex<Vec<Request>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&requests);
    std::thread::spawn(move || {
        for (status, body) in answers {
            let (stream, _) = listener.accept().unwrap();
            let Some(request) = read(&stream) else { continue };
            kept.lock().unwrap().push(request);
            let wait =
                body["retry_after"].as_u64().map_or(String::new(), |wait| format!("retry-after: {wait}\r\n"));
            let text = if body.is_null() { "<html>".to_owned() } else { body.to_string() };
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{wait}\r\n{text}",
                text.len()
            );
            (&stream).write_all(head.as_bytes()).unwrap();
        }
    });
    (address, requests)
}

/// A request; `None` if its sender is gone before it is complete.
pub fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let length =
        lines.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    (!lines.is_empty()).then(|| (lines.remove(0), lines, body))
}

pub fn phases(is_open: bool) -> Value {
    let phase = |name: &str| {
        let set = json!({ "name": "c5", "language": "en", "tokenizer": null, "state": "ready", "images": 2,
            "references": 10, "measures": [] });
        json!({ "id": format!("id-{name}"), "benchmark": "coco", "phase": name, "title": name, "opens_at": null,
            "closes_at": null, "is_open": is_open,
            "refusal": if is_open { Value::Null } else { "This phase closed on 2026-01-01 00:00 UTC.".into() },
            "reveal_at": null, "per_day": 5, "in_total": 50, "board": "public", "decimals": 3, "metrics": ["cider"],
            "main_set": "c5", "main_metric": "cider", "reference_sets": [set] })
    };
    let phases = [phase("test"), phase("validation")];
    json!({ "benchmarks": [{ "slug": "coco", "title": "COCO", "summary": "", "phases": phases }] })
}

fn submission(state: &str) -> Value {
    let scores = json!({ "c5": { "bleu-1": 0.7, "cider": 0.9636 }, "c40": { "bleu-1": 0.87, "cider": 1 } });
    json!({ "id": "s", "phase": "id-test", "team": "T", "method": "ours", "state": state, "reason": null,
        "created_at": "2026-01-01T00:00:00Z", "finished_at": null, "ahead": null, "seconds": null,
        "disqualified": null, "scores": if state == "scored" { scores } else { Value::Null },
        "page": "http://x/submissions/s" })
}

const RESULTS: &str = r#"[{"image_id": 1, "caption": "a dog"}, {"image_id": 2, "caption": "two cats"}]"#;

fn submit(to: &str, results: &str, more: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let file = scratch(&folder, "ours.json");
    fs::write(&file, results).unwrap();
    let token: &[&str] = if more.contains(&"--token") { &[] } else { &["--token", "cev_secret"] };
    capeval(&[&["submit", &file, "--to", to, "--phase", "coco/test"], token, more].concat())
}

fn refused(answers: Vec<(u16, Value)>, words: &[&str]) {
    let (to, _) = server(answers);
    let run = submit(&to, RESULTS, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "'{word}' is not said: {}", run.stderr);
    }
    assert!(!run.stderr.contains("cev_secret"), "{}", run.stderr);
}

#[test]
fn what_a_phase_asks_about_methods_is_said_before_anything_is_sent() {
    let asking = || {
        let mut list = phases(true);
        let column = json!({ "key": "parameters", "label": "Parameters", "kind": "number", "unit": "M", "choices": [],
            "required": true });
        let other = json!({ "key": "data", "label": "Data", "kind": "choice", "unit": "", "choices": ["own", "COCO"],
            "required": false });
        list["benchmarks"][0]["phases"][0]["columns"] = json!([column, other]);
        (200, list)
    };
    for (more, words) in [
        (&[][..], "coco/test requires the columns parameters"),
        (&["--column", "parameters="], "coco/test requires the columns parameters"),
        (&["--column", "parameters=1", "--column", "size=2"], "coco/test has no column 'size'"),
        (&["--column", "parameters"], "give KEY=VALUE, such as `parameters=120`"),
    ] {
        let (to, _) = server(vec![asking()]);
        let run = submit(&to, RESULTS, more);
        assert!(run.code == 2 && run.stderr.contains(words), "{more:?}: {}", run.stderr);
        let fill_in = "pass --column KEY=VALUE to fill in: parameters (a number, M); data (own | COCO)";
        assert!(run.stderr.contains(fill_in) || words.starts_with("give KEY"), "{}", run.stderr);
    }
    let (to, requests) = server(vec![asking(), (201, submission("scored"))]);
    let run = submit(&to, RESULTS, &["--column", "parameters=120", "--column", "data=own"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let line = &requests.lock().unwrap()[1].0;
    assert!(line.contains("?method=ours&column.parameters=120&column.data=own "), "{line}");
    let (to, _) = server(vec![(200, phases(true))]);
    let run = submit(&to, RESULTS, &["--column", "parameters=1"]);
    assert!(run.stderr.contains("coco/test has no column 'parameters'"), "{}", run.stderr);
}

#[test]
fn results_are_sent_followed_and_printed() {
    let running = (200, submission("running"));
    let teams = (200, json!({ "teams": [{ "id": "S", "name": "We" }, { "id": "T", "name": "The others" }] }));
    let (to, requests) = server(vec![
        (200, phases(true)),
        teams,
        (201, submission("queued")),
        running,
        (200, submission("scored")),
    ]);
    let said = ["--authors", "A & B", "--tags", "clip,x", "--code", "https://example.org/c"];
    let run =
        submit(&to, RESULTS, &[&["--method", "Ours & more", "--team", "The others"], &said[..]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, "           c5    c40\nbleu-1  0.700  0.870\ncider   0.964  1.000\n");
    assert!(run.stderr.contains("submitted: http://x/submissions/s"), "{}", run.stderr);
    let requests = requests.lock().unwrap();
    let (line, headers, body) = &requests[2];
    assert!(
        line.starts_with(
            "POST /api/v1/phases/id-test/submissions?method=Ours%20%26%20more&authors=A%20%26%20B\
             &code=https%3A%2F%2Fexample.org%2Fc&tags=clip%2Cx&team=T "
        ),
        "{line}"
    );
    assert!(headers.iter().any(|header| header.eq_ignore_ascii_case("authorization: Bearer cev_secret")));
    assert!(headers.iter().any(|header| header.to_lowercase().starts_with("idempotency-key: ")));
    let mut text = String::new();
    GzDecoder::new(&body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        serde_json::from_str::<Value>(RESULTS).unwrap()
    );
    assert!(requests[4].0.starts_with("GET /api/v1/submissions/s "));
}

#[test]
fn a_check_hands_nothing_in_and_the_same_captions_give_the_earlier_scores() {
    let (to, requests) =
        server(vec![(200, phases(true)), (200, json!({ "is_valid": true, "problems": [] }))]);
    let run = submit(&to, RESULTS, &["--check"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "2 captions can be scored in coco/test\n"),
        "{}",
        run.stderr
    );
    assert!(requests.lock().unwrap()[1].0.starts_with("POST /api/v1/phases/id-test/validate "));
    let same = json!({ "code": "same-file", "detail": "…", "submission": submission("scored") });
    let (to, _) = server(vec![(200, phases(true)), (409, same)]);
    let run = submit(&to, RESULTS, &["-f", "json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap()["state"], "scored");
    assert!(
        run.stderr.contains("submitted before; this is the earlier submission, and nothing was counted"),
        "{}",
        run.stderr
    );
}

#[test]
fn every_refusal_is_in_words() {
    let problem = |code: &str, detail: &str| json!({ "code": code, "detail": detail, "request_id": "r7" });
    refused(vec![(401, problem("token", "x"))], &["does not know this token", "--token TOKEN", "/account"]);
    refused(vec![(200, phases(true)), (403, problem("scope", "x"))], &["the scope `submit`"]);
    refused(vec![(200, json!({ "benchmarks": [] }))], &["no phase is called 'coco/test'", "no benchmark"]);
    refused(
        vec![(200, phases(false))],
        &["coco/test takes no submissions now: This phase closed on 2026-01-01 00:00 UTC"],
    );
    refused(vec![(200, phases(true)), (404, problem("not-found", "x"))], &["no such phase"]);
    refused(
        vec![(200, phases(true)), (413, problem("too-large", "The file is larger than 64 MiB."))],
        &["64 MiB"],
    );
    let report = json!({ "problems": [{ "kind": "unknown", "count": 1, "first": ["9"] }] });
    let invalid = json!({ "code": "invalid", "detail": "x", "report": report });
    let words = ["1 captions are of images that are not in this phase: 9", "nothing was counted"];
    refused(vec![(200, phases(true)), (422, invalid)], &words);
    let mut used = problem("day-used", "Your team has used its 5 submissions of today.");
    used["retry_after"] = 7_300.into();
    refused(
        vec![(200, phases(true)), (429, used)],
        &["5 submissions of today", "try again in 2 hours and 1 minute"],
    );
    refused(vec![(500, problem("internal", "x"))], &["the server failed", "r7"]);
    refused(vec![(502, Value::Null)], &["is not working at the moment (status 502)"]);
    refused(vec![(200, Value::Null)], &["is not an evaluation server", "--to URL"]);
    let (mut failed, answer) = (submission("failed"), (201, submission("queued")));
    failed["reason"] = "the disk is full".into();
    let (to, _) = server(vec![(200, phases(true)), answer, (200, failed)]);
    let run = submit(&to, RESULTS, &[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("the submission was failed: the disk is full"), "{}", run.stderr);
}

#[test]
fn files_are_checked_and_addresses_and_networks_have_words() {
    let (to, requests) = server(vec![(200, phases(true)), (200, phases(true))]);
    let twice = r#"[{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}]"#;
    let empty = r#"[{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": " "}]"#;
    let few = r#"[{"image_id": 1, "caption": "a"}]"#;
    for (results, words) in [
        (twice, "1 images have several captions: 1"),
        (empty, "1 captions are empty: 2"),
        (few, "there are 1 captions, but coco/test has 2 images"),
        ("[", "ours.json"),
    ] {
        let run = submit(&to, results, &[]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    assert_eq!(
        requests.lock().unwrap().len(),
        1,
        "only the last file that could be read was worth a question"
    );
    let run = submit("captions.example.org", RESULTS, &[]);
    assert!(run.stderr.contains("is not the address of a server"), "{}", run.stderr);
    // No system gives out port 1 to those who take any.
    let run = submit("http://127.0.0.1:1", RESULTS, &[]);
    assert!(run.stderr.contains("connection refused"), "{}", run.stderr);
    let run = submit("https://no-such-host.invalid", RESULTS, &[]);
    assert!(run.stderr.contains("cannot reach https://no-such-host.invalid: "), "{}", run.stderr);
    let (plain, _) = server(vec![(200, phases(true)); 3]);
    let run = submit(&plain.replace("http:", "https:"), RESULTS, &[]);
    assert!(run.stderr.contains("cannot reach") && run.code == 2, "{}", run.stderr);
    let run = submit(&to, RESULTS, &["--token", ""]);
    assert!(run.stderr.contains("there is no token"), "{}", run.stderr);
}
