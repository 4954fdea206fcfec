//! A kind of result: how it is written to a file, and how it is read again.

use std::any::Any;
use std::fmt;
use std::io::{self, Write};

use capeval_choice::{Refusal, Remedy};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Notice;
use crate::study::Study;

/// A kind of result: what it is called, and how its file is written and read.
pub struct Kind {
    /// The name in files and messages, such as `correlation`.
    pub name: &'static str,
    pub(crate) save: fn(&dyn Study, &[Notice], &mut dyn Write) -> io::Result<()>,
    pub(crate) read: fn(&[u8]) -> ReadStudy,
}

/// A result that was read.
pub type ReadStudy = Result<Box<dyn Study>, Refusal>;

impl Kind {
    /// A kind whose file holds all fields of `S`.
    pub const fn of<S: Study + Serialize + DeserializeOwned>(name: &'static str) -> Self {
        Self { name, save: save_fields::<S>, read: read_fields::<S> }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({})", self.name)
    }
}

/// The remedy for a file that cannot be read.
pub(crate) const AGAIN: &str = "compute the result again, and save it with this version";

/// A result as the value of its own type.
pub(crate) fn as_type<S: Study>(study: &dyn Study) -> &S {
    let any: &dyn Any = study;
    any.downcast_ref().expect("a kind writes results of its own type")
}

fn save_fields<S: Study + Serialize>(
    study: &dyn Study,
    notices: &[Notice],
    out: &mut dyn Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct File<'s, S> {
        result: &'static str,
        capeval: &'s str,
        notices: &'s [Notice],
        #[serde(flatten)]
        study: &'s S,
    }
    let (result, capeval) = (study.kind().name, &*study.head().version);
    crate::render::programs::line(&File { result, capeval, notices, study: as_type::<S>(study) }, out)
}

fn read_fields<S: Study + DeserializeOwned>(json: &[u8]) -> ReadStudy {
    #[derive(Deserialize)]
    struct Notices {
        notices: Vec<Notice>,
    }
    let unread =
        |error| Refusal::new(format!("not a result that this version can read: {error}")).with_remedy(AGAIN);
    let mut study: S = serde_json::from_slice(json).map_err(unread)?;
    let Notices { notices } = serde_json::from_slice(json).map_err(unread)?;
    study.head_mut().notices = notices;
    study.check()?;
    Ok(Box::new(study))
}

/// The error of a result whose parts do not belong together.
pub fn damaged(what: impl fmt::Display) -> Refusal {
    Refusal::new(format!("the result is damaged: {what}")).with_remedy(Remedy::say("compute it again"))
}

/// The sum of numbers of things; `None` if it is too large.
pub(crate) fn sum(numbers: impl IntoIterator<Item = usize>) -> Option<usize> {
    numbers.into_iter().try_fold(0, usize::checked_add)
}
