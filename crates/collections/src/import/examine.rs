//! Looks at the file of a picture: whether the collection has it, and what it is once it is encoded again.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use capeval_site::pictures::{self, EncodedPicture};
use capeval_site::prelude::*;

use super::left_out::Reason;
use super::source::Item;
use super::{Order, records};
use crate::records::Collection;

/// A picture that was looked at.
pub(super) struct ExaminedPicture {
    pub item: Item,
    pub found: Examination,
}

/// The result of examining a file.
pub(super) enum Examination {
    /// The collection has it.
    Known { hash: String, image: String },
    /// It is a new one.
    New { hash: String, encoded: EncodedPicture },
    /// It cannot be imported.
    LeftOut(Reason, String),
}

/// The kind of a file before it is decoded.
enum Kind {
    Picture { path: PathBuf, hash: String },
    Other(Reason, String),
}

/// Looks at the file of a picture.
///
/// # Errors
/// If the database or the disk fails; what is wrong with the file is no error.
pub(super) async fn examine(
    app: &App,
    collection: &Collection,
    order: &Order,
    removed: &HashSet<String>,
    item: Item,
) -> anyhow::Result<ExaminedPicture> {
    let (path, most) = (order.pictures.join(&item.file), u64::from(app.settings.number(&crate::PICTURE_MIB)));
    let kind = tokio::task::spawn_blocking(move || look(path, most)).await?;
    let found = match kind {
        Kind::Other(reason, why) => Examination::LeftOut(reason, why),
        Kind::Picture { hash, .. } if removed.contains(&hash) => {
            let why = "a moderator has rejected it here, or its contributor has withdrawn it";
            Examination::LeftOut(Reason::Removed, why.to_owned())
        }
        Kind::Picture { path, hash } => {
            if let Some(image) = records::find_image(&app.store, &collection.id, &hash).await? {
                Examination::Known { hash, image }
            } else {
                match pictures::encode(app, path).await {
                    Ok(encoded) => Examination::New { hash, encoded },
                    // Not the fault of the file: a later run can go on.
                    Err(Failure::Waiting(reason)) => anyhow::bail!("{}: {reason}", item.file),
                    Err(failure) => Examination::LeftOut(Reason::Unfit, failure.to_string()),
                }
            }
        }
    };
    Ok(ExaminedPicture { item, found })
}

fn look(path: PathBuf, most_mib: u64) -> Kind {
    let unfit = |why: String| Kind::Other(Reason::Unfit, why);
    let looked = || {
        // A link is followed once, since the process that decodes may read this one file.
        let path = path.canonicalize()?;
        let size = path.metadata()?.len();
        if size == 0 {
            return Ok(unfit("the file is empty".to_owned()));
        }
        if size > most_mib << 20 {
            return Ok(unfit(format!("the file is larger than {most_mib} MiB")));
        }
        let mut head = Vec::new();
        File::open(&path)?.take(16).read_to_end(&mut head)?;
        if !capeval_tasks::has_known_format(&head) {
            return Ok(Kind::Other(Reason::NotAPicture, "it begins like none".to_owned()));
        }
        let hash = ids::digest_of(File::open(&path)?)?;
        Ok::<_, std::io::Error>(Kind::Picture { path, hash })
    };
    looked().unwrap_or_else(|error| unfit(format!("the file cannot be read: {error}")))
}
