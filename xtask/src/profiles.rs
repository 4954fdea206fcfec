//! Checks that programs are stripped: that no profile has an exception which undoes it, and that a built file has none
//! of its symbols.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The type of the section of an ELF file that holds the table of symbols.
const SYMBOL_TABLE: u32 = 2;

/// Reports each line of the root's manifest that makes an exception in a profile for a package that is linked.
///
/// Cargo 1.95 then forgets `strip = true` for what it links: the program keeps its symbols, a third of its size.
pub fn check(root: &Path, metadata: &Value, faults: &mut Vec<String>) -> Result<()> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml")?;
    for Exception { profile, package, line } in exceptions(&manifest) {
        if linked(metadata, &profile).contains(&package.as_str()) {
            faults.push(format!(
                "Cargo.toml:{line}: an exception for {package} makes Cargo forget to strip what it links"
            ));
        }
    }
    Ok(())
}

/// The packages of the workspace of which a profile links a program, or a library for C or Python. Only such a library
/// is built with the profile of wheels.
fn linked<'m>(metadata: &'m Value, profile: &str) -> Vec<&'m str> {
    let is_linked = |package: &&Value| {
        let targets = package["targets"].as_array().into_iter().flatten();
        let mut kinds = targets.flat_map(|target| target["kind"].as_array().into_iter().flatten());
        kinds.any(|kind| kind == "cdylib" || (kind == "bin" && profile != "wheel"))
    };
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages.filter(is_linked).filter_map(|package| package["name"].as_str()).collect()
}

/// What a profile sets for one package, and the line number.
struct Exception {
    profile: String,
    package: String,
    line: usize,
}

/// The exceptions in profiles, as a table or as a key with dots.
fn exceptions(manifest: &str) -> Vec<Exception> {
    let keys = |text: &str| -> Vec<String> {
        text.split('.').map(|key| key.trim_matches([' ', '"', '\'', '[', ']']).to_owned()).collect()
    };
    let mut found = Vec::new();
    let mut table: Vec<String> = Vec::new();
    for (k, line) in manifest.lines().enumerate() {
        let path = if line.starts_with('[') {
            table = keys(line);
            table.clone()
        } else if table.len() == 3 && !line.starts_with('#') && line.contains('=') {
            table.iter().cloned().chain(line.split('=').take(1).flat_map(keys)).collect()
        } else {
            continue;
        };
        if let [kind, profile, list, package, ..] = &*path
            && kind == "profile"
            && list == "package"
        {
            found.push(Exception { profile: profile.clone(), package: package.clone(), line: k + 1 });
        }
    }
    found
}

/// Fails if a program or a library, as it was linked, has a table of symbols. Only ELF files are looked at: other
/// systems keep symbols elsewhere, and the profiles are the same.
pub fn check_stripped(file: &Path) -> Result<()> {
    let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
    if has_symbols(&bytes).with_context(|| format!("{} ends too early", file.display()))? {
        bail!("{} is not stripped: it has a table of symbols", file.display());
    }
    Ok(())
}

/// Returns true for an ELF file of 64 bits, lowest byte first, with a table of symbols, and `None` for one that was
/// cut.
fn has_symbols(file: &[u8]) -> Option<bool> {
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return Some(false);
    }
    let at = |start: usize, size: usize| -> Option<usize> {
        let bytes = file.get(start..start.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    let (headers, size, count) = (at(0x28, 8)?, at(0x3a, 2)?, at(0x3c, 2)?);
    for k in 0..count {
        if at(headers.checked_add(k * size + 4)?, 4)? == SYMBOL_TABLE as usize {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_of_linked_packages_are_found_in_both_forms() {
        let manifest = "[package.metadata]\ncli.opt-level = 1\n[profile.release]\nstrip = true\n\n\
                        [profile.release.package.cli]\n[profile.dist.package]\n# cli.opt-level = 0\n\
                        \"cli\".opt-level = 3\nother = { opt-level = 1 }\n";
        let found = exceptions(manifest);
        let found: Vec<_> = found.iter().map(|it| (&*it.profile, &*it.package, it.line)).collect();
        assert_eq!(found, [("release", "cli", 6), ("dist", "cli", 9), ("dist", "other", 10)]);
        let metadata = serde_json::json!({"packages": [
            {"name": "cli", "targets": [{"kind": ["lib"]}, {"kind": ["bin"]}]},
            {"name": "python", "targets": [{"kind": ["cdylib", "rlib"]}]},
            {"name": "other", "targets": [{"kind": ["lib"]}, {"kind": ["test"]}]},
        ]});
        assert_eq!(linked(&metadata, "dist"), ["cli", "python"]);
        assert_eq!(linked(&metadata, "wheel"), ["python"]);
    }

    #[test]
    fn a_table_of_symbols_is_found() {
        let mut file = b"\x7fELF\x02\x01".to_vec();
        file.resize(0x40 + 2 * 0x40, 0);
        file[0x28] = 0x40;
        file[0x3a] = 0x40;
        file[0x3c] = 2;
        assert_eq!(has_symbols(&file), Some(false));
        file[0x40 + 0x40 + 4] = 2;
        assert_eq!(has_symbols(&file), Some(true));
        assert_eq!(has_symbols(&file[..0x70]), None);
        assert_eq!(has_symbols(b"MZ"), Some(false));
        // Programs of tests are not stripped.
        if cfg!(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")) {
            assert!(check_stripped(&std::env::current_exe().unwrap()).is_err());
        }
    }
}
