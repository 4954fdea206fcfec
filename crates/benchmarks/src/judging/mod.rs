//! People judge captions: four grades, the amount of detail, and whether a person or a machine wrote them. Judges see a
//! picture and a caption, never whose it is.

mod figure;
mod handlers;
mod measures;
mod records;
mod sample;

use capeval_site::web::Route;

pub use figure::{colour, figure};
pub use records::{results, withdraw};
pub use sample::SampleCaptions;

/// The routes of judging.
pub(super) fn routes() -> Vec<Route> {
    handlers::routes()
}
