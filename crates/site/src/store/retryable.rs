//! Finds errors of the database that pass by themselves.

use super::Error;

/// SQLite's codes for busy, locked, out of memory, not writable, an error of the disk, full, and not to be opened;
/// extended codes have more bits.
const SQLITE: [i64; 7] = [5, 6, 7, 8, 10, 13, 14];

/// Classes of PostgreSQL: of connections, conflicts between transactions, resources, locks, operators, and the system;
/// and that it only reads, as a server does that stands in for another.
const POSTGRES: [&str; 7] = ["08", "25006", "40", "53", "55", "57", "58"];

/// Returns true if another try may succeed.
pub fn is_retryable(error: &Error) -> bool {
    match error {
        Error::Database(refusal) => {
            let code = refusal.code().unwrap_or_default();
            match refusal.try_downcast_ref::<sqlx::sqlite::SqliteError>() {
                Some(_) => code.parse::<i64>().is_ok_and(|code| SQLITE.contains(&(code & 0xff))),
                None => POSTGRES.iter().any(|class| code.starts_with(class)),
            }
        }
        Error::Io(_)
        | Error::Tls(_)
        | Error::PoolTimedOut
        | Error::PoolClosed
        | Error::Protocol(_)
        | Error::WorkerCrashed => true,
        _ => false,
    }
}

/// Returns true if another transaction has just written a row that must be the only one of its kind.
pub fn is_duplicate(error: &Error) -> bool {
    matches!(error, Error::Database(refusal) if refusal.is_unique_violation())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

    use super::*;

    #[tokio::test]
    async fn a_busy_database_passes_and_a_wrong_statement_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("test.db"))
            .create_if_missing(true)
            .busy_timeout(Duration::ZERO);
        let pool = SqlitePoolOptions::new().max_connections(2).connect_with(options).await.unwrap();
        let tx = pool.begin_with("BEGIN IMMEDIATE").await.unwrap();
        let busy = pool.begin_with("BEGIN IMMEDIATE").await.unwrap_err();
        assert!(is_retryable(&busy), "{busy}");
        drop(tx);
        let wrong = sqlx::query("SELECT nothing FROM nowhere").execute(&pool).await.unwrap_err();
        assert!(!is_retryable(&wrong), "{wrong}");
    }
}
