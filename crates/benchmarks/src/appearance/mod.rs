//! The appearance of a benchmark: its hosts' own pages in both languages, such as prizes and sponsors, a logo, a
//! colour, a contact, and the dates of all phases.

mod colour;
mod handlers;
mod pages;
mod records;

pub(super) use handlers::routes;
pub use pages::OwnPage;
pub use records::{Logo, check, columns, encode_logo, schedule};
