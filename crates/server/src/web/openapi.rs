//! The description of the API as OpenAPI, from the same table as the router, so that it is never out of date.

use axum::extract::{Json, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::route::{Access, Field, Route, Scope, get};
use crate::app::{self, App};

/// What uploads may say beside the file, in a form, or in the query if the body is the file itself.
const ABOUT: [&str; 4] = ["method", "description", "link", "team"];

/// The route of the description.
pub fn routes() -> Vec<Route> {
    vec![get("/openapi.json", Access::Public, "This description of the API", describe)]
}

async fn describe(State(app): State<App>) -> Response {
    Json(document(&app.settings.title, &app.settings.url("/"))).into_response()
}

/// Whether programs use a route.
pub fn is_described(route: &Route) -> bool {
    let others = ["/healthz", "/readyz", "/metrics", "/openapi.json"];
    route.path.starts_with("/api/") || others.contains(&route.path)
}

fn document(title: &str, address: &str) -> Value {
    let mut paths = Map::new();
    for route in app::routes().iter().filter(|route| is_described(route)) {
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = operation(route);
    }
    let text = json!({ "type": "string" });
    let problem = json!({
        "type": "object",
        "description": "A problem in the format of RFC 9457. Some codes have more fields: `report` of `invalid`, \
                        `submission` of `same-file`.",
        "required": ["title", "status", "code", "detail", "request_id"],
        "properties": {
            "type": text, "title": text, "status": { "type": "integer" },
            "code": { "type": "string", "description": "Its name, such as `day-used`, in all languages." },
            "detail": { "type": "string", "description": "A sentence in a language of Accept-Language." },
            "request_id": { "type": "string", "description": "The id of the request in the log of the server." },
            "retry_after": { "type": "integer", "description": "Seconds to wait, as in Retry-After." },
        },
    });
    json!({
        "openapi": "3.1.0",
        "info": { "title": title, "version": env!("CARGO_PKG_VERSION") },
        "servers": [{ "url": address }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Problem": problem },
        },
    })
}

fn operation(route: &Route) -> Value {
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
        "summary": route.summary, "description": needs, "security": security, "parameters": parameters(route),
        "responses": responses(route),
    });
    if let Some(body) = body(route) {
        operation["requestBody"] = body;
    }
    operation
}

/// The names in braces of a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn parameters(route: &Route) -> Vec<Value> {
    let parameter = |name: &str, place: &str| {
        let is_required = place == "path";
        json!({ "name": name, "in": place, "required": is_required, "schema": { "type": "string" } })
    };
    let mut parameters: Vec<Value> = names(route.path).map(|name| parameter(name, "path")).collect();
    parameters.extend(route.query.iter().map(|name| parameter(name, "query")));
    if is_of_results(route) {
        parameters.extend(ABOUT.map(|name| parameter(name, "query")));
        parameters.push(parameter("Idempotency-Key", "header"));
    }
    parameters
}

/// Whether a route takes a results file, rather than a form with fields of its own.
fn is_of_results(route: &Route) -> bool {
    route.is_upload && route.body.is_empty()
}

fn body(route: &Route) -> Option<Value> {
    if is_of_results(route) {
        let file = json!({ "type": "string", "format": "binary" });
        let mut fields: Map<String, Value> =
            ABOUT.into_iter().map(|name| (name.to_owned(), json!({ "type": "string" }))).collect();
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

fn responses(route: &Route) -> Value {
    let is_api = route.path.starts_with("/api/");
    let kind = match route.path {
        path if path.ends_with("/events") => "text/event-stream",
        "/api/v1/pictures/{id}" => "image/*",
        path if is_api || path == "/openapi.json" => "application/json",
        _ => "text/plain",
    };
    let mut responses = Map::new();
    responses.insert("2XX".to_owned(), json!({ "description": "Done", "content": { kind: {} } }));
    if route.path == "/readyz" {
        responses.insert("503".to_owned(), json!({ "description": "The server cannot work" }));
    }
    let mut problems = Vec::new();
    if is_api {
        problems.push(("default", "A problem, which its code tells"));
        problems.push(("429", "Too often, or the quota is used up; Retry-After says how long to wait"));
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
    if is_of_results(route) {
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

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use super::*;

    /// What changes something without being told more than its address.
    const BODILESS: [&str; 7] = ["cancel", "pin", "invites", "freeze", "unfreeze", "rescore", "reinstate"];

    #[test]
    fn every_route_for_programs_is_described_with_what_it_takes() {
        let document = document("x", "http://x/");
        let mut count = 0;
        for route in app::routes().iter().filter(|route| is_described(route)) {
            let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
            let case = format!("{} {}", route.method, route.path);
            assert_eq!(operation["summary"], route.summary, "{case}");
            let parameters = operation["parameters"].as_array().unwrap();
            let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path").count();
            assert_eq!(in_path, route.path.matches('{').count(), "{case}");
            let has_body = operation["requestBody"].is_object();
            assert!(!has_body || route.method == Method::POST, "{case}");
            let verb = route.path.rsplit('/').next().unwrap();
            let is_known = route.method != Method::POST || has_body != BODILESS.contains(&verb);
            assert!(is_known, "describe the JSON of {case} with .takes([…]), or add it to BODILESS");
            let needs_token = route.access != Access::Public;
            assert_eq!(operation["responses"]["401"].is_object(), needs_token, "{case}");
            count += 1;
        }
        let upload = &document["paths"]["/api/v1/collections/{slug}/pictures"]["post"]["requestBody"];
        let rights = &upload["content"]["multipart/form-data"]["schema"]["properties"]["rights"];
        let described = rights["description"].as_str().unwrap();
        assert!(described.starts_with("`yes` declares: I took these screenshots myself"), "{described}");
        let described = document["paths"].as_object().unwrap().values();
        assert_eq!(described.map(|methods| methods.as_object().unwrap().len()).sum::<usize>(), count);
    }
}
