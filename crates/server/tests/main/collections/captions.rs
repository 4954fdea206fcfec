//! Captions: the way to the first one, drafts, rules, editing, moderators, one's own data.

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::args;
use serde_json::json;

use super::{
    RIGHT, apply, asked, assert_consistent, captioner, counters, decide, moderator, open_pictures, png,
    sentence, upload,
};
use crate::support::{Client, Database, Site, on_both, on_sqlite};

on_both! {
    captions_are_written_changed_and_withdrawn
    ones_own_data_are_exported_and_deleted
}

on_sqlite! {
    moderators_decide_what_ratings_cannot
    hosts_make_and_change_collections
}

async fn hand_in(client: &Client, image: &str, text: &str) -> crate::support::Answer {
    client.post("/c/c/caption", &[("image", image), ("language", "en"), ("text", text)]).await
}

async fn caption_of(site: &Site, image: &str) -> String {
    let row =
        site.app.store.first("SELECT id FROM caption WHERE image = $1 ORDER BY id DESC", args![image]).await;
    row.unwrap().unwrap().get("id").unwrap()
}

async fn captions_are_written_changed_and_withdrawn(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2, "guide": "Be *kind*." })).await;
    let pictures = open_pictures(&site, 2).await;
    let ada = site.person("Ada", Role::Member).await;

    // The quiz comes first, and explains wrong answers.
    assert_eq!(ada.get("/c/c/caption").await.expect(303).header("location"), "/c/c/guide");
    assert_eq!(hand_in(&ada, &pictures[0], &sentence(1)).await.expect(303).header("location"), "/c/c/guide");
    let guide = ada.get("/c/c/guide").await.expect(200).text;
    assert!(guide.contains("Be <em>kind</em>.") && guide.contains("Write at least 8 words."));
    let wrong =
        ada.post("/c/c/quiz", &[("q0", "0"), ("q1", "2"), ("q2", "0"), ("q3", "1"), ("q4", "2")]).await;
    let wrong = wrong.expect(422).text;
    assert!(wrong.contains("Not all answers are correct.") && wrong.contains("Describe what you see"));
    ada.post("/c/c/quiz", &[]).await.expect(422);
    ada.post("/c/c/quiz", RIGHT).await.expect(303);
    let chinese = ada.send(Request::get("/c/c/guide").header("accept-language", "zh-CN"), "").await;
    assert!(chinese.text.contains("您已通过测验。") && chinese.text.contains("至少写 10 个汉字。"));

    // A text that breaks a rule comes back with the rule, and is not lost.
    let page = ada.get("/c/c/caption").await.expect(200).text;
    let image = asked(&page);
    assert_eq!(asked(&ada.get("/c/c/caption").await.expect(200).text), image, "the reservation holds");
    for (text, words) in [
        ("A dog.", "Write at least 8 words."),
        ("", "Describe the picture in words."),
        ("Buy many nice things on www.example.org now please", "Leave out web and email addresses."),
        ("这是 a picture with quite a few english words in it", "Write this caption in English."),
    ] {
        let refused = hand_in(&ada, &image, text).await.expect(422).text;
        assert!(refused.contains(words) && refused.contains(text), "{text}: {refused}");
    }
    assert!(ada.get("/c/c/caption").await.expect(200).text.contains("这是 a picture"));
    // The script keeps drafts without leaving the page.
    let draft = Request::post("/c/c/caption")
        .header("accept", "application/json")
        .header("content-type", "application/x-www-form-urlencoded");
    ada.send(draft, format!("image={image}&action=draft&text=Half+a+caption")).await.expect(204);
    assert!(ada.get("/c/c/caption").await.expect(200).text.contains("Half a caption"));

    let text = "A\u{200b} knight \u{202e} in  armour\nstands near an old bridge at night";
    let answer = hand_in(&ada, &image, text).await.expect(303);
    assert_eq!(answer.header("location"), "/c/c/caption?done=caption");
    let mine = ada.get("/c/c/mine").await.expect(200).text;
    assert!(
        mine.contains("A knight in armour stands near an old bridge at night") && !mine.contains("Half a")
    );
    assert_eq!(counters(&site, &image).await, ("open".into(), 1, 0));
    // The same picture again changes nothing, nor does the same text for another one.
    hand_in(&ada, &image, &sentence(2)).await.expect(303);
    assert_eq!(counters(&site, &image).await, ("open".into(), 1, 0));
    let other = asked(&ada.get("/c/c/caption").await.expect(200).text);
    assert_ne!(other, image);
    let same = "a knight in armour, stands near an old bridge at night!";
    assert!(
        hand_in(&ada, &other, same)
            .await
            .expect(422)
            .text
            .contains("You have given another picture the same caption")
    );
    // Traditional characters stay as they were written, and are noted.
    let chinese = "紅衣戰士舉著長劍站在燃燒的木橋上";
    ada.post("/c/c/caption", &[("image", &other), ("language", "zh"), ("text", chinese)]).await.expect(303);
    let row =
        site.app.store.first("SELECT text, script, language FROM caption WHERE image = $1", args![&other]);
    let row = row.await.unwrap().unwrap();
    assert_eq!(row.get::<String>("text").unwrap(), chinese);
    assert_eq!(
        (row.get::<String>("script").unwrap(), row.get::<String>("language").unwrap()),
        ("hant".into(), "zh".into())
    );
    assert!(ada.get("/c/c/caption").await.expect(200).text.contains("There is no picture for you"));

    // Until someone rates it, a caption can be edited.
    let caption = caption_of(&site, &image).await;
    let path = format!("/c/c/mine/captions/{caption}");
    ada.post(&path, &[("action", "edit"), ("text", &sentence(5))]).await.expect(303);
    assert!(ada.get("/c/c/mine").await.expect(200).text.contains(&sentence(5)));
    let refused = ada.post(&path, &[("action", "edit"), ("text", "Short.")]).await.expect(422).text;
    assert!(refused.contains("Write at least 8 words."));
    let bao = captioner(&site, "Bao").await;
    bao.post(&path, &[("action", "withdraw")]).await.expect(404);
    site.app.store.execute("UPDATE caption SET ratings = 1", args![]).await.unwrap();
    let refused = ada.post(&path, &[("action", "edit"), ("text", &sentence(6))]).await.expect(409).text;
    assert!(refused.contains("This caption has been rated"));
    site.app.store.execute("UPDATE caption SET ratings = 0", args![]).await.unwrap();
    decide(&site, &caption, "submitted", "accepted").await;
    assert_eq!(counters(&site, &image).await, ("open".into(), 1, 1));

    // The board names only who wants to be named.
    assert!(!bao.get("/c/c").await.expect(200).text.contains("<th scope=\"row\">Ada</th>"));
    ada.post("/c/c/board", &[("show", "1")]).await.expect(303);
    assert!(bao.get("/c/c").await.expect(200).text.contains("<th scope=\"row\">Ada</th>"));
    ada.post(&path, &[("action", "withdraw")]).await.expect(303);
    assert_eq!(counters(&site, &image).await, ("open".into(), 0, 0));
    ada.post(&path, &[("action", "withdraw")]).await.expect(303);
    assert_eq!(counters(&site, &image).await, ("open".into(), 0, 0));

    // Skipping frees the place, and the picture does not come back.
    let first = asked(&bao.get("/c/c/caption").await.expect(200).text);
    bao.post("/c/c/skip", &[("image", &first), ("reason", "nonsense")]).await.expect(400);
    bao.post("/c/c/skip", &[("image", &first), ("reason", "unclear")]).await.expect(303);
    let second = asked(&bao.get("/c/c/caption").await.expect(200).text);
    assert_ne!(first, second);
    // A picture that is taken away while someone describes it.
    let before = counters(&site, &second).await;
    site.app
        .store
        .execute("UPDATE image SET state = 'withdrawn' WHERE id = $1", args![&second])
        .await
        .unwrap();
    let hidden = "UPDATE image_slots SET is_shown = 0 WHERE image = $1";
    site.app.store.execute(hidden, args![&second]).await.unwrap();
    let answer = hand_in(&bao, &second, &sentence(8)).await.expect(303);
    assert!(answer.header("location").contains("notice=gone"));
    assert_eq!(counters(&site, &second).await.1, before.1 - 1);
    assert_consistent(&site).await;
}

async fn moderators_decide_what_ratings_cannot() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, json!({ "captions": 2 })).await;
    let image = open_pictures(&site, 1).await.remove(0);
    let (ada, mo) = (captioner(&site, "Ada").await, moderator(&site).await);
    ada.get("/c/c/caption").await.expect(200);
    hand_in(&ada, &image, &sentence(1)).await.expect(303);
    let caption = caption_of(&site, &image).await;
    assert!(mo.get("/c/c/moderate").await.expect(200).text.contains("Nothing to review."));
    decide(&site, &caption, "submitted", "split").await;
    let page = mo.get("/c/c/moderate").await.expect(200).text;
    assert!(page.contains(&sentence(1)) && !page.contains("Ada"), "moderators do not see who wrote it");
    let path = format!("/c/c/moderate/captions/{caption}");
    mo.post(&path, &[("action", "nonsense")]).await.expect(400);
    mo.post(&path, &[("action", "approve")]).await.expect(303);
    assert_eq!(counters(&site, &image).await, ("open".into(), 1, 1));
    mo.post(&path, &[("action", "refuse")]).await.expect(303);
    assert_eq!(counters(&site, &image).await, ("open".into(), 0, 0));
    assert!(ada.get("/c/c/mine").await.expect(200).text.contains("A moderator has refused it."));
    assert_consistent(&site).await;
}

async fn ones_own_data_are_exported_and_deleted(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2, "approvals": 0 })).await;
    let other = open_pictures(&site, 1).await.remove(0);
    let (ada, bao) = (captioner(&site, "Ada").await, captioner(&site, "Bao").await);
    upload(&ada, &[("a.png", png(1))]).await.expect(303);
    site.work().await;
    ada.get("/c/c/caption").await.expect(200);
    hand_in(&ada, &other, &sentence(1)).await.expect(303);
    let caption = caption_of(&site, &other).await;
    decide(&site, &caption, "submitted", "accepted").await;
    // Bao describes Ada's picture during that time.
    let row = site.app.store.first("SELECT id FROM image WHERE uploader IS NOT NULL", args![]).await;
    let own: String = row.unwrap().unwrap().get("id").unwrap();
    assert_eq!(asked(&bao.get(&format!("/c/c/caption?next={own}")).await.expect(200).text), own);

    let zip = ada.get("/account/contributions.zip").await.expect(200);
    assert_eq!(zip.header("content-type"), "application/zip");
    assert!(zip.text.starts_with("PK"));
    let program = site.program("Ada", Role::Member, capeval_site::web::Scope::Read).await;
    let data = program.get("/api/v1/me/contributions").await.expect(200).json();
    assert_eq!(data["captions"][0]["text"], sentence(1));
    assert_eq!(
        (&data["pictures"][0]["game"], &data["declarations"][0]["licence"]),
        (&json!("Dragons"), &json!("CC-BY-4.0"))
    );

    ada.post("/account/contributions/delete", &[]).await.expect(303);
    site.work().await;
    assert_eq!(counters(&site, &other).await, ("open".into(), 0, 0));
    assert_eq!(counters(&site, &own).await.0, "withdrawn");
    let answer = hand_in(&bao, &own, &sentence(2)).await.expect(303);
    assert!(answer.header("location").contains("notice=gone"));
    let other_files: Vec<Option<String>> = site
        .app
        .store
        .fetch("SELECT DISTINCT blob FROM image WHERE blob IS NOT NULL", args![])
        .await
        .unwrap();
    assert!(
        other_files.len() < 2 && site.app.blobs.list().unwrap().len() == other_files.len(),
        "files are left"
    );
    let data = program.get("/api/v1/me/contributions").await.expect(200).json();
    for name in ["pictures", "captions", "drafts", "ratings", "skips", "reports", "declarations"] {
        assert_eq!(data[name], json!([]), "{name}");
    }
    let text = site.app.store.first("SELECT text, author FROM caption WHERE id = $1", args![&caption]).await;
    let text = text.unwrap().unwrap();
    assert_eq!(
        (text.get::<String>("text").unwrap(), text.get::<Option<String>>("author").unwrap()),
        (String::new(), None)
    );
    assert_consistent(&site).await;
}

async fn hosts_make_and_change_collections() {
    let site = Site::new(Database::Sqlite).await;
    let (host, other) = (site.person("Host", Role::Host).await, site.person("Other", Role::Host).await);
    let form = host.get("/host/collections/new").await.expect(200).text;
    assert!(form.contains("host@example.org") && form.contains("CC-BY-SA-4.0"));
    let mut fields = vec![
        ("slug", "games"),
        ("title", "Games"),
        ("captions", "5"),
        ("target", "100"),
        ("languages", "zh"),
        ("licences", "CC-BY-4.0"),
        ("visibility", "hidden"),
        ("hosts", "host@example.org"),
    ];
    assert_eq!(
        host.post("/host/collections", &fields).await.expect(303).header("location"),
        "/c/games?done=saved"
    );
    assert!(
        other
            .post("/host/collections", &fields)
            .await
            .expect(422)
            .text
            .contains("A collection with the address games already exists.")
    );
    other.get("/c/games").await.expect(404);
    other.get("/c/games/settings").await.expect(404);
    assert!(host.get("/host/collections").await.expect(200).text.contains("Games"));
    for (name, value, words) in [
        ("slug", "No Slug", "cannot be part of an address"),
        ("title", "", "A name must have 1 to 80 characters."),
        ("captions", "0", "Ask for 1 to 100 captions of each picture"),
        ("languages", "tlh", "is not one of"),
        ("licences", "mine", "is not one of"),
        ("hosts", "unknown@example.org", "No account has the email address unknown@example.org."),
    ] {
        let changed: Vec<(&str, &str)> = fields
            .iter()
            .map(|(field, known)| {
                (
                    *field,
                    if *field == name {
                        value
                    } else if *field == "slug" {
                        "fresh"
                    } else {
                        *known
                    },
                )
            })
            .collect();
        let refused = host.post("/host/collections", &changed).await.expect(422).text;
        assert!(refused.contains(words), "{name}: {refused}");
    }
    fields.retain(|(name, _)| *name != "visibility" && *name != "captions");
    fields.extend([("visibility", "public"), ("captions", "3"), ("summary", "Screens & more")]);
    host.post("/c/games/settings", &fields).await.expect(303);
    assert!(other.get("/c/games").await.expect(200).text.contains("Screens &#38; more"));
    assert!(site.anybody().get("/collections").await.expect(200).text.contains("Games"));
    let listed = site.anybody().get("/api/v1/collections").await.expect(200).json();
    assert_eq!(listed["collections"][0]["captions_per_picture"], 3);

    // Contributors are asked what the host names, and nothing by default.
    let form = async || host.get("/c/games/upload").await.expect(200).text;
    assert!(!form().await.contains("(optional)"));
    let with = |details| [&fields[..], &[("details", details)]].concat();
    host.post("/c/games/settings", &with("Place\r\n Weather \r\n")).await.expect(303);
    assert!(form().await.contains("Place (optional) <input name=\"game\""));
    assert!(form().await.contains("Weather (optional) <input name=\"platform\""));
    host.post("/c/games/settings", &fields).await.expect(303);
    assert!(form().await.contains("Place (optional)"), "what is left out stays");
    let refused = host.post("/c/games/settings", &with("a\nb\nc")).await.expect(422).text;
    assert!(refused.contains("Ask for at most two things about a picture"));
    host.post("/c/games/settings", &with("")).await.expect(303);
    assert!(!form().await.contains("(optional)"));

    let program = site.program("Host", Role::Host, capeval_site::web::Scope::Host).await;
    let plan = json!({ "slug": "more", "title": "More", "hosts": ["host@example.org"] });
    assert_eq!(program.post_json("/api/v1/host/collections", &plan).await.expect(201).json()["slug"], "more");
    program.post_json("/api/v1/host/collections", &plan).await.expect(200);
    let stranger = site.program("Other", Role::Host, capeval_site::web::Scope::Host).await;
    stranger.post_json("/api/v1/host/collections", &plan).await.expect(404);
    let wrong = program.post_json("/api/v1/host/collections", &json!({ "slug": "x", "colour": 1 })).await;
    assert_eq!(wrong.expect(422).json()["code"], "collection");
}

#[test]
fn the_command_line_applies_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/collection/collection.toml");
    let apply = ["admin", "collection", "apply", file];
    let made = crate::support::process::command(folder.path(), "", &apply, "");
    assert!(made.starts_with("created /c/screenshots"), "{made}");
    let changed = crate::support::process::command(folder.path(), "", &apply, "");
    assert!(changed.starts_with("updated "), "{changed}");
}
