//! Creates a benchmark as it is described, or brings it up to date, whether a file, a form or a program describes it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use capeval_api::Half;
use capeval_choice::SegmentId;
use capeval_files::Home;
use capeval_site::blobs::Blobs;
use capeval_site::prelude::*;
use capeval_tasks::{MetricSelection, UnsuitedMetrics};
use capeval_text::Tokenizer;
use indexmap::IndexSet;
use serde_json::json;

use super::files::records::{self as phase_files, NewPhaseFile};
use super::scoring::{PrepareSet, ScoreSubmission};
use super::settings::{Benchmark, MOST_DECIMALS, Phase, PhasePlan, Plan, ReferencePlan};
use super::source::Source;
use super::when::When;
use super::{
    about, admission, appearance, board, halves, images, pictures, programs, qualifying, records, submit,
    workers,
};
use crate::notes;

/// The most submissions that a limit or a grant allows.
pub const MOST: i64 = 1_000_000;

/// Parts of addresses of benchmarks that no phase can have.
const TAKEN: [&str; 5] = ["appearance", "announcements", "pages", "questions", "rules"];

/// The place of the files that a plan names.
#[derive(Clone, Debug)]
pub enum Files {
    /// In a folder.
    In(PathBuf),
    /// Sent along, by name.
    Sent(HashMap<String, SentFile>),
}

/// A file that was sent along.
#[derive(Clone, Debug)]
pub struct SentFile {
    /// The name that it had.
    pub name: String,
    /// Its place now.
    pub path: PathBuf,
}

impl From<&Path> for Files {
    fn from(folder: &Path) -> Self {
        Self::In(folder.to_owned())
    }
}

impl Files {
    /// A file with its own name; `None` if it is not there.
    fn find(&self, name: &str) -> Option<SentFile> {
        match self {
            Self::In(folder) => {
                let own = Path::new(name).file_name()?.to_string_lossy().into_owned();
                Some(SentFile { name: own, path: folder.join(name) }).filter(|file| file.path.exists())
            }
            Self::Sent(files) => files.get(name).cloned(),
        }
    }

    fn lack(&self, name: &str) -> anyhow::Error {
        match self {
            Self::In(folder) => anyhow::anyhow!("{} does not exist", folder.join(name).display()),
            Self::Sent(_) => anyhow::Error::msg(reason!("the file {} was not sent", name)),
        }
    }
}

/// A stored file.
struct StoredFile {
    /// The name that it had.
    name: String,
    hash: String,
    size: u64,
}

/// Stores what `source` stands for. A file that did not come with the plan stays what it is now, `known`.
fn store(
    source: &Source,
    known: Option<&Source>,
    blobs: &Blobs,
    files: &Files,
) -> anyhow::Result<StoredFile> {
    let mut draft = blobs.draft()?;
    let mut name = source.name().to_owned();
    match (source, known) {
        (Source::Bytes { bytes, .. }, _) => draft.write_all(bytes)?,
        (Source::Kept { hash, .. }, _) => return stored_file(name, hash, blobs),
        (Source::Named(given), known) => match (files.find(given), known) {
            (Some(file), _) => {
                name = file.name;
                let mut content = File::open(&file.path).with_context(|| file.path.display().to_string())?;
                io::copy(&mut content, &mut draft)?;
            }
            (None, Some(Source::Kept { name: known, hash })) if known == given => {
                return stored_file(name, hash, blobs);
            }
            (None, _) => return Err(files.lack(given)),
        },
    }
    let size = draft.size();
    Ok(StoredFile { name, hash: blobs.keep(draft)?, size })
}

fn stored_file(name: String, hash: &str, blobs: &Blobs) -> anyhow::Result<StoredFile> {
    let size = fs::metadata(blobs.fetch(hash)?)?.len();
    Ok(StoredFile { name, hash: hash.to_owned(), size })
}

/// The files of a phase as they are stored, in the order of the plan.
struct StoredFiles {
    vectors: Option<StoredFile>,
    program: Option<StoredFile>,
    public_ids: Option<StoredFile>,
    references: Vec<StoredReferences>,
    baselines: Vec<StoredFile>,
    /// The files for those who take part; `None` if there are none, and the plan names none.
    files: Option<Vec<NewPhaseFile>>,
}

struct StoredReferences {
    file: StoredFile,
    /// The ids of the images to keep, as JSON, and the name of the file that listed them.
    images: Option<(String, String)>,
}

/// Stores the files of phases. This copies, hashes and uploads them, which takes its time, so it must be done before a
/// transaction begins: SQLite has one writer. The files of a plan that is refused afterwards are swept away.
async fn store_files(
    app: &App,
    phases: &[PhasePlan],
    known: Option<Plan>,
    files: Files,
) -> anyhow::Result<Vec<StoredFiles>> {
    let phases = phases.to_vec();
    let (blobs, hidden) = (app.blobs.clone(), app.hidden.clone());
    let most = app.settings.unpacked_mib << 20;
    let store_phase = move |phase: &PhasePlan| -> anyhow::Result<StoredFiles> {
        let known = known.as_ref().and_then(|known| known.phase(&phase.slug));
        let hidden_file = |of: fn(&PhasePlan) -> Option<&Source>| {
            of(phase).map(|source| store(source, known.and_then(of), &hidden, &files)).transpose()
        };
        let vectors = hidden_file(|phase| phase.vectors.as_ref())?;
        let program = hidden_file(|phase| phase.program.as_ref())?;
        if let Some(archive) = &program {
            let measures =
                programs::measures(&hidden, &archive.hash, most).context(reason!("the program"))?;
            check_measures(phase, &measures)?;
        }
        let public_ids = hidden_file(|phase| phase.public_ids.as_ref())?;
        if let Some(list) = &public_ids {
            halves::public_ids(&hidden, &list.hash)?;
        }
        let references = phase.references.iter().map(|set| {
            let known = known.and_then(|known| known.references.iter().find(|known| known.name == set.name));
            let file = store(&set.file, known.map(|known| &known.file), &hidden, &files)?;
            let known = known.and_then(|known| known.images.as_ref());
            let images = set.images.as_ref().map(|images| read_images(images, known, &files)).transpose()?;
            Ok(StoredReferences { file, images })
        });
        let references = references.collect::<anyhow::Result<_>>()?;
        let baselines = phase.baselines.iter().map(|baseline| {
            let known =
                known.and_then(|known| known.baselines.iter().find(|known| known.method == baseline.method));
            store(&baseline.file, known.map(|known| &known.file), &blobs, &files)
                .with_context(|| reason!("baseline {}", baseline.method))
        });
        let baselines = baselines.collect::<anyhow::Result<_>>()?;
        let files = store_phase_files(phase, known, &blobs, &files)?;
        Ok(StoredFiles { vectors, program, public_ids, references, baselines, files })
    };
    let store_phases = move || {
        phases
            .iter()
            .map(|phase| store_phase(phase).with_context(|| reason!("phase {}", phase.slug)))
            .collect()
    };
    tokio::task::spawn_blocking(store_phases).await?
}

/// Stores the files for those who take part; a plan that names none leaves those that are there.
fn store_phase_files(
    phase: &PhasePlan,
    known: Option<&PhasePlan>,
    blobs: &Blobs,
    files: &Files,
) -> anyhow::Result<Option<Vec<NewPhaseFile>>> {
    let known = known.and_then(|known| known.files.as_ref());
    let Some(wanted) = phase.files.as_ref().or(known) else { return Ok(None) };
    let stored = wanted.iter().map(|plan| {
        let known = known.and_then(|known| known.iter().find(|known| known.file.name() == plan.file.name()));
        let StoredFile { name, hash, size } = store(&plan.file, known.map(|known| &known.file), blobs, files)
            .with_context(|| reason!("the file {}", plan.title))?;
        Ok(NewPhaseFile { title: plan.title.clone(), name, blob: hash, size })
    });
    stored.collect::<anyhow::Result<_>>().map(Some)
}

/// The ids of the images that `source` lists, as JSON, and the name of the file.
fn read_images(source: &Source, known: Option<&Source>, files: &Files) -> anyhow::Result<(String, String)> {
    let mut name = source.name().to_owned();
    let of_bytes = |bytes: &[u8]| Ok(String::from_utf8(bytes.to_vec())?);
    let text = match (source, known) {
        (Source::Bytes { bytes, .. }, _) => of_bytes(bytes),
        (named, known) => match (files.find(named.name()), known) {
            (Some(file), _) => {
                name = file.name;
                fs::read_to_string(&file.path).with_context(|| file.path.display().to_string())
            }
            (None, Some(Source::Bytes { name, bytes })) if name == named.name() => of_bytes(bytes),
            (None, _) => Err(files.lack(named.name())),
        },
    };
    let ids = listed_images(&text?).with_context(|| source.name().to_owned())?;
    Ok((serde_json::to_string(&ids)?, name))
}

/// The logo that came with a plan; `None` leaves the one that is there.
async fn store_logo(
    app: &App,
    plan: &Plan,
    known: Option<&Plan>,
    files: &Files,
) -> anyhow::Result<Option<appearance::Logo>> {
    let Some(logo) = &plan.logo else { return Ok(None) };
    let known = known.and_then(|known| known.logo.as_ref());
    match files.find(logo.name()) {
        Some(file) => Ok(Some(appearance::encode_logo(app, file.path).await?)),
        None if known.is_some_and(|known| known.name() == logo.name()) => Ok(None),
        None => Err(files.lack(logo.name())),
    }
}

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
pub async fn publish(app: &App, benchmark: &str, actor: &str) -> Result<(), Fault> {
    let mut tx = app.store.begin().await?;
    let sql = "UPDATE benchmark SET draft = 0 WHERE id = $1 AND draft = 1";
    if tx.execute(sql, args![benchmark]).await? == 0 {
        return Err(fault!(CONFLICT, "published", "This benchmark has already been published."));
    }
    notes::note(&mut tx, Some(actor), "benchmark.publish", benchmark, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Removes a draft to which no team has submitted, with all that it has.
pub async fn remove_draft(app: &App, benchmark: &Benchmark, actor: &str) -> Result<(), Fault> {
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
pub async fn remove_phase(app: &App, phase: &Phase, actor: &str) -> Result<(), Fault> {
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

/// Replaces suites among the metrics of a phase by their metrics, so that it has the same ones wherever it is scored,
/// and refuses metrics that do not suit its references. Metrics that stay need no data on this machine.
fn name_metrics(app: &App, known: Option<&Plan>, phase: &mut PhasePlan) -> anyhow::Result<()> {
    phase.references.iter().try_for_each(|set| check_language(phase, set))?;
    let known = known.and_then(|known| known.phase(&phase.slug));
    if phase.program.is_some() && known.is_none_or(|known| known.program.is_none()) {
        programs::require_allowed(app)?;
    }
    if known.is_none_or(|known| known.metrics != phase.metrics) {
        anyhow::ensure!(!phase.metrics.is_empty(), reason!("name at least one metric"));
        let home = app.data().map(Home::new);
        phase.metrics = capeval_tasks::each_metric(&phase.metrics, home.as_ref())?;
    }
    Ok(())
}

/// Refuses metrics that know only English for references in another language, and a language without spaces whose
/// words no tokenizer tells apart.
fn check_language(phase: &PhasePlan, set: &ReferencePlan) -> anyhow::Result<()> {
    match capeval_tasks::unsuited(&phase.metrics, &set.language, set.tokenizer.as_deref()) {
        None => Ok(()),
        Some(UnsuitedMetrics::EnglishOnly { metrics, others }) => {
            let remedy = if others.is_empty() { String::new() } else { format!(": metrics = {others:?}") };
            bail!(reason!(
                "the references {} are in the language {}, and {} can score only English: name other metrics{}",
                set.name,
                set.language,
                metrics.join(", "),
                remedy
            ))
        }
        Some(UnsuitedMetrics::NoSpaces { metrics, tokenizer }) => bail!(reason!(
            "the references {} are in the language {}, which is written without spaces, and have no tokenizer, so {} would read each sentence as one word: add tokenizer = \"{}\" to them",
            set.name,
            set.language,
            metrics.join(", "),
            tokenizer
        )),
    }
}

/// Refuses what cannot be a part of addresses.
pub(super) fn check_slug(slug: &str) -> anyhow::Result<()> {
    if !clean_text::is_key(slug, 60) || TAKEN.contains(&slug) {
        bail!(reason!("`{}` is not a slug: use lowercase letters, digits and hyphens", slug));
    }
    Ok(())
}

/// A plan without faults, with its lists in the form in which they are stored.
fn checked(plan: &Plan) -> anyhow::Result<Plan> {
    check_slug(&plan.slug)?;
    people::name(&plan.title)?;
    plan.phases.iter().try_for_each(check_phase)?;
    let allow = admission::lists::checked("allow", &plan.allow)?;
    let block = admission::lists::checked("block", &plan.block)?;
    Ok(Plan { allow, block, terms: plan.terms.trim().to_owned(), ..appearance::check(plan)? })
}

fn check_phase(phase: &PhasePlan) -> anyhow::Result<()> {
    check_slug(&phase.slug)?;
    people::name(&phase.title)?;
    check_settings(phase).with_context(|| reason!("phase {}", phase.slug))?;
    for set in &phase.references {
        people::name(&set.name)?;
    }
    Ok(())
}

fn check_settings(phase: &PhasePlan) -> anyhow::Result<()> {
    if i64::from(phase.per_day.max(phase.in_total)) > MOST {
        bail!(reason!("per_day and in_total are at most {}", MOST));
    }
    if phase.decimals > MOST_DECIMALS as u32 {
        bail!(reason!("decimals are at most {}", MOST_DECIMALS));
    }
    if let (Some(When(opens)), Some(When(closes))) = (phase.opens, phase.closes)
        && closes <= opens
    {
        bail!(reason!("it closes before it opens"));
    }
    if phase.main_set().is_some_and(|main| phase.references.iter().all(|set| set.name != *main)) {
        bail!(reason!("main_set is not among its references"));
    }
    workers::checked(&phase.given)?;
    // The measures of a program are known once its file is stored.
    if phase.program.is_none() {
        check_measures(phase, &[])?;
    }
    if let Some(address) = &phase.pictures {
        pictures::checked(address)?;
    }
    about::check(&phase.columns)?;
    halves::check(phase)?;
    qualifying::check(phase)?;
    for file in phase.files.iter().flatten() {
        phase_files::check_title(&file.title)?;
    }
    for set in &phase.references {
        if let Some(tokenizer) = &set.tokenizer {
            tokenizer
                .parse::<Tokenizer>()
                .map_err(|_| anyhow::Error::msg(reason!("no tokenizer is called {}", tokenizer)))?;
        }
    }
    Ok(())
}

/// Checks that the metrics exist and have the measures that settings name; `of_program` are those of the program.
fn check_measures(phase: &PhasePlan, of_program: &[String]) -> anyhow::Result<()> {
    let is_of_metric = |key: &str| {
        phase.columns.iter().all(|column| column.key != key)
            && phase.given.iter().all(|given| given.key != key)
    };
    let columns = phase.board_columns.iter().map(|key| ("board_columns", key.as_str()));
    let asked = std::iter::once(("main_metric", phase.main_metric.as_str())).chain(columns);
    let asked: Vec<_> = asked.filter(|(_, key)| is_of_metric(key)).collect();
    // A rule over measures that machines give is checked once the references are prepared.
    let rank_by = if phase.given.is_empty() { phase.rank_by() } else { "" };
    let selection = MetricSelection {
        names: &phase.metrics,
        derive: &phase.derive,
        rank_by,
        group_by: phase.group_by(),
        of_program,
        asked: &asked,
    };
    capeval_tasks::check_metrics(selection)
}

fn lacks(what: &str, name: &str) -> String {
    reason!("the file lacks the {} {}, which cannot be removed", what, name)
}

/// Refuses a plan without something that exists, which would otherwise stay in silence.
fn require_all<'p>(
    known: &[String],
    what: &str,
    planned: impl Iterator<Item = &'p str> + Clone,
) -> anyhow::Result<()> {
    let missing = known.iter().find(|name| !planned.clone().any(|planned| planned == name.as_str()));
    missing.map_or(Ok(()), |name| bail!(lacks(what, name)))
}

/// Refuses a plan that changes what scores depend on.
async fn require_unchanged(
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
        // Nothing was scored with references or a baseline that failed.
        tx.execute("DELETE FROM reference_set WHERE phase = $1 AND state = 'failed'", args![&id]).await?;
        let failed = "DELETE FROM submission WHERE phase = $1 AND kind = 'baseline' AND state = 'failed'";
        tx.execute(failed, args![&id]).await?;
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
    row.extend(columns! {
        position, vectors_hash: files.vectors.as_ref().map(|file| file.hash.clone()),
        vectors_file: files.vectors.as_ref().map_or("", |file| &file.name),
        program_hash: files.program.as_ref().map(|file| file.hash.clone()),
        program_file: files.program.as_ref().map_or("", |file| &file.name),
        public_ids_hash: files.public_ids.as_ref().map(|file| file.hash.clone()),
        public_ids_file: files.public_ids.as_ref().map_or("", |file| &file.name),
    });
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

fn require_same<T: PartialEq>(what: &str, known: &T, planned: &T) -> anyhow::Result<()> {
    anyhow::ensure!(
        known == planned,
        reason!("{} cannot change: scores depend on it; use a new phase", what)
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

/// The ids of a list: a JSON array, or one per line.
pub fn listed_images(text: &str) -> anyhow::Result<Vec<SegmentId>> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).context(reason!("not a JSON array of ids"));
    }
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(SegmentId::from_untyped).collect())
}

#[cfg(test)]
mod tests {
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
