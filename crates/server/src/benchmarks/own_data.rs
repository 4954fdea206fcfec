//! What benchmarks keep about a person: the teams, benchmarks and evaluations they belong to, and how they judged
//! captions. Submissions stay on boards, as those of the team.

use capeval_api::Time;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::{judging, teams};
use crate::accounts::own_data::{Export, Leaving, PersonalData};
use crate::app::App;
use crate::args;
use crate::clock;
use crate::fault::Fault;
use crate::store::Tx;

/// What benchmarks keep about people.
pub struct OwnData;

/// How a person judged a caption.
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

impl PersonalData for OwnData {
    fn export<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<Export, Fault>> {
        const JUDGEMENTS: &str = "SELECT item.image AS image, item.caption AS caption, grade, is_machine, detail, \
            judgement.created_at AS at FROM judgement JOIN evaluation_item AS item ON item.id = judgement.item \
            WHERE judgement.account = $1 ORDER BY judgement.created_at, item.id";
        Box::pin(async move {
            let judgements: Vec<Judgement> = app.store.fetch(JUDGEMENTS, args![account]).await?;
            let mut export = Export::default();
            export.data.insert("judgements".to_owned(), serde_json::to_value(judgements)?);
            let requests = teams::requests::of_person(&app.store, account).await?;
            export.data.insert("team_requests".to_owned(), serde_json::to_value(requests)?);
            Ok(export)
        })
    }

    fn withdraw<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(judging::withdraw(&app.store, account))
    }

    fn clear<'a>(&'a self, tx: &'a mut Tx, account: &'a str) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let left = "SELECT 1 FROM judgement WHERE account = $1";
            if tx.exists(left, args![account]).await? { Err(Fault::still_contributing()) } else { Ok(()) }
        })
    }

    fn forget<'a>(&'a self, tx: &'a mut Tx, person: &'a Leaving) -> BoxFuture<'a, Result<(), Fault>> {
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
            let own = teams::names_of_own(&person.name, &person.id);
            for name in own.into_iter().chain([person.name.clone()]) {
                teams::take_name(tx, &person.id, &name).await?;
            }
            Ok(())
        })
    }
}
