//! The description of the API lists every route for programs, with what it takes and what it answers.

use axum::http::Method;
use capeval_server::FEATURES;
use capeval_site::feature::routes;
use capeval_site::web::Access;
use capeval_site::web::openapi::{document, is_described, types_with_two_forms};

#[test]
fn every_route_for_programs_says_what_it_answers() {
    let routes = routes(FEATURES);
    let untyped = routes.iter().filter(|route| is_described(route) && route.contract.replies.is_empty());
    let untyped: Vec<String> = untyped.map(|route| format!("{} {}", route.method, route.path)).collect();
    assert!(untyped.is_empty(), "return an Answer from the handlers of {untyped:?}");
}

#[test]
fn no_type_has_two_forms() {
    assert_eq!(types_with_two_forms(&routes(FEATURES)), Vec::<String>::new());
}

/// Routes that change something and need no body.
const BODILESS: [&str; 21] = [
    "qualifiers",
    "accept",
    "refuse",
    "retract",
    "images",
    "compare",
    "cancel",
    "pin",
    "choose",
    "unchoose",
    "private",
    "invites",
    "freeze",
    "unfreeze",
    "prepare",
    "rescore",
    "reinstate",
    "link",
    "publish",
    "withdraw",
    "remove",
];

#[test]
fn every_route_for_programs_is_described_with_what_it_takes() {
    let document = document(&routes(FEATURES), "x", "http://x/");
    let mut count = 0;
    for route in routes(FEATURES).iter().filter(|route| is_described(route)) {
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
        assert!(is_known, "describe the JSON of {case} with a Body, or add it to BODILESS");
        let needs_token = route.access != Access::Public;
        assert_eq!(operation["responses"]["401"].is_object(), needs_token, "{case}");
        count += 1;
    }
    let upload = &document["paths"]["/api/v1/collections/{slug}/pictures"]["post"]["requestBody"];
    let rights = &upload["content"]["multipart/form-data"]["schema"]["properties"]["rights"];
    let described = rights["description"].as_str().unwrap();
    assert!(described.starts_with("`yes` declares: I made these pictures myself"), "{described}");
    let described = document["paths"].as_object().unwrap().values();
    assert_eq!(described.map(|methods| methods.as_object().unwrap().len()).sum::<usize>(), count);
}
