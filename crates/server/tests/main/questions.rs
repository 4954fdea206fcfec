//! People ask questions in public, and hosts and others answer them.

use capeval_site::accounts::{Role, deletion, people};
use capeval_site::settings::Settings;
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use capeval_site::{args, clock};
use serde_json::json;

use crate::benchmarks::benchmark;
use crate::outbox::mail_server;
use crate::support::{Database, Page as _, Site, dump, on_both};

on_both! {
    questions_are_asked_and_answered_on_the_page_and_by_email
    hosts_pin_and_hide_what_people_wrote
    what_people_wrote_goes_with_their_account
}

const PATH: &str = "/b/b/questions";
const API: &str = "/api/v1/benchmarks/b/questions";

/// Makes a person a host of the benchmark.
async fn host(site: &Site, name: &str) -> crate::support::Client {
    let client = site.person(name, Role::Host).await;
    let sql = "INSERT INTO benchmark_host (benchmark, account) SELECT benchmark.id, account.id \
               FROM benchmark, account WHERE account.name = $1";
    site.app.store.execute(sql, args![name]).await.unwrap();
    client
}

async fn questions_are_asked_and_answered_on_the_page_and_by_email(database: Database) {
    let (smtp, messages) = mail_server().await;
    let site = Site::with(Settings {
        smtp,
        mail_from: "Captions <no-reply@example.org>".to_owned(),
        public_url: "https://captions.example.org".to_owned(),
        ..crate::support::settings(database)
    })
    .await;
    benchmark(&site, "").await;
    let (hanna, henry) = (host(&site, "Hanna").await, host(&site, "Henry").await);
    // Henry wants no email, Ada reads Chinese.
    henry.post("/account/mail", &[]).await.expect(303);
    let ada = site.person("Ada", Role::Member).await;
    site.app.store.execute("UPDATE account SET language = 'zh' WHERE name = 'Ada'", args![]).await.unwrap();

    let asked = [("title", "=1+1 How <b>many</b>?"), ("text", "Is *one* caption enough? <script>x</script>")];
    site.anybody().post(PATH, &asked).await.expect(303).header("location").strip_prefix("/sign-in").unwrap();
    let page = ada.post(PATH, &asked).await.expect(303).header("location").to_owned();
    let thread = page.strip_suffix("?done=saved").unwrap();
    site.work().await;
    let got = std::mem::take(&mut *messages.lock().unwrap());
    let [mail] = &got[..] else { panic!("{got:?}") };
    let mail = mail.replace("\n ", "");
    assert!(mail.contains("hanna@example.org") && mail.contains("Subject: Benchmark: Ada asks a question"));
    assert!(mail.contains(thread) && !mail.contains("caption enough"), "{mail}");
    assert!(mail.contains("List-Unsubscribe: <https://captions.example.org/unsubscribe/"), "{mail}");

    // Everyone who sees the benchmark reads it, as text.
    let shown = site.anybody().get(thread).await.expect(200).text;
    assert!(shown.contains("<em>one</em>") && shown.contains("&lt;script&gt;x&lt;/script&gt;"), "{shown}");
    assert!(shown.contains("=1+1 How &#60;b&#62;many&#60;/b&#62;?") && shown.contains("Sign in to answer"));
    hanna.post(thread, &[("text", "One is enough.")]).await.expect(303);
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    let api = format!("/api/v1/benchmarks/b/questions/{}", thread.rsplit('/').next().unwrap());
    bao.post_json(&api, &json!({ "text": "We send two." })).await.expect(201);
    site.work().await;
    let got = std::mem::take(&mut *messages.lock().unwrap());
    assert!(got.len() == 2 && got.iter().all(|mail| mail.contains("ada@example.org")), "{got:?}");
    let shown = bao.get(&api).await.expect(200).json();
    assert_eq!((&shown["question"]["answers"], &shown["question"]["host_answers"]), (&json!(2), &json!(1)));
    let hosts: Vec<bool> =
        shown["answers"].as_array().unwrap().iter().map(|one| one["is_host"].as_bool().unwrap()).collect();
    assert_eq!(hosts, [true, false]);
    let page = ada.get(thread).await.expect(200).text;
    assert!(page.contains("Hanna (<strong>a host</strong>)") && !page.contains("moderate"), "{page}");
    assert!(ada.get(PATH).await.expect(200).text.contains("answered by a host"));
    // An answer is no question of its own.
    let answer = shown["answers"][0]["id"].as_str().unwrap();
    ada.get(&format!("{PATH}/{answer}")).await.expect(404);
    ada.post(&format!("{PATH}/{answer}"), &[("text", "x")]).await.expect(404);
}

async fn hosts_pin_and_hide_what_people_wrote(database: Database) {
    let site = Site::new(database).await;
    benchmark(&site, "").await;
    let hanna = host(&site, "Hanna").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let long = "a".repeat(5_001);
    for (title, text) in [("", "b"), ("a", " \n"), (&*"a".repeat(121), "b"), ("a", &long), ("\u{202e}", "b")]
    {
        let refused = ada.post_json(API, &json!({ "title": title, "text": text })).await.expect(422);
        assert_eq!(refused.json()["code"], "question");
    }
    let ask = async |title: &str| ada.post_json(API, &json!({ "title": title, "text": "?" })).await;
    let mut ids = Vec::new();
    for k in 0..5 {
        let made = ask(&format!("No. {k}")).await.expect(201).json();
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    let refused = ask("No. 5").await.expect(429);
    assert_eq!(refused.json()["code"], "questions");
    assert!((86_300..=86_400).contains(&refused.header("retry-after").parse::<i64>().unwrap()));
    let clock = Clock::of_thread().unwrap();
    clock.move_to(clock::now() + clock::DAY + 1);
    ids.push(ask("No. 5").await.expect(201).json()["id"].as_str().unwrap().to_owned());
    let moderate = async |id: &str, action: &'static str| {
        hanna.post(&format!("{PATH}/{id}/moderate"), &[("action", action)]).await
    };
    for id in &ids[..5] {
        moderate(id, "pin").await.expect(303);
    }
    moderate(&ids[5], "pin").await.expect(409);
    moderate(&ids[0], "unpin").await.expect(303);
    let listed = ada.get(API).await.expect(200).json();
    let titles = |list: &serde_json::Value| -> Vec<String> {
        let each = list.as_array().unwrap().iter();
        each.map(|one| one["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles(&listed["questions"]), ["No. 5", "No. 0"]);
    assert_eq!(titles(&listed["pinned"]).len(), 4);

    // What is hidden is for hosts alone, who can show it again.
    let thread = format!("{API}/{}", ids[0]);
    let answer = ada.post_json(&thread, &json!({ "text": "A rude word" })).await.expect(201).json();
    let answer = answer["id"].as_str().unwrap();
    assert!(moderate(answer, "pin").await.expect(409).text.contains("Only questions can be pinned."));
    moderate(answer, "hide").await.expect(303);
    for text in [ada.get(&thread).await.expect(200).text, ada.get(API).await.expect(200).text] {
        assert!(!text.contains("rude") && !text.contains("\"answers\":1"), "{text}");
    }
    let page = format!("{PATH}/{}", ids[0]);
    assert!(hanna.get(&page).await.expect(200).text.contains("only hosts see it"));
    moderate(&ids[0], "hide").await.expect(303);
    for path in [&thread, &page] {
        ada.get(path).await.expect(404);
    }
    site.anybody().get(&page).await.expect(404);
    ada.post_json(&thread, &json!({ "text": "again" })).await.expect(404);
    for path in [PATH, "/b/b", API] {
        assert!(!site.anybody().get(path).await.expect(200).text.contains("No. 0"), "{path}");
    }
    moderate(&ids[0], "show").await.expect(303);
    moderate(answer, "show").await.expect(303);
    assert!(ada.get(&thread).await.expect(200).text.contains("rude"));
    let log = hanna.get("/b/b/audit").await.expect(200).text;
    for word in ["question.pin", "question.unpin", "question.hide", "question.show"] {
        assert!(log.contains(word), "{word}");
    }
    // The lists of the benchmark hold for words, too.
    let sql = "UPDATE benchmark SET block = '[\"ada@example.org\"]'";
    site.app.store.execute(sql, args![]).await.unwrap();
    site.app.store.execute("UPDATE account SET confirmed_at = 1", args![]).await.unwrap();
    assert_eq!(ask("No. 6").await.expect(403).json()["code"], "not-admitted");
}

async fn what_people_wrote_goes_with_their_account(database: Database) {
    let site = Site::new(database).await;
    benchmark(&site, "").await;
    let (zoe, bao) = (
        site.program("Zoelina", Role::Member, Scope::Submit).await,
        site.program("Bao", Role::Member, Scope::Submit).await,
    );
    let mut ids = Vec::new();
    for (who, title) in [(&zoe, "My first"), (&zoe, "My second"), (&bao, "Of Bao")] {
        let made = who.post_json(API, &json!({ "title": title, "text": "I ask" })).await.expect(201).json();
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    bao.post_json(&format!("{API}/{}", ids[0]), &json!({ "text": "An answer" })).await.expect(201);
    for id in &ids[1..] {
        zoe.post_json(&format!("{API}/{id}"), &json!({ "text": "Mine" })).await.expect(201);
    }
    let own = zoe.get("/api/v1/me/contributions").await.expect(200).json();
    assert_eq!(own["questions"].as_array().unwrap().len(), 4);
    assert_eq!(own["questions"][0]["title"], "My first");
    let account = people::by_email(&site.app.store, "zoelina@example.org").await.unwrap().unwrap().id;
    deletion::remove(&site.app, None, &account).await.unwrap();
    let rows = dump(&site).await;
    for text in ["My first", "My second", "I ask\",\"Zoe", "Mine"] {
        assert!(!rows.contains(text), "{text}");
    }
    // The answer of another person stays, below an empty place.
    let left = bao.get(API).await.expect(200).json();
    assert_eq!(left["questions"].as_array().unwrap().len(), 2);
    let page = site.anybody().get(&format!("{PATH}/{}", ids[0])).await.expect(200).text;
    assert!(page.contains("A question of a deleted account") && page.contains("An answer"), "{page}");
    assert_eq!(page.between("<article class=\"card\">", "</article>").matches("Bao").count(), 1);
}
