//! Benchmarks, phases and reference sets in the database, and who may see them.

use std::collections::HashMap;

use capeval_api::{Half, SetState};
use capeval_site::prelude::*;
use capeval_tasks::{ImageGroups, ImageVectors, MeasureInfo, Metrics};
use serde::Deserialize;

use super::about::Column;
use super::programs;
use super::settings::{Benchmark, Phase};

pub use capeval_api::{BoardKind, Visibility};

/// References of a phase.
#[derive(Clone, Debug, Deserialize)]
pub struct ReferenceSet {
    pub id: String,
    /// The id of the phase.
    pub phase: String,
    /// The name, such as `c5`, or `c5-private` of its private half.
    pub name: String,
    /// The half of the images that it has; `None` for all.
    pub half: Option<Half>,
    /// True if only hosts see its scores now.
    pub is_withheld: bool,
    /// The language of the captions.
    pub language: String,
    /// The tokenizer; `None` for that of each metric.
    pub tokenizer: Option<String>,
    /// The hash of the file as it was given.
    pub source_hash: String,
    /// The name that it had; empty if it is not known.
    pub file: String,
    /// The hash of the prepared file.
    pub prepared_hash: Option<String>,
    /// The hash of the list of ids.
    pub ids_hash: Option<String>,
    /// The state; only a set that is ready can be scored with.
    pub state: SetState,
    /// The reason why it failed.
    pub reason: Option<String>,
    /// True if a job that prepares it waits or runs.
    pub is_in_work: bool,
    /// The number of images.
    #[serde(deserialize_with = "store::or_default")]
    pub n_images: usize,
    /// The number of references.
    #[serde(deserialize_with = "store::or_default")]
    pub n_references: usize,
    /// The fewest references of an image.
    #[serde(deserialize_with = "store::or_default")]
    pub fewest: i64,
    /// The measures of its scores.
    #[serde(deserialize_with = "store::json")]
    pub measures: Vec<MeasureInfo>,
    /// What the reader noticed about the file, for hosts.
    #[serde(deserialize_with = "store::json")]
    pub notices: Vec<String>,
}

impl Phase {
    /// Returns true if all who see the benchmark see the scores.
    pub fn is_revealed(&self) -> bool {
        self.board == BoardKind::Public || self.reveal_at.is_some_and(|time| time <= clock::now())
    }

    /// Its dates, each with what happens then.
    pub fn dates(&self) -> Vec<(&'static str, i64)> {
        let dates = [
            (say("Opens"), self.opens_at),
            (say("Closes"), self.closes_at),
            (say("The private half is shown"), self.private_from()),
            (say("Scores become public"), self.reveal_at.filter(|_| self.board != BoardKind::Public)),
        ];
        dates.into_iter().filter_map(|(what, time)| Some((what, time?))).collect()
    }

    /// Refuses submissions if none can be made now.
    pub fn require_open(&self) -> Result<()> {
        self.refusal().map_or(Ok(()), Err)
    }

    /// The reason why nothing can be submitted now, if so.
    pub fn refusal(&self) -> Option<Fault> {
        let now = clock::now();
        if self.frozen_at.is_some() {
            return Some(fault!(CONFLICT, "frozen", "The hosts have stopped submissions to this phase."));
        }
        if let Some(opens) = self.opens_at.filter(|opens| *opens > now) {
            return Some(fault!(CONFLICT, "not-open", "This phase opens on {}.", clock::readable(opens)));
        }
        if let Some(closes) = self.closes_at.filter(|closes| *closes <= now) {
            return Some(fault!(CONFLICT, "closed", "This phase closed on {}.", clock::readable(closes)));
        }
        if self.awaits_ranks() {
            return Some(fault! {
                CONFLICT, "not-ranked",
                "This phase opens when it is decided which teams of the phase {} may submit.",
                &self.from_phase
            });
        }
        self.score_set.is_none().then(preparing)
    }
}

/// The state of a phase, which decides what can be done in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseState {
    /// Submissions begin later.
    Upcoming,
    /// Its references are not ready.
    Preparing,
    /// Results can be submitted.
    Open,
    /// The hosts have stopped submissions.
    Stopped,
    /// Submissions have ended.
    Ended,
}

impl Phase {
    /// The state of a phase with these reference sets.
    pub fn state(&self, sets: &[ReferenceSet]) -> PhaseState {
        match closed(self, sets).map(|fault| fault.code) {
            None => PhaseState::Open,
            Some("frozen") => PhaseState::Stopped,
            Some("not-open" | "not-ranked") => PhaseState::Upcoming,
            Some("closed") => PhaseState::Ended,
            Some(_) => PhaseState::Preparing,
        }
    }
}

impl PhaseState {
    /// Its class of the style.
    pub fn class(self) -> &'static str {
        match self {
            Self::Upcoming => "upcoming",
            Self::Preparing => "preparing",
            Self::Open => "open",
            Self::Stopped => "stopped",
            Self::Ended => "ended",
        }
    }

    /// Itself in a word, and until or since when.
    pub fn words(self, page: &Page, phase: &Phase) -> String {
        match (self, phase.opens_at, phase.closes_at) {
            (Self::Open, _, Some(closes)) => page.t1("open until {}", clock::day(closes)),
            (Self::Open, ..) => page.t("open").to_owned(),
            (Self::Upcoming, ..) if phase.awaits_ranks() => page.t("opens by rank").to_owned(),
            (Self::Upcoming, Some(opens), _) => page.t1("opens on {}", clock::day(opens)),
            (Self::Ended, _, Some(closes)) => page.t1("ended on {}", clock::day(closes)),
            (Self::Stopped, ..) => page.t("stopped").to_owned(),
            (Self::Upcoming | Self::Ended, ..) => page.t("closed").to_owned(),
            (Self::Preparing, ..) => page.t("being prepared").to_owned(),
        }
    }
}

/// The fault of a phase whose references are not ready.
pub fn preparing() -> Fault {
    let fault = fault! {
        CONFLICT, "preparing", "The references of this phase are being prepared. Try again in a minute."
    };
    fault.retry_after(60)
}

/// The fault of a phase whose references could not be prepared.
fn not_prepared() -> Fault {
    fault! {
        CONFLICT, "not-prepared",
        "The references of this phase could not be prepared. Its hosts can see why, and try again."
    }
}

/// The reason why nothing can be submitted now to a phase with these reference sets, if so.
pub fn closed(phase: &Phase, sets: &[ReferenceSet]) -> Option<Fault> {
    let fault = phase.refusal()?;
    Some(if fault.code == preparing().code { unready(sets) } else { fault })
}

/// The fault of a phase without scores, with these reference sets.
pub fn unready(sets: &[ReferenceSet]) -> Fault {
    if have_failed(sets) { not_prepared() } else { preparing() }
}

/// Returns true if some references could not be prepared.
pub fn have_failed(sets: &[ReferenceSet]) -> bool {
    sets.iter().any(|set| set.state == SetState::Failed)
}

impl ReferenceSet {
    /// Itself as people see it: it is being prepared only while a job does that.
    fn seen(self) -> Self {
        if self.state != SetState::Preparing || self.is_in_work {
            return self;
        }
        let reason = self.reason.or_else(|| Some(reason!("the preparation ended without a result")));
        Self { state: SetState::Failed, reason, ..self }
    }

    fn for_programs(&self, is_host: bool) -> capeval_api::ReferenceSet {
        capeval_api::ReferenceSet {
            name: self.name.clone(),
            half: self.half.map(Into::into),
            language: self.language.clone(),
            tokenizer: self.tokenizer.clone(),
            state: self.state.into(),
            reason: self.reason.clone().filter(|_| is_host),
            images: self.n_images,
            references: self.n_references,
            measures: self.measures.iter().map(measure_for_programs).collect(),
            notices: if is_host { self.notices.clone() } else { Vec::new() },
        }
    }

    /// Its metrics, for children.
    pub async fn metrics(&self, phase: &Phase, app: &App) -> anyhow::Result<Metrics> {
        let vectors = match &phase.vectors_hash {
            Some(hash) => {
                Some(ImageVectors { name: phase.vectors_file.clone(), file: app.hidden.ready(hash).await? })
            }
            None => None,
        };
        let groups = match phase.group_by.as_str() {
            "" => None,
            column => Some(ImageGroups {
                column: column.to_owned(),
                source: app.hidden.ready(&self.source_hash).await?,
            }),
        };
        Ok(Metrics {
            names: phase.metrics.clone(),
            derive: phase.derive.clone(),
            groups,
            tokenizer: self.tokenizer.clone(),
            data: app.data(),
            vectors,
            program: programs::of_phase(app, phase).await?,
        })
    }

    /// Itself, for children; `None` if it is not ready.
    pub async fn for_child(&self, phase: &Phase, app: &App) -> anyhow::Result<Option<capeval_tasks::Set>> {
        let Some(hash) = &self.prepared_hash else { return Ok(None) };
        let prepared = app.hidden.ready(hash).await?;
        let metrics = self.metrics(phase, app).await?;
        Ok(Some(capeval_tasks::Set { id: self.id.clone(), prepared, metrics }))
    }
}

/// A benchmark that the visitor may see, with whether they are its host.
#[derive(Clone, Debug)]
pub struct SeenBenchmark {
    pub benchmark: Benchmark,
    /// True if the visitor runs it.
    pub is_host: bool,
}

/// A phase that the visitor may see, with its benchmark.
#[derive(Clone, Debug)]
pub struct SeenPhase {
    pub seen: SeenBenchmark,
    pub phase: Phase,
}

/// `{slug}`
impl Subject for SeenBenchmark {
    const KIND: &'static str = "benchmark";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        benchmark(&app.store, names.require("slug")?, visitor).await
    }

    fn standing(&self) -> Standing {
        if self.is_host { Standing::Hosts } else { Standing::Sees }
    }
}

/// `{slug}` and `{phase}`, or `{id}`
impl Subject for SeenPhase {
    const KIND: &'static str = "phase";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let (seen, phase) = match names.get("id") {
            Some(id) => phase_by_id(&app.store, id, visitor).await?,
            None => phase(&app.store, names.require("slug")?, names.require("phase")?, visitor).await?,
        };
        Ok(Self { seen, phase })
    }

    fn standing(&self) -> Standing {
        self.seen.standing()
    }
}

impl SeenPhase {
    /// The address of the page that is called `page` below that of the phase.
    pub fn address(&self, page: &str) -> String {
        self.seen.benchmark.address(&format!("{}/{page}", encode(&self.phase.slug)))
    }
}

impl SeenBenchmark {
    /// A benchmark, if a visitor may see it.
    fn of(benchmark: Benchmark, visitor: Option<&Visitor>, is_host: bool) -> Option<Self> {
        let is_visible = match benchmark.visibility {
            _ if benchmark.draft => false,
            Visibility::Public => true,
            Visibility::Registered => visitor.is_some(),
            Visibility::Hidden => false,
        };
        (is_visible || is_host).then_some(Self { benchmark, is_host })
    }
}

/// All benchmarks that the visitor may see, newest first.
pub async fn visible(store: &Store, visitor: Option<&Visitor>) -> Result<Vec<SeenBenchmark>, Error> {
    let benchmarks: Vec<Benchmark> = store.fetch("SELECT * FROM benchmark ORDER BY id DESC", args![]).await?;
    let sql = "SELECT benchmark FROM benchmark_host WHERE account = $1";
    let hosted: Vec<String> = match visitor.filter(|visitor| visitor.is_host()) {
        Some(visitor) => store.fetch(sql, args![&visitor.id]).await?,
        None => Vec::new(),
    };
    let hosts = |id: &String| visitor.is_some_and(Visitor::is_admin) || hosted.contains(id);
    let seen = benchmarks.into_iter().filter_map(|benchmark| {
        let is_host = hosts(&benchmark.id);
        SeenBenchmark::of(benchmark, visitor, is_host)
    });
    Ok(seen.collect())
}

async fn see(
    store: &Store,
    benchmark: Benchmark,
    visitor: Option<&Visitor>,
) -> Result<Option<SeenBenchmark>, Error> {
    let is_host = is_host(store, &benchmark.id, visitor).await?;
    Ok(SeenBenchmark::of(benchmark, visitor, is_host))
}

/// Finds the account `$2` if it runs the benchmark `$1`: it is an administrator's, or one of its hosts', who have the
/// role of hosts.
pub const RUNS: &str = "SELECT 1 FROM account WHERE id = $2 AND (role = 'admin' OR role = 'host' AND EXISTS \
    (SELECT 1 FROM benchmark_host WHERE benchmark = $1 AND account = $2))";

/// Returns true if the visitor runs a benchmark, as one of its hosts or as an administrator.
pub async fn is_host(store: &Store, benchmark: &str, visitor: Option<&Visitor>) -> Result<bool, Error> {
    // Members, who are most visitors, need no query.
    let Some(visitor) = visitor.filter(|visitor| visitor.is_host()) else { return Ok(false) };
    store.exists(RUNS, args![benchmark, &visitor.id]).await
}

/// The benchmark with this slug.
pub async fn benchmark(store: &Store, slug: &str, visitor: Option<&Visitor>) -> Result<SeenBenchmark> {
    let benchmark = store.fetch_optional("SELECT * FROM benchmark WHERE slug = $1", args![slug]).await?;
    let benchmark = benchmark.ok_or_else(Fault::not_found)?;
    see(store, benchmark, visitor).await?.ok_or_else(Fault::not_found)
}

/// Returns true if there is a benchmark with this slug.
pub async fn is_taken(store: &Store, slug: &str) -> Result<bool, Error> {
    store.exists("SELECT 1 FROM benchmark WHERE slug = $1", args![slug]).await
}

/// The phases of a benchmark in order.
pub async fn phases(store: &Store, benchmark: &str) -> Result<Vec<Phase>, Error> {
    store.fetch("SELECT * FROM phase WHERE benchmark = $1 ORDER BY position, id", args![benchmark]).await
}

/// The reference sets of a benchmark, of a phase, with an id, or all, without their lists of images, which may be long:
/// those of public halves come first, and last once the private ones are shown.
const SETS: &str = "SELECT * FROM (SELECT reference_set.id AS id, reference_set.phase AS phase, reference_set.name AS name, \
    reference_set.half AS half, reference_set.position AS position, \
    CAST(CASE WHEN reference_set.half = 'private' AND COALESCE(phase.private_at, phase.closes_at, $4 + 1) > $4 \
    THEN 1 ELSE 0 END AS BIGINT) AS is_withheld, \
    reference_set.language AS language, reference_set.tokenizer AS tokenizer, \
    reference_set.source_hash AS source_hash, reference_set.file AS file, reference_set.prepared_hash AS prepared_hash, \
    reference_set.ids_hash AS ids_hash, reference_set.state AS state, reference_set.reason AS reason, \
    reference_set.n_images AS n_images, reference_set.n_references AS n_references, \
    reference_set.fewest AS fewest, reference_set.measures AS measures, reference_set.notices AS notices, CAST(CASE WHEN EXISTS (SELECT 1 FROM job \
    WHERE job.subject = reference_set.id AND job.kind = 'prepare' AND job.state IN ('queued', 'running')) \
    THEN 1 ELSE 0 END AS BIGINT) AS is_in_work FROM reference_set JOIN phase ON phase.id = reference_set.phase \
    WHERE ($1 = '' OR phase.benchmark = $1) AND ($2 = '' OR phase.id = $2) \
    AND ($3 = '' OR reference_set.id = $3)) AS found \
    ORDER BY CASE WHEN half = 'private' THEN 2 * is_withheld ELSE 1 END, position, id";

/// The phases of a benchmark, or else of all, in order and with their reference sets, also those that are withheld, by
/// the id of the benchmark.
pub async fn phases_with_sets(
    store: &Store,
    benchmark: Option<&str>,
) -> Result<HashMap<String, Vec<(Phase, Vec<ReferenceSet>)>>, Error> {
    let phases = "SELECT * FROM phase WHERE $1 = '' OR benchmark = $1 ORDER BY position, id";
    let benchmark = benchmark.unwrap_or_default();
    let phases: Vec<Phase> = store.fetch(phases, args![benchmark]).await?;
    let mut by_phase: HashMap<String, Vec<ReferenceSet>> = HashMap::new();
    for set in store.fetch::<ReferenceSet>(SETS, args![benchmark, "", "", clock::now()]).await? {
        by_phase.entry(set.phase.clone()).or_default().push(set.seen());
    }
    let mut by_benchmark: HashMap<String, Vec<_>> = HashMap::new();
    for phase in phases {
        let sets = by_phase.remove(&phase.id).unwrap_or_default();
        by_benchmark.entry(phase.benchmark.clone()).or_default().push((phase, sets));
    }
    Ok(by_benchmark)
}

/// The number of teams that take part in each phase of a benchmark.
pub async fn teams_by_phase(store: &Store, benchmark: &str) -> Result<HashMap<String, i64>, Error> {
    let sql = "SELECT phase, COUNT(*) FROM entry WHERE phase IN (SELECT id FROM phase WHERE benchmark = $1) \
               GROUP BY phase";
    Ok(store.fetch::<(String, i64)>(sql, args![benchmark]).await?.into_iter().collect())
}

/// The number of teams that take part in each benchmark.
pub async fn teams_by_benchmark(store: &Store) -> Result<HashMap<String, i64>, Error> {
    let sql = "SELECT phase.benchmark, COUNT(DISTINCT entry.team) FROM entry JOIN phase ON phase.id = entry.phase \
               GROUP BY phase.benchmark";
    Ok(store.fetch::<(String, i64)>(sql, args![]).await?.into_iter().collect())
}

/// The phase with this slug, and its benchmark.
pub async fn phase(
    store: &Store,
    benchmark_slug: &str,
    slug: &str,
    visitor: Option<&Visitor>,
) -> Result<(SeenBenchmark, Phase)> {
    let seen = benchmark(store, benchmark_slug, visitor).await?;
    let phase = phase_called(store, &seen.benchmark.id, slug).await?;
    Ok((seen, phase))
}

/// A phase for people who were asked to do something for it, whether or not they may see its benchmark otherwise.
pub async fn phase_unseen(store: &Store, benchmark_slug: &str, slug: &str) -> Result<(SeenBenchmark, Phase)> {
    let sql = "SELECT * FROM benchmark WHERE slug = $1";
    let benchmark: Option<Benchmark> = store.fetch_optional(sql, args![benchmark_slug]).await?;
    let benchmark = benchmark.ok_or_else(Fault::not_found)?;
    let phase = phase_called(store, &benchmark.id, slug).await?;
    Ok((SeenBenchmark { benchmark, is_host: false }, phase))
}

async fn phase_called(store: &Store, benchmark: &str, slug: &str) -> Result<Phase> {
    let sql = "SELECT * FROM phase WHERE benchmark = $1 AND slug = $2";
    store.fetch_optional(sql, args![benchmark, slug]).await?.ok_or_else(Fault::not_found)
}

/// The phase with this id, without asking who may see it.
pub async fn phase_of(store: &Store, id: &str) -> Result<Phase> {
    let phase = store.fetch_optional("SELECT * FROM phase WHERE id = $1", args![id]).await?;
    phase.ok_or_else(Fault::not_found)
}

/// The phase with this id, which stays as it is until the transaction ends.
pub async fn phase_shared(tx: &mut Tx, id: &str) -> Result<Phase> {
    let sql = tx.pick("SELECT * FROM phase WHERE id = $1", "SELECT * FROM phase WHERE id = $1 FOR SHARE");
    tx.fetch_optional(sql, args![id]).await?.ok_or_else(Fault::not_found)
}

/// The same, which no other transaction holds, either.
pub async fn phase_alone(tx: &mut Tx, id: &str) -> Result<Phase> {
    let sql =
        tx.pick("SELECT * FROM phase WHERE id = $1", "SELECT * FROM phase WHERE id = $1 FOR NO KEY UPDATE");
    tx.fetch_optional(sql, args![id]).await?.ok_or_else(Fault::not_found)
}

/// The phase with this id, and its benchmark.
pub async fn phase_by_id(
    store: &Store,
    id: &str,
    visitor: Option<&Visitor>,
) -> Result<(SeenBenchmark, Phase)> {
    let phase = phase_of(store, id).await?;
    let benchmark = store.fetch_one("SELECT * FROM benchmark WHERE id = $1", args![&phase.benchmark]).await?;
    let seen = see(store, benchmark, visitor).await?.ok_or_else(Fault::not_found)?;
    Ok((seen, phase))
}

/// The reference sets of a phase whose scores people see now, in order: hosts see those of both halves.
pub async fn sets(store: &Store, SeenPhase { seen, phase }: &SeenPhase) -> Result<Vec<ReferenceSet>, Error> {
    let mut sets = all_sets(store, &phase.id).await?;
    sets.retain(|set| seen.is_host || !set.is_withheld);
    Ok(sets)
}

/// All reference sets of a phase in order, for hosts, for jobs, and to check files.
pub async fn all_sets(store: &Store, phase: &str) -> Result<Vec<ReferenceSet>, Error> {
    let sets: Vec<ReferenceSet> = store.fetch(SETS, args!["", phase, "", clock::now()]).await?;
    Ok(sets.into_iter().map(ReferenceSet::seen).collect())
}

/// The same for a phase that the transaction holds alone.
pub async fn all_sets_in(tx: &mut Tx, phase: &str) -> Result<Vec<ReferenceSet>, Error> {
    let sets: Vec<ReferenceSet> = tx.fetch(SETS, args!["", phase, "", clock::now()]).await?;
    Ok(sets.into_iter().map(ReferenceSet::seen).collect())
}

/// The reference set with this id.
pub async fn set(store: &Store, id: &str) -> Result<ReferenceSet> {
    store.fetch_optional(SETS, args!["", "", id, clock::now()]).await?.ok_or_else(Fault::not_found)
}

/// The ids of the images that a reference set keeps, as JSON; `None` for all.
pub async fn images(tx: &mut Tx, set: &str) -> Result<Option<String>, Error> {
    tx.fetch_one("SELECT images FROM reference_set WHERE id = $1", args![set]).await
}

/// A benchmark for programs.
pub fn for_programs(seen: &SeenBenchmark, phases: &[(Phase, Vec<ReferenceSet>)]) -> capeval_api::Benchmark {
    let Benchmark { slug, title, summary, draft, .. } = seen.benchmark.clone();
    let phases = phases.iter().map(|(phase, sets)| phase_for_programs(seen, phase, sets));
    capeval_api::Benchmark { slug, title, summary, draft: Some(draft), phases: phases.collect() }
}

/// A phase for programs.
pub fn phase_for_programs(seen: &SeenBenchmark, phase: &Phase, sets: &[ReferenceSet]) -> capeval_api::Phase {
    let closed = closed(phase, sets);
    capeval_api::Phase {
        id: phase.id.clone(),
        benchmark: seen.benchmark.slug.clone(),
        phase: phase.slug.clone(),
        title: phase.title.clone(),
        opens_at: phase.opens_at.map(clock::time),
        closes_at: phase.closes_at.map(clock::time),
        is_open: closed.is_none(),
        refusal: closed.map(|fault| fault.to_string()),
        reveal_at: phase.reveal_at.map(clock::time),
        per_day: phase.per_day,
        in_total: phase.in_total,
        board: phase.board.into(),
        decimals: phase.decimals,
        metrics: phase.metrics.clone(),
        derive: phase.derive.clone(),
        group_by: phase.group_by.clone(),
        main_set: phase.main_set.clone(),
        main_metric: phase.main_metric.clone(),
        rank_by: phase.rank_by.clone(),
        board_columns: phase.board_columns.clone(),
        columns: phase.columns.iter().map(Column::for_programs).collect(),
        per_image: Some(phase.per_image.into()),
        halves: phase.halves_for_programs(),
        reference_sets: sets
            .iter()
            .filter(|set| seen.is_host || !set.is_withheld)
            .map(|set| set.for_programs(seen.is_host))
            .collect(),
    }
}

/// A measure for programs.
pub fn measure_for_programs(measure: &MeasureInfo) -> capeval_api::Measure {
    capeval_api::Measure {
        key: measure.key.clone(),
        label: measure.label.clone(),
        lower_is_better: measure.lower_is_better,
        is_count: measure.is_count,
    }
}
