//! Opens the files of a task.

use std::path::Path;

use capeval_files as files;

/// Opens a file; the error is for people who do not know where it is.
pub(crate) fn open(path: &Path, otherwise: &'static str) -> anyhow::Result<files::Bytes> {
    files::open(&path.display().to_string()).map_err(|_| anyhow::anyhow!(otherwise))
}
