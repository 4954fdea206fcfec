//! Results of a submission image by image, where its phase shows them: a page as `capeval score --html` writes it, and
//! the scores as JSON Lines. They are built on request, since building takes as long as scoring and few of them are
//! read.
//!
//! A child writes both into a folder of its own, and files are sent from the disk in pieces: a page of 40,504 images
//! takes 24 MB. Their rows are valid for one score set and for what the phase shows. Changing either removes them in
//! the same transaction, and a job that began before writes nothing. The page is sent with the policy that the child
//! names, by which only the page's script runs, and in a sandbox, so hostile captions that escaped the templates would
//! still be in another origin than the site.

mod build;
mod handlers;
mod records;

pub use build::BuildImages;
pub(super) use handlers::routes;
pub use records::{State, forget, state};
