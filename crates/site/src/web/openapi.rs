//! The description of the API as OpenAPI, from the same table as the router, so it is never out of date.
//!
//! Two libraries do a part of this. `aide` (0.15) reads handlers as `signature.rs` does, by traits of what they take
//! and give, and `utoipa-axum` (0.2) reads an attribute above each handler. What they lack:
//!
//! - `aide` documents what `api_route` registers, and an extractor that says nothing compiles (`OperationInput` has a
//!   default). Here a route is one value; a test goes through all and refuses one whose answers are not described.
//! - Neither knows who may ask. Access, scope and standing make the guard, the answers 401, 403 and 404 of a route, and
//!   the test that sends every role to every route.
//! - Both wrap the router. The table of routes is data here: a page and its JSON share an entry, tests visit all.
//! - `aide` has one generator of schemas. Requests and answers need one each, since a field with a default may be left
//!   out of the one and is always in the other.
//! - `utoipa` repeats types of bodies and answers by hand, and every type of `crates/api` would need a second derive.

use axum::extract::Json;
use axum::response::{IntoResponse, Response};
use capeval_api::Problem;
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::query;
use super::route::{Access, Field, Route, Scope, get};
use crate::app::App;

/// The place of types in the document.
const SCHEMAS: &str = "/components/schemas";

/// The route of the description.
pub fn routes() -> Vec<Route> {
    vec![
        get("/openapi.json", Access::Public, "This description of the API", describe)
            .sends(200, "application/json"),
    ]
}

async fn describe(app: App) -> Response {
    let routes = app.routes();
    Json(document(&routes, &app.settings.title, &app.settings.url("/"))).into_response()
}

/// Returns true if the description of the API lists a route.
pub fn is_described(route: &Route) -> bool {
    let others = ["/healthz", "/readyz", "/metrics", "/openapi.json"];
    route.path.starts_with("/api/") || others.contains(&route.path)
}

/// The types of requests and of answers, which all parts of the document share.
struct Types {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Types {
    fn new() -> Self {
        let generator = |contract: Contract| {
            let mut settings = SchemaSettings::draft2020_12();
            settings.definitions_path = SCHEMAS.into();
            settings.meta_schema = None;
            settings.contract = contract;
            settings.into_generator()
        };
        Self { requests: generator(Contract::Deserialize), answers: generator(Contract::Serialize) }
    }

    /// All types by name. No type is of requests and of answers in two forms.
    fn all(mut self) -> Map<String, Value> {
        let mut all = self.requests.take_definitions(true);
        all.append(&mut self.answers.take_definitions(true));
        all
    }
}

/// The description of all routes for programs.
pub fn document(routes: &[Route], title: &str, address: &str) -> Value {
    let mut types = Types::new();
    types.answers.subschema_for::<Problem>();
    let mut paths = Map::new();
    for route in routes.iter().filter(|route| is_described(route)) {
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = operation(route, &mut types);
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": title, "version": env!("CARGO_PKG_VERSION") },
        "servers": [{ "url": address }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": types.all(),
        },
    })
}

fn operation(route: &Route, types: &mut Types) -> Value {
    let needs = match route.access {
        Access::Public => "Everyone.".to_owned(),
        Access::Person(scope) => format!("A token with the scope {scope}."),
        Access::Host => "A host's token with the scope host.".to_owned(),
        Access::Admin => "An administrator's token with the scope host.".to_owned(),
    };
    let security = match route.access {
        Access::Public => json!([{}, { "token": [] }]),
        _ => json!([{ "token": [] }]),
    };
    let mut operation = json!({
        "summary": route.summary, "description": needs, "security": security,
        "parameters": parameters(route, types), "responses": responses(route, types),
    });
    if let Some(body) = body(route, types) {
        operation["requestBody"] = body;
    }
    operation
}

/// The names in braces of a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn parameters(route: &Route, types: &mut Types) -> Vec<Value> {
    let parameter = |name: &str, place: &str| {
        let is_required = place == "path";
        json!({ "name": name, "in": place, "required": is_required, "schema": { "type": "string" } })
    };
    let mut parameters: Vec<Value> = names(route.path).map(|name| parameter(name, "path")).collect();
    for (name, field) in query(route, types) {
        parameters.push(json!({ "name": name, "in": "query", "required": false, "schema": field }));
    }
    if route.contract.is_file {
        parameters.push(parameter("Idempotency-Key", "header"));
    }
    parameters
}

/// The parameters in the query of a route, each with its schema.
fn query(route: &Route, types: &Types) -> Map<String, Value> {
    let generator = SchemaGenerator::from(types.requests.settings().clone());
    query::parameters(&route.contract, generator)
}

fn body(route: &Route, types: &mut Types) -> Option<Value> {
    if let Some(describe) = route.contract.body {
        let schema = describe(&mut types.requests);
        return Some(json!({ "required": true, "content": { "application/json": { "schema": schema } } }));
    }
    if route.contract.is_file {
        let file = json!({ "type": "string", "format": "binary" });
        let mut fields = query(route, types);
        fields.insert("file".to_owned(), file.clone());
        let form = json!({ "type": "object", "properties": fields, "required": ["file"] });
        return Some(json!({ "required": true, "content": {
            "application/octet-stream": { "schema": file },
            "multipart/form-data": { "schema": form },
        } }));
    }
    if route.body.is_empty() {
        return None;
    }
    let fields: Map<String, Value> =
        route.body.iter().map(|field| (field.name.to_owned(), schema(route, field))).collect();
    let required: Vec<&str> =
        route.body.iter().filter(|field| field.is_required).map(|field| field.name).collect();
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    let kind = if route.is_upload { "multipart/form-data" } else { "application/json" };
    Some(json!({ "required": true, "content": { kind: { "schema": schema } } }))
}

fn schema(route: &Route, field: &Field) -> Value {
    let file = json!({ "type": "string", "format": "binary" });
    match (field.kind, route.is_upload) {
        ("array", true) => json!({ "type": "array", "items": file }),
        (kind, _) if field.declaration.is_empty() => json!({ "type": kind }),
        (kind, _) => {
            json!({ "type": kind, "description": format!("`yes` declares: {}", field.declaration) })
        }
    }
}

fn responses(route: &Route, types: &mut Types) -> Value {
    let is_api = route.path.starts_with("/api/");
    let mut responses = Map::new();
    for reply in &route.contract.replies {
        let description = match reply.status {
            ..400 => "Done",
            400..500 => "Nothing was accepted",
            500.. => "The server cannot work",
        };
        let response = responses
            .entry(reply.status.to_string())
            .or_insert_with(|| json!({ "description": description }));
        match reply.schema {
            Some(describe) => {
                let schema = describe(&mut types.answers);
                response["content"][reply.kind] = json!({ "schema": schema });
            }
            None if reply.status == 204 => {}
            None => response["content"][reply.kind] = json!({}),
        }
    }
    if responses.is_empty() {
        responses.insert(
            "2XX".to_owned(),
            json!({ "description": "Done", "content": { "application/json": {} } }),
        );
    }
    let mut problems = Vec::new();
    if is_api {
        problems.push(("default", "A problem, which its code tells"));
        problems.push(("429", "Too often, or the quota is used up; Retry-After says how long to wait"));
        problems
            .push(("503", "The database cannot be reached or written; Retry-After says how long to wait"));
        if route.access != Access::Public {
            problems.push(("401", "There is no valid token"));
        }
        if !matches!(route.access, Access::Public | Access::Person(Scope::Read)) {
            problems.push(("403", "The scopes of the token are too small"));
        }
        if names(route.path).next().is_some() || matches!(route.access, Access::Host | Access::Admin) {
            problems.push(("404", "There is none, or the account may not know of it"));
        }
    }
    if route.contract.is_file {
        problems.push(("409", "These captions have already been submitted, or the phase is closed"));
        problems.push(("413", "The file is too large"));
        problems.push(("422", "The file cannot be read or scored; `invalid` comes with a report"));
    }
    for (status, description) in problems {
        let schema = json!({ "schema": { "$ref": "#/components/schemas/Problem" } });
        let content = json!({ "application/problem+json": schema });
        responses.insert(status.to_owned(), json!({ "description": description, "content": content }));
    }
    Value::Object(responses)
}

/// The names of types that requests and answers have in two forms, of which a document of OpenAPI could only have one.
pub fn types_with_two_forms(routes: &[Route]) -> Vec<String> {
    let mut types = Types::new();
    for route in routes.iter().filter(|route| is_described(route)) {
        operation(route, &mut types);
    }
    let (requests, answers) = (types.requests.definitions(), types.answers.definitions());
    let differs =
        |(name, request): &(&String, &Value)| answers.get(*name).is_some_and(|answer| answer != *request);
    requests.iter().filter(differs).map(|(name, _)| name.clone()).collect()
}
