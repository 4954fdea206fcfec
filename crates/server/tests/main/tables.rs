//! The tables of all features together.

use capeval_server::FEATURES;
use capeval_site::{args, feature, named_files};

use crate::support::{Database, Site, on_sqlite};

on_sqlite! { every_column_with_a_file_is_in_the_list }

/// The page with a picture of the tables.
const PAGE: &str = include_str!("../../../../docs/guides/tables.md");

#[test]
fn every_table_is_on_the_page() {
    let schema = feature::schema(FEATURES);
    let missing: Vec<&str> = schema.tables().filter(|table| !PAGE.contains(&format!("`{table}`"))).collect();
    assert!(missing.is_empty(), "docs/guides/tables.md does not have {missing:?}");
}

/// Columns with such names hold hashes of files, but for those that are listed here.
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
    let site = Site::new(Database::Sqlite).await;
    let names_file = |column: &str| {
        ["blob", "thumb", "upload", "page", "lines"].contains(&column) || column.ends_with("hash")
    };
    let mut found = Vec::new();
    for table in feature::schema(FEATURES).tables() {
        let sql = "SELECT name FROM pragma_table_info($1)";
        for column in site.app.store.fetch::<String>(sql, args![table]).await.unwrap() {
            if names_file(&column) && !OTHERS.contains(&(table, column.as_str())) {
                found.push(format!("{table}.{column}"));
            }
        }
    }
    let listed = FEATURES.iter().flat_map(|feature| feature.files);
    let mut listed: Vec<String> = listed.map(|file| format!("{}.{}", file.table, file.column)).collect();
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
    let mut tx = site.app.store.snapshot().await.unwrap();
    assert!(!named_files::is_named(&mut tx, FEATURES, "no").await.unwrap());
    assert!(named_files::all(&mut tx, FEATURES).await.unwrap().is_empty());
}
