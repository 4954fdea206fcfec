//! The server that receives the queries, and the meaning of its responses.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use capeval_choice::{Argument, Refusal, Remedy};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use serde_json::Value;
use ureq::Agent;
use ureq::http::header::{AUTHORIZATION, LOCATION};
use ureq::http::{HeaderMap, Uri};

use crate::judges::chat::{self, Response};

/// The longest time for a connection to begin.
const CONNECT: Duration = Duration::from_secs(15);

/// The most bytes of an answer.
const LARGEST: u64 = 8 << 20;

/// The replacement for a key where a server repeats it.
const HIDDEN: &str = "[key]";

/// A key of an API, which nothing shows.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// Reads a key, which may have white space around it.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let key = text.trim();
        match !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(Self(key.to_owned())),
            false => Err(Refusal::new("the key is empty, or has characters that no key has")
                .with_remedy("give the key alone, in one line")),
        }
    }

    /// The text without the key.
    fn hide(&self, text: String) -> String {
        if text.contains(&self.0) { text.replace(&self.0, HIDDEN) } else { text }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

/// A server that speaks OpenAI's chat API.
#[derive(Debug)]
pub struct Endpoint {
    agent: Agent,
    url: String,
    host: String,
    key: Option<Key>,
    timeout: Duration,
}

/// The part of a request to which a server objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// A field of the request that it does not know, such as `response_format`.
    Field(String),
    /// The length of the question, which is more than its model reads.
    Length,
    /// Pictures, which its model does not see.
    Pictures,
    /// Something else.
    Unknown,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum Outcome {
    /// An answer, and how long the server wants no other request, if it says so.
    Answered(Box<Response>, Option<Duration>),
    /// Nothing; another attempt may bring an answer.
    Failed(String),
    /// The server wants fewer requests, and says for how long.
    Busy(String, Option<Duration>),
    /// The server does not answer this question, however often it is sent: its words, and what it objects to.
    Refused(String, Objection),
    /// No question can be answered.
    Hopeless(Refusal),
}

impl Endpoint {
    /// The server at an address such as `http://localhost:11434/v1`.
    pub fn new(address: &str, key: Option<Key>, timeout: Duration) -> Result<Self, Refusal> {
        let base = address.trim().trim_end_matches('/').trim_end_matches("/chat/completions");
        let uri: Option<Uri> = base.parse().ok();
        let host = uri.as_ref().and_then(Uri::host).unwrap_or("").to_owned();
        let scheme = uri.as_ref().and_then(Uri::scheme_str).unwrap_or("");
        if host.is_empty() || !matches!(scheme, "https" | "http") || base.contains(['?', '#', '@']) {
            return Err(Refusal::new("this is not the address of a server")
                .with_remedy(Remedy::set(Argument::Endpoint, "http://localhost:11434/v1")));
        }
        let bare = host.trim_matches(['[', ']']);
        let is_local =
            bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if key.is_some() && scheme == "http" && !is_local {
            return Err(Refusal::new(format!(
                "others on the network could read the key on its way to {host}"
            ))
            .with_remedy("use an address with https://, or leave the key out"));
        }
        let agent = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(timeout))
            // A key does not follow to another address.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("capeval/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Ok(Self { agent, url: format!("{base}/chat/completions"), host, key, timeout })
    }

    /// The name of its machine.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Sends a request.
    pub fn ask(&self, sent: &Value) -> Outcome {
        let mut request = self.agent.post(&self.url).content_type("application/json");
        if let Some(Key(key)) = &self.key {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        let mut response = match request.send(sent.to_string().as_bytes()) {
            Ok(response) => response,
            Err(error) => return self.unsent(&error),
        };
        let status = response.status().as_u16();
        let wait = wait(response.headers());
        let place = response.headers().get(LOCATION).and_then(|place| place.to_str().ok()).map(str::to_owned);
        let body = response.body_mut().with_config().limit(LARGEST).read_to_vec();
        let body = match body.map(String::from_utf8) {
            Ok(Ok(body)) => self.hide(body),
            Ok(Err(_)) => return Outcome::Failed("the answer is not text in UTF-8".to_owned()),
            Err(error) => return self.unsent(&error),
        };
        match status {
            200..300 => match chat::response(&body) {
                Ok(response) => Outcome::Answered(Box::new(response), wait.before_next),
                Err(why) => Outcome::Failed(why),
            },
            300..400 => Outcome::Hopeless(
                Refusal::new(format!("{} redirects to {}", self.host, self.hide(place.unwrap_or_default())))
                    .with_remedy(Remedy::give(Argument::Endpoint).to("name that server")),
            ),
            _ => self.complains(status, &body, sent, wait.after_refusal),
        }
    }

    fn complains(&self, status: u16, body: &str, sent: &Value, wait: Option<Duration>) -> Outcome {
        let (words, code) = chat::complaint(body);
        let said = format!("{} answers {status}: {words}", self.host);
        match (status, code.as_deref()) {
            (402, _) | (429, Some("insufficient_quota")) => {
                Outcome::Hopeless(Refusal::new(said).with_remedy("see to your account there"))
            }
            (401 | 403, _) => Outcome::Hopeless(Refusal::new(said).with_remedy(match self.key {
                Some(_) => Remedy::give(Argument::ApiKey).to("use a key that this server knows"),
                None => Remedy::give(Argument::ApiKey).to("say who asks"),
            })),
            (404 | 405, _) if objection(body, sent) == Objection::Unknown => Outcome::Hopeless(
                Refusal::new(said).with_remedy(
                    Remedy::give(Argument::Endpoint)
                        .to("name the address up to /v1")
                        .or(Remedy::give(Argument::JudgeModel).to("name a model that is there")),
                ),
            ),
            (429 | 503 | 529, _) => Outcome::Busy(said, wait),
            (408 | 409 | 425 | 500.., _) => Outcome::Failed(said),
            _ => Outcome::Refused(said, objection(body, sent)),
        }
    }

    /// The outcome that an error of the connection means.
    fn unsent(&self, error: &ureq::Error) -> Outcome {
        use ureq::Error;
        let host = &self.host;
        match error {
            Error::Timeout(_) => {
                Outcome::Failed(format!("{host} gave no answer within {} s", self.timeout.as_secs_f64()))
            }
            Error::BodyExceedsLimit(_) => {
                Outcome::Failed(format!("the answer is longer than {} MB", LARGEST >> 20))
            }
            Error::HostNotFound => self.no_machine(),
            // So the system says it.
            Error::Io(cause) if cause.to_string().contains("lookup address") => self.no_machine(),
            Error::Io(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => Outcome::Hopeless(
                Refusal::new(format!(
                    "no server answers at {}",
                    self.url.trim_end_matches("/chat/completions")
                ))
                .with_remedy(Remedy::say("start it").or(Remedy::give(Argument::Endpoint).to("name another"))),
            ),
            Error::Tls(_) | Error::Rustls(_) => Outcome::Hopeless(
                Refusal::new(format!("{host} does not prove who it is: {}", self.hide(error.to_string())))
                    .with_remedy("use a server with a certificate that this machine trusts"),
            ),
            Error::Io(cause) if is_about_certificates(cause) => Outcome::Hopeless(
                Refusal::new(format!("{host} does not prove who it is: {}", self.hide(cause.to_string())))
                    .with_remedy("use a server with a certificate that this machine trusts"),
            ),
            other => {
                Outcome::Failed(format!("the connection to {host} failed: {}", self.hide(other.to_string())))
            }
        }
    }

    fn no_machine(&self) -> Outcome {
        let refusal = Refusal::new(format!("there is no machine {}", self.host));
        Outcome::Hopeless(refusal.with_remedy(Remedy::give(Argument::Endpoint).to("name another")))
    }

    fn hide(&self, text: String) -> String {
        match &self.key {
            Some(key) => key.hide(text),
            None => text,
        }
    }
}

/// The part of a request to which the words of a server object: a field that was sent and that they name, the length
/// of the question, or pictures.
fn objection(words: &str, sent: &Value) -> Objection {
    let words = words.to_lowercase();
    let has = |part: &str| words.contains(part);
    // Servers name it by what they make of it, too.
    let is_schema = ["json_schema", "guided_json", "guided json", "structured output", "response format"];
    let fields = sent.as_object().into_iter().flat_map(|fields| fields.keys());
    let mut fields: Vec<&String> =
        fields.filter(|field| !matches!(field.as_str(), "model" | "messages")).collect();
    // `top_logprobs` has `logprobs` in it.
    fields.sort_by_key(|field| std::cmp::Reverse(field.len()));
    let sends_schema = fields.iter().any(|field| *field == "response_format");
    let lengths = [
        "context length",
        "context window",
        "maximum context",
        "context size",
        "max_model_len",
        "n_ctx",
        "too many tokens",
        "too long",
    ];
    if lengths.iter().any(|length| has(length)) {
        return Objection::Length;
    }
    if sends_schema && is_schema.iter().any(|name| has(name)) {
        return Objection::Field("response_format".to_owned());
    }
    if let Some(field) = fields.into_iter().find(|field| has(&field.to_lowercase())) {
        return Objection::Field(field.clone());
    }
    let sends_picture = sent.to_string().contains("\"image_url\"");
    let pictures = ["image", "multimodal", "multi-modal", "vision", "content must be a string"];
    match sends_picture && pictures.iter().any(|picture| has(picture)) {
        true => Objection::Pictures,
        false => Objection::Unknown,
    }
}

/// TLS errors come out of reads and writes, too.
fn is_about_certificates(cause: &io::Error) -> bool {
    cause.kind() == io::ErrorKind::InvalidData && cause.to_string().to_lowercase().contains("certificate")
}

/// The time that a server wants to be left alone.
struct Wait {
    /// After a request that it did not answer.
    after_refusal: Option<Duration>,
    /// After one that it did, since no other is left.
    before_next: Option<Duration>,
}

/// Reads `Retry-After` in seconds, milliseconds or as a date, and the headers that count requests and tokens.
fn wait(headers: &HeaderMap) -> Wait {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()).map(|ms| ms / 1000.0);
    let seconds = || text("retry-after").and_then(|text| text.parse::<f64>().ok());
    let date = || {
        let at = rfc2822::parse(text("retry-after")?).ok()?.timestamp();
        Some(at.duration_since(Timestamp::now()).as_secs_f64().max(0.0))
    };
    let retry_after =
        milliseconds.or_else(seconds).or_else(date).and_then(|s| Duration::try_from_secs_f64(s).ok());
    // What is used up is waited for.
    let used_up = ["requests", "tokens"].into_iter().filter_map(|what| {
        let remaining: f64 = text(&format!("x-ratelimit-remaining-{what}"))?.parse().ok()?;
        let reset = text(&format!("x-ratelimit-reset-{what}"))?;
        (remaining < 1.0).then(|| span(reset)).flatten()
    });
    let used_up = used_up.max();
    Wait { after_refusal: retry_after.or(used_up), before_next: used_up }
}

/// A time such as `1s`, `6m0s`, `120ms` or `7.66`.
fn span(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<f64>() {
        // Some servers write the second at which counting begins again.
        return Duration::try_from_secs_f64(seconds).ok().filter(|span| *span < Duration::from_secs(86_400));
    }
    text.parse::<jiff::SignedDuration>().ok().and_then(|span| Duration::try_from(span).ok())
}

#[cfg(test)]
mod tests {
    use ureq::http::HeaderValue;

    use super::*;

    #[test]
    fn addresses_are_checked() {
        let new = |address: &str, key: Option<&str>| {
            let key = key.map(|key| Key::read(key).unwrap());
            Endpoint::new(address, key, CONNECT).map(|endpoint| endpoint.url).map_err(|e| e.to_string())
        };
        for address in [
            "http://localhost:11434/v1",
            "http://localhost:11434/v1/chat/completions/",
            " http://localhost:11434/v1/ ",
        ] {
            assert_eq!(new(address, Some("k")).unwrap(), "http://localhost:11434/v1/chat/completions");
        }
        assert!(new("https://api.example.org/v1", Some("k")).is_ok());
        assert!(new("http://10.0.0.7:8000/v1", None).is_ok());
        assert!(new("http://10.0.0.7:8000/v1", Some("k")).unwrap_err().contains("could read the key"));
        for address in [
            "localhost:11434",
            "ftp://host/v1",
            "",
            "http://",
            "https://me:secret@host/v1",
            "https://host/v1?key=1",
        ] {
            let said = new(address, None).unwrap_err();
            assert_eq!(said, "this is not the address of a server", "{address}");
        }
        assert!(Key::read(" a\nb").is_err() && Key::read("").is_err() && Key::read("schlüssel").is_err());
        assert_eq!(format!("{:?}", Key::read("canary\n").unwrap()), "Key");
    }

    #[test]
    fn a_server_that_objects_is_understood() {
        let sent = serde_json::json!({"model": "m", "messages": [], "max_tokens": 9, "logprobs": true, "top_logprobs": 20,
            "response_format": {}});
        let field = |name: &str| Objection::Field(name.to_owned());
        for (words, objects_to) in [
            ("response_format is not supported", field("response_format")),
            ("Structured outputs are not supported by this model", field("response_format")),
            ("Unsupported parameter: 'max_tokens'; use 'max_completion_tokens'", field("max_tokens")),
            ("Unrecognized request argument supplied: top_logprobs", field("top_logprobs")),
            (
                "This model's maximum context length is 2048 tokens, however you requested 2100",
                Objection::Length,
            ),
            ("the request exceeds the available context size. try increasing n_ctx", Objection::Length),
            ("bad request", Objection::Unknown),
        ] {
            assert_eq!(objection(words, &sent), objects_to, "{words}");
        }
        let shown = serde_json::json!({"messages": [{"content": [{"type": "image_url"}]}]});
        assert_eq!(objection("this model does not support image input", &shown), Objection::Pictures);
    }

    #[test]
    fn pauses_are_read_in_all_their_forms() {
        let read = |headers: &[(&'static str, &str)]| {
            let pairs = headers.iter().map(|(name, value)| {
                (ureq::http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
            });
            let Wait { after_refusal, before_next } = wait(&pairs.collect());
            [after_refusal, before_next].map(|span| span.map(|span| span.as_millis()))
        };
        assert_eq!(read(&[("retry-after", "7")]), [Some(7000), None]);
        assert_eq!(read(&[("retry-after", "0.5")]), [Some(500), None]);
        assert_eq!(read(&[("retry-after-ms", "120"), ("retry-after", "1")]), [Some(120), None]);
        assert_eq!(read(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]), [Some(0), None]);
        assert_eq!(read(&[("retry-after", "soon")]), [None, None]);
        assert_eq!(read(&[("retry-after", "-1")]), [None, None]);
        for (text, ms) in [("1s", 1000), ("6m0s", 360_000), ("120ms", 120), ("7.66s", 7660), ("2", 2000)] {
            let headers = [("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", text)];
            assert_eq!(read(&headers), [Some(ms), Some(ms)], "{text}");
        }
        let left = [("x-ratelimit-remaining-requests", "12"), ("x-ratelimit-reset-requests", "6s")];
        assert_eq!(read(&left), [None, None]);
        let far = [("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "1795000000")];
        assert_eq!(read(&far), [None, None]);
    }
}
