//! Requirements of tests that a machine may lack.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{browser, python};

/// Something that a machine may lack.
pub struct Need {
    /// Its name in [`REQUIRED`] and in the file [`SKIPPED`].
    name: &'static str,
    /// The kind of tests that are skipped without it.
    pub tests: &'static str,
    /// The way to get it.
    remedy: &'static str,
    /// Its provider.
    pub from: From,
    is_here: fn() -> bool,
}

/// The provider of something that tests need.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The program under test installs it.
    Program,
    /// The machine, which in CI must have it.
    Machine,
    /// The choice of the contributor: CI does without it.
    Choice,
}

/// Whatever is named in this variable, tests must not skip.
pub const REQUIRED: &str = "CAPEVAL_REQUIRE";

/// The file that tests add a line to when they skip something.
pub const SKIPPED: &str = "CAPEVAL_SKIPPED";

/// The folder of real data.
pub const TEST_DATA: &str = "CAPEVAL_TEST_DATA";

/// The folder below the root in which CI installs METEOR's and SPICE's data.
const DATA: &str = "target/data";

/// The requirements of Rust tests.
pub const OF_RUST: &[Need] = &[
    Need {
        name: "test-data",
        tests: "real captions",
        remedy: "CAPEVAL_TEST_DATA=FOLDER, which `python oracle/run.py test_data FOLDER` fills",
        from: From::Choice,
        is_here: || test_data().is_dir(),
    },
    Need {
        name: "meteor",
        tests: "METEOR",
        remedy: "`capeval data install meteor`",
        from: From::Program,
        is_here: || is_installed("meteor-1.5.bin"),
    },
    Need {
        name: "spice",
        tests: "SPICE",
        remedy: "`capeval data install spice`",
        from: From::Program,
        is_here: || is_installed("spice-1.0.bin"),
    },
    Need {
        name: "spice-models",
        tests: "SPICE's parser",
        remedy: "SPICE_HOME=FOLDER, which has SPICE's jar and the models of CoreNLP",
        from: From::Choice,
        is_here: || variable("SPICE_HOME").is_some(),
    },
    Need {
        name: "mecab",
        tests: "Japanese words",
        remedy: "CAPEVAL_MECAB_JA=FOLDER, which has MeCab's dictionary",
        from: From::Choice,
        is_here: || variable("CAPEVAL_MECAB_JA").is_some(),
    },
    Need {
        name: "postgresql",
        tests: "the server on PostgreSQL",
        remedy: "the package `postgresql`",
        from: From::Machine,
        is_here: has_postgresql,
    },
    Need {
        name: "mount",
        tests: "a full disk",
        remedy: "the rights of root",
        from: From::Choice,
        is_here: || true,
    },
    Need {
        name: "uv",
        tests: "a package from PyPI as a metric",
        remedy: "uv, which `pip install uv` installs",
        from: From::Machine,
        is_here: || runs("uv"),
    },
    Need {
        name: "jq",
        tests: "jq as a metric",
        remedy: "the package `jq`",
        from: From::Machine,
        is_here: || runs("jq"),
    },
];

/// The requirements of the other tests.
pub const OF_OTHERS: &[Need] = &[
    Need {
        name: "browser",
        tests: "pages in a browser",
        remedy: "Node.js with npm, and Chromium (or its path in CHROMIUM)",
        from: From::Machine,
        is_here: || browser::obstacle().is_none(),
    },
    Need {
        name: "python",
        tests: "the Python package",
        remedy: "Python 3.10 or later with venv (or its path in PYTHON)",
        from: From::Machine,
        is_here: python::is_here,
    },
    Need {
        name: "valgrind",
        tests: "counts of instructions",
        remedy: "the package `valgrind`",
        from: From::Machine,
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

/// Three lines that say what a run left out and how to run it, or none. `record` is the file [`SKIPPED`], and `others`
/// are the needs of what did not run at all.
pub fn left_out(record: &str, others: &[&Need]) -> Vec<String> {
    let skipped: BTreeSet<(&str, &str)> = record
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(needs, rest)| (needs, rest.split('\t').next().unwrap_or_default()))
        .collect();
    let count = |name: &str| skipped.iter().filter(|(needs, _)| *needs == name).count();
    let (mut what, mut how): (Vec<String>, BTreeSet<&str>) = (Vec::new(), BTreeSet::new());
    for need in OF_RUST.iter().filter(|need| count(need.name) > 0) {
        what.push(format!("{} of {}", count(need.name), need.tests));
        how.insert(need.remedy);
    }
    for name in skipped.iter().map(|(needs, _)| *needs).collect::<BTreeSet<&str>>() {
        if OF_RUST.iter().all(|need| need.name != name) {
            what.push(format!("{} of {name}", count(name)));
        }
    }
    for need in others {
        what.push(format!("all of {}", need.tests));
        how.insert(need.remedy);
    }
    if what.is_empty() {
        return what;
    }
    vec![
        format!("left out tests: {}", what.join(", ")),
        format!("to run them: {}", how.into_iter().collect::<Vec<_>>().join("; ")),
        "each by name, and why: target/skipped.txt".to_owned(),
    ]
}

/// Returns true if this is a CI machine, where no test may be skipped that could run.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// The names of all that Rust tests need in CI.
pub fn names() -> String {
    OF_RUST
        .iter()
        .filter(|need| need.from != From::Choice)
        .map(|need| need.name)
        .collect::<Vec<_>>()
        .join(",")
}

/// Installs METEOR's and SPICE's data with `program` where tests of this process find them, unless they are there.
pub fn install_data(root: &std::path::Path, program: &std::path::Path) -> Result<()> {
    for need in OF_RUST.iter().filter(|need| need.from == From::Program && !need.is_here()) {
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

/// The folder of real data, which CONTRIBUTING.md describes.
pub fn test_data() -> PathBuf {
    let beside = || Some(crate::root().canonicalize().ok()?.parent()?.join("shared"));
    variable(TEST_DATA).or_else(beside).unwrap_or_default()
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_lines_say_what_was_left_out() {
        let record = "meteor\tlaws\tthe data of meteor are not installed\nmeteor\tlaws\tagain\n\
                      test-data\ta\tdata/x is missing\ntest-data\tb\tdata/x is missing\nscript\tc\tno terminal\n";
        let [what, how, by_name] = &left_out(record, &[&OF_OTHERS[0]])[..] else { panic!("three lines") };
        assert_eq!(
            what,
            "left out tests: 2 of real captions, 1 of METEOR, 1 of script, all of pages in a browser"
        );
        assert!(how.contains(TEST_DATA) && how.contains("data install meteor") && how.contains("CHROMIUM"));
        assert!(!how.contains("spice") && by_name.contains("target/skipped.txt"));
        assert!(left_out("", &[]).is_empty());
    }
}
