//! A whole site in the process of the test, and people who use it.

pub mod collections;
mod described;
pub mod postgres;
pub mod process;

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use capeval_server::FEATURES;
use capeval_site::accounts::people::{self, NewAccount};
use capeval_site::accounts::{Role, tokens};
use capeval_site::app::{self, App};
use capeval_site::feature;
use capeval_site::invariants::{self, Breach};
use capeval_site::jobs::runner;
use capeval_site::jobs::runner::Post;
use capeval_site::settings::Settings;
use capeval_site::store::{DATABASE, Store};
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use capeval_testkit::{PATIENCE, PAUSE};
use http_body_util::BodyExt;
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tower::ServiceExt;

/// The database of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// A site with its data.
pub struct Site {
    pub app: App,
    pub router: Router,
    _folder: Option<TempDir>,
}

/// The settings of a new site.
pub fn settings(database: Database) -> Settings {
    let database = match database {
        Database::Sqlite => String::new(),
        Database::Postgres => postgres::new_database(),
    };
    Settings {
        database,
        requests_per_minute: 1_000_000,
        sign_ins_per_minute: 1_000,
        uploads_per_minute: 100_000,
        ..Settings::default()
    }
}

/// A database of SQLite with the tables of the program, which is made once.
async fn model() -> &'static [u8] {
    static MODEL: OnceCell<Vec<u8>> = OnceCell::const_new();
    let made = async || {
        let folder = tempfile::tempdir().unwrap();
        let schema = feature::schema(FEATURES);
        Store::open("", folder.path(), 1, &schema).await.unwrap().close().await;
        std::fs::read(folder.path().join(DATABASE)).unwrap()
    };
    MODEL.get_or_init(made).await
}

impl Site {
    pub async fn new(database: Database) -> Self {
        Self::with(settings(database)).await
    }

    pub async fn with(settings: Settings) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), settings).await
    }

    /// A site whose data are in this folder.
    pub async fn in_folder(folder: TempDir, settings: Settings) -> Self {
        let site = Self::at(folder.path(), settings).await;
        Self { _folder: Some(folder), ..site }
    }

    /// A site whose data stay in this folder.
    pub async fn at(folder: &Path, settings: Settings) -> Self {
        let file = folder.join(DATABASE);
        if settings.database.is_empty() && !file.exists() {
            let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(file).unwrap();
            file.write_all(model().await).unwrap();
        }
        let app = App::open(folder.to_owned(), settings, FEATURES).await.unwrap();
        let app = app.with_program(PathBuf::from(env!("CARGO_BIN_EXE_capeval-server")));
        Self { router: app::router(&app).unwrap(), app, _folder: None }
    }

    /// Does all jobs that are waiting, and those that they add; the clock moves to those that begin later.
    pub async fn work(&self) {
        let (_stop, mut stopping) = tokio::sync::watch::channel(false);
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "the jobs do not end");
            let works = &feature::works(FEATURES);
            if runner::step(&self.app, works, Post::ALL, &mut stopping).await.unwrap() {
                continue;
            }
            let open = "SELECT state, run_after FROM job WHERE state IN ('queued', 'running') ORDER BY state, run_after";
            let Some(next) = self.app.store.first(open, vec![]).await.unwrap() else { return };
            match Clock::of_thread() {
                Some(clock) if next.get::<String>("state").unwrap() == "queued" => {
                    clock.move_to(next.get("run_after").unwrap());
                }
                // Another worker of the test is at it.
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Does the jobs that are due, and no others.
    pub async fn work_that_is_due(&self) {
        let (_stop, mut stopping) = tokio::sync::watch::channel(false);
        let works = &feature::works(FEATURES);
        while runner::step(&self.app, works, Post::ALL, &mut stopping).await.unwrap() {}
    }

    /// Someone without an account.
    pub fn anybody(&self) -> Client {
        Client { router: self.router.clone(), cookie: None, token: None }
    }

    /// A browser that is signed in to an account, which is made if it does not exist.
    pub async fn person(&self, name: &str, role: Role) -> Client {
        let id = self.known_account(name, role).await;
        let mut tx = self.app.store.begin().await.unwrap();
        let cookie = capeval_site::accounts::sessions::begin(&mut tx, &self.app.settings, &id).await.unwrap();
        tx.commit().await.unwrap();
        let cookie = cookie.stripped().to_string();
        Client { cookie: Some(cookie), ..self.anybody() }
    }

    /// A new account whose password cannot be used.
    pub async fn account(&self, name: &str, role: Role) -> String {
        let mut tx = self.app.store.begin().await.unwrap();
        let email = format!("{}@example.org", name.to_lowercase());
        let new = NewAccount { email: &email, name, password: "-".to_owned(), role };
        let id = people::add(&mut tx, new).await.unwrap();
        tx.commit().await.unwrap();
        id
    }

    async fn known_account(&self, name: &str, role: Role) -> String {
        let email = format!("{}@example.org", name.to_lowercase());
        match people::by_email(&self.app.store, &email).await.unwrap() {
            Some(account) => account.id,
            None => self.account(name, role).await,
        }
    }

    /// A program with a token of an account, which is made if it does not exist.
    pub async fn program(&self, name: &str, role: Role, scope: Scope) -> Client {
        let id = self.known_account(name, role).await;
        let mut tx = self.app.store.begin().await.unwrap();
        let token = tokens::add(&mut tx, &id, "test", scope).await.unwrap();
        tx.commit().await.unwrap();
        Client { token: Some(token), ..self.anybody() }
    }
}

/// A browser or a program.
#[derive(Clone)]
pub struct Client {
    pub router: Router,
    pub cookie: Option<String>,
    pub token: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: axum::http::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The answer, if it has this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{} {:?}", self.text, self.headers);
        self
    }
}

/// A page of HTML.
pub trait Page {
    /// The part between the first `start` and the next `end`, if there is one.
    fn part(&self, start: &str, end: &str) -> Option<&str>;

    /// The part between the first `start` and the next `end`.
    fn between(&self, start: &str, end: &str) -> &str;

    /// The value of the first field with this name in a form.
    #[track_caller]
    fn field(&self, name: &str) -> &str {
        self.between(&format!("name=\"{name}\" value=\""), "\"")
    }

    /// The path of the first link to this site that the page shows in full, to be copied.
    #[track_caller]
    fn link(&self) -> &str {
        self.between("http://127.0.0.1:8080", "<")
    }
}

impl Page for str {
    fn part(&self, start: &str, end: &str) -> Option<&str> {
        Some(self.split_once(start)?.1.split_once(end)?.0)
    }

    #[track_caller]
    fn between(&self, start: &str, end: &str) -> &str {
        self.part(start, end).unwrap_or_else(|| panic!("nothing between {start} and {end}: {self}"))
    }
}

impl Client {
    pub async fn send(&self, request: axum::http::request::Builder, body: impl Into<Body>) -> Answer {
        let method = request.method_ref().unwrap().clone();
        let path = request.uri_ref().unwrap().path().to_owned();
        let (parts, body) = self.begin(request, body).await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let answer = Answer { status: parts.status, headers: parts.headers, text };
        described::check(&method, &path, &answer);
        answer
    }

    /// Sends a request, and returns the answer as soon as it begins.
    pub async fn begin(
        &self,
        request: axum::http::request::Builder,
        body: impl Into<Body>,
    ) -> Response<Body> {
        let mut request = request.header(header::HOST, "localhost");
        if let Some(cookie) = &self.cookie {
            request = request.header(header::COOKIE, cookie);
        }
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        self.router.clone().oneshot(request.body(body.into()).unwrap()).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path), Body::empty()).await
    }

    /// Sends a form.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request, pairs.join("&")).await
    }

    /// Sends JSON.
    pub async fn post_json(&self, path: &str, value: &serde_json::Value) -> Answer {
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        self.send(request, value.to_string()).await
    }

    /// The client with one more cookie.
    pub fn with_cookie(&self, cookie: &str) -> Self {
        let cookie = self.cookie.iter().map(String::as_str).chain([cookie]).collect::<Vec<_>>().join("; ");
        Self { cookie: Some(cookie), ..self.clone() }
    }

    /// The client with the cookie that an answer set.
    pub fn with_cookie_of(&self, answer: &Answer) -> Self {
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        Self { cookie: Some(cookie), ..self.clone() }
    }
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

/// Fails unless all invariants hold.
pub async fn assert_consistent(site: &Site) {
    assert_eq!(breaches(&site.app).await, Vec::<String>::new());
}

/// The invariants that rows break, each with what breaks it.
pub async fn breaches(app: &App) -> Vec<String> {
    let found = invariants::breaches(&mut app.store.snapshot().await.unwrap(), app.features).await.unwrap();
    found.iter().map(|Breach { invariant, by }| format!("{}: {by:?}", invariant.holds)).collect()
}

/// All rows of all tables.
pub async fn dump(site: &Site) -> String {
    let (send, mut receive) = tokio::sync::mpsc::channel(4);
    let (store, schema) = (site.app.store.clone(), site.app.schema.clone());
    let sent =
        tokio::spawn(async move { store.snapshot().await.unwrap().export(&schema, send).await.unwrap() });
    let mut lines = Vec::new();
    while let Some(more) = receive.recv().await {
        lines.extend::<Vec<u8>>(more);
    }
    sent.await.unwrap();
    String::from_utf8(lines).unwrap()
}

/// Looks again and again until there is something, and returns it.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "this does not happen: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Noon of 2026-06-15, when the clocks of tests start.
pub const NOON: i64 = 1_781_524_800_000;

/// Runs a test by a clock of its own, which [`Clock::of_thread`] gives in all threads of the test.
pub fn run(test: impl Future<Output = ()>) {
    struct ClockGuard;
    impl Drop for ClockGuard {
        fn drop(&mut self) {
            Clock::leave();
        }
    }
    let clock = Clock::starting_at(NOON);
    clock.enter();
    let _entered = ClockGuard;
    run_with(test, move || clock.enter());
}

/// Runs a test by the clock of the system, which other programs that it starts go by, too.
pub fn run_in_real_time(test: impl Future<Output = ()>) {
    run_with(test, || {});
}

/// Runs a future on a runtime of its own, each thread of which begins with `start`.
pub fn run_with<T>(test: impl Future<Output = T>, start: impl Fn() + Send + Sync + 'static) -> T {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().on_thread_start(start).build().unwrap().block_on(Box::pin(test))
}

/// Defines tests of a site.
macro_rules! on_sqlite {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn sqlite() {
                crate::support::run(super::$name());
            }
        }
    )*};
}

/// Defines tests that run on SQLite and on PostgreSQL; with `in real time`, by the clock of the system.
macro_rules! on_both {
    (in real time: $($name:ident)*) => { on_both! { @run_in_real_time $($name)* } };
    (@$run:ident $($name:ident)*) => {$(
        mod $name {
            use crate::support::{Database, postgres, $run};

            #[test]
            fn sqlite() {
                $run(super::$name(Database::Sqlite));
            }

            #[test]
            fn postgresql() {
                if postgres::is_here() {
                    $run(super::$name(Database::Postgres));
                }
            }
        }
    )*};
    ($($name:ident)*) => { on_both! { @run $($name)* } };
}

pub(crate) use {on_both, on_sqlite};
