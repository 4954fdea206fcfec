//! Human evaluations in the database: the captions to judge, the judges, and their judgements.

use capeval_api::{EvaluationState, Judging, JudgingPlan, SystemMeasures};
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::measures::{self, Judgement};
use super::sample::SampleCaptions;
use crate::records::{self, SeenPhase};
use crate::settings::Phase;
use crate::{notes, pictures};

/// The most images of an evaluation.
const IMAGES: i64 = 1_000;

/// The most people who judge a caption.
const WANTED: i64 = 20;

/// A human evaluation of a phase.
#[derive(Clone, Debug, Deserialize)]
pub struct Evaluation {
    pub id: String,
    /// The id of the phase.
    pub phase: String,
    /// The address of a picture, with `{id}` in the place of the id of the image.
    pub pictures: String,
    /// The number of images.
    pub images: usize,
    /// The number of people who should judge each caption.
    pub wanted: i64,
    pub state: EvaluationState,
    /// The reason why it failed.
    pub reason: Option<String>,
}

/// The evaluation with this id.
pub async fn by_id(store: &Store, id: &str) -> Result<Evaluation> {
    let evaluation = store.fetch_optional("SELECT * FROM evaluation WHERE id = $1", args![id]).await?;
    evaluation.ok_or_else(Fault::not_found)
}

/// The newest evaluation of a phase.
pub async fn newest(store: &Store, phase: &str) -> Result<Option<Evaluation>, Error> {
    let sql = "SELECT * FROM evaluation WHERE phase = $1 ORDER BY id DESC LIMIT 1";
    store.fetch_optional(sql, args![phase]).await
}

/// The evaluation of a phase that the visitor judges, whether or not they may see its benchmark otherwise.
pub struct JudgedPhase {
    pub of: SeenPhase,
    pub evaluation: Evaluation,
}

/// `{slug}` and `{phase}`
impl Subject for JudgedPhase {
    const KIND: &'static str = "captions to judge";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let (slug, phase) = (names.require("slug")?, names.require("phase")?);
        let (seen, phase) = records::phase_unseen(&app.store, slug, phase).await?;
        let visitor = visitor.ok_or_else(Fault::not_found)?;
        let evaluation = newest(&app.store, &phase.id).await?.ok_or_else(Fault::not_found)?;
        let sql = "SELECT 1 FROM evaluation_rater WHERE evaluation = $1 AND account = $2";
        if !app.store.exists(sql, args![&evaluation.id, &visitor.id]).await? {
            return Err(Fault::not_found());
        }
        Ok(Self { of: SeenPhase { seen, phase }, evaluation })
    }

    fn standing(&self) -> Standing {
        Standing::Sees
    }
}

/// Begins an evaluation: captions are sampled by a job.
pub async fn begin(app: &App, visitor: &Visitor, phase: &Phase, plan: &JudgingPlan) -> Result<()> {
    let numbers = (1..=IMAGES).contains(&plan.images) && (1..=WANTED).contains(&plan.wanted);
    if !numbers {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "evaluation-size",
            "Choose 1 to {} images and 1 to {} judges for each caption.", IMAGES, WANTED
        });
    }
    let pictures = pictures::checked(&plan.pictures)?;
    let mut tx = app.store.begin().await?;
    let phase = records::phase_alone(&mut tx, &phase.id).await?;
    let active = "SELECT 1 FROM evaluation WHERE phase = $1 AND state IN ('preparing', 'open')";
    if tx.exists(active, args![&phase.id]).await? {
        return Err(fault!(CONFLICT, "evaluation-open", "Captions of this phase are already being judged."));
    }
    let id = ids::new_id();
    let row = columns! {
        id: &id, phase: &phase.id, pictures, images: plan.images, wanted: plan.wanted, state: "preparing",
        created_at: clock::now(),
    };
    tx.insert_row("evaluation", row).await?;
    add_judges(&mut tx, &id, &plan.judges).await?;
    jobs::add::<SampleCaptions>(&mut tx, &id, Priority::Awaited).await?;
    let detail = json!({ "evaluation": id, "images": plan.images, "wanted": plan.wanted });
    notes::note(&mut tx, Some(&visitor.id), "evaluation.begin", &phase.id, detail).await?;
    Ok(app.commit(tx).await?)
}

/// Lets the accounts with these email addresses judge, and returns their ids.
async fn add_judges(tx: &mut Tx, evaluation: &str, addresses: &str) -> Result<Vec<String>> {
    let mut judges = Vec::new();
    for address in addresses.split_whitespace() {
        let sql = "SELECT id FROM account WHERE email = $1";
        let Some(account) = tx.fetch_optional::<String>(sql, args![address.to_lowercase()]).await? else {
            return Err(fault! {
                UNPROCESSABLE_ENTITY, "judge", "No account has the email address {}.", address
            });
        };
        tx.add_row("evaluation_rater", columns! { evaluation, account: &account }).await?;
        judges.push(account);
    }
    Ok(judges)
}

/// Lets more people judge.
pub async fn invite(app: &App, visitor: &Visitor, evaluation: &Evaluation, judges: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let detail = json!({ "judges": add_judges(&mut tx, &evaluation.id, judges).await? });
    notes::note(&mut tx, Some(&visitor.id), "evaluation.invite", &evaluation.phase, detail).await?;
    Ok(tx.commit().await?)
}

/// Ends an evaluation; what was judged counts.
pub async fn close(app: &App, visitor: &Visitor, evaluation: &Evaluation) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let sql = "UPDATE evaluation SET state = 'closed' WHERE id = $1 AND state IN ('preparing', 'open')";
    if tx.execute(sql, args![&evaluation.id]).await? == 1 {
        let detail = json!({ "evaluation": evaluation.id });
        notes::note(&mut tx, Some(&visitor.id), "evaluation.close", &evaluation.phase, detail).await?;
    }
    Ok(tx.commit().await?)
}

/// A caption to judge.
#[derive(Clone, Debug, Deserialize)]
pub struct Item {
    pub id: String,
    /// The id of the image.
    pub image: String,
    pub caption: String,
}

/// The next caption for a judge: one that the fewest have judged, never twice, and never of a team of theirs.
pub async fn next(store: &Store, evaluation: &Evaluation, account: &str) -> Result<Option<Item>, Error> {
    let sql = "SELECT id, image, caption FROM evaluation_item AS item WHERE evaluation = $1 AND judged < $2 \
               AND NOT EXISTS (SELECT 1 FROM judgement WHERE judgement.item = item.id AND judgement.account = $3) \
               AND NOT EXISTS (SELECT 1 FROM submission JOIN team_member ON team_member.team = submission.team \
               WHERE submission.id = item.submission AND team_member.account = $3) \
               ORDER BY judged, position LIMIT 1";
    store.fetch_optional(sql, args![&evaluation.id, evaluation.wanted, account]).await
}

/// A judge's verdict on a caption.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Verdict {
    pub item: String,
    /// From 4, without errors, to 1, unrelated.
    pub grade: i64,
    /// True if they take it for a machine's.
    pub is_machine: bool,
    /// From 1, lacks detail, to 5, very detailed.
    pub detail: i64,
}

/// Notes a judgement; one too many, or a second one of the same person, is dropped.
pub async fn judge(app: &App, visitor: &Visitor, evaluation: &Evaluation, given: &Verdict) -> Result<()> {
    if !(1..=4).contains(&given.grade) || !(1..=5).contains(&given.detail) {
        return Err(fault!(UNPROCESSABLE_ENTITY, "verdict", "A grade must be 1 to 4, and detail 1 to 5."));
    }
    if evaluation.state != EvaluationState::Open {
        return Err(fault!(CONFLICT, "evaluation-closed", "The evaluation of these captions has ended."));
    }
    let mut tx = app.store.begin().await?;
    let sql = "UPDATE evaluation_item SET judged = judged + 1 WHERE id = $1 AND evaluation = $2 AND judged < $3 \
               AND NOT EXISTS (SELECT 1 FROM submission JOIN team_member ON team_member.team = submission.team \
               WHERE submission.id = evaluation_item.submission AND team_member.account = $4)";
    let counted = tx.execute(sql, args![&given.item, &evaluation.id, evaluation.wanted, &visitor.id]).await?;
    if counted == 0 {
        return Ok(());
    }
    people::require_enabled(&mut tx, &visitor.id).await?;
    let row = columns! {
        item: &given.item, account: &visitor.id, grade: given.grade, is_machine: given.is_machine,
        detail: given.detail, created_at: clock::now(),
    };
    let added = tx.add_row("judgement", row).await?;
    if added {
        tx.commit().await?;
    }
    Ok(())
}

/// Withdraws all judgements of a person, so that others may judge these captions instead.
pub async fn withdraw(store: &Store, account: &str) -> Result<()> {
    let judged = "SELECT item FROM judgement WHERE account = $1 ORDER BY item";
    for item in store.fetch::<String>(judged, args![account]).await? {
        let mut tx = store.begin().await?;
        // The caption comes first, as where it is judged, so that the two cannot wait for each other.
        let uncounted = "UPDATE evaluation_item SET judged = judged - 1 WHERE id = $1";
        tx.execute(uncounted, args![&item]).await?;
        let removed = "DELETE FROM judgement WHERE item = $1 AND account = $2";
        if tx.execute(removed, args![&item, account]).await? == 1 {
            tx.commit().await?;
        }
    }
    Ok(())
}

/// The number of captions of an evaluation, and how often they were judged.
async fn progress(store: &Store, evaluation: &Evaluation) -> Result<(i64, i64), Error> {
    let sql = "SELECT COUNT(*), CAST(COALESCE(SUM(judged), 0) AS BIGINT) FROM evaluation_item \
               WHERE evaluation = $1";
    store.fetch_one(sql, args![&evaluation.id]).await
}

/// The newest evaluation of a phase for programs, and what people have said in all.
pub async fn for_programs(store: &Store, phase: &str) -> Result<Judging, Error> {
    let results = results(store, phase).await?;
    let Some(evaluation) = newest(store, phase).await? else {
        return Ok(Judging {
            id: None,
            state: None,
            reason: None,
            captions: 0,
            wanted: 0,
            judged: 0,
            results,
        });
    };
    let (captions, judged) = progress(store, &evaluation).await?;
    Ok(Judging {
        id: Some(evaluation.id),
        state: Some(evaluation.state.into()),
        reason: evaluation.reason,
        captions,
        wanted: captions * evaluation.wanted,
        judged,
        results,
    })
}

/// The sums of people's judgements of a phase.
pub async fn results(store: &Store, phase: &str) -> Result<Vec<SystemMeasures>, Error> {
    // One that was begun does not hide what people said before.
    let sql = "SELECT id FROM evaluation WHERE phase = $1 AND EXISTS (SELECT 1 FROM evaluation_item AS item \
               WHERE item.evaluation = evaluation.id AND judged > 0) ORDER BY id DESC LIMIT 1";
    let evaluation: Option<String> = store.fetch_optional(sql, args![phase]).await?;
    let Some(evaluation) = evaluation else { return Ok(Vec::new()) };
    let sql = "SELECT item.submission AS system, item.image AS image, grade, is_machine, detail \
               FROM judgement JOIN evaluation_item AS item ON item.id = judgement.item WHERE item.evaluation = $1";
    let judgements: Vec<Judgement> = store.fetch(sql, args![evaluation]).await?;
    Ok(measures::measure(&judgements))
}
