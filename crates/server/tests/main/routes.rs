//! Every route and every role: who may do what, and what every answer carries.

use std::collections::BTreeSet;

use axum::http::{Method, Request};
use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::feature::routes;
use capeval_site::web::query::KnownParameters;
use capeval_site::web::{Access, Route, Scope, is_program};

use crate::support::{Database, Site, on_sqlite};

on_sqlite! {
    every_role_meets_every_route
    routes_are_told_apart_and_described
    pages_speak_two_languages_and_nothing_is_inline
    the_description_is_one_document_of_openapi
    every_route_of_the_api_names_parameters_that_it_does_not_read
}

/// The path of a route with ids of things that do not exist.
fn filled(path: &str) -> String {
    let parts: Vec<&str> =
        path.split('/').map(|part| if part.starts_with('{') { "00000000" } else { part }).collect();
    parts.join("/")
}

async fn every_role_meets_every_route() {
    let site = Site::new(Database::Sqlite).await;
    let mut browsers = vec![(None, None, site.anybody())];
    let mut programs = vec![(None, None, site.anybody())];
    for role in Role::ALL {
        for scope in Scope::ALL {
            let name = format!("{role}-{scope}");
            programs.push((Some(*role), Some(*scope), site.program(&name, *role, *scope).await));
        }
    }
    let mut refused = 0;
    for route in routes(FEATURES) {
        let path = filled(route.path);
        if route.path == "/sign-out" || route.path == "/account/sessions/end" {
            // These would end the session of this test; accounts.rs has them.
            continue;
        }
        if !path.starts_with("/api/") {
            // Each route gets fresh sessions, since some of them end sessions.
            browsers.truncate(1);
            for role in Role::ALL {
                let name = format!("{role}{}", capeval_site::ids::new_id());
                browsers.push((Some(*role), None, site.person(&name, *role).await));
            }
        }
        let clients = if path.starts_with("/api/") { &programs } else { &browsers };
        for (role, scope, client) in clients {
            let request = Request::builder().method(route.method.clone()).uri(&path);
            let form = request.header("content-type", "application/x-www-form-urlencoded");
            let answer = client.send(form, "").await;
            let status = answer.status.as_u16();
            let case = format!("{} {} as {role:?} {scope:?}: {status}", route.method, route.path);
            assert!(status < 500, "{case} {}", answer.text);
            let is_program = path.starts_with("/api/");
            let scope = scope.unwrap_or(Scope::Host);
            let is_allowed = match (route.access, role) {
                (Access::Public, _) => true,
                (_, None) => false,
                (Access::Person(needed), Some(_)) => scope >= needed,
                (Access::Host, Some(role)) => *role != Role::Member && scope == Scope::Host,
                (Access::Admin, Some(role)) => *role == Role::Admin && scope == Scope::Host,
            };
            if is_allowed {
                assert!(status != 401 || route.path == "/sign-in", "{case}");
                assert!(!answer.text.contains("\"code\":\"scope\""), "{case}");
            } else {
                refused += 1;
                match (role, is_program) {
                    (None, true) => assert_eq!(status, 401, "{case}"),
                    (None, false) => {
                        assert_eq!(status, 303, "{case}");
                        assert!(answer.header("location").starts_with("/sign-in?to="), "{case}");
                    }
                    (Some(_), _) => assert!(status == 404 || is_program && status == 403, "{case}"),
                }
            }
            assert!(answer.header("content-security-policy").contains("script-src 'self';"), "{case}");
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{case}");
            assert_eq!(answer.header("x-frame-options"), "DENY", "{case}");
            assert!(!answer.header("x-request-id").is_empty(), "{case}");
        }
    }
    assert!(refused > 20, "{refused}");
}

async fn routes_are_told_apart_and_described() {
    let mut known = BTreeSet::new();
    for route in routes(FEATURES) {
        assert!(known.insert((route.path, route.method.to_string())), "{} is there twice", route.path);
        assert!(!route.summary.is_empty() && !route.summary.ends_with('.'), "{}", route.path);
        let changes = route.method != Method::GET;
        let is_open =
            ["/sign-in", "/sign-in/finish", "/sign-out", "/register", "/forgotten", "/c/{slug}/takedown"]
                .contains(&route.path)
                || ["/join/{secret}", "/reset/{secret}", "/address/{secret}", "/unsubscribe/{secret}"]
                    .contains(&route.path);
        assert!(!changes || is_open || route.access != Access::Public, "everyone may {}", route.path);
    }
}

async fn pages_speak_two_languages_and_nothing_is_inline() {
    let site = Site::new(Database::Sqlite).await;
    let anybody = site.anybody();
    let english = anybody.get("/sign-in").await.expect(200).text;
    assert!(english.contains("<html lang=\"en\">") && english.contains("Email address"));
    let chinese =
        anybody.send(Request::get("/sign-in").header("accept-language", "fr, zh-CN;q=0.9"), "").await;
    assert!(chinese.text.contains("<html lang=\"zh\">") && chinese.text.contains("登录"));
    let chosen = anybody.get("/language/zh?to=/sign-in").await.expect(303);
    assert_eq!(chosen.header("location"), "/sign-in");
    assert!(anybody.with_cookie_of(&chosen).get("/sign-in").await.text.contains("登录"));
    let lost = anybody.get("/nowhere").await.expect(404);
    assert!(lost.text.contains("This page does not exist, or you do not have access to it."));
    for page in [&english, &chinese.text, &lost.text] {
        assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains(" onclick"));
        assert_eq!(page.matches("<script").count(), 1);
        assert!(page.contains("<script src=\"/assets/"));
    }
    let ada = site.person("Ada", Role::Member).await;
    for (method, path, status) in [("GET", "/nowhere", 404), ("DELETE", "/teams", 405), ("PUT", "/", 405)] {
        let request = || Request::builder().method(method).uri(path);
        let page = ada.send(request(), "").await.expect(status).text;
        assert!(page.contains(">Ada</a>") && !page.contains("/sign-in"), "{method} {path}: {page}");
        let page = anybody.send(request(), "").await.expect(status).text;
        assert!(page.contains("/sign-in"), "{method} {path}: {page}");
    }
    let address = english.split("href=\"").find(|part| part.starts_with("/assets/")).unwrap();
    let style = anybody.get(address.split('"').next().unwrap()).await.expect(200);
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    assert!(style.header("cache-control").contains("immutable"));
    assert_eq!(lost.header("cache-control"), "no-store");
    assert_eq!(anybody.get("/healthz").await.expect(200).text, "ok\n");
    assert_eq!(anybody.get("/readyz").await.expect(200).text, "ready\n");
}

async fn the_description_is_one_document_of_openapi() {
    let site = Site::new(Database::Sqlite).await;
    let described = site.anybody().get("/openapi.json").await.expect(200).json();
    assert_eq!(described["openapi"], "3.1.0");
    let grant = &described["paths"]["/api/v1/host/phases/{id}/grants"]["post"];
    let schema = &grant["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(schema["$ref"], "#/components/schemas/Grant");
    let schemas = &described["components"]["schemas"];
    assert_eq!(schemas["Grant"]["properties"]["extra"]["type"], "integer");
    assert_eq!(schemas["Grant"]["required"], serde_json::json!(["team", "extra", "reason"]));
    // Every reference leads to something.
    let text = described.to_string();
    let references = text.split("\"$ref\":\"#/components/schemas/").skip(1);
    let names: BTreeSet<&str> = references.filter_map(|rest| rest.split('"').next()).collect();
    assert!(names.contains("Problem") && names.len() > 10, "{names:?}");
    for name in names {
        assert!(schemas[name].is_object(), "{name}");
    }
    assert_eq!(text.matches("\"$ref\":").count(), text.matches("\"$ref\":\"#/components/schemas/").count());
}

async fn every_route_of_the_api_names_parameters_that_it_does_not_read() {
    let site = Site::new(Database::Sqlite).await;
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let send = async |route: &Route, query: &str| {
        let address = format!("{}?{query}", filled(route.path));
        root.send(Request::builder().method(route.method.clone()).uri(address), "").await
    };
    let mut n_known = 0;
    for route in routes(FEATURES).iter().filter(|route| is_program(route.path)) {
        let case = format!("{} {}", route.method, route.path);
        let refused = send(route, "page=1&nonsense=1&n%6Fnsense=2").await.expect(400).json();
        assert_eq!(refused["code"], "unknown-parameters", "{case}");
        assert!(refused["detail"].as_str().unwrap().contains("nonsense"), "{case} {refused}");
        for name in KnownParameters::of(&route.contract).names() {
            let known = send(route, &format!("{name}=1")).await;
            assert!(!known.text.contains("unknown-parameters"), "{case} {name} {}", known.text);
            let refused = send(route, &format!("{name}z=1")).await;
            if !name.ends_with('*') {
                let refused = refused.expect(400).json();
                let detail = refused["detail"].as_str().unwrap();
                assert!(detail.contains(&format!("{name}z. Did you mean {name}?")), "{case} {detail}");
            }
            n_known += 1;
        }
    }
    assert!(n_known > 30, "{n_known}");
    // People follow links to which others have added something.
    site.anybody().get("/sign-in?utm_source=mail&fbclid=1").await.expect(200);
}
