//! Two teams become one, if one team could have made all of their submissions.

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::json;

use crate::benchmarks::{benchmark, results};
use crate::support::{Client, Database, Site, on_both};

on_both! { teams_merge_where_one_team_could_have_done_it_all }

/// Submits captions that only this number has.
async fn send(client: &Client, phase: &str, number: usize) -> u16 {
    let body = results(40, 5).replace("near", &format!("near{number}"));
    let path = format!("/api/v1/phases/{phase}/submissions?method=m{number}");
    client.send(Request::post(path), body).await.status.as_u16()
}

async fn teams_merge_where_one_team_could_have_done_it_all(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 5\nin_total = 5").await;
    let mut people = Vec::new();
    for (place, name) in ["Ada", "Bao", "Cleo"].into_iter().enumerate() {
        let (browser, program) =
            (site.person(name, Role::Member).await, site.program(name, Role::Member, Scope::Submit).await);
        let team = program.post_json("/api/v1/teams", &json!({ "name": format!("{name}'s") })).await;
        let team = team.expect(201).json()["id"].as_str().unwrap().to_owned();
        for number in 0..[3, 2, 1][place] {
            assert_eq!(send(&program, &phase, place * 10 + number).await, 201);
        }
        people.push((browser, program, team));
    }
    let [(ada, ada_program, ada_team), (bao, bao_program, bao_team), (cleo, _, cleo_team)] = &people[..]
    else {
        panic!("there are three")
    };
    let invitation = async || {
        let path = format!("/api/v1/teams/{ada_team}/invites");
        let link = ada_program.post_json(&path, &json!({})).await.expect(201).json();
        link["link"].as_str().unwrap().to_owned()
    };
    let merge = async |browser: &Client, team: &str, page: &str| browser.post(page, &[("team", team)]).await;
    let page_of = |link: &str| link.replace("http://127.0.0.1:8080/join", "/teams/join");
    let page = page_of(&invitation().await);
    // Not while a job may give something back.
    let refused = merge(bao, bao_team, &page).await.expect(409).text;
    assert!(refused.contains("is still being scored"), "{refused}");
    site.work().await;
    // No one brings along a team that is not theirs, and none joins itself.
    merge(cleo, bao_team, &page).await.expect(404);
    let refused = merge(ada, ada_team, &page).await.expect(409).text;
    assert!(refused.contains("This invitation is to the same team."), "{refused}");
    // Nor does a member who has not made it.
    let dan = site.person("Dan", Role::Member).await;
    let path = format!("/api/v1/teams/{bao_team}/invites");
    let link = bao_program.post_json(&path, &json!({})).await.expect(201).json();
    dan.post(&page_of(link["link"].as_str().unwrap()), &[]).await.expect(303);
    assert!(!dan.get(&page).await.expect(200).text.contains("all members of Bao"));
    let refused = merge(&dan, bao_team, &page).await.expect(409).text;
    assert!(refused.contains("Only the member who created a team can merge it"), "{refused}");

    // Three and two are five.
    let shown = bao.get(&page).await.expect(200).text;
    assert!(shown.contains("all members of Bao&#39;s, with its submissions"), "{shown}");
    merge(bao, bao_team, &page).await.expect(303);
    let teams = bao_program.get("/api/v1/teams").await.expect(200).json();
    assert_eq!((teams["teams"].as_array().unwrap().len(), &teams["teams"][0]["id"]), (1, &json!(ada_team)));
    assert_eq!(teams["teams"][0]["members"].as_array().unwrap().len(), 3);
    let quota = bao_program.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!((&quota["used_today"], &quota["used_in_total"]), (&json!(5), &json!(5)), "{quota}");
    for program in [ada_program, bao_program] {
        assert_eq!(send(program, &phase, 77).await, 429);
        let listed = program.get(&format!("/api/v1/phases/{phase}/submissions")).await.expect(200).json();
        assert_eq!(listed["submissions"].as_array().unwrap().len(), 5);
    }
    let board = ada.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(board.contains("Ada&#39;s") && !board.contains("Bao&#39;s"), "one row for one team");

    // Six are too many, and then nothing has happened.
    let page = page_of(&invitation().await);
    let refused = merge(cleo, cleo_team, &page).await.expect(409).text;
    assert!(refused.contains("have made more submissions to the phase"), "{refused}");
    let rows = "SELECT team, used FROM quota WHERE phase = $1 AND day = '*' ORDER BY used";
    let rows = site.app.store.all(rows, args![&phase]).await.unwrap();
    let used: Vec<(String, i64)> =
        rows.iter().map(|row| (row.get("team").unwrap(), row.get("used").unwrap())).collect();
    assert_eq!(used, [(cleo_team.clone(), 1), (ada_team.clone(), 5)]);

    // They are too many of a day that is past, too, unless a host has granted more of that day.
    let store = &site.app.store;
    store.execute("UPDATE phase SET in_total = 6 WHERE id = $1", args![&phase]).await.unwrap();
    let past = "UPDATE quota SET day = '2026-01-01' WHERE day <> '*'";
    store.execute(past, args![]).await.unwrap();
    let refused = merge(cleo, cleo_team, &page).await.expect(409).text;
    assert!(refused.contains("have made more submissions to the phase"), "{refused}");
    let grant = "INSERT INTO quota_grant (id, phase, team, day, extra, reason, granted_by, created_at) \
                 VALUES ('g', $1, $2, '2026-01-01', 1, '', '', 0)";
    store.execute(grant, args![&phase, cleo_team]).await.unwrap();
    let agreement = "INSERT INTO phase_agreement (phase, result, created_at) VALUES ($1, '{}', 0)";
    store.execute(agreement, args![&phase]).await.unwrap();

    // Now they are one team, once, however often someone clicks.
    let racing: Vec<_> = (0..4)
        .map(|_| {
            let (browser, team, page) = (cleo.clone(), cleo_team.clone(), page.clone());
            tokio::spawn(async move { browser.post(&page, &[("team", &team)]).await.status.as_u16() })
        })
        .collect();
    let mut statuses = Vec::new();
    for one in racing {
        statuses.push(one.await.unwrap());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
    let row = site.app.store.first("SELECT used FROM quota WHERE day = '*'", args![]).await.unwrap().unwrap();
    assert_eq!(row.get::<i64>("used").unwrap(), 6);
    assert_eq!(site.app.store.all("SELECT team FROM entry", args![]).await.unwrap().len(), 1);
    // What names both teams is gone.
    assert!(site.app.store.all("SELECT phase FROM phase_agreement", args![]).await.unwrap().is_empty());
}
