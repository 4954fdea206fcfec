//! Benchmarks, phases and reference sets in the database, and who may see them.

use std::io;

use capeval_tasks::{Described, Metrics};
use serde_json::Value;

use crate::accounts::Visitor;
use crate::app::App;
use crate::fault::Fault;
use crate::store::{Error, Row, Store, Tx};
use crate::{args, clock};

capeval_choice::named! {
    /// Who sees that a benchmark exists.
    pub enum Visibility ("visibility") {
        Public = "public", "everyone";
        Registered = "registered", "registered users";
        Hidden = "hidden", "hosts and moderators";
    }
}

capeval_choice::named! {
    /// Who sees the scores of a phase before they are disclosed.
    pub enum BoardKind ("kind of board") {
        Public = "public", "everyone";
        Registered = "registered", "registered users";
        Own = "own", "teams see their own";
        Hidden = "hidden", "hosts";
    }
}

/// A benchmark.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// The id.
    pub id: String,
    /// Its part of addresses.
    pub slug: String,
    /// The title.
    pub title: String,
    /// What it is about, in a sentence or two.
    pub summary: String,
    /// The rules, in Markdown.
    pub rules: String,
    /// Who sees it.
    pub visibility: Visibility,
}

/// A phase of a benchmark.
#[derive(Clone, Debug)]
pub struct Phase {
    /// The id.
    pub id: String,
    /// The id of the benchmark.
    pub benchmark: String,
    /// Its part of addresses.
    pub slug: String,
    /// The title.
    pub title: String,
    /// When submissions begin.
    pub opens_at: Option<i64>,
    /// When they end.
    pub closes_at: Option<i64>,
    /// Since when a host has stopped them.
    pub frozen_at: Option<i64>,
    /// Submissions of a team on a day.
    pub per_day: i64,
    /// Submissions of a team in all.
    pub in_total: i64,
    /// Who sees the scores.
    pub board: BoardKind,
    /// When everybody sees them.
    pub reveal_at: Option<i64>,
    /// The decimals of shown scores.
    pub decimals: usize,
    /// The metrics or suites.
    pub metrics: Vec<String>,
    /// The reference set that ranks.
    pub main_set: String,
    /// The measure that ranks.
    pub main_metric: String,
    /// Whether the board has a row for people.
    pub human: bool,
    /// The scores that the board shows; `None` until all references are ready.
    pub score_set: Option<String>,
}

/// References of a phase.
#[derive(Clone, Debug)]
pub struct ReferenceSet {
    /// The id.
    pub id: String,
    /// The id of the phase.
    pub phase: String,
    /// The name, such as `c5`.
    pub name: String,
    /// The language of the captions.
    pub language: String,
    /// The tokenizer; `None` for that of each metric.
    pub tokenizer: Option<String>,
    /// The hash of the file as it was given.
    pub source_hash: String,
    /// The hash of the prepared file.
    pub prepared_hash: Option<String>,
    /// The hash of the list of ids.
    pub ids_hash: Option<String>,
    /// The ids to keep, as JSON.
    pub images: Option<String>,
    /// `preparing`, `ready` or `failed`.
    pub state: String,
    /// Why it failed.
    pub reason: Option<String>,
    /// The number of images.
    pub n_images: i64,
    /// The number of references.
    pub n_references: i64,
    /// The fewest references of an image.
    pub fewest: i64,
    /// The measures of its scores.
    pub measures: Vec<Described>,
}

impl Benchmark {
    fn of(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.get("id")?,
            slug: row.get("slug")?,
            title: row.get("title")?,
            summary: row.get("summary")?,
            rules: row.get("rules")?,
            visibility: row.get::<String>("visibility")?.parse().unwrap_or(Visibility::Hidden),
        })
    }
}

impl Phase {
    fn of(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.get("id")?,
            benchmark: row.get("benchmark")?,
            slug: row.get("slug")?,
            title: row.get("title")?,
            opens_at: row.get("opens_at")?,
            closes_at: row.get("closes_at")?,
            frozen_at: row.get("frozen_at")?,
            per_day: row.get("per_day")?,
            in_total: row.get("in_total")?,
            board: row.get::<String>("board")?.parse().unwrap_or(BoardKind::Hidden),
            reveal_at: row.get("reveal_at")?,
            decimals: row.get::<i64>("decimals")?.clamp(0, 12) as usize,
            metrics: serde_json::from_str(&row.get::<String>("metrics")?).unwrap_or_default(),
            main_set: row.get("main_set")?,
            main_metric: row.get("main_metric")?,
            human: row.flag("human")?,
            score_set: row.get("score_set")?,
        })
    }

    /// Whether all see the scores who see the benchmark.
    pub fn is_revealed(&self) -> bool {
        self.board == BoardKind::Public || self.reveal_at.is_some_and(|time| time <= clock::now())
    }

    /// Why nothing can be handed in now, if so.
    pub fn is_closed(&self) -> Option<Fault> {
        use crate::fault;
        let now = clock::now();
        if self.frozen_at.is_some() {
            return Some(fault!(CONFLICT, "frozen", "The hosts have stopped submissions to this phase."));
        }
        if let Some(opens) = self.opens_at.filter(|opens| *opens > now) {
            return Some(fault!(CONFLICT, "not-open", "This phase opens on {}.", clock::shown(opens)));
        }
        if let Some(closes) = self.closes_at.filter(|closes| *closes <= now) {
            return Some(fault!(CONFLICT, "closed", "This phase closed on {}.", clock::shown(closes)));
        }
        self.score_set.is_none().then(preparing)
    }
}

/// The fault of a phase whose references are not ready.
pub fn preparing() -> Fault {
    let fault = crate::fault!(
        CONFLICT,
        "preparing",
        "The references of this phase are being prepared. Try again in a minute."
    );
    fault.retry_after(60)
}

impl ReferenceSet {
    fn of(row: &Row) -> Result<Self, Error> {
        let number = |column: &str| Ok::<i64, Error>(row.get::<Option<i64>>(column)?.unwrap_or(0));
        let measures: Option<String> = row.get("measures")?;
        Ok(Self {
            id: row.get("id")?,
            phase: row.get("phase")?,
            name: row.get("name")?,
            language: row.get("language")?,
            tokenizer: row.get("tokenizer")?,
            source_hash: row.get("source_hash")?,
            prepared_hash: row.get("prepared_hash")?,
            ids_hash: row.get("ids_hash")?,
            images: row.get("images")?,
            state: row.get("state")?,
            reason: row.get("reason")?,
            n_images: number("n_images")?,
            n_references: number("n_references")?,
            fewest: number("fewest")?,
            measures: measures.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        })
    }

    /// Its metrics, for children.
    pub fn metrics(&self, phase: &Phase, app: &App) -> Metrics {
        Metrics { names: phase.metrics.clone(), tokenizer: self.tokenizer.clone(), data: app.data.clone() }
    }

    /// Itself, for children; `None` if it is not ready.
    ///
    /// # Errors
    /// If its file cannot be fetched.
    pub async fn for_child(&self, phase: &Phase, app: &App) -> io::Result<Option<capeval_tasks::Set>> {
        let Some(hash) = &self.prepared_hash else { return Ok(None) };
        let prepared = app.hidden.ready(hash).await?;
        Ok(Some(capeval_tasks::Set { id: self.id.clone(), prepared, metrics: self.metrics(phase, app) }))
    }
}

/// A benchmark that the visitor may see, with whether they are its host.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// Whether the visitor runs it.
    pub is_host: bool,
}

/// All benchmarks that the visitor may see, newest first.
///
/// # Errors
/// If the database fails.
pub async fn visible(store: &Store, visitor: Option<&Visitor>) -> Result<Vec<Seen>, Error> {
    let rows = store.all("SELECT * FROM benchmark ORDER BY id DESC", args![]).await?;
    let mut seen = Vec::new();
    for row in &rows {
        if let Some(one) = see(store, Benchmark::of(row)?, visitor).await? {
            seen.push(one);
        }
    }
    Ok(seen)
}

async fn see(store: &Store, benchmark: Benchmark, visitor: Option<&Visitor>) -> Result<Option<Seen>, Error> {
    let is_host = is_host(store, &benchmark.id, visitor).await?;
    let is_visible = match benchmark.visibility {
        Visibility::Public => true,
        Visibility::Registered => visitor.is_some(),
        Visibility::Hidden => false,
    };
    Ok((is_visible || is_host).then_some(Seen { benchmark, is_host }))
}

/// Whether the visitor runs a benchmark: one of its hosts, or an administrator.
///
/// # Errors
/// If the database fails.
pub async fn is_host(store: &Store, benchmark: &str, visitor: Option<&Visitor>) -> Result<bool, Error> {
    let Some(visitor) = visitor.filter(|visitor| visitor.is_host()) else { return Ok(false) };
    if visitor.is_admin() {
        return Ok(true);
    }
    let row = store
        .first(
            "SELECT 1 AS one FROM benchmark_host WHERE benchmark = $1 AND account = $2",
            args![benchmark, &visitor.id],
        )
        .await?;
    Ok(row.is_some())
}

/// The benchmark with this slug.
///
/// # Errors
/// If there is none that the visitor may see.
pub async fn benchmark(store: &Store, slug: &str, visitor: Option<&Visitor>) -> Result<Seen, Fault> {
    let row = store.first("SELECT * FROM benchmark WHERE slug = $1", args![slug]).await?;
    let benchmark = row.as_ref().map(Benchmark::of).transpose()?.ok_or_else(Fault::not_found)?;
    see(store, benchmark, visitor).await?.ok_or_else(Fault::not_found)
}

/// The phases of a benchmark in order.
///
/// # Errors
/// If the database fails.
pub async fn phases(store: &Store, benchmark: &str) -> Result<Vec<Phase>, Error> {
    let rows =
        store.all("SELECT * FROM phase WHERE benchmark = $1 ORDER BY position, id", args![benchmark]).await?;
    rows.iter().map(Phase::of).collect()
}

/// The phase with this slug, and its benchmark.
///
/// # Errors
/// If there is none that the visitor may see.
pub async fn phase(
    store: &Store,
    benchmark_slug: &str,
    slug: &str,
    visitor: Option<&Visitor>,
) -> Result<(Seen, Phase), Fault> {
    let seen = benchmark(store, benchmark_slug, visitor).await?;
    let row = store
        .first("SELECT * FROM phase WHERE benchmark = $1 AND slug = $2", args![&seen.benchmark.id, slug])
        .await?;
    let phase = row.as_ref().map(Phase::of).transpose()?.ok_or_else(Fault::not_found)?;
    Ok((seen, phase))
}

/// A phase for people who were asked to do something for it, whether or not they may see its benchmark otherwise.
///
/// # Errors
/// If there is none.
pub async fn phase_unseen(store: &Store, benchmark_slug: &str, slug: &str) -> Result<(Seen, Phase), Fault> {
    let row = store.first("SELECT * FROM benchmark WHERE slug = $1", args![benchmark_slug]).await?;
    let benchmark = row.as_ref().map(Benchmark::of).transpose()?.ok_or_else(Fault::not_found)?;
    let row = store
        .first("SELECT * FROM phase WHERE benchmark = $1 AND slug = $2", args![&benchmark.id, slug])
        .await?;
    let phase = row.as_ref().map(Phase::of).transpose()?.ok_or_else(Fault::not_found)?;
    Ok((Seen { benchmark, is_host: false }, phase))
}

/// The phase with this id, whoever asks.
///
/// # Errors
/// If there is none.
pub async fn phase_of(store: &Store, id: &str) -> Result<Phase, Fault> {
    let row = store.first("SELECT * FROM phase WHERE id = $1", args![id]).await?;
    row.as_ref().map(Phase::of).transpose()?.ok_or_else(Fault::not_found)
}

/// The phase with this id, which nobody changes until the transaction ends.
///
/// # Errors
/// If there is none.
pub async fn phase_shared(tx: &mut Tx, id: &str) -> Result<Phase, Fault> {
    let sql = tx.pick("SELECT * FROM phase WHERE id = $1", "SELECT * FROM phase WHERE id = $1 FOR SHARE");
    tx.first(sql, args![id]).await?.as_ref().map(Phase::of).transpose()?.ok_or_else(Fault::not_found)
}

/// The same, which meanwhile nobody else holds, either.
///
/// # Errors
/// If there is none.
pub async fn phase_alone(tx: &mut Tx, id: &str) -> Result<Phase, Fault> {
    let sql =
        tx.pick("SELECT * FROM phase WHERE id = $1", "SELECT * FROM phase WHERE id = $1 FOR NO KEY UPDATE");
    tx.first(sql, args![id]).await?.as_ref().map(Phase::of).transpose()?.ok_or_else(Fault::not_found)
}

/// The phase with this id, and its benchmark.
///
/// # Errors
/// If there is none that the visitor may see.
pub async fn phase_by_id(store: &Store, id: &str, visitor: Option<&Visitor>) -> Result<(Seen, Phase), Fault> {
    let phase = phase_of(store, id).await?;
    let row = store.first("SELECT * FROM benchmark WHERE id = $1", args![&phase.benchmark]).await?;
    let benchmark = row.as_ref().map(Benchmark::of).transpose()?.ok_or_else(Fault::not_found)?;
    let seen = see(store, benchmark, visitor).await?.ok_or_else(Fault::not_found)?;
    Ok((seen, phase))
}

/// The reference sets of a phase in order.
///
/// # Errors
/// If the database fails.
pub async fn sets(store: &Store, phase: &str) -> Result<Vec<ReferenceSet>, Error> {
    let rows =
        store.all("SELECT * FROM reference_set WHERE phase = $1 ORDER BY position, id", args![phase]).await?;
    rows.iter().map(ReferenceSet::of).collect()
}

/// The reference set with this id.
///
/// # Errors
/// If there is none.
pub async fn set(store: &Store, id: &str) -> Result<ReferenceSet, Fault> {
    let row = store.first("SELECT * FROM reference_set WHERE id = $1", args![id]).await?;
    row.as_ref().map(ReferenceSet::of).transpose()?.ok_or_else(Fault::not_found)
}

/// A phase for programs.
pub fn phase_as_json(seen: &Seen, phase: &Phase, sets: &[ReferenceSet]) -> Value {
    let sets: Vec<Value> = sets
        .iter()
        .map(|set| {
            serde_json::json!({
                "name": set.name, "language": set.language, "tokenizer": set.tokenizer, "state": set.state,
                "images": set.n_images, "references": set.n_references,
                "measures": set.measures,
            })
        })
        .collect();
    let closed = phase.is_closed();
    serde_json::json!({
        "id": phase.id, "benchmark": seen.benchmark.slug, "phase": phase.slug, "title": phase.title,
        "opens_at": phase.opens_at.map(clock::iso), "closes_at": phase.closes_at.map(clock::iso),
        "is_open": closed.is_none(), "refusal": closed.map(|fault| fault.to_string()),
        "reveal_at": phase.reveal_at.map(clock::iso),
        "per_day": phase.per_day, "in_total": phase.in_total, "board": phase.board, "decimals": phase.decimals,
        "metrics": phase.metrics, "main_set": phase.main_set, "main_metric": phase.main_metric,
        "reference_sets": sets,
    })
}
