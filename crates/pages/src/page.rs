//! Settings of a page.

/// The settings of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The heading, such as the names of the systems.
    pub title: String,
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
        Self { title: "Caption scores".into(), digits: 3, pictures: None, compress: true }
    }
}

/// The location of pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// A URL or path with `{id}`, or `{id:012}` for an id padded with zeros to twelve digits.
    Pattern(String),
    /// For each image of the [`Gallery`](capeval_report::Gallery), the path of its picture relative to the page.
    Files(Vec<Option<String>>),
}

impl Pictures {
    /// The sources of pictures for the page's policy.
    pub(crate) fn source(&self) -> String {
        let elsewhere = match self {
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
