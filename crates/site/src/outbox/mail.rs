//! Sends mail by SMTP.

use anyhow::Context;
use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::{SmtpTransport, Transport};

use super::Message;
use crate::settings::Settings;

/// Sends a message.
pub(super) fn send(settings: &Settings, message: &Message) -> anyhow::Result<()> {
    let from: Mailbox = settings.mail_from.parse().context("the setting mail_from")?;
    // The same id each time: mail programs show a message once that is sent twice.
    let id = format!("<{}@{}>", message.id, from.email.domain());
    let mut mail = lettre::Message::builder()
        .message_id(Some(id))
        .from(from)
        .to(message.target.parse().context("the address of the mail")?)
        .subject(&message.subject)
        .header(ContentType::TEXT_PLAIN);
    if let Some(path) = &message.unsubscribe {
        // Email programs show a button of their own, which sends a request without asking (RFC 8058).
        let link = format!("<{}>", settings.url(path));
        mail = mail.raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("List-Unsubscribe"), link));
        if settings.is_secure() {
            let name = HeaderName::new_from_ascii_str("List-Unsubscribe-Post");
            mail = mail.raw_header(HeaderValue::new(name, "List-Unsubscribe=One-Click".to_owned()));
        }
    }
    let mail = mail.body(message.body.clone())?;
    // An error may quote the address of the server, which holds a password.
    let server = SmtpTransport::from_url(&settings.smtp).ok().context("the setting smtp is not valid")?;
    server.build().send(&mail).context("the mail server rejects the message or does not respond")?;
    Ok(())
}
