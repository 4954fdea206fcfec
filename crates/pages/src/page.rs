//! Settings of a page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

/// The settings of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The heading; `None` says what is shown.
    pub title: Option<String>,
    /// The number of digits after the point in tables.
    pub digits: usize,
    /// The location of the images' pictures; `None` shows none.
    pub pictures: Option<Pictures>,
    /// Whether to compress long data; if not, the page is larger, but browsers from before 2023 can show it.
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
    /// For each image of the gallery, its picture as a `data:` URL.
    Embedded(Vec<Option<String>>),
}

impl Pictures {
    /// Pictures that are part of the page, from the content of a file for each image of the gallery.
    pub fn embedded<P: AsRef<[u8]>>(files: impl IntoIterator<Item = Option<P>>) -> Self {
        let url = |file: P| {
            let bytes = file.as_ref();
            let kind = match bytes {
                [0x89, b'P', b'N', b'G', ..] => "png",
                [b'G', b'I', b'F', ..] => "gif",
                [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "webp",
                [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f', ..] => "avif",
                _ => "jpeg",
            };
            format!("data:image/{kind};base64,{}", BASE64.encode(bytes))
        };
        Self::Embedded(files.into_iter().map(|file| file.map(url)).collect())
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
