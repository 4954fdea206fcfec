//! The rows of the board of a phase, as far as a visitor may see them.

use std::collections::{BTreeSet, HashMap, HashSet};

use capeval_api::{Half, SubmissionKind, SystemMeasures};
use capeval_site::prelude::*;
use capeval_tasks::MeasureInfo;
use indexmap::{IndexMap, IndexSet};
use serde::Deserialize;

use super::choices::BoardQuery;
use super::order::{Candidate, Row, WithCaptions, mark_ties, neighbours, order, pair, strength};
use super::ranks::{ranking, with_ranks};
use super::standing::{StandingCache, compared, standing};
use crate::about::Column;
use crate::judging;
use crate::records::{BoardKind, ReferenceSet, SeenBenchmark, SeenPhase};
use crate::settings::Phase;

/// The rows of a board as it is ranked.
async fn ranked(store: &Store, phase: &Phase, set: &ReferenceSet) -> Result<Vec<Row>, Error> {
    match &ranking(phase, set)[..] {
        [] => Ok(Vec::new()),
        ranking => Ok(order(standing(store, phase, set).await?, ranking)),
    }
}

/// Two submissions to compare, the smaller id first.
pub struct UncomparedPair {
    pub one: WithCaptions,
    pub other: WithCaptions,
    /// The ids of the reference sets by which they were not compared.
    pub sets: Vec<String>,
}

/// The neighbours on the boards of a phase that were not compared, by any reference set and measure; those on the board
/// that is shown first come first.
pub async fn uncompared(
    store: &Store,
    phase: &Phase,
    sets: &[ReferenceSet],
) -> Result<Vec<UncomparedPair>, Error> {
    let mut found: IndexMap<(String, String), UncomparedPair> = IndexMap::new();
    let mut sets: Vec<&ReferenceSet> = sets.iter().collect();
    sets.sort_by_key(|set| set.whole() != phase.main_set);
    for set in sets {
        let ranking = ranking(phase, set);
        let standing = standing(store, phase, set).await?;
        let known: HashSet<(String, String)> = store
            .fetch::<(String, String)>(
                "SELECT DISTINCT one, other FROM comparison WHERE score_set = $1 AND reference_set = $2",
                args![phase.score_set.as_deref().unwrap_or_default(), &set.id],
            )
            .await?
            .into_iter()
            .collect();
        // As it is ranked, and as visitors may sort it.
        let each = set.measures.iter().map(std::slice::from_ref);
        for sort in [&ranking[..]].into_iter().chain(each) {
            let rows = order(standing.clone(), sort);
            for (above, below) in neighbours(&rows) {
                let Some((one, other)) = pair(&rows[above].entry, &rows[below].entry) else { continue };
                let key = (one.0.clone(), other.0.clone());
                if known.contains(&key) {
                    continue;
                }
                let pair = found.entry(key).or_insert(UncomparedPair { one, other, sets: Vec::new() });
                if pair.sets.last() != Some(&set.id) {
                    pair.sets.push(set.id.clone());
                }
            }
        }
    }
    Ok(found.into_values().collect())
}

/// The places of teams by the references that rank now, of sets in the order of `records::sets`: the place, the team
/// and its submission. What has no score by the measure that ranks has no place.
pub async fn final_ranks(
    store: &Store,
    phase: &Phase,
    sets: &[ReferenceSet],
) -> Result<Vec<(usize, String, String)>, Error> {
    let Some(set) = phase.main_of(sets) else { return Ok(Vec::new()) };
    let ranking = ranking(phase, set);
    let has_score = |row: &Row| {
        ranking.first().is_some_and(|main| strength(row.entry.score(main), main) > f64::NEG_INFINITY)
    };
    let rows = ranked(store, phase, set).await?.into_iter().filter(has_score);
    Ok(rows.filter_map(|row| Some((row.rank?, row.entry.team.clone()?, row.entry.id.clone()))).collect())
}

/// The rows of the board, in order, that have captions.
pub async fn with_captions(
    store: &Store,
    phase: &Phase,
    set: &ReferenceSet,
) -> Result<Vec<WithCaptions>, Error> {
    let rows = ranked(store, phase, set).await?;
    Ok(rows.into_iter().filter_map(|row| Some((row.entry.id.clone(), row.entry.blob.clone()?))).collect())
}

/// A board.
pub struct Board {
    /// The references, with the measures that may be shown.
    pub set: ReferenceSet,
    /// The groups of images.
    pub groups: Vec<String>,
    /// The measure that it is sorted by.
    pub sort: MeasureInfo,
    /// The measures that are shown, that which sorts first.
    pub columns: Vec<MeasureInfo>,
    /// The columns of the hosts that are shown.
    pub details: Vec<Column>,
    /// The tags of any row.
    pub tags: Vec<String>,
    /// The rows that are shown.
    pub rows: Vec<Row>,
    /// The number of all rows, and of those that have a place.
    pub n_rows: usize,
    pub n_ranked: usize,
    /// True if some rows may be hidden by choice.
    pub is_filtered: bool,
    /// The ids of the visitor's teams.
    pub own: HashSet<String>,
    /// The names of the visitor's teams and their places.
    pub places: Vec<(String, usize)>,
    /// True if only rows of the visitor's teams are shown.
    pub is_own: bool,
    /// The rows that the hosts have removed, the newest removal first.
    pub removed: Vec<RemovedSubmission>,
    /// The sums of people's judgements of captions; empty where only own rows are shown.
    pub judged: Vec<JudgementTotals>,
}

impl Board {
    /// Returns true if an entry is of one of the visitor's teams.
    pub fn is_of_visitor(&self, entry: &Candidate) -> bool {
        entry.team.as_ref().is_some_and(|team| self.own.contains(team))
    }
}

/// The sums of people's judgements of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgementTotals {
    /// The name of the team; empty for baselines and references.
    pub team_name: String,
    /// The name of the method; empty for references.
    pub method: String,
    pub measured: SystemMeasures,
}

async fn judged(store: &Store, phase: &Phase) -> Result<Vec<JudgementTotals>, Error> {
    let results = judging::results(store, &phase.id).await?;
    if results.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT submission.id, COALESCE(team.name, ''), submission.method FROM submission \
               LEFT JOIN team ON team.id = submission.team \
               WHERE submission.disqualified_at IS NULL AND submission.id IN (SELECT item.submission \
               FROM evaluation_item AS item JOIN evaluation ON evaluation.id = item.evaluation \
               WHERE evaluation.phase = $1)";
    let systems: Vec<(String, String, String)> = store.fetch(sql, args![&phase.id]).await?;
    let mut systems: HashMap<String, (String, String)> =
        systems.into_iter().map(|(id, team_name, method)| (id, (team_name, method))).collect();
    let judged = results.into_iter().filter_map(|measured| {
        let (team_name, method) = match &measured.system {
            Some(system) => systems.remove(system)?,
            None => Default::default(),
        };
        Some(JudgementTotals { team_name, method, measured })
    });
    Ok(judged.collect())
}

/// A submission that the hosts have removed from the board.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RemovedSubmission {
    /// The id of the team.
    pub team: Option<String>,
    pub team_name: String,
    pub method: String,
    #[serde(deserialize_with = "store::or_default")]
    pub reason: String,
    pub at: i64,
}

async fn removed(store: &Store, phase: &Phase) -> Result<Vec<RemovedSubmission>, Error> {
    let sql = "SELECT submission.team AS team, COALESCE(team.name, '') AS team_name, submission.method AS method, \
               submission.disqualified_for AS reason, submission.disqualified_at AS at \
               FROM submission LEFT JOIN team ON team.id = submission.team \
               WHERE submission.phase = $1 AND submission.disqualified_at IS NOT NULL \
               ORDER BY submission.disqualified_at DESC, submission.id";
    store.fetch(sql, args![&phase.id]).await
}

/// The ids of the visitor's teams.
async fn own_teams(store: &Store, visitor: Option<&Visitor>) -> Result<HashSet<String>, Error> {
    let Some(visitor) = visitor else { return Ok(HashSet::new()) };
    let teams = store.fetch("SELECT team FROM team_member WHERE account = $1", args![&visitor.id]).await?;
    Ok(teams.into_iter().collect())
}

/// Forgets how metrics of a phase correlate with people's judgements, since a team has another name, or other captions
/// are on the board.
pub async fn forget_agreement(tx: &mut Tx, phase: &str) -> Result<(), Error> {
    let sql = "UPDATE job SET state = 'cancelled', finished_at = $1 \
               WHERE subject = $2 AND kind = 'phase-agreement' AND state = 'running'";
    // What a job has read is out of date, too.
    tx.execute(sql, args![clock::now(), phase]).await?;
    tx.execute("DELETE FROM phase_agreement WHERE phase = $1", args![phase]).await.map(drop)
}

/// The part of a board that a visitor sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// No score.
    Nothing,
    /// The rows of their own teams.
    Own,
    All,
}

/// The part of the boards of a phase that a visitor sees.
pub fn sight(seen: &SeenBenchmark, phase: &Phase, visitor: Option<&Visitor>) -> Sight {
    match (phase.board, visitor) {
        _ if seen.is_host || phase.is_revealed() => Sight::All,
        (BoardKind::Registered, Some(_)) => Sight::All,
        (BoardKind::Own, Some(_)) => Sight::Own,
        _ => Sight::Nothing,
    }
}

/// Gives rows of a private half the ranks of their teams on the board of the public one.
fn add_public_ranks(rows: &mut [Row], public: &[Row]) {
    let ranks: HashMap<_, _> = public.iter().map(|row| (row.entry.team.as_ref(), row.rank)).collect();
    for row in rows.iter_mut().filter(|row| row.rank.is_some()) {
        row.public_rank = ranks.get(&row.entry.team.as_ref()).copied().flatten();
    }
}

/// The reference set with a name, or else the one that ranks, if there is one.
fn asked_set<'s>(phase: &Phase, shown: &'s [ReferenceSet], name: &str) -> Result<Option<&'s ReferenceSet>> {
    if name.is_empty() {
        return Ok(phase.main_of(shown));
    }
    let unknown = || Fault::malformed(&format_args!("ref: the board has no references `{name}`"));
    shown.iter().find(|set| set.name == name).map(Some).ok_or_else(unknown)
}

/// The board of a phase as a visitor may see it; `None` if they may not see any score.
pub async fn board(
    app: &App,
    SeenPhase { seen, phase }: &SeenPhase,
    sets: &[ReferenceSet],
    visitor: Option<&Visitor>,
    asked: &BoardQuery,
) -> Result<Option<Board>> {
    let store = &app.store;
    let sight = sight(seen, phase, visitor);
    let is_own = sight == Sight::Own;
    // Ranks tell how others do.
    let shown: Vec<ReferenceSet> = match is_own {
        true => sets.to_vec(),
        false => sets.iter().map(|set| with_ranks(phase, set)).collect(),
    };
    let Some(set) = asked_set(phase, &shown, &asked.set)? else { return Ok(None) };
    let Some(main) = set.main_measure(phase).filter(|_| sight != Sight::Nothing) else { return Ok(None) };
    let ranking = match (asked.sort.as_str(), asked.group.as_str()) {
        ("", "") if is_own => vec![main.clone()],
        ("", "") => ranking(phase, set),
        _ => vec![asked.sort_by(set, main)?],
    };
    let sort = ranking.first().unwrap_or(main);
    let columns = asked.columns(phase, &shown, set, sort)?;
    let filter = asked.filter()?;
    let mut rows = order(app.part::<StandingCache>().standing(store, phase, set).await?, &ranking);
    let mut removed = removed(store, phase).await?;
    let judged = if is_own { Vec::new() } else { judged(store, phase).await? };
    let own = own_teams(store, visitor).await?;
    let is_of = |team: &Option<String>| team.as_ref().is_some_and(|team| own.contains(team));
    if is_own {
        rows.retain(|row| is_of(&row.entry.team));
        removed.retain(|row| is_of(&row.team));
        rows.iter_mut().for_each(|row| row.rank = None);
    } else {
        // What is made of ranks has no test.
        let is_tested = sets.iter().any(|set| set.measures.contains(sort));
        let tested = if is_tested { sort } else { main };
        let known = compared(store, phase, set, &tested.key).await?;
        mark_ties(&mut rows, &known);
    }
    if let Some(public) = set.other_half(&shown).filter(|_| set.half == Some(Half::Private) && !is_own) {
        let public = order(app.part::<StandingCache>().standing(store, phase, public).await?, &ranking);
        add_public_ranks(&mut rows, &public);
    }
    let places = rows.iter().filter(|row| is_of(&row.entry.team));
    let places = places.filter_map(|row| Some((row.entry.team_name.clone(), row.rank?))).collect();
    let n_ranked = rows.iter().filter(|row| row.rank.is_some()).count();
    let n_rows = rows.len();
    let tags: BTreeSet<&String> = rows.iter().flat_map(|row| &row.entry.method_details.tags).collect();
    let tags = tags.into_iter().cloned().collect();
    // Places and marks are those of the whole board.
    rows.retain(|row| row.entry.kind == SubmissionKind::Human || filter.shows(&row.entry));
    let groups: IndexSet<&String> =
        set.measures.iter().filter_map(|measure| measure.group.as_ref()).collect();
    let mut set = set.clone();
    let groups = groups.into_iter().cloned().collect();
    set.measures.retain(|measure| asked.shows(measure) || columns.contains(measure));
    Ok(Some(Board {
        set,
        groups,
        sort: sort.clone(),
        columns,
        details: asked.details(phase),
        tags,
        rows,
        n_rows,
        n_ranked,
        is_filtered: !filter.is_empty(),
        own,
        places,
        is_own,
        removed,
        judged,
    }))
}
