//! Requests to the server and its answers.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use capeval_choice::{Argument, Refusal, Remedy};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;
use ureq::http::{Response, Uri, header};

use super::error::{self, Error, Kind};

/// The longest time for a connection to begin.
const CONNECT: Duration = Duration::from_secs(15);

/// The longest time for the server to answer.
const ANSWER: Duration = Duration::from_secs(300);

/// The most bytes of an answer.
const LARGEST: u64 = 64 << 20;

/// The largest number of times that a request whose answer is lost is sent.
const ATTEMPTS: u32 = 3;

/// The longest wait for a server that says that requests come too often.
const PATIENCE: u64 = 60;

/// The address of a server, and the token to send.
pub(crate) struct Connection {
    agent: Agent,
    base: String,
    token: String,
    is_in_clear: bool,
}

impl Connection {
    pub(crate) fn new(address: &str, token: &str) -> Result<Self, Error> {
        let refuse =
            |what: String, remedy: Remedy| Error::new(Kind::Refused, Refusal::new(what).with_remedy(remedy));
        let base = address.trim().trim_end_matches('/').to_owned();
        let uri: Option<Uri> = base.parse().ok();
        let host = uri.as_ref().and_then(Uri::host).unwrap_or("").trim_matches(['[', ']']).to_owned();
        let scheme = uri.as_ref().and_then(Uri::scheme_str).unwrap_or("");
        if host.is_empty() || !matches!(scheme, "https" | "http") {
            let remedy = Remedy::set(Argument::To, "https://captions.example.org");
            return Err(refuse(format!("'{address}' is not the address of a server"), remedy));
        }
        let token = token.trim().to_owned();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            let what = if token.is_empty() { "there is no token" } else { "this is not a token" };
            let remedy = Remedy::give(Argument::Token).to(format!("use a token created at {base}/account"));
            return Err(refuse(what.to_owned(), remedy));
        }
        let is_local =
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let agent = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            // A token does not follow to another address.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("capeval/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Ok(Self { agent, base, token, is_in_clear: scheme == "http" && !is_local })
    }

    pub(crate) fn is_in_clear(&self) -> bool {
        self.is_in_clear
    }

    /// Gets the JSON at `path`.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        let answer = self.patiently(|| {
            let request = self.agent.get(format!("{}{path}", self.base));
            request.header(header::AUTHORIZATION, format!("Bearer {}", self.token)).call()
        })?;
        serde_json::from_value(answer).map_err(|_| error::unexpected())
    }

    /// Sends `body` to `path`.
    pub(crate) fn post(&self, path: &str, body: &[u8], headers: &[(&str, &str)]) -> Result<Value, Error> {
        self.patiently(|| {
            let mut request = self
                .agent
                .post(format!("{}{path}", self.base))
                .header(header::AUTHORIZATION, format!("Bearer {}", self.token));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            request.send(body)
        })
    }

    /// Sends `body` as JSON to `path`.
    pub(crate) fn post_json(&self, path: &str, body: &impl Serialize) -> Result<Value, Error> {
        let body = serde_json::to_vec(body).map_err(|_| error::unexpected())?;
        self.post(path, &body, &[("content-type", "application/json")])
    }

    /// Repeats a request whose answer is lost, or that the server limits.
    fn patiently(
        &self,
        send: impl Fn() -> Result<Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value, Error> {
        let start = Instant::now();
        let mut attempt = 1;
        loop {
            let error = match send() {
                Ok(response) => match self.answer(response) {
                    // The limit of requests passes soon, unlike a quota.
                    Err(error)
                        if error.wait.is_some_and(|wait| wait + start.elapsed().as_secs() <= PATIENCE) =>
                    {
                        std::thread::sleep(Duration::from_secs(error.wait.unwrap_or(1)));
                        continue;
                    }
                    answer => return answer,
                },
                Err(error) => error,
            };
            let is_lost =
                matches!(error, ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::Protocol(_));
            if attempt >= ATTEMPTS || !is_lost {
                return Err(error::of_connection(&self.base, &error));
            }
            std::thread::sleep(Duration::from_millis(300) * attempt);
            attempt += 1;
        }
    }

    fn answer(&self, mut response: Response<ureq::Body>) -> Result<Value, Error> {
        let status = response.status().as_u16();
        let header =
            |name: header::HeaderName| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let wait = header(header::RETRY_AFTER).and_then(|value| value.parse().ok());
        if let (300..400, Some(place)) = (status, header(header::LOCATION)) {
            let refusal = Refusal::new(format!("{} redirects to {place}", self.base));
            let remedy = Remedy::give(Argument::To).to("name that server");
            return Err(Error::new(Kind::Connection, refusal.with_remedy(remedy)));
        }
        let body = response.body_mut().with_config().limit(LARGEST).read_to_vec();
        let body = body.map_err(|error| error::of_connection(&self.base, &error))?;
        let json = serde_json::from_slice::<Value>(&body).ok();
        match (status, json) {
            (204, _) => Ok(Value::Null),
            (200..300, Some(json)) => Ok(json),
            (200..300, None) => Err(error::of_answer(&self.base, status, None, None)),
            (_, json) => Err(error::of_answer(&self.base, status, json.as_ref(), wait)),
        }
    }
}

/// The characters that a query encodes: all but letters, digits and `-_.~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// `text` as a part of the query of an address.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// A key that no other request has.
pub(crate) fn random_key() -> String {
    let random = || RandomState::new().hash_one(Instant::now());
    format!("{:016x}{:016x}", random(), random())
}
