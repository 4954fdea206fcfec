//! The description of the API for programs, from the same table as the router.

use axum::extract::{Json, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::route::{Access, Route, get};
use crate::app::{self, App};

/// The route of the description.
pub fn routes() -> Vec<Route> {
    vec![get("/openapi.json", Access::Public, "The description of the API", describe)]
}

async fn describe(State(app): State<App>) -> Response {
    let mut paths = Map::new();
    for route in app::routes().iter().filter(|route| route.path.starts_with("/api/")) {
        let names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let parameters: Vec<Value> = names
            .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
            .collect();
        let security = match route.access {
            Access::Public => json!([{}, { "token": [] }]),
            _ => json!([{ "token": [] }]),
        };
        let needs = match route.access {
            Access::Public => "Everybody.".to_owned(),
            Access::Person(scope) => format!("A token with the scope {scope}."),
            Access::Host => "A host's token with the scope host.".to_owned(),
            Access::Admin => "An administrator's token with the scope host.".to_owned(),
        };
        let mut operation = json!({
            "summary": route.summary, "description": needs, "parameters": parameters, "security": security,
            "responses": {
                "2XX": { "description": "Done", "content": { "application/json": {} } },
                "default": { "description": "A problem", "content": {
                    "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } } },
            },
        });
        if route.is_upload {
            let file = json!({ "type": "string", "format": "binary" });
            let text = json!({ "type": "string" });
            let fields =
                json!({ "file": file, "method": text, "description": text, "link": text, "team": text });
            operation["requestBody"] = json!({ "required": true, "content": {
                "application/octet-stream": { "schema": file },
                "multipart/form-data": { "schema": { "type": "object", "properties": fields } },
            } });
        }
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = operation;
    }
    let text = json!({ "type": "string" });
    let problem = json!({ "type": "object", "properties": {
        "title": text, "status": { "type": "integer" }, "code": text, "detail": text, "request_id": text,
        "retry_after": { "type": "integer" },
    } });
    Json(json!({
        "openapi": "3.1.0",
        "info": { "title": app.settings.title, "version": env!("CARGO_PKG_VERSION") },
        "servers": [{ "url": app.settings.url("/") }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Problem": problem },
        },
    }))
    .into_response()
}
