//! Builds ids from columns by a template: `{scene_id}|{object_id}`, or `v_{}` to prefix the ids of the file.

use super::EvidentList;
use super::column;
use super::sheet::SheetColumn;
use crate::SegmentId;
use crate::table::Cell;

/// A template of ids: texts, and the columns between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// Each column with the text before it; a column without a name is that of the ids as they are.
    columns: Vec<(String, String)>,
    end: String,
}

impl Template {
    /// The template in a name of a column; `None` if it is an ordinary name.
    pub fn of(name: &str) -> Option<Self> {
        let (mut columns, mut rest) = (Vec::new(), name);
        while let Some((before, inner)) = rest.split_once('{') {
            let (column, after) = inner.split_once('}')?;
            columns.push((before.to_owned(), column.to_owned()));
            rest = after;
        }
        (!columns.is_empty()).then(|| Self { columns, end: rest.to_owned() })
    }

    /// The id that it makes of the ids in the columns of a row, each given by its place in the template and its name.
    pub fn id(&self, of: impl Fn(usize, &str) -> Option<SegmentId>) -> Option<String> {
        let mut text = String::new();
        for (k, (before, column)) in self.columns.iter().enumerate() {
            text.push_str(before);
            text.push_str(&of(k, column)?.to_string());
        }
        text.push_str(&self.end);
        Some(text)
    }

    /// Returns true if it makes ids of the column `name`.
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(_, column)| column == name)
    }

    /// Adds the column of these ids to a list, under the name `name`, if the list has all columns.
    pub(super) fn add_to(&self, list: &mut EvidentList, name: &str) {
        let sheet = &list.list.sheet;
        let own = || list.id_columns().into_iter().next();
        let find = |column: &str| if column.is_empty() { own() } else { sheet.find(column) };
        let columns = self.columns.iter().map(|(_, column)| find(column));
        let Some(columns) = columns.collect::<Option<Vec<_>>>() else { return };
        let id = |row: usize, k: usize| column::id(sheet.columns.get(*columns.get(k)?)?.cells.get(row)?);
        let cell = |row: usize| Some(Cell::Text(self.id(|k, _| id(row, k))?.into()));
        let cells: Vec<Cell<'static>> = (0..sheet.len()).map(|row| cell(row).unwrap_or(Cell::Null)).collect();
        list.add_column(SheetColumn { path: name.to_owned(), cells });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_braces_are_templates() {
        let of = |name: &str| Template::of(name).map(|template| (template.columns, template.end));
        let column = |before: &str, name: &str| (before.to_owned(), name.to_owned());
        assert_eq!(of("image_id"), None);
        assert_eq!(of("{a}|{b c}"), Some((vec![column("", "a"), column("|", "b c")], String::new())));
        assert_eq!(of("v_{}.mp4"), Some((vec![column("v_", "")], ".mp4".to_owned())));
        assert_eq!(of("a{b"), None);
    }
}
