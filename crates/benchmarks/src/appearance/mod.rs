//! What a benchmark looks like, and what its hosts have to say: their own pages in both languages, such as prizes and
//! sponsors, a logo, one colour, whom to ask, and the dates of all phases.

mod colour;
mod handlers;
mod pages;
mod records;

pub(super) use handlers::routes;
pub use pages::OwnPage;
pub use records::{Logo, check, columns, encode_logo, schedule};
