//! Routes as data: from one table come the router, the check of who may ask, and the description for programs.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{self, MethodRouter};

use super::guard::guard;
use crate::app::App;

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Public,
    /// People who are signed in; programs need a token with this scope.
    Person(Scope),
    /// Hosts and administrators; what belongs to other hosts is not found.
    Host,
    /// Administrators.
    Admin,
}

capeval::choice::named! {
    /// What a token allows.
    pub enum Scope ("scope") {
        Read = "read", "see what its owner sees";
        Submit = "submit", "also hand in submissions";
        Host = "host", "also run the owner's benchmarks";
    }
}

/// A route.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with `{names}` for its variable parts.
    pub path: &'static str,
    /// Who may use it.
    pub access: Access,
    /// What it does, for the description of the API.
    pub summary: &'static str,
    /// Whether the body may be as large as an upload.
    pub is_upload: bool,
    handler: MethodRouter<App>,
}

macro_rules! constructors {
    ($($name:ident $method:ident),*) => {$(
        /// A route for this method.
        pub fn $name<H, T>(path: &'static str, access: Access, summary: &'static str, handler: H) -> Route
        where
            H: Handler<T, App>,
            T: 'static,
        {
            let handler = routing::$name(handler);
            Route { method: Method::$method, path, access, summary, is_upload: false, handler }
        }
    )*};
}

constructors!(get GET, post POST, delete DELETE);

impl Route {
    /// Allows bodies as large as an upload.
    pub fn upload(self) -> Self {
        Self { is_upload: true, ..self }
    }

    /// Adds the route to `router`.
    pub fn join(self, router: Router<App>, app: &App) -> Router<App> {
        let Self { path, access, is_upload, handler, .. } = self;
        let limit = match is_upload {
            // Forms have more than the file.
            true => app.settings.upload_mib as usize * (1 << 20) + (1 << 16),
            false => 1 << 18,
        };
        let guarded = handler
            .route_layer(DefaultBodyLimit::max(limit))
            .route_layer(from_fn_with_state((app.clone(), access), guard));
        router.route(path, guarded)
    }
}
