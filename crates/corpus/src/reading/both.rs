//! Reads references and candidates from one source, such as a table with a column for each.

use capeval_choice::Code;

use super::settle::settle;
use super::side::leaning;
use super::{Because, ReadColumns};
use crate::Notice;
use crate::captions::Captions;
use crate::error::Error;
use crate::policy::Ids;

/// Tells references and candidates of one source apart, which was read as each of them; `None` if only one of the two
/// is there, or if nothing says which columns are the references: their names, or several captions of an image.
///
/// # Errors
/// If a side could be read in several ways.
pub fn both_sides(
    mut references: Captions,
    candidates: Captions,
    ids: Ids,
) -> Result<Option<(Captions, Captions)>, Error> {
    let mut systems = [(String::new(), candidates)];
    settle(&mut references, &mut systems, ids)
        .map_err(|error| error.noting("it was read for both sides, since another file is not given"))?;
    let [(_, candidates)] = systems;
    let (ground, system) = (&references.layout().caption, &candidates.layout().caption);
    let is_named = |side: &ReadColumns| side.because == Because::Named;
    let leans = leaning(ground.columns.iter()) > leaning(system.columns.iter());
    let are_several = references.len() > candidates.len();
    let is_told = leans || are_several || is_named(ground) || is_named(system);
    if ground.columns.iter().any(|column| system.columns.contains(column)) || !is_told {
        return Ok(None);
    }
    let quoted =
        |columns: &[String]| columns.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>().join(", ");
    let id = match &*candidates.layout().id.columns {
        [] => String::new(),
        columns => format!(", id {}", quoted(columns)),
    };
    let message = format!(
        "read both sides from {}: references {}, candidates {}{id}",
        references.source(),
        quoted(&ground.columns),
        quoted(&system.columns),
    );
    references.notice(Notice::new(Code::Reading, message));
    Ok(Some((references, candidates)))
}
