//! Agreement of metrics with the ratings of a collection: the engine's correlations, computed by a job.

pub(super) mod pages;

use std::collections::{BTreeSet, HashMap};

use capeval_benchmarks::agreement::{FoundAgreement, RatedCaption};
use capeval_site::jobs::child;
use capeval_site::prelude::*;
use capeval_tasks::{Agreement, Correlate, Metrics};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::release::card;

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

/// Has the correlations of a collection calculated, unless that is about to happen.
pub async fn refresh(app: &App, collection: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    jobs::add_once::<CorrelateCollection>(&mut tx, &collection.to_owned(), Priority::Background).await?;
    Ok(app.commit(tx).await?)
}

/// Agreement of metrics with the ratings of a language.
#[derive(Deserialize)]
pub struct FoundFor {
    pub language: String,
    pub found: FoundAgreement,
}

/// The last result of a job for each language of a collection.
pub async fn found_for(store: &Store, collection: &str) -> Result<Vec<FoundFor>, Error> {
    let sql = "SELECT * FROM agreement WHERE collection = $1 ORDER BY language DESC";
    store.fetch(sql, args![collection]).await
}

/// The collection whose release has the references of a phase, if there is one, by its slug.
pub async fn collection_of(store: &Store, phase: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT collection.slug FROM publication JOIN release ON release.id = publication.release \
               JOIN collection ON collection.id = release.collection WHERE publication.phase = $1";
    store.fetch_optional(sql, args![phase]).await
}

/// The ratings and the references of a language, as files of a release have them.
struct Material {
    language: String,
    ratings: Vec<RatedCaption<String>>,
    references: References,
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

/// A caption, with a grade if it was rated.
#[derive(Deserialize)]
struct Text {
    id: String,
    image: String,
    language: String,
    text: String,
}

#[derive(Deserialize)]
struct RatedText {
    of: Text,
    grade: i64,
}

async fn material(store: &Store, collection: &str) -> Result<Vec<Material>, Error> {
    let rated: Vec<RatedText> = store.fetch(RATED, args![collection]).await?;
    let known: Vec<Text> = store.fetch(REFERENCES, args![collection]).await?;
    let languages: BTreeSet<&String> = rated.iter().map(|rated| &rated.of.language).collect();
    let of_language = |wanted: &String| {
        let references: Vec<&Text> = known.iter().filter(|text| text.language == *wanted).collect();
        let mut of_image = HashMap::<&String, Vec<&String>>::new();
        for text in &references {
            of_image.entry(&text.image).or_default().push(&text.id);
        }
        // A caption is compared with others of its picture.
        let has_others = |text: &Text| {
            of_image.get(&text.image).is_some_and(|captions| captions.iter().any(|other| **other != text.id))
        };
        let ratings = rated
            .iter()
            .filter(|rated| rated.of.language == *wanted && has_others(&rated.of))
            .map(|RatedText { of, grade }| RatedCaption {
                image_id: of.image.clone(),
                caption: of.text.clone(),
                system: "human".to_owned(),
                rating: *grade,
            })
            .collect();
        let annotations = references.iter().map(|text| Annotation {
            id: text.id.clone(),
            image_id: text.image.clone(),
            caption: text.text.clone(),
        });
        let references = References { images: [], annotations: annotations.collect() };
        Material { language: wanted.clone(), ratings, references }
    };
    Ok(languages.into_iter().map(of_language).collect())
}

impl Work for CorrelateCollection {
    const KIND: &'static str = "agreement";
    const LANE: Lane = Lane::Comparisons;
    type Subject = String;
    /// By language.
    type Output = Vec<(String, Agreement)>;

    async fn run(app: &App, job: &Job) -> Result<Self::Output, Failure> {
        let mut done = Vec::new();
        for Material { language, ratings, references } in material(&app.store, &job.subject).await? {
            if ratings.is_empty() {
                continue;
            }
            let folder = TempDir::new_in(app.hidden.drafts())?;
            let paths = ["ratings.json", "references.json"].map(|name| folder.path().join(name));
            std::fs::write(&paths[0], serde_json::to_vec(&ratings)?)?;
            std::fs::write(&paths[1], serde_json::to_vec(&references)?)?;
            let is_chinese = language.starts_with("zh");
            let names = METRICS.into_iter().chain((!is_chinese).then_some(WITH_SPACES)).map(str::to_owned);
            let metrics = Metrics {
                names: names.collect(),
                tokenizer: is_chinese.then(|| card::tokenizer(&language).name().to_owned()),
                data: app.data(),
                ..Metrics::default()
            };
            let allowance = child::allowance(app, child::readable(app, paths.clone()));
            let [ratings, references] = paths;
            let found = child::run(app, allowance, Correlate { ratings, references, metrics }).await?;
            done.push((language, found));
        }
        Ok(done)
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<Self::Output, String>) -> Result<()> {
        let Ok(done) = outcome else { return Ok(()) };
        for (language, found) in done {
            let row = columns! {
                collection: &job.subject, language, result: serde_json::to_string(&found)?,
                created_at: clock::now(),
            };
            tx.put_row("agreement", &["collection", "language"], row).await?;
        }
        Ok(())
    }
}
