//! Finds what identifies the images on both sides: the references, and the captions of every system.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use capeval_choice::{Argument, Code};

use super::doubt::{list_names, looks_like_ids};
use super::{Key, KeyName, Keys, Standing};
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::notice::list_ids;
use crate::policy::Ids;
use crate::reading::separators::separator;
use crate::reading::{refuse_open, settle};
use crate::table::known::{self, plain};
use crate::{Notice, Remedy, Role, SegmentId};

/// The captions that those of systems are matched with.
pub enum Opposite<'a> {
    /// References.
    Captions(&'a mut Captions),
    /// References that were prepared: their ids, and the name of their source.
    Ids(&'a [SegmentId], &'a str),
}

/// Gives references and systems ids from what both have, where the ids that their readers found are in doubt: a column
/// whose name is not known, or one that is more than a number of rows. Returns notices that say what was chosen.
///
/// Tables are matched, in this order, by a column of the same name on all sides that tells the rows of each system
/// apart; by the labels of indexes without names, if they are equal as sets; and by the numbers of their rows, if
/// neither side has anything else that could identify them.
///
/// # Errors
/// If two such columns match rows differently; if labels differ and do not count the rows; or if one side has columns
/// that could be ids, and the other does not have them.
pub fn agree(
    mut references: Opposite<'_>,
    systems: &mut [(String, Captions)],
    ids: Ids,
) -> Result<Vec<Notice>, Error> {
    let mut notices = match &mut references {
        Opposite::Captions(captions) => settle(captions, systems, ids)?,
        Opposite::Ids(known, source) => settle(&mut Captions::of_ids(known, source), systems, ids)?,
    };
    if let (Opposite::Captions(captions), Some((_, first))) = (&mut references, systems.first())
        && let Some(separator) = separator(captions, first)
    {
        captions.split_at(&separator);
    }
    let plan = {
        let ground = match &references {
            Opposite::Captions(captions) => Side::of(captions, Role::References),
            Opposite::Ids(ids, source) => Side::prepared(ids, source),
        };
        let sides: Vec<Side<'_>> =
            systems.iter().map(|(_, captions)| Side::of(captions, Role::Candidates)).collect();
        let is_certain = |side: &Side<'_>| side.keys.standing == Standing::Certain;
        if is_certain(&ground) && sides.iter().all(is_certain) {
            return Ok(notices);
        }
        if let Opposite::Ids(ids, _) = &references {
            refuse_order(ids, &sides)?;
        }
        Parties { ground, sides, ids }.plan()?
    };
    let Plan { key, notice } = plan;
    if !key.is_empty() {
        if let Opposite::Captions(captions) = references {
            captions.identify_by(&key);
        }
        systems.iter_mut().for_each(|(_, captions)| captions.identify_by(&key));
    }
    notices.extend(notice);
    Ok(notices)
}

/// Refuses captions without ids where prepared references have numbers in another order, which may be labels of rows.
fn refuse_order(ids: &[SegmentId], sides: &[Side<'_>]) -> Result<(), Error> {
    let mut sorted = ids.to_vec();
    sorted.sort();
    let is_shuffled = ids != sorted && count_rows(&sorted, Role::Candidates);
    let in_order = sides.iter().find(|side| !side.has_ids() && side.labels().is_none());
    let Some(side) = in_order.filter(|_| is_shuffled) else { return Ok(()) };
    let message = "it has no ids, and the references have numbers in another order".to_owned();
    Err(side.error(message, Remedy::say("give captions ids, as in a dictionary")))
}

/// Gives references the labels of an index without a name as ids, unless these count the rows, for those who meet the
/// other side only later.
///
/// # Errors
/// If rows are numbered although columns could hold their ids, or if rows in several places have one label.
pub fn identify(references: &mut Captions) -> Result<(), Error> {
    refuse_open(references)?;
    let ground = Side::of(references, Role::References);
    if ground.keys.standing != Standing::Numbered {
        return Ok(());
    }
    let parties = Parties { ground, sides: Vec::new(), ids: Ids::AsGiven };
    let possible = parties.possible(&parties.ground);
    if !possible.is_empty() {
        let message = format!("no column is known to hold image ids, and {} could", list_names(&possible));
        let remedy = Remedy::give(Argument::IdColumn(Role::References)).to("say which one does");
        let remedy = remedy.or(Remedy::say("leave them out if none does"));
        return Err(parties.ground.error(message, remedy));
    }
    let labels = parties.ground.labels().filter(|labels| *labels != parties.ground.ids);
    let Some(labels) = labels else { return Ok(()) };
    let mut runs: HashSet<&SegmentId> = HashSet::new();
    if let Some(again) = labels.chunk_by(|a, b| a == b).filter_map(<[_]>::first).find(|run| !runs.insert(run))
    {
        let message = format!("rows in several places have the label {} in its index", again.quoted());
        let remedy = Remedy::say("name the index if its labels are ids, or drop it to number the rows");
        return Err(parties.ground.error(message, remedy));
    }
    references.identify_by(&[KeyName::Labels]);
    Ok(())
}

impl Captions {
    /// Takes the values of `key` as ids, if there are such values besides the ids; those of several keys are joined.
    fn identify_by(&mut self, key: &[KeyName]) {
        let joined = match key {
            [_] => None,
            several => Side::of(self, Role::References).joined(several, self.len()).zip(template(several)),
        };
        let others = std::mem::take(&mut self.keys_mut().others);
        if let Some((values, column)) = joined {
            self.take_ids(values, Keys { column: Some(column), ..Keys::default() });
            return;
        }
        let [key] = key else { return };
        if let Some(chosen) = others.into_iter().find(|other| same(&other.name, key)) {
            let column = match chosen.name {
                KeyName::Column(name) => Some(name),
                KeyName::Labels => None,
            };
            self.take_ids(chosen.values, Keys { column, ..Keys::default() });
        }
    }
}

/// The template of ids that are made of columns.
fn template(names: &[KeyName]) -> Option<String> {
    let names = names.iter().map(|name| match name {
        KeyName::Column(name) => Some(format!("{{{name}}}")),
        KeyName::Labels => None,
    });
    Some(names.collect::<Option<Vec<_>>>()?.join("|"))
}

/// Returns true if two keys have the same name, but for case and separators.
fn same(a: &KeyName, b: &KeyName) -> bool {
    match (a, b) {
        (KeyName::Column(a), KeyName::Column(b)) => plain(a) == plain(b),
        (a, b) => a == b,
    }
}

/// The keys to use.
#[derive(Default)]
struct Plan {
    /// The keys that identify the rows together; none for the existing ids.
    key: Vec<KeyName>,
    notice: Option<Notice>,
}

/// One side: references or a system.
pub(super) struct Side<'c> {
    source: &'c str,
    pub(super) role: Role,
    pub(super) ids: &'c [SegmentId],
    pub(super) keys: Cow<'c, Keys>,
}

/// Something that may identify rows, and its values.
#[derive(Clone)]
pub(super) struct Column<'c> {
    pub(super) name: KeyName,
    pub(super) values: &'c [SegmentId],
    /// True if the ids of its side come from it.
    is_own: bool,
}

impl<'c> Side<'c> {
    fn of(captions: &'c Captions, role: Role) -> Self {
        Self { source: captions.source(), role, ids: captions.ids(), keys: Cow::Borrowed(captions.keys()) }
    }

    /// References whose columns are not known any more, so that ids that count them may be numbers of rows.
    fn prepared(ids: &'c [SegmentId], source: &'c str) -> Self {
        let role = Role::References;
        let standing = if count_rows(ids, role) { Standing::General } else { Standing::Certain };
        Self { source, role, ids, keys: Cow::Owned(Keys { standing, ..Keys::default() }) }
    }

    /// The column `name` of this side, if any.
    pub(super) fn column<'s>(&'s self, name: &KeyName) -> Option<Column<'s>> {
        self.columns().find(|column| same(&column.name, name))
    }

    /// All columns that may identify its rows, those with known names first.
    pub(super) fn columns<'s>(&'s self) -> impl Iterator<Item = Column<'s>> {
        let own = self.keys.column.clone().map(|name| Column {
            name: KeyName::Column(name),
            values: self.ids,
            is_own: true,
        });
        let other = |key: &'s Key| Column { name: key.name.clone(), values: &key.values, is_own: false };
        own.into_iter().chain(self.keys.others.iter().map(other))
    }

    /// The values of columns in the first `n` rows, joined with a bar as [`template`] does; `None` if it lacks one.
    fn joined(&self, names: &[KeyName], n: usize) -> Option<Vec<SegmentId>> {
        let columns: Vec<Column<'_>> = names.iter().map(|name| self.column(name)).collect::<Option<_>>()?;
        let value = |row: usize| {
            let values: Vec<String> =
                columns.iter().filter_map(|column| Some(column.values.get(row)?.to_string())).collect();
            SegmentId::from(values.join("|"))
        };
        Some((0..n.min(self.ids.len())).map(value).collect())
    }

    /// Returns true if its ids are more than numbers of its rows.
    pub(super) fn has_ids(&self) -> bool {
        matches!(self.keys.standing, Standing::Certain | Standing::General)
    }

    fn labels(&self) -> Option<&[SegmentId]> {
        let key = self.keys.others.iter().find(|key| key.name == KeyName::Labels)?;
        Some(&key.values)
    }

    pub(super) fn error(&self, message: String, remedy: Remedy) -> Error {
        Error::new(ErrorKind::Id, self.source, message).with_remedy(remedy)
    }
}

/// All sides, and how ids are compared.
pub(super) struct Parties<'c> {
    pub(super) ground: Side<'c>,
    pub(super) sides: Vec<Side<'c>>,
    pub(super) ids: Ids,
}

impl<'c> Parties<'c> {
    pub(super) fn all(&self) -> impl Iterator<Item = &Side<'c>> {
        std::iter::once(&self.ground).chain(&self.sides)
    }

    fn plan(&self) -> Result<Plan, Error> {
        if let Some(plan) = self.shared_column()? {
            return Ok(plan);
        }
        if let Some(plan) = self.labels()? {
            return Ok(plan);
        }
        if let Some(plan) = self.shared_columns() {
            return Ok(plan);
        }
        self.refuse_numbers()?;
        Ok(Plan::default())
    }

    /// A column of the same name on all sides, which tells the rows of every system apart.
    fn shared_column(&self) -> Result<Option<Plan>, Error> {
        let shared: Vec<Column<'_>> = self.ground.columns().filter(|column| self.is_shared(column)).collect();
        let is_counted = |column: &&Column<'_>| self.counts_everywhere(&column.name);
        let telling: Vec<&Column<'_>> = shared.iter().filter(|column| !is_counted(column)).collect();
        let Some(chosen) = telling.first().copied().or(shared.first()) else { return Ok(None) };
        let is_own = |column: &Column<'_>| {
            let owns = |side: &Side<'_>| side.column(&column.name).is_some_and(|theirs| theirs.is_own);
            column.is_own && self.sides.iter().all(owns)
        };
        // Ids that match the same rows stay.
        let own = shared.iter().find(|column| is_own(column));
        if own.is_some_and(|own| self.match_alike(own, chosen)) {
            return Ok(Some(Plan::default()));
        }
        // Numbers may be lengths, which must not take the place of ids.
        let is_rival = |other: &&Column<'_>| {
            let tells = !is_counted(other) || is_own(other) && !has_text(chosen.values);
            tells && looks_like_ids(other.values) && !self.match_alike(chosen, other)
        };
        if let (Some(other), KeyName::Column(first)) = (shared.iter().find(is_rival), &chosen.name)
            && let KeyName::Column(second) = &other.name
        {
            let message =
                format!("both sides have the columns {first:?} and {second:?}, which match different rows");
            let remedy = Remedy::give(Argument::IdColumn(Role::Candidates))
                .to("say which one holds the ids, on both sides");
            return Err(self.ground.error(message, remedy));
        }
        let KeyName::Column(name) = &chosen.name else { return Ok(None) };
        let is_known =
            known::IMAGE.iter().chain(known::IMAGE_OF_CAPTION).any(|image| plain(image) == plain(name));
        let passed = |side: &Side<'_>| side.keys.column.clone().filter(|own| plain(own) != plain(name));
        let passed = passed(&self.ground).or_else(|| self.sides.iter().find_map(passed));
        let why = match &passed {
            Some(own) => format!(", rather than by {own:?}"),
            None => String::new(),
        };
        let message = format!("images are identified by the column {name:?}, which both sides have{why}");
        let remedy = Remedy::give(Argument::IdColumn(Role::Candidates)).to("name another one");
        let notice =
            (!is_known || passed.is_some()).then(|| Notice::new(Code::IdColumn, message).remedy(remedy));
        Ok(Some(Plan { key: vec![chosen.name.clone()], notice }))
    }

    /// The fewest columns of the same names on all sides whose values together tell the rows of every system apart, and
    /// are those of the references.
    fn shared_columns(&self) -> Option<Plan> {
        /// The columns that are tried, the rows that rule most of them out, and the most that are tried on all rows.
        const COLUMNS: usize = 12;
        const HEAD: usize = 1000;
        const MOST: usize = 8;
        let is_shared = |column: &Column<'_>| {
            let there = self.forms(column.values);
            let has = |side: &Side<'_>| {
                side.column(&column.name).is_some_and(|here| self.forms(here.values) == there)
            };
            column.name != KeyName::Labels && self.sides.iter().all(has)
        };
        let names = self.ground.columns().take(COLUMNS).filter(is_shared).map(|column| column.name);
        let names: Vec<KeyName> = names.collect();
        let tells_apart = |names: &[KeyName], n: usize, there: Option<&HashSet<Cow<'_, SegmentId>>>| {
            self.sides.iter().all(|side| {
                let is_same = |here: &[SegmentId]| there.is_none_or(|there| self.forms(here) == *there);
                side.joined(names, n).is_some_and(|here| is_same(&here) && self.tells_apart(side, &here))
            })
        };
        let are_same = |names: &[KeyName]| {
            let there = self.ground.joined(names, usize::MAX).unwrap_or_default();
            let there = self.forms(&there);
            there.len() > 1 && !self.sides.is_empty() && tells_apart(names, usize::MAX, Some(&there))
        };
        let pairs = names
            .iter()
            .enumerate()
            .flat_map(|(k, one)| names.iter().skip(k + 1).map(move |two| vec![one.clone(), two.clone()]));
        let pairs: Vec<Vec<KeyName>> = pairs.collect();
        let triples = pairs.iter().flat_map(|pair| {
            let last = names.iter().position(|name| pair.last() == Some(name)).unwrap_or_default();
            names
                .iter()
                .skip(last + 1)
                .map(move |three| [pair.as_slice(), std::slice::from_ref(three)].concat())
        });
        let possible = pairs.iter().cloned().chain(triples).filter(|names| tells_apart(names, HEAD, None));
        let key = possible.take(MOST).find(|names| are_same(names))?;
        let columns: Vec<Column<'_>> = key.iter().filter_map(|name| self.ground.column(name)).collect();
        let message = format!(
            "images are identified by the columns {} together, which both sides have",
            list_names(&columns)
        );
        let remedy = Remedy::give(Argument::IdColumn(Role::Candidates)).to("name another one");
        Some(Plan { key, notice: Some(Notice::new(Code::IdColumn, message).remedy(remedy)) })
    }

    /// Returns true if all systems have a column, and it tells their rows apart by values that the references mostly
    /// have. One side must have all numbers of the other, which could be lengths or years otherwise.
    fn is_shared(&self, column: &Column<'_>) -> bool {
        if column.name == KeyName::Labels {
            return false;
        }
        let here = self.forms(column.values);
        self.sides.iter().all(|side| {
            side.column(&column.name).is_some_and(|theirs| {
                let there = self.forms(theirs.values);
                let common = there.iter().filter(|value| here.contains(*value)).count();
                let fewest = here.len().min(there.len());
                let agrees = if has_text(theirs.values) { 2 * common >= fewest } else { common == fewest };
                agrees && (theirs.is_own || self.tells_apart(side, theirs.values))
            })
        })
    }

    /// Returns true if no two rows of a side have the same value.
    pub(super) fn tells_apart(&self, side: &Side<'_>, values: &[SegmentId]) -> bool {
        let mut row_of = HashMap::new();
        values.iter().zip(side.ids).all(|(value, id)| *row_of.entry(self.ids.form(value)).or_insert(id) == id)
    }

    /// Returns true if a column counts the rows of all sides, and so adds nothing to their order.
    fn counts_everywhere(&self, name: &KeyName) -> bool {
        let counts =
            |side: &Side<'_>| side.column(name).is_some_and(|column| count_rows(column.values, side.role));
        counts(&self.ground) && self.sides.iter().all(counts)
    }

    /// Returns true if two columns that all sides have match the same rows.
    fn match_alike(&self, a: &Column<'_>, b: &Column<'_>) -> bool {
        let form = |id| self.ids.form(id);
        let by_b: HashMap<Cow<'_, SegmentId>, &SegmentId> = b.values.iter().map(form).zip(a.values).collect();
        self.sides.iter().all(|side| {
            let (Some(here), Some(there)) = (side.column(&a.name), side.column(&b.name)) else { return true };
            here.values
                .iter()
                .zip(there.values)
                .all(|(here, there)| by_b.get(&form(there)).is_none_or(|matched| form(matched) == form(here)))
        })
    }

    /// Labels of indexes without names, which are ids if they are the same on both sides.
    fn labels(&self) -> Result<Option<Plan>, Error> {
        let is_first = |label: &SegmentId| *label == SegmentId::Integer(0);
        let count = |side: &Side<'_>, labels: &[SegmentId]| {
            labels.first().is_some_and(is_first) && count_rows(labels, side.role)
        };
        let tell = |side: &&Side<'_>| side.labels().is_some_and(|labels| !count(side, labels));
        let Some(telling) = self.all().find(tell) else { return Ok(None) };
        if self.sides.iter().all(|side| self.has_labels_of_references(side)) {
            let message = "rows are matched by the labels of their index, which has no name";
            let remedy = Remedy::say("name the index, or drop it to match rows in order");
            let notice = Some(Notice::new(Code::Labels, message.to_owned()).remedy(remedy));
            return Ok(Some(Plan { key: vec![KeyName::Labels], notice }));
        }
        let labels = telling.labels().unwrap_or_default();
        let message = format!(
            "the labels of its index ({}) are not those of the other side, and do not count the rows",
            list_ids(labels, labels.len()),
        );
        let remedy = Remedy::say(
            "give both sides the same labels, name the index that holds ids, or drop both indexes",
        );
        Err(telling.error(message, remedy))
    }

    /// Returns true if the labels of a system are unique, and equal to those of the references as sets. If one of the
    /// two has ids instead, the labels or ids of the system must be among those of the references.
    fn has_labels_of_references(&self, side: &Side<'_>) -> bool {
        let is_unique = side.labels().is_none_or(|labels| self.tells_apart(side, labels));
        let (Some(here), Some(there)) = (self.names(&self.ground), self.names(side)) else { return false };
        let are_labels = self.ground.labels().is_some() && side.labels().is_some();
        is_unique && if are_labels { here == there } else { there.is_subset(&here) }
    }

    /// The labels of a side, or else its ids, if it has any.
    fn names<'s>(&self, side: &'s Side<'_>) -> Option<HashSet<Cow<'s, SegmentId>>> {
        let ids = || side.has_ids().then_some(side.ids);
        Some(self.forms(side.labels().or_else(ids)?))
    }

    pub(super) fn forms<'v>(&self, values: &'v [SegmentId]) -> HashSet<Cow<'v, SegmentId>> {
        forms(values, self.ids)
    }
}

/// The distinct forms of values that are compared.
pub(super) fn forms(values: &[SegmentId], ids: Ids) -> HashSet<Cow<'_, SegmentId>> {
    values.iter().map(|value| ids.form(value)).collect()
}

fn has_text(values: &[SegmentId]) -> bool {
    values.iter().any(|value| matches!(value, SegmentId::Text(_)))
}

/// Returns true if values count the rows of a side in their order, from 0 or from 1. A row of references may have
/// several captions.
pub(super) fn count_rows(values: &[SegmentId], role: Role) -> bool {
    let mut rows: Vec<&SegmentId> = values.iter().collect();
    if role == Role::References {
        rows.dedup();
    }
    let base = match rows.first() {
        Some(SegmentId::Integer(base @ (0 | 1))) => *base,
        _ => return false,
    };
    (base..).zip(rows).all(|(number, value)| *value == SegmentId::Integer(number))
}
