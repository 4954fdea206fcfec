//! Traces of requests and jobs, as a collector receives them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use capeval_testkit::eventually;
use serde_json::Value;

use crate::benchmarks::{references, results};
use crate::logs::PLAN;
use crate::support::process::{Server, command, exchange};

/// The bytes that a collector has received.
#[derive(Clone, Default)]
struct ReceivedBytes(Arc<Mutex<Vec<u8>>>);

impl ReceivedBytes {
    /// Starts a collector, and returns its port.
    fn listen(&self) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let received = received.clone();
                std::thread::spawn(move || received.serve(stream.unwrap()));
            }
        });
        port
    }

    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        loop {
            let (mut line, mut length) = (String::new(), 0);
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            assert_eq!(line.trim_end(), "POST /v1/traces HTTP/1.1");
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).ok()?;
                let Some((name, value)) = header.trim_end().split_once(": ") else { break };
                if name.eq_ignore_ascii_case("content-length") {
                    length = value.parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            self.0.lock().unwrap().extend(body);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
        }
    }

    /// The number of times that it has received these bytes.
    fn count(&self, bytes: &[u8]) -> usize {
        self.0.lock().unwrap().windows(bytes.len()).filter(|window| *window == bytes).count()
    }
}

/// A site with a benchmark and a person, and the person's token.
fn prepare(path: &Path) -> String {
    std::fs::write(path.join("c5.json"), references(20, 5).replace("near", "canaryreference near")).unwrap();
    let plan = path.join("plan.toml");
    std::fs::write(&plan, PLAN).unwrap();
    command(path, "", &["admin", "benchmark", "apply", &plan.display().to_string()], "");
    let add = ["admin", "user", "add", "--email", "canaryperson@example.org", "--password-stdin"];
    command(path, "", &add, "a canarysecret password\n");
    let create = ["admin", "token", "create", "--email", "canaryperson@example.org", "--scope", "submit"];
    command(path, "", &create, "")
}

fn submit(server: &Server, token: &str, more: &str) {
    let phase = eventually("the phase opens", || {
        let (_, body) = server.request("GET", "/api/v1/benchmarks", "", "").unwrap();
        let list: Value = serde_json::from_str(&body).unwrap();
        let phase = &list["benchmarks"][0]["phases"][0];
        (phase["is_open"] == true).then(|| phase["id"].as_str().unwrap().to_owned())
    });
    let head = format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n{more}");
    let path = format!("/api/v1/phases/{phase}/submissions?method=canarymethod");
    let body = results(20, 5).replace("near", "canarycaption near");
    let (status, answer) = exchange(server.port, "POST", &path, &head, body.as_bytes()).unwrap();
    assert_eq!(status, 201, "{answer}");
}

#[test]
fn a_request_and_what_it_causes_are_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let token = prepare(folder.path());
    let received = ReceivedBytes::default();
    let collector = format!("http://127.0.0.1:{}/", received.listen());
    let settings = [("TRACES", collector.as_str()), ("PROXIES", "['127.0.0.1']")];
    let server = Server::start(folder.path(), "", &settings);
    let id = uuid::Uuid::try_parse("0197f1c25a4b7c3d8e9f0a1b2c3d4e5f").unwrap();
    submit(&server, &token, &format!("X-Request-Id: {}\r\n", id.simple()));
    let told = "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
    exchange(server.port, "GET", "/teams/join/canarylink", told, b"").unwrap();
    eventually("the submission is scored", || server.is_idle().then_some(()));
    // What was not sent yet is sent at the end.
    assert!(server.stop());
    assert!(received.count(b"POST /api/v1/phases/{id}/submissions") > 0);
    // The request, the job that scores, and its child.
    assert!(received.count(id.as_bytes()) >= 3, "{}", received.count(id.as_bytes()));
    for name in ["capeval-server", "child", "Score", "http.response.status_code"] {
        assert!(received.count(name.as_bytes()) > 0, "{name}");
    }
    let caller = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes();
    assert!(received.count(&caller) > 0 && received.count(&0x00f0_67aa_0ba9_02b7_u64.to_be_bytes()) > 0);
    assert_eq!(received.count(b"canary") + received.count(token.as_bytes()), 0);
}

#[test]
fn only_listed_proxies_tell_traces() {
    let folder = tempfile::tempdir().unwrap();
    let received = ReceivedBytes::default();
    let collector = format!("http://127.0.0.1:{}", received.listen());
    let server = Server::start(folder.path(), "", &[("TRACES", &collector)]);
    let told = "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
    exchange(server.port, "GET", "/healthz", told, b"").unwrap();
    assert!(server.stop());
    assert!(received.count(b"GET /healthz") > 0);
    assert_eq!(received.count(&0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes()), 0);
}

#[test]
fn a_site_serves_without_its_collector() {
    let folder = tempfile::tempdir().unwrap();
    let token = prepare(folder.path());
    // It hangs up on everyone.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let collector = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let server = Server::start(folder.path(), "", &[("TRACES", &collector), ("LOG", "off")]);
    submit(&server, &token, "");
    eventually("the submission is scored", || server.is_idle().then_some(()));
    assert!(server.stop());
}

#[test]
fn a_collector_without_a_scheme_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_capeval-server"));
    server.arg("--data").arg(folder.path()).args(["serve", "--listen", "127.0.0.1:0"]);
    server.env("CAPEVAL_SERVER_TRACES", "collector:4318");
    let output = server.stdout(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.trim_end(), "capeval-server: traces begins with http:// or https://");
}
