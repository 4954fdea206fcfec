//! Remedies for each kind of problem that a check of results finds.

use capeval_api::{Open, ProblemKind};
use capeval_site::web::language::say;

/// The remedy, in English.
pub fn remedy(kind: &Open<ProblemKind>) -> &'static str {
    match kind.known() {
        Some(ProblemKind::NotAnObject) => {
            say("Write each of these items as an object with image_id and caption.")
        }
        Some(ProblemKind::BadId) => say("Give the id of the image as a whole number or as text."),
        Some(ProblemKind::NotText) => say("Write each of these captions as text in quotation marks."),
        Some(ProblemKind::Missing) => say("Add a caption for each of these images."),
        Some(ProblemKind::Unknown) => say(
            "Remove these captions or correct their ids. If all are listed, the file may be that of another phase.",
        ),
        Some(ProblemKind::Duplicate) => say("Keep one caption for each of these images."),
        Some(ProblemKind::Empty) => say("Write a caption for each of these images."),
        Some(ProblemKind::TooLong) => say("Shorten these captions."),
        // What this server sends, it knows.
        None => "",
    }
}
