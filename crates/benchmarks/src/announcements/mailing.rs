//! Sends an announcement by email to participants who want email, in batches.

use capeval_site::outbox::{self, Reader};
use capeval_site::prelude::*;
use capeval_site::two_part_subject;
use serde::Deserialize;

use crate::notifications::Recipient;

/// The number of people to whom a job writes at once, so that others need not wait for its transaction.
const AT_ONCE: usize = 200;

/// Writes the email of an announcement.
pub struct MailAnnouncement;

/// The people to whom an announcement was not yet sent: the accounts after one, in the order of their ids.
pub struct Recipients {
    pub announcement: String,
    /// The id of the last account that got it; empty at the beginning.
    pub after: String,
}

two_part_subject!(Recipients: announcement / after);

#[derive(Deserialize)]
struct AnnouncementMail {
    title: String,
    text: String,
    benchmark: String,
    phase: Option<String>,
    team: Option<String>,
    slug: String,
    benchmark_title: String,
}

const ANNOUNCED: &str = "SELECT announcement.title AS title, text, benchmark.id AS benchmark, announcement.phase AS phase, announcement.team AS team, \
    benchmark.slug AS slug, benchmark.title AS benchmark_title FROM announcement \
    JOIN benchmark ON benchmark.id = announcement.benchmark WHERE announcement.id = $1 AND retracted_at IS NULL";

const RECIPIENTS: &str = "SELECT account.id AS id, account.email AS email, account.language AS language FROM account \
    WHERE account.disabled_at IS NULL AND account.id > $3 AND EXISTS (SELECT 1 FROM entry_member \
    JOIN phase ON phase.id = entry_member.phase WHERE entry_member.account = account.id AND phase.benchmark = $1 \
    AND ($2 = '' OR phase.id = $2) AND ($5 = '' OR entry_member.team = $5)) AND NOT EXISTS (SELECT 1 FROM mail_choice \
    WHERE mail_choice.account = account.id AND declined_at IS NOT NULL) ORDER BY account.id LIMIT $4";

impl Work for MailAnnouncement {
    const KIND: &'static str = "announcement";
    const LANE: Lane = Lane::Errands;
    type Subject = Recipients;
    type Output = ();

    async fn run(_: &App, _: &Job<Recipients>) -> Result<(), Failure> {
        Ok(())
    }

    /// Writes the messages in the transaction that ends the job, so each person gets one.
    async fn finish(
        app: &App,
        tx: &mut Tx,
        job: &Job<Recipients>,
        outcome: Result<(), String>,
    ) -> Result<()> {
        let Recipients { announcement, after } = &job.subject;
        if let Err(reason) = outcome {
            tracing::error!(announcement, reason, "an announcement is not sent to all");
            return Ok(());
        }
        let announced: Option<AnnouncementMail> = tx.fetch_optional(ANNOUNCED, args![announcement]).await?;
        let Some(announced) = announced else { return Ok(()) };
        let (phase, team) =
            (announced.phase.as_deref().unwrap_or(""), announced.team.as_deref().unwrap_or(""));
        let recipients: Vec<Recipient> =
            tx.fetch(RECIPIENTS, args![&announced.benchmark, phase, after, AT_ONCE as i64, team]).await?;
        let address = app.settings.url(&format!("/b/{}/announcements", encode(&announced.slug)));
        let title = &announced.benchmark_title;
        for Recipient { id, email, language } in &recipients {
            let reader = Reader::of(tx, id, email).await?;
            let subject = format!("{title}: {}", announced.title);
            let on_page = language.fill("On the site: {}", &[&address]);
            let why = language.fill(
                "You take part in {}. To get no more announcements by email, open {}",
                &[title, &app.settings.url(&reader.path())],
            );
            let body = format!("{}\n\n{on_page}\n\n{why}\n", announced.text);
            outbox::announce(tx, app, &reader, announcement, &subject, &body).await?;
        }
        if let Some(last) = recipients.last().filter(|_| recipients.len() == AT_ONCE) {
            let rest = Recipients { announcement: announcement.clone(), after: last.id.clone() };
            jobs::add::<Self>(tx, &rest, Priority::Background).await?;
        }
        Ok(())
    }
}
