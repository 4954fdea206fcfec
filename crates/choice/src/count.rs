//! Numbers of things, in words.

/// A number of things, with an `s` unless there is one.
///
/// ```
/// assert_eq!(capeval_choice::counted(1, "image"), "1 image");
/// assert_eq!(capeval_choice::counted(0, "image"), "0 images");
/// ```
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
