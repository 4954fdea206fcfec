//! Makes a benchmark from a file, or brings it up to date with the file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use capeval_choice::SegmentId;
use capeval_files::Home;
use capeval_text::Tokenizer;
use serde::Deserialize;
use serde_json::json;
use toml::value::Datetime;

use super::about::{self, Column};
use super::records::{self, BoardKind, Phase, Visibility};
use super::scoring::{PrepareSet, ScoreSubmission};
use super::{board, submit};
use crate::accounts::people;
use crate::app::App;
use crate::blobs::Blobs;
use crate::jobs::{self, queue::Priority};
use crate::store::Tx;
use crate::{args, audit, clock, ids};

/// A benchmark as a file describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The part of its addresses: small letters, digits, hyphens.
    pub slug: String,
    pub title: String,
    /// What it is about, in a sentence or two.
    #[serde(default)]
    pub summary: String,
    /// The rules, in Markdown.
    #[serde(default)]
    pub rules: String,
    /// Who sees it.
    #[serde(default = "public")]
    pub visibility: Visibility,
    /// The email addresses of its hosts.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Its phases, in order.
    #[serde(default)]
    pub phases: Vec<PhasePlan>,
}

fn public() -> Visibility {
    Visibility::Public
}

/// A phase as a file describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhasePlan {
    /// The part of its addresses.
    pub slug: String,
    pub title: String,
    /// When submissions begin, in UTC unless it says otherwise.
    pub opens: Option<Datetime>,
    /// When they end.
    pub closes: Option<Datetime>,
    /// Submissions of a team on a day.
    #[serde(default = "five")]
    pub per_day: u32,
    /// Submissions of a team in all.
    #[serde(default = "hundred")]
    pub in_total: u32,
    /// Who sees the scores.
    #[serde(default = "public_board")]
    pub board: BoardKind,
    /// When everyone sees them.
    pub reveal: Option<Datetime>,
    /// The decimals of shown scores.
    #[serde(default = "three")]
    pub decimals: u32,
    /// Metrics or suites, as `capeval score` takes them.
    #[serde(default = "coco")]
    pub metrics: Vec<String>,
    /// The reference set that ranks; the first by default.
    pub main_set: Option<String>,
    /// The measure that ranks.
    #[serde(default = "cider")]
    pub main_metric: String,
    /// The keys of the measures that the board shows unless a visitor chooses others; all by default.
    #[serde(default)]
    pub board_columns: Vec<String>,
    /// Whether the board has a row for people.
    #[serde(default = "yes")]
    pub human: bool,
    /// The reference sets, in order.
    #[serde(default)]
    pub references: Vec<ReferencePlan>,
    /// What teams are asked about their methods.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// Results that are shown beside those of teams.
    #[serde(default)]
    pub baselines: Vec<BaselinePlan>,
}

fn five() -> u32 {
    5
}
fn hundred() -> u32 {
    100
}
fn three() -> u32 {
    3
}
fn coco() -> Vec<String> {
    vec!["coco".to_owned()]
}
fn cider() -> String {
    "cider-d".to_owned()
}
fn yes() -> bool {
    true
}
fn public_board() -> BoardKind {
    BoardKind::Public
}

/// A reference set as a file describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferencePlan {
    /// The name, such as `c5`.
    pub name: String,
    /// The file, in any format that capeval reads.
    pub file: Source,
    /// The language of the captions.
    #[serde(default = "english")]
    pub language: String,
    /// The tokenizer; by default that of each metric.
    pub tokenizer: Option<String>,
    /// A file with the ids of the images to keep: a JSON array, or one id per line. All by default.
    pub images: Option<String>,
}

fn english() -> String {
    "en".to_owned()
}

/// A baseline as a file describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselinePlan {
    /// The name of the method.
    pub method: String,
    /// The results.
    pub file: Source,
}

/// The content of a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub enum Source {
    /// What a file holds, whose path is relative to the folder of the plan.
    File(String),
    /// The bytes themselves.
    Bytes(Arc<[u8]>),
}

impl From<String> for Source {
    fn from(path: String) -> Self {
        Self::File(path)
    }
}

impl Source {
    /// Stores the content; returns its hash and its size.
    fn store(&self, blobs: &Blobs, folder: &Path) -> anyhow::Result<(String, u64)> {
        let mut draft = blobs.draft()?;
        match self {
            Self::File(path) => {
                let path = folder.join(path);
                let mut file = File::open(&path).with_context(|| path.display().to_string())?;
                io::copy(&mut file, &mut draft)?;
            }
            Self::Bytes(bytes) => draft.write_all(bytes)?,
        }
        let size = draft.size();
        Ok((blobs.keep(draft)?, size))
    }
}

/// The files of a phase as they are stored, in the order of the plan.
struct StoredFiles {
    references: Vec<StoredReferences>,
    baselines: Vec<StoredBaseline>,
}

struct StoredReferences {
    hash: String,
    /// The ids of the images to keep, as JSON.
    images: Option<String>,
}

struct StoredBaseline {
    hash: String,
    size: u64,
}

/// Stores the files of phases. This copies, hashes and uploads them, which takes its time, so it must be done before a
/// transaction begins: SQLite has one writer. The files of a plan that is refused afterwards are swept away.
async fn store_files(app: &App, phases: &[PhasePlan], folder: &Path) -> anyhow::Result<Vec<StoredFiles>> {
    let (phases, folder) = (phases.to_vec(), folder.to_owned());
    let (blobs, hidden) = (app.blobs.clone(), app.hidden.clone());
    let store_phase = move |phase: &PhasePlan| -> anyhow::Result<StoredFiles> {
        let references = phase.references.iter().map(|set| {
            let (hash, _) = set.file.store(&hidden, &folder)?;
            let images = set.images.as_ref().map(|path| read_images(&folder.join(path))).transpose()?;
            Ok(StoredReferences { hash, images })
        });
        let references = references.collect::<anyhow::Result<_>>()?;
        let baselines = phase.baselines.iter().map(|baseline| {
            let (hash, size) = baseline
                .file
                .store(&blobs, &folder)
                .with_context(|| format!("baseline {}", baseline.method))?;
            Ok(StoredBaseline { hash, size })
        });
        Ok(StoredFiles { references, baselines: baselines.collect::<anyhow::Result<_>>()? })
    };
    let store_phases = move || {
        phases
            .iter()
            .map(|phase| store_phase(phase).with_context(|| format!("phase {}", phase.slug)))
            .collect()
    };
    tokio::task::spawn_blocking(store_phases).await?
}

/// The ids of the images in a file, as JSON.
fn read_images(path: &Path) -> anyhow::Result<String> {
    let shown = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(shown)?;
    Ok(serde_json::to_string(&listed(&text).with_context(shown)?)?)
}

/// What was done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Whether the benchmark is new.
    pub is_new: bool,
    /// The reference sets that are being prepared.
    pub sets: usize,
}

/// Makes or changes a benchmark. Files are read relative to `folder`. Nothing is changed if anything is wrong.
///
/// # Errors
/// If the plan is not valid, a file cannot be read, or what scores depend on has changed.
pub async fn apply(app: &App, plan: &Plan, folder: &Path, actor: Option<&str>) -> anyhow::Result<Applied> {
    check(plan)?;
    let mut plan = plan.clone();
    for phase in &mut plan.phases {
        name_metrics(app, &plan.slug, phase).await?;
    }
    let files = store_files(app, &plan.phases, folder).await?;
    let mut tx = app.store.begin().await?;
    let known: Option<String> =
        tx.fetch_optional("SELECT id FROM benchmark WHERE slug = $1", args![&plan.slug]).await?;
    let is_new = known.is_none();
    let id = known.unwrap_or_else(ids::new_id);
    tx.execute(
        "INSERT INTO benchmark (id, slug, title, summary, rules, visibility, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO UPDATE SET title = excluded.title, \
         summary = excluded.summary, rules = excluded.rules, visibility = excluded.visibility",
        args![&id, &plan.slug, &plan.title, &plan.summary, &plan.rules, plan.visibility.name(), clock::now()],
    )
    .await?;
    tx.execute("DELETE FROM benchmark_host WHERE benchmark = $1", args![&id]).await?;
    for email in &plan.hosts {
        let sql = "SELECT id FROM account WHERE email = $1";
        let account: Option<String> = tx.fetch_optional(sql, args![email.trim().to_lowercase()]).await?;
        let account = account.with_context(|| format!("no account has the email address {email}"))?;
        tx.execute(
            "INSERT INTO benchmark_host (benchmark, account) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            args![&id, account],
        )
        .await?;
    }
    let phases = tx.fetch("SELECT slug FROM phase WHERE benchmark = $1", args![&id]).await?;
    require_all(&phases, "phase", plan.phases.iter().map(|phase| phase.slug.as_str()))?;
    let mut applied = Applied { is_new, sets: 0 };
    for (position, (phase, files)) in plan.phases.iter().zip(&files).enumerate() {
        applied.sets += apply_phase(&mut tx, &id, position, phase, files)
            .await
            .with_context(|| format!("phase {}", phase.slug))?;
    }
    audit::note(&mut tx, actor, "benchmark.apply", &id, json!({ "slug": plan.slug })).await?;
    tx.commit().await?;
    app.wake.notify();
    Ok(applied)
}

/// Adds a phase to a benchmark, after the others. Files are read relative to `folder`. Nothing is changed if anything
/// is wrong.
pub async fn add_phase(
    app: &App,
    benchmark: &str,
    plan: &PhasePlan,
    folder: &Path,
    actor: Option<&str>,
) -> anyhow::Result<()> {
    check_slug(&plan.slug)?;
    check_phase(plan)?;
    let mut plan = plan.clone();
    let slug: String =
        app.store.fetch_one("SELECT slug FROM benchmark WHERE id = $1", args![benchmark]).await?;
    name_metrics(app, &slug, &mut plan).await?;
    let plan = &plan;
    let files = store_files(app, std::slice::from_ref(plan), folder).await?;
    let mut tx = app.store.begin().await?;
    let position: usize =
        tx.fetch_one("SELECT COUNT(*) FROM phase WHERE benchmark = $1", args![benchmark]).await?;
    for files in &files {
        apply_phase(&mut tx, benchmark, position, plan, files).await?;
    }
    audit::note(&mut tx, actor, "phase.add", benchmark, json!({ "slug": plan.slug })).await?;
    tx.commit().await?;
    app.wake.notify();
    Ok(())
}

/// Replaces suites among the metrics of a phase by their metrics, so that it has the same ones wherever it is scored. A
/// phase that was made with a suite keeps it.
async fn name_metrics(app: &App, benchmark: &str, phase: &mut PhasePlan) -> anyhow::Result<()> {
    let sql = "SELECT metrics FROM phase JOIN benchmark ON benchmark.id = phase.benchmark \
               WHERE benchmark.slug = $1 AND phase.slug = $2";
    let known: Option<String> = app.store.fetch_optional(sql, args![benchmark, &phase.slug]).await?;
    let known: Option<Vec<String>> = known.map(|known| serde_json::from_str(&known)).transpose()?;
    if known.as_ref() != Some(&phase.metrics) {
        let home = app.data().map(Home::new);
        phase.metrics = capeval_tasks::each_metric(&phase.metrics, home.as_ref())
            .with_context(|| format!("phase {}", phase.slug))?;
    }
    Ok(())
}

fn check_slug(slug: &str) -> anyhow::Result<()> {
    let is_plain =
        slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !is_plain || slug.is_empty() || slug.len() > 60 || slug == "rules" {
        bail!("`{slug}` is not a slug: use lowercase letters, digits and hyphens");
    }
    Ok(())
}

fn check(plan: &Plan) -> anyhow::Result<()> {
    let slugs = std::iter::once(&plan.slug).chain(plan.phases.iter().map(|phase| &phase.slug));
    for slug in slugs {
        check_slug(slug)?;
    }
    people::name(&plan.title)?;
    plan.phases.iter().try_for_each(check_phase)
}

fn check_phase(phase: &PhasePlan) -> anyhow::Result<()> {
    people::name(&phase.title)?;
    let main = phase.main_set.as_ref().or(phase.references.first().map(|set| &set.name));
    if main.is_some_and(|main| phase.references.iter().all(|set| set.name != *main)) {
        bail!("phase {}: main_set is not among its references", phase.slug);
    }
    let columns = phase.board_columns.iter().map(|key| ("board_columns", key.as_str()));
    let asked: Vec<_> = std::iter::once(("main_metric", phase.main_metric.as_str())).chain(columns).collect();
    capeval_tasks::check_metrics(&phase.metrics, &asked).with_context(|| format!("phase {}", phase.slug))?;
    about::check(&phase.columns).with_context(|| format!("phase {}", phase.slug))?;
    for set in &phase.references {
        people::name(&set.name)?;
        if let Some(tokenizer) = &set.tokenizer {
            tokenizer
                .parse::<Tokenizer>()
                .map_err(|_| anyhow::anyhow!("phase {}: no tokenizer is called {tokenizer}", phase.slug))?;
        }
    }
    Ok(())
}

/// Refuses a file without something that exists, which would otherwise stay in silence.
fn require_all<'p>(
    known: &[String],
    what: &str,
    planned: impl Iterator<Item = &'p str> + Clone,
) -> anyhow::Result<()> {
    let missing = known.iter().find(|name| !planned.clone().any(|planned| planned == name.as_str()));
    if let Some(name) = missing {
        bail!("the file lacks the {what} {name}, which cannot be removed");
    }
    Ok(())
}

fn time(date: Option<&Datetime>) -> anyhow::Result<Option<i64>> {
    let Some(date) = date else { return Ok(None) };
    let text = date.to_string();
    clock::parse(&text).map(Some).with_context(|| format!("{text} is not a date"))
}

async fn apply_phase(
    tx: &mut Tx,
    benchmark: &str,
    position: usize,
    plan: &PhasePlan,
    files: &StoredFiles,
) -> anyhow::Result<usize> {
    let sql = "SELECT * FROM phase WHERE benchmark = $1 AND slug = $2";
    let known: Option<Phase> = tx.fetch_optional(sql, args![benchmark, &plan.slug]).await?;
    if let Some(known) = &known {
        require_same("metrics", &known.metrics, &plan.metrics)?;
        require_same("human", &known.human, &plan.human)?;
    }
    let main_set = plan.main_set.as_ref().or(plan.references.first().map(|set| &set.name));
    let id = known.as_ref().map_or_else(ids::new_id, |known| known.id.clone());
    tx.execute(
        "INSERT INTO phase (id, benchmark, slug, title, position, opens_at, closes_at, per_day, in_total, board, \
         reveal_at, decimals, metrics, main_set, main_metric, human, board_columns, created_at, columns) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) \
         ON CONFLICT (id) DO UPDATE SET title = excluded.title, position = excluded.position, \
         opens_at = excluded.opens_at, closes_at = excluded.closes_at, per_day = excluded.per_day, \
         in_total = excluded.in_total, board = excluded.board, reveal_at = excluded.reveal_at, \
         decimals = excluded.decimals, main_set = excluded.main_set, main_metric = excluded.main_metric, \
         board_columns = excluded.board_columns, columns = excluded.columns",
        args![
            &id,
            benchmark,
            &plan.slug,
            &plan.title,
            position,
            time(plan.opens.as_ref())?,
            time(plan.closes.as_ref())?,
            plan.per_day,
            plan.in_total,
            plan.board.name(),
            time(plan.reveal.as_ref())?,
            plan.decimals,
            serde_json::to_string(&plan.metrics)?,
            main_set.cloned().unwrap_or_default(),
            &plan.main_metric,
            plan.human,
            serde_json::to_string(&plan.board_columns)?,
            clock::now(),
            serde_json::to_string(&plan.columns)?
        ],
    )
    .await?;
    // Nothing was scored by references that could not be prepared.
    tx.execute("DELETE FROM reference_set WHERE phase = $1 AND state = 'failed'", args![&id]).await?;
    let sets = tx.fetch("SELECT name FROM reference_set WHERE phase = $1", args![&id]).await?;
    require_all(&sets, "reference set", plan.references.iter().map(|set| set.name.as_str()))?;
    let score_set = known.as_ref().and_then(|known| known.score_set.as_ref());
    if let (Some(known), Some(score_set), Some(main)) = (&known, score_set, main_set)
        && known.main_set != *main
    {
        require_scored(tx, score_set, main).await?;
    }
    let mut added = 0;
    for (position, (set, stored)) in plan.references.iter().zip(&files.references).enumerate() {
        added += usize::from(apply_set(tx, &id, position, set, stored).await?);
    }
    let sql = "SELECT method FROM submission WHERE phase = $1 AND kind = 'baseline'";
    let baselines = tx.fetch(sql, args![&id]).await?;
    require_all(&baselines, "baseline", plan.baselines.iter().map(|baseline| baseline.method.as_str()))?;
    for (baseline, stored) in plan.baselines.iter().zip(&files.baselines) {
        apply_baseline(tx, (&id, score_set.is_some()), &baseline.method, stored)
            .await
            .with_context(|| format!("baseline {}", baseline.method))?;
    }
    if known.is_some_and(|known| known.main_metric != plan.main_metric) {
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
        "main_set cannot be {main} yet: add the set, wait until everything is scored with it, then change main_set"
    );
    Ok(())
}

fn require_same<T: PartialEq>(what: &str, known: &T, planned: &T) -> anyhow::Result<()> {
    anyhow::ensure!(known == planned, "{what} cannot change: scores depend on it; use a new phase");
    Ok(())
}

/// Adds a baseline, unless it is there already.
async fn apply_baseline(
    tx: &mut Tx,
    (phase, is_open): (&str, bool),
    method: &str,
    file: &StoredBaseline,
) -> anyhow::Result<()> {
    let sql = "SELECT blob FROM submission WHERE phase = $1 AND kind = 'baseline' AND method = $2";
    if let Some(known) = tx.fetch_optional::<Option<String>>(sql, args![phase, method]).await? {
        return require_same("the file", &known.as_ref(), &Some(&file.hash));
    }
    let id = submit::add_baseline(tx, phase, method, &file.hash, file.size).await?;
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
    plan: &ReferencePlan,
    file: &StoredReferences,
) -> anyhow::Result<bool> {
    let known = records::sets_in(tx, phase).await?.into_iter().find(|set| set.name == plan.name);
    if let Some(known) = known {
        let name = |what: &str| format!("{what} of the references {}", plan.name);
        require_same(&name("the file"), &known.source_hash, &file.hash)?;
        require_same(&name("language"), &known.language, &plan.language)?;
        require_same(&name("tokenizer"), &known.tokenizer, &plan.tokenizer)?;
        require_same(&name("images"), &records::images(tx, &known.id).await?, &file.images)?;
        let sql = "UPDATE reference_set SET position = $1 WHERE id = $2";
        tx.execute(sql, args![position, known.id]).await?;
        return Ok(false);
    }
    let id = ids::new_id();
    tx.execute(
        "INSERT INTO reference_set (id, phase, name, position, language, tokenizer, source_hash, images, state, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'preparing', $9)",
        args![
            &id,
            phase,
            &plan.name,
            position,
            &plan.language,
            plan.tokenizer.clone(),
            &file.hash,
            file.images.clone(),
            clock::now()
        ],
    )
    .await?;
    jobs::add::<PrepareSet>(tx, &id, Priority::Awaited).await?;
    Ok(true)
}

/// The ids of a list: a JSON array, or one per line.
fn listed(text: &str) -> anyhow::Result<Vec<SegmentId>> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).context("not a JSON array of ids");
    }
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(SegmentId::from_untyped).collect())
}
