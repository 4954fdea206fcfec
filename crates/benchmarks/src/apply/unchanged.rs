//! Refuses plans that change what scores depend on, or lack what exists.

use anyhow::bail;
use capeval_site::prelude::*;
use indexmap::IndexSet;

use super::stored::StoredFiles;
use crate::records;
use crate::settings::{Phase, PhasePlan};

pub(super) fn lacks(what: &str, name: &str) -> String {
    reason!("the file lacks the {} {}, which cannot be removed", what, name)
}

/// Refuses a plan without something that exists, which would otherwise stay in silence.
pub(super) fn require_all<'p>(
    known: &[String],
    what: &str,
    planned: impl Iterator<Item = &'p str> + Clone,
) -> anyhow::Result<()> {
    let missing = known.iter().find(|name| !planned.clone().any(|planned| planned == name.as_str()));
    missing.map_or(Ok(()), |name| bail!(lacks(what, name)))
}

/// Refuses a plan that changes what scores depend on.
pub(super) async fn require_unchanged(
    tx: &mut Tx,
    known: &Phase,
    plan: &PhasePlan,
    files: &StoredFiles,
) -> anyhow::Result<()> {
    require_same("metrics", &known.metrics, &plan.metrics)?;
    require_same("derive", &known.derive, &plan.derive)?;
    require_same("given", &known.given, &plan.given)?;
    if !plan.given.is_empty() {
        require_same("main_set", &Some(&known.main_set), &plan.main_set())?;
    }
    require_same("group_by", &known.group_by.as_str(), &plan.group_by())?;
    require_same("human", &known.human, &plan.human)?;
    require_same("vectors", &known.vectors_hash.as_ref(), &files.vectors.as_ref().map(|file| &file.hash))?;
    require_same("program", &known.program_hash.as_ref(), &files.program.as_ref().map(|file| &file.hash))?;
    require_same("public", &known.public_share, &plan.public)?;
    require_same(
        "public_ids",
        &known.public_ids_hash.as_ref(),
        &files.public_ids.as_ref().map(|file| &file.hash),
    )?;
    require_same("public_seed", &known.public_seed, plan.public_seed.as_ref().unwrap_or(&known.public_seed))?;
    let sets = records::all_sets_in(tx, &known.id).await?;
    let names: IndexSet<String> = sets.iter().map(|set| set.whole().to_owned()).collect();
    let names: Vec<String> = names.into_iter().collect();
    require_all(&names, "reference set", plan.references.iter().map(|set| set.name.as_str()))?;
    for (set, stored) in plan.references.iter().zip(&files.references) {
        let Some(known) = sets.iter().find(|known| known.name == set.name) else { continue };
        let name = |what: &str| reason!("{} of the references {}", what, set.name);
        require_same(&name("the file"), &known.source_hash, &stored.file.hash)?;
        require_same(&name("language"), &known.language, &set.language)?;
        require_same(&name("tokenizer"), &known.tokenizer, &set.tokenizer)?;
        let images = stored.images.as_ref().map(|(ids, _)| ids.clone());
        require_same(&name("images"), &records::images(tx, &known.id).await?, &images)?;
    }
    let sql = "SELECT method, blob FROM submission WHERE phase = $1 AND kind = 'baseline'";
    let baselines: Vec<(String, Option<String>)> = tx.fetch(sql, args![&known.id]).await?;
    let names: Vec<String> = baselines.iter().map(|(method, _)| method.clone()).collect();
    require_all(&names, "baseline", plan.baselines.iter().map(|baseline| baseline.method.as_str()))?;
    for (baseline, stored) in plan.baselines.iter().zip(&files.baselines) {
        let known = baselines.iter().find(|(method, _)| *method == baseline.method);
        if let Some((_, Some(blob))) = known {
            require_same(&reason!("the file of the baseline {}", baseline.method), blob, &stored.hash)?;
        }
    }
    Ok(())
}

pub(super) fn require_same<T: PartialEq>(what: &str, known: &T, planned: &T) -> anyhow::Result<()> {
    anyhow::ensure!(
        known == planned,
        reason!("{} cannot change: scores depend on it; use a new phase", what)
    );
    Ok(())
}
