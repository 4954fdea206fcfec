//! Phases with metrics that compare vectors: by a model in the folder of data, and by vectors of pictures of the host.

use std::path::Path;
use std::sync::Arc;

use axum::http::Request;
use capeval::corpus::{self, ReadOptions};
use capeval::metric::Resources;
use capeval::{MetricOptions, ScoreOptions, ScoreRequest};
use capeval_benchmarks::apply::apply;
use capeval_benchmarks::settings::Plan;
use capeval_outside::Sources;
use capeval_outside::embeddings::{Role as Of, Vectors};
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_site::web::Scope;
use serde_json::{Map, Value, json};

use crate::benchmarks::{references, results};
use crate::support::{Database, Site, on_both, on_sqlite, settings};

on_both! {
    captions_are_compared_with_vectors_of_pictures
}

on_sqlite! {
    what_metrics_lack_is_said_to_hosts
}

const IMAGES: usize = 6;
const METRICS: [&str; 4] = ["clip-s:model=clip", "ref-clip-s:model=clip", "fer", "bleu"];

/// The tiny models of the tests in a folder of models.
fn models(data: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/neural");
    for (model, name) in [("clip-quick", "clip"), ("detector", "detector")] {
        let to = data.join("models").join(name);
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(from.join(model)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// A file of `.safetensors` with a vector of 24 numbers for each of `images`.
fn vectors(images: usize) -> Vec<u8> {
    let (mut header, mut rows) = (Map::new(), Vec::new());
    for image in 0..images {
        let tensor = json!({ "dtype": "F32", "shape": [24], "data_offsets": [96 * image, 96 * (image + 1)] });
        header.insert(image.to_string(), tensor);
        rows.extend((0..24).flat_map(|k| (((image * 7 + k * 5) % 11) as f32 - 4.5).to_le_bytes()));
    }
    let header = Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &rows].concat()
}

fn plan(metrics: &[&str], more: &str) -> Plan {
    let main = metrics[0].split(':').next().unwrap();
    toml::from_str(&format!(
        "slug = 'b'\ntitle = 'B'\ndraft = true\nhosts = ['ada@example.org']\n[[phases]]\nslug = 'p'\ntitle = 'P'\n\
         metrics = {metrics:?}\nmain_metric = '{main}'\n{more}\n\
         [[phases.references]]\nname = 'c3'\nfile = 'c3.json'\n"
    ))
    .unwrap()
}

async fn captions_are_compared_with_vectors_of_pictures(database: Database) {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    models(data.path());
    let capeval_data = data.path().display().to_string();
    let site = Site::with(Settings { capeval_data, ..settings(database) }).await;
    let host = site.person("Ada", Role::Host).await;
    std::fs::write(folder.path().join("c3.json"), references(IMAGES, 3)).unwrap();
    std::fs::write(folder.path().join("pictures.safetensors"), vectors(IMAGES)).unwrap();
    let plan = plan(&METRICS, "vectors = 'pictures.safetensors'");
    apply(&site.app, &plan, folder.path(), None).await.unwrap();
    site.work().await;
    let ada = site.program("Ada", Role::Host, Scope::Submit).await;
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    let captions = results(IMAGES, 5);
    let path = format!("/api/v1/phases/{phase}/submissions?method=a");
    let made = ada.send(Request::post(path), captions.clone()).await.expect(201).json();
    site.work().await;
    let id = made["id"].as_str().unwrap();
    let shown = ada.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json();
    assert_eq!(shown["state"], "scored", "{shown}");

    // The engine says the same of the same files.
    let names: Vec<String> = METRICS.map(str::to_owned).to_vec();
    let file = Vectors::open(&folder.path().join("pictures.safetensors").display().to_string()).unwrap();
    let sources = Sources {
        model_folder: Some(data.path().join("models")),
        held_vectors: vec![(Of::Pictures, Arc::new(file))],
        ..Sources::default()
    };
    let mut resources = Resources::default();
    sources.open(&MetricOptions::new(&names), &mut resources).unwrap();
    let read = |text: &str, options: &ReadOptions| corpus::read(text.as_bytes(), "file", options).unwrap();
    let (refs, captions) = (references(IMAGES, 3), captions);
    let report = capeval::score(ScoreRequest {
        options: ScoreOptions { metrics: MetricOptions::new(names), human: true, ..ScoreOptions::default() },
        resources,
        ..ScoreRequest::new(
            read(&refs, &ReadOptions::references()),
            [("a", read(&captions, &ReadOptions::candidates()))],
        )
    })
    .unwrap();
    let scores = "SELECT value FROM score JOIN submission ON submission.id = score.submission \
                  WHERE kind = $1 AND metric = $2";
    for (row, kind) in report.systems.iter().zip(["entry", "human"]) {
        for (measure, value) in report.head.measures.iter().zip(&row.scores) {
            let found: f64 = site.app.store.fetch_one(scores, args![kind, &measure.key]).await.unwrap();
            assert_eq!(found, *value, "{kind} {}", measure.key);
        }
    }
    assert!(report.systems[0].scores[0] > 0.0, "some pictures are like their captions");

    // What scores depend on stays, is exported, and is shown in the form.
    let known = site.app.store.fetch_one("SELECT * FROM benchmark", args![]).await.unwrap();
    let exported = Plan::of(&site.app.store, &known).await.unwrap();
    assert_eq!(exported.phases[0].vectors.as_ref().unwrap().name(), "pictures.safetensors");
    let form = host.get("/b/b/p/host/settings").await.expect(200).text;
    assert!(form.contains("pictures.safetensors") && form.contains("value=\"bert-score\""), "{form}");
    std::fs::write(folder.path().join("pictures.safetensors"), vectors(IMAGES + 1)).unwrap();
    let refused = apply(&site.app, &plan, folder.path(), None).await.unwrap_err();
    assert!(format!("{refused:#}").contains("vectors cannot change"), "{refused:#}");
}

async fn what_metrics_lack_is_said_to_hosts() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let capeval_data = data.path().display().to_string();
    let site = Site::with(Settings { capeval_data, ..settings(Database::Sqlite) }).await;
    site.account("Ada", Role::Host).await;
    std::fs::write(folder.path().join("c3.json"), references(IMAGES, 3)).unwrap();
    std::fs::write(folder.path().join("few.safetensors"), vectors(IMAGES - 1)).unwrap();
    std::fs::write(folder.path().join("text.safetensors"), "no vectors").unwrap();
    let refused = async |metrics: &[&str], more: &str| match apply(
        &site.app,
        &plan(metrics, more),
        folder.path(),
        None,
    )
    .await
    {
        Err(refused) => format!("{refused:#}"),
        Ok(_) => {
            site.work().await;
            let reason = "SELECT reason FROM reference_set";
            site.app.store.fetch_one::<Option<String>>(reason, args![]).await.unwrap().unwrap_or_default()
        }
    };
    let said = refused(&["clip-s"], "").await;
    assert!(said.contains("clip-s needs a model of CLIP") && said.contains("there is no model"), "{said}");
    models(data.path());
    for (metrics, more, reason) in [
        (&["clip-s"][..], "", "clip-s needs pictures, and none are given"),
        (&["sbert-sim"], "", "sbert-sim: it needs a model of sentences, and there is none"),
        (&["clip-s:model=other"], "", "clip-s: no model is called other"),
        (&["clip-s"], "vectors = 'few.safetensors'", "few.safetensors has no vector of image 5"),
        (&["clip-s"], "vectors = 'text.safetensors'", "text.safetensors: this is no file of vectors"),
        (&["clip-s"], "vectors = 'none.safetensors'", "none.safetensors does not exist"),
        (&["fer"], "vectors = 'few.safetensors'", "no metric uses few.safetensors"),
    ] {
        let said = refused(metrics, more).await;
        assert!(said.contains(reason), "{metrics:?} {more}: {said}");
    }
}
