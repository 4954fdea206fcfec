//! How metrics agree with the ratings of a collection: the engine's correlations, worked out by a job.

pub mod pages;
pub mod phase;

use std::collections::{BTreeSet, HashMap};

use capeval_tasks::{Agreement, Correlate, Metrics};
use serde::Serialize;
use tempfile::TempDir;

use super::release::card;
use crate::app::App;
use crate::benchmarks::scoring::readable;
use crate::fault::Fault;
use crate::jobs::queue::Priority;
use crate::jobs::{self, Failure, Job, Work, child};
use crate::store::{Store, Tx};
use crate::{args, clock};

/// Correlates metrics with the ratings of a collection.
pub struct CorrelateCollection;

/// Metrics for captions of any language.
const METRICS: [&str; 5] = ["bleu", "rouge-l", "cider-d", "cider", "chrf"];

/// A metric for languages that write spaces between words.
const WITH_SPACES: &str = "ter";

/// Rated captions that people still see or have seen, and the captions that count, which are their references.
const RATED: &str = "SELECT caption.id, caption.image, caption.language, caption.text, rating.grade FROM rating \
     JOIN caption ON caption.id = rating.caption JOIN image ON image.id = caption.image \
     WHERE caption.collection = $1 AND rating.weight > 0 AND image.state IN ('open', 'complete') \
     AND caption.state IN ('submitted', 'split', 'accepted', 'rejected') ORDER BY caption.id, rating.account";
const REFERENCES: &str = "SELECT caption.id, caption.image, caption.language, caption.text FROM caption \
     JOIN image ON image.id = caption.image WHERE caption.collection = $1 AND caption.state = 'accepted' \
     AND image.state IN ('open', 'complete') ORDER BY caption.id";

/// Has the correlations of a collection worked out, unless that is about to happen.
///
/// # Errors
/// If the database fails.
pub async fn refresh(app: &App, collection: &str) -> Result<(), Fault> {
    let mut tx = app.store.begin().await?;
    let collection = collection.to_owned();
    if !is_waiting::<CorrelateCollection>(&mut tx, &collection).await? {
        jobs::add::<CorrelateCollection>(&mut tx, &collection, Priority::Background).await?;
    }
    tx.commit().await?;
    app.wake.notify();
    Ok(())
}

/// Whether the correlations of a collection or a phase are being worked out.
///
/// # Errors
/// If the database fails.
pub async fn is_waiting<W: Work>(tx: &mut Tx, subject: &str) -> Result<bool, Fault> {
    let sql = "SELECT 1 AS one FROM job WHERE subject = $1 AND kind = $2 AND state IN ('queued', 'running')";
    Ok(tx.first(sql, args![subject, W::KIND]).await?.is_some())
}

/// Why they could not be worked out the last time, if so.
///
/// # Errors
/// If the database fails.
pub async fn failure<W: Work>(tx: &mut Tx, subject: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT state, error FROM job WHERE subject = $1 AND kind = $2 AND state IN ('done', 'failed') \
               ORDER BY id DESC LIMIT 1";
    let Some(row) = tx.first(sql, args![subject, W::KIND]).await? else { return Ok(None) };
    Ok(if row.get::<String>("state")? == "failed" { row.get("error")? } else { None })
}

/// The ratings and the references of a language, as files of a release have them.
struct Material {
    language: String,
    ratings: Vec<RatedCaption<String>>,
    references: References,
}

/// A line of a file of ratings; `I` is the type of ids.
#[derive(Serialize)]
struct RatedCaption<I> {
    image_id: I,
    caption: String,
    system: String,
    rating: i64,
}

/// A file of references in COCO's form.
#[derive(Serialize)]
struct References {
    images: [(); 0],
    annotations: Vec<Annotation>,
}

#[derive(Serialize)]
struct Annotation {
    id: String,
    image_id: String,
    caption: String,
}

async fn material(store: &Store, collection: &str) -> Result<Vec<Material>, Fault> {
    let (rated, references) =
        (store.all(RATED, args![collection]).await?, store.all(REFERENCES, args![collection]).await?);
    let mut known = Vec::new();
    for row in &references {
        let fields: [String; 4] = [row.get("id")?, row.get("image")?, row.get("language")?, row.get("text")?];
        known.push(fields);
    }
    let mut rows = Vec::new();
    for row in &rated {
        let fields: [String; 4] = [row.get("id")?, row.get("image")?, row.get("language")?, row.get("text")?];
        rows.push((fields, row.get::<i64>("grade")?));
    }
    let languages: BTreeSet<&String> = rows.iter().map(|([_, _, language, _], _)| language).collect();
    let of_language = |wanted: &String| {
        let references: Vec<&[String; 4]> =
            known.iter().filter(|[_, _, language, _]| language == wanted).collect();
        let mut of_image = HashMap::<&String, Vec<&String>>::new();
        for [id, image, _, _] in &references {
            of_image.entry(image).or_default().push(id);
        }
        // A caption is compared with others of its picture.
        let has_others = |caption: &String, image: &String| {
            of_image.get(image).is_some_and(|captions| captions.iter().any(|other| *other != caption))
        };
        let ratings = rows
            .iter()
            .filter(|([id, image, language, _], _)| language == wanted && has_others(id, image))
            .map(|([_, image, _, text], grade)| RatedCaption {
                image_id: image.clone(),
                caption: text.clone(),
                system: "human".to_owned(),
                rating: *grade,
            })
            .collect();
        let annotations = references
            .iter()
            .map(|[id, image, _, text]| Annotation {
                id: id.clone(),
                image_id: image.clone(),
                caption: text.clone(),
            })
            .collect();
        let references = References { images: [], annotations };
        Material { language: wanted.clone(), ratings, references }
    };
    Ok(languages.into_iter().map(of_language).collect())
}

impl Work for CorrelateCollection {
    const KIND: &'static str = "agreement";
    type Subject = String;
    /// By language.
    type Done = Vec<(String, Agreement)>;

    async fn run(app: &App, job: &Job) -> Result<Self::Done, Failure> {
        let mut done = Vec::new();
        for Material { language, ratings, references } in material(&app.store, &job.subject).await? {
            if ratings.is_empty() {
                continue;
            }
            let folder = TempDir::new_in(app.hidden.folder().join("new"))?;
            let paths = ["ratings.json", "references.json"].map(|name| folder.path().join(name));
            std::fs::write(&paths[0], serde_json::to_vec(&ratings)?)?;
            std::fs::write(&paths[1], serde_json::to_vec(&references)?)?;
            let is_chinese = language.starts_with("zh");
            let names = METRICS.into_iter().chain((!is_chinese).then_some(WITH_SPACES)).map(str::to_owned);
            let metrics = Metrics {
                names: names.collect(),
                tokenizer: is_chinese.then(|| card::tokenizer(&language).name().to_owned()),
                data: app.data.clone(),
            };
            let allowance = child::allowance(app, readable(app, paths.clone()));
            let [ratings, references] = paths;
            let found = child::run(app, allowance, Correlate { ratings, references, metrics }).await?;
            done.push((language, found));
        }
        Ok(done)
    }

    async fn finish(
        _: &App,
        tx: &mut Tx,
        job: &Job,
        outcome: Result<Self::Done, String>,
    ) -> Result<(), Fault> {
        let Ok(done) = outcome else { return Ok(()) };
        for (language, found) in done {
            tx.execute(
                "INSERT INTO agreement (collection, language, result, created_at) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (collection, language) DO UPDATE SET result = excluded.result, \
                 created_at = excluded.created_at",
                args![&job.subject, language, serde_json::to_string(&found)?, clock::now()],
            )
            .await?;
        }
        Ok(())
    }
}
