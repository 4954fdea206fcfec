//! Messages to the outside, email and webhooks: written in the transaction that causes them, and sent by jobs.
//!
//! A message is sent at least once: if a process is killed between sending it and recording that, it is sent again,
//! with the same id.

pub mod choice;
mod delivery;
mod mail;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;

use crate::app::App;
use crate::fault::Result;
use crate::jobs::queue::Priority;
use crate::jobs::{self, Failure, Job, Lane, Work};
use crate::personal_data::{Leaving, PersonalData};
use crate::store::{Error, Tx};
use crate::{args, clock, columns, ids};

pub use choice::Reader;
pub use delivery::{Address, is_public, signature};

/// The seconds after which a message that could not be sent is tried again; after the last, it is given up.
const PAUSES: [i64; 5] = [10, 60, 600, 3_600, 21_600];

/// The days for which a message is kept; of an email that was sent, only that it was.
pub const KEPT: i64 = 30;

/// The place in the body of a message for the secret of its link.
const SECRET: &str = "{secret}";

/// Sends a message.
pub struct SendMessage;

capeval_choice::named! {
    /// The way in which a message is sent.
    enum MessageKind ("kind of message") {
        Mail = "mail", "email";
        Webhook = "webhook", "webhook";
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Message {
    id: String,
    kind: MessageKind,
    /// The email address, or the id of the webhook.
    target: String,
    subject: String,
    body: String,
    /// The path of the link that ends messages of this kind.
    unsubscribe: Option<String>,
    /// The hash of the link in the body, whose secret is made when it is sent.
    link: Option<String>,
}

/// Sends an email, if the site can. Wake the runner of jobs once the transaction is committed.
pub async fn mail(tx: &mut Tx, app: &App, to: &str, subject: &str, body: &str) -> Result<(), Error> {
    if !app.settings.sends_mail() {
        return Ok(());
    }
    add(tx, MessageKind::Mail, Priority::Awaited, to, subject, body).await.map(drop)
}

/// Sends an email that ends in a link of an account or an invitation, whose path is `path` for now. Its secret is made
/// when the email is sent, so nothing that is stored until then opens it.
pub async fn mail_link(
    tx: &mut Tx,
    app: &App,
    to: (&str, &str),
    sentence: &str,
    path: &str,
) -> Result<(), Error> {
    let route = path.rsplit_once('/').map_or("", |(route, _)| route);
    let body = format!("{sentence}\n\n{}\n", app.settings.url(&format!("{route}/{SECRET}")));
    mail_beside_link(tx, app, to, &body, path).await
}

/// Sends another email to an address and with a subject where a link was made, which it does not have.
pub async fn mail_beside_link(
    tx: &mut Tx,
    app: &App,
    (to, subject): (&str, &str),
    body: &str,
    path: &str,
) -> Result<(), Error> {
    if !app.settings.sends_mail() {
        return Ok(());
    }
    let secret = path.rsplit_once('/').map_or("", |(_, secret)| secret);
    let id = add(tx, MessageKind::Mail, Priority::Awaited, to, subject, body).await?;
    tx.change_row("outbox", &id, columns! { link: ids::digest(secret) }).await
}

/// Sends an announcement by email, if the site can, which can be taken back until it is sent.
pub async fn announce(
    tx: &mut Tx,
    app: &App,
    to: &Reader,
    announcement: &str,
    subject: &str,
    body: &str,
) -> Result<(), Error> {
    if !app.settings.sends_mail() {
        return Ok(());
    }
    let id = add(tx, MessageKind::Mail, Priority::Background, &to.email, subject, body).await?;
    tx.change_row("outbox", &id, columns! { about: announcement, unsubscribe: to.path() }).await
}

/// Takes back what was not sent of an announcement.
pub async fn take_back(tx: &mut Tx, announcement: &str) -> Result<(), Error> {
    let sql = "DELETE FROM outbox WHERE about = $1 AND sent_at IS NULL";
    tx.execute(sql, args![announcement]).await.map(drop)
}

/// Sends a message to the webhook with this id. Wake the runner of jobs once the transaction is committed.
pub async fn call(tx: &mut Tx, webhook: &str, body: &Value) -> Result<(), Error> {
    add(tx, MessageKind::Webhook, Priority::Background, webhook, "", &body.to_string()).await.map(drop)
}

/// The address and the secret of a webhook; `None` if it was removed.
async fn webhook(app: &App, id: &str) -> Result<Option<(String, String)>, Error> {
    for sql in app.features.iter().filter_map(|feature| feature.webhook) {
        if let Some(found) = app.store.fetch_optional(sql, args![id]).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Adds a message, and returns its id.
async fn add(
    tx: &mut Tx,
    kind: MessageKind,
    priority: Priority,
    target: &str,
    subject: &str,
    body: &str,
) -> Result<String, Error> {
    let (id, now) = (ids::new_id(), clock::now());
    let row = columns! {
        id: &id, kind: kind.name(), target, subject, body, attempt: 0_i64, run_after: now, created_at: now,
    };
    tx.insert_row("outbox", row).await?;
    jobs::add_at::<SendMessage>(tx, &id, priority, now).await?;
    Ok(id)
}

/// Gives the link of a message a new secret, and returns the message with it; `None` if the link has ended, so that
/// no one needs the message.
async fn with_secret(app: &App, message: Message) -> anyhow::Result<Option<Message>> {
    let Some(known) = &message.link else { return Ok(Some(message)) };
    let secret = ids::secret()?;
    let hash = ids::digest(&secret);
    let mut tx = app.store.begin().await?;
    let mut renewed = 0;
    for sql in [
        "UPDATE account_link SET hash = $1 WHERE hash = $2 AND expires_at > $3",
        "UPDATE invitation SET hash = $1 WHERE hash = $2 AND expires_at > $3 AND used_at IS NULL",
    ] {
        renewed += tx.execute(sql, args![&hash, known, clock::now()]).await?;
    }
    tx.change_row("outbox", &message.id, columns! { link: &hash }).await?;
    tx.commit().await?;
    let body = message.body.replace(SECRET, &secret);
    Ok((renewed > 0).then_some(Message { body, ..message }))
}

/// Forgets messages that were sent long ago, or that could not be sent: [`KEPT`] days after they were written. Returns
/// how many there were.
pub async fn sweep(tx: &mut Tx) -> Result<u64, Error> {
    tx.execute("DELETE FROM outbox WHERE created_at < $1", args![clock::now() - KEPT * clock::DAY]).await
}

impl Work for SendMessage {
    const KIND: &'static str = "send";
    const LANE: Lane = Lane::Errands;
    type Subject = String;
    type Output = ();

    async fn run(app: &App, job: &Job) -> Result<(), Failure> {
        let sql = "SELECT * FROM outbox WHERE id = $1 AND sent_at IS NULL";
        let message: Option<Message> = app.store.fetch_optional(sql, args![&job.subject]).await?;
        let Some(message) = message else { return Ok(()) };
        let Some(message) = with_secret(app, message).await? else { return Ok(()) };
        let app = app.clone();
        let sent = match message.kind {
            MessageKind::Mail => {
                tokio::task::spawn_blocking(move || mail::send(&app.settings, &message)).await?
            }
            MessageKind::Webhook => {
                // A webhook that was removed needs no message.
                let Some((url, secret)) = webhook(&app, &message.target).await? else { return Ok(()) };
                let send = move || delivery::send(&app.settings, &message, &url, &secret);
                tokio::task::spawn_blocking(send).await?
            }
        };
        // The pauses between attempts are longer than those of jobs, so each attempt is a job of its own.
        sent.map_err(|error| Failure::Lasting(without_addresses(&format!("{error:#}"))))
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<(), String>) -> Result<()> {
        let now = clock::now();
        let Err(reason) = outcome else {
            let sql = "UPDATE outbox SET sent_at = $1, attempt = attempt + 1, error = NULL, unsubscribe = NULL, \
                       body = CASE WHEN kind = 'mail' THEN '' ELSE body END WHERE id = $2";
            tx.execute(sql, args![now, &job.subject]).await?;
            return Ok(());
        };
        let sql = "UPDATE outbox SET attempt = attempt + 1, error = $1 WHERE id = $2 RETURNING attempt";
        let attempt: Option<usize> = tx.fetch_optional(sql, args![&reason, &job.subject]).await?;
        let Some(attempt) = attempt else { return Ok(()) };
        match attempt.checked_sub(1).and_then(|k| PAUSES.get(k)) {
            Some(pause) => {
                let next = now + pause * 1000;
                tx.change_row("outbox", &job.subject, columns! { run_after: next }).await?;
                jobs::add_at::<Self>(tx, &job.subject, Priority::Background, next).await?;
            }
            None => tracing::error!(message = job.subject, reason, "a message is given up"),
        }
        Ok(())
    }
}

/// An error without the addresses that servers quote, since it is logged.
fn without_addresses(error: &str) -> String {
    let is_address = |word: &str| word.contains('@') || word.contains("://");
    error
        .split(' ')
        .map(|word| if is_address(word) { "(address)" } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The data that the outbox keeps about people: email, with the address.
pub struct OwnData;

impl PersonalData for OwnData {
    fn forget<'a>(&'a self, tx: &'a mut Tx, person: &'a Leaving) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let sql = "DELETE FROM outbox WHERE kind = 'mail' AND target = $1";
            tx.execute(sql, args![&person.email]).await?;
            tx.execute("DELETE FROM mail_choice WHERE account = $1", args![&person.id]).await?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn errors_quote_no_address() {
        let of = super::without_addresses;
        assert_eq!(of("550 no mailbox <ada@example.org> here"), "550 no mailbox (address) here");
        assert_eq!(
            of("cannot reach https://hooks.example.org/secret: refused"),
            "cannot reach (address) refused"
        );
        assert_eq!(of("the receiver answers 500"), "the receiver answers 500");
    }
}
