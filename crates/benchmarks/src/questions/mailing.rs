//! Sends email to hosts about questions, and to those who asked about answers, if they want email. The text is only on
//! the page, so no one can write to others in the name of the site.

use capeval_site::outbox::{self, Reader};
use capeval_site::prelude::*;

use crate::notifications::{self, Recipient};
use crate::settings::Benchmark;

/// Tells the hosts of a new question, or the person who asked `answers` of a new answer to it.
pub async fn tell(
    tx: &mut Tx,
    app: &App,
    benchmark: &Benchmark,
    by: &Visitor,
    (id, answers): (&str, Option<&str>),
) -> Result<()> {
    if !app.settings.sends_mail() {
        return Ok(());
    }
    let asked = "SELECT account.id AS id, account.email AS email, account.language AS language FROM question \
                 JOIN account ON account.id = question.account WHERE question.id = $1 AND account.disabled_at IS NULL";
    let recipients: Vec<Recipient> = match answers {
        Some(question) => tx.fetch(asked, args![question]).await?,
        None => notifications::hosts(tx, &benchmark.id).await?,
    };
    let path = benchmark.address(&format!("questions/{}", answers.unwrap_or(id)));
    let page = app.settings.url(&path);
    for Recipient { id: account, email, language } in &recipients {
        let declined = "SELECT 1 FROM mail_choice WHERE account = $1 AND declined_at IS NOT NULL";
        if *account == by.id || tx.exists(declined, args![account]).await? {
            continue;
        }
        let reader = Reader::of(tx, account, email).await?;
        let subject = match answers {
            Some(_) => language.fill("{}: {} has answered your question", &[&benchmark.title, &by.name]),
            None => language.fill("{}: {} asks a question", &[&benchmark.title, &by.name]),
        };
        let on_page = language.fill("On the site: {}", &[&page]);
        let why = language.fill("To get no more such email, open {}", &[&app.settings.url(&reader.path())]);
        outbox::announce(tx, app, &reader, id, &subject, &format!("{on_page}\n\n{why}\n")).await?;
    }
    Ok(())
}
