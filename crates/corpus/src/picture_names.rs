//! Matches pictures with images by what files of captions say: `images` of COCO, tables, objects from ids to paths.
//!
//! ```text
//! {"images": [{"id": 42, "file_name": "COCO_val2014_000000000042.jpg"}, …]}   COCO
//! image_id,caption,path                                                        CSV, TSV, JSON, JSON Lines, Parquet
//! {"42": "a/42.png"}                                                           an object from ids to paths
//! ```
//!
//! In a table, pictures are the column in which every cell ends as a file of a picture does, whatever its name is.

use std::collections::HashMap;

use serde::Deserialize;

use crate::input::{Source, unpack};
use crate::table::{Cell, Nesting, Table, known};
use crate::{Error, ErrorKind, Remedy, SegmentId};

/// The extensions of pictures.
const ENDINGS: [&str; 5] = [".jpg", ".jpeg", ".png", ".webp", ".gif"];

/// The description of a row in errors.
const EXPECTED: &str = "an object with an id and the path of a picture";

/// The part of COCO's format that names pictures.
#[derive(Deserialize)]
struct Coco {
    images: Vec<CocoImage>,
}

#[derive(Deserialize)]
struct CocoImage {
    id: SegmentId,
    file_name: Option<String>,
}

/// Reads the path of the picture of each image, compressed or not; errors call the file `name`.
///
/// # Errors
/// When the file cannot be read, when no column or several have paths of pictures, or when an image has two pictures.
pub fn read_picture_names(bytes: &[u8], name: &str) -> Result<HashMap<SegmentId, String>, Error> {
    let content = unpack(bytes, name, false)?;
    let pairs = match content.trim_ascii_start().first() {
        Some(b'{') => match serde_json::from_slice::<Coco>(&content) {
            Ok(Coco { images }) => {
                images.into_iter().filter_map(|image| Some((image.id, image.file_name?))).collect()
            }
            Err(_) => match serde_json::from_slice::<HashMap<String, String>>(&content) {
                Ok(paths) => {
                    paths.into_iter().map(|(id, path)| (SegmentId::from_untyped(&id), path)).collect()
                }
                Err(_) => of_table(&content, name)?,
            },
        },
        _ => of_table(&content, name)?,
    };
    let fault = |message: String| Error::new(ErrorKind::Shape, name, message);
    let mut paths: HashMap<SegmentId, String> = HashMap::with_capacity(pairs.len());
    for (id, path) in pairs {
        if let Some(known) = paths.get(&id).filter(|known| **known != path) {
            let message = format!("image {} has two pictures, {known} and {path}", id.quoted());
            return Err(fault(message).with_remedy(Remedy::say("leave one of them out")));
        }
        paths.insert(id, path);
    }
    match paths.is_empty() {
        true => Err(fault("it names no picture".to_owned())
            .with_remedy(Remedy::say("give COCO's annotations, or a table of ids and paths of pictures"))),
        false => Ok(paths),
    }
}

/// The ids and paths of a table.
fn of_table(content: &[u8], name: &str) -> Result<Vec<(SegmentId, String)>, Error> {
    let table = Table::read(Source::from_bytes(content, name)?, EXPECTED, Nesting::Whole)?;
    let fault = |message: String| Error::new(ErrorKind::Shape, name, message);
    let names_pictures = |column: &usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(&table.names[*column])).peekable();
        cells.peek().is_some() && cells.all(|cell| text(cell).is_some_and(ends_as_picture))
    };
    let of_pictures: Vec<usize> = (0..table.names.len()).filter(names_pictures).collect();
    let [pictures] = of_pictures[..] else {
        let listed = |columns: &[usize]| {
            columns.iter().map(|column| table.names[*column].as_str()).collect::<Vec<_>>().join(", ")
        };
        return Err(match &of_pictures[..] {
            [] => fault("no column has paths of pictures, such as 42.jpg".to_owned())
                .with_remedy(Remedy::say("give a table with an id and a path in each row")),
            several => fault(format!("several columns have paths of pictures: {}", listed(several)))
                .with_remedy(Remedy::say("leave all but one of them out")),
        });
    };
    let others: Vec<String> =
        (0..table.names.len()).filter(|column| *column != pictures).map(|k| table.names[k].clone()).collect();
    let ids = crate::table::Names(&others).known(known::IMAGE).map(|column| &others[column]);
    let Some(ids) = ids else {
        return Err(
            fault("no column has ids of images".to_owned()).with_remedy(Remedy::say("call it image_id"))
        );
    };
    let mut pairs = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let path = row.get(&table.names[pictures]).and_then(text);
        let id = row.get(ids).and_then(Cell::id);
        if let (Some(id), Some(path)) = (id, path) {
            pairs.push((id, path.to_owned()));
        }
    }
    Ok(pairs)
}

fn text<'c>(cell: &'c Cell<'_>) -> Option<&'c str> {
    match cell {
        Cell::Text(text) | Cell::Untyped(text) => Some(text),
        _ => None,
    }
}

fn ends_as_picture(path: &str) -> bool {
    let path = path.trim().to_ascii_lowercase();
    ENDINGS.iter().any(|ending| path.len() > ending.len() && path.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, String> {
        let found = read_picture_names(text.as_bytes(), "list").map_err(|error| error.to_string())?;
        let mut found: Vec<(String, String)> =
            found.into_iter().map(|(id, path)| (id.to_string(), path)).collect();
        found.sort();
        Ok(found)
    }

    #[test]
    fn pictures_are_named_by_coco_tables_and_objects() {
        let expected = vec![("1".to_owned(), "a/x.jpg".to_owned()), ("2".to_owned(), "y.PNG".to_owned())];
        for text in [
            r#"{"info": {}, "images": [{"id": 1, "file_name": "a/x.jpg"}, {"file_name": "y.PNG", "id": 2}]}"#,
            r#"{"1": "a/x.jpg", "2": "y.PNG"}"#,
            "caption,whatever,image_id\nb,a/x.jpg,1\nc,a/x.jpg,1\nd,y.PNG,2\n",
            "id\tfile_name\n1\ta/x.jpg\n2\ty.PNG\n",
            r#"[{"id": 1, "file": "a/x.jpg"}, {"id": 2, "file": "y.PNG"}]"#,
            "{\"id\": 1, \"file\": \"a/x.jpg\"}\n{\"id\": 2, \"file\": \"y.PNG\"}\n",
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn what_names_no_picture_or_two_is_refused() {
        for (text, words) in [
            ("id,caption\n1,a dog\n", "list: no column has paths of pictures, such as 42.jpg"),
            ("id,a,b\n1,x.jpg,y.jpg\n", "list: several columns have paths of pictures: a, b"),
            ("a,caption\nx.jpg,b\n", "list: no column has ids of images"),
            ("id,a\n1,x.jpg\n1,y.jpg\n", "list: image 1 has two pictures, x.jpg and y.jpg"),
            (r#"{"images": []}"#, "list: it names no picture"),
            ("", "list: the file is empty"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.starts_with(words), "{text}: {said}");
        }
    }
}
