//! Merges several files of references.

use capeval_choice::counted;

use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::notice::list_ids;
use crate::reading::refuse_open;
use crate::{Format, Remedy, Role};

/// Merges the captions of several files of one role; equal ids are one image.
///
/// Line-aligned files (plain text) must have the same number of lines. Without files, there are no captions.
///
/// # Errors
/// If two line-aligned files have different numbers of lines, or plain text is mixed with another format.
pub fn merge(files: Vec<Captions>, role: Role) -> Result<Captions, Error> {
    let mut files = files.into_iter();
    let Some(mut merged) = files.next() else {
        return Ok(Captions::default());
    };
    // Captions of training meet no other side.
    if role == Role::Training {
        refuse_open(&merged)?;
    }
    let mut parts = Vec::new();
    if files.len() > 0 && role != Role::Training {
        parts = std::iter::once(&merged).chain(files.as_slice()).cloned().collect();
    }
    let is_open = parts.iter().any(|part: &Captions| part.reading().is_some());
    let (first, count) = (merged.source().to_owned(), merged.len());
    let aligned = merged.format() == Some(Format::Lines);
    for file in files {
        if role == Role::Training {
            refuse_open(&file)?;
        }
        if aligned != (file.format() == Some(Format::Lines)) {
            let message = format!(
                "cannot be merged with {first}: one is plain text, whose ids are line numbers, and the other is not"
            );
            return Err(Error::new(ErrorKind::LineCount, file.source(), message).with_remedy(Remedy::say(
                "give both with ids, or both as plain text with the references of an image in the same line",
            )));
        }
        if aligned && file.len() != count {
            let message = format!(
                "has {}, but {first} has {}; files of references must be aligned line by line",
                counted(file.len(), "line"),
                counted(count, "line"),
            );
            let (longer, n) = if file.len() > count { (&file, count) } else { (&merged, file.len()) };
            let error = Error::new(ErrorKind::LineCount, file.source(), message);
            let lines = longer.empty_lines();
            return Err(match lines.len() == longer.len() - n {
                true => error
                    .noting(&format!(
                        "{} has empty lines: {}",
                        longer.source(),
                        list_ids(&lines, lines.len())
                    ))
                    .with_remedy(Remedy::say("delete them")),
                false => error,
            });
        }
        merged.append(&file);
    }
    if is_open {
        merged.set_parts(parts);
    }
    Ok(merged)
}
