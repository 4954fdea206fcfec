//! Bad input: what is sent, and which words the user sees. The test prints the cases as a table.

use std::io::Write;

use axum::body::Body;
use axum::http::Request;
use axum::http::request::Builder;
use capeval_site::accounts::Role;
use capeval_site::settings::Settings;
use capeval_site::web::Scope;
use serde_json::json;

use crate::benchmarks::{benchmark, results};
use crate::support::{Client, Database, Site, on_both, settings};

on_both! { bad_input_is_refused_in_words }

/// The people who send something.
struct Senders {
    phase: String,
    ada: Client,
    reader: Client,
    host: Client,
    browser: Client,
    anybody: Client,
    wrong_token: Client,
}

/// A case: its name, the request, the expected status, and words that the user sees.
struct Case {
    name: &'static str,
    client: Client,
    request: Builder,
    body: Vec<u8>,
    status: u16,
    words: &'static str,
}

/// A list of cases that is being written.
#[derive(Default)]
struct Cases(Vec<Case>);

impl Cases {
    fn add(
        &mut self,
        name: &'static str,
        client: &Client,
        request: Builder,
        body: &[u8],
        status: u16,
        words: &'static str,
    ) {
        let (client, body) = (client.clone(), body.to_vec());
        self.0.push(Case { name, client, request, body, status, words });
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(names: &[&str]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in names {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(b"[]").unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Valid results with another text in the place of one, which is `{"image_id":0,"caption":"…"}` without braces.
fn with(item: &str) -> Vec<u8> {
    let all = results(40, 5);
    let end = all.find("},{").unwrap();
    format!("[{{{item}}},{{{}", &all[end + 3..]).into_bytes()
}

/// A site on which Ada has used a key and a name for a team.
async fn senders(database: Database) -> (Site, Senders) {
    let settings =
        Settings { upload_mib: 1, unpacked_mib: 2, registration: "open".to_owned(), ..settings(database) };
    let site = Site::with(settings.with(&capeval_benchmarks::CAPTIONS_MAX, 100)).await;
    let phase = benchmark(&site, "per_day = 5").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let reader = site.program("Ada", Role::Member, Scope::Read).await;
    let host = site.program("Root", Role::Admin, Scope::Host).await;
    let (anybody, browser) = (site.anybody(), site.person("Bao", Role::Member).await);
    let wrong_token = Client { token: Some("cev_wrong".to_owned()), ..anybody.clone() };
    ada.post_json("/api/v1/teams", &json!({ "name": "Taken" })).await.expect(201);
    let key =
        Request::post(format!("/api/v1/phases/{phase}/submissions?method=a")).header("idempotency-key", "k");
    ada.send(key, results(40, 5)).await.expect(201);
    let senders = Senders { phase, ada, reader, host, browser, anybody, wrong_token };
    (site, senders)
}

/// A submission with this query.
fn post(who: &Senders, query: &str) -> Builder {
    Request::post(format!("/api/v1/phases/{}/submissions?{query}", who.phase))
}

fn good() -> Vec<u8> {
    results(40, 7).into_bytes()
}

fn files(who: &Senders, cases: &mut Cases) {
    let files: &[(&'static str, Vec<u8>, u16, &'static str)] = &[
        ("an empty file", vec![], 422, "Choose a file with results."),
        ("no JSON", b"a dog on a beach".to_vec(), 422, "captions without the ids of their images"),
        (
            "JSON that breaks off",
            b"[{\"image_id\": 0,".to_vec(),
            422,
            "the file:1:17 (byte 16): unexpected end of JSON",
        ),
        ("an object instead of a list", b"{\"annotations\": []}".to_vec(), 422, "missing"),
        ("text after the list", b"[] x".to_vec(), 422, "expected the end of the file after the value"),
        (
            "100,000 levels",
            format!("[{}", "[".repeat(100_000)).into_bytes(),
            422,
            "expected an object with an id and a caption, found an array",
        ),
        (
            "bytes that are not UTF-8",
            b"[{\"image_id\": 0, \"caption\": \"\xff\"}]".to_vec(),
            422,
            "invalid UTF-8 (byte 0xFF)",
        ),
        (
            "UTF-16",
            "[]".encode_utf16().flat_map(u16::to_le_bytes).collect(),
            422,
            "looks like UTF-16 without a byte order mark",
        ),
        (
            "half of a surrogate pair",
            with("\"image_id\":0,\"caption\":\"\\ud800\""),
            422,
            "an escaped surrogate without its partner",
        ),
        ("an item that is no object", b"[1]".to_vec(), 422, "not-an-object"),
        ("an item without a caption", with("\"image_id\":0"), 422, "not-an-object"),
        ("an id with a fraction", with("\"image_id\":0.5,\"caption\":\"a\""), 422, "#1: 0.5"),
        ("an id that is null", with("\"image_id\":null,\"caption\":\"a\""), 422, "bad-id"),
        ("a caption that is a number", with("\"image_id\":0,\"caption\":7"), 422, "not-text"),
        ("an empty caption", with("\"image_id\":0,\"caption\":\" \""), 422, "empty"),
        (
            "a caption of 3,000 characters",
            with(&format!("\"image_id\":0,\"caption\":\"{}\"", "a ".repeat(1500))),
            422,
            "too-long",
        ),
        ("an unknown image", with("\"image_id\":4711,\"caption\":\"a\""), 422, "4711"),
        ("an image twice", with("\"image_id\":1,\"caption\":\"a\""), 422, "duplicate"),
        ("images without captions", results(10, 5).into_bytes(), 422, "missing"),
        ("more captions than allowed", results(101, 5).into_bytes(), 422, "more than 100"),
        ("a file of more than 1 MiB", vec![b' '; (1 << 20) + 1], 413, "The file is larger than 1 MiB."),
        ("a gzip bomb", gzip(&vec![b' '; 3 << 20]), 413, "The file is larger than 2 MiB when decompressed."),
        (
            "a damaged gzip file",
            gzip(b"[1, 2, 3, 4, 5, 6, 7, 8]")[..20].to_vec(),
            422,
            "The compressed file is damaged",
        ),
        (
            "a zip archive of two files",
            zip(&["a.json", "b.json"]),
            422,
            "the zip archive holds 2 files: a.json, b.json",
        ),
        ("an empty zip archive", zip(&[]), 422, "the zip archive holds no file"),
        ("a damaged zip archive", zip(&["a.json"])[..30].to_vec(), 422, "The compressed file is damaged"),
    ];
    for (name, body, status, words) in files {
        cases.add(name, &who.ada, post(who, "method=m"), body, *status, words);
    }
}

fn what_is_said_about_files(who: &Senders, cases: &mut Cases) {
    let good = good();
    cases.add(
        "no method",
        &who.ada,
        post(who, ""),
        &good,
        422,
        "Give the method a name of 1 to 80 characters.",
    );
    cases.add(
        "an invisible method",
        &who.ada,
        post(who, "method=%E2%80%8B%00"),
        &good,
        422,
        "Give the method a name",
    );
    let long = format!("method=m&description={}", "a".repeat(2001));
    cases.add(
        "a long description",
        &who.ada,
        post(who, &long),
        &good,
        422,
        "The description can have at most 2000 characters.",
    );
    cases.add(
        "a link that runs",
        &who.ada,
        post(who, "method=m&link=javascript:alert(1)"),
        &good,
        422,
        "The link must begin with",
    );
    cases.add(
        "a team of others",
        &who.ada,
        post(who, "method=m&team=4711"),
        &good,
        409,
        "You already take part in this phase with another",
    );
    let key = |key: &str| post(who, "method=m").header("idempotency-key", key);
    cases.add(
        "an empty key",
        &who.ada,
        key(""),
        &good,
        400,
        "An Idempotency-Key must have 1 to 200 printable ASCII characters.",
    );
    cases.add(
        "a key with another file",
        &who.ada,
        key("k"),
        &good,
        422,
        "has already been used with another file",
    );
    let form = |boundary: &str| {
        post(who, "").header("content-type", format!("multipart/form-data; boundary={boundary}"))
    };
    cases.add(
        "a form that breaks off",
        &who.ada,
        form("x"),
        b"--x\r\nContent-Disp",
        400,
        "The upload was interrupted.",
    );
    let no_file = b"--x\r\nContent-Disposition: form-data; name=\"method\"\r\n\r\nm\r\n--x--\r\n";
    cases.add("a form without a file", &who.ada, form("x"), no_file, 422, "Choose a file with results.");
}

fn places_and_people(who: &Senders, cases: &mut Cases) {
    let good = good();
    let lost = Request::post("/api/v1/phases/4711/submissions?method=m");
    cases.add(
        "a phase that does not exist",
        &who.ada,
        lost,
        &good,
        404,
        "This page does not exist, or you do not have access to it.",
    );
    cases.add("no token", &who.anybody, post(who, "method=m"), &good, 401, "A valid token is required");
    cases.add(
        "a wrong token",
        &who.wrong_token,
        post(who, "method=m"),
        &good,
        401,
        "A valid token is required",
    );
    cases.add(
        "a token that only reads",
        &who.reader,
        post(who, "method=m"),
        &good,
        403,
        "This token lacks the required scope",
    );
    let get = |path: &str| Request::get(path.to_owned());
    cases.add(
        "another method of HTTP",
        &who.ada,
        Request::put("/api/v1/me"),
        b"",
        405,
        "This address does not support this method.",
    );
    cases.add("a NUL in the address", &who.browser, get("/b/%00"), b"", 404, "This page does not exist");
    cases.add(
        "an unknown measure",
        &who.browser,
        get("/b/b/p/leaderboard?sort=x%00"),
        b"",
        400,
        "sort: the board has no measure `x",
    );
}

fn requests_in_json(who: &Senders, cases: &mut Cases) {
    let json = |path: &str| Request::post(path.to_owned()).header("content-type", "application/json");
    cases.add(
        "JSON that breaks off",
        &who.ada,
        json("/api/v1/teams"),
        b"{",
        400,
        "EOF while parsing an object at line 1",
    );
    cases.add(
        "JSON without its fields",
        &who.ada,
        json("/api/v1/teams"),
        b"{}",
        400,
        "malformed: Failed to deserialize the JSON body into the target type: missing field `name`",
    );
    cases.add(
        "JSON that says it is something else",
        &who.ada,
        Request::post("/api/v1/teams"),
        b"{\"name\":\"x\"}",
        400,
        "Expected request with `Content-Type: application/json`",
    );
    cases.add(
        "a name that is taken",
        &who.ada,
        json("/api/v1/teams"),
        b"{\"name\":\"Taken\"}",
        409,
        "The team name Taken is already taken.",
    );
    cases.add(
        "a body of 300 kB",
        &who.ada,
        json("/api/v1/teams"),
        &[b' '; 300_000],
        413,
        "The request is too large.",
    );
    let grants = format!("/api/v1/host/phases/{}/grants", who.phase);
    let grant =
        |extra: &str| format!("{{\"team\":\"\\u0000\",\"extra\":{extra},\"reason\":\"x\"}}").into_bytes();
    cases.add("a grant of -1", &who.host, json(&grants), &grant("-1"), 422, "Grant a number of submissions");
    cases.add(
        "a grant of 10^30",
        &who.host,
        json(&grants),
        &grant(&format!("1{}", "0".repeat(30))),
        400,
        "extra: invalid type",
    );
    cases.add(
        "a grant to no one",
        &who.host,
        json(&grants),
        &grant("1"),
        404,
        "This team has not entered the phase.",
    );
}

fn forms(who: &Senders, cases: &mut Cases) {
    let fields = |path: &str| {
        Request::post(path.to_owned()).header("content-type", "application/x-www-form-urlencoded")
    };
    cases.add(
        "no email address",
        &who.anybody,
        fields("/register"),
        b"email=ada&name=A&password=a+long+password",
        422,
        "This is not an email address: ada",
    );
    cases.add(
        "a short password",
        &who.anybody,
        fields("/register"),
        b"email=a@example.org&name=A&password=x",
        422,
        "A password must have 10 to 200 characters.",
    );
    cases.add(
        "an address that is taken",
        &who.anybody,
        fields("/register"),
        b"email=ada@example.org&name=A&password=a+long+password",
        409,
        "An account with this email address already exists.",
    );
    cases.add(
        "a wrong password",
        &who.anybody,
        fields("/sign-in"),
        b"email=ada@example.org&password=x",
        401,
        "Email address and password do not match.",
    );
    cases.add(
        "an old link",
        &who.anybody,
        Request::get("/join/4711"),
        b"",
        410,
        "This link has already been used or is more than 7 days old.",
    );
    let foreign =
        fields("/teams").header("origin", "https://evil.example").header("sec-fetch-site", "cross-site");
    cases.add(
        "a form of another site",
        &who.browser,
        foreign,
        b"name=x",
        403,
        "This request came from another site and was rejected.",
    );
}

async fn bad_input_is_refused_in_words(database: Database) {
    let (site, who) = senders(database).await;
    let mut cases = Cases::default();
    for add in [files, what_is_said_about_files, places_and_people, requests_in_json, forms] {
        add(&who, &mut cases);
    }
    println!("| case | status | words |\n|---|---|---|");
    let count = cases.0.len();
    let mut failures = Vec::new();
    for Case { name, client, request, body, status, words } in cases.0 {
        let answer = client.send(request, Body::from(body)).await;
        if answer.status.as_u16() != status || !answer.text.contains(words) {
            failures.push(format!("{name}: {} {}", answer.status, answer.text));
        }
        println!("| {name} | {status} | {words} |");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count >= 30);
    // Nothing of all this was counted, and no draft is left.
    let quota = who.ada.get(&format!("/api/v1/phases/{}/quota", who.phase)).await.expect(200).json();
    assert_eq!(quota["used_today"], 1);
    assert_eq!(std::fs::read_dir(site.app.blobs.folder().join("new")).unwrap().count(), 0);
}
