//! The rows of a file of pairs.

use crate::input::Source;
use crate::json::{Fault, Json};
use crate::table::{Cell, Gathering, Nesting, Origin, Table, TableRow, read_value};
use crate::{Error, ErrorKind, Position, Remedy};

/// The description of a row in errors.
const EXPECTED: &str = "an object with keys such as image_id, captions and votes";

/// Reads a table, one object, or an object of lists of objects by category.
pub(crate) fn read(text: &str, name: &str) -> Result<Table, Error> {
    if !text.trim_start().starts_with('{') {
        return Table::read(Source::from_text(text, name), EXPECTED, Nesting::Whole);
    }
    let origin = Origin { name, text, base: 0, line: None };
    let mut json = Json::new(text);
    let alone = json.skip().and_then(|()| json.end());
    if alone.is_err() {
        return Table::read(Source::from_text(text, name), EXPECTED, Nesting::Whole);
    }
    let mut gathering = Gathering::new(Nesting::Whole);
    match origin.check(read_value(&mut Json::new(text)))? {
        Cell::Object(lists) if lists.iter().all(|(_, list)| is_of_objects(list)) => {
            for (category, list) in lists {
                let Cell::List(objects) = list else { continue };
                for object in objects {
                    let Cell::Object(mut cells) = object else { continue };
                    name_category(&mut cells, &category, gathering.next(), name)?;
                    gathering.add(cells);
                }
            }
        }
        Cell::Object(cells) => gathering.add(cells),
        _ => return origin.check(Fault::err(0, crate::json::What::Shape(format!("expected {EXPECTED}")))),
    }
    Ok(gathering.table())
}

fn is_of_objects(cell: &Cell<'_>) -> bool {
    matches!(cell, Cell::List(list) if list.iter().all(|item| matches!(item, Cell::Object(_))))
}

/// Sets the category of a row to that of its list.
fn name_category(
    cells: &mut Vec<(String, Cell<'_>)>,
    category: &str,
    place: Position,
    name: &str,
) -> Result<(), Error> {
    let own = cells.iter().find(|(key, cell)| key == "category" && *cell != Cell::Null);
    if let Some(own) = own.map(|(_, cell)| cell.to_string()).filter(|own| own.trim() != category.trim()) {
        let message = format!("the category '{own}' appears in the list of '{category}'");
        return Err(Error::new(ErrorKind::Shape, name, message)
            .at(place)
            .with_remedy(Remedy::say("name the category once, or alike")));
    }
    cells.retain(|(key, _)| key != "category");
    cells.push(("category".to_owned(), Cell::Text(category.to_owned().into())));
    Ok(())
}

/// A row of pairs.
pub(super) type Row = TableRow;
