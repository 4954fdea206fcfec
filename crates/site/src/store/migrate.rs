//! Brings the tables of a database up to date.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, ensure};

use super::{Store, Tx};
use crate::{args, clock, ids};

/// A script that makes tables or changes them. Once released it is never edited; a new one is added instead.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Its name, which begins with that of its feature.
    pub name: &'static str,
    pub script: &'static str,
}

/// The migrations of a feature, from files in the folder `migrations` of its crate, oldest first.
#[macro_export]
macro_rules! migrations {
    ($feature:literal: $($name:literal)*) => {
        &[$($crate::store::Migration {
            name: concat!($feature, "/", $name),
            script: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/", $name, ".sql")),
        }),*]
    };
}

/// All tables of a program, as its migrations make them.
#[derive(Clone, Debug)]
pub struct Schema(Arc<[Migration]>);

impl Schema {
    /// The tables that these migrations make, in this order.
    pub fn new(migrations: Vec<Migration>) -> Self {
        Self(migrations.into())
    }

    /// The names of all tables, each after those that it refers to.
    pub fn tables(&self) -> impl Iterator<Item = &'static str> {
        let lines = self.0.iter().flat_map(|migration| migration.script.lines());
        lines.filter_map(|line| line.strip_prefix("CREATE TABLE ")?.split_whitespace().next())
    }

    /// The version of the tables: the number of migrations.
    pub fn version(&self) -> usize {
        self.0.len()
    }
}

impl Store {
    /// Applies the migrations that the database lacks. If one fails, the database is unchanged. Tables that another
    /// version of the program made in another way are refused.
    pub(super) async fn migrate(&self, schema: &Schema) -> anyhow::Result<()> {
        let mut tx = self.begin().await?;
        if let Tx::Postgres(_) = tx {
            // Several processes may start at once; the number is arbitrary.
            tx.exists("SELECT CAST(pg_advisory_xact_lock(7205759403792793) AS TEXT)", args![]).await?;
        }
        let sql = "CREATE TABLE IF NOT EXISTS migration \
                   (name TEXT PRIMARY KEY, hash TEXT NOT NULL, applied_at BIGINT NOT NULL)";
        tx.execute(sql, args![]).await?;
        let applied: Vec<(String, String)> = tx
            .fetch("SELECT name, hash FROM migration", args![])
            .await
            .context("the database is of a program before version 0.1.0, whose tables are others")?;
        let mut applied: HashMap<String, String> = applied.into_iter().collect();
        for Migration { name, script } in &*schema.0 {
            let hash = ids::digest(script);
            match applied.remove(*name) {
                Some(known) => {
                    ensure!(
                        known == hash,
                        "another version of the program made the tables of {name} in another way"
                    );
                    continue;
                }
                None => tx.apply(script).await.with_context(|| format!("the migration {name} failed"))?,
            }
            let sql = "INSERT INTO migration (name, hash, applied_at) VALUES ($1, $2, $3)";
            tx.execute(sql, args![*name, hash, clock::now()]).await?;
        }
        if let Some(newer) = applied.keys().min() {
            anyhow::bail!(
                "the database has the tables of {newer}, which this program does not know: start the newer program"
            );
        }
        tx.commit().await?;
        Ok(())
    }
}

impl Tx {
    async fn apply(&mut self, script: &'static str) -> Result<(), super::Error> {
        super::begins(script).await;
        match self {
            Self::Sqlite(tx, _) => sqlx::raw_sql(script).execute(&mut **tx).await.map(drop),
            Self::Postgres(tx) => sqlx::raw_sql(script).execute(&mut **tx).await.map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRUIT: Migration = Migration { name: "shop/fruit", script: "CREATE TABLE fruit (name TEXT);" };
    const PRICE: Migration = Migration { name: "shop/price", script: "CREATE TABLE price (fruit TEXT);" };

    #[tokio::test]
    async fn migrations_are_added_and_never_edited() {
        let folder = tempfile::tempdir().unwrap();
        let open = async |migrations: &[Migration]| {
            let opened = Store::open("", folder.path(), 1, &Schema::new(migrations.to_vec())).await;
            opened.map_err(|error| format!("{error:#}"))
        };
        open(&[FRUIT]).await.unwrap().close().await;
        let store = open(&[FRUIT, PRICE]).await.unwrap();
        assert!(!store.exists("SELECT 1 FROM price", args![]).await.unwrap());
        store.close().await;
        let newer = open(&[FRUIT]).await.err().unwrap();
        assert!(newer.contains("shop/price") && newer.contains("newer program"), "{newer}");
        let edited = Migration { script: "CREATE TABLE fruit (name TEXT, colour TEXT);", ..FRUIT };
        let error = open(&[edited, PRICE]).await.err().unwrap();
        assert!(error.contains("shop/fruit"), "{error}");
    }

    #[tokio::test]
    async fn databases_before_the_first_release_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open("", folder.path(), 1, &Schema::new(Vec::new())).await.unwrap();
        for sql in [
            "DROP TABLE migration",
            "CREATE TABLE migration (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)",
        ] {
            store.execute(sql, args![]).await.unwrap();
        }
        let error = store.migrate(&Schema::new(vec![FRUIT])).await.unwrap_err();
        assert!(format!("{error:#}").contains("before version 0.1.0"), "{error:#}");
    }
}
