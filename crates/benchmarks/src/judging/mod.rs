//! Human evaluation: people judge captions by four grades, the amount of detail, and whether a person or a machine
//! wrote them. Judges see a picture and a caption, never its author.

mod figure;
mod handlers;
mod measures;
mod records;
mod sample;

pub use figure::{colour, figure};
pub(super) use handlers::routes;
pub use records::{results, withdraw};
pub use sample::SampleCaptions;
