//! A server on this machine that speaks OpenAI's chat API over HTTP, and does what a test tells it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

/// The reply to a request.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// The time that it takes.
    pub delay: Duration,
    /// The part of the body that is sent before the connection is cut.
    pub cut: Option<usize>,
}

impl Reply {
    /// An answer with this text.
    pub fn says(text: &str) -> Self {
        Self::json(200, &completion(text))
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, body.to_string().into_bytes())
    }

    pub fn raw(status: u16, body: Vec<u8>) -> Self {
        Self { status, headers: Vec::new(), body, delay: Duration::ZERO, cut: None }
    }

    /// An error in the words of the API.
    pub fn error(status: u16, code: &str, words: &str) -> Self {
        Self::json(status, &json!({"error": {"message": words, "code": code}}))
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub fn cut(self, at: usize) -> Self {
        Self { cut: Some(at), ..self }
    }
}

/// A body of the API with this text.
pub fn completion(text: &str) -> Value {
    json!({
        "id": "x",
        "object": "chat.completion",
        "model": "tiny-2026-11",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    })
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub path: String,
    pub headers: String,
    pub body: Value,
}

impl Request {
    /// The text of the last message.
    pub fn asked(&self) -> String {
        let content =
            &self.body["messages"].as_array().and_then(|all| all.last()).unwrap_or(&Value::Null)["content"];
        match content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

type Rule = Box<dyn Fn(&Request, usize) -> Reply + Send + Sync>;

/// The server, which ends when it is dropped.
pub struct Chat {
    address: String,
    shared: Arc<ChatState>,
    listener: Option<JoinHandle<()>>,
}

struct ChatState {
    rule: Rule,
    requests: Mutex<Vec<Request>>,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    is_over: AtomicBool,
}

impl Chat {
    /// A server whose replies to each request, and its number from 0, a rule decides.
    pub fn new(rule: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let shared = Arc::new(ChatState {
            rule: Box::new(rule),
            requests: Mutex::default(),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            is_over: AtomicBool::default(),
        });
        let known = Arc::clone(&shared);
        let listener = thread::spawn(move || {
            for stream in listener.incoming() {
                if known.is_over.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(stream) = stream {
                    let known = Arc::clone(&known);
                    // A client that is gone is no failure.
                    thread::spawn(move || known.serve(stream));
                }
            }
        });
        Self { address, shared, listener: Some(listener) }
    }

    /// Its address, as users give it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The most requests that it had at a time.
    pub fn most_at_once(&self) -> usize {
        self.shared.most_at_once.load(Ordering::SeqCst)
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let host = self.address.trim_start_matches("http://").trim_end_matches("/v1");
        // The listener wakes up and sees that it is over.
        let _ = TcpStream::connect(host);
        let _ = self.listener.take().map(JoinHandle::join);
    }
}

impl ChatState {
    fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut first = String::new();
        reader.read_line(&mut first).ok()?;
        let path = first.split(' ').nth(1)?.to_owned();
        let (mut headers, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(n) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = n.trim().parse().ok()?;
            }
            headers.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let request = Request { path, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) };
        let number = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len() - 1
        };
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        let reply = (self.rule)(&request, number);
        thread::sleep(reply.delay);
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        send(stream, &reply)
    }
}

fn send(mut stream: TcpStream, reply: &Reply) -> Option<()> {
    let Reply { status, headers, body, cut, .. } = reply;
    let mut head = format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    let sent = cut.unwrap_or(body.len()).min(body.len());
    if *cut != Some(0) {
        stream.write_all(head.as_bytes()).ok()?;
    }
    stream.write_all(&body[..sent]).ok()?;
    stream.shutdown(Shutdown::Write).ok()
}
