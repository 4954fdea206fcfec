//! What the outbox keeps about a person: mail, with the address.

use futures_util::future::BoxFuture;

use crate::accounts::own_data::{Leaving, PersonalData};
use crate::args;
use crate::fault::Fault;
use crate::store::Tx;

/// What the outbox keeps about people.
pub struct OwnData;

impl PersonalData for OwnData {
    fn forget<'a>(&'a self, tx: &'a mut Tx, person: &'a Leaving) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let sql = "DELETE FROM outbox WHERE kind = 'mail' AND target = $1";
            tx.execute(sql, args![&person.email]).await?;
            Ok(())
        })
    }
}
