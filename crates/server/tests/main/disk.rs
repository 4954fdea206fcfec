//! A disk that fills up stops nothing for longer than it is full.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Command;

use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::store::Store;
use capeval_site::testing::counting;
use capeval_site::web::Scope;
use capeval_testkit::skip;
use image::{DynamicImage, ImageFormat, RgbImage};
use serde_json::json;
use tempfile::TempDir;

use crate::collections::imports::{Source, run};
use crate::collections::{apply, captioner, png, upload};
use crate::support::{Client, Database, Site, on_sqlite, settings};

on_sqlite! {
    a_connection_that_met_a_full_disk_is_not_used_again
    a_full_disk_is_noted_however_it_is_met
    what_is_read_by_a_token_can_be_read_while_nothing_can_be_written
    a_site_goes_on_when_a_full_disk_has_space_again
    a_picture_waits_until_a_full_disk_has_space_again
    an_import_stops_on_a_full_disk_and_goes_on_later
}

/// Returns true if a team can be created.
async fn creates(person: &Client, name: &str) -> bool {
    let answer = person.post("/teams", &[("name", name)]).await;
    assert!(answer.status.as_u16() == 303 || answer.status.is_server_error(), "{name}: {}", answer.status);
    answer.status.as_u16() == 303
}

/// SQLite takes a limit on pages for a full disk, and ends the transaction itself.
async fn a_connection_that_met_a_full_disk_is_not_used_again() {
    let site = Site::new(Database::Sqlite).await;
    let ada = site.person("Ada", Role::Member).await;
    let Store::Sqlite { write, .. } = &site.app.store else { panic!("SQLite") };
    sqlx::query("PRAGMA max_page_count = 1").execute(write).await.unwrap();
    let large = "x".repeat(1 << 20);
    let mut tx = site.app.store.begin().await.unwrap();
    let sql = "INSERT INTO audit (id, at, action, subject, detail) VALUES ('a', 0, 'a', 'a', $1)";
    let full = tx.execute(sql, args![&large]).await.unwrap_err();
    assert!(full.to_string().contains("full"), "{full}");
    drop(tx);
    // The limit was one of that connection.
    let mut tx = site.app.store.begin().await.unwrap();
    tx.execute(sql, args![&large]).await.unwrap();
    tx.commit().await.unwrap();
    assert!(creates(&ada, "Team").await);
    assert_eq!(site.anybody().get("/readyz").await.expect(200).text, "ready\n");
}

/// The next look at readiness then tries to write.
async fn a_full_disk_is_noted_however_it_is_met() {
    const INSERT: &str = "INSERT INTO audit (id, at, action, subject, detail) VALUES ('a', 0, 'a', 'a', $1)";
    const RETURNING: &str =
        "INSERT INTO audit (id, at, action, subject, detail) VALUES ('a', 0, 'a', 'a', $1) RETURNING id";
    let site = Site::new(Database::Sqlite).await;
    let large = "x".repeat(1 << 20);
    for way in 0..3 {
        let Store::Sqlite { write, .. } = &site.app.store else { panic!("SQLite") };
        sqlx::query("PRAGMA max_page_count = 1").execute(write).await.unwrap();
        let mut tx = site.app.store.begin().await.unwrap();
        let is_full = match way {
            0 => tx.execute(INSERT, args![&large]).await.is_err(),
            1 => tx.fetch_optional::<String>(RETURNING, args![&large]).await.is_err(),
            _ => tx.fetch::<String>(RETURNING, args![&large]).await.is_err(),
        };
        assert!(is_full);
        drop(tx);
        let (written, statements) = counting(site.app.store.try_write()).await;
        written.unwrap();
        assert_eq!(statements, 1, "way {way} is not noted");
        let (_, statements) = counting(site.app.store.try_write()).await;
        assert_eq!(statements, 0);
    }
}

async fn what_is_read_by_a_token_can_be_read_while_nothing_can_be_written() {
    let site = Site::new(Database::Sqlite).await;
    let ada = site.program("Ada", Role::Member, Scope::Read).await;
    let Store::Sqlite { write, .. } = &site.app.store else { panic!("SQLite") };
    sqlx::query("PRAGMA query_only = 1").execute(write).await.unwrap();
    ada.get("/api/v1/benchmarks").await.expect(200);
    ada.get("/api/v1/me/contributions").await.expect(200);
    sqlx::query("PRAGMA query_only = 0").execute(write).await.unwrap();
    ada.get("/api/v1/benchmarks").await.expect(200);
    let used = "SELECT used_at FROM api_token";
    assert!(site.app.store.fetch_one::<Option<i64>>(used, args![]).await.unwrap().is_some());
}

/// A file system in memory, until this is dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// `None` where the user may not mount one.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(folder.path());
        mount.output().is_ok_and(|done| done.status.success()).then_some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills it but for `rest` bytes, until the file of this path is removed.
    fn fill(&self, rest: u64) -> PathBuf {
        let ballast = self.path().join("ballast");
        let full = std::fs::write(&ballast, vec![0; 64 << 20]).unwrap_err();
        assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
        let file = OpenOptions::new().write(true).open(&ballast).unwrap();
        file.set_len(file.metadata().unwrap().len() - rest).unwrap();
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The database may still be open for a moment.
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).output();
    }
}

/// A site whose data lie on a small disk; `None` where none can be mounted.
async fn site_on_small_disk() -> Option<(Site, SmallDisk)> {
    let Some(disk) = SmallDisk::mount() else {
        skip("mount", "no small disk can be mounted");
        return None;
    };
    let data = tempfile::tempdir_in(disk.path()).unwrap();
    Some((Site::in_folder(data, settings(Database::Sqlite)).await, disk))
}

/// A picture that is large as a file.
fn noise() -> Vec<u8> {
    let mut state = 1_u32;
    let pixels = RgbImage::from_fn(800, 800, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        image::Rgb([(state >> 24) as u8, (state >> 16) as u8, (state >> 8) as u8])
    });
    crate::collections::encoded(&DynamicImage::ImageRgb8(pixels), ImageFormat::Png)
}

/// Files need more space than rows: what was acknowledged waits for it, and what cannot be stored is refused.
async fn a_picture_waits_until_a_full_disk_has_space_again() {
    let Some((site, disk)) = site_on_small_disk().await else { return };
    apply(&site, json!({})).await;
    let ada = captioner(&site, "Ada").await;
    upload(&ada, &[("a.png", noise())]).await.expect(303);
    let state = async || -> String {
        site.app.store.fetch_one("SELECT state FROM image ORDER BY id LIMIT 1", args![]).await.unwrap()
    };

    let ballast = disk.fill(1 << 20);
    for _ in 0..5 {
        site.work_that_is_due().await;
    }
    assert_eq!(state().await, "processing");
    let error: String = site.app.store.fetch_one("SELECT error FROM job", args![]).await.unwrap();
    assert!(error.contains("No space left"), "{error}");
    let refused = upload(&ada, &[("b.png", noise())]).await.expect(503);
    assert!(refused.text.contains("cannot reach or change its data"), "{}", refused.text);
    assert_eq!(site.anybody().get("/readyz").await.expect(503).text, "files cannot be written\n");

    std::fs::remove_file(&ballast).unwrap();
    site.work().await;
    assert_eq!(state().await, "pending");
    assert_eq!(site.anybody().get("/readyz").await.expect(200).text, "ready\n");
    upload(&ada, &[("c.png", png(3))]).await.expect(303);
}

async fn a_site_goes_on_when_a_full_disk_has_space_again() {
    let Some((site, disk)) = site_on_small_disk().await else { return };
    let ada = site.person("Ada", Role::Member).await;
    let anybody = site.anybody();
    assert!(creates(&ada, "before").await);
    for round in 0..3 {
        let ballast = disk.fill(0);
        // What was allocated before may still take some.
        let mut taken = 0;
        while creates(&ada, &format!("full {round} {taken}")).await {
            taken += 1;
            assert!(taken < 10_000, "the disk is not full");
        }
        let refused = anybody.get("/readyz").await.expect(503).text;
        assert_eq!(refused, "the database cannot be written\n");
        anybody.get("/").await.expect(200);
        std::fs::remove_file(&ballast).unwrap();
        assert!(creates(&ada, &format!("after {round}")).await);
        assert_eq!(anybody.get("/readyz").await.expect(200).text, "ready\n");
    }
}

async fn an_import_stops_on_a_full_disk_and_goes_on_later() {
    let Some((site, disk)) = site_on_small_disk().await else { return };
    apply(&site, json!({ "languages": ["en"] })).await;
    let source = Source::new();
    source.add("1.png", &noise());
    let captions =
        source.captions("captions.json", r#"[{"image_id": 1, "caption": "noise in all colours"}]"#);
    let order = source.order(&[captions]);
    let ballast = disk.fill(1 << 20);
    let full = run(&site, &order, false).await.unwrap_err();
    assert!(format!("{full:#}").contains("No space left"), "{full:#}");
    std::fs::remove_file(&ballast).unwrap();
    let summary = run(&site, &order, false).await.unwrap();
    assert_eq!(summary.pictures, 1);
}
