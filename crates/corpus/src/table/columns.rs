//! Finds columns and keys by their names.

use super::known::{self, is_called, plain};
use crate::error::{Error, ErrorKind};
use crate::notice::list_ids;
use crate::{ReadOptions, Remedy, Role, SegmentId};
use capeval_choice::Argument;

/// The names of columns or keys.
#[derive(Clone, Copy)]
pub(crate) struct Names<'n>(pub &'n [String]);

impl<'n> Names<'n> {
    /// The column for the first of `names` that there is. A column whose name differs in case is as good as an exact
    /// one; one that differs in spaces or separators counts only if there is no other.
    pub fn known(self, names: &[&str]) -> Option<usize> {
        self.first(names, str::eq_ignore_ascii_case)
            .or_else(|| self.first(names, |name, known| is_called(name, known, false)))
    }

    /// The first column whose name `is` one of `names`, which are in order of preference.
    fn first(self, names: &[&str], is: impl Fn(&str, &str) -> bool) -> Option<usize> {
        names.iter().find_map(|known| self.0.iter().position(|name| is(name, known)))
    }

    /// All columns whose names `is` one of a group.
    fn group(self, group: &[&str], is: impl Fn(&str, &str) -> bool) -> Vec<usize> {
        let is_member = |column: &usize| group.iter().any(|known| is(&self.0[*column], known));
        (0..self.0.len()).filter(is_member).collect()
    }

    /// All columns for the first of `names` that has any.
    fn stem(self, names: &[&str], is: impl Fn(&str, &str) -> bool) -> Vec<usize> {
        let columns = |name: &&str| self.group(&[name], &is);
        names.iter().map(columns).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// The column with exactly this name.
    pub fn exact(self, wanted: &str) -> Option<usize> {
        self.0.iter().position(|name| name == wanted)
    }

    /// Returns true if a table whose columns are separated by semicolons was read as a single column.
    pub fn is_split_by_semicolons(self) -> bool {
        matches!(self.0, [only] if only.contains(';'))
    }

    /// All names, for errors.
    pub fn listed(self) -> String {
        const SHOWN: usize = 12;
        let ids: Vec<SegmentId> = self.0.iter().take(SHOWN).map(|name| SegmentId::from(&**name)).collect();
        let shown: Vec<String> = ids.chunks(5).map(|some| list_ids(some, some.len())).collect();
        match (self.0.is_empty(), self.0.len() > SHOWN) {
            (true, _) => "none".to_owned(),
            (false, more) => shown.join(", ") + if more { ", …" } else { "" },
        }
    }

    /// Refuses columns that were chosen by their names, if there is another under the same name that is not among them.
    pub fn refuse_twins(self, columns: &[usize], source: &str) -> Result<(), Error> {
        let is_lost = |column: usize, other: usize| {
            !columns.contains(&other) && plain(&self.0[column]) == plain(&self.0[other])
        };
        self.refuse(columns, source, is_lost)
    }

    /// Refuses columns of which there is another under exactly the same name.
    pub fn refuse_same(self, columns: &[usize], source: &str) -> Result<(), Error> {
        self.refuse(columns, source, |column, other| column != other && self.0[column] == self.0[other])
    }

    fn refuse(
        self,
        columns: &[usize],
        source: &str,
        is_lost: impl Fn(usize, usize) -> bool,
    ) -> Result<(), Error> {
        for column in columns {
            if let Some(other) = (0..self.0.len()).find(|other| is_lost(*column, *other)) {
                let (first, second) = (*column.min(&other), *column.max(&other));
                let message = format!(
                    "the column {} is given twice, as \"{}\" and \"{}\"",
                    self.0[*column], self.0[first], self.0[second]
                );
                return Err(Error::new(ErrorKind::Duplicate, source, message)
                    .with_remedy(Remedy::say("leave out or rename one of them")));
            }
        }
        Ok(())
    }

    /// The column of the image id in a table of captions.
    fn image_of_caption(self, has_header: bool) -> Option<usize> {
        self.first(known::IMAGE_OF_CAPTION, written(has_header)).or_else(|| self.known(known::IMAGE))
    }

    /// The columns of captions: by preferred names, or else by any known name in any notation.
    fn captions(self, role: Role, has_header: bool) -> Vec<usize> {
        let one = |names: &[&str]| self.first(names, written(has_header)).into_iter().collect::<Vec<_>>();
        let is = |numbered: bool| move |name: &str, known: &str| is_called(name, known, numbered);
        let or_else = |found: Vec<usize>, other: &dyn Fn() -> Vec<usize>| {
            if found.is_empty() { other() } else { found }
        };
        if role == Role::Candidates {
            let names = [known::CANDIDATE, known::CAPTION].concat();
            let found = match has_header {
                // Columns of several captions per image, for diversity, are numbered.
                true => or_else(one(known::CANDIDATE_COLUMNS), &|| {
                    self.stem(known::CANDIDATE_COLUMNS, known::is_numbered)
                }),
                false => one(known::CANDIDATE_KEYS),
            };
            return or_else(found, &|| {
                or_else(self.stem(&names, is(false)), &|| self.stem(&names, is(true)))
            });
        }
        let names = [known::REFERENCE_LIST, known::REFERENCE, known::CAPTION].concat();
        let found = match has_header {
            true => {
                let groups = known::REFERENCE_COLUMNS.iter();
                let mut found = groups.map(|group| self.group(group, known::is_numbered));
                found.find(|found| !found.is_empty()).unwrap_or_default()
            }
            false => one(known::REFERENCE_KEYS),
        };
        self.with_family(or_else(found, &|| self.stem(&names, is(true))))
    }

    /// Columns with those whose names differ from theirs in what counts them, such as `caption` and `caption.1`: they
    /// are the references of an image.
    fn with_family(self, found: Vec<usize>) -> Vec<usize> {
        let stem = |name: &str| plain(known::uncounted(name).unwrap_or(name));
        let stems: Vec<String> = found.iter().map(|column| stem(&self.0[*column])).collect();
        let is_counted = |column: usize| {
            let name = &self.0[column];
            known::uncounted(name).is_some_and(|counted| stems.contains(&plain(counted)))
        };
        (0..self.0.len()).filter(|column| found.contains(column) || is_counted(*column)).collect()
    }
}

/// A function that compares a name with a known one; in a header, case does not matter.
fn written(has_header: bool) -> fn(&str, &str) -> bool {
    if has_header { str::eq_ignore_ascii_case } else { |name, known| name == known }
}

/// The columns of ids and captions in a table of captions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptionColumns {
    /// The column of image ids, if there is one.
    pub id: Option<usize>,
    /// The columns of captions; at least one.
    pub captions: Vec<usize>,
}

impl CaptionColumns {
    /// Finds the columns of a table with a header by the names in `options`, or else by known names.
    pub fn find(names: &[String], options: &ReadOptions, source: &str) -> Result<Self, Error> {
        Self::choose(names, options, source, true)
    }

    /// Finds the keys of an object by the names in `options`, or else by known names. An object needs only one of the
    /// names in `options`.
    pub fn find_in_object(keys: &[String], options: &ReadOptions, source: &str) -> Result<Self, Error> {
        Self::choose(keys, options, source, false)
    }

    pub(crate) fn choose(
        names: &[String],
        options: &ReadOptions,
        source: &str,
        has_header: bool,
    ) -> Result<Self, Error> {
        let names = Names(names);
        let fault = |message: String| Error::new(ErrorKind::Shape, source, message);
        let absent = |column: &str| {
            fault(format!("there is no column {column:?}; the columns are {}", names.listed()))
        };
        let given = |column: &String| names.exact(column).ok_or_else(|| absent(column));
        let id = match &options.id_column {
            Some(column) => Some(given(column)?),
            None => names.image_of_caption(has_header),
        };
        let captions: Vec<usize> = match &options.caption_columns {
            Some(columns) if has_header => columns.iter().map(given).collect::<Result<_, _>>()?,
            Some(columns) => columns.iter().filter_map(|column| names.exact(column)).collect(),
            None => names.captions(options.role, has_header),
        };
        if captions.is_empty() {
            let message = format!("no column is known to hold captions; the columns are {}", names.listed());
            let remedy = match names.is_split_by_semicolons() {
                true => {
                    Remedy::say("save the table with commas or tabs between columns, instead of semicolons")
                }
                false => Remedy::give(Argument::CaptionColumns(options.role)).to("name one"),
            };
            return Err(fault(message).with_remedy(remedy));
        }
        let id_is_guessed = options.id_column.is_none();
        let captions_are_guessed = options.caption_columns.is_none();
        let guessed = id.iter().filter(|_| id_is_guessed);
        let guessed: Vec<usize> =
            guessed.chain(captions.iter().filter(|_| captions_are_guessed)).copied().collect();
        names.refuse_twins(&guessed, source)?;
        Ok(Self { id, captions })
    }
}

/// Returns true if a key shows that an object is a record, and not a map from ids to captions.
pub(crate) fn means_something(key: &str) -> bool {
    [known::IMAGE_OF_CAPTION, known::REFERENCE_KEYS, known::CANDIDATE_KEYS]
        .iter()
        .any(|keys| keys.contains(&key))
}

/// The sign between the names of an id and of captions in a header with an unusual one: `^` in `image_id^caption`.
pub(crate) fn header_sign(line: &str) -> Option<&str> {
    let line = line.trim();
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let id = line.split(|c| !is_of_name(c)).next()?;
    let rest = &line[id.len()..];
    let caption = rest.trim_start_matches(|c| !is_of_name(c));
    let sign = &rest[..rest.len() - caption.len()];
    let is_id = known::IMAGE.iter().any(|known| is_called(id, known, false));
    let is_sign =
        !sign.is_empty() && !matches!(sign, "-" | "." | "/") && !sign.contains(['\t', ',', ';', '|']);
    let is_header = is_id && is_sign && caption.chars().all(is_of_name) && names_captions(caption, false);
    is_header.then_some(if sign.trim().is_empty() { " " } else { sign })
}

/// Returns true if a name is that of a column of captions, or of one of several references. A name that is `alone` on
/// its line could be a caption of one word.
pub(crate) fn names_captions(name: &str, alone: bool) -> bool {
    let first = known::REFERENCE_COLUMNS.iter().copied().flatten();
    let others = [known::REFERENCE_LIST, known::REFERENCE, known::CANDIDATE, known::CAPTION];
    first.into_iter().any(|known| known::is_numbered(name, known))
        || known::CANDIDATE_COLUMNS.iter().any(|known| name.eq_ignore_ascii_case(known))
        || !alone && others.into_iter().flatten().any(|known| is_called(name, known, true))
}
