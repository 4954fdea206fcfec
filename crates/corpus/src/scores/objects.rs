//! Scores in one JSON object: from ids to numbers, from ids to measures, or from systems to either.

use super::frames::{self, Frame};
use super::{EXPECTED, MeasureFacts, SegmentScores, UNNAMED, none, of_table};
use crate::input::Source;
use crate::json::Json;
use crate::table::{Cell, Gathering, Names, Nesting, Origin, known, read_lines, read_value};
use crate::{Error, ErrorKind, Remedy, SegmentId};

pub(super) type Object<'t> = Vec<(String, Cell<'t>)>;

/// The key above ids and their scores, where a program writes more than these.
const PER_ITEM: &str = "per_item";

/// Reads a text that is a single object.
pub(super) fn read(
    text: &str,
    name: &str,
    described: Vec<(String, MeasureFacts)>,
) -> Result<SegmentScores, Error> {
    let origin = Origin { name, text, base: 0, line: None };
    let Cell::Object(mut object) = origin.check(read_value(&mut Json::new(text)))? else {
        return Err(none(name));
    };
    let keys: Vec<String> = object.iter().map(|(key, _)| key.clone()).collect();
    if ["capeval", "systems", "measures"].iter().all(|key| keys.iter().any(|name| name == key)) {
        let message = "this is a report, which has no scores of images that could be read as given ones";
        return Err(Error::new(ErrorKind::Format, name, message).with_remedy(Remedy::say(
            "give the scores of segments that were written beside it, or compare reports",
        )));
    }
    let mut described = described;
    match frames::read(&object) {
        Some(Frame::Rows(rows)) => {
            let mut gathering = Gathering::new(Nesting::Flat);
            rows.into_iter().for_each(|row| gathering.add(row));
            return Ok(SegmentScores { described, ..of_table(&gathering.table(), name)? });
        }
        Some(Frame::ById(by_id)) => object = by_id,
        None => {}
    }
    let keys: Vec<String> = object.iter().map(|(key, _)| key.clone()).collect();
    if !keys.iter().any(|key| key == PER_ITEM)
        && let Some(inner) = beside_totals(&mut object)
    {
        object = inner;
    } else if let Some(at) = keys.iter().position(|key| key == PER_ITEM) {
        if let Some((_, header)) = object.iter().find(|(key, _)| key == "measures") {
            described = super::measure_facts::read(&format!("{{\"measures\": {header}}}"), name)?;
        }
        object = match object.swap_remove(at).1 {
            Cell::Object(items) => items,
            other => {
                let message = format!("{PER_ITEM} is {}, not an object from ids to scores", other.kind());
                return Err(Error::new(ErrorKind::Shape, name, message));
            }
        };
    } else if Names(&keys).known(known::IMAGE).is_some() {
        let mut gathering = Gathering::new(Nesting::Flat);
        let line = text.replace(['\n', '\r'], " ");
        read_lines(Source::from_text(&line, name), EXPECTED, &mut gathering)?;
        return Ok(SegmentScores { described, ..of_table(&gathering.table(), name)? });
    }
    if object.is_empty() {
        return Err(none(name));
    }
    let mut gathering = Gathering::new(Nesting::Flat);
    let is_unnamed = match systems(&object) {
        Some(systems) => {
            let mut is_unnamed = false;
            for (system, items) in systems {
                is_unnamed = add(items, Some(system), name, &mut gathering)?;
            }
            is_unnamed
        }
        None => add(&object, None, name, &mut gathering)?,
    };
    Ok(SegmentScores { described, is_unnamed, ..of_table(&gathering.table(), name)? })
}

/// The only object of objects among numbers and objects of numbers, such as `imgToEval` beside `overall`: scores of
/// images beside those of the whole.
fn beside_totals<'t>(object: &mut Object<'t>) -> Option<Object<'t>> {
    let is_object = |cell: &Cell<'_>| matches!(cell, Cell::Object(_));
    let is_of_objects = |cell: &Cell<'_>| match cell {
        Cell::Object(items) => items.len() > 1 && items.iter().all(|(_, cell)| is_object(cell)),
        _ => false,
    };
    let is_total = |cell: &Cell<'_>| match cell {
        Cell::Object(items) => !items.iter().any(|(_, cell)| is_object(cell)),
        _ => true,
    };
    let at = object.iter().position(|(_, cell)| is_of_objects(cell))?;
    let are_totals = object.iter().enumerate().all(|(k, (_, cell))| k == at || is_total(cell));
    let names_total = |key: &str| {
        let key = key.to_lowercase();
        ["overall", "eval", "all", "mean", "average", "total", "corpus", "summary"]
            .iter()
            .any(|name| key == *name)
    };
    let others = || object.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, other)| other);
    let is_beside =
        others().next().is_some() && others().all(|(key, cell)| !is_object(cell) || names_total(key));
    if !are_totals || !is_beside {
        return None;
    }
    match object.swap_remove(at).1 {
        Cell::Object(items) => Some(items),
        _ => None,
    }
}

/// The objects of ids of each system, if the values of the values are objects too.
fn systems<'o>(object: &'o Object<'_>) -> Option<Vec<(&'o str, &'o Object<'o>)>> {
    let is_object =
        |(_, cell): &(String, Cell<'_>)| matches!(cell, Cell::Object(_)) && cell.overall().is_none();
    // Images may have measures whose scores are objects; there are more images than measures.
    let is_id = |(key, _): &(String, Cell<'_>)| key.bytes().any(|byte| byte.is_ascii_digit());
    let has_fewer = |(_, cell): &(String, Cell<'_>)| match cell {
        Cell::Object(items) => items.len() < object.len() && !items.iter().any(is_id),
        _ => false,
    };
    if object.iter().all(has_fewer) && object.iter().all(is_id) {
        return None;
    }
    let of_system = |(key, cell): &'o (String, Cell<'_>)| match cell {
        Cell::Object(items) if !items.is_empty() && items.iter().all(is_object) => Some((&**key, items)),
        _ => None,
    };
    object.iter().map(of_system).collect()
}

/// Adds a row for each id; whether the numbers have no names. Keys in JSON are strings, so an id that looks like a
/// number is one, as in captions.
fn add(
    items: &Object<'_>,
    system: Option<&str>,
    name: &str,
    gathering: &mut Gathering,
) -> Result<bool, Error> {
    let is_unnamed = items.iter().all(|(_, cell)| !matches!(cell, Cell::Object(_)));
    for (key, cell) in items {
        let id = SegmentId::from_untyped(key);
        let fault = |message: String| {
            Error::new(ErrorKind::Shape, name, message)
                .at(gathering.next())
                .with_remedy(Remedy::say("write {id: number}, or {id: {measure: number}}"))
        };
        let image = match &id {
            SegmentId::Integer(number) => Cell::Integer(*number),
            SegmentId::Text(text) => Cell::Text((&**text).into()),
        };
        let mut row = vec![("image_id".to_owned(), image)];
        row.extend(system.map(|system| ("system".to_owned(), Cell::Text(system.into()))));
        match cell {
            Cell::Object(scores) if !is_unnamed => {
                // Its key says which image it is.
                row.extend(scores.iter().filter(|(key, _)| key != "image_id").cloned());
            }
            Cell::Integer(_) | Cell::Number(_) | Cell::Null if is_unnamed => {
                row.push((UNNAMED.to_owned(), cell.clone()));
            }
            _ if is_unnamed => {
                let message = format!("the value of {} is {}, not a number", id.quoted(), cell.kind());
                return Err(fault(message));
            }
            _ => {
                let is_object = |cell: &Cell<'_>| matches!(cell, Cell::Object(_));
                let other = items.iter().find(|(_, other)| is_object(other) != is_object(&items[0].1));
                let (other, first) = (other.unwrap_or(&items[0]), &items[0]);
                let (other_id, first_id) =
                    (SegmentId::from_untyped(&other.0), SegmentId::from_untyped(&first.0));
                return Err(fault(format!(
                    "the value of {} is {}, and that of {} {}",
                    other_id.quoted(),
                    other.1.kind(),
                    first_id.quoted(),
                    first.1.kind(),
                )));
            }
        }
        gathering.add(row);
    }
    Ok(is_unnamed)
}
