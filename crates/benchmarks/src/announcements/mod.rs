//! Announcements of hosts to the participants of a benchmark: on its page, and by email to those who want it.

mod handlers;
mod mailing;
pub mod records;

pub(super) use handlers::routes;
pub use mailing::MailAnnouncement;
pub(super) use records::Announcement;
