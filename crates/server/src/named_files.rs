//! The files that rows name: the one list of columns with hashes of files, for backups, sweeps and removals.

use crate::args;
use crate::blobs::FOLDERS;
use crate::store::{Error, Tx};

/// Defines the columns in order, the statement that selects all their hashes, and the one that looks for a hash.
macro_rules! columns {
    ($columns:ident, $all:ident, $one:ident: $table:literal $column:literal, $($more:literal $other:literal,)*) => {
        #[cfg(test)]
        const $columns: &[(&str, &str)] = &[($table, $column), $(($more, $other)),*];

        const $all: &str = concat!(
            "SELECT ", $column, " AS hash FROM ", $table, " WHERE ", $column, " IS NOT NULL",
            $(" UNION SELECT ", $other, " AS hash FROM ", $more, " WHERE ", $other, " IS NOT NULL"),*
        );

        const $one: &str = concat!(
            "SELECT 1 FROM ", $table, " WHERE ", $column, " = $1",
            $(" UNION ALL SELECT 1 FROM ", $more, " WHERE ", $other, " = $1",)* " LIMIT 1"
        );
    };
}

columns! {
    VISIBLE, ALL_VISIBLE, ONE_VISIBLE:
    "submission" "blob",
    "submission" "upload",
    "image_result" "page",
    "image_result" "lines",
    "dry_run" "blob",
    "image" "blob",
    "image" "thumb",
    "image" "upload",
    "release_part" "blob",
}

columns! {
    HIDDEN, ALL_HIDDEN, ONE_HIDDEN:
    "reference_set" "source_hash",
    "reference_set" "prepared_hash",
    "reference_set" "ids_hash",
    "phase" "vectors_hash",
}

/// The files that rows name, as paths in a backup.
pub async fn all(tx: &mut Tx) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for (folder, sql) in FOLDERS.into_iter().zip([ALL_VISIBLE, ALL_HIDDEN]) {
        let hashes: Vec<String> = tx.fetch(sql, args![]).await?;
        names.extend(hashes.iter().map(|hash| path(folder, hash)));
    }
    Ok(names)
}

/// Returns true if a row names a file.
pub async fn is_named(tx: &mut Tx, hash: &str) -> Result<bool, Error> {
    Ok(tx.exists(ONE_VISIBLE, args![hash]).await? || tx.exists(ONE_HIDDEN, args![hash]).await?)
}

/// The path in a backup of a file in one of the folders.
pub fn path(folder: &str, hash: &str) -> String {
    format!("{folder}/{}/{hash}", hash.get(..2).unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Store, tables};

    /// Columns with such names hold hashes of files, but for those that are listed here.
    #[tokio::test]
    async fn every_column_with_a_file_is_in_the_list() {
        const OTHERS: [(&str, &str); 11] = [
            ("known_device", "hash"),
            ("session", "token_hash"),
            ("api_token", "hash"),
            ("invitation", "hash"),
            ("account_link", "hash"),
            ("former_address", "hash"),
            ("sign_in_attempt", "hash"),
            ("sign_in_attempt", "state_hash"),
            ("score_set", "references_hash"),
            ("image", "source_hash"),
            ("image", "phash"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open("", folder.path(), 1).await.unwrap();
        let names_file = |column: &str| {
            ["blob", "thumb", "upload", "page", "lines"].contains(&column) || column.ends_with("hash")
        };
        let mut found = Vec::new();
        for table in tables() {
            let sql = "SELECT name FROM pragma_table_info($1)";
            for column in store.fetch::<String>(sql, args![table]).await.unwrap() {
                if names_file(&column) && !OTHERS.contains(&(table, column.as_str())) {
                    found.push(format!("{table}.{column}"));
                }
            }
        }
        let mut listed: Vec<String> =
            VISIBLE.iter().chain(HIDDEN).map(|(table, column)| format!("{table}.{column}")).collect();
        found.sort();
        listed.sort();
        assert_eq!(found, listed);
        let mut tx = store.snapshot().await.unwrap();
        assert!(!is_named(&mut tx, "no").await.unwrap());
        assert!(all(&mut tx).await.unwrap().is_empty());
    }
}
