//! Finds the files of images: those of a folder by their names, those that a pattern matches, or those that a file
//! lists.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use capeval::corpus::read_picture_names;
use capeval::{Picture, PictureSource};
use capeval_choice::{Refusal, SegmentId, system_words};

use crate::{Error, expanded};

/// The place of the pictures of images.
pub enum PictureFiles {
    /// A path or an address with `{id}`, or `{id:012}` for an id padded with zeros.
    Pattern(String),
    /// A folder with files that are named after ids.
    Folder {
        /// The path of the folder.
        folder: PathBuf,
        /// The names of its files.
        files: Vec<String>,
    },
    /// A file that names the picture of each image.
    List {
        /// The paths by ids.
        paths: HashMap<String, String>,
        /// The folders in which they may be, in order.
        folders: Vec<PathBuf>,
    },
}

impl PictureFiles {
    /// Opens places: patterns, folders, and files that list pictures, which are in these folders or beside the file.
    ///
    /// # Errors
    /// When there is no such folder or file, or a file lists no pictures.
    pub fn open_all<S: AsRef<str>>(sources: &[S]) -> Result<Vec<Self>, Error> {
        let is_folder = |path: &PathBuf| path.is_dir();
        let path_of = |source: &S| PathBuf::from(&*expanded(source.as_ref()));
        let folders: Vec<PathBuf> = sources.iter().map(path_of).filter(is_folder).collect();
        sources.iter().map(|source| Self::open(source.as_ref(), &folders)).collect()
    }

    fn open(source: &str, folders: &[PathBuf]) -> Result<Self, Error> {
        if source.contains("{id") {
            return Ok(Self::Pattern(source.to_owned()));
        }
        let folder = PathBuf::from(&*expanded(source));
        if folder.is_file() {
            let paths = read_picture_names(&crate::open(source)?, source)?;
            let beside = folder.parent().map(Path::to_owned);
            return Ok(Self::List {
                paths: paths.into_iter().map(|(id, path)| (id.to_string(), path)).collect(),
                folders: folders.iter().cloned().chain(beside).collect(),
            });
        }
        let listed = fs::read_dir(&folder).map_err(|error| {
            let refusal = Refusal::new(format!("cannot look for pictures: {}", system_words(&error)));
            Error::content(
                source,
                refusal.with_remedy("name a folder, a pattern with {id}, or a file that lists pictures"),
            )
        })?;
        let mut files: Vec<String> =
            listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        files.sort_unstable();
        Ok(Self::Folder { folder, files })
    }

    /// Returns true if it is an address, at which no file is.
    pub fn is_address(&self) -> bool {
        matches!(self, Self::Pattern(pattern) if pattern.contains("://"))
    }

    /// The file of each image, if there is one.
    pub fn paths(&self, ids: &[SegmentId]) -> Vec<Option<PathBuf>> {
        let is_file = |path: &PathBuf| path.is_file();
        match self {
            Self::Pattern(pattern) => ids
                .iter()
                .map(|id| Some(PathBuf::from(&*expanded(&with_id(pattern, id)))).filter(is_file))
                .collect(),
            Self::Folder { folder, files } => files_of_images(files, ids)
                .into_iter()
                .map(|file| Some(folder.join(file?)).filter(is_file))
                .collect(),
            Self::List { paths, folders } => {
                let find = |id: &SegmentId| {
                    let path = paths.get(&id.to_string())?;
                    folders.iter().map(|folder| folder.join(path)).find(is_file)
                };
                ids.iter().map(find).collect()
            }
        }
    }
}

/// The pictures for metrics that look at them: in each of these places, the first of which has precedence.
pub struct PicturePlaces {
    places: Vec<PictureFiles>,
    /// Their name for people.
    name: String,
}

impl PicturePlaces {
    /// The pictures in these folders, and those that these patterns and files name.
    pub fn open<S: AsRef<str>>(sources: &[S]) -> Result<Self, Error> {
        let sources: Vec<&str> = sources.iter().map(AsRef::as_ref).collect();
        let places = PictureFiles::open_all(&sources)?;
        if let Some((source, _)) = sources.iter().zip(&places).find(|(_, place)| place.is_address()) {
            let refusal = Refusal::new("metrics look at files, and this is an address");
            return Err(Error::content(
                source,
                refusal.with_remedy("fetch the pictures, and name their folder"),
            ));
        }
        Ok(Self { places, name: sources.join(", ") })
    }
}

impl PictureSource for PicturePlaces {
    fn of(&self, images: &[&SegmentId]) -> Result<Vec<Option<Picture>>, Refusal> {
        let ids: Vec<SegmentId> = images.iter().map(|id| (*id).clone()).collect();
        let mut found: Vec<Option<PathBuf>> = vec![None; ids.len()];
        for place in &self.places {
            for (found, path) in found.iter_mut().zip(place.paths(&ids)) {
                *found = found.take().or(path);
            }
        }
        found.iter().map(|path| path.as_deref().map(picture_file).transpose()).collect()
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// The picture in a file.
///
/// # Errors
/// When there is no such file.
pub fn picture_file(path: &Path) -> Result<Picture, Refusal> {
    let state = fs::metadata(path).and_then(|metadata| {
        let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let path = std::path::absolute(path)?.to_string_lossy().into_owned();
        let state = format!("{} {}{}", metadata.len(), changed.as_nanos(), written_at(&metadata));
        Ok((path, state, metadata.is_file()))
    });
    match state {
        Ok((path, state, true)) => Ok(Picture::File { path, state }),
        Ok((path, ..)) => Err(Refusal::new("no file").at(path)),
        Err(error) => {
            let refusal = Refusal::new(format!("cannot open the picture: {}", system_words(&error)));
            Err(refusal.at(path.display()))
        }
    }
}

/// The time at which a file was last written, as far as the system tells it: no program can set it, as it can the time
/// of the last change.
fn written_at(metadata: &fs::Metadata) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        format!(" {}.{:09}", metadata.ctime(), metadata.ctime_nsec())
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        String::new()
    }
}

/// The pattern with `{id}`, or `{id:012}` for an id padded with zeros, replaced.
pub fn with_id(pattern: &str, id: &SegmentId) -> String {
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

/// The file of each image: the one named after its id, with or without an extension, or, if the id is a number, one
/// whose name ends with that number, as in COCO.
pub fn files_of_images<'f>(files: &'f [String], ids: &[SegmentId]) -> Vec<Option<&'f str>> {
    let mut by_name: HashMap<&str, &str> = HashMap::new();
    let mut by_number: HashMap<i64, &str> = HashMap::new();
    for file in files {
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
    for file in files {
        by_name.insert(file, file);
    }
    let of = |id: &SegmentId| {
        let text = id.to_string();
        // A number may be written as text.
        let number = || text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        by_name.get(text.as_str()).copied().or_else(|| by_number.get(&number()?).copied())
    };
    ids.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_numbers_and_whole_names_before_stems() {
        let files = ["42", "42.jpg", "7.png", "COCO_val2014_000000000007.jpg", "a b.png", "ü9.png"];
        let files = files.map(str::to_owned);
        let ids = [SegmentId::from(42), SegmentId::from(7), SegmentId::from(9), SegmentId::from(8)];
        assert_eq!(files_of_images(&files, &ids), [Some("42"), Some("7.png"), Some("ü9.png"), None]);
        let ids = ["a b", "42.jpg", "COCO_val2014_000000000007", "b"].map(SegmentId::from);
        let named = [Some("a b.png"), Some("42.jpg"), Some("COCO_val2014_000000000007.jpg"), None];
        assert_eq!(files_of_images(&files, &ids), named);
        let ids = ["9", "09", "-9", ""].map(SegmentId::from);
        let numbers = [Some("ü9.png"), Some("ü9.png"), None, None];
        assert_eq!(files_of_images(&files, &ids), numbers, "numbers that are written as text");
    }

    #[test]
    fn ids_in_patterns_are_padded() {
        let id = SegmentId::from(7);
        assert_eq!(with_id("a/{id}/COCO_{id:012}.jpg", &id), "a/7/COCO_000000000007.jpg");
        assert_eq!(with_id("plain", &id), "plain");
        assert_eq!(with_id("{id:070000}", &id), "7", "no more than 99 digits");
    }

    #[test]
    fn a_file_names_pictures_in_folders_and_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::create_dir_all(path("val/deep")).unwrap();
        for name in ["val/x.jpg", "val/deep/y.png", "z.gif"] {
            fs::write(path(name), name).unwrap();
        }
        fs::write(path("list.csv"), "image_id,path\n1,x.jpg\n02,deep/y.png\n3,z.gif\n4,none.jpg\n").unwrap();
        let places = PictureFiles::open_all(&[path("list.csv"), path("val")]).unwrap();
        let ids = [SegmentId::from(1), SegmentId::from("02"), SegmentId::from(3), SegmentId::from(4)];
        let found =
            places[0].paths(&ids).into_iter().map(|found| found.map(|found| found.display().to_string()));
        let expected = ["val/x.jpg", "val/deep/y.png", "z.gif"].map(|name| Some(path(name)));
        assert_eq!(found.collect::<Vec<_>>(), [&expected[..], &[None]].concat());
    }

    #[test]
    fn pictures_for_metrics_are_files_in_one_of_several_places() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::create_dir_all(path("a/7.jpg")).unwrap();
        fs::create_dir(path("b")).unwrap();
        for (name, content) in
            [("a/1.png", "one"), ("b/1.png", "another"), ("b/COCO_000000000002.jpg", "two")]
        {
            fs::write(path(name), content).unwrap();
        }
        let places = PicturePlaces::open(&[path("a"), path("b/COCO_{id:012}.jpg"), path("b")]).unwrap();
        let ids = [1, 2, 7, 9].map(SegmentId::from);
        let look = || places.of(&ids.each_ref()).unwrap();
        let found = look();
        let paths: Vec<Option<String>> = found
            .iter()
            .map(|picture| match picture {
                Some(Picture::File { path, .. }) => Some(path.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(paths, [Some(path("a/1.png")), Some(path("b/COCO_000000000002.jpg")), None, None]);
        assert_eq!(look(), found);
        fs::write(path("a/1.png"), "changed").unwrap();
        assert_ne!(look()[0], found[0], "a file that has changed is another picture");

        for (source, words) in [
            ("https://example.org/{id}.jpg".to_owned(), "metrics look at files, and this is an address"),
            (path("absent"), "cannot look for pictures: no such"),
        ] {
            let said = PicturePlaces::open(&[source]).err().unwrap().to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}
