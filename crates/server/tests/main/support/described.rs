//! Compares every answer that a test gets with what `/openapi.json` says of its route.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::http::Method;
use boon::{Compiler, SchemaIndex, Schemas};
use capeval_server::FEATURES;
use capeval_site::feature::routes;
use capeval_site::web::openapi;
use serde_json::{Value, json};

use super::Answer;

/// The address of the document, for references within it.
const DOCUMENT: &str = "http://localhost/openapi.json";

struct ApiDescription {
    document: Value,
    schemas: Schemas,
    /// The schema at each place of the document that has one.
    compiled: HashMap<String, SchemaIndex>,
}

static DESCRIBED: LazyLock<ApiDescription> = LazyLock::new(|| {
    let mut document = openapi::document(&routes(FEATURES), "capeval", "http://localhost/");
    close(&mut document["components"]["schemas"]);
    let mut compiler = Compiler::new();
    compiler.add_resource(DOCUMENT, document.clone()).unwrap();
    let mut places = vec!["/components/schemas/Problem".to_owned()];
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                if response["content"]["application/json"]["schema"].is_object() {
                    places.push(place(path, method, status));
                }
            }
        }
    }
    let mut schemas = Schemas::new();
    let compiled = places.into_iter().map(|place| {
        let address = format!("{DOCUMENT}#{place}");
        let schema =
            compiler.compile(&address, &mut schemas).unwrap_or_else(|error| panic!("{place}: {error}"));
        (place, schema)
    });
    ApiDescription { compiled: compiled.collect(), schemas, document }
});

/// The place of the schema of an answer.
fn place(path: &str, method: &str, status: &str) -> String {
    let path = path.replace('~', "~0").replace('/', "~1").replace('{', "%7B").replace('}', "%7D");
    format!("/paths/{path}/{method}/responses/{status}/content/application~1json/schema")
}

/// Allows no fields but those that are described, which programs must tolerate and this server must not send.
fn close(schema: &mut Value) {
    if let Some(fields) = schema.as_object_mut() {
        if fields.contains_key("properties") {
            fields.entry("additionalProperties").or_insert(json!(false));
        }
        fields.values_mut().for_each(close);
    } else if let Some(list) = schema.as_array_mut() {
        list.iter_mut().for_each(close);
    }
}

impl ApiDescription {
    fn check(&self, place: &str, answer: &Answer, case: &str) {
        let json = answer.json();
        if let Err(error) = self.schemas.validate(&json, self.compiled[place]) {
            panic!("{case}: {error}\n{}", answer.text);
        }
    }

    /// The described route of a path, with as few variable parts as possible.
    fn route(&self, path: &str) -> Option<(&String, &Value)> {
        let fits = |route: &str| {
            let (route, path) = (route.split('/'), path.split('/'));
            route.clone().count() == path.clone().count()
                && route.zip(path).all(|(known, part)| known == part || known.starts_with('{'))
        };
        let routes = self.document["paths"].as_object().unwrap().iter();
        routes.filter(|(route, _)| fits(route)).min_by_key(|(route, _)| route.matches('{').count())
    }
}

/// Fails if an answer is not as described.
pub fn check(method: &Method, path: &str, answer: &Answer) {
    let Some((route, methods)) = DESCRIBED.route(path) else { return };
    let operation = &methods[method.as_str().to_lowercase()];
    let status = answer.status.as_str();
    let case = format!("{method} {route} answers {status}");
    let kind = answer.header("content-type");
    if kind == "application/problem+json" {
        return DESCRIBED.check("/components/schemas/Problem", answer, &case);
    }
    if operation.is_null() || operation["responses"]["2XX"].is_object() {
        return;
    }
    let response = &operation["responses"][status];
    assert!(response.is_object(), "{case}, which is not described");
    let Some(kinds) = response["content"].as_object() else { return assert_eq!(answer.text, "", "{case}") };
    let described = kinds.iter().find(|(described, _)| kind.starts_with(described.trim_end_matches('*')));
    let Some((_, content)) = described else { panic!("{case} {kind}, which is not described") };
    if content["schema"].is_object() {
        DESCRIBED.check(&place(route, &method.as_str().to_lowercase(), status), answer, &case);
    }
}

#[test]
fn answers_that_are_not_as_described_are_found() {
    let path = "/api/v1/host/phases/1/entries";
    let entry = json!({
        "team": "1", "name": "Ada", "used_today": 0, "per_day": 1, "used_in_total": 0, "in_total": 1,
    });
    let is_found = |status: u16, entry: &Value| {
        let headers = [("content-type".parse().unwrap(), "application/json".parse().unwrap())];
        let answer = Answer {
            status: status.try_into().unwrap(),
            headers: headers.into_iter().collect(),
            text: json!({ "entries": [entry], "next": null }).to_string(),
        };
        std::panic::catch_unwind(|| check(&Method::GET, path, &answer)).is_err()
    };
    assert!(!is_found(200, &entry));
    assert!(is_found(201, &entry), "a status");
    let changed = |name: &str, value: Value| {
        let mut entry = entry.clone();
        entry[name] = value;
        entry
    };
    assert!(is_found(200, &changed("team", Value::Null)), "a type");
    assert!(is_found(200, &changed("more", json!(1))), "a field that is not described");
    assert!(is_found(200, &json!({ "team": "1" })), "fields that are missing");
}
