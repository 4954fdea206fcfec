//! A person's own questions and answers, which are deleted with their account.

use capeval_api::Time;
use capeval_site::prelude::*;
use serde::{Deserialize, Serialize};

/// A question or an answer.
#[derive(Deserialize, Serialize)]
pub struct OwnWords {
    benchmark: String,
    title: String,
    text: String,
    #[serde(deserialize_with = "clock::time_of_column")]
    at: Time,
}

/// What a person wrote, also what hosts have hidden.
pub async fn of_person(store: &Store, account: &str) -> Result<Vec<OwnWords>, Error> {
    let sql = "SELECT benchmark.slug AS benchmark, question.title AS title, text, question.created_at AS at \
               FROM question JOIN benchmark ON benchmark.id = question.benchmark WHERE account = $1 \
               ORDER BY question.created_at, question.id";
    store.fetch(sql, args![account]).await
}

/// Forgets what a person wrote. Questions that others have answered keep an empty place.
pub async fn forget(tx: &mut Tx, account: &str) -> Result<(), Error> {
    for sql in [
        "DELETE FROM question WHERE account = $1 AND NOT EXISTS (SELECT 1 FROM question AS answer \
         WHERE answer.answers = question.id AND (answer.account IS NULL OR answer.account <> $1))",
        "UPDATE question SET account = NULL, title = '', text = '' WHERE account = $1",
    ] {
        tx.execute(sql, args![account]).await?;
    }
    Ok(())
}
