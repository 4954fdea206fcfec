//! The kinds of third-party data that metrics need, which capeval may not distribute.
//!
//! A kind is a file in this folder and an entry in [`DATA`]. Every front end installs, lists, verifies and removes
//! them, and opens them for metrics, by what the entry says.

mod bundle;
mod meteor;
mod nested;
mod pip;
mod source;
mod spice;

use std::path::Path;
use std::sync::Arc;

use capeval_choice::{Refusal, Remedy, Task, UnknownName};
use capeval_evaluate::registry::Resources;

use crate::{Bytes, Error};

pub use bundle::Bundle;
pub(crate) use bundle::{compiled, holds};
pub use capeval_meteor::Progress;
pub(crate) use pip::{FETCHED, fetch};
pub use pip::{Package, pythons};
pub use source::{DataSource, plan};

/// All kinds of data, each after those that it needs.
pub const DATA: &[&DataKind] = &[&meteor::KIND, &spice::KIND];

/// A kind of third-party data: what it is, where it comes from, and how it is read.
pub struct DataKind {
    /// The name that users type. Metrics that need the data have the task to install this name.
    pub name: &'static str,
    /// The metric that the data belong to, as people write it.
    pub title: &'static str,
    /// The data in messages, such as `METEOR's resources`.
    pub what: &'static str,
    /// The verb that agrees with `what`.
    pub verb: &'static str,
    /// The published package with the data.
    pub package: Package,
    /// The size of the package.
    pub download: &'static str,
    /// The size of the installed file.
    pub stored: &'static str,
    /// True if only metrics that are selected by name are worth the download, and suites are not.
    pub is_large: bool,
    /// The source of the data, in sentences.
    pub origin: &'static str,
    /// The authors of the data, and their licence.
    pub credits: &'static str,
    /// The sentence about data other than the published ones.
    pub doubt: &'static str,
    /// Other data that these are of no use without.
    pub needs: &'static [DataNeed],
    /// The only file of a jar that they are compiled from, if one is enough.
    pub(crate) member: Option<Member>,
    /// The names of the files, without their endings.
    pub(crate) stem: &'static str,
    /// Compiles the data.
    pub(crate) compile: Compile,
    /// The fingerprint of the published data, compiled.
    pub(crate) published: &'static str,
    /// Verifies every byte of a compiled file, and returns its fingerprint.
    pub(crate) verify: fn(Bytes) -> Result<String, Refusal>,
    /// Opens a compiled file, given the resources of the data that it needs, for metrics to use.
    pub(crate) open: fn(Bytes, &Resources) -> Result<Resources, Refusal>,
}

/// A file in a jar, which may itself be in an archive such as a wheel.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    /// The name of the jar's file.
    pub jar: &'static str,
    /// The path of the file in it.
    pub path: &'static str,
}

/// Compiles the data in a source, the first path; temporary files belong in the folder, the second one.
type Compile = fn(&Path, &Path, &mut dyn FnMut(Progress)) -> Result<CompiledData, Error>;

/// Data that other data need.
pub struct DataNeed {
    /// Their role for the others.
    pub role: &'static str,
    /// The data.
    pub kind: &'static DataKind,
}

/// Compiled data.
pub(crate) struct CompiledData {
    /// The content of the file, which was opened once to verify it.
    pub(crate) bytes: Arc<Vec<u8>>,
    /// The origin of the data and their licences.
    pub(crate) notice: String,
    /// True if these are the published data.
    pub(crate) is_recognized: bool,
    pub(crate) fingerprint: String,
}

impl DataKind {
    /// The kind of data with this name.
    pub fn named(name: &str) -> Result<&'static Self, UnknownName> {
        let known = DATA.iter().find(|kind| kind.name == name).copied();
        let choices = || DATA.iter().map(|kind| kind.name).collect();
        known.ok_or_else(|| UnknownName { what: "data set", given: name.to_owned(), choices: choices() })
    }

    /// The name of the file of compiled data.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.bin", self.stem)
    }

    /// The name of the file that says where the data come from and under which licences.
    pub(crate) fn notice_name(&self) -> String {
        format!("{}.NOTICE.txt", self.stem)
    }

    /// The sentence about data that are not installed.
    pub fn absence(&self) -> String {
        format!("{} {} not installed", self.what, self.verb)
    }

    /// The way to install the data.
    pub fn remedy(&self) -> Remedy {
        Remedy::run(Task::Install(self.name))
    }
}

#[cfg(test)]
mod tests {
    use capeval_evaluate::registry;

    use super::*;

    #[test]
    fn data_come_after_those_that_they_need_and_every_metric_needs_known_ones() {
        for (k, kind) in DATA.iter().enumerate() {
            assert_eq!(DataKind::named(kind.name).ok().map(|found| found.stem), Some(kind.stem));
            let earlier = |need: &DataNeed| DATA[..k].iter().any(|known| known.name == need.kind.name);
            assert!(kind.needs.iter().all(earlier), "{}", kind.name);
            assert!(DATA[..k].iter().all(|known| known.stem != kind.stem), "{}", kind.name);
        }
        let needs = registry::kinds().filter_map(|kind| kind.need.as_ref());
        for need in needs {
            let Task::Install(name) = need.task else { continue };
            assert!(DataKind::named(name).is_ok(), "{name}");
        }
        let unknown = DataKind::named("spise").err().unwrap();
        assert!(unknown.remedy().to_string().contains("did you mean spice?"));
    }
}
