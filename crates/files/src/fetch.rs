//! Fetches files over https, if the person allows it.

use std::env;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ureq::Agent;
use ureq::http::{StatusCode, Uri};

use crate::Error;
use crate::bytes::Bytes;

/// True if addresses are fetched; `CAPEVAL_ALLOW_NETWORK=1` in the environment allows it, too.
static IS_ALLOWED: AtomicBool = AtomicBool::new(false);

/// The longest time for a server to answer, and then again to send each part of the file.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of redirects that are followed; servers that keep large files elsewhere use them.
const MOST_REDIRECTS: u32 = 5;

/// Fetches what is at `https://` addresses from now on, where the path of a file is expected.
pub fn allow_network() {
    IS_ALLOWED.store(true, Ordering::Relaxed);
}

/// The content of the file at an address, if `path` is one that may be fetched.
pub(crate) fn fetched(path: &str, limit: usize) -> Result<Option<Bytes>, Error> {
    let is_allowed = || {
        IS_ALLOWED.load(Ordering::Relaxed)
            || env::var_os("CAPEVAL_ALLOW_NETWORK").is_some_and(|value| value == "1")
    };
    if is_fetchable(path) && is_allowed() { get(path, limit).map(Some) } else { Ok(None) }
}

/// Returns true if `path` is an address from which a file can be fetched: with https, or on this machine.
pub(crate) fn is_fetchable(path: &str) -> bool {
    let scheme = path.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("https") => true,
        Some("http") => is_local(path),
        _ => false,
    }
}

/// Returns true if the host is this machine, to which the way is short enough to go without encryption.
fn is_local(address: &str) -> bool {
    let uri = address.parse::<Uri>();
    uri.is_ok_and(|uri| matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]")))
}

/// The client that sends requests to an address, and returns the answers of any status.
pub(crate) fn agent(address: &str) -> Agent {
    let is_local = is_local(address);
    Agent::config_builder()
        .https_only(!is_local)
        .max_redirects(if is_local { 0 } else { MOST_REDIRECTS })
        .http_status_as_error(false)
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE))
        .user_agent(concat!("capeval/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

/// The error of an answer that is not a success.
pub(crate) fn refused(status: StatusCode) -> io::Error {
    ureq::Error::StatusCode(status.as_u16()).into_io()
}

fn get(address: &str, limit: usize) -> Result<Bytes, Error> {
    let failed = |cause| Error::system("fetch the file", address, cause);
    let response = agent(address).get(address).call().map_err(|error| failed(error.into_io()))?;
    if !response.status().is_success() {
        return Err(failed(refused(response.status())));
    }
    let body = response.into_body();
    let length = body.content_length().unwrap_or(0);
    Bytes::read(body.into_reader(), length, limit).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// The file fetched from a server that sends `answer`.
    fn fetched_from(answer: &'static [u8], limit: usize) -> Result<Vec<u8>, String> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/a.json", listener.local_addr().expect("an address"));
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let read = stream.read(&mut [0; 1000]);
            read.and_then(|_| stream.write_all(answer)).expect("an answer");
        });
        let bytes = get(&address, limit);
        server.join().expect("the server ends");
        bytes.map(|bytes| bytes.to_vec()).map_err(|error| error.to_string().replace(&address, "URL"))
    }

    #[test]
    fn what_a_server_gives_is_read_within_the_limit() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\na dog\n\n";
        assert_eq!(fetched_from(whole, 7), Ok(b"a dog\n\n".to_vec()));
        let error = fetched_from(whole, 6).unwrap_err();
        assert!(error.starts_with("URL: cannot fetch the file: it is longer than"), "{error}");
        let cut = fetched_from(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na dog", 100).unwrap_err();
        assert!(cut.starts_with("URL: cannot fetch the file: "), "{cut}");
        let none = fetched_from(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 100).unwrap_err();
        assert_eq!(none, "URL: cannot fetch the file: http status: 404");
        // From this machine, no server leads to another.
        let away = b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(fetched_from(away, 100).unwrap_err(), "URL: cannot fetch the file: http status: 302");
    }

    #[test]
    fn only_https_and_this_machine_are_fetched_from() {
        for address in ["https://x.org/a", "HTTPS://x.org/a", "http://localhost:1/a", "http://[::1]:1/a"] {
            assert!(is_fetchable(address), "{address}");
        }
        for path in ["http://x.org/a", "s3://a/b", "a.json", "-", "http://localhost.x.org/a"] {
            assert!(!is_fetchable(path), "{path}");
        }
    }
}
