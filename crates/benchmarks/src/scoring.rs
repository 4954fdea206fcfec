//! Does the work behind boards: prepares references, scores submissions, and compares neighbours.

use std::path::PathBuf;

use capeval_api::{SetState, SubmissionKind};
use capeval_choice::SegmentId;
use capeval_report::charts::SQUARES;
use capeval_site::jobs::child;
use capeval_site::prelude::*;
use capeval_tasks::{
    Allowance, Compare, Contrast, MeasureInfo, Metrics, Prepare, ReferenceSummary, Score, Set, SetContrast,
    SetScores, SetTests,
};
use tempfile::TempDir;

use super::board::{self, UncomparedPair};
use super::records::{self, ReferenceSet};
use super::settings::Phase;
use super::submissions::{self, Submission};
use super::{notifications, programs, rescore, submit, workers};

/// Prepares a reference set.
pub struct PrepareSet;

/// Scores a submission by all reference sets.
pub struct ScoreSubmission;

/// Compares the neighbours on the board of a phase.
pub struct CompareNeighbours;

/// The most pairs that one job compares; another one compares the next.
const PAIRS: usize = 20;

/// Prepared references, and the hashes of their files.
pub struct PreparedSet {
    about: ReferenceSummary,
    prepared: String,
    ids: String,
}

impl Work for PrepareSet {
    const KIND: &'static str = "prepare";
    const LANE: Lane = Lane::Checks;
    type Subject = String;
    type Output = PreparedSet;

    async fn run(app: &App, job: &Job) -> Result<PreparedSet, Failure> {
        let set = records::set(&app.store, &job.subject).await?;
        let phase = records::phase_of(&app.store, &set.phase).await?;
        let folder = TempDir::new_in(app.hidden.drafts())?;
        let (prepared, ids) = (folder.path().join("prepared"), folder.path().join("ids"));
        let source = app.hidden.ready(&set.source_hash).await?;
        let images = records::images(&mut app.store.snapshot().await?, &set.id).await?;
        let images = images.as_deref().map(serde_json::from_str).transpose()?;
        let mut metrics = set.metrics(&phase, app).await?;
        tell_hosts(&mut metrics);
        let allowance = Allowance {
            write: vec![folder.path().to_owned()],
            ..programs::allowance(app, [&metrics], [source.clone()])
        };
        let half = set.half_for_child(&phase, app)?;
        let task = Prepare { source, images, half, metrics, prepared: prepared.clone(), ids: ids.clone() };
        let mut about = child::run(app, allowance, task).await?;
        if set.name == phase.main_set {
            workers::extend(&mut about.measures, &phase.given).map_err(Failure::Lasting)?;
        }
        let is_main = |measure: &MeasureInfo| measure.key == phase.main_metric;
        if set.whole() == phase.main_set && !about.measures.iter().any(is_main) {
            let keys: Vec<&str> = about.measures.iter().map(|measure| measure.key.as_str()).collect();
            return Err(Failure::Lasting(reason!(
                "main_metric is {}, which the metrics do not give: {}",
                phase.main_metric,
                keys.join(", ")
            )));
        }
        if set.whole() == phase.main_set && !phase.rank_by.is_empty() {
            board::check_rank_rule(&phase, &about.measures)
                .map_err(|refusal| Failure::Lasting(refusal.to_string()))?;
        }
        if phase.score_set.is_some() {
            // What was scored describes no other images, and could not be scored by these references.
            let others: Vec<_> = records::all_sets(&app.store, &phase.id)
                .await?
                .into_iter()
                .filter(|other| other.id != set.id && other.state == SetState::Ready)
                .collect();
            let own: Vec<SegmentId> = serde_json::from_slice(&tokio::fs::read(&ids).await?)?;
            let known = super::expected::of(app, &others).await?;
            if !own.iter().all(|id| known.has(id)) {
                return Err(Failure::Lasting(reason!(
                    "it has images that the phase did not have: make a new phase for it"
                )));
            }
        }
        let hidden = app.hidden.clone();
        let keep = move || {
            let kept = [&prepared, &ids].map(|path| hidden.put(std::fs::File::open(path)?));
            drop(folder);
            let [prepared, ids] = kept;
            Ok::<_, std::io::Error>((prepared?, ids?))
        };
        let (prepared, ids) = tokio::task::spawn_blocking(keep).await??;
        Ok(PreparedSet { about, prepared, ids })
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<PreparedSet, String>) -> Result<()> {
        let PreparedSet { about, prepared, ids } = match outcome {
            Ok(done) => done,
            Err(reason) => {
                tx.change_row("reference_set", &job.subject, columns! { state: "failed", reason }).await?;
                return Ok(());
            }
        };
        let row = columns! {
            state: "ready", reason: None::<String>, prepared_hash: prepared, ids_hash: ids,
            n_images: about.n_images, n_references: about.n_references, fewest: about.fewest,
            measures: serde_json::to_string(&about.measures)?,
            notices: serde_json::to_string(&about.notices)?,
        };
        tx.change_row("reference_set", &job.subject, row).await?;
        open_board(tx, &job.subject).await
    }
}

/// Begins the scores of a phase, once all of its reference sets are ready.
async fn open_board(tx: &mut Tx, set: &str) -> Result<()> {
    let phase = tx.fetch_optional("SELECT phase FROM reference_set WHERE id = $1", args![set]).await?;
    let Some(phase): Option<String> = phase else { return Ok(()) };
    // Two sets that become ready at once must not both miss the other.
    let phase = records::phase_alone(tx, &phase).await?;
    // A phase that has scores does without a set that was added and could not be prepared.
    let unready = match phase.score_set {
        None => "SELECT 1 FROM reference_set WHERE phase = $1 AND state <> 'ready'",
        Some(_) => "SELECT 1 FROM reference_set WHERE phase = $1 AND state = 'preparing'",
    };
    if tx.exists(unready, args![&phase.id]).await? {
        return Ok(());
    }
    rescore::begin(tx, &phase, None).await?;
    // What failed may have lacked these references.
    submit::try_again(tx, &phase.id).await?;
    if phase.human {
        submit::add_human(tx, &phase.id).await?;
    }
    let sql = "SELECT id FROM submission WHERE phase = $1 AND state = 'queued' AND NOT EXISTS (SELECT 1 FROM job \
               WHERE subject = submission.id AND job.state IN ('queued', 'running')) AND NOT EXISTS (SELECT 1 FROM \
               worker_task WHERE submission = submission.id AND worker_task.state IN ('waiting', 'claimed'))";
    let idle: Vec<String> = tx.fetch(sql, args![&phase.id]).await?;
    for id in idle {
        jobs::add::<ScoreSubmission>(tx, &id, Priority::Background).await?;
    }
    Ok(())
}

/// Scores, and the score set that the phase showed when they were computed.
pub struct SubmissionScores {
    score_set: Option<String>,
    scores: Vec<SetScores>,
}

impl Work for ScoreSubmission {
    const KIND: &'static str = "score";
    const LANE: Lane = Lane::Scoring;
    type Subject = String;
    type Output = SubmissionScores;

    async fn run(app: &App, job: &Job) -> Result<SubmissionScores, Failure> {
        let submission = submissions::by_id(&app.store, &job.subject).await?;
        let phase = records::phase_of(&app.store, &submission.phase).await?;
        let sql = "UPDATE submission SET state = 'running', started_at = $1 \
                   WHERE id = $2 AND state IN ('queued', 'running')";
        app.store.execute(sql, args![clock::now(), &submission.id]).await?;
        let scores = scores_of(app, &phase, &submission, job.is_awaited).await?;
        Ok(SubmissionScores { score_set: phase.score_set, scores })
    }

    async fn finish(
        app: &App,
        tx: &mut Tx,
        job: &Job,
        outcome: Result<SubmissionScores, String>,
    ) -> Result<()> {
        let sql = "SELECT * FROM submission WHERE id = $1";
        let submission: Option<Submission> = tx.fetch_optional(sql, args![&job.subject]).await?;
        let Some(submission) = submission else { return Ok(()) };
        let SubmissionScores { score_set, scores } = match outcome {
            Ok(done) => done,
            // The file was checked, so it is our fault.
            Err(reason) => return fail(app, tx, &submission, (&reason, true)).await,
        };
        let phase = records::phase_alone(tx, &submission.phase).await?;
        let score_set = score_set.unwrap_or_default();
        match workers::are_asked(&phase, &submission) {
            true => workers::hand_over(tx, &submission, &score_set, (&scores, false)).await,
            false => record(app, tx, (&phase, &submission), (&score_set, &scores)).await,
        }
    }
}

/// Writes the first scores of a submission that is being scored. The phase must be held alone.
pub async fn record(
    app: &App,
    tx: &mut Tx,
    (phase, submission): (&Phase, &Submission),
    (score_set, scores): (&str, &[SetScores]),
) -> Result<()> {
    let sql = "UPDATE submission SET state = 'scored', finished_at = $1, reason = NULL \
               WHERE id = $2 AND state = 'running'";
    let scored = tx.execute(sql, args![clock::now(), &submission.id]).await?;
    if scored == 0 {
        return Ok(());
    }
    rescore::write(tx, score_set, &submission.id, scores).await?;
    rescore::catch_up(tx, phase, &submission.id).await?;
    notifications::submission_ended(tx, app, &submission.id).await?;
    board::changed(tx, &phase.id, submission.team.as_deref().unwrap_or_default()).await
}

/// Ends a submission without scores, and gives it back to the quota if its team is not at fault.
pub async fn fail(
    app: &App,
    tx: &mut Tx,
    submission: &Submission,
    (reason, is_refunded): (&str, bool),
) -> Result<()> {
    let sql = "UPDATE submission SET state = 'failed', reason = $1, finished_at = $2 \
               WHERE id = $3 AND state IN ('queued', 'running')";
    let failed = tx.execute(sql, args![reason, clock::now(), &submission.id]).await?;
    if failed == 1 {
        if is_refunded {
            submissions::refund(tx, submission).await?;
        }
        notifications::submission_ended(tx, app, &submission.id).await?;
    }
    Ok(())
}

/// The sets that are ready, for a child.
async fn for_child<'s>(
    app: &App,
    phase: &Phase,
    sets: impl Iterator<Item = &'s ReferenceSet> + Send,
) -> anyhow::Result<Vec<Set>> {
    let mut ready = Vec::new();
    for set in sets {
        ready.extend(set.for_child(phase, app).await?);
    }
    Ok(ready)
}

/// What a child may use that scores by these sets, beside these files.
fn allowance_of(app: &App, sets: &[Set], files: impl IntoIterator<Item = PathBuf>) -> Allowance {
    let prepared = sets.iter().map(|set| set.prepared.clone());
    programs::allowance(app, sets.iter().map(|set| &set.metrics), prepared.chain(files))
}

/// The scores of a submission by all reference sets that are ready.
pub async fn scores_of(
    app: &App,
    phase: &Phase,
    submission: &Submission,
    is_awaited: bool,
) -> Result<Vec<SetScores>, Failure> {
    let sets = records::all_sets(&app.store, &phase.id).await?;
    let is_human = submission.kind == SubmissionKind::Human;
    // One reference cannot be held out and compared with others.
    let sets = sets.iter().filter(|set| !is_human || set.n_references > set.n_images);
    let captions = match (&submission.blob, is_human) {
        (Some(blob), false) => Some(app.blobs.ready(blob).await?),
        (None, true) => None,
        _ => return Err(Failure::Lasting(reason!("the captions are missing"))),
    };
    score(app, phase, sets, captions, (is_awaited, false)).await
}

/// Lets errors repeat what a program prints, for hosts.
fn tell_hosts(metrics: &mut Metrics) {
    metrics.program.iter_mut().for_each(|program| program.is_told = true);
}

/// The scores of captions, or of the row for people, by those of `sets` that are ready. Errors are for hosts alone if
/// `is_for_hosts` is set.
pub async fn score<'s>(
    app: &App,
    phase: &Phase,
    sets: impl Iterator<Item = &'s ReferenceSet> + Send,
    captions: Option<PathBuf>,
    (is_awaited, is_for_hosts): (bool, bool),
) -> Result<Vec<SetScores>, Failure> {
    let mut sets = for_child(app, phase, sets).await?;
    if is_for_hosts {
        sets.iter_mut().for_each(|set| tell_hosts(&mut set.metrics));
    }
    let allowance = Allowance { gives_way: !is_awaited, ..allowance_of(app, &sets, captions.clone()) };
    child::run(app, allowance, Score { captions, sets }).await
}

/// Has the neighbours on the board of a phase compared, unless that is about to happen.
pub async fn compare_later(tx: &mut Tx, phase: &str) -> Result<()> {
    let waiting = "SELECT 1 FROM job WHERE subject = $1 AND kind = 'compare' AND state = 'queued'";
    if !tx.exists(waiting, args![phase]).await? {
        jobs::add::<CompareNeighbours>(tx, &phase.to_owned(), Priority::Background).await?;
    }
    Ok(())
}

/// The reason why the neighbours on the board of a phase could not be compared, unless they are about to be.
pub async fn comparison_failure(tx: &mut Tx, phase: &str) -> Result<Option<String>, Error> {
    Ok(jobs::progress::<CompareNeighbours>(tx, &phase.to_owned()).await?.1)
}

/// The differences of neighbours, and the score set that the phase showed when they were compared.
#[derive(Default)]
pub struct NeighbourTests {
    score_set: Option<String>,
    pairs: Vec<(UncomparedPair, Vec<SetTests>)>,
    /// True if there are more neighbours to compare.
    is_partial: bool,
}

impl Work for CompareNeighbours {
    const KIND: &'static str = "compare";
    const LANE: Lane = Lane::Comparisons;
    /// The phase.
    type Subject = String;
    type Output = NeighbourTests;

    async fn run(app: &App, job: &Job) -> Result<NeighbourTests, Failure> {
        let phase = records::phase_of(&app.store, &job.subject).await?;
        let sets = records::all_sets(&app.store, &phase.id).await?;
        let uncompared = board::uncompared(&app.store, &phase, &sets).await?;
        let n_uncompared = uncompared.len();
        let (mut pairs, mut failure) = (Vec::new(), None);
        for neighbours in uncompared.into_iter().take(PAIRS) {
            // One pair that fails must not keep the others from being compared.
            match compare_pair(app, &phase, &sets, &neighbours).await {
                Ok(tests) => pairs.push((neighbours, tests)),
                Err(other) => failure = Some(other),
            }
        }
        match failure {
            // The job that compares no pair tells why.
            Some(failure) if pairs.is_empty() => Err(failure),
            _ => Ok(NeighbourTests {
                score_set: phase.score_set,
                is_partial: pairs.len() < n_uncompared,
                pairs,
            }),
        }
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<NeighbourTests, String>) -> Result<()> {
        // The row of the job keeps why; hosts see it.
        let Ok(NeighbourTests { score_set, pairs, is_partial }) = outcome else { return Ok(()) };
        let score_set = score_set.unwrap_or_default();
        for (UncomparedPair { one, other, .. }, tests) in &pairs {
            write_tests(tx, &score_set, (&one.0, &other.0), tests).await?;
        }
        if is_partial { compare_later(tx, &job.subject).await } else { Ok(()) }
    }
}

/// Writes how two submissions differ, of which the first has the smaller id.
pub async fn write_tests(
    tx: &mut Tx,
    score_set: &str,
    (one, other): (&str, &str),
    sets: &[SetTests],
) -> Result<(), Error> {
    for set in sets {
        for (metric, p) in &set.tests {
            let row = columns! { score_set, one, other, reference_set: &set.set, metric, p: *p };
            tx.add_row("comparison", row).await?;
        }
    }
    Ok(())
}

/// The differences of two submissions by the sets by which they were not compared.
pub async fn compare_pair(
    app: &App,
    phase: &Phase,
    sets: &[ReferenceSet],
    pair: &UncomparedPair,
) -> Result<Vec<SetTests>, Failure> {
    let main = sets.iter().find(|set| set.name == phase.main_set).map(|set| set.id.as_str());
    let (one, other, sets, allowance) = pair_for_child(app, phase, sets, pair).await?;
    let mut tests = child::run(app, allowance, Compare { one, other, sets }).await?;
    workers::add_tests(app, phase, main, (&pair.one.0, &pair.other.0), &mut tests).await?;
    Ok(tests)
}

/// The same image by image.
pub async fn contrast_pair(
    app: &App,
    phase: &Phase,
    sets: &[ReferenceSet],
    pair: &UncomparedPair,
) -> Result<Vec<SetContrast>, Failure> {
    let (one, other, sets, allowance) = pair_for_child(app, phase, sets, pair).await?;
    child::run(app, allowance, Contrast { one, other, sets, squares: SQUARES }).await
}

/// The captions of two submissions, the sets by which they were not compared, and what a child may use to do that.
async fn pair_for_child(
    app: &App,
    phase: &Phase,
    sets: &[ReferenceSet],
    UncomparedPair { one, other, sets: lacking }: &UncomparedPair,
) -> Result<(PathBuf, PathBuf, Vec<Set>, Allowance), Failure> {
    let sets = for_child(app, phase, sets.iter().filter(|set| lacking.contains(&set.id))).await?;
    let (one, other) = (app.blobs.ready(&one.1).await?, app.blobs.ready(&other.1).await?);
    let allowance = Allowance { gives_way: true, ..allowance_of(app, &sets, [one.clone(), other.clone()]) };
    Ok((one, other, sets, allowance))
}
