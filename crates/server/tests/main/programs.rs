//! Phases with a metric of the hosts that is a program: what it may do, what is said if it fails, and what it scores.

use std::io::{Cursor, Write as _};
use std::path::Path;

use axum::http::Request;
use capeval_benchmarks::apply::apply;
use capeval_benchmarks::settings::Plan;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_site::web::Scope;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::benchmarks::{references, results};
use crate::organise::send_bytes;
use crate::support::{Client, Database, Site, on_both, on_sqlite, settings};

on_both! {
    a_program_scores_like_any_metric
    two_workers_score_each_submission_once
}

on_sqlite! {
    a_program_reaches_nothing_but_its_files
    what_is_wrong_with_a_program_is_said_to_hosts_alone
    a_form_takes_a_program_and_measures_of_machines
}

/// The number of words, and one less.
pub const WORDS: &str = "import json, sys\nfor line in sys.stdin:\n    row = json.loads(line)\n    \
    n = len(row['candidate'].split())\n    \
    print(json.dumps({'id': row['id'], 'scores': {'words': n, 'gaps': n - 1}}), flush=True)\n";

const DESCRIPTION: &str = "protocol = 1\nname = 'words'\nversion = '1'\ncommand = ['python3', 'words.py']\n\
    environment = { PYTHONDONTWRITEBYTECODE = '1' }\n\
    [[measures]]\nkey = 'words'\nlabel = 'WORDS'\nrange = [0, 1000]\n[[measures]]\nkey = 'gaps'\n";

/// An archive with these files.
pub fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A program of these lines, in a folder as people pack it.
pub fn program(lines: &str) -> Vec<u8> {
    archive(&[("metric/words.toml", DESCRIPTION), ("metric/words.py", lines)])
}

/// Folders with an interpreter; `None` where programs cannot be kept apart, or there is none.
pub fn folders() -> Option<Vec<String>> {
    let has_landlock =
        std::fs::read_to_string("/sys/kernel/security/lsm").map_or(true, |list| list.contains("landlock"));
    let is_there = has_landlock && Path::new("/usr/bin/python3").exists();
    if !is_there {
        capeval_testkit::skip("programs", "Landlock or /usr/bin/python3 is missing");
    }
    is_there.then(|| vec!["/usr".to_owned()])
}

async fn site(database: Database) -> Option<(Site, Client)> {
    let site = Site::with(Settings { program_folders: folders()?, ..settings(database) }).await;
    let hanna = site.program("Hanna", Role::Host, Scope::Host).await;
    Some((site, hanna))
}

async fn put(site: &Site, archive: &[u8], more: &str) -> anyhow::Result<()> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("refs.json"), references(12, 3)).unwrap();
    std::fs::write(folder.path().join("metric.zip"), archive).unwrap();
    let is_open = site.app.store.exists("SELECT 1 FROM submission WHERE kind = 'entry'", args![]).await?;
    let draft = !is_open;
    let plan: Plan = toml::from_str(&format!(
        "slug = 'b'\ntitle = 'B'\nhosts = ['hanna@example.org']\ndraft = {draft}\n[[phases]]\nslug = 'p'\ntitle = 'P'\n\
         metrics = ['bleu']\nprogram = 'metric.zip'\nmain_metric = 'words'\n{more}\n\
         [[phases.references]]\nname = 'r'\nfile = 'refs.json'\n"
    ))?;
    apply(&site.app, &plan, folder.path(), None).await?;
    site.work().await;
    Ok(())
}

/// What the references are refused for; empty if they are ready.
async fn refusal(site: &Site) -> String {
    let reason: Option<String> =
        site.app.store.fetch_one("SELECT reason FROM reference_set", args![]).await.unwrap();
    reason.unwrap_or_default()
}

async fn submit(site: &Site, name: &str, captions: String) -> (Client, String) {
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    site.app.store.execute("UPDATE benchmark SET draft = 0", args![]).await.unwrap();
    let who = site.program(name, Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method={name}");
    let made = who.send(Request::post(path), captions).await.expect(201).json();
    (who, made["id"].as_str().unwrap().to_owned())
}

/// The mean number of words of a file of captions.
pub fn mean_of_words(captions: &str) -> f64 {
    let captions: Vec<Value> = serde_json::from_str(captions).unwrap();
    let words = captions.iter().map(|one| one["caption"].as_str().unwrap().split_whitespace().count());
    words.sum::<usize>() as f64 / captions.len() as f64
}

async fn scores(site: &Site, id: &str, metric: &'static str) -> Vec<f64> {
    let sql = "SELECT value FROM score WHERE submission = $1 AND metric = $2";
    site.app.store.fetch(sql, args![id, metric]).await.unwrap()
}

async fn a_program_scores_like_any_metric(database: Database) {
    let Some((site, hanna)) = site(database).await else { return };
    put(&site, &program(WORDS), "derive = ['total = words + gaps']").await.unwrap();
    assert_eq!(refusal(&site).await, "");
    for (name, skill) in [("Ada", 3), ("Bao", 8)] {
        let (who, id) = submit(&site, name, results(12, skill)).await;
        site.work().await;
        let mean = mean_of_words(&results(12, skill));
        let shown = who.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json();
        assert_eq!(shown["state"], "scored", "{shown}");
        assert_eq!(scores(&site, &id, "words").await, [mean]);
        assert_eq!(scores(&site, &id, "gaps").await, [mean - 1.0]);
        assert_eq!(scores(&site, &id, "total").await, [2.0 * mean - 1.0]);
    }
    let store = &site.app.store;
    // Intervals surround all scores, and neighbours are tested.
    let outside = "SELECT 1 FROM score WHERE metric = 'words' AND NOT (low <= value AND value <= high)";
    assert!(!store.exists(outside, args![]).await.unwrap());
    let tested = "SELECT 1 FROM comparison WHERE metric = 'words' AND p IS NOT NULL";
    assert!(store.exists(tested, args![]).await.unwrap());
    let signatures: Vec<String> = store.fetch("SELECT signatures FROM scored_by", args![]).await.unwrap();
    let hash: String = store.fetch_one("SELECT program_hash FROM phase", args![]).await.unwrap();
    let archive = format!("|archive:{}|", &hash[..16]);
    assert!(signatures.iter().all(|all| all.contains("words|version:1|program:") && all.contains(&archive)));

    // Hosts see which file it is; another one would make other scores.
    let host = site.person("Hanna", Role::Host).await;
    let form = host.get("/b/b/p/host/settings").await.expect(200).text;
    assert!(form.contains("metric.zip") && form.contains(&hash), "{form}");
    let file = hanna.get("/api/v1/host/benchmarks/b/file").await.expect(200).text;
    assert!(file.contains("program = \"metric.zip\""), "{file}");
    let other = program(&format!("{WORDS}# changed\n"));
    let refused = format!("{:#}", put(&site, &other, "derive = ['total = words + gaps']").await.unwrap_err());
    assert!(refused.contains("program cannot change: scores depend on it; use a new phase"), "{refused}");
    // Folders of programs are removed with the jobs that used them.
    let left = std::fs::read_dir(site.app.hidden.drafts()).unwrap().count();
    assert_eq!(left, 0);
}

async fn two_workers_score_each_submission_once(database: Database) {
    let Some((site, _)) = site(database).await else { return };
    put(&site, &program(WORDS), "per_day = 10").await.unwrap();
    for round in 0..10 {
        let captions = results(12, round);
        let (who, id) = submit(&site, "Ada", captions.clone()).await;
        tokio::join!(site.work(), site.work());
        assert_eq!(scores(&site, &id, "words").await, [mean_of_words(&captions)], "round {round}");
        let used = who.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json();
        assert_eq!(used["state"], "scored", "{used}");
    }
    let used: Vec<i64> =
        site.app.store.fetch("SELECT used FROM quota WHERE day = '*'", args![]).await.unwrap();
    assert_eq!(used, [10]);
    // People have scores, too.
    let human = "SELECT 1 FROM score JOIN submission ON submission.id = score.submission \
                 WHERE kind = 'human' AND metric = 'words'";
    assert!(site.app.store.exists(human, args![]).await.unwrap());
}

/// Tries everything that it may not do, and scores 0 if nothing works.
const HOSTILE: &str = "
import ctypes, fcntl, json, os, platform, resource, signal, socket, subprocess, sys, threading
done = []
def attempt(name, act):
    try:
        if act() is not False:
            done.append(name)
    except BaseException:
        pass
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    return libc.syscall(*args) >= 0
attempt('socket', lambda: socket.socket())
attempt('unix socket', lambda: socket.socketpair())
# A kernel that has no calls of x32 would say so with another number.
attempt('socket of x32', lambda: platform.machine() == 'x86_64' and (call(0x40000029, 2, 1, 0) or ctypes.get_errno() != 1))
attempt('fork', os.fork)
attempt('vfork', lambda: call(58))
attempt('program', lambda: subprocess.run(['/usr/bin/true']))
attempt('signal', lambda: os.kill(os.getppid(), 0))
attempt('write here', lambda: open('new', 'w'))
attempt('change own file', lambda: open('words.py', 'a'))
attempt('write elsewhere', lambda: open('/tmp/capeval-hostile', 'w'))
attempt('mode', lambda: os.chmod('words.py', 0o600))
attempt('list the server', lambda: os.listdir(os.path.join(os.getcwd(), '..', '..')))
attempt('passwords', lambda: open('/etc/passwd').read())
attempt('parent memory', lambda: open('/proc/%d/mem' % os.getppid(), 'rb').read(1))
attempt('limits of others', lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU))
attempt('priority of others', lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19))
attempt('outlive', lambda: libc.prctl(1, 0, 0, 0, 0) == 0)
attempt('owner of signals', lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid()))
attempt('variables', lambda: bool(set(os.environ) - {'PATH', 'PYTHONDONTWRITEBYTECODE', 'LC_CTYPE'}))
attempt('memory', lambda: bytearray(1 << 40))
threads = []
thread = threading.Thread(target=lambda: threads.append(1))
thread.start()
thread.join()
done += [] if threads else ['no thread']
print('possible: ' + ', '.join(done), file=sys.stderr)
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({'id': row['id'], 'scores': {'words': len(done), 'gaps': 0}}), flush=True)
if done:
    sys.exit('possible: ' + ', '.join(done))
";

async fn a_program_reaches_nothing_but_its_files() {
    let Some((site, _)) = site(Database::Sqlite).await else { return };
    put(&site, &program(HOSTILE), "").await.unwrap();
    assert_eq!(refusal(&site).await, "");
    let (_, id) = submit(&site, "Ada", results(12, 5)).await;
    site.work().await;
    assert_eq!(scores(&site, &id, "words").await, [0.0]);
}

async fn what_is_wrong_with_a_program_is_said_to_hosts_alone() {
    // Not allowed at all, unless the operator says so.
    let closed = Site::new(Database::Sqlite).await;
    closed.account("Hanna", Role::Host).await;
    let refused = format!("{:#}", put(&closed, &program(WORDS), "").await.unwrap_err());
    assert!(refused.contains("this site runs no programs"), "{refused}");

    let Some((site, hanna)) = site(Database::Sqlite).await else { return };
    for (files, words) in [
        (vec![("words.py", WORDS)], "the archive has no description"),
        (vec![("a.toml", DESCRIPTION), ("b.toml", DESCRIPTION)], "several descriptions, such as a.toml"),
        (vec![("a.toml", "protocol = 1\ncolour = 1")], "a.toml: line 2: unknown field `colour`"),
        (vec![("a.toml", &*DESCRIPTION.replace("'gaps'", "'bleu-4'"))], "bleu-4"),
        (vec![("../a.toml", DESCRIPTION)], "leads out of the archive"),
    ] {
        let refused = format!("{:#}", put(&site, &archive(&files), "").await.unwrap_err());
        assert!(refused.contains(words) && !refused.contains("/tmp"), "{refused}");
    }
    let damaged = &program(WORDS)[..200];
    for (bytes, more, words) in [
        (&b"no archive"[..], "", "this is no ZIP archive"),
        (damaged, "", "this is no ZIP archive"),
        (&program(WORDS), "board_columns = ['wordz']", "did you mean words?"),
        (&program(WORDS), "rank_by = 'points(words, nothing)'", "nothing"),
    ] {
        let refused = format!("{:#}", put(&site, bytes, more).await.unwrap_err());
        assert!(refused.contains(words), "{refused}");
    }
    // The program is tried on references before anyone submits.
    for (description, lines, words) in [
        (
            DESCRIPTION.replace("python3", "python9"),
            WORDS,
            "python9 cannot be started within program_folders: No such",
        ),
        (DESCRIPTION.to_owned(), "raise SystemExit('no model')", "its last words: no model"),
        (DESCRIPTION.to_owned(), "print('Loading')", "is no answer: Loading"),
        (format!("pictures = true\n{DESCRIPTION}"), WORDS, "needs pictures"),
    ] {
        put(&site, &archive(&[("words.toml", &description), ("words.py", lines)]), "").await.unwrap();
        let refused = refusal(&site).await;
        assert!(refused.contains(words) && !refused.contains("/tmp"), "{refused}");
    }
    // It fails on what someone submits. Its last words could be references, so the team does not read them.
    let picky = format!(
        "{WORDS}    if 'nothing' in row['candidate']:\n        raise SystemExit(row['references'])\n"
    );
    put(&site, &program(&picky), "").await.unwrap();
    assert_eq!(refusal(&site).await, "");
    let (who, id) = submit(&site, "Ada", results(12, 5)).await;
    site.work().await;
    let failed = who.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json();
    assert_eq!(failed["state"], "failed");
    let told = failed["reason"].as_str().unwrap();
    assert_eq!(told, "the program words gave no scores");
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    let quota = who.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!(quota["used_today"], 0);
    hanna
        .send(Request::post(format!("/api/v1/host/phases/{phase}/dry-run")), results(12, 5))
        .await
        .expect(201);
    site.work().await;
    let tried = hanna.get(&format!("/api/v1/host/phases/{phase}/dry-run")).await.expect(200).json();
    assert!(tried["reason"].as_str().unwrap().contains("secret"), "{tried}");
}

async fn a_form_takes_a_program_and_measures_of_machines() {
    let Some((site, _)) = site(Database::Sqlite).await else { return };
    let host = site.person("Hanna", Role::Host).await;
    let plan = json!({ "slug": "b", "title": "B", "hosts": ["hanna@example.org"], "draft": true });
    let hanna = site.program("Hanna", Role::Host, Scope::Host).await;
    hanna.post_json("/api/v1/host/benchmarks", &plan).await.expect(201);
    let refs = references(12, 3);
    let archive = program(WORDS);
    let fields = [
        ("title", "P"),
        ("slug", "p"),
        ("metrics", "bleu"),
        ("main_metric", "bleu-4"),
        ("human", "false"),
        ("references.0.name", "r"),
        ("given.0.key", "judge"),
        ("given.0.label", "Judge"),
        ("given.0.min", "0"),
        ("given.0.max", "10"),
        ("given.0.lower_is_better", "true"),
        ("given.0.is_count", "false"),
        ("given.1.key", ""),
        ("given.1.lower_is_better", "false"),
    ];
    let files =
        [("references.0.file", "refs.json", refs.as_bytes()), ("program", "metric.zip", &archive[..])];
    send_bytes(&host, "/b/b/new-phase", &fields, &files).await.expect(303);
    site.work().await;
    assert_eq!(refusal(&site).await, "");
    // Once its measures are known, they can be chosen, and what the form shows is what there is.
    let form = host.get("/b/b/p/host/settings").await.expect(200).text;
    for shown in
        ["<option value=\"words\">WORDS", "<option value=\"judge\">Judge", "value=\"10\"", "metric.zip"]
    {
        assert!(form.contains(shown), "{shown}: {form}");
    }
    let changed: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, text)| if *name == "main_metric" { (*name, "words") } else { (*name, *text) })
        .chain([("references.0.was", "r")])
        .collect();
    send_bytes(&host, "/b/b/p/host/settings", &changed, &[]).await.expect(303);
    let plan: Value = hanna.get("/api/v1/host/benchmarks/b").await.expect(200).json();
    let phase = &plan["phases"][0];
    assert_eq!((&phase["main_metric"], &phase["program"]), (&json!("words"), &json!("metric.zip")));
    let given = json!([{ "key": "judge", "label": "Judge", "lower_is_better": true, "is_count": false, "min": 0.0,
                         "max": 10.0 }]);
    assert_eq!(phase["given"], given);
    let removed = [("program.remove", "yes"), ("given.0.remove", "yes"), ("references.0.was", "r")];
    let without: Vec<(&str, &str)> = fields.into_iter().chain(removed).collect();
    send_bytes(&host, "/b/b/p/host/settings", &without, &[]).await.expect(303);
    let plan: Value = hanna.get("/api/v1/host/benchmarks/b").await.expect(200).json();
    assert_eq!((&plan["phases"][0]["program"], &plan["phases"][0]["given"]), (&Value::Null, &Value::Null));
}
