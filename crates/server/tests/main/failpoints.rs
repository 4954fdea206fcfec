//! The server is killed between any two writes of the database, or cannot use a file: it starts again, and lacks and
//! doubles nothing.
//!
//! People do what they do step by step: submit, score, rescore, merge, caption, rate, moderate, release, back up,
//! leave. Each step is done once to count its points, then once for each of them: the fault comes there, the process
//! starts again, all invariants hold, and once the step is done again, the tables say what they say after a run without
//! a fault.
//!
//! Without `CAPEVAL_FAULTS=1`, one point of a few is tried; `CAPEVAL_FAULTS_OF` names steps.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::backup::nightly;
use capeval_site::blobs::FOLDERS;
use capeval_site::settings::Settings;
use capeval_site::testing::{Clock, Fuse};
use capeval_site::web::Scope;
use capeval_site::{args, clock, named_files};
use capeval_testkit::faults::step;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::backup::copy_tree;
use crate::benchmarks::{apply_plan, results};
use crate::collections::{RIGHT, apply, png, sentence, upload};
use crate::support::collections::Collection;
use crate::support::{Answer, Client, Database, NOON, Page as _, Site, breaches, dump, postgres, run_with};

/// One of so many points is tried unless all are wanted.
const STRIDE: usize = 41;

/// The people, and their roles.
const PEOPLE: [(&str, Role); 9] = [
    ("Root", Role::Admin),
    ("Hanna", Role::Host),
    ("Ada", Role::Member),
    ("Bao", Role::Member),
    ("Una", Role::Member),
    ("Cam", Role::Member),
    ("Rae", Role::Member),
    ("Rob", Role::Member),
    ("Mo", Role::Member),
];

/// Columns that say what happened, whenever and under whatever id.
const TELLING: &str = " accepted action charged_day grade images is_past is_shown judged kind metric method \
    number pending ratings refunded score slug split state state_before taken used value wanted weight ";

/// Tables with a row for each time that something was tried.
const TRIES: [&str; 6] = ["job", "session", "known_device", "invitation", "audit", "consent"];

#[test]
fn whatever_writes_a_kill_comes_between_sqlite() {
    kill_everywhere(Database::Sqlite);
}

#[test]
fn whatever_writes_a_kill_comes_between_postgresql() {
    if postgres::is_here() {
        kill_everywhere(Database::Postgres);
    }
}

/// The data of a site that is not running.
struct Rest {
    folder: TempDir,
    settings: Settings,
}

impl Rest {
    /// The same data in another place.
    fn copy(&self) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(self.folder.path(), folder.path());
        let mut settings = self.settings.clone();
        if !settings.database.is_empty() {
            settings.database = postgres::copy_of(&settings.database);
        }
        Self { folder, settings }
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        if !self.settings.database.is_empty() {
            postgres::remove(&self.settings.database);
        }
    }
}

/// A running site, and what people need to use it.
struct Running {
    site: Site,
    people: BTreeMap<&'static str, (String, String)>,
}

impl Running {
    fn browser(&self, name: &str) -> Client {
        Client { cookie: Some(self.people[name].0.clone()), ..self.site.anybody() }
    }

    fn program(&self, name: &str) -> Client {
        Client { token: Some(self.people[name].1.clone()), ..self.site.anybody() }
    }

    async fn count(&self, sql: &'static str) -> i64 {
        self.site.app.store.fetch_one(sql, args![]).await.unwrap()
    }

    async fn id(&self, sql: &'static str) -> Option<String> {
        self.site.app.store.fetch_optional(sql, args![]).await.unwrap()
    }

    async fn phase(&self) -> String {
        self.id("SELECT id FROM phase WHERE slug = 'p'").await.unwrap()
    }

    /// Submits results that are as good as `skill` says.
    async fn submit(&self, name: &str, skill: usize) -> Answer {
        let path = format!("/api/v1/phases/{}/submissions?method=m{skill}", self.phase().await);
        self.program(name).send(Request::post(path), results(40, skill)).await
    }

    async fn collection(&self) -> Collection {
        let id = self.id("SELECT id FROM collection").await.unwrap();
        Collection { id, slug: "c".to_owned() }
    }
}

type Step = for<'r> fn(&'r Running) -> BoxFuture<'r, ()>;

/// What people do. Each step can be done again, as people do who got no answer: they look first, and go on.
const STEPS: &[(&str, Step)] = &[
    ("apply", |run| {
        Box::pin(async {
            // A plan that cannot be stored is applied again.
            let _ = apply_plan(&run.site, "per_day = 9\nin_total = 9\nper_image = 'explained'").await;
            run.site.work().await;
        })
    }),
    ("register", |run| {
        Box::pin(async {
            let fields = [("email", "zoe@example.org"), ("name", "Zoe"), ("password", "a longer password")];
            run.site.anybody().post("/register", &fields).await;
        })
    }),
    ("submit", |run| {
        Box::pin(async {
            run.browser("Ada").post("/teams", &[("name", "Ours")]).await;
            run.submit("Ada", 5).await;
        })
    }),
    ("score", |run| Box::pin(run.site.work())),
    ("pin", |run| {
        Box::pin(async {
            run.submit("Ada", 7).await;
            run.site.work().await;
            let worse = run.id("SELECT id FROM submission WHERE method = 'm5'").await.unwrap();
            run.program("Ada").post_json(&format!("/api/v1/submissions/{worse}/pin"), &json!({})).await;
            run.site.work().await;
        })
    }),
    ("cancel", |run| {
        Box::pin(async {
            if run.count("SELECT COUNT(*) FROM submission WHERE method = 'm9'").await == 0 {
                run.submit("Ada", 9).await;
            }
            // What could not be stored cannot be cancelled.
            if let Some(id) = run.id("SELECT id FROM submission WHERE method = 'm9'").await {
                run.program("Ada").post_json(&format!("/api/v1/submissions/{id}/cancel"), &json!({})).await;
            }
        })
    }),
    ("merge", |run| {
        Box::pin(async {
            run.browser("Bao").post("/teams", &[("name", "Theirs")]).await;
            run.submit("Bao", 8).await;
            run.site.work().await;
            let own = "SELECT id FROM team WHERE name = 'Theirs'";
            let (own, into) = (run.id(own).await, run.id("SELECT id FROM team WHERE name = 'Ours'").await);
            let (own, into) = (own.unwrap(), into.unwrap());
            let path = format!("/api/v1/teams/{into}/invites");
            let link = run.program("Ada").post_json(&path, &json!({})).await.json();
            let link = link["link"].as_str().unwrap().replace("http://127.0.0.1:8080/join", "/teams/join");
            run.browser("Bao").post(&link, &[("team", &own)]).await;
            run.site.work().await;
        })
    }),
    ("rescore", |run| {
        Box::pin(async {
            if run.count("SELECT COUNT(*) FROM score_set").await == 1 {
                let path = format!("/api/v1/host/phases/{}/rescore", run.phase().await);
                run.program("Root").post_json(&path, &json!({})).await;
            }
            run.site.work().await;
        })
    }),
    ("disqualify", |run| {
        Box::pin(async {
            let id = run.id("SELECT id FROM submission WHERE method = 'm8'").await.unwrap();
            let path = format!("/api/v1/submissions/{id}/disqualify");
            run.program("Root").post_json(&path, &json!({ "reason": "Copied" })).await;
            run.site.work().await;
        })
    }),
    ("judge", |run| {
        Box::pin(async {
            let fields = [
                ("images", "3"),
                ("wanted", "1"),
                ("pictures", "https://pictures.example.org/{id}.jpg"),
                ("judges", "rae@example.org"),
            ];
            if run.count("SELECT COUNT(*) FROM evaluation").await == 0 {
                run.browser("Root").post("/b/b/p/host/judging", &fields).await;
            }
            run.site.work().await;
            if run.count("SELECT COUNT(*) FROM judgement").await == 0 {
                let page = run.browser("Rae").get("/b/b/p/judge").await.text;
                let fields =
                    [("item", page.field("item")), ("grade", "4"), ("is_machine", "true"), ("detail", "3")];
                run.browser("Rae").post("/b/b/p/judge", &fields).await;
            }
        })
    }),
    ("collect", |run| {
        Box::pin(async {
            let plan = json!({ "captions": 2, "approvals": 9, "hosts": ["hanna@example.org"] });
            apply(&run.site, plan).await;
            for name in ["Una", "Cam", "Rae", "Rob"] {
                run.browser(name).post("/c/c/quiz", RIGHT).await;
            }
        })
    }),
    ("upload", |run| {
        Box::pin(async {
            upload(&run.browser("Una"), &[("a.png", png(1)), ("b.png", png(2))]).await;
            run.site.work().await;
        })
    }),
    ("approve", |run| {
        Box::pin(async {
            while let Some(id) = run.id("SELECT id FROM image WHERE state = 'pending'").await {
                let path = format!("/c/c/moderate/images/{id}");
                run.browser("Mo").post(&path, &[("action", "approve")]).await;
            }
        })
    }),
    ("describe", |run| {
        Box::pin(async {
            for (k, name) in ["Cam", "Rae", "Cam", "Rae"].into_iter().enumerate() {
                let person = run.browser(name);
                let page = person.get("/c/c/caption").await.text;
                let Some(image) = page.part("data-image=\"", "\"") else { continue };
                let fields =
                    [("image", image), ("text", &sentence(k)), ("language", "en"), ("action", "hand-in")];
                person.post("/c/c/caption", &fields).await;
            }
        })
    }),
    ("rate", |run| {
        Box::pin(async {
            let collection = run.collection().await;
            for name in ["Una", "Rob"] {
                collection.rate_all(&run.browser(name), |_| 4).await;
            }
        })
    }),
    ("report", |run| {
        Box::pin(async {
            let caption = run.id("SELECT MIN(id) FROM caption").await.unwrap();
            let fields =
                [("kind", "caption"), ("subject", &*caption), ("reason", "offensive"), ("note", "look")];
            if run.count("SELECT COUNT(*) FROM report WHERE state <> 'open'").await == 0 {
                for name in ["Una", "Rob"] {
                    run.browser(name).post("/c/c/report", &fields).await;
                }
            }
            let path = format!("/c/c/moderate/captions/{caption}");
            run.browser("Mo").post(&path, &[("action", "approve")]).await;
        })
    }),
    ("release", |run| {
        Box::pin(async {
            if run.count("SELECT COUNT(*) FROM release").await == 0 {
                let fields = [("val", "0"), ("test", "50"), ("withheld", "test")];
                run.browser("Hanna").post("/c/c/releases", &fields).await;
            }
            run.site.work().await;
        })
    }),
    ("publish", |run| {
        Box::pin(async {
            let fields = [("benchmark", "c"), ("per_day", "2"), ("in_total", "5"), ("board", "public")];
            if run.count("SELECT COUNT(*) FROM publication").await == 0 {
                run.browser("Hanna").post("/c/c/releases/1/publish", &fields).await;
            }
            run.site.work().await;
        })
    }),
    ("back up", |run| {
        Box::pin(async {
            nightly::queue_if_due(&run.site.app, clock::now()).await.unwrap();
            run.site.work().await;
        })
    }),
    ("leave", |run| {
        Box::pin(async {
            run.browser("Cam").post("/account/delete", &[("password", "a long password")]).await;
            run.site.work().await;
        })
    }),
];

/// The clock and the fuse of a test, and the people.
#[derive(Clone)]
struct Rig {
    clock: Clock,
    fuse: Fuse,
    people: BTreeMap<&'static str, (String, String)>,
}

impl Rig {
    /// Starts the site, does something, and stops it as a kill does, unless the site was closed.
    fn run<T>(&self, rest: &Rest, work: impl AsyncFnOnce(&Running) -> T) -> T {
        let (clock, fuse) = (self.clock.clone(), self.fuse.clone());
        let enter = move || {
            clock.enter();
            Fuse::enter(Some(&fuse));
        };
        enter();
        self.fuse.blow_at(usize::MAX);
        let done = run_with(
            async {
                let site = Site::at(rest.folder.path(), rest.settings.clone()).await;
                work(&Running { site, people: self.people.clone() }).await
            },
            enter,
        );
        Clock::leave();
        Fuse::enter(None);
        done
    }

    /// Does a step and closes the site; returns the faults that can come between, and what the tables say.
    fn whole(&self, rest: &Rest, step: Step) -> (Vec<Fault>, RowCounts) {
        self.run(rest, async |running| {
            self.fuse.blow_at(usize::MAX);
            self.fuse.fail_at(usize::MAX);
            step(running).await;
            let files = (0..self.fuse.touched()).map(Fault::File);
            let faults = (0..self.fuse.passed()).map(Fault::Kill).chain(files).collect();
            let told = told(&running.site).await;
            running.site.app.store.close().await;
            (faults, told)
        })
    }

    /// Does a step with a fault at a point, starts again, and does it again; returns what is wrong then.
    fn disturbed(&self, rest: &Rest, step: Step, fault: Fault, expected: &RowCounts) -> Vec<String> {
        // What waits for a lease after one fault is no later for the next.
        let rig = Self { clock: Clock::starting_at(self.clock.now()), ..self.clone() };
        let is_reached = rig.run(rest, async |running| match fault {
            Fault::Kill(n) => {
                rig.fuse.blow_at(n);
                tokio::select! {
                    biased;
                    () = rig.fuse.blown() => true,
                    () = step(running) => false,
                }
            }
            Fault::File(n) => {
                rig.fuse.fail_at(n);
                step(running).await;
                rig.fuse.touched() > n
            }
        });
        rig.fuse.fail_at(usize::MAX);
        if !is_reached {
            return vec!["it was not reached".to_owned()];
        }
        // What the killed process was doing is left to others.
        rig.clock.move_to(rig.clock.now() + 2 * rest.settings.lease_seconds * 1000);
        rig.run(rest, async |running| {
            let mut wrong = breaches(&running.site.app).await;
            wrong.extend(lost_files(&running.site).await);
            step(running).await;
            wrong.extend(breaches(&running.site.app).await);
            wrong.extend(lost_files(&running.site).await);
            let found = told(&running.site).await;
            let keys: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
            for key in keys.into_iter().filter(|key| expected.get(*key) != found.get(*key)) {
                let [one, other] = [expected, &found].map(|told| told.get(key).unwrap_or(&0));
                wrong.push(format!("{other} instead of {one} of {key}"));
            }
            wrong
        })
    }
}

/// What tables say, and how often.
type RowCounts = BTreeMap<String, usize>;

/// A fault at a point of a step.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The process is killed between two writes.
    Kill(usize),
    /// A file cannot be used.
    File(usize),
}

/// How many rows of each table say the same.
async fn told(site: &Site) -> RowCounts {
    let (mut table, mut columns, mut found) = (String::new(), Vec::new(), RowCounts::new());
    for line in dump(site).await.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        if let Some(name) = value["table"].as_str() {
            table = name.to_owned();
            columns = serde_json::from_value::<Vec<(String, String)>>(value["columns"].clone()).unwrap();
            continue;
        }
        if TRIES.contains(&table.as_str()) {
            continue;
        }
        let telling = columns.iter().zip(value.as_array().unwrap());
        let telling = telling.filter(|((name, _), _)| TELLING.contains(&format!(" {name} ")));
        let row: Vec<String> = telling.map(|((name, _), value)| format!("{name} {value}")).collect();
        *found.entry(format!("{table}: {}", row.join(", "))).or_default() += 1;
    }
    found
}

/// The files that rows name and that are not there.
async fn lost_files(site: &Site) -> Vec<String> {
    let app = &site.app;
    let named = named_files::all(&mut app.store.snapshot().await.unwrap(), app.features).await.unwrap();
    let mut present = BTreeSet::new();
    for (folder, blobs) in FOLDERS.into_iter().zip([&app.blobs, &app.hidden]) {
        present.extend(blobs.list().unwrap().iter().map(|hash| named_files::path(folder, hash)));
    }
    named.difference(&present).map(|path| format!("{path} is lost")).collect()
}

/// A site with accounts whose owners are signed in.
fn people_of(rest: &Rest, rig: &mut Rig) {
    rig.people = rig.run(rest, async |running| {
        let mut people = BTreeMap::new();
        for (name, role) in PEOPLE {
            let browser = running.site.person(name, role).await;
            let program = running.site.program(name, role, Scope::Host).await;
            people.insert(name, (browser.cookie.unwrap(), program.token.unwrap()));
        }
        let hash = running.site.app.hasher.hash("a long password").await.unwrap();
        running.site.app.store.execute("UPDATE account SET password = $1", args![hash]).await.unwrap();
        running.site.app.store.close().await;
        people
    });
}

fn kill_everywhere(database: Database) {
    let stride = step(STRIDE);
    let only = std::env::var("CAPEVAL_FAULTS_OF").unwrap_or_default();
    let settings = Settings { registration: "open".to_owned(), ..crate::support::settings(database) };
    let mut rest = Rest { folder: tempfile::tempdir().unwrap(), settings };
    let mut rig = Rig { clock: Clock::starting_at(NOON), fuse: Fuse::new(), people: BTreeMap::new() };
    people_of(&rest, &mut rig);
    let (mut wrong, mut n_points, mut n_tried) = (Vec::new(), 0, 0);
    for (name, work) in STEPS {
        let next = rest.copy();
        let (faults, expected) = rig.whole(&next, *work);
        println!("{database:?}, {name}: {} points", faults.len());
        for fault in faults.into_iter().filter(|_| name.starts_with(&only)) {
            n_points += 1;
            if n_points % stride != stride / 2 {
                continue;
            }
            n_tried += 1;
            let found = rig.disturbed(&rest.copy(), *work, fault, &expected);
            if !found.is_empty() {
                wrong.push(format!("{name}, {fault:?}: {}", found.join("; ")));
            }
        }
        rest = next;
    }
    println!("{database:?}: {n_tried} faults at {n_points} points");
    assert!(wrong.is_empty(), "{} of {n_tried}:\n{}", wrong.len(), wrong.join("\n"));
}
