//! Human ratings of captions, as published and as tables.
//!
//! This module reads Flickr8k's `ExpertAnnotations.txt` and `CrowdFlowerAnnotations.txt`, CLIPScore's JSON version of
//! the former, which includes captions and references, and tables (CSV, TSV, JSON, JSON Lines, Parquet) with raters in
//! rows or in columns. Formats are detected from the content. [`read_pairs`] reads which of two captions people
//! preferred.

mod clipscore;
mod flickr8k;
mod pairs;
mod table;

use crate::input::Source;
use crate::table::{Nesting, Table};
use crate::{Captions, Error, ErrorKind, Remedy, SegmentId};

pub(crate) use pairs::rows::read as pair_rows;
pub use pairs::{Choice, Choices, read_pairs};

/// The description of a row in errors.
const EXPECTED: &str = "an object with keys such as image_id and rating";

/// Human ratings of captions.
#[derive(Clone, Debug, Default)]
pub struct Ratings {
    /// The display name of the source.
    pub source: String,
    /// The rated items, in order of first appearance.
    pub items: Vec<Item>,
    /// References from the same file, if there are any.
    pub references: Option<Captions>,
    /// The reason why references in the file cannot be used, if it has any.
    pub no_references: Option<String>,
    /// The number of rows left out because they have no rating.
    pub unrated: usize,
    /// The position of the first row with a rating but no caption, such as `line 2`, if there is a column of captions.
    pub no_caption: Option<String>,
}

/// An item that people rated.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The image.
    pub image: SegmentId,
    /// The rated caption, if the file contains it.
    pub caption: Option<RatedCaption>,
    /// The system that wrote the caption, if the file names it.
    pub system: Option<String>,
    /// The ratings: finite numbers, at least one.
    pub ratings: Vec<f64>,
}

/// A rated caption.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RatedCaption {
    /// The text of the caption.
    Text(String),
    /// A caption in the references.
    Reference {
        /// The image that it was written for.
        image: SegmentId,
        /// Its number among the captions of this image, from 0.
        number: usize,
    },
}

/// Options for reading tables of ratings; columns that are not named are recognised by usual names.
#[derive(Clone, Debug, Default)]
pub struct RatingOptions {
    /// Column or key of the image id.
    pub id_column: Option<String>,
    /// Column or key of the caption.
    pub caption_column: Option<String>,
    /// Column or key of the system.
    pub system_column: Option<String>,
    /// Columns or keys of the ratings: one, or one per rater.
    pub rating_columns: Vec<String>,
}

/// Reads ratings, compressed or not; errors call the file `name`.
pub fn read_ratings(bytes: &[u8], name: &str, options: &RatingOptions) -> Result<Ratings, Error> {
    let source = Source::from_bytes(bytes, name)?;
    if source.head().starts_with(b"PAR1") {
        return found(table::read(&Table::read(source, EXPECTED, Nesting::Flat)?, options, name)?);
    }
    let text = source.into_text()?.text;
    if text.trim().is_empty() {
        return Err(Error::new(ErrorKind::Empty, name, "the file is empty")
            .with_remedy(Remedy::say("give a file of ratings")));
    }
    if let Some(found) = clipscore::read(&text, name)? {
        let (source, references) = (name.to_owned(), Some(found.references));
        return self::found(Ratings { source, references, ..found.gathered.ratings() });
    }
    if let Some(gathered) = flickr8k::read(&text, name)? {
        return found(Ratings { source: name.to_owned(), ..gathered.ratings() });
    }
    let table = Table::read(Source::from_text(&text, name), EXPECTED, Nesting::Flat)?;
    found(table::read(&table, options, name)?)
}

fn found(ratings: Ratings) -> Result<Ratings, Error> {
    if ratings.items.is_empty() {
        return Err(Error::new(ErrorKind::Empty, &ratings.source, "there is no rating in this file"));
    }
    Ok(ratings)
}

/// Combines the ratings of the same item, in order of first appearance.
#[derive(Debug, Default, PartialEq)]
struct Gatherer {
    items: Vec<Item>,
    unrated: usize,
    known: std::collections::HashMap<(SegmentId, Option<RatedCaption>, Option<String>), usize>,
}

impl Gatherer {
    fn ratings(self) -> Ratings {
        Ratings { items: self.items, unrated: self.unrated, ..Ratings::default() }
    }

    fn add(
        &mut self,
        image: SegmentId,
        caption: Option<RatedCaption>,
        system: Option<String>,
        ratings: &[f64],
    ) {
        if ratings.is_empty() {
            self.unrated += 1;
            return;
        }
        let key = (image, caption, system);
        match self.known.get(&key).and_then(|at| self.items.get_mut(*at)) {
            Some(item) => item.ratings.extend_from_slice(ratings),
            None => {
                let (image, caption, system) = key.clone();
                self.known.insert(key, self.items.len());
                self.items.push(Item { image, caption, system, ratings: ratings.to_vec() });
            }
        }
    }
}
