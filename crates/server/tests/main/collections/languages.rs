//! Languages with goals of their own: how they are set, and what a release has.

use capeval_collections::records;
use capeval_collections::release::selection::{self, Parameters};
use capeval_collections::settings::{self as saving, Goal, Plan};
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Slug;
use serde_json::json;

use super::{apply, captioner, decide, open_pictures, sentence};
use crate::support::{Database, Page as _, Site, on_both, on_sqlite};

on_both! {
    a_release_has_what_is_complete_in_a_language
    the_language_of_the_last_caption_is_chosen
}

on_sqlite! {
    goals_are_set_by_file_and_by_form
}

fn goal(language: &str, captions: u32, target: u32) -> Goal {
    Goal { language: language.to_owned(), captions, target }
}

async fn goals_are_set_by_file_and_by_form() {
    let plan = |languages: &str| {
        toml::from_str::<Plan>(&format!(
            "slug = \"c\"\ntitle = \"C\"\ncaptions = 4\ntarget = 90\n{languages}"
        ))
    };
    let goals = |languages: &str| plan(languages).unwrap().goals();
    assert_eq!(goals(""), [goal("", 4, 90)]);
    let own =
        "[[languages]]\nlanguage = \"en\"\ncaptions = 2\n[[languages]]\nlanguage = \"zh\"\ntarget = 7\n";
    assert_eq!(goals(own), [goal("en", 2, 90), goal("zh", 4, 7)]);
    assert_eq!(goals("languages = [\"zh\", { language = \"en\" }]"), [goal("zh", 4, 90), goal("en", 4, 90)]);
    for (wrong, words) in [
        ("languages = [{ language = \"zh\", caption = 3 }]", "unknown field `caption`"),
        ("languages = [3]", "or a table with `language`, `captions` and `target`"),
    ] {
        let error = plan(wrong).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }

    let site = Site::new(Database::Sqlite).await;
    let host = site.person("Host", Role::Host).await;
    let general = [
        ("slug", "c"),
        ("title", "C"),
        ("captions", "4"),
        ("target", "90"),
        ("approvals", "1"),
        ("licences", "CC0-1.0"),
    ];
    let form = |languages: &[(&'static str, &'static str)]| {
        let fields: Vec<_> =
            general.into_iter().chain([("hosts", "host@example.org"), ("languages", "")]).collect();
        fields.into_iter().chain(languages.iter().copied()).collect::<Vec<_>>()
    };
    let goals = async || {
        let shown = site.anybody().get("/api/v1/collections/c").await.expect(200).json();
        (shown["captions_per_picture"].clone(), shown["goals"].clone())
    };
    let no_own = [("captions-zh", ""), ("target-zh", ""), ("captions-en", "3"), ("target-en", " ")];
    host.post("/host/collections", &form(&[&[("languages", "zh")], &no_own[..]].concat())).await.expect(303);
    assert_eq!(goals().await, (json!(4), json!([])), "numbers of a language that is not chosen count");
    let both = [
        ("languages", "zh"),
        ("captions-zh", "5"),
        ("target-zh", ""),
        ("languages", "en"),
        ("target-en", "20"),
    ];
    host.post("/c/c/settings", &form(&both)).await.expect(303);
    let (all, each) = goals().await;
    assert_eq!((all, each[0]["captions_per_picture"].clone()), (json!(9), json!(5)));
    assert_eq!((&each[0]["target"], &each[1]["target"]), (&json!(90), &json!(20)));
    let page = host.get("/c/c/settings").await.expect(200).text;
    for field in ["name=\"captions-zh\" value=\"5\"", "name=\"target-en\" value=\"20\""] {
        assert!(page.contains(field), "{field}\n{page}");
    }
    for (fields, words) in [
        (&[("languages", "zh"), ("captions-zh", "0")][..], "Ask for 1 to 100 captions"),
        (&[("languages", "zh"), ("languages", "zh")], "The language zh is named twice."),
        (&[("languages", "en"), ("shortest-en", "1")], "Ask for 2 to 100 words"),
        (&[("languages", "en"), ("shortest-de", "4")], "`de` is not one of"),
    ] {
        let page = host.post("/c/c/settings", &form(fields)).await.expect(422).text;
        assert!(page.contains(words), "{words}\n{}", page.between("<main", "</form>"));
    }
    // The form has fields of all languages; a program names those of the collection.
    host.post("/c/c/settings", &form(&[("languages", "en"), ("shortest-zh", "4")])).await.expect(303);
    let one = json!({ "slug": "c", "title": "C", "languages": ["zh"], "shortest": { "en": 5 } });
    let plan: Plan = serde_json::from_value(one).unwrap();
    let refused = saving::apply(&site.app, &plan, Slug::UnusedOrOwn, None).await.unwrap_err();
    assert!(refused.message.starts_with("shortest has a number for"), "{refused:?}");
    assert_eq!(refused.args, ["en"]);
    host.post("/c/c/settings", &form(&both)).await.expect(303);
    host.post("/c/c/settings", &form(&[("languages", "zh"), ("captions-zh", "many")])).await.expect(400);
    assert_eq!(goals().await.0, json!(9));
}

/// A picture is released with the languages for which it is complete, and keeps those that a release had.
async fn a_release_has_what_is_complete_in_a_language(database: Database) {
    let site = Site::new(database).await;
    let goals = |zh: u32, en: u32| json!({ "languages": [{ "language": "zh", "captions": zh }, { "language": "en", "captions": en }] });
    apply(&site, goals(1, 2)).await;
    let images = open_pictures(&site, 3).await;
    // The first is complete in both, the second in Chinese, the third in none.
    for (k, (language, n)) in [("zh", 2), ("en", 3), ("en", 1)].into_iter().enumerate() {
        let person = captioner(&site, &format!("p{k}")).await;
        for (i, image) in images[..n].iter().enumerate() {
            let text = match language {
                "zh" => format!("一位骑士站在城堡的第{i}扇大门前面等待同伴"),
                _ => sentence(10 * k + i),
            };
            let fields = [("image", image.as_str()), ("language", language), ("text", &text)];
            person.post("/c/c/caption", &fields).await.expect(303);
        }
    }
    for row in site.app.store.all("SELECT id FROM caption", args![]).await.unwrap() {
        decide(&site, &row.get::<String>("id").unwrap(), "submitted", "accepted").await;
    }
    let collection = records::collection(&site.app.store, "c", None).await.unwrap().collection.id;
    let release = async || {
        let parameters = Parameters { val: 0, test: 0, withheld: None };
        let number = selection::create(&site.app, &collection, "", &parameters, None).await.unwrap();
        let sql = "SELECT caption.image || ' ' || caption.language AS row FROM release_item AS item \
                   JOIN release ON release.id = item.release JOIN caption ON caption.id = item.subject \
                   WHERE release.number = $1 ORDER BY caption.image, caption.language";
        let rows = site.app.store.all(sql, args![number]).await.unwrap();
        let name = |row: String| {
            let (image, language) = row.split_once(' ').unwrap();
            format!("{}{language}", images.iter().position(|one| one == image).unwrap())
        };
        rows.iter().map(|row| name(row.get("row").unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(release().await, ["0en", "0en", "0zh", "1zh"]);
    // More are wanted now: what was released stays, and the second picture's English caption does not come with it.
    apply(&site, goals(2, 3)).await;
    assert_eq!(release().await, ["0en", "0en", "0zh", "1zh"]);
    apply(&site, goals(2, 1)).await;
    assert_eq!(release().await, ["0en", "0en", "0zh", "1en", "1zh", "2en"]);
}

async fn the_language_of_the_last_caption_is_chosen(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({})).await;
    let images = open_pictures(&site, 12).await;
    let person = captioner(&site, "Ping").await;
    let page = person.get("/c/c/caption").await.expect(200).text;
    assert!(page.contains("<option value=\"en\" selected>"), "{}", page.between("<select", "</select>"));
    for (k, image) in images[..10].iter().enumerate() {
        let text = format!("一位骑士站在城堡的第{k}扇大门前面等待同伴");
        let fields = [("image", image.as_str()), ("language", "zh"), ("text", &text)];
        person.post("/c/c/caption", &fields).await.expect(303);
        let page = person.get("/c/c/caption").await.expect(200).text;
        assert!(page.contains("<option value=\"zh\" selected>"), "{}", page.between("<select", "</select>"));
        let progress = page.between("class=\"progress\"", "</a>");
        let shown =
            if k == 9 { "Thank you! 10 pictures described.".to_owned() } else { format!("{} of 10", k + 1) };
        assert!(progress.contains(&shown), "{progress}");
    }
}
