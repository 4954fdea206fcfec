//! Requirements of tests that a machine may lack.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{browser, python};

/// Something that a machine may lack.
pub struct Need {
    /// Its name in [`REQUIRED`].
    name: &'static str,
    /// The tests that are skipped without it.
    tests: &'static str,
    /// The way to get it.
    remedy: &'static str,
    /// True if the program under test installs it.
    pub is_data: bool,
    is_here: fn() -> bool,
}

/// Whatever is named in this variable, tests must not skip.
pub const REQUIRED: &str = "CAPEVAL_REQUIRE";

/// The file that tests add a line to when they skip something.
pub const SKIPPED: &str = "CAPEVAL_SKIPPED";

/// The folder below the root in which CI installs METEOR's and SPICE's data.
const DATA: &str = "target/data";

/// The requirements of Rust tests.
pub const OF_RUST: &[Need] = &[
    Need {
        name: "meteor",
        tests: "METEOR's golden values",
        remedy: "`capeval data install meteor`",
        is_data: true,
        is_here: || is_installed("meteor-1.5.bin"),
    },
    Need {
        name: "spice",
        tests: "SPICE's golden values",
        remedy: "`capeval data install spice`",
        is_data: true,
        is_here: || is_installed("spice-1.0.bin"),
    },
    Need {
        name: "postgresql",
        tests: "the server on PostgreSQL",
        remedy: "the package `postgresql`",
        is_data: false,
        is_here: has_postgresql,
    },
    Need {
        name: "uv",
        tests: "a package from PyPI as a metric",
        remedy: "uv, which `pip install uv` installs",
        is_data: false,
        is_here: || runs("uv"),
    },
    Need {
        name: "jq",
        tests: "jq as a metric",
        remedy: "the package `jq`",
        is_data: false,
        is_here: || runs("jq"),
    },
];

/// The requirements of the other tests.
pub const OF_OTHERS: &[Need] = &[
    Need {
        name: "browser",
        tests: "pages in a browser",
        remedy: "Node.js with npm, and Chromium (or its path in CHROMIUM)",
        is_data: false,
        is_here: || browser::obstacle().is_none(),
    },
    Need {
        name: "python",
        tests: "the Python package",
        remedy: "Python 3.10 or later with venv (or its path in PYTHON)",
        is_data: false,
        is_here: python::is_here,
    },
    Need {
        name: "valgrind",
        tests: "counts of instructions",
        remedy: "the package `valgrind`",
        is_data: false,
        is_here: || runs("valgrind"),
    },
];

impl Need {
    /// Returns true if the tests can run.
    pub fn is_here(&self) -> bool {
        (self.is_here)()
    }

    /// The skipped tests, and how to change that.
    pub fn skip(&self) -> String {
        format!("{}: needs {}", self.tests, self.remedy)
    }
}

/// Returns true if this is a CI machine, where no test may be skipped that could run.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// The names of all that Rust tests need.
pub fn names() -> String {
    OF_RUST.iter().map(|need| need.name).collect::<Vec<_>>().join(",")
}

/// Installs METEOR's and SPICE's data with `program` where tests of this process find them, unless they are there.
pub fn install_data(root: &std::path::Path, program: &std::path::Path) -> Result<()> {
    for need in OF_RUST.iter().filter(|need| need.is_data && !need.is_here()) {
        let name = need.name;
        let mut install = Command::new(program);
        install.args(["data", "install", name]).env("CAPEVAL_DATA", root.join(DATA));
        if !install.status().with_context(|| program.display().to_string())?.success() {
            bail!("cannot install the data of {name}");
        }
    }
    Ok(())
}

/// The folder of METEOR's and SPICE's data: `CAPEVAL_DATA`, that of CI, or the system's default.
pub fn data() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable("CAPEVAL_DATA") {
        return Some(folder);
    }
    if is_ci() {
        return Some(crate::root().join(DATA));
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

fn is_installed(file: &str) -> bool {
    data().is_some_and(|folder| folder.join(file).exists())
}

/// Returns true if a program can be run.
fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns true if the server's tests find the programs of PostgreSQL.
fn has_postgresql() -> bool {
    let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") else { return false };
    versions.flatten().any(|version| version.path().join("bin/initdb").exists())
}
