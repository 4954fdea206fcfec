//! Downloads large files so that an interrupted one goes on where it stopped.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;

use ureq::http::{Response, StatusCode};

use crate::data::{FETCHED, Progress};
use crate::fetch::{agent, refused};
use crate::hash::sha256;
use crate::{Error, Home};

/// The number of times that an interrupted download is continued before it fails.
const TRIES: u32 = 5;

/// The stage that is shown while a file is fetched.
const STAGE: &str = "fetching";

/// Fetches what is at an address into the folder of `home`, and returns the path of the file, which the caller removes.
///
/// If the download fails or the process ends, the bytes received stay there. The next call with the same URL resumes
/// behind them, unless the server reports that its file has changed.
pub(crate) fn download(
    address: &str,
    home: &Home,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, Error> {
    let folder = home.folder();
    fs::create_dir_all(folder).map_err(|cause| Error::system("make the folder", folder.display(), cause))?;
    let failed = |cause| Error::system("fetch the file", address, cause);
    // A name for each address.
    let name = sha256(address.as_bytes()).map_err(failed)?;
    let part = Part {
        file: folder.join(format!("{FETCHED}{name}")),
        version: folder.join(format!("{FETCHED}{name}.version")),
    };
    let mut tries = 0;
    loop {
        let before = part.length();
        match part.go_on(address, progress) {
            Ok(()) => {
                let _ = fs::remove_file(&part.version);
                return Ok(part.file);
            }
            // A cut connection is tried again as long as something arrives, or a few times.
            Err(cause) if is_cut(&cause) && (part.length() > before || tries < TRIES) => {
                tries = if part.length() > before { 1 } else { tries + 1 };
            }
            Err(cause) => return Err(failed(cause)),
        }
    }
}

/// Returns true if a connection ended early.
fn is_cut(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::TimedOut
    )
}

/// Returns true if an answer says that it begins behind the first `have` bytes.
fn begins_at<T>(response: &Response<T>, have: u64) -> bool {
    let range = response.headers().get("content-range").and_then(|value| value.to_str().ok());
    range.is_some_and(|range| range.trim_start().starts_with(&format!("bytes {have}-")))
}

/// A file that has arrived in part, and the server's name of its version.
struct Part {
    file: PathBuf,
    version: PathBuf,
}

impl Part {
    fn length(&self) -> u64 {
        fs::metadata(&self.file).map_or(0, |metadata| metadata.len())
    }

    /// Fetches what is missing.
    fn go_on(&self, address: &str, progress: &mut dyn FnMut(Progress)) -> io::Result<()> {
        let known = fs::read_to_string(&self.version).unwrap_or_default();
        // Without the name of a version, what has arrived may be of another one.
        let mut have = if known.is_empty() { 0 } else { self.length() };
        let mut request = agent(address).get(address);
        if have > 0 {
            request = request.header("range", format!("bytes={have}-")).header("if-range", &known);
        }
        let response = request.call().map_err(ureq::Error::into_io)?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT if begins_at(&response, have) => {}
            // Bytes from elsewhere are of no use, nor are none: the next try starts again.
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                let _ = fs::remove_file(&self.version);
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            status if status.is_success() => have = 0,
            status => return Err(refused(status)),
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        // A weak tag does not promise the same bytes.
        let tag = header("etag").filter(|tag| !tag.starts_with("W/")).or_else(|| header("last-modified"));
        fs::write(&self.version, tag.unwrap_or_default())?;
        let total = response.body().content_length().map(|rest| have + rest);
        let mut file = OpenOptions::new()
            .create(true)
            .append(have > 0)
            .write(true)
            .truncate(have == 0)
            .open(&self.file)?;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            progress(Progress { stage: STAGE, done: have, total });
            let n = body.read(&mut buffer)?;
            if n == 0 {
                break;
            }
            file.write_all(&buffer[..n])?;
            have += n as u64;
        }
        file.sync_all()?;
        if total.is_some_and(|total| have < total) {
            Err(io::ErrorKind::UnexpectedEof.into())
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server that gives these answers, one for each connection, and the heads of the requests that it got.
    fn serve(answers: Vec<Vec<u8>>) -> (String, thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/bundle.zip", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let mut heads = Vec::new();
            for answer in answers {
                let (stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    reader.read_line(&mut head).unwrap();
                }
                heads.push(head.to_ascii_lowercase());
                reader.into_inner().write_all(&answer).unwrap();
            }
            heads
        });
        (address, server)
    }

    fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
        format!("HTTP/1.1 {status}\r\n{headers}\r\nConnection: close\r\n\r\n{body}").into_bytes()
    }

    #[test]
    fn a_download_that_is_cut_off_goes_on_where_it_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned());
        let (address, server) = serve(vec![
            answer("200 OK", "ETag: \"a\"\r\nContent-Length: 10", "0123"),
            answer(
                "206 Partial Content",
                "ETag: \"a\"\r\nContent-Range: bytes 4-9/10\r\nContent-Length: 6",
                "45",
            ),
            answer(
                "206 Partial Content",
                "ETag: \"a\"\r\nContent-Range: bytes 6-9/10\r\nContent-Length: 4",
                "6789",
            ),
        ]);
        let mut shown = Vec::new();
        let file =
            download(&address, &home, &mut |progress| shown.push((progress.done, progress.total))).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"0123456789");
        let heads = server.join().unwrap();
        assert!(!heads[0].contains("range:"));
        assert!(
            heads[1].contains("range: bytes=4-\r\n") && heads[1].contains("if-range: \"a\"\r\n"),
            "{}",
            heads[1]
        );
        assert!(heads[2].contains("range: bytes=6-\r\n"), "{}", heads[2]);
        assert_eq!((shown.first(), shown.last()), (Some(&(0, Some(10))), Some(&(10, Some(10)))));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the file is left");
    }

    #[test]
    fn bytes_from_elsewhere_are_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned());
        let (address, server) = serve(vec![
            answer("200 OK", "ETag: \"a\"\r\nContent-Length: 10", "0123"),
            answer(
                "206 Partial Content",
                "ETag: \"a\"\r\nContent-Range: bytes 0-9/10\r\nContent-Length: 10",
                "0123456789",
            ),
            answer("416 Range Not Satisfiable", "Content-Length: 0", ""),
            answer("200 OK", "ETag: \"a\"\r\nContent-Length: 10", "0123456789"),
        ]);
        let file = download(&address, &home, &mut |_| {}).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"0123456789");
        assert!(!server.join().unwrap()[2].contains("range:"), "it starts again");
    }

    #[test]
    fn a_later_call_goes_on_and_another_version_starts_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned());
        let failure = answer("503 Service Unavailable", "Content-Length: 0", "");
        let (address, server) = serve(vec![
            answer("200 OK", "ETag: \"a\"\r\nContent-Length: 10", "0123"),
            failure,
            answer("200 OK", "ETag: \"b\"\r\nContent-Length: 6", "abcdef"),
        ]);
        let error = download(&address, &home, &mut |_| {}).unwrap_err().to_string();
        assert!(error.ends_with("cannot fetch the file: http status: 503"), "{error}");
        let file = download(&address, &home, &mut |_| {}).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"abcdef");
        assert!(server.join().unwrap()[2].contains("range: bytes=4-\r\n"));
    }
}
