//! The contributors to a collection, and those of them who are named on its leaderboard.

use capeval_site::prelude::*;
use serde::Deserialize;

/// The most names on a leaderboard.
const MOST: i64 = 100;

/// A contributor on the leaderboard.
#[derive(Deserialize)]
pub(super) struct Contributor {
    pub name: String,
    /// Accepted captions.
    pub captions: i64,
    /// Approved pictures.
    pub images: i64,
}

/// People who want to be named, by accepted work.
pub(super) async fn leaderboard(store: &Store, collection: &str) -> Result<Vec<Contributor>, Error> {
    const ROWS: &str = "SELECT name, captions, images FROM (SELECT account.name, account.id, \
        (SELECT COUNT(*) FROM caption WHERE caption.author = account.id AND caption.collection = $1 \
         AND caption.state = 'accepted') AS captions, \
        (SELECT COUNT(*) FROM image WHERE image.uploader = account.id AND image.collection = $1 \
         AND image.state IN ('open', 'complete')) AS images \
        FROM contributor JOIN account ON account.id = contributor.account \
        WHERE contributor.collection = $1 AND contributor.on_board = 1 AND account.disabled_at IS NULL) AS people \
        WHERE captions + images > 0 ORDER BY captions DESC, images DESC, id LIMIT $2";
    store.fetch(ROWS, args![collection, MOST]).await
}

/// Returns true if a person wants to be named.
pub(super) async fn is_named(store: &Store, collection: &str, account: &str) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM contributor WHERE collection = $1 AND account = $2 AND on_board = 1";
    store.exists(sql, args![collection, account]).await
}

/// Notes that a person takes part.
pub(super) async fn join(tx: &mut Tx, collection: &str, account: &str) -> Result<(), Error> {
    let row = columns! { collection, account, on_board: 0_i64, created_at: clock::now() };
    tx.add_row("contributor", row).await.map(drop)
}

/// Names a person on the leaderboard, or stops naming them.
pub(super) async fn name(
    store: &Store,
    collection: &str,
    account: &str,
    is_named: bool,
) -> Result<(), Error> {
    let mut tx = store.begin().await?;
    join(&mut tx, collection, account).await?;
    let sql = "UPDATE contributor SET on_board = $1 WHERE collection = $2 AND account = $3";
    tx.execute(sql, args![is_named, collection, account]).await?;
    tx.commit().await
}
