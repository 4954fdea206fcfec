//! Receives a file: streams it to the disk, unpacks it within limits, and checks it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::multipart::Field;
use capeval_site::blobs::Draft;
use capeval_site::jobs::child;
use capeval_site::prelude::*;
use capeval_tasks::{Allowance, ReadCaptions};
use flate2::read::MultiGzDecoder;
use futures_util::StreamExt;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use zip::ZipArchive;

use super::expected;
use super::records::ReferenceSet;
use super::settings::Phase;
use super::validation::{self, Report};

/// The most entries of a zip archive, with those that are no files.
const ENTRIES: u64 = 16;

/// Uploads that are checked at once.
const CHECKS: usize = 2;

/// Uploads that are checked at once, each of them in memory.
struct Checks(Semaphore);

impl Default for Checks {
    fn default() -> Self {
        Self(Semaphore::new(CHECKS))
    }
}

/// A checked file.
pub struct CheckedFile {
    pub report: Report,
    /// The captions in canonical form, if the file is valid.
    pub canonical: Option<File>,
    pub size: u64,
}

/// Counts an upload of a person, of which a few are received in a minute.
pub fn limit(app: &App, by: &Visitor) -> Result<()> {
    app.limits.take("uploads", &by.id, app.settings.uploads_per_minute)
}

fn too_large(app: &App) -> Fault {
    fault!(PAYLOAD_TOO_LARGE, "upload-too-large", "The file is larger than {} MiB.", app.settings.upload_mib)
}

fn add(app: &App, draft: &mut Draft, chunk: &[u8]) -> Result<()> {
    if draft.size() + chunk.len() as u64 > app.settings.upload_mib << 20 {
        return Err(too_large(app));
    }
    Ok(draft.write_all(chunk)?)
}

/// Receives the body of a request.
pub async fn of_body(app: &App, body: Body) -> Result<Draft> {
    let mut draft = app.blobs.draft()?;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        add(app, &mut draft, &chunk.map_err(|_| broken())?)?;
    }
    Ok(draft)
}

/// Reads a body that is refused, and forgets it: a client that is still sending would not see the answer.
pub async fn discard(app: &App, body: Body) {
    let (mut chunks, mut size) = (body.into_data_stream(), 0);
    while let Some(Ok(chunk)) = chunks.next().await {
        size += chunk.len() as u64;
        if size > app.settings.upload_mib << 20 {
            return;
        }
    }
}

/// Receives a field of a form.
pub async fn of_field(app: &App, field: Field<'_>) -> Result<Draft> {
    receive(app, field, app.blobs.draft()?).await
}

/// The same for what may be references.
pub async fn of_hidden_field(app: &App, field: Field<'_>) -> Result<Draft> {
    receive(app, field, app.hidden.draft()?).await
}

async fn receive(app: &App, mut field: Field<'_>, mut draft: Draft) -> Result<Draft> {
    while let Some(chunk) = field.chunk().await.map_err(|_| broken())? {
        add(app, &mut draft, &chunk)?;
    }
    Ok(draft)
}

/// The fault of an upload that broke off.
pub fn broken() -> Fault {
    fault!(BAD_REQUEST, "broken-upload", "The upload was interrupted. Please try again.")
}

/// Unpacks and checks a file; few at once, since each is held in memory.
///
/// `name` is that of the file, if it is known.
pub async fn check(
    app: &App,
    phase: &Phase,
    sets: &[ReferenceSet],
    draft: &Draft,
    name: Option<&str>,
) -> Result<CheckedFile> {
    if draft.size() == 0 {
        return Err(fault!(UNPROCESSABLE_ENTITY, "no-file", "Choose a file with results."));
    }
    let expected = expected::of(app, sets).await?;
    let checks = app.part::<Checks>();
    let _permit = checks.0.acquire().await.map_err(|error| Fault::internal(&error))?;
    let (limit, most) = (app.settings.unpacked_mib << 20, app.settings.number(&crate::CAPTIONS_MAX) as usize);
    let (known, path) = (Arc::clone(&expected), draft.path().to_owned());
    let (folder, drafts) = (app.blobs.drafts(), app.blobs.drafts());
    let check = move || {
        unpack(&path, limit, |content| {
            validation::check(content, &known, (most, validation::LONGEST), &folder)
        })
    };
    let (size, is_dense) = (draft.size(), capeval_tasks::is_dense(&phase.metrics));
    let checked = if is_dense { None } else { tokio::task::spawn_blocking(check).await?? };
    let foreign = match checked.transpose()? {
        Some((report, canonical)) if !validation::is_foreign(&report, most) => {
            return Ok(CheckedFile { report, canonical, size });
        }
        Some((report, _)) => report,
        None => Report { images: expected.len(), ..Report::default() },
    };
    let folder = TempDir::new_in(app.blobs.drafts())?;
    // Events are checked where they are read.
    let longest = if is_dense { usize::MAX } else { validation::LONGEST };
    let (report, canonical) = match read(app, phase, sets, (draft, name), (most, folder.path())).await {
        Ok(results) => {
            let check = move || validation::check(File::open(results)?, &expected, (most, longest), &drafts);
            tokio::task::spawn_blocking(check).await??
        }
        Err(Failure::Lasting(reason)) => (Report { unreadable: Some(reason), ..foreign }, None),
        Err(Failure::Waiting(_)) => return Err(Fault::unavailable()),
        Err(failure) => return Err(Fault::internal(&failure)),
    };
    Ok(CheckedFile { report, canonical, size })
}

/// Reads a file in any of the other formats, in a child, and returns a list of results in a folder: the captions may
/// take more memory than the file.
async fn read(
    app: &App,
    phase: &Phase,
    sets: &[ReferenceSet],
    (draft, name): (&Draft, Option<&str>),
    (most, folder): (usize, &Path),
) -> Result<PathBuf, Failure> {
    let mut images = Vec::new();
    let metrics = phase.metrics.clone();
    let is_dense = capeval_tasks::is_dense(&metrics);
    let known = |set: &ReferenceSet| if is_dense { set.prepared_hash.clone() } else { set.ids_hash.clone() };
    for hash in &sets.iter().filter_map(known).collect::<Vec<_>>() {
        images.push(app.hidden.ready(hash).await?);
    }
    let file = draft.path().to_owned();
    let allowance = Allowance {
        write: vec![folder.to_owned()],
        ..child::allowance(app, child::readable(app, images.iter().cloned().chain([file.clone()])))
    };
    let (name, results) = (name.map(str::to_owned), folder.join("results.json"));
    let task = ReadCaptions { file, name, images, metrics, most, results: results.clone() };
    child::run(app, allowance, task).await?;
    Ok(results)
}

/// Reads the content of a file that may be compressed by gzip, or a zip archive with one file; `None` for other
/// archives, such as spreadsheets, of which the reader of other formats says what they are. The content is never in
/// memory as a whole: a few bytes decompress to hundreds of megabytes.
fn unpack<T>(path: &Path, limit: u64, read: impl FnOnce(&mut Content<'_>) -> T) -> Result<Option<T>> {
    let mut file = File::open(path)?;
    let mut head = [0; 4];
    let n = read_up_to(&mut file, &mut head)?;
    file.rewind()?;
    match &head[..n] {
        [0x1f, 0x8b, ..] => within(&mut MultiGzDecoder::new(io::BufReader::new(file)), limit, read).map(Some),
        [b'P', b'K', 3 | 5, 4 | 6] => {
            if !has_few_entries(&mut file)? {
                return Ok(None);
            }
            let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(|_| damaged())?;
            let is_file = |archive: &ZipArchive<_>, k: usize| {
                let name = archive.name_for_index(k).and_then(Result::ok).unwrap_or_default();
                !name.ends_with('/') && !name.starts_with("__MACOSX/")
            };
            let files: Vec<usize> = (0..archive.len()).filter(|k| is_file(&archive, *k)).collect();
            let [only] = files[..] else { return Ok(None) };
            let mut entry = archive.by_index(only).map_err(|_| damaged())?;
            within(&mut entry, limit, read).map(Some)
        }
        _ => within(&mut file, limit, read).map(Some),
    }
}

/// Returns true if a zip archive ends with a directory of few entries, all of which the library reads into memory.
fn has_few_entries(file: &mut File) -> Result<bool> {
    const END: usize = 22;
    const LOCATOR: usize = 20;
    let size = file.seek(SeekFrom::End(0))?;
    let start = size.saturating_sub((END + LOCATOR + usize::from(u16::MAX)) as u64);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    file.rewind()?;
    let at = tail.windows(4).rposition(|window| window == b"PK\x05\x06").ok_or_else(damaged)?;
    let (before, end) = tail.split_at(at);
    let number = |places: std::ops::Range<usize>| {
        let bytes = end.get(places).ok_or_else(damaged)?;
        Ok::<_, Fault>(bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    };
    let (entries, length, offset) = (number(10..12)?, number(12..16)?, number(16..20)?);
    // The library would look for another directory if this one did not end here, or for a larger one of Zip64.
    let is_large = before.len() >= LOCATOR && before[before.len() - LOCATOR..].starts_with(b"PK\x06\x07");
    if entries > ENTRIES || is_large {
        return Ok(false);
    }
    if offset + length != start + at as u64 {
        return Err(damaged());
    }
    Ok(true)
}

fn read_up_to(file: &mut File, bytes: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while n < bytes.len() {
        match file.read(&mut bytes[n..])? {
            0 => break,
            more => n += more,
        }
    }
    Ok(n)
}

/// Content as it is read, with limits of its size and, while it is read as JSON, of each of its texts.
struct Content<'c> {
    inner: &'c mut dyn Read,
    limit: u64,
    size: u64,
    /// The bytes of the text of JSON so far, if one has begun.
    text: Option<usize>,
    is_escaped: bool,
    fault: Option<Fault>,
}

impl Read for Content<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(bytes).inspect_err(|_| self.fault = Some(damaged()))?;
        self.size += n as u64;
        if self.size > self.limit {
            self.fault = Some(unpacked_too_large(self.limit));
        }
        if bytes[..n].iter().any(|byte| self.is_beyond(*byte)) {
            self.fault.get_or_insert_with(|| {
                fault! {
                    UNPROCESSABLE_ENTITY, "text-too-long",
                    "A text in the file is longer than {} MiB.", TEXT >> 20
                }
            });
        }
        if self.fault.is_some() { Err(io::ErrorKind::InvalidData.into()) } else { Ok(n) }
    }
}

impl Content<'_> {
    /// Takes a byte of JSON; returns true if a text is longer than any that is meant, which would be in memory.
    fn is_beyond(&mut self, byte: u8) -> bool {
        let Some(length) = self.text else {
            self.text = (byte == b'"').then_some(0);
            return false;
        };
        self.text = (byte != b'"' || self.is_escaped).then_some(length + 1);
        self.is_escaped = byte == b'\\' && !self.is_escaped;
        length >= TEXT
    }
}

/// The most bytes of a text of JSON.
const TEXT: usize = 1 << 20;

/// Reads content up to a limit of its size, to which what `read` leaves counts, too.
fn within<T>(inner: &mut dyn Read, limit: u64, read: impl FnOnce(&mut Content<'_>) -> T) -> Result<T> {
    let mut content = Content { inner, limit, size: 0, text: None, is_escaped: false, fault: None };
    let done = read(&mut content);
    let Content { inner, size, fault, .. } = content;
    if let Some(fault) = fault {
        return Err(fault);
    }
    // What is no JSON may have quotes anywhere.
    let mut rest = inner.take(limit + 1 - size);
    let left = io::copy(&mut rest, &mut io::sink()).map_err(|_| damaged())?;
    if size + left > limit {
        return Err(unpacked_too_large(limit));
    }
    Ok(done)
}

fn unpacked_too_large(limit: u64) -> Fault {
    fault! {
        PAYLOAD_TOO_LARGE, "unpacked-too-large",
        "The file is larger than {} MiB when decompressed.", limit >> 20
    }
}

fn damaged() -> Fault {
    fault!(UNPROCESSABLE_ENTITY, "damaged", "The compressed file is damaged or incomplete.")
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// The content, or the code of the fault; archives of other than one file are `others`.
    fn unpacked(bytes: &[u8], limit: u64) -> Result<Vec<u8>, &'static str> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let read = |content: &mut Content<'_>| {
            let mut bytes = Vec::new();
            let _ = content.read_to_end(&mut bytes);
            bytes
        };
        unpack(file.path(), limit, read).map_err(|fault| fault.code)?.ok_or("others")
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn files_may_be_compressed_once() {
        assert_eq!(unpacked(b"[]", 10).unwrap(), b"[]");
        assert_eq!(unpacked(b"[", 10).unwrap(), b"[");
        assert_eq!(unpacked(&gzip(b"[]"), 10).unwrap(), b"[]");
        assert_eq!(unpacked(&zip(&[("a.json", b"[]"), ("__MACOSX/a", b"x")]), 10).unwrap(), b"[]");
        // A second layer is not unpacked.
        assert_ne!(unpacked(&gzip(&gzip(b"[]")), 100).unwrap(), b"[]");
    }

    #[test]
    fn no_text_is_in_memory_that_is_longer_than_any_that_is_meant() {
        let list = |text: &str| format!("[{{\"image_id\": 1, \"caption\": \"{text}\"}}]");
        let limit = 1 << 30;
        let good = list(&"a \\\" b".repeat(1 << 17));
        assert_eq!(unpacked(&gzip(good.as_bytes()), limit).unwrap(), good.as_bytes());
        for long in ["a".repeat(TEXT + 2), "\\\"".repeat(TEXT), "\\\\".repeat(TEXT)] {
            assert_eq!(unpacked(&gzip(list(&long).as_bytes()), limit), Err("text-too-long"));
        }
        // Texts of any number.
        let many = format!("[{}\"\"]", "\"aaaa\\\\\",".repeat(TEXT));
        assert!(unpacked(&gzip(many.as_bytes()), limit).is_ok());
        // What is left unread counts, too, and is not looked into.
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(list(&"a".repeat(3 * TEXT)).as_bytes()).unwrap();
        let first = |content: &mut Content<'_>| content.read(&mut [0; 10]).unwrap();
        assert_eq!(unpack(file.path(), limit, first).unwrap(), Some(10));
        assert_eq!(unpack(file.path(), 1000, first).unwrap_err().code, "unpacked-too-large");
    }

    #[test]
    fn bombs_and_ruins_are_refused() {
        let zeros = vec![0; 1 << 20];
        assert_eq!(unpacked(&gzip(&zeros), 1000), Err("unpacked-too-large"));
        assert_eq!(unpacked(&zip(&[("a", &zeros)]), 1000), Err("unpacked-too-large"));
        assert_eq!(unpacked(&zip(&[("a", b"x"), ("b", b"y")]), 1000), Err("others"));
        assert_eq!(unpacked(&zip(&[]), 1000), Err("others"));
        let many: Vec<(String, Vec<u8>)> = (0..20).map(|k| (format!("{k}/"), Vec::new())).collect();
        let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
        assert_eq!(unpacked(&zip(&many), 1000), Err("others"));
        // The end of the archive is that of 20 entries; it says that there is one.
        let mut lying = zip(&many);
        let end = lying.len() - 22;
        lying[end + 10] = 1;
        assert_eq!(unpacked(&lying, 1000), Err("damaged"));
        let mut elsewhere = zip(&[("a.json", b"[]")]);
        let end = elsewhere.len() - 22;
        elsewhere[end + 16] += 1;
        assert_eq!(unpacked(&elsewhere, 1000), Err("damaged"));
        let whole = gzip(b"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]");
        assert_eq!(unpacked(&whole[..whole.len() - 9], 1000), Err("damaged"));
        let whole = zip(&[("a.json", b"[]")]);
        assert_eq!(unpacked(&whole[..whole.len() - 9], 1000), Err("damaged"));
    }
}
