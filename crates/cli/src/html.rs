//! Output options of pages: the file, and the pictures.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::Result;
use capeval::choice::{Dialect, system_words};
use capeval::corpus::SegmentId;
use capeval::report::{Comparison, Report};
use capeval_pages::{self as pages, Page, Pictures};
use indicatif::DecimalBytes;

use crate::fault::{Flags, fault};
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::progress::Bar;

/// Options for a page without images.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct PageArgs {
    /// Write a page with tables and charts to this file; the page needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Title of the page [default: what it shows].
    #[arg(long, value_name = "TEXT", requires = "html")]
    title: Option<String>,
}

/// Options for a page with images.
#[derive(clap::Args)]
#[command(next_help_heading = "Output", mut_arg("html", |arg| arg.help(WITH_IMAGES)))]
pub struct ImagePageArgs {
    #[command(flatten)]
    page: PageArgs,
    /// Pictures for the page: a folder with files named after image ids, or a path or URL with {id}, or {id:012} for an
    /// id padded with zeros.
    #[arg(long, value_name = "DIR|PATTERN", requires = "html")]
    pictures: Option<String>,
    /// Put the pictures into the page, instead of linking to their files.
    #[arg(long, requires = "pictures")]
    embed_pictures: bool,
}

const WITH_IMAGES: &str =
    "Write a page with scores, charts and every image to this file; the page needs no network";

impl PageArgs {
    /// Opens the page, if one is requested; it must not be among `inputs`.
    pub fn open(&self, inputs: &[&str], output: &OutputArgs) -> Result<Option<Html>> {
        let Some(path) = &self.html else { return Ok(None) };
        if path == capeval_files::STDIN {
            return Err(fault(
                "a page cannot be written to standard output",
                "name a file that a browser can open",
            ));
        }
        let file = Output::open(Some(path), inputs)?;
        output.check_other(path, "--html")?;
        Ok(Some(Html {
            output: file,
            title: self.title.clone(),
            digits: output.digits(),
            pictures: None,
            embedded: false,
        }))
    }
}

impl PageArgs {
    /// As [`PageArgs::open`], with the digits of scores times 100.
    pub fn open_in_percent(&self, inputs: &[&str], output: &OutputArgs) -> Result<Option<Html>> {
        let page = self.open(inputs, output)?;
        Ok(page.map(|page| Html { digits: output.digits_of_percent(), ..page }))
    }
}

impl ImagePageArgs {
    /// Opens the page, if one is requested, and looks for the pictures.
    pub fn open(&self, inputs: &[&str], output: &OutputArgs) -> Result<Option<Html>> {
        let Some(path) = &self.page.html else { return Ok(None) };
        let page = self.page.open(inputs, output)?;
        let pictures = self.pictures.as_deref().map(|source| Source::of(source, path)).transpose()?;
        if let (Some(Source::Pattern(pattern)), true) = (&pictures, self.embed_pictures)
            && pattern.contains("://")
        {
            return Err(fault(
                format!("--embed-pictures reads files, and {pattern} is not a path"),
                "leave it out to link to the pictures",
            ));
        }
        Ok(page.map(|page| Html { pictures, embedded: self.embed_pictures, ..page }))
    }
}

/// The opened file of a page, with its pictures.
pub struct Html {
    output: Output,
    title: Option<String>,
    digits: usize,
    pictures: Option<Source>,
    /// Whether the pictures become part of the page.
    embedded: bool,
}

/// The source of the pictures.
enum Source {
    Pattern(String),
    /// The names of the files in a folder, the folder, and its path relative to the page.
    Folder {
        files: Vec<String>,
        folder: PathBuf,
        from_page: String,
    },
}

impl Html {
    /// Writes the page.
    pub fn write(self, report: &Report, bar: &Bar) -> Result<()> {
        let (page, output) = self.page(report)?;
        output.write(|out| {
            bar.write_page(report, |advance| pages::report(report, &page, &Flags::Usual, advance, out))
        })
    }

    /// Writes the page of a comparison.
    pub fn write_comparison(self, comparison: &Comparison, bar: &Bar) -> Result<()> {
        let (page, output) = self.page(&comparison.report)?;
        output.write(|out| {
            bar.write_page(&comparison.report, |advance| {
                pages::comparison(comparison, &page, &Flags::Usual, advance, out)
            })
        })
    }

    /// Writes a page without images.
    pub fn write_plain<T>(
        self,
        found: &T,
        write: fn(&T, &Page, &dyn Dialect, &mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let page = Page { title: self.title, digits: self.digits, ..Page::default() };
        self.output.write(|out| write(found, &page, &Flags::Usual, out))
    }

    fn page(self, report: &Report) -> Result<(Page, Output)> {
        let ids = report.gallery.as_ref().map_or(&[][..], |gallery| &gallery.ids);
        let pictures = match (self.pictures, self.embedded) {
            (None, _) => None,
            (Some(source), false) => Some(source.of_images(ids)?),
            (Some(source), true) => Some(source.read(ids)?),
        };
        Ok((Page { title: self.title, digits: self.digits, pictures, ..Page::default() }, self.output))
    }
}

/// The largest size of all pictures of a page; browsers fail to open larger pages.
const MAX_EMBEDDED: u64 = 400_000_000;

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
        let from_page = from_page(folder, Path::new(page));
        Ok(Self::Folder { files, folder: folder.to_owned(), from_page })
    }

    /// The content of the picture of each image.
    fn read(self, ids: &[SegmentId]) -> Result<Pictures> {
        let paths: Vec<Option<PathBuf>> = match self {
            Self::Pattern(pattern) => ids.iter().map(|id| Some(with_id(&pattern, id).into())).collect(),
            Self::Folder { files, folder, .. } => files_of_images(&files, ids)?
                .into_iter()
                .map(|file| file.map(|file| folder.join(file)))
                .collect(),
        };
        let paths: Vec<Option<PathBuf>> =
            paths.into_iter().map(|path| path.filter(|path| path.is_file())).collect();
        if paths.iter().all(Option::is_none) {
            return Err(fault("--embed-pictures: no picture of any image was found", "check --pictures"));
        }
        let size: u64 = paths.iter().flatten().filter_map(|path| Some(fs::metadata(path).ok()?.len())).sum();
        if size > MAX_EMBEDDED {
            return Err(fault(
                format!(
                    "--embed-pictures: the pictures take {}, and browsers cannot open a page with more than {}",
                    DecimalBytes(size),
                    DecimalBytes(MAX_EMBEDDED)
                ),
                "leave it out to link to the pictures, or pass --images FILE to show fewer images",
            ));
        }
        let read = |path: Option<PathBuf>| path.map(|path| Ok(capeval_files::open(&path.to_string_lossy())?));
        let files = paths.into_iter().map(|path| read(path).transpose()).collect::<Result<Vec<_>>>()?;
        Ok(Pictures::embedded(files))
    }

    /// The location of the picture of each image.
    fn of_images(self, ids: &[SegmentId]) -> Result<Pictures> {
        match self {
            Self::Pattern(pattern) => Ok(Pictures::Pattern(pattern)),
            Self::Folder { files, from_page, .. } => {
                let found = files_of_images(&files, ids)?;
                Ok(Pictures::Files(
                    found.into_iter().map(|file| Some(format!("{from_page}{}", file?))).collect(),
                ))
            }
        }
    }
}

/// The file of each image; refused if no image has one.
fn files_of_images<'f>(files: &'f [String], ids: &[SegmentId]) -> Result<Vec<Option<&'f str>>> {
    let found = capeval_files::files_of_images(files, ids);
    if found.iter().all(Option::is_none) {
        return Err(fault(
            format!(
                "none of the {} files in the folder of --pictures is named after an image id",
                files.len()
            ),
            "name files after ids, such as 42.jpg or COCO_val2014_000000000042.jpg, or pass --pictures a pattern with \
             {id}",
        ));
    }
    Ok(found)
}

/// The pattern with `{id}`, or `{id:012}` for an id padded with zeros, replaced.
fn with_id(pattern: &str, id: &SegmentId) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once("{id") {
        text.push_str(before);
        let Some((width, behind)) = after.split_once('}') else { break };
        let width = width.strip_prefix(":0").filter(|width| width.len() <= 2);
        let width = width.and_then(|width| width.parse().ok()).unwrap_or(0_usize);
        text.push_str(&format!("{:0>width$}", id.to_string()));
        rest = behind;
    }
    text + rest
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
        let source = Source::Folder { files: files.to_vec(), folder: "p".into(), from_page: "../p/".into() };
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

    #[test]
    fn ids_in_patterns_are_padded() {
        let id = SegmentId::from(7);
        assert_eq!(with_id("a/{id}/COCO_{id:012}.jpg", &id), "a/7/COCO_000000000007.jpg");
        assert_eq!(with_id("plain", &id), "plain");
        assert_eq!(with_id("{id:070000}", &id), "7", "no more than 99 digits");
    }
}
