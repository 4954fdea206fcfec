//! Messages of the operating system, in words for people.

use std::io;

/// An error of the operating system as part of a sentence: in lower case, without Rust's `(os error 2)`.
///
/// ```
/// use std::io::Error;
///
/// assert_eq!(capeval_choice::system_words(&Error::from_raw_os_error(21)), "is a directory");
/// ```
pub fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    let mut letters = text.split(" (os error").next().unwrap_or_default().chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
