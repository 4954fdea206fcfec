//! A benchmark follows its file, and what scores depend on stays.

use axum::http::Request;
use capeval_benchmarks::apply::apply;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_site::web::Scope;

use crate::benchmarks::{references, results};
use crate::support::{Database, Site, on_sqlite, settings};

on_sqlite! {
    a_benchmark_follows_its_file_or_says_why_not
    a_key_stands_for_a_request_to_one_phase
    results_describe_the_images_of_all_sets
    a_set_that_is_added_keeps_the_board
    a_set_that_does_not_fit_leaves_the_board_alone
    others_write_while_files_are_stored
    a_suite_stands_for_its_metrics_and_leaves_out_nothing
    metrics_suit_the_language_of_the_references
    metrics_without_their_data_give_no_scores
    damaged_data_give_no_scores
}

const PLAN: &str = "slug = 'b'\ntitle = 'B'\nhosts = ['ada@example.org']\n\
    [[phases]]\nslug = 'dev'\ntitle = 'Dev'\nmetrics = ['bleu', 'cider-d']\nhuman = false\n\
    [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n\
    [[phases.baselines]]\nmethod = 'Base'\nfile = 'base.json'\n\
    [[phases]]\nslug = 'test'\ntitle = 'Test'\nmetrics = ['bleu', 'cider-d']\nhuman = false\n\
    [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

async fn change(site: &Site, folder: &std::path::Path, from: &str, to: &str) -> Result<(), String> {
    assert!(PLAN.contains(from), "{from}");
    let plan = toml::from_str(&PLAN.replacen(from, to, 1)).map_err(|error| error.to_string())?;
    apply(&site.app, &plan, folder, None).await.map(drop).map_err(|error| format!("{error:#}"))
}

async fn a_benchmark_follows_its_file_or_says_why_not() {
    let site = Site::new(Database::Sqlite).await;
    for name in ["Ada", "Bao"] {
        site.account(name, Role::Host).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("c5.json", references(20, 5));
    write("base.json", results(20, 3));
    write("ids.txt", "1\n2\n".to_owned());
    let change = async |from: &str, to: &str| change(&site, folder.path(), from, to).await;
    for (from, to, reason) in [
        (
            "metrics = ['bleu', 'cider-d']",
            "metrics = ['bleu']",
            "main_metric is `cider-d`, but the metrics give bleu-1",
        ),
        ("metrics = ['bleu', 'cider-d']", "metrics = ['bleu', 'meteor']", "main_metric is `cider-d`"),
        ("metrics = ['bleu', 'cider-d']", "metrics = ['blue']", "blue"),
        ("metrics = ['bleu', 'cider-d']", "metrics = ['cider-d']\nderive = ['x = 2 * bleu-4']", "bleu-4"),
        ("metrics = ['bleu', 'cider-d']", "metrics = ['cider-d']\nrank_by = 'points(spice)'", "'spice'"),
        ("metrics = ['bleu', 'cider-d']", "metrics = ['program:/bin/true']", "no metric is called 'program'"),
        ("metrics = ['bleu', 'cider-d']", "metrics = ['judge']", "no metric is called 'judge'"),
        (
            "metrics = ['bleu', 'cider-d']",
            "metrics = ['cider-d:df=/etc/passwd']",
            "cider-d has no setting 'df'",
        ),
        ("metrics = ['bleu', 'cider-d']", "metrics = []", "phase dev: name at least one metric"),
        ("title = 'B'", "title = ''", "A name must have 1 to 80 characters"),
        ("title = 'Dev'", "title = ' '", "A name must have 1 to 80 characters"),
    ] {
        let refused = change(from, to).await.unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
    change("metrics = ['bleu', 'cider-d']", "metrics = ['bleu', 'cider-d']").await.unwrap();
    site.work().await;

    // Its hosts are those of the file.
    change("'ada@example.org'", "'bao@example.org'").await.unwrap();
    let hosts = "SELECT account.name FROM benchmark_host JOIN account ON account.id = benchmark_host.account";
    let hosts = site.app.store.all(hosts, args![]).await.unwrap();
    assert_eq!(hosts.iter().map(|row| row.get::<String>("name").unwrap()).collect::<Vec<_>>(), ["Bao"]);

    let scored = "SELECT id FROM submission WHERE kind = 'baseline' AND state = 'scored'";
    assert_eq!(site.app.store.all(scored, args![]).await.unwrap().len(), 1);
    write("base2.json", results(20, 4));
    let more =
        "method = 'Base'\nfile = 'base.json'\n[[phases.baselines]]\nmethod = 'More'\nfile = 'base2.json'";
    change("method = 'Base'\nfile = 'base.json'", more).await.unwrap();
    site.work().await;
    assert_eq!(site.app.store.all(scored, args![]).await.unwrap().len(), 2);

    let set = "name = 'c5'\nfile = 'c5.json'\n";
    for (from, to, reason) in [
        ("metrics = ['bleu', 'cider-d']", "metrics = ['cider-d']", "metrics cannot change"),
        ("human = false", "human = true", "human cannot change"),
        (set, "name = 'c5'\nfile = 'base.json'\n", "the file of the references c5 cannot change"),
        (set, "name = 'c5'\nfile = 'c5.json'\nlanguage = 'de'\n", "language of the references c5"),
        (set, "name = 'c5'\nfile = 'c5.json'\ntokenizer = '13a'\n", "tokenizer of the references c5"),
        (set, "name = 'c5'\nfile = 'c5.json'\nimages = 'ids.txt'\n", "images of the references c5"),
        (set, "name = 'c6'\nfile = 'c5.json'\n", "lacks the reference set c5"),
        ("method = 'Base'", "method = 'Other'", "lacks the baseline"),
        ("slug = 'test'", "slug = 'final'", "lacks the phase test"),
    ] {
        let refused = change(from, to).await.unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
}

async fn a_key_stands_for_a_request_to_one_phase() {
    let site = Site::new(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(20, 5)).unwrap();
    std::fs::write(folder.path().join("base.json"), results(20, 3)).unwrap();
    change(&site, folder.path(), "hosts = ['ada@example.org']", "").await.unwrap();
    site.work().await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let mut made = Vec::new();
    for row in site.app.store.all("SELECT id FROM phase", args![]).await.unwrap() {
        let path = format!("/api/v1/phases/{}/submissions?method=a", row.get::<String>("id").unwrap());
        let request = || Request::post(&path).header("idempotency-key", "run-1");
        let answer = ada.send(request(), results(20, 5)).await.expect(201).json();
        assert_eq!(ada.send(request(), results(20, 5)).await.expect(200).json()["id"], answer["id"]);
        made.push(answer["id"].clone());
    }
    assert_ne!(made[0], made[1]);
}

async fn results_describe_the_images_of_all_sets() {
    let site = Site::new(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(20, 5)).unwrap();
    let mut sets = String::new();
    for (name, images) in [("first", 0..12), ("last", 8..20)] {
        let list: Vec<String> = images.map(|image| image.to_string()).collect();
        std::fs::write(folder.path().join(name), list.join("\n")).unwrap();
        sets += &format!("[[phases.references]]\nname = '{name}'\nfile = 'c5.json'\nimages = '{name}'\n");
    }
    let plan = format!(
        "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu', 'cider-d']\nhuman = false\n{sets}"
    );
    apply(&site.app, &toml::from_str(&plan).unwrap(), folder.path(), None).await.unwrap();
    site.work().await;
    let form = site.person("Ada", Role::Member).await.get("/b/b/p/submit").await.expect(200).text;
    assert!(form.contains("one caption for each image of the phase (20 images)"), "{form}");
}

/// A reference set that is added to a phase with scores: its board stays, and has all rows by the new set in the end.
async fn a_set_that_is_added_keeps_the_board() {
    let site = Site::new(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(20, 5)).unwrap();
    std::fs::write(folder.path().join("c9.json"), references(20, 9)).unwrap();
    std::fs::write(folder.path().join("base.json"), results(20, 3)).unwrap();
    let host = "hosts = ['ada@example.org']";
    change(&site, folder.path(), host, "").await.unwrap();
    site.work().await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let row =
        site.app.store.first("SELECT id FROM phase WHERE slug = 'dev'", args![]).await.unwrap().unwrap();
    let phase: String = row.get("id").unwrap();
    let path = format!("/api/v1/phases/{phase}/submissions?method=a");
    ada.send(Request::post(path), results(20, 5)).await.expect(201);
    site.work().await;
    let methods = async |set: &str| {
        let path = format!("/api/v1/phases/{phase}/leaderboard?ref={set}");
        let board = ada.get(&path).await.expect(200).json();
        let rows = board["rows"].as_array().unwrap().iter();
        let mut methods: Vec<String> = rows.map(|row| row["method"].as_str().unwrap().to_owned()).collect();
        methods.sort();
        methods
    };
    let all = ["Base", "a"];
    assert_eq!(methods("c5").await, all);
    let set = "[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";
    let both = format!("{set}[[phases.references]]\nname = 'c9'\nfile = 'c9.json'\n");
    let plan = toml::from_str(&PLAN.replacen(host, "", 1).replacen(set, &both, 1)).unwrap();
    assert_eq!(apply(&site.app, &plan, folder.path(), None).await.unwrap().sets, 1);
    assert_eq!(methods("c5").await, all);
    site.work().await;
    assert_eq!(
        (methods("c5").await, methods("c9").await),
        (all.map(str::to_owned).to_vec(), all.map(str::to_owned).to_vec())
    );
    let quota = ada.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!(quota["used_today"], 1);
}

/// A set that old submissions cannot be scored by is not prepared, and may be left out of the file again; the main set
/// changes only to one by which everything is scored.
async fn a_set_that_does_not_fit_leaves_the_board_alone() {
    let site = Site::new(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(20, 5)).unwrap();
    std::fs::write(folder.path().join("c9.json"), references(25, 9)).unwrap();
    std::fs::write(folder.path().join("base.json"), results(20, 3)).unwrap();
    let host = "hosts = ['ada@example.org']";
    change(&site, folder.path(), host, "").await.unwrap();
    site.work().await;
    let ada = site.person("Ada", Role::Member).await;
    let row =
        site.app.store.first("SELECT id FROM phase WHERE slug = 'dev'", args![]).await.unwrap().unwrap();
    let path = format!("/api/v1/phases/{}/leaderboard", row.get::<String>("id").unwrap());
    let board = ada.get(&path).await.expect(200).json();
    assert_eq!(board["rows"].as_array().unwrap().len(), 1);

    let set = "[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";
    let more = "[[phases.references]]\nname = 'c9'\nfile = 'c9.json'\n";
    let plan = |sets: &str| toml::from_str(&PLAN.replacen(host, "", 1).replacen(set, sets, 1)).unwrap();
    let first = plan(&format!("{more}{set}"));
    let error = apply(&site.app, &first, folder.path(), None).await.unwrap_err();
    assert!(format!("{error:#}").contains("main_set cannot be c9 yet"), "{error:#}");
    apply(&site.app, &plan(&format!("{set}{more}")), folder.path(), None).await.unwrap();
    site.work().await;
    let sql = "SELECT reason FROM reference_set WHERE name = 'c9' AND state = 'failed'";
    let row = site.app.store.first(sql, args![]).await.unwrap().unwrap();
    assert!(row.get::<String>("reason").unwrap().contains("images that the phase did not have"));
    apply(&site.app, &plan(set), folder.path(), None).await.unwrap();
    site.work().await;
    assert_eq!(ada.get(&path).await.expect(200).json(), board);
}

/// Storing a file takes as long as the disk or the bucket needs, and SQLite has one writer.
#[cfg(target_os = "linux")]
async fn others_write_while_files_are_stored() {
    use std::io::Write;

    let site = Site::new(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    // The end of a pipe comes when the test wants it to.
    let pipe = folder.path().join("c5.json");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
    let plan = "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu', 'cider-d']\nhuman = false\n\
        [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";
    let (app, path) = (site.app.clone(), folder.path().to_owned());
    let mut applied =
        tokio::spawn(async move { apply(&app, &toml::from_str(plan).unwrap(), path.as_path(), None).await });
    // A pipe opens for writing once someone reads it.
    let (send, opened) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || send.send(std::fs::OpenOptions::new().write(true).open(pipe)));
    let mut file = tokio::select! {
        opened = opened => opened.unwrap().unwrap(),
        applied = &mut applied => panic!("the file was not read: {applied:?}"),
    };
    site.account("Ada", Role::Host).await;
    file.write_all(references(20, 5).as_bytes()).unwrap();
    drop(file);
    assert_eq!(applied.await.unwrap().unwrap().sets, 1);
    site.work().await;
    let row = site.app.store.first("SELECT state FROM reference_set", args![]).await.unwrap().unwrap();
    assert_eq!(row.get::<String>("state").unwrap(), "ready");
}

async fn a_suite_stands_for_its_metrics_and_leaves_out_nothing() {
    let (folder, without) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let capeval_data = without.path().display().to_string();
    let site = Site::with(Settings { capeval_data, ..settings(Database::Sqlite) }).await;
    site.account("Ada", Role::Host).await;
    std::fs::write(folder.path().join("c5.json"), references(20, 5)).unwrap();
    std::fs::write(folder.path().join("base.json"), results(20, 3)).unwrap();
    let metrics = "metrics = ['bleu', 'cider-d']";
    let refused = change(&site, folder.path(), metrics, "metrics = ['coco']").await.unwrap_err();
    for words in [
        "phase dev: METEOR's resources are not installed: run `capeval-server data install meteor`",
        "run `capeval-server data install spice`",
        "or name the others: metrics = [\"bleu\", \"rouge-l\", \"cider-d\"]",
    ] {
        assert!(refused.contains(words), "{refused}");
    }
    let main = "metrics = ['sacrebleu-family', 'cider-d']";
    change(&site, folder.path(), metrics, main).await.unwrap();
    let stored: String =
        site.app.store.fetch_one("SELECT metrics FROM phase WHERE slug = 'dev'", args![]).await.unwrap();
    assert_eq!(stored, r#"["sacrebleu","chrf","chrf++","ter","cider-d"]"#);
    change(&site, folder.path(), metrics, main).await.unwrap();

    // If data are removed, the benchmark may still be changed, and the page of its hosts says what is missing.
    let sql = "UPDATE phase SET metrics = '[\"spice\",\"cider-d\"]' WHERE slug = 'dev'";
    site.app.store.execute(sql, args![]).await.unwrap();
    change(&site, folder.path(), metrics, "metrics = ['spice', 'cider-d']").await.unwrap();
    let page = site.person("Ada", Role::Host).await.get("/b/b/dev/host").await.expect(200).text;
    assert!(page.contains("run `capeval-server data install spice`"), "{page}");
    let page = site.person("Ada", Role::Host).await.get("/b/b/test/host").await.expect(200).text;
    assert!(page.contains("bleu, cider-d") && !page.contains("data install"), "{page}");
}

async fn metrics_suit_the_language_of_the_references() {
    let site = Site::new(Database::Sqlite).await;
    site.account("Ada", Role::Host).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(20, 5)).unwrap();
    std::fs::write(folder.path().join("base.json"), results(20, 3)).unwrap();
    let apply = async |metrics: &str, set: &str| {
        let (old, with) = ("metrics = ['bleu', 'cider-d']", format!("metrics = {metrics}"));
        let plan = PLAN.replacen(old, &with, 1).replacen(
            "file = 'c5.json'\n",
            &format!("file = 'c5.json'\n{set}\n"),
            1,
        );
        let applied = apply(&site.app, &toml::from_str(&plan).unwrap(), folder.path(), None).await;
        applied.map(drop).map_err(|error| format!("{error:#}"))
    };
    let chinese = "language = 'zh'\ntokenizer = 'zh'";
    let only_english =
        "phase dev: the references c5 are in the language zh, and meteor, spice can score only English";
    let no_spaces = "phase dev: the references c5 are in the language zh, which is written without spaces";
    for (metrics, set, words) in [
        ("['coco']", chinese, only_english),
        ("['coco']", chinese, "name other metrics: metrics = [\"bleu\", \"rouge-l\", \"cider-d\"]"),
        ("['meteor', 'cider-d', 'spice']", chinese, only_english),
        ("['spice', 'cider-d']", "language = 'de'", "language de, and spice can score only English"),
        ("['bleu', 'cider-d']", "language = 'zh'", no_spaces),
        ("['bleu', 'cider-d']", "language = 'zh'", "add tokenizer = \"zh\""),
        ("['bleu', 'cider-d']", "language = 'ja'", "add tokenizer = \"char\""),
    ] {
        let refused = apply(metrics, set).await.unwrap_err();
        assert!(refused.contains(words), "{metrics} {set}: {refused}");
    }
    apply("['bleu', 'cider-d']", chinese).await.unwrap();
}

async fn metrics_without_their_data_give_no_scores() {
    let (folder, without) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let capeval_data = without.path().display().to_string();
    let site = Site::with(Settings { capeval_data, ..settings(Database::Sqlite) }).await;
    std::fs::write(folder.path().join("c5.json"), references(20, 5)).unwrap();
    std::fs::write(folder.path().join("base.json"), results(20, 3)).unwrap();
    change(&site, folder.path(), "hosts = ['ada@example.org']", "").await.unwrap();
    let sql = "UPDATE phase SET metrics = $1 WHERE slug = 'dev'";
    site.app.store.execute(sql, args![r#"["meteor"]"#]).await.unwrap();
    site.work().await;
    let sql = "SELECT reason FROM reference_set JOIN phase ON phase.id = reference_set.phase \
               WHERE phase.slug = 'dev' AND state = 'failed'";
    let reason: String = site.app.store.fetch_one(sql, args![]).await.unwrap();
    assert!(reason.contains("run `capeval-server data install meteor`"), "{reason}");
    let scored = "SELECT 1 FROM submission WHERE state = 'scored'";
    assert!(!site.app.store.exists(scored, args![]).await.unwrap());
}

/// A changed byte in the middle of METEOR's data: scores would be other ones.
async fn damaged_data_give_no_scores() {
    let installed = Settings::default().data_home().unwrap().folder().join("meteor-1.5.bin");
    // Where the data are not installed, there is nothing to damage.
    let Ok(mut bytes) = std::fs::read(installed) else { return };
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let capeval_data = data.path().display().to_string();
    let site = Site::with(Settings { capeval_data, ..settings(Database::Sqlite) }).await;
    std::fs::write(folder.path().join("c5.json"), references(20, 5)).unwrap();
    std::fs::write(folder.path().join("base.json"), results(20, 3)).unwrap();
    let file = data.path().join("meteor-1.5.bin");
    std::fs::write(&file, &bytes).unwrap();
    let plan = PLAN.replace("hosts = ['ada@example.org']", "").replacen("['bleu'", "['meteor'", 1);
    apply(&site.app, &toml::from_str(&plan).unwrap(), folder.path(), None).await.unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    site.work().await;
    let sql = "SELECT reason FROM reference_set JOIN phase ON phase.id = reference_set.phase \
               WHERE phase.slug = 'dev' AND state = 'failed'";
    let reason: String = site.app.store.fetch_one(sql, args![]).await.unwrap();
    assert!(reason.contains("its checksum is wrong"), "{reason}");
}
