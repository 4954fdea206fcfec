//! People ask to join a team, and its members answer.

use axum::http::Request;
use capeval_site::accounts::{Role, people};
use capeval_site::settings::Settings;
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use capeval_site::{args, clock};
use serde_json::{Value, json};

use crate::benchmarks::{benchmark, results};
use crate::support::{Client, Database, Page as _, Site, on_both, on_sqlite, settings};

on_both! {
    a_person_asks_and_a_member_accepts
    requests_end_by_refusal_withdrawal_and_time
    a_request_is_answered_once
}

on_sqlite! { requests_respect_limits_and_tell_strangers_nothing }

const OWN: &str = "/api/v1/me/team-requests";

async fn ask(client: &Client, team: &str) -> crate::support::Answer {
    client.post_json(OWN, &json!({ "team": team, "message": "May I?" })).await
}

/// The path of the only request to the teams of a person.
async fn path(member: &Client) -> String {
    let teams = member.get("/api/v1/teams").await.expect(200).json();
    let [request] = &teams["requests"].as_array().unwrap()[..] else { panic!("{teams}") };
    let text = |name: &str| request[name].as_str().unwrap().to_owned();
    format!("/api/v1/teams/{}/requests/{}", text("team"), text("id"))
}

/// A site that sends email, of which the tests read what waits to be sent.
async fn site(database: Database) -> Site {
    let smtp = "smtp://127.0.0.1:9".to_owned();
    Site::with(Settings { smtp, mail_from: "no-reply@example.org".to_owned(), ..settings(database) }).await
}

async fn mail(site: &Site) -> Vec<(String, String, String)> {
    site.app.store.fetch("SELECT target, subject, body FROM outbox ORDER BY id", args![]).await.unwrap()
}

async fn states(client: &Client) -> Value {
    let own = client.get(OWN).await.expect(200).json();
    own["requests"].as_array().unwrap().iter().map(|request| request["state"].clone()).collect()
}

async fn a_person_asks_and_a_member_accepts(database: Database) {
    let site = site(database).await;
    let phase = benchmark(&site, "").await;
    let [ada, bao] = ["Ada", "Bao"];
    let (ada, bao) = (site.person(ada, Role::Member).await, site.person(bao, Role::Member).await);
    ada.post("/teams", &[("name", "Vision Lab")]).await.expect(303);
    let program = site.program("Ada", Role::Member, Scope::Submit).await;
    let submit = format!("/api/v1/phases/{phase}/submissions?method=m");
    program.send(Request::post(&submit), results(40, 5)).await.expect(201);
    site.app.store.execute("UPDATE account SET language = 'zh' WHERE name = 'Ada'", args![]).await.unwrap();

    let given = [("team", " Vision  Lab"), ("message", "I know <b>BLEU</b>.")];
    assert_eq!(bao.post("/teams/requests", &given).await.expect(303).header("location"), "/teams?done=asked");
    let page = bao.get("/teams").await.expect(200).text;
    assert!(page.contains("waits for an answer") && !page.contains("Ada"), "{page}");
    let [(target, subject, body)] = &mail(&site).await[..] else { panic!() };
    assert_eq!((target.as_str(), subject.as_str()), ("ada@example.org", "Bao 申请加入 Vision Lab"));
    assert!(body.contains("/teams") && !body.contains("BLEU"), "{body}");
    let page = ada.get("/teams").await.expect(200).text;
    assert!(
        page.contains("Bao asks to join Vision Lab") && page.contains("I know &#60;b&#62;BLEU"),
        "{page}"
    );
    let accept = page.between("action=\"/teams/", "\"><button class=\"main\">Accept");
    let accept = format!("/teams/{}", accept.rsplit("action=\"/teams/").next().unwrap());
    ada.post(&accept, &[]).await.expect(303);
    let page = ada.post(&accept, &[]).await.expect(409).text;
    assert!(page.contains("This request has been answered"), "{page}");
    assert_eq!(mail(&site).await[1].1, "You are now a member of the team Vision Lab");
    assert!(bao.get("/teams").await.expect(200).text.contains("Ada, Bao"));
    // They take part in what the team has entered.
    let program = site.program("Bao", Role::Member, Scope::Submit).await;
    let quota = program.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!(quota["team"], "Vision Lab");
    assert_eq!(states(&program).await, json!(["accepted"]));
    let page = bao.post("/teams/requests", &[("team", "Vision Lab")]).await.expect(409).text;
    assert!(page.contains("You are a member of this team."), "{page}");
    // What the site keeps about a person has the request, and a deleted account has none.
    let kept = program.get("/api/v1/me/contributions").await.expect(200).json();
    assert_eq!(kept["team_requests"][0]["message"], "I know <b>BLEU</b>.");
    let account = people::by_email(&site.app.store, "bao@example.org").await.unwrap().unwrap().id;
    capeval_site::accounts::deletion::remove(&site.app, None, &account).await.unwrap();
    assert!(!site.app.store.exists("SELECT 1 FROM team_request", args![]).await.unwrap());
}

async fn requests_end_by_refusal_withdrawal_and_time(database: Database) {
    let site = site(database).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    ada.post_json("/api/v1/teams", &json!({ "name": "Lab" })).await.expect(201);
    ask(&bao, "Lab").await.expect(201);
    assert_eq!(ask(&bao, "Lab").await.expect(409).json()["code"], "asked");
    let refuse = format!("{}/refuse", path(&ada).await);
    bao.post_json(&refuse, &json!({})).await.expect(404);
    ada.post_json(&refuse, &json!({})).await.expect(204);
    assert_eq!(mail(&site).await.last().unwrap().1, "The team Lab has refused your request");

    // One that no one answers ends after two weeks, and the person is told.
    ask(&bao, "Lab").await.expect(201);
    let accept = format!("{}/accept", path(&ada).await);
    site.app.store.execute("DELETE FROM outbox", args![]).await.unwrap();
    let clock = Clock::of_thread().unwrap();
    clock.move_to(clock.now() + 13 * clock::DAY);
    site.work_that_is_due().await;
    assert_eq!(states(&bao).await, json!(["open", "refused"]));
    clock.move_to(clock.now() + clock::DAY);
    site.work_that_is_due().await;
    assert_eq!(states(&bao).await, json!(["expired", "refused"]));
    assert_eq!(mail(&site).await[0].1, "The team Lab has not answered your request");
    assert_eq!(ada.post_json(&accept, &json!({})).await.expect(409).json()["code"], "answered");

    let asked = ask(&bao, "Lab").await.expect(201).json();
    let withdraw = format!("{OWN}/{}/withdraw", asked["id"].as_str().unwrap());
    ada.post_json(&withdraw, &json!({})).await.expect(404);
    bao.post_json(&withdraw, &json!({})).await.expect(204);
    bao.post_json(&withdraw, &json!({})).await.expect(409);
    assert_eq!(ada.get("/api/v1/teams").await.expect(200).json()["requests"], json!([]));
    // Three requests to one team are enough for a while, however they ended.
    assert_eq!(ask(&bao, "Lab").await.expect(409).json()["code"], "no-more");
    clock.move_to(clock.now() + 31 * clock::DAY);
    ask(&bao, "Lab").await.expect(201);
    ada.post_json(&format!("{}/refuse", path(&ada).await), &json!({})).await.expect(204);
    // A team that has refused twice is not asked again.
    clock.move_to(clock.now() + 365 * clock::DAY);
    assert_eq!(ask(&bao, "Lab").await.expect(409).json()["code"], "no-more");
}

async fn a_request_is_answered_once(database: Database) {
    let site = Site::new(database).await;
    for round in 0..4 {
        let name = |who: &str| format!("{who}{round}");
        let ada = site.program(&name("Ada"), Role::Member, Scope::Submit).await;
        let bao = site.program(&name("Bao"), Role::Member, Scope::Submit).await;
        ada.post_json("/api/v1/teams", &json!({ "name": name("Lab No. ") })).await.expect(201);
        let asked = ask(&bao, &name("Lab No. ")).await.expect(201).json();
        let path = path(&ada).await;
        let (accept, refuse) = (format!("{path}/accept"), format!("{path}/refuse"));
        let withdraw = format!("{OWN}/{}/withdraw", asked["id"].as_str().unwrap());
        let none = json!({});
        let (one, two, three, four) = tokio::join!(
            ada.post_json(&accept, &none),
            ada.post_json(&refuse, &none),
            bao.post_json(&withdraw, &none),
            ada.post_json(&accept, &none)
        );
        let mut statuses = [&one, &two, &three, &four].map(|answer| answer.status.as_u16());
        let is_member = bao.get("/api/v1/teams").await.expect(200).json()["teams"] != json!([]);
        assert_eq!(is_member, one.status == 204 || four.status == 204);
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 409, 409, 409]);
    }
}

async fn requests_respect_limits_and_tell_strangers_nothing() {
    let settings = settings(Database::Sqlite).with(&capeval_benchmarks::TEAMS_PER_PERSON, 3);
    let site = Site::with(settings).await;
    let phase = benchmark(&site, "").await;
    let clock = Clock::of_thread().unwrap();
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    ada.post_json("/api/v1/teams", &json!({ "name": "Lab" })).await.expect(201);
    // A team that does not exist, and one that no one is in any more.
    let unknown = ask(&bao, "Nowhere").await.expect(422).json();
    assert_eq!(unknown["detail"], "There is no team called Nowhere.");
    let gone = site.program("Gone", Role::Member, Scope::Submit).await;
    gone.post_json("/api/v1/teams", &json!({ "name": "Empty" })).await.expect(201);
    site.app
        .store
        .execute(
            "DELETE FROM team_member WHERE account IN (SELECT id FROM account WHERE name = 'Gone')",
            args![],
        )
        .await
        .unwrap();
    assert_eq!(ask(&bao, "Empty").await.expect(422).json()["code"], "no-team");
    let long = json!({ "team": "Lab", "message": "x".repeat(501) });
    assert_eq!(bao.post_json(OWN, &long).await.expect(422).json()["code"], "message");

    // Who takes part with one team does not with another.
    let submit = format!("/api/v1/phases/{phase}/submissions?method=m");
    for (who, skill) in [(&ada, 5), (&bao, 6)] {
        who.send(Request::post(&submit), results(40, skill)).await.expect(201);
    }
    ask(&bao, "Lab").await.expect(201);
    let accept = format!("{}/accept", path(&ada).await);
    assert_eq!(ada.post_json(&accept, &json!({})).await.expect(409).json()["code"], "member-elsewhere");
    assert_eq!(states(&bao).await, json!(["open"]), "nothing of it was done");

    // The number of teams of a person is limited, when they ask and when they are accepted.
    let cam = site.program("Cam", Role::Member, Scope::Submit).await;
    let dan = site.program("Dan", Role::Member, Scope::Submit).await;
    dan.post_json("/api/v1/teams", &json!({ "name": "Dan's" })).await.expect(201);
    ask(&cam, "Dan's").await.expect(201);
    for k in 0..3 {
        cam.post_json("/api/v1/teams", &json!({ "name": format!("Cam's No. {k}") })).await.expect(201);
    }
    let accept = format!("{}/accept", path(&dan).await);
    assert_eq!(dan.post_json(&accept, &json!({})).await.expect(409).json()["code"], "teams");
    assert_eq!(ask(&cam, "Lab").await.expect(409).json()["code"], "teams");

    // At most five wait at a time, and after five refusals a person waits.
    let eve = site.program("Eve", Role::Member, Scope::Submit).await;
    let mut members = Vec::new();
    for k in 0..7 {
        let member = site.program(&format!("Member{k}"), Role::Member, Scope::Submit).await;
        member.post_json("/api/v1/teams", &json!({ "name": format!("Group {k}") })).await.expect(201);
        members.push(member);
    }
    for k in 0..5 {
        ask(&eve, &format!("Group {k}")).await.expect(201);
        clock.move_to(clock.now() + 60_000);
    }
    assert_eq!(ask(&eve, "Group 5").await.expect(409).json()["code"], "open-requests");
    for member in &members[..5] {
        member.post_json(&format!("{}/refuse", path(member).await), &json!({})).await.expect(204);
    }
    clock.move_to(clock.now() + 60_000);
    assert_eq!(ask(&eve, "Group 6").await.expect(409).json()["code"], "refused-often");
    clock.move_to(clock.now() + 31 * clock::DAY);
    ask(&eve, "Group 6").await.expect(201);

    // A person who has been disabled asks no one and is not taken in.
    site.app.store.execute("UPDATE account SET disabled_at = 1 WHERE name = 'Eve'", args![]).await.unwrap();
    assert_eq!(members[6].get("/api/v1/teams").await.expect(200).json()["requests"], json!([]));
}
