//! Publishes a split of a release as a phase of a benchmark with hidden references, in one step.

use std::path::Path;

use capeval_benchmarks::apply;
use capeval_benchmarks::records::{self as benchmarks, BoardKind, Visibility};
use capeval_benchmarks::settings::{PhasePlan, Plan, ReferencePlan};
use capeval_benchmarks::source::Source;
use capeval_site::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::content::Content;
use super::selection::Parameters;
use super::split::Split;
use super::{build, card, files};
use crate::records::Collection;

/// The settings of the new benchmark.
#[derive(Clone, Debug)]
pub struct WantedBenchmark {
    /// The benchmark's part of addresses; a phase is added if it exists already.
    pub slug: String,
    /// Submissions of a team on a day.
    pub per_day: u32,
    /// Submissions of a team in all.
    pub in_total: u32,
    /// The people who see the scores.
    pub board: BoardKind,
}

/// Something of the release `$1` that is not to be shown any more.
const OUTDATED: &str = "SELECT 1 FROM release_item AS item LEFT JOIN image ON image.id = item.subject \
     LEFT JOIN caption ON caption.id = item.subject WHERE item.release = $1 AND \
     (item.kind = 'image' AND (image.id IS NULL OR image.state NOT IN ('open', 'complete')) \
     OR item.kind = 'caption' AND (caption.id IS NULL OR caption.state <> 'accepted'))";

/// Other releases with captions that the release `$1` has in the split `$2`.
const SHARING: &str = "SELECT parameters FROM release WHERE id <> $1 AND state <> 'failed' AND EXISTS \
     (SELECT 1 FROM release_item AS a JOIN release_item AS b ON b.subject = a.subject WHERE a.release = release.id \
     AND b.release = $1 AND b.kind = 'caption' AND b.split = $2)";

#[derive(Deserialize)]
struct Sharing {
    #[serde(deserialize_with = "store::json")]
    parameters: Parameters,
}

/// Publishes the withheld split of a release; returns the address of the phase's board.
///
/// # Errors
/// If the release withholds nothing, the benchmark is someone else's, or it cannot be made.
pub async fn publish(
    app: &App,
    collection: &Collection,
    release: &str,
    wanted: &WantedBenchmark,
    visitor: &Visitor,
) -> Result<String> {
    if app.store.exists(OUTDATED, args![release]).await? {
        return Err(fault! {
            CONFLICT, "release-outdated",
            "Some items of this release have since been withdrawn. Create a new release first."
        });
    }
    let content = build::content(&app.store, release).await?;
    let split = content.withheld.filter(|split| content.of(*split).next().is_some()).ok_or_else(|| {
        fault! {
            CONFLICT, "nothing-withheld",
            "This release withholds no captions, so anyone could submit the references themselves."
        }
    })?;
    for Sharing { parameters } in app.store.fetch(SHARING, args![release, split.name()]).await? {
        if parameters.withheld != Some(split) {
            return Err(fault! {
                CONFLICT, "split-is-known",
                "Another release has published these captions, so they can no longer be hidden references."
            });
        }
    }
    let known = "SELECT id FROM benchmark WHERE slug = $1";
    let known: Option<String> = app.store.fetch_optional(known, args![&wanted.slug]).await?;
    let phase = phase(&content, split, wanted);
    let phase_slug = phase.slug.clone();
    // Its files are bytes.
    let no_folder = Path::new("");
    let made = match &known {
        Some(id) if !benchmarks::is_host(&app.store, id, Some(visitor)).await? => {
            return Err(fault! {
                CONFLICT, "slug-taken", "A benchmark with the address {} already exists.", &wanted.slug
            });
        }
        Some(id) => apply::put_phase(app, id, &phase, no_folder, Some(&visitor.id)).await,
        None => {
            let plan = Plan {
                slug: wanted.slug.clone(),
                title: collection.title.clone(),
                summary: collection.summary.clone(),
                rules: rules(&content, split),
                visibility: match collection.visibility {
                    Visibility::Public => Visibility::Public,
                    Visibility::Registered | Visibility::Hidden => Visibility::Registered,
                },
                draft: false,
                phases: vec![phase],
                ..Plan::draft(visitor.email.clone())
            };
            apply::apply(app, &plan, no_folder, Some(&visitor.id)).await.map(drop)
        }
    };
    made.map_err(apply::refusal)?;
    note(app, release, split, &wanted.slug, &phase_slug, visitor).await?;
    Ok(format!("/b/{}/{phase_slug}/leaderboard", wanted.slug))
}

/// Remembers which phase came of which release.
async fn note(
    app: &App,
    release: &str,
    split: Split,
    benchmark: &str,
    phase: &str,
    visitor: &Visitor,
) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let sql = "INSERT INTO publication (phase, release, split, created_at) SELECT phase.id, $1, $2, $3 FROM phase \
               JOIN benchmark ON benchmark.id = phase.benchmark WHERE benchmark.slug = $4 AND phase.slug = $5 \
               ON CONFLICT DO NOTHING";
    tx.execute(sql, args![release, split.name(), clock::now(), benchmark, phase]).await?;
    audit::note(&mut tx, Some(&visitor.id), "release.publish", release, json!({ "benchmark": benchmark }))
        .await?;
    Ok(tx.commit().await?)
}

/// The phase, with a reference set for each language.
fn phase(content: &Content, split: Split, wanted: &WantedBenchmark) -> PhasePlan {
    let mut references = Vec::new();
    for language in content.languages() {
        let counts = content
            .of(split)
            .map(|picture| picture.captions.iter().filter(|caption| caption.language == language).count());
        let Some(fewest) = counts.filter(|n| *n > 0).min() else { continue };
        let annotations = files::annotations(content, split, Some(language), true);
        let is_chinese = language.starts_with("zh");
        references.push(ReferencePlan {
            name: format!("c{fewest}-{language}"),
            file: Source::Bytes {
                name: format!("{split}-{language}.json"),
                bytes: annotations.to_string().into_bytes().into(),
            },
            language: language.to_owned(),
            tokenizer: is_chinese.then(|| card::tokenizer(language).name().to_owned()),
            images: None,
        });
    }
    let metrics = ["bleu", "rouge-l", "cider-d", "chrf"].map(str::to_owned);
    PhasePlan {
        per_day: wanted.per_day,
        in_total: wanted.in_total,
        board: wanted.board,
        metrics: metrics.into(),
        references,
        ..PhasePlan::new(
            &format!("{split}-{}", content.number),
            &format!("Release {}, {split}", content.number),
        )
    }
}

fn rules(content: &Content, split: Split) -> String {
    format!(
        "Describe each picture of `annotations/image_info_{split}.json` in release {} of *{}* in one sentence, and hand \
         in a list such as `[{{\"image_id\": 1, \"caption\": \"…\"}}]`. Each language has references of its own, and \
         the first set ranks.\n",
        content.number, content.title
    )
}
