//! The file of a page, and its pictures.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;
use capeval::corpus::SegmentId;
use capeval::report::Study;
use capeval_files::{PictureFiles, files_of_images, with_id};
use capeval_pages::{self as pages, Page, Pictures};

use crate::fault::{Flags, fault};
use crate::output::Output;
use crate::progress::Bar;

/// The opened file of a page, with its pictures.
pub struct Html {
    output: Output,
    title: Option<String>,
    /// Where the pictures are.
    places: Vec<Place>,
    /// True if the page embeds the pictures.
    embedded: bool,
}

/// A place where pictures are.
pub struct Place {
    /// As it was given.
    pub source: String,
    pub files: PictureFiles,
    /// The page that shows them.
    pub page: PathBuf,
}

impl Html {
    /// A page without pictures.
    pub fn new(output: Output, title: Option<String>) -> Self {
        Self { output, title, places: Vec::new(), embedded: false }
    }

    /// The same with pictures from these places.
    pub fn with_pictures(self, places: Vec<Place>, embedded: bool) -> Self {
        Self { places, embedded, ..self }
    }

    /// Writes the page.
    pub fn write(self, study: &dyn Study, digits: usize, bar: &Bar) -> Result<()> {
        let gallery = study.details().report().and_then(|report| report.gallery.as_ref());
        let ids = gallery.map_or(&[][..], |gallery| &gallery.ids);
        let pictures = match (&self.places[..], self.embedded) {
            ([], _) => None,
            (places, false) => Some(linked(places, ids)?),
            (places, true) => Some(embedded(places, ids)?),
        };
        let page = Page { title: self.title, digits, pictures, ..Page::default() };
        self.output.write(|out| {
            bar.write_page(ids.len(), |advance| pages::write(study, &page, &Flags::Usual, advance, out))
        })
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
