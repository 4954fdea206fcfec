//! Rows to write: each value stands beside its column, and the statement is made of both.

use super::{Error, Tx, Value};

/// The columns of a row with their values.
pub type Columns = Vec<(&'static str, Value)>;

/// The columns of a row: `columns! { name: value, … }`, where a variable of the name may stand for both.
#[macro_export]
macro_rules! columns {
    (@ $name:ident) => { $name };
    (@ $name:ident $value:expr) => { $value };
    ($($name:ident $(: $value:expr)?),* $(,)?) => {
        vec![$((stringify!($name), $crate::store::Value::from($crate::columns!(@ $name $($value)?)))),*]
    };
}

impl Tx {
    /// Adds a row, which must not be there.
    pub async fn insert_row(&mut self, table: &'static str, columns: Columns) -> Result<(), Error> {
        self.insert(table, columns, "").await.map(drop)
    }

    /// Adds a row; returns `false` if there is one already that it would conflict with.
    pub async fn add_row(&mut self, table: &'static str, columns: Columns) -> Result<bool, Error> {
        Ok(self.insert(table, columns, "ON CONFLICT DO NOTHING").await? > 0)
    }

    /// Adds a row, or changes all other columns of the one with the same `keys`.
    pub async fn put_row(
        &mut self,
        table: &'static str,
        keys: &[&str],
        columns: Columns,
    ) -> Result<(), Error> {
        let others = columns.iter().map(|(name, _)| *name).filter(|name| !keys.contains(name));
        let set: Vec<String> = others.map(|name| format!("{name} = excluded.{name}")).collect();
        let or = format!("ON CONFLICT ({}) DO UPDATE SET {}", keys.join(", "), set.join(", "));
        self.insert(table, columns, &or).await.map(drop)
    }

    async fn insert(&mut self, table: &'static str, columns: Columns, or: &str) -> Result<u64, Error> {
        let (names, values): (Vec<&str>, Vec<Value>) = columns.into_iter().unzip();
        let places: Vec<String> = (1..=names.len()).map(|k| format!("${k}")).collect();
        let (names, places) = (names.join(", "), places.join(", "));
        let sql = format!("INSERT INTO {table} ({names}) VALUES ({places}) {or}");
        self.execute_built(&sql, values).await
    }

    /// Changes columns of the row with this id.
    pub async fn change_row(&mut self, table: &'static str, id: &str, columns: Columns) -> Result<(), Error> {
        let (names, mut values): (Vec<&str>, Vec<Value>) = columns.into_iter().unzip();
        let set: Vec<String> = (1..).zip(&names).map(|(k, name)| format!("{name} = ${k}")).collect();
        values.push(id.into());
        let sql = format!("UPDATE {table} SET {} WHERE id = ${}", set.join(", "), values.len());
        self.execute_built(&sql, values).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Migration, Schema, Store};
    use crate::args;

    #[tokio::test]
    async fn rows_are_added_once_and_changed() {
        let script = "CREATE TABLE fruit (id TEXT PRIMARY KEY, colour TEXT, weight BIGINT);";
        let folder = tempfile::tempdir().unwrap();
        let schema = Schema::new(vec![Migration { name: "shop/fruit", script }]);
        let store = Store::open("", folder.path(), 1, &schema).await.unwrap();
        let mut tx = store.begin().await.unwrap();
        let colour = "green";
        let pear = || columns! { id: "pear", weight: None::<i64>, colour };
        assert!(tx.add_row("fruit", pear()).await.unwrap());
        assert!(!tx.add_row("fruit", pear()).await.unwrap());
        assert!(tx.insert_row("fruit", pear()).await.is_err());
        assert!(tx.add_row("fruit", columns! { id: "fig" }).await.unwrap());
        tx.change_row("fruit", "pear", columns! { weight: 7_i64, colour: "yellow" }).await.unwrap();
        tx.put_row("fruit", &["id"], columns! { id: "fig", colour: "blue", weight: 2_i64 }).await.unwrap();
        tx.put_row("fruit", &["id"], columns! { id: "kiwi", colour: "brown" }).await.unwrap();
        let sql = "SELECT id, colour, weight FROM fruit ORDER BY id DESC";
        let rows: Vec<(String, Option<String>, Option<i64>)> = tx.fetch(sql, args![]).await.unwrap();
        let pear = ("pear".to_owned(), Some("yellow".to_owned()), Some(7));
        let kiwi = ("kiwi".to_owned(), Some("brown".to_owned()), None);
        assert_eq!(rows, [pear, kiwi, ("fig".to_owned(), Some("blue".to_owned()), Some(2))]);
    }
}
