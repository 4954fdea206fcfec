//! A file on a server, of which only the parts that are read are fetched.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use crate::fetch::{agent, refused};

/// The number of bytes that are fetched at once, if there are as many.
const BLOCK: u64 = 1 << 20;

/// The end of a file, which is fetched first: archives have their directory there.
const END: u64 = 1 << 16;

/// A file on a server that gives parts of it.
pub(crate) struct RemoteFile {
    address: String,
    agent: Agent,
    length: u64,
    /// The server's name of the version that the first part is of.
    version: Option<String>,
    position: u64,
    /// The last part that was fetched, and where it begins.
    part: (u64, Vec<u8>),
}

impl RemoteFile {
    /// Fetches the end of a file; `None` if the server gives no parts, or does not say of how much.
    pub(crate) fn open(address: &str) -> io::Result<Option<Self>> {
        let agent = agent(address);
        let request = agent.get(address).header("range", format!("bytes=-{END}"));
        let response = request.call().map_err(ureq::Error::into_io)?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {}
            // The whole file begins here, and a file of nothing has no end.
            status if status.is_success() => return Ok(None),
            StatusCode::RANGE_NOT_SATISFIABLE => return Ok(None),
            status => return Err(refused(status)),
        }
        let Some((range, length)) = range_of(&response).filter(|(range, length)| range.end == *length) else {
            return Ok(None);
        };
        let version = version_of(&response);
        let part = (range.start, body_of(response, &range)?);
        Ok(Some(Self { address: address.to_owned(), agent, length, version, position: 0, part }))
    }

    /// Fetches the part from `position` on.
    fn fetch(&mut self) -> io::Result<()> {
        let wanted = self.position..self.length.min(self.position + BLOCK);
        let range = format!("bytes={}-{}", wanted.start, wanted.end - 1);
        let response =
            self.agent.get(&self.address).header("range", range).call().map_err(ureq::Error::into_io)?;
        if !response.status().is_success() {
            return Err(refused(response.status()));
        }
        if range_of(&response) != Some((wanted.clone(), self.length)) || version_of(&response) != self.version
        {
            return Err(io::Error::other("the file changed during the download"));
        }
        self.part = (wanted.start, body_of(response, &wanted)?);
        Ok(())
    }
}

/// The part that an answer contains, and the length of the whole file.
fn range_of(response: &Response<Body>) -> Option<(Range<u64>, u64)> {
    let text = response.headers().get("content-range")?.to_str().ok()?;
    let (range, length) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last, length) = (first.parse().ok()?, last.parse::<u64>().ok()?, length.parse().ok()?);
    Some((first..last.checked_add(1)?, length))
        .filter(|(range, length)| !range.is_empty() && range.end <= *length)
}

fn version_of(response: &Response<Body>) -> Option<String> {
    let tag = response.headers().get("etag").or_else(|| response.headers().get("last-modified"))?;
    tag.to_str().ok().map(str::to_owned)
}

/// The bytes of an answer, which must be as many as it says, and no more than were asked for.
fn body_of(response: Response<Body>, range: &Range<u64>) -> io::Result<Vec<u8>> {
    let length = range.end - range.start;
    if length > BLOCK {
        return Err(io::Error::other("the server sends another part than that which was asked for"));
    }
    let mut bytes = Vec::new();
    response.into_body().into_reader().take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

impl Read for RemoteFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.length || buffer.is_empty() {
            return Ok(0);
        }
        let (start, bytes) = &self.part;
        if !(*start..*start + bytes.len() as u64).contains(&self.position) {
            self.fetch()?;
        }
        let (start, bytes) = &self.part;
        let rest =
            usize::try_from(self.position - start).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        self.position += n as u64;
        Ok(n)
    }
}

impl Seek for RemoteFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
