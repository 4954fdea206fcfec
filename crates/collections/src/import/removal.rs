//! Removes what an import has added, as far as no one has built upon it: what people have described or rated, and what
//! a release has, stays.

use capeval_site::prelude::*;
use serde_json::json;

use super::records::ImportState;
use crate::{processing, slots};

/// Removes what an import has added.
pub struct RemoveImport;

/// Things that someone has built upon: the picture or the caption `$1`.
const USED_IMAGE: &str = "SELECT 1 FROM release_item WHERE subject = $1 \
     UNION ALL SELECT 1 FROM caption WHERE image = $1 AND NOT EXISTS \
     (SELECT 1 FROM import_item AS item WHERE item.subject = caption.id AND item.import = $2) \
     UNION ALL SELECT 1 FROM caption WHERE image = $1 AND (EXISTS \
     (SELECT 1 FROM rating WHERE rating.caption = caption.id) OR EXISTS \
     (SELECT 1 FROM release_item WHERE release_item.subject = caption.id)) \
     UNION ALL SELECT 1 FROM gold WHERE image = $1 \
     UNION ALL SELECT 1 FROM draft WHERE image = $1 \
     UNION ALL SELECT 1 FROM assignment WHERE image = $1 LIMIT 1";
const USED_CAPTION: &str = "SELECT 1 FROM release_item WHERE subject = $1 \
     UNION ALL SELECT 1 FROM rating WHERE caption = $1 \
     UNION ALL SELECT 1 FROM assignment WHERE caption = $1 LIMIT 1";

/// Asks for the removal of an import, which a job does.
pub(super) async fn begin(app: &App, visitor: &Visitor, collection: &str, import: &str) -> Result<()> {
    const ASK: &str =
        "UPDATE import SET state = 'removing' WHERE id = $1 AND collection = $2 AND state <> 'removing'";
    let mut tx = app.store.begin().await?;
    let state = "SELECT state FROM import WHERE id = $1 AND collection = $2";
    let state: Option<ImportState> = tx.fetch_optional(state, args![import, collection]).await?;
    if state.ok_or_else(Fault::not_found)? == ImportState::Removing {
        return Err(fault!(CONFLICT, "changed", "This import is already being removed."));
    }
    tx.execute(ASK, args![import, collection]).await?;
    jobs::add::<RemoveImport>(&mut tx, &import.to_owned(), Priority::Background).await?;
    audit::note(&mut tx, Some(&visitor.id), "import.remove", import, json!({})).await?;
    Ok(app.commit(tx).await?)
}

impl Work for RemoveImport {
    const KIND: &'static str = "import-removal";
    const LANE: Lane = Lane::Upkeep;
    /// The id of the import.
    type Subject = String;
    type Output = ();

    async fn run(app: &App, job: &Job) -> Result<(), Failure> {
        let items = "SELECT subject FROM import_item WHERE import = $1 AND kind = $2 ORDER BY subject";
        for image in app.store.fetch::<String>(items, args![&job.subject, "image"]).await? {
            remove_picture(&app.store, &job.subject, &image).await?;
        }
        // Captions of pictures that stay, or that were there before.
        for caption in app.store.fetch::<String>(items, args![&job.subject, "caption"]).await? {
            remove_caption(&app.store, &caption).await?;
        }
        Ok(())
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<(), String>) -> Result<()> {
        let left = "SELECT 1 FROM import_item WHERE import = $1 LIMIT 1";
        let left = tx.exists(left, args![&job.subject]).await?;
        match (outcome, left) {
            (Ok(()), false) => {
                tx.execute("DELETE FROM import WHERE id = $1", args![&job.subject]).await?;
            }
            (outcome, _) => {
                // If it could not be removed, someone can ask again.
                let state = if outcome.is_ok() { ImportState::Removed } else { ImportState::Done };
                tx.change_row("import", &job.subject, columns! { state: state.name() }).await?;
            }
        }
        Ok(())
    }
}

async fn remove_picture(store: &Store, import: &str, image: &str) -> Result<(), Error> {
    let mut tx = store.begin().await?;
    slots::lock(&mut tx, image).await?;
    if tx.exists(USED_IMAGE, args![image, import]).await? {
        return Ok(());
    }
    let files = "SELECT blob, thumb FROM image WHERE id = $1";
    let files: Option<[Option<String>; 2]> = tx.fetch_optional(files, args![image]).await?;
    for sql in [
        "UPDATE report SET state = 'upheld' WHERE state = 'open' AND (subject = $1 OR subject IN \
         (SELECT id FROM caption WHERE image = $1))",
        "DELETE FROM import_item WHERE subject = $1 OR subject IN (SELECT id FROM caption WHERE image = $1)",
        "UPDATE image SET near = NULL WHERE state = 'pending' AND near = $1 \
         AND collection = (SELECT collection FROM image WHERE id = $1)",
        "DELETE FROM image WHERE id = $1",
    ] {
        tx.execute(sql, args![image]).await?;
    }
    for hash in files.into_iter().flatten().flatten() {
        processing::discard(&mut tx, &hash).await?;
    }
    tx.commit().await
}

async fn remove_caption(store: &Store, caption: &str) -> Result<(), Error> {
    let mut tx = store.begin().await?;
    let Some(image) = slots::picture_of(&mut tx, caption).await? else { return Ok(()) };
    slots::lock(&mut tx, &image).await?;
    if tx.exists(USED_CAPTION, args![caption]).await? {
        return Ok(());
    }
    for sql in [
        "UPDATE report SET state = 'upheld' WHERE state = 'open' AND subject = $1",
        "DELETE FROM import_item WHERE subject = $1",
        "DELETE FROM caption WHERE id = $1",
    ] {
        tx.execute(sql, args![caption]).await?;
    }
    slots::recount(&mut tx, &image).await?;
    tx.commit().await
}
