//! A machine of hosts: it claims submissions, scores them by any metric, and keeps within limits when it is killed.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use capeval_testkit::chat::{Chat, Reply};
use capeval_testkit::eventually;
use serde_json::{Value, json};

use crate::program::{capeval_in, scratch, start};
use crate::submit::{phases, read};

const IMAGES: usize = 8;

/// The number of times that a machine is killed.
const KILLS: usize = 20;

/// A site with submissions that wait, which each claim takes from the one before.
struct Site {
    address: String,
    tasks: Arc<Mutex<Vec<Task>>>,
}

struct Task {
    captions: Value,
    attempt: usize,
    scores: Option<Value>,
}

impl Site {
    fn new(measure: &'static str, files: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let new = |captions| Task { captions, attempt: 0, scores: None };
        let tasks = Arc::new(Mutex::new(files.into_iter().map(new).collect::<Vec<_>>()));
        let kept = Arc::clone(&tasks);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(&stream, measure, &mut kept.lock().unwrap());
            }
        });
        Self { address, tasks }
    }

    fn scores(&self) -> Vec<Value> {
        self.tasks.lock().unwrap().iter().map(|task| task.scores.clone().unwrap_or_default()).collect()
    }
}

/// Answers a request of a machine, which may be gone.
fn answer(mut stream: &TcpStream, measure: &str, tasks: &mut [Task]) {
    let Some((line, headers, body)) = read(stream) else { return };
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    if target.starts_with("/api/v1/host") {
        assert!(headers.iter().any(|line| line == "authorization: Bearer cev_x"), "{headers:?}");
    }
    let parts: Vec<&str> = target.split('/').collect();
    let (status, body) = match parts[..] {
        ["", "api", "v1", "benchmarks"] => (200, phases(true)),
        ["", "api", "v1", "host", "phases", "id-test", "claims"] => {
            match tasks.iter_mut().enumerate().find(|(_, task)| task.scores.is_none()) {
                None => (204, Value::Null),
                Some((k, task)) => {
                    task.attempt += 1;
                    let claim = format!("{k}.{}", task.attempt);
                    let captions = format!("http://x/api/v1/host/claims/{claim}/captions");
                    let claim = json!({ "claim": claim, "submission": format!("s{k}"), "attempt": task.attempt,
                        "expires_at": "2026-01-01T00:00:00Z", "captions": captions, "measures": [measure] });
                    (201, claim)
                }
            }
        }
        ["", "api", "v1", "host", "claims", claim, what] => {
            let (k, attempt) = claim.split_once('.').unwrap();
            let task = &mut tasks[k.parse::<usize>().unwrap()];
            match what {
                "captions" => (200, task.captions.clone()),
                _ if attempt == task.attempt.to_string() && task.scores.is_none() => {
                    task.scores = serde_json::from_slice(&body).ok();
                    (204, Value::Null)
                }
                _ => (409, json!({ "code": "claim-ended", "detail": "This claim has ended." })),
            }
        }
        _ => (404, Value::Null),
    };
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", text.len());
    let _ = stream.write_all((head + &text).as_bytes());
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let references: Value =
            (0..IMAGES).map(|k| (k.to_string(), json!([format!("a dog runs {k}"), "one dog"]))).collect();
        fs::write(place.path("refs.json"), references.to_string()).unwrap();
        place
    }

    fn path(&self, name: &str) -> String {
        scratch(&self.0, name)
    }

    fn args(&self, site: &Site, more: &[&str]) -> Vec<String> {
        let refs = self.path("refs.json");
        let args = ["work", "--to", &site.address, "--phase", "coco/test", "--token", "cev_x", "-r", &refs];
        [&args[..], more].concat().into_iter().map(str::to_owned).collect()
    }

    fn run(&self, args: &[String]) -> (i32, String, String) {
        capeval_in(self.0.path(), &args.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// The captions of a submission.
fn captions(number: usize) -> Value {
    (0..IMAGES)
        .map(|k| json!({ "image_id": k.to_string(), "caption": format!("a dog {} runs {number}", "x".repeat(k + number)) }))
        .collect()
}

fn grading() -> Chat {
    Chat::new(|request, _| Reply::says(&format!("{{\"score\": {}}}", request.asked().len() % 11)))
}

#[test]
fn a_machine_scores_by_any_metric() {
    let place = Place::new();
    let site = Site::new("rouge-l", (0..3).map(captions).collect());
    let (code, stdout, stderr) = place.run(&place.args(&site, &["-m", "rouge-l,bleu", "--once"]));
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    for k in 0..3 {
        assert!(stderr.contains(&format!("scored: s{k}")), "{stderr}");
        let (refs, own) = (place.path("refs.json"), place.path("own.json"));
        fs::write(&own, captions(k).to_string()).unwrap();
        let args =
            ["score", "-r", &refs, &own, "-m", "rouge-l", "--ids", "text", "-f", "json"].map(str::to_owned);
        let report: Value = serde_json::from_str(&place.run(&args).1).unwrap();
        let given = &site.scores()[k];
        assert_eq!(given["scores"]["rouge-l"], report["systems"][0]["scores"]["rouge-l"], "{report}");
        assert_eq!(given["images"].as_object().unwrap().len(), IMAGES);
        let version = given["version"].as_str().unwrap();
        assert!(version.contains("rouge-l;") && !version.contains('|'), "{version}");
    }
    // What no metric has is said, and the submission waits.
    let site = Site::new("judge", vec![captions(0)]);
    let (code, _, stderr) = place.run(&place.args(&site, &["-m", "rouge-l", "--once"]));
    assert_eq!((code, site.scores()), (2, vec![Value::Null]));
    assert!(stderr.contains("the phase declares judge, and the metrics have rouge-l"), "{stderr}");
}

#[test]
fn a_judge_that_is_killed_asks_little_again_and_keeps_within_its_limits() {
    const FILES: usize = 5;
    let (place, chat) = (Place::new(), grading());
    let site = Site::new("judge", (0..FILES).map(captions).collect());
    let judgements = place.path("judgements.jsonl");
    let n = (IMAGES * FILES).to_string();
    let judging =
        ["-m", "judge", "--endpoint", chat.address(), "--judge-model", "tiny", "--judgements", &judgements];
    let limits = ["--requests-at-once", "1", "--max-requests", &n, "--yes", "--once"];
    let args = place.args(&site, &[&judging[..], &limits].concat());
    let mut kills = 0;
    for round in 0..KILLS {
        let seen = chat.requests().len();
        let mut child = start(place.0.path(), &args);
        // It is killed once it has asked something, or has nothing left to ask.
        eventually("a machine asks, or ends", || {
            let asks = chat.requests().len() > seen + round % 2;
            (asks || child.try_wait().unwrap().is_some()).then_some(())
        });
        kills += usize::from(child.kill().is_ok());
        child.wait().unwrap();
    }
    let (code, _, stderr) = place.run(&args);
    assert_eq!(code, 0, "{stderr}");
    // As one run that was never disturbed.
    let undisturbed = Site::new("judge", (0..FILES).map(captions).collect());
    let other = ["-m", "judge", "--endpoint", chat.address(), "--judge-model", "tiny", "--yes", "--once"];
    let before = chat.requests().len();
    let other =
        place.args(&undisturbed, &[&other[..], &["--judgements", &place.path("other.jsonl")]].concat());
    assert_eq!(place.run(&other).0, 0);
    let values = |site: &Site| -> Vec<Value> {
        site.scores().into_iter().map(|given| json!([given["scores"], given["images"]])).collect()
    };
    assert_eq!(values(&site), values(&undisturbed));
    let text = fs::read_to_string(&judgements).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let questions: HashSet<String> = lines.iter().map(|line| line["question"].to_string()).collect();
    assert_eq!((lines.len(), questions.len()), (IMAGES * FILES, IMAGES * FILES));
    assert!(before <= IMAGES * FILES + kills, "{before} requests with {kills} kills");

    // Scoring again asks nothing, and one more submission is beyond the limit, so it waits.
    let again = Site::new("judge", (0..FILES).map(captions).collect());
    let args = place.args(&again, &[&judging[..], &limits].concat());
    let asked = chat.requests().len();
    assert_eq!((place.run(&args).0, chat.requests().len()), (0, asked));
    assert_eq!(values(&again), values(&site));
    let more = Site::new("judge", vec![captions(FILES)]);
    let (code, _, stderr) = place.run(&place.args(&more, &[&judging[..], &limits].concat()));
    assert_eq!((code, more.scores(), chat.requests().len()), (2, vec![Value::Null], asked));
    assert!(stderr.contains(&format!("the limit of {n} is reached")), "{stderr}");
}

#[test]
fn the_cost_is_told_before_a_phase_opens() {
    let (place, chat) = (Place::new(), grading());
    let site = Site::new("judge", Vec::new());
    let judgements = place.path("judgements.jsonl");
    let judging = ["--endpoint", chat.address(), "--judge-model", "tiny", "--judgements", &judgements];
    let args = place.args(&site, &[&["-m", "judge,rouge-l", "--estimate", "200"][..], &judging].concat());
    let (code, stdout, stderr) = place.run(&args);
    assert_eq!((code, chat.requests().len()), (0, 0), "{stderr}");
    let said = "200 submissions: judge asks tiny at 127.0.0.1 1,600 questions, at most about";
    assert!(stdout.starts_with(said), "{stdout}");
    let (code, _, stderr) = place.run(&place.args(&site, &["-m", "rouge-l", "--estimate", "200"]));
    assert!(code == 2 && stderr.contains("the metrics ask no one"), "{stderr}");
}
