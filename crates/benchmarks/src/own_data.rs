//! The data that benchmarks keep about a person: the teams, benchmarks and evaluations they belong to, their
//! submissions, their questions and answers, and their judgements of captions. Submissions stay on boards, since they
//! belong to the team.

use capeval_api::Time;
use capeval_site::accounts::own_data::{Export, Leaving, PersonalData};
use capeval_site::prelude::*;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::{admission, judging, questions, teams};

/// The data that benchmarks keep about people.
pub struct OwnData;

/// A person's judgement of a caption.
#[derive(Deserialize, Serialize)]
struct Judgement {
    image: String,
    caption: String,
    grade: i64,
    is_machine: bool,
    detail: i64,
    #[serde(deserialize_with = "clock::time_of_column")]
    at: Time,
}

/// A submission that a person has sent.
#[derive(Deserialize, Serialize)]
struct SentSubmission {
    id: String,
    benchmark: String,
    phase: String,
    method: String,
    description: String,
    authors: String,
    link: String,
    code: String,
    #[serde(deserialize_with = "store::json")]
    tags: Vec<String>,
    /// The name of the file in the archive; `None` if it is not kept.
    #[serde(skip_deserializing)]
    in_archive: Option<String>,
    #[serde(skip_serializing)]
    file: String,
    #[serde(skip_serializing)]
    upload: Option<String>,
    #[serde(deserialize_with = "clock::time_of_column")]
    at: Time,
}

impl PersonalData for OwnData {
    fn kept(&self) -> Option<&'static str> {
        Some(say(
            "In benchmarks: your teams, submissions with their files, questions and answers, and judgements of \
             captions. Entries on boards stay there as those of the team when you delete your account.",
        ))
    }

    fn export<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<Export>> {
        const JUDGEMENTS: &str = "SELECT item.image AS image, item.caption AS caption, grade, is_machine, detail, \
            judgement.created_at AS at FROM judgement JOIN evaluation_item AS item ON item.id = judgement.item \
            WHERE judgement.account = $1 ORDER BY judgement.created_at, item.id";
        const SENT: &str = "SELECT submission.id AS id, benchmark.slug AS benchmark, phase.slug AS phase, method, \
            submission.description AS description, authors, link, code, tags, file, upload, \
            submission.created_at AS at FROM submission JOIN phase ON phase.id = submission.phase \
            JOIN benchmark ON benchmark.id = phase.benchmark WHERE account = $1 AND kind = 'entry' \
            ORDER BY submission.created_at, submission.id";
        Box::pin(async move {
            let judgements: Vec<Judgement> = app.store.fetch(JUDGEMENTS, args![account]).await?;
            let mut export = Export::default();
            export.data.insert("judgements".to_owned(), serde_json::to_value(judgements)?);
            let mut all: Vec<SentSubmission> = app.store.fetch(SENT, args![account]).await?;
            for sent in &mut all {
                let Some(hash) = sent.upload.take() else { continue };
                let file = if sent.file.is_empty() { "captions" } else { &sent.file };
                let name = format!("submissions/{}-{file}", sent.id);
                sent.in_archive = Some(name.clone());
                export.files.push((name, hash));
            }
            export.data.insert("submissions".to_owned(), serde_json::to_value(all)?);
            let requests = teams::requests::of_person(&app.store, account).await?;
            export.data.insert("team_requests".to_owned(), serde_json::to_value(requests)?);
            let participations = admission::of_person(&app.store, account).await?;
            export.data.insert("participations".to_owned(), serde_json::to_value(participations)?);
            let questions = questions::of_person(&app.store, account).await?;
            export.data.insert("questions".to_owned(), serde_json::to_value(questions)?);
            Ok(export)
        })
    }

    fn withdraw<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut tx = app.store.begin().await?;
            questions::forget(&mut tx, account).await?;
            tx.commit().await?;
            judging::withdraw(&app.store, account).await
        })
    }

    fn clear<'a>(&'a self, tx: &'a mut Tx, account: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let left = "SELECT 1 FROM judgement WHERE account = $1";
            if tx.exists(left, args![account]).await? { Err(Fault::still_contributing()) } else { Ok(()) }
        })
    }

    fn is_remembered<'a>(&'a self, tx: &'a mut Tx, account: &'a str) -> BoxFuture<'a, Result<bool>> {
        // Another account gets no other quota in the phases that they entered.
        Box::pin(async move {
            Ok(tx.exists("SELECT 1 FROM entry_member WHERE account = $1", args![account]).await?)
        })
    }

    fn forget<'a>(&'a self, tx: &'a mut Tx, person: &'a Leaving) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for sql in [
                "DELETE FROM benchmark_host WHERE account = $1",
                "DELETE FROM evaluation_rater WHERE account = $1",
                "DELETE FROM team_member WHERE account = $1",
                // Captions stay. The file that the person uploaded may hold more than them, and so may its name.
                "UPDATE submission SET upload = NULL, file = '' WHERE account = $1 AND kind = 'entry'",
            ] {
                tx.execute(sql, args![&person.id]).await?;
            }
            teams::requests::forget(tx, &person.id).await?;
            admission::forget(tx, &person.id).await?;
            questions::forget(tx, &person.id).await?;
            let own = teams::names_of_own(&person.name, &person.id);
            for name in own.into_iter().chain([person.name.clone()]) {
                teams::take_name(tx, &person.id, &name).await?;
            }
            Ok(())
        })
    }
}
