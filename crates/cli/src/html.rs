//! Output options of pages: the file, and the pictures.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Result, bail};
use capeval::choice::system_words;
use capeval::corpus::SegmentId;
use capeval::pages::{self, Page, Pictures};
use capeval::report::{Comparison, Correlation, Report};

use crate::fault::{Flags, fault};
use crate::output::Output;
use crate::shown::Shown;

/// Options for the page.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct Pages {
    /// Write a page with scores, charts and every image to this file; the page needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Pictures for the page: a folder with files named after image ids, or a path or URL with {id}, or {id:012} for an
    /// id padded with zeros.
    #[arg(long, value_name = "DIR|PATTERN", requires = "html")]
    pictures: Option<String>,
}

impl Pages {
    /// Opens the page, if one is requested; see [`Html::open`].
    ///
    /// # Errors
    /// As [`Html::open`], and when the report or the segments have the same path.
    pub fn open(&self, inputs: &[&str], shown: &Shown) -> Result<Option<Html>> {
        let Some(path) = &self.html else { return Ok(None) };
        let page = Html::open(path, self.pictures.as_deref(), inputs, shown.digits())?;
        shown.check_page(path)?;
        Ok(Some(page))
    }
}

/// The opened file of a page, with its pictures.
pub struct Html {
    output: Output,
    digits: usize,
    pictures: Option<Source>,
}

/// The source of the pictures.
enum Source {
    Pattern(String),
    /// The names of the files in a folder, and the path of the folder relative to the page.
    Folder {
        files: Vec<String>,
        from_page: String,
    },
}

impl Html {
    /// Opens the file `path`, which must not be among `inputs`, and looks for the pictures.
    ///
    /// # Errors
    /// When the file cannot be written, or `pictures` is neither a folder nor a pattern.
    fn open(path: &str, pictures: Option<&str>, inputs: &[&str], digits: usize) -> Result<Self> {
        if path == capeval_files::STDIN {
            return Err(fault(
                "a page cannot be written to standard output",
                "name a file that a browser can open",
            ));
        }
        let pictures = pictures.map(|source| Source::of(source, path)).transpose()?;
        Ok(Self { output: Output::open(Some(path), inputs)?, digits, pictures })
    }

    /// Writes the page.
    ///
    /// # Errors
    /// When the file cannot be written, or a folder contains no picture of any image.
    pub fn write(self, report: &Report) -> Result<()> {
        let (page, output) = self.page(report)?;
        output.write(|out| pages::report(report, &page, &Flags::Usual, out))
    }

    /// Writes the page of a comparison.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_comparison(self, comparison: &Comparison) -> Result<()> {
        let (page, output) = self.page(&comparison.report)?;
        output.write(|out| pages::comparison(comparison, &page, &Flags::Usual, out))
    }

    /// Writes the page of a correlation, which shows no images.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_correlation(self, found: &Correlation) -> Result<()> {
        let page = Page { title: "Agreement with people".into(), digits: self.digits, ..Page::default() };
        self.output.write(|out| pages::correlation(found, &page, &Flags::Usual, out))
    }

    /// Opens a page without pictures.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn plain(path: Option<&str>, inputs: &[&str], digits: usize) -> Result<Option<Self>> {
        path.map(|path| Self::open(path, None, inputs, digits)).transpose()
    }

    fn page(self, report: &Report) -> Result<(Page, Output)> {
        let ids = report.gallery.as_ref().map_or(&[][..], |gallery| &gallery.ids);
        let pictures = self.pictures.map(|source| source.of_images(ids)).transpose()?;
        let names: Vec<&str> = report.systems.iter().map(|system| system.name.as_str()).collect();
        let title = match &names[..] {
            [] => "Caption scores".to_owned(),
            names if names.len() <= 3 => names.join(", "),
            names => format!("{} systems", names.len()),
        };
        Ok((Page { title, digits: self.digits, pictures, ..Page::default() }, self.output))
    }
}

impl Source {
    fn of(source: &str, page: &str) -> Result<Self> {
        if source.contains("{id") {
            return Ok(Self::Pattern(source.to_owned()));
        }
        let folder = Path::new(source);
        let listed = fs::read_dir(folder).map_err(|error| {
            fault(
                format!("{source}: cannot look for pictures: {}", system_words(&error)),
                "name a folder, or a pattern with {id}",
            )
        })?;
        let mut files: Vec<String> =
            listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        files.sort_unstable();
        Ok(Self::Folder { files, from_page: from_page(folder, Path::new(page)) })
    }

    /// The picture of each image: the file named after its id, with or without an extension, or, if the id is a number,
    /// a file whose name ends with that number, as in COCO.
    fn of_images(self, ids: &[SegmentId]) -> Result<Pictures> {
        let (files, from_page) = match self {
            Self::Pattern(pattern) => return Ok(Pictures::Pattern(pattern)),
            Self::Folder { files, from_page } => (files, from_page),
        };
        let mut by_name: HashMap<&str, &str> = HashMap::new();
        let mut by_number: HashMap<i64, &str> = HashMap::new();
        for file in &files {
            let stem = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem);
            by_name.entry(stem).or_insert(file);
            let digits = stem
                .rfind(|c: char| !c.is_ascii_digit())
                .map_or(0, |last| last + stem[last..].chars().next().map_or(1, char::len_utf8));
            let number = stem.get(digits..).and_then(|digits| digits.parse().ok());
            if let Some(number) = number {
                by_number.entry(number).or_insert(file);
            }
        }
        for file in &files {
            by_name.insert(file, file);
        }
        let found: Vec<Option<String>> = ids
            .iter()
            .map(|id| {
                let name = id.to_string();
                let number = match id {
                    SegmentId::Integer(number) => by_number.get(number),
                    SegmentId::Text(_) => None,
                };
                by_name.get(name.as_str()).or(number).map(|file| format!("{from_page}{file}"))
            })
            .collect();
        if found.iter().all(Option::is_none) {
            bail!("none of the {} files in the folder of --pictures is named after an image id", files.len());
        }
        Ok(Pictures::Files(found))
    }
}

/// The path of `folder` relative to the page, with a slash at its end.
fn from_page(folder: &Path, page: &Path) -> String {
    let absolute = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let home = match page.parent() {
        Some(parent) if parent != Path::new("") => absolute(parent),
        _ => absolute(Path::new(".")),
    };
    let folder = absolute(folder);
    let shared = folder.components().zip(home.components()).take_while(|(a, b)| a == b).count();
    let up = home.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(folder.components().skip(shared)).collect();
    let mut text = path.to_string_lossy().replace('\\', "/");
    if !text.is_empty() {
        text.push('/');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_found_by_name_or_by_the_number_at_its_end() {
        let files = ["42.jpg", "COCO_val2014_000000000007.jpg", "a b.png", "ü9.png"].map(str::to_owned);
        let source = Source::Folder { files: files.to_vec(), from_page: "../p/".into() };
        let ids = [
            SegmentId::from(42),
            SegmentId::from(7),
            SegmentId::from("a b"),
            SegmentId::from("42.jpg"),
            SegmentId::from(9),
            SegmentId::from("none"),
        ];
        let Pictures::Files(found) = source.of_images(&ids).unwrap() else { panic!("a folder") };
        let found: Vec<&str> = found.iter().map(|file| file.as_deref().unwrap_or("-")).collect();
        let coco = "../p/COCO_val2014_000000000007.jpg";
        assert_eq!(found, ["../p/42.jpg", coco, "../p/a b.png", "../p/42.jpg", "../p/ü9.png", "-"]);
    }
}
