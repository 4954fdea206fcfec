//! Texts that attack, in every field and on every page, and secrets that no log may have.

use axum::http::{Method, Request};
use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::feature::routes;
use capeval_site::web::Scope;

use crate::benchmarks::{benchmark, results};
use crate::support::process::{Server, command, request};
use crate::support::{Database, Site, on_sqlite};

on_sqlite! {
    attacks_stay_text_on_every_page
}

/// Texts that would do something if a page, a header or a spreadsheet took them for more than text.
pub const PAYLOADS: [&str; 40] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "\"><script>alert(1)</script>",
    "'><script>alert(1)</script>",
    "\" onmouseover=\"alert(1)",
    "' onmouseover='alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<iframe src=javascript:alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<math><mtext></math><script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</script>",
    "<<script>alert(1)//<</script>",
    "<style>@import'//evil'</style>",
    "<link rel=stylesheet href=//evil>",
    "<meta http-equiv=refresh content=0;url=//evil>",
    "<base href=//evil>",
    "<form action=//evil><button>x",
    "<object data=//evil>",
    "<embed src=//evil>",
    "<input autofocus onfocus=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<!--<script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "{{7*7}}<b>",
    "${7*7}<b>",
    "<%= 7*7 %>",
    "%3Cscript%3Ealert(1)%3C/script%3E<b>",
    "&lt;script&gt;<b>",
    "\u{2028}<script>alert(1)</script>",
    "<ScRiPt>alert(1)</ScRiPt>",
    "<script\n>alert(1)</script>",
    "<a\u{c}onclick=alert(1)>x</a>",
    "=HYPERLINK(\"//evil\")<b>",
    "@SUM(1+1)*cmd|' /C calc'!A0<b>",
];

async fn attacks_stay_text_on_every_page() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "per_day = 100\nin_total = 100\nhuman = false").await;
    let admin = site.person("Root", Role::Admin).await;
    for (k, payload) in PAYLOADS.iter().enumerate() {
        let person = site.person(&format!("p{k}"), Role::Member).await;
        person.post("/account/name", &[("name", payload)]).await.expect(303);
        person.post("/account/tokens", &[("name", payload), ("scope", "submit")]).await.expect(200);
        person.post("/teams", &[("name", &format!("{payload}{k}"))]).await.expect(303);
        if k % 8 == 0 {
            let program = site.program(&format!("p{k}"), Role::Member, Scope::Submit).await;
            let body = results(40, 5).replace("near", &format!("near{k}"));
            let texts = [("method", payload), ("description", payload)];
            let texts = texts.map(|(name, text)| format!("{name}={}", percent(text))).join("&");
            let path = format!("/api/v1/phases/{phase}/submissions?{texts}");
            program.send(Request::post(path), body).await.expect(201);
        }
        // In the text of a paragraph, quotation marks are only that.
        let text = payload.replace(['"', '\''], "");
        let words = [("title", *payload), ("text", text.as_str())];
        let asked = person.post("/b/b/questions", &words).await.expect(303);
        assert_is_text(&person.get(asked.header("location")).await.expect(200).text, payload);
        let slug = format!("page-{}", k % 20);
        let own = [words[0], words[1], ("slug", slug.as_str())];
        admin.post("/b/b/appearance/page", &own).await.expect(303);
        assert_is_text(&person.get(&format!("/b/b/pages/{slug}")).await.expect(200).text, payload);
        assert_is_text(&person.get("/account").await.expect(200).text, payload);
        assert_is_text(&person.get("/teams").await.expect(200).text, payload);
        let again = person.post("/sign-in", &[("email", payload), ("password", "x"), ("to", payload)]).await;
        assert_is_text(&again.text, payload);
        let query = percent(payload);
        for path in ["/admin/accounts?q=", "/admin/audit?subject=", "/sign-in?to=", "/?done=", "/"] {
            assert_is_text(&admin.get(&format!("{path}{query}")).await.text, payload);
        }
    }
    site.work().await;
    let pages = routes(FEATURES)
        .into_iter()
        .filter(|route| route.method == Method::GET && !route.path.contains("/api/"));
    for route in pages {
        let path = route.path.replace("{slug}", "b").replace("{phase}", "p");
        let page = admin.get(&path).await;
        // Feeds and citations are text of another kind, which no browser reads as a page.
        if ["text/html", "image/svg+xml"].iter().any(|kind| page.header("content-type").starts_with(kind)) {
            PAYLOADS.iter().for_each(|payload| assert_is_text(&page.text, payload));
        }
    }
    let board = admin.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(board.contains("&#60;script&#62;alert(1)&#60;/script&#62;"), "the attacks are on the board");
}

/// Fails if a page has a payload as it was sent, where that would be more than text.
#[track_caller]
pub fn assert_is_text(page: &str, payload: &str) {
    assert!(!page.contains(payload), "{payload}");
    for mark in ["alert(1)>", "<script>", "<b>", "//evil>", "onmouseover=\""] {
        assert!(!page.contains(mark), "{mark} of {payload}");
    }
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn no_log_has_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let add = ["admin", "user", "add", "--email", "a@example.org", "--password-stdin"];
    command(path, "", &add, "a very secret password\n");
    let token = command(path, "", &["admin", "token", "create", "--email", "a@example.org"], "");
    let log = std::fs::File::create(path.join("log")).unwrap();
    let server = Server::start_with_log(path, "", &[("LOG", "debug")], log.into());
    let port = server.port;
    let (status, _) = request(port, "GET", "/api/v1/me", &token, "").unwrap();
    assert_eq!(status, 200);
    request(port, "GET", "/join/secretlinksecretlink", "", "").unwrap();
    request(port, "POST", "/sign-in", "", "email=a%40example.org&password=a+very+secret+password").unwrap();
    assert!(server.stop());
    let log = std::fs::read_to_string(path.join("log")).unwrap();
    assert!(log.contains("/join/{secret}"), "the log has requests");
    for secret in [token.as_str(), "secretlink", "very secret", "very+secret"] {
        assert!(!log.contains(secret), "{secret}");
    }
}
