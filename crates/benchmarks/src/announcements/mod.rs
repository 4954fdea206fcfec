//! Announcements of hosts to those who take part in a benchmark: on its page, and by email to those who want it.

mod handlers;
mod mailing;
pub mod records;

pub(super) use handlers::routes;
pub use mailing::MailAnnouncement;
pub(super) use records::Announcement;
