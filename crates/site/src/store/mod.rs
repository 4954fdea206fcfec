//! The database: SQLite or PostgreSQL behind one type, with the same statements on both.
//!
//! Statements are constants, use `$1` placeholders and only the types TEXT, BIGINT and DOUBLE PRECISION, so nearly all
//! of them run on both databases as they are. SQLite has one connection that writes, whose transactions begin with
//! BEGIN IMMEDIATE, and several that read, so no request is refused because the database is locked.
//!
//! A request waits for a busy database. If it takes long, the server checks that PostgreSQL still accepts connections,
//! and otherwise answers 503. SQLite ends a transaction itself on a full disk, after which the connection cannot roll
//! back: such a connection is closed, and readiness fails until there is space. The few statements that differ between
//! the databases (claims of jobs skip locked rows on PostgreSQL) are written side by side.

mod disk;
mod export;
mod migrate;
mod record;
mod retryable;
mod server;
mod value;
mod write;

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection, PgPool, Postgres, Sqlite, SqlitePool, Transaction};

pub use disk::{Disk, is_refusal};
pub use export::{Import, is_empty};
pub use migrate::{Migration, Schema};
pub use record::{Record, json, or_default};
pub use retryable::{is_duplicate, is_retryable};
pub use server::Server;
pub use sqlx::Error;
pub use value::{Column, Row, Value, list};
pub use write::Columns;

/// The parameters of a statement.
#[macro_export]
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::Value::from($value)),*] };
}

/// The statement for the kind of database with the values of a [`list`] in the brackets between two texts:
/// `among!(store, "SELECT … WHERE id IN (", "$1", ")")`.
#[macro_export]
macro_rules! among {
    ($store:expr, $before:literal $(, $list:literal, $after:literal)+) => {
        $store.pick(
            concat!($before $(, "SELECT value FROM json_each(", $list, ")", $after)+),
            concat!($before $(, "SELECT json_array_elements_text(CAST(", $list, " AS JSON))", $after)+),
        )
    };
}

/// The name of the file of SQLite in the folder of the data.
pub const DATABASE: &str = "capeval.db";

/// The longest time for which a statement waits for a connection, or for the lock of another process.
const PATIENCE: Duration = Duration::from_secs(30);

/// The database.
#[derive(Clone)]
pub enum Store {
    /// A file.
    Sqlite {
        /// One connection, for which writers queue in this process.
        write: SqlitePool,
        /// Connections that only read.
        read: SqlitePool,
        disk: Disk,
    },
    /// A server, which several processes may share.
    Postgres(PgPool, Server),
}

/// A transaction, which is rolled back unless it is committed.
pub enum Tx {
    /// Of SQLite.
    Sqlite(Transaction<'static, Sqlite>, Disk),
    /// Of PostgreSQL.
    Postgres(Transaction<'static, Postgres>),
}

/// Connections to the database.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// Their purpose.
    pub name: &'static str,
    pub open: usize,
    pub idle: usize,
    pub most: usize,
}

macro_rules! bound {
    ($sql:expr, $values:expr) => {
        $values.into_iter().fold(sqlx::query($sql), |query, value| match value {
            Value::Text(text) => query.bind(text),
            Value::Int(number) => query.bind(number),
            Value::Real(number) => query.bind(number),
        })
    };
}

/// The end of a transaction, for tests.
const COMMIT: &str = "COMMIT";

/// Tells a test of a statement that begins: one that counts them, and one that kills between two writes.
async fn begins(sql: &str) {
    #[cfg(debug_assertions)]
    crate::testing::count_statement();
    between_writes(sql).await;
}

/// A point at which a test may kill the process, before or after a statement that writes.
async fn between_writes(sql: &str) {
    #[cfg(debug_assertions)]
    if !sql.starts_with("SELECT") {
        crate::testing::between_writes().await;
    }
    let _ = sql;
}

/// Defines the ways to run a statement on a type, as a transaction of its own or not, from its executors for SQLite,
/// one of which may only read, and for PostgreSQL.
macro_rules! statements {
    ($type:ty, $is_alone:literal, $self:ident, ($($receiver:tt)*); $write:pat => $writer:expr; $read:pat => $reader:expr; $server:pat => $any:expr) => {
        impl $type {
            /// Runs a statement, and returns the number of rows that it changed.
            pub async fn execute($($receiver)*, sql: &'static str, values: Vec<Value>) -> Result<u64, Error> {
                begins(sql).await;
                let done = match $self {
                    $write => bound!(sql, values).execute($writer).await.map(|done| done.rows_affected()),
                    $server => bound!(sql, values).execute($any).await.map(|done| done.rows_affected()),
                };
                if $is_alone {
                    between_writes(sql).await;
                }
                done.map_err(|error| $self.noted(error))
            }

            /// The first row of a query, if there is one.
            pub async fn first($($receiver)*, sql: &'static str, values: Vec<Value>) -> Result<Option<Row>, Error> {
                begins(sql).await;
                let row = match $self {
                    $read => bound!(sql, values).fetch_optional($reader).await.map(|row| row.map(Row::Sqlite)),
                    $server => bound!(sql, values).fetch_optional($any).await.map(|row| row.map(Row::Postgres)),
                };
                row.map_err(|error| $self.noted(error))
            }

            /// All rows of a query.
            pub async fn all($($receiver)*, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, Error> {
                begins(sql).await;
                let rows = match $self {
                    $read => bound!(sql, values)
                        .fetch_all($reader)
                        .await
                        .map(|rows| rows.into_iter().map(Row::Sqlite).collect()),
                    $server => bound!(sql, values)
                        .fetch_all($any)
                        .await
                        .map(|rows| rows.into_iter().map(Row::Postgres).collect()),
                };
                rows.map_err(|error| $self.noted(error))
            }

            /// All rows of a query as `T`: a struct, or a tuple or a single value by position.
            pub async fn fetch<T: Record>(
                $($receiver)*,
                sql: &'static str,
                values: Vec<Value>,
            ) -> Result<Vec<T>, Error> {
                $self.all(sql, values).await?.iter().map(Row::read).collect()
            }

            /// The first row of a query, if there is one.
            pub async fn fetch_optional<T: Record>(
                $($receiver)*,
                sql: &'static str,
                values: Vec<Value>,
            ) -> Result<Option<T>, Error> {
                $self.first(sql, values).await?.as_ref().map(Row::read).transpose()
            }

            /// The row of a query that always has one, such as a count.
            pub async fn fetch_one<T: Record>(
                $($receiver)*,
                sql: &'static str,
                values: Vec<Value>,
            ) -> Result<T, Error> {
                $self.fetch_optional(sql, values).await?.ok_or(Error::RowNotFound)
            }

            /// Returns true if a query, which begins with `SELECT 1`, finds a row.
            pub async fn exists($($receiver)*, sql: &'static str, values: Vec<Value>) -> Result<bool, Error> {
                Ok($self.first(sql, values).await?.is_some())
            }
        }
    };
}

statements!(Store, true, self, (&self);
    Self::Sqlite { write, .. } => write; Self::Sqlite { read, .. } => read; Self::Postgres(pool, _) => pool);
statements!(Tx, false, self, (&mut self);
    Self::Sqlite(tx, _) => &mut **tx; Self::Sqlite(tx, _) => &mut **tx; Self::Postgres(tx) => &mut **tx);

impl Store {
    /// Opens the database at `url`, which begins with `postgres://`, or else the file `capeval.db` in `folder`, and
    /// brings its tables up to date.
    pub async fn open(url: &str, folder: &Path, connections: u32, schema: &Schema) -> anyhow::Result<Self> {
        let store = if url.is_empty() {
            Self::sqlite(&folder.join(DATABASE), connections).await?
        } else {
            // The library takes the address of any other database for one of PostgreSQL.
            let is_postgres = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
            anyhow::ensure!(is_postgres, "the address of a database begins with postgres://");
            let options =
                PgConnectOptions::from_str(url).context("the address of the database is not valid")?;
            let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(PATIENCE);
            let server = Server::at(options.clone());
            Self::Postgres(pool.connect_with(options).await.context("cannot connect to PostgreSQL")?, server)
        };
        store.migrate(schema).await?;
        Ok(store)
    }

    async fn sqlite(file: &Path, connections: u32) -> anyhow::Result<Self> {
        let cannot_open = || format!("cannot open the database {}", file.display());
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // The files beside it get the same rights.
            let mut own = std::fs::OpenOptions::new();
            own.create(true).append(true).mode(0o600).open(file).with_context(cannot_open)?;
        }
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(PATIENCE);
        let pool = || {
            SqlitePoolOptions::new().acquire_timeout(PATIENCE).after_release(|connection, _| {
                Box::pin(async move {
                    // A rollback that was begun ends first. One that failed, as it may on a full disk, leaves a
                    // connection that could not begin another transaction.
                    connection.ping().await?;
                    Ok(!connection.is_in_transaction())
                })
            })
        };
        let opened = pool().max_connections(1).connect_with(options.clone()).await;
        let write = opened.with_context(cannot_open)?;
        // A connection that has read the tables before they are brought up to date would not know new columns.
        let read = pool().max_connections(connections).connect_lazy_with(options.read_only(true));
        Ok(Self::Sqlite { write, read, disk: Disk::of(file.parent().unwrap_or(file).to_owned()) })
    }

    /// Begins a transaction that may write.
    pub async fn begin(&self) -> Result<Tx, Error> {
        match self {
            Self::Sqlite { write, disk, .. } => match write.begin_with("BEGIN IMMEDIATE").await {
                Ok(tx) => Ok(Tx::Sqlite(tx, disk.clone())),
                Err(error) => Err(self.noted(error)),
            },
            Self::Postgres(pool, _) => Ok(Tx::Postgres(pool.begin().await?)),
        }
    }

    /// Begins a transaction that reads, and sees the database as it is now, whatever others write.
    pub async fn snapshot(&self) -> Result<Tx, Error> {
        match self {
            Self::Sqlite { read, disk, .. } => Ok(Tx::Sqlite(read.begin().await?, disk.clone())),
            Self::Postgres(pool, _) => {
                Ok(Tx::Postgres(pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?))
            }
        }
    }

    /// Keeps in mind an error of the disk, for [`Self::try_write`].
    fn noted(&self, error: Error) -> Error {
        match self {
            Self::Sqlite { disk, .. } => disk.noted(error),
            Self::Postgres(..) => error,
        }
    }

    /// Tries to write if the disk of SQLite refused to before, such as because it was full; asks PostgreSQL whether it
    /// writes at all.
    pub async fn try_write(&self) -> Result<(), Error> {
        let Self::Sqlite { disk, .. } = self else {
            let only_reads: String = tokio::select! {
                answer = self.fetch_one("SELECT current_setting('transaction_read_only')", args![]) => answer?,
                () = self.away() => return Err(Error::PoolTimedOut),
            };
            return match only_reads.as_str() {
                "off" => Ok(()),
                _ => Err(Error::Protocol("PostgreSQL only reads".to_owned())),
            };
        };
        if disk.is_refusing() {
            if disk.is_full() {
                return Err(Error::Io(std::io::ErrorKind::StorageFull.into()));
            }
            let mut tx = self.begin().await?;
            tx.execute("UPDATE migration SET applied_at = applied_at", args![]).await?;
            tx.commit().await?;
            disk.works();
        }
        Ok(())
    }

    /// Ends once the server of PostgreSQL has been looked for in vain, which takes less than two seconds.
    pub async fn away(&self) {
        match self {
            Self::Sqlite { .. } => std::future::pending().await,
            Self::Postgres(_, server) => server.away().await,
        }
    }

    /// The statement for the kind of database, where the two differ.
    pub fn pick(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        match self {
            Self::Sqlite { .. } => sqlite,
            Self::Postgres(..) => postgres,
        }
    }

    /// The name of the kind of database.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "SQLite",
            Self::Postgres(..) => "PostgreSQL",
        }
    }

    /// The connections of this process.
    pub fn pools(&self) -> Vec<Pool> {
        macro_rules! pool {
            ($name:literal, $pool:expr) => {
                Pool {
                    name: $name,
                    open: $pool.size() as usize,
                    idle: $pool.num_idle(),
                    most: $pool.options().get_max_connections() as usize,
                }
            };
        }
        match self {
            Self::Sqlite { write, read, .. } => vec![pool!("write", write), pool!("read", read)],
            Self::Postgres(pool, _) => vec![pool!("all", pool)],
        }
    }

    /// Closes all connections.
    pub async fn close(&self) {
        match self {
            Self::Sqlite { write, read, .. } => {
                read.close().await;
                write.close().await;
            }
            Self::Postgres(pool, _) => pool.close().await,
        }
    }
}

impl Tx {
    /// Commits the transaction.
    pub async fn commit(self) -> Result<(), Error> {
        between_writes(COMMIT).await;
        let done = match self {
            Self::Sqlite(tx, disk) => tx.commit().await.map_err(|error| disk.noted(error)),
            Self::Postgres(tx) => tx.commit().await,
        };
        between_writes(COMMIT).await;
        done
    }

    /// Keeps in mind an error of the disk, for [`Store::try_write`].
    fn noted(&self, error: Error) -> Error {
        match self {
            Self::Sqlite(_, disk) => disk.noted(error),
            Self::Postgres(_) => error,
        }
    }

    /// Keeps others from locking or changing the row with this id until the transaction ends, so that what is read now
    /// is still true when it is written. SQLite has one writer anyway.
    pub async fn lock(&mut self, table: &'static str, id: &str) -> Result<(), Error> {
        match self {
            Self::Sqlite(..) => Ok(()),
            Self::Postgres(_) => {
                let sql = format!("SELECT 1 FROM {table} WHERE id = $1 FOR NO KEY UPDATE");
                self.execute_built(&sql, args![id]).await.map(drop)
            }
        }
    }

    /// Runs a statement that was put together from names of tables and columns.
    async fn execute_built(&mut self, sql: &str, values: Vec<Value>) -> Result<u64, Error> {
        begins(sql).await;
        let sql = AssertSqlSafe(sql);
        let done = match self {
            Self::Sqlite(tx, _) => {
                bound!(sql, values).execute(&mut **tx).await.map(|done| done.rows_affected())
            }
            Self::Postgres(tx) => {
                bound!(sql, values).execute(&mut **tx).await.map(|done| done.rows_affected())
            }
        };
        done.map_err(|error| self.noted(error))
    }

    /// The statement for the kind of database, where the two differ.
    pub fn pick(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        match self {
            Self::Sqlite(..) => sqlite,
            Self::Postgres(_) => postgres,
        }
    }
}
