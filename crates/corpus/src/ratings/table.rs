//! Ratings from tables, with raters in rows or columns.

use std::collections::HashMap;

use capeval_choice::Argument;

use super::{Gatherer, RatedCaption, RatingOptions, Ratings};
use crate::table::known::{self, is_rater};
use crate::table::{Cell, Table, TableRow};
use crate::{Captions, Error, ErrorKind, Remedy, Role, SegmentId};

/// Reads the ratings of a table.
pub(super) fn read(table: &Table, options: &RatingOptions, name: &str) -> Result<Ratings, Error> {
    if table.rows.is_empty() {
        return Err(Error::new(ErrorKind::Empty, name, "there is no rating in this file"));
    }
    let columns = Columns::choose(table, options, name)?;
    let mut gathered = Gatherer::default();
    let mut references = References::new(name);
    let mut no_caption = None;
    for row in &table.rows {
        let fault = |kind, message: String| Error::new(kind, name, message).at(row.place);
        let cell = |column: Option<&str>| column.and_then(|column| row.get(column));
        let image = row
            .get(columns.id)
            .ok_or_else(|| fault(ErrorKind::Id, format!("there is no {} in this row", columns.id)))?;
        let image = image.id().ok_or_else(|| {
            fault(ErrorKind::Id, format!("'{image}' is not an image id"))
                .with_remedy(Remedy::say("write it as a string"))
        })?;
        let mut ratings = Vec::new();
        for column in &columns.ratings {
            push(row, column, &mut ratings).map_err(|text| {
                fault(ErrorKind::Shape, format!("the {column} '{text}' is not a finite number"))
                    .with_remedy(Remedy::say("leave the cell empty where a rater is missing"))
            })?;
        }
        let caption = cell(columns.caption).map(|cell| RatedCaption::Text(cell.to_string()));
        if columns.caption.is_some() && caption.is_none() && !ratings.is_empty() {
            no_caption.get_or_insert(row.place);
        }
        if let Some(column) = columns.references {
            references.add(&image, row, column);
        }
        gathered.add(image, caption, cell(columns.system).map(Cell::to_string), &ratings);
    }
    let no_caption = no_caption.map(|place| match (place.line, place.record) {
        (Some(line), _) => format!("line {line}"),
        (None, record) => format!("record {}", record.unwrap_or_default()),
    });
    let References { captions, fault: no_references, .. } = references;
    let references = (no_references.is_none() && !captions.is_empty()).then_some(captions);
    Ok(Ratings { source: name.to_owned(), no_caption, references, no_references, ..gathered.ratings() })
}

/// The references in the rows of a table of ratings, which repeat them for each rated caption of an image.
struct References {
    captions: Captions,
    known: HashMap<SegmentId, Vec<String>>,
    /// The reason why they cannot be used.
    fault: Option<String>,
}

impl References {
    fn new(name: &str) -> Self {
        Self { captions: Captions::new(name), known: HashMap::new(), fault: None }
    }

    /// Adds the references in a cell, unless the image has them already.
    fn add(&mut self, image: &SegmentId, row: &TableRow, column: &str) {
        let texts: Vec<String> = match row.get(column) {
            None => return,
            Some(Cell::List(list)) => {
                list.iter().filter(|item| **item != Cell::Null).map(Cell::to_string).collect()
            }
            Some(cell) => vec![cell.to_string()],
        };
        match self.known.get(image) {
            Some(known) if *known == texts => {}
            Some(_) => {
                let message = format!("rows of image {} have different {column}", image.quoted());
                self.fault.get_or_insert(message);
            }
            None => {
                texts.iter().for_each(|text| self.captions.push(image.clone(), text));
                self.known.insert(image.clone(), texts);
            }
        }
    }
}

/// Adds the ratings of a cell; the error is the content of a cell that is not a rating.
fn push(row: &TableRow, column: &str, ratings: &mut Vec<f64>) -> Result<(), String> {
    let Some(cell) = row.get(column) else { return Ok(()) };
    let refused = || Err(cell.to_string());
    let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
    match cell {
        Cell::Bool(truth) => ratings.push(f64::from(u8::from(*truth))),
        Cell::List(list) => {
            // Null means that a rater gave no rating.
            for item in list.iter().filter(|item| **item != Cell::Null) {
                match (item, finite(item.number())) {
                    (Cell::Integer(_) | Cell::Number(_), Some(rating)) => ratings.push(rating),
                    _ => return refused(),
                }
            }
        }
        cell => match finite(cell.number()) {
            Some(rating) => ratings.push(rating),
            None => return refused(),
        },
    }
    Ok(())
}

struct Columns<'t> {
    id: &'t str,
    caption: Option<&'t str>,
    references: Option<&'t str>,
    system: Option<&'t str>,
    ratings: Vec<&'t str>,
}

impl<'t> Columns<'t> {
    fn choose(table: &'t Table, options: &RatingOptions, source: &str) -> Result<Self, Error> {
        let names = table.names();
        let fault = |message: String| Error::new(ErrorKind::Shape, source, message);
        let given = |wanted: &str, argument: Argument| {
            names.exact(wanted).ok_or_else(|| {
                fault(format!("there is no column {wanted:?}; the columns are {}", names.listed()))
                    .with_remedy(Remedy::give(argument).to("name one that exists"))
            })
        };
        let optional = |wanted: &Option<String>, known: Option<usize>, argument: Argument| match wanted {
            Some(wanted) => given(wanted, argument).map(Some),
            None => Ok(known),
        };
        let id_column = Argument::IdColumn(Role::Ratings);
        let id = optional(&options.id_column, names.known(known::IMAGE), id_column)?.ok_or_else(|| {
            fault(format!("no column of {} holds the image's id", names.listed()))
                .with_remedy(Remedy::give(id_column).to("name it"))
        })?;
        let ratings: Vec<usize> = if options.rating_columns.is_empty() {
            match names.known(known::RATING) {
                Some(column) => vec![column],
                None => (0..table.names.len()).filter(|k| *k != id && is_rater(&table.names[*k])).collect(),
            }
        } else {
            let wanted = options.rating_columns.iter();
            wanted.map(|wanted| given(wanted, Argument::RatingColumns)).collect::<Result<_, _>>()?
        };
        if ratings.is_empty() {
            return Err(fault(format!("no column of {} holds ratings", names.listed()))
                .with_remedy(Remedy::give(Argument::RatingColumns).to("name one, or one per rater")));
        }
        let caption_column = Argument::CaptionColumns(Role::Ratings);
        let caption = optional(&options.caption_column, table.judged_caption(known::JUDGED), caption_column)?;
        let system_column = Argument::SystemColumn(Role::Ratings);
        let system = optional(&options.system_column, names.known(known::SYSTEM), system_column)?;
        let lists = [known::REFERENCE_LIST, known::REFERENCE].concat();
        let is_text = |column: &usize| {
            let mut cells = table.rows.iter().filter_map(|row| row.get(&table.names[*column]));
            let is_kind = |cell: &Cell<'_>| matches!(cell, Cell::Text(_) | Cell::Untyped(_) | Cell::List(_));
            cells.all(|cell| is_kind(cell) && cell.number().is_none())
        };
        let is_other = |column: &usize| ![Some(id), caption, system].contains(&Some(*column));
        let references = names.known(&lists).filter(|column| is_other(column) && is_text(column));
        let guessed = [
            (Some(id), options.id_column.is_none()),
            (caption, options.caption_column.is_none()),
            (system, options.system_column.is_none()),
        ];
        let guessed = guessed.into_iter().filter_map(|(column, is_guessed)| column.filter(|_| is_guessed));
        let guessed_ratings = ratings.iter().copied().filter(|_| options.rating_columns.is_empty());
        names.refuse_twins(&guessed.chain(guessed_ratings).collect::<Vec<_>>(), source)?;
        let all = [id].into_iter().chain(caption).chain(system).chain(ratings.iter().copied());
        names.refuse_same(&all.collect::<Vec<_>>(), source)?;
        let name = |column: usize| table.names[column].as_str();
        Ok(Self {
            id: name(id),
            caption: caption.map(name),
            references: references.map(name),
            system: system.map(name),
            ratings: ratings.into_iter().map(name).collect(),
        })
    }
}
