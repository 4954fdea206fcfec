//! A backup is whole: on another machine, every page answers everyone as before.

use axum::http::{Method, StatusCode};
use capeval_server::FEATURES;
use capeval_site::app::{self, App};
use capeval_site::backup;
use capeval_site::feature::routes;

use regex_lite::Regex;

use crate::strangers::World;
use crate::support::{Answer, Client, Database, breaches, on_both, settings};

on_both! { a_restored_site_answers_everyone_as_before }

/// What tells of the process, and links that a restored site does not know, since old ones must not work again.
const OTHERS: [&str; 3] = ["/metrics", "/reset/", "/address/"];

/// What differs from answer to answer: secrets that are offered, times of use, ids of requests.
const CHANGING: &str = r#"secret=[A-Z2-7]{32}|"used_at":\d+|[>"][A-Z2-7]{32}[<"]"#;

/// The parts of an answer that stay.
fn lasting(answer: &Answer) -> (StatusCode, String, String) {
    let text = answer.text.replace(answer.header("x-request-id"), "");
    let text = Regex::new(CHANGING).unwrap().replace_all(&text, "").into_owned();
    (answer.status, answer.header("content-type").to_owned(), text)
}

async fn a_restored_site_answers_everyone_as_before(database: Database) {
    let world = World::new(database).await;
    world.site.work().await;
    let folder = tempfile::tempdir().unwrap();
    let [made, to] = ["backup", "restored"].map(|name| folder.path().join(name));
    backup::make(&world.site.app, &made).await.unwrap();
    let other = match database {
        Database::Sqlite => settings(database),
        Database::Postgres => {
            let database = crate::support::postgres::empty_database();
            capeval_site::settings::Settings { database, ..settings(Database::Sqlite) }
        }
    };
    backup::restore(&made, &to, &other, FEATURES).await.unwrap();
    let app = App::open(to, other, FEATURES).await.unwrap();
    let router = app::router(&app).unwrap();
    assert_eq!(breaches(&app).await, Vec::<String>::new());

    let anybody = world.site.anybody();
    let mut others = Vec::new();
    let mut n_asked = 0;
    for route in routes(FEATURES).iter().filter(|route| route.method == Method::GET) {
        let path = match route.path.contains('{') {
            true => world.path(route),
            false => Some(route.path.to_owned()),
        };
        let Some(path) = path.filter(|path| !OTHERS.iter().any(|start| path.starts_with(start))) else {
            continue;
        };
        let people = world.owners.iter().chain(&world.strangers);
        let people = people.map(|person| (person.name, person.client(&path)));
        for (name, client) in people.chain([("anybody", &anybody)]) {
            let there = Client { router: router.clone(), ..client.clone() };
            let (before, after) = (client.get(&path).await, there.get(&path).await);
            n_asked += 1;
            let (before, after) = (lasting(&before), lasting(&after));
            if before != after {
                let lines = before.2.lines().zip(after.2.lines()).find(|(one, other)| one != other);
                others.push(format!("{path} {name}: {} {}: {lines:?}", before.0, after.0));
            }
        }
    }
    assert!(others.is_empty(), "{} of {n_asked}:\n{}", others.len(), others.join("\n"));
    assert!(n_asked > 1_000, "{n_asked}");
    println!("{n_asked} answers are equal");
}
