//! Lists of a person's contributions, and changes of them by the person.

use capeval_api::ImageState;
use capeval_site::newest_first;
use capeval_site::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::moderation::decisions;
use crate::records::{self, Caption, Collection, Image};
use crate::rules::states::CaptionState;
use crate::rules::{lint, text};
use crate::slots;

#[derive(Deserialize)]
pub(super) struct Draft {
    pub image: String,
    pub text: String,
}

/// The pictures of a person in a collection.
pub const IMAGES: List = newest_first!("SELECT * FROM image WHERE uploader = $3 AND collection = $4", "id");

/// The captions of a person in a collection.
pub const CAPTIONS: List = newest_first!("SELECT * FROM caption WHERE author = $3 AND collection = $4", "id");

/// The drafts of a person in a collection, those for the newest pictures first.
pub const DRAFTS: List = newest_first!(
    "SELECT draft.image, draft.text FROM draft JOIN image ON image.id = draft.image \
     WHERE draft.account = $3 AND image.collection = $4",
    "draft.image"
);

capeval_choice::named! {
    /// An author's change to a caption.
    pub(super) enum Change ("change") {
        Edit = "edit", "gives it another text";
        Withdraw = "withdraw", "takes it back";
    }
}

/// Changes a caption for its author.
///
/// # Errors
/// If it has been rated, or the text breaks a rule, which is told in `language`.
pub(super) async fn change_caption(
    store: &Store,
    caption: &Caption,
    account: &str,
    change: Change,
    text: &str,
    language: Language,
) -> Result<()> {
    let collection = records::collection_of(store, &caption.collection).await?;
    let mut tx = store.begin().await?;
    match change {
        Change::Withdraw => withdraw_caption(&mut tx, caption).await?,
        Change::Edit => edit(&mut tx, (caption, &collection), text, language).await?,
    }
    audit::note(&mut tx, Some(account), "caption.change", &caption.id, json!({ "action": change })).await?;
    Ok(tx.commit().await?)
}

/// Changes the text of a caption that has not been rated.
async fn edit(
    tx: &mut Tx,
    (caption, collection): (&Caption, &Collection),
    typed: &str,
    language: Language,
) -> Result<()> {
    let clean = text::clean(typed);
    let broken = lint::broken(&clean, &caption.language, &collection.shortest);
    if let Some(rule) = broken.iter().find(|rule| rule.level == lint::Level::Refuse) {
        let why = rule.text(language);
        return Err(fault!(UNPROCESSABLE_ENTITY, "caption", "The caption cannot be changed: {}", why));
    }
    let warnings: Vec<&str> = broken.iter().map(|rule| rule.code.as_str()).collect();
    let counts = text::counts(&clean);
    let changed = tx
        .execute(
            "UPDATE caption SET text = $1, text_norm = $2, script = $3, characters = $4, words = $5, warnings = $6, \
             changed_at = $7 WHERE id = $8 AND state = 'submitted' AND ratings = 0 \
             AND NOT EXISTS (SELECT 1 FROM rating WHERE rating.caption = $8)",
            args![
                &clean,
                text::norm(&clean),
                text::script(&clean),
                counts.characters,
                counts.words,
                json!(warnings).to_string(),
                clock::now(),
                &caption.id
            ],
        )
        .await?;
    if changed == 0 {
        return Err(fault!(CONFLICT, "rated", "This caption has been rated and can no longer be changed."));
    }
    Ok(())
}

/// Takes a caption back.
pub(super) async fn withdraw_caption(tx: &mut Tx, caption: &Caption) -> Result<(), Error> {
    slots::lock(tx, &caption.image).await?;
    // Its state may have changed since it was read; now that its picture is locked, it stays.
    let state = "SELECT state FROM caption WHERE id = $1";
    let state: Option<CaptionState> = tx.fetch_optional(state, args![&caption.id]).await?;
    if let Some(state) = state.filter(|state| *state != CaptionState::Withdrawn) {
        slots::change_caption(tx, &caption.id, state, CaptionState::Withdrawn, None).await?;
    }
    Ok(())
}

/// Takes a picture back.
pub(super) async fn withdraw_image(app: &App, image: &Image, account: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    decisions::remove(&mut tx, image, ImageState::Withdrawn, None).await?;
    audit::note(&mut tx, Some(account), "image.withdraw", &image.id, json!({})).await?;
    Ok(app.commit(tx).await?)
}
