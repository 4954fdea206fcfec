//! Hosts write to those who take part: on the page, and by email to those who want it.

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::settings::Settings;
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use capeval_site::{args, clock};
use serde_json::json;

use crate::benchmarks::{benchmark, results};
use crate::outbox::mail_server;
use crate::support::{Database, Page as _, Site, on_both, settings};

on_both! {
    announcements_reach_those_who_take_part_and_want_email
    announcements_are_edited_retracted_and_few
}

const PATH: &str = "/b/b/announcements";

async fn announcements_reach_those_who_take_part_and_want_email(database: Database) {
    let (smtp, messages) = mail_server().await;
    let site = Site::with(Settings {
        smtp,
        mail_from: "Captions <no-reply@example.org>".to_owned(),
        public_url: "https://captions.example.org".to_owned(),
        ..settings(database)
    })
    .await;
    let phase = benchmark(&site, "").await;
    for (skill, name) in [(1, "Ada"), (2, "Bao"), (3, "Cam"), (4, "Dan")] {
        let program = site.program(name, Role::Member, Scope::Submit).await;
        let submit = format!("/api/v1/phases/{phase}/submissions?method=m");
        program.send(Request::post(submit), results(40, skill)).await.expect(201);
    }
    site.work().await;
    messages.lock().unwrap().clear();
    // Bao reads Chinese, Cam wants no email, Dan is disabled, and Eve takes no part.
    site.app.store.execute("UPDATE account SET language = 'zh' WHERE name = 'Bao'", args![]).await.unwrap();
    let cam = site.person("Cam", Role::Member).await;
    assert!(
        cam.get("/account").await.expect(200).text.contains("name=\"announcements\" value=\"true\" checked")
    );
    cam.post("/account/mail", &[]).await.expect(303);
    assert!(!cam.get("/account").await.expect(200).text.contains("value=\"true\" checked"));
    site.app.store.execute("UPDATE account SET disabled_at = 1 WHERE name = 'Dan'", args![]).await.unwrap();
    site.account("Eve", Role::Member).await;

    let root = site.person("Root", Role::Admin).await;
    let news = [("title", "The deadline"), ("text", "It *has moved* to <b>May</b>."), ("mail", "true")];
    let page = root.post(&format!("{PATH}/preview"), &news).await.expect(200).text;
    assert!(page.contains("<em>has moved</em> to &lt;b&gt;May&lt;/b&gt;"), "{page}");
    assert!(site.anybody().get("/b/b").await.expect(200).text.matches("deadline").count() == 0);
    root.post(PATH, &news).await.expect(303);
    site.work().await;
    let mut got = messages.lock().unwrap().clone();
    got.sort_by_key(|message| !message.contains("ada@example.org"));
    let [ada, bao] = &got[..] else { panic!("{got:?}") };
    assert!(
        ada.contains("Subject: Benchmark: The deadline\n") && ada.contains("It *has moved* to <b>May</b>."),
        "{ada}"
    );
    assert!(ada.contains("You take part in Benchmark.") && bao.contains("bao@example.org"), "{ada} {bao}");
    assert!(!bao.contains("You take part in"), "{bao}");
    assert!(ada.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\n"), "{ada}");

    // It is on the page, for everyone who sees the benchmark.
    let page = site.anybody().get("/b/b").await.expect(200).text;
    assert!(page.contains("The deadline") && page.contains("<em>has moved</em>"), "{page}");
    let listed = site.anybody().get("/api/v1/benchmarks/b/announcements").await.expect(200).json();
    assert_eq!(listed["announcements"][0]["title"], "The deadline");
    root.get("/b/b/audit").await.expect(200).text.between("announcement.add", "<");

    // The link asks people, and takes the request of an email program, without signing in. It does nothing else.
    let unfolded = ada.replace("\n ", "");
    let link = unfolded.between("List-Unsubscribe: <https://captions.example.org", ">");
    let anybody = site.anybody();
    assert!(anybody.get(link).await.expect(200).text.contains("<form method=\"post\">"));
    let before = crate::support::dump(&site).await;
    anybody.get(link).await.expect(200);
    assert_eq!(before, crate::support::dump(&site).await, "looking changes nothing");
    let answer = anybody.post(link, &[("List-Unsubscribe", "One-Click")]).await.expect(200);
    assert!(answer.header("set-cookie").is_empty());
    anybody.post(link, &[]).await.expect(200);
    anybody.post(&format!("{}0", &link[..link.len() - 1]), &[]).await;
    anybody.post("/unsubscribe/4711", &[]).await.expect(404);
    messages.lock().unwrap().clear();
    root.post(PATH, &[("title", "Again"), ("text", "Once more."), ("mail", "true")]).await.expect(303);
    site.work().await;
    let got = messages.lock().unwrap().clone();
    assert!(got.len() == 1 && got[0].contains("bao@example.org"), "{got:?}");
    // A person who changes their mind gets them again.
    let ada = site.person("Ada", Role::Member).await;
    ada.post("/account/mail", &[("announcements", "true")]).await.expect(303);
    messages.lock().unwrap().clear();
    root.post(PATH, &[("title", "Third"), ("text", "Three."), ("phase", "p"), ("mail", "true")])
        .await
        .expect(303);
    // Nothing is sent of what was retracted before.
    let retracted =
        root.post(PATH, &[("title", "Oops"), ("text", "Wrong."), ("mail", "true")]).await.expect(303);
    assert!(retracted.header("location").starts_with(PATH));
    let sql = "SELECT id FROM announcement WHERE title = 'Oops'";
    let id: String = site.app.store.fetch_one(sql, args![]).await.unwrap();
    root.post(&format!("{PATH}/{id}/retract"), &[]).await.expect(303);
    site.work().await;
    let got = messages.lock().unwrap().clone();
    assert!(got.len() == 2 && got.iter().all(|message| message.contains("Third")), "{got:?}");
}

async fn announcements_are_edited_retracted_and_few(database: Database) {
    let site = Site::new(database).await;
    benchmark(&site, "").await;
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let other = site.program("Otto", Role::Host, Scope::Host).await;
    let api = "/api/v1/host/benchmarks/b/announcements";
    let news = |title: &str, text: &str| json!({ "title": title, "text": text });
    other.post_json(api, &news("a", "b")).await.expect(404);
    for (title, text) in
        [("", "b"), ("a", " \n"), (&"a".repeat(121), "b"), ("a", &"b".repeat(10_001)), ("\u{202e}", "b")]
    {
        assert_eq!(root.post_json(api, &news(title, text)).await.expect(422).json()["code"], "announcement");
    }
    let wrong = json!({ "title": "a", "text": "b", "phase": "q" });
    assert_eq!(root.post_json(api, &wrong).await.expect(422).json()["code"], "phase");
    let made = root.post_json(api, &news("First", "One.")).await.expect(201).json();
    let id = made["id"].as_str().unwrap();
    root.post_json(&format!("{api}/{id}"), &news("First", "Two.")).await.expect(204);
    other.post_json(&format!("{api}/{id}"), &news("First", "Three.")).await.expect(404);
    let listed = root.get("/api/v1/benchmarks/b/announcements").await.expect(200).json();
    let first = &listed["announcements"][0];
    assert_eq!((&first["text"], first["edited_at"].is_string()), (&json!("Two."), true));
    // A form shows again what was written.
    let browser = site.person("Root", Role::Admin).await;
    let page = browser
        .post(&format!("{PATH}/{id}"), &[("title", ""), ("text", "Kept <text>")])
        .await
        .expect(422)
        .text;
    assert!(page.contains("Kept &#60;text&#62;</textarea>") && page.contains("needs a title"), "{page}");
    root.post_json(&format!("{api}/{id}/retract"), &json!({})).await.expect(204);
    assert_eq!(
        root.post_json(&format!("{api}/{id}/retract"), &json!({})).await.expect(409).json()["code"],
        "retracted"
    );
    root.post_json(&format!("{api}/{id}"), &news("First", "Four.")).await.expect(409);
    let reader = site.program("Eve", Role::Member, Scope::Read).await;
    let seen = reader.get("/api/v1/benchmarks/b/announcements").await.expect(200).json();
    assert_eq!(seen["announcements"], json!([]));
    assert!(!site.anybody().get("/b/b").await.expect(200).text.contains("Two."));
    assert!(browser.get(PATH).await.expect(200).text.contains("only hosts see it"));

    // Retracting does not make room for more.
    for k in 2..=5 {
        root.post_json(api, &news(&format!("No. {k}"), "x")).await.expect(201);
    }
    let refused = root.post_json(api, &news("No. 6", "x")).await.expect(429);
    assert_eq!(refused.json()["code"], "announcements");
    assert!((86_300..=86_400).contains(&refused.header("retry-after").parse::<i64>().unwrap()));
    let clock = Clock::of_thread().unwrap();
    clock.move_to(clock::now() + clock::DAY + 1);
    root.post_json(api, &news("No. 6", "x")).await.expect(201);
}
