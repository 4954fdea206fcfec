//! A whole site in the process of the test, and people who use it.

pub mod collections;
mod described;
pub mod postgres;
pub mod process;

use std::path::PathBuf;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use capeval_server::accounts::people::{self, NewAccount};
use capeval_server::accounts::{Role, tokens};
use capeval_server::app::{self, App};
use capeval_server::jobs::queue::Priority;
use capeval_server::jobs::runner;
use capeval_server::settings::Settings;
use capeval_server::web::Scope;
use http_body_util::BodyExt;
use tempfile::TempDir;
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
    _folder: TempDir,
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

impl Site {
    pub async fn new(database: Database) -> Self {
        Self::with(settings(database)).await
    }

    pub async fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let app = App::open(folder.path().to_owned(), settings).await.unwrap();
        let app = app.with_program(PathBuf::from(env!("CARGO_BIN_EXE_capeval-server")));
        Self { router: app::router(&app).unwrap(), app, _folder: folder }
    }

    /// Does all jobs that are waiting, and those that they add.
    pub async fn work(&self) {
        let (_stop, mut stopping) = tokio::sync::watch::channel(false);
        for _ in 0..1_000 {
            if !runner::step(&self.app, capeval_server::WORKS, Priority::Background, &mut stopping)
                .await
                .unwrap()
            {
                let waiting = "SELECT id FROM job WHERE state IN ('queued', 'running')";
                if self.app.store.all(waiting, vec![]).await.unwrap().is_empty() {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
        panic!("the jobs do not end");
    }

    /// Somebody without an account.
    pub fn anybody(&self) -> Client {
        Client { router: self.router.clone(), cookie: None, token: None }
    }

    /// A browser that is signed in to an account, which is made if it does not exist.
    pub async fn person(&self, name: &str, role: Role) -> Client {
        let id = self.known_account(name, role).await;
        let mut tx = self.app.store.begin().await.unwrap();
        let cookie =
            capeval_server::accounts::sessions::begin(&mut tx, &self.app.settings, &id).await.unwrap();
        tx.commit().await.unwrap();
        let cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
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

impl Client {
    pub async fn send(&self, request: axum::http::request::Builder, body: impl Into<Body>) -> Answer {
        let mut request = request.header(header::HOST, "localhost");
        if let Some(cookie) = &self.cookie {
            request = request.header(header::COOKIE, cookie);
        }
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(body.into()).unwrap();
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let response: Response<Body> = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let answer = Answer { status: parts.status, headers: parts.headers, text };
        described::check(&method, &path, &answer);
        answer
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

/// Defines a test that runs on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident)*) => {$(
        mod $name {
            use crate::support::{Database, postgres};

            #[tokio::test(flavor = "multi_thread")]
            async fn sqlite() {
                Box::pin(super::$name(Database::Sqlite)).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn postgresql() {
                if postgres::is_here() {
                    Box::pin(super::$name(Database::Postgres)).await;
                }
            }
        }
    )*};
}

pub(crate) use on_both;
