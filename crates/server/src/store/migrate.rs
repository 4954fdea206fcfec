//! Brings the tables of a database up to date.

use anyhow::{Context, bail};

use super::{Store, Tx};
use crate::{args, clock};

/// A change of the tables.
pub(super) struct Migration {
    /// The name of its file, which begins with the version of the tables that it makes.
    pub name: &'static str,
    pub script: &'static str,
}

macro_rules! migrations {
    ($($name:literal)*) => {
        &[$(Migration { name: $name, script: include_str!(concat!("../../migrations/", $name, ".sql")) }),*]
    };
}

/// The changes of the tables, oldest first. They are never edited once released; a new one is added instead.
pub(super) const MIGRATIONS: &[Migration] = migrations! {
    "0001_tables"
    "0002_backup"
    "0003_outbox"
    "0004_collections"
    "0005_releases"
    "0006_score_sets"
    "0007_totp"
    "0008_judging"
    "0009_large_collections"
    "0010_cards_and_agreement"
    "0011_neighbours"
    "0012_addresses"
    "0013_standing"
    "0014_team_keys"
    "0015_account_links"
    "0016_details"
    "0017_team_looks"
    "0018_board_columns"
    "0019_progress"
    "0020_causes"
    "0021_languages"
    "0022_announcements"
    "0023_team_requests"
    "0024_providers"
    "0025_entries"
    "0026_drafts"
    "0027_dry_runs"
    "0028_per_image"
    "0029_imports"
    "0030_contrasts"
    "0031_uploads"
    "0032_images"
    "0033_shortest"
    "0034_vectors"
    "0035_lanes"
    "0036_devices"
    "0037_notices"
    "0038_lists"
};

/// The version of the tables that this program uses.
pub const NEWEST: usize = MIGRATIONS.len();

impl Store {
    /// Applies the migrations that the database lacks.
    /// If one fails, the database is unchanged. Tables of a newer version of the program are refused.
    pub(super) async fn migrate(&self) -> anyhow::Result<()> {
        let mut tx = self.begin().await?;
        if let Tx::Postgres(_) = tx {
            // Several processes may start at once; the number is arbitrary.
            tx.exists("SELECT CAST(pg_advisory_xact_lock(7205759403792793) AS TEXT)", args![]).await?;
        }
        tx.execute(
            "CREATE TABLE IF NOT EXISTS migration (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)",
            args![],
        )
        .await?;
        let newest: Option<usize> = tx.fetch_one("SELECT MAX(version) FROM migration", args![]).await?;
        let done = newest.unwrap_or(0);
        if done > MIGRATIONS.len() {
            bail!(
                "the database has version {done} of the tables, and this program knows only {}: start the newer program",
                MIGRATIONS.len()
            );
        }
        for (version, Migration { name, script }) in (1_i64..).zip(MIGRATIONS).skip(done) {
            let applied = match &mut tx {
                Tx::Sqlite(tx, _) => sqlx::raw_sql(*script).execute(&mut **tx).await.map(drop),
                Tx::Postgres(tx) => sqlx::raw_sql(*script).execute(&mut **tx).await.map(drop),
            };
            applied.with_context(|| format!("the migration {name} failed"))?;
            tx.execute(
                "INSERT INTO migration (version, applied_at) VALUES ($1, $2)",
                args![version, clock::now()],
            )
            .await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_the_version_that_they_make() {
        for (version, Migration { name, .. }) in (1..).zip(MIGRATIONS) {
            assert!(name.starts_with(&format!("{version:04}_")), "{name} makes version {version}");
        }
    }
}
