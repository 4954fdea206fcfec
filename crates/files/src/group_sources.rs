//! Finds what groups images, as users name it: a property, a file, a column of a file, or a column of the captions.

use std::path::Path;
use std::sync::Arc;

use capeval::{GroupBy, unknown_property};
use capeval_choice::Refusal;
use capeval_corpus::GroupFile;

use crate::bytes::{STDIN, read};
use crate::content::is_prepared;
use crate::error::Error;
use crate::write::is_same_file;

/// Properties with the columns that say them, by any of these names.
const COLUMNS: [(&str, &[&str]); 2] =
    [("language", &["language", "lang", "locale"]), ("split", &["split", "subset", "partition"])];

/// The most names that an error lists.
const LISTED: usize = 12;

/// The files that columns may be of, each opened once.
pub struct GroupSources<'p> {
    captions: Vec<&'p str>,
    opened: Vec<(String, Arc<GroupFile>)>,
    /// What was given under a name instead of in a file.
    given: Vec<(String, Arc<GroupFile>)>,
    /// The columns of ids that a person names, which may be templates.
    id_columns: Vec<String>,
}

impl<'p> GroupSources<'p> {
    /// Columns of these files of captions, the references first, group images by their names.
    pub fn new(captions: impl IntoIterator<Item = &'p str>) -> Self {
        let captions = captions.into_iter().filter(|path| *path != STDIN).collect();
        Self { captions, opened: Vec::new(), given: Vec::new(), id_columns: Vec::new() }
    }

    /// Makes the ids of captions, and so those of groups, as these say, which are templates or names of columns.
    pub fn with_ids<'i>(mut self, id_columns: impl IntoIterator<Item = &'i str>) -> Self {
        self.id_columns.extend(id_columns.into_iter().map(str::to_owned));
        self
    }

    /// Adds groups in memory as JSON: what is called `name`, or a table whose columns group images.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn give(&mut self, name: &str, json: &str) -> Result<(), Error> {
        let file = self.read(json.as_bytes(), name)?;
        self.given.push((name.to_owned(), file));
        Ok(())
    }

    /// Finds what `text` means: `domain`, `groups.csv`, `instances.json:category`, `words:candidate`, or several of
    /// them joined by `×`.
    ///
    /// # Errors
    /// When nothing has this name, or a file cannot be read.
    pub fn find(&mut self, text: &str) -> Result<GroupBy, Error> {
        GroupBy::parse(text, &mut |name| self.named(name))
    }

    fn named(&mut self, name: &str) -> Result<GroupBy, Error> {
        if let Some((_, file)) = self.given.iter().find(|(known, _)| known == name) {
            return Ok(GroupBy::File(Arc::clone(file), None, Some(name.to_owned())));
        }
        if let Some((_, file)) = self.given.iter().find(|(_, file)| file.has(name)) {
            return Ok(GroupBy::File(Arc::clone(file), Some(name.to_owned()), None));
        }
        let is_file = |path: &str| Path::new(path).is_file();
        if is_file(name) {
            if self.captions.iter().any(|path| is_same_file(path, name)) {
                return Err(self.are_captions(name)?);
            }
            return Ok(GroupBy::File(self.open(name)?, None, None));
        }
        if let Some((path, column)) = name.rsplit_once(':').filter(|(path, _)| is_file(path)) {
            return Ok(GroupBy::File(self.open(path)?, Some(column.to_owned()), None));
        }
        let mut columns: Vec<String> = self.given.iter().map(|(name, _)| name.clone()).collect();
        for path in self.captions.clone() {
            // Captions without columns, such as lines of text, group nothing.
            let Ok(file) = self.open(path) else { continue };
            let names =
                COLUMNS.iter().find(|(property, _)| *property == name).map_or(&[][..], |(_, names)| names);
            if let Some(column) = std::iter::once(&name).chain(names).find(|column| file.has(column)) {
                return Ok(GroupBy::File(file, Some((*column).to_owned()), Some(name.to_owned())));
            }
            for column in file.columns() {
                if !columns.iter().any(|known| known == column) {
                    columns.push(column.to_owned());
                }
            }
        }
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let files = listed(&self.captions);
        let why = match columns.is_empty() {
            true => "it is no file, and the captions have no columns".to_owned(),
            false => format!("it is neither a file nor a column of {files}"),
        };
        Err(unknown_property(name, &why, &columns).into())
    }

    /// The error of a file of captions that is given as one of groups.
    fn are_captions(&mut self, path: &str) -> Result<Error, Error> {
        let file = self.open(path)?;
        let refusal = Refusal::new("these are the captions, which do not say what groups images");
        let remedy = match file.columns()[..] {
            [] => "give a file with an id and a group in each row".to_owned(),
            ref columns => format!("name one of its columns, as in {path}:COLUMN: {}", listed(columns)),
        };
        Ok(Error::content(path, refusal.with_remedy(remedy)))
    }

    fn open(&mut self, path: &str) -> Result<Arc<GroupFile>, Error> {
        if let Some((_, file)) = self.opened.iter().find(|(known, _)| known == path) {
            return Ok(Arc::clone(file));
        }
        let bytes = read(path)?;
        if is_prepared(&bytes) {
            return Err(Error::content(path, Refusal::new("prepared references have no groups")));
        }
        let file = self.read(&bytes, path)?;
        self.opened.push((path.to_owned(), Arc::clone(&file)));
        Ok(file)
    }

    fn read(&self, bytes: &[u8], name: &str) -> Result<Arc<GroupFile>, Error> {
        let mut file = GroupFile::read(bytes, name)?;
        self.id_columns.iter().for_each(|column| file.make_ids(column));
        Ok(Arc::new(file))
    }
}

/// The first of some names, in words.
fn listed(names: &[&str]) -> String {
    let more = if names.len() > LISTED { ", …" } else { "" };
    names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ") + more
}
