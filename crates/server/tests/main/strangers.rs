//! Every route that names a thing, asked by people to whom the thing does not belong.
//!
//! All things exist: a benchmark with a phase, submissions, webhooks and judges, a collection with pictures, captions,
//! reports and a release, teams, tokens and accounts. What a stranger is told follows from the table of routes.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{Method, Request};
use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::feature::routes;
use capeval_site::web::{Access, Route, Scope, Slug};
use capeval_site::{args, ids};
use serde_json::{Value, json};

use crate::benchmarks::{benchmark, results};
use crate::collections::{self, GOOD, captioner, form, moderator, png, sentence, upload};
use crate::support::collections::Collection;
use crate::support::{Answer, Client, Database, Page as _, Site, dump, on_sqlite};

on_sqlite! {
    hidden_things_stay_hidden
    strangers_change_nothing_of_others
    the_requests_of_strangers_are_answered_to_owners
    own_things_do_not_lead_to_those_of_others
}

/// A person with a browser and a token that allows everything they may do.
pub struct Person {
    pub name: &'static str,
    id: String,
    pub browser: Client,
    pub program: Client,
}

impl Person {
    async fn new(site: &Site, name: &'static str, role: Role) -> Self {
        let browser = site.person(name, role).await;
        let program = site.program(name, role, Scope::Host).await;
        let me = program.get("/api/v1/me").await.expect(200).json();
        Self { name, id: me["id"].as_str().unwrap().to_owned(), browser, program }
    }

    /// The one that a path is for.
    pub fn client(&self, path: &str) -> &Client {
        if path.starts_with("/api/") { &self.program } else { &self.browser }
    }
}

/// A site with things of others.
pub struct World {
    pub site: Site,
    /// The values of the variable parts of paths, by the part before them and their name.
    parts: BTreeMap<(&'static str, &'static str), String>,
    pub owners: Vec<Person>,
    pub strangers: Vec<Person>,
    /// The ids of strangers and of their own things.
    own: Vec<String>,
}

/// The id of the only row, or of the first one.
async fn id(site: &Site, sql: &'static str) -> String {
    site.app.store.first(sql, args![]).await.unwrap().unwrap_or_else(|| panic!("{sql}")).get("id").unwrap()
}

impl World {
    pub async fn new(database: Database) -> Self {
        let site = Site::new(database).await;
        let mut parts = BTreeMap::new();
        let phase = benchmark(&site, "per_image = 'explained'").await;
        let hanna = Person::new(&site, "Hanna", Role::Host).await;
        let root = Person::new(&site, "Root", Role::Admin).await;
        let ada = Person::new(&site, "Ada", Role::Member).await;
        let jude = Person::new(&site, "Jude", Role::Member).await;
        let store = &site.app.store;
        let host = "INSERT INTO benchmark_host (benchmark, account) SELECT benchmark.id, $1 FROM benchmark";
        store.execute(host, args![&hanna.id]).await.unwrap();

        // A team with a submission, an invitation, and a judge.
        ada.browser.post("/teams", &[("name", "Ours")]).await.expect(303);
        let team = id(&site, "SELECT id FROM team").await;
        let link = ada.browser.post(&format!("/teams/{team}/invite"), &[]).await.expect(200).text;
        let submit = format!("/api/v1/phases/{phase}/submissions?method=m&team={team}");
        let made = ada.program.send(Request::post(submit), results(40, 5)).await.expect(201).json();
        site.work().await;
        let judging = [
            ("images", "10"),
            ("wanted", "1"),
            ("pictures", "https://pictures.example.org/{id}.jpg"),
            ("judges", "jude@example.org"),
        ];
        hanna.browser.post("/b/b/p/host/judging", &judging).await.expect(303);
        let images = format!("/api/v1/submissions/{}/images", made["id"].as_str().unwrap());
        ada.program.post_json(&images, &json!({})).await.expect(200);
        let sample = format!("/api/v1/host/phases/{phase}/dry-run");
        hanna.program.send(Request::post(sample), results(40, 5)).await.expect(201);
        site.work().await;

        // A collection with a release, a picture and a caption that wait, a report and a known caption.
        let plan = json!({ "captions": 1, "approvals": 9, "hosts": ["hanna@example.org"] });
        collections::apply(&site, plan).await;
        let mo = Person {
            name: "Mo",
            id: id(&site, "SELECT id FROM account WHERE name = 'Mo'").await,
            browser: moderator(&site).await,
            program: site.program("Mo", Role::Member, Scope::Host).await,
        };
        let (una, cam) =
            (Person::new(&site, "Una", Role::Member).await, Person::new(&site, "Cam", Role::Member).await);
        captioner(&site, "Cam").await;
        let screens = Collection { id: id(&site, "SELECT id FROM collection").await, slug: "c".to_owned() };
        for k in 0..6 {
            let image = screens.picture(&site, &una.id, &format!("Game {k}"), k).await;
            let fields = [("image", image.as_str()), ("language", "en"), ("text", &sentence(k as usize))];
            cam.browser.get(&format!("/c/c/caption?next={image}")).await.expect(200);
            cam.browser.post("/c/c/caption", &fields).await.expect(303);
            if k < 5 {
                let written = id(&site, "SELECT id FROM caption WHERE state = 'submitted'").await;
                collections::decide(&site, &written, "submitted", "accepted").await;
            }
        }
        let release = [("val", "20"), ("test", "20"), ("withheld", "test")];
        hanna.browser.post("/c/c/releases", &release).await.expect(303);
        upload(&una.browser, &[("a.png", png(1))]).await.expect(303);
        site.work().await;
        let caption = id(&site, "SELECT id FROM caption WHERE state = 'submitted'").await;
        let wish = [("what", "the first one"), ("why", "My chat is on it"), ("contact", "me@example.org")];
        site.anybody().post("/c/c/takedown", &wish).await.expect(200);
        let gold = "INSERT INTO gold (id, collection, image, language, text, grade, created_at) \
                    SELECT $1, collection, id, 'en', 'known', 4, 0 FROM image LIMIT 1";
        store.execute(gold, args![ids::new_id()]).await.unwrap();

        let kit = "INSERT INTO phase_file (phase, name, title, position, blob, size, created_at) \
                   SELECT $1, 'kit.txt', 'Kit', 0, $2, 3, 0";
        let blob = site.app.blobs.put(&b"kit"[..]).unwrap();
        store.execute(kit, args![&phase, &blob]).await.unwrap();
        let strangers = strangers(&site).await;
        let mut own: Vec<String> = strangers.iter().map(|person| person.id.clone()).collect();
        own.extend(["\"b2\"".to_owned(), "\"p2\"".to_owned()]);
        own.push(id(&site, "SELECT id FROM collection WHERE slug = 'c2'").await);
        // The last thing, since it would be told about submissions.
        let hook = [("url", "https://hooks.example.org/x")];
        hanna.browser.post("/b/b/webhooks", &hook).await.expect(200);

        let mut part = |before: &'static str, name: &'static str, value: String| {
            parts.insert((before, name), value);
        };
        part("b", "slug", "b".to_owned());
        part("benchmarks", "slug", "b".to_owned());
        part("b", "phase", "p".to_owned());
        part("c", "slug", "c".to_owned());
        part("collections", "slug", "c".to_owned());
        part("phases", "id", phase);
        part("submissions", "id", made["id"].as_str().unwrap().to_owned());
        part("entries", "submission", made["id"].as_str().unwrap().to_owned());
        part("teams", "id", team);
        part("join", "secret", link.link().rsplit('/').next().unwrap().to_owned());
        for (before, email) in [("reset", None), ("address", Some("ada2@example.org"))] {
            let sql = "INSERT INTO account_link (hash, account, email, created_at, expires_at) \
                       VALUES ($1, $2, $3, 0, 9007199254740991)";
            site.app.store.execute(sql, args![ids::digest(before), &ada.id, email]).await.unwrap();
            part(before, "secret", before.to_owned());
        }
        let news = [("title", "News"), ("text", "The deadline has moved.")];
        hanna.browser.post("/b/b/announcements", &news).await.expect(303);
        part("announcements", "id", id(&site, "SELECT id FROM announcement").await);
        una.browser.post("/teams/requests", &[("team", "Ours"), ("message", "May I?")]).await.expect(303);
        let request = id(&site, "SELECT id FROM team_request").await;
        for (before, name) in [("requests", "request"), ("requests", "id"), ("team-requests", "id")] {
            part(before, name, request.clone());
        }
        let logo = "UPDATE benchmark SET logo_hash = $1, pages = \
                    '[{\"slug\": \"prizes\", \"title\": \"Prizes\", \"text\": \"Much.\"}]' WHERE slug = 'b'";
        site.app.store.execute(logo, args![&blob]).await.unwrap();
        part("pages", "page", "prizes".to_owned());
        let question = [("title", "How many?"), ("text", "How many captions does an image get?")];
        ada.browser.post("/b/b/questions", &question).await.expect(303);
        part("questions", "question", id(&site, "SELECT id FROM question").await);
        let choice = "INSERT INTO mail_choice (account, secret) VALUES ($1, 'unsubscribe')";
        site.app.store.execute(choice, args![&ada.id]).await.unwrap();
        let identity = "INSERT INTO identity (id, issuer, subject, account, created_at) \
                        VALUES ('identity', 'https://accounts.example.org', 'ada', $1, 0)";
        site.app.store.execute(identity, args![&ada.id]).await.unwrap();
        part("identities", "id", "identity".to_owned());
        part("unsubscribe", "secret", "unsubscribe".to_owned());
        part("webhooks", "id", id(&site, "SELECT id FROM webhook").await);
        part("accounts", "id", ada.id.clone());
        let token = "SELECT api_token.id FROM api_token JOIN account ON account.id = api_token.account \
                     WHERE account.name = 'Ada' ORDER BY api_token.id DESC";
        site.program("Ada", Role::Member, Scope::Read).await;
        part("tokens", "id", id(&site, token).await);
        let image = id(&site, "SELECT id FROM image WHERE state = 'pending'").await;
        for before in ["media", "pictures", "images"] {
            part(before, "id", image.clone());
        }
        part("captions", "id", caption.clone());
        part("reports", "id", id(&site, "SELECT id FROM report").await);
        part("gold", "id", id(&site, "SELECT id FROM gold").await);
        part("files", "name", "kit.txt".to_owned());
        part("releases", "number", "1".to_owned());
        part("releases", "name", "c-1.zip".to_owned());

        Self { site, parts, owners: vec![hanna, mo, ada, una, cam, jude, root], strangers, own }
    }

    /// The path of a route to the things of others; `None` if it names none of them.
    pub fn path(&self, route: &Route) -> Option<String> {
        let mut before = "";
        let mut filled = Vec::new();
        for part in route.path.split('/') {
            let Some(name) = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) else {
                before = part;
                filled.push(part.to_owned());
                continue;
            };
            let known = self.parts.iter().find(|((stands, known), _)| *stands == before && *known == name);
            filled.push(known?.1.clone());
        }
        route.path.contains('{').then(|| filled.join("/"))
    }

    /// Sends what a route takes, with fields that name things of others where it asks for some.
    async fn ask(&self, who: &Client, route: &Route, path: &str) -> Answer {
        let is_for_programs = path.starts_with("/api/");
        let request = Request::builder().method(route.method.clone());
        if route.method == Method::GET {
            return who.send(request.uri(path), Body::empty()).await;
        }
        let fields = self.fields(route.path);
        if route.is_upload && !path.contains("/submissions") && !path.contains("/validate") {
            let mut fields: Vec<(&str, &str)> = fields
                .iter()
                .filter_map(|(name, value)| Some((*name, value.as_str()?)))
                .chain(GOOD)
                .collect();
            let mut files = vec![("file", png(7))];
            loop {
                let (kind, body) = form(&fields, &files);
                let request = Request::builder().method(route.method.clone()).uri(path);
                let answer = who.send(request.header("content-type", kind), body).await;
                let Some(unknown) = unknown_fields(&answer) else { return answer };
                let n_sent = fields.len() + files.len();
                fields.retain(|(name, _)| !unknown.iter().any(|known| known == name));
                // All files come in the field `files`.
                files.retain(|_| !unknown.iter().any(|known| known == "files"));
                assert!(fields.len() + files.len() < n_sent, "{path}: {unknown:?}");
            }
        }
        if route.is_upload {
            let path = format!("{path}?method=other");
            return who.send(request.uri(path), results(40, 6)).await;
        }
        if is_for_programs {
            let mut body: serde_json::Map<String, Value> =
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            loop {
                let request = Request::builder().method(route.method.clone()).uri(path);
                let request = request.header("content-type", "application/json");
                let answer = who.send(request, Value::from(body.clone()).to_string()).await;
                let Some(unknown) = unknown_fields(&answer) else { return answer };
                // What the route does not take is named to everyone.
                for name in &unknown {
                    assert!(body.remove(name).is_some(), "{path}: {name}");
                }
            }
        }
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let pairs: Vec<(&str, String)> = fields.iter().map(|(name, value)| (*name, text(value))).collect();
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        who.post(path, &pairs).await
    }

    /// All fields of all forms at once: a form takes what it knows, and a program is told what to leave out.
    fn fields(&self, path: &str) -> Vec<(&'static str, Value)> {
        // The settings of a collection take no other fields.
        if path == "/c/{slug}/settings" {
            return vec![("title", "".into())];
        }
        if path.starts_with("/b/{slug}/settings") {
            return vec![("slug", "b".into()), ("title", "".into())];
        }
        if path.ends_with("/new-phase") {
            return vec![("slug", "other".into()), ("title", "Other".into())];
        }
        let of = |before: &'static str, name: &'static str| Value::from(self.parts[&(before, name)].clone());
        let action = match path {
            path if path.contains("/mine/") => "withdraw",
            path if path.contains("/reports/") => "refuse",
            path if path.contains("/questions/") => "pin",
            _ => "approve",
        };
        vec![
            ("action", action.into()),
            ("benchmark", "new".into()),
            ("board", "public".into()),
            ("detail", 3.into()),
            ("extra", 1.into()),
            ("frozen", true.into()),
            ("grade", 4.into()),
            ("image", of("images", "id")),
            ("images", 5.into()),
            ("in_total", 9.into()),
            ("is_machine", false.into()),
            ("item", of("captions", "id")),
            ("judges", "".into()),
            ("kind", "caption".into()),
            ("language", "en".into()),
            ("method", "other".into()),
            ("name", "Other".into()),
            ("note", "".into()),
            ("per_day", 9.into()),
            ("pictures", "https://pictures.example.org/{id}.jpg".into()),
            ("reason", if path.contains("/skip") { "unclear" } else { "offensive" }.into()),
            ("role", "member".into()),
            ("scope", "read".into()),
            ("show", "1".into()),
            ("subject", of("captions", "id")),
            ("team", of("teams", "id")),
            ("test", 20.into()),
            ("text", sentence(99).into()),
            ("title", "News".into()),
            ("total", false.into()),
            ("url", "https://hooks.example.org/y".into()),
            ("val", 20.into()),
            ("wanted", 1.into()),
            ("withheld", "test".into()),
        ]
    }

    /// The routes that name things of others, with their paths; those that end something come last.
    fn routes(&self) -> Vec<(String, Route)> {
        let with_path = |route: Route| Some((self.path(&route)?, route));
        let mut routes: Vec<(String, Route)> = routes(FEATURES).into_iter().filter_map(with_path).collect();
        routes.sort_by_key(|(_, route)| (route.method != Method::GET, is_an_end(route)));
        assert!(routes.len() > 100, "{}", routes.len());
        routes
    }

    /// The rows of others.
    async fn rows_of_others(&self) -> Vec<String> {
        let text = dump(&self.site).await;
        let rows = text.lines().filter(|line| !self.own.iter().any(|id| line.contains(id.as_str())));
        rows.map(str::to_owned).collect()
    }
}

/// People to whom nothing of all that belongs; the last one has been disabled.
async fn strangers(site: &Site) -> Vec<Person> {
    let store = &site.app.store;
    let sam = Person::new(site, "Sam", Role::Member).await;
    // A member of another team in the same phase.
    let tom = Person::new(site, "Tom", Role::Member).await;
    tom.browser.post("/teams", &[("name", "Theirs")]).await.expect(303);
    let phase = id(site, "SELECT id FROM phase").await;
    let submit = format!("/api/v1/phases/{phase}/submissions?method=theirs");
    tom.program.send(Request::post(submit), results(40, 7)).await.expect(201);
    // A host of another benchmark and of another collection, and its moderator.
    let (otto, mia) =
        (Person::new(site, "Otto", Role::Host).await, Person::new(site, "Mia", Role::Member).await);
    let other = "INSERT INTO benchmark (id, slug, title, summary, rules, visibility, created_at) \
                 VALUES ('b2', 'b2', 'Other', '', '', 'public', 1)";
    store.execute(other, args![]).await.unwrap();
    let other = "INSERT INTO benchmark_host (benchmark, account) VALUES ('b2', $1)";
    store.execute(other, args![&otto.id]).await.unwrap();
    let other = "INSERT INTO phase (id, benchmark, slug, title, position, per_day, in_total, board, decimals, metrics, \
                 main_set, main_metric, human, created_at) SELECT 'p2', 'b2', slug, title, position, per_day, in_total, \
                 board, decimals, metrics, main_set, main_metric, human, created_at FROM phase WHERE benchmark <> 'b2'";
    store.execute(other, args![]).await.unwrap();
    let plan = json!({
        "slug": "c2", "title": "Other", "hosts": ["otto@example.org"], "moderators": ["mia@example.org"]
    });
    let plan = serde_json::from_value(plan).unwrap();
    capeval_collections::settings::apply(&site.app, &plan, Slug::UnusedOrOwn, None).await.unwrap();
    let dora = Person::new(site, "Dora", Role::Admin).await;
    site.work().await;
    store.execute("UPDATE account SET disabled_at = 1 WHERE id = $1", args![&dora.id]).await.unwrap();
    vec![sam, tom, otto, mia, dora]
}

/// Returns true if an answer only refuses: it does not say what there is, nor that there is something.
fn is_refused(answer: &Answer) -> bool {
    match answer.status.as_u16() {
        401 | 404 => true,
        303 => answer.header("location").starts_with("/sign-in?to="),
        _ => false,
    }
}

/// Returns true if only those may use a route to whom the thing belongs, even if everyone sees the benchmark or
/// collection.
fn is_for_owners(route: &Route) -> bool {
    // These belong to staff and to judges although their rows of the table say that any person may use them.
    const OF_STAFF: [(&str, &str); 2] = [("GET", "/c/{slug}/moderate"), ("POST", "/c/{slug}/agreement")];
    let names_a_thing = route.path.contains("{id}") && !route.path.starts_with("/api/v1/phases/{id}");
    matches!(route.access, Access::Host | Access::Admin)
        || names_a_thing
        || route.path.ends_with("/judge")
        || route.path.ends_with("/{number}/{name}")
        || OF_STAFF.contains(&(route.method.as_str(), route.path))
}

/// 1 if the request ends something, and 2 if nothing is left of it that another request could name.
fn is_an_end(route: &Route) -> u8 {
    let is_end = ["/leave", "/cancel", "/retire", "/close"].iter().any(|end| route.path.ends_with(end));
    let removes = ["/remove", "/role"].iter().any(|end| route.path.ends_with(end));
    match route.method == Method::DELETE || removes {
        true => 2,
        false => u8::from(is_end || route.path.contains("/mine/")),
    }
}

/// A link is for those who have it.
fn is_a_link(route: &Route) -> bool {
    route.path.contains("{secret}")
}

async fn hidden_things_stay_hidden() {
    let world = World::new(Database::Sqlite).await;
    for sql in ["UPDATE benchmark SET visibility = 'hidden'", "UPDATE collection SET visibility = 'hidden'"] {
        world.site.app.store.execute(sql, args![]).await.unwrap();
    }
    refused_to_strangers(&world, |route| !is_a_link(route)).await;
}

/// Sends the requests that `is_meant` picks, for everyone who has nothing to do with what they name. All are refused,
/// and change nothing.
async fn refused_to_strangers(world: &World, is_meant: impl Fn(&Route) -> bool) {
    let before = world.rows_of_others().await;
    let anybody = world.site.anybody();
    let mut told = Vec::new();
    for (path, route) in world.routes().into_iter().filter(|(_, route)| is_meant(route)) {
        let anonymous = std::iter::once(("anybody", &anybody));
        let all = world.strangers.iter().map(|person| (person.name, person.client(&path)));
        for (name, client) in anonymous.chain(all) {
            let answer = world.ask(client, &route, &path).await;
            if !is_refused(&answer) {
                told.push(format!(
                    "{} {} tells {name} {} {}",
                    route.method, route.path, answer.status, answer.text
                ));
            }
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert_eq!(changes(&before, &world.rows_of_others().await), Vec::<&String>::new());
}

async fn strangers_change_nothing_of_others() {
    let world = World::new(Database::Sqlite).await;
    refused_to_strangers(&world, is_for_owners).await;
}

/// The fields that a refusal names, if it is about such.
fn unknown_fields(answer: &Answer) -> Option<Vec<String>> {
    if answer.status != 400 {
        return None;
    }
    // A page names the first one.
    if let Some((_, named)) = answer.text.split_once("unknown field `") {
        return Some(vec![named.split_once('`')?.0.to_owned()]);
    }
    let problem: Value = serde_json::from_str(&answer.text).ok()?;
    let detail = problem["detail"].as_str().filter(|_| problem["code"] == "unknown-fields")?.to_owned();
    Some(detail.split_once(": ")?.1.split(", ").map(str::to_owned).collect())
}

/// They name what there is, and say what the routes ask for.
async fn the_requests_of_strangers_are_answered_to_owners() {
    let mut world = World::new(Database::Sqlite).await;
    let mut lost = Vec::new();
    for (_, route) in world.routes().into_iter().filter(|(_, route)| !is_a_link(route)) {
        if is_an_end(&route) == 2 {
            world = World::new(Database::Sqlite).await;
        }
        let path = world.path(&route).unwrap();
        let mut answers = Vec::new();
        for owner in &world.owners {
            let answer = world.ask(owner.client(&path), &route, &path).await;
            answers.push((owner.name, answer.status.as_u16()));
            if !is_refused(&answer) && ![400, 403, 405, 415].contains(&answer.status.as_u16()) {
                answers.clear();
                break;
            }
        }
        if !answers.is_empty() {
            lost.push(format!("{} {} answers {answers:?}", route.method, route.path));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// Hosts and moderators name their own benchmark or collection, and in its path or in the fields things of another one.
async fn own_things_do_not_lead_to_those_of_others() {
    let mut world = World::new(Database::Sqlite).await;
    for (before, own) in [("b", "b2"), ("benchmarks", "b2"), ("c", "c2"), ("collections", "c2")] {
        world.parts.insert((before, "slug"), own.to_owned());
    }
    let before = world.rows_of_others().await;
    let mut told = Vec::new();
    for (path, route) in world.routes().into_iter().filter(|(_, route)| route.path.contains("{slug}")) {
        let names_both =
            ["{id}", "{number}", "{submission}", "{question}"].iter().any(|name| route.path.contains(name));
        for person in &world.strangers {
            let answer = world.ask(person.client(&path), &route, &path).await;
            if names_both && !is_refused(&answer) {
                told.push(format!("{} {} tells {} {}", route.method, route.path, person.name, answer.status));
            }
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert_eq!(changes(&before, &world.rows_of_others().await), Vec::<&String>::new());
}

/// The rows that are not there any more as they were.
fn changes<'r>(before: &'r [String], after: &[String]) -> Vec<&'r String> {
    let after: std::collections::BTreeSet<&String> = after.iter().collect();
    before.iter().filter(|row| !after.contains(row)).collect()
}
