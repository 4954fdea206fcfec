//! Results of a submission image by image, where its phase shows them: a page as `capeval score --html` writes it, and
//! the scores as JSON Lines. They are built when someone asks, since that takes as long as scoring, and few are looked
//! at.
//!
//! A child writes both into a folder of its own, and files are sent from the disk in pieces: a page of 40,504 images
//! takes 24 MB. Their rows hold for one score set and for what the phase shows; changing either removes them in the
//! same transaction, and a job that began before that writes nothing. The page comes with the policy that the child
//! names, by which only its script runs, and in a sandbox, so hostile captions that escaped the templates would still
//! be in another origin than the site.

mod build;
mod handlers;
mod records;

pub use build::BuildImages;
pub(super) use handlers::routes;
pub use records::{State, forget, state};
