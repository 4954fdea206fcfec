//! Which group each image belongs to, from files of any shape: tables, lists of records as in COCO, dictionaries.
//!
//! Ids are recognised by their values: the column of ids is the one that holds most ids of images, and a dictionary has
//! ids as keys or as values. A column that holds the ids of other records, as `category_id` does, leads to these, so
//! that their columns group images, too.

use std::collections::{HashMap, HashSet};

use capeval_choice::{Remedy, suggest};

use crate::error::ErrorKind;
use crate::input::Source;
use crate::json::Json;
use crate::reading::{Template, of_split_frame};
use crate::table::known::means_image;
use crate::table::{Cell, Nesting, Table, read_value};
use crate::{Error, Ids, OtherIds, SegmentId, read_rows, written_list};

/// The deepest place of records in a file: `data`, `images` and the records.
const LEVELS: usize = 3;

/// A record with named cells.
type Record = Vec<(String, Cell<'static>)>;

/// A list of records, and where it stands.
#[derive(Clone, Debug)]
struct Records {
    path: String,
    names: Vec<String>,
    records: Vec<Record>,
    /// How columns make ids.
    templates: Vec<Template>,
    /// True if the names are the first row of a table, which may be a row like the others.
    has_header: bool,
}

/// A file that says to which groups images belong.
#[derive(Clone, Debug)]
pub struct GroupFile {
    source: String,
    tables: Vec<Records>,
    /// Dictionaries of groups by id, or of ids by group.
    dictionaries: Vec<Record>,
}

/// The groups of images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupedIds {
    /// What the groups are called together, such as the name of their column.
    pub name: String,
    /// An id and a group of its image, in the order of the file.
    pub pairs: Vec<(SegmentId, String)>,
}

impl GroupFile {
    /// Reads a file, compressed or not; errors call it `name`.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self, Error> {
        Self::read_any(bytes, name).map_err(|error| match error.remedy() {
            Some(_) => error,
            None => error.with_remedy("write an id and a group in each row, or {id: group} as JSON".into()),
        })
    }

    fn read_any(bytes: &[u8], name: &str) -> Result<Self, Error> {
        let mut file = Self { source: name.to_owned(), tables: Vec::new(), dictionaries: Vec::new() };
        let source = Source::from_bytes(bytes, name)?;
        if !source.head().starts_with(b"PAR1") {
            let text = source.into_text()?.text;
            if text.trim_start().starts_with(['{', '[']) {
                let mut json = Json::new(&text);
                let value = read_value(&mut json).and_then(|value| json.end().map(|()| value));
                // Otherwise, each line is a record.
                if let Ok(value) = value {
                    file.add(String::new(), value.into_owned(), LEVELS);
                    return Ok(file);
                }
            }
            let rows = read_rows(text.as_bytes(), name)?;
            file.add_rows(rows.columns(), &rows.table);
            return Ok(file);
        }
        let table = Table::read(source, "a row with an id and a group", Nesting::Flat)?;
        file.add_rows(&table.names.clone(), &table);
        Ok(file)
    }

    /// Groups in memory: ids, each with the groups of its image.
    pub fn of_pairs(name: &str, pairs: impl IntoIterator<Item = (SegmentId, String)>) -> Self {
        let record = |(id, group): (SegmentId, String)| {
            let id = match id {
                SegmentId::Integer(id) => Cell::Integer(id),
                SegmentId::Text(id) => Cell::Text(id.into_string().into()),
            };
            vec![("id".to_owned(), id), (name.to_owned(), Cell::Text(group.into()))]
        };
        let records = pairs.into_iter().map(record).collect();
        let names = vec!["id".to_owned(), name.to_owned()];
        let table = Records { path: String::new(), names, records, templates: Vec::new(), has_header: false };
        Self { source: name.to_owned(), tables: vec![table], dictionaries: Vec::new() }
    }

    /// Makes ids of columns, too, if `id_column` is a template such as `{scene}|{object}` and not the name of a column.
    pub fn make_ids(&mut self, id_column: &str) {
        let template = Template::of(id_column);
        self.tables.iter_mut().for_each(|table| table.templates.extend(template.clone()));
    }

    /// The display name of the file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names of all columns.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = Vec::new();
        for name in self.tables.iter().flat_map(|table| &table.names) {
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
        columns
    }

    /// Returns true if images can be grouped by this name: a column, or records that others name by their ids.
    pub fn has(&self, column: &str) -> bool {
        self.tables.iter().any(|table| table.column(column).is_some() || table.is_of(column))
    }

    fn add_rows(&mut self, names: &[String], table: &Table) {
        let record = |row: &crate::table::TableRow| -> Record {
            names.iter().filter_map(|name| Some((name.clone(), row.get(name)?.clone().typed()))).collect()
        };
        let records: Vec<Record> = table.rows.iter().map(record).collect();
        let (names, records) = of_lines(names, &records).unwrap_or_else(|| (names.to_vec(), records));
        self.tables.push(Records {
            path: String::new(),
            names,
            records,
            templates: Vec::new(),
            has_header: true,
        });
    }

    /// Adds the records and dictionaries at and below a value.
    fn add(&mut self, path: String, value: Cell<'static>, levels: usize) {
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match value {
            Cell::List(items) if items.first().is_some_and(|item| matches!(item, Cell::List(_))) => {
                self.add_records(path, unnamed_rows(&items));
            }
            Cell::List(items) => {
                let records = items.into_iter().filter_map(|item| match item {
                    Cell::Object(fields) => Some(fields),
                    _ => None,
                });
                self.add_records(path, records.collect());
            }
            Cell::Object(fields) => {
                if let Some(records) = of_split_frame(&fields) {
                    self.add_records(path, records);
                    return;
                }
                let (nested, flat): (Record, Record) = fields
                    .into_iter()
                    .partition(|(_, cell)| matches!(cell, Cell::Object(_)) || has_records(cell));
                if !flat.is_empty() {
                    self.dictionaries.push(flat);
                }
                let are_records =
                    nested.len() > 1 && nested.iter().all(|(_, cell)| matches!(cell, Cell::Object(_)));
                if are_records {
                    let keyed = nested.into_iter().map(|(key, cell)| {
                        let Cell::Object(fields) = cell else { return Vec::new() };
                        [("(key)".to_owned(), Cell::Untyped(key.into()))].into_iter().chain(fields).collect()
                    });
                    self.add_records(path, keyed.collect());
                } else if let Some(levels) = levels.checked_sub(1) {
                    for (key, cell) in nested {
                        self.add(below(&key), cell, levels);
                    }
                }
            }
            _ => {}
        }
    }

    fn add_records(&mut self, path: String, records: Vec<Record>) {
        let mut names: Vec<String> = Vec::new();
        for (name, _) in records.iter().take(1_000).flatten() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        if !names.is_empty() {
            self.tables.push(Records { path, names, records, templates: Vec::new(), has_header: false });
        }
    }

    /// The groups of images by `column`, or by the only column that can be meant. `is_known` recognises the ids of
    /// images.
    pub fn groups(
        &self,
        column: Option<&str>,
        is_known: &dyn Fn(&SegmentId) -> bool,
    ) -> Result<GroupedIds, Error> {
        let headless = self.headless(is_known);
        let found = headless.as_ref().unwrap_or(self).any_groups(column, is_known)?;
        if found.pairs.iter().any(|(id, _)| is_known(id)) {
            return Ok(found);
        }
        Err(self
            .error("no image has a group".to_owned())
            .with_remedy("write a group beside the id of each image".into()))
    }

    /// The same file, in which the first row of a table is a row like the others, since the id of an image stands in
    /// it; `None` if there is no such table.
    fn headless(&self, is_known: &dyn Fn(&SegmentId) -> bool) -> Option<Self> {
        let is_row = |table: &Records| {
            table.has_header && table.names.iter().any(|name| is_known(&SegmentId::from_untyped(name)))
        };
        if !self.tables.iter().any(is_row) {
            return None;
        }
        let mut file = self.clone();
        for table in file.tables.iter_mut().filter(|table| is_row(table)) {
            let old = std::mem::take(&mut table.names);
            let name = |k: usize| match (old.len(), k) {
                (2, 0) => "id".to_owned(),
                (2, 1) => stem(&self.source),
                _ => format!("column {}", k + 1),
            };
            table.names = (0..old.len()).map(name).collect();
            let place = |name: &String| old.iter().position(|known| known == name);
            for record in &mut table.records {
                for (name, _) in record.iter_mut() {
                    if let Some(new) = place(name).and_then(|k| table.names.get(k)) {
                        name.clone_from(new);
                    }
                }
            }
            let cells = old.iter().map(|name| Cell::Untyped(name.clone().into()));
            table.records.insert(0, table.names.iter().cloned().zip(cells).collect());
            table.has_header = false;
        }
        Some(file)
    }

    /// The way to compare ids under which images of `known` have groups by `column`, if they have none as ids are
    /// compared now.
    pub fn other_ids(&self, column: Option<&str>, known: &[SegmentId], comparison: Ids) -> Option<OtherIds> {
        let ways = [Ids::Text, Ids::FileName, Ids::Loose].into_iter().filter(|way| *way > comparison);
        ways.into_iter().find_map(|way| {
            let forms: HashSet<SegmentId> = known.iter().map(|id| way.form(id).into_owned()).collect();
            let found = self.groups(column, &|id| forms.contains(&*way.form(id))).ok()?;
            let ids: Vec<SegmentId> = found.pairs.into_iter().map(|(id, _)| id).collect();
            let is_known = |id: &&SegmentId| forms.contains(&*way.form(id));
            OtherIds::of(known, ids.iter().filter(is_known), comparison)
        })
    }

    fn any_groups(
        &self,
        column: Option<&str>,
        is_known: &dyn Fn(&SegmentId) -> bool,
    ) -> Result<GroupedIds, Error> {
        let Some(column) = column else { return self.only_groups(is_known) };
        let in_table = self.tables.iter().filter_map(|table| {
            let groups = table.column(column)?;
            table.pairs(groups, is_known)
        });
        let through = self.tables.iter().flat_map(|named| {
            let groups =
                named.column(column).or_else(|| named.column("name").filter(|_| named.is_of(column)));
            self.tables.iter().filter_map(move |table| table.pairs_through(named, groups?, is_known))
        });
        let n_known = |pairs: &[(SegmentId, String)]| {
            pairs.iter().map(|(id, _)| id).filter(|id| is_known(id)).collect::<HashSet<_>>().len()
        };
        // Of equally many images, what stands beside their ids.
        let best = in_table
            .chain(through)
            .filter(|pairs| !pairs.is_empty())
            .reduce(|best, other| if n_known(&other) > n_known(&best) { other } else { best });
        match best {
            Some(pairs) => Ok(GroupedIds { name: column.to_owned(), pairs }),
            None if self.has(column) => Err(self.without_groups(Some(column), is_known)),
            None => {
                let columns = self.columns();
                let remedy = match columns.is_empty() {
                    true => "name the file alone, since it has no columns".into(),
                    false => suggest(column, columns),
                };
                Err(self.error(format!("there is no column '{column}'")).with_remedy(remedy))
            }
        }
    }

    /// The groups of a dictionary, or of a table with one column beside the ids.
    fn only_groups(&self, is_known: &dyn Fn(&SegmentId) -> bool) -> Result<GroupedIds, Error> {
        let name = || stem(&self.source);
        let of_dictionaries = self.dictionaries.iter().map(|fields| of_dictionary(fields, is_known));
        if let Some(pairs) = of_dictionaries.flatten().max_by_key(Vec::len) {
            return Ok(GroupedIds { name: name(), pairs });
        }
        let mut found: Vec<(&str, Vec<(SegmentId, String)>)> = Vec::new();
        for table in &self.tables {
            let (ids, _) = table.ids(None, is_known).unwrap_or_default();
            let is_of_ids = |at: usize| {
                at == ids || table.templates.iter().any(|template| template.has(&table.names[at]))
            };
            for groups in (0..table.names.len()).filter(|groups| !is_of_ids(*groups)) {
                let pairs = table.pairs(groups, is_known);
                found.extend(
                    pairs.filter(|pairs| !pairs.is_empty()).map(|pairs| (&*table.names[groups], pairs)),
                );
            }
        }
        match found.len() {
            0 => Err(self.without_groups(None, is_known)),
            1 => Ok(found
                .pop()
                .map(|(name, pairs)| GroupedIds { name: name.to_owned(), pairs })
                .unwrap_or_default()),
            _ => {
                let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
                Err(self
                    .error(format!("the groups could be any of the columns {}", names.join(", ")))
                    .with_remedy(Remedy::say(format!("name one, as in {}:{}", self.source, names[0]))))
            }
        }
    }

    /// The error of a file whose ids are known, or are not, but have no groups.
    fn without_groups(&self, column: Option<&str>, is_known: &dyn Fn(&SegmentId) -> bool) -> Error {
        let of_ids = self.tables.iter().find_map(|table| Some((table, table.ids(None, is_known)?.0)));
        let Some((table, ids)) = of_ids else { return self.without_ids() };
        let ids = &table.names[ids];
        match column.filter(|column| *column == ids) {
            Some(column) => self
                .error(format!("'{column}' holds the ids of the images, and says nothing else of them"))
                .with_remedy("name another column".into()),
            None => self
                .error(format!("no image, by its id in '{ids}', has a group"))
                .with_remedy("write a group beside the id of each image".into()),
        }
    }

    fn without_ids(&self) -> Error {
        let columns = self.tables.iter().flat_map(|table| &table.records).flat_map(|record| record.iter());
        let of_tables = columns.filter_map(|(_, cell)| cell.id()).next();
        let of_dictionaries =
            self.dictionaries.iter().flatten().next().map(|(key, _)| SegmentId::from_untyped(key));
        let example =
            of_tables.or(of_dictionaries).map(|id| format!(", such as {},", id.quoted())).unwrap_or_default();
        self.error(format!("none of its values{example} is the id of an image"))
            .with_remedy("write the ids of the references beside the groups".into())
    }

    fn error(&self, message: String) -> Error {
        Error::new(ErrorKind::Shape, &self.source, message)
    }
}

impl Records {
    /// The place of a column, by its name or, if that is unique, by its name in any case.
    fn column(&self, name: &str) -> Option<usize> {
        let exact = self.names.iter().position(|known| known == name);
        exact.or_else(|| self.names.iter().position(|known| known.eq_ignore_ascii_case(name)))
    }

    /// Returns true if these are records of `name`, as `categories` are of a category.
    fn is_of(&self, name: &str) -> bool {
        let last = self.path.rsplit('.').next().unwrap_or_default();
        let plural = |name: &str| match name.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None => format!("{name}s"),
        };
        !name.is_empty() && (last == name || last == plural(name)) && self.column("name").is_some()
    }

    fn cell<'r>(&self, record: &'r Record, column: usize) -> Option<&'r Cell<'static>> {
        let name = self.names.get(column)?;
        record.iter().find(|(known, _)| known == name).map(|(_, cell)| cell)
    }

    /// The column of ids but `other`, with its ids: the one in which most values are known.
    fn ids(
        &self,
        other: Option<usize>,
        is_known: &dyn Fn(&SegmentId) -> bool,
    ) -> Option<(usize, Vec<SegmentId>)> {
        let ids_of = |column: usize| -> Vec<Option<SegmentId>> {
            self.records.iter().map(|record| self.cell(record, column)?.id()).collect()
        };
        let n_known = |ids: &[Option<SegmentId>]| ids.iter().flatten().filter(|id| is_known(id)).count();
        let made_of = |column: usize| self.templates.iter().map(move |template| self.made(template, column));
        let columns = (0..self.names.len()).filter(|column| Some(*column) != other);
        let ways = columns.flat_map(|column| {
            std::iter::once(ids_of(column)).chain(made_of(column)).map(move |ids| (column, ids))
        });
        let counted = ways.map(|(at, ids)| (n_known(&ids), at, ids));
        // Of equally good columns, one that means images, or else the first: annotations have numbers of their own,
        // which may be ids of images by chance.
        let means = |at: usize| self.names.get(at).is_some_and(|name| means_image(name));
        let counted: Vec<_> = counted.collect();
        let (known, at, ids) = counted.into_iter().rev().max_by_key(|(known, at, _)| (*known, means(*at)))?;
        let unknown = SegmentId::from("");
        let ids = || ids.into_iter().map(|id| id.unwrap_or_else(|| unknown.clone())).collect();
        (known > 0).then(|| (at, ids()))
    }

    /// The ids that a template makes of each record, if those as they are stand in the column `own`.
    fn made(&self, template: &Template, own: usize) -> Vec<Option<SegmentId>> {
        let id = |record: &Record| {
            let of = |name: &str| {
                self.cell(record, if name.is_empty() { own } else { self.column(name)? }).and_then(Cell::id)
            };
            Some(SegmentId::from(template.id(|_, name| of(name))?))
        };
        self.records.iter().map(id).collect()
    }

    /// The ids with the groups in the column `groups`; `None` without a column of ids.
    fn pairs(
        &self,
        groups: usize,
        is_known: &dyn Fn(&SegmentId) -> bool,
    ) -> Option<Vec<(SegmentId, String)>> {
        let (_, ids) = self.ids(Some(groups), is_known)?;
        let mut pairs = Vec::new();
        for (id, record) in ids.into_iter().zip(&self.records) {
            let names = self.cell(record, groups).map(names_of).unwrap_or_default();
            pairs.extend(names.into_iter().map(|name| (id.clone(), name)));
        }
        let mut seen = HashSet::new();
        pairs.retain(|pair| seen.insert(pair.clone()));
        Some(pairs)
    }

    /// Returns true if the column `link` leads to the images themselves, which then say their groups: it has as many
    /// ids of images as `ids`, which may be numbers of annotations that are ids of images by chance.
    fn links_images(&self, link: usize, ids: &[SegmentId], is_known: &dyn Fn(&SegmentId) -> bool) -> bool {
        let linked = self.records.iter().filter_map(|record| self.cell(record, link)?.id());
        let linked: HashSet<SegmentId> = linked.filter(is_known).collect();
        let others: HashSet<&SegmentId> = ids.iter().filter(|id| is_known(id)).collect();
        linked.len() >= others.len() || self.ids(None, is_known).is_some_and(|(best, _)| best == link)
    }

    /// The ids with the groups that the records `named` have in the column `groups`, through a column with their ids.
    fn pairs_through(
        &self,
        named: &Self,
        groups: usize,
        is_known: &dyn Fn(&SegmentId) -> bool,
    ) -> Option<Vec<(SegmentId, String)>> {
        let own_ids = named.column("id")?;
        let mut names: HashMap<SegmentId, Vec<String>> = HashMap::new();
        for record in &named.records {
            if let (Some(id), Some(cell)) =
                (named.cell(record, own_ids).and_then(Cell::id), named.cell(record, groups))
            {
                names.insert(id, names_of(cell));
            }
        }
        let singular = named.path.rsplit('.').next().unwrap_or_default();
        let singular = singular
            .strip_suffix("ies")
            .map(|stem| format!("{stem}y"))
            .unwrap_or_else(|| singular.strip_suffix('s').unwrap_or(singular).to_owned());
        let link = self.column(&format!("{singular}_id"))?;
        let (_, ids) = self.ids(Some(link), is_known)?;
        // What is called after the records, as a category is, stands nowhere else.
        let has_own_name = named.names.get(groups).is_some_and(|name| name == "name");
        if !has_own_name && self.links_images(link, &ids, is_known) {
            return None;
        }
        let mut seen = HashSet::new();
        let mut pairs = Vec::new();
        for (id, record) in ids.into_iter().zip(&self.records) {
            let target = self.cell(record, link).and_then(Cell::id);
            for name in target.and_then(|target| names.get(&target)).into_iter().flatten() {
                if seen.insert((id.clone(), name.clone())) {
                    pairs.push((id.clone(), name.clone()));
                }
            }
        }
        Some(pairs)
    }
}

/// The pairs of a dictionary of groups by id, or of ids by group; `None` if it has no ids.
fn of_dictionary(fields: &Record, is_known: &dyn Fn(&SegmentId) -> bool) -> Option<Vec<(SegmentId, String)>> {
    let ids_in = |cell: &Cell<'_>| -> Vec<SegmentId> {
        match cell {
            Cell::List(items) => items.iter().filter_map(Cell::id).collect(),
            cell => cell.id().into_iter().collect(),
        }
    };
    let key = |key: &str| SegmentId::from_untyped(key);
    let known_keys = fields.iter().filter(|(name, _)| is_known(&key(name))).count();
    let known_values = fields.iter().filter(|(_, cell)| ids_in(cell).iter().any(is_known)).count();
    match (known_keys, known_values) {
        (0, 0) => None,
        (keys, values) if keys >= values => Some(
            fields
                .iter()
                .flat_map(|(name, cell)| names_of(cell).into_iter().map(move |group| (key(name), group)))
                .collect(),
        ),
        _ => Some(
            fields
                .iter()
                .flat_map(|(name, cell)| ids_in(cell).into_iter().map(|id| (id, name.clone())))
                .collect(),
        ),
    }
}

/// The groups that a cell names.
fn names_of(cell: &Cell<'_>) -> Vec<String> {
    match cell {
        Cell::List(items) => items.iter().flat_map(names_of).collect(),
        Cell::Text(text) | Cell::Untyped(text) => {
            let several = written_list(text).unwrap_or_else(|| vec![text.to_string()]);
            let names = several.iter().map(|name| name.trim());
            names.filter(|name| !name.is_empty() && !is_nan(name)).map(str::to_owned).collect()
        }
        Cell::Number(number) if number.is_nan() => Vec::new(),
        Cell::Integer(_) | Cell::Number(_) | Cell::Bool(_) | Cell::Label(_) => vec![cell.to_string()],
        Cell::Null | Cell::Object(_) | Cell::Other(_) => Vec::new(),
    }
}

/// Returns true for the marks of missing values that are no names.
fn is_nan(text: &str) -> bool {
    text.eq_ignore_ascii_case("nan") || text == "<NA>"
}

/// Rows of an id and a group without names.
fn unnamed_rows(rows: &[Cell<'static>]) -> Vec<Record> {
    let record = |row: &Cell<'static>| match row {
        Cell::List(cells) => {
            let [id, group] = cells.as_slice() else { return None };
            Some(vec![("id".to_owned(), id.clone()), ("group".to_owned(), group.clone())])
        }
        _ => None,
    };
    rows.iter().map(record).collect::<Option<Vec<Record>>>().unwrap_or_default()
}

/// The two columns of lines such as `7 indoor`, `7: indoor` and `7=indoor`, if a table has a single column of these.
fn of_lines(names: &[String], records: &[Record]) -> Option<(Vec<String>, Vec<Record>)> {
    let [name] = names else { return None };
    fn halves(text: &str) -> Option<(&str, &str)> {
        let text = text.trim();
        let parts = text.split_once(": ").or_else(|| text.split_once(char::is_whitespace));
        let (id, group) = parts.or_else(|| text.split_once('='))?;
        let (id, group) = (id.trim_matches(['"', '\'']), group.trim().trim_matches(['"', '\'']));
        (!id.is_empty() && !group.is_empty()).then_some((id, group))
    }
    let (first, second) = halves(name)?;
    let names = vec![first.to_owned(), second.to_owned()];
    let record = |record: &Record| {
        let text = record.first()?.1.to_string();
        let (id, group) = halves(&text)?;
        let cell = |text: &str| Cell::Untyped(text.to_owned().into());
        Some(vec![(names[0].clone(), cell(id)), (names[1].clone(), cell(group))])
    };
    let records = records.iter().map(record).collect::<Option<Vec<Record>>>()?;
    (first != second).then_some((names, records))
}

/// Returns true if a cell is a list of records.
fn has_records(cell: &Cell<'_>) -> bool {
    matches!(cell, Cell::List(items) if matches!(items.first(), Some(Cell::Object(_))))
}

/// The name of a file without folders and endings.
fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str, column: Option<&str>) -> Result<Vec<String>, String> {
        let file = GroupFile::read(text.as_bytes(), "groups.x").map_err(|error| error.to_string())?;
        let is_known =
            |id: &SegmentId| matches!(id, SegmentId::Integer(1..=4)) || *id == SegmentId::from("a.jpg");
        let told = |error: Error| {
            format!("{error}; {}", error.remedy().map(ToString::to_string).unwrap_or_default())
        };
        let found = file.groups(column, &is_known).map_err(told)?;
        let known = found.pairs.into_iter().filter(|(id, _)| is_known(id));
        Ok(known.map(|(id, group)| format!("{id}:{group}")).collect())
    }

    #[test]
    fn shapes_of_ids_are_those_of_captions() {
        let expected = ["1:in", "a.jpg:out", "3:in"];
        for text in [
            "1 in\na.jpg out\n3 in\n",
            "1: in\na.jpg: out\n3: in\n",
            "1=in\na.jpg=out\n3=in\n",
            r#"[[1, "in"], ["a.jpg", "out"], [3, "in"]]"#,
            r#"{"columns": ["kind"], "index": [1, "a.jpg", 3], "data": [["in"], ["out"], ["in"]]}"#,
            r#"{"columns": ["kind"], "index": [1, "a.jpg", 3], "data": [["in"], ["out"], ["in"]], "index_names": ["i"]}"#,
            r#"{"columns": ["image_id", "kind"], "index": [0, 1, 2], "data": [[1, "in"], ["a.jpg", "out"], [3, "in"]]}"#,
            r#"{"columns": ["image_id", "kind"], "data": [[1, "in"], ["a.jpg", "out"], [3, "in"]]}"#,
            r#"[{"id": 1, "kind": "in"}, {"id": "a.jpg", "kind": "out"}, {"id": 2, "kind": NaN}, {"id": 3, "kind": "in"}]"#,
        ] {
            assert_eq!(groups(text, None).unwrap(), expected, "{text}");
        }
        let several = "image_id,kind\n1,\"['in', 'dark']\"\n2,nan\n3,\"[\"\"in\"\"]\"\n4,[x\n";
        assert_eq!(groups(several, Some("kind")).unwrap(), ["1:in", "1:dark", "3:in", "4:[x"]);
    }

    #[test]
    fn images_without_groups_are_none() {
        for (text, column) in [
            (r#"{"1": ""}"#, None),
            (r#"{"1": "", "77": "x"}"#, None),
            ("image_id,kind\n1,\n77,x\n", Some("kind")),
        ] {
            let refused = groups(text, column).unwrap_err();
            assert!(refused.contains("group"), "{text}: {refused}");
        }
    }

    #[test]
    fn a_table_without_a_header_loses_no_image() {
        for text in ["1,in\n2,out\n", "1;in\n2;out\n", "in\t1\nout\t2\n"] {
            assert_eq!(groups(text, None).unwrap(), ["1:in", "2:out"], "{text}");
        }
        assert_eq!(groups("id,1st\n1,in\n2,out\n", None).unwrap(), ["1:in", "2:out"]);
        assert_eq!(groups("1,a,x\n2,b,y\n", Some("column 3")).unwrap(), ["1:x", "2:y"]);
    }

    #[test]
    fn ids_written_in_another_way_are_found_out() {
        let known: Vec<SegmentId> = vec![1.into(), 2.into()];
        let way = |text: &str| {
            let file = GroupFile::read(text.as_bytes(), "groups.x").unwrap();
            file.other_ids(None, &known, Ids::AsGiven).map(|other| other.way().name())
        };
        assert_eq!(way("id,kind\n1.jpg,in\n2.jpg,out\n"), Some("file-name"));
        assert_eq!(
            way(r#"{"val/000000000001.jpg": "in", "val/000000000002.jpg": "out"}"#),
            Some("file-name")
        );
        assert_eq!(way("id,kind\nx.jpg,in\n"), None);
    }

    #[test]
    fn groups_are_read_from_any_shape() {
        let instances = r#"{"images": [{"id": 1, "file_name": "x"}, {"id": 2, "file_name": "y"}],
            "annotations": [{"id": 9, "image_id": 1, "category_id": 17}, {"id": 8, "image_id": 1, "category_id": 18},
                {"id": 7, "image_id": 2, "category_id": 17}, {"id": 6, "image_id": 2, "category_id": 17}],
            "categories": [{"id": 17, "name": "cat", "supercategory": "animal"},
                {"id": 18, "name": "car", "supercategory": "vehicle"}]}"#;
        let nocaps = r#"{"images": [{"id": 1, "domain": "in-domain"}, {"id": 2, "domain": "near-domain"}],
            "annotations": [{"image_id": 1, "caption": "a dog"}]}"#;
        let few = r#"{"annotations": [{"image_id": 1, "category_id": 1}, {"image_id": 2, "category_id": 2}],
            "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "car"}]}"#;
        let clips = r#"{"clips": [{"id": 1, "kind": "a"}, {"id": 2, "kind": "b"}, {"id": 3, "kind": "c"}],
            "notes": [{"id": 1, "clip_id": 3}, {"id": 2, "clip_id": 1}, {"id": 3, "clip_id": 2}]}"#;
        let numbered = r#"{"images": [{"id": 1, "domain": "in"}, {"id": 2, "domain": "out"}],
            "annotations": [{"id": 1, "image_id": 1}, {"id": 2, "image_id": 1}, {"id": 3, "image_id": 2}]}"#;
        for (text, column, expected) in [
            ("id,group\n1,a\n2,b\n", None, "1:a 2:b"),
            ("image\tsplit\tgroup\n1\ttest\ta\n2\tval\tb\n", Some("split"), "1:test 2:val"),
            ("{\"1\": \"a\", \"2\": \"b\"}", None, "1:a 2:b"),
            ("{\"1\": [\"a\", \"c\"], \"2\": \"b\"}", None, "1:a 1:c 2:b"),
            ("{\"a\": [1, 3], \"b\": [2]}", None, "1:a 3:a 2:b"),
            ("{\"a.jpg\": \"x\", \"b.jpg\": \"y\"}", None, "a.jpg:x"),
            ("{\"groups\": {\"1\": \"a\", \"2\": \"b\"}}", None, "1:a 2:b"),
            ("id,score\n1,2.5\n2,3\n", None, "1:2.5 2:3"),
            ("{\"id\": 1, \"kind\": \"a\"}\n{\"id\": 2, \"kind\": \"b\"}\n", None, "1:a 2:b"),
            ("[{\"id\": 1, \"kind\": true}, {\"id\": 2, \"kind\": null}]", Some("kind"), "1:true"),
            (
                "{\"1\": {\"domain\": \"a\", \"n\": 5}, \"2\": {\"domain\": \"b\", \"n\": 6}}",
                Some("domain"),
                "1:a 2:b",
            ),
            (instances, Some("category"), "1:cat 1:car 2:cat"),
            (instances, Some("supercategory"), "1:animal 1:vehicle 2:animal"),
            (nocaps, Some("domain"), "1:in-domain 2:near-domain"),
            // The numbers of annotations are ids of images, too.
            (numbered, Some("domain"), "1:in 2:out"),
            (clips, Some("kind"), "1:a 2:b 3:c"),
            (few, Some("category"), "1:cat 2:car"),
            ("id,group\n1,\"a, b|c\"\n2,\"\"\"q\"\" קבוצה\"\n", None, "1:a, b|c 2:\"q\" קבוצה"),
        ] {
            assert_eq!(groups(text, column).map(|all| all.join(" ")), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn files_without_groups_are_refused() {
        for (text, column, words) in [
            ("id,group\n1,a\n", Some("domain"), "there is no column 'domain'"),
            ("id,group\n71,a\n", None, "none of its values, such as 71, is the id of an image"),
            ("id,group,kind\n1,a,b\n", None, "any of the columns group, kind"),
            ("{\"x\": \"a\"}", None, "none of its values"),
            ("id,group\n1,\n2,\n", None, "no image, by its id in 'id', has a group; write a group beside"),
            ("id,group\n1,a\n2,b\n", Some("id"), "'id' holds the ids of the images, and says nothing else"),
            ("{\"1\": \"a\"}", Some("domain"), "there is no column 'domain'; name the file alone"),
            ("", None, "empty"),
            ("[]", None, "none of its values is"),
            ("7", None, ""),
        ] {
            let error = groups(text, column).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
