//! Backups are whole, are taken under load, and serve elsewhere, on either database.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::app::{self, App};
use capeval_site::backup::{self, nightly};
use capeval_site::feature;
use capeval_site::{args, clock};

use crate::support::{Database, Site, eventually, on_both, on_sqlite, settings};

on_both! { a_backup_under_load_serves_elsewhere one_process_makes_the_backup_of_a_night }

on_sqlite! {
    every_table_is_in_backups
    a_restored_server_opens_no_other_database
    nothing_is_restored_into_a_folder_in_use
    a_restore_that_fails_leaves_nothing_and_can_be_repeated
    a_backup_that_fails_leaves_nothing
}

pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A benchmark whose rows name files, numbers that are hard to write, and names with all kinds of characters.
async fn fill(site: &Site) -> (String, String) {
    let visible = site.app.blobs.put(&b"[]"[..]).unwrap();
    let hidden = site.app.hidden.put(&b"references"[..]).unwrap();
    let host = site.account("host", Role::Host).await;
    let mut tx = site.app.store.begin().await.unwrap();
    for sql in [
        "INSERT INTO benchmark (id, slug, title, summary, rules, visibility, created_at) \
         VALUES ('b', 'b', '标题 \"x\" \\', 'line\nline', '', 'public', 1)",
        "INSERT INTO team (id, name, created_by, created_at) VALUES ('t', 'team', $1, 1)",
        "INSERT INTO team_key (key, team) VALUES ('team', 't')",
        "INSERT INTO account_link (hash, account, created_at, expires_at) VALUES ('h', 'a', 1, 2)",
        "INSERT INTO former_address (account, hash) VALUES ('a', 'h')",
    ] {
        let values = if sql.contains("$1") { args![&host] } else { args![] };
        tx.execute(sql, values).await.unwrap();
    }
    tx.commit().await.unwrap();
    (visible, hidden)
}

async fn a_backup_under_load_serves_elsewhere(database: Database) {
    let site = Site::new(database).await;
    let (visible, hidden) = fill(&site).await;
    let person = site.person("ada", Role::Admin).await;
    fs::write(site.app.folder.join("server.toml"), "title = 'Ours'\n").unwrap();

    // Someone writes all the time: an account and the note of it, in one transaction.
    let (stop, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let load = {
        let (stop, written, app) = (Arc::clone(&stop), Arc::clone(&written), site.app.clone());
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let mut tx = app.store.begin().await.unwrap();
                let email = format!("load{}@example.org", written.load(Ordering::Relaxed));
                let new = capeval_site::accounts::people::NewAccount {
                    email: &email,
                    name: "load",
                    password: "-".to_owned(),
                    role: Role::Member,
                };
                capeval_site::accounts::people::add(&mut tx, new).await.unwrap();
                tx.commit().await.unwrap();
                written.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let folder = tempfile::tempdir().unwrap();
    let mut backups = Vec::new();
    for k in 0..5 {
        let before = written.load(Ordering::Relaxed);
        eventually("another account", async || (written.load(Ordering::Relaxed) > before).then_some(()))
            .await;
        let to = folder.path().join(format!("backup{k}"));
        let manifest = backup::make(&site.app, &to).await.unwrap();
        assert!(manifest.missing.is_empty());
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o077, 0, "others may read it");
        backups.push(to);
    }
    stop.store(true, Ordering::Relaxed);
    load.await.unwrap();
    let again = backup::make(&site.app, &backups[0]).await.unwrap_err().to_string();
    assert!(again.ends_with("exists already"), "{again}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "something unfinished is left");
    let mut rows = 0;
    for backup in &backups {
        let checked = backup::check(backup, FEATURES).await.unwrap();
        assert!(checked.rows > rows && checked.missing.is_empty());
        rows = checked.rows;
    }

    // On both databases, whatever the first one was.
    let mut others = vec![settings(Database::Sqlite)];
    if crate::support::postgres::is_here() {
        others.push(settings(Database::Postgres));
    }
    for other in others {
        let elsewhere = folder.path().join(format!("restored{}", other.database.len()));
        let checked = backup::restore(&backups[4], &elsewhere, &other, FEATURES).await.unwrap();
        assert_eq!(checked.rows, rows);
        let app = App::open(elsewhere.clone(), other.clone(), FEATURES).await.unwrap();
        assert_eq!(app.blobs.read(&visible).unwrap(), b"[]");
        assert_eq!(app.hidden.read(&hidden).unwrap(), b"references");
        let row = app.store.first("SELECT title, summary FROM benchmark", args![]).await.unwrap().unwrap();
        assert_eq!(row.get::<String>("title").unwrap(), "标题 \"x\" \\");
        assert_eq!(row.get::<String>("summary").unwrap(), "line\nline");
        // Accounts and the notes of them agree, so the backup is of one moment.
        let row = app
            .store
            .first(
                "SELECT (SELECT COUNT(*) FROM account) - (SELECT COUNT(*) FROM audit WHERE action = 'account.add') AS n",
                args![],
            )
            .await
            .unwrap();
        assert_eq!(row.unwrap().get::<i64>("n").unwrap(), 0);
        // People are still signed in.
        let mut person = person.clone();
        person.router = app::router(&app).unwrap();
        assert!(person.get("/account").await.expect(200).text.contains("ada@example.org"));
        assert!(fs::read_to_string(elsewhere.join("server.toml")).unwrap().contains("Ours"));
        let twice = backup::restore(&backups[4], &elsewhere, &other, FEATURES).await.unwrap_err().to_string();
        assert!(twice.contains("is in use"), "{twice}");
        // A backup of the copy has the same rows, but for the link for the first administrator, which has ended.
        let copy = folder.path().join(format!("copy{}", other.database.len()));
        backup::make(&app, &copy).await.unwrap();
        assert_eq!(backup::check(&copy, FEATURES).await.unwrap().rows, rows - 1);
    }

    for (damage, words) in [
        ("database.jsonl.gz", "database.jsonl.gz has changed"),
        (&*format!("blobs/{}/{visible}", &visible[..2]), "has changed"),
    ] {
        let ruin = folder.path().join("ruin");
        copy_tree(&backups[0], &ruin);
        let path = ruin.join(damage);
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        let error = format!("{:#}", backup::check(&ruin, FEATURES).await.unwrap_err());
        assert!(error.contains(words), "{error}");
        fs::remove_file(&path).unwrap();
        let error = format!("{:#}", backup::check(&ruin, FEATURES).await.unwrap_err());
        assert!(error.contains("is missing"), "{error}");
        let target = folder.path().join("never");
        assert!(backup::restore(&ruin, &target, &settings(Database::Sqlite), FEATURES).await.is_err());
        assert!(!target.exists());
        fs::remove_dir_all(&ruin).unwrap();
    }
    let ruin = folder.path().join("ruin");
    copy_tree(&backups[0], &ruin);
    let text = fs::read_to_string(ruin.join("manifest.json")).unwrap();
    fs::write(ruin.join("manifest.json"), text.replace("database.jsonl.gz", "../database.jsonl.gz")).unwrap();
    let error = backup::check(&ruin, FEATURES).await.unwrap_err().to_string();
    assert!(error.contains("outside of the backup"), "{error}");
    fs::write(ruin.join("manifest.json"), text.replace("\"tables\": ", "\"tables\": 9")).unwrap();
    let error = backup::check(&ruin, FEATURES).await.unwrap_err().to_string();
    assert!(error.contains("restore it with that one"), "{error}");
}

async fn one_process_makes_the_backup_of_a_night(database: Database) {
    let site = Site::new(database).await;
    let (app, day) = (&site.app, clock::parse("2026-11-22").unwrap());
    assert!(!nightly::queue_if_due(app, day + 3_600_000).await.unwrap(), "before its hour");
    let three = day + 3 * 3_600_000;
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let app = app.clone();
        all.spawn(async move { nightly::queue_if_due(&app, three).await.unwrap() });
    }
    assert_eq!(all.join_all().await.into_iter().filter(|queued| *queued).count(), 1);
    assert!(!nightly::queue_if_due(app, three + 1000).await.unwrap());
    let (_stop, mut stopping) = tokio::sync::watch::channel(false);
    assert!(
        capeval_site::jobs::runner::step(
            app,
            &feature::works(FEATURES),
            capeval_site::jobs::runner::Post::ALL,
            &mut stopping
        )
        .await
        .unwrap()
    );
    let made = nightly::folder(app).join("2026-11-22");
    assert!(backup::check(&made, FEATURES).await.unwrap().missing.is_empty());
    assert!(nightly::queue_if_due(app, three + clock::DAY).await.unwrap());
}

async fn every_table_is_in_backups() {
    let site = Site::new(Database::Sqlite).await;
    let rows = site
        .app
        .store
        .all(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
            args![],
        )
        .await
        .unwrap();
    let schema = feature::schema(FEATURES);
    let mut known: Vec<String> = schema.tables().map(str::to_owned).chain(["migration".to_owned()]).collect();
    known.sort();
    let there: Vec<String> = rows.iter().map(|row| row.get("name").unwrap()).collect();
    assert_eq!(there, known);
}

async fn a_restored_server_opens_no_other_database() {
    let site = Site::new(Database::Sqlite).await;
    fill(&site).await;
    let folder = tempfile::tempdir().unwrap();
    fs::write(site.app.folder.join("server.toml"), "database = 'postgres://old:secret@old.example/x'\n")
        .unwrap();
    let made = folder.path().join("backup");
    backup::make(&site.app, &made).await.unwrap();
    let to = folder.path().join("restored");
    let refused =
        backup::restore(&made, &to, &settings(Database::Sqlite), FEATURES).await.unwrap_err().to_string();
    assert!(refused.contains("names another database") && !refused.contains("secret"), "{refused}");
    assert!(!to.exists());
    // Settings that name the new database come first.
    fs::create_dir(&to).unwrap();
    fs::write(to.join("server.toml"), "title = 'New'\n").unwrap();
    backup::restore(&made, &to, &settings(Database::Sqlite), FEATURES).await.unwrap();
    assert_eq!(fs::read_to_string(to.join("server.toml")).unwrap(), "title = 'New'\n");
}

async fn nothing_is_restored_into_a_folder_in_use() {
    if !crate::support::postgres::is_here() {
        return;
    }
    let site = Site::new(Database::Sqlite).await;
    fill(&site).await;
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("backup");
    backup::make(&site.app, &made).await.unwrap();
    // The database is empty, and the folder is not: it has a database of SQLite, or files.
    let empty = Site::new(Database::Sqlite).await;
    let with_files = folder.path().join("files");
    capeval_site::blobs::Blobs::open(with_files.join("blobs")).unwrap().put(&b"x"[..]).unwrap();
    for used in [&empty.app.folder, &with_files] {
        let refused = backup::restore(&made, used, &settings(Database::Postgres), FEATURES)
            .await
            .unwrap_err()
            .to_string();
        assert!(refused.contains("is in use; restore into an empty folder"), "{refused}");
    }
}

async fn a_restore_that_fails_leaves_nothing_and_can_be_repeated() {
    let site = Site::new(Database::Sqlite).await;
    let (visible, _) = fill(&site).await;
    let folder = tempfile::tempdir().unwrap();
    let [made, to] = ["backup", "to"].map(|name| folder.path().join(name));
    backup::make(&site.app, &made).await.unwrap();
    // A file where the folder of a restored one has to be.
    fs::create_dir_all(to.join("blobs")).unwrap();
    let in_the_way = to.join("blobs").join(&visible[..2]);
    fs::write(&in_the_way, "").unwrap();
    let settings = settings(Database::Sqlite);
    let restore = || backup::restore(&made, &to, &settings, FEATURES);
    let failed = format!("{:#}", restore().await.unwrap_err());
    assert!(failed.contains(&visible), "{failed}");
    let left: Vec<_> = fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["blobs"]);
    fs::remove_file(in_the_way).unwrap();
    restore().await.unwrap();
}

async fn a_backup_that_fails_leaves_nothing() {
    let site = Site::new(Database::Sqlite).await;
    fill(&site).await;
    let folder = tempfile::tempdir().unwrap();
    // It is a folder, so settings cannot be copied from it.
    fs::create_dir(site.app.folder.join("server.toml")).unwrap();
    let to = folder.path().join("backup");
    let failed = format!("{:#}", backup::make(&site.app, &to).await.unwrap_err());
    assert!(failed.contains(&to.display().to_string()), "{failed}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}
