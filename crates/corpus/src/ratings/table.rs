//! Ratings from records: which column is what, and raters in rows or columns.

use capeval_choice::Argument;

use super::records::{Cell, Record, Records};
use super::{Gatherer, Judged, RatingOptions, Ratings};
use crate::{Error, ErrorKind, Remedy, Role};

pub(super) const IDS: &[&str] =
    &["image_id", "image", "img_id", "img", "id", "image_name", "image_path", "file_name", "file"];
const CAPTIONS: &[&str] = &["caption", "candidate", "hypothesis", "description", "text", "sentence"];
const SYSTEMS: &[&str] = &["system", "model", "method", "system_name"];
const RATINGS: &[&str] = &[
    "rating",
    "ratings",
    "human",
    "human_rating",
    "human_score",
    "human_judgement",
    "judgement",
    "judgment",
    "score",
];
const RATERS: &[&str] = &["rating", "rater", "annotator", "judge", "score", "human", "expert", "worker"];

/// What was rated.
pub(super) fn read(records: &Records, options: &RatingOptions, name: &str) -> Result<Ratings, Error> {
    if records.rows.is_empty() {
        return Err(Error::new(ErrorKind::Empty, name, "there is no rating in this file"));
    }
    let columns = Columns::choose(&records.names, options, name)?;
    let mut gathered = Gatherer::default();
    let mut no_caption = None;
    for record in &records.rows {
        let fault = |kind, message: String| Error::new(kind, name, message).at(record.place);
        let image = record.cell(Some(columns.id)).ok_or_else(|| {
            fault(ErrorKind::Id, format!("there is no {} in this row", shown(records, columns.id)))
        })?;
        let image = image.id().ok_or_else(|| {
            fault(ErrorKind::Id, format!("'{}' is no image id; write it as a string", image.text()))
        })?;
        let mut ratings = Vec::new();
        for column in &columns.ratings {
            push(record, *column, &mut ratings).map_err(|text| {
                let column = shown(records, *column);
                fault(ErrorKind::Shape, format!("the {column} '{text}' is no finite number"))
                    .with_remedy(Remedy::say("leave the cell empty where a rater is missing"))
            })?;
        }
        let caption = record.cell(columns.caption).map(|cell| Judged::Text(cell.text()));
        if columns.caption.is_some() && caption.is_none() && !ratings.is_empty() {
            no_caption.get_or_insert(record.place);
        }
        gathered.add(image, caption, record.cell(columns.system).map(Cell::text), &ratings);
    }
    let no_caption = no_caption.map(|place| match (place.line, place.record) {
        (Some(line), _) => format!("line {line}"),
        (None, record) => format!("record {}", record.unwrap_or_default()),
    });
    Ok(Ratings { source: name.to_owned(), no_caption, ..gathered.ratings() })
}

fn shown(records: &Records, column: usize) -> &str {
    records.names.get(column).map_or("", String::as_str)
}

/// Adds the ratings of a cell; an error is what stands there instead.
fn push(record: &Record, column: usize, ratings: &mut Vec<f64>) -> Result<(), String> {
    let Some(cell) = record.cell(Some(column)) else { return Ok(()) };
    match cell {
        Cell::Integer(integer) => ratings.push(*integer as f64),
        Cell::Number(number) if number.is_finite() => ratings.push(*number),
        Cell::List(list) if list.iter().all(|rating| rating.is_finite()) => ratings.extend(list),
        Cell::Text(text) | Cell::Untyped(text) => match text.trim().parse::<f64>() {
            Ok(rating) if rating.is_finite() => ratings.push(rating),
            _ => return Err(text.clone()),
        },
        _ => return Err(cell.text()),
    }
    Ok(())
}

struct Columns {
    id: usize,
    caption: Option<usize>,
    system: Option<usize>,
    ratings: Vec<usize>,
}

impl Columns {
    fn choose(names: &[String], options: &RatingOptions, source: &str) -> Result<Self, Error> {
        let listed = || names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ");
        let fault = |message: String| Error::new(ErrorKind::Shape, source, message);
        let given = |wanted: &str, argument: Argument| {
            names.iter().position(|name| name == wanted).ok_or_else(|| {
                fault(format!("there is no column \"{wanted}\" among {}", listed()))
                    .with_remedy(Remedy::give(argument).to("name one that exists"))
            })
        };
        let known = |of: &[&str]| {
            of.iter().find_map(|known| names.iter().position(|name| name.eq_ignore_ascii_case(known)))
        };
        let optional = |wanted: &Option<String>, of: &[&str], argument: Argument| match wanted {
            Some(wanted) => given(wanted, argument).map(Some),
            None => Ok(known(of)),
        };
        let id_column = Argument::IdColumn(Role::Ratings);
        let id = optional(&options.id_column, IDS, id_column)?.ok_or_else(|| {
            fault(format!("no column of {} holds the image's id", listed()))
                .with_remedy(Remedy::give(id_column).to("name it"))
        })?;
        let ratings: Vec<usize> = if options.rating_columns.is_empty() {
            match known(RATINGS) {
                Some(column) => vec![column],
                None => (0..names.len()).filter(|k| *k != id && is_rater(&names[*k])).collect(),
            }
        } else {
            let wanted = options.rating_columns.iter();
            wanted.map(|wanted| given(wanted, Argument::RatingColumns)).collect::<Result<_, _>>()?
        };
        if ratings.is_empty() {
            return Err(fault(format!("no column of {} holds ratings", listed()))
                .with_remedy(Remedy::give(Argument::RatingColumns).to("name one, or one per rater")));
        }
        let caption = optional(&options.caption_column, CAPTIONS, Argument::CaptionColumns(Role::Ratings))?;
        let system = optional(&options.system_column, SYSTEMS, Argument::SystemColumn(Role::Ratings))?;
        Ok(Self { id, caption, system, ratings })
    }
}

/// Whether a column is one of several raters': `rater_1`, `rating2`, `expert a`.
fn is_rater(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    RATERS.iter().any(|rater| {
        name.strip_prefix(rater).is_some_and(|rest| {
            let rest = rest.trim_start_matches(['_', '-', ' ', '.']);
            !rest.is_empty() && (rest.len() == 1 || rest.bytes().all(|byte| byte.is_ascii_digit()))
        })
    })
}
