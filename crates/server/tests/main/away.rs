//! PostgreSQL goes away and comes back, and people are told to wait.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use capeval_site::accounts::Role;
use capeval_site::settings::Settings;
use capeval_site::store::Store;
use capeval_site::web::Scope;

use crate::support::{Database, Site, eventually, settings};

/// The name of the socket of PostgreSQL in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// The ways in which a server may be away: nothing is there, nothing listens, or nothing answers.
#[derive(Clone, Copy, Debug)]
enum Away {
    Nothing,
    Refuses,
    Hangs,
}

mod visitors_are_told_that_the_server_is_away {
    use crate::support::{postgres, run_in_real_time};

    #[test]
    fn postgresql() {
        if postgres::is_here() {
            run_in_real_time(super::visitors_are_told_that_the_server_is_away());
        }
    }
}

async fn visitors_are_told_that_the_server_is_away() {
    let whole = settings(Database::Postgres);
    let (address, folder) = whole.database.split_once("?host=").unwrap();
    let door = tempfile::tempdir().unwrap();
    let (socket, real) = (door.path().join(SOCKET), std::path::Path::new(folder).join(SOCKET));
    symlink(&real, &socket).unwrap();
    let database = format!("{address}?host={}", door.path().display());
    let site = Site::with(Settings { database, ..whole.clone() }).await;
    let ada = site.person("Ada", Role::Member).await;
    let program = site.program("Ada", Role::Member, Scope::Read).await;
    let anybody = site.anybody();
    let other = Store::open(&whole.database, door.path(), 1, &site.app.schema).await.unwrap();
    for away in [Away::Nothing, Away::Refuses, Away::Hangs] {
        fs::remove_file(&socket).unwrap();
        let listener = match away {
            Away::Nothing => None,
            Away::Refuses => {
                drop(UnixListener::bind(&socket).unwrap());
                None
            }
            Away::Hangs => Some(UnixListener::bind(&socket).unwrap()),
        };
        let end = "SELECT CAST(pg_terminate_backend(pid) AS TEXT) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        other.all(end, vec![]).await.unwrap();
        for path in ["/teams", "/api/v1/me", "/readyz"] {
            let client = match path {
                "/teams" => &ada,
                "/readyz" => &anybody,
                _ => &program,
            };
            let answer = client.get(path).await.expect(503);
            let wait: i64 = answer.header("retry-after").parse().unwrap();
            assert!(wait > 0, "{away:?} {path}");
        }
        let metrics = anybody.get("/metrics").await.expect(200).text;
        assert!(metrics.contains("\ncapeval_database_up 0.0\n"), "{away:?} {metrics}");
        assert!(metrics.contains("\nprocess_open_fds ") && !metrics.contains("capeval_jobs"), "{away:?}");
        drop(listener);
        let _ = fs::remove_file(&socket);
        symlink(&real, &socket).unwrap();
        eventually("the server is found again", async || {
            (ada.get("/teams").await.status.as_u16() == 200).then_some(())
        })
        .await;
        assert_eq!(anybody.get("/readyz").await.expect(200).text, "ready\n");
    }
    other.close().await;
}
