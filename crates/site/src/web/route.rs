//! Routes as data: from one table come the router, the check of who may ask, and the description for programs.
//!
//! The handler's signature (`signature.rs`) determines a route's inputs, answers, subject and the visitor's role, so
//! `Hosted<…>` is at once the check and its description. A page and its JSON share a handler (`answer.rs`). Tests send
//! every role to every route and compare each answer with the schema of its route.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::http::Method;
use axum::response::Response;
use axum::routing::{self, MethodRouter};
pub use capeval_api::Scope;

use super::signature::{Contract, Reply, Signature};
use crate::app::App;

/// The people who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everyone.
    Public,
    /// People who are signed in; programs need a token with this scope.
    Person(Scope),
    /// Hosts and administrators; what belongs to other hosts is not found.
    Host,
    /// Administrators.
    Admin,
}

/// A route.
#[derive(Clone)]
pub struct Route {
    pub method: Method,
    /// The path, with `{names}` for its variable parts.
    pub path: &'static str,
    /// The people who may use it.
    pub access: Access,
    /// Its effect, for the description of the API.
    pub summary: &'static str,
    /// Accept a body as large as an upload.
    pub is_upload: bool,
    /// The input and output of its handler.
    pub contract: Contract,
    /// The path of the same route for programs, if it has one.
    program: Option<&'static str>,
    /// The fields of its JSON, for the description of the API.
    pub body: Vec<Field>,
    pub handler: MethodRouter<App>,
}

/// A field of a request in JSON.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    /// The type, as JSON Schema calls it.
    pub kind: &'static str,
    /// True if it must be there.
    pub is_required: bool,
    /// The declaration that `yes` makes; empty if it is no declaration.
    pub declaration: &'static str,
}

impl Field {
    /// A text that must be there.
    pub const fn text(name: &'static str) -> Self {
        Self { name, kind: "string", is_required: true, declaration: "" }
    }

    /// A list of texts that must be there.
    pub const fn list(name: &'static str) -> Self {
        Self { name, kind: "array", is_required: true, declaration: "" }
    }

    /// The same, which may be left out.
    pub const fn optional(self) -> Self {
        Self { is_required: false, ..self }
    }

    /// The same, which declares something with `yes`.
    pub const fn declares(self, declaration: &'static str) -> Self {
        Self { declaration, ..self }
    }
}

type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler whose type is forgotten: what axum makes of a handler is compiled once, not for each of them.
#[derive(Clone)]
struct AnyHandler(Arc<dyn Fn(Request, App) -> Answering + Send + Sync>);

impl AnyHandler {
    fn new<H: Handler<T, App>, T: 'static>(handler: H) -> Self {
        Self(Arc::new(move |request, app| Box::pin(handler.clone().call(request, app))))
    }
}

impl Handler<(), App> for AnyHandler {
    type Future = Answering;

    fn call(self, request: Request, app: App) -> Self::Future {
        (self.0)(request, app)
    }
}

macro_rules! constructors {
    ($($name:ident $method:ident),*) => {$(
        /// A route for this method.
        pub fn $name<H, T>(path: &'static str, access: Access, summary: &'static str, handler: H) -> Route
        where
            H: Handler<T, App> + Signature<T>,
            T: 'static,
        {
            Route {
                method: Method::$method,
                path,
                access,
                summary,
                is_upload: false,
                contract: H::contract(),
                program: None,
                body: Vec::new(),
                handler: routing::$name(AnyHandler::new(handler)),
            }
        }
    )*};
}

constructors!(get GET, post POST, delete DELETE);

impl Route {
    /// Allows bodies as large as an upload.
    pub fn upload(self) -> Self {
        Self { is_upload: true, ..self }
    }

    /// Gives programs the same at `path`, where they send JSON instead of a form and get JSON instead of a page.
    pub fn and(self, path: &'static str) -> Self {
        Self { program: Some(path), ..self }
    }

    /// Says that it answers with something other than JSON.
    pub fn sends(mut self, status: u16, kind: &'static str) -> Self {
        self.contract.replies.push(Reply { status, kind, schema: None });
        self
    }

    /// The route of a page, and that for programs.
    pub fn split(self) -> impl Iterator<Item = Self> {
        let program = self.program.map(|path| Self { path, program: None, ..self.clone() });
        [Self { program: None, ..self }].into_iter().chain(program)
    }

    /// Describes the fields of its JSON.
    pub fn takes<const N: usize>(self, body: [Field; N]) -> Self {
        Self { body: body.to_vec(), ..self }
    }
}
