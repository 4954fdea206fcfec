//! Creates a benchmark from its description, or updates it, whether a file, a form or a client sends the description.

use std::io;

use anyhow::{Context, bail};
use capeval_api::Half;
use capeval_site::prelude::*;
use serde_json::json;

use self::check::{check_phase, checked, name_metrics};
use self::stored::{StoredFile, StoredFiles, StoredReferences, store_files, store_logo};
use self::unchanged::{lacks, require_unchanged};
use crate::files::records as phase_files;
use crate::scoring::{PrepareSet, ScoreSubmission};
use crate::settings::{Benchmark, Phase, PhasePlan, Plan, ReferencePlan};
use crate::{admission, appearance, board, halves, images, notes, qualifying, records, submit};

mod check;
mod stored;
mod unchanged;

pub(super) use self::check::check_slug;
pub use self::stored::{Files, SentFile, listed_images};

/// The most submissions that a limit or a grant allows.
pub const MOST: i64 = 1_000_000;

/// The result of applying a plan.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AppliedPlan {
    /// True if the benchmark is new.
    pub is_new: bool,
    /// The reference sets that are being prepared.
    pub sets: usize,
}

/// Creates or changes a benchmark as `plan` describes it. Nothing is changed if anything is wrong.
///
/// # Errors
/// If the plan is not valid, a file cannot be read, or what scores depend on has changed.
pub async fn apply(
    app: &App,
    plan: &Plan,
    files: impl Into<Files>,
    actor: Option<&str>,
) -> anyhow::Result<AppliedPlan> {
    let mut plan = checked(plan)?;
    let known = known_plan(app, &plan.slug).await?;
    for phase in &mut plan.phases {
        name_metrics(app, known.as_ref(), phase).with_context(|| reason!("phase {}", phase.slug))?;
    }
    let files = files.into();
    let logo = store_logo(app, &plan, known.as_ref(), &files).await?;
    let files = store_files(app, &plan.phases, known, files).await?;
    let mut tx = app.store.begin().await?;
    let (id, is_new, was_draft) = apply_head(&mut tx, &plan, Slug::UnusedOrOwn, actor).await?;
    let mut look = appearance::columns(&plan)?;
    look.extend(logo.into_iter().flat_map(appearance::Logo::columns));
    tx.change_row("benchmark", &id, look).await?;
    let phases: Vec<(String, String)> =
        tx.fetch("SELECT id, slug FROM phase WHERE benchmark = $1", args![&id]).await?;
    for (phase, slug) in &phases {
        if plan.phase(slug).is_none() {
            records::phase_alone(&mut tx, phase).await?;
            anyhow::ensure!(is_free(&mut tx, was_draft, phase).await?, lacks("phase", slug));
            tx.execute("DELETE FROM phase WHERE id = $1", args![phase]).await?;
        }
    }
    let mut applied = AppliedPlan { is_new, sets: 0 };
    for (position, (phase, files)) in plan.phases.iter().zip(&files).enumerate() {
        applied.sets += apply_phase(&mut tx, (&id, was_draft), position, phase, files)
            .await
            .with_context(|| reason!("phase {}", phase.slug))?;
    }
    qualifying::schedule(&mut tx, &id).await?;
    notes::note(&mut tx, actor, "benchmark.apply", &id, json!({ "slug": plan.slug, "created": is_new }))
        .await?;
    app.commit(tx).await?;
    Ok(applied)
}

/// Creates a benchmark, or changes it apart from its phases.
pub async fn apply_without_phases(
    app: &App,
    plan: &Plan,
    slug: Slug,
    actor: Option<&str>,
) -> anyhow::Result<()> {
    let plan = &checked(plan)?;
    let mut tx = app.store.begin().await?;
    let (id, is_new, _) = apply_head(&mut tx, plan, slug, actor).await?;
    notes::note(&mut tx, actor, "benchmark.apply", &id, json!({ "slug": plan.slug, "created": is_new }))
        .await?;
    Ok(tx.commit().await?)
}

/// Adds a phase to a benchmark, after the others, or changes one. Nothing is changed if anything is wrong.
pub async fn put_phase(
    app: &App,
    benchmark: &str,
    plan: &PhasePlan,
    files: impl Into<Files>,
    actor: Option<&str>,
) -> anyhow::Result<()> {
    check_phase(plan)?;
    let mut plan = plan.clone();
    let slug: String =
        app.store.fetch_one("SELECT slug FROM benchmark WHERE id = $1", args![benchmark]).await?;
    let known = known_plan(app, &slug).await?;
    name_metrics(app, known.as_ref(), &mut plan).with_context(|| reason!("phase {}", plan.slug))?;
    let plan = &plan;
    let files = store_files(app, std::slice::from_ref(plan), known, files.into()).await?;
    let mut tx = app.store.begin().await?;
    // Two phases that are added at once have different positions.
    tx.lock("benchmark", benchmark).await?;
    let draft = "SELECT draft FROM benchmark WHERE id = $1";
    let is_draft: bool = tx.fetch_one(draft, args![benchmark]).await?;
    let position = "SELECT position FROM phase WHERE benchmark = $1 AND slug = $2";
    let position: Option<usize> = tx.fetch_optional(position, args![benchmark, &plan.slug]).await?;
    let (position, action) = match position {
        Some(position) => (position, "phase.change"),
        None => {
            let last = "SELECT COALESCE(MAX(position) + 1, 0) FROM phase WHERE benchmark = $1";
            (tx.fetch_one(last, args![benchmark]).await?, "phase.add")
        }
    };
    for files in &files {
        apply_phase(&mut tx, (benchmark, is_draft), position, plan, files)
            .await
            .with_context(|| reason!("phase {}", plan.slug))?;
    }
    qualifying::schedule(&mut tx, benchmark).await?;
    notes::note(&mut tx, actor, action, benchmark, json!({ "slug": plan.slug })).await?;
    Ok(app.commit(tx).await?)
}

/// Publishes a draft: from now on, those see it who may.
pub async fn publish(app: &App, benchmark: &str, actor: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let sql = "UPDATE benchmark SET draft = 0 WHERE id = $1 AND draft = 1";
    if tx.execute(sql, args![benchmark]).await? == 0 {
        return Err(fault!(CONFLICT, "published", "This benchmark has already been published."));
    }
    notes::note(&mut tx, Some(actor), "benchmark.publish", benchmark, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Removes a draft to which no team has submitted, with all that it has.
pub async fn remove_draft(app: &App, benchmark: &Benchmark, actor: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    // No one submits between the look for submissions and the removal.
    let phases: Vec<String> =
        tx.fetch("SELECT id FROM phase WHERE benchmark = $1 ORDER BY id", args![&benchmark.id]).await?;
    for phase in phases {
        tx.lock("phase", &phase).await?;
    }
    let sql = "DELETE FROM benchmark WHERE id = $1 AND draft = 1 AND NOT EXISTS (SELECT 1 FROM submission \
               JOIN phase ON phase.id = submission.phase WHERE phase.benchmark = $1 AND submission.kind = 'entry')";
    if tx.execute(sql, args![&benchmark.id]).await? == 0 {
        return Err(fault! {
            CONFLICT, "in-use", "Only drafts can be removed. Hide a benchmark that was published."
        });
    }
    let detail = json!({ "slug": benchmark.slug });
    notes::note(&mut tx, Some(actor), "benchmark.remove", &benchmark.id, detail).await?;
    Ok(tx.commit().await?)
}

/// Removes a phase from a draft.
pub async fn remove_phase(app: &App, phase: &Phase, actor: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let draft = "SELECT draft FROM benchmark WHERE id = $1";
    let is_draft: bool = tx.fetch_one(draft, args![&phase.benchmark]).await?;
    tx.lock("phase", &phase.id).await?;
    if !is_free(&mut tx, is_draft, &phase.id).await? {
        return Err(fault!(CONFLICT, "in-use", "Only phases of a draft can be removed."));
    }
    tx.execute("DELETE FROM phase WHERE id = $1", args![&phase.id]).await?;
    notes::note(&mut tx, Some(actor), "phase.remove", &phase.benchmark, json!({ "slug": phase.slug }))
        .await?;
    Ok(tx.commit().await?)
}

/// The reason why a plan was not applied, for those who sent it; a failure of the server is none of its reasons.
pub fn refusal(error: anyhow::Error) -> Fault {
    let is_final = |fault: &&Fault| {
        fault.status.is_server_error() || ["not-found", "slug-taken", "logo"].contains(&fault.code)
    };
    if let Some(fault) = error.downcast_ref::<Fault>().filter(is_final) {
        return fault.clone();
    }
    if is_failure(&error) {
        return error.into();
    }
    fault!(UNPROCESSABLE_ENTITY, "not-applied", "The benchmark cannot be saved: {}.")
        .because(format_args!("{error:#}"))
}

/// Returns true if an error is a failure of the server, and no refusal.
fn is_failure(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<Error>() || cause.is::<io::Error>())
}

/// A benchmark as it is now, if there is one.
async fn known_plan(app: &App, slug: &str) -> anyhow::Result<Option<Plan>> {
    let sql = "SELECT * FROM benchmark WHERE slug = $1";
    let benchmark: Option<Benchmark> = app.store.fetch_optional(sql, args![slug]).await?;
    Ok(match benchmark {
        Some(benchmark) => Some(Plan::of(&app.store, &benchmark).await?),
        None => None,
    })
}

/// Writes what is said about a benchmark apart from its phases; returns its id, whether it is new, and whether it was
/// a draft or is new.
async fn apply_head(
    tx: &mut Tx,
    plan: &Plan,
    slug: Slug,
    actor: Option<&str>,
) -> anyhow::Result<(String, bool, bool)> {
    let known = tx.pick(
        "SELECT id, draft FROM benchmark WHERE slug = $1",
        "SELECT id, draft FROM benchmark WHERE slug = $1 FOR NO KEY UPDATE",
    );
    let known: Option<(String, bool)> = tx.fetch_optional(known, args![&plan.slug]).await?;
    let is_new = known.is_none();
    if slug == Slug::Unused && !is_new {
        return Err(taken(plan).into());
    }
    if let (Some((id, _)), Some(actor)) = (&known, actor)
        && !tx.exists(records::RUNS, args![id, actor]).await?
    {
        return Err(Fault::not_found().into());
    }
    let (id, was_draft) = known.unwrap_or_else(|| (ids::new_id(), true));
    let entries = "SELECT 1 FROM submission JOIN phase ON phase.id = submission.phase \
                   WHERE phase.benchmark = $1 AND submission.kind = 'entry'";
    if plan.draft && !was_draft && tx.exists(entries, args![&id]).await? {
        bail!(reason!(
            "it cannot become a draft again, since teams have submitted: hide it with visibility = hidden"
        ));
    }
    if is_new {
        let new = columns! { id: &id, slug: &plan.slug, created_at: clock::now() };
        // Someone else may have created it since it was looked for.
        if !tx.add_row("benchmark", [new, plan.columns()?].concat()).await? {
            return Err(taken(plan).into());
        }
    } else {
        tx.change_row("benchmark", &id, plan.columns()?).await?;
    }
    admission::keep(tx, &id, plan).await?;
    tx.execute("DELETE FROM benchmark_host WHERE benchmark = $1", args![&id]).await?;
    for email in &plan.hosts {
        let sql = "SELECT id FROM account WHERE email = $1";
        let account: Option<String> = tx.fetch_optional(sql, args![email.trim().to_lowercase()]).await?;
        let account = account.with_context(|| reason!("no account has the email address {}", email))?;
        tx.add_row("benchmark_host", columns! { benchmark: &id, account }).await?;
    }
    Ok((id, is_new, was_draft))
}

/// The refusal of a slug that another benchmark has.
fn taken(plan: &Plan) -> Fault {
    fault!(CONFLICT, "slug-taken", "A benchmark with the address {} already exists.", &plan.slug)
}

/// Returns true if nothing depends on a phase yet, so that all of it may change: it is part of a draft, and no team has
/// submitted to it.
async fn is_free(tx: &mut Tx, is_draft: bool, phase: &str) -> anyhow::Result<bool> {
    let entries = "SELECT 1 FROM submission WHERE phase = $1 AND kind = 'entry'";
    Ok(is_draft && !tx.exists(entries, args![phase]).await?)
}

/// Nothing was scored with references or a baseline that failed.
async fn remove_failed(tx: &mut Tx, phase: &str) -> anyhow::Result<()> {
    let references = "DELETE FROM reference_set WHERE phase = $1 AND state = 'failed'";
    let baselines = "DELETE FROM submission WHERE phase = $1 AND kind = 'baseline' AND state = 'failed'";
    for failed in [references, baselines] {
        tx.execute(failed, args![phase]).await?;
    }
    Ok(())
}

async fn apply_phase(
    tx: &mut Tx,
    (benchmark, is_draft): (&str, bool),
    position: usize,
    plan: &PhasePlan,
    files: &StoredFiles,
) -> anyhow::Result<usize> {
    let sql = "SELECT * FROM phase WHERE benchmark = $1 AND slug = $2";
    let mut known: Option<Phase> = tx.fetch_optional(sql, args![benchmark, &plan.slug]).await?;
    let main_set = plan.main_set();
    let id = known.as_ref().map_or_else(ids::new_id, |known| known.id.clone());
    let seed = halves::seed(plan, known.as_ref())?;
    if let Some(old) = &known {
        remove_failed(tx, &id).await?;
        tx.lock("phase", &id).await?;
        if let Err(refusal) = require_unchanged(tx, old, plan, files).await {
            // A failure does not mean that something has changed.
            if is_failure(&refusal) || !is_free(tx, is_draft, &id).await? {
                return Err(refusal);
            }
            tx.execute("DELETE FROM phase WHERE id = $1", args![&id]).await?;
            known = None;
        }
    }
    if let Some(known) = &known {
        halves::require_kept(tx, known, plan).await?;
    }
    qualifying::require_kept(tx, (benchmark, position), known.as_ref(), plan).await?;
    let mut row = plan.columns()?;
    row.extend(files.columns());
    row.extend(columns! { position });
    if known.is_some() {
        tx.change_row("phase", &id, row).await?;
    } else {
        let new = columns! {
            id: &id, benchmark, slug: &plan.slug, metrics: store::list(&plan.metrics)?,
            derive: store::list(&plan.derive)?, given: store::list(&plan.given)?,
            group_by: plan.group_by(), public_share: plan.public, public_seed: &seed, human: plan.human,
            created_at: clock::now(),
        };
        tx.add_row("phase", [new, row].concat()).await?;
    }
    let score_set = known.as_ref().and_then(|known| known.score_set.as_ref());
    if let (Some(known), Some(score_set), Some(main)) = (&known, score_set, main_set)
        && known.main_set != *main
    {
        require_scored(tx, score_set, main).await?;
    }
    if let Some(known) = &known
        && (known.per_image, known.pictures.as_str()) != (plan.per_image, plan.pictures())
    {
        images::forget(tx, &id).await?;
    }
    if let Some(files) = &files.files {
        phase_files::replace(tx, &id, files).await?;
    }
    let mut added = 0;
    for (position, (set, stored)) in plan.references.iter().zip(&files.references).enumerate() {
        for half in plan.halves() {
            added += usize::from(apply_set(tx, &id, position, (set, *half), stored).await?);
        }
    }
    for (baseline, stored) in plan.baselines.iter().zip(&files.baselines) {
        apply_baseline(tx, (&id, score_set.is_some()), &baseline.method, stored)
            .await
            .with_context(|| reason!("baseline {}", baseline.method))?;
    }
    // The baselines that failed were added again; this is for the row for people.
    submit::try_again(tx, &id).await?;
    let ranks = (&*plan.main_metric, plan.rank_by(), plan.final_rule);
    if known.is_some_and(|known| (&*known.main_metric, &*known.rank_by, known.final_rule) != ranks) {
        board::all_changed(tx, &id).await?;
    }
    Ok(added)
}

/// Refuses a main set by which the scores on the board were not made: the board would be empty.
async fn require_scored(tx: &mut Tx, score_set: &str, main: &str) -> anyhow::Result<()> {
    let sql = "SELECT SUM(CASE WHEN reference_set.name = $2 THEN 1 ELSE 0 END) FROM score \
               JOIN reference_set ON reference_set.id = score.reference_set WHERE score.score_set = $1";
    let n: Option<i64> = tx.fetch_one(sql, args![score_set, main]).await?;
    anyhow::ensure!(
        n != Some(0),
        reason!(
            "main_set cannot be {} yet: add the set, wait until everything is scored with it, then change main_set",
            main
        )
    );
    Ok(())
}

/// Adds a baseline, unless it is there already.
async fn apply_baseline(
    tx: &mut Tx,
    (phase, is_open): (&str, bool),
    method: &str,
    file: &StoredFile,
) -> anyhow::Result<()> {
    let sql = "SELECT id FROM submission WHERE phase = $1 AND kind = 'baseline' AND method = $2";
    if let Some(known) = tx.fetch_optional::<String>(sql, args![phase, method]).await? {
        tx.change_row("submission", &known, columns! { file: &file.name }).await?;
        return Ok(());
    }
    let id = submit::add_baseline(tx, phase, method, &file.hash, file.size).await?;
    tx.change_row("submission", &id, columns! { file: &file.name }).await?;
    // Otherwise its job begins with the references.
    if is_open {
        jobs::add::<ScoreSubmission>(tx, &id, Priority::Background).await?;
    }
    Ok(())
}

/// Adds a reference set, and has it prepared; `false` if it is there already. A phase that has scores keeps them on its
/// board until everything is scored by the new set, too.
async fn apply_set(
    tx: &mut Tx,
    phase: &str,
    position: usize,
    (plan, half): (&ReferencePlan, Option<Half>),
    StoredReferences { file, images }: &StoredReferences,
) -> anyhow::Result<bool> {
    let (images, images_file) = images.clone().unzip();
    let images_file = images_file.unwrap_or_default();
    let name = halves::name_of(&plan.name, half);
    let known = "SELECT id FROM reference_set WHERE phase = $1 AND name = $2";
    if let Some(known) = tx.fetch_optional::<String>(known, args![phase, &name]).await? {
        let sql = "UPDATE reference_set SET position = $1, file = $2, images_file = $3 WHERE id = $4";
        tx.execute(sql, args![position, &file.name, &images_file, known]).await?;
        return Ok(false);
    }
    let id = ids::new_id();
    let row = columns! {
        id: &id, phase, name: &name, half: half.map(Half::name), position, language: &plan.language,
        tokenizer: plan.tokenizer.clone(), source_hash: &file.hash, file: &file.name, images,
        images_file: &images_file, state: "preparing", created_at: clock::now(),
    };
    tx.add_row("reference_set", row).await?;
    jobs::add::<PrepareSet>(tx, &id, Priority::Awaited).await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::unchanged::{require_all, require_same};
    use super::*;

    /// Otherwise a phase of a draft would be deleted because the database was busy.
    #[test]
    fn a_failed_query_is_no_change_of_what_scores_depend_on() {
        let failed = anyhow::Error::from(Error::PoolTimedOut).context("phase dev");
        assert!(is_failure(&failed));
        assert!(is_failure(&io::Error::other("the disk").into()));
        assert!(!is_failure(&require_same("metrics", &1, &2).unwrap_err()));
        assert!(!is_failure(
            &require_all(&["c5".to_owned()], "reference set", std::iter::empty()).unwrap_err()
        ));
        assert!(refusal(failed).status.is_server_error());
    }
}
