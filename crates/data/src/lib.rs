//! Where are data of others kept, and how do they get there?
//!
//! METEOR needs tables that are not ours to ship. They are compiled once from the published package into one file
//! in the user's folder for data. The program and the Python package install and look for them here, so that what
//! one installs the other finds.

mod error;
mod meteor;

use std::path::PathBuf;

pub use error::Error;
pub use meteor::{Installed, MeteorHome, PACKAGE, WHEEL_SHA256};

/// The user's folder for data: `CAPEVAL_DATA`, or the system's place; `None` if the environment names none.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable("CAPEVAL_DATA") {
        return Some(folder);
    }
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("capeval"))
}
