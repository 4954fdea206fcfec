//! Pictures for metrics that look at them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use capeval_choice::{Argument, Refusal, Remedy};
use capeval_corpus::SegmentId;
use capeval_report::Notice;

use crate::Error;

/// The use of pictures by a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sight {
    /// It does not.
    #[default]
    None,
    /// It can do without.
    Optional,
    /// It needs one of each image.
    Needed,
}

/// The picture of an image.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Picture {
    /// A file.
    File {
        /// Its path from the root.
        path: String,
        /// The state of the file, which changes with it: its size, and the time of its last change.
        state: String,
    },
    /// Something that the caller has, and that has no path.
    Held,
}

/// The source of pictures.
pub trait PictureSource: Send + Sync {
    /// The picture of each image, if it has one.
    fn of(&self, images: &[&SegmentId]) -> Result<Vec<Option<Picture>>, Refusal>;
    /// Its name in errors: a folder, a pattern.
    fn name(&self) -> String;
}

/// The pictures of a task, for [`Resources`](capeval_evaluate::registry::Resources).
#[derive(Clone)]
pub struct Pictures(pub Arc<dyn PictureSource>);

impl fmt::Debug for Pictures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pictures({})", self.0.name())
    }
}

/// Refuses a metric that needs pictures where none are given.
pub(super) fn check(name: &str, sight: Sight, pictures: Option<&Pictures>) -> Result<(), Refusal> {
    match (sight, pictures) {
        (Sight::Needed, None) => Err(Refusal::new(format!("{name} needs pictures, and none are given"))
            .with_remedy(Remedy::give(Argument::Pictures).to("say where they are").or(leave_out()))),
        _ => Ok(()),
    }
}

/// The pictures of images by id, for a metric of this name.
pub(super) fn find<'s>(
    name: &str,
    sight: Sight,
    pictures: Option<&Pictures>,
    images: impl Iterator<Item = &'s SegmentId>,
) -> Result<HashMap<&'s SegmentId, Picture>, Error> {
    check(name, sight, pictures)?;
    let Some(Pictures(source)) = pictures.filter(|_| sight != Sight::None) else {
        return Ok(HashMap::new());
    };
    let mut different: Vec<&SegmentId> = images.collect();
    different.sort_unstable();
    different.dedup();
    let found = source.of(&different)?;
    let missing: Vec<&SegmentId> =
        different.iter().zip(&found).filter(|(_, picture)| picture.is_none()).map(|(id, _)| *id).collect();
    if sight == Sight::Needed && !missing.is_empty() {
        let shown: Vec<String> =
            missing.iter().take(Notice::MAX_IDS).map(|id| id.quoted().to_string()).collect();
        let more = match missing.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (images, have) = if missing.len() == 1 { ("image", "has") } else { ("images", "have") };
        return Err(Error::with_remedy(
            format!(
                "{images} {}{more} {have} no picture in {}, and {name} needs one",
                shown.join(", "),
                source.name()
            ),
            Remedy::say("name each file after the id of its image, such as 42.jpg").or(leave_out()),
        ));
    }
    Ok(different.into_iter().zip(found).filter_map(|(id, picture)| Some((id, picture?))).collect())
}

/// The way to do without pictures.
fn leave_out() -> Remedy {
    Remedy::say("leave the metric out")
}
