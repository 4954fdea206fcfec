//! Ratings decide what is accepted, and careless ones do not count.

use capeval_site::accounts::Role;

use crate::support::collections::{Collection, number, state_of};
use crate::support::{Client, Database, Site, on_both};

on_both! {
    two_good_ratings_accept_a_caption_and_a_third_settles
    a_rater_who_always_answers_4_does_not_count
}

/// People who may rate: browsers, and their accounts.
async fn people<const N: usize>(site: &Site, names: [&str; N]) -> ([Client; N], [String; N]) {
    let (mut clients, mut accounts) = (Vec::new(), Vec::new());
    for name in names {
        clients.push(site.person(name, Role::Member).await);
        let email = format!("{}@example.org", name.to_lowercase());
        accounts.push(
            capeval_site::accounts::people::by_email(&site.app.store, &email).await.unwrap().unwrap().id,
        );
    }
    (clients.try_into().ok().unwrap(), accounts.try_into().unwrap())
}

async fn two_good_ratings_accept_a_caption_and_a_third_settles(database: Database) {
    let site = Site::new(database).await;
    let host = site.account("Host", Role::Host).await;
    let screens = Collection::new(&site, "screens", 3, &host).await;
    let ([ann, bob, cem, dan], accounts) = people(&site, ["Ann", "Bob", "Cem", "Dan"]).await;
    screens.pass_quiz(&site, &accounts).await;
    let image = screens.picture(&site, &host, "game", 1).await;
    let mut captions = Vec::new();
    for (author, text) in accounts.iter().zip(["good one", "bad one", "split one"]) {
        captions.push(screens.caption(&site, &image, author, "en", text).await);
    }
    let [good, bad, split] = &captions[..] else { panic!() };
    // No one without the quiz rates.
    let stranger = site.person("Eve", Role::Member).await;
    assert!(stranger.get("/c/screens/rate").await.expect(303).header("location").ends_with("/guide"));
    // No one rates their own caption, and nothing says whose a caption is.
    let page = ann.get("/c/screens/rate").await.expect(200).text;
    assert!(["Bob", "Cem"].iter().all(|name| !page.contains(name)), "{page}");
    assert_eq!(screens.rate_all(&ann, |text| if text.contains("bad") { 1 } else { 4 }).await, 2);
    assert_eq!(screens.rate_all(&bob, |text| if text.contains("split") { 2 } else { 4 }).await, 2);
    assert_eq!(state_of(&site, good).await, "submitted");
    // Only what was given can be rated, and only with a grade.
    let (item, _) = screens.to_rate(&cem).await.unwrap();
    let other = if item == *good { bad } else { good };
    cem.post("/c/screens/rate", &[("item", other), ("grade", "1")]).await.expect(303);
    cem.post("/c/screens/rate", &[("item", &item), ("grade", "7")]).await.expect(422);
    assert_eq!(number(&site, "SELECT COUNT(*) AS n FROM rating WHERE caption <> $1", "").await, 4);
    assert_eq!(screens.rate_all(&cem, |text| if text.contains("bad") { 1 } else { 3 }).await, 2);
    assert_eq!(
        (state_of(&site, good).await, state_of(&site, bad).await),
        ("accepted".into(), "rejected".into())
    );
    // 4 and 2 want a third rating, which is just between.
    assert_eq!(state_of(&site, split).await, "submitted");
    assert_eq!(screens.rate_all(&dan, |_| 3).await, 1);
    assert_eq!(state_of(&site, split).await, "split");
    assert_eq!(
        number(&site, "SELECT taken * 10 + accepted AS n FROM image_slots WHERE image = $1", &image).await,
        21
    );
    let tags =
        number(&site, "SELECT COUNT(*) AS n FROM rating WHERE tags = '[\"count\"]' AND account <> $1", "")
            .await;
    assert_eq!(tags, 7);
}

async fn a_rater_who_always_answers_4_does_not_count(database: Database) {
    let site = Site::new(database).await;
    let host = site.person("Host", Role::Host).await;
    let ([ann, bob, lazy, _], accounts) = people(&site, ["Ann", "Bob", "Lazy", "Dan"]).await;
    let [_, _, lazy_id, author] = &accounts;
    let owner = site.account("Owner", Role::Host).await;
    let screens = Collection::new(&site, "screens", 1, &owner).await;
    let sql = "UPDATE collection_staff SET account = (SELECT id FROM account WHERE name = 'Host') WHERE collection = $1";
    site.app.store.execute(sql, capeval_site::args![&screens.id]).await.unwrap();
    screens.pass_quiz(&site, &accounts).await;
    let add = async |from: u64, to: u64, word: &str| {
        let mut captions = Vec::new();
        for k in from..to {
            let image = screens.picture(&site, &owner, &format!("game {k}"), k).await;
            captions.push(screens.caption(&site, &image, author, "en", &format!("{word} {k}")).await);
        }
        captions
    };
    add(0, 12, "good").await;
    let honest = |text: &str| if text.contains("bad") { 1 } else { 4 };
    for client in [&ann, &bob] {
        screens.rate_all(client, honest).await;
    }
    host.post("/c/screens/gold", &[]).await.expect(303);
    assert_eq!(number(&site, "SELECT COUNT(*) AS n FROM gold WHERE collection = $1", &screens.id).await, 10);
    assert_eq!(
        number(&site, "SELECT COUNT(*) AS n FROM gold WHERE collection = $1 AND grade = 1", &screens.id)
            .await,
        5
    );
    ann.get("/c/screens/gold").await.expect(404);
    // One says 4 to everything, and meets known captions on the way.
    let bad = add(100, 140, "bad").await;
    screens.rate_all(&lazy, |_| 4).await;
    let page = host.get("/c/screens/gold").await.expect(200).text;
    assert!(page.contains("Lazy"), "{page}");
    assert_eq!(number(&site, "SELECT weight AS n FROM rater WHERE account = $1", lazy_id).await, 0);
    let counted = "SELECT COUNT(*) AS n FROM rating WHERE account = $1 AND weight > 0";
    assert_eq!(number(&site, counted, lazy_id).await, 0);
    for client in [&ann, &bob] {
        // A known caption of another picture is unrelated to its own; honest people see that, tests read the grade.
        while let Some((item, text)) = screens.to_rate(client).await {
            let known = site
                .app
                .store
                .first("SELECT grade FROM gold WHERE id = $1", capeval_site::args![&item])
                .await
                .unwrap();
            let grade = known.map_or(honest(&text), |row| row.get("grade").unwrap()).to_string();
            client.post("/c/screens/rate", &[("item", &item), ("grade", &grade)]).await.expect(303);
        }
    }
    for caption in &bad {
        assert_eq!(state_of(&site, caption).await, "rejected");
    }
    for account in &accounts[..2] {
        assert_eq!(number(&site, "SELECT weight AS n FROM rater WHERE account = $1", account).await, 1);
    }
}
