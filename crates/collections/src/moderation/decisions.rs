//! The decisions of moderators, and the removal of a picture.

use capeval_api::ImageState;
use capeval_site::prelude::*;
use serde_json::json;

use crate::records::{Caption, CollectionItem, Contribution, Image};
use crate::rules::reports::ReportState;
use crate::rules::states::CaptionState;
use crate::{processing, slots};

capeval_choice::named! {
    /// A moderator's decision.
    pub(super) enum Action ("action") {
        Approve = "approve", "it stays";
        Refuse = "refuse", "it is removed";
    }
}

capeval_choice::named! {
    /// The reason why a picture is rejected.
    pub enum Refusal ("reason of a rejection") {
        PersonalData = "personal-data", "Personal data, such as player names or chat";
        Copyright = "copyright", "Copyright";
        Unsuitable = "unsuitable", "Unsuitable: offensive, or not what this collection is for";
        Quality = "quality", "Nothing to describe: too dark, too small, or only menus";
        Duplicate = "duplicate", "Nearly the same as another picture";
    }
}

impl Action {
    /// The state of the reports against the thing.
    fn closes(self) -> ReportState {
        match self {
            Self::Approve => ReportState::Refused,
            Self::Refuse => ReportState::Upheld,
        }
    }
}

/// Moderators do not decide about what is theirs; hosts do.
fn require_foreign<T: Contribution>(of: &CollectionItem<T>, visitor: &Visitor) -> Result<()> {
    if of.thing.contributor() == Some(&visitor.id) && !of.seen.is_host {
        return Err(fault!(CONFLICT, "own", "Another moderator reviews what is yours."));
    }
    Ok(())
}

/// Approves a picture, or rejects it for a reason.
pub(super) async fn decide_image(
    app: &App,
    visitor: &Visitor,
    of: &CollectionItem<Image>,
    action: Action,
    reason: Option<Refusal>,
) -> Result<()> {
    require_foreign(of, visitor)?;
    let id = &of.thing.id;
    let mut tx = app.store.begin().await?;
    let state = slots::lock(&mut tx, id).await?;
    match action {
        Action::Approve => {
            if matches!(state, Some(ImageState::Pending | ImageState::Quarantined)) {
                processing::approve(&mut tx, id, Some(&visitor.id)).await?;
            }
        }
        Action::Refuse => {
            let reason = reason.ok_or_else(Fault::not_found)?;
            remove(&mut tx, &of.thing, ImageState::Rejected, Some(reason.summary())).await?;
        }
    }
    close_reports(&mut tx, id, &visitor.id, action).await?;
    let detail = json!({ "action": action, "reason": reason.map_or("", Refusal::name) });
    audit::note(&mut tx, Some(&visitor.id), "image.decide", id, detail).await?;
    Ok(app.commit(tx).await?)
}

/// Removes a picture for good with its files; no one describes it any more.
pub(crate) async fn remove(
    tx: &mut Tx,
    image: &Image,
    state: ImageState,
    reason: Option<&str>,
) -> Result<(), Error> {
    slots::lock(tx, &image.id).await?;
    let files = "SELECT upload, blob, thumb FROM image WHERE id = $1";
    let files: Option<[Option<String>; 3]> = tx.fetch_optional(files, args![&image.id]).await?;
    let sql =
        "UPDATE image SET state = $1, reason = $2, blob = NULL, thumb = NULL, upload = NULL WHERE id = $3";
    tx.execute(sql, args![state.name(), reason, &image.id]).await?;
    slots::hide(tx, &image.id).await?;
    for hash in files.into_iter().flatten().flatten() {
        processing::discard(tx, &hash).await?;
    }
    tx.execute("DELETE FROM image_band WHERE image = $1", args![&image.id]).await.map(drop)
}

/// Accepts a caption, or gives it back the state before it was reported, or rejects it.
pub(super) async fn decide_caption(
    store: &Store,
    visitor: &Visitor,
    of: &CollectionItem<Caption>,
    action: Action,
) -> Result<()> {
    require_foreign(of, visitor)?;
    let caption = &of.thing;
    let to = match (action, caption.state) {
        (Action::Refuse, _) => CaptionState::Rejected,
        (Action::Approve, CaptionState::Quarantined) => {
            caption.state_before.unwrap_or(CaptionState::Accepted)
        }
        (Action::Approve, CaptionState::Split) => CaptionState::Accepted,
        (Action::Approve, state) => state,
    };
    let mut tx = store.begin().await?;
    if to != caption.state {
        let reason = (action == Action::Refuse).then_some(say("A moderator has refused it."));
        if !slots::change_caption(&mut tx, &caption.id, caption.state, to, reason).await? {
            return Err(fault!(CONFLICT, "changed", "This has already been reviewed."));
        }
    }
    close_reports(&mut tx, &caption.id, &visitor.id, action).await?;
    let detail = json!({ "action": action });
    audit::note(&mut tx, Some(&visitor.id), "caption.decide", &caption.id, detail).await?;
    Ok(tx.commit().await?)
}

/// Closes the reports of a thing.
async fn close_reports(tx: &mut Tx, subject: &str, by: &str, action: Action) -> Result<(), Error> {
    let sql = "UPDATE report SET state = $1, decided_by = $2, decided_at = $3 WHERE subject = $4 AND state = 'open'";
    tx.execute(sql, args![action.closes().name(), by, clock::now(), subject]).await.map(drop)
}

/// Closes a request to remove a picture.
pub(super) async fn close_request(
    store: &Store,
    visitor: &Visitor,
    collection: &str,
    id: &str,
    action: Action,
) -> Result<()> {
    let state = action.closes();
    let mut tx = store.begin().await?;
    let sql = "UPDATE report SET state = $1, decided_by = $2, decided_at = $3 \
               WHERE id = $4 AND collection = $5 AND kind = 'takedown' AND state = 'open'";
    let closed = tx.execute(sql, args![state.name(), &visitor.id, clock::now(), id, collection]).await?;
    if closed == 0 {
        return Err(Fault::not_found());
    }
    audit::note(&mut tx, Some(&visitor.id), "takedown.decide", id, json!({ "state": state })).await?;
    Ok(tx.commit().await?)
}
