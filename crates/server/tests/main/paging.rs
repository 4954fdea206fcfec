//! Lists that grow: every row is on one page, whatever is added, and a late page costs what the first one does.

use std::collections::BTreeSet;

use capeval_benchmarks::announcements::records::ANNOUNCEMENTS;
use capeval_benchmarks::hosting::{ENTRIES, SUBMISSIONS};
use capeval_benchmarks::questions::records::{ANSWERS, QUESTIONS};
use capeval_benchmarks::submissions::{IN_PHASE, OF_PERSON};
use capeval_collections::contributions::changes;
use capeval_collections::import::records::IMPORTS;
use capeval_collections::moderation::queue;
use capeval_collections::ratings::gold_captions::KNOWN;
use capeval_collections::records::PICTURES;
use capeval_site::accounts::Role;
use capeval_site::accounts::people::{self, FOUND, NewAccount};
use capeval_site::store::Tx;
use capeval_site::testing::counting;
use capeval_site::web::Scope;
use capeval_site::{args, audit, columns, ids};
use serde_json::json;

use crate::benchmarks::benchmark;
use crate::support::collections::Collection;
use crate::support::{Client, Database, Site, on_both, on_sqlite};

on_both! {
    every_row_of_a_list_is_on_one_page
}

on_sqlite! {
    pages_of_lists_read_rows_in_the_order_of_an_index
}

/// More rows than a part of a list has for programs.
const MANY: usize = 510;

/// What the tests fill.
struct FilledSite {
    benchmark: String,
    phase: String,
    ada: String,
    team: String,
    /// A question that is pinned.
    question: String,
}

impl FilledSite {
    /// Adds one row to each list: a submission of Ada's team, a team of the phase, an account, an announcement, a
    /// question, an answer, a note. Returns what tells them from others.
    async fn add(&self, tx: &mut Tx) -> [String; 4] {
        let (submission_id, id) = (ids::new_id(), ids::new_id());
        let (name, now) = (ids::new_id(), 1_781_524_800_000_i64);
        let submission = "INSERT INTO submission (id, phase, team, account, kind, method, description, link, state, \
             size, refunded, created_at) VALUES ($1, $2, $3, $4, 'entry', 'm', '', '', 'scored', 1, 0, $5)";
        tx.execute(submission, args![&submission_id, &self.phase, &self.team, &self.ada, now]).await.unwrap();
        let team = "INSERT INTO team (id, name, created_by, created_at) VALUES ($1, $2, $3, $4)";
        tx.execute(team, args![&id, &name, &self.ada, now]).await.unwrap();
        let entry = "INSERT INTO entry (phase, team, created_at) VALUES ($1, $2, $3)";
        tx.execute(entry, args![&self.phase, &id, now]).await.unwrap();
        let email = format!("{name}@example.org");
        let new = NewAccount { email: &email, name: "Someone", password: "-".to_owned(), role: Role::Member };
        let account = people::add(tx, new).await.unwrap();
        let (place, subject) = (Some(self.benchmark.as_str()), self.benchmark.as_str());
        let announcement = columns! { id: ids::new_id(), benchmark: &self.benchmark, title: &name, text: "",
        is_mailed: false, created_at: now };
        tx.add_row("announcement", announcement).await.unwrap();
        let question = |id: &str, answers: Option<&str>| {
            columns! { id, benchmark: &self.benchmark, answers, account: &self.ada, title: &name, text: &name,
            is_host: false, created_at: now }
        };
        tx.add_row("question", question(&id, None)).await.unwrap();
        tx.add_row("question", question(&ids::new_id(), Some(&self.question))).await.unwrap();
        audit::note_in(tx, place, None, "test", subject, json!({ "name": name })).await.unwrap();
        [submission_id, id, account, name]
    }
}

async fn filled(site: &Site) -> FilledSite {
    let phase = benchmark(site, "per_day = 20").await;
    let store = &site.app.store;
    let ada = site.account("Ada", Role::Member).await;
    let team = ids::new_id();
    let mut tx = store.begin().await.unwrap();
    let sql = "INSERT INTO team (id, name, created_by, created_at) VALUES ($1, 'Ducks', $2, 0)";
    tx.execute(sql, args![&team, &ada]).await.unwrap();
    let sql = "INSERT INTO team_member (team, account, joined_at) VALUES ($1, $2, 0)";
    tx.execute(sql, args![&team, &ada]).await.unwrap();
    let sql = "INSERT INTO entry (phase, team, created_at) VALUES ($1, $2, 0)";
    tx.execute(sql, args![&phase, &team]).await.unwrap();
    let sql = "INSERT INTO entry_member (phase, account, team) VALUES ($1, $2, $3)";
    tx.execute(sql, args![&phase, &ada, &team]).await.unwrap();
    let question = ids::new_id();
    let sql = "INSERT INTO question (id, benchmark, account, title, text, is_host, pinned_at, created_at) \
               SELECT $1, id, $2, 'Pinned', 'Here?', 0, 1, 0 FROM benchmark";
    tx.execute(sql, args![&question, &ada]).await.unwrap();
    tx.commit().await.unwrap();
    let benchmark: String = store.fetch_one("SELECT id FROM benchmark", args![]).await.unwrap();
    FilledSite { benchmark, phase, ada, team, question }
}

/// The ids of a list for programs, part by part; `between` runs after the first.
async fn walk(
    client: &Client,
    path: &str,
    (list, id): (&str, &str),
    between: impl AsyncFnOnce(),
) -> Vec<String> {
    let (mut ids, mut statements) = (Vec::new(), BTreeSet::new());
    let (mut query, mut between) = (String::new(), Some(between));
    // The first request may note that the token was used.
    client.get(&format!("{path}?after=h")).await.expect(200);
    loop {
        let (answer, counted) = counting(client.get(&format!("{path}{query}"))).await;
        statements.insert(counted);
        let part = answer.expect(200).json();
        let rows = part[list].as_array().unwrap();
        assert!(!rows.is_empty() && rows.len() <= 500, "{path}: {} rows", rows.len());
        ids.extend(rows.iter().map(|row| row[id].to_string()));
        if let Some(between) = between.take() {
            between().await;
        }
        match part["next"].as_str() {
            Some(next) => query = format!("?after={next}"),
            None => break,
        }
    }
    assert_eq!(statements.len(), 1, "{path}: all parts take as many statements");
    ids
}

/// Visits the pages of a list, from the first to the last, and back again. A page may have several lists, each with a
/// name in its links; the text after the mark of a row tells it from others.
async fn walk_pages(client: &Client, path: &str, list: &str, mark: &str) {
    let rows = |page: &str| page.matches(mark).count();
    let at = |page: &str, rel: &str| {
        let mark = format!("rel=\"{rel}\" href=\"");
        let links = page.split(&mark).skip(1).filter_map(|rest| rest.split('"').next());
        let mut links = links.map(|link| link.replace("&#38;", "&"));
        let of_list = format!("?list={list}&");
        links.find(|link| if list.is_empty() { !link.contains("list=") } else { link.starts_with(&of_list) })
    };
    let visit = async |link: &str| {
        let address = if link.starts_with('/') { link.to_owned() } else { format!("{path}{link}") };
        client.get(address.split('#').next().unwrap()).await.expect(200).text
    };
    let (mut page, mut pages, mut different) = (visit("").await, Vec::new(), BTreeSet::new());
    loop {
        let texts = page.split(mark).skip(1);
        different.extend(texts.map(|text| text.chars().take(600).collect::<String>()));
        let Some(next) = at(&page, "next") else { break };
        let next = visit(&next).await;
        pages.push(std::mem::replace(&mut page, next));
    }
    let there = pages.iter().map(|page| rows(page)).sum::<usize>() + rows(&page);
    assert_eq!(different.len(), there, "{path} {list}: no row comes twice");
    assert!(there >= MANY && pages.len() >= 5, "{path} {list}: {there} rows, {} pages", pages.len());
    while let Some(before) = pages.pop() {
        let back = at(&page, "prev").unwrap_or_else(|| panic!("{path}: no way back"));
        page = visit(&back).await;
        assert_eq!(rows(&page), rows(&before), "{path}");
        let first =
            |page: &str| page.split_once(mark).map(|(_, rest)| rest.chars().take(300).collect::<String>());
        assert_eq!(first(&page), first(&before), "{path}: the page before begins as it did");
    }
    assert_eq!(at(&page, "prev"), None, "{path}: the first page is the first");
}

async fn every_row_of_a_list_is_on_one_page(database: Database) {
    let site = Site::new(database).await;
    let filled = filled(&site).await;
    let mut tx = site.app.store.begin().await.unwrap();
    let mut known = Vec::new();
    for _ in 0..MANY {
        known.push(filled.add(&mut tx).await);
    }
    tx.commit().await.unwrap();
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let phase = &filled.phase;
    let lists = [
        (&ada, format!("/api/v1/phases/{phase}/submissions"), ("submissions", "id"), 0),
        (&root, format!("/api/v1/host/phases/{phase}/submissions"), ("submissions", "id"), 0),
        (&root, format!("/api/v1/host/phases/{phase}/entries"), ("entries", "team"), 1),
        (&root, "/api/v1/accounts".to_owned(), ("accounts", "id"), 2),
        (&root, "/api/v1/host/benchmarks/b/audit".to_owned(), ("notes", "detail"), 3),
        (&ada, "/api/v1/benchmarks/b/announcements".to_owned(), ("announcements", "title"), 3),
        (&ada, "/api/v1/benchmarks/b/questions".to_owned(), ("questions", "id"), 1),
        (&ada, format!("/api/v1/benchmarks/b/questions/{}", filled.question), ("answers", "text"), 3),
    ];
    for (client, path, names, kind) in &lists {
        let added = async || {
            let mut tx = site.app.store.begin().await.unwrap();
            filled.add(&mut tx).await;
            tx.commit().await.unwrap();
        };
        let found = walk(client, path, *names, added).await;
        let different: BTreeSet<&String> = found.iter().collect();
        assert_eq!(different.len(), found.len(), "{path}: no row comes twice");
        let found = found.join(" ");
        for row in &known {
            assert!(found.contains(&row[*kind]), "{path}: {} is missing", row[*kind]);
        }
    }
    let (person, host) = (site.person("Ada", Role::Member).await, site.person("Root", Role::Admin).await);
    walk_pages(&person, "/submissions", "", "<tr><th class=\"name\" scope=\"row\"><a href=\"/submissions/")
        .await;
    walk_pages(&host, "/b/b/p/host", "", "<tr><th scope=\"row\"><a href=\"/submissions/").await;
    walk_pages(&host, "/b/b/audit", "", "<tr><td>").await;
    walk_pages(&host, "/admin/audit", "", "<tr><td>").await;
    walk_pages(&host, "/admin/accounts", "", "<tr><th scope=\"row\">").await;
    walk_pages(&host, "/b/b/p/host", "teams", "<option value=\"0").await;
    walk_pages(&host, "/b/b/announcements", "", "<article class=\"card\">\n<h2>").await;
    walk_pages(&person, "/b/b/questions", "", "<h2><a href=\"/b/b/questions/0").await;
    let thread = format!("/b/b/questions/{}", filled.question);
    walk_pages(&person, &thread, "", "<article class=\"card\">").await;
    fill_collection(&site, &filled.ada).await;
    walk_pages(&person, "/c/c/mine", "images", "action=\"/c/c/mine/images/").await;
    walk_pages(&person, "/c/c/mine", "captions", "<tr><td class=\"wrap\"").await;
    walk_pages(&person, "/c/c/mine", "drafts", "caption?next=").await;
    walk_pages(&host, "/c/c/moderate", "images", "action=\"/c/c/moderate/images/").await;
    walk_pages(&host, "/c/c/moderate", "captions", "action=\"/c/c/moderate/captions/").await;
    walk_pages(&host, "/c/c/moderate", "requests", "action=\"/c/c/moderate/reports/").await;
    walk_pages(&host, "/c/c/imports", "", "action=\"/c/c/imports/").await;
    walk_pages(&host, "/c/c/gold", "", "action=\"/c/c/gold/").await;
}

/// Adds many rows to each list of a collection. A tenth of what waits for a moderator was reported, by two people.
async fn fill_collection(site: &Site, ada: &str) {
    let collection = Collection::new(site, "c", 5, ada).await.id;
    let reporters = [site.account("Bao", Role::Member).await, site.account("Mo", Role::Member).await];
    let mut tx = site.app.store.begin().await.unwrap();
    for k in 0..MANY {
        let (id, caption, text) = (ids::new_id(), ids::new_id(), format!("caption {k}"));
        let (image_state, caption_state) =
            if k % 10 == 0 { ("open", "accepted") } else { ("pending", "split") };
        let image = columns! { id: &id, collection: &collection, uploader: ada, licence: "CC0-1.0", game: "",
        platform: "", source_hash: &id, split_group: "", state: image_state, shuffle: 0_i64, created_at: 0_i64 };
        tx.add_row("image", image).await.unwrap();
        let row = columns! { id: &caption, collection: &collection, image: &id, author: ada, language: "en",
        script: "", text: &text, text_norm: &text, characters: 9_i64, words: 2_i64, warnings: "[]",
        state: caption_state, ratings: 0_i64, ratings_wanted: 2_i64, shuffle: 0_i64, created_at: 0_i64,
        changed_at: 0_i64 };
        tx.add_row("caption", row).await.unwrap();
        let draft = columns! { image: &id, account: ada, text: &text, changed_at: 0_i64 };
        tx.add_row("draft", draft).await.unwrap();
        let report = |kind: &str, subject: &str, reporter: Option<&str>| {
            columns! { id: ids::new_id(),
            collection: &collection, kind: kind, subject: subject, reporter: reporter, reason: "copyright",
            note: "", contact: "", state: "open", created_at: 0_i64 }
        };
        tx.add_row("report", report("takedown", "a picture", None)).await.unwrap();
        for reporter in reporters.iter().filter(|_| k % 10 == 0) {
            tx.add_row("report", report("image", &id, Some(reporter))).await.unwrap();
            tx.add_row("report", report("caption", &caption, Some(reporter))).await.unwrap();
        }
        let gold = columns! { id: ids::new_id(), collection: &collection, image: &id, language: "en", text: &text,
        grade: 1_i64, created_at: 0_i64 };
        tx.add_row("gold", gold).await.unwrap();
        let import = columns! { id: ids::new_id(), collection: &collection, name: &text, licence: "CC0-1.0",
        attribution: "", state: "done", left_out: "[]", created_at: 0_i64 };
        tx.add_row("import", import).await.unwrap();
    }
    tx.commit().await.unwrap();
}

/// No page sorts rows that it does not show, or reads those of other pages.
async fn pages_of_lists_read_rows_in_the_order_of_an_index() {
    let site = Site::new(Database::Sqlite).await;
    let lists = [
        ("submissions of a phase", SUBMISSIONS, "submission_newest"),
        ("submissions of a team", IN_PHASE, "submission_of_team"),
        ("submissions of a person", OF_PERSON, "submission_of_team"),
        ("teams of a phase", ENTRIES, "sqlite_autoindex_entry_1"),
        ("accounts", FOUND, "sqlite_autoindex_account_1"),
        ("notes", audit::ALL, "sqlite_autoindex_audit_1"),
        ("notes on a subject", audit::OF_SUBJECT, "audit_newest"),
        ("notes of a benchmark", audit::OF_PLACE, "audit_place"),
        ("announcements", ANNOUNCEMENTS, "announcement_benchmark"),
        ("questions", QUESTIONS, "question_newest"),
        ("answers", ANSWERS, "question_answers"),
        ("pictures", PICTURES, "image"),
        ("pictures of a person", changes::IMAGES, "image_uploader"),
        ("captions of a person", changes::CAPTIONS, "caption_author"),
        ("drafts of a person", changes::DRAFTS, "draft_account"),
        ("pictures that wait", queue::IMAGES, "image_waits"),
        ("captions that wait", queue::CAPTIONS, "caption_waits"),
        ("requests that wait", queue::REQUESTS, "report_request"),
        ("imports", IMPORTS, "import_collection"),
        ("captions with a known grade", KNOWN, "gold_collection"),
    ];
    for (name, list, index) in lists {
        for sql in [list.onward, list.back] {
            let plan: &'static str = Box::leak(format!("EXPLAIN QUERY PLAN {sql}").into_boxed_str());
            let rows = site.app.store.all(plan, args!["", 1_i64]).await.unwrap();
            let steps: Vec<String> = rows.iter().map(|row| row.get("detail").unwrap()).collect();
            let plan = steps.join("\n");
            assert!(plan.contains(index) && !plan.contains("SCAN"), "{name}\n{plan}");
            // A person's list has the newest rows of each of their teams.
            let is_sorted = plan.contains("TEMP B-TREE");
            assert!(!is_sorted || plan.contains("SEARCH team_member"), "{name}\n{plan}");
        }
    }
}
