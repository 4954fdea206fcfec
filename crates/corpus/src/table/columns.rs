//! Which columns or keys hold what?

use super::known::{self, is_called, plain};
use crate::error::{Error, ErrorKind};
use crate::notice::list_ids;
use crate::{ReadOptions, Remedy, Role, SegmentId};
use capeval_choice::Argument;

/// The names of columns or keys.
#[derive(Clone, Copy)]
pub(crate) struct Names<'n>(pub &'n [String]);

impl<'n> Names<'n> {
    /// The first column that goes by one of `names`, the best one first.
    pub fn known(self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|known| self.0.iter().position(|name| is_called(name, known, false)))
    }

    /// The column of exactly that name.
    pub fn exact(self, wanted: &str) -> Option<usize> {
        self.0.iter().position(|name| name == wanted)
    }

    /// The image's column. Rows of captions are about images, so `id` is the image's there; rows of ratings, pairs and
    /// scores may have an `id` of their own.
    pub fn image(self, rows_are_captions: bool) -> Option<usize> {
        let first = if rows_are_captions { &["image_id", "id"][..] } else { &[] };
        self.known(first).or_else(|| self.known(known::IMAGE))
    }

    /// All names, for an error.
    pub fn listed(self) -> String {
        const SHOWN: usize = 12;
        let ids: Vec<SegmentId> = self.0.iter().take(SHOWN).map(|name| SegmentId::from(&**name)).collect();
        let shown: Vec<String> = ids.chunks(5).map(|some| list_ids(some, some.len())).collect();
        match (self.0.is_empty(), self.0.len() > SHOWN) {
            (true, _) => "none".to_owned(),
            (false, more) => shown.join(", ") + if more { ", …" } else { "" },
        }
    }

    /// Refuses a column of which there is another under the same name, so that one of the two would not be read.
    pub fn refuse_twins(self, columns: impl IntoIterator<Item = usize>, source: &str) -> Result<(), Error> {
        for column in columns {
            let Some(name) = self.0.get(column) else { continue };
            let alike = plain(name);
            let twins: Vec<String> =
                self.0.iter().filter(|name| plain(name) == alike).map(|name| format!("\"{name}\"")).collect();
            if twins.len() > 1 {
                let message = format!("the column {name} is given twice, as {}", twins.join(" and "));
                return Err(Error::new(ErrorKind::Duplicate, source, message)
                    .with_remedy(Remedy::say("leave out or rename one of them")));
            }
        }
        Ok(())
    }

    /// The columns of one of `stems`, the best one first: under the stem itself, and with a number if `numbered`.
    fn stem<'s>(self, stems: impl IntoIterator<Item = &'s &'s str>, numbered: bool) -> Vec<usize> {
        let members = |stem: &str| -> Vec<usize> {
            let is_member = |column: &usize| is_called(&self.0[*column], stem, numbered);
            (0..self.0.len()).filter(is_member).collect()
        };
        stems.into_iter().map(|stem| members(stem)).find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// Where a table of captions has its ids and its captions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptionColumns {
    /// The column of the images' ids, if there is one.
    pub id: Option<usize>,
    /// The columns of captions; at least one.
    pub captions: Vec<usize>,
}

impl CaptionColumns {
    /// Finds the columns by the names that `options` gives, or else by those that capeval knows.
    ///
    /// # Errors
    /// If no column holds captions, or two columns have the name of one that is needed.
    pub fn find(names: &[String], options: &ReadOptions, source: &str) -> Result<Self, Error> {
        Self::choose(names, options, source, true)
    }

    /// The same; a record needs one alone of the columns that `options` gives, unless `all` are needed.
    pub(crate) fn choose(
        names: &[String],
        options: &ReadOptions,
        source: &str,
        all: bool,
    ) -> Result<Self, Error> {
        let names = Names(names);
        let fault = |message: String| Error::new(ErrorKind::Shape, source, message);
        let absent = |column: &str| {
            fault(format!("there is no column {column:?}; the columns are {}", names.listed()))
        };
        let given = |column: &String| names.exact(column).ok_or_else(|| absent(column));
        let id = match &options.id_column {
            Some(column) => Some(given(column)?),
            None => names.image(true),
        };
        let candidates = || known::CANDIDATE.iter().chain(known::CAPTION);
        let captions: Vec<usize> = match (&options.caption_columns, options.role) {
            (Some(columns), _) if all => columns.iter().map(given).collect::<Result<_, _>>()?,
            (Some(columns), _) => columns.iter().filter_map(|column| names.exact(column)).collect(),
            (None, Role::Candidates) => match names.stem(candidates(), false) {
                // Several captions for each image, as diversity wants them.
                none if none.is_empty() => names.stem(candidates(), true),
                one => one,
            },
            (None, _) => {
                let references = known::REFERENCE_LIST.iter().chain(known::REFERENCE).chain(known::CAPTION);
                names.stem(references, true)
            }
        };
        if captions.is_empty() {
            let message = format!("no column is known to hold captions; the columns are {}", names.listed());
            let remedy = Remedy::give(Argument::CaptionColumns(options.role)).to("name one");
            return Err(fault(message).with_remedy(remedy));
        }
        let guessed = options.id_column.is_none().then_some(id).flatten();
        let is_guessed = options.caption_columns.is_none();
        names.refuse_twins(
            guessed.into_iter().chain(captions.iter().copied().filter(|_| is_guessed)),
            source,
        )?;
        Ok(Self { id, captions })
    }
}

/// Whether a key is one that records of captions have, so that an object with it is a record.
pub(crate) fn means_something(key: &str) -> bool {
    let all = [known::IMAGE, known::REFERENCE_LIST, known::REFERENCE, known::CANDIDATE, known::CAPTION];
    all.into_iter().flatten().any(|known| is_called(key, known, false))
}

/// Whether a name is one of a column of captions, perhaps of several references.
pub(crate) fn names_captions(name: &str) -> bool {
    let references = [known::REFERENCE_LIST, known::REFERENCE, known::CAPTION];
    references.into_iter().flatten().any(|known| is_called(name, known, true))
        || known::CANDIDATE.iter().any(|known| is_called(name, known, false))
}
