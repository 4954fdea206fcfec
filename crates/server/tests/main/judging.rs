//! People judge captions blind, and the board shows what their judgements add up to.

use std::collections::BTreeSet;

use axum::http::Request;
use capeval_server::accounts::{Role, sessions};
use capeval_server::args;
use capeval_server::web::Scope;
use serde_json::json;

use crate::benchmarks::{benchmark, results};
use crate::support::{Client, Database, Site, on_both};

on_both! { captions_are_judged_blind_and_add_up }

async fn captions_are_judged_blind_and_add_up(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "human = false").await;
    let admin = site.person("Root", Role::Admin).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method=Ours%3Cb%3E");
    ada.send(Request::post(path), results(40, 10)).await.expect(201);
    site.work().await;
    let judges = [site.person("Judy", Role::Member).await, site.person("Jules", Role::Member).await];
    let page = "/b/b/p/host/judging";
    let begin = |images: &'static str, pictures: &'static str, judges: &'static str| {
        let admin = admin.clone();
        async move {
            let fields = [("images", images), ("wanted", "1"), ("pictures", pictures), ("judges", judges)];
            admin.post(page, &fields).await
        }
    };
    let pictures = "https://pictures.example.org/{id:012}.jpg";
    for (images, pictures, people, words) in [
        ("0", pictures, "", "Choose 1 to 1000 images"),
        ("5", "http://pictures.example.org/{id}.jpg", "", "must begin with https:// and have {id} in place"),
        ("5", "https://pictures.example.org/1.jpg", "", "must begin with https:// and have {id} in place"),
        ("5", "https://a b; script-src *//{id}", "", "must begin with https://"),
        ("5", pictures, "nobody@example.org", "No account has the email address nobody@example.org."),
    ] {
        let refused = begin(images, pictures, people).await.expect(422).text;
        assert!(refused.contains(words), "{words}: {refused}");
    }
    // Hosts learn why the agreement could not be worked out.
    let agreement = "/b/b/p/agreement";
    admin.post(agreement, &[]).await.expect(303);
    site.work().await;
    let failed = "The calculation failed: no caption has been judged";
    assert!(admin.get(agreement).await.expect(200).text.contains(failed));
    assert!(!site.anybody().get(agreement).await.expect(200).text.contains("calculation failed"));
    judges[0].get("/b/b/p/judge").await.expect(404);
    begin("12", pictures, "judy@example.org jules@example.org ada@example.org").await.expect(303);
    begin("12", pictures, "").await.expect(409);
    site.work().await;
    let shown = admin.get(page).await.expect(200).text;
    // Twelve images, and three captions of each: ours, the baseline, a reference.
    assert!(shown.contains("<dd>36</dd>") && shown.contains("<dd>0 / 36</dd>"), "{shown}");

    // Two people judge until nothing is left. Whoever wrote it, the page looks the same.
    let mut seen = BTreeSet::new();
    let judge = |client: &Client, item: &str, grade: i64, machine: bool| {
        let (client, item, grade) = (client.clone(), item.to_owned(), grade.to_string());
        async move {
            let machine = machine.to_string();
            let fields =
                [("item", item.as_str()), ("grade", &grade), ("is_machine", &machine), ("detail", "3")];
            client.post("/b/b/p/judge", &fields).await
        }
    };
    for k in 0.. {
        let client = &judges[k % 2];
        let answer = client.get("/b/b/p/judge").await.expect(200);
        let policy = answer.header("content-security-policy").to_owned();
        assert!(policy.contains("img-src 'self' https://pictures.example.org;"), "{policy}");
        let page = answer.text;
        let Some(item) = page.split("name=\"item\" value=\"").nth(1) else {
            assert!(page.contains("You have judged all your captions."));
            break;
        };
        let item = item.split('"').next().unwrap().to_owned();
        assert!(!page.contains("Ours") && !page.contains("Baseline") && !page.contains("Ada"));
        assert!(page.contains("src=\"https://pictures.example.org/0000000000"), "{page}");
        let caption = page.split("<blockquote class=\"caption\">").nth(1).unwrap().split('<').next().unwrap();
        // References say `secret`, poor captions `nothing`.
        let (grade, machine) = match caption {
            text if text.contains("secret") => (4, false),
            text if text.contains("nothing") => (1, true),
            _ => (4, true),
        };
        assert!(seen.insert(item.clone()), "{item} came twice");
        judge(client, &item, 5, machine).await.expect(422);
        judge(client, &item, grade, machine).await.expect(303);
        // Once more is dropped, of the same person and of another.
        judge(client, &item, 1, machine).await.expect(303);
        judge(&judges[(k + 1) % 2], &item, 1, machine).await.expect(303);
    }
    assert_eq!(seen.len(), 36);
    // A person never judges captions of their own team, here with a request made by hand.
    let sql = "UPDATE evaluation_item SET judged = 0 WHERE submission IN (SELECT id FROM submission WHERE kind = 'entry')";
    site.app.store.execute(sql, args![]).await.unwrap();
    let sql = "SELECT item.id AS id FROM evaluation_item AS item JOIN submission ON submission.id = item.submission \
               WHERE submission.kind = 'entry'";
    let own: String = site.app.store.all(sql, args![]).await.unwrap()[0].get("id").unwrap();
    let of_ada = Client { cookie: None, ..ada.clone() };
    of_ada.get("/b/b/p/judge").await.expect(303);
    let mut tx = site.app.store.begin().await.unwrap();
    let row = tx.first("SELECT id FROM account WHERE name = 'Ada'", args![]).await.unwrap().unwrap();
    let id: String = row.get("id").unwrap();
    let cookie = sessions::begin(&mut tx, &site.app.settings, &id).await.unwrap();
    let cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
    tx.commit().await.unwrap();
    let ada_at_home = Client { cookie: Some(cookie), token: None, ..ada.clone() };
    assert!(ada_at_home.get("/b/b/p/judge").await.expect(200).text.contains("You have judged all"));
    judge(&ada_at_home, &own, 4, false).await.expect(303);
    let count = "SELECT COUNT(*) AS n FROM judgement";
    let n: i64 = site.app.store.first(count, args![]).await.unwrap().unwrap().get("n").unwrap();
    assert_eq!(n, 36);

    // The board has M1 to M4.
    let board = ada.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    let judged = board["judged_by_people"].as_array().unwrap();
    assert_eq!(judged.len(), 3);
    assert_eq!(
        (&judged[2]["kind"], &judged[2]["m2"], &judged[2]["m3"]),
        (&json!("human"), &json!(1.0), &json!(4.0))
    );
    let ours = &judged[0];
    assert_eq!((&ours["method"], &ours["m2"], &ours["m4"]), (&json!("Ours<b>"), &json!(0.0), &json!(3.0)));
    assert_eq!((&ours["m1"], &ours["judgements"]), (&json!(1.0), &json!(12)));
    assert!(judged[1]["m1"].as_f64() < ours["m1"].as_f64(), "{judged:?}");
    let page = site.anybody().get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(page.contains("Human evaluation") && page.contains("M1, %"));
    // A line for each system, and one for people.
    for class in ["s0", "s1", "grey"] {
        assert!(page.contains(&format!("<path class=\"line {class}\" d=\"M40 210")), "{class}");
    }

    // A page says how metrics agree with the judges. The scores of so few images are not drawn: one could tell them.
    let page = site.anybody().get(agreement).await.expect(200).text;
    assert!(page.contains("Not calculated yet."), "{page}");
    judges[0].post(agreement, &[]).await.expect(404);
    admin.post(agreement, &[]).await.expect(303);
    site.work().await;
    let page = site.anybody().get(agreement).await.expect(200).text;
    assert!(page.contains("36 ratings of") && page.contains("of 12 pictures"), "{page}");
    assert!(page.contains("Ada: Ours") && page.contains("CIDEr-D") && !page.contains("secret"), "{page}");
    assert_eq!(page.matches("<svg").count(), 1);
    assert!(
        !page.contains("<b>") && !admin.get(agreement).await.expect(200).text.contains("calculation failed")
    );

    admin.post("/b/b/p/host/judging/close", &[]).await.expect(303);
    assert!(
        judges[0]
            .get("/b/b/p/judge")
            .await
            .expect(200)
            .text
            .contains("There are no captions to judge at the moment.")
    );
    judge(&judges[0], &own, 4, false).await.expect(409);
    begin("2", pictures, "").await.expect(303);
    judges[0].post("/b/b/p/host/judging", &[("images", "1")]).await.expect(404);

    // Nobody is named any more whose entry is off the board.
    let sql = "SELECT id FROM submission WHERE kind = 'entry'";
    let id: String = site.app.store.first(sql, args![]).await.unwrap().unwrap().get("id").unwrap();
    admin.post(&format!("/submissions/{id}/disqualify"), &[("reason", "Copied")]).await.expect(303);
    let page = site.anybody().get(agreement).await.expect(200).text;
    assert!(page.contains("Not calculated yet.") && !page.contains("Ours"), "{page}");
}
