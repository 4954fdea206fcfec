//! The terms of a benchmark and who accepted them. Everyone accepts each version once. The text of each version is kept
//! as long as the benchmark, so that everyone can read what they accepted.

use anyhow::ensure;
use capeval_api::{AcceptedTerms, Terms};
use capeval_site::prelude::*;
use serde::Deserialize;

use crate::settings::{Benchmark, Plan};

/// Stores the text of the terms of a benchmark, and refuses to go back to an earlier version.
pub async fn keep(tx: &mut Tx, benchmark: &str, plan: &Plan) -> anyhow::Result<()> {
    let last = "SELECT COALESCE(MAX(version), 0) FROM terms WHERE benchmark = $1";
    let last: i64 = tx.fetch_one(last, args![benchmark]).await?;
    ensure!(
        plan.terms.is_empty() || i64::from(plan.terms_version) >= last,
        reason!("terms_version cannot be lower than {}, which people have been asked to accept", last)
    );
    if plan.terms.is_empty() {
        return Ok(());
    }
    let row = columns! {
        benchmark, version: plan.terms_version, digest: ids::digest(&plan.terms), text: &plan.terms,
        created_at: clock::now(),
    };
    tx.add_row("terms", row).await?;
    Ok(())
}

/// The terms of a benchmark, for programs; `None` if there are none.
pub fn of(benchmark: &Benchmark) -> Option<Terms> {
    let Benchmark { terms: text, terms_version, .. } = benchmark.clone();
    (!text.is_empty()).then(|| Terms { version: terms_version.into(), digest: ids::digest(&text), text })
}

/// The time at which an account accepted the current version; `None` if it did not.
pub async fn accepted_at(tx: &mut Tx, benchmark: &Benchmark, account: &str) -> Result<Option<i64>, Error> {
    let sql =
        "SELECT created_at FROM terms_acceptance WHERE benchmark = $1 AND account = $2 AND version = $3";
    tx.fetch_optional(sql, args![&benchmark.id, account, benchmark.terms_version]).await
}

/// Notes that an account accepts the text with this digest.
///
/// # Errors
/// If the terms have another text now.
pub async fn accept(tx: &mut Tx, benchmark: &Benchmark, account: &str, digest: &str) -> Result<bool> {
    if of(benchmark).is_none_or(|terms| terms.digest != digest) {
        return Err(fault! {
            CONFLICT, "terms-changed", "The terms have changed since you opened them. Read them again."
        });
    }
    let row = columns! {
        benchmark: &benchmark.id, account, version: benchmark.terms_version, digest, created_at: clock::now(),
    };
    Ok(tx.add_row("terms_acceptance", row).await?)
}

/// What a person accepted, as a row.
#[derive(Deserialize)]
pub struct AcceptanceRow {
    pub account: String,
    version: i64,
    digest: String,
    created_at: i64,
}

impl From<&AcceptanceRow> for AcceptedTerms {
    fn from(row: &AcceptanceRow) -> Self {
        Self { version: row.version, digest: row.digest.clone(), at: clock::time(row.created_at) }
    }
}
