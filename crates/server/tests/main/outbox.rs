//! Mail and webhooks: sent once, signed, tried again, and never into a private network.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use capeval_benchmarks::notifications;
use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::outbox::signature;
use capeval_site::settings::Settings;
use capeval_site::web::Scope;
use capeval_site::{args, clock};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use crate::support::{Database, Site, on_both, settings};

on_both! {
    webhooks_are_signed_and_tried_again
    accounts_are_confirmed_by_mail
    passwords_and_addresses_change_by_mail
    links_at_rest_open_nothing
    mail_about_a_submission_is_in_the_language_of_its_reader
}

/// The messages of a receiver.
#[derive(Clone, Default)]
struct ReceivedRequests(Arc<Mutex<Vec<(HeaderMap, Bytes)>>>);

/// A receiver on loopback that refuses the first message, and its address.
async fn receiver() -> (String, ReceivedRequests) {
    async fn receive(
        State(received): State<ReceivedRequests>,
        headers: HeaderMap,
        body: Bytes,
    ) -> StatusCode {
        let mut received = received.0.lock().unwrap();
        received.push((headers, body));
        if received.len() == 1 { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK }
    }
    let received = ReceivedRequests::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    let router = Router::new().route("/hook", axum::routing::post(receive)).with_state(received.clone());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, received)
}

/// A mail server on loopback that takes everything, its address, and the messages.
pub async fn mail_server() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("smtp://{}", listener.local_addr().unwrap());
    let messages = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&messages);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (read, mut write) = stream.into_split();
            let mut lines = BufReader::new(read).lines();
            write.write_all(b"220 test\r\n").await.unwrap();
            let mut message: Option<String> = None;
            while let Ok(Some(line)) = lines.next_line().await {
                let answer = match (&mut message, line.as_str()) {
                    (Some(_), ".") => {
                        // Long lines are broken after an equals sign.
                        kept.lock().unwrap().extend(message.take().map(|text| text.replace("=\n", "")));
                        "250 taken\r\n"
                    }
                    (Some(text), _) => {
                        text.push_str(&line);
                        text.push('\n');
                        continue;
                    }
                    (None, "DATA") => {
                        message = Some(String::new());
                        "354 go on\r\n"
                    }
                    (None, "QUIT") => "221 bye\r\n",
                    (None, _) => "250 test\r\n",
                };
                write.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    });
    (address, messages)
}

/// A submission that has ended.
async fn submission(site: &Site, account: &str) {
    let mut tx = site.app.store.begin().await.unwrap();
    for (sql, values) in [
        (
            "INSERT INTO benchmark (id, slug, title, summary, rules, visibility, created_at) \
             VALUES ('b', 'coco', 'COCO', '', '', 'public', 1)",
            args![],
        ),
        (
            "INSERT INTO submission (id, phase, account, kind, method, description, link, state, size, refunded, \
             created_at) VALUES ('s', 'p', $1, 'entry', 'ours', '', '', 'scored', 1, 0, 1)",
            args![account],
        ),
    ] {
        if sql.contains("submission") {
            tx.execute(PHASE, args![]).await.unwrap();
        }
        tx.execute(sql, values).await.unwrap();
    }
    tx.commit().await.unwrap();
}

const PHASE: &str = "INSERT INTO phase (id, benchmark, slug, title, position, per_day, in_total, board, decimals, \
     metrics, main_set, main_metric, human, created_at) \
     VALUES ('p', 'b', 'test', 'Test', 0, 5, 5, 'public', 3, '[]', 'c5', 'cider', 0, 1)";

async fn webhooks_are_signed_and_tried_again(database: Database) {
    let (address, received) = receiver().await;
    let strict = Site::new(database).await;
    let site = Site::with(Settings { webhooks_private: true, ..settings(database) }).await;
    for site in [&strict, &site] {
        let ada = site.account("ada", Role::Member).await;
        submission(site, &ada).await;
    }
    let path = "/api/v1/host/benchmarks/coco/webhooks";
    let admin = site.program("admin", Role::Admin, Scope::Host).await;
    let other = site.program("other", Role::Host, Scope::Host).await;
    let hook = json!({ "url": address });
    other.post_json(path, &hook).await.expect(404);
    let refused =
        strict.program("admin", Role::Admin, Scope::Host).await.post_json(path, &hook).await.expect(422);
    assert_eq!(refused.json()["code"], "webhook-address");
    let secret = admin.post_json(path, &hook).await.expect(201).json()["secret"].as_str().unwrap().to_owned();

    let mut tx = site.app.store.begin().await.unwrap();
    notifications::submission_ended(&mut tx, &site.app, "s").await.unwrap();
    tx.commit().await.unwrap();
    // A transaction that is rolled back sends nothing.
    let mut tx = site.app.store.begin().await.unwrap();
    notifications::submission_ended(&mut tx, &site.app, "s").await.unwrap();
    drop(tx);
    site.work_that_is_due().await;
    assert_eq!(received.0.lock().unwrap().len(), 1);
    let listed = admin.get(path).await.expect(200).json();
    assert!(!listed.to_string().contains(&secret));
    let delivery = &listed["webhooks"][0]["deliveries"][0];
    assert_eq!((&delivery["attempts"], &delivery["sent_at"]), (&json!(1), &Value::Null));
    assert!(delivery["error"].as_str().unwrap().contains("503"), "{delivery}");
    // The next attempt comes after a pause.
    site.app.store.execute("UPDATE job SET run_after = 0", args![]).await.unwrap();
    site.work_that_is_due().await;
    site.work_that_is_due().await;
    let got = received.0.lock().unwrap().clone();
    assert_eq!(got.len(), 2);
    let (headers, body) = &got[1];
    assert_eq!(headers["capeval-delivery"], got[0].0["capeval-delivery"]);
    let text = headers["capeval-signature"].to_str().unwrap();
    let (time, sum) = text.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
    let time: i64 = time.parse().unwrap();
    assert!((clock::now() / 1000 - time).abs() < 60);
    let body = std::str::from_utf8(body).unwrap();
    assert_eq!(sum, signature(&secret, time, body));
    let event: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&event["event"], &event["submission"], &event["benchmark"], &event["phase"]),
        (&json!("submission.scored"), &json!("s"), &json!("coco"), &json!("test"))
    );
    assert!(admin.get(path).await.json()["webhooks"][0]["deliveries"][0]["sent_at"].is_string());

    // A name that leads into a private network is refused when a message is sent, too.
    let sql = "INSERT INTO webhook (id, benchmark, url, secret, created_by, created_at) VALUES ('h', 'b', $1, 'x', 'a', 1)";
    let local = address.replace("127.0.0.1", "localhost");
    strict.app.store.execute(sql, args![local]).await.unwrap();
    let mut tx = strict.app.store.begin().await.unwrap();
    notifications::submission_ended(&mut tx, &strict.app, "s").await.unwrap();
    tx.commit().await.unwrap();
    for _ in 0..8 {
        strict.work_that_is_due().await;
        strict.app.store.execute("UPDATE job SET run_after = 0", args![]).await.unwrap();
    }
    let row = strict.app.store.first("SELECT attempt, error FROM outbox", args![]).await.unwrap().unwrap();
    assert!(row.get::<String>("error").unwrap().contains("private network"));
    assert_eq!(row.get::<i64>("attempt").unwrap(), 6, "it is given up");
    assert_eq!(received.0.lock().unwrap().len(), 2);

    let id = admin.get(path).await.json()["webhooks"][0]["id"].as_str().unwrap().to_owned();
    let delete = |path: String| axum::http::Request::delete(path);
    other.send(delete(format!("{path}/{id}")), "").await.expect(404);
    admin.send(delete(format!("{path}/{id}")), "").await.expect(204);
    assert_eq!(admin.get(path).await.json(), json!({ "webhooks": [] }));
}

async fn accounts_are_confirmed_by_mail(database: Database) {
    let (smtp, messages) = mail_server().await;
    let with_mail = Settings {
        smtp,
        mail_from: "Captions <no-reply@example.org>".to_owned(),
        registration: "open".to_owned(),
        ..settings(database)
    };
    let site = Site::with(with_mail).await;
    let anybody = site.anybody();
    assert!(!anybody.get("/register").await.expect(200).text.contains("password"));
    anybody.post("/register", &[("email", "not an address")]).await.expect(422);
    let first = anybody.post("/register", &[("email", "Ada@example.org")]).await.expect(200).text;
    assert!(first.contains("We have sent a link to ada@example.org"));
    site.work_that_is_due().await;
    let message = messages.lock().unwrap().last().unwrap().clone();
    assert!(
        message.contains("To: ada@example.org") && message.contains("From: Captions <no-reply@example.org>")
    );
    let link = message.lines().find_map(|line| line.split_once("/join/")).unwrap().1.trim().to_owned();
    let form = anybody.get(&format!("/join/{link}")).await.expect(200).text;
    assert!(form.contains("value=\"ada@example.org\""));
    // Another address cannot be smuggled in.
    let fields = [("email", "eve@example.org"), ("name", "Ada"), ("password", "long enough words")];
    anybody.post(&format!("/join/{link}"), &fields).await.expect(303);
    let known = capeval_site::accounts::people::by_email(&site.app.store, "ada@example.org").await.unwrap();
    assert_eq!(known.unwrap().role, Role::Member);
    // For an address that has an account, the page is the same, and the mail is not.
    let second = anybody.post("/register", &[("email", "ada@example.org")]).await.expect(200).text;
    assert_eq!(first, second);
    site.work_that_is_due().await;
    let message = messages.lock().unwrap().last().unwrap().clone();
    assert!(message.contains("/sign-in") && !message.contains("/join/"), "{message}");
    anybody.post("/register", &[("email", "ada@example.org")]).await.expect(429);

    let ada = capeval_site::accounts::people::by_email(&site.app.store, "ada@example.org").await.unwrap();
    submission(&site, &ada.unwrap().id).await;
    let mut tx = site.app.store.begin().await.unwrap();
    notifications::submission_ended(&mut tx, &site.app, "s").await.unwrap();
    tx.commit().await.unwrap();
    site.work_that_is_due().await;
    let message = messages.lock().unwrap().last().unwrap().clone();
    assert!(
        message.contains("COCO: your submission has been scored") && message.contains("/submissions/s"),
        "{message}"
    );
}

async fn passwords_and_addresses_change_by_mail(database: Database) {
    let (smtp, messages) = mail_server().await;
    let mail_from = "Captions <no-reply@example.org>".to_owned();
    let site = Site::with(Settings { smtp, mail_from, ..settings(database) }).await;
    let (anybody, ada) = (site.anybody(), site.person("Ada", Role::Member).await);
    let hash = site.app.hasher.hash("a long password").await.unwrap();
    site.app.store.execute("UPDATE account SET password = $1", args![hash]).await.unwrap();
    let last = || messages.lock().unwrap().last().cloned().unwrap_or_default();
    let link = |path: &str| {
        let message = last();
        let secret = message.lines().find_map(|line| line.split_once(path)).unwrap().1.trim().to_owned();
        format!("{path}{secret}")
    };

    // The page does not tell whether there is an account.
    let unknown = anybody.post("/forgotten", &[("email", "eve@example.org")]).await.expect(200).text;
    site.work_that_is_due().await;
    assert!(messages.lock().unwrap().is_empty());
    let known = anybody.post("/forgotten", &[("email", "Ada@example.org")]).await.expect(200).text;
    assert_eq!(known.replace("ada@", "eve@"), unknown);
    site.work_that_is_due().await;
    assert!(last().contains("To: ada@example.org"));
    anybody.post(&link("/reset/"), &[("password", "another password")]).await.expect(303);
    ada.get("/account").await.expect(303);
    let signed_in = [("email", "ada@example.org"), ("password", "another password")];
    let ada = anybody.with_cookie_of(&anybody.post("/sign-in", &signed_in).await.expect(303));

    let to = |email| [("email", email), ("password", "another password")];
    let asked = ada.post("/account/address", &to("new@example.org")).await.expect(200).text;
    assert!(asked.contains("We have sent a link to new@example.org."));
    site.work_that_is_due().await;
    assert!(last().contains("To: new@example.org"));
    let confirm = link("/address/");
    assert!(anybody.get(&confirm).await.expect(200).text.contains("the address new@example.org"));
    assert!(ada.get("/account").await.expect(200).text.contains("ada@example.org"));
    anybody.post(&confirm, &[]).await.expect(303);
    anybody.post(&confirm, &[]).await.expect(410);
    assert!(ada.get("/account").await.expect(200).text.contains("new@example.org"));
    site.work_that_is_due().await;
    assert!(last().contains("To: ada@example.org") && last().contains("has been changed"));

    // The owner of an address with an account learns it by mail; the page says the same as for others.
    site.person("Bao", Role::Member).await;
    let asked = ada.post("/account/address", &to("bao@example.org")).await.expect(200).text;
    assert!(asked.contains("We have sent a link to bao@example.org."));
    site.work_that_is_due().await;
    assert!(last().contains("To: bao@example.org") && last().contains("/sign-in"));
}

/// Neither the database nor a backup of it has a link that works, whether or not its message was sent.
async fn links_at_rest_open_nothing(database: Database) {
    let (smtp, messages) = mail_server().await;
    let site = Site::with(Settings {
        smtp,
        mail_from: "no-reply@example.org".to_owned(),
        registration: "open".to_owned(),
        ..settings(database)
    })
    .await;
    let anybody = site.anybody();
    site.account("Ada", Role::Member).await;
    let paths = async || {
        let rows = crate::support::dump(&site).await;
        let secrets = ["/join/", "/reset/"].map(|path| {
            rows.split(path).skip(1).map(|rest| rest.chars().take(30).collect::<String>()).collect::<Vec<_>>()
        });
        assert!(secrets.iter().flatten().all(|secret| secret.starts_with("{secret}")), "{secrets:?}");
        rows
    };
    anybody.post("/register", &[("email", "new@example.org")]).await.expect(200);
    anybody.post("/forgotten", &[("email", "ada@example.org")]).await.expect(200);
    paths().await;
    site.work_that_is_due().await;
    site.work_that_is_due().await;
    let rows = paths().await;
    let links: Vec<String> = ["/join/", "/reset/"]
        .into_iter()
        .map(|path| {
            let messages = messages.lock().unwrap();
            let mut lines = messages.iter().flat_map(|message| message.lines());
            let secret = lines.find_map(|line| line.split_once(path)).unwrap().1.trim();
            assert!(!rows.contains(secret), "{secret}");
            format!("{path}{secret}")
        })
        .collect();
    let bodies: Vec<String> = site.app.store.fetch("SELECT body FROM outbox", args![]).await.unwrap();
    assert_eq!(bodies, ["", ""]);
    let folder = tempfile::tempdir().unwrap();
    let (backup, elsewhere) = (folder.path().join("backup"), folder.path().join("elsewhere"));
    capeval_site::backup::make(&site.app, &backup).await.unwrap();
    for link in &links {
        anybody.get(link).await.expect(200);
    }
    capeval_site::backup::restore(&backup, &elsewhere, &settings(Database::Sqlite), FEATURES).await.unwrap();
    let app = capeval_site::app::App::open(
        elsewhere,
        Settings { registration: "open".to_owned(), ..settings(Database::Sqlite) },
        FEATURES,
    );
    let app = app.await.unwrap();
    let restored = crate::support::Client {
        router: capeval_site::app::router(&app).unwrap(),
        cookie: None,
        token: None,
    };
    for link in &links {
        restored.get(link).await.expect(410);
    }
}

async fn mail_about_a_submission_is_in_the_language_of_its_reader(database: Database) {
    let with_mail = Settings {
        smtp: "smtp://127.0.0.1:1".to_owned(),
        mail_from: "no-reply@example.org".to_owned(),
        ..settings(database)
    };
    let site = Site::with(with_mail).await;
    let ada = site.account("Ada", Role::Member).await;
    submission(&site, &ada).await;
    for (language, state, words) in [
        ("en", "scored", "submitted to COCO: scored"),
        ("zh", "scored", "您的团队提交到 COCO 的方法 ours：已评分"),
        ("zh", "failed", "您的团队提交到 COCO 的方法 ours：失败"),
    ] {
        let mut tx = site.app.store.begin().await.unwrap();
        tx.execute("UPDATE account SET language = $1 WHERE id = $2", args![language, &ada]).await.unwrap();
        tx.execute("UPDATE submission SET state = $1", args![state]).await.unwrap();
        notifications::submission_ended(&mut tx, &site.app, "s").await.unwrap();
        let row = tx.first("SELECT body FROM outbox", args![]).await.unwrap().unwrap();
        let body: String = row.get("body").unwrap();
        assert!(body.contains(words), "{body}");
        tx.execute("DELETE FROM outbox", args![]).await.unwrap();
        tx.commit().await.unwrap();
    }
}
