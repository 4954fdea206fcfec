//! All rows as lines of text, which are the same for both databases: what backups are made of.
//!
//! A table begins with a line that names it and its columns; each row is a line with a list of values.

use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sqlx::AssertSqlSafe;
use tokio::sync::mpsc::Sender;

use super::{Error, Row, Schema, Tx, Value};
use crate::args;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Text,
    Int,
    Real,
}

/// The line that begins a table.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    table: String,
    columns: Vec<(String, Kind)>,
}

impl Tx {
    /// The columns of a table in order.
    async fn columns(&mut self, table: &str) -> anyhow::Result<Vec<(String, Kind)>> {
        let sql = self.pick(
            "SELECT name, type FROM pragma_table_info($1) ORDER BY cid",
            "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT) \
             FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 \
             ORDER BY ordinal_position",
        );
        let columns: Vec<(String, String)> = self.fetch(sql, args![table]).await?;
        columns
            .into_iter()
            .map(|(name, kind)| {
                let kind = match kind.to_uppercase().as_str() {
                    "TEXT" => Kind::Text,
                    "BIGINT" => Kind::Int,
                    "DOUBLE PRECISION" => Kind::Real,
                    other => anyhow::bail!("the column {name} of {table} has the unknown type {other}"),
                };
                Ok((name, kind))
            })
            .collect()
    }

    /// Sends the lines of all tables, many at a time.
    pub async fn export(&mut self, schema: &Schema, lines_to: Sender<Vec<u8>>) -> anyhow::Result<()> {
        const CHUNK: usize = 1 << 18;
        let mut lines = Vec::new();
        for table in schema.tables() {
            let columns = self.columns(table).await?;
            let head = Head { table: table.to_owned(), columns };
            serde_json::to_writer(&mut lines, &head)?;
            lines.push(b'\n');
            let sql = format!("SELECT * FROM {table}");
            macro_rules! rows {
                ($tx:expr, $kind:path) => {{
                    let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(&mut **$tx);
                    while let Some(row) = rows.try_next().await? {
                        serde_json::to_writer(&mut lines, &values(&$kind(row), &head.columns)?)?;
                        lines.push(b'\n');
                        if lines.len() > CHUNK {
                            lines_to.send(std::mem::take(&mut lines)).await?;
                        }
                    }
                }};
            }
            match self {
                Self::Sqlite(tx, _) => rows!(tx, Row::Sqlite),
                Self::Postgres(tx) => rows!(tx, Row::Postgres),
            }
        }
        Ok(lines_to.send(lines).await?)
    }
}

fn values(row: &Row, columns: &[(String, Kind)]) -> anyhow::Result<Vec<Json>> {
    columns
        .iter()
        .map(|(name, kind)| {
            Ok(match kind {
                Kind::Text => row.get::<Option<String>>(name)?.into(),
                Kind::Int => row.get::<Option<i64>>(name)?.into(),
                Kind::Real => row.get::<Option<f64>>(name)?.into(),
            })
        })
        .collect()
}

/// Adds the rows of an export to empty tables.
#[derive(Default)]
pub struct Import {
    head: Option<Head>,
    sql: String,
}

impl Import {
    /// Adds what a line says.
    pub async fn line(&mut self, tx: &mut Tx, schema: &Schema, line: &str) -> anyhow::Result<()> {
        if line.starts_with('{') {
            let head: Head = serde_json::from_str(line)?;
            let known = match schema.tables().find(|table| *table == head.table) {
                Some(table) => tx.columns(table).await?,
                None => Vec::new(),
            };
            let is_known = |column: &(String, Kind)| known.contains(column);
            anyhow::ensure!(
                !head.columns.is_empty() && head.columns.iter().all(is_known),
                "this program has no table {} with such columns",
                head.table
            );
            let names: Vec<&str> = head.columns.iter().map(|(name, _)| name.as_str()).collect();
            let places: Vec<String> = (1..=names.len()).map(|k| format!("${k}")).collect();
            self.sql =
                format!("INSERT INTO {} ({}) VALUES ({})", head.table, names.join(", "), places.join(", "));
            self.head = Some(head);
            return Ok(());
        }
        let row: Vec<Json> = serde_json::from_str(line)?;
        let columns = self.head.as_ref().map_or(&[][..], |head| &head.columns);
        anyhow::ensure!(row.len() == columns.len(), "a row has {} values, not {}", row.len(), columns.len());
        let values = row.into_iter().zip(columns).map(|(value, (_, kind))| match (kind, value) {
            (Kind::Text, Json::String(text)) => Ok(Value::Text(Some(text))),
            (Kind::Int, Json::Number(number)) if number.is_i64() => Ok(Value::Int(number.as_i64())),
            (Kind::Real, Json::Number(number)) => Ok(Value::Real(number.as_f64())),
            (Kind::Text, Json::Null) => Ok(Value::Text(None)),
            (Kind::Int, Json::Null) => Ok(Value::Int(None)),
            (Kind::Real, Json::Null) => Ok(Value::Real(None)),
            (_, other) => Err(anyhow::anyhow!("a value has the wrong type: {other}")),
        });
        let values = values.collect::<anyhow::Result<Vec<Value>>>()?;
        Ok(tx.execute_built(&self.sql, values).await.map(drop)?)
    }
}

/// Returns true if the tables hold nothing.
pub async fn is_empty(tx: &mut Tx, schema: &Schema) -> Result<bool, Error> {
    for table in schema.tables() {
        let sql = AssertSqlSafe(format!("SELECT 1 FROM {table} LIMIT 1"));
        let is_used = match tx {
            Tx::Sqlite(tx, _) => sqlx::query(sql).fetch_optional(&mut **tx).await?.is_some(),
            Tx::Postgres(tx) => sqlx::query(sql).fetch_optional(&mut **tx).await?.is_some(),
        };
        if is_used {
            return Ok(false);
        }
    }
    Ok(true)
}
