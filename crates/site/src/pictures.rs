//! Pictures that people upload: encoded again in the sandbox, kept, and sent as files.
//!
//! A child process without network access decodes each upload with limits and encodes it again, so neither metadata nor
//! data appended to a picture is kept, and a decompression bomb costs one job.

use std::path::{Path, PathBuf};

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use capeval_tasks::{Allowance, Picture, PictureFacts, Unfit};
use tempfile::TempDir;

use crate::app::App;
use crate::blobs::Blobs;
use crate::fault::{Fault, Result};
use crate::ids;
use crate::jobs::{Failure, child};
use crate::web::language::say;

/// Bytes of address space for a picture.
const MEMORY: u64 = 2 << 30;

/// Seconds of processor time for a picture.
const SECONDS: u64 = 120;

/// The content security policy of a picture that a browser shows by itself.
const POLICY: &str = "default-src 'none'; sandbox";

const WRONG_TYPE: &str = say("It is not a JPEG, PNG or WebP picture.");
const DAMAGED: &str = say("The file is damaged or not complete.");
const WRONG_SIZE: &str =
    say("A picture has 64 to 8,192 pixels on each side, and at most 40 million pixels in all.");

/// The reasons why a picture is refused, for its uploader.
pub const REFUSALS: [&str; 3] = [WRONG_TYPE, DAMAGED, WRONG_SIZE];

/// A picture that was encoded again.
#[derive(Debug)]
pub struct RewrittenPicture {
    /// The facts about it.
    pub pictured: PictureFacts,
    /// The hash of the picture.
    pub blob: String,
    /// The hash of the small picture.
    pub thumb: String,
    /// The bytes of the picture.
    pub size: u64,
}

/// A picture that was encoded again, with a small copy of it, in a folder that lives as long.
#[derive(Debug)]
pub struct EncodedPicture {
    /// The facts about it.
    pub pictured: PictureFacts,
    folder: TempDir,
}

impl EncodedPicture {
    /// The file of the picture, and that of the small one.
    fn files(folder: &Path) -> [PathBuf; 2] {
        ["picture", "thumb"].map(|name| folder.join(name))
    }

    /// The hash that the file will be kept under.
    pub fn hash(&self) -> std::io::Result<String> {
        let [picture, _] = Self::files(self.folder.path());
        ids::digest_of(std::fs::File::open(picture)?)
    }

    /// Keeps the files among the blobs.
    pub async fn keep(self, blobs: &Blobs) -> Result<RewrittenPicture, Failure> {
        let Self { pictured, folder } = self;
        let blobs = blobs.clone();
        let keep = move || {
            let files = Self::files(folder.path());
            let size = std::fs::metadata(&files[0])?.len();
            let [picture, thumb] = files.map(|path| blobs.put(std::fs::File::open(path)?));
            Ok::<_, std::io::Error>((picture?, thumb?, size))
        };
        let (blob, thumb, size) = tokio::task::spawn_blocking(keep).await??;
        Ok(RewrittenPicture { pictured, blob, thumb, size })
    }
}

/// Encodes a picture of the blobs again, and a small copy of it, and keeps both.
///
/// # Errors
/// With a sentence for the uploader, if it is not taken.
pub async fn rewrite(app: &App, upload: &str) -> Result<RewrittenPicture, Failure> {
    encode(app, app.blobs.ready(upload).await?).await?.keep(&app.blobs).await
}

/// Encodes the picture of a file, and a small copy of it.
///
/// # Errors
/// With a sentence for the uploader, if it is not taken.
pub async fn encode(app: &App, source: PathBuf) -> Result<EncodedPicture, Failure> {
    let folder = TempDir::new_in(app.blobs.drafts())?;
    let [picture, thumb] = EncodedPicture::files(folder.path());
    let allowance = Allowance {
        write: vec![folder.path().to_owned()],
        memory: MEMORY.min(app.settings.job_memory_mib << 20),
        seconds: SECONDS,
        // Uploads of many people at once must not slow down the pages.
        gives_way: true,
        ..child::allowance(app, vec![source.clone()])
    };
    let pictured = child::run(app, allowance, Picture { source, picture, thumb }).await?;
    let pictured = pictured.map_err(|unfit| Failure::Lasting(why(unfit).to_owned()))?;
    Ok(EncodedPicture { pictured, folder })
}

/// The reason why a picture is refused, for its uploader.
fn why(unfit: Unfit) -> &'static str {
    match unfit {
        Unfit::WrongType => WRONG_TYPE,
        Unfit::Damaged => DAMAGED,
        Unfit::WrongSize => WRONG_SIZE,
    }
}

/// Sends a picture of the blobs to browsers, which ask for it again each time.
pub async fn send(
    app: &App,
    hash: Option<&String>,
    kind: &'static str,
    headers: &HeaderMap,
) -> Result<Response> {
    let hash = hash.ok_or_else(Fault::not_found)?.clone();
    let tag = format!("\"{hash}\"");
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let shared = [
        // Browsers ask again each time, so that a picture that is taken away is gone from them as well.
        (header::CACHE_CONTROL, "private, no-cache".to_owned()),
        (header::ETAG, tag.clone()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin".to_owned()),
    ];
    if known == Some(tag.as_str()) {
        return Ok((StatusCode::NOT_MODIFIED, shared).into_response());
    }
    let blobs = app.blobs.clone();
    let bytes = tokio::task::spawn_blocking(move || blobs.read(&hash)).await??;
    Ok((shared, [(header::CONTENT_TYPE, kind)], bytes).into_response())
}
