//! Finds the things to import: the files of a folder, the captions of files, and which of them belong together.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use capeval_choice::SegmentId;
use capeval_site::app::App;
use capeval_site::jobs::child;
use capeval_tasks::{ImportedCaption, ImportedImage, ReadImport};
use walkdir::WalkDir;

use super::Order;
use super::left_out::{LeftOut, Reason};
use crate::records::Collection;

/// A picture with its captions.
#[derive(Debug)]
pub(super) struct Item {
    /// The id of the image; the name of its file if nothing else names it.
    pub id: String,
    /// The name of its file in the folder.
    pub file: String,
    pub captions: Vec<SourceCaption>,
}

/// A caption.
#[derive(Debug)]
pub(super) struct SourceCaption {
    pub text: String,
    pub language: String,
    /// The file, and where it is in it.
    pub place: String,
}

/// Finds the pictures of an import in the order of their captions, or of the names of their files.
pub(super) async fn read(
    app: &App,
    collection: &Collection,
    order: &Order,
    left_out: &mut LeftOut,
) -> anyhow::Result<Vec<Item>> {
    let files = list(order, left_out)?;
    if order.captions.is_empty() {
        ensure!(!files.is_empty(), "{}: the folder has no files", order.pictures.display());
        let item = |file: String| Item { id: file.clone(), file, captions: Vec::new() };
        return Ok(files.into_iter().map(item).collect());
    }
    let mut items: Vec<Item> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut n_images = 0;
    for path in &order.captions {
        let name = path.display().to_string();
        let images = read_captions(app, order, path, &name).await?;
        n_images += images.len();
        for (image, shown) in with_files(&files, images) {
            let id = image.id.to_string();
            let captions = given(collection, order, &name, image.captions)?;
            let [file] = shown[..] else {
                let item = Item { id, file: image.file_name.unwrap_or_default(), captions };
                let why = match (shown.as_slice(), item.file.as_str()) {
                    ([first, second, ..], _) => format!("both {first} and {second} are named after it"),
                    (_, "") => "no file is named after it".to_owned(),
                    (_, file) => format!("no file is named after it, or called {file}"),
                };
                left_out.add(Reason::MissingPicture, format!("{name}, image {}", item.id), why);
                left_out.captions_of(&item);
                continue;
            };
            match places.get(file) {
                Some(at) => items[*at].captions.extend(captions),
                None => {
                    places.insert(file, items.len());
                    items.push(Item { id, file: file.to_owned(), captions });
                }
            }
        }
    }
    if items.is_empty() {
        bail!(
            "none of the {} files in {} is named after one of the {n_images} images; name files after ids, such as \
             42.jpg or COCO_val2014_000000000042.jpg, or say `file_name` in the list of images",
            files.len(),
            order.pictures.display()
        );
    }
    for file in files.iter().filter(|file| !places.contains_key(file.as_str())) {
        left_out.add(Reason::Unnamed, file, "no caption and no list of images names it");
    }
    Ok(items)
}

/// The paths of the files in the folder and the folders in it, in order; files with captions are not among them.
fn list(order: &Order, left_out: &mut LeftOut) -> anyhow::Result<Vec<String>> {
    let folder = &order.pictures;
    let cannot = || format!("{}: the folder of the pictures cannot be read", folder.display());
    let captions: Vec<_> = order.captions.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut files = Vec::new();
    for entry in WalkDir::new(folder).min_depth(1).follow_links(true) {
        let (path, kind) = match entry {
            Ok(entry) if entry.file_type().is_dir() => continue,
            Ok(entry) => (entry.path().to_owned(), Some(entry.file_type())),
            // A broken link is a file that cannot be read. A folder that leads to itself, or cannot be read, is told.
            Err(error) => match error.path().filter(|path| path.is_symlink() && !path.exists()) {
                Some(path) => (path.to_owned(), None),
                None if error.depth() == 0 => return Err(error).with_context(cannot),
                None => {
                    let shown = error.path().map_or_else(String::new, |path| path.display().to_string());
                    let why = match error.loop_ancestor() {
                        Some(_) => "it is a link to a folder that it is in",
                        None => "the folder cannot be read",
                    };
                    left_out.add(Reason::NotAPicture, shown, why);
                    continue;
                }
            },
        };
        if path.canonicalize().is_ok_and(|path| captions.contains(&path)) {
            continue;
        }
        let inner = path.strip_prefix(folder).unwrap_or(&path);
        match inner.to_str() {
            None => {
                let shown = inner.to_string_lossy();
                left_out.add(Reason::NotAPicture, shown, "the name of the file is not UTF-8");
            }
            Some(name) if kind.is_some_and(|kind| !kind.is_file()) => {
                left_out.add(Reason::NotAPicture, name, "it is no file");
            }
            Some(name) => files.push(name.to_owned()),
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Reads a file of captions in a child process.
async fn read_captions(
    app: &App,
    order: &Order,
    path: &Path,
    name: &str,
) -> anyhow::Result<Vec<ImportedImage>> {
    let file = path.canonicalize().with_context(|| format!("{name}: the file cannot be read"))?;
    ensure!(file.is_file(), "{name}: it is no file");
    let task = ReadImport {
        file: file.clone(),
        name: name.to_owned(),
        id_column: order.id_column.clone(),
        caption_columns: order.caption_columns.clone(),
    };
    child::run(app, child::allowance(app, vec![file]), task)
        .await
        .map_err(|failure| anyhow::anyhow!("{failure}"))
}

/// Images with the files that may show each: those that the list of images names, or those named after the id. With a
/// folder in front of its name, a file is named without doubt.
fn with_files(files: &[String], images: Vec<ImportedImage>) -> Vec<(ImportedImage, Vec<&str>)> {
    let ids: Vec<SegmentId> = images.iter().map(|image| image.id.clone()).collect();
    let mut called: HashMap<&str, Vec<&str>> = HashMap::new();
    for file in files {
        called.entry(last(file)).or_default().push(file);
    }
    let mut names: Vec<String> = called.keys().map(|name| (*name).to_owned()).collect();
    names.sort_unstable();
    let by_id = capeval_files::files_of_images(&names, &ids);
    let named = |image: &ImportedImage| {
        let name = image.file_name.as_deref()?;
        match files.binary_search_by(|file| file.as_str().cmp(name)) {
            Ok(at) => Some(vec![files[at].as_str()]),
            Err(_) => called.get(last(name)).cloned(),
        }
    };
    let of = |(image, by_id): (&ImportedImage, Option<&str>)| {
        named(image).or_else(|| called.get(by_id?).cloned()).unwrap_or_default()
    };
    let files: Vec<Vec<&str>> = images.iter().zip(by_id).map(of).collect();
    images.into_iter().zip(files).collect()
}

/// The name of a file without the folders that it is in.
fn last(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Captions with their languages.
fn given(
    collection: &Collection,
    order: &Order,
    name: &str,
    captions: Vec<ImportedCaption>,
) -> anyhow::Result<Vec<SourceCaption>> {
    let only = match collection.languages.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let known = |tag: String| {
        let begins = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        if collection.languages.contains(&begins) { begins } else { tag }
    };
    let of = |caption: ImportedCaption| {
        let ImportedCaption { text, language, line, record } = caption;
        let language = language.map(known).or(order.language.clone()).or(only.cloned());
        let Some(language) = language else {
            bail!(
                "{name}: the collection has captions in {}, and the file does not say the language of its own; say it \
                 with --language, or in a column or key that is called lang",
                collection.languages.join(" and ")
            );
        };
        let place = match (line, record) {
            (Some(line), _) => format!("{name}, line {line}"),
            (None, Some(record)) => format!("{name}, caption {record}"),
            (None, None) => name.to_owned(),
        };
        Ok(SourceCaption { text, language, place })
    };
    captions.into_iter().map(of).collect()
}
