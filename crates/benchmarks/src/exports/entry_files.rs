//! Exports an entry in the formats in which other sites collect results of models: Every Eval Ever 0.3.0, and the files
//! in `.eval_results` of model repositories on Hugging Face.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::board::{LEVEL, rounded};
use crate::entries::{self, Beside, RankedScore, SeenEntry};

/// The version of the schema.
const SCHEMA: &str = "0.3.0";

pub async fn every_eval_ever(app: App, page: Page, Visible(entry): Visible<SeenEntry>) -> Result<Response> {
    let boards = entries::beside(&app, &entry, page.visitor.as_ref()).await?;
    let (benchmark, phase) = (&entry.of.seen.benchmark, &entry.of.phase);
    let address = app.settings.url(&entry.address());
    let developer = if entry.team_name.is_empty() { &benchmark.title } else { &entry.team_name };
    let model = format!("{developer}/{}", entry.submission.method).replace(' ', "-");
    let name = format!("{}-{}", benchmark.slug, phase.slug);
    let made = clock::now() / 1000;
    let results = boards.iter().flat_map(|board| board.scores.iter().map(move |score| (board, score)));
    let mut text = json!({
        "schema_version": SCHEMA,
        "evaluation_id": format!("{name}/{model}/{made}"),
        "evaluation_timestamp": clock::iso(entry.submission.finished_at.unwrap_or(entry.submission.created_at)),
        "retrieved_timestamp": made.to_string(),
        "source_metadata": {
            "source_name": format!("{}: {}", app.settings.title, benchmark.title),
            "source_type": "evaluation_run",
            "source_organization_name": app.settings.title,
            "source_organization_url": app.settings.url("/"),
            "evaluator_relationship": "third_party",
        },
        "eval_library": { "name": "capeval", "version": env!("CARGO_PKG_VERSION") },
        "model_info": {
            "name": entry.submission.method,
            "id": model,
            "developer": developer,
            "additional_details": { "deployment_type": "unknown", "model_availability": "unknown" },
        },
        "evaluation_results": results.map(|(board, score)| result(&entry, board, score, &address)).collect::<Vec<_>>(),
    });
    if !entry.submission.link.is_empty() {
        text["model_info"]["additional_details"]["link"] = entry.submission.link.as_str().into();
    }
    Ok(([(header::CONTENT_TYPE, "application/json")], serde_json::to_string_pretty(&text)?).into_response())
}

fn result(entry: &SeenEntry, board: &Beside, score: &RankedScore, address: &str) -> Value {
    let (benchmark, phase) = (&entry.of.seen.benchmark, &entry.of.phase);
    let round = |value: f64| rounded(value, &score.measure, phase.decimals);
    let mut details = json!({ "score": round(score.score) });
    if let Some((low, high)) = score.interval {
        details["uncertainty"]["confidence_interval"] = json!({
            "lower": round(low), "upper": round(high), "confidence_level": 1.0 - LEVEL, "method": "bootstrap over images"
        });
    }
    if let Some(rank) = score.rank {
        details["details"] = json!({ "rank": rank.to_string() });
    }
    json!({
        "evaluation_name": format!("{}, {}, {}", benchmark.title, phase.title, board.set.name),
        "source_data": { "dataset_name": benchmark.title, "source_type": "url", "url": [address] },
        "metric_config": {
            "metric_id": score.measure.key,
            "metric_name": score.measure.label,
            "lower_is_better": score.measure.lower_is_better,
        },
        "score_details": details,
    })
}

/// The data set of an entry for which none is named, as people see that they must.
const TO_FILL_IN: &str = "OWNER/NAME";

/// Which task of which data set of the Hub a result is of.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HubTask {
    /// The data set, such as `nocaps/nocaps`; `OWNER/NAME`, to be filled in, by default.
    dataset: String,
    /// The task in its `eval.yaml`; that of the phase's address by default.
    task_id: String,
    /// The key of the measure; the one that ranks by default.
    measure: String,
}

pub async fn eval_results(
    app: App,
    page: Page,
    Visible(entry): Visible<SeenEntry>,
    UrlQuery(asked): UrlQuery<HubTask>,
) -> Result<Response> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let dataset = if asked.dataset.is_empty() { TO_FILL_IN } else { &asked.dataset };
    if !dataset.contains('/') || !asked.dataset.chars().chain(asked.task_id.chars()).all(is_plain) {
        return Err(Fault::malformed(&"dataset: name a data set of the Hub, such as `owner/name`"));
    }
    let (seen, phase) = (&entry.of.seen, &entry.of.phase);
    let boards = entries::beside(&app, &entry, page.visitor.as_ref()).await?;
    let board =
        boards.iter().find(|board| board.set.whole() == phase.main_set).ok_or_else(Fault::not_found)?;
    let key = if asked.measure.is_empty() { &phase.main_metric } else { &asked.measure };
    let score = board.scores.iter().find(|score| score.measure.key == *key).ok_or_else(Fault::not_found)?;
    let quoted = |text: &str| serde_json::to_string(text);
    let task = if asked.task_id.is_empty() { &phase.slug } else { &asked.task_id };
    let text = format!(
        "- dataset:\n    id: {}\n    task_id: {}\n  value: {}\n  date: {}\n  source:\n    url: {}\n    name: {}\n  notes: {}\n",
        quoted(dataset)?,
        quoted(task)?,
        rounded(score.score, &score.measure, phase.decimals),
        quoted(&clock::iso(entry.submission.created_at)[..10])?,
        quoted(&app.settings.url(&entry.address()))?,
        quoted(&format!("{}: {}, {}", app.settings.title, seen.benchmark.title, phase.title))?,
        quoted(&format!("{}, references {}", score.measure.label, board.set.name))?,
    );
    Ok(([(header::CONTENT_TYPE, "application/yaml; charset=utf-8")], text).into_response())
}
