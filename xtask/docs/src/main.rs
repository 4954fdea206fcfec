//! Generates pages of documentation from the code that they describe.
//!
//! The pages are kept in the repository, so a changed flag shows in the change that makes it, and a check fails where
//! both differ. A metric's card contains the head of its file, so quirks are told once.

mod cards;
mod choices;
mod commands;
mod kits;
mod legend;
mod notices;
mod server;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The choice to write the pages or to compare them with the code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Write them.
    Write,
    /// Fail if a page on disk differs from the generated one.
    Check,
}

/// Writes the pages, or checks them with `--check`.
fn main() -> Result<()> {
    let mode = match std::env::args().nth(1).as_deref() {
        Some("--check") => Mode::Check,
        _ => Mode::Write,
    };
    run(&root(), mode)
}

/// The root of the workspace.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Writes or checks all generated pages.
fn run(root: &Path, mode: Mode) -> Result<()> {
    let mut pages = choices::pages(root)?;
    pages.extend(cards::pages(root)?);
    pages.push((root.join("docs/reference/signatures.md"), legend::page()?));
    pages.push((root.join("docs/reference/notices.md"), notices::page()?));
    pages.push((root.join("docs/reference/kits.md"), kits::page()?));
    pages.extend(commands::pages(root)?);
    pages.extend(server::pages(root)?);
    for (name, page) in [("CHANGELOG.md", "docs/changelog.md"), ("SECURITY.md", "docs/security.md")] {
        pages.push((root.join(page), of_root(root, name)?));
    }
    for (path, text) in pages {
        let shown = path.strip_prefix(root).unwrap_or(&path).display();
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        match mode {
            Mode::Write => {
                path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                std::fs::write(&path, text).with_context(|| shown.to_string())?;
            }
            Mode::Check => bail!("{shown} is not up to date; run `cargo xtask docs`"),
        }
    }
    Ok(())
}

/// A file of the root as a page of the site, which has the other pages beside it.
fn of_root(root: &Path, name: &'static str) -> Result<String> {
    let text = std::fs::read_to_string(root.join(name)).context(name)?;
    Ok(text.replace("](docs/", "]("))
}

#[cfg(test)]
mod tests {
    use capeval::corpus::Format;

    use super::*;

    /// Among the other tests, since a build of its own would compile the server and all that it needs a second time.
    #[test]
    fn generated_pages_are_up_to_date() {
        run(&root(), Mode::Check).unwrap();
    }

    #[test]
    fn every_format_is_on_its_page() {
        let page = std::fs::read_to_string(root().join("docs/reference/formats.md")).unwrap();
        let names = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        let names: Vec<&str> = names.flat_map(|names| names.split(", ")).collect();
        for format in Format::ALL {
            assert!(names.contains(&&*format!("`{format}`")), "{format}");
        }
    }
}
