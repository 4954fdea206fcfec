//! Sends large files: whole or in part, so that a broken download goes on where it stopped.

use std::io::SeekFrom;
use std::path::Path;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::encode;
use crate::fault::{Fault, Result};

/// The bytes that are read at once.
const CHUNK: u64 = 1 << 16;

/// The part of a file that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestedPart {
    /// All of it.
    Whole,
    /// The bytes from the first to the last.
    Part(u64, u64),
    /// Bytes that it does not have.
    Beyond,
    /// Nothing: the client has it.
    Nothing,
}

/// The part that a request wants of a file with this tag and size.
fn requested_part(headers: &HeaderMap, tag: &str, size: u64) -> RequestedPart {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if let Some(known) = text(header::IF_NONE_MATCH) {
        let is_known = |one: &str| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag;
        if known.split(',').any(|one| is_known(one.trim())) {
            return RequestedPart::Nothing;
        }
    }
    if text(header::IF_RANGE).is_some_and(|known| known != tag) {
        return RequestedPart::Whole;
    }
    text(header::RANGE).map_or(RequestedPart::Whole, |range| part(range, size))
}

/// The part that a header asks for; several parts at once are answered with the whole.
fn part(range: &str, size: u64) -> RequestedPart {
    let Some((first, last)) = range.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return RequestedPart::Whole;
    };
    let number = |text: &str| -> Result<Option<u64>, ()> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        match text {
            "" => Ok(None),
            text if is_number => text.parse().map(Some).map_err(drop),
            _ => Err(()),
        }
    };
    let (Ok(first), Ok(last)) = (number(first.trim()), number(last.trim())) else {
        return RequestedPart::Whole;
    };
    match (first, last) {
        (None, None) => RequestedPart::Whole,
        (None, Some(0)) => RequestedPart::Beyond,
        (None, Some(n)) if size > 0 => RequestedPart::Part(size.saturating_sub(n), size - 1),
        (Some(first), Some(last)) if last < first => RequestedPart::Whole,
        (Some(first), last) if first < size => {
            RequestedPart::Part(first, last.map_or(size - 1, |last| last.min(size - 1)))
        }
        _ => RequestedPart::Beyond,
    }
}

/// Answers with a file, whose hash is `hash`: for the disk of the person if it has a name, or else to be shown.
pub async fn send(
    path: &Path,
    hash: &str,
    name: Option<&str>,
    kind: &'static str,
    headers: &HeaderMap,
) -> Result<Response> {
    let mut file = File::open(path).await?;
    let size = file.metadata().await?.len();
    let tag = format!("\"{hash}\"");
    let wanted = requested_part(headers, &tag, size);
    let mut answer = Response::builder()
        .header(header::ETAG, &tag)
        .header(header::ACCEPT_RANGES, "bytes")
        .header(header::CACHE_CONTROL, "private, no-cache")
        .header(header::CONTENT_TYPE, kind);
    if let Some(name) = name {
        answer = answer.header(header::CONTENT_DISPOSITION, attachment(name));
    }
    let answer = match wanted {
        RequestedPart::Nothing => answer.status(StatusCode::NOT_MODIFIED).body(Body::empty()),
        RequestedPart::Beyond => answer
            .status(StatusCode::RANGE_NOT_SATISFIABLE)
            .header(header::CONTENT_RANGE, format!("bytes */{size}"))
            .body(Body::empty()),
        RequestedPart::Whole => answer.header(header::CONTENT_LENGTH, size).body(body(file, size)),
        RequestedPart::Part(first, last) => {
            file.seek(SeekFrom::Start(first)).await?;
            let n = last - first + 1;
            answer
                .status(StatusCode::PARTIAL_CONTENT)
                .header(header::CONTENT_RANGE, format!("bytes {first}-{last}/{size}"))
                .header(header::CONTENT_LENGTH, n)
                .body(body(file, n))
        }
    };
    answer.map_err(|error| Fault::internal(&error))
}

/// Answers with a file that was made for this request, from its beginning.
pub async fn send_made(file: std::fs::File, name: &str, kind: &'static str) -> Result<Response> {
    let mut file = File::from_std(file);
    let size = file.metadata().await?.len();
    file.rewind().await?;
    let answer = Response::builder()
        .header(header::CONTENT_TYPE, kind)
        .header(header::CONTENT_DISPOSITION, attachment(name))
        .header(header::CONTENT_LENGTH, size)
        .body(body(file, size));
    answer.map_err(|error| Fault::internal(&error))
}

/// Answers with a text for the disk of the person.
pub fn text(name: &str, kind: &'static str, text: String) -> Response {
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, attachment(name))];
    (headers, text).into_response()
}

/// The header of a file with any name: as it is, and, if it has letters that headers have not, a form of it for
/// programs that read only ASCII.
fn attachment(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._- ".contains(c);
    match name.chars().all(is_plain) {
        true => format!("attachment; filename=\"{name}\""),
        false => {
            let ascii = name.replace(|c| !is_plain(c), "_");
            format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{}", encode(name))
        }
    }
}

/// The next `n` bytes of a file.
fn body(file: File, n: u64) -> Body {
    let chunks = stream::unfold((file, n), |(mut file, left)| async move {
        if left == 0 {
            return None;
        }
        let mut chunk = vec![0; left.min(CHUNK) as usize];
        match file.read(&mut chunk).await {
            Ok(0) => Some((Err(std::io::ErrorKind::UnexpectedEof.into()), (file, 0))),
            Ok(n) => {
                chunk.truncate(n);
                Some((Ok(Bytes::from(chunk)), (file, left - n as u64)))
            }
            Err(error) => Some((Err(error), (file, 0))),
        }
    });
    // The compression asks again after the end.
    Body::from_stream(chunks.fuse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_one_part_of_the_file() {
        for (range, expected) in [
            ("bytes=0-", RequestedPart::Part(0, 99)),
            ("bytes=0-0", RequestedPart::Part(0, 0)),
            ("bytes=10-19", RequestedPart::Part(10, 19)),
            ("bytes=90-1000", RequestedPart::Part(90, 99)),
            ("bytes=-10", RequestedPart::Part(90, 99)),
            ("bytes=-1000", RequestedPart::Part(0, 99)),
            ("bytes=100-", RequestedPart::Beyond),
            ("bytes=-0", RequestedPart::Beyond),
            ("bytes=5-4", RequestedPart::Whole),
            ("bytes=0-1,5-6", RequestedPart::Whole),
            ("bytes=+1-2", RequestedPart::Whole),
            ("bytes=99999999999999999999-", RequestedPart::Whole),
            ("items=0-1", RequestedPart::Whole),
            ("bytes=-", RequestedPart::Whole),
        ] {
            assert_eq!(part(range, 100), expected, "{range}");
        }
        assert_eq!(part("bytes=0-", 0), RequestedPart::Beyond);
        assert_eq!(part("bytes=-5", 0), RequestedPart::Beyond);
    }

    #[test]
    fn any_name_fits_into_a_header() {
        assert_eq!(attachment("a 1.json"), "attachment; filename=\"a 1.json\"");
        assert_eq!(
            attachment("é\"\r\n;.csv"),
            "attachment; filename=\"_____.csv\"; filename*=UTF-8''%C3%A9%22%0D%0A%3B.csv"
        );
    }

    #[test]
    fn a_changed_file_is_sent_whole_and_a_known_one_not_at_all() {
        let headers = |pairs: &[(header::HeaderName, &'static str)]| -> HeaderMap {
            pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
        };
        let of = |pairs: &[_]| requested_part(&headers(pairs), "\"a\"", 100);
        assert_eq!(
            of(&[(header::RANGE, "bytes=5-"), (header::IF_RANGE, "\"a\"")]),
            RequestedPart::Part(5, 99)
        );
        assert_eq!(of(&[(header::RANGE, "bytes=5-"), (header::IF_RANGE, "\"b\"")]), RequestedPart::Whole);
        assert_eq!(of(&[(header::IF_NONE_MATCH, "\"b\", W/\"a\"")]), RequestedPart::Nothing);
        assert_eq!(of(&[(header::IF_NONE_MATCH, "\"b\"")]), RequestedPart::Whole);
    }
}
