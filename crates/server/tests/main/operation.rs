//! Tests what operators of a server look at: `doctor`, the files of the data folder, and the progress of a submission.

use std::process::Command;

use axum::http::Request;
use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::app::App;
use capeval_site::args;
use capeval_site::feature;
use capeval_site::settings::Settings;
use capeval_site::store::Store;
use capeval_site::testing::counting;
use capeval_site::web::Scope;
use http_body_util::BodyExt;

use crate::benchmarks::{benchmark, results};
use crate::support::process::{Server, command};
use crate::support::{Database, Site, on_both, on_sqlite, settings};

on_both! {
    tables_of_a_newer_program_are_refused
    a_migration_that_fails_names_its_file_and_changes_nothing
}

on_sqlite! {
    a_submission_is_followed_as_a_stream_of_events
    what_changes_with_a_state_is_renewed_with_it
    what_watches_the_server_needs_no_session
    the_chosen_language_is_that_of_mail
    other_databases_than_postgresql_are_refused
}

#[test]
fn doctor_finds_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), crate::benchmarks::references(5, 5)).unwrap();
    let plan = folder.path().join("plan.toml");
    let text = "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu', 'cider-d']\n\
        [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";
    std::fs::write(&plan, text).unwrap();
    command(folder.path(), "", &["admin", "benchmark", "apply", &plan.display().to_string()], "");
    let doctor = || {
        let mut doctor = Command::new(env!("CARGO_BIN_EXE_capeval-server"));
        let output = doctor.arg("--data").arg(folder.path()).arg("doctor").output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (_, text) = doctor();
    let line = |text: &str, about: &str| {
        text.lines()
            .find(|line| line.starts_with(about))
            .unwrap_or_else(|| panic!("{about}: {text}"))
            .to_owned()
    };
    assert!(line(&text, "database").contains("SQLite"), "{text}");
    assert!(
        line(&text, "sandbox").ends_with(
            "network refused, other files refused, other programs refused, other processes refused, more memory refused, \
             variables refused"
        ),
        "{text}"
    );
    assert!(line(&text, "files").contains("1 referenced, none missing"), "{text}");
    assert!(text.contains("uploads_per_minute = 20"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let mode = std::fs::metadata(folder.path().join("capeval.db")).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    }
    let hidden = folder.path().join("hidden");
    for inner in std::fs::read_dir(hidden).unwrap().flatten().filter(|entry| entry.file_name() != "new") {
        std::fs::remove_dir_all(inner.path()).unwrap();
    }
    let (is_well, text) = doctor();
    assert!(!is_well);
    assert!(line(&text, "files").contains("PROBLEM 1 referenced but missing, such as hidden/"), "{text}");
}

async fn a_submission_is_followed_as_a_stream_of_events() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method=m");
    let made = ada.send(Request::post(path), results(40, 5)).await.expect(201).json();
    let path = format!("/api/v1/submissions/{}/events", made["id"].as_str().unwrap());
    site.program("Bao", Role::Member, Scope::Submit).await.get(&path).await.expect(404);
    let response = ada.begin(Request::get(&path), "").await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    // The work begins once the first event is here.
    let mut body = response.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    site.work().await;
    let text = [first, body.collect().await.unwrap().to_bytes()].concat();
    let events: Vec<serde_json::Value> = String::from_utf8(text)
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    assert_eq!(events[0]["state"], "queued");
    let last = events.last().unwrap();
    assert_eq!(last["state"], "scored");
    assert!(last["scores"]["c5"]["cider-d"].is_f64());
}

/// The script of the site replaces the state of a page, and what is marked to change with it: all that does.
async fn what_changes_with_a_state_is_renewed_with_it() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "per_image = 'explained'").await;
    let program = site.program("Ada", Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method=m");
    let made = program.send(Request::post(path), results(40, 5)).await.expect(201).json();
    let path = format!("/submissions/{}", made["id"].as_str().unwrap());
    let ada = site.person("Ada", Role::Member).await;
    let waiting = ada.get(&path).await.expect(200).text;
    site.work().await;
    let scored = ada.get(&path).await.expect(200).text;
    assert!(waiting.contains("data-live") && scored.contains("id=\"images\"") && scored.contains("Finished"));
    let rest = |page: &str| {
        let mut rest = page.to_owned();
        for (id, kind, end) in [
            ("state", "div", "<div id=\"results\""),
            ("results", "div", "<details"),
            ("details", "dl", "</dl>"),
        ] {
            let start = format!("<{kind} id=\"{id}\"");
            let (before, after) = rest.split_once(&start).unwrap();
            let (inside, after) = after.split_once(end).unwrap();
            let is_renewed = id == "state" || inside.starts_with(" data-beside=\"state\"");
            assert!(is_renewed, "{id}");
            rest = format!("{before}{end}{after}");
        }
        rest
    };
    assert_eq!(rest(&waiting), rest(&scored));
    let script = site.anybody().get("/assets/site.js").await;
    assert!(script.status != 200 || script.text.contains("data-beside"), "{}", script.text);
}

/// A look for the session of a cookie would wait for a database that does not answer.
async fn what_watches_the_server_needs_no_session() {
    let site = Site::new(Database::Sqlite).await;
    let (ada, anybody) = (site.person("Ada", Role::Member).await, site.anybody());
    for path in ["/healthz", "/readyz"] {
        let (with_cookie, statements) = counting(ada.get(path)).await;
        let (without, others) = counting(anybody.get(path)).await;
        assert_eq!((with_cookie.status, statements), (without.status, others), "{path}");
    }
    let (_, statements) = counting(ada.get("/")).await;
    let (_, others) = counting(anybody.get("/")).await;
    assert!(statements > others, "a page looks for the session");
}

async fn the_chosen_language_is_that_of_mail() {
    let site = Site::new(Database::Sqlite).await;
    let ada = site.person("Ada", Role::Member).await;
    let language = || async {
        let row = site.app.store.first("SELECT language FROM account", args![]).await.unwrap().unwrap();
        row.get::<Option<String>>("language").unwrap()
    };
    assert_eq!(language().await, None);
    ada.get("/language/zh?to=/").await.expect(303);
    assert_eq!(language().await.as_deref(), Some("zh"));
    site.anybody().get("/language/en?to=/").await.expect(303);
    assert_eq!(language().await.as_deref(), Some("zh"));
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_server_once_its_jobs_can_go_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "", &[]);
    assert!(server.stop());
}

async fn tables_of_a_newer_program_are_refused(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(database);
    let app = App::open(folder.path().to_owned(), settings.clone(), FEATURES).await.unwrap();
    let newer = "INSERT INTO migration (name, hash, applied_at) VALUES ('site/newer', '', 0)";
    app.store.execute(newer, args![]).await.unwrap();
    let error = App::open(folder.path().to_owned(), settings, FEATURES).await.err().unwrap().to_string();
    assert!(
        error.contains("the tables of site/newer") && error.ends_with("start the newer program"),
        "{error}"
    );
}

async fn other_databases_than_postgresql_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = Settings { database: "mysql://x/y".to_owned(), ..settings(Database::Sqlite) };
    let error = App::open(folder.path().to_owned(), wrong, FEATURES).await.err().unwrap().to_string();
    assert_eq!(error, "the address of a database begins with postgres://");
}

async fn a_migration_that_fails_names_its_file_and_changes_nothing(database: Database) {
    let (folder, settings) = (tempfile::tempdir().unwrap(), settings(database));
    let schema = feature::schema(FEATURES);
    let store = Store::open(&settings.database, folder.path(), 2, &schema).await.unwrap();
    let newest = schema.version() as i64;
    store.execute("DELETE FROM migration WHERE name = 'collections/imports'", args![]).await.unwrap();
    // What it makes is there already.
    let error = Store::open(&settings.database, folder.path(), 2, &schema).await.err().unwrap().to_string();
    assert!(error.starts_with("the migration collections/imports failed"), "{error}");
    let row = store.first("SELECT COUNT(*) AS n FROM migration", args![]).await.unwrap().unwrap();
    assert_eq!(row.get::<i64>("n").unwrap(), newest - 1);
}
