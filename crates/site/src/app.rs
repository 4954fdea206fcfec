//! The application: what all handlers share, and the router made of the routes of all features.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Context;
use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::csrf::CsrfLayer;
use tower_http::timeout::TimeoutLayer;

use crate::accounts::guard::{guard, visitor};
use crate::accounts::password::Hasher;
use crate::accounts::providers::KnownProviders;
use crate::blobs::Blobs;
use crate::clean_text;
use crate::counts::Counts;
use crate::feature::{self, Features};
use crate::jobs::Wake;
use crate::personal_data::PersonalData;
use crate::settings::Settings;
use crate::store::{Error, Schema, Store, Tx};
use crate::web::limits::Limits;
use crate::web::query::{self, KnownParameters};
use crate::web::recent::Recent;
use crate::web::{Route, Visitor, WATCHED, is_program, middleware};

/// The longest time for a request, with its upload.
const REQUEST_SECONDS: u64 = 300;

/// The state that all handlers share; cloning it is cheap.
#[derive(Clone)]
pub struct App(Arc<AppState>);

/// The content of [`App`].
pub struct AppState {
    pub settings: Settings,
    /// The folder of the data.
    pub folder: PathBuf,
    pub store: Store,
    /// Uploaded files.
    pub blobs: Blobs,
    /// References, prepared and as given, which only scoring reads.
    pub hidden: Blobs,
    /// Hashes passwords, few at once.
    pub hasher: Hasher,
    /// The descriptions of providers of sign-ins.
    pub providers: KnownProviders,
    /// The limits on how often something may be done.
    pub limits: Limits,
    /// Pages that visitors share who are not signed in.
    pub recent: Recent,
    /// The counts of this process since its start.
    pub counts: Counts,
    /// Wakes the workers of this process.
    pub wake: Wake,
    /// The program that runs jobs, which is this one.
    pub program: PathBuf,
    pub features: Features,
    /// The tables of all features.
    pub schema: Schema,
    /// What features keep while the program runs, each a type of its own.
    parts: RwLock<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// True while the server stops, which ends streams.
    pub is_stopping: AtomicBool,
    /// The points at which a test stops the work.
    #[cfg(debug_assertions)]
    pub points: crate::testing::Points,
}

impl FromRequestParts<Self> for App {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, app: &Self) -> Result<Self, Infallible> {
        Ok(app.clone())
    }
}

impl std::ops::Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}

impl App {
    /// Opens the data of `folder`, which is made if it does not exist.
    pub async fn open(folder: PathBuf, settings: Settings, features: Features) -> anyhow::Result<Self> {
        feature::join(features);
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let folder = folder.canonicalize()?;
        let schema = feature::schema(features);
        let store = Store::open(&settings.database, &folder, settings.connections, &schema).await?;
        let [blobs, hidden] = Blobs::of_site(&folder, &settings)?;
        Ok(Self(Arc::new(AppState {
            store,
            blobs,
            hidden,
            folder,
            settings,
            hasher: Hasher::new(),
            providers: KnownProviders::default(),
            limits: Limits::default(),
            recent: Recent::default(),
            counts: Counts::default(),
            wake: Wake::default(),
            program: std::env::current_exe().context("the path of this program")?,
            features,
            schema,
            parts: RwLock::default(),
            is_stopping: AtomicBool::new(false),
            #[cfg(debug_assertions)]
            points: crate::testing::Points::default(),
        })))
    }

    /// What a feature keeps while the program runs: empty when it is asked for first.
    pub fn part<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let (of, is_there) = (TypeId::of::<T>(), PoisonError::into_inner);
        let known = self.parts.read().unwrap_or_else(is_there).get(&of).cloned();
        let part = known.unwrap_or_else(|| {
            let mut parts = self.parts.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(parts.entry(of).or_insert_with(|| Arc::<T>::default()))
        });
        part.downcast().unwrap_or_default()
    }

    /// Commits a transaction that has added jobs, and wakes the workers.
    pub async fn commit(&self, tx: Tx) -> Result<(), Error> {
        tx.commit().await?;
        self.wake.notify();
        Ok(())
    }

    /// The routes of all features.
    pub fn routes(&self) -> Vec<Route> {
        feature::routes(self.features)
    }

    /// The data that all features keep about people.
    pub fn personal_data(&self) -> impl Iterator<Item = &'static dyn PersonalData> + use<> {
        self.features.iter().flat_map(|feature| feature.personal_data.iter().copied())
    }

    /// The folder with the data of METEOR and SPICE, if there is one now.
    pub fn data(&self) -> Option<PathBuf> {
        self.settings.data_home().ok()?.folder().canonicalize().ok()
    }

    /// A reason for people who do not run what failed: it tells nothing of the folders of the server.
    pub fn public_reason(&self, reason: &str) -> String {
        let data = self.data();
        let known: Vec<&Path> =
            [Some(self.folder.as_path()), data.as_deref()].into_iter().flatten().collect();
        clean_text::without_folders(reason, &known)
    }

    /// The same with another program to run jobs, for tests, which are programs of their own.
    #[must_use]
    pub fn with_program(self, program: PathBuf) -> Self {
        match Arc::try_unwrap(self.0) {
            Ok(shared) => Self(Arc::new(AppState { program, ..shared })),
            Err(shared) => Self(shared),
        }
    }
}

/// Adds a route to `router`, behind the guard.
fn join(router: Router<App>, route: Route, app: &App) -> Router<App> {
    let limit = match route.is_upload {
        // Forms have more than the file.
        true => app.settings.upload_mib as usize * (1 << 20) + (1 << 16),
        false => 1 << 18,
    };
    let guarded = route
        .handler
        .route_layer(DefaultBodyLimit::max(limit))
        .route_layer(from_fn_with_state(KnownParameters::of(&route.contract), query::check))
        .route_layer(from_fn_with_state((app.clone(), route.access), guard));
    router.route(route.path, guarded)
}

/// The whole site.
pub fn router(app: &App) -> anyhow::Result<Router> {
    let router = app.routes().into_iter().fold(Router::new(), |router, route| join(router, route, app));
    let router = router.fallback(refuse::<404>).method_not_allowed_fallback(refuse::<405>);
    let mut csrf = CsrfLayer::new();
    if !app.settings.public_url.is_empty() {
        csrf = csrf
            .add_trusted_origin(app.settings.public_url.trim_end_matches('/'))
            .map_err(|error| anyhow::anyhow!("public_url: {error}"))?;
    }
    let timeout = std::time::Duration::from_secs(REQUEST_SECONDS);
    Ok(router
        .layer(DefaultBodyLimit::max(1 << 18))
        .layer(csrf)
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, timeout))
        .layer(CatchPanicLayer::new())
        .layer(from_fn_with_state(app.clone(), greet))
        .layer(from_fn_with_state(app.clone(), middleware::finish_response))
        // Archives are sent as they are, so downloads can resume where they stopped.
        .layer(
            // Pages are made for each visitor: this level takes a third of the time of the usual one, and makes them a
            // tenth larger.
            CompressionLayer::new()
                .quality(CompressionLevel::Precise(3))
                .compress_when(DefaultPredicate::new().and(NotForContentType::new("application/zip"))),
        )
        .with_state(app.clone()))
}

/// Answers where there is no route, or none for the method.
async fn refuse<const STATUS: u16>() -> StatusCode {
    StatusCode::from_u16(STATUS).unwrap_or(StatusCode::NOT_FOUND)
}

/// Tells the page of a fault whom it greets where a request was refused before anyone asked who sent it.
async fn greet(State(app): State<App>, request: Request, next: Next) -> Response {
    let is_program = is_program(request.uri().path());
    let is_watched = WATCHED.contains(&request.uri().path());
    let cookies = request.headers().get_all(header::COOKIE).iter().cloned();
    let headers = HeaderMap::from_iter(cookies.map(|value| (header::COOKIE, value)));
    let mut response = next.run(request).await;
    let status = response.status();
    let is_fault = status.is_client_error() || status.is_server_error();
    let is_known = response.extensions().get::<Visitor>().is_some();
    let is_away = status == StatusCode::SERVICE_UNAVAILABLE;
    if is_fault
        && !(is_known || is_program || is_away || is_watched)
        && let Ok(Some(visitor)) = visitor(&app, &headers, is_program).await
    {
        response.extensions_mut().insert(visitor);
    }
    response
}
