//! Output options of pages: the file, and the pictures.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::Result;
use capeval::choice::Dialect;
use capeval::corpus::SegmentId;
use capeval::report::{Comparison, Report};
use capeval_files::{PictureFiles, files_of_images, with_id};
use capeval_pages::{self as pages, Page, Pictures};

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
    /// Put the pictures into the page, instead of linking to their files.
    #[arg(long, requires_all = ["pictures", "html"])]
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
            places: Vec::new(),
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
    pub fn open(&self, inputs: &[&str], pictures: &[String], output: &OutputArgs) -> Result<Option<Html>> {
        let Some(path) = &self.page.html else { return Ok(None) };
        let page = self.page.open(inputs, output)?;
        let places: Vec<Place> = pictures
            .iter()
            .zip(PictureFiles::open_all(pictures)?)
            .map(|(source, files)| Place { source: source.clone(), files, page: path.into() })
            .collect();
        if let (Some(place), true) =
            (places.iter().find(|place| place.files.is_address()), self.embed_pictures)
        {
            return Err(fault(
                format!("--embed-pictures reads files, and {} is not a path", place.source),
                "leave it out to link to the pictures",
            ));
        }
        Ok(page.map(|page| Html { places, embedded: self.embed_pictures, ..page }))
    }
}

/// The opened file of a page, with its pictures.
pub struct Html {
    output: Output,
    title: Option<String>,
    digits: usize,
    /// Where the pictures are.
    places: Vec<Place>,
    /// Whether the pictures become part of the page.
    embedded: bool,
}

/// A place where pictures are.
struct Place {
    /// As it was given.
    source: String,
    files: PictureFiles,
    /// The page that shows them.
    page: PathBuf,
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
        let pictures = match (&self.places[..], self.embedded) {
            ([], _) => None,
            (places, false) => Some(linked(places, ids)?),
            (places, true) => Some(embedded(places, ids)?),
        };
        Ok((Page { title: self.title, digits: self.digits, pictures, ..Page::default() }, self.output))
    }
}

impl Place {
    /// The place of each picture, as the page says it.
    fn links(&self, ids: &[SegmentId]) -> Vec<Option<String>> {
        match &self.files {
            PictureFiles::Pattern(pattern) => ids
                .iter()
                .map(|id| Some(with_id(pattern, id)))
                .map(|path| path.filter(|path| self.files.is_address() || Path::new(path).is_file()))
                .collect(),
            PictureFiles::Folder { folder, files } => {
                let folder = from_page(folder, &self.page);
                let link = |file: Option<&str>| Some(format!("{folder}{}", file?));
                files_of_images(files, ids).into_iter().map(link).collect()
            }
            PictureFiles::List { .. } => {
                let mut folders: HashMap<PathBuf, String> = HashMap::new();
                let mut link = |path: Option<PathBuf>| {
                    let path = path?;
                    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
                    let folder =
                        folders.entry(folder).or_insert_with_key(|folder| from_page(folder, &self.page));
                    Some(format!("{folder}{}", path.file_name()?.to_string_lossy()))
                };
                self.files.paths(ids).into_iter().map(&mut link).collect()
            }
        }
    }
}

/// The file of the picture of each image.
fn embedded(places: &[Place], ids: &[SegmentId]) -> Result<Pictures> {
    refuse_folders_of_others(places, ids)?;
    Ok(Pictures::embedded(first_of(places.iter().map(|place| place.files.paths(ids)), ids))?)
}

/// The location of the picture of each image.
fn linked(places: &[Place], ids: &[SegmentId]) -> Result<Pictures> {
    if let [Place { files: PictureFiles::Pattern(pattern), .. }] = places {
        return Ok(Pictures::Pattern(pattern.clone()));
    }
    refuse_folders_of_others(places, ids)?;
    Ok(Pictures::Files(first_of(places.iter().map(|place| place.links(ids)), ids)))
}

/// For each image, what the first place has that has something.
fn first_of<T: Clone>(places: impl Iterator<Item = Vec<Option<T>>>, ids: &[SegmentId]) -> Vec<Option<T>> {
    places.fold(vec![None; ids.len()], |found, more| {
        found.into_iter().zip(more).map(|(found, other)| found.or(other)).collect()
    })
}

/// Refuses folders if no image has a file in them.
fn refuse_folders_of_others(places: &[Place], ids: &[SegmentId]) -> Result<()> {
    let mut n_files = 0;
    for place in places {
        let PictureFiles::Folder { files, .. } = &place.files else { return Ok(()) };
        if files_of_images(files, ids).iter().any(Option::is_some) {
            return Ok(());
        }
        n_files += files.len();
    }
    Err(fault(
        format!("none of the {n_files} files in the folder of --pictures is named after an image id"),
        "name files after ids, such as 42.jpg or COCO_val2014_000000000042.jpg, or pass --pictures a pattern with {id}",
    ))
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
        let files = PictureFiles::Folder { files: files.to_vec(), folder: "p".into() };
        let place = Place { source: "p".into(), files, page: "reports/page.html".into() };
        let ids = [
            SegmentId::from(42),
            SegmentId::from(7),
            SegmentId::from("a b"),
            SegmentId::from("42.jpg"),
            SegmentId::from(9),
            SegmentId::from("none"),
        ];
        let Pictures::Files(found) = linked(&[place], &ids).unwrap() else { panic!("a folder") };
        let found: Vec<&str> = found.iter().map(|file| file.as_deref().unwrap_or("-")).collect();
        let coco = "../p/COCO_val2014_000000000007.jpg";
        assert_eq!(found, ["../p/42.jpg", coco, "../p/a b.png", "../p/42.jpg", "../p/ü9.png", "-"]);
    }

    #[test]
    fn the_first_place_that_has_a_picture_shows_it() {
        let place = |name: &str, folder: &str| Place {
            source: String::new(),
            files: PictureFiles::Folder { files: vec![name.to_owned()], folder: folder.into() },
            page: "reports/page.html".into(),
        };
        let places = [place("1.jpg", "a"), place("1.png", "b"), place("2.png", "c")];
        let ids = [1, 2].map(SegmentId::from);
        let Pictures::Files(found) = linked(&places, &ids).unwrap() else { panic!("folders") };
        assert_eq!(found, [Some("../a/1.jpg".to_owned()), Some("../c/2.png".to_owned())]);
    }
}
