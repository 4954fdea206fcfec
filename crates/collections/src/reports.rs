//! Reports of pictures and captions, and requests to remove a picture.

use capeval_api::{ImageState, NewReport, ReportedKind};
use capeval_site::prelude::*;
use serde_json::json;

use super::records::SeenCollection;
use super::rules::reports as rules;
use super::rules::states::CaptionState;
use super::rules::text;
use super::slots;

/// The most characters of a note.
const NOTE: usize = 1_000;

/// Reports something.
///
/// # Errors
/// If there is no such thing, or the person may not report, or not so often.
pub(super) async fn send(
    app: &App,
    seen: &SeenCollection,
    visitor: &Visitor,
    given: &NewReport,
) -> Result<()> {
    app.limits.take("captions", &visitor.id, app.settings.number(&crate::CAPTIONS_PER_MINUTE))?;
    let mut tx = app.store.begin().await?;
    add(&mut tx, seen, visitor, given).await?;
    Ok(tx.commit().await?)
}

/// Adds a report, and hides the thing from everyone if it is the second one.
///
/// # Errors
/// If there is no such thing, the person may not report, or the database fails.
pub(super) async fn add(
    tx: &mut Tx,
    seen: &SeenCollection,
    visitor: &Visitor,
    given: &NewReport,
) -> Result<()> {
    let (collection, subject) = (&seen.collection.id, given.subject.as_str());
    let is_caption = given.kind == ReportedKind::Caption;
    let known = match given.kind {
        ReportedKind::Caption => "SELECT 1 FROM caption WHERE id = $1 AND collection = $2",
        ReportedKind::Image => "SELECT 1 FROM image WHERE id = $1 AND collection = $2",
    };
    if !tx.exists(known, args![subject, collection]).await? {
        return Err(Fault::not_found());
    }
    let refused = "SELECT COUNT(*) FROM report WHERE reporter = $1 AND state = 'refused'";
    let refused: i64 = tx.fetch_one(refused, args![&visitor.id]).await?;
    if !rules::may_report(refused) {
        return Err(fault! {
            FORBIDDEN, "no-reports",
            "Moderators have rejected {} of your reports, so you can no longer report. Skip what you do not like.",
            refused
        });
    }
    if is_caption {
        // Reports are counted in turn.
        if let Some(image) = slots::picture_of(tx, subject).await? {
            slots::lock(tx, &image).await?;
        }
    } else {
        // People who report a picture do not describe it; this also locks its row, so that reports are counted in turn.
        slots::free(tx, subject, &visitor.id, i64::MAX).await?;
    }
    let id = ids::new_id();
    let note: String = text::clean(&given.note).chars().take(NOTE).collect();
    let row = columns! {
        id: &id, collection, kind: given.kind.name(), subject, reporter: &visitor.id,
        reason: given.reason.name(), note, contact: "", state: "open", created_at: clock::now(),
    };
    let added = tx.add_row("report", row).await?;
    if !added {
        return Ok(());
    }
    audit::note(tx, Some(&visitor.id), "report.add", subject, json!({ "reason": given.reason })).await?;
    let reporters =
        "SELECT COUNT(*) FROM report WHERE subject = $1 AND state = 'open' AND reporter IS NOT NULL";
    let reporters: i64 = tx.fetch_one(reporters, args![subject]).await?;
    if rules::quarantines(reporters) {
        quarantine(tx, subject, is_caption).await?;
    }
    Ok(())
}

async fn quarantine(tx: &mut Tx, subject: &str, is_caption: bool) -> Result<(), Error> {
    if is_caption {
        for from in [CaptionState::Submitted, CaptionState::Accepted, CaptionState::Split] {
            if slots::change_caption(tx, subject, from, CaptionState::Quarantined, None).await? {
                break;
            }
        }
        return Ok(());
    }
    let state = ImageState::Quarantined.name();
    let sql = "UPDATE image SET state = $1 WHERE id = $2 AND state IN ('pending', 'open', 'complete')";
    tx.execute(sql, args![state, subject]).await?;
    slots::hide(tx, subject).await
}

/// Returns true if the visitor has reported something.
pub(super) async fn has_reported(
    store: &Store,
    subject: &str,
    visitor: Option<&Visitor>,
) -> Result<bool, Error> {
    let Some(visitor) = visitor else { return Ok(false) };
    let sql = "SELECT 1 FROM report WHERE subject = $1 AND reporter = $2";
    store.exists(sql, args![subject, &visitor.id]).await
}

/// A request to remove a picture, as it was written.
pub(super) struct RemovalRequest<'a> {
    /// The picture.
    pub what: &'a str,
    pub why: &'a str,
    /// The address of the person, who needs no account.
    pub contact: &'a str,
}

/// Adds a request to remove a picture.
///
/// # Errors
/// If something is missing or too long.
pub(super) async fn request_removal(
    store: &Store,
    collection: &str,
    visitor: Option<&Visitor>,
    request: &RemovalRequest<'_>,
) -> Result<()> {
    let [what, why, contact] = [request.what, request.why, request.contact].map(text::clean);
    let is_wrong = |text: &String| text.is_empty() || text.chars().count() > NOTE;
    if [&what, &why, &contact].into_iter().any(is_wrong) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "takedown",
            "Say which picture it is, why it should be removed, and how we can reach you, each in at most {} characters.",
            NOTE
        });
    }
    let id = ids::new_id();
    let mut tx = store.begin().await?;
    // The subject is what was written, which a moderator looks up; a person may ask for several pictures.
    let row = columns! {
        id: &id, collection, kind: "takedown", subject: what, reason: "copyright", note: why, contact,
        state: "open", created_at: clock::now(),
    };
    tx.insert_row("report", row).await?;
    let by = visitor.map(|visitor| visitor.id.as_str());
    audit::note(&mut tx, by, "takedown.add", &id, json!({})).await?;
    Ok(tx.commit().await?)
}
