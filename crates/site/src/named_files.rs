//! The files that rows name, for backups, sweeps and removals: each feature lists its columns with hashes of files.

use std::collections::BTreeSet;

use crate::args;
use crate::feature::Features;
use crate::store::{Error, Tx};

/// A column with hashes of files.
pub struct FileColumn {
    pub table: &'static str,
    pub column: &'static str,
    /// The folder of the files.
    pub folder: &'static str,
    /// The statement that selects all hashes.
    pub all: &'static str,
    /// The one that looks for the hash `$1`.
    pub one: &'static str,
}

/// Columns that name files, `visible` or `hidden`.
#[macro_export]
macro_rules! file_columns {
    (@visible) => { $crate::blobs::FOLDERS[0] };
    (@hidden) => { $crate::blobs::FOLDERS[1] };
    ($($table:literal $column:literal $folder:ident;)*) => {
        &[$($crate::named_files::FileColumn {
            table: $table,
            column: $column,
            folder: $crate::file_columns!(@$folder),
            all: concat!("SELECT ", $column, " FROM ", $table, " WHERE ", $column, " IS NOT NULL"),
            one: concat!("SELECT 1 FROM ", $table, " WHERE ", $column, " = $1 LIMIT 1"),
        }),*]
    };
}

/// The files that rows name, as paths in a backup.
pub async fn all(tx: &mut Tx, features: Features) -> Result<BTreeSet<String>, Error> {
    let mut names = BTreeSet::new();
    for column in columns(features) {
        let hashes: Vec<String> = tx.fetch(column.all, args![]).await?;
        names.extend(hashes.iter().map(|hash| path(column.folder, hash)));
    }
    Ok(names)
}

/// Returns true if a row names a file.
pub async fn is_named(tx: &mut Tx, features: Features, hash: &str) -> Result<bool, Error> {
    for column in columns(features) {
        if tx.exists(column.one, args![hash]).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn columns(features: Features) -> impl Iterator<Item = &'static FileColumn> {
    features.iter().flat_map(|feature| feature.files)
}

/// The path in a backup of a file in one of the folders.
pub fn path(folder: &str, hash: &str) -> String {
    format!("{folder}/{}/{hash}", hash.get(..2).unwrap_or(""))
}
