//! Notes of the audit log that belong to a benchmark: on itself, its phases, references, submissions and evaluations.

use capeval_site::prelude::*;
use serde_json::Value;

/// The benchmark to which the thing with an id belongs.
const PLACE: &str = "SELECT id FROM benchmark WHERE id = $1 UNION ALL SELECT benchmark FROM phase WHERE id = $1 \
    UNION ALL SELECT phase.benchmark FROM submission JOIN phase ON phase.id = submission.phase WHERE submission.id = $1 \
    UNION ALL SELECT phase.benchmark FROM reference_set JOIN phase ON phase.id = reference_set.phase \
    WHERE reference_set.id = $1 \
    UNION ALL SELECT phase.benchmark FROM evaluation JOIN phase ON phase.id = evaluation.phase WHERE evaluation.id = $1";

/// Notes what `actor`, or the server itself, did, where the log of the benchmark finds it.
pub async fn note(
    tx: &mut Tx,
    actor: Option<&str>,
    action: &'static str,
    subject: &str,
    detail: Value,
) -> Result<(), Error> {
    let place: Option<String> = tx.fetch_optional(PLACE, args![subject]).await?;
    audit::note_in(tx, place.as_deref(), actor, action, subject, detail).await
}
