//! What hosts make of the page of their benchmark: pages of their own, a logo, a colour, whom to ask, dates, numbers.

use std::io::Cursor;
use std::path::Path;

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use capeval_site::{args, clock};
use image::{ImageFormat, RgbImage};
use serde_json::json;

use crate::benchmarks::{benchmark, results};
use crate::collections::{form, png};
use crate::exchange::send_file;
use crate::support::{Answer, Client, Database, Page as _, Site, on_both, on_sqlite};

on_both! {
    hosts_write_pages_in_both_languages
    hosts_see_visits_submissions_and_refusals_by_day
}
on_sqlite! {
    a_logo_is_encoded_again_and_a_colour_is_seen_everywhere
    a_plan_has_the_appearance_and_exports_it
}

async fn hosts_write_pages_in_both_languages(database: Database) {
    let site = Site::new(database).await;
    benchmark(&site, "opens = 2026-06-01\ncloses = 2026-07-01\nreveal = 2026-07-02\nboard = 'hidden'").await;
    let root = site.person("Root", Role::Admin).await;
    let prizes = [
        ("slug", "prizes"),
        ("title", "Prizes"),
        ("title_zh", "奖项"),
        ("text", "First: *100* <script>alert(1)</script> [x](javascript:alert(1))"),
    ];
    root.post("/b/b/appearance/page", &prizes).await.expect(303);
    let sponsors = [("slug", "sponsors"), ("title", "Sponsors"), ("text_zh", "感谢 **赞助方**")];
    root.post("/b/b/appearance/page", &sponsors).await.expect(303);
    let look = [("contact", "hosts@example.org"), ("accent", "#2C63C7")];
    root.post("/b/b/appearance", &look).await.expect(303);

    // Pages that are written at once are both there.
    let page = |slug: &'static str| [("slug", slug), ("title", "At once"), ("text", "-")];
    let (one, other) = (page("one"), page("other"));
    let (a, b) =
        tokio::join!(root.post("/b/b/appearance/page", &one), root.post("/b/b/appearance/page", &other));
    a.expect(303);
    b.expect(303);
    for slug in ["one", "other"] {
        site.anybody().get(&format!("/b/b/pages/{slug}")).await.expect(200);
        root.post("/b/b/appearance/page", &[("slug", slug), ("remove", "true")]).await.expect(303);
    }

    let chinese = site.anybody().with_cookie("language=zh");
    let page = site.anybody().get("/b/b/pages/prizes").await.expect(200).text;
    assert!(page.contains("<em>100</em>") && !page.contains("<script>alert"), "{page}");
    assert!(!page.contains("href=\"javascript"), "{page}");
    let page = chinese.get("/b/b/pages/prizes").await.expect(200).text;
    // What is not there in one language is shown in the other.
    assert!(page.contains("奖项</h1>") && page.contains("<em>100</em>"), "{page}");
    assert!(
        site.anybody().get("/b/b/pages/sponsors").await.expect(200).text.contains("<strong>赞助方</strong>")
    );
    let page = site.anybody().get("/b/b").await.expect(200).text;
    assert!(page.contains("<a href=\"/b/b/pages/prizes\">Prizes</a>"), "{page}");
    assert!(page.contains("href=\"mailto:hosts@example.org\"") && page.contains("/b/b/accent.css"), "{page}");
    let schedule = page.between("<summary>Schedule</summary>", "</details>");
    let order: Vec<usize> =
        ["2026-06-01", "Opens", "2026-07-01", "Closes", "2026-07-02", "Scores become public"]
            .map(|text| schedule.find(text).unwrap_or_else(|| panic!("{text}: {schedule}")))
            .into();
    assert!(order.is_sorted(), "{schedule}");
    let style = site.anybody().get("/b/b/accent.css").await.expect(200);
    assert!(style.text.contains("#2c63c7") && style.header("content-type").starts_with("text/css"));
    let program = site.program("Eve", Role::Member, Scope::Read).await;
    let own = program.get("/api/v1/benchmarks/b/pages/prizes").await.expect(200).json();
    assert_eq!((&own["title"], &own["title_zh"]), (&json!("Prizes"), &json!("奖项")));

    // What was wrong is shown again with what was typed; other settings stay.
    for (fields, words) in [
        (vec![("slug", "Prizes"), ("title", "x"), ("text", "kept")], "is not a slug"),
        (vec![("slug", "a"), ("title", ""), ("text", "kept")], "a title has 1 to 80 characters"),
        (vec![("slug", "a"), ("title", "kept"), ("text", " ")], "a text has 1 to 50000 characters"),
    ] {
        let page = root.post("/b/b/appearance/page", &fields).await.expect(422).text;
        assert!(page.contains(words) && page.contains("kept"), "{words}: {page}");
    }
    let settings = [("slug", "b"), ("title", "Benchmark"), ("hosts", "root@example.org")];
    root.post("/b/b/settings", &settings).await.expect(303);
    root.post("/b/b/appearance/page", &[("slug", "sponsors"), ("remove", "true")]).await.expect(303);
    site.anybody().get("/b/b/pages/sponsors").await.expect(404);
    assert!(site.anybody().get("/b/b").await.expect(200).text.contains("mailto:hosts@example.org"));
    assert!(root.get("/b/b/audit").await.expect(200).text.contains("benchmark.appearance"));
}

/// Sends a file as the logo.
async fn send_logo(client: &Client, bytes: Vec<u8>) -> Answer {
    send_file(client, "/b/b/appearance/logo", "", "logo.png", bytes).await
}

async fn a_logo_is_encoded_again_and_a_colour_is_seen_everywhere() {
    let site = Site::new(Database::Sqlite).await;
    benchmark(&site, "").await;
    let root = site.person("Root", Role::Admin).await;
    site.anybody().get("/b/b/logo").await.expect(404);
    let mut hidden = png(3);
    hidden.extend(b"a secret behind the picture");
    send_logo(&root, hidden).await.expect(303);
    let logo = site.anybody().get("/b/b/logo").await.expect(200);
    assert_eq!(logo.header("content-type"), "image/png");
    assert_eq!(logo.header("content-security-policy"), "default-src 'none'; sandbox");
    assert!(!logo.text.contains("a secret"));
    assert!(site.anybody().get("/b/b").await.expect(200).text.contains("<img src=\"/b/b/logo\""));
    // A large one is sent as a small copy.
    let mut large = Vec::new();
    RgbImage::new(1000, 700).write_to(&mut Cursor::new(&mut large), ImageFormat::Png).unwrap();
    send_logo(&root, large).await.expect(303);
    assert_eq!(site.anybody().get("/b/b/logo").await.expect(200).header("content-type"), "image/jpeg");
    let drawing = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".to_vec();
    let refused = send_logo(&root, drawing).await.expect(422).text;
    assert!(refused.contains("It is not a JPEG, PNG or WebP picture."), "{refused}");
    let (kind, body) = form(&[("remove", "true")], &[]);
    let request = Request::post("/b/b/appearance/logo").header("content-type", kind);
    root.send(request, body).await.expect(303);
    site.anybody().get("/b/b/logo").await.expect(404);

    for (field, value, words) in [
        ("accent", "#ffee00", "has a contrast of 1.1 on light pages"),
        ("accent", "#00004f", "on dark pages"),
        ("accent", "red;} body{", "is no colour"),
        ("contact", "javascript:alert(1)", "neither an email address nor a page"),
        ("contact", "https://a b", "neither an email address nor a page"),
    ] {
        let page = root.post("/b/b/appearance", &[(field, value)]).await.expect(422).text;
        assert!(page.contains(words), "{value}: {page}");
    }
    assert_eq!(site.anybody().get("/b/b/accent.css").await.expect(200).text, "");
}

async fn a_plan_has_the_appearance_and_exports_it() {
    let site = Site::new(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("own.png"), png(3)).unwrap();
    let plan = |logo: &str| {
        format!(
            "slug = 'b'\ntitle = 'Benchmark'\ncontact = 'https://example.org/ask'\naccent = '#14795a'\n{logo}\n\
             [[pages]]\nslug = 'prizes'\ntitle = 'Prizes'\ntitle_zh = '奖项'\ntext = 'Much.'\n"
        )
    };
    let apply = async |plan: &str, folder: &Path| {
        let plan = toml::from_str(plan).map_err(|error| error.to_string())?;
        let applied = capeval_benchmarks::apply::apply(&site.app, &plan, folder, None).await;
        applied.map(drop).map_err(|error| format!("{error:#}"))
    };
    apply(&plan("logo = 'own.png'"), folder.path()).await.unwrap();
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let exported = root.get("/api/v1/host/benchmarks/b/file").await.expect(200).text;
    for text in [
        "logo = \"logo.png\"",
        "accent = \"#14795a\"",
        "[[pages]]",
        "title_zh = \"奖项\"",
        "contact = \"https",
    ] {
        assert!(exported.contains(text), "{text}: {exported}");
    }
    // The logo stays where a plan has no file of it, and a plan without pages removes them.
    apply(&exported, Path::new("/nowhere")).await.unwrap();
    site.anybody().get("/b/b/logo").await.expect(200);
    apply("slug = 'b'\ntitle = 'Benchmark'", Path::new("/nowhere")).await.unwrap();
    site.anybody().get("/b/b/logo").await.expect(200);
    site.anybody().get("/b/b/pages/prizes").await.expect(404);
    assert!(apply(&plan("logo = 'other.png'"), folder.path()).await.unwrap_err().contains("other.png"));
    std::fs::write(folder.path().join("own.png"), b"GIF89a").unwrap();
    let refused = apply(&plan("logo = 'own.png'"), folder.path()).await.unwrap_err();
    assert!(refused.contains("The logo cannot be used"), "{refused}");
}

async fn hosts_see_visits_submissions_and_refusals_by_day(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "").await;
    let root = site.person("Root", Role::Admin).await;
    let clock = Clock::of_thread().unwrap();
    let day = || clock::day(clock::now());
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let send = async |body: String| {
        let path = format!("/api/v1/phases/{phase}/submissions?method=m");
        ada.send(Request::post(path).header("content-type", "application/json"), body).await
    };
    for _ in 0..3 {
        site.anybody().get("/b/b").await.expect(200);
    }
    // Hosts do not count.
    root.get("/b/b").await.expect(200);
    send(results(40, 5)).await.expect(201);
    // An empty caption, an unknown image, and 39 without a caption.
    let wrong = r#"[{"image_id": 0, "caption": ""}, {"image_id": 99, "caption": "x"}]"#;
    send(wrong.to_owned()).await.expect(422);
    let first = day();
    clock.move_to(clock::now() + 2 * clock::DAY);
    site.anybody().get("/b/b").await.expect(200);
    send(results(40, 6)).await.expect(201);
    let fail = "UPDATE submission SET state = 'failed', reason = 'the child was killed' WHERE kind = 'entry' \
                AND created_at < $1";
    site.app.store.execute(fail, args![clock::now() - clock::DAY]).await.unwrap();

    let csv = root.get("/b/b/statistics.csv").await.expect(200);
    let lines: Vec<&str> = csv.text.lines().collect();
    let expected = [
        "day,visits,people,teams,submissions,scored,failed,refused".to_owned(),
        format!("{first},3,0,1,1,0,1,3"),
        format!("{},1,0,0,1,0,0,0", day()),
    ];
    assert_eq!(lines, expected);
    let program = site.program("Root", Role::Admin, Scope::Host).await;
    let known = program.get("/api/v1/host/benchmarks/b/statistics").await.expect(200).json();
    assert_eq!(known["failures"], json!([{ "what": "the child was killed", "n": 1 }]));
    let refusals = known["refusals"].as_array().unwrap();
    let n =
        |what: &str| refusals.iter().find(|one| one["what"] == what).map(|one| one["n"].as_i64().unwrap());
    assert_eq!([n("missing"), n("empty"), n("unknown")], [Some(1), Some(1), Some(1)], "{refusals:?}");
    let page = root.get("/b/b/statistics").await.expect(200).text;
    assert_eq!(page.matches("<figure").count(), 3, "{page}");
    assert!(page.contains("Images without a caption") && page.contains("the child was killed"), "{page}");
    // No cookie is set, and no row has an address.
    assert!(site.anybody().get("/b/b").await.expect(200).header("set-cookie").is_empty());
}
