//! Announcements in the database, and the rules of their content and number.

use capeval_api::NewAnnouncement;
use capeval_site::prelude::*;
use capeval_site::web::markdown::as_html;
use capeval_site::{newest_first, outbox};
use serde::Deserialize;
use serde_json::json;

use super::mailing::{MailAnnouncement, Recipients};
use crate::notes;

/// The most characters of a title and of a text.
const TITLE: usize = 120;
const TEXT: usize = 10_000;

/// The most announcements of a benchmark in 24 hours, and the most for single teams.
const PER_DAY: i64 = 5;
const TO_TEAMS_PER_DAY: i64 = 50;

/// An announcement.
#[derive(Clone, Debug, Deserialize)]
pub struct Announcement {
    pub id: String,
    /// The title of the phase for whose participants it is; `None` for those of all phases.
    pub phase: Option<String>,
    /// The name of the team for which it is; `None` for all.
    pub team: Option<String>,
    pub title: String,
    /// Markdown.
    pub text: String,
    /// True if it was sent by email.
    pub is_mailed: bool,
    pub created_at: i64,
    pub edited_at: Option<i64>,
    pub retracted_at: Option<i64>,
}

impl Announcement {
    /// The text as HTML.
    pub fn html(&self) -> String {
        as_html(&self.text)
    }

    /// Itself, for programs.
    pub fn for_programs(&self) -> capeval_api::Announcement {
        capeval_api::Announcement {
            id: self.id.clone(),
            phase: self.phase.clone(),
            team: self.team.clone(),
            title: self.title.clone(),
            text: self.text.clone(),
            created_at: clock::time(self.created_at),
            edited_at: self.edited_at.map(clock::time),
            retracted_at: self.retracted_at.map(clock::time),
        }
    }
}

/// The announcements of a benchmark for a person; hosts also see those for all teams, and those that were retracted.
pub const ANNOUNCEMENTS: List = newest_first!(
    "SELECT announcement.id AS id, phase.title AS phase, team.name AS team, announcement.title AS title, text, is_mailed, \
     announcement.created_at AS created_at, edited_at, retracted_at FROM announcement \
     LEFT JOIN phase ON phase.id = announcement.phase LEFT JOIN team ON team.id = announcement.team \
     WHERE announcement.benchmark = $3 AND ($4 = 1 OR retracted_at IS NULL AND (announcement.team IS NULL OR EXISTS \
     (SELECT 1 FROM team_member WHERE team_member.team = announcement.team AND account = $5)))",
    "announcement.id"
);

/// The announcements of a benchmark at a place.
pub async fn page(
    store: &Store,
    benchmark: &str,
    (is_host, account): (bool, Option<&str>),
    at: At,
) -> Result<Rows<Announcement>, Error> {
    ANNOUNCEMENTS.page(store, at, args![benchmark, is_host, account], |one: &Announcement| &one.id).await
}

/// The announcement of a benchmark with this id.
pub(super) async fn by_id(store: &Store, benchmark: &str, id: &str) -> Result<Announcement> {
    let sql = "SELECT id, phase, team, title, text, is_mailed, created_at, edited_at, retracted_at FROM announcement \
               WHERE id = $1 AND benchmark = $2";
    store.fetch_optional(sql, args![id, benchmark]).await?.ok_or_else(Fault::not_found)
}

/// The title and the text in the form in which they are stored.
fn checked(new: &NewAnnouncement) -> Result<(String, String)> {
    let title = clean_text::line(&new.title);
    let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let text = new.text.replace("\r\n", "\n").chars().filter(is_text).collect::<String>().trim().to_owned();
    let fits = |text: &str, most: usize| (1..=most).contains(&text.chars().count());
    if !fits(&title, TITLE) || !fits(&text, TEXT) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "announcement",
            "An announcement needs a title of 1 to {} characters and a text of 1 to {}.", TITLE, TEXT
        });
    }
    Ok((title, text))
}

/// The id of the phase of a benchmark with this slug; `None` for an empty one.
async fn phase_of(tx: &mut Tx, benchmark: &str, slug: &str) -> Result<Option<String>> {
    if slug.is_empty() {
        return Ok(None);
    }
    let sql = "SELECT id FROM phase WHERE benchmark = $1 AND slug = $2";
    let phase: Option<String> = tx.fetch_optional(sql, args![benchmark, slug]).await?;
    let unknown = || fault!(UNPROCESSABLE_ENTITY, "phase", "This benchmark has no phase called {}.", slug);
    phase.map(Some).ok_or_else(unknown)
}

/// The id of a team that takes part in a benchmark, by its id or its name; `None` for none.
async fn team_of(tx: &mut Tx, benchmark: &str, named: &str) -> Result<Option<String>> {
    let named = named.trim();
    if named.is_empty() {
        return Ok(None);
    }
    let sql = "SELECT id FROM team WHERE (id = $1 OR name = $1) AND EXISTS (SELECT 1 FROM entry \
               JOIN phase ON phase.id = entry.phase WHERE entry.team = team.id AND phase.benchmark = $2)";
    let team: Option<String> = tx.fetch_optional(sql, args![named, benchmark]).await?;
    let unknown =
        || fault!(UNPROCESSABLE_ENTITY, "team", "No team called {} takes part in this benchmark.", named);
    team.map(Some).ok_or_else(unknown)
}

/// Publishes an announcement, and returns its id. Those who want email get it soon.
pub(super) async fn publish(
    app: &App,
    by: &Visitor,
    benchmark: &str,
    new: &NewAnnouncement,
) -> Result<String> {
    let (title, text) = checked(new)?;
    let mut tx = app.store.begin().await?;
    // Two at once must not both be the last one of a day.
    tx.lock("benchmark", benchmark).await?;
    let phase = phase_of(&mut tx, benchmark, &new.phase).await?;
    let (id, now) = (ids::new_id(), clock::now());
    let team = team_of(&mut tx, benchmark, &new.team).await?;
    let most = if team.is_some() { TO_TEAMS_PER_DAY } else { PER_DAY };
    let earlier = "SELECT created_at FROM announcement WHERE benchmark = $1 AND created_at > $2 \
                   AND (team IS NULL) = ($3 = 0) ORDER BY created_at";
    let earlier: Vec<i64> = tx.fetch(earlier, args![benchmark, now - clock::DAY, team.is_some()]).await?;
    if let (true, Some(first)) = (earlier.len() as i64 >= most, earlier.first()) {
        let fault = fault! {
            TOO_MANY_REQUESTS, "announcements",
            "A benchmark can make {} announcements in 24 hours. Edit an earlier one, or wait.", most
        };
        return Err(fault.retry_after((first + clock::DAY - now) / 1000));
    }
    let is_mailed = new.mail && app.settings.sends_mail();
    let row = columns! { id: &id, benchmark, phase, team, title, text, is_mailed, created_at: now };
    tx.insert_row("announcement", row).await?;
    if is_mailed {
        let first = Recipients { announcement: id.clone(), after: String::new() };
        jobs::add::<MailAnnouncement>(&mut tx, &first, Priority::Background).await?;
    }
    let detail = json!({ "announcement": id, "mail": is_mailed });
    notes::note(&mut tx, Some(&by.id), "announcement.add", benchmark, detail).await?;
    app.commit(tx).await?;
    Ok(id)
}

/// Changes what an announcement says on the page. No email tells of it.
pub(super) async fn edit(
    app: &App,
    by: &Visitor,
    benchmark: &str,
    id: &str,
    new: &NewAnnouncement,
) -> Result<()> {
    let (title, text) = checked(new)?;
    let mut tx = app.store.begin().await?;
    let sql = "UPDATE announcement SET title = $1, text = $2, edited_at = $3 \
               WHERE id = $4 AND benchmark = $5 AND retracted_at IS NULL";
    if tx.execute(sql, args![title, text, clock::now(), id, benchmark]).await? == 0 {
        return Err(unchanged(&mut tx, benchmark, id).await?);
    }
    notes::note(&mut tx, Some(&by.id), "announcement.edit", benchmark, json!({ "announcement": id })).await?;
    Ok(tx.commit().await?)
}

/// Takes an announcement off the page, and does not send what has not been sent.
pub(super) async fn retract(app: &App, by: &Visitor, benchmark: &str, id: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let sql =
        "UPDATE announcement SET retracted_at = $1 WHERE id = $2 AND benchmark = $3 AND retracted_at IS NULL";
    if tx.execute(sql, args![clock::now(), id, benchmark]).await? == 0 {
        return Err(unchanged(&mut tx, benchmark, id).await?);
    }
    outbox::take_back(&mut tx, id).await?;
    notes::note(&mut tx, Some(&by.id), "announcement.retract", benchmark, json!({ "announcement": id }))
        .await?;
    Ok(tx.commit().await?)
}

/// The reason why an announcement cannot be changed.
async fn unchanged(tx: &mut Tx, benchmark: &str, id: &str) -> Result<Fault, Error> {
    let known = "SELECT 1 FROM announcement WHERE id = $1 AND benchmark = $2";
    Ok(match tx.exists(known, args![id, benchmark]).await? {
        true => fault!(CONFLICT, "retracted", "This announcement has been retracted."),
        false => Fault::not_found(),
    })
}
