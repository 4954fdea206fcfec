//! Requests to an object store, sent by the HTTP client that the rest of the server has.

use std::future::Future;
use std::io::{self, Read};
use std::pin::Pin;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, Request, Response, request};
use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use jiff::SignedDuration;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use ureq::tls::TlsConfig;
use ureq::{Agent, Body, Proxy};

/// The size of the pieces in which an answer is read, in bytes.
const PIECE: usize = 1 << 18;

/// The number of pieces that wait to be used.
const WAITING: usize = 4;

/// Options that change what a request reaches, and that the client does not have.
const LACKING: [ClientConfigKey; 2] = [ClientConfigKey::ProxyCaCertificate, ClientConfigKey::ProxyExcludes];

/// The maker of clients for the library of object stores, from the options that it read.
#[derive(Debug)]
pub(crate) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        if let Some(key) = LACKING.iter().find(|key| options.get_config_value(key).is_some()) {
            return Err(unusable(io::Error::other(format!("there is no option {} here", key.as_ref()))));
        }
        let tls = TlsConfig::builder()
            .disable_verification(is_set(options, ClientConfigKey::AllowInvalidCertificates))
            .build();
        let mut config = Agent::config_builder()
            .timeout_connect(patience(options, ClientConfigKey::ConnectTimeout)?)
            .timeout_global(patience(options, ClientConfigKey::Timeout)?)
            .https_only(!is_set(options, ClientConfigKey::AllowHttp))
            .tls_config(tls)
            // The library knows what a redirect means here, and what an error.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false);
        if let Some(address) = options.get_config_value(&ClientConfigKey::ProxyUrl) {
            config = config.proxy(Some(Proxy::new(&address).map_err(unusable)?));
        }
        Ok(HttpClient::new(Client(config.build().new_agent())))
    }
}

/// Returns true if an option is on, in any of the words that the library takes for that.
fn is_set(options: &ClientOptions, key: ClientConfigKey) -> bool {
    let written = options.get_config_value(&key).unwrap_or_default();
    ["1", "true", "on", "yes", "y"].iter().any(|on| written.eq_ignore_ascii_case(on))
}

/// The longest time for a step, which options write as in `1m 30s`.
fn patience(options: &ClientOptions, key: ClientConfigKey) -> object_store::Result<Option<Duration>> {
    let Some(written) = options.get_config_value(&key) else { return Ok(None) };
    let duration: SignedDuration = written.parse().map_err(unusable)?;
    Duration::try_from(duration).map(Some).map_err(unusable)
}

fn unusable(error: impl std::error::Error + Send + Sync + 'static) -> object_store::Error {
    object_store::Error::Generic { store: "S3", source: Box::new(error) }
}

#[derive(Debug)]
struct Client(Agent);

impl Client {
    async fn ask(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let (agent, runtime) = (self.0.clone(), Handle::current());
        let (start, started) = oneshot::channel();
        let (pieces, channel) = Channel::new(WAITING);
        // It waits in a thread of its own, from the request to the end of the answer.
        tokio::task::spawn_blocking(move || match run(&agent, parts, &body) {
            Ok(answer) => {
                let (parts, body) = answer.into_parts();
                if start.send(Ok(parts)).is_ok() {
                    pass_on(body, pieces, &runtime);
                }
            }
            // No one waits any more if it cannot be sent.
            Err(error) => drop(start.send(Err(failure(error)))),
        });
        let ended = |error| HttpError::new(HttpErrorKind::Interrupted, error);
        Ok(HttpResponse::from_parts(started.await.map_err(ended)??, HttpResponseBody::new(channel)))
    }
}

fn run(agent: &Agent, parts: request::Parts, body: &[u8]) -> Result<Response<Body>, ureq::Error> {
    match parts.method {
        Method::POST | Method::PUT => agent.run(Request::from_parts(parts, body)),
        _ => agent.run(Request::from_parts(parts, ())),
    }
}

/// Passes an answer on, piece by piece, until it ends or is not wanted any more.
fn pass_on(body: Body, mut pieces: Sender<Bytes, HttpError>, runtime: &Handle) {
    let mut reader = body.into_reader();
    loop {
        let mut piece = Vec::with_capacity(PIECE);
        match (&mut reader).take(PIECE as u64).read_to_end(&mut piece) {
            Ok(0) => return,
            Ok(_) if runtime.block_on(pieces.send_data(piece.into())).is_err() => return,
            Ok(_) => {}
            Err(error) => return pieces.abort(failure(error.into())),
        }
    }
}

/// An error of the client by whether the library may try again.
fn failure(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Io(error) => match error.kind() {
            io::ErrorKind::TimedOut => HttpErrorKind::Timeout,
            io::ErrorKind::ConnectionRefused => HttpErrorKind::Connect,
            io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => HttpErrorKind::Interrupted,
            _ => HttpErrorKind::Unknown,
        },
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}

impl HttpService for Client {
    fn call<'own, 'done>(
        &'own self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'done>>
    where
        'own: 'done,
        Self: 'done,
    {
        Box::pin(self.ask(request))
    }
}

#[cfg(test)]
mod tests {
    use object_store::client::HttpRequestBody;

    use super::*;

    #[test]
    fn times_are_read_as_the_options_write_them() {
        for milliseconds in [1500, 30_000, 90_000, 3_661_000] {
            let time = Duration::from_millis(milliseconds);
            let options = ClientOptions::new().with_timeout(time);
            assert_eq!(patience(&options, ClientConfigKey::Timeout).unwrap(), Some(time));
        }
        for written in ["90s", "90 seconds", "1m 30s", "1min 30sec"] {
            let options = ClientOptions::new().with_config(ClientConfigKey::Timeout, written);
            let time = patience(&options, ClientConfigKey::Timeout).unwrap();
            assert_eq!(time, Some(Duration::from_secs(90)), "{written}");
        }
        let options = ClientOptions::new().with_timeout_disabled();
        assert_eq!(patience(&options, ClientConfigKey::Timeout).unwrap(), None);
    }

    #[test]
    fn options_are_on_in_all_words_of_the_library() {
        for (written, is_on) in [("true", true), ("1", true), ("Yes", true), ("false", false), ("0", false)] {
            let options = ClientOptions::new().with_config(ClientConfigKey::AllowHttp, written);
            assert_eq!(is_set(&options, ClientConfigKey::AllowHttp), is_on, "{written}");
        }
    }

    #[tokio::test]
    async fn addresses_without_tls_are_refused_unless_they_are_allowed() {
        let client = Connector.connect(&ClientOptions::new()).unwrap();
        let request = Request::get("http://127.0.0.1/bucket").body(HttpRequestBody::empty()).unwrap();
        let error = client.execute(request).await.unwrap_err();
        assert!(error.to_string().contains("https"), "{error}");
    }

    #[test]
    fn options_that_cannot_be_followed_are_refused() {
        assert!(Connector.connect(&ClientOptions::new().with_proxy_url("ftp://")).is_err());
        let error = Connector.connect(&ClientOptions::new().with_proxy_excludes("10.0.0.0/8")).unwrap_err();
        assert!(error.to_string().contains("proxy_excludes"), "{error}");
    }
}
