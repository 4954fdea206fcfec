//! People judge captions blind, and the board shows what their judgements add up to.

use std::collections::BTreeSet;

use axum::http::Request;
use capeval_site::accounts::{Role, sessions};
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::json;

use crate::benchmarks::{benchmark, results};
use crate::support::{Answer, Client, Database, Page as _, Site, on_both};

on_both! {
    what_cannot_be_judged_is_refused
    captions_are_judged_blind_and_once
    no_one_judges_captions_of_their_own_team
    the_board_has_what_judgements_add_up_to
    a_page_says_how_metrics_agree_with_the_judges
    hosts_learn_why_there_is_no_agreement
    judging_ends_and_begins_again
}

const PAGE: &str = "/b/b/p/host/judging";
const PICTURES: &str = "https://pictures.example.org/{id:012}.jpg";
const AGREEMENT: &str = "/b/b/p/agreement";

/// A phase with captions of Ada's team and of a baseline, which Judy and Jules may be asked to judge.
struct JudgedSite {
    site: Site,
    phase: String,
    admin: Client,
    ada: Client,
    judges: [Client; 2],
}

/// Judges a caption.
async fn judge(client: &Client, item: &str, grade: i64, machine: bool) -> Answer {
    let (grade, machine) = (grade.to_string(), machine.to_string());
    let fields = [("item", item), ("grade", &grade), ("is_machine", &machine), ("detail", "3")];
    client.post("/b/b/p/judge", &fields).await
}

impl JudgedSite {
    async fn new(database: Database) -> Self {
        let site = Site::new(database).await;
        let phase = benchmark(&site, "human = false").await;
        let admin = site.person("Root", Role::Admin).await;
        let ada = site.program("Ada", Role::Member, Scope::Submit).await;
        let path = format!("/api/v1/phases/{phase}/submissions?method=Ours%3Cb%3E");
        ada.send(Request::post(path), results(40, 10)).await.expect(201);
        site.work().await;
        let judges = [site.person("Judy", Role::Member).await, site.person("Jules", Role::Member).await];
        Self { site, phase, admin, ada, judges }
    }

    async fn begin(&self, images: &str, pictures: &str, judges: &str) -> Answer {
        let fields = [("images", images), ("wanted", "1"), ("pictures", pictures), ("judges", judges)];
        self.admin.post(PAGE, &fields).await
    }

    /// Twelve images, and three captions of each: ours, the baseline, a reference.
    async fn begun(database: Database) -> Self {
        let judged = Self::new(database).await;
        let judges = "judy@example.org jules@example.org ada@example.org";
        judged.begin("12", PICTURES, judges).await.expect(303);
        judged.site.work().await;
        let more = [("judges", "judy@example.org")];
        judged.admin.post("/b/b/p/host/judging/invite", &more).await.expect(303);
        let noted = "SELECT detail FROM audit WHERE action = 'evaluation.invite'";
        let noted: String = judged.site.app.store.fetch_one(noted, args![]).await.unwrap();
        assert!(!noted.contains('@'), "the audit log keeps an address: {noted}");
        judged
    }

    /// The two people have judged all captions.
    async fn done(database: Database) -> Self {
        let judged = Self::begun(database).await;
        let mut seen = BTreeSet::new();
        // References say `secret`, poor captions `nothing`.
        for k in 0.. {
            let page = judged.judges[k % 2].get("/b/b/p/judge").await.expect(200).text;
            if page.contains("You have judged all your captions.") {
                break;
            }
            assert!(!page.contains("Ours") && !page.contains("Baseline") && !page.contains("Ada"));
            let (grade, machine) = match page.between("<blockquote class=\"caption\">", "<") {
                text if text.contains("secret") => (4, false),
                text if text.contains("nothing") => (1, true),
                _ => (4, true),
            };
            let item = page.field("item").to_owned();
            judge(&judged.judges[k % 2], &item, grade, machine).await.expect(303);
            assert!(seen.insert(item), "a caption came twice");
        }
        assert_eq!(seen.len(), 36);
        judged
    }

    async fn judgements(&self) -> i64 {
        let count = "SELECT COUNT(*) AS n FROM judgement";
        self.site.app.store.first(count, args![]).await.unwrap().unwrap().get("n").unwrap()
    }
}

async fn what_cannot_be_judged_is_refused(database: Database) {
    let judged = JudgedSite::new(database).await;
    for (images, pictures, people, words) in [
        ("0", PICTURES, "", "Choose 1 to 1000 images"),
        ("5", "http://pictures.example.org/{id}.jpg", "", "must begin with https:// and have {id} in place"),
        ("5", "https://pictures.example.org/1.jpg", "", "must begin with https:// and have {id} in place"),
        ("5", "https://a b; script-src *//{id}", "", "must begin with https://"),
        ("5", PICTURES, "unknown@example.org", "No account has the email address unknown@example.org."),
    ] {
        let refused = judged.begin(images, pictures, people).await.expect(422).text;
        assert!(refused.contains(words), "{words}: {refused}");
    }
    judged.judges[0].get("/b/b/p/judge").await.expect(404);
    judged.begin("12", PICTURES, "").await.expect(303);
    judged.begin("12", PICTURES, "").await.expect(409);
    judged.site.work().await;
    let shown = judged.admin.get(PAGE).await.expect(200).text;
    assert!(shown.contains("<dd>36</dd>") && shown.contains("<dd>0 / 36</dd>"), "{shown}");
}

/// The page looks the same for captions of all authors.
async fn captions_are_judged_blind_and_once(database: Database) {
    let judged = JudgedSite::begun(database).await;
    let [judy, jules] = &judged.judges;
    let answer = judy.get("/b/b/p/judge").await.expect(200);
    let policy = answer.header("content-security-policy").to_owned();
    assert!(policy.contains("img-src 'self' https://pictures.example.org;"), "{policy}");
    let page = answer.text;
    assert!(!page.contains("Ours") && !page.contains("Baseline") && !page.contains("Ada"));
    assert!(page.contains("src=\"https://pictures.example.org/0000000000"), "{page}");
    let item = page.field("item");
    judge(judy, item, 5, false).await.expect(422);
    judge(judy, item, 4, false).await.expect(303);
    // Once more is dropped, of the same person and of another.
    judge(judy, item, 1, false).await.expect(303);
    judge(jules, item, 1, false).await.expect(303);
    assert_eq!(judged.judgements().await, 1);
}

/// Here with a request made by hand.
async fn no_one_judges_captions_of_their_own_team(database: Database) {
    let judged = JudgedSite::begun(database).await;
    let JudgedSite { site, ada, .. } = &judged;
    let sql = "SELECT item.id AS id FROM evaluation_item AS item JOIN submission ON submission.id = item.submission \
               WHERE submission.kind = 'entry'";
    let own: String = site.app.store.all(sql, args![]).await.unwrap()[0].get("id").unwrap();
    let of_ada = Client { cookie: None, ..ada.clone() };
    of_ada.get("/b/b/p/judge").await.expect(303);
    let mut tx = site.app.store.begin().await.unwrap();
    let row = tx.first("SELECT id FROM account WHERE name = 'Ada'", args![]).await.unwrap().unwrap();
    let id: String = row.get("id").unwrap();
    let cookie = sessions::begin(&mut tx, &site.app.settings, &id).await.unwrap();
    let cookie = cookie.stripped().to_string();
    tx.commit().await.unwrap();
    let ada_at_home = Client { cookie: Some(cookie), token: None, ..ada.clone() };
    let page = ada_at_home.get("/b/b/p/judge").await.expect(200).text;
    assert_ne!(page.field("item"), own);
    judge(&ada_at_home, &own, 4, false).await.expect(303);
    assert_eq!(judged.judgements().await, 0);
}

async fn the_board_has_what_judgements_add_up_to(database: Database) {
    let JudgedSite { site, phase, ada, .. } = JudgedSite::done(database).await;
    let board = ada.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    let judged = board["judged_by_people"].as_array().unwrap();
    assert_eq!(judged.len(), 3);
    assert_eq!(
        (&judged[2]["kind"], &judged[2]["m2"], &judged[2]["m3"]),
        (&json!("human"), &json!(1.0), &json!(4.0))
    );
    let ours = &judged[0];
    assert_eq!((&ours["method"], &ours["m2"], &ours["m4"]), (&json!("Ours<b>"), &json!(0.0), &json!(3.0)));
    assert_eq!((&ours["m1"], &ours["judgements"]), (&json!(1.0), &json!(12)));
    assert!(judged[1]["m1"].as_f64() < ours["m1"].as_f64(), "{judged:?}");
    let page = site.anybody().get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(page.contains("Human evaluation") && page.contains("M1, %"));
    // A line for each system, and one for people.
    for class in ["s0", "s1", "grey"] {
        assert!(page.contains(&format!("<path class=\"line {class}\" d=\"M68.0 228.0")), "{class}");
    }
}

/// The scores of so few images are not drawn: one could tell them.
async fn a_page_says_how_metrics_agree_with_the_judges(database: Database) {
    let JudgedSite { site, admin, judges, .. } = JudgedSite::done(database).await;
    let page = site.anybody().get(AGREEMENT).await.expect(200).text;
    assert!(page.contains("Not calculated yet."), "{page}");
    judges[0].post(AGREEMENT, &[]).await.expect(404);
    admin.post(AGREEMENT, &[]).await.expect(303);
    site.work().await;
    let page = site.anybody().get(AGREEMENT).await.expect(200).text;
    assert!(page.contains("Ratings: 36;") && page.contains("pictures: 12"), "{page}");
    assert!(page.contains("Ada: Ours") && page.contains("CIDEr-D") && !page.contains("secret"), "{page}");
    // The coefficients, and the grades.
    assert_eq!(page.matches("<svg").count(), 2);
    let verdict = page.split("class=\"verdict\">").nth(1).and_then(|rest| rest.split("</p>").next()).unwrap();
    assert!(verdict.contains(" agrees best with people: Kendall τ-b "), "{verdict}");
    let best = verdict.split(" agrees").next().unwrap();
    let first = page.split("<tbody>\n<tr><th scope=\"row\">").nth(1).and_then(|row| row.split('<').next());
    assert!(
        first.is_some_and(|label| label.starts_with(best)),
        "{best} is not in the first row, but {first:?}"
    );
    let other = site.anybody().get(&format!("{AGREEMENT}?by=accuracy")).await.expect(200).text;
    assert!(
        other.contains("<a href=\"?by=accuracy\" aria-current=\"true\">Pairwise accuracy</a>"),
        "{other}"
    );
    site.anybody().get(&format!("{AGREEMENT}?by=luck")).await.expect(400);
    assert!(
        !page.contains("<b>") && !admin.get(AGREEMENT).await.expect(200).text.contains("calculation failed")
    );
    // No entry that is off the board is named any more.
    let sql = "SELECT id FROM submission WHERE kind = 'entry'";
    let id: String = site.app.store.first(sql, args![]).await.unwrap().unwrap().get("id").unwrap();
    admin.post(&format!("/submissions/{id}/disqualify"), &[("reason", "Copied")]).await.expect(303);
    let page = site.anybody().get(AGREEMENT).await.expect(200).text;
    assert!(page.contains("Not calculated yet.") && !page.contains("Ours"), "{page}");
}

async fn hosts_learn_why_there_is_no_agreement(database: Database) {
    let JudgedSite { site, admin, .. } = JudgedSite::new(database).await;
    admin.post(AGREEMENT, &[]).await.expect(303);
    site.work().await;
    let failed = "The calculation failed: no caption has been judged";
    assert!(admin.get(AGREEMENT).await.expect(200).text.contains(failed));
    assert!(!site.anybody().get(AGREEMENT).await.expect(200).text.contains("calculation failed"));
}

async fn judging_ends_and_begins_again(database: Database) {
    let judged = JudgedSite::done(database).await;
    let JudgedSite { site, admin, judges, .. } = &judged;
    let item: String =
        site.app.store.all("SELECT id FROM evaluation_item", args![]).await.unwrap()[0].get("id").unwrap();
    admin.post("/b/b/p/host/judging/close", &[]).await.expect(303);
    assert!(
        judges[0]
            .get("/b/b/p/judge")
            .await
            .expect(200)
            .text
            .contains("There are no captions to judge at the moment.")
    );
    judge(&judges[0], &item, 4, false).await.expect(409);
    judged.begin("2", PICTURES, "").await.expect(303);
    judges[0].post("/b/b/p/host/judging", &[("images", "1")]).await.expect(404);
}
