//! Announcements of hosts to those who take part in a benchmark: on its page, and by email to those who want it.

mod handlers;
mod mailing;
pub mod records;

use capeval_site::web::Route;

pub use mailing::MailAnnouncement;
pub(super) use records::Announcement;

/// The routes of announcements.
pub(super) fn routes() -> Vec<Route> {
    handlers::routes()
}
