//! The example of coco-caption submitted against val2014, where the data are.

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use capeval_testkit::{real_bytes, real_text, skip};
use serde_json::Value;

use crate::support::{Database, Site};

#[tokio::test(flavor = "multi_thread")]
async fn the_example_of_coco_caption_has_its_published_scores() {
    let Some(references) = real_bytes("data/coco/captions_val2014.json.gz") else { return };
    let Some(results) = real_text("data/coco/fakecap_results.json") else { return };
    let site = Site::new(Database::Sqlite).await;
    let list: Vec<Value> = serde_json::from_str(&results).unwrap();
    let ids: Vec<&Value> = list.iter().map(|result| &result["image_id"]).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ids.json"), serde_json::to_string(&ids).unwrap()).unwrap();
    std::fs::write(folder.path().join("val2014.json"), references).unwrap();
    let is_installed = site.app.data().is_some_and(|folder| folder.join("meteor-1.5.bin").exists());
    let meteor = if is_installed { "'meteor', " } else { "" };
    let plan = format!(
        "slug = 'coco'\ntitle = 'COCO'\n[[phases]]\nslug = 'val'\ntitle = 'Validation'\nhuman = false\n\
         metrics = ['bleu', {meteor}'rouge-l', 'cider-d']\n\
         [[phases.references]]\nname = 'c5'\nfile = 'val2014.json'\nimages = 'ids.json'\n"
    );
    let plan = toml::from_str(&plan).unwrap();
    capeval_benchmarks::apply::apply(&site.app, &plan, folder.path(), None).await.unwrap();
    site.work().await;
    let row = site.app.store.first("SELECT id FROM phase", args![]).await.unwrap().unwrap();
    let phase: String = row.get("id").unwrap();
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method=example");
    let made = ada.send(Request::post(path), results).await.expect(201).json();
    site.work().await;
    let shown =
        ada.get(&format!("/api/v1/submissions/{}", made["id"].as_str().unwrap())).await.expect(200).json();
    let mut expected = vec![
        ("bleu-1", 0.579),
        ("bleu-2", 0.404),
        ("bleu-3", 0.279),
        ("bleu-4", 0.191),
        ("rouge-l", 0.396),
        ("cider-d", 0.6),
    ];
    if is_installed {
        expected.push(("meteor", 0.195));
    } else {
        skip("meteor", "METEOR is not installed, and its score not tested");
    }
    for (key, score) in expected {
        assert_eq!(shown["scores"]["c5"][key].as_f64(), Some(score), "{key}: {}", shown["scores"]);
    }
}
