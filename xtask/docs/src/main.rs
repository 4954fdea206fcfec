//! Generates pages of documentation from the code that they describe.

mod choices;
mod legend;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use capeval::evaluate::registry::{CORPUS_KINDS, SUITES, kinds};
use capeval::text::tokenizers;
use capeval_embeddings::{EmbeddingKind, KINDS as EMBEDDING_KINDS};
use capeval_judges::JUDGES;

/// Whether to write the pages or to compare them with the code.
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
    run(&PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")), mode)
}

/// Writes or checks all generated pages.
fn run(root: &Path, mode: Mode) -> Result<()> {
    let mut pages = choices::pages(root)?;
    pages.push((root.join("docs/metrics.md"), metrics()?));
    for (path, text) in pages {
        let shown = path.strip_prefix(root).unwrap_or(&path).display();
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        match mode {
            Mode::Write => std::fs::write(&path, text).with_context(|| shown.to_string())?,
            Mode::Check => bail!("{shown} is not up to date; run `cargo xtask docs`"),
        }
    }
    Ok(())
}

fn metrics() -> Result<String> {
    let mut page = String::from(
        "# Metrics\n\n`cargo xtask docs` generates this page from the registry; `capeval metrics` shows the same.\n\n\
         | name | rewards | keys | range | equal to | published in |\n|---|---|---|---|---|---|\n",
    );
    for kind in kinds() {
        let parts = kind.about()?.parts;
        let keys: Vec<String> = parts.iter().map(|part| format!("`{}`", part.key)).collect();
        let range = parts.first().map(|part| format!("{} to {}", part.min, part.max)).unwrap_or_default();
        writeln!(
            page,
            "| `{}` | {} | {} | {range} | {} | {} |",
            kind.name,
            kind.summary,
            keys.join(" "),
            kind.program,
            kind.paper
        )?;
    }
    page.push_str(
        "\n## Settings\n\nSettings follow the name of a metric: `cider-d:sigma=4:idf=uniform`.\n\n",
    );
    page.push_str("| metric | setting | default | meaning |\n|---|---|---|---|\n");
    for kind in kinds() {
        for setting in kind.settings {
            let (name, default, summary) = (setting.name, setting.default, setting.meaning());
            writeln!(page, "| `{}` | `{name}` | `{default}` | {summary} |", kind.name)?;
        }
    }
    legend::signatures(&mut page)?;
    diversity(&mut page)?;
    vectors(&mut page)?;
    objects(&mut page)?;
    judges(&mut page)?;
    page.push_str("\n## Suites\n\n| name | description | metrics |\n|---|---|---|\n");
    for suite in SUITES {
        writeln!(page, "| `{}` | {} | {} |", suite.name, suite.summary, suite.metrics().join(", "))?;
    }
    page.push_str("\n## Tokenizers\n\n| name | description |\n|---|---|\n");
    for (_, name, summary) in tokenizers::ALL.iter().chain(tokenizers::WITH_DICTIONARY) {
        writeln!(page, "| `{name}` | {summary} |")?;
    }
    Ok(page)
}

/// The metrics that compare vectors.
fn vectors(page: &mut String) -> Result<()> {
    page.push_str(
        "\n## Vectors\n\nThese compare vectors of models or files, see [vectors.md](vectors.md): `--model DIR` or `--vectors \
         WHAT=FILE`.\n\n| name | rewards | keys | needs | equal to | published in |\n|---|---|---|---|---|---|\n",
    );
    for kind in EMBEDDING_KINDS {
        let keys: Vec<String> = (kind.parts)().iter().map(|part| format!("`{}`", part.key)).collect();
        let (name, keys) = (kind.name, keys.join(" "));
        let EmbeddingKind { summary, needs, program, paper, .. } = kind;
        writeln!(page, "| `{name}` | {summary} | {keys} | {needs} | {program} | {paper} |")?;
    }
    page.push_str("\n| metric | setting | default | meaning |\n|---|---|---|---|\n");
    for kind in EMBEDDING_KINDS {
        for setting in kind.all_settings() {
            let (name, default, meaning) = (setting.name, setting.default, setting.meaning());
            writeln!(page, "| `{}` | `{name}` | `{default}` | {meaning} |", kind.name)?;
        }
    }
    Ok(())
}

/// CHAIR.
fn objects(page: &mut String) -> Result<()> {
    use capeval_chair::{NAME, NEEDS, PAPER, PROGRAM, SUMMARY};
    page.push_str(
        "\n## Objects\n\nCHAIR counts objects that captions invent, see [chair.md](chair.md): `--objects FILE --instances \
         FILE`.\n\n| name | rewards | keys | needs | equal to | published in |\n|---|---|---|---|---|---|\n",
    );
    let keys: Vec<String> = capeval_chair::parts().iter().map(|part| format!("`{}`", part.key)).collect();
    writeln!(page, "| `{NAME}` | {SUMMARY} | {} | {NEEDS} | {PROGRAM} | {PAPER} |", keys.join(" "))?;
    page.push_str("\n| metric | setting | default | meaning |\n|---|---|---|---|\n");
    for setting in capeval_chair::settings() {
        let (name, default, meaning) = (setting.name, setting.default, setting.meaning());
        writeln!(page, "| `{NAME}` | `{name}` | `{default}` | {meaning} |")?;
    }
    Ok(())
}

/// The judges.
fn judges(page: &mut String) -> Result<()> {
    page.push_str(
        "\n## Judges\n\nThese ask a language model, see [judges.md](judges.md): `--endpoint URL --judge-model NAME --judgements \
         FILE`.\n\n| name | rewards | keys |\n|---|---|---|\n",
    );
    for judge in JUDGES {
        let keys: Vec<String> = judge.parts().iter().map(|part| format!("`{}`", part.key)).collect();
        writeln!(page, "| `{}` | {} | {} |", judge.name, judge.summary, keys.join(" "))?;
    }
    Ok(())
}

/// The metrics of a whole system, which `capeval diversity` computes.
fn diversity(page: &mut String) -> Result<()> {
    page.push_str(
        "\n## Diversity\n\n`capeval diversity` computes these from all captions of a system, one or several per image.\n\n\
         | name | measures | keys | needs | equal to | published in |\n|---|---|---|---|---|---|\n",
    );
    for kind in CORPUS_KINDS {
        let (_, parts) = kind.sample()?;
        let keys: Vec<String> = parts.iter().map(|part| format!("`{}`", part.key)).collect();
        writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | {} |",
            kind.name,
            kind.summary,
            keys.join(" "),
            kind.needs.what().unwrap_or_default(),
            kind.program,
            kind.paper
        )?;
    }
    Ok(())
}
