//! Checks files as a whole before they are scored: ids that cannot match, references that match nothing.

use capeval_choice::{Refusal, counted};

use crate::EventFile;

/// Refuses files whose ids have nothing in common; returns what readers of the scores should know of the references.
pub(crate) fn check(
    references: &[EventFile],
    systems: &[(String, EventFile)],
) -> Result<Vec<String>, Refusal> {
    if let Some((first, others)) = references.split_first() {
        for other in others {
            let shares =
                |id: fn(&str) -> String| other.videos.keys().any(|own| first.videos.contains_key(&id(own)));
            if !shares(str::to_owned) && shares(with_or_without_prefix) {
                return Err(Refusal::new(format!(
                    "the ids of {} and {} are the same but for v_, so that each video would count twice",
                    first.name, other.name
                ))
                .with_remedy("write ids in all reference files in the same way"));
            }
        }
    }
    let is_known = |id: &str| references.iter().any(|file| file.videos.contains_key(id));
    for (_, file) in systems {
        let meets = |id: &String| is_known(id) || is_known(&with_or_without_prefix(id));
        if !file.videos.keys().any(meets) {
            let ids =
                |file: &EventFile| file.videos.keys().next().cloned().unwrap_or_else(|| "none".to_owned());
            let theirs = references.first().map_or_else(String::new, ids);
            return Err(Refusal::new(format!("no video of {} is in the references", file.name)).with_remedy(
                format!(
                    "give results for the same ids: the first is {} there and {theirs} in the references",
                    ids(file)
                ),
            ));
        }
    }
    let reversed = references.iter().filter_map(|file| {
        let n = file.videos.values().flatten().filter(|event| event.end < event.start).count();
        (n > 0).then(|| {
            format!("{}: {} with a start after the end, never matched", file.name, counted(n, "event"))
        })
    });
    Ok(reversed.collect())
}

/// The id without `v_`, or with it.
pub(crate) fn with_or_without_prefix(id: &str) -> String {
    id.strip_prefix("v_").map_or_else(|| format!("v_{id}"), str::to_owned)
}
