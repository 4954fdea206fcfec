//! Three server processes share a database: what one of them counts, all of them count.
//!
//! `CAPEVAL_ROUNDS=20 cargo test -p capeval-server --test main processes` races more often than CI does.

use capeval_server::FEATURES;
use capeval_site::accounts::people::{self, NewAccount};
use capeval_site::accounts::{Role, tokens};
use capeval_site::app::App;
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_site::web::Scope;

use crate::benchmarks::{references, results};
use crate::support::process::{Server, command, request, rounds};
use crate::support::{Database, eventually, on_both, postgres};

on_both! { in real time: two_hundred_at_once_at_three_processes_are_five }

const PLAN: &str = "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu']\nmain_metric = 'bleu-4'\nhuman = false\n\
    per_day = 1000\nin_total = 5\n[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

const SETTINGS: &[(&str, &str)] =
    &[("UPLOADS_PER_MINUTE", "100000"), ("REQUESTS_PER_MINUTE", "1000000"), ("SHARED_FOLDER", "true")];

const AT_ONCE: usize = 200;

/// A member's token.
async fn token(app: &App, name: &str) -> String {
    let mut tx = app.store.begin().await.unwrap();
    let email = format!("{name}@example.org");
    let new = NewAccount { email: &email, name, password: "-".to_owned(), role: Role::Member };
    let id = people::add(&mut tx, new).await.unwrap();
    let token = tokens::add(&mut tx, &id, "test", Scope::Submit).await.unwrap();
    tx.commit().await.unwrap();
    token
}

async fn two_hundred_at_once_at_three_processes_are_five(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let url = match database {
        Database::Sqlite => String::new(),
        Database::Postgres => postgres::empty_database(),
    };
    std::fs::write(folder.path().join("c5.json"), references(20, 5)).unwrap();
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, PLAN).unwrap();
    command(folder.path(), &url, &["admin", "benchmark", "apply", &plan.display().to_string()], "");
    let servers: Vec<Server> = (0..3).map(|_| Server::start(folder.path(), &url, SETTINGS)).collect();
    let ports: Vec<u16> = servers.iter().map(|server| server.port).collect();
    let settings = Settings { database: url, ..Settings::default() };
    let app = App::open(folder.path().to_owned(), settings, FEATURES).await.unwrap();
    let phase = eventually("the phase opens", async || {
        let row = app.store.first("SELECT id, score_set FROM phase", args![]).await.unwrap().unwrap();
        let is_open = row.get::<Option<String>>("score_set").unwrap().is_some();
        is_open.then(|| row.get::<String>("id").unwrap())
    })
    .await;
    for round in 0..rounds() {
        let token = token(&app, &format!("racer{round}")).await;
        let (ports, phase) = (ports.clone(), phase.clone());
        let race = move || {
            std::thread::scope(|scope| {
                let one = |k: usize| {
                    let body = results(20, 5).replace("near", &format!("near{k}"));
                    let path = format!("/api/v1/phases/{phase}/submissions?method=m{k}");
                    // A machine that is busy with all of them may ask one to try again.
                    capeval_testkit::eventually("an answer", || {
                        let port = ports[k % ports.len()];
                        let (status, _) = request(port, "POST", &path, &token, &body).unwrap();
                        (status != 503).then_some(status)
                    })
                };
                let racing: Vec<_> = (0..AT_ONCE).map(|k| scope.spawn(move || one(k))).collect();
                racing.into_iter().map(|one| one.join().unwrap()).collect::<Vec<u16>>()
            })
        };
        let statuses = tokio::task::spawn_blocking(race).await.unwrap();
        let count = |status: u16| statuses.iter().filter(|one| **one == status).count();
        assert_eq!((count(201), count(429)), (5, AT_ONCE - 5), "round {round}: {statuses:?}");
    }
    let sql = "SELECT COUNT(*) AS n FROM submission WHERE kind = 'entry'";
    let n: i64 = app.store.first(sql, args![]).await.unwrap().unwrap().get("n").unwrap();
    assert_eq!(n, 5 * rounds() as i64);
    println!("{} rounds of {AT_ONCE} at once at three processes: 5 accepted in each", rounds());
}
