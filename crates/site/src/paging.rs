//! Lists that grow, a page of rows at a time. A page begins after a row, and not at a number of rows: what is added
//! or removed during that time makes no other row appear twice or not at all, and a late page reads as little as the
//! first one.

pub use capeval_api::Place;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::args;
use crate::store::{Error, Record, Store, Value};

/// A text after all ids, which are hexadecimal, in the order of any language.
pub const BEYOND: &str = "g";

/// The statements of a list that is ordered by the ids of its rows. Both have the id of a row as `$1` and the number of
/// rows as `$2`; [`newest_first!`](crate::newest_first!) and [`oldest_first!`](crate::oldest_first!) make them.
pub struct List {
    /// Selects the rows after one, in order.
    pub onward: &'static str,
    /// Selects the rows before one, in reverse.
    pub back: &'static str,
    /// A text before all ids in this order.
    pub start: &'static str,
}

/// A [`List`] of a query that ends with a condition, the newest rows first.
#[macro_export]
macro_rules! newest_first {
    ($rows:expr, $id:literal) => {
        $crate::paging::List {
            onward: concat!($rows, " AND ", $id, " < $1 ORDER BY ", $id, " DESC LIMIT $2"),
            back: concat!($rows, " AND ", $id, " > $1 ORDER BY ", $id, " LIMIT $2"),
            start: $crate::paging::BEYOND,
        }
    };
}

/// The same with the oldest rows first.
#[macro_export]
macro_rules! oldest_first {
    ($rows:expr, $id:literal) => {
        $crate::paging::List {
            onward: concat!($rows, " AND ", $id, " > $1 ORDER BY ", $id, " LIMIT $2"),
            back: concat!($rows, " AND ", $id, " < $1 ORDER BY ", $id, " DESC LIMIT $2"),
            start: "",
        }
    };
}

/// A place in a list, and the most rows from there.
#[derive(Clone, Debug)]
pub struct At {
    pub place: Place,
    pub most: usize,
}

impl At {
    /// The beginning of a list.
    pub fn start(most: usize) -> Self {
        Self { place: Place::default(), most }
    }
}

/// The place in one list of a page that has several.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListPlace {
    /// The name of the list.
    pub list: String,
    #[serde(flatten)]
    pub place: Place,
}

/// The places in the lists of a page; all but one are shown from their beginning.
pub struct Places {
    pub known: ListPlace,
    pub most: usize,
}

impl Places {
    /// The place in the list with this name.
    pub fn of(&self, list: &str) -> At {
        let ListPlace { list: known, place } = &self.known;
        let place = if known == list { place.clone() } else { Place::default() };
        At { place, most: self.most }
    }
}

/// A page of a list.
pub struct Rows<T> {
    pub rows: Vec<T>,
    /// The id before which the page before ends, if there is one; empty if that is the first.
    pub before: Option<String>,
    /// The id after which the next page begins, if there is one.
    pub after: Option<String>,
}

impl<T> Rows<T> {
    /// The same page with other values for its rows.
    pub fn with<U>(self, rows: Vec<U>) -> Rows<U> {
        Rows { rows, before: self.before, after: self.after }
    }
}

impl List {
    /// The rows at a place; `$3` and the following are `args`.
    pub async fn page<T: Record>(
        &self,
        store: &Store,
        At { place, most }: At,
        args: Vec<Value>,
        id: impl Fn(&T) -> &str,
    ) -> Result<Rows<T>, Error> {
        let is_back = place.after.is_empty() && !place.before.is_empty();
        let (sql, from) = match (is_back, place.after.as_str()) {
            (true, _) => (self.back, place.before.as_str()),
            (false, "") => (self.onward, self.start),
            (false, after) => (self.onward, after),
        };
        let mut values = args![from, most + 1];
        values.extend(args);
        let mut rows: Vec<T> = store.fetch(sql, values).await?;
        let is_cut = rows.len() > most;
        rows.truncate(most);
        if is_back {
            rows.reverse();
        }
        let id_of = |row: Option<&T>| row.map_or(String::new(), |row| id(row).to_owned());
        let has_before = if is_back { is_cut } else { !place.after.is_empty() };
        Ok(Rows {
            before: has_before.then(|| id_of(rows.first())),
            after: (is_back || is_cut).then(|| id_of(rows.last())),
            rows,
        })
    }
}
