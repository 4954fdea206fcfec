//! What benchmarks keep about a person: the teams, benchmarks and evaluations they belong to. Submissions stay on
//! boards, as those of the team.

use futures_util::future::BoxFuture;

use super::teams;
use crate::accounts::own_data::{Leaving, PersonalData};
use crate::args;
use crate::fault::Fault;
use crate::store::Tx;

/// What benchmarks keep about people.
pub struct OwnData;

impl PersonalData for OwnData {
    fn forget<'a>(&'a self, tx: &'a mut Tx, person: &'a Leaving) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            for sql in [
                "DELETE FROM benchmark_host WHERE account = $1",
                "DELETE FROM evaluation_rater WHERE account = $1",
                "DELETE FROM team_member WHERE account = $1",
            ] {
                tx.execute(sql, args![&person.id]).await?;
            }
            for name in teams::names_of_own(&person.name, &person.id) {
                teams::take_name(tx, &person.id, &name).await?;
            }
            Ok(())
        })
    }
}
