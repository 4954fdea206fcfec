//! The bucket of programs without the feature `s3`, which cannot open one.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// A folder of an object store, which this program cannot have.
#[derive(Clone, Debug)]
pub struct Bucket(Infallible);

impl Bucket {
    /// Refuses to open one.
    pub fn open(_: &str) -> anyhow::Result<Self> {
        anyhow::bail!("bucket is set, but this program was built without the feature `s3`")
    }

    /// A folder in this one.
    #[must_use]
    pub fn folder(&self, _: &str) -> Self {
        match self.0 {}
    }

    /// Stores a file.
    pub fn put(&self, _: &str, _: &Path) -> io::Result<()> {
        match self.0 {}
    }

    /// Writes what is stored into a file.
    pub fn get(&self, _: &str, _: &Path) -> io::Result<()> {
        match self.0 {}
    }

    /// The names of everything that is stored, and when it was.
    pub fn list(&self) -> io::Result<Vec<(String, SystemTime)>> {
        match self.0 {}
    }

    /// Since when something is stored under this name.
    pub fn since(&self, _: &str) -> io::Result<Option<SystemTime>> {
        match self.0 {}
    }

    /// Removes what is stored.
    pub fn remove(&self, _: &str) -> io::Result<()> {
        match self.0 {}
    }
}
