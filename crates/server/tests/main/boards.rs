//! Tests the choices of visitors and hosts of a board: rows, columns and the measure that sorts, as page, JSON and CSV.

use axum::http::Request;
use capeval_benchmarks::settings::Plan;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::{Value, json};

use crate::benchmarks::{benchmark, references, results, two_teams};
use crate::support::{Client, Database, Page as _, Site, on_both, on_sqlite};

on_both! {
    every_form_of_a_board_obeys_the_same_choices
    hosts_choose_the_columns_that_visitors_see_first
    progress_is_what_has_stood_on_the_board
    boards_show_tags_and_the_columns_of_hosts
    a_rule_ranks_over_several_measures
    a_board_has_the_scores_of_groups
}

on_sqlite! {
    baselines_take_no_ranks_from_teams
    a_mark_names_the_row_above_that_is_not_shown
    a_long_board_has_pages_of_rows
    choices_of_formats_are_those_that_there_are
    choices_that_cannot_be_meant_are_refused
    choices_of_rows_show_nobody_elses_scores
    progress_shows_no_more_than_the_board
    intervals_have_a_line_for_each_row
    own_submissions_have_scores_places_and_comparisons
}

/// The text of the cells of a table's rows, without intervals.
fn cells(page: &str) -> Vec<Vec<String>> {
    let table = page.split("<table id=\"board\">").nth(1).unwrap().split("</table>").next().unwrap();
    let text = |cell: &str| {
        let cell = cell.split_once('>').unwrap().1;
        let text = cell.split("<small>").next().unwrap().split("</").next().unwrap();
        text.rsplit('>').next().unwrap().to_owned()
    };
    table
        .split("<tr")
        .skip(1)
        .map(|row| row.replace("<th ", "<td ").split("<td").skip(1).map(text).collect())
        .collect()
}

/// The words of a cell.
fn without_links(cell: &str) -> String {
    let words = cell.split('<').map(|part| part.split_once('>').map_or(part, |(_, words)| words));
    words.collect()
}

/// The columns of a board and the methods of its rows, as each of its forms says.
async fn forms(client: &Client, choices: &str) -> [(Vec<String>, Vec<String>); 3] {
    let get = async |more: &str| client.get(&format!("/b/b/p/leaderboard?{choices}{more}")).await.expect(200);
    let board = get("&format=json").await.json();
    let texts = |list: &Value, key: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
    };
    for row in board["rows"].as_array().unwrap() {
        let keys: Vec<&String> = row["scores"].as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), board["measures"].as_array().unwrap().len(), "{row}");
    }
    let csv = get("&format=csv").await.text;
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let csv = (
        lines[0][4..lines[0].len() - 1].iter().map(|&key| key.to_owned()).collect(),
        lines[1..].iter().map(|line| line[3].to_owned()).collect(),
    );
    let page = get("").await.text;
    let labels = page.split("<table id=\"board\">").nth(1).unwrap().split("</thead>").next().unwrap();
    let labels = labels.split("<a href=").skip(1).map(|link| {
        let label = link.split("title=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let of_label = board["measures"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["label"].as_str().unwrap().replace('\'', "&#39;") == label);
        of_label.unwrap_or_else(|| panic!("{label}"))["key"].as_str().unwrap().to_owned()
    });
    let methods = page.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let methods = methods.split("<th class=\"name\"").skip(1).map(|cell| {
        let cell = cell.split("</th>").next().unwrap().split_once('>').unwrap().1;
        let (name, rest) = cell.split_once("<small>").unwrap();
        let rest = rest.split("</small>").next().unwrap().split(" ·").next().unwrap();
        match (without_links(name), without_links(rest)) {
            (name, _) if name == "People" => "human".to_owned(),
            (name, method) if method == "baseline" => name,
            (_, method) => method,
        }
    });
    let page = (labels.collect(), methods.collect());
    [(texts(&board["measures"], "key"), texts(&board["rows"], "method")), csv, page]
}

async fn every_form_of_a_board_obeys_the_same_choices(database: Database) {
    let site = Site::new(database).await;
    two_teams(&site).await;
    let anybody = site.anybody();
    let all = ["cider-d", "bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l"];
    for (choices, columns, methods) in [
        ("", &all[..], &["Nine", "Seven", "human", "Baseline"][..]),
        (
            "sort=bleu-2&column=rouge-l&column=bleu-4",
            &["bleu-2", "rouge-l", "bleu-4"],
            &["Nine", "Seven", "human", "Baseline"],
        ),
        ("column=cider-d&q=BAO", &["cider-d"], &["Nine", "human"]),
        ("column=all&q=base", &all, &["human", "Baseline"]),
        ("column=bleu-4&until=1999-12-31", &["cider-d", "bleu-4"], &["human"]),
        (
            "ref=c40&column=bleu-4&q=s&since=1999-12-31",
            &["cider-d", "bleu-4"],
            &["Seven", "human", "Baseline"],
        ),
    ] {
        for (form, (mut shown, mut rows)) in
            ["JSON", "CSV", "the page"].into_iter().zip(forms(&anybody, choices).await)
        {
            // Only who is shown matters here, and the measure that sorts.
            assert_eq!(shown[0], columns[0], "{form}: {choices}");
            shown.sort();
            rows.sort();
            let [mut columns, mut methods] = [columns.to_vec(), methods.to_vec()];
            columns.sort_unstable();
            methods.sort_unstable();
            assert_eq!(
                (shown, rows),
                (
                    columns.iter().map(|&key| key.to_owned()).collect(),
                    methods.iter().map(|&name| name.to_owned()).collect()
                ),
                "{form}: {choices}"
            );
        }
    }
    // Links on the page keep what was chosen.
    let page = anybody.get("/b/b/p/leaderboard?ref=c5&column=bleu-4&q=s").await.expect(200).text;
    for link in [
        "href=\"/b/b/p/leaderboard?ref=c40&#38;column=bleu-4&#38;q=s\"",
        "href=\"/b/b/p/leaderboard?ref=c5&#38;sort=bleu-4&#38;column=bleu-4&#38;q=s\"",
        "href=\"/b/b/p/leaderboard?ref=c5&#38;column=bleu-4&#38;q=s&#38;format=csv\"",
        "href=\"/b/b/p/leaderboard?ref=c5&#38;column=bleu-4\"",
        "<input type=\"hidden\" name=\"column\" value=\"bleu-4\">",
        "3 of 4 rows are shown.",
    ] {
        assert!(page.contains(link), "{link} is not in {page}");
    }
    // Intervals are those of the measure that sorts, unless all are asked for.
    let intervals = async |choices: &str| {
        let page = anybody.get(&format!("/b/b/p/leaderboard?{choices}")).await.expect(200).text;
        page.matches("<small>0.").count() + page.matches("<small>1.").count()
    };
    assert!(intervals("intervals=all").await > 2 * intervals("").await && intervals("").await > 0);
}

async fn hosts_choose_the_columns_that_visitors_see_first(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "board_columns = ['bleu-4']").await;
    let host = site.program("Root", Role::Admin, Scope::Host).await;
    let columns = async || {
        let board =
            site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
        let keys = board["measures"].as_array().unwrap().iter().map(|measure| measure["key"].clone());
        keys.collect::<Value>()
    };
    assert_eq!(columns().await, json!(["cider-d", "bleu-4"]));
    let path = format!("/api/v1/host/phases/{phase}/columns");
    let changed =
        host.post_json(&path, &json!({ "columns": ["rouge-l", "bleu-1"] })).await.expect(200).json();
    assert_eq!(changed["board_columns"], json!(["rouge-l", "bleu-1"]));
    assert_eq!(columns().await, json!(["cider-d", "rouge-l", "bleu-1"]));
    let wrong = json!({ "columns": ["rouge-l", "nonsense"] });
    let refused = host.post_json(&path, &wrong).await.expect(422).json();
    assert_eq!(refused["detail"], "The leaderboard has no column nonsense.");
    assert_eq!(columns().await, json!(["cider-d", "rouge-l", "bleu-1"]));
    let browser = site.person("Root", Role::Admin).await;
    let form = browser.get("/b/b/p/host").await.expect(200).text;
    let ticked = |page: &str| page.matches("name=\"columns\"").count() - page.matches("checked").count();
    assert_eq!(ticked(&form), 4, "{form}");
    browser.post("/b/b/p/host/columns", &[]).await.expect(303);
    assert_eq!(columns().await.as_array().unwrap().len(), 6);
}

/// Baselines take no points from teams; derived numbers have intervals and tests like every measure.
async fn a_rule_ranks_over_several_measures(database: Database) {
    const RULE: &str = "points(bleu-1, half), cider-d";
    let site = Site::new(database).await;
    let more = format!("derive = ['half = (bleu-1 + bleu-2) / 2']\nrank_by = '{RULE}'");
    let phase = benchmark(&site, &more).await;
    let leaderboard = format!("/api/v1/phases/{phase}/leaderboard");
    let anybody = site.anybody();
    for (name, skill) in [("Ada", 5), ("Bao", 9), ("Cai", 7), ("Dan", 4)] {
        let client = site.program(name, Role::Member, Scope::Submit).await;
        let path = format!("/api/v1/phases/{phase}/submissions?method={skill}");
        let request = Request::post(path).header("content-type", "application/json");
        client.send(request, results(40, skill)).await.expect(201);
    }
    site.work().await;
    let board = anybody.get(&leaderboard).await.expect(200).json();
    assert_eq!(board["sorted_by"], "points(bleu-1, half)");
    let rows = board["rows"].as_array().unwrap();
    let found: Vec<Value> = rows
        .iter()
        .filter(|row| row["kind"] != "human")
        .map(|row| json!([row["method"], row["rank"], row["scores"]["points(bleu-1, half)"]]))
        .collect();
    assert_eq!(
        json!(found),
        json!([["9", 1, 6.0], ["7", 2, 4.0], ["5", 3, 2.0], ["4", 4, 0.0], ["Baseline", null, 0.0]])
    );
    let best = &rows.iter().find(|row| row["method"] == "9").unwrap();
    let of = |key: &str| best["scores"][key].as_f64().unwrap();
    assert!((of("half") - (of("bleu-1") + of("bleu-2")) / 2.0).abs() < 2e-3, "{best}");
    assert!(best["intervals"]["half"].is_array() && best["intervals"]["points(bleu-1, half)"].is_null());
    // Marks are by the measure that ranks otherwise.
    assert!(rows.iter().any(|row| row["p_of_difference_from_row_above"].is_number()), "{board}");
    let by_half = anybody.get(&format!("{leaderboard}?sort=half")).await.expect(200).json();
    assert!(
        by_half["rows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["not_different_from_row_above"].is_boolean())
    );
    let page = anybody.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(page.contains("points(bleu-1, half)") && page.contains(">half</a>"), "{page}");
    assert!(anybody.get("/b/b").await.expect(200).text.contains(RULE));
    for path in ["/b/b/p/intervals", "/b/b/p/progress"] {
        assert!(anybody.get(path).await.expect(200).text.contains("CIDEr-D"), "{path}");
        anybody.get(&format!("{path}?sort=points%28bleu-1%2C+half%29")).await.expect(200);
        anybody.get(&format!("{path}?sort=points%28bleu-1%29")).await.expect(400);
    }
    // Who sees only rows of their own sees no ranks.
    site.app.store.execute("UPDATE phase SET board = 'own'", args![]).await.unwrap();
    let cai = site.program("Eve", Role::Member, Scope::Read).await;
    let own = cai.get(&leaderboard).await.expect(200).json();
    assert_eq!(own["sorted_by"], "cider-d");
    assert!(!own.to_string().contains("points("), "{own}");
}

/// A baseline that is better than all has the points that it would have beside them, and they have theirs.
async fn baselines_take_no_ranks_from_teams() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "rank_by = 'points(bleu-1)'").await;
    for (name, skill) in [("Ada", 1), ("Bao", 2)] {
        let client = site.program(name, Role::Member, Scope::Submit).await;
        let path = format!("/api/v1/phases/{phase}/submissions?method={skill}");
        let request = Request::post(path).header("content-type", "application/json");
        client.send(request, results(40, skill)).await.expect(201);
    }
    site.work().await;
    let board = site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    let found: Vec<Value> = board["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["kind"] != "human")
        .map(|row| json!([row["method"], row["rank"], row["scores"]["points(bleu-1)"]]))
        .collect();
    assert_eq!(json!(found), json!([["Baseline", null, 3.0], ["2", 1, 3.0], ["1", 2, 2.0]]));
}

/// Each group is scored as if its images were evaluated alone.
async fn a_board_has_the_scores_of_groups(database: Database) {
    let site = Site::new(database).await;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let mut grouped: Value = serde_json::from_str(&references(40, 5)).unwrap();
    for image in grouped["images"].as_array_mut().unwrap() {
        let id = image["id"].as_u64().unwrap();
        image["domain"] = if id < 10 { "in" } else { "out, near" }.into();
    }
    write("c5.json", grouped.to_string());
    let plan = |slug: &str, more: &str| {
        let plan = format!(
            "slug = '{slug}'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu', 'cider-d']\n{more}\n\
             [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n"
        );
        toml::from_str(&plan).unwrap()
    };
    let apply = async |plan| capeval_benchmarks::apply::apply(&site.app, &plan, folder.path(), None).await;
    apply(plan("b", "group_by = 'domain'\nboard_columns = ['bleu-4', 'cider-d@in']")).await.unwrap();
    // The same images alone.
    write("ids.txt", (0..10).map(|id| format!("{id}\n")).collect());
    let mut inside: Plan = plan("alone", "");
    inside.phases[0].references[0].images = Some("ids.txt".to_owned().into());
    apply(inside).await.unwrap();
    site.work().await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    for (slug, images) in [("b", 40), ("alone", 10)] {
        let sql = "SELECT phase.id FROM phase JOIN benchmark ON benchmark.id = phase.benchmark WHERE benchmark.slug = $1";
        let phase: String = site.app.store.fetch_one(sql, args![slug]).await.unwrap();
        let request = Request::post(format!("/api/v1/phases/{phase}/submissions?method=Seven"))
            .header("content-type", "application/json");
        ada.send(request, results(images, 7)).await.expect(201);
    }
    site.work().await;
    let anybody = site.anybody();
    let board = async |path: &str| {
        let board = anybody.get(&format!("/b/{path}&format=json")).await.expect(200).json();
        let rows = board["rows"].as_array().unwrap().clone();
        (board, rows.into_iter().find(|row| row["kind"] == "entry").unwrap())
    };
    let (whole, _) = board("b/p/leaderboard?").await;
    let keys = |board: &Value| -> Vec<String> {
        let keys =
            board["measures"].as_array().unwrap().iter().map(|measure| measure["key"].as_str().unwrap());
        keys.map(str::to_owned).collect()
    };
    assert_eq!(keys(&whole), ["cider-d", "bleu-4", "cider-d@in"]);
    let (of_group, row) = board("b/p/leaderboard?group=in").await;
    assert_eq!(keys(&of_group), ["cider-d@in", "bleu-4@in"]);
    let (_, own) = board("alone/p/leaderboard?").await;
    for key in ["cider-d", "bleu-4"] {
        assert_eq!(row["scores"][format!("{key}@in")], own["scores"][key], "{key}");
    }
    assert!(row["intervals"]["cider-d@in"].is_array(), "{row}");
    let page = anybody.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(page.contains("leaderboard?group=out%2C%20near\"") && page.contains("All images"), "{page}");
    let page = anybody.get("/b/b/p/leaderboard?group=out%2C+near").await.expect(200).text;
    assert!(page.contains("BLEU-4, out, near"), "{page}");
    let refused = anybody.get("/b/b/p/leaderboard?group=none").await.expect(400).text;
    assert!(refused.contains("the board has no group `none`"), "{refused}");
    // A column that is not there is a reason that hosts see.
    apply(plan("c", "group_by = 'domian'")).await.unwrap();
    site.work().await;
    let sql = "SELECT reason FROM reference_set WHERE state = 'failed'";
    let reason: String = site.app.store.fetch_one(sql, args![]).await.unwrap();
    assert!(reason.contains("domian") && reason.contains("domain"), "{reason}");
}

/// The verdicts are those of the whole board, so they name what is hidden.
async fn a_mark_names_the_row_above_that_is_not_shown() {
    let site = Site::new(Database::Sqlite).await;
    let (phase, ..) = two_teams(&site).await;
    let anybody = site.anybody();
    let board = async |choices: &str| {
        let path = format!("/api/v1/phases/{phase}/leaderboard?{choices}");
        anybody.get(&path).await.expect(200).json()
    };
    // As if no difference were clear.
    site.app.store.execute("UPDATE comparison SET p = 0.9", args![]).await.unwrap();
    let whole = board("").await;
    let rows = whole["rows"].as_array().unwrap();
    let place = rows.windows(2).position(|pair| pair[0]["kind"] == "entry" && pair[1]["kind"] == "entry");
    let [above, below] = [0, 1].map(|more| &rows[place.unwrap() + more]);
    assert_eq!(below["not_different_from_row_above"], true);
    assert_eq!(
        below["row_above"],
        json!({ "kind": "entry", "team": above["team"], "method": above["method"] })
    );
    let (team, method) = (below["team"].as_str().unwrap(), above["method"].as_str().unwrap());
    let some = board(&format!("q={team}")).await;
    let shown: Vec<&Value> =
        some["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == "entry").collect();
    assert_eq!(shown, [below], "a filter changed a verdict or a place");
    let page =
        async |choices: &str| anybody.get(&format!("/b/b/p/leaderboard?{choices}")).await.expect(200).text;
    let hidden = format!("≈ {} ({method}) (not shown)", above["team"].as_str().unwrap());
    let (whole, some) = (page("").await, page(&format!("q={team}")).await);
    assert!(whole.contains(">≈ row above</a>") && !whole.contains(&hidden), "{whole}");
    assert!(some.contains(&format!(">{hidden}</a>")) && !some.contains(">≈ row above"), "{some}");
    // The row of people between two systems.
    let scores = "SELECT standing.scores FROM standing WHERE submission = $1";
    let above_id = above["submission"].as_str().unwrap();
    let between: String = site.app.store.fetch_one(scores, args![above_id]).await.unwrap();
    let sql = "UPDATE standing SET scores = $1 WHERE submission IN (SELECT id FROM submission WHERE kind = 'human')";
    site.app.store.execute(sql, args![between]).await.unwrap();
    site.app.store.execute("UPDATE phase SET settled = settled + 1", args![]).await.unwrap();
    let whole = page("sort=cider-d").await;
    let named = format!("≈ {} ({method})</a>", above["team"].as_str().unwrap());
    let tied = [whole.contains(&named), whole.contains(">≈ row above</a>")];
    assert!(tied.contains(&true), "{whole}");
}

/// A phone would show thousands of rows as a page of 200,000 pixels.
async fn a_long_board_has_pages_of_rows() {
    let site = Site::new(Database::Sqlite).await;
    let (phase, ada, ..) = two_teams(&site).await;
    for n in 0..450 {
        let id = format!("baseline {n}");
        for sql in [
            "INSERT INTO submission (id, phase, kind, method, description, link, state, size, refunded, created_at) \
             SELECT $1, phase, 'baseline', $1, '', '', 'scored', 1, 0, 1 FROM submission LIMIT 1",
            "INSERT INTO standing (reference_set, submission, scores, is_past) \
             SELECT reference_set, $1, '{}', 0 FROM standing LIMIT 1",
        ] {
            site.app.store.execute(sql, args![&id]).await.unwrap();
        }
    }
    site.app.store.execute("UPDATE phase SET settled = settled + 1", args![]).await.unwrap();
    let board = ada.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    assert_eq!(board["rows"].as_array().unwrap().len(), 454);
    let page = async |path: &str| ada.get(path).await.expect(200).text;
    let rows = |text: &str| text.matches("<th class=\"name\" scope=\"row\">").count();
    let first = page("/b/b/p/leaderboard").await;
    assert_eq!(rows(&first), 200);
    assert!(first.contains("Rows 1 to 200 of 454") && !first.contains("Previous rows"), "{first}");
    let next = first.between("rel=\"next\" href=\"", "\"").replace("&#38;", "&");
    let second = page(&next).await;
    assert!(rows(&second) == 200 && second.contains("Rows 201 to 400 of 454"), "{second}");
    let last = page("/b/b/p/leaderboard?sort=bleu-1&page=3").await;
    assert!(rows(&last) == 54 && !last.contains("Next rows"), "{last}");
    assert!(last.contains("sort=bleu-1&#38;page=2"), "{last}");
    ada.get("/b/b/p/leaderboard?page=4").await.expect(404);
    for wrong in ["0", "-1", "x"] {
        ada.get(&format!("/b/b/p/leaderboard?page={wrong}")).await.expect(400);
    }
}

/// An unknown one is refused, in the form that was asked for.
async fn choices_of_formats_are_those_that_there_are() {
    let site = Site::new(Database::Sqlite).await;
    let (phase, ..) = two_teams(&site).await;
    let anybody = site.anybody();
    for path in [format!("/api/v1/phases/{phase}/leaderboard"), "/b/b/p/leaderboard".to_owned()] {
        for (format, status) in [("json", 200), ("csv", 200), ("xml", 400)] {
            let answer = anybody.get(&format!("{path}?format={format}")).await.expect(status);
            assert!(status == 200 || answer.text.contains("neither json nor csv"), "{}", answer.text);
        }
        let day = anybody.get(&format!("{path}?format=json&since=2026-02-30")).await.expect(400);
        assert_eq!(day.header("content-type"), "application/problem+json");
        assert!(day.json()["detail"].as_str().unwrap().contains("2026-02-30"), "{}", day.text);
    }
    let request = Request::get("/b/b/p/leaderboard?since=2026-02-30").header("accept", "application/json");
    assert_eq!(
        anybody.send(request, "").await.expect(400).header("content-type"),
        "application/problem+json"
    );
    let page = anybody.get("/b/b/p/leaderboard?since=2026-02-30").await.expect(400);
    assert!(page.header("content-type").starts_with("text/html"));
}

async fn choices_that_cannot_be_meant_are_refused() {
    let site = Site::new(Database::Sqlite).await;
    let (phase, ..) = two_teams(&site).await;
    let anybody = site.anybody();
    for (choices, words) in [
        ("since=soon", "since: `soon` is not a date such as 2026-11-22"),
        ("until=2026-02-30", "until: `2026-02-30` is not a date"),
        ("column=nonsense", "column: the board has no column `nonsense`"),
    ] {
        let refused =
            anybody.get(&format!("/api/v1/phases/{phase}/leaderboard?{choices}")).await.expect(400).json();
        assert!(refused["detail"].as_str().unwrap().contains(words), "{refused}");
        anybody.get(&format!("/b/b/p/leaderboard?{choices}")).await.expect(400);
    }
    let empty = anybody.get("/b/b/p/leaderboard?q=&since=&until=&sort=cider-d").await.expect(200).text;
    assert!(cells(&empty).len() == 5 && !empty.contains("rows are shown"), "{empty}");
}

/// No choice shows scores of others where each team sees its own only.
async fn choices_of_rows_show_nobody_elses_scores() {
    let site = Site::new(Database::Sqlite).await;
    let (phase, ada, ..) = two_teams(&site).await;
    site.app.store.execute("UPDATE phase SET board = 'own'", args![]).await.unwrap();
    for choices in ["", "q=Nine", "column=all&since=2000-01-01", "sort=bleu-1&q=Bao"] {
        let board =
            ada.get(&format!("/api/v1/phases/{phase}/leaderboard?{choices}")).await.expect(200).json();
        let rows = board["rows"].as_array().unwrap();
        assert!(
            rows.iter().all(|row| row["team"] == "Ada" && row["row_above"].is_null()),
            "{choices}: {board}"
        );
        assert_eq!(board["total_rows"], 1);
        assert!(!board.to_string().contains("Nine"), "{choices}: {board}");
    }
}

/// The methods of the points of a phase's progress, with whether each was a new best.
async fn points(client: &Client, phase: &str, choices: &str) -> Vec<(String, bool)> {
    let progress = client.get(&format!("/api/v1/phases/{phase}/progress?{choices}")).await.expect(200).json();
    let point =
        |point: &Value| (point["method"].as_str().unwrap().to_owned(), point["is_best"].as_bool().unwrap());
    progress["points"].as_array().unwrap().iter().map(point).collect()
}

fn named<const N: usize>(points: [(&str, bool); N]) -> Vec<(String, bool)> {
    points.map(|(method, is_best)| (method.to_owned(), is_best)).to_vec()
}

async fn progress_is_what_has_stood_on_the_board(database: Database) {
    let site = Site::new(database).await;
    let (phase, ada, bao, five) = two_teams(&site).await;
    let anybody = site.anybody();
    let all = [("Five", true), ("Seven", true), ("Six", false), ("Nine", true)];
    assert_eq!(points(&anybody, &phase, "").await, named(all));
    // What a team submits that is no better has never stood.
    let worse = format!("/api/v1/phases/{phase}/submissions?method=Two");
    bao.send(Request::post(worse), results(40, 2)).await.expect(201);
    site.work().await;
    assert_eq!(points(&anybody, &phase, "").await, named(all));
    assert_eq!(points(&anybody, &phase, "q=bao").await, named([("Six", true), ("Nine", true)]));
    assert_eq!(points(&anybody, &phase, "ref=c40&sort=bleu-1&since=2000-01-01").await.len(), 4);
    assert_eq!(points(&anybody, &phase, "until=2000-01-01").await, []);
    let page = anybody.get("/b/b/p/progress").await.expect(200).text;
    assert_eq!(page.matches("<circle class=\"marked").count(), 4, "{page}");
    assert!(page.contains("Bao (Nine): ") && page.matches("<td>new best</td>").count() == 3, "{page}");
    assert!(page.contains("aria-current=\"page\">Progress over time</a>"), "{page}");
    // A choice of the team stands alone; a removal leaves the rest.
    ada.post_json(&format!("/api/v1/submissions/{five}/pin"), &json!({})).await.expect(200);
    assert_eq!(points(&anybody, &phase, "").await, named([("Five", true), ("Six", true), ("Nine", true)]));
    let admin = site.program("Root", Role::Admin, Scope::Host).await;
    let removed = format!("/api/v1/submissions/{five}/disqualify");
    admin.post_json(&removed, &json!({ "reason": "x" })).await.expect(204);
    let left = [("Seven", true), ("Six", false), ("Nine", true)];
    assert_eq!(points(&anybody, &phase, "").await, named(left));
    let board = anybody.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    assert_eq!(board["rows"].as_array().unwrap().len(), 4, "what stood before stands on the board: {board}");
}

async fn progress_shows_no_more_than_the_board() {
    let site = Site::new(Database::Sqlite).await;
    let (phase, ada, ..) = two_teams(&site).await;
    let (anybody, store) = (site.anybody(), &site.app.store);
    let (api, page) = (format!("/api/v1/phases/{phase}/progress"), "/b/b/p/progress");
    store.execute("UPDATE phase SET board = 'hidden'", args![]).await.unwrap();
    for client in [&anybody, &ada] {
        client.get(&api).await.expect(404);
        for page in [page, "/b/b/p/intervals"] {
            let page = client.get(page).await.expect(200).text;
            assert!(
                page.contains("The scores of this phase are hidden.") && !page.contains("Nine"),
                "{page}"
            );
            assert!(!page.contains("<svg"), "{page}");
        }
    }
    store.execute("UPDATE phase SET board = 'own'", args![]).await.unwrap();
    site.app.recent.forget();
    anybody.get(&api).await.expect(404);
    assert_eq!(points(&ada, &phase, "").await, named([("Five", true), ("Seven", true)]));
    let own = site.person("Ada", Role::Member).await;
    for (page, shown) in [(page, "Seven"), ("/b/b/p/intervals", "class=\"forest ")] {
        let text = own.get(page).await.expect(200).text;
        assert!(text.contains(shown) && !text.contains("Nine") && !text.contains("Bao"), "{text}");
    }
}

async fn intervals_have_a_line_for_each_row() {
    let site = Site::new(Database::Sqlite).await;
    two_teams(&site).await;
    let anybody = site.anybody();
    let page = anybody.get("/b/b/p/intervals").await.expect(200).text;
    assert_eq!(page.matches("<g class=\"forest ").count(), 3, "{page}");
    assert!(
        page.contains("class=\"zero\"") && page.contains("The dashed line is the score of people."),
        "{page}"
    );
    let some = anybody.get("/b/b/p/intervals?q=nine&sort=bleu-1").await.expect(200).text;
    assert_eq!(some.matches("<g class=\"forest ").count(), 1, "{some}");
    assert!(some.contains("href=\"/b/b/p/leaderboard?sort=bleu-1&#38;q=nine\""), "{some}");
    let people = anybody.get("/b/b/p/intervals?q=people").await.expect(200).text;
    assert!(!people.contains("<svg") && people.contains("No submissions to show."), "{people}");
}

async fn own_submissions_have_scores_places_and_comparisons() {
    let site = Site::new(Database::Sqlite).await;
    two_teams(&site).await;
    let ada = site.person("Ada", Role::Member).await;
    let page = ada.get("/submissions").await.expect(200).text;
    let (place, score) = (page.matches("leaderboard#own\">").count(), page.matches("<strong>").count());
    assert!(place == 1 && score >= 1, "{page}");
    let compared = page.split("href=\"").find(|link| link.contains("/compare?entry=")).unwrap();
    let compared = compared.split('"').next().unwrap().replace("&amp;", "&");
    ada.get(&compared).await.expect(200);
    // A benchmark that is hidden takes nothing else away.
    site.app.store.execute("UPDATE benchmark SET visibility = 'hidden'", args![]).await.unwrap();
    assert!(!ada.get("/submissions").await.expect(200).text.contains("leaderboard#own"));
}

async fn boards_show_tags_and_the_columns_of_hosts(database: Database) {
    let site = Site::new(database).await;
    let columns = "columns = [{ key = 'parameters', label = 'Parameters', kind = 'number', unit = 'M' }, \
                   { key = 'data', label = 'External data', kind = 'yes-no' }]\nper_day = 9";
    let phase = benchmark(&site, columns).await;
    for (name, skill, said) in [
        ("Ada", 7, "tags=open,small&column.parameters=12&column.data=no"),
        ("Bao", 9, "tags=Open&column.data=yes"),
    ] {
        let person = site.program(name, Role::Member, Scope::Submit).await;
        let path = format!("/api/v1/phases/{phase}/submissions?method={name}s&{said}");
        person.send(Request::post(path), results(40, skill)).await.expect(201);
    }
    site.work().await;
    let anybody = site.anybody();
    let get =
        async |choices: &str| anybody.get(&format!("/b/b/p/leaderboard?{choices}")).await.expect(200).text;
    let methods = async |choices: &str| {
        let board: Value = serde_json::from_str(&get(&format!("{choices}&format=json")).await).unwrap();
        let rows = board["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == "entry");
        rows.map(|row| row["method"].clone()).collect::<Value>()
    };
    assert_eq!(methods("tag=open").await, json!(["Baos", "Adas"]));
    assert_eq!(methods("tag=SMALL").await, json!(["Adas"]));
    assert_eq!(methods("tag=open&tag=none").await, json!([]));
    let csv = get("column=data&tag=small&format=csv").await;
    assert!(csv.starts_with("rank,kind,team,method,cider-d,data,tags\r\n"), "{csv}");
    let row = csv.lines().find(|line| line.starts_with("2,entry,Ada,Adas,"));
    assert!(row.is_some_and(|row| row.ends_with(",no,open small")), "{csv}");
    let page = get("").await;
    for part in [
        "<th class=\"detail\" scope=\"col\">Parameters (M)</th>",
        "12 M</td>",
        "?tag=small\">small</a>",
        "<option>open</option>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = get("column=bleu-4&column=data&tag=small").await;
    assert!(!page.contains("12 M") && page.contains("<option selected>small</option>"), "{page}");
    let host = site.program("Root", Role::Admin, Scope::Host).await;
    let path = format!("/api/v1/host/phases/{phase}/columns");
    host.post_json(&path, &json!({ "columns": ["data"] })).await.expect(200);
    let board: Value = serde_json::from_str(&get("format=json").await).unwrap();
    assert_eq!((&board["columns"][0]["key"], &board["columns"][1]), (&json!("data"), &Value::Null));
    let rows = board["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == "entry");
    let told: Vec<&Value> = rows.map(|row| &row["columns"]).collect();
    assert_eq!(told, [&json!({ "data": true }), &json!({ "data": false })]);
}
