//! The steps by which people take part, and the answers of hosts.

use std::collections::HashMap;

use capeval_api::{Admission, NewParticipation, Participant, RequestState};
use capeval_site::prelude::*;
use capeval_site::{among, newest_first, outbox};
use serde::Deserialize;
use serde_json::json;

use super::records::{self, ParticipantRow};
use super::terms::{self, AcceptanceRow};
use crate::notes;
use crate::notifications::{self, Recipient};
use crate::settings::Benchmark;

/// The most characters of an affiliation or a country, and of a reason or an answer.
const LINE: usize = 100;
const TEXT: usize = 1_000;

/// How often a person may ask the hosts of a benchmark.
const TIMES: i64 = 3;

/// The checked words of a person.
struct Words {
    affiliation: String,
    country: String,
    reason: String,
}

impl Words {
    fn of(new: &NewParticipation) -> Result<Self> {
        let words = Self {
            affiliation: clean_text::line(&new.affiliation),
            country: clean_text::line(&new.country),
            reason: clean_text::lines(&new.reason),
        };
        let is_long = |text: &str, most: usize| text.chars().count() > most;
        if is_long(&words.affiliation, LINE) || is_long(&words.country, LINE) || is_long(&words.reason, TEXT)
        {
            return Err(fault! {
                UNPROCESSABLE_ENTITY, "too-long",
                "Affiliation and country can have at most {} characters, and the reason {}.", LINE, TEXT
            });
        }
        Ok(words)
    }
}

/// Accepts the terms, and asks the hosts where they approve people. What a person said before is replaced.
pub(super) async fn take_part(app: &App, by: &Visitor, id: &str, new: &NewParticipation) -> Result<()> {
    let words = Words::of(new)?;
    let mut tx = app.store.begin().await?;
    tx.lock("account", &by.id).await?;
    people::require_enabled(&mut tx, &by.id).await?;
    let benchmark = &records::benchmark(&mut tx, id).await?;
    let is_new = !new.accepts.is_empty() && terms::accept(&mut tx, benchmark, &by.id, &new.accepts).await?;
    if is_new {
        let detail = json!({ "version": benchmark.terms_version, "digest": new.accepts });
        notes::note(&mut tx, Some(&by.id), "terms.accept", id, detail).await?;
    }
    let known = records::row(&mut tx, id, &by.id).await?;
    let asks = asks_hosts(benchmark, known.as_ref(), is_new);
    if asks {
        require_request(&mut tx, benchmark, by, &words, known.as_ref()).await?;
    }
    write(&mut tx, id, by, &words, known.as_ref(), asks).await?;
    if asks {
        tell_hosts(&mut tx, app, benchmark, by).await?;
        notes::note(&mut tx, Some(&by.id), "admission.request", id, json!({})).await?;
    }
    Ok(app.commit(tx).await?)
}

/// Returns true if a person asks the hosts by what they do. Who accepts a new version of the terms while a request
/// waits for its answer asks nothing.
fn asks_hosts(benchmark: &Benchmark, known: Option<&ParticipantRow>, accepts: bool) -> bool {
    let state = known.and_then(|row| row.state);
    benchmark.admission == Admission::Approval
        && state != Some(RequestState::Accepted)
        && !(accepts && state == Some(RequestState::Open))
}

/// Refuses a request that says too little, or comes too often.
async fn require_request(
    tx: &mut Tx,
    benchmark: &Benchmark,
    by: &Visitor,
    words: &Words,
    known: Option<&ParticipantRow>,
) -> Result<()> {
    records::require_listed(tx, benchmark, by).await?;
    if words.affiliation.is_empty() || words.reason.is_empty() {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "request", "Tell the hosts your affiliation and why you want to take part."
        });
    }
    match known {
        Some(row) if row.state == Some(RequestState::Open) => {
            Err(fault!(CONFLICT, "asked", "You have already asked the hosts. They have not answered yet."))
        }
        Some(row) if row.asked >= TIMES => {
            Err(fault!(CONFLICT, "no-more", "You cannot ask these hosts again."))
        }
        _ => Ok(()),
    }
}

/// Writes the row of a person, who asks the hosts or not.
async fn write(
    tx: &mut Tx,
    benchmark: &str,
    by: &Visitor,
    words: &Words,
    known: Option<&ParticipantRow>,
    asks: bool,
) -> Result<(), Error> {
    let mut row = columns! {
        affiliation: &words.affiliation, country: &words.country, reason: &words.reason,
    };
    if asks {
        row.extend(columns! {
            state: "open", answer: "", answered_at: None::<i64>,
            asked: known.map_or(0, |row| row.asked) + 1,
        });
    }
    match known {
        Some(known) => tx.change_row("participant", &known.id, row).await,
        None => {
            row.extend(columns! { id: ids::new_id(), benchmark, account: &by.id, created_at: clock::now() });
            tx.insert_row("participant", row).await
        }
    }
}

/// Tells the hosts of a benchmark that someone asks. The words are only on the page: no one writes to others in the
/// name of the site.
async fn tell_hosts(tx: &mut Tx, app: &App, benchmark: &Benchmark, by: &Visitor) -> Result<()> {
    let page = app.settings.url(&benchmark.address("participants"));
    for Recipient { email, language, .. } in notifications::hosts(tx, &benchmark.id).await? {
        let subject = language.fill("{} asks to take part in {}", &[&by.name, &benchmark.title]);
        let body = format!("{}\n\n{page}\n", language.t(say("Approve or refuse the request here:")));
        outbox::mail(tx, app, &email, &subject, &body).await?;
    }
    Ok(())
}

/// Approves a person, or refuses them, also after the other answer.
pub(super) async fn answer(
    app: &App,
    by: &Visitor,
    id: &str,
    participant: &str,
    (state, words): (RequestState, &str),
) -> Result<()> {
    let words = clean_text::lines(words);
    if words.chars().count() > TEXT {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "message", "The message can have at most {} characters.", TEXT
        });
    }
    let mut tx = app.store.begin().await?;
    let sql = "UPDATE participant SET state = $1, answer = $2, answered_at = $3 \
               WHERE id = $4 AND benchmark = $5 AND state IS NOT NULL AND state <> $1 RETURNING account";
    let values = args![state.name(), &words, clock::now(), participant, id];
    let Some(account) = tx.fetch_optional::<String>(sql, values).await? else {
        let known = "SELECT 1 FROM participant WHERE id = $1 AND benchmark = $2 AND state IS NOT NULL";
        return Err(match tx.exists(known, args![participant, id]).await? {
            true => fault!(CONFLICT, "answered", "This request has already been answered so."),
            false => Fault::not_found(),
        });
    };
    let is_accepted = state == RequestState::Accepted;
    let action = if is_accepted { "admission.accept" } else { "admission.refuse" };
    let detail = json!({ "account": account, "message": words });
    notes::note(&mut tx, Some(&by.id), action, id, detail).await?;
    let benchmark = &records::benchmark(&mut tx, id).await?;
    tell(&mut tx, app, benchmark, &account, is_accepted).await?;
    Ok(app.commit(tx).await?)
}

async fn tell(tx: &mut Tx, app: &App, benchmark: &Benchmark, account: &str, is_accepted: bool) -> Result<()> {
    let Some(Recipient { email, language, .. }) = Recipient::of(tx, account).await? else { return Ok(()) };
    let subject = match is_accepted {
        true => language.fill("{}: the hosts have approved you", &[&benchmark.title]),
        false => language.fill("{}: the hosts have refused your request", &[&benchmark.title]),
    };
    let body = format!("{}\n", app.settings.url(&records::path(benchmark)));
    Ok(outbox::mail(tx, app, &email, &subject, &body).await?)
}

/// A person in the list of hosts.
#[derive(Deserialize)]
struct ParticipantName {
    name: String,
    row: ParticipantRow,
}

/// The people of a benchmark.
pub const PARTICIPANTS: List = newest_first!(
    "SELECT participant.*, account.name AS name FROM participant JOIN account ON account.id = participant.account \
     WHERE participant.benchmark = $3",
    "participant.id"
);

/// The people of a benchmark at a place, with what they accepted.
pub(super) async fn page(store: &Store, benchmark: &str, at: At) -> Result<Rows<Participant>, Error> {
    let mut listed =
        PARTICIPANTS.page(store, at, args![benchmark], |one: &ParticipantName| &one.row.id).await?;
    let rows = std::mem::take(&mut listed.rows);
    let accounts: Vec<&str> = rows.iter().map(|one| one.row.account.as_str()).collect();
    let sql = among!(
        store,
        "SELECT account, version, digest, created_at FROM terms_acceptance WHERE benchmark = $1 AND account IN (",
        "$2",
        ") ORDER BY version DESC"
    );
    let mut accepted: HashMap<String, Vec<_>> = HashMap::new();
    for row in store.fetch::<AcceptanceRow>(sql, args![benchmark, store::list(&accounts)?]).await? {
        accepted.entry(row.account.clone()).or_default().push((&row).into());
    }
    let shown = rows.into_iter().map(|ParticipantName { name, row }| Participant {
        accepted: accepted.remove(&row.account).unwrap_or_default(),
        id: row.id,
        name,
        affiliation: row.affiliation,
        country: row.country,
        reason: row.reason,
        request: row.state.map(Into::into),
        created_at: clock::time(row.created_at),
    });
    let shown = shown.collect();
    Ok(listed.with(shown))
}
