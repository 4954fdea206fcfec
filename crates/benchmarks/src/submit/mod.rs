//! Submits results, on a page or by the API.

mod handlers;
mod receive;
mod records;
mod remedies;

pub(super) use handlers::routes;
pub use receive::{ReceivedUpload, ResultsRequest, receive_to_check};
pub use records::{Outcome, add_baseline, add_human, submit, try_again};
pub use remedies::remedy;
