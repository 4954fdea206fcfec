//! Two teams become one, if one team could have made all of their submissions.

use axum::http::Request;
use capeval_server::accounts::Role;
use capeval_server::args;
use capeval_server::web::Scope;
use serde_json::json;

use crate::benchmarks::{benchmark, results};
use crate::support::{Client, Database, Site, on_both};

on_both! { teams_merge_where_one_team_could_have_done_it_all }

/// Hands in captions that only this number has.
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
    let [(ada, ada_program, ada_team), (bao, bao_program, bao_team), (cleo, cleo_program, cleo_team)] =
        &people[..]
    else {
        panic!("there are three")
    };
    let invitation = async || {
        let path = format!("/api/v1/teams/{ada_team}/invites");
        let link = ada_program.post_json(&path, &json!({})).await.expect(201).json();
        link["link"].as_str().unwrap().to_owned()
    };
    let merge = async |program: &Client, team: &str, link: &str| {
        program.post_json(&format!("/api/v1/teams/{team}/merge"), &json!({ "link": link })).await
    };
    let link = invitation().await;
    // Not while a job may give something back.
    assert_eq!(merge(bao_program, bao_team, &link).await.expect(409).json()["code"], "still-scoring");
    site.work().await;
    // Nobody brings along a team that is not theirs, and none joins itself.
    merge(cleo_program, bao_team, &link).await.expect(404);
    assert_eq!(merge(ada_program, ada_team, &link).await.expect(409).json()["code"], "same-team");

    // Three and two are five.
    let page = link.replace("http://127.0.0.1:8080/join", "/teams/join");
    let shown = bao.get(&page).await.expect(200).text;
    assert!(shown.contains("all of Bao&#39;s, with its submissions"), "{shown}");
    bao.post(&page, &[("team", bao_team.as_str())]).await.expect(303);
    let teams = bao_program.get("/api/v1/teams").await.expect(200).json();
    assert_eq!((teams["teams"].as_array().unwrap().len(), &teams["teams"][0]["id"]), (1, &json!(ada_team)));
    assert_eq!(teams["teams"][0]["members"], json!(["Ada", "Bao"]));
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
    let link = invitation().await;
    let refused = merge(cleo_program, cleo_team, &link).await.expect(409).json();
    assert_eq!(refused["code"], "merged-quota");
    let page = link.replace("http://127.0.0.1:8080/join", "/teams/join");
    let refused = cleo.post(&page, &[("team", cleo_team.as_str())]).await.expect(409).text;
    assert!(refused.contains("have made more submissions to the phase"), "{refused}");
    let rows = "SELECT team, used FROM quota WHERE phase = $1 AND day = '*' ORDER BY used";
    let rows = site.app.store.all(rows, args![&phase]).await.unwrap();
    let used: Vec<(String, i64)> =
        rows.iter().map(|row| (row.get("team").unwrap(), row.get("used").unwrap())).collect();
    assert_eq!(used, [(cleo_team.clone(), 1), (ada_team.clone(), 5)]);

    // With a higher limit they are one team, once, however often somebody clicks.
    site.app
        .store
        .execute("UPDATE phase SET per_day = 6, in_total = 6 WHERE id = $1", args![&phase])
        .await
        .unwrap();
    let racing: Vec<_> = (0..4)
        .map(|_| {
            let (program, team, link) = (cleo_program.clone(), cleo_team.clone(), link.clone());
            tokio::spawn(async move {
                let path = format!("/api/v1/teams/{team}/merge");
                program.post_json(&path, &json!({ "link": link })).await.status.as_u16()
            })
        })
        .collect();
    let mut statuses = Vec::new();
    for one in racing {
        statuses.push(one.await.unwrap());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    let row = site.app.store.first("SELECT used FROM quota WHERE day = '*'", args![]).await.unwrap().unwrap();
    assert_eq!(row.get::<i64>("used").unwrap(), 6);
    assert_eq!(site.app.store.all("SELECT team FROM entry", args![]).await.unwrap().len(), 1);
}
