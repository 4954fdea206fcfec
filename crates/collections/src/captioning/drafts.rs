//! Texts that people have typed and not submitted.

use capeval_site::prelude::*;

use crate::slots;

/// The most characters of a draft.
const LONGEST: usize = 2_000;

/// Refuses a text that is longer than anything that could be kept.
pub fn require_short(text: &str) -> Result<()> {
    if text.chars().count() > LONGEST {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "caption-long",
            "A caption or draft can have at most {} characters.", LONGEST
        });
    }
    Ok(())
}

/// The text that a person has typed about a picture.
pub async fn find(store: &Store, image: &str, account: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT text FROM draft WHERE image = $1 AND account = $2";
    store.fetch_optional(sql, args![image, account]).await
}

/// Keeps what a person has typed, and the reservation of its picture for longer.
pub async fn keep(store: &Store, image: &str, account: &str, text: &str) -> Result<(), Error> {
    let mut tx = store.begin().await?;
    save(&mut tx, image, account, text).await?;
    slots::extend(&mut tx, image, account).await?;
    tx.commit().await
}

/// Keeps what a person has typed.
pub async fn save(tx: &mut Tx, image: &str, account: &str, text: &str) -> Result<(), Error> {
    // A late draft does not come after its caption.
    const SAVE: &str = "INSERT INTO draft (image, account, text, changed_at) \
        SELECT image.id, $2, $3, $4 FROM image WHERE image.id = $1 \
        AND NOT EXISTS (SELECT 1 FROM caption WHERE caption.image = $1 AND caption.author = $2) \
        ON CONFLICT (image, account) DO UPDATE SET text = excluded.text, changed_at = excluded.changed_at";
    tx.execute(SAVE, args![image, account, text, clock::now()]).await.map(drop)
}
