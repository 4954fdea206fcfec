//! Benchmarks that hosts create on pages and by programs, and that are exported.

use std::path::Path;

use axum::http::Request;
use capeval_api::PerImage;
use capeval_benchmarks::apply::apply;
use capeval_benchmarks::settings::Plan;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::json;

use crate::benchmarks::{references, results};
use crate::collections::form;
use crate::support::{Client, Database, Page as _, Site, dump, on_both};

on_both! {
    an_exported_benchmark_is_the_same_benchmark
    a_benchmark_is_made_in_the_browser
    programs_do_what_the_file_does
    a_draft_is_for_its_hosts_until_it_is_published
    a_dry_run_counts_nowhere
    a_draft_is_removed_whole
}

const PLAN: &str = "slug = 'b'\ntitle = 'B'\nsummary = 'S'\nrules = '''\n*One* line.\nAnother \"one\".\n'''\n\
    visibility = 'registered'\nhosts = ['ada@example.org']\n\
    [[phases]]\nslug = 'dev'\ntitle = 'Dev'\nopens = 2026-01-10\ncloses = 2026-12-01T12:00:00+08:00\nper_day = 7\n\
    in_total = 70\nboard = 'hidden'\nreveal = 2027-01-01T00:00:00.5Z\ndecimals = 2\nmetrics = ['bleu', 'cider-d:sigma=4']\n\
    derive = ['both = bleu-1 + bleu-2']\nmain_set = 'few'\nmain_metric = 'bleu-4'\nrank_by = 'ranks(both, cider-d)'\nboard_columns = ['bleu-1', 'cider-d']\nhuman = false\nper_image = 'scores'\n\
    [[phases.references]]\nname = 'c5'\nfile = 'in/c5.json'\n\
    [[phases.references]]\nname = 'few'\nfile = 'in/c5.json'\nlanguage = 'de'\ntokenizer = '13a'\nimages = 'ids.txt'\n\
    [[phases.columns]]\nkey = 'parameters'\nlabel = 'Parameters'\nkind = 'number'\nunit = 'M'\nrequired = false\n\
    [[phases.columns]]\nkey = 'data'\nlabel = 'Data'\nkind = 'choice'\nchoices = ['COCO only', 'more']\n\
    [[phases.baselines]]\nmethod = 'Base'\nfile = 'base.json'\n\
    [[phases]]\nslug = 'test'\ntitle = 'Test'\nmetrics = ['bleu']\nmain_metric = 'bleu-4'\nhuman = false\n\
    [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

fn write_files(folder: &Path) {
    std::fs::create_dir(folder.join("in")).unwrap();
    std::fs::write(folder.join("in/c5.json"), references(20, 5)).unwrap();
    std::fs::write(folder.join("c5.json"), references(20, 4)).unwrap();
    std::fs::write(folder.join("ids.txt"), "1\n2\n3\n").unwrap();
    std::fs::write(folder.join("base.json"), results(20, 3)).unwrap();
}

/// All rows but those of the log and of jobs that are done.
async fn rows(site: &Site) -> Vec<String> {
    let text = dump(site).await;
    let mut is_noted = false;
    let rows = text.lines().filter(|line| {
        if let Some(table) = line.strip_prefix("{\"table\":\"") {
            is_noted = ["audit", "job", "session", "api_token"].iter().any(|name| table.starts_with(name));
        }
        !is_noted
    });
    let mut rows: Vec<String> = rows.map(str::to_owned).collect();
    rows.sort();
    rows
}

/// A file → the benchmark → its export → the benchmark, which is not changed.
async fn an_exported_benchmark_is_the_same_benchmark(database: Database) {
    let site = Site::new(database).await;
    site.account("Ada", Role::Host).await;
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let plan: Plan = toml::from_str(PLAN).unwrap();
    apply(&site.app, &plan, folder.path(), None).await.unwrap();
    site.work().await;
    let before = rows(&site).await;
    let ada = site.person("Ada", Role::Host).await;
    let text = ada.get("/b/b/benchmark.toml").await.expect(200).text;
    for line in [
        "opens = 2026-01-10T00:00:00Z",
        "closes = 2026-12-01T04:00:00Z",
        "reveal = 2027-01-01T00:00:00.5Z",
        "file = \"c5.json\"",
        "images = \"ids.txt\"",
        "draft = false",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // Two files of one name have two names.
    assert!(text.contains("file = \"test-c5\""), "{text}");
    let exported: Plan = toml::from_str(&text).unwrap();
    let mut given = serde_json::to_value(&plan).unwrap();
    for (phase, set, name) in [(0, 0, "c5.json"), (0, 1, "c5.json"), (1, 0, "test-c5")] {
        given["phases"][phase]["references"][set]["file"] = json!(name);
    }
    given["phases"][1]["main_set"] = json!("c5");
    assert_eq!(serde_json::to_value(&exported).unwrap(), given);

    // On the command line without the files, and by a program.
    let empty = tempfile::tempdir().unwrap();
    let applied = apply(&site.app, &exported, empty.path(), None).await.unwrap();
    assert_eq!((applied.is_new, applied.sets), (false, 0));
    let program = site.program("Ada", Role::Host, Scope::Host).await;
    program.send(Request::post("/api/v1/host/benchmarks"), text.clone()).await.expect(200);
    let json = program.get("/api/v1/host/benchmarks/b").await.expect(200).json();
    program.post_json("/api/v1/host/benchmarks", &json).await.expect(200);
    let names_aside = |rows: Vec<String>| -> Vec<String> {
        rows.iter().map(|row| row.replace("\"test-c5\"", "\"c5.json\"")).collect()
    };
    assert_eq!(names_aside(rows(&site).await), names_aside(before));
    assert_eq!(ada.get("/b/b/benchmark.toml").await.expect(200).text, text);
    assert_eq!(program.get("/api/v1/host/benchmarks/b/file").await.expect(200).text, text);
}

/// The fields of the form of a phase.
pub const PHASE: [(&str, &str); 20] = [
    ("title", "Test"),
    ("slug", "test"),
    ("references.0.name", "c5"),
    ("references.0.language", "en"),
    ("references.0.tokenizer", ""),
    ("metrics", "bleu"),
    ("metrics", "cider-d:sigma=4, rouge-l"),
    ("derive", "both = bleu-1 + rouge-l\r\n\r\ntwice = percent(both)\r\n"),
    ("main_metric", "bleu-4"),
    ("rank_by", "points(both, rouge-l), bleu-4"),
    ("opens", "2026-01-10T00:00"),
    ("closes", ""),
    ("human", "false"),
    ("baselines.0.method", "Base"),
    ("columns.0.key", "data"),
    ("columns.0.label", "Data"),
    ("columns.0.kind", "choice"),
    ("columns.0.choices", "COCO, only\r\nmore\r\n"),
    ("columns.1.kind", "text"),
    ("per_image", "explained"),
];

pub async fn send(
    who: &Client,
    path: &str,
    fields: &[(&str, &str)],
    files: &[(&str, &str, String)],
) -> crate::support::Answer {
    let files: Vec<_> = files.iter().map(|(field, name, text)| (*field, *name, text.as_bytes())).collect();
    send_bytes(who, path, fields, &files).await
}

/// The same with files of bytes.
pub async fn send_bytes(
    who: &Client,
    path: &str,
    fields: &[(&str, &str)],
    files: &[(&str, &str, &[u8])],
) -> crate::support::Answer {
    let (kind, body) = form(fields, &[]);
    let boundary = kind.split("boundary=").nth(1).unwrap().to_owned();
    let end = format!("--{boundary}--\r\n");
    let mut body = body.strip_suffix(end.as_bytes()).unwrap().to_vec();
    for (field, name, content) in files {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\r\n"
        );
        body.extend([head.as_bytes(), content, b"\r\n"].concat());
    }
    body.extend(end.bytes());
    who.send(Request::post(path).header("content-type", kind), body).await
}

async fn a_benchmark_is_made_in_the_browser(database: Database) {
    let site = Site::new(database).await;
    let ada = site.person("Ada", Role::Host).await;
    let page = ada.get("/host").await.expect(200).text;
    assert!(page.contains("href=\"/host/benchmarks/new\""), "{page}");
    let page = ada.get("/host/benchmarks/new").await.expect(200).text;
    assert!(page.contains(">ada@example.org</textarea>"), "{page}");
    let mut fields = vec![
        ("slug", "coco"),
        ("title", "COCO"),
        ("summary", "S"),
        ("rules", "*One*\r\nline"),
        ("visibility", "public"),
        ("hosts", "ada@example.org\r\nnoone@example.org"),
    ];
    // Enter presses the first button, which is not that of the preview.
    let (_, buttons) = page.split_once("name=\"hosts\"").unwrap();
    assert!(buttons.find("<button class=\"main\">") < buttons.find("<button formaction="), "{page}");
    assert_eq!(page.matches("preview#preview").count(), 1);
    let preview = ada.post("/host/benchmarks/preview", &fields).await.expect(200).text;
    assert!(preview.contains("<em>One</em>") && preview.contains("value=\"COCO\""), "{preview}");
    let refused = ada.post("/host/benchmarks", &fields).await.expect(422).text;
    assert!(refused.contains("no account has the email address noone@example.org"), "{refused}");
    assert!(refused.contains("value=\"COCO\"") && refused.contains("*One*"), "{refused}");
    fields[5] = ("hosts", "ada@example.org");
    let made = ada.post("/host/benchmarks", &fields).await.expect(303);
    assert_eq!(made.header("location"), "/b/coco/settings?done=saved");
    ada.post("/host/benchmarks", &fields).await.expect(409);

    let page = ada.get("/b/coco/new-phase").await.expect(200).text;
    for words in ["METEOR", "less than 0.1", "0–10", "bleu, meteor, rouge-l, cider-d, spice"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let good = |file: &str| ("references.0.file", "c5.json", file.to_owned());
    let base = ("baselines.0.file", "base.json", results(20, 3));
    let refused = send(&ada, "/b/coco/new-phase", &PHASE, std::slice::from_ref(&base)).await.expect(422).text;
    assert!(refused.contains("was not sent") && refused.contains("value=\"Test\""), "{refused}");
    // The file that came stays chosen, for the same person only.
    let token = refused.field("kept.baselines.0.file").to_owned();
    assert!(refused.contains("Chosen before: base.json"), "{refused}");
    let mut kept = PHASE.to_vec();
    kept.push(("kept.baselines.0.file", &token));
    let root = site.person("Root", Role::Admin).await;
    let stolen = send(&root, "/b/coco/new-phase", &kept, &[good("[]")]).await.expect(422).text;
    assert!(stolen.contains("was not sent") && !stolen.contains("base.json"), "{stolen}");
    // A mistake in one field loses nothing of the others, and a file that is kept is kept again.
    let mut wrong = kept.clone();
    wrong.retain(|(name, _)| *name != "metrics");
    wrong.push(("decimals", "many"));
    let refused = send(&ada, "/b/coco/new-phase", &wrong, &[good("[]")]).await.expect(400).text;
    assert!(refused.contains("value=\"Test\"") && refused.contains("bleu-1 + rouge-l"), "{refused}");
    assert_eq!(refused.field("kept.baselines.0.file"), token);
    assert!(refused.contains("Chosen before: c5.json"), "{refused}");
    let made = send(&ada, "/b/coco/new-phase", &kept, &[good("[]")]).await.expect(303);
    assert_eq!(made.header("location"), "/b/coco/test/host?done=saved");
    site.work().await;
    // References that cannot be read are replaced.
    let page = ada.get("/b/coco/test/host/settings").await.expect(200).text;
    assert!(page.contains("c5.json: failed"), "{page}");
    let path = "/b/coco/test/host/settings";
    let mut fields = PHASE.to_vec();
    fields.push(("references.0.was", "c5"));
    fields.push(("baselines.0.was", "Base"));
    send(&ada, path, &fields, &[good(&references(20, 5))]).await.expect(303);
    site.work().await;
    let text = ada.get("/b/coco/benchmark.toml").await.expect(200).text;
    let plan: Plan = toml::from_str(&text).unwrap();
    assert_eq!((plan.title.as_str(), plan.rules.as_str(), plan.draft), ("COCO", "*One*\nline", true));
    let [phase] = &plan.phases[..] else { panic!("{text}") };
    assert_eq!(phase.metrics, ["bleu", "cider-d:sigma=4", "rouge-l"]);
    assert_eq!((phase.per_day, phase.in_total, phase.human, phase.baselines.len()), (5, 100, false, 1));
    assert_eq!(phase.columns.len(), 1);
    assert_eq!(phase.per_image, PerImage::Explained);
    let page = ada.get(path).await.expect(200).text;
    assert!(page.contains("<option value=\"explained\" selected>"), "{page}");
    assert!(page.contains("explanations show them in full"), "{page}");
    assert_eq!(phase.columns[0].choices, ["COCO, only", "more"]);
    let scored = "SELECT method FROM submission WHERE state = 'scored'";
    let scored: Vec<String> = site.app.store.fetch(scored, args![]).await.unwrap();
    assert_eq!(scored, ["Base"]);

    // Reasons are told in the language of the page.
    let mut wrong = fields.clone();
    wrong.push(("decimals", "13"));
    let chinese = ada.with_cookie("language=zh");
    let refused = send(&chinese, path, &wrong, &[]).await.expect(422).text;
    assert!(refused.contains("无法保存") && refused.contains("阶段 test：decimals 不能超过 12"), "{refused}");

    // A second set, then one whose name changes, which a draft allows.
    fields.extend([("references.1.name", "c4"), ("references.1.language", "en")]);
    send(&ada, path, &fields, &[("references.1.file", "c4.json", references(20, 4))]).await.expect(303);
    site.work().await;
    let names = "SELECT name FROM reference_set WHERE state = 'ready' ORDER BY position";
    let known: Vec<String> = site.app.store.fetch(names, args![]).await.unwrap();
    assert_eq!(known, ["c5", "c4"]);
    fields[2] = ("references.0.name", "five");
    fields.push(("references.1.was", "c4"));
    send(&ada, path, &fields, &[]).await.expect(303);
    site.work().await;
    let known: Vec<String> = site.app.store.fetch(names, args![]).await.unwrap();
    assert_eq!(known, ["five", "c4"]);
    let scored: Vec<String> =
        site.app.store.fetch("SELECT method FROM submission WHERE state = 'scored'", args![]).await.unwrap();
    assert_eq!(scored, ["Base"]);

    // Once it is published, the same change is refused in the words of the file.
    ada.post("/b/coco/publish", &[]).await.expect(303);
    ada.post("/b/coco/publish", &[]).await.expect(409);
    fields.retain(|(name, _)| *name != "references.0.was");
    fields.push(("references.0.was", "five"));
    fields[5] = ("metrics", "rouge-l");
    fields[6] = ("metrics", "cider-d:sigma=4 bleu");
    send(&ada, path, &fields, &[]).await.expect(303);
    fields[2] = ("references.0.name", "c5");
    let refused = send(&ada, path, &fields, &[]).await.expect(422).text;
    assert!(refused.contains("the file lacks the reference set five, which cannot be removed"), "{refused}");
    ada.post("/b/coco/test/host/remove", &[]).await.expect(409);
    let notes = ada.get("/b/coco/audit").await.expect(200).text;
    for action in ["benchmark.apply", "phase.add", "phase.change", "benchmark.publish"] {
        assert!(notes.contains(action), "{action}: {notes}");
    }
}

async fn programs_do_what_the_file_does(database: Database) {
    let site = Site::new(database).await;
    let ada = site.program("Ada", Role::Host, Scope::Host).await;
    let otto = site.program("Otto", Role::Host, Scope::Host).await;
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let file =
        |name: &str| ("file", name.to_owned(), std::fs::read_to_string(folder.path().join(name)).unwrap());
    let plan = PLAN.replace("in/c5.json", "c5.json");
    let path = "/api/v1/host/benchmarks";
    let files = [file("c5.json"), file("ids.txt"), file("base.json")];
    let files: Vec<(&str, &str, String)> =
        files.iter().map(|(field, name, text)| (*field, name.as_str(), text.clone())).collect();
    let refused = send(&ada, path, &[("plan", &plan)], &files[..1]).await.expect(422).json();
    let words = "phase dev: the file ids.txt was not sent";
    assert!(refused["detail"].as_str().unwrap().contains(words), "{refused}");
    // A path of the machine of the server is the name of a file that was not sent.
    let here = plan.replace("c5.json", &folder.path().join("c5.json").display().to_string());
    let refused = send(&ada, path, &[("plan", &here)], &files).await.expect(422).json();
    assert!(refused["detail"].as_str().unwrap().contains("was not sent"), "{refused}");
    let made = send(&ada, path, &[("plan", &plan)], &files).await.expect(201).json();
    assert_eq!(made["phases"].as_array().unwrap().len(), 2);
    site.work().await;
    let states = "SELECT state FROM reference_set";
    let states: Vec<String> = site.app.store.fetch(states, args![]).await.unwrap();
    assert_eq!(states, ["ready"; 3]);

    // Files that are not sent stay; what scores depend on is refused in the same words.
    let changed = plan.replace("per_day = 7", "per_day = 8");
    let answer = ada.send(Request::post(path), changed.clone()).await.expect(200).json();
    assert_eq!(answer["phases"][0]["per_day"], 8);
    let other = [("file", "c5.json", references(20, 3))];
    let refused = send(&ada, path, &[("plan", &plan)], &other).await.expect(422).json();
    let words =
        "phase dev: the file of the references c5 cannot change: scores depend on it; use a new phase";
    assert!(refused["detail"].as_str().unwrap().contains(words), "{refused}");
    let fewer = plan.split("[[phases]]\nslug = 'test'").next().unwrap().to_owned();
    let refused = ada.send(Request::post(path), fewer).await.expect(422).json();
    assert!(refused["detail"].as_str().unwrap().contains("the file lacks the phase test"), "{refused}");

    // A phase alone, which names its files in the same way.
    let phase = "slug = 'more'\ntitle = 'More'\nmetrics = ['bleu']\nmain_metric = 'bleu-1'\n\
        [[references]]\nname = 'c5'\nfile = 'c5.json'\n";
    let phases = "/api/v1/host/benchmarks/b/phases";
    let answer = send(&ada, phases, &[("plan", phase)], &files[..1]).await.expect(200).json();
    assert_eq!(answer["phases"][2]["phase"], "more");
    for path in [path, phases] {
        otto.send(Request::post(path), changed.clone()).await.expect(404);
    }
    otto.get("/api/v1/host/benchmarks/b").await.expect(404);
    let wrong = changed.replace("per_day", "per_dya");
    let refused = ada.send(Request::post(path), wrong).await.expect(422).json();
    assert!(refused["detail"].as_str().unwrap().contains("per_dya"), "{refused}");
    for (field, value) in [("per_day", json!(-1)), ("opens", json!("soon"))] {
        let mut phase = json!({ "slug": "p", "title": "P", "metrics": ["bleu"], "main_metric": "bleu-1" });
        phase[field] = value;
        let plan = json!({ "slug": "n", "title": "N", "phases": [phase] }).to_string();
        let refused = ada.send(Request::post(path), plan).await.expect(422).json();
        let named = format!("not valid: phases[0].{field}: invalid value");
        assert!(refused["detail"].as_str().unwrap().contains(&named), "{refused}");
    }
    for (field, value, words) in [
        ("captions", json!(-1), "captions: invalid value"),
        ("shortest", json!({ "en": -5 }), "shortest"),
        ("languages", json!([{ "language": "zh", "caption": 2 }]), "languages[0].caption: unknown field"),
        ("languages", json!([{ "language": "zh", "captions": -2 }]), "languages[0].captions: invalid value"),
        ("languages", json!([7]), "languages[0]: invalid type"),
    ] {
        let mut plan = json!({ "slug": "n", "title": "N" });
        plan[field] = value;
        let refused = ada.post_json("/api/v1/host/collections", &plan).await.expect(422).json();
        let named = format!("not valid: {words}");
        assert!(refused["detail"].as_str().unwrap().contains(&named), "{refused}");
    }
    let choices = ada.get("/api/v1/host/metrics").await.expect(200).json();
    let names = choices["metrics"].as_array().unwrap().iter().map(|metric| metric["name"].as_str().unwrap());
    assert!(names.into_iter().any(|name| name == "spice"), "{choices}");
}

async fn a_draft_is_for_its_hosts_until_it_is_published(database: Database) {
    let site = Site::new(database).await;
    let ada = site.person("Ada", Role::Host).await;
    let strangers =
        [site.anybody(), site.person("Bo", Role::Member).await, site.person("Otto", Role::Host).await];
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let text = PLAN.replace("visibility = 'registered'", "visibility = 'public'\ndraft = true");
    let plan: Plan = toml::from_str(&text).unwrap();
    apply(&site.app, &plan, folder.path(), None).await.unwrap();
    site.work().await;
    for one in &strangers {
        one.get("/b/b").await.expect(404);
        one.get("/b/b/dev/leaderboard").await.expect(404);
        assert!(!one.get("/").await.expect(200).text.contains("/b/b"));
        assert!(!one.get("/api/v1/benchmarks").await.text.contains("\"b\""));
    }
    assert!(ada.get("/b/b").await.expect(200).text.contains("Draft"));
    // All of a draft may change: a phase goes, another has other metrics.
    let mut fewer = plan.clone();
    fewer.phases.truncate(1);
    fewer.phases[0].metrics = vec!["rouge-l".to_owned()];
    fewer.phases[0].main_metric = "rouge-l".to_owned();
    fewer.phases[0].board_columns = Vec::new();
    (fewer.phases[0].derive, fewer.phases[0].rank_by) = (Vec::new(), None);
    apply(&site.app, &fewer, folder.path(), None).await.unwrap();
    site.work().await;
    let board = ada.get("/b/b/dev/leaderboard").await.expect(200).text;
    assert!(board.contains("ROUGE-L") && board.contains("Base") && !board.contains("BLEU"), "{board}");
    ada.get("/b/b/test/leaderboard").await.expect(404);

    ada.post("/b/b/publish", &[]).await.expect(303);
    for one in &strangers {
        one.get("/b/b").await.expect(200);
    }
    let error = apply(&site.app, &Plan { draft: false, ..plan }, folder.path(), None).await.unwrap_err();
    assert!(format!("{error:#}").contains("metrics cannot change"), "{error:#}");
    // With the submission of a team, it is no draft any more.
    let bo = site.program("Bo", Role::Member, Scope::Submit).await;
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    let path = format!("/api/v1/phases/{phase}/submissions?method=a");
    bo.send(Request::post(path), results(20, 5)).await.expect(201);
    let error = apply(&site.app, &fewer, folder.path(), None).await.unwrap_err();
    assert!(format!("{error:#}").contains("cannot become a draft again"), "{error:#}");
    let page = ada.get("/b/b/settings").await.expect(200).text;
    assert_eq!(page.field("slug"), "b");
}

async fn a_dry_run_counts_nowhere(database: Database) {
    let site = Site::new(database).await;
    let ada = site.person("Ada", Role::Host).await;
    let program = site.program("Ada", Role::Host, Scope::Host).await;
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let plan: Plan = toml::from_str(&PLAN.replace("opens = 2026-01-10", "opens = 2026-11-10")).unwrap();
    apply(&site.app, &plan, folder.path(), None).await.unwrap();
    let id: String =
        site.app.store.fetch_one("SELECT id FROM phase WHERE slug = 'dev'", args![]).await.unwrap();
    let (page, path) = ("/b/b/dev/host/dry-run", format!("/api/v1/host/phases/{id}/dry-run"));
    let sample = || [("file", "sample.json", results(20, 5))];
    let refused = send(&ada, page, &[], &sample()).await.expect(409).text;
    assert!(refused.contains("The references of this phase are being prepared"), "{refused}");
    site.work().await;
    let board = ada.get("/b/b/dev/leaderboard").await.expect(200).text;
    program.get(&path).await.expect(404);

    let refused = send(&ada, page, &[], &[]).await.expect(422).text;
    assert!(refused.contains("Choose a file with results."), "{refused}");
    send(&ada, page, &[], &[("file", "few.json", results(19, 5))]).await.expect(303);
    let report = ada.get(page).await.expect(200).text;
    assert!(
        report.contains("few.json") && report.contains("The file has 19 captions; the phase has 20 images."),
        "{report}"
    );
    let run = program.get(&path).await.expect(200).json();
    assert_eq!((run["state"].as_str(), run["report"]["is_valid"].as_bool()), (Some("failed"), Some(false)));

    // The phase has not opened; the scores are those that a submission gets.
    send(&ada, page, &[], &sample()).await.expect(303);
    let waiting = ada.get(page).await.expect(200).text;
    assert!(waiting.contains("data-live") && waiting.contains("sample.json"), "{waiting}");
    site.work().await;
    let run = program.get(&path).await.expect(200).json();
    assert_eq!(run["state"], "scored", "{run}");
    assert!(run["scores"]["c5"]["bleu-4"].as_f64().unwrap() > 0.0, "{run}");
    assert!(run["scores"]["few"]["bleu-4"].is_number(), "{run}");
    let scored = ada.get(page).await.expect(200).text;
    assert!(scored.contains("<h3>few</h3>") && scored.contains("BLEU-4"), "{scored}");
    let program_run = program.send(Request::post(&path), results(20, 4)).await.expect(201).json();
    assert_eq!(program_run["state"], "queued", "{program_run}");
    site.work().await;

    assert_eq!(ada.get("/b/b/dev/leaderboard").await.expect(200).text, board);
    for sql in ["SELECT COUNT(*) FROM quota", "SELECT COUNT(*) FROM submission WHERE kind = 'entry'"] {
        assert_eq!(site.app.store.fetch_one::<i64>(sql, args![]).await.unwrap(), 0, "{sql}");
    }
    assert_eq!(site.app.store.fetch_one::<i64>("SELECT COUNT(*) FROM dry_run", args![]).await.unwrap(), 1);
    for other in
        [site.anybody(), site.person("Bo", Role::Member).await, site.person("Otto", Role::Host).await]
    {
        let answer = other.get(page).await;
        assert!(matches!(answer.status.as_u16(), 303 | 404), "{}", answer.text);
    }
    let notes = ada.get("/b/b/audit").await.expect(200).text;
    assert!(notes.contains("phase.dry-run"), "{notes}");
}

async fn a_draft_is_removed_whole(database: Database) {
    let site = Site::new(database).await;
    let (ada, program) =
        (site.person("Ada", Role::Host).await, site.program("Ada", Role::Host, Scope::Host).await);
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let draft: Plan =
        toml::from_str(&PLAN.replace("[[phases]]\nslug = 'dev'", "draft = true\n[[phases]]\nslug = 'dev'"))
            .unwrap();
    let made = async |plan: &Plan| {
        apply(&site.app, plan, folder.path(), None).await.unwrap();
        site.work().await;
    };
    let count = async || {
        let mut counts = Vec::new();
        for sql in [
            "SELECT COUNT(*) FROM benchmark",
            "SELECT COUNT(*) FROM benchmark_host",
            "SELECT COUNT(*) FROM phase",
            "SELECT COUNT(*) FROM reference_set",
            "SELECT COUNT(*) FROM submission",
            "SELECT COUNT(*) FROM score_set",
        ] {
            counts.push(site.app.store.fetch_one::<i64>(sql, args![]).await.unwrap());
        }
        counts
    };
    made(&draft).await;
    assert!(count().await.iter().all(|n| *n > 0));
    // It is there for its hosts only, who are asked first.
    for stranger in [site.person("Bo", Role::Member).await, site.person("Otto", Role::Host).await] {
        stranger.post("/b/b/remove", &[]).await.expect(404);
    }
    let page = ada.get("/b/b/settings").await.expect(200).text;
    assert!(page.contains("Remove this benchmark with its phases, references and baselines?"), "{page}");
    let removed = ada.post("/b/b/remove", &[]).await.expect(303);
    assert_eq!(removed.header("location"), "/host?done=removed");
    ada.get("/b/b").await.expect(404);
    assert_eq!(count().await, [0; 6]);
    let notes = "SELECT subject FROM audit WHERE action = 'benchmark.remove'";
    assert_eq!(site.app.store.fetch::<String>(notes, args![]).await.unwrap().len(), 1);
    // The address is free again, and programs do the same.
    made(&draft).await;
    let api = "/api/v1/host/benchmarks/b/remove";
    program.post_json(api, &json!({})).await.expect(204);
    assert_eq!(count().await, [0; 6]);
    // What was published stays, and so does what a team has submitted to.
    made(&draft).await;
    ada.post("/b/b/publish", &[]).await.expect(303);
    assert_eq!(program.post_json(api, &json!({})).await.expect(409).json()["code"], "in-use");
    assert!(!ada.get("/b/b/settings").await.expect(200).text.contains("/b/b/remove"));
    let phase: String =
        site.app.store.fetch_one("SELECT id FROM phase WHERE slug = 'test'", args![]).await.unwrap();
    let bo = site.program("Bo", Role::Member, Scope::Submit).await;
    site.app.store.execute("UPDATE benchmark SET visibility = 'public'", args![]).await.unwrap();
    let path = format!("/api/v1/phases/{phase}/submissions?method=a");
    bo.send(Request::post(path), results(20, 5)).await.expect(201);
    site.app.store.execute("UPDATE benchmark SET draft = 1", args![]).await.unwrap();
    program.post_json(api, &json!({})).await.expect(409);
}
