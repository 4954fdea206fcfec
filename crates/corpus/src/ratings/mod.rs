//! What do people say of captions? Human ratings, as published and as tables.
//!
//! Read are Flickr8k's `ExpertAnnotations.txt` and `CrowdFlowerAnnotations.txt`, the JSON form in which CLIPScore
//! gives the former with captions and references inside, and tables of any kind (CSV, TSV, JSON, JSON Lines,
//! Parquet) with raters in rows or in columns. Formats are detected from content. [`read_pairs`] reads which of two captions
//! people preferred.

mod clipscore;
mod flickr8k;
mod pairs;
mod scores;
mod table;

use crate::input::Source;
use crate::table::{Nesting, Table};
use crate::{Captions, Error, ErrorKind, Remedy, SegmentId};

pub use pairs::{Choice, Choices, read_pairs};
pub use scores::{ScoredSegment, SegmentScores, read_scores};

/// What errors call the objects that are rows.
const EXPECTED: &str = "an object with keys such as image_id and rating";

/// Human ratings of captions.
#[derive(Clone, Debug, Default)]
pub struct Ratings {
    /// Where they come from.
    pub source: String,
    /// What was rated, in order of first appearance.
    pub items: Vec<Item>,
    /// References that stand in the same file.
    pub references: Option<Captions>,
    /// How many rows are left out because they hold no rating.
    pub unrated: usize,
    /// The first place with a rating but no caption, such as `line 2`, though there is a column of captions.
    pub no_caption: Option<String>,
}

/// Something that people rated.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The image it is about.
    pub image: SegmentId,
    /// The caption that was rated, if the file tells it.
    pub caption: Option<Judged>,
    /// The system that wrote it, if the file tells it.
    pub system: Option<String>,
    /// What each rater said; finite numbers, at least one.
    pub ratings: Vec<f64>,
}

/// A rated caption.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Judged {
    /// Its words.
    Text(String),
    /// The caption of that number, from 0, of an image of the references.
    Reference {
        /// The image it was written for.
        image: SegmentId,
        /// Its number among this image's captions.
        number: usize,
    },
}

/// How tables of ratings are read; names that are not given are guessed from the header.
#[derive(Clone, Debug, Default)]
pub struct RatingOptions {
    /// Column or key of the image's id.
    pub id_column: Option<String>,
    /// Column or key of the caption.
    pub caption_column: Option<String>,
    /// Column or key of the system.
    pub system_column: Option<String>,
    /// Columns or keys of the ratings: one, or one per rater.
    pub rating_columns: Vec<String>,
}

/// Reads ratings, unpacked if need be; `name` stands in errors.
///
/// # Errors
/// When the file is none of the known formats, a rating is not a finite number, or there is none at all.
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

/// Puts the ratings of the same thing together, in order of first appearance.
#[derive(Debug, Default, PartialEq)]
struct Gatherer {
    items: Vec<Item>,
    unrated: usize,
    known: std::collections::HashMap<(SegmentId, Option<Judged>, Option<String>), usize>,
}

impl Gatherer {
    fn ratings(self) -> Ratings {
        Ratings { items: self.items, unrated: self.unrated, ..Ratings::default() }
    }

    fn add(&mut self, image: SegmentId, caption: Option<Judged>, system: Option<String>, ratings: &[f64]) {
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
