//! Settings of a page.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use capeval_choice::{Argument, Refusal, Remedy, system_words};

/// The settings of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The heading; `None` says what is shown.
    pub title: Option<String>,
    /// The number of digits after the point in tables.
    pub digits: usize,
    /// The location of the images' pictures; `None` shows none.
    pub pictures: Option<Pictures>,
    /// Compress long data; if not, the page is larger, but browsers from before 2023 can show it.
    pub compress: bool,
}

impl Default for Page {
    /// Three digits, no pictures, compressed.
    fn default() -> Self {
        Self { title: None, digits: 3, pictures: None, compress: true }
    }
}

/// The location of pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// A URL or path with `{id}`, or `{id:012}` for an id padded with zeros to twelve digits.
    Pattern(String),
    /// For each image of the [`Gallery`](capeval_report::Gallery), the path of its picture relative to the page.
    Files(Vec<Option<String>>),
    /// For each image of the gallery, the file with its picture, which becomes part of the page.
    Embedded(Vec<Option<PathBuf>>),
}

/// The largest size of all files that become part of a page; browsers fail to open larger pages.
const MAX_EMBEDDED: u64 = 400_000_000;

impl Pictures {
    /// Pictures that become part of the page, from a file for each image of the gallery. The files are read while the
    /// page is written.
    ///
    /// # Errors
    /// When there is no file, or the page would be larger than browsers can open.
    pub fn embedded(files: Vec<Option<PathBuf>>) -> Result<Self, Refusal> {
        let sizes = files.iter().flatten().filter_map(|file| Some(fs::metadata(file).ok()?.len()));
        let size: u64 = sizes.sum();
        if files.iter().all(Option::is_none) {
            return Err(Refusal::new(
                "no picture of any image was found, and only files can be put into a page",
            )
            .with_remedy(Remedy::give(Argument::Pictures).to("name the files")));
        }
        if size > MAX_EMBEDDED {
            let link = Remedy::omit(Argument::EmbedPictures).to("link to the pictures");
            let fewer = Remedy::give(Argument::Images).to("show fewer images");
            return Err(Refusal::new(format!(
                "the pictures take {} MB, and browsers cannot open a page with more than {} MB",
                size.div_ceil(1_000_000),
                MAX_EMBEDDED / 1_000_000
            ))
            .with_remedy(link.or(fewer)));
        }
        Ok(Self::Embedded(files))
    }

    /// The sources of pictures for the page's policy.
    pub(crate) fn source(&self) -> String {
        let elsewhere = match self {
            Self::Embedded(_) => return String::new(),
            Self::Files(_) => None,
            Self::Pattern(pattern) => pattern.split_once("://").map(|(scheme, rest)| {
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                (scheme, host.rsplit('@').next().unwrap_or_default())
            }),
        };
        match elsewhere {
            Some((scheme @ ("http" | "https"), host))
                if !host.is_empty()
                    && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(c)) =>
            {
                format!(" {scheme}://{host}")
            }
            _ => " 'self' file:".to_owned(),
        }
    }
}

/// The content of a picture's file as a `data:` URL.
pub(crate) fn data_url(file: &Path) -> io::Result<String> {
    let bytes = fs::read(file).map_err(|error| {
        let words = format!("cannot read the picture {}: {}", file.display(), system_words(&error));
        io::Error::new(error.kind(), words)
    })?;
    let kind = match &bytes[..] {
        [0x89, b'P', b'N', b'G', ..] => "png",
        [b'G', b'I', b'F', ..] => "gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "webp",
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f', ..] => "avif",
        _ => "jpeg",
    };
    Ok(format!("data:image/{kind};base64,{}", BASE64.encode(bytes)))
}
