//! The page about kits: which program each equals, on what that was tried, and what to know.

use std::fmt::Write as _;

use anyhow::Result;
use capeval::{KITS, Kit};

/// The page.
pub fn page() -> Result<String> {
    let mut page = String::from(
        "# Kits\n\n`cargo xtask docs` writes this page from the files of the kits, which `capeval kit show NAME` prints with the \
         flags that they stand for. [How to use them, and how to write your own](../guides/kits.md).\n\n## Which script is this number \
         from?\n\n| kit | field and measures | the script | equal to it on |\n|---|---|---|---|\n",
    );
    let kits = KITS.iter().map(|(name, _)| Ok(Kit::named(name)?)).collect::<Result<Vec<_>>>()?;
    for kit in &kits {
        let (script, compared) = kit.program.as_ref().map_or_else(Default::default, |program| {
            let repository = program.repository.trim_start_matches("https://github.com/");
            // Commits are long; releases are not.
            let version: String = program.version.chars().take(8).collect();
            (
                format!("[{repository}]({}) {version}, `{}`", program.repository, program.file),
                program.compared.clone(),
            )
        });
        writeln!(page, "| [`{0}`](#{0}) | {1} | {script} | {compared} |", kit.name, kit.summary)?;
    }
    for kit in &kits {
        writeln!(page, "\n## {}\n\n{}.", kit.name, kit.summary)?;
        if let Some(warning) = &kit.warning {
            writeln!(page, "Every score comes with the warning: {warning}.")?;
        }
        page.push('\n');
        for note in &kit.notes {
            writeln!(page, "- {note}")?;
        }
        page.push_str("\n| option | value |\n|---|---|\n");
        for (name, value) in kit.settings() {
            let values = match &value {
                serde_json::Value::Array(values) => values.iter().collect(),
                value => vec![value],
            };
            let text = |value: &&serde_json::Value| {
                format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            };
            writeln!(page, "| `{name}` | {} |", values.iter().map(text).collect::<Vec<_>>().join(", "))?;
        }
    }
    Ok(page)
}
