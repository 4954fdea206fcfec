//! Entries: what teams say about their methods, what hosts ask, and how each stands beside others.

use axum::http::Request;
use capeval_benchmarks::apply;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::{Value, json};

use crate::benchmarks::{benchmark, references, results};
use crate::support::{Answer, Client, Database, Page as _, Site, on_both, on_sqlite};

on_both! {
    what_is_said_about_a_method_is_shown_and_changed
    an_entry_is_seen_by_those_who_see_its_board
}

on_sqlite! {
    hosts_change_their_columns
    wrong_cells_are_refused_before_anything_counts
}

/// Columns of all kinds.
const COLUMNS: &str = "
[[phases.columns]]
key = 'parameters'
label = 'Parameters'
kind = 'number'
unit = 'M'
required = true
[[phases.columns]]
key = 'external'
label = 'External data'
kind = 'yes-no'
[[phases.columns]]
key = 'backbone'
label = 'Backbone'
kind = 'choice'
choices = ['CNN', 'ViT']
[[phases.columns]]
key = 'note'
label = 'Note'
kind = 'text'
";

async fn send(client: &Client, phase: &str, said: &str, body: String) -> Answer {
    client.send(Request::post(format!("/api/v1/phases/{phase}/submissions?{said}")), body).await
}

/// A multipart form with a file.
pub fn form(fields: &[(&str, &str)], file: &str) -> (&'static str, String) {
    let mut body = String::new();
    for (name, value) in fields {
        body += &format!("--xxxx\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    }
    body += &format!(
        "--xxxx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"r.json\"\r\n\r\n{file}\r\n--xxxx--\r\n"
    );
    ("multipart/form-data; boundary=xxxx", body)
}

const HOSTILE: &str = "<script>alert(1)</script>\"'&{{7*7}}\u{202e}";

async fn what_is_said_about_a_method_is_shown_and_changed(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, &format!("per_day = 4\n{COLUMNS}")).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let browser = site.person("Ada", Role::Member).await;
    let asked = ada.get(&format!("/api/v1/phases/{phase}")).await.expect(200).json()["columns"].clone();
    assert_eq!(
        (&asked[0]["key"], &asked[0]["unit"], &asked[0]["required"]),
        (&json!("parameters"), &json!("M"), &json!(true))
    );
    assert_eq!(asked[2]["choices"], json!(["CNN", "ViT"]));
    let page = browser.get("/b/b/p/submit").await.expect(200).text;
    assert!(
        page.contains("Parameters (M) <input name=\"column.parameters\"")
            && page.contains("<option>ViT</option>"),
        "{page}"
    );

    // By a form.
    let (kind, body) = form(
        &[
            ("method", "Show & tell"),
            ("description", &format!("Two lines\nof {HOSTILE}")),
            ("authors", HOSTILE),
            ("link", "https://example.org/paper?a=\"b\""),
            ("code", "https://example.org/code"),
            ("tags", &format!("CLIP, Zero  Shot, clip,{}", &HOSTILE[..20])),
            ("column.parameters", "120.5"),
            ("column.external", "no"),
            ("column.backbone", "ViT"),
            ("column.note", HOSTILE),
        ],
        &results(40, 7),
    );
    let post = Request::post("/b/b/p/submit").header("content-type", kind);
    let place = browser.send(post, body).await.expect(303).header("location").to_owned();
    site.work().await;
    let id = place.rsplit('/').next().unwrap();
    let page = browser.get(&place).await.expect(200).text;
    assert!(
        page.contains("<dt>Parameters</dt><dd>120.5 M</dd>")
            && page.contains("<dt>External data</dt><dd>no</dd>"),
        "{page}"
    );
    let link = "<a href=\"https://example.org/code\" rel=\"nofollow noreferrer\">";
    assert!(page.contains(link) && !page.contains("<script>alert") && !page.contains('\u{202e}'), "{page}");
    let api = format!("/api/v1/submissions/{id}");
    let shown = ada.get(&api).await.expect(200).json();
    let before = shown["about"].clone();
    assert_eq!(before["tags"], json!(["clip", "zero shot", "<script>alert(1)</scr"[..20]]), "{before}");
    assert_eq!(before["columns"]["parameters"], json!(120.5));
    assert_eq!(before["columns"]["external"], json!(false));
    assert_eq!(before["authors"], json!(HOSTILE.trim_end_matches('\u{202e}')));

    // The board has it, and shows it again as soon as it changes; scores do not.
    let row = |board: Value| {
        board["rows"].as_array().unwrap().iter().find(|row| row["team"] == "Ada").unwrap().clone()
    };
    let board = format!("/api/v1/phases/{phase}/leaderboard");
    let first = row(ada.get(&board).await.expect(200).json());
    assert_eq!(
        (&first["tags"], &first["columns"], &first["submission"]),
        (&before["tags"], &before["columns"], &json!(id))
    );
    let change =
        json!({ "method": "Tell", "tags": ["new"], "columns": { "parameters": 7, "external": null } });
    let changed = ada.post_json(&format!("{api}/about"), &change).await.expect(200).json();
    assert_eq!(
        changed["about"]["columns"],
        json!({ "parameters": 7.0, "backbone": "ViT", "note": before["columns"]["note"] })
    );
    assert_eq!((&changed["method"], &changed["about"]["authors"]), (&json!("Tell"), &before["authors"]));
    let second = row(ada.get(&board).await.expect(200).json());
    assert_eq!((&second["method"], &second["tags"]), (&json!("Tell"), &json!(["new"])));
    assert_eq!((&second["scores"], &second["submitted_at"]), (&first["scores"], &first["submitted_at"]));
    let notes = "SELECT detail FROM audit WHERE action = 'submission.about'";
    let detail: String = site.app.store.fetch_one(notes, args![]).await.unwrap();
    let detail: Value = serde_json::from_str(&detail).unwrap();
    assert_eq!((&detail["method"], &detail["before"]), (&json!("Show & tell"), &before));

    // By the form on its page, whose refusal keeps what was written.
    let fields = [("method", "Tell again"), ("column.parameters", "many"), ("authors", "Ada")];
    let refused = browser.post(&format!("{place}/about"), &fields).await.expect(422).text;
    assert!(
        refused.contains("Parameters: give a number") && refused.contains("value=\"Tell again\""),
        "{refused}"
    );
    let fields =
        [("method", "Tell again"), ("column.parameters", "8"), ("authors", ""), ("column.backbone", "")];
    browser.post(&format!("{place}/about"), &fields).await.expect(303);
    let after = ada.get(&api).await.expect(200).json();
    assert_eq!((&after["method"], &after["about"]["authors"]), (&json!("Tell again"), &json!("")));
    assert_eq!(after["about"]["columns"]["backbone"], Value::Null);

    // No one else, and no token that only reads.
    let change = json!({ "method": "Mine" });
    for (client, status) in [
        (site.program("Bao", Role::Member, Scope::Submit).await, 404),
        (site.program("Ada", Role::Member, Scope::Read).await, 403),
        (site.anybody(), 401),
    ] {
        client.post_json(&format!("{api}/about"), &change).await.expect(status);
    }
    // Hosts change what baselines say, but not their names, by which the file knows them.
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let baseline: String =
        site.app.store.fetch_one("SELECT id FROM submission WHERE kind = 'baseline'", args![]).await.unwrap();
    let about = format!("/api/v1/submissions/{baseline}/about");
    let columns = json!({ "parameters": 1 });
    root.post_json(&about, &json!({ "authors": "Hosts", "columns": columns })).await.expect(200);
    let refused = root.post_json(&about, &json!({ "method": "x", "columns": columns })).await.expect(409);
    assert_eq!(refused.json()["code"], "fixed-name");
    assert_eq!(ada.get(&api).await.expect(200).json()["method"], "Tell again");
}

async fn wrong_cells_are_refused_before_anything_counts() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, &format!("per_day = 4\n{COLUMNS}")).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let long = "x".repeat(501);
    for (said, words) in [
        ("method=m", "Parameters: this is required."),
        ("method=m&column.parameters=x", "Parameters: give a number, such as 120 or 0.5."),
        ("method=m&column.parameters=1&column.external=perhaps", "External data: answer yes or no."),
        ("method=m&column.parameters=1&column.backbone=RNN", "Backbone: choose one of CNN, ViT."),
        ("method=m&column.parameters=1&column.size=2", "This phase has no column size."),
        (
            "method=m&column.parameters=1&code=javascript:alert(1)",
            "The link must begin with https:// or http://.",
        ),
        (
            "method=m&column.parameters=1&tags=1,2,3,4,5,6,7,8,9,10,11",
            "Give at most 10 tags of at most 30 characters each.",
        ),
        (
            &format!("method=m&column.parameters=1&authors={long}"),
            "The authors can have at most 500 characters.",
        ),
        (&format!("method=m&column.parameters=1&column.note={long}"), "Note: give at most 200 characters."),
    ] {
        let answer = send(&ada, &phase, said, results(40, 5)).await.expect(422).json();
        assert!(answer["detail"].as_str().unwrap().contains(words), "{said}: {answer}");
    }
    let quota = ada.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!(quota["used_today"], 0);
    send(&ada, &phase, "method=m&column.parameters=1", results(40, 5)).await.expect(201);
}

/// An entry in a column that is gone is not shown; one of another kind is not taken for it.
async fn hosts_change_their_columns() {
    let site = Site::new(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(40, 5)).unwrap();
    let apply = async |columns: &str| {
        let plan = format!(
            "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu']\nmain_metric = 'bleu-4'\n\
             [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n{columns}"
        );
        let plan = toml::from_str(&plan).unwrap();
        let applied = apply::apply(&site.app, &plan, folder.path(), None).await;
        site.work().await;
        applied
    };
    apply(COLUMNS).await.unwrap();
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let said = "method=m&column.parameters=1&column.backbone=ViT&column.note=x";
    let made = send(&ada, &phase, said, results(40, 5)).await.expect(201).json();
    let api = format!("/api/v1/submissions/{}", made["id"].as_str().unwrap());
    let other = "[[phases.columns]]\nkey = 'note'\nlabel = 'Note'\nkind = 'number'\n\
                 [[phases.columns]]\nkey = 'backbone'\nlabel = 'Backbone'\nkind = 'text'\n";
    apply(other).await.unwrap();
    let columns = async || ada.get(&api).await.expect(200).json()["about"]["columns"].clone();
    assert_eq!(columns().await, json!({ "backbone": "ViT" }));
    // What is gone does not stand in the way of a change.
    ada.post_json(&format!("{api}/about"), &json!({ "columns": { "note": 3 } })).await.expect(200);
    assert_eq!(columns().await, json!({ "note": 3.0, "backbone": "ViT" }));
    let wrong = "[[phases.columns]]\nkey = 'x'\nlabel = 'X'\nkind = 'choice'\n";
    let error = format!("{:#}", apply(wrong).await.unwrap_err());
    assert!(error.contains("phase p") && error.contains("give 2 to 30 different choices"), "{error}");
    let page = site.person("Ada", Role::Member).await.get("/b/b/p/submit").await.expect(200).text;
    assert_eq!(page.between("name=\"column.note\" value=\"\" inputmode=\"", "\""), "decimal");
}

/// Of each team two scored submissions, the better one on the board: the phase, and the ids by method.
async fn two_teams(site: &Site, more: &str) -> (String, impl Fn(&str) -> String + use<>) {
    let phase = benchmark(site, &format!("per_day = 4\n{more}")).await;
    let mut ids = std::collections::HashMap::new();
    for (team, method, skill) in
        [("Ada", "Seven", 7), ("Ada", "Five", 5), ("Bao", "Nine", 9), ("Bao", "Six", 6)]
    {
        let client = site.program(team, Role::Member, Scope::Submit).await;
        let made =
            send(&client, &phase, &format!("method={method}"), results(40, skill)).await.expect(201).json();
        ids.insert(method.to_owned(), made["id"].as_str().unwrap().to_owned());
    }
    site.work().await;
    let id = async |kind: &'static str| {
        let row = site.app.store.first("SELECT id FROM submission WHERE kind = $1", args![kind]).await;
        row.unwrap().unwrap().get::<String>("id").unwrap()
    };
    ids.insert("Baseline".to_owned(), id("baseline").await);
    ids.insert("human".to_owned(), id("human").await);
    (phase, move |method: &str| ids[method].clone())
}

async fn an_entry_is_seen_by_those_who_see_its_board(database: Database) {
    let site = Site::new(database).await;
    let (phase, id) = two_teams(&site, "").await;
    let (anybody, cleo) = (site.anybody(), site.program("Cleo", Role::Member, Scope::Read).await);
    let (ada, root) = (
        site.program("Ada", Role::Member, Scope::Read).await,
        site.program("Root", Role::Admin, Scope::Host).await,
    );
    let api = |method: &str| format!("/api/v1/phases/{phase}/entries/{}", id(method));

    // A public board: what stands on it is everyone's; what does not is its team's and the hosts'.
    let entry = anybody.get(&api("Nine")).await.expect(200).json();
    assert_eq!((&entry["team"], &entry["method"]), (&json!("Bao"), &json!("Nine")));
    let board = anybody.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    let row = |method: &str| {
        board["rows"].as_array().unwrap().iter().find(|row| row["method"] == method).unwrap().clone()
    };
    let c5 = &entry["reference_sets"][0];
    assert_eq!((&c5["name"], &c5["rank"], &c5["ranked"]), (&json!("c5"), &json!(1), &json!(2)));
    for of in c5["scores"].as_array().unwrap() {
        let key = of["measure"].as_str().unwrap();
        assert_eq!(of["score"], row("Nine")["scores"][key], "{of}");
        assert_eq!(of["interval"], row("Nine")["intervals"][key], "{of}");
        assert_eq!(
            (&of["best_other"]["submission"], &of["best_other"]["team"]),
            (&json!(id("Seven")), &json!("Ada"))
        );
        assert_eq!(of["best_other"]["score"], row("Seven")["scores"][key], "{of}");
        assert_eq!(of["people"], row("human")["scores"][key], "{of}");
        assert_eq!(of["rank"], json!(1));
    }
    assert_eq!(entry["reference_sets"][1]["name"], "c40");
    let methods = |entry: &Value| {
        let history = entry["history"].as_array().unwrap();
        history.iter().map(|one| one["method"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(methods(&entry), ["Nine"]);
    anybody.get(&api("Five")).await.expect(404);
    ada.get(&api("Six")).await.expect(404);
    let five = ada.get(&api("Five")).await.expect(200).json();
    assert_eq!(methods(&five), ["Five", "Seven"]);
    assert_eq!(
        (&five["reference_sets"][0]["rank"], &five["history"][0]["is_on_board"]),
        (&Value::Null, &json!(false))
    );
    root.get(&api("Five")).await.expect(200);
    assert_eq!(anybody.get(&api("human")).await.expect(200).json()["kind"], "human");
    assert_eq!(anybody.get(&api("Baseline")).await.expect(200).json()["history"], json!([]));
    // The page shows the same, and the board leads to it.
    let address = format!("/b/b/p/entries/{}", id("Nine"));
    let page = anybody.get(&address).await.expect(200).text;
    assert!(page.contains("Place 1 of 2.") && page.contains("<td class=\"n\">1</td>"), "{page}");
    assert!(
        page.contains(&format!("/b/b/p/entries/{}\">Ada</a>", id("Seven"))) && !page.contains("Six"),
        "{page}"
    );
    assert!(
        anybody.get("/b/b/p/leaderboard").await.expect(200).text.contains(&format!("href=\"{address}\""))
    );
    // Others can ask its team for a place.
    assert!(page.contains("href=\"/teams?team=Bao#ask\">Ask to join this team</a>"), "{page}");
    assert!(anybody.get("/b/b/p/leaderboard").await.expect(200).text.contains("href=\"/teams#ask\""));
    let cleo_asks = site.person("Cleo", Role::Member).await.get("/teams?team=Bao").await.expect(200).text;
    assert!(
        cleo_asks.contains("id=\"ask\"") && cleo_asks.contains("name=\"team\" value=\"Bao\""),
        "{cleo_asks}"
    );
    let own = site.person("Bao", Role::Member).await.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(!own.contains("/teams#ask"), "{own}");
    let baseline = anybody.get(&format!("/b/b/p/entries/{}", id("Baseline"))).await.expect(200).text;
    assert!(!baseline.contains("#ask"), "{baseline}");
    let own = site.person("Bao", Role::Member).await.get(&address).await.expect(200).text;
    assert!(!own.contains("#ask"), "{own}");
    assert!(
        own.contains(">Six</a>")
            && own.contains("Others see only those that are or were on the leaderboard."),
        "{own}"
    );
    // Not in another phase, and not what does not exist.
    anybody.get(&format!("/api/v1/phases/{phase}/entries/nothing")).await.expect(404);
    anybody.get(&format!("/b/b/q/entries/{}", id("Nine"))).await.expect(404);
    // What is removed is its team's and the hosts'.
    let reason = json!({ "reason": "x" });
    root.post_json(&format!("/api/v1/submissions/{}/disqualify", id("Nine")), &reason).await.expect(204);
    site.work().await;
    anybody.get(&api("Nine")).await.expect(404);
    assert_eq!(root.get(&api("Nine")).await.expect(200).json()["disqualified"], "x");
    anybody.get(&api("Six")).await.expect(200);

    // Other boards: who sees Seven, who sees Five, which is Ada's and not on the board.
    let set = "UPDATE phase SET board = $1, reveal_at = $2";
    for (board, reveal, sees_seven, sees_five) in [
        ("registered", None, [false, true, true, true], [false, false, true, true]),
        ("own", None, [false, false, true, true], [false, false, true, true]),
        ("hidden", None, [false, false, false, true], [false, false, false, true]),
        ("hidden", Some(1), [true, true, true, true], [false, false, true, true]),
        (
            "hidden",
            Some(capeval_site::clock::now() + 1_000_000),
            [false, false, false, true],
            [false, false, false, true],
        ),
    ] {
        site.app.store.execute(set, args![board, reveal]).await.unwrap();
        for (k, client) in [&anybody, &cleo, &ada, &root].into_iter().enumerate() {
            for (method, sees) in [("Seven", sees_seven), ("Five", sees_five)] {
                let status = client.get(&api(method)).await.status.as_u16();
                let expected = if sees[k] { 200 } else { 404 };
                assert_eq!(status, expected, "{method} on a board {board} {reveal:?}, visitor {k}");
            }
        }
    }
    // Where a team sees its own scores, it sees no others.
    site.app.store.execute(set, args!["own", None::<i64>]).await.unwrap();
    let own = ada.get(&api("Seven")).await.expect(200).json();
    let of = &own["reference_sets"][0]["scores"][0];
    assert!(
        of["score"].is_number()
            && of["best_other"].is_null()
            && of["people"].is_null()
            && of["rank"].is_null(),
        "{of}"
    );
    // Of a benchmark that is hidden, nothing.
    site.app.store.execute(set, args!["public", None::<i64>]).await.unwrap();
    site.app.store.execute("UPDATE benchmark SET visibility = 'hidden'", args![]).await.unwrap();
    ada.get(&api("Seven")).await.expect(404);
}
