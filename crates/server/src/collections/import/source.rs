//! What there is to import: the files of a folder, the captions of files, and which of them belong together.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use capeval_choice::SegmentId;
use capeval_tasks::{Imported, ImportedCaption, ReadImport};

use super::Order;
use super::left_out::{LeftOut, Reason};
use crate::app::App;
use crate::collections::records::Collection;
use crate::jobs::child;

/// A picture with its captions.
#[derive(Debug)]
pub(super) struct Item {
    /// The id of the image; the name of its file if nothing else names it.
    pub id: String,
    /// The name of its file in the folder.
    pub file: String,
    pub captions: Vec<Given>,
}

/// A caption.
#[derive(Debug)]
pub(super) struct Given {
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
        for (image, file) in with_files(&files, images) {
            let id = image.id.to_string();
            let captions = given(collection, order, &name, image.captions)?;
            let Some(file) = file else {
                let item = Item { id, file: image.file_name.unwrap_or_default(), captions };
                let why = match item.file.as_str() {
                    "" => "no file is named after it".to_owned(),
                    file => format!("no file is named after it, or called {file}"),
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

/// The names of the files in the folder, in order; the files with the captions are not among them.
fn list(order: &Order, left_out: &mut LeftOut) -> anyhow::Result<Vec<String>> {
    let folder = &order.pictures;
    let cannot = || format!("{}: the folder of the pictures cannot be read", folder.display());
    let captions: Vec<_> = order.captions.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let (path, name) = (entry.path(), entry.file_name());
        let shown = name.to_string_lossy().into_owned();
        if path.canonicalize().is_ok_and(|path| captions.contains(&path)) {
            continue;
        }
        match name.into_string() {
            Err(_) => left_out.add(Reason::NotAPicture, shown, "the name of the file is not UTF-8"),
            Ok(name) if path.is_dir() => {
                left_out.add(Reason::NotAPicture, name, "it is a folder; its files are not looked at");
            }
            Ok(name) if path.exists() && !path.is_file() => {
                left_out.add(Reason::NotAPicture, name, "it is no file");
            }
            Ok(name) => files.push(name),
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Reads a file of captions in a child process.
async fn read_captions(app: &App, order: &Order, path: &Path, name: &str) -> anyhow::Result<Vec<Imported>> {
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

/// Images with the name of the file that shows each: the one that the list of images names, or one named after the id.
fn with_files(files: &[String], images: Vec<Imported>) -> Vec<(Imported, Option<&str>)> {
    let ids: Vec<SegmentId> = images.iter().map(|image| image.id.clone()).collect();
    let by_id = capeval_files::files_of_images(files, &ids);
    let named = |image: &Imported| {
        let name = image.file_name.as_deref()?;
        let name = name.rsplit(['/', '\\']).next()?;
        let at = files.binary_search_by(|file| file.as_str().cmp(name)).ok()?;
        Some(files[at].as_str())
    };
    let files = images.iter().zip(by_id).map(|(image, by_id)| named(image).or(by_id));
    let files: Vec<Option<&str>> = files.collect();
    images.into_iter().zip(files).collect()
}

/// Captions with their languages.
fn given(
    collection: &Collection,
    order: &Order,
    name: &str,
    captions: Vec<ImportedCaption>,
) -> anyhow::Result<Vec<Given>> {
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
        Ok(Given { text, language, place })
    };
    captions.into_iter().map(of).collect()
}
